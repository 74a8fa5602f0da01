/* What the tree of an agent asks for: conditions and counts as forms of symbols, and what an
 * operation must know (demands.c turns that into windows and moduli of variables). */
#include "check/proof/symbols.h"
#include "program/parts/access.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/product.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

/* --- sites ------------------------------------------------------------------------------------ */
static const WsTree *loop_with_index(const WsTree *node, gint var)
{
    for (const WsTree *t = node->parent; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && t->index_var == var)
            return t;
    return NULL;
}

static gboolean is_constant(const WsExpr *e)
{
    gint64 x;
    return !e || ws_expr_is_int(e, &x);
}

/* L-MOVING: what a condition compares with a symbol moves with one index of a loop around it, by
 * the same amount in every round; all else in it is bounded, and so known exactly. Where this does
 * not hold every value of it matters. */
static void find_moving(WsControl *c, WsSite *s)
{
    WsAffine a = { 0 };
    const WsExpr *rest = s->form->rest;
    gboolean ok = ws_expr_affine(rest, &a);
    gint moving = -1;
    if (!ok)
        ws_control_outside(c, "does not fit in 64 bits", rest);
    for (guint i = 0; ok && i < a.n; i++) {
        WsSpan x = ws_span_of(c, a.term[i]);
        if (x.lo > -WS_ENDLESS && x.hi < WS_ENDLESS)
            continue;
        ok = moving < 0 && a.term[i]->op == WS_EXPR_VAR;
        moving = (gint)i;
    }
    if (ok && moving >= 0) {
        gint var = a.term[moving]->var;
        const WsTree *t = loop_with_index(s->node, var);
        /* a total only grows; where there is one tile nothing is compared with it anew */
        gboolean total = var >= 0 && c->p->var[var].kind == WS_VAR_TOTAL &&
                         c->p->tiles->launch == WS_LAUNCH_SINGLE;
        ok = total || (t && is_constant(ws_from(c, t)) && is_constant(ws_step(c, t)));
        s->moving = ok ? t : NULL;
        s->number = ok ? var : -1;
        s->by = a.factor[moving];
        for (t = ok && t ? t->parent : NULL; t; t = t->parent)
            s->again |= t->kind == WS_TREE_LOOP && t->over != WS_OVER_TILES;
    }
    for (guint i = 0; i < a.n; i++)
        if (!ok || (gint)i != moving)
            ws_wish(c, WS_WISH_EXACT, a.term[i], 1);
    ws_affine_clear(&a);
}

void ws_add_site(WsControl *c, gint agent, const WsTree *node, const WsForm *form, gboolean count)
{
    WsSite s = { .node = node, .form = form, .count = count, .number = -1 };
    if (agent >= 0)
        g_array_append_val(c->site[agent], s);
}

void ws_settle_sites(WsControl *c)
{
    for (guint a = 0; a < c->p->n_agents; a++)
        for (guint i = 0; i < c->site[a]->len; i++) {
            WsSite *s = &g_array_index(c->site[a], WsSite, i);
            if (s->count)
                ws_wish(c, WS_WISH_EXACT, s->form->rest, 1);
            else if (s->form->factor)
                find_moving(c, s);
        }
}

/* --- symbols whose remainder is needed -------------------------------------------------------- */
typedef struct {
    WsControl *c;
    GArray *need;
} Ring;

static void need_symbol(const WsExpr *e, gpointer data)
{
    Ring *r = data;
    if (e->op != WS_EXPR_VAR || e->var < (gint)r->c->n_vars)
        return;
    gint s = e->var - (gint)r->c->n_vars;
    WsSymbol *symbol = r->c->symbols->pdata[s];
    symbol->ring = TRUE;
    if ((!symbol->bounded || symbol->least < 0) && !r->c->outside)
        r->c->outside =
            g_strdup_printf("a use or counter depends on %s, which may be negative", symbol->text);
    if (r->need)
        g_array_append_val(r->need, s);
}

/* All that it (rewritten) needs of symbols is what they leave. */
gboolean ws_only_remainders(const WsControl *c, const WsExpr *e)
{
    gint64 m;
    if (e->op == WS_EXPR_VAR)
        return e->var < (gint)c->n_vars;
    if (e->op == WS_EXPR_MOD && ws_expr_is_int(e->arg[1], &m) && m > 0)
        return TRUE;
    for (guint i = 0; i < e->n_args; i++)
        if (!ws_only_remainders(c, e->arg[i]))
            return FALSE;
    return TRUE;
}

void ws_learn_remainders(WsControl *c, const WsExpr *e)
{
    Ring r = { c, NULL };
    ws_expr_visit(e, need_symbol, &r);
}

/* --- conditions ------------------------------------------------------------------------------- */
/* L-FAR: a comparison with a number that rounds would have to be counted to is a yes or no of its
 * own: more than there is, as it may be answered beside the count. */
static gboolean is_far(const WsControl *c, const WsForm *f)
{
    enum { FAR = 256 };
    gint64 x;
    if (!c->far || f->symbol < 0 || !ws_expr_is_int(f->rest, &x))
        return FALSE;
    const WsSymbol *s = c->symbols->pdata[f->symbol];
    const gint64 from = s->bounded ? s->least : 0;
    return ABS(x) > FAR && ABS((f->factor > 0 ? -x : x) - from) > FAR;
}

/* Learns to answer a condition (already rewritten): AND, OR, NOT of comparisons. */
void ws_learn_condition(WsControl *c, gint agent, const WsTree *node, const WsExpr *e)
{
    WsLeaves l = ws_leaves(c, e);
    if (l.symbol == 0) {
        ws_wish(c, WS_WISH_TRUTH, e, 1);
        return;
    }
    if (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR || e->op == WS_EXPR_NOT) {
        for (guint i = 0; i < e->n_args; i++)
            ws_learn_condition(c, agent, node, e->arg[i]);
        return;
    }
    gboolean compares = e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE;
    WsForm *f = NULL;
    if (compares) {
        g_autoptr(WsExpr) d =
            ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
        f = ws_form_of(c, d);
    }
    const gboolean far = f && is_far(c, f);
    if (far) {
        ws_expr_unref(f->rest);
        g_clear_pointer(&f, g_free);
        c->letters = TRUE;
    }
    if (!f && ws_only_remainders(c, e)) {
        ws_learn_remainders(c, e);
        ws_wish(c, WS_WISH_TRUTH, e, 1);
        return;
    }
    if (!f && !far)
        f = ws_difference(c, e);
    if (!f) {
        if (l.index) {
            ws_control_outside(c, "a condition of indices that is no comparison with one symbol",
                               e);
            return;
        }
        f = g_new0(WsForm, 1);
        f->symbol = ws_symbol_of(c, e, TRUE);
        f->rest = ws_expr_int(0);
    } else if (f->symbol < 0) { /* the symbol has cancelled */
        ws_wish(c, WS_WISH_TRUTH, f->rest, 1);
    }
    f = ws_keep_form(c, e, f);
    ws_add_site(c, agent, node, f, FALSE);
}

/* --- operations ------------------------------------------------------------------------------- */
void ws_learn_ring(WsControl *c, const WsExpr *e, GArray *need, gint64 m, gboolean use)
{
    if (!e)
        return;
    Ring r = { c, need };
    const WsExpr *w = ws_rewritten(c, e);
    ws_expr_visit(w, need_symbol, &r);
    ws_wish(c, use ? WS_WISH_USE : WS_WISH_MODULO, w, m);
}

void ws_learn_exact(WsControl *c, const WsExpr *e, GArray *need)
{
    if (!e)
        return;
    ws_learn_ring(c, e, need, 1, FALSE);
    ws_wish(c, WS_WISH_EXACT, ws_rewritten(c, e), 1);
}

/* A read of columns that start at the index of a loop whose count is bounded: within the buffer,
 * and no harm in taking the whole rows instead. */
static gboolean whole_rows(const WsControl *c, const WsOp *op, const WsAccess *a)
{
    if (a->mode != WS_MODE_READ || !a->col0 || a->col0->op != WS_EXPR_VAR)
        return FALSE;
    for (const WsTree *t = op->tree; t; t = t->parent) {
        gint64 x;
        if (t->kind != WS_TREE_LOOP || t->index_var != a->col0->var || t->over != WS_OVER_COUNT)
            continue;
        gboolean plain = (!t->from || (ws_expr_is_int(t->from, &x) && x == 0)) &&
                         (!t->step_by || (ws_expr_is_int(t->step_by, &x) && x == 1));
        gint64 most = t->count ? ws_most(c, t->count, 0) : G_MAXINT64;
        return plain && most < ((gint64)1 << 30) &&
               most - 1 + a->cols <= (gint64)c->p->buffer[a->buffer].cols;
    }
    return FALSE;
}

void ws_learn_operation(WsControl *c, const WsOp *op)
{
    GArray *need = c->need[op->index] = g_array_new(FALSE, FALSE, sizeof(gint));
    if (op->var >= 0 && op->set && (op->kind == WS_OP_LET || op->kind == WS_OP_ADVANCE)) {
        if (c->relevant[op->var])
            ws_learn_ring(c, op->set, need, 1, FALSE);
        return;
    }
    gint64 slots = op->barrier >= 0 ? MAX(c->p->barrier[op->barrier].slots, 1) : 1;
    ws_learn_exact(c, op->element, need);
    ws_learn_ring(c, op->use, need, WS_LAPS * slots, TRUE);
    ws_learn_exact(c, op->slot, need);
    ws_learn_exact(c, op->parity, need);
    ws_learn_ring(c, op->turn, need, WS_LAPS, FALSE);
    if (op->ctas.kind == WS_CTAS_EXPR)
        ws_learn_exact(c, op->ctas.expr, need);
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *a = &op->access[i];
        ws_learn_exact(c, a->element, need);
        ws_learn_ring(c, a->use, need, 1, TRUE);
        ws_learn_exact(c, a->stage, need);
        ws_learn_exact(c, a->row0, need);
        if (whole_rows(c, op, a))
            g_hash_table_add(c->rows, (gpointer)a);
        else
            ws_learn_exact(c, a->col0, need);
    }
    for (guint i = 0; i < op->n_value; i++) {
        ws_learn_exact(c, op->value[i].row0, need);
        ws_learn_exact(c, op->value[i].col0, need);
    }
    if (op->mma && op->mma->first)
        ws_learn_condition(c, op->agent, op->tree, ws_rewritten(c, op->mma->first));
}
