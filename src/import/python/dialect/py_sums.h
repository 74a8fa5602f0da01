/* Sums of numbers written out as products, so that equal ones are known whatever the order of what
 * they are made of. */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

typedef struct {
    gint64 factor;
    GPtrArray *atom; /* const WsExpr* */
} PyTerm;

GArray *py_new_terms(void); /* of PyTerm; the caller unrefs */
/* Adds the products of sign * e. FALSE: too many, or too large. */
gboolean py_write_out(const WsExpr *e, gint64 sign, GArray *to);
/* Takes the atom equal to `e` out. */
gboolean py_take_out(GPtrArray *atoms, const WsExpr *e);
/* t / by, NULL: it is no whole product. */
const WsExpr *py_quotient(PyRead *p, const PyTerm *t, const PyTerm *by);
/* a / b of single products, NULL: it is none. */
const WsExpr *py_ratio(PyRead *p, const WsExpr *a, const WsExpr *b);
/* a - b is the number `by`. */
gboolean py_sums_apart(const WsExpr *a, const WsExpr *b, gint64 *by);
gboolean py_sums_equal(const WsExpr *a, const WsExpr *b); /* NULL is equal to nothing */

G_END_DECLS
