/* Inside src/check: the hardware at one set of sizes, move by move, for witnesses. Without
 * data-dependent control every agent executes one fixed sequence of operations, so a run is told by
 * the order of moves alone. The replay keeps what hardware keeps (phases, pending arrivals, bytes,
 * generations), executes any move that hardware allows, right or wrong, and remembers which moves
 * each one had to come after. */
#pragma once

#include "check/play/play.h"
#include "check/witness/witness.h"
#include "program/op.h"

G_BEGIN_DECLS

typedef struct {
    guint stage; /* index into the replay's stages */
    gboolean write;
} WsTouch;

/* One operation of one agent, with everything worked out. */
typedef struct {
    const WsOp *op;
    guint n_rounds;
    gint64 round[12];
    guint n_slots, slot[16];
    gint64 parity, turn; /* turn G_MININT64: not said */
    gint64 count, bytes, arrivals;
    gint named; /* -1 none */
    guint first_transfer, n_transfers;
    guint n_touches;
    WsTouch *touch;
    guint lo[WS_QUEUES], hi[WS_QUEUES]; /* window of its agent's queues before it */
} WsReplayEvent;

typedef struct {
    GArray *event;            /* WsReplayEvent */
    GArray *queue[WS_QUEUES]; /* guint: events that issued */
    WsReplayEvent end;        /* no operation: the windows when it is done */
    guint pc, done;           /* done: last node of the log, plus 1 */
    gint64 joined, clustered; /* generation joined, -1 none */
} WsReplayAgent;

typedef struct {
    guint agent, event, slot, rank;
    gint64 bytes, arrivals;
    guint n_touches;
    WsTouch *touch;
    gboolean landed;
    guint node; /* of its issue, plus 1 */
} WsReplayTransfer;

typedef struct {
    gint64 phase, pending, count, tx;
    GArray *feeds;     /* nodes that contribute to the running phase */
    GArray *completed; /* node of each completion */
} WsReplaySlot;

typedef struct {
    gint64 generation, arrived, count;
    GArray *feeds, *completed;
    gint barrier, element;
} WsReplayNamed;

typedef enum { WS_NODE_MOVE, WS_NODE_LAND, WS_NODE_COMPLETION } WsLogKind;
typedef struct {
    WsLogKind kind;
    guint agent, event, transfer;
    gboolean pass; /* the second half of a sync */
    gint64 met;    /* phase or generation that it met; LAND, arrivals: before it */
    GArray *after; /* nodes that it needs */
} WsLogNode;

typedef struct {
    const WsProgram *p;
    const WsCase *c;
    guint ranks, n_agents, slots_per_rank, named_per_rank, stages_per_rank;
    guint n_slots, n_named, n_stages; /* of all CTAs; n_named: the cluster's barrier is the last */
    WsReplayAgent *agent;
    WsReplaySlot *slot;
    WsReplayNamed *named;
    GArray *transfer; /* WsReplayTransfer */
    guint *first_slot, *first_stage;
    WsStageState *stage;
    GArray *log;         /* WsLogNode */
    const char *trouble; /* why it cannot be followed */
} WsReplay;

WsReplay *ws_replay_new(const WsProgram *p, const WsCase *c);
void ws_replay_free(WsReplay *m);
/* Fills the events of every agent (machine_events.c). */
void ws_replay_events(WsReplay *m);
/* Back to the start, log emptied. */
void ws_replay_reset(WsReplay *m);

const WsReplayEvent *ws_replay_next(const WsReplay *m, guint agent); /* NULL: done */
/* The same, or the end of the agent, which has no operation. */
const WsReplayEvent *ws_replay_at(const WsReplay *m, guint agent);
/* Moves one agent; FALSE if it must wait. */
gboolean ws_replay_move(WsReplay *m, guint agent);
gboolean ws_replay_in_flight(const WsReplay *m, guint transfer);
void ws_replay_land(WsReplay *m, guint transfer);
/* The whole case in the order of one of the play's schedules. */
void ws_replay_run(WsReplay *m, WsSchedule schedule);
/* State as a witness shows it. */
void ws_replay_show(const WsReplay *m, WsMbarrierState *slot, WsNamedState *named,
                    WsStageState *stage, WsAgentState *agent);

/* --- order of the log (machine_order.c) --- */
/* Marks a node and everything it needs. */
void ws_order_need(const WsReplay *m, guint8 *mark, guint node);
/* The node that executed an event of an agent (its first half), or that landed a transfer; -1. */
gint ws_order_find(const WsReplay *m, guint agent, guint event);
gint ws_order_find_landing(const WsReplay *m, guint transfer);
/* The event of an agent with this operation and these rounds; -1. */
gint ws_replay_find(const WsReplay *m, guint agent, const WsOp *op, guint n_rounds,
                    const gint64 *round);

G_END_DECLS
