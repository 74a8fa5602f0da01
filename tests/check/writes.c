#include "writes.h"
#include "program/op_kind.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ELEMENTS = 1 << 21, MOST_STEPS = 300000, MOST_TILES = 700 };

typedef struct {
    const WsProgram *p;
    const WsLaunchValues *v;
    gint agent;
    gint64 cta;
    gint64 first, stride, tiles; /* ids of this CTA's cluster */
    gint64 coord[8];
    gint64 *value; /* [vars] of the agent: indices, totals, counters, lets */
    guint variant, steps;
    gboolean said; /* elements: this, + step where the first index is odd */
    gint64 element, step;
    gboolean backwards;
    guint8 **count; /* [tensors] */
    gboolean failed;
} Run;

/* --- numbers -----------------------------------------------------------------------------------
 */
static gint64 number(Run *r, const WsExpr *e);

static WsLookup leaf(gpointer data, const WsExpr *e, gint64 *value, GError **error)
{
    Run *r = data;
    const WsVar *var = e->op == WS_EXPR_VAR ? &r->p->var[e->var] : NULL;
    if (!var)
        return WS_LOOKUP_UNKNOWN;
    switch (var->kind) {
    case WS_VAR_SIZE:
        *value = ws_launch_var(r->v, e->var);
        break;
    case WS_VAR_RUN:
    case WS_VAR_TILE:
        *value = number(r, var->value);
        break;
    case WS_VAR_AXIS:
        *value = r->coord[var->axis];
        break;
    case WS_VAR_CTA:
        *value = r->cta;
        break;
    case WS_VAR_COL:
    case WS_VAR_COUNTER:
    case WS_VAR_INDEX:
    case WS_VAR_LET:
    case WS_VAR_ROW:
    case WS_VAR_SCALAR:
    case WS_VAR_TOTAL:
    default:
        *value = r->value[e->var];
    }
    (void)error;
    return WS_LOOKUP_KNOWN;
}

static WsLookup element(gpointer data, const WsExpr *e, const gint64 *at, gint64 *value,
                        GError **error)
{
    Run *r = data;
    const WsTensor *t = &r->p->tensor[e->var];
    guint64 h = 77 + r->variant;
    *value = 0;
    for (guint d = 0; d < t->rank; d++) {
        if (at[d] < 0 || at[d] >= ws_launch_shape(r->v, (guint)e->var, d))
            return WS_LOOKUP_KNOWN;
        h = (h ^ (guint64)at[d]) * 1099511628211u;
    }
    if (t->data == WS_DATA_INTEGERS) {
        gint64 a = number(r, t->data_a), b = number(r, t->data_b);
        *value = b > a ? a + (gint64)(h % (guint64)(b - a)) : a;
        if (r->said)
            *value = CLAMP(r->element + (at[0] % 2 ? r->step : 0), a, MAX(b - 1, a));
    } else if (t->data == WS_DATA_INDICES) {
        const gint64 last = at[t->rank - 1], n = r->said ? number(r, t->data_a) : 0;
        *value = !r->said ? last : last >= n ? -1 : r->backwards ? n - 1 - last : last;
    } else if (t->data == WS_DATA_OFFSETS) {
        const gint64 n = number(r, t->data_a),
                     places = ws_launch_shape(r->v, (guint)e->var, t->rank - 1) - 1;
        *value = places > 0 && n > 0 ? n * at[t->rank - 1] / places : 0;
    }
    (void)error;
    return WS_LOOKUP_KNOWN;
}

static gint64 number(Run *r, const WsExpr *e)
{
    const WsExprEnv env = { leaf, NULL, element, r };
    gint64 value = 0;
    if (e && !r->failed && !ws_expr_eval(e, &env, &value, NULL))
        r->failed = TRUE;
    return value;
}

/* --- writes ------------------------------------------------------------------------------------
 */
static void touch(Run *r, guint tensor, const gint64 *lo, const gint64 *size, guint d, gint64 at)
{
    const WsTensor *t = &r->p->tensor[tensor];
    const gint64 extent = ws_launch_shape(r->v, tensor, d);
    for (gint64 i = MAX(lo[d], 0); i < MIN(lo[d] + size[d], extent); i++) {
        gint64 here = at * extent + i;
        if (d + 1 < t->rank)
            touch(r, tensor, lo, size, d + 1, here);
        else if (r->count[tensor][here] < 200)
            r->count[tensor][here]++;
    }
}

static void write_op(Run *r, const WsOp *op)
{
    const WsTensor *t = &r->p->tensor[op->tensor];
    gint64 lo[WS_MAX_RANK], size[WS_MAX_RANK] = { 1, 1, 1, 1, 1 };
    if (t->access != WS_ACCESS_WRITE || op->reduce != WS_REDUCE_NONE)
        return;
    for (guint d = 0; d < t->rank; d++) {
        lo[d] = number(r, op->coord[d]);
        if (lo[d] > (1 << 28) || lo[d] < -(1 << 28))
            r->failed = TRUE;
        if (op->kind == WS_OP_TMA_STORE)
            size[d] = r->p->map[op->map].box[t->rank - 1 - d];
    }
    if (op->kind == WS_OP_ST_GLOBAL) {
        gint64 rows = op->value[0].rows, cols = op->value[0].cols;
        if (rows > 1 && cols > 1)
            size[t->rank - 1] = cols, size[t->rank - 2] = rows;
        else
            size[t->rank - 1] = rows * cols;
        const guint of_row = rows > 1 && cols > 1 ? t->rank - 2 : t->rank - 1;
        if (op->limit)
            size[of_row] = CLAMP(number(r, op->limit), 0, size[of_row]);
    }
    if (!r->failed)
        touch(r, (guint)op->tensor, lo, size, 0, 0);
}

/* --- control -----------------------------------------------------------------------------------
 */
static void run(Run *r, const WsTree *t);

static gboolean open_tile(Run *r, gint64 position)
{
    gint64 id = r->first + position * r->stride;
    if (position < 0 || id >= r->tiles)
        return FALSE;
    for (guint a = r->p->tiles->n_axes; a-- > 0;) {
        gint64 extent = ws_launch_extent(r->v, a);
        r->coord[a] = id % extent;
        id /= extent;
    }
    return TRUE;
}

static void run_loop(Run *r, const WsTree *t)
{
    gint64 from = number(r, t->from), by = t->step_by ? number(r, t->step_by) : 1;
    gint64 count = t->over == WS_OVER_COUNT ? number(r, t->count) : G_MAXINT32;
    for (gint64 i = 0; i < count && !r->failed; i++) {
        if (t->over == WS_OVER_TILES && !open_tile(r, from + by * i))
            return;
        if (t->index_var >= 0)
            r->value[t->index_var] = from + by * i;
        run(r, t->kid[0]);
        if (t->total_var >= 0)
            r->value[t->total_var]++;
    }
}

static void run(Run *r, const WsTree *t)
{
    if (r->failed || ++r->steps > MOST_STEPS) {
        r->failed = TRUE;
        return;
    }
    switch (t->kind) {
    case WS_TREE_SEQ:
        for (guint i = 0; i < t->n_kids; i++)
            run(r, t->kid[i]);
        break;
    case WS_TREE_LOOP:
        run_loop(r, t);
        break;
    case WS_TREE_BRANCH: {
        guint side = number(r, t->cond) ? 0 : 1;
        if (side < t->n_kids && t->kid[side])
            run(r, t->kid[side]);
        break;
    }
    case WS_TREE_OP:
        if (t->op->kind == WS_OP_LET)
            r->value[t->op->var] = number(r, t->op->set);
        else if (t->op->kind == WS_OP_ADVANCE)
            r->value[t->op->var] += t->op->set ? number(r, t->op->set) : 1;
        else if (t->op->kind == WS_OP_TMA_STORE || t->op->kind == WS_OP_ST_GLOBAL)
            write_op(r, t->op);
        break;
    }
}

static void run_cta(Run *r)
{
    const WsProgram *p = r->p;
    for (guint a = 0; a < p->n_agents && !r->failed; a++) {
        r->agent = (gint)a;
        memset(r->value, 0, p->n_vars * sizeof *r->value);
        if (p->tiles->launch == WS_LAUNCH_SINGLE)
            open_tile(r, 0);
        for (guint i = 0; i < p->n_vars; i++)
            if (p->var[i].kind == WS_VAR_COUNTER && p->var[i].agent == (gint)a && p->var[i].value)
                r->value[i] = number(r, p->var[i].value);
        run(r, p->agent[a].body);
    }
}

/* --- the whole ---------------------------------------------------------------------------------
 */
static gint64 elements(const WsProgram *p, const WsLaunchValues *v, guint tensor)
{
    gint64 n = 1;
    for (guint d = 0; d < p->tensor[tensor].rank && n <= MOST_ELEMENTS; d++)
        n *= ws_launch_shape(v, tensor, d);
    return n;
}

static void look(Run *r, Writes *out)
{
    for (guint t = 0; t < r->p->n_tensors && !out->what; t++) {
        if (!r->count[t])
            continue;
        gint64 n = elements(r->p, r->v, t);
        for (gint64 i = 0; i < n && !out->what; i++)
            if (r->count[t][i] != 1)
                out->what = g_strdup_printf("%s element %" G_GINT64_FORMAT " %u times",
                                            r->p->tensor[t].name, i, r->count[t][i]);
    }
    out->right = out->what == NULL;
}

static Writes writes_of(const WsProgram *p, const WsSize *size, guint n_size, gint64 ctas,
                        const Run *data)
{
    Writes out = { 0 };
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, n_size, FALSE, NULL);
    if (!v || ws_launch_tiles(v) > MOST_TILES)
        return out;
    g_autofree gint64 *value = g_new0(gint64, p->n_vars + 1);
    g_autofree guint8 **count = g_new0(guint8 *, p->n_tensors + 1);
    Run r = *data;
    r.p = p, r.v = v, r.value = value, r.count = count;
    r.tiles = ws_launch_tiles(v);
    const gint64 cluster = MAX(p->cluster, 1), grid = ws_launch_grid(v, ctas * cluster) / cluster;
    for (guint t = 0; t < p->n_tensors; t++) {
        gint64 n = elements(p, v, t);
        if (p->tensor[t].access != WS_ACCESS_WRITE)
            continue;
        if (n > MOST_ELEMENTS)
            r.failed = TRUE;
        else
            count[t] = g_new0(guint8, n + 1);
    }
    for (gint64 c = 0; c < grid && !r.failed; c++)
        for (r.cta = 0; r.cta < cluster && !r.failed; r.cta++) {
            r.first = c, r.stride = grid;
            run_cta(&r);
        }
    out.told = !r.failed;
    if (out.told)
        look(&r, &out);
    for (guint t = 0; t < p->n_tensors; t++)
        g_free(count[t]);
    return out;
}

Writes writes_at(const WsProgram *p, const WsSize *size, guint n_size, gint64 ctas, guint variant)
{
    const Run data = { .variant = variant };
    return writes_of(p, size, n_size, ctas, &data);
}

Writes writes_said(const WsProgram *p, const char *sizes)
{
    g_auto(GStrv) part = g_strsplit(sizes, ", ", -1);
    WsSize size[16];
    guint n = 0;
    gint64 ctas = 1, odd;
    Run data = { .said = TRUE };
    for (guint i = 0; part[i] && n < G_N_ELEMENTS(size); i++) {
        char *is = strstr(part[i], " = ");
        if (is) {
            *is = '\0';
            size[n++] = (WsSize){ part[i], g_ascii_strtoll(is + 3, NULL, 10) };
        } else if (sscanf(part[i], "elements %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT,
                          &data.element, &odd) == 2) {
            data.step = odd - data.element;
        } else if (strcmp(part[i], "indices backwards") == 0) {
            data.backwards = TRUE;
        } else if (sscanf(part[i], "elements %" G_GINT64_FORMAT, &data.element) != 1 &&
                   sscanf(part[i], "%" G_GINT64_FORMAT " CTA", &ctas) != 1) {
            return (Writes){ 0 };
        }
    }
    /* the grid is that of the launch: of so many CTAs, cluster by cluster */
    return writes_of(p, size, n, ctas / MAX(p->cluster, 1), &data);
}
