/* Longest paths at a ratio, and the cycle above it. */
#include "advise/cycle.h"

#include <math.h>

#define ABOVE 1e-7 /* cycles: less than this is rounding */

typedef struct {
    guint n, n_arcs;
    const WsArc *arc;
    double ratio;
    double *far; /* longest path to a node; -INFINITY: none */
    gint *by;    /* the arc that it ends with, -1 none */
} Paths;

static gboolean relax(Paths *p)
{
    gboolean moved = FALSE;
    for (guint i = 0; i < p->n_arcs; i++) {
        const WsArc *a = &p->arc[i];
        const double x = p->far[a->from] + a->weight - p->ratio * a->tokens;
        if (x > p->far[a->to] + ABOVE) {
            p->far[a->to] = x;
            p->by[a->to] = (gint)i;
            moved = TRUE;
        }
    }
    return moved;
}

/* A node on a cycle of the last arcs; -1: they are a forest. */
static gint on_cycle(const Paths *p)
{
    g_autofree guint *seen = g_new0(guint, p->n);
    for (guint s = 0; s < p->n; s++) {
        guint u = s;
        while (!seen[u] && p->by[u] >= 0) {
            seen[u] = s + 1;
            u = p->arc[p->by[u]].from;
        }
        if (seen[u] == s + 1)
            return (gint)u;
        seen[u] = s + 1;
    }
    return -1;
}

/* The cycle of last arcs through a node. FALSE: it has no tokens. */
static gboolean take_cycle(const Paths *p, guint node, double *ratio, GArray *cycle)
{
    double weight = 0;
    gint64 tokens = 0;
    guint u = node;
    g_array_set_size(cycle, 0);
    do {
        const guint i = (guint)p->by[u];
        weight += p->arc[i].weight;
        tokens += p->arc[i].tokens;
        g_array_prepend_val(cycle, i);
        u = p->arc[i].from;
    } while (u != node);
    *ratio = weight / (double)tokens;
    return tokens > 0;
}

/* Every cycle is above it. */
static double below_all(const WsArc *arc, guint n_arcs)
{
    double sum = 1;
    for (guint i = 0; i < n_arcs; i++)
        sum += fabs(arc[i].weight);
    return -sum;
}

gboolean ws_cycle_ratio(guint n, const WsArc *arc, guint n_arcs, double *ratio, GArray *cycle)
{
    g_autofree double *far = g_new0(double, n + 1);
    g_autofree gint *by = g_new(gint, n + 1);
    g_autoptr(GArray) best = g_array_new(FALSE, FALSE, sizeof(guint));
    Paths p = { n, n_arcs, arc, below_all(arc, n_arcs), far, by };
    gboolean found = FALSE;
    for (;;) {
        gint node = -1;
        for (guint u = 0; u < n; u++) {
            far[u] = 0;
            by[u] = -1;
        }
        for (guint pass = 0; node < 0 && relax(&p); pass++) {
            /* After n passes there is one; looked for at times, as most come sooner. */
            if ((pass & (pass + 1)) == 0 || pass >= n)
                node = on_cycle(&p);
        }
        if (node < 0)
            break;
        if (!take_cycle(&p, (guint)node, &p.ratio, best))
            return FALSE;
        found = TRUE;
    }
    *ratio = p.ratio;
    if (cycle) {
        g_array_set_size(cycle, 0);
        g_array_append_vals(cycle, best->data, best->len);
    }
    return found;
}

double *ws_cycle_slack(guint n, const WsArc *arc, guint n_arcs, double ratio)
{
    g_autofree double *far = g_new0(double, n + 1);
    g_autofree gint *by = g_new0(gint, n + 1);
    double *slack = g_new(double, n_arcs + 1);
    for (guint s = 0; s < n; s++) {
        Paths p = { n, n_arcs, arc, ratio, far, by };
        for (guint u = 0; u < n; u++)
            far[u] = u == s ? 0 : -INFINITY;
        for (guint pass = 0; pass <= n && relax(&p); pass++)
            ;
        for (guint i = 0; i < n_arcs; i++)
            if (arc[i].to == s)
                slack[i] = MAX(ratio * arc[i].tokens - arc[i].weight - far[arc[i].from], 0);
    }
    return slack;
}
