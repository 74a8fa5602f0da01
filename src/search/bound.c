#include "search/bound.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/program.h"
#include "program/walk/depends.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#include "target/target.h"

#include <math.h>

#define MOST_STEPS 20000000

static gint64 one_tile(gpointer data, gint64 position)
{
    return position == 0 ? *(const gint64 *)data : -1;
}

typedef struct {
    double macs, cycles; /* multiplications; of the tensor pipe at the best rate of their types */
} Products;

static double best_cycles(const WsTrialOf *of, const WsMma *mma)
{
    const double atoms = (double)mma->m / of->p->hardware->matrix.m;
    return atoms * ((double)mma->n / of->m->value[WS_MACHINE_MMA_COLUMNS]) *
           ((double)mma->k / mma->inst_k);
}

/* What the CTAs of a cluster do with the first tile. FALSE: not known. */
static gboolean add_tile(const WsTrialOf *of, Products *sum)
{
    gint64 left = MOST_STEPS, tile = 0;
    const guint ctas = MAX(of->p->cluster, 1);
    for (guint i = 0; i < ctas * of->p->n_agents; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(WsWalker) walker =
            ws_walker_new(of->p, of->v, i % of->p->n_agents, i / of->p->n_agents, one_tile, &tile);
        WsStep step;
        while (ws_walker_next(walker, &step, &error)) {
            const WsMma *mma = step.op->mma;
            if (--left < 0)
                return FALSE;
            if (!ws_op_is_product(step.op->kind) || !mma)
                continue;
            if (!mma->inst_k)
                return FALSE;
            sum->macs += (double)mma->m * mma->n * mma->k;
            sum->cycles += best_cycles(of, mma);
        }
        if (error)
            return FALSE;
    }
    return TRUE;
}

/* Does a tile have as many products as the others? */
static gboolean alike(const WsProgram *p)
{
    const guint other = WS_DEPENDS_TILE | WS_DEPENDS_ORDER | WS_DEPENDS_DATA;
    g_autoptr(WsDepends) d = ws_depends_new(p, NULL);
    gboolean all = TRUE;
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->tree && ws_op_is_product(p->op[i]->kind))
            all &= !(ws_depends_around(d, p->op[i]->tree) & other);
    return all;
}

/* NULL: `sum` is of every tile alike, in every design that the moves lead to: they change the
 * values of constants, and no name in what decides how often something happens. */
static const char *products_of(const WsTrialOf *of, Products *sum)
{
    if (of->p->hardware->halves || of->p->hardware->core)
        return "the rates of this target's products are not known to the bound";
    if (!alike(of->p))
        return "how many products a tile has depends on the tile or on data, so smaller tiles may "
               "have fewer in all";
    if (!add_tile(of, sum))
        return "it has more operations than are counted";
    return sum->macs > 0 ? NULL : "it has no products";
}

static WsSearchLeast larger(WsSearchLeast a, WsSearchLeast b)
{
    return b.cycles > a.cycles ? b : a;
}

/* Each byte that is moved comes from memory once. */
static WsSearchLeast memory_of(const WsTrialOf *of)
{
    const WsClockOptions options = { .no_trace = TRUE };
    g_autoptr(WsClockResult) r = ws_clock_run(of->p, of->v, of->m, &options, NULL);
    return r && r->hbm_cycles < 9e18 ? (WsSearchLeast){ (gint64)r->hbm_cycles, "HBM" }
                                     : (WsSearchLeast){ 0, NULL };
}

WsSearchBound ws_search_bound_of(const WsTrialOf *of)
{
    const WsFloor floor = ws_floor_of(of->p, of->v, of->m, 0);
    const double sms = MAX(of->m->value[WS_MACHINE_SMS], 1);
    WsSearchBound c = { .tiles = ws_launch_tiles(of->v) };
    Products each = { 0, 0 };
    c.order = larger((WsSearchLeast){ floor.cycles, floor.unit }, memory_of(of));
    c.why = c.tiles > 0 ? products_of(of, &each) : "the launch has no tile";
    if (c.why)
        return c;
    const double macs = each.macs * (double)c.tiles;
    const double cycles = (1 - WS_TRIAL_PADDING) * each.cycles * (double)c.tiles / sms;
    c.macs = macs < 9e18 ? (gint64)macs : 0;
    c.all = (WsSearchLeast){ (gint64)cycles, "tensor pipe" };
    return c;
}

void ws_search_bound_json(WsJsonOut *j, const WsSearchBound *c)
{
    ws_json_out_open(j, "bound", '{');
    ws_json_out_integer(j, "order", c->order.cycles);
    ws_json_out_text(j, "order_unit", c->order.unit);
    ws_json_out_integer(j, "all", c->all.cycles);
    ws_json_out_text(j, "all_unit", c->all.unit);
    ws_json_out_text(j, "why", c->why);
    ws_json_out_integer(j, "tiles", c->tiles);
    ws_json_out_integer(j, "macs", c->macs);
    ws_json_out_close(j, '}');
}

char *ws_search_bound_text(const WsSearchBound *c)
{
    GString *s = g_string_new(NULL);
    if (c->order.cycles > 0)
        g_string_append_printf(s,
                               "bound: no schedule of these moves on tiles of this size takes less "
                               "than %" G_GINT64_FORMAT " cycles: the %s works that long\n",
                               c->order.cycles, c->order.unit);
    else
        g_string_append(s, "bound: not known on tiles of this size: no unit's work is counted\n");
    if (c->all.cycles > 0)
        g_string_append_printf(s,
                               "bound: no schedule of these moves on tiles of any size takes less "
                               "than %" G_GINT64_FORMAT " cycles: the %s, %" G_GINT64_FORMAT
                               " multiplications at its best rate\n",
                               c->all.cycles, c->all.unit, c->macs);
    else
        g_string_append_printf(s, "bound: not known on tiles of any size: %s\n", c->why);
    return g_string_free(s, FALSE);
}
