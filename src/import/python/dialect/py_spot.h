/* Where tiles of pointers lie in tensors. */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

/* A tile of a tensor: coordinates of its first element, elements between neighbours. */
typedef struct {
    guint n;
    gint64 extent[5];
    const WsExpr *at[5], *stride[5]; /* stride NULL: that of a contiguous tensor */
    const char *name[5];             /* "row", "col": what counts along it; NULL nothing */
} PySpot;

/* The same where the host asserts that the tensor is contiguous, of as many dimensions as it has.
 * FALSE: it is no such tile. */
gboolean py_spot_by_shape(PyRead *p, const Val *pointer, gint tensor, PySpot *s);

/* Rows that something else than their number picks, or whose elements stand in the columns of the
 * pointers. */
typedef struct {
    gint tensor;
    guint n;
    const WsExpr *coord[5]; /* by `row` */
    gint64 rows, cols;
    gboolean turned; /* the pointers have a row in each column */
} PyPick;

/* FALSE: the pointers are no such rows. The mask may leave out rows, which are 0 then; `why` says
 * what else it asks for, or NULL. */
gboolean py_picked(PyRead *p, const Val *pointer, const Val *mask, PyPick *pick, const char **why);

/* --- py_elements.c */
/* Each element of a tile of integers, or of a condition, by `row` and `col`, integers of tensors,
 * numbers. NULL: something else is in it. */
const WsExpr *py_elements(PyRead *p, const Val *v);
void py_note_elements(PyRead *p, gint value, const WsExpr *e); /* what the value holds from now on */
void py_forget_elements(PyRead *p); /* a round may begin with what another one left */
void py_note_numbers(PyRead *p, const WsExpr *e); /* nothing may be stored to the tensors in it */

G_END_DECLS
