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
    gboolean lapped, sender;       /* LEFT: the CTA of `agent` has ended, others may go on */
    guint agent, event;            /* whose it is */
    gint other_agent, other_event; /* COLLISION: async partner; -1 */
} WsPlan;

/* Plans how to show `r`; `attempt` 0, 1, … are ever less clever, the last is the whole run; NULL:
 * no more of them. The replay has run the case. */
WsPlan *ws_plan_new(const WsReplay *m, const WsReported *r, guint attempt);
void ws_plan_free(WsPlan *plan);

/* --- witness_case.c: the smallest case that shows a finding; NULL: the first error --- */
typedef struct {
    const WsProgram *p;
    const WsFinding *finding;
    WsFindings *findings;
    GPtrArray *cases;
    GArray *data; /* WsCaseData */
    WsPlay *play;
    const WsCase *c; /* found; NULL: none */
    WsSchedule schedule;
    WsReported reported;
    char *message;
} WsWitnessSearch;
void ws_witness_search(WsWitnessSearch *S, const WsProgram *p, const WsFinding *finding);
void ws_witness_search_clear(WsWitnessSearch *S);

/* --- witness_run.c --- */
/* Fills moves and states; TRUE: the end is the one that was planned. `used` [named barriers]: their
 * places in the witness, -1 not shown. */
gboolean ws_witness_run(WsWitness *w, WsReplay *m, const WsPlan *plan, gint *used);
void ws_witness_forget(WsWitness *w); /* moves and states */

/* --- witness_global.c: who writes an element of global memory, or that nobody does --- */
gboolean ws_witness_is_global(const WsFinding *finding);
WsWitness *ws_witness_written(WsProgram *p, const WsFinding *finding, GError **error);

/* Operations that change nothing one can see: they are not shown as moves. */
gboolean ws_move_silent(const WsOp *op);

/* Fills the words of all moves, and the ending. */
void ws_witness_say(WsWitness *w);

G_END_DECLS
