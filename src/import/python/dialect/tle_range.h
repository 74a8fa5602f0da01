/* Numbers that a tile of 32-bit integers can hold, by what it is computed from. */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

typedef struct {
    gint64 lo, hi;
} PyRange;

/* Of a formula in a tile of rows x cols. What is not followed may be any number. */
PyRange py_range_of(const WsReadGroup *g, const WsExpr *e, gint64 rows, gint64 cols);

G_END_DECLS
