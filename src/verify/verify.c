/* The inductive set of a certificate, gone through: docs/soundness.md section 8.2. */
#include "program/parts/agent.h"
#include "program/program.h"
#include "verify/assume.h"
#include "verify/know.h"

#include <string.h>

typedef struct {
    Plan *plan;
    Certificate *c;
    State **state; /* of each node, NULL: not met */
    guint8 *again;
    GHashTable *still; /* edges on which nobody moves: from << 32 | to */
} Walk;

static void reject(Walk *w, guint node, const char *what)
{
    plan_fail(w->plan, WS_VERIFY_REJECTED, "node %u: %s", node, what);
}

/* A node met for the first time: the state is the one at hand, of which no more is known than the
 * node says. */
static void first_met(Walk *w, guint n, State *s)
{
    const Node *node = w->c->node->pdata[n];
    for (guint i = 0; i < node->knows->len; i++) {
        const Fact *f = &g_array_index(node->knows, Fact, i);
        const Fact mine = state_know(w->plan, s, f);
        if (f->cta >= (gint)w->plan->p->cluster || mine.low < f->low || mine.high > f->high ||
            (f->residue >= 0 && fact_residue(w->plan, s, &mine) != f->residue)) {
            g_autofree char *what = fact_text(w->c, f);
            plan_fail(w->plan, WS_VERIFY_REJECTED, "node %u: is not known as well: %s", n, what);
        }
    }
    g_array_set_size(s->fact, 0);
    g_array_append_vals(s->fact, node->knows->data, node->knows->len);
    w->state[n] = s;
    w->again[n] = 1;
}

/* `s` has run until nobody moved; takes it. `from`: the node it comes from, -1 the beginning. */
static void reach(Walk *w, gint from, gint target, State *s, gboolean moved)
{
    g_autofree char *why = NULL;
    gint64 tiles = 0;
    if (!moved && target != TARGET_END)
        g_hash_table_add(w->still, GSIZE_TO_POINTER((gsize)(guint)from << 32 | (guint)target));
    if (w->plan->reason) {
        /* says what broke */
    } else if (state_ended(w->plan, s)) {
        state_exit(w->plan, s);
    } else if (target == TARGET_END) {
        plan_fail(w->plan, WS_VERIFY_REJECTED, "node %d: not every agent ends", from);
    } else if (target >= (gint)w->c->node->len) {
        plan_fail(w->plan, WS_VERIFY_REJECTED, "node %d: leads to node %d", from, target);
    } else if (!w->state[target]) {
        first_met(w, (guint)target, s);
        return;
    } else {
        w->again[target] |= state_loosen(w->plan, w->state[target], s);
        if (!state_covered(w->plan, s, w->state[target], &tiles, &why))
            plan_fail(w->plan, WS_VERIFY_REJECTED, "node %d: not covered by node %d: %s", from,
                      target, why);
        else
            w->again[target] |= state_meet(w->plan, w->state[target], s, tiles);
    }
    state_free(s);
}

/* Every value that the asked instance may have satisfies an option. In states that are covered
 * answers move with what is known of it, and assumptions do not: these count where nothing is. */
static gboolean complete(const Walk *w, const State *s, const Node *node)
{
    const Symbol *y = &g_array_index(w->c->symbol, Symbol, node->ask.symbol);
    const Fact f = state_know(w->plan, s, &node->ask);
    const gint64 residue = y->modulus == 1 ? -1 : fact_residue(w->plan, s, &f);
    const gboolean nothing = f.low == NO_LOW && f.high == NO_HIGH;
    gint64 low = y->letter ? MAX(f.low, 0) : nothing ? y->least : f.low;
    gint64 high = y->letter ? MIN(f.high, 1) : nothing ? y->most : f.high;
    g_autofree guint8 *answered = g_new0(guint8, y->modulus);
    gboolean all = TRUE;
    for (guint i = 0; i < node->option->len; i++) {
        const Option *o = &g_array_index(node->option, Option, i);
        if (o->op == '>')
            high = MIN(high, o->value - 1);
        if (o->op == '<')
            low = MAX(low, o->value + 1);
        if (o->op == 'm' && o->value >= 0 && o->value < y->modulus)
            answered[o->value] = 1;
    }
    const gint64 g = range_gcd(y->every, y->modulus);
    for (gint64 r = 0; r < y->modulus; r++)
        all &= answered[r] || (residue >= 0 && residue != r) || r % g != y->left % g;
    if (all || low > high)
        return TRUE;
    if (low == NO_LOW || high == NO_HIGH || (guint64)high - (guint64)low > 100000)
        return FALSE;
    for (gint64 v = low; v <= high; v++) {
        gboolean found = range_mod(v, y->every) != y->left || answered[range_mod(v, y->modulus)] ||
                         (residue >= 0 && range_mod(v, y->modulus) != residue);
        for (guint i = 0; i < node->option->len && !found; i++)
            found = g_array_index(node->option, Option, i).op == '=' &&
                    g_array_index(node->option, Option, i).value == v;
        if (!found)
            return FALSE;
    }
    return TRUE;
}

static void expand(Walk *w, guint n)
{
    const Node *node = w->c->node->pdata[n];
    const Symbol *y = &g_array_index(w->c->symbol, Symbol, node->ask.symbol);
    w->again[n] = 0;
    if (node->ask.cta >= (gint)w->plan->p->cluster || !complete(w, w->state[n], node))
        reject(w, n, "its answers leave something out");
    for (guint i = 0; i < node->option->len && !w->plan->reason; i++) {
        const Option *o = &g_array_index(node->option, Option, i);
        if ((o->op == 'm' && (o->value < 0 || o->value >= y->modulus)) ||
            (o->op != 'm' && node->ask.symbol && node->ask.tile == TILE_LAUNCH))
            reject(w, n, "an answer that is none");
        State *s = state_copy(w->plan, w->state[n]);
        if (!state_refine(w->plan, s, &node->ask, o)) {
            state_free(s);
            continue;
        }
        const gboolean moved = state_run(w->plan, s);
        reach(w, (gint)n, o->target, s, moved);
    }
}

/* Edges on which nobody moves form no circle: a circle of questions that nobody needs would hide
 * what comes behind them. */
static void progress(Walk *w)
{
    g_autofree guint *longest = g_new0(guint, w->c->node->len + 1);
    gpointer edge;
    for (gboolean more = TRUE; more && !w->plan->reason;) {
        GHashTableIter all;
        more = FALSE;
        g_hash_table_iter_init(&all, w->still);
        while (g_hash_table_iter_next(&all, &edge, NULL) && !w->plan->reason) {
            const guint from = GPOINTER_TO_SIZE(edge) >> 32, to = (guint)GPOINTER_TO_SIZE(edge);
            if (longest[to] > longest[from])
                continue;
            longest[to] = longest[from] + 1;
            more = TRUE;
            if (longest[to] > w->c->node->len)
                reject(w, to, "is reached again without progress");
        }
    }
}

static void walk(Walk *w)
{
    State *s = state_new(w->plan);
    state_run(w->plan, s);
    reach(w, -1, w->c->begin, s, TRUE);
    for (gboolean more = TRUE; more && !w->plan->reason;) {
        more = FALSE;
        for (guint n = 0; n < w->c->node->len && !w->plan->reason; n++)
            if (w->again[n]) {
                expand(w, n);
                more = TRUE;
            }
    }
    progress(w);
}

/* Views that depend on indices are found on the way; the walk begins anew with their cells. */
static void walk_until_known(Plan *plan, Certificate *c)
{
    for (guint round = 0; round < 1000; round++) {
        Walk w = { .plan = plan, .c = c };
        w.state = g_new0(State *, c->node->len + 1);
        w.again = g_new0(guint8, c->node->len + 1);
        w.still = g_hash_table_new(NULL, NULL);
        plan->view_added = FALSE;
        plan_items(plan);
        if (!plan->reason)
            walk(&w);
        for (guint n = 0; n < c->node->len; n++)
            state_free(w.state[n]);
        g_free(w.state);
        g_free(w.again);
        g_hash_table_unref(w.still);
        if (!plan->view_added)
            return;
        g_clear_pointer(&plan->reason, g_free);
        plan->answer = WS_VERIFIED;
    }
    plan_fail(plan, WS_VERIFY_REFUSED, "too many views");
}

static void judge(const WsProgram *p, Certificate *c, WsVerification *v)
{
    if (strcmp(c->design, p->design_hash) != 0) {
        v->answer = WS_VERIFY_REJECTED;
        v->reason = g_strdup("the certificate of another design");
        return;
    }
    for (guint a = 0; a < p->n_agents; a++) {
        if (p->agent[a].queue < 0)
            continue;
        v->answer = WS_VERIFY_REFUSED;
        v->reason = g_strdup_printf(
            "not verified: target %s: queues of a core, and flags between them", p->target);
        return;
    }
    assumptions_read(p, c);
    v->reason = assumptions_judge(p, c);
    if (v->reason) {
        v->answer =
            g_str_has_prefix(v->reason, "not verified") ? WS_VERIFY_REFUSED : WS_VERIFY_REJECTED;
        return;
    }
    Plan *plan = plan_new(p, c);
    if (!plan->reason)
        walk_until_known(plan, c);
    v->answer = plan->answer;
    v->reason = g_steal_pointer(&plan->reason);
    v->policy = c->policy;
    v->laps = plan->laps;
    v->nodes = c->node->len;
    v->assumptions = assumptions_text(c, &v->n_assumptions);
    v->granted = g_strjoinv(", ", p->granted);
    plan_free(plan);
}

WsVerification *ws_verify(const WsProgram *p, const char *text)
{
    WsVerification *v = g_new0(WsVerification, 1);
    const gint64 begun = g_get_monotonic_time();
    Certificate *c = certificate_read(text, &v->reason);
    v->answer = c ? WS_VERIFIED : WS_VERIFY_UNREADABLE;
    if (c) {
        judge(p, c, v);
        certificate_free(c);
    }
    v->micros = g_get_monotonic_time() - begun;
    return v;
}

void ws_verification_free(WsVerification *v)
{
    g_free(v->reason);
    g_free(v->assumptions);
    g_free(v->granted);
    g_free(v);
}

char *ws_verification_text(const WsVerification *v)
{
    static const char *const word[] = { "verified", "rejected", "unreadable", "not verified" };
    if (v->answer != WS_VERIFIED)
        return g_strdup_printf("%s: %s", word[v->answer], v->reason);
    return g_strdup_printf("verified: %u nodes, %u assumptions%s%s%s%s%s, policy %u, %.1f ms",
                           v->nodes, v->n_assumptions, *v->assumptions ? " " : "", v->assumptions,
                           v->laps ? ", uses that names decide up to whole pairs of laps" : "",
                           *v->granted ? ", given that " : "", v->granted, v->policy,
                           (double)v->micros / 1000);
}
