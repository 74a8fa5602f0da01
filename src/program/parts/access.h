/* What an operation touches of shared memory. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"
#include "program/op_kind.h"

G_BEGIN_DECLS

/* A view of one stage of one buffer, as an operation touches it. */
struct WsAccess {
    guint buffer;
    WsExpr *element; /* array element; integer literal 0 if not an array */
    WsExpr *use;     /* normalised use, NULL if the buffer has one stage and no use was given */
    WsExpr *stage;   /* use mod stages; literal 0 for one stage */
    WsExpr *row0,
        *col0;        /* first row and column; integer literals unless they depend on cta/loops */
    guint rows, cols; /* of the storage (before .t) */
    gboolean transposed;
    WsMode mode;
    WsProxy proxy;
    gint64 stage_offset; /* byte offset of (row0, col0) in the stage, -1 if not constant */
};

G_END_DECLS
