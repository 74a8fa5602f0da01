/* The maximum cycle ratio and slacks against the enumeration of all simple cycles. */
#include "advise/cycle.h"

#include <math.h>

#define NODES 6
#define ARCS  14

/* --- the oracle: every simple cycle, one after the other ----------------------------------------
 */

typedef struct {
    const WsArc *arc;
    guint n_arcs, start;
    gboolean on[NODES];
    guint path[NODES], length;
    double best;      /* ratio; -INFINITY: no cycle */
    double ratio;     /* of slacks */
    double *slack;    /* by arc, or NULL */
    gboolean without; /* a cycle without tokens */
} Walk;

static void count(Walk *w)
{
    double weight = 0;
    gint tokens = 0;
    for (guint i = 0; i < w->length; i++) {
        weight += w->arc[w->path[i]].weight;
        tokens += w->arc[w->path[i]].tokens;
    }
    w->without = w->without || tokens <= 0;
    w->best = MAX(w->best, weight / tokens);
    for (guint i = 0; w->slack && i < w->length; i++)
        w->slack[w->path[i]] = MIN(w->slack[w->path[i]], w->ratio * tokens - weight);
}

static void walk(Walk *w, guint node)
{
    for (guint i = 0; i < w->n_arcs; i++) {
        const WsArc *a = &w->arc[i];
        if (a->from != node || a->to < w->start)
            continue;
        w->path[w->length] = i;
        w->length++;
        if (a->to == w->start) {
            count(w);
        } else if (!w->on[a->to]) {
            w->on[a->to] = TRUE;
            walk(w, a->to);
            w->on[a->to] = FALSE;
        }
        w->length--;
    }
}

static Walk enumerate(const WsArc *arc, guint n_arcs, double ratio, double *slack)
{
    Walk w = { .arc = arc, .n_arcs = n_arcs, .best = -INFINITY, .ratio = ratio, .slack = slack };
    for (w.start = 0; w.start < NODES; w.start++) {
        for (guint i = 0; i < NODES; i++)
            w.on[i] = i == w.start;
        walk(&w, w.start);
    }
    return w;
}

/* --- random graphs ------------------------------------------------------------------------------
 */

/* Tokens that are differences of heights and what is added to them: negative ones on some arcs. */
static guint draw(GRand *r, WsArc *arc)
{
    const guint n = (guint)g_rand_int_range(r, 1, ARCS + 1);
    gint height[NODES];
    for (guint i = 0; i < NODES; i++)
        height[i] = g_rand_int_range(r, -1, 2);
    for (guint i = 0; i < n; i++) {
        const guint from = (guint)g_rand_int_range(r, 0, NODES);
        const guint to = (guint)g_rand_int_range(r, 0, NODES);
        const gint more = g_rand_int_range(r, from < to ? 0 : 1, 3);
        arc[i] = (WsArc){ from, to, g_rand_int_range(r, -8, 40), height[to] - height[from] + more };
    }
    return n;
}

static void judge(GRand *r, guint *cycles, guint *slacks, guint *negative)
{
    WsArc arc[ARCS];
    const guint n = draw(r, arc);
    g_autoptr(GArray) cycle = g_array_new(FALSE, FALSE, sizeof(guint));
    double ratio = NAN, expected[ARCS];
    const Walk w = enumerate(arc, n, 0, NULL);
    g_assert_false(w.without);
    const gboolean found = ws_cycle_ratio(NODES, arc, n, &ratio, cycle);
    g_assert_cmpint(found, ==, !isinf(w.best));
    if (!found)
        return;
    g_assert_cmpfloat_with_epsilon(ratio, w.best, 1e-6);
    double weight = 0;
    gint tokens = 0;
    for (guint i = 0; i < cycle->len; i++) {
        const WsArc *a = &arc[g_array_index(cycle, guint, i)];
        const WsArc *next = &arc[g_array_index(cycle, guint, (i + 1) % cycle->len)];
        g_assert_cmpuint(a->to, ==, next->from);
        weight += a->weight;
        tokens += a->tokens;
        *negative += a->tokens < 0;
    }
    g_assert_cmpfloat_with_epsilon(weight / tokens, w.best, 1e-6);
    for (guint i = 0; i < n; i++)
        expected[i] = INFINITY;
    enumerate(arc, n, w.best, expected);
    g_autofree double *slack = ws_cycle_slack(NODES, arc, n, ratio);
    for (guint i = 0; i < n; i++) {
        g_assert_cmpint(isinf(slack[i]), ==, isinf(expected[i]));
        if (isinf(expected[i]))
            continue;
        g_assert_cmpfloat_with_epsilon(slack[i], expected[i], 1e-4);
        *slacks += expected[i] > 1;
    }
    ++*cycles;
}

static void test_random(void)
{
    g_autoptr(GRand) r = g_rand_new_with_seed(7);
    guint cycles = 0, slacks = 0, negative = 0;
    for (guint i = 0; i < 4000; i++)
        judge(r, &cycles, &slacks, &negative);
    g_assert_cmpuint(cycles, >, 1000);
    g_assert_cmpuint(slacks, >, 1000);
    g_assert_cmpuint(negative, >, 100);
}

/* A cycle that needs no round has no period: nothing is said. */
static void test_without_tokens(void)
{
    const WsArc arc[] = { { 0, 1, 3, 0 }, { 1, 0, 2, 0 }, { 1, 1, 9, 1 } };
    double ratio;
    g_assert_false(ws_cycle_ratio(2, arc, G_N_ELEMENTS(arc), &ratio, NULL));
    g_assert_false(ws_cycle_ratio(2, arc, 1, &ratio, NULL)); /* no cycle */
    g_assert_false(ws_cycle_ratio(0, NULL, 0, &ratio, NULL));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cycle/random", test_random);
    g_test_add_func("/cycle/without-tokens", test_without_tokens);
    return g_test_run();
}
