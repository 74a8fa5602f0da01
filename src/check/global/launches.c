/* The writes of one launch, by walking its agents with numbers. */
#include "check/global/launches.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/parts/raw.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/depends.h"
#include "program/walk/launch_values.h"

#include <string.h>

enum { MOST_TILES = 600, MOST_WRITES = 20000, MOST_STEPS = 400000, MOST_CTAS = 1024 };

typedef struct {
    const WsProgram *p;
    const WsLaunchValues *v;
    gint tensor;
    const WsGlobalData *data;
    GPtrArray *assume; /* WsExpr*: of a tile */
    GArray *out;
    guint steps; /* left */
} Run;

/* --- data --------------------------------------------------------------------------------------
 */
const WsGlobalData *ws_global_data(guint variant)
{
    static const WsGlobalData some[] = { { 0, 0, FALSE }, { -1, 2, TRUE }, { 1, 2, FALSE } };
    return variant < G_N_ELEMENTS(some) ? &some[variant] : NULL;
}

/* Integers as chosen, within the range of their `data`; indices one after the other. */
static gboolean element(gpointer data, gint tensor, const gint64 *at, gint64 *value)
{
    const Run *run = data;
    const WsTensor *t = &run->p->tensor[tensor];
    WsExprEnv env = ws_launch_env(run->v);
    gint64 a = 0, b = 0, last = at[t->rank - 1];
    for (guint d = 0; d < t->rank; d++)
        if (at[d] < 0 || at[d] >= ws_launch_shape(run->v, (guint)tensor, d)) {
            *value = 0;
            return TRUE;
        }
    if ((t->data_a && !ws_expr_eval(t->data_a, &env, &a, NULL)) ||
        (t->data_b && !ws_expr_eval(t->data_b, &env, &b, NULL)))
        return FALSE;
    *value = 0;
    if (t->data == WS_DATA_INTEGERS)
        *value = CLAMP(run->data->element + (at[0] % 2 ? run->data->step : 0), a, MAX(b - 1, a));
    else if (t->data == WS_DATA_INDICES)
        *value = last >= a ? -1 : run->data->backwards ? a - 1 - last : last;
    else if (t->data == WS_DATA_OFFSETS)
        *value = ws_launch_offset(run->v, tensor, a, at);
    return TRUE;
}

/* --- assumptions of tiles ----------------------------------------------------------------------
 */
static GPtrArray *tile_assumptions(const WsProgram *p)
{
    GPtrArray *out = g_ptr_array_new();
    g_autoptr(WsDepends) d = p->n_assume ? ws_depends_new(p, NULL) : NULL;
    for (guint i = 0; i < p->n_assume; i++)
        if (ws_depends_of(d, p->assume[i]))
            g_ptr_array_add(out, p->assume[i]);
    return out;
}

/* --- one agent ---------------------------------------------------------------------------------
 */
static gboolean note(Run *run, WsWalker *w, const WsStep *step, guint agent, gint64 block,
                     gint64 tile)
{
    const WsOp *op = step->op;
    gint64 size[WS_MAX_RANK];
    WsWritten x = { .op = op,
                    .agent = agent,
                    .cta = (guint)(block % MAX(run->p->cluster, 1)),
                    .block = block,
                    .tile = tile,
                    .n_rounds = MIN(step->n_rounds, (guint)G_N_ELEMENTS(x.round)) };
    if (!ws_global_box(run->p, op, size) || run->out->len >= MOST_WRITES)
        return FALSE;
    memcpy(x.round, step->round, x.n_rounds * sizeof x.round[0]);
    if (op->limit) {
        gint64 rows;
        const guint d = run->p->tensor[op->tensor].rank - 1 - (op->value[0].cols > 1);
        if (!ws_walker_eval(w, op->limit, &rows, NULL))
            return FALSE;
        size[d] = CLAMP(rows, 0, size[d]);
    }
    for (guint d = 0; d < op->n_coord; d++) {
        gint64 at, end;
        const gint64 extent = ws_launch_shape(run->v, (guint)run->tensor, d);
        if (!ws_walker_eval(w, op->coord[d], &at, NULL) ||
            __builtin_add_overflow(at, size[d], &end))
            return FALSE;
        x.lo[d] = CLAMP(at, 0, extent);
        x.hi[d] = CLAMP(end, 0, extent);
        if (x.lo[d] >= x.hi[d])
            return TRUE;
    }
    g_array_append_val(run->out, x);
    return TRUE;
}

static gboolean assumed(Run *run, WsWalker *w)
{
    for (guint i = 0; i < run->assume->len; i++) {
        gint64 holds = 1;
        if (ws_walker_eval(w, run->assume->pdata[i], &holds, NULL) && !holds)
            return FALSE;
    }
    return TRUE;
}

static gboolean one_agent(Run *run, guint agent, gint64 block, WsTilesStrided *tiles)
{
    g_autoptr(WsWalker) w = ws_walker_new(
        run->p, run->v, agent, (guint)(block % MAX(run->p->cluster, 1)), ws_tiles_strided, tiles);
    WsStep step;
    g_autoptr(GError) error = NULL;
    ws_walker_set_element(w, element, run);
    while (ws_walker_next(w, &step, &error)) {
        const WsOp *op = step.op;
        if (run->steps == 0 || (run->assume->len && !assumed(run, w)))
            return FALSE;
        run->steps--;
        for (guint i = 0; i < op->n_raw; i++)
            if (op->raw[i].kind == WS_RAW_TENSOR && (gint)op->raw[i].index == run->tensor)
                return FALSE;
        gint64 position = MAX(ws_walker_position(w), 0);
        if (op->tensor == run->tensor && ws_op_row(op->kind)->to == WS_DATA_AT_TENSOR &&
            !note(run, w, &step, agent, block, ws_tiles_strided(tiles, position)))
            return FALSE;
    }
    return error == NULL;
}

static gboolean may_write(const WsProgram *p, guint agent, gint tensor)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->agent == (gint)agent &&
            (p->op[i]->tensor == tensor || p->op[i]->kind == WS_OP_RAW))
            return TRUE;
    return FALSE;
}

GArray *ws_launch_written(const WsProgram *p, const WsLaunchValues *v, gint tensor, gint64 sms,
                          const WsGlobalData *data, guint64 *left)
{
    const gint64 ctas = ws_launch_grid(v, sms), cluster = MAX(p->cluster, 1);
    const gint64 tiles = ws_launch_tiles(v);
    if (tiles > MOST_TILES || ctas > MOST_CTAS * cluster)
        return NULL;
    g_autoptr(GPtrArray) assume = tile_assumptions(p);
    g_autoptr(GArray) out = g_array_new(FALSE, FALSE, sizeof(WsWritten));
    Run run = { p, v, tensor, data, assume, out, (guint)MIN(*left, (guint64)MOST_STEPS) };
    const guint before = run.steps;
    gboolean ok = TRUE;
    for (gint64 cta = 0; cta < ctas && ok; cta++) {
        WsTilesStrided own = { cta / cluster, ctas / cluster, tiles };
        for (guint a = 0; a < p->n_agents; a++)
            ok = ok && (!may_write(p, a, tensor) || one_agent(&run, a, cta, &own));
    }
    *left -= MIN(*left, (guint64)(before - run.steps) + 200);
    return ok ? g_array_ref(out) : NULL;
}

/* --- sizes -------------------------------------------------------------------------------------
 */
typedef struct {
    const WsProgram *p;
    GArray *numbers; /* gint64 */
    guint depth;
} Numbers;

static void number(GArray *a, gint64 x)
{
    for (guint i = 0; i < a->len; i++)
        if (g_array_index(a, gint64, i) == x)
            return;
    if (x >= 0 && a->len < 32)
        g_array_append_val(a, x);
}

static void numbers_of(const WsExpr *node, gpointer data)
{
    Numbers *n = data;
    if (node->op == WS_EXPR_INT && node->i > 1 && node->i <= 1024)
        number(n->numbers, node->i);
    const WsVar *var = node->op == WS_EXPR_VAR && node->var >= 0 ? &n->p->var[node->var] : NULL;
    if (var && (var->kind == WS_VAR_RUN || var->kind == WS_VAR_TILE) && var->value && !var->real &&
        n->depth < 6) {
        n->depth++;
        ws_expr_visit(var->value, numbers_of, n);
        n->depth--;
    }
}

/* Numbers near which something may change: extents, tile sizes, and what is assumed. */
static GArray *turning_points(const WsProgram *p, gint tensor)
{
    GArray *near = g_array_new(FALSE, FALSE, sizeof(gint64));
    GArray *out = g_array_new(FALSE, FALSE, sizeof(gint64));
    Numbers n = { p, near, 0 };
    for (guint i = 0; i < p->tiles->n_axes; i++)
        ws_expr_visit(p->tiles->axis[i].extent, numbers_of, &n);
    for (guint d = 0; d < p->tensor[tensor].rank; d++)
        ws_expr_visit(p->tensor[tensor].shape[d], numbers_of, &n);
    for (guint i = 0; i < p->n_ops; i++)
        for (guint d = 0; p->op[i]->tensor == tensor && d < p->op[i]->n_coord; d++) {
            gint64 size[WS_MAX_RANK];
            ws_expr_visit(p->op[i]->coord[d], numbers_of, &n);
            if (ws_global_box(p, p->op[i], size) && size[d] > 1)
                number(near, size[d]);
        }
    for (guint i = 0; i < near->len; i++)
        number(out, g_array_index(near, gint64, i) + 1);
    static const gint64 small[] = { 2, 3, 1, 0 };
    for (guint i = 0; i < G_N_ELEMENTS(small); i++)
        number(out, small[i]);
    for (guint i = 0; i < near->len; i++) {
        gint64 x = g_array_index(near, gint64, i);
        number(out, 2 * x + 1);
        number(out, x);
        number(out, 2 * x);
        number(out, 3 * x);
    }
    g_array_unref(near);
    return out;
}

static void add_case(GPtrArray *cases, const GArray *base, gint which, gint64 value)
{
    GArray *c = g_array_copy((GArray *)base);
    for (guint i = 0; i < c->len; i++)
        if (which < 0 || (guint)which == i)
            g_array_index(c, WsSize, i).value = value;
    g_ptr_array_add(cases, c);
}

static gboolean allowed(const WsProgram *p, const GArray *sizes)
{
    g_autoptr(WsLaunchValues) v =
        ws_launch_values(p, (const WsSize *)(gpointer)sizes->data, sizes->len, FALSE, NULL);
    return v && ws_launch_tiles(v) > 0 && ws_launch_tiles(v) <= MOST_TILES;
}

GPtrArray *ws_launch_cases(const WsProgram *p, gint tensor)
{
    GPtrArray *cases = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    g_autoptr(GArray) base = g_array_new(FALSE, FALSE, sizeof(WsSize));
    g_autoptr(GArray) turning = turning_points(p, tensor);
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE) {
            WsSize s = { p->var[i].name, p->var[i].rehearse };
            g_array_append_val(base, s);
        }
    /* one size is changed at a time: the others must be allowed */
    for (guint k = 0; k < turning->len && !allowed(p, base); k++)
        for (guint i = 0; i < base->len; i++)
            g_array_index(base, WsSize, i).value = g_array_index(turning, gint64, k);
    g_ptr_array_add(cases, g_array_copy(base));
    for (guint k = 0; k < turning->len; k++) {
        gint64 x = g_array_index(turning, gint64, k);
        for (guint i = 0; i < base->len; i++)
            add_case(cases, base, (gint)i, x);
        if (base->len > 1)
            add_case(cases, base, -1, x);
    }
    g_autoptr(GArray) preset = g_array_copy(base);
    for (guint i = 0, k = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            g_array_index(preset, WsSize, k++).value = p->var[i].preset;
    g_ptr_array_add(cases, g_steal_pointer(&preset));
    return cases;
}
