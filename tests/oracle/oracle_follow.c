/* Following one run, move by move. */
#include "state.h"

struct OracleRun {
    Search S;
    OracleResult result;
    State s;
};

OracleRun *oracle_follow(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options)
{
    Events *E = state_events(p, v, options);
    if (E->outside) {
        events_free(E);
        return NULL;
    }
    OracleRun *run = g_new0(OracleRun, 1);
    run->S.E = E;
    run->S.result = &run->result;
    run->S.count = g_new0(guint16, E->n_slots + 1);
    run->s = state_start(p, E, run->S.count);
    return run;
}

gboolean oracle_follow_knows(const OracleRun *run, guint inst, const WsOp *op)
{
    const GArray *events = run->S.E->thread[inst].events;
    for (guint i = 0; i < events->len; i++)
        if (g_array_index(events, Event, i).op == op)
            return TRUE;
    return FALSE;
}

gboolean oracle_follow_step(OracleRun *run, guint inst, const WsOp *op)
{
    const Event *e = state_next(&run->S, &run->s, inst);
    return e->op == op && state_move(&run->S, &run->s, inst);
}

gboolean oracle_follow_land(OracleRun *run, guint inst, const WsOp *op, guint nth, guint rank)
{
    const Events *E = run->S.E;
    const GArray *events = E->thread[inst].events;
    for (guint i = 0, seen = 0; i < events->len; i++) {
        const Event *e = &g_array_index(events, Event, i);
        if (e->op != op || seen++ != nth)
            continue;
        for (guint k = 0; k < e->n_slots; k++)
            if (e->slot[k] / MAX(E->slots_per_rank, 1) == rank &&
                state_in_flight(&run->S, &run->s, e->first_transfer + k)) {
                state_land(&run->S, &run->s, e->first_transfer + k);
                return TRUE;
            }
    }
    return FALSE;
}

void oracle_follow_slot(const OracleRun *run, guint slot, gint64 *phase, gint64 *pending,
                        gint64 *tx)
{
    *phase = run->s.slot[slot].phase;
    *pending = run->s.slot[slot].pend;
    *tx = run->s.slot[slot].tx;
}

gboolean oracle_follow_waits(const OracleRun *run, guint slot)
{
    return run->S.E->waits[slot];
}

void oracle_follow_named(const OracleRun *run, guint number, gint64 *generation, gint64 *arrived)
{
    *generation = run->s.named[number].generation;
    *arrived = run->s.named[number].arrived;
}

guint oracle_follow_verdict(OracleRun *run)
{
    const Search *S = &run->S;
    gboolean all = TRUE, moved = FALSE;
    state_races(&run->S, &run->s);
    for (guint i = 0; i < S->E->n_threads; i++) {
        OracleResult ignored = { 0 };
        Search look = *S;
        State to = run->s;
        look.result = &ignored;
        if (state_finished(S, &run->s, i))
            continue;
        all = FALSE;
        moved |= state_move(&look, &to, i);
    }
    for (guint t = 0; t < S->E->transfers->len; t++)
        moved |= state_in_flight(S, &run->s, t);
    if (all)
        state_end(&run->S, &run->s);
    else if (!moved)
        run->result.verdict |= ORACLE_HANG;
    return run->result.verdict;
}

void oracle_follow_free(OracleRun *run)
{
    if (!run)
        return;
    events_free(run->S.E);
    g_free(run->S.count);
    g_free(run);
}
