/* Divisors: `/`, `%`, cdiv by 0 have no value (LANGUAGE section 3). Whatever is divided by must be
 * shown not to be 0 wherever it is worked out, for all sizes. */
#include "base/phrase.h"
#include "check/global/global.h"
#include "check/global/judge.h"
#include "program/array.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/visit.h"

#include <string.h>

typedef struct {
    WsGlobal *g;
    gboolean in_tile;
    gint rounds;       /* loops so far */
    gboolean *seen;    /* [vars] definitions that were looked at */
    gboolean protocol; /* nothing but control and grouped tiles */
    gboolean search;   /* only: is there any divisor that is no number? */
    gboolean found;
    gboolean given_numbers;
    gboolean numbers; /* names of tiles and coordinates, of a design that states `covers` or has no
                         outputs */
    GPtrArray *given; /* char*: what such a design takes as given */
    char *reason;
} Divisors;

static WsPoly terms(Divisors *d, const WsExpr *e)
{
    return ws_terms_of(&d->g->terms, e);
}

static gboolean at_least(Divisors *d, WsPoly a, gint64 n)
{
    WsPolys *ps = d->g->ps;
    return ws_facts_least(&d->g->facts, ws_poly_add(ps, a, -1, ws_poly_int(ps, n)), d->in_tile);
}

static void fact(Divisors *d, WsPoly a, gboolean in_tile)
{
    g_array_append_val(*(in_tile ? &d->g->facts.tile : &d->g->facts.least), a);
}

/* --- what is above 0 ---------------------------------------------------------------------------
 */
static const WsExpr *definition(const Divisors *d, const WsExpr *e)
{
    const WsProgram *p = d->g->p;
    gboolean run = e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < p->n_vars &&
                   p->var[e->var].kind == WS_VAR_RUN && !p->var[e->var].real;
    return run ? p->var[e->var].value : NULL;
}

static gboolean is_quotient(const WsExpr *e)
{
    return e->op == WS_EXPR_DIV || (e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV);
}

/* e >= 0, where it has a value */
static gboolean not_below(Divisors *d, const WsExpr *e, guint deep)
{
    const WsExpr *means = definition(d, e);
    if (deep > 16)
        return FALSE;
    if (means && not_below(d, means, deep + 1))
        return TRUE;
    if (e->op == WS_EXPR_MUL || is_quotient(e))
        return not_below(d, e->arg[0], deep + 1) && not_below(d, e->arg[1], deep + 1);
    return at_least(d, terms(d, e), 0);
}

/* e >= 1 holds; so then do its factors, what is divided up, both arguments of min. */
static void positive(Divisors *d, const WsExpr *e, gboolean in_tile)
{
    WsPolys *ps = d->g->ps;
    const WsExpr *means = definition(d, e);
    fact(d, ws_poly_add(ps, terms(d, e), -1, ws_poly_int(ps, 1)), in_tile);
    gboolean product =
        e->op == WS_EXPR_MUL && not_below(d, e->arg[0], 0) && not_below(d, e->arg[1], 0);
    gboolean least = e->op == WS_EXPR_CALL && e->func == WS_FUNC_MIN && e->n_args == 2;
    if (means)
        positive(d, means, in_tile);
    for (guint i = 0; i < 2 && (product || least); i++)
        positive(d, e->arg[i], in_tile);
    if (is_quotient(e) && not_below(d, e->arg[1], 0))
        positive(d, e->arg[0], in_tile);
}

static gboolean above(Divisors *d, WsPoly a, guint deep);

static WsPoly atom_alone(Divisors *d, guint16 atom)
{
    WsMono *m = ws_polys_alloc(d->g->ps, sizeof *m);
    *m = (WsMono){ .factor = 1, .n = 1, .atom = { atom } };
    return (WsPoly){ 1, m };
}

/* a >= 1 for what cannot be taken apart as a sum. */
static gboolean atom_above(Divisors *d, guint16 atom, guint deep)
{
    const WsAtom *x = ws_atom(d->g->ps, atom);
    if (x->kind == WS_ATOM_MIN)
        return above(d, x->arg[0], deep) && above(d, x->arg[1], deep);
    if (x->kind == WS_ATOM_MAX)
        return above(d, x->arg[0], deep) || above(d, x->arg[1], deep);
    if (x->kind == WS_ATOM_DIV) /* floor(x/y) where x >= y >= 1, or y divides x >= 1 */
        return above(d, x->arg[1], deep) &&
               ((above(d, x->arg[0], deep) &&
                 ws_facts_divides(&d->g->facts, x->arg[0], x->arg[1])) ||
                at_least(d, ws_poly_add(d->g->ps, x->arg[0], -1, x->arg[1]), 0));
    return FALSE;
}

/* b with b*n = y; FALSE: n is not a factor of every term. */
static gboolean over(Divisors *d, WsPoly y, gint64 n, WsPoly *b)
{
    WsMono *m = ws_polys_alloc(d->g->ps, (y.n + 1) * sizeof *m);
    for (guint i = 0; i < y.n; i++) {
        m[i] = y.mono[i];
        if (m[i].factor % n)
            return FALSE;
        m[i].factor /= n;
    }
    *b = (WsPoly){ y.n, m };
    return TRUE;
}

/* a = rest - n*floor(x/(n*b)) >= 1 where b >= 1 and b*rest - x >= 1, for b*a >= b*rest - x. */
static gboolean less_a_quotient(Divisors *d, WsPoly a, guint deep)
{
    WsPolys *ps = d->g->ps;
    for (guint i = 0; i < a.n; i++) {
        const WsMono *m = &a.mono[i];
        const WsAtom *x = m->n == 1 && m->factor < 0 ? ws_atom(ps, m->atom[0]) : NULL;
        WsPoly b;
        if (!x || x->kind != WS_ATOM_DIV || m->factor < -(1 << 30) ||
            !over(d, x->arg[1], -m->factor, &b) || !above(d, b, deep))
            continue;
        WsPoly rest = ws_poly_add(ps, a, -1, (WsPoly){ 1, m });
        if (at_least(d, ws_poly_add(ps, ws_poly_mul(ps, b, rest), -1, x->arg[0]), 1))
            return TRUE;
    }
    return FALSE;
}

/* A product: each factor is at least 1 or at most -1, and an even number of them below 0. */
static gboolean product_above(Divisors *d, const WsMono *m, guint deep)
{
    WsPolys *ps = d->g->ps;
    gboolean minus = m->factor < 0;
    for (guint i = 0; i < m->n; i++) {
        WsPoly x = atom_alone(d, m->atom[i]);
        if (at_least(d, x, 1) || atom_above(d, m->atom[i], deep + 1))
            continue;
        if (!at_least(d, ws_poly_add(ps, (WsPoly){ 0 }, -1, x), 1))
            return FALSE;
        minus = !minus;
    }
    return !minus;
}

/* a >= 1 */
static gboolean above(Divisors *d, WsPoly a, guint deep)
{
    if (at_least(d, a, 1))
        return TRUE;
    if (deep > 6)
        return FALSE;
    if (a.n == 1 && a.mono[0].n > 0 && product_above(d, &a.mono[0], deep))
        return TRUE;
    return less_a_quotient(d, a, deep + 1);
}

static gboolean not_zero(Divisors *d, WsPoly a)
{
    return above(d, a, 0) || above(d, ws_poly_add(d->g->ps, (WsPoly){ 0 }, -1, a), 0);
}

/* --- expressions -------------------------------------------------------------------------------
 */
/* Facts of a condition that is known to be `truth`; they are taken back by the caller. */
static void suppose(Divisors *d, const WsExpr *e, gboolean truth)
{
    if (d->search)
        return;

    static const WsExprOp other[] = {
        [WS_EXPR_LT] = WS_EXPR_GE, [WS_EXPR_LE] = WS_EXPR_GT, [WS_EXPR_GT] = WS_EXPR_LE,
        [WS_EXPR_GE] = WS_EXPR_LT, [WS_EXPR_EQ] = WS_EXPR_NE, [WS_EXPR_NE] = WS_EXPR_EQ
    };
    if (e->op == WS_EXPR_NOT) {
        suppose(d, e->arg[0], !truth);
    } else if (e->op == (truth ? WS_EXPR_AND : WS_EXPR_OR)) {
        suppose(d, e->arg[0], truth);
        suppose(d, e->arg[1], truth);
    } else if (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE) {
        WsExprOp op = truth ? e->op : other[e->op];
        g_autoptr(WsExpr) said = ws_expr_op(op, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
        ws_facts_assume(&d->g->facts, &d->g->terms, said);
        WsPoly x = terms(d, e->arg[0]), y = terms(d, e->arg[1]);
        gint64 zero;
        if (op == WS_EXPR_NE && ws_poly_is_int(y, &zero) && zero == 0 && at_least(d, x, 0))
            fact(d, ws_poly_add(d->g->ps, x, -1, ws_poly_int(d->g->ps, 1)), d->in_tile);
    }
}

typedef struct {
    guint least, tile, divide;
} Known;

static Known known(const Divisors *d)
{
    const WsFacts *f = &d->g->facts;
    return (Known){ f->least->len, f->tile->len, f->divide->len };
}

static void forget(Divisors *d, Known k)
{
    g_array_set_size(d->g->facts.least, k.least);
    g_array_set_size(d->g->facts.tile, k.tile);
    g_array_set_size(d->g->facts.divide, k.divide);
}

/* e divides by `by`. */
static void divides_by(Divisors *d, const WsExpr *e, const WsExpr *divisor)
{
    gint64 n;
    if ((ws_expr_is_int(divisor, &n) && n != 0) || d->reason)
        return;
    d->found = d->search;
    if (d->search)
        return;
    if (not_zero(d, terms(d, divisor)))
        return;
    g_autofree char *whole = ws_expr_print(e), *by = ws_expr_print(divisor);
    if (ws_expr_is_int(divisor, &n)) {
        d->reason = g_strdup_printf("%s divides by 0", whole);
        return;
    }
    if (d->numbers) { /* its author answers for the numbering of its tiles */
        char *said = ws_phrase("%s is not 0 in %s", by, whole);
        if (g_ptr_array_find_with_equal_func(d->given, said, g_str_equal, NULL))
            g_free(said);
        else
            g_ptr_array_add(d->given, said);
        return;
    }
    d->reason = g_strdup_printf("%s: it was not shown that %s is not 0; say %s >= 1 under assume",
                                whole, by, by);
}

static void look(Divisors *d, const WsExpr *e);

static void look_where(Divisors *d, const WsExpr *e, const WsExpr *cond, gboolean truth)
{
    Known before = known(d);
    suppose(d, cond, truth);
    look(d, e);
    forget(d, before);
}

static void look(Divisors *d, const WsExpr *e)
{
    if (!e || d->reason || d->found)
        return;
    gboolean call = e->op == WS_EXPR_CALL;
    if (call && e->func == WS_FUNC_SELECT && e->n_args == 3) {
        look(d, e->arg[0]);
        look_where(d, e->arg[1], e->arg[0], TRUE);
        look_where(d, e->arg[2], e->arg[0], FALSE);
        return;
    }
    if (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR) {
        look(d, e->arg[0]);
        look_where(d, e->arg[1], e->arg[0], e->op == WS_EXPR_AND);
        return;
    }
    for (guint i = 0; i < e->n_args; i++)
        look(d, e->arg[i]);
    if (is_quotient(e) || e->op == WS_EXPR_MOD)
        divides_by(d, e, e->arg[1]);
}

/* An assumption that divides by 0 does not hold: what it divides by in any case is not 0. */
static void assumed(Divisors *d, const WsExpr *e)
{
    gboolean divides = e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD ||
                       (e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV);
    if (divides && at_least(d, terms(d, e->arg[1]), 0))
        fact(d, ws_poly_add(d->g->ps, terms(d, e->arg[1]), -1, ws_poly_int(d->g->ps, 1)),
             ws_poly_on(d->g->ps, terms(d, e->arg[1])) != 0);
    gboolean lazy = e->op == WS_EXPR_AND || e->op == WS_EXPR_OR ||
                    (e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT);
    guint n = e->op == WS_EXPR_AND ? 2 : lazy ? 1 : e->n_args;
    for (guint i = 0; i < n; i++)
        assumed(d, e->arg[i]);
}

/* SK >= SQ and SQ >= 1: SK >= 1. */
static void chain(Divisors *d)
{
    GArray *facts = d->g->facts.least;
    const guint n = MIN(facts->len, 16);
    for (guint i = 0; i < n; i++)
        for (guint k = 0; k < n; k++) {
            WsPoly a = g_array_index(facts, WsPoly, i), b = g_array_index(facts, WsPoly, k);
            WsPoly both = ws_poly_add(d->g->ps, a, 1, b);
            if (i != k && both.n < a.n + b.n - (ws_poly_constant(a) && ws_poly_constant(b)))
                fact(d, both, FALSE);
        }
}

/* A definition, a coordinate. */
static void look_at_number(Divisors *d, const WsExpr *e)
{
    if (d->protocol || !e || e->n_args == 0)
        return;
    d->numbers = d->given_numbers;
    look(d, e);
    d->numbers = FALSE;
}

/* Integers in compute steps: by themselves, and what rows and columns are divided by. */
static void look_at_array(Divisors *d, const WsArray *a)
{
    if (!a || d->reason || d->found)
        return;
    if (a->form == WS_ARRAY_UNIFORM)
        look(d, a->x);
    gboolean divides = a->form == WS_ARRAY_OPERATION && a->kind == WS_MATH_INT && a->n_arg == 2 &&
                       (is_quotient(a->x) || a->x->op == WS_EXPR_MOD);
    if (divides && a->arg[1]->form == WS_ARRAY_UNIFORM)
        divides_by(d, a->x, a->arg[1]->x);
    else if (divides && !d->search)
        d->reason = g_strdup("a compute step divides integers by what differs from row to row");
    d->found |= divides && d->search;
    for (guint i = 0; i < a->n_arg; i++)
        look_at_array(d, a->arg[i]);
}

/* --- the program --------------------------------------------------------------------------------
 */
static void look_at_operand(const WsExpr *e, WsOperand what, gpointer data)
{
    if (what == WS_OPERAND_COORD)
        look_at_number(data, e);
    else if (what <= WS_OPERAND_FIRST)
        look(data, e);
}

static void operation(Divisors *d, const WsOp *op)
{
    ws_op_operands(op, look_at_operand, d);
    if (op->kind == WS_OP_LET)
        look_at_number(d, op->set);
    else
        look(d, op->set);
    for (guint i = 0; i < op->n_math && op->assign && !d->protocol; i++)
        look_at_array(d, op->assign[i].array);
    if (!d->protocol)
        look_at_array(d, op->unless);
    if (!d->search && op->kind == WS_OP_LET && op->var >= 0 && op->set &&
        !d->g->p->var[op->var].real)
        ws_terms_set(&d->g->terms, op->var, terms(d, op->set));
}

static void tree(Divisors *d, const WsTree *t);

/* Within its rounds a count is at least 1, an index is at least where it starts. */
static void loop(Divisors *d, const WsTree *t)
{
    WsPolys *ps = d->g->ps;
    gboolean before = d->in_tile;
    Known was = known(d);
    gint64 from = 0, by = 1;
    look(d, t->count), look(d, t->from), look(d, t->step_by);
    for (guint i = 0; i < t->n_cuts; i++)
        look(d, t->cut[i]);
    WsPoly index = ws_terms_unknown(&d->g->terms, t->name);
    gboolean plain = (!t->from || ws_expr_is_int(t->from, &from)) &&
                     (!t->step_by || ws_expr_is_int(t->step_by, &by));
    if (d->search) {
        index = (WsPoly){ 0 };
    } else if (t->over == WS_OVER_TILES) {
        d->in_tile = TRUE;
        if (plain && from >= 0 && by >= 0)
            index = ws_poly_leaf(ps, WS_ATOM_POSITION, 0, WS_ON_TILE, NULL, "position");
    } else if (t->over == WS_OVER_COUNT && t->count) {
        WsPoly count = terms(d, t->count);
        fact(d, ws_poly_add(ps, count, -1, ws_poly_int(ps, 1)), d->in_tile);
        if (plain && from > -(1 << 20) && from < (1 << 20) && by >= 0 && by < (1 << 20))
            index = ws_poly_add(
                ps, ws_poly_int(ps, from), by,
                ws_poly_leaf(ps, WS_ATOM_ROUND, d->rounds++, WS_ON_ROUND, &count, t->name));
    }
    ws_terms_set(&d->g->terms, t->index_var, index);
    for (guint i = 0; i < t->n_kids; i++)
        tree(d, t->kid[i]);
    if (t->index_var >= 0)
        d->g->terms.known[t->index_var] = FALSE;
    forget(d, was);
    d->in_tile = before;
}

static void tree(Divisors *d, const WsTree *t)
{
    if (!t || d->reason || d->found || ws_polys_broken(d->g->ps))
        return;
    if (t->kind == WS_TREE_OP)
        operation(d, t->op);
    if (t->kind == WS_TREE_LOOP) {
        loop(d, t);
        return;
    }
    look(d, t->kind == WS_TREE_BRANCH ? t->cond : NULL);
    for (guint i = 0; i < t->n_kids; i++) {
        Known before = known(d);
        if (t->kind == WS_TREE_BRANCH && t->cond)
            suppose(d, t->cond, i == 0);
        tree(d, t->kid[i]);
        forget(d, before);
    }
}

static void names(Divisors *d, WsVarKind kind)
{
    const WsProgram *p = d->g->p;
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == kind && !p->var[v].real)
            look_at_number(d, p->var[v].value);
}

/* With the definitions of the names in it. */
static void look_through(Divisors *d, const WsExpr *e)
{
    const WsProgram *p = d->g->p;
    if (!e || d->reason)
        return;
    look_at_number(d, e);
    if (e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < p->n_vars &&
        p->var[e->var].kind == WS_VAR_RUN && !d->seen[e->var]) {
        d->seen[e->var] = TRUE;
        look_through(d, p->var[e->var].value);
    }
    for (guint i = 0; i < e->n_args; i++)
        look_through(d, e->arg[i]);
}

/* Names of the launch that the number of tiles hangs on are worked out in any case, the others
 * where there is a tile. */
static void launch(Divisors *d)
{
    const WsProgram *p = d->g->p;
    for (guint a = 0; a < p->tiles->n_axes; a++)
        look_through(d, p->tiles->axis[a].extent);
    look_through(d, p->tiles->grid);
    for (guint a = 0; a < p->tiles->n_axes && !d->search; a++)
        positive(d, p->tiles->axis[a].extent, TRUE);
    d->in_tile = TRUE;
    names(d, WS_VAR_RUN);
    for (guint i = 0; i < p->n_tensors; i++)
        for (guint k = 0; k < p->tensor[i].rank; k++)
            look_at_number(d, p->tensor[i].shape[k]), look_at_number(d, p->tensor[i].stride[k]);
    look(d, p->tiles->order_n);
    gint64 n_group;
    gboolean number =
        p->tiles->order_n && ws_expr_is_int(p->tiles->order_n, &n_group) && n_group > 0;
    gboolean grouped = p->tiles->order == WS_ORDER_GROUPED && p->tiles->order_n && !number;
    d->found |= d->search && grouped;
    if (grouped && !d->search && !d->reason && !above(d, terms(d, p->tiles->order_n), 0)) {
        g_autofree char *n = ws_expr_print(p->tiles->order_n);
        d->reason = g_strdup_printf("tiles are grouped by %s, and it was not shown that this is at "
                                    "least 1; say %s >= 1 under assume",
                                    n, n);
    }
    d->in_tile = FALSE;
}

static void look_at_all(Divisors *d)
{
    const WsProgram *p = d->g->p;
    launch(d);
    for (guint r = 0; r < MAX(p->cluster, 1) && !d->reason && !d->found; r++) {
        ws_terms_rank(&d->g->terms, r);
        d->in_tile = TRUE;
        names(d, WS_VAR_TILE);
        d->in_tile = FALSE;
        names(d, WS_VAR_COUNTER);
        for (guint a = 0; a < p->n_agents && !d->reason; a++) {
            d->in_tile = p->tiles->launch == WS_LAUNCH_SINGLE;
            tree(d, p->agent[a].body);
        }
    }
}

/* TRUE: what a number of a coordinate or definition is divided by is taken as given. Without
 * outputs, whatever it is, it picks what is read: the protocol is the same. */
static gboolean gives_numbers(const WsProgram *p)
{
    gboolean covers = FALSE, outputs = FALSE;
    for (guint i = 0; i < p->n_tensors; i++) {
        covers |= p->tensor[i].covers != NULL;
        outputs |= p->tensor[i].access != WS_ACCESS_READ;
    }
    return covers || !outputs;
}

char *ws_global_divisors(const WsProgram *p, gboolean protocol, GPtrArray *given)
{
    WsGlobal g;
    ws_global_begin(&g, p);
    g_autofree gboolean *seen = g_new0(gboolean, p->n_vars + 1);
    Divisors d = { .g = &g,
                   .seen = seen,
                   .given = given,
                   .protocol = protocol,
                   .given_numbers = gives_numbers(p),
                   .search = TRUE };
    look_at_all(&d);
    if (d.found) {
        memset(seen, 0, (p->n_vars + 1) * sizeof *seen);
        d = (Divisors){ .g = &g,
                        .seen = seen,
                        .given = given,
                        .protocol = protocol,
                        .given_numbers = d.given_numbers };
        for (guint i = 0; i < p->n_assume; i++)
            assumed(&d, p->assume[i]);
        chain(&d);
        look_at_all(&d);
        if (!d.reason && ws_polys_broken(g.ps))
            d.reason = g_strdup("divisors are too long to be looked at");
    }
    ws_global_end(&g);
    return d.reason;
}
