/* Inside src/check: what the parts of the witness share. */
#pragma once

#include "check/witness/replay.h"

G_BEGIN_DECLS

/* A selection of moves of a log, in its order, and moves after them. */
typedef struct {
    gboolean land;
    guint agent, event, transfer;
    gboolean pass, collide;
} WsPlanMove;

typedef struct {
    GArray *move; /* WsPlanMove */
    WsWitnessEnd end;
    gint64 means; /* PHASE: completion or generation that is meant; G_MININT64: see `lapped` */
    gboolean lapped;
    guint agent, event;            /* whose it is */
    gint other_agent, other_event; /* COLLISION: async partner; -1 */
} WsPlan;

/* Plans how to show `r`; `attempt` 0, 1, … are ever less clever, the last is the whole run; NULL:
 * no more of them. The replay has run the case. */
WsPlan *ws_plan_new(const WsReplay *m, const WsReported *r, guint attempt);
void ws_plan_free(WsPlan *plan);

/* Operations that change nothing one can see: they are not shown as moves. */
gboolean ws_move_silent(const WsOp *op);

char *ws_witness_agent_name(const WsProgram *p, guint agent);
/* Fills the words of all moves, and the ending. */
void ws_witness_say(WsWitness *w);

G_END_DECLS
