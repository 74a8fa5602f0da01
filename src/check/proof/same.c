/* L-SAME: what expressions are once the assumptions are made use of, and sums with a min or max in
 * them in one form: min(N, M) is N where N <= M is assumed, cdiv(N, 64) is N/64 where 64 divides N,
 * min(N, a + 4) - a is min(N - a, 4). Only for telling names that are equal; nothing is evaluated
 * by it, and a certificate states what each expression is taken for. */
#include "check/proof/symbols.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    WsAffine sum; /* without its constant: sum % modulus == rest */
    gint64 modulus, rest;
} Residue;

static void clear_residue(gpointer data)
{
    ws_affine_clear(&((Residue *)data)->sum);
}

static void take(WsControl *c, const WsExpr *e)
{
    gint64 m, r;
    if (e->n_args == 2 && e->op == WS_EXPR_AND) {
        take(c, e->arg[0]);
        take(c, e->arg[1]);
    }
    for (guint i = 0; i < 2 && e->op == WS_EXPR_EQ; i++) {
        const WsExpr *mod = e->arg[i];
        Residue a = { 0 };
        if (mod->op != WS_EXPR_MOD || !ws_expr_is_int(mod->arg[1], &m) || m < 2 ||
            m > ((gint64)1 << 32) || !ws_expr_is_int(e->arg[!i], &r) || r < 0 || r >= m)
            continue;
        g_autoptr(WsExpr) x = ws_defined(c, mod->arg[0]);
        if (!ws_expr_affine(x, &a.sum) || a.sum.n == 0) {
            ws_affine_clear(&a.sum);
            continue;
        }
        a.modulus = m, a.rest = ws_control_mod(r - ws_control_mod(a.sum.constant, m), m);
        g_array_append_val(c->residues, a);
    }
}

/* What ws_expr_equal() finds equal has one hash. Names alone do not tell the indices of two agents
 * apart, numbers of variables do. */
static guint hash_of(gconstpointer data)
{
    const WsExpr *e = data;
    guint h = (guint)e->op * 31u + (guint)e->func;
    h = (h * 31u + (guint)e->var) * 31u + (guint)e->i;
    for (guint i = 0; i < e->n_args; i++)
        h = h * 31u + hash_of(e->arg[i]);
    return h;
}

static gboolean equal_of(gconstpointer a, gconstpointer b)
{
    return ws_expr_equal(a, b);
}

void ws_find_residues(WsControl *c)
{
    c->same = g_hash_table_new_full(hash_of, equal_of, (GDestroyNotify)ws_expr_unref,
                                    (GDestroyNotify)ws_expr_unref);
    c->residues = g_array_new(FALSE, FALSE, sizeof(Residue));
    g_array_set_clear_func(c->residues, clear_residue);
    for (guint i = 0; i < c->p->n_assume && !c->page; i++)
        take(c, c->p->assume[i]);
}

/* factor * term modulo m, as far as it is assumed. */
static gboolean rest_of_term(const WsControl *c, gint64 factor, const WsExpr *term, gint64 m,
                             gint64 *rest)
{
    if (factor % m == 0)
        return TRUE;
    for (guint i = 0; i < c->residues->len; i++) {
        const Residue *a = &g_array_index(c->residues, Residue, i);
        if (a->sum.n == 1 && a->sum.factor[0] == 1 && ws_expr_equal(a->sum.term[0], term) &&
            a->modulus % (m / ws_common_divisor(m, factor % m)) == 0) {
            *rest += ws_control_mod(factor, m) * (a->rest % m) % m;
            return TRUE;
        }
    }
    return FALSE;
}

/* The terms of a sum, its constant left out, modulo m. */
static gboolean rest_of(const WsControl *c, const WsAffine *a, gint64 m, gint64 *rest)
{
    if (m > ((gint64)1 << 30))
        return FALSE;
    for (guint i = 0; i < c->residues->len; i++) {
        const Residue *r = &g_array_index(c->residues, Residue, i);
        gboolean same = r->sum.n == a->n && r->modulus % m == 0;
        for (guint k = 0; same && k < a->n; k++)
            same = r->sum.factor[k] == a->factor[k] && ws_expr_equal(r->sum.term[k], a->term[k]);
        *rest = r->rest % m;
        if (same)
            return TRUE;
    }
    *rest = 0;
    gboolean known = a->n > 0;
    for (guint i = 0; known && i < a->n; i++)
        known = rest_of_term(c, a->factor[i], a->term[i], m, rest);
    *rest %= m;
    return known;
}

static WsExpr *plus(WsExpr *a, WsExpr *b)
{
    return ws_expr_op(WS_EXPR_ADD, a, b);
}

static WsExpr *minus(const WsExpr *a, const WsExpr *b)
{
    return ws_expr_op(WS_EXPR_SUB, ws_expr_ref((WsExpr *)a), ws_expr_ref((WsExpr *)b));
}

static WsExpr *times(gint64 factor, WsExpr *a)
{
    return factor == 1 ? a : ws_expr_op(WS_EXPR_MUL, ws_expr_int(factor), a);
}

/* All of a sum but term `but` (none: a->n), with `constant`. */
static WsExpr *rest_sum(const WsAffine *a, guint but, gint64 constant)
{
    WsExpr *s = ws_expr_int(constant);
    for (guint i = 0; i < a->n; i++)
        if (i != but)
            s = plus(s, times(a->factor[i], ws_expr_ref(a->term[i])));
    return s;
}

/* floor((x + k)/m) is (x - r)/m + floor((r + k)/m) if x leaves r; x/m by itself stays. */
static WsExpr *quotient(const WsControl *c, const WsExpr *e)
{
    gint64 m, r, k;
    WsAffine a = { 0 };
    WsExpr *made = NULL;
    const gboolean up = e->op == WS_EXPR_CALL;
    if (!ws_expr_is_int(e->arg[1], &m) || m < 2 || !ws_expr_affine(e->arg[0], &a))
        return NULL;
    if (rest_of(c, &a, m, &r) && ABS(a.constant / 2) < ((gint64)1 << 60) &&
        (e->op == WS_EXPR_MOD || up || a.constant)) {
        k = r + a.constant;
        if (e->op == WS_EXPR_MOD)
            made = ws_expr_int(ws_control_mod(k, m));
        else
            made = plus(ws_expr_op(WS_EXPR_DIV, rest_sum(&a, a.n, 0), ws_expr_int(m)),
                        ws_expr_int(ws_floor_div(up ? k + m - 1 : k, m)));
    }
    ws_affine_clear(&a);
    return made;
}

static gboolean is_extreme(const WsExpr *e)
{
    return e->op == WS_EXPR_CALL && e->n_args == 2 &&
           (e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX);
}

/* Neither holds another min or max at its top: it is one of two. */
static gboolean is_pair(const WsExpr *e)
{
    return is_extreme(e) && !is_extreme(e->arg[0]) && !is_extreme(e->arg[1]);
}

static WsExpr *extreme(WsFunc func, WsExpr *a, WsExpr *b)
{
    WsExpr *arg[2] = { a, b };
    return ws_expr_call(func, arg, 2);
}

/* Takes a term of `a` that stands in b out of both, added to `out`. */
static void take_out(WsAffine *a, WsAffine *b, WsExpr **out)
{
    for (guint i = 0; i < a->n; i++)
        for (guint k = 0; k < b->n; k++)
            if (a->factor[i] && a->factor[i] == b->factor[k] &&
                ws_expr_equal(a->term[i], b->term[k])) {
                *out = plus(*out, times(a->factor[i], ws_expr_ref(a->term[i])));
                a->factor[i] = b->factor[k] = 0;
            }
}

/* min(y + a, y + b) is y + min(a, b), min(g*a, g*b) is g*min(a, b); NULL: nothing in common. */
static WsExpr *without_common(const WsExpr *e)
{
    WsAffine a = { 0 }, b = { 0 };
    WsExpr *made = NULL;
    if (ws_expr_affine(e->arg[0], &a) && ws_expr_affine(e->arg[1], &b) &&
        ABS(a.constant / 2) < ((gint64)1 << 60) && ABS(b.constant / 2) < ((gint64)1 << 60)) {
        const gint64 constant = a.n && b.n ? MIN(a.constant, b.constant) : 0;
        gint64 common = ws_common_divisor(a.constant - constant, b.constant - constant);
        gboolean some = constant != 0;
        WsExpr *out = ws_expr_int(constant);
        take_out(&a, &b, &out);
        some |= out->op != WS_EXPR_INT;
        for (guint i = 0; i < a.n; i++)
            common = ws_common_divisor(common, a.factor[i]);
        for (guint i = 0; i < b.n; i++)
            common = ws_common_divisor(common, b.factor[i]);
        some |= common > 1;
        for (guint i = 0; i < a.n && common > 1; i++)
            a.factor[i] /= common;
        for (guint i = 0; i < b.n && common > 1; i++)
            b.factor[i] /= common;
        const gint64 by = MAX(common, 1);
        if (some)
            made = plus(ws_expr_ref(out),
                        times(by, extreme(e->func, rest_sum(&a, a.n, (a.constant - constant) / by),
                                          rest_sum(&b, b.n, (b.constant - constant) / by))));
        ws_expr_unref(out);
    }
    ws_affine_clear(&a);
    ws_affine_clear(&b);
    return made;
}

/* The lesser or greater of two of which the assumptions say it, or one form of both. */
static WsExpr *of_two(const WsControl *c, const WsExpr *e)
{
    g_autoptr(WsExpr) d = minus(e->arg[1], e->arg[0]);
    g_autoptr(WsExpr) n = ws_normal(d, TRUE);
    const gboolean above = ws_least(c, n) >= 0, below = !above && ws_most(c, n, 0) <= 0;
    if (above || below)
        return ws_expr_ref(e->arg[above == (e->func == WS_FUNC_MAX)]);
    return is_pair(e) ? without_common(e) : NULL;
}

/* select(a < b, a, b) and its like; NULL: another one. */
static WsExpr *choice(const WsExpr *e)
{
    static const WsExprOp less[] = { WS_EXPR_LT, WS_EXPR_LE, WS_EXPR_GT, WS_EXPR_GE };
    gint64 x;
    if (ws_expr_is_int(e->arg[0], &x))
        return ws_expr_ref(e->arg[x ? 1 : 2]);
    if (ws_expr_equal(e->arg[1], e->arg[2]))
        return ws_expr_ref(e->arg[1]);
    for (guint i = 0; i < G_N_ELEMENTS(less); i++) {
        g_autoptr(WsExpr) test =
            ws_expr_op(less[i], ws_expr_ref(e->arg[1]), ws_expr_ref(e->arg[2]));
        g_autoptr(WsExpr) n = ws_normal(test, TRUE);
        if (ws_expr_equal(n, e->arg[0]))
            return extreme(i < 2 ? WS_FUNC_MIN : WS_FUNC_MAX, ws_expr_ref(e->arg[1]),
                           ws_expr_ref(e->arg[2]));
    }
    return NULL;
}

/* A comparison of which the bounds, or the divisors of its terms, say the answer. */
static WsExpr *answer(const WsControl *c, const WsExpr *e)
{
    g_autoptr(WsExpr) d = minus(e->arg[0], e->arg[1]);
    g_autoptr(WsExpr) n = ws_normal(d, TRUE);
    WsAffine a = { 0 };
    gint64 low = ws_least(c, n), high = ws_most(c, n, 0), common = 0;
    if (e->op == WS_EXPR_EQ || e->op == WS_EXPR_NE) {
        const gboolean fits = ws_expr_affine(n, &a);
        for (guint i = 0; i < a.n && fits; i++)
            common = ws_common_divisor(common, a.factor[i]);
        const gboolean never = (common > 1 && a.constant % common != 0) || low > 0 || high < 0;
        ws_affine_clear(&a);
        return never ? ws_expr_int(e->op == WS_EXPR_NE) : NULL;
    }
    const gboolean down = e->op == WS_EXPR_LT || e->op == WS_EXPR_LE,
                   strict = e->op == WS_EXPR_LT || e->op == WS_EXPR_GT;
    const gboolean above = strict && !down ? low > 0
                           : !down         ? low >= 0
                           : strict        ? low >= 0
                                           : low > 0,
                   below = strict && !down ? high <= 0
                           : !down         ? high < 0
                           : strict        ? high < 0
                                           : high <= 0;
    return above || below ? ws_expr_int(above != down) : NULL;
}

static WsExpr *opposite(const WsExpr *e)
{
    static const WsExprOp other[] = {
        [WS_EXPR_LT] = WS_EXPR_GE, [WS_EXPR_LE] = WS_EXPR_GT, [WS_EXPR_GT] = WS_EXPR_LE,
        [WS_EXPR_GE] = WS_EXPR_LT, [WS_EXPR_EQ] = WS_EXPR_NE, [WS_EXPR_NE] = WS_EXPR_EQ
    };
    return e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE
               ? ws_expr_op(other[e->op], ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]))
               : NULL;
}

/* A sum with a quotient that comes out even in it, or one min or max; NULL: another one. */
static WsExpr *sum(const WsControl *c, const WsExpr *e)
{
    WsAffine a = { 0 }, in = { 0 };
    WsExpr *made = NULL;
    gint64 m, r;
    guint pairs = 0, at = 0;
    if (!ws_expr_affine(e, &a) || a.n == 0)
        goto out;
    for (guint i = 0; i < a.n && !made; i++) {
        const WsExpr *t = a.term[i];
        if (t->op == WS_EXPR_DIV && ws_expr_is_int(t->arg[1], &m) && m > 1 &&
            a.factor[i] % m == 0 && ws_expr_affine(t->arg[0], &in) && in.constant == 0 &&
            rest_of(c, &in, m, &r))
            made = plus(rest_sum(&a, i, a.constant),
                        times(a.factor[i] / m, plus(ws_expr_ref(t->arg[0]), ws_expr_int(-r))));
        if (t->op == WS_EXPR_DIV)
            ws_affine_clear(&in);
        pairs += is_extreme(t);
        at = is_pair(t) && ABS(a.factor[i]) == 1 ? i : at;
    }
    if (!made && pairs == 1 && is_pair(a.term[at]) && ABS(a.factor[at]) == 1 &&
        (a.n > 1 || a.factor[at] < 0)) {
        const WsExpr *t = a.term[at];
        const gboolean turned = a.factor[at] < 0;
        WsExpr *x = plus(rest_sum(&a, at, a.constant), times(a.factor[at], ws_expr_ref(t->arg[0])));
        WsExpr *y = plus(rest_sum(&a, at, a.constant), times(a.factor[at], ws_expr_ref(t->arg[1])));
        g_autoptr(WsExpr) whole =
            extreme((t->func == WS_FUNC_MIN) != turned ? WS_FUNC_MIN : WS_FUNC_MAX, x, y);
        g_autoptr(WsExpr) n = ws_normal(whole, TRUE);
        g_autoptr(WsExpr) less = is_pair(n) ? without_common(n) : NULL;
        made = less ? ws_normal(less, TRUE) : ws_expr_ref(n);
        if (ws_expr_equal(made, e)) {
            ws_expr_unref(made);
            made = NULL;
        }
    }
out:
    ws_affine_clear(&a);
    return made;
}

static WsExpr *at_node(const WsControl *c, const WsExpr *e)
{
    switch (e->op) {
    case WS_EXPR_DIV:
    case WS_EXPR_MOD:
        return c->residues->len ? quotient(c, e) : NULL;
    case WS_EXPR_ADD:
    case WS_EXPR_SUB:
    case WS_EXPR_MUL:
        return sum(c, e);
    case WS_EXPR_NOT:
        return opposite(e->arg[0]);
    case WS_EXPR_COMPARISON:
        return answer(c, e);
    case WS_EXPR_CALL:
        break;
    case WS_EXPR_AND:
    case WS_EXPR_INDEX:
    case WS_EXPR_LEAF:
    case WS_EXPR_NEG:
    case WS_EXPR_OR:
    default:
        return NULL;
    }
    if (is_extreme(e))
        return of_two(c, e);
    if (e->func == WS_FUNC_CDIV)
        return c->residues->len ? quotient(c, e) : NULL;
    if (e->func == WS_FUNC_SELECT)
        return choice(e);
    if (e->func == WS_FUNC_ABS && ws_least(c, e->arg[0]) >= 0)
        return ws_expr_ref(e->arg[0]);
    return NULL;
}

/* One pass from the leaves up; NULL: nothing changed. */
static WsExpr *pass(const WsControl *c, const WsExpr *e, guint *work)
{
    g_autofree WsExpr **arg = NULL;
    gboolean changed = FALSE;
    if (e->n_args == 0 || e->op == WS_EXPR_INDEX || *work == 0)
        return NULL;
    --*work;
    arg = g_new0(WsExpr *, e->n_args);
    for (guint i = 0; i < e->n_args; i++) {
        arg[i] = pass(c, e->arg[i], work);
        changed |= arg[i] != NULL;
        arg[i] = arg[i] ? arg[i] : ws_expr_ref(e->arg[i]);
    }
    WsExpr *with = e->op == WS_EXPR_CALL ? ws_expr_call(e->func, arg, e->n_args)
                                         : ws_expr_op(e->op, arg[0], e->n_args > 1 ? arg[1] : NULL);
    WsExpr *made = at_node(c, with);
    if (made || !changed) {
        ws_expr_unref(with);
        return made;
    }
    return with;
}

/* `e` until it stays as it is. Takes `e`, a normal form. */
static WsExpr *settle(const WsControl *c, WsExpr *e)
{
    for (guint i = 0; i < 8; i++) {
        guint work = 64;
        g_autoptr(WsExpr) made = pass(c, e, &work);
        if (!made)
            return e;
        WsExpr *n = ws_normal(made, TRUE);
        const gboolean same = ws_expr_equal(n, e);
        ws_expr_unref(e);
        e = n;
        if (same)
            return e;
    }
    return e;
}

/* Names that stand for the indices of loops. */
static gboolean has_names(const WsExpr *e)
{
    gboolean found = e->op == WS_EXPR_NAME;
    for (guint i = 0; i < e->n_args && !found; i++)
        found = has_names(e->arg[i]);
    return found;
}

WsExpr *ws_same(const WsControl *c, WsExpr *e)
{
    if (e->n_args == 0 || (c->written && has_names(e))) /* a certificate states it of others */
        return e;
    const WsExpr *known = g_hash_table_lookup(c->same, e);
    if (known) {
        ws_expr_unref(e);
        return ws_expr_ref((WsExpr *)known);
    }
    WsExpr *key = ws_expr_ref(e), *made = settle(c, e);
    g_hash_table_insert(c->same, key, ws_expr_ref(made));
    return made;
}
