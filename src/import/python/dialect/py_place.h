/* Tiles of tensors that remarks of exports name, held against the pointers of their lines. */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

typedef struct {
    const Val *base; /* the tensor */
    guint n;
    const WsExpr *coord[5];
    gint64 rows, cols;
    gboolean each; /* the coordinate of rows says `row` itself: rows that data picks */
} PyPlace;

/* NULL: pointer and mask are that tile, whose tensor gets the shape that they show. Else what is
 * different, or not known. */
const char *py_place_differs(PyRead *p, const PyPlace *said, gint tensor, const WsPyNode *pointer,
                             const WsPyNode *mask);

G_END_DECLS
