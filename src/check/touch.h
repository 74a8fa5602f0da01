/* What an operation touches, worked out once for the play and for the proof. */
#pragma once

#include "program/forward.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"

/* L-VALUE-BLOCKS: a value is cut into at most 64 blocks, a bit each, along the edges of the views
 * that its agent takes of it; into a regular grid where those are too many or not constant. */
typedef struct WsGrid {
    guint rows, cols;         /* blocks */
    guint32 row[65], col[65]; /* where they begin, and where the last one ends */
} WsGrid;
/* One for each value of an agent. Caller frees. */
WsGrid *ws_value_grids(const WsProgram *p, guint agent);
/* Blocks that a view at row `r0`, column `c0` touches. `exact` is FALSE where the view cuts through
 * a block or lies outside the value; nothing can be said of such a view. */
guint64 ws_value_blocks(const WsGrid *g, const WsValueUse *u, gint64 r0, gint64 c0,
                        gboolean *exact);
#define WS_NO_BLOCKS "a view of a value that cuts through the blocks that are told apart"

/* Values (guint, indices into the agent's) that a compute step reads before it assigns them are
 * added to `read`, values it assigns to `write`. L-UNLESS: what a warp may leave out defines
 * nothing, so a value that the step assigns is read as well where `unless` is given, if `kept`. */
void ws_math_values(const WsOp *op, gboolean kept, GArray *read, GArray *write);

/* L-REMOTE-PROXY: bulk copies and products work through the async proxy; st.async, like cp.async,
 * is not among them (PTX ISA, async proxy), so that what it wrote needs a fence before an engine.
 */
static inline gboolean ws_is_generic(const WsOp *op)
{
    return op->proxy == WS_PROXY_GENERIC || op->kind == WS_OP_ST_REMOTE;
}
static inline gboolean ws_goes_async(const WsOp *op, const WsAccess *a)
{
    WsProxy proxy = a->proxy != WS_PROXY_NONE ? a->proxy : op->proxy;
    return proxy == WS_PROXY_ASYNC && op->kind != WS_OP_ST_REMOTE;
}

/* L-ATOMIC: what an atomic does to the bytes, below WS_COMBINATIONS; 0: it is none. Two that do the
 * same need no order; adding floats is not adding integers. */
enum { WS_COMBINATIONS = 2 * WS_REDUCE_COUNT };
guint ws_combination(const WsProgram *p, const WsOp *op);

/* L-MMA-SHAPE: what must be equal of two products that follow each other in one accumulator without
 * a wait: columns and depth of the instruction. */
static inline guint ws_mma_shape(const WsMma *m)
{
    return m ? m->n << 8 | m->inst_k : 0;
}

/* L-R1-UNSEEN: nobody waits for an mbarrier, and it is fed by single arrivals only: whichever phase
 * an arrival meets, nothing hangs on it. A flag for each barrier; caller frees. */
gboolean *ws_unwatched(const WsProgram *p);
/* Ids of named barriers at which nobody waits: nothing hangs on whose generation a join is. The
 * proof asks for the order all the same; the play refutes nothing there. Caller frees. */
gboolean *ws_unheard(const WsProgram *p);
/* Mbarriers that are fed by single arrivals only, whoever waits for them. A flag for each barrier;
 * caller frees. */
gboolean *ws_fed_singly(const WsProgram *p);

/* The operation comes directly after one in which the lanes of each warp meet. */
gboolean ws_follows_warp_sync(const WsOp *op);

/* Whether a tensor of integers is read: paths may hang on its elements. */
gboolean ws_has_integer_tensor(const WsProgram *p);
