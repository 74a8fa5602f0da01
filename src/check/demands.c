/* How well variables must be known: conditions bound them, rings count them modulo. */
#include "check/symbols.h"

#include <string.h>

#define EXACT ((gint64)1 << 40)

static void literal(const WsExpr *e, gpointer data)
{
    gint64 *bound = data;
    if (e->op == WS_EXPR_INT && !__builtin_add_overflow(*bound, ABS(e->i), bound))
        return;
}

static void condition_of_indices(WsControl *c, const WsExpr *e);

void ws_add_site(WsControl *c, gint agent, const WsTree *node, const WsForm *form, gboolean count)
{
    WsSite s = { node, form, count, ws_leaves(c, form->rest).index > 0 };
    if (agent >= 0)
        g_array_append_val(c->site[agent], s);
}

/* Learns to answer a condition (already rewritten): AND, OR, NOT of comparisons. */
void ws_learn_condition(WsControl *c, gint agent, const WsTree *node, const WsExpr *e)
{
    WsLeaves l = ws_leaves(c, e);
    if (l.symbol == 0) {
        condition_of_indices(c, e);
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
    if (!f) {
        if (l.index) {
            ws_control_outside(c, "a condition of indices that is no comparison with one symbol",
                               e);
            return;
        }
        f = g_new0(WsForm, 1);
        f->symbol = ws_symbol_of(c, e, TRUE);
        f->rest = ws_expr_int(0);
    } else {
        condition_of_indices(c, f->rest);
    }
    g_hash_table_insert(c->forms, (gpointer)e, f);
    ws_add_site(c, agent, node, f, FALSE);
}

/* At most one index on both sides together. */
static gboolean one_index(const WsControl *c, const WsExpr *e)
{
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    WsAffine a = { 0 };
    if (!ws_expr_affine(d, &a))
        return FALSE;
    guint n = 0;
    for (guint i = 0; i < a.n; i++) {
        WsLeaves l = ws_leaves(c, a.term[i]);
        n += l.index > l.cta;
    }
    ws_affine_clear(&a);
    return n <= 1;
}

static void find_tainted(const WsExpr *e, gpointer data)
{
    WsControl *c = data;
    if (e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < c->n_vars && c->tainted[e->var])
        ws_control_outside(c, "a condition of a counter that is known up to a multiple only", e);
    if (e->op == WS_EXPR_DIV)
        ws_control_outside(c, "a condition with a division", e);
    gint64 m;
    if (e->op == WS_EXPR_MOD && (!ws_expr_is_int(e->arg[1], &m) || m <= 0 || m > 64))
        ws_control_outside(c, "a condition with a remainder by something else than a small number",
                           e);
    if (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE && e->n_args == 2 && !one_index(c, e))
        ws_control_outside(c, "a condition that compares two indices", e);
}

static gint64 gcd(gint64 a, gint64 b)
{
    while (b) {
        gint64 t = a % b;
        a = b, b = t;
    }
    return a;
}

gint64 ws_least_multiple(WsControl *c, gint64 a, gint64 m)
{
    gint64 g = gcd(a, m), r;
    if (__builtin_mul_overflow(a / g, m, &r) || r > 4096) {
        if (!c->outside)
            c->outside = g_strdup("the rings repeat after more than 4096 uses only");
        return a;
    }
    return r;
}

/* A variable of an expression must be known modulo m, and exactly up to a bound. */
typedef struct {
    WsControl *c;
    gint64 m, bound;
    gboolean changed;
} Demand;

static void demand(const WsExpr *e, gpointer data)
{
    Demand *d = data;
    WsControl *c = d->c;
    if (e->op != WS_EXPR_VAR || e->var < 0)
        return;
    gint64 *m = (guint)e->var < c->n_vars
                    ? &c->modulus[e->var]
                    : &((WsSymbol *)c->symbols->pdata[e->var - (gint)c->n_vars])->modulus;
    gint64 before = *m;
    *m = ws_least_multiple(c, *m, d->m);
    d->changed |= *m != before;
    if ((guint)e->var < c->n_vars && c->bound[e->var] < d->bound)
        c->bound[e->var] = d->bound, d->changed = TRUE;
}

static void moduli(const WsExpr *e, gpointer data)
{
    gint64 m;
    if ((e->op == WS_EXPR_MOD || e->op == WS_EXPR_DIV) && ws_expr_is_int(e->arg[1], &m) && m > 0 &&
        m <= 4096)
        *(gint64 *)data *= m;
    if (*(gint64 *)data > ((gint64)1 << 20))
        *(gint64 *)data = (gint64)1 << 20;
}

static void condition_of_indices(WsControl *c, const WsExpr *e)
{
    gint64 bound = 0, product = 1;
    ws_expr_visit(e, find_tainted, c);
    ws_expr_visit(e, literal, &bound);
    ws_expr_visit(e, moduli, &product);
    Demand d = { c, product, bound, FALSE };
    ws_expr_visit(e, demand, &d);
    if (bound > 256)
        ws_control_outside(c, "a condition with a large number", e);
}

/* --- ring expressions ------------------------------------------------------------------------- */
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
    if (symbol->least < 0 && !r->c->outside)
        r->c->outside =
            g_strdup_printf("a use or counter depends on %s, which may be negative", symbol->text);
    if (r->need)
        g_array_append_val(r->need, s);
}

/* `m`: what the result must be known modulo, on top of the divisors in it. */
void ws_learn_ring(WsControl *c, const WsExpr *e, GArray *need, gint64 m)
{
    if (!e)
        return;
    Ring r = { c, need };
    const WsExpr *w = ws_rewritten(c, e);
    gint64 product = 1, bound = 0;
    ws_expr_visit(w, need_symbol, &r);
    ws_expr_visit(w, moduli, &product);
    WsAffine a = { 0 };
    if (ws_expr_affine(w, &a)) { /* a negative use must stay one */
        bound = a.constant < -64 ? 64 : a.constant < 0 ? -a.constant : 0;
        ws_affine_clear(&a);
    }
    Demand d = { c, m * product, bound - 1, FALSE };
    ws_expr_visit(w, demand, &d);
}

/* What must be known exactly: indices that do not stand under a remainder. */
static void exactly(WsControl *c, const WsExpr *e)
{
    gint64 m;
    if (e->op == WS_EXPR_MOD && ws_expr_is_int(e->arg[1], &m))
        return;
    if (e->op == WS_EXPR_VAR && (e->var >= (gint)c->n_vars || (e->var >= 0 && c->tainted[e->var])))
        ws_control_outside(c, "an element, slot or range depends on a symbol", e);
    else if (e->op == WS_EXPR_VAR && e->var >= 0 && c->p->var[e->var].kind != WS_VAR_CTA)
        c->bound[e->var] = EXACT;
    for (guint i = 0; i < e->n_args; i++)
        exactly(c, e->arg[i]);
}

void ws_learn_exact(WsControl *c, const WsExpr *e, GArray *need, gint64 m)
{
    ws_learn_ring(c, e, need, m);
    if (e)
        exactly(c, ws_rewritten(c, e));
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
        gint64 most = t->count ? ws_most(c->p, t->count, 0) : G_MAXINT64;
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
            ws_learn_ring(c, op->set, need, 1);
        return;
    }
    gint64 slots = op->barrier >= 0 ? MAX(c->p->barrier[op->barrier].slots, 1) : 1;
    ws_learn_exact(c, op->element, need, 1);
    ws_learn_ring(c, op->use, need, WS_LAPS * slots);
    ws_learn_exact(c, op->slot, need, 1);
    ws_learn_exact(c, op->parity, need, 1);
    ws_learn_ring(c, op->turn, need, WS_LAPS);
    if (op->ctas.kind == WS_CTAS_EXPR)
        ws_learn_exact(c, op->ctas.expr, need, 1);
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *a = &op->access[i];
        ws_learn_exact(c, a->element, need, 1);
        ws_learn_ring(c, a->use, need, 1);
        ws_learn_exact(c, a->stage, need, 1);
        ws_learn_exact(c, a->row0, need, 1);
        if (whole_rows(c, op, a))
            g_hash_table_add(c->rows, (gpointer)a);
        else
            ws_learn_exact(c, a->col0, need, 1);
    }
    for (guint i = 0; i < op->n_value; i++) {
        ws_learn_exact(c, op->value[i].row0, need, 1);
        ws_learn_exact(c, op->value[i].col0, need, 1);
    }
    if (op->mma && op->mma->first)
        ws_learn_condition(c, op->agent, op->tree, ws_rewritten(c, op->mma->first));
}

/* What a counter or a let is made of must be known as well as itself. */
static gboolean hand(WsControl *c, guint v, const WsExpr *e, guint pass)
{
    gint64 product = 1, bound = c->bound[v];
    ws_expr_visit(e, moduli, &product);
    if (bound >= 0 && bound < EXACT)
        bound = (bound + 1) * product + product;
    if (bound > 4096 || (pass > 16 && bound >= 0)) /* a counter that hands itself on never ends */
        bound = EXACT;
    Demand d = { c, c->modulus[v] * product, MIN(bound, EXACT), FALSE };
    ws_expr_visit(e, demand, &d);
    return d.changed;
}

void ws_hand_down(WsControl *c)
{
    const WsProgram *p = c->p;
    gboolean changed = TRUE;
    for (guint pass = 0; changed && !c->outside; pass++) {
        changed = FALSE;
        for (guint i = 0; i < p->n_ops; i++) {
            const WsOp *op = p->op[i];
            if ((op->kind != WS_OP_LET && op->kind != WS_OP_ADVANCE) || op->var < 0 || !op->set ||
                !c->relevant[op->var])
                continue;
            changed |= hand(c, (guint)op->var, ws_rewritten(c, op->set), pass);
        }
        for (guint v = 0; v < p->n_vars; v++) {
            if (p->var[v].kind != WS_VAR_COUNTER || !p->var[v].value || !c->relevant[v])
                continue;
            changed |= hand(c, v, ws_rewritten(c, p->var[v].value), pass);
        }
    }
}
