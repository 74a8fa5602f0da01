#include "expr/expr.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/visit.h"
#include "program/walk/reach_private.h"

enum { ROUNDS_LOG = 27, SIZE_LOG_LEAST = 24, GRID_MOST = 1 << 17 };

static const WsReachRange narrow = { G_MININT32, G_MAXINT32 };
static const WsReachRange taken = { -WS_REACH_TAKEN, WS_REACH_TAKEN };

static gboolean fits(WsReachRange x)
{
    return x.lo >= narrow.lo && x.hi <= narrow.hi;
}

/* Under the conditions around it: a side that is not evaluated need not fit. */
static void ask_launch(WsReach *r, const WsExpr *top)
{
    g_autoptr(WsExpr) e = ws_expr_ref(top);
    for (guint i = r->when->len; i-- > 0;) {
        const WsReachWhen *w = &g_array_index(r->when, WsReachWhen, i);
        WsExpr *none = ws_expr_int(0),
               *arg[] = { ws_expr_ref(w->when), w->other ? none : e, w->other ? e : none };
        e = ws_expr_call(WS_FUNC_SELECT, arg, G_N_ELEMENTS(arg));
    }
    for (guint i = 0; i < r->launch->len; i++)
        if (ws_expr_equal(r->launch->pdata[i], e))
            return;
    g_ptr_array_add(r->launch, ws_expr_ref(e));
}

/* Where 32 bits have to hold it. */
static WsReachRange held(WsReach *r, const WsExpr *e)
{
    const WsReachRange x = ws_reach_of(r, e);
    if (fits(x))
        return x;
    if (r->asking) /* what stands in it was held before */
        return ws_reach_range(MAX(x.lo, narrow.lo), MIN(x.hi, narrow.hi));
    r->asking = TRUE;
    r->depth = 0;
    g_autoptr(WsExpr) top = ws_reach_of_launch(r, e) ? ws_expr_ref(e)
                            : x.lo >= 0              ? ws_reach_top(r, e)
                                                     : NULL;
    r->asking = FALSE;
    if (top) {
        ask_launch(r, top);
        return ws_reach_range(MAX(x.lo, narrow.lo), MIN(x.hi, narrow.hi));
    }
    char *text = ws_expr_print(e);
    if (g_ptr_array_find_with_equal_func(r->wide, text, g_str_equal, NULL))
        g_free(text);
    else
        g_ptr_array_add(r->wide, text);
    return ws_reach_range(MAX(x.lo, taken.lo), MIN(x.hi, taken.hi));
}

/* Addresses are of 64 bits, what an index is multiplied with is computed in 32. */
static void hold_strides(WsReach *r, gint tensor)
{
    const WsTensor *t = tensor >= 0 ? &r->p->tensor[tensor] : NULL;
    for (guint d = 0; t && d < t->rank; d++)
        if (t->stride[d])
            held(r, t->stride[d]);
}

/* Code may divide the sum of what is divided and the divisor less 1. */
static void held_up(WsReach *r, const WsExpr *e)
{
    g_autoptr(WsExpr) less = e->arg[1]->op == WS_EXPR_INT
                                 ? ws_expr_int(e->arg[1]->i - 1)
                                 : ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[1]), ws_expr_int(1));
    g_autoptr(WsExpr) up = ws_expr_op(WS_EXPR_ADD, ws_expr_ref(e->arg[0]), ws_expr_ref(less));
    held(r, up);
}

/* What is found in `side` counts where `when` holds, or does not (`other`): if that is asked of a
 * launch. Its operands are held, or only followed. */
static WsReachRange side_of(WsReach *r, const WsExpr *when, gboolean other, const WsExpr *side,
                            gboolean hold)
{
    const gboolean known = ws_reach_of_launch(r, when);
    const WsReachWhen one = { when, other };
    if (known)
        g_array_append_val(r->when, one);
    const WsReachRange x = hold ? held(r, side) : ws_reach_of(r, side);
    if (known)
        g_array_set_size(r->when, r->when->len - 1);
    return x;
}

static WsReachRange of_call(WsReach *r, const WsExpr *e)
{
    WsReachRange x = { 0, 0 };
    for (guint i = 0; i < e->n_args; i++) {
        /* what is selected is held where it is used: the other side need not fit */
        const WsReachRange a = e->func == WS_FUNC_SELECT && i > 0
                                   ? side_of(r, e->arg[0], i == 2, e->arg[i], FALSE)
                                   : held(r, e->arg[i]);
        if (i == 0)
            x = a;
        else if (e->func == WS_FUNC_MIN)
            x = ws_reach_range(MIN(x.lo, a.lo), MIN(x.hi, a.hi));
        else if (e->func == WS_FUNC_MAX)
            x = ws_reach_range(MAX(x.lo, a.lo), MAX(x.hi, a.hi));
        else if (e->func == WS_FUNC_CDIV) {
            held_up(r, e);
            x = ws_reach_range_quotient(x, a, TRUE);
        } else if (e->func == WS_FUNC_SELECT)
            x = i == 1 ? a : ws_reach_range_both(x, a);
        else if (e->func == WS_FUNC_BITAND && (x.lo >= 0 || a.lo >= 0))
            x = ws_reach_range(0, x.lo < 0 ? a.hi : a.lo < 0 ? x.hi : MIN(x.hi, a.hi));
        else
            x = narrow;
    }
    if (e->func == WS_FUNC_ABS)
        return ws_reach_range(x.lo <= 0 && x.hi >= 0 ? 0 : MIN(ABS(x.lo), ABS(x.hi)),
                              ws_reach_range_most(x));
    if (e->func == WS_FUNC_POW2FLOOR)
        return ws_reach_range(0, MAX(x.hi, 0));
    return e->n_args > 1 ? x : narrow; /* what is not known here is a word of 32 bits */
}

static WsReachRange of_var(WsReach *r, gint var);

/* A sum, difference or product wraps in 32 bits and is right again where what is made of it fits:
 * only what is divided, compared or used has to be held. */
WsReachRange ws_reach_of(WsReach *r, const WsExpr *e)
{
    WsReachRange a, b;
    switch (e->op) {
    case WS_EXPR_INT:
    case WS_EXPR_TEXT_BOOL:
        return ws_reach_range(e->i, e->i);
    case WS_EXPR_VAR:
        return of_var(r, e->var);
    case WS_EXPR_NEG:
        a = ws_reach_of(r, e->arg[0]);
        return ws_reach_range(-a.hi, -a.lo);
    case WS_EXPR_ADD:
        a = ws_reach_of(r, e->arg[0]);
        b = ws_reach_of(r, e->arg[1]);
        return ws_reach_range(a.lo + b.lo, a.hi + b.hi);
    case WS_EXPR_SUB:
        a = ws_reach_of(r, e->arg[0]);
        b = ws_reach_of(r, e->arg[1]);
        return ws_reach_range(a.lo - b.hi, a.hi - b.lo);
    case WS_EXPR_MUL:
        a = ws_reach_of(r, e->arg[0]);
        return ws_reach_range_product(a, ws_reach_of(r, e->arg[1]));
    case WS_EXPR_DIV:
        a = held(r, e->arg[0]);
        return ws_reach_range_quotient(a, held(r, e->arg[1]), FALSE);
    case WS_EXPR_MOD:
        a = held(r, e->arg[0]);
        return ws_reach_range_rest(a, held(r, e->arg[1]));
    case WS_EXPR_CALL:
        return of_call(r, e);
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        held(r, e->arg[0]);
        side_of(r, e->arg[0], e->op == WS_EXPR_OR, e->arg[1], TRUE);
        return ws_reach_range(0, 1);
    case WS_EXPR_COMPARISON:
    case WS_EXPR_NOT:
        for (guint i = 0; i < e->n_args; i++)
            held(r, e->arg[i]);
        return ws_reach_range(0, 1);
    case WS_EXPR_INDEX:
        for (guint i = 0; i < e->n_args; i++)
            held(r, e->arg[i]);
        hold_strides(r, e->var);
        return ws_reach_range(-WS_REACH_SIZE_MOST, WS_REACH_SIZE_MOST);
    case WS_EXPR_REAL:
    case WS_EXPR_NAME:
    case WS_EXPR_TOTAL:
        break; /* none of them is in a bound integer */
    }
    return ws_reach_range(-WS_REACH_FAR, WS_REACH_FAR);
}

/* --- variables --- */
typedef struct {
    WsReach *r;
    gint var;
    gboolean found;
    WsReachRange x;
    gint64 rounds; /* for each round of all loops of the CTA, what a counter is advanced by */
} Given;

static void add_given(Given *g, WsReachRange x)
{
    g->x = g->found ? ws_reach_range_both(g->x, x) : x;
    g->found = TRUE;
}

static WsReachRange rounds_of(WsReach *r, const WsTree *loop)
{
    const gint64 most = G_GINT64_CONSTANT(1) << ROUNDS_LOG;
    if (loop->over == WS_OVER_TILES || loop->ask || !loop->count)
        return ws_reach_range(0, most);
    return ws_reach_range(0, CLAMP(held(r, loop->count).hi - 1, 0, most));
}

/* How many rounds `e` counts at most where it stands in `list`: the number of the rounds of a loop
 * beside it, which is hardly below 0, or a number, and sums of these. 0: it is something else. */
static gint64 rounds_in(WsReach *r, const WsExpr *e, const WsTree *list)
{
    for (guint i = 0; list && e->op != WS_EXPR_INT && i < list->n_kids; i++) {
        const WsTree *t = list->kid[i];
        const WsExpr *n = t->kind == WS_TREE_LOOP && !t->ask ? t->count : NULL;
        const gboolean shifted = n && (n->op == WS_EXPR_ADD || n->op == WS_EXPR_SUB) &&
                                 n->arg[1]->op == WS_EXPR_INT && ABS(n->arg[1]->i) < G_MAXINT8;
        const gint64 below = n ? MAX(-ws_reach_of(r, n).lo, 0) : G_MAXINT64;
        if (below < G_MAXINT8 && ws_expr_equal(n, e))
            return 1 + below;
        if (below < G_MAXINT8 && shifted && ws_expr_equal(n->arg[0], e))
            return 1 + below + ABS(n->arg[1]->i);
    }
    if (e->op == WS_EXPR_INT)
        return ABS(e->i) < G_MAXINT16 ? MAX(ABS(e->i), 1) : 0;
    if (e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB) {
        const gint64 a = rounds_in(r, e->arg[0], list), b = rounds_in(r, e->arg[1], list);
        return a && b ? MIN(a + b, G_MAXINT16) : 0;
    }
    if (e->op == WS_EXPR_MUL && e->arg[0]->op == WS_EXPR_INT && ABS(e->arg[0]->i) < G_MAXINT16)
        return MAX(ABS(e->arg[0]->i), 1) * rounds_in(r, e->arg[1], list);
    return 0;
}

static void of_tree(const WsTree *t, gpointer data)
{
    Given *g = data;
    if (t->kind == WS_TREE_LOOP && t->index_var == g->var) {
        WsReachRange i = rounds_of(g->r, t);
        i = t->step_by ? ws_reach_range_product(i, ws_reach_of(g->r, t->step_by)) : i;
        const WsReachRange from = t->from ? ws_reach_of(g->r, t->from) : ws_reach_range(0, 0);
        add_given(g, ws_reach_range(from.lo + i.lo, from.hi + i.hi));
    }
    if (!t->op || t->op->var != g->var || !t->op->set)
        return;
    const WsExpr *set = t->op->set;
    if (g->r->p->var[g->var].kind != WS_VAR_COUNTER)
        add_given(g, ws_reach_of(g->r, set));
    else if (set->op == WS_EXPR_SUB && set->arg[1]->op == WS_EXPR_VAR && set->arg[1]->var == g->var)
        add_given(g, ws_reach_of(g->r, set->arg[0])); /* by x - itself: it is x then */
    else if (rounds_in(g->r, set, t->parent))
        g->rounds += rounds_in(g->r, set, t->parent);
    else
        add_given(g, ws_reach_range(-WS_REACH_FAR, WS_REACH_FAR));
}

static WsReachRange of_agents(WsReach *r, gint var)
{
    const WsVar *v = &r->p->var[var];
    const gboolean starts = v->kind == WS_VAR_COUNTER;
    Given g = { r, var, starts,
                starts && v->value ? ws_reach_of(r, v->value) : ws_reach_range(0, 0) };
    for (guint a = 0; a < r->p->n_agents; a++)
        ws_tree_each(r->p->agent[a].body, of_tree, &g);
    const gint64 by = MIN(g.rounds, G_MAXINT32) << ROUNDS_LOG;
    g.x = ws_reach_range(g.x.lo - by, g.x.hi + by);
    return g.found ? g.x : ws_reach_range(-WS_REACH_FAR, WS_REACH_FAR);
}

static WsReachRange of_axis(WsReach *r, gint var)
{
    const WsTiles *t = r->p->tiles;
    for (guint a = 0; a < t->n_axes; a++)
        if (t->axis[a].var == var) /* a launch has at most 2^31-1 tiles, or none */
            return ws_reach_range(0, CLAMP(held(r, t->axis[a].extent).hi - 1, 0, G_MAXINT32 - 1));
    return ws_reach_range(-WS_REACH_FAR, WS_REACH_FAR);
}

static WsReachRange find(WsReach *r, gint var)
{
    const WsVar *v = &r->p->var[var];
    switch (v->kind) {
    case WS_VAR_SIZE:
        return ws_reach_range(0, r->most);
    case WS_VAR_RUN:
        return v->real    ? narrow
               : v->value ? ws_reach_of(r, v->value)
                          : ws_reach_range(-WS_REACH_FAR, WS_REACH_FAR);
    case WS_VAR_TILE:
        return v->value ? ws_reach_of(r, v->value) : ws_reach_range(-WS_REACH_FAR, WS_REACH_FAR);
    case WS_VAR_AXIS:
        return of_axis(r, var);
    case WS_VAR_INDEX:
    case WS_VAR_LET:
    case WS_VAR_COUNTER:
        return of_agents(r, var);
    case WS_VAR_TOTAL:
        return ws_reach_range(0, G_GINT64_CONSTANT(1) << ROUNDS_LOG);
    case WS_VAR_CTA:
        return ws_reach_range(0, MAX(r->p->cluster, 1) - 1);
    case WS_VAR_ROW:
    case WS_VAR_COL:
        return ws_reach_range(0, WS_REACH_TILE_MOST);
    case WS_VAR_SCALAR:
        break;
    }
    return ws_reach_range(-WS_REACH_FAR, WS_REACH_FAR);
}

static WsReachRange of_var(WsReach *r, gint var)
{
    if (var < 0 || (guint)var >= r->p->n_vars || r->state[var] == 1)
        return ws_reach_range(-WS_REACH_FAR, WS_REACH_FAR);
    if (r->state[var] == 0) {
        GArray *when = r->when; /* its value is made wherever it is used */
        g_autoptr(GArray) always = g_array_new(FALSE, FALSE, sizeof(WsReachWhen));
        r->when = always;
        r->state[var] = 1;
        r->of[var] = find(r, var);
        r->state[var] = 2;
        r->when = when;
    }
    return r->of[var];
}

typedef struct {
    const WsReach *r;
    gboolean value;
} Integer;

/* An expression of values, and of reals, is no integer of section 3. */
static void see_value(const WsExpr *e, gpointer data)
{
    Integer *i = data;
    const WsVar *v = e->op == WS_EXPR_VAR && e->var >= 0 ? &i->r->p->var[e->var] : NULL;
    i->value |= e->op == WS_EXPR_NAME || e->op == WS_EXPR_REAL || e->op == WS_EXPR_TOTAL ||
                (v && (v->real || v->kind == WS_VAR_SCALAR));
}

static void held_integer(WsReach *r, const WsExpr *e)
{
    Integer i = { r, FALSE };
    ws_expr_visit(e, see_value, &i);
    if (!i.value)
        held(r, e);
}

/* --- the program --- */
static void name_held(const WsExpr *e, gpointer data)
{
    if (e->op == WS_EXPR_VAR || e->op == WS_EXPR_INDEX)
        held_integer(data, e);
}

/* Statements are words of 32 bits by their meaning, the names in them are not. */
static void operand(const WsExpr *e, WsOperand what, gpointer data)
{
    if (what == WS_OPERAND_MATH || what == WS_OPERAND_SKIP)
        ws_expr_visit(e, name_held, data);
    if (what != WS_OPERAND_MATH)
        held_integer(data, e);
}

/* A loop that is split goes to where the cut lies between its rounds. */
static void node(const WsTree *t, gpointer data)
{
    ws_tree_operands(t, operand, data);
    for (guint i = 0; t->kind == WS_TREE_LOOP && t->from && i < t->n_cuts; i++) {
        g_autoptr(WsExpr) way =
            ws_expr_op(WS_EXPR_SUB, ws_expr_ref(t->cut[i]), ws_expr_ref(t->from));
        held(data, way);
    }
    if (t->op && t->op->map < 0) /* the tensor map of a transfer has strides of 64 bits */
        hold_strides(data, t->op->tensor);
}

/* Their number, with that of the next one behind the last; what a group of order grouped holds. */
static void of_tiles(WsReach *r)
{
    const WsTiles *t = r->p->tiles;
    g_autoptr(WsExpr) all = NULL;
    g_autoptr(WsExpr) group =
        t->order_n ? ws_expr_ref(t->order_n) : ws_expr_int(MAX(t->order_group, 1));
    for (guint a = 0; a < t->n_axes; a++) {
        const WsExpr *extent = t->axis[a].extent;
        held(r, extent);
        all = all ? ws_expr_op(WS_EXPR_MUL, all, ws_expr_ref(extent)) : ws_expr_ref(extent);
        if (a != t->order_axis)
            group = ws_expr_op(WS_EXPR_MUL, group, ws_expr_ref(extent));
    }
    all = all ? all : ws_expr_int(1);
    if (t->launch != WS_LAUNCH_SINGLE)
        all = ws_expr_op(WS_EXPR_ADD, all, t->grid ? ws_expr_ref(t->grid) : ws_expr_int(GRID_MOST));
    held(r, all);
    if (t->order == WS_ORDER_GROUPED)
        held(r, group);
}

void ws_reach_begin(WsReach *r, const WsProgram *p, gint64 most)
{
    *r = (WsReach){ p,
                    most,
                    g_new0(WsReachRange, p->n_vars + 1),
                    g_new0(guint8, p->n_vars + 1),
                    g_ptr_array_new_with_free_func(g_free),
                    g_ptr_array_new_with_free_func((GDestroyNotify)ws_expr_unref),
                    g_array_new(FALSE, FALSE, sizeof(WsReachWhen)) };
}

static void leave_values(WsReach *r)
{
    g_clear_pointer(&r->when, g_array_unref);
    g_clear_pointer(&r->of, g_free);
    g_clear_pointer(&r->state, g_free);
}

void ws_reach_end(WsReach *r)
{
    leave_values(r);
    g_clear_pointer(&r->wide, g_ptr_array_unref);
    g_clear_pointer(&r->launch, g_ptr_array_unref);
}

static void look(WsReach *r, const WsProgram *p, gint64 most)
{
    ws_reach_begin(r, p, most);
    of_tiles(r);
    for (guint v = 0; v < p->n_vars; v++) {
        const WsVar *x = &p->var[v];
        g_autoptr(WsExpr) name = ws_expr_var((gint)v, x->name);
        if (x->value && !x->real && (x->kind == WS_VAR_RUN || x->kind == WS_VAR_TILE))
            held(r, name);
    }
    for (guint t = 0; t < p->n_tensors; t++)
        for (guint d = 0; d < p->tensor[t].rank; d++)
            held(r, p->tensor[t].shape[d]);
    for (guint a = 0; a < p->n_agents; a++)
        ws_tree_each(p->agent[a].body, node, r);
    leave_values(r);
}

GPtrArray *ws_reach_wide(const WsProgram *p)
{
    WsReach r;
    look(&r, p, G_GINT64_CONSTANT(1) << SIZE_LOG_LEAST);
    g_ptr_array_unref(r.launch);
    return r.wide;
}

GPtrArray *ws_reach_launch(const WsProgram *p, gint64 *most)
{
    const gint64 least = G_GINT64_CONSTANT(1) << SIZE_LOG_LEAST;
    g_autoptr(GPtrArray) wide = ws_reach_wide(p);
    *most = WS_REACH_SIZE_MOST;
    for (guint log = 30;; *most = G_GINT64_CONSTANT(1) << log--) {
        WsReach r;
        look(&r, p, *most);
        const gboolean same = r.wide->len == wide->len;
        g_ptr_array_unref(r.wide);
        if (same || *most == least)
            return r.launch;
        g_ptr_array_unref(r.launch);
    }
}
