/* Symbols by identity, least values, affine forms (LANGUAGE section 16). */
#include "check/proof/symbols.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

void ws_control_outside(WsControl *c, const char *what, const WsExpr *e)
{
    if (c->outside)
        return;
    g_autofree char *text = ws_expr_print(e);
    c->outside = g_strdup_printf("%s: %s", what, text);
}

/* --- least values (LANGUAGE 16.9) ------------------------------------------------------------- */
#define UNKNOWN (G_MININT64 / 4)
enum { SHALLOW = 8 }; /* deeper a difference is not known: both ends of all parts would be asked */

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
            best = MAX(best, MIN(x, G_MAXINT64 - 1) + 1);
    }
    return best;
}

/* The least value from `low` on that all assumptions `var % m == r` allow, one by one. */
static gint64 aligned(const WsProgram *p, gint var, gint64 low)
{
    gint64 best = low, m, r;
    for (guint i = 0; i < p->n_assume && low > UNKNOWN; i++) {
        const WsExpr *e = p->assume[i];
        if (e->op != WS_EXPR_EQ || e->n_args != 2)
            continue;
        const WsExpr *mod = e->arg[0]->op == WS_EXPR_MOD ? e->arg[0] : e->arg[1];
        if (mod->op == WS_EXPR_MOD && mod->arg[0]->op == WS_EXPR_VAR && mod->arg[0]->var == var &&
            ws_expr_is_int(mod->arg[1], &m) && m > 0 && m < ((gint64)1 << 32) &&
            ws_expr_is_int(mod == e->arg[0] ? e->arg[1] : e->arg[0], &r) && r >= 0 && r < m)
            best = MAX(best, low + ws_control_mod(r - low, m));
    }
    return best;
}

static gint64 least(const WsControl *c, const WsExpr *e, guint depth);

static gboolean is_truth(const WsExpr *e)
{
    return (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR) || e->op == WS_EXPR_NOT;
}

static gint64 least_of(const WsControl *c, const WsExpr *e, guint depth)
{
    const WsProgram *p = c->p;
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
            return aligned(p, e->var, MAX(r, 0));
        if ((v->kind == WS_VAR_RUN || v->kind == WS_VAR_TILE) && v->value && !v->real)
            r = MAX(r, least(c, v->value, depth + 1));
        return aligned(p, e->var, r);
    }
    if (is_truth(e) && !c->page)
        return 0;
    if (e->n_args != 2)
        return UNKNOWN;
    a = least(c, e->arg[0], depth + 1);
    b = least(c, e->arg[1], depth + 1);
    gboolean literal = ws_expr_is_int(e->arg[1], &r);
    if (e->op == WS_EXPR_ADD)
        return a <= UNKNOWN || b <= UNKNOWN || __builtin_add_overflow(a, b, &r) ? UNKNOWN : r;
    if (e->op == WS_EXPR_SUB) {
        if (!literal)
            r = depth < SHALLOW && !c->page ? ws_most(c, e->arg[1], depth + 1) : G_MAXINT64;
        return a <= UNKNOWN || r == G_MAXINT64 || __builtin_sub_overflow(a, r, &r) ? UNKNOWN : r;
    }
    if (e->op == WS_EXPR_MUL)
        return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r) ? UNKNOWN : r;
    if (e->op == WS_EXPR_DIV)
        return a < 0 || b < 0 ? UNKNOWN : literal && r > 0 ? a / r : 0;
    if (e->op == WS_EXPR_MOD)
        return literal && r > 0 ? 0 : UNKNOWN;
    if (e->op == WS_EXPR_CALL) {
        if (e->func == WS_FUNC_MAX)
            return MAX(a, b);
        if (e->func == WS_FUNC_MIN)
            return MIN(a, b);
        if (e->func == WS_FUNC_CDIV)
            return a < 0 || b < 0 ? UNKNOWN : literal && r > 0 ? a / r + (a % r > 0) : a > 0;
        return UNKNOWN;
    }
    return UNKNOWN;
}

static gint64 least(const WsControl *c, const WsExpr *e, guint depth)
{
    gint64 r = least_of(c, e, depth), most = G_MAXINT64;
    if (depth < 2) /* deeper there are the names alone */
        ws_assumed_bounds(c, e, &r, &most);
    return r;
}

gint64 ws_least(const WsControl *c, const WsExpr *e)
{
    return least(c, e, 0);
}

static gint64 assumed_most(const WsControl *c, gint var, guint depth)
{
    const WsProgram *p = c->p;
    gint64 best = G_MAXINT64;
    for (guint i = 0; i < p->n_assume; i++) {
        const WsExpr *e = p->assume[i];
        gint64 x = 0;
        if (e->n_args == 2 && e->arg[1]->op == WS_EXPR_VAR && e->arg[1]->var == var &&
            ws_expr_is_int(e->arg[0], &x) &&
            (e->op == WS_EXPR_GE || e->op == WS_EXPR_GT || e->op == WS_EXPR_EQ))
            best = MIN(best, e->op == WS_EXPR_GT ? MAX(x, G_MININT64 + 1) - 1 : x);
        if (e->n_args != 2 || e->arg[0]->op != WS_EXPR_VAR || e->arg[0]->var != var ||
            (e->op != WS_EXPR_LE && e->op != WS_EXPR_LT && e->op != WS_EXPR_EQ))
            continue;
        if (ws_expr_is_int(e->arg[1], &x))
            best = MIN(best, e->op == WS_EXPR_LT ? MAX(x, G_MININT64 + 1) - 1 : x);
        else if (e->arg[1]->op != WS_EXPR_VAR)
            best = MIN(best, ws_most(c, e->arg[1], depth + 1));
    }
    return best;
}

/* Greatest value of a sum, a difference, a remainder, a max; G_MAXINT64: not known. L-TRUTH. */
static gint64 most_of_sum(const WsControl *c, const WsExpr *e, gint64 a, gint64 b, guint depth)
{
    gint64 r = 0;
    if (e->op == WS_EXPR_CALL && e->func == WS_FUNC_MAX)
        return MAX(a, b);
    if (e->op == WS_EXPR_MOD && ws_expr_is_int(e->arg[1], &r) && r > 0)
        return r - 1;
    if (a == G_MAXINT64 || (e->op != WS_EXPR_ADD && e->op != WS_EXPR_SUB))
        return G_MAXINT64;
    if (e->op == WS_EXPR_ADD)
        return b == G_MAXINT64 || __builtin_add_overflow(a, b, &r) ? G_MAXINT64 : r;
    const gint64 low = depth < SHALLOW ? least(c, e->arg[1], depth + 1) : UNKNOWN;
    return low <= UNKNOWN || __builtin_sub_overflow(a, low, &r) ? G_MAXINT64 : r;
}

static gint64 most_of(const WsControl *c, const WsExpr *e, guint depth)
{
    const WsProgram *p = c->p;
    gint64 r = 0;
    if (depth > 12)
        return G_MAXINT64;
    if (e->op == WS_EXPR_INT)
        return e->i;
    if (e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < p->n_vars) {
        const WsVar *v = &p->var[e->var];
        gint64 most =
            v->kind == WS_VAR_CTA ? (gint64)p->cluster - 1 : assumed_most(c, e->var, depth);
        for (guint a = 0; v->kind == WS_VAR_AXIS && !c->page && a < p->tiles->n_axes; a++) {
            const gint64 extent = p->tiles->axis[a].var == e->var
                                      ? ws_most(c, p->tiles->axis[a].extent, depth + 1)
                                      : G_MAXINT64;
            most = extent < G_MAXINT64 ? MIN(most, MAX(extent, 1) - 1) : most; /* there is a tile */
        }
        if ((v->kind == WS_VAR_RUN || v->kind == WS_VAR_TILE) && v->value && !v->real)
            most = MIN(most, ws_most(c, v->value, depth + 1));
        return most;
    }
    if (is_truth(e) && !c->page)
        return 1;
    if (e->n_args != 2)
        return G_MAXINT64;
    gint64 a = ws_most(c, e->arg[0], depth + 1), b = ws_most(c, e->arg[1], depth + 1);
    gboolean literal = ws_expr_is_int(e->arg[1], &r);
    if (e->op == WS_EXPR_CALL && e->func == WS_FUNC_MIN)
        return MIN(a, b);
    if (!c->page && (e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB || e->op == WS_EXPR_MOD ||
                     (e->op == WS_EXPR_CALL && e->func == WS_FUNC_MAX)))
        return most_of_sum(c, e, a, b, depth);
    if (a == G_MAXINT64 || a < 0)
        return G_MAXINT64;
    if (e->op == WS_EXPR_DIV && literal && r > 0)
        return a / r;
    if (e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV && literal && r > 0)
        return a / r + (a % r > 0);
    if (e->op == WS_EXPR_MUL && ws_expr_is_int(e->arg[0], &r) && literal &&
        !__builtin_mul_overflow(a, b, &r))
        return r;
    return G_MAXINT64;
}

gint64 ws_most(const WsControl *c, const WsExpr *e, guint depth)
{
    gint64 r = most_of(c, e, depth), least = G_MININT64;
    if (depth < 2)
        ws_assumed_bounds(c, e, &least, &r);
    return r;
}

/* --- leaves ----------------------------------------------------------------------------------- */

static void see(const WsExpr *e, gpointer data)
{
    WsLeaves *l = data;
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
            WsLeaves in = { .c = l->c, .depth = l->depth + 1 };
            ws_expr_visit(v->value, see, &in);
            l->cta += in.cta;
        } else if (v->value) {
            l->cta++; /* too deep to say */
        }
        break;
    case WS_VAR_SCALAR:
    case WS_VAR_ROW:
    case WS_VAR_COL:
        l->real++;
        break;
    case WS_VAR_CTA:
        l->cta++, l->index++, l->rank++;
        break;
    case WS_VAR_COUNTER:
    case WS_VAR_INDEX:
    case WS_VAR_LET:
    case WS_VAR_TOTAL:
    default:
        l->index++;
    }
}

WsLeaves ws_leaves(const WsControl *c, const WsExpr *e)
{
    WsLeaves l = { .c = c };
    ws_expr_visit(e, see, &l);
    return l;
}

/* --- symbols ---------------------------------------------------------------------------------- */
static WsExpr *stands_for(const WsExpr *leaf, gpointer data, GError **error)
{
    const WsControl *c = data;
    if (leaf->op != WS_EXPR_VAR || leaf->var < (gint)c->n_vars)
        return NULL;
    return ws_expr_ref(((const WsSymbol *)c->symbols->pdata[leaf->var - (gint)c->n_vars])->expr);
}

WsExpr *ws_named(const WsControl *c, const WsExpr *e)
{
    return ws_expr_map(e, stands_for, (gpointer)c, NULL);
}

gint ws_symbol_of(WsControl *c, const WsExpr *given, gboolean letter)
{
    /* names of symbols stand for expressions: 2*(N % 3) is not 2*N % 3 */
    g_autoptr(WsExpr) e = ws_named(c, given);
    if (!e) {
        ws_control_outside(c, "an expression is nested too deeply", given);
        e = ws_expr_ref(given);
    }
    g_autoptr(WsExpr) whole = ws_expanded(c, e);
    g_autofree char *normal = ws_expr_print(whole);
    for (guint i = 1; i < c->symbols->len; i++) {
        const WsSymbol *s = c->symbols->pdata[i];
        if (s->letter == letter && strcmp(s->normal, normal) == 0)
            return (gint)i;
    }
    WsLeaves l = ws_leaves(c, e);
    WsSymbol *s = g_new0(WsSymbol, 1);
    s->text = ws_expr_print(e);
    s->normal = g_steal_pointer(&normal);
    s->form = g_steal_pointer(&whole);
    s->run = l.tile == 0;
    s->per_cta = l.cta > 0;
    s->letter = letter;
    s->modulus = 1;
    s->expr = ws_expr_ref((WsExpr *)e);
    s->base = -1;
    s->every = 1;
    gint64 low = letter ? 0 : least(c, e, 0), high = letter ? 1 : ws_most(c, e, 0);
    s->bounded = low > -((gint64)1 << 20);
    s->least = s->bounded ? MIN(low, (gint64)1 << 40) : 0; /* less is enough, and sums of it fit */
    s->most = high;
    s->window = -1;
    g_ptr_array_add(c->symbols, s);
    return (gint)c->symbols->len - 1;
}

/* L-FLOOR: a symbol whose least value is known begins there. Of any other one all values up to the
 * least number that it is ever compared with are alike, and the first question is whether it lies
 * above that; where there is no such number nothing can stand for what lies below. */
void ws_find_floors(WsControl *c)
{
    for (guint i = 0; i < c->symbols->len; i++) {
        WsSymbol *s = c->symbols->pdata[i];
        s->floor = s->bounded ? s->least : 0;
    }
    for (guint a = 0; a < c->p->n_agents && !c->outside; a++)
        for (guint i = 0; i < c->site[a]->len; i++) {
            const WsSite *site = &g_array_index(c->site[a], WsSite, i);
            if (site->form->symbol < 0 || site->form->factor == 0)
                continue;
            WsSymbol *s = c->symbols->pdata[site->form->symbol];
            WsSpan rest = ws_span_of(c, site->form->rest);
            WsSpan asked = site->count || site->form->factor > 0 ? ws_span_times(rest, -1) : rest;
            if (s->bounded)
                continue;
            if (asked.lo <= -WS_ENDLESS) {
                g_free(c->outside);
                c->outside = g_strdup_printf("%s may be negative, and there is no least number "
                                             "that it is compared with",
                                             s->text);
                return;
            }
            s->floor = MIN(s->floor, asked.lo - !site->count);
        }
}

WsExpr *ws_symbol_leaf(WsControl *c, gint symbol)
{
    const WsSymbol *s = c->symbols->pdata[symbol];
    return ws_expr_var((gint)c->n_vars + symbol, s->text);
}

static WsExpr *sum(WsExpr *a, gint64 factor, WsExpr *b)
{
    WsExpr *t = factor == 1 ? b : ws_expr_op(WS_EXPR_MUL, ws_expr_int(factor), b);
    return a ? ws_expr_op(WS_EXPR_ADD, a, t) : t;
}

static WsExpr *rewrite(WsControl *c, const WsExpr *e);

static gint64 compared(WsExprOp op, gint64 x)
{
    return op == WS_EXPR_LT   ? x < 0
           : op == WS_EXPR_LE ? x <= 0
           : op == WS_EXPR_GT ? x > 0
           : op == WS_EXPR_GE ? x >= 0
                              : (x == 0) == (op == WS_EXPR_EQ);
}

static gint64 divisor_of(const WsAffine *a)
{
    gint64 g = 0;
    for (guint i = 0; i < a->n; i++)
        for (gint64 x = ABS(a->factor[i]); x;) {
            const gint64 rest = g % x;
            g = x, x = rest;
        }
    return g;
}

/* L-TRUTH: a comparison of a sum with one truth value in it, (a < b) != 0, says what that is for 0
 * and for 1; 2*a == 3 never holds. NULL: it is neither. */
static WsExpr *truth_of(const WsExpr *e)
{
    WsAffine a = { 0 };
    WsExpr *r = NULL;
    if (e->op < WS_EXPR_LT || e->op > WS_EXPR_NE)
        return NULL;
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    gint64 one;
    if (!ws_expr_affine(d, &a))
        return NULL;
    if (e->op >= WS_EXPR_EQ && divisor_of(&a) > 1 && a.constant % divisor_of(&a) != 0)
        r = ws_expr_int(e->op == WS_EXPR_NE);
    else if (a.n == 1 && is_truth(a.term[0]) &&
             !__builtin_add_overflow(a.constant, a.factor[0], &one)) {
        const gint64 off = compared(e->op, a.constant), on = compared(e->op, one);
        r = off == on ? ws_expr_int(off)
            : on      ? ws_expr_ref(a.term[0])
                      : ws_expr_op(WS_EXPR_NOT, ws_expr_ref(a.term[0]), NULL);
    }
    ws_affine_clear(&a);
    return r;
}

/* A remainder of a sum of names that are never negative: what they leave is asked, so that it goes
 * together with all else that is known of them. */
static WsExpr *remainder_of(WsControl *c, const WsExpr *e)
{
    gint64 m;
    WsAffine a = { 0 };
    if (e->op != WS_EXPR_MOD || !ws_expr_is_int(e->arg[1], &m) || m < 1 || m > 64 ||
        !ws_expr_affine(e->arg[0], &a))
        return NULL;
    gboolean ok = TRUE;
    for (guint i = 0; i < a.n; i++)
        ok &= ws_leaves(c, a.term[i]).symbol == 0 || least(c, a.term[i], 0) >= 0;
    ws_affine_clear(&a);
    return ok ? ws_expr_op(WS_EXPR_MOD, rewrite(c, e->arg[0]), ws_expr_int(m)) : NULL;
}

static gint name_of(WsControl *c, const WsExpr *e)
{
    gboolean alone = e->op == WS_EXPR_VAR && e->var >= 0 && e->var < (gint)c->n_vars;
    if (!alone)
        return ws_symbol_of(c, e, FALSE);
    if (c->name_of[e->var] == 0)
        c->name_of[e->var] = ws_symbol_of(c, e, FALSE);
    return c->name_of[e->var];
}

/* The sum with `with` in place of its term n, compared with 0 as `op` says. Takes `with`. */
static WsExpr *with_term(const WsAffine *f, guint n, WsExpr *with, WsExprOp op)
{
    WsExpr *all = NULL;
    for (guint i = 0; i < f->n; i++)
        all = sum(all, f->factor[i], i == n ? with : ws_expr_ref(f->term[i]));
    return ws_expr_op(op, sum(all, 1, ws_expr_int(f->constant)), ws_expr_int(0));
}

/* A name in it, and an index or a counter: min(a, b), max(a, b), select(c, a, b). */
static gboolean is_mixed(const WsControl *c, const WsExpr *e, WsExprOp op)
{
    const WsLeaves l = ws_leaves(c, e);
    const gboolean extreme = e->op == WS_EXPR_CALL && e->n_args == 2 && op <= WS_EXPR_GE &&
                             (e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX);
    return l.symbol && l.index && (extreme || (e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT));
}

/* L-EXTREME: min(a, b) + y > x is a + y > x && b + y > x, min(a, b) + y < x is a + y < x || b + y <
 * x, and so for max; select(c, a, b) + y > x is c && a + y > x || !c && b + y > x. NULL: it is no
 * such comparison. */
static WsExpr *extreme_of(WsControl *c, const WsExpr *e)
{
    WsAffine f = { 0 };
    WsExpr *made = NULL;
    if (e->op < WS_EXPR_LT || e->op > WS_EXPR_NE)
        return NULL;
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    const gboolean fits = ws_expr_affine(d, &f);
    for (guint n = 0; n < f.n && fits && !made; n++) {
        const WsExpr *t = f.term[n];
        if (!is_mixed(c, t, e->op))
            continue;
        const gboolean select = t->func == WS_FUNC_SELECT;
        WsExpr *a = with_term(&f, n, ws_expr_ref(t->arg[select ? 1 : 0]), e->op);
        WsExpr *b = with_term(&f, n, ws_expr_ref(t->arg[select ? 2 : 1]), e->op);
        const gboolean above = (e->op == WS_EXPR_GT || e->op == WS_EXPR_GE) == (f.factor[n] > 0);
        if (select) {
            WsExpr *no = ws_expr_op(WS_EXPR_NOT, ws_expr_ref(t->arg[0]), NULL);
            made = ws_expr_op(WS_EXPR_OR, ws_expr_op(WS_EXPR_AND, ws_expr_ref(t->arg[0]), a),
                              ws_expr_op(WS_EXPR_AND, no, b));
        } else {
            const gboolean both = above == (t->func == WS_FUNC_MIN);
            made = ws_expr_op(both ? WS_EXPR_AND : WS_EXPR_OR, a, b);
        }
    }
    ws_affine_clear(&f);
    return made;
}

/* The expression with its maximal non-affine subexpressions without indices as symbols. */
static WsExpr *rewrite(WsControl *c, const WsExpr *e)
{
    WsLeaves l = ws_leaves(c, e);
    if (l.real) {
        ws_control_outside(c, "control depends on a real number or an element", e);
        return ws_expr_int(0);
    }
    if (l.symbol == 0)
        return ws_expr_ref(e);
    gboolean truth = e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR;
    g_autoptr(WsExpr) plain = c->page ? NULL : truth_of(e);
    g_autoptr(WsExpr) sides = plain || c->page ? NULL : extreme_of(c, e);
    if (plain || sides)
        return rewrite(c, plain ? plain : sides);
    if (l.index == (c->page ? 0 : l.rank) && !truth && e->op != WS_EXPR_NOT) {
        WsAffine a = { 0 };
        if (!ws_expr_affine(e, &a)) {
            ws_control_outside(c, "does not fit in 64 bits", e);
            return ws_expr_int(0);
        }
        if (!c->page)
            ws_fold_quotients(&a);
        WsExpr *r = a.constant || a.n == 0 ? ws_expr_int(a.constant) : NULL;
        for (guint i = 0; i < a.n; i++) {
            WsLeaves t = ws_leaves(c, a.term[i]);
            WsExpr *left = t.symbol ? remainder_of(c, a.term[i]) : ws_expr_ref(a.term[i]);
            if (!left)
                left = ws_symbol_leaf(c, name_of(c, a.term[i]));
            r = sum(r, a.factor[i], left);
        }
        ws_affine_clear(&a);
        return r;
    }
    if (e->op == WS_EXPR_CALL || e->op == WS_EXPR_INDEX || e->n_args == 0 || e->n_args > 2) {
        ws_control_outside(c, "not affine in indices and symbols", e);
        return ws_expr_int(0);
    }
    if (e->op == WS_EXPR_MUL) {
        WsLeaves x = ws_leaves(c, e->arg[0]), y = ws_leaves(c, e->arg[1]);
        if ((x.symbol && (y.symbol || y.index)) || (y.symbol && x.index))
            ws_control_outside(c,
                               "a product of two names (count with k.total, or with a counter that "
                               "`advance`s by one in every round)",
                               e);
    }
    return ws_expr_op(e->op, rewrite(c, e->arg[0]), e->n_args > 1 ? rewrite(c, e->arg[1]) : NULL);
}

WsExpr *ws_rewritten(WsControl *c, const WsExpr *e)
{
    WsExpr *r = g_hash_table_lookup(c->rewritten, e);
    if (!r) {
        g_autoptr(WsExpr) plain = ws_without_lets(c, e);
        g_autoptr(WsExpr) flat = ws_flattened(c, plain);
        r = rewrite(c, flat);
        g_hash_table_insert(c->rewritten, (gpointer)e, r);
    }
    return r;
}

/* --- forms ------------------------------------------------------------------------------------ */
/* e = factor * symbol + rest with at most one symbol; NULL if it is not so. */
WsForm *ws_form_of(WsControl *c, const WsExpr *e)
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
            ok &= ws_leaves(c, a.term[i]).symbol == 0;
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
