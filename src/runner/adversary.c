/* A bundle that holds agents to the witness of a refuted design: the held build runs once for every
 * case, and what is seen is compared with what the witness tells. A hang must be the witness's: the
 * same agents at the same operations, slots, parities and rounds. */
#include "runner/session.h"

#include <string.h>

static bool same_wait(const WsManifest *m, const WsRunAwait *a, const WsStuckAgent *x)
{
    bool named = a->parity < 0;
    if (a->op != x->op || a->rank != x->cta % m->cluster || named != (x->state == WS_DEBUG_NAMED) ||
        (!named && (a->slot != x->slot || (uint32_t)a->parity != x->parity)))
        return false;
    for (int k = 0; k < a->n_rounds; k++)
        if (a->round[k] != x->round[k])
            return false;
    return true;
}

/* Every wait that is told is there. Agents that wait and are not told have waited on after it. */
static bool hangs_as_told(const WsManifest *m, const WsCaseResult *r)
{
    int found = 0;
    for (int i = 0; i < m->n_awaits; i++)
        for (int k = 0; k < r->n_stuck; k++)
            if (same_wait(m, &m->await[i], &r->stuck_agent[k])) {
                found++;
                break;
            }
    return m->n_awaits > 0 && found == m->n_awaits && r->n_stuck == m->n_awaits;
}

static void compare(WsSession *s, bool hung, bool right)
{
    const WsManifest *m = s->m;
    WsCaseResult *r = s->r;
    bool whole = r->moves >= m->moves && !r->gave_up;
    bool as_told = m->hangs ? hung && hangs_as_told(m, r) : whole && (hung || !right);
    r->told = as_told ? WS_TOLD_SEEN : WS_TOLD_OTHER;
    snprintf(r->seen, sizeof r->seen, "%u of %u moves of the counterexample replayed%s; %s%s: %s",
             r->moves < m->moves ? r->moves : m->moves, m->moves,
             r->gave_up ? ", a replay gate timed out" : "",
             hung    ? "it hangs"
             : right ? "it ends with right values"
                     : "it ends with wrong values",
             as_told ? ", as predicted" : "; predicted", m->told);
    r->state = hung ? WS_CASE_HUNG : right ? WS_CASE_RIGHT : WS_CASE_WRONG;
}

void ws_adversary_case(WsSession *s)
{
    bool right = true;
    memset(s->debug, 0, 4 * WS_DEBUG_WORDS);
    ws_session_phase(s, 2 * s->options->timeout + 20, "launch of the held build");
    if (!ws_case_open(s) || !ws_case_poison(s) || !ws_session_launch(s, WS_MODULE_DEBUG)) {
        s->r->state = WS_CASE_FAILED;
        return;
    }
    int done = ws_session_wait(s, s->options->timeout);
    ws_stuck_read(s);
    if (done <= 0 && s->r->n_stuck == 0 && done < 0) {
        s->r->state = WS_CASE_FAILED; /* a fault, not a hang: the error says which */
        return;
    }
    if (done > 0 && !ws_judge_outputs(s, &right)) {
        s->r->state = WS_CASE_FAILED;
        return;
    }
    if (done <= 0)
        s->r->error[0] = 0; /* the trap that ends a stuck kernel */
    else
        s->r->stuck[0] = 0, s->r->n_stuck = 0;
    compare(s, done <= 0, right);
}
