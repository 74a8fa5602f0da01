/* Transfers of more than one operation, and what feeds one completion of a barrier. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* A view that one step moves between a tensor and shared memory: the hardware moves it in boxes, an
 * operation each, which cover it. */
struct WsTensorTransfer {
    guint tensor, swizzle;
    guint rows, cols;          /* of the view, in shared memory */
    guint rank;                /* of the tensor */
    guint extent[WS_MAX_RANK]; /* of the view along its dimensions, dimension 0 first */
    gboolean constant;         /* it lies at a place of the stage that never varies */
    gint64 bytes;
    guint n;
    const WsOp **box; /* TMA_LOAD or TMA_STORE, in order */
};

/* What one step list credits to one completion of an mbarrier: loads, copies, remote writes. */
struct WsTransaction {
    gint barrier;
    WsExpr *element, *use; /* of the barrier; use NULL where slot and phase are given */
    const WsOp *expect;    /* derived; NULL where the author expects by steps of their own */
    guint n;
    const WsOp **op; /* in order, every box of a load */
};

G_END_DECLS
