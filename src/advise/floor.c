#include "advise/floor.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "program/walk/depends.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <math.h>

enum { TENSOR, SPECIAL, N_UNITS };

static const char *const unit_name[N_UNITS] = { "tensor pipe", "MUFU" };

static gint64 one_tile(gpointer data, gint64 position)
{
    return position == 0 ? *(const gint64 *)data : -1;
}

typedef struct {
    const WsProgram *p;
    const WsLaunchValues *v;
    double *cycles[N_UNITS]; /* by operation */
    gboolean *works;         /* by agent */
    gint64 left;             /* operations that may still be walked */
} Work;

/* Has the agent any work of a unit? */
static gboolean works(const Work *w, guint agent)
{
    for (guint i = 0; i < w->p->n_ops; i++)
        for (guint u = 0; u < N_UNITS; u++)
            if (w->p->op[i]->agent == (gint)agent && w->cycles[u][i] > 0)
                return TRUE;
    return FALSE;
}

/* Adds what the first CTA of the cluster does with a tile. FALSE: not known. */
static gboolean add_tile(Work *w, gint64 tile, double sum[N_UNITS])
{
    for (guint a = 0; a < w->p->n_agents; a++) {
        if (!w->works[a])
            continue;
        g_autoptr(GError) error = NULL;
        g_autoptr(WsWalker) walker = ws_walker_new(w->p, w->v, a, 0, one_tile, &tile);
        WsStep step;
        while (ws_walker_next(walker, &step, &error)) {
            if (--w->left < 0)
                return FALSE;
            for (guint u = 0; u < N_UNITS; u++)
                sum[u] += w->cycles[u][step.op->index];
        }
        if (error)
            return FALSE;
    }
    return TRUE;
}

/* Does every tile have the work of the first one? */
static gboolean alike(const Work *w)
{
    const guint other = WS_DEPENDS_TILE | WS_DEPENDS_ORDER | WS_DEPENDS_DATA;
    g_autoptr(WsDepends) d = ws_depends_new(w->p, NULL);
    for (guint i = 0; i < w->p->n_ops; i++)
        for (guint u = 0; u < N_UNITS; u++)
            if (w->cycles[u][i] > 0 &&
                (!w->p->op[i]->tree || (ws_depends_around(d, w->p->op[i]->tree) & other)))
                return FALSE;
    return TRUE;
}

static WsFloor floor_of(Work *w, const WsMachine *m)
{
    const gint64 tiles = ws_launch_tiles(w->v), walked = alike(w) ? MIN(tiles, 1) : tiles;
    const double sms = MAX(floor(m->value[WS_MACHINE_SMS] / MAX(w->p->cluster, 1)), 1);
    double total[N_UNITS] = { 0 }, least[N_UNITS];
    WsFloor found = { 0, NULL };
    for (gint64 t = 0; t < walked; t++) {
        double sum[N_UNITS] = { 0 };
        if (!add_tile(w, t, sum))
            return found;
        for (guint u = 0; u < N_UNITS; u++) {
            total[u] += walked < tiles ? sum[u] * (double)tiles : sum[u];
            least[u] = t ? MIN(least[u], sum[u]) : sum[u];
        }
    }
    for (guint u = 0; u < N_UNITS && tiles > 0; u++) {
        const double cycles = MAX(total[u] / sms, ceil((double)tiles / sms) * least[u]);
        if (cycles < 9e18 && (gint64)cycles > found.cycles)
            found = (WsFloor){ (gint64)cycles, unit_name[u] };
    }
    return found;
}

WsFloor ws_floor_of(const WsProgram *p, const WsLaunchValues *v, const WsMachine *m, gint64 most)
{
    g_autofree double *products = ws_clock_product_cycles(p, m);
    g_autofree double *functions = ws_clock_special_cycles(p, m);
    g_autofree gboolean *agents = g_new0(gboolean, p->n_agents + 1);
    Work w = { p, v, { products, functions }, agents, most ? most : 20000000 };
    for (guint a = 0; a < p->n_agents; a++)
        agents[a] = works(&w, a);
    return floor_of(&w, m);
}
