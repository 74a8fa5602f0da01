/* Kinds of primitive operations and what is true of each: op.def in predicates. A lens asks here
 * instead of listing kinds, so that a new row of op.def reaches all of them. */
#pragma once

#include "program/forward.h"
#include "program/op_kind.h"

G_BEGIN_DECLS

/* The queues of groups that an agent has, and that its waits retire. */
typedef enum { WS_QUEUE_MMA, WS_QUEUE_STORES, WS_QUEUE_ROWS, WS_QUEUES } WsQueue;

typedef enum {
    WS_DEED_NONE,
    WS_DEED_ISSUE,
    WS_DEED_CLOSE,
    WS_DEED_RETIRE,
    WS_DEED_SIGNAL,
    WS_DEED_COMBINE,
} WsDeed;
typedef enum {
    WS_WAITS_NONE,
    WS_WAITS_FLAG,
    WS_WAITS_PHASE,
    WS_WAITS_GROUPS,
    WS_WAITS_JOIN,
    WS_WAITS_CLUSTER,
    WS_WAITS_KERNEL,
} WsWaits;
typedef enum {
    WS_GIVES_NONE,
    WS_GIVES_ARRIVALS,
    WS_GIVES_EXPECT,
    WS_GIVES_BYTES,
    WS_GIVES_LATER,
    WS_GIVES_JOIN,
    WS_GIVES_CLUSTER,
    WS_GIVES_FLAG,
} WsGives;
/* Sets of derived proxy fences (LANGUAGE section 13). */
typedef enum {
    WS_ORDERS_NONE = 0,
    WS_ORDERS_F2 = 1,
    WS_ORDERS_F3 = 2,
    WS_ORDERS_F4 = 4,
    WS_ORDERS_F2_F3 = WS_ORDERS_F2 | WS_ORDERS_F3,
    WS_ORDERS_F2_F4 = WS_ORDERS_F2 | WS_ORDERS_F4,
    WS_ORDERS_F2_F3_F4 = WS_ORDERS_F2 | WS_ORDERS_F3 | WS_ORDERS_F4,
} WsOrders;
typedef enum {
    WS_DATA_AT_NONE,
    WS_DATA_AT_TENSOR,
    WS_DATA_AT_PEER,
    WS_DATA_AT_SHARED,
    WS_DATA_AT_REGISTERS,
    WS_DATA_AT_CACHE,
} WsDataAt;
typedef enum {
    WS_RECORD_NO = 0,
    WS_RECORD_MEASURED = 1,
    WS_RECORD_PREDICTED = 2,
    WS_RECORD_BOTH = 3,
} WsRecordIn;
typedef enum {
    WS_CHECK_OUTSIDE, /* zero: what nobody has judged is not understood */
    WS_CHECK_RULE,
    WS_CHECK_TOUCH,
    WS_CHECK_ASSIGN,
    WS_CHECK_SILENT,
} WsCheckAs;

/* A row of op.def. */
typedef struct {
    const char *text, *help;
    WsProxy proxy;
    WsBreadth breadth;
    gboolean any; /* breadth ANY: `breadth` is GROUP, or LEADER among the leader's steps */
    WsEngine engine;
    WsDeed deed;
    WsWaits waits;
    WsGives gives;
    WsOrders orders;
    WsDataAt from, to;
    WsRecordIn record;
    WsCheckAs check;
} WsOpRow;
/* One row for each kind; the last one, of WS_OP_KIND_COUNT, is the kind that nobody knows. */
extern const WsOpRow ws_op_table[WS_OP_KIND_COUNT + 1];

static inline const WsOpRow *ws_op_row(WsOpKind kind)
{
    return &ws_op_table[kind < WS_OP_KIND_COUNT ? kind : WS_OP_KIND_COUNT];
}

static inline const char *ws_op_kind_text(WsOpKind kind)
{
    return ws_op_row(kind)->text;
}

/* --- asynchronous work ------------------------------------------------------------------------ */

/* It goes on after the agent has gone on. */
static inline gboolean ws_op_flies(WsOpKind kind)
{
    return ws_op_row(kind)->deed == WS_DEED_ISSUE;
}

/* It flies, and ends at its barrier (without one at a wait for load groups). */
static inline gboolean ws_op_loads(WsOpKind kind)
{
    return ws_op_flies(kind) && ws_op_row(kind)->engine == WS_ENGINE_TMA_LOAD;
}

/* The queue that the kind puts into, closes or retires; -1 none. */
static inline gint ws_op_queue(WsOpKind kind)
{
    switch (ws_op_row(kind)->engine) {
    case WS_ENGINE_MMA:
        return WS_QUEUE_MMA;
    case WS_ENGINE_TMA_STORE:
        return WS_QUEUE_STORES;
    case WS_ENGINE_GATHER:
        return WS_QUEUE_ROWS;
    case WS_ENGINE_TMA_LOAD:
    case WS_ENGINE_NONE:
        break;
    }
    return -1;
}

static inline gboolean ws_op_issues(WsOpKind kind, WsQueue queue)
{
    return ws_op_flies(kind) && ws_op_queue(kind) == (gint)queue;
}

/* A product of the tensor cores (WsOp.mma). */
static inline gboolean ws_op_is_product(WsOpKind kind)
{
    return ws_op_issues(kind, WS_QUEUE_MMA);
}

static inline gboolean ws_op_closes(WsOpKind kind)
{
    return ws_op_row(kind)->deed == WS_DEED_CLOSE;
}

static inline gboolean ws_op_retires(WsOpKind kind)
{
    return ws_op_row(kind)->deed == WS_DEED_RETIRE;
}

/* Kinds that pass through the copy engine of an SM. */
static inline gboolean ws_op_is_bulk(WsOpKind kind)
{
    const WsOpRow *o = ws_op_row(kind);
    return o->deed == WS_DEED_ISSUE && o->from != WS_DATA_AT_REGISTERS &&
           (o->engine == WS_ENGINE_TMA_LOAD || o->engine == WS_ENGINE_TMA_STORE);
}

/* A box of a tensor comes to shared memory, of this device or of another one. */
static inline gboolean ws_op_brings(WsOpKind kind)
{
    const WsOpRow *o = ws_op_row(kind);
    return o->gives == WS_GIVES_BYTES &&
           (o->from == WS_DATA_AT_TENSOR || o->from == WS_DATA_AT_PEER);
}

/* --- barriers --------------------------------------------------------------------------------- */

/* It can stand still. */
static inline gboolean ws_op_waits(WsOpKind kind)
{
    return ws_op_row(kind)->waits != WS_WAITS_NONE;
}

/* It waits for a phase of an mbarrier. */
static inline gboolean ws_op_waits_phase(WsOpKind kind)
{
    return ws_op_row(kind)->waits == WS_WAITS_PHASE;
}

/* It expects bytes on an mbarrier. */
static inline gboolean ws_op_expects(WsOpKind kind)
{
    return ws_op_row(kind)->gives == WS_GIVES_EXPECT;
}

/* It waits until all have joined a named barrier. */
static inline gboolean ws_op_waits_join(WsOpKind kind)
{
    return ws_op_row(kind)->waits == WS_WAITS_JOIN;
}

/* It waits for the kernel before in the stream. */
static inline gboolean ws_op_waits_for_kernel(WsOpKind kind)
{
    return ws_op_row(kind)->waits == WS_WAITS_KERNEL;
}

/* It orders this kernel and its neighbours in the stream. */
static inline gboolean ws_op_between_kernels(WsOpKind kind)
{
    return ws_op_waits_for_kernel(kind) || kind == WS_OP_DEP_LAUNCH;
}

/* It waits for what comes to a barrier of the design. */
static inline gboolean ws_op_waits_at_barrier(WsOpKind kind)
{
    const WsWaits w = ws_op_row(kind)->waits;
    return w == WS_WAITS_PHASE || w == WS_WAITS_JOIN;
}

/* It waits for other agents. */
static inline gboolean ws_op_waits_for_agents(WsOpKind kind)
{
    return ws_op_waits_at_barrier(kind) || ws_op_row(kind)->waits == WS_WAITS_CLUSTER;
}

/* It makes a phase of an mbarrier complete: arrivals, or bytes. */
static inline gboolean ws_op_completes(WsOpKind kind)
{
    const WsGives g = ws_op_row(kind)->gives;
    return g == WS_GIVES_ARRIVALS || g == WS_GIVES_BYTES;
}

/* A phase of an mbarrier does not complete without it. */
static inline gboolean ws_op_feeds(WsOpKind kind)
{
    return ws_op_completes(kind) || ws_op_row(kind)->gives == WS_GIVES_EXPECT;
}

/* It counts against the arrival count of an mbarrier. */
/* The author's text. */
static inline gboolean ws_op_is_raw(WsOpKind kind)
{
    return kind == WS_OP_RAW;
}

static inline gboolean ws_op_arrives(WsOpKind kind)
{
    const WsGives g = ws_op_row(kind)->gives;
    return g == WS_GIVES_ARRIVALS || g == WS_GIVES_EXPECT;
}

/* A slot of a pipe is told, or asked, whether it is a round of the loop over it, or the end. */
static inline gboolean ws_op_tells(WsOpKind kind)
{
    return kind == WS_OP_PIPE_TELL;
}

static inline gboolean ws_op_asks(WsOpKind kind)
{
    return kind == WS_OP_PIPE_ASK;
}

/* A slot of shared memory hands a number on, which it writes or reads: the next tile, or whether a
 * pipe has ended. */
static inline gboolean ws_op_hands_on(WsOpKind kind)
{
    const WsOpRow *o = ws_op_row(kind);
    return o->deed == WS_DEED_NONE && ((o->from == WS_DATA_AT_NONE && o->to == WS_DATA_AT_SHARED) ||
                                       (o->from == WS_DATA_AT_SHARED && o->to == WS_DATA_AT_NONE));
}

/* It joins a named barrier. */
static inline gboolean ws_op_joins(WsOpKind kind)
{
    return ws_op_row(kind)->gives == WS_GIVES_JOIN;
}

/* --- data ------------------------------------------------------------------------------------- */

/* Threads themselves move data, and are done when it is done. */
static inline gboolean ws_op_moves(WsOpKind kind, WsDataAt from, WsDataAt to)
{
    const WsOpRow *o = ws_op_row(kind);
    return (o->deed == WS_DEED_NONE || o->deed == WS_DEED_COMBINE) && o->from == from &&
           o->to == to;
}

static inline gboolean ws_op_stores_shared(WsOpKind kind)
{
    return ws_op_moves(kind, WS_DATA_AT_REGISTERS, WS_DATA_AT_SHARED);
}

/* Combines values with shared memory: two of the same bytes need no order. */
static inline gboolean ws_op_is_atomic(WsOpKind kind)
{
    return ws_op_row(kind)->deed == WS_DEED_COMBINE;
}

static inline gboolean ws_op_loads_shared(WsOpKind kind)
{
    return ws_op_moves(kind, WS_DATA_AT_SHARED, WS_DATA_AT_REGISTERS);
}

/* A value says which elements of its view are combined, or read: any thread may touch any. */
gboolean ws_op_picks(const WsOp *op);
/* Its word in a design; NULL: none. */
const char *ws_reduce_text(WsReduce reduce);

static inline gboolean ws_op_stores_global(WsOpKind kind)
{
    return ws_op_moves(kind, WS_DATA_AT_REGISTERS, WS_DATA_AT_TENSOR);
}

/* All that it is to the check is what it touches, or sets: nothing waits for it by a rule of its
 * own.
 */
static inline gboolean ws_op_just_touches(WsOpKind kind)
{
    const WsCheckAs as = ws_op_row(kind)->check;
    return as == WS_CHECK_TOUCH || as == WS_CHECK_ASSIGN || as == WS_CHECK_SILENT;
}

/* Its threads read or write the shared memory of a CTA that it names. */
static inline gboolean ws_op_peeks(WsOpKind kind)
{
    return (ws_op_loads_shared(kind) || ws_op_stores_shared(kind)) && !ws_op_just_touches(kind);
}

/* It sets a variable that is equal in all threads, from an expression (WsOp.set). */
static inline gboolean ws_op_assigns(WsOpKind kind)
{
    return ws_op_row(kind)->check == WS_CHECK_ASSIGN;
}

/* --- devices of a mesh --------------------------------------------------------------------------
 */

/* It writes the tensor of a device (WsOp.peer). */
static inline gboolean ws_op_puts(WsOpKind kind)
{
    return ws_op_row(kind)->to == WS_DATA_AT_PEER;
}

/* It reads the tensor of a device (WsOp.peer). */
static inline gboolean ws_op_gets(WsOpKind kind)
{
    return ws_op_row(kind)->from == WS_DATA_AT_PEER;
}

/* It orders accesses of both proxies to global memory. */
static inline gboolean ws_op_fences_global(WsOpKind kind)
{
    return kind == WS_OP_FENCE_GLOBAL;
}

/* It adds to a flag. */
static inline gboolean ws_op_notifies(WsOpKind kind)
{
    return ws_op_row(kind)->gives == WS_GIVES_FLAG;
}

/* What it lists of shared memory it does not read: that what is there has come is all it asks. */
static inline gboolean ws_op_reads_nothing(WsOpKind kind)
{
    return ws_op_notifies(kind);
}

/* It waits for a flag. */
static inline gboolean ws_op_awaits(WsOpKind kind)
{
    return ws_op_row(kind)->waits == WS_WAITS_FLAG;
}

/* --- traces ----------------------------------------------------------------------------------- */

/* The recorder of a generated kernel stamps it. */
static inline gboolean ws_op_measured(WsOpKind kind)
{
    return (ws_op_row(kind)->record & WS_RECORD_MEASURED) != 0;
}

static inline gboolean ws_op_predicted(WsOpKind kind)
{
    return (ws_op_row(kind)->record & WS_RECORD_PREDICTED) != 0;
}

G_END_DECLS
