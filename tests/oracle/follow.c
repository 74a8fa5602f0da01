#include "follow.h"
#include "claim.h"
#include "lanes/lanes.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

/* Rules about what the oracle looks at. */
gboolean follow_judged(const WsWitness *w)
{
    if (w->end == WS_END_STEP) /* lanes of one agent, or wrong by itself */
        return FALSE;
    static const WsRuleId rules[] = { WS_RULE_P_DEADLOCK, WS_RULE_P_RACE,  WS_RULE_P_ASYNC,
                                      WS_RULE_P_EARLY,    WS_RULE_P_ABA,   WS_RULE_P_COUNT,
                                      WS_RULE_P_TX,       WS_RULE_P_NAMED, WS_RULE_P_EXIT };
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++)
        if (w->rule == rules[i])
            return !strstr(w->message, "lanes") && !strstr(w->message, "accumulate");
    return FALSE;
}

static char *same_state(const WsWitness *w, const OracleRun *run, guint position)
{
    for (guint b = 0; b < w->n_barriers; b++) {
        const WsMbarrierState *mine = ws_witness_barrier(w, position, b);
        gint64 phase, pending, tx;
        oracle_follow_slot(run, b, &phase, &pending, &tx);
        /* where nobody waits, nobody asks how the arrivals of all lanes fall into phases */
        if (!oracle_follow_waits(run, b) && mine->tx == tx)
            continue;
        /* the oracle keeps phases modulo 256 */
        if ((mine->phase - phase) % 256 != 0 || mine->pending != pending || mine->tx != tx)
            return g_strdup_printf("position %u, %s: phase %d pending %d tx %d, oracle %d %d %d",
                                   position, w->barrier[b], (int)mine->phase, (int)mine->pending,
                                   (int)mine->tx, (int)phase, (int)pending, (int)tx);
    }
    for (guint n = 0; n < w->n_named; n++) {
        const WsNamedState *mine = ws_witness_named(w, position, n);
        gint64 generation, arrived;
        if (w->named_id[n] < 0)
            continue;
        oracle_follow_named(run, (guint)w->named_id[n], &generation, &arrived);
        if (mine->generation % 256 != generation ||
            mine->arrived != 32 * arrived) /* it has 8 bits */
            return g_strdup_printf("position %u, %s: generation %d, %d threads; oracle %d, %d",
                                   position, w->named[n], (int)mine->generation, (int)mine->arrived,
                                   (int)generation, (int)(32 * arrived));
    }
    return NULL;
}

/* How many times its agent had issued `op` before the move that has these rounds. */
static guint occurrence(const WsWitness *w, guint at)
{
    const WsMove *m = &w->move[at];
    guint n = 0;
    for (guint i = 0; i < at; i++) {
        const WsMove *x = &w->move[i];
        if (x->kind != WS_MOVE_STEP || x->agent != m->agent || x->op != m->op)
            continue;
        if (memcmp(x->round, m->round, sizeof m->round) == 0)
            return n;
        n++;
    }
    g_assert_not_reached();
}

/* Lanes, proxies, registers, values: no order of moves shows them, but the lanes at these sizes do.
 */
static char *in_lanes(const WsWitness *w, const WsLaunchValues *v, OracleOptions *options)
{
    options->stop = TRUE;
    OracleResult r = lanes_run(w->program, v, options);
    return r.verdict & (ORACLE_BAD | ORACLE_OUTSIDE)
               ? NULL
               : g_strdup("nothing is wrong at the end, nor in any lane");
}

/* The sizes of a witness of a whole launch. */
static WsLaunchValues *launch_of(const WsWitness *w)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsProgram *p = w->program;
    WsSize size[16];
    guint n = 0;
    for (guint i = 0; i < p->n_vars && n < G_N_ELEMENTS(size); i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            size[n++] = (WsSize){ p->var[i].name, w->size[i] };
    return ws_launch_values(p, size, n, FALSE, findings);
}

char *follow(const WsWitness *w)
{
    OracleOptions options = { .tiles = w->tiles };
    options.element = w->element, options.element_step = w->element_step;
    options.ranged = w->data;
    g_autoptr(GArray) chosen = claim_elements_new();
    g_autoptr(WsLaunchValues) v =
        w->pinned ? claim_launch(w->program, w->sizes, w->tiles, chosen, &options) : launch_of(w);
    OracleRun *run = v ? oracle_follow(w->program, v, &options) : NULL;
    if (!run)
        return v ? NULL : g_strdup("its sizes are no launch");
    guint verdict = 0;
    char *bad = same_state(w, run, 0);
    for (guint i = 0; i < w->n_moves && !bad; i++) {
        const WsMove *m = &w->move[i];
        gboolean ok = TRUE;
        if (i + 2 >= w->n_moves)
            verdict |= oracle_follow_verdict(run);
        if (m->kind == WS_MOVE_LAND)
            ok = oracle_follow_land(run, m->agent, m->op, occurrence(w, i), m->rank);
        else if (oracle_follow_knows(run, m->agent, m->op))
            ok = oracle_follow_step(run, m->agent, m->op);
        bad = ok ? same_state(w, run, i + 1)
                 : g_strdup_printf("move %u is not possible: %s", i + 1, m->words);
    }
    verdict |= oracle_follow_verdict(run);
    if (!bad && w->end == WS_END_HANG && !(verdict & ORACLE_HANG))
        bad = g_strdup("no hang at the end");
    /* which generation of a named barrier is meant shows in no one run, and not every wait that is
     * lapped hangs */
    gboolean shows = w->rule != WS_RULE_P_NAMED && w->rule != WS_RULE_P_ABA;
    oracle_follow_free(run);
    if (!bad && !verdict && (shows || !follow_judged(w)))
        bad = in_lanes(w, v, &options);
    return bad;
}
