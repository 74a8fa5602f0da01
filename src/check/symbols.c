/* What the control of a program depends on (LANGUAGE section 16): symbols by identity, indices, the
 * modulus of the rings, the constants that indices are compared with. */
#include "check/prove.h"

#include <string.h>

static void outside(WsControl *c, const char *what, const WsExpr *e)
{
    if (c->outside)
        return;
    g_autofree char *text = ws_expr_print(e);
    c->outside = g_strdup_printf("%s: %s", what, text);
}

/* --- least values (LANGUAGE 16.9) ------------------------------------------------------------- */
#define UNKNOWN (G_MININT64 / 4)
#define EXACT   ((gint64)1 << 40)

static gint64 assumed(const WsProgram *p, gint var)
{
    gint64 best = UNKNOWN;
    for (guint i = 0; i < p->n_assume; i++) {
        const WsExpr *e = p->assume[i];
        if (e->n_args != 2)
            continue;
        gint64 x;
        gboolean left =
            e->arg[0]->op == WS_EXPR_VAR && e->arg[0]->var == var && ws_expr_is_int(e->arg[1], &x);
        gboolean right = !left && e->arg[1]->op == WS_EXPR_VAR && e->arg[1]->var == var &&
                         ws_expr_is_int(e->arg[0], &x);
        if (!left && !right)
            continue;
        if (e->op == WS_EXPR_EQ || e->op == (left ? WS_EXPR_GE : WS_EXPR_LE))
            best = MAX(best, x);
        else if (e->op == (left ? WS_EXPR_GT : WS_EXPR_LT))
            best = MAX(best, x + 1);
    }
    return best;
}

static gint64 least(const WsProgram *p, const WsExpr *e, guint depth)
{
    gint64 a, b, r;
    if (depth > 24)
        return UNKNOWN;
    if (e->op == WS_EXPR_INT)
        return e->i;
    if (e->op == WS_EXPR_VAR) {
        if (e->var < 0 || (guint)e->var >= p->n_vars)
            return UNKNOWN;
        const WsVar *v = &p->var[e->var];
        r = assumed(p, e->var);
        if (v->kind == WS_VAR_SIZE || v->kind == WS_VAR_AXIS || v->kind == WS_VAR_CTA)
            return MAX(r, 0);
        if ((v->kind == WS_VAR_RUN || v->kind == WS_VAR_TILE) && v->value && !v->real)
            return MAX(r, least(p, v->value, depth + 1));
        return r;
    }
    if (e->n_args != 2)
        return UNKNOWN;
    a = least(p, e->arg[0], depth + 1);
    b = least(p, e->arg[1], depth + 1);
    gboolean literal = ws_expr_is_int(e->arg[1], &r);
    switch (e->op) {
    case WS_EXPR_ADD:
        return a <= UNKNOWN || b <= UNKNOWN || __builtin_add_overflow(a, b, &r) ? UNKNOWN : r;
    case WS_EXPR_SUB:
        return a <= UNKNOWN || !literal || __builtin_sub_overflow(a, r, &r) ? UNKNOWN : r;
    case WS_EXPR_MUL:
        return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r) ? UNKNOWN : r;
    case WS_EXPR_DIV:
        return a < 0 || b < 0 ? UNKNOWN : literal && r > 0 ? a / r : 0;
    case WS_EXPR_MOD:
        return literal && r > 0 ? 0 : UNKNOWN;
    case WS_EXPR_CALL:
        if (e->func == WS_FUNC_MAX)
            return MAX(a, b);
        if (e->func == WS_FUNC_MIN)
            return MIN(a, b);
        if (e->func == WS_FUNC_CDIV)
            return a < 0 || b < 0 ? UNKNOWN : literal && r > 0 ? a / r + (a % r > 0) : a > 0;
        return UNKNOWN;
    default:
        return UNKNOWN;
    }
}

/* --- leaves ----------------------------------------------------------------------------------- */
typedef struct {
    const WsControl *c;
    guint depth;
    guint index, symbol, real, cta, tile; /* occurrences */
} Leaves;

static void see(const WsExpr *e, gpointer data)
{
    Leaves *l = data;
    const WsProgram *p = l->c->p;
    if (e->op == WS_EXPR_INDEX)
        l->symbol++, l->tile++;
    if (e->op == WS_EXPR_REAL)
        l->real++;
    if (e->op != WS_EXPR_VAR || e->var < 0)
        return;
    if ((guint)e->var >= p->n_vars) {
        l->symbol++;
        return;
    }
    const WsVar *v = &p->var[e->var];
    switch (v->kind) {
    case WS_VAR_SIZE:
        l->symbol++;
        break;
    case WS_VAR_AXIS:
        l->symbol++, l->tile++;
        break;
    case WS_VAR_RUN:
    case WS_VAR_TILE:
        l->symbol++;
        l->tile += v->kind == WS_VAR_TILE;
        if (v->value && l->depth < 16) { /* does it depend on the rank? */
            Leaves in = { l->c, l->depth + 1, 0, 0, 0, 0, 0 };
            ws_expr_visit(v->value, see, &in);
            l->cta += in.cta;
        }
        break;
    case WS_VAR_SCALAR:
    case WS_VAR_ROW:
    case WS_VAR_COL:
        l->real++;
        break;
    case WS_VAR_CTA:
        l->cta++, l->index++;
        break;
    default:
        l->index++;
    }
}

static Leaves leaves(const WsControl *c, const WsExpr *e)
{
    Leaves l = { c, 0, 0, 0, 0, 0, 0 };
    ws_expr_visit(e, see, &l);
    return l;
}

/* --- symbols ---------------------------------------------------------------------------------- */
static gint symbol_of(WsControl *c, const WsExpr *e, gboolean letter)
{
    g_autofree char *text = ws_expr_print(e);
    for (guint i = 1; i < c->symbols->len; i++) {
        const WsSymbol *s = c->symbols->pdata[i];
        if (s->letter == letter && strcmp(s->text, text) == 0)
            return (gint)i;
    }
    Leaves l = leaves(c, e);
    WsSymbol *s = g_new0(WsSymbol, 1);
    s->text = g_steal_pointer(&text);
    s->run = l.tile == 0;
    s->per_cta = l.cta > 0;
    s->letter = letter;
    s->modulus = 1;
    gint64 low = letter ? 0 : least(c->p, e, 0);
    s->least = low;
    g_ptr_array_add(c->symbols, s);
    return (gint)c->symbols->len - 1;
}

static WsExpr *leaf_of(WsControl *c, gint symbol)
{
    const WsSymbol *s = c->symbols->pdata[symbol];
    return ws_expr_var((gint)c->n_vars + symbol, s->text);
}

static WsExpr *sum(WsExpr *a, gint64 factor, WsExpr *b)
{
    WsExpr *t = factor == 1 ? b : ws_expr_op(WS_EXPR_MUL, ws_expr_int(factor), b);
    return a ? ws_expr_op(WS_EXPR_ADD, a, t) : t;
}

/* The expression with its maximal non-affine subexpressions without indices as symbols. */
static WsExpr *rewrite(WsControl *c, const WsExpr *e)
{
    Leaves l = leaves(c, e);
    if (l.real) {
        outside(c, "control depends on a real number or an element", e);
        return ws_expr_int(0);
    }
    if (l.symbol == 0)
        return ws_expr_ref(e);
    gboolean truth = e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR;
    if (l.index == 0 && !truth && e->op != WS_EXPR_NOT) {
        WsAffine a = { 0 };
        if (!ws_expr_affine(e, &a)) {
            outside(c, "does not fit in 64 bits", e);
            return ws_expr_int(0);
        }
        WsExpr *r = a.constant || a.n == 0 ? ws_expr_int(a.constant) : NULL;
        for (guint i = 0; i < a.n; i++) {
            Leaves t = leaves(c, a.term[i]);
            r = sum(r, a.factor[i],
                    t.symbol ? leaf_of(c, symbol_of(c, a.term[i], FALSE)) : ws_expr_ref(a.term[i]));
        }
        ws_affine_clear(&a);
        return r;
    }
    if (e->op == WS_EXPR_CALL || e->op == WS_EXPR_INDEX || e->n_args == 0 || e->n_args > 2) {
        outside(c, "not affine in indices and symbols", e);
        return ws_expr_int(0);
    }
    if (e->op == WS_EXPR_MUL) {
        Leaves x = leaves(c, e->arg[0]), y = leaves(c, e->arg[1]);
        if ((x.symbol && (y.symbol || y.index)) || (y.symbol && x.index))
            outside(c, "a symbol times an index or a symbol", e);
    }
    return ws_expr_op(e->op, rewrite(c, e->arg[0]), e->n_args > 1 ? rewrite(c, e->arg[1]) : NULL);
}

static WsExpr *rewritten(WsControl *c, const WsExpr *e)
{
    WsExpr *r = g_hash_table_lookup(c->rewritten, e);
    if (!r) {
        r = rewrite(c, e);
        g_hash_table_insert(c->rewritten, (gpointer)e, r);
    }
    return r;
}

/* --- forms ------------------------------------------------------------------------------------ */
/* e = factor * symbol + rest with at most one symbol; NULL if it is not so. */
static WsForm *form_of(WsControl *c, const WsExpr *e)
{
    WsAffine a = { 0 };
    if (!ws_expr_affine(e, &a))
        return NULL;
    WsForm *f = g_new0(WsForm, 1);
    f->symbol = -1;
    gboolean ok = TRUE;
    f->rest = ws_expr_int(a.constant);
    for (guint i = 0; i < a.n; i++) {
        if (a.term[i]->op == WS_EXPR_VAR && a.term[i]->var >= (gint)c->n_vars) {
            ok &= f->symbol < 0 && ABS(a.factor[i]) == 1;
            f->symbol = a.term[i]->var - (gint)c->n_vars;
            f->factor = (gint)a.factor[i];
        } else {
            ok &= leaves(c, a.term[i]).symbol == 0;
            f->rest = sum(f->rest, a.factor[i], ws_expr_ref(a.term[i]));
        }
    }
    ws_affine_clear(&a);
    if (ok)
        return f;
    ws_expr_unref(f->rest);
    g_free(f);
    return NULL;
}

static void literal(const WsExpr *e, gpointer data)
{
    gint64 *bound = data;
    if (e->op == WS_EXPR_INT && !__builtin_add_overflow(*bound, ABS(e->i), bound))
        return;
}

static void condition_of_indices(WsControl *c, const WsExpr *e);

static void add_site(WsControl *c, gint agent, const WsTree *node, const WsForm *form,
                     gboolean count)
{
    WsSite s = { node, form, count, leaves(c, form->rest).index > 0 };
    if (agent >= 0)
        g_array_append_val(c->site[agent], s);
}

/* Learns to answer a condition (already rewritten): AND, OR, NOT of comparisons. */
static void condition(WsControl *c, gint agent, const WsTree *node, const WsExpr *e)
{
    Leaves l = leaves(c, e);
    if (l.symbol == 0) {
        condition_of_indices(c, e);
        return;
    }
    if (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR || e->op == WS_EXPR_NOT) {
        for (guint i = 0; i < e->n_args; i++)
            condition(c, agent, node, e->arg[i]);
        return;
    }
    gboolean compares = e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE;
    WsForm *f = NULL;
    if (compares) {
        g_autoptr(WsExpr) d =
            ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
        f = form_of(c, d);
    }
    if (!f) {
        if (l.index) {
            outside(c, "a condition of indices that is no comparison with one symbol", e);
            return;
        }
        f = g_new0(WsForm, 1);
        f->symbol = symbol_of(c, e, TRUE);
        f->rest = ws_expr_int(0);
    } else {
        condition_of_indices(c, f->rest);
    }
    g_hash_table_insert(c->forms, (gpointer)e, f);
    add_site(c, agent, node, f, FALSE);
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
        Leaves l = leaves(c, a.term[i]);
        n += l.index > l.cta;
    }
    ws_affine_clear(&a);
    return n <= 1;
}

static void find_tainted(const WsExpr *e, gpointer data)
{
    WsControl *c = data;
    if (e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < c->n_vars && c->tainted[e->var])
        outside(c, "a condition of a counter that is known up to a multiple only", e);
    if (e->op == WS_EXPR_DIV)
        outside(c, "a condition with a division", e);
    gint64 m;
    if (e->op == WS_EXPR_MOD && (!ws_expr_is_int(e->arg[1], &m) || m <= 0 || m > 64))
        outside(c, "a condition with a remainder by something else than a small number", e);
    if (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE && e->n_args == 2 && !one_index(c, e))
        outside(c, "a condition that compares two indices", e);
}

static gint64 gcd(gint64 a, gint64 b)
{
    while (b) {
        gint64 t = a % b;
        a = b, b = t;
    }
    return a;
}

static gint64 multiple(WsControl *c, gint64 a, gint64 m)
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
    *m = multiple(c, *m, d->m);
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
        outside(c, "a condition with a large number", e);
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
static void ring(WsControl *c, const WsExpr *e, GArray *need, gint64 m)
{
    if (!e)
        return;
    Ring r = { c, need };
    const WsExpr *w = rewritten(c, e);
    gint64 product = 1, bound = 0;
    ws_expr_visit(w, need_symbol, &r);
    ws_expr_visit(w, moduli, &product);
    WsAffine a = { 0 };
    if (ws_expr_affine(w, &a)) { /* a negative use must stay one */
        bound = a.constant < 0 ? MIN(-a.constant, 64) : 0;
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
    if (e->op == WS_EXPR_VAR && e->var >= (gint)c->n_vars)
        outside(c, "an element, slot or range depends on a symbol", e);
    else if (e->op == WS_EXPR_VAR && e->var >= 0 && c->p->var[e->var].kind != WS_VAR_CTA)
        c->bound[e->var] = EXACT;
    for (guint i = 0; i < e->n_args; i++)
        exactly(c, e->arg[i]);
}

static void exact_ring(WsControl *c, const WsExpr *e, GArray *need, gint64 m)
{
    ring(c, e, need, m);
    if (e)
        exactly(c, rewritten(c, e));
}

static void operation(WsControl *c, const WsOp *op)
{
    GArray *need = c->need[op->index] = g_array_new(FALSE, FALSE, sizeof(gint));
    if (op->var >= 0 && op->set && (op->kind == WS_OP_LET || op->kind == WS_OP_ADVANCE)) {
        if (c->relevant[op->var])
            ring(c, op->set, need, 1);
        return;
    }
    gint64 slots = op->barrier >= 0 ? MAX(c->p->barrier[op->barrier].slots, 1) : 1;
    exact_ring(c, op->element, need, 1);
    ring(c, op->use, need, WS_LAPS * slots);
    exact_ring(c, op->slot, need, 1);
    exact_ring(c, op->parity, need, 1);
    ring(c, op->turn, need, WS_LAPS);
    if (op->ctas.kind == WS_CTAS_EXPR)
        exact_ring(c, op->ctas.expr, need, 1);
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *a = &op->access[i];
        gint64 stages = MAX(c->p->buffer[a->buffer].stages, 1);
        exact_ring(c, a->element, need, 1);
        ring(c, a->use, need, WS_LAPS * stages);
        exact_ring(c, a->stage, need, 1);
        exact_ring(c, a->row0, need, 1);
        exact_ring(c, a->col0, need, 1);
    }
    for (guint i = 0; i < op->n_value; i++) {
        exact_ring(c, op->value[i].row0, need, 1);
        exact_ring(c, op->value[i].col0, need, 1);
    }
    if (op->mma && op->mma->first)
        condition(c, op->agent, op->tree, rewritten(c, op->mma->first));
}

/* --- trees ------------------------------------------------------------------------------------ */
static gboolean is_private(const WsControl *c, const WsTree *t)
{
    if (!t)
        return TRUE;
    if (t->kind == WS_TREE_OP)
        return t->op->kind == WS_OP_MATH || t->op->kind == WS_OP_MARK ||
               t->op->kind == WS_OP_LD_GLOBAL || t->op->kind == WS_OP_ST_GLOBAL ||
               t->op->kind == WS_OP_RED_GLOBAL ||
               (t->op->kind == WS_OP_LET && t->op->var >= 0 && !c->relevant[t->op->var]);
    if (t->kind == WS_TREE_LOOP)
        return FALSE;
    for (guint i = 0; i < t->n_kids; i++)
        if (!is_private(c, t->kid[i]))
            return FALSE;
    return TRUE;
}

/* A loop over a symbol that can be met twice in a tile. */
static void note_split(WsControl *c, gint agent, const WsTree *t, gint symbol)
{
    WsSymbol *s = c->symbols->pdata[symbol];
    guint loops = 0;
    for (guint i = 0; i < c->site[agent]->len; i++) {
        const WsSite *site = &g_array_index(c->site[agent], WsSite, i);
        loops += site->count && site->form->symbol == symbol;
    }
    gboolean nested = loops > 1;
    for (const WsTree *up = t->parent; up; up = up->parent)
        nested |= up->kind == WS_TREE_LOOP && up->over != WS_OVER_TILES;
    if (nested && symbol < WS_MAX_SPLIT)
        s->split = TRUE;
}

static void tree(WsControl *c, gint agent, const WsTree *t, guint *number)
{
    if (!t)
        return;
    g_hash_table_insert(c->number, (gpointer)t, GUINT_TO_POINTER(++*number));
    if (t->kind == WS_TREE_OP)
        operation(c, t->op);
    if (t->kind == WS_TREE_BRANCH && t->cond) {
        if (is_private(c, t))
            g_hash_table_add(c->private_if, (gpointer)t);
        else
            condition(c, agent, t, rewritten(c, t->cond));
    }
    if (t->kind == WS_TREE_LOOP) {
        exact_ring(c, t->from, NULL, 1);
        exact_ring(c, t->step_by, NULL, 1);
        if ((t->from && leaves(c, t->from).symbol) || (t->step_by && leaves(c, t->step_by).symbol))
            outside(c, "a loop that starts or steps by a symbol", t->from ? t->from : t->step_by);
        if (t->over == WS_OVER_PIPE && !c->outside)
            c->outside = g_strdup_printf("%s: a loop over a pipe", t->step ? t->step : t->name);
        if (t->over == WS_OVER_COUNT && t->count) {
            WsExpr *w = rewritten(c, t->count);
            WsForm *f = form_of(c, w);
            if (f && f->symbol >= 0 && f->factor != 1) {
                ws_expr_unref(f->rest);
                g_clear_pointer(&f, g_free);
            }
            if (!f && leaves(c, w).index == 0) { /* the count is a symbol as a whole */
                f = g_new0(WsForm, 1);
                f->symbol = symbol_of(c, t->count, FALSE);
                f->factor = 1;
                f->rest = ws_expr_int(0);
            }
            if (!f) {
                outside(c, "a count that is not a symbol and indices", t->count);
            } else {
                g_hash_table_insert(c->forms, w, f);
                if (f->symbol >= 0) {
                    add_site(c, agent, t, f, TRUE);
                    note_split(c, agent, t, f->symbol);
                }
            }
        }
    }
    for (guint i = 0; i < t->n_kids; i++)
        tree(c, agent, t->kid[i], number);
}

/* --- variables that control depends on -------------------------------------------------------- */
typedef struct {
    WsControl *c;
    gboolean changed, symbols;
} Mark;

static void mark(const WsExpr *e, gpointer data)
{
    Mark *m = data;
    if (e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < m->c->n_vars &&
        !m->c->relevant[e->var])
        m->c->relevant[e->var] = m->changed = TRUE;
}

static void mark_expr(Mark *m, const WsExpr *e)
{
    if (e)
        ws_expr_visit(e, mark, m);
}

static void mark_op(Mark *m, const WsOp *op)
{
    if (op->kind == WS_OP_LET || op->kind == WS_OP_ADVANCE) {
        if (op->var >= 0 && m->c->relevant[op->var])
            mark_expr(m, op->set);
        return;
    }
    mark_expr(m, op->element), mark_expr(m, op->use), mark_expr(m, op->slot);
    mark_expr(m, op->parity), mark_expr(m, op->turn);
    if (op->ctas.kind == WS_CTAS_EXPR)
        mark_expr(m, op->ctas.expr);
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *a = &op->access[i];
        mark_expr(m, a->element), mark_expr(m, a->use), mark_expr(m, a->stage);
        mark_expr(m, a->row0), mark_expr(m, a->col0);
    }
    for (guint i = 0; i < op->n_value; i++)
        mark_expr(m, op->value[i].row0), mark_expr(m, op->value[i].col0);
    if (op->mma && op->mma->first)
        mark_expr(m, op->mma->first);
}

static void mark_tree(Mark *m, const WsTree *t)
{
    if (!t)
        return;
    if (t->kind == WS_TREE_OP)
        mark_op(m, t->op);
    if (t->kind == WS_TREE_LOOP)
        mark_expr(m, t->count), mark_expr(m, t->from), mark_expr(m, t->step_by);
    if (t->kind == WS_TREE_BRANCH && !is_private(m->c, t))
        mark_expr(m, t->cond);
    for (guint i = 0; i < t->n_kids; i++)
        mark_tree(m, t->kid[i]);
}

static gboolean depends(const WsControl *c, const WsExpr *e);
static void see_taint(const WsExpr *e, gpointer data)
{
    Mark *m = data;
    if (e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < m->c->n_vars)
        m->symbols |= m->c->tainted[e->var];
}

static gboolean depends(const WsControl *c, const WsExpr *e)
{
    Mark m = { (WsControl *)c, FALSE, FALSE };
    ws_expr_visit(e, see_taint, &m);
    return m.symbols || leaves(c, e).symbol > 0;
}

static void find_variables(WsControl *c)
{
    const WsProgram *p = c->p;
    Mark m = { c, TRUE, FALSE };
    while (m.changed) {
        m.changed = FALSE;
        for (guint a = 0; a < p->n_agents; a++)
            mark_tree(&m, p->agent[a].body);
        for (guint v = 0; v < p->n_vars; v++)
            if (p->var[v].kind == WS_VAR_COUNTER && p->var[v].value && c->relevant[v])
                mark_expr(&m, p->var[v].value);
    }
    gboolean changed = TRUE;
    while (changed) {
        changed = FALSE;
        for (guint v = 0; v < p->n_vars; v++)
            if (p->var[v].kind == WS_VAR_COUNTER && p->var[v].value && !c->tainted[v] &&
                depends(c, p->var[v].value))
                c->tainted[v] = changed = TRUE;
        for (guint i = 0; i < p->n_ops; i++) {
            const WsOp *op = p->op[i];
            if ((op->kind == WS_OP_LET || op->kind == WS_OP_ADVANCE) && op->var >= 0 && op->set &&
                !c->tainted[op->var] && depends(c, op->set))
                c->tainted[op->var] = changed = TRUE;
        }
    }
}

/* --- the whole -------------------------------------------------------------------------------- */
static void symbol_free(gpointer data)
{
    g_free(((WsSymbol *)data)->text);
    g_free(data);
}

static void form_free(gpointer data)
{
    ws_expr_unref(((WsForm *)data)->rest);
    g_free(data);
}

/* What a counter or a let is made of must be known as well as itself. */
static void hand_down(WsControl *c)
{
    const WsProgram *p = c->p;
    gboolean changed = TRUE;
    while (changed && !c->outside) {
        changed = FALSE;
        for (guint i = 0; i < p->n_ops; i++) {
            const WsOp *op = p->op[i];
            if ((op->kind != WS_OP_LET && op->kind != WS_OP_ADVANCE) || op->var < 0 || !op->set ||
                !c->relevant[op->var])
                continue;
            Demand d = { c, c->modulus[op->var], c->bound[op->var], FALSE };
            ws_expr_visit(rewritten(c, op->set), demand, &d);
            changed |= d.changed;
        }
        for (guint v = 0; v < p->n_vars; v++) {
            if (p->var[v].kind != WS_VAR_COUNTER || !p->var[v].value || !c->relevant[v])
                continue;
            Demand d = { c, c->modulus[v], c->bound[v], FALSE };
            ws_expr_visit(rewritten(c, p->var[v].value), demand, &d);
            changed |= d.changed;
        }
    }
}

WsControl *ws_control_new(const WsProgram *p, guint n_inst)
{
    WsControl *c = g_new0(WsControl, 1);
    c->p = p;
    c->n_vars = p->n_vars;
    c->modulus = g_new0(gint64, p->n_vars + 1);
    c->bound = g_new0(gint64, p->n_vars + 1);
    for (guint v = 0; v < p->n_vars; v++)
        c->modulus[v] = 1, c->bound[v] = -1;
    c->symbols = g_ptr_array_new_with_free_func(symbol_free);
    WsSymbol *tiles = g_new0(WsSymbol, 1);
    tiles->text = g_strdup("tiles");
    tiles->run = TRUE;
    tiles->modulus = 1;
    g_ptr_array_add(c->symbols, tiles);
    c->rewritten = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)ws_expr_unref);
    c->forms = g_hash_table_new_full(NULL, NULL, NULL, form_free);
    c->number = g_hash_table_new(NULL, NULL);
    c->private_if = g_hash_table_new(NULL, NULL);
    c->site = g_new0(GArray *, p->n_agents + 1);
    c->need = g_new0(GArray *, p->n_ops + 1);
    c->relevant = g_new0(gboolean, p->n_vars + 1);
    c->tainted = g_new0(gboolean, p->n_vars + 1);
    c->instance = g_array_new(FALSE, TRUE, sizeof(WsInstance));
    c->inst = g_new0(WsControlInst, n_inst + 1);
    for (guint i = 0; i < n_inst; i++)
        c->inst[i].value = g_new0(gint64, p->n_vars + 1);
    find_variables(c);
    for (guint a = 0; a < p->n_agents; a++) {
        guint number = 0;
        c->site[a] = g_array_new(FALSE, FALSE, sizeof(WsSite));
        tree(c, (gint)a, p->agent[a].body, &number);
    }
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_COUNTER && p->var[v].value && c->relevant[v])
            ring(c, p->var[v].value, NULL, 1);
    hand_down(c);
    return c;
}

void ws_control_free(WsControl *c)
{
    if (!c)
        return;
    for (guint a = 0; a < c->p->n_agents; a++)
        if (c->site[a])
            g_array_unref(c->site[a]);
    for (guint i = 0; i < c->p->n_ops; i++)
        if (c->need[i])
            g_array_unref(c->need[i]);
    for (WsControlInst *i = c->inst; i->value; i++)
        g_free(i->value);
    g_free(c->inst);
    g_free(c->site);
    g_free(c->need);
    g_free(c->relevant);
    g_free(c->tainted);
    g_free(c->modulus);
    g_free(c->bound);
    g_free(c->outside);
    g_array_unref(c->instance);
    g_hash_table_unref(c->forms);
    g_hash_table_unref(c->rewritten);
    g_hash_table_unref(c->number);
    g_hash_table_unref(c->private_if);
    g_ptr_array_unref(c->symbols);
    g_free(c);
}
