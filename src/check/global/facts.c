/* Inequalities that hold for all sizes: sums of terms that cannot fall below 0, with floor
 * divisions bounded by their remainders, and the assumptions of the design. What is not found is
 * not said. */
#include "check/global/global.h"

enum { MOST_WORK = 600, MOST_DEEP = 12 };

static WsPoly nth(const GArray *a, guint i)
{
    return g_array_index(a, WsPoly, i);
}

void ws_facts_assume(WsFacts *f, WsTerms *t, const WsExpr *e)
{
    if (e->op == WS_EXPR_AND) {
        ws_facts_assume(f, t, e->arg[0]);
        ws_facts_assume(f, t, e->arg[1]);
        return;
    }
    if (e->op < WS_EXPR_LT || e->op > WS_EXPR_EQ)
        return;
    WsPoly a = ws_terms_of(t, e->arg[0]), b = ws_terms_of(t, e->arg[1]);
    WsPoly up = ws_poly_add(f->ps, b, -1, a), down = ws_poly_add(f->ps, a, -1, b);
    WsPoly one = ws_poly_int(f->ps, 1);
    if (e->op == WS_EXPR_LT)
        up = ws_poly_add(f->ps, up, -1, one);
    if (e->op == WS_EXPR_GT)
        down = ws_poly_add(f->ps, down, -1, one);
    /* what is said of a tile holds where there is one */
    GArray *to = ws_poly_on(f->ps, up) == 0 ? f->least : f->tile;
    if (e->op == WS_EXPR_LT || e->op == WS_EXPR_LE || e->op == WS_EXPR_EQ)
        g_array_append_val(to, up);
    if (e->op == WS_EXPR_GT || e->op == WS_EXPR_GE || e->op == WS_EXPR_EQ)
        g_array_append_val(to, down);
    /* x % c == 0 */
    gint64 zero;
    if (e->op == WS_EXPR_EQ && e->arg[0]->op == WS_EXPR_MOD && ws_poly_is_int(b, &zero) &&
        zero == 0) {
        WsPoly x = ws_terms_of(t, e->arg[0]->arg[0]), c = ws_terms_of(t, e->arg[0]->arg[1]);
        if (ws_poly_on(f->ps, x) == 0 && ws_poly_on(f->ps, c) == 0) {
            g_array_append_val(f->divide, x);
            g_array_append_val(f->divide, c);
        }
    }
}

gboolean ws_facts_divides(WsFacts *f, WsPoly a, WsPoly b)
{
    gint64 by = 0, c;
    gboolean number = ws_poly_is_int(b, &by);
    if (number && by <= 0)
        return FALSE;
    for (guint i = 0; i + 1 < f->divide->len; i += 2) {
        WsPoly x = nth(f->divide, i), of = nth(f->divide, i + 1);
        if (ws_poly_equal(x, a) && ws_poly_equal(of, b))
            return TRUE;
        if (!number || !ws_poly_is_int(of, &c) || c % by != 0 || x.n == 0)
            continue;
        /* by divides x: take multiples of x out of a */
        for (guint k = 0; k < a.n; k++) {
            const WsMono *m = &a.mono[k], *lead = &x.mono[x.n - 1];
            gboolean same = m->n == lead->n;
            for (guint j = 0; same && j < m->n; j++)
                same = m->atom[j] == lead->atom[j];
            if (same && m->factor % lead->factor == 0) {
                a = ws_poly_add(f->ps, a, -(m->factor / lead->factor), x);
                break;
            }
        }
    }
    if (!number)
        return a.n == 0;
    for (guint k = 0; k < a.n; k++)
        if (a.mono[k].factor % by != 0)
            return FALSE;
    return TRUE;
}

/* --- at least 0 --------------------------------------------------------------------------------
 */
static gboolean least(WsFacts *f, WsPoly a, guint deep);

static gboolean atom_least(WsFacts *f, guint atom, guint deep)
{
    const WsAtom *x = ws_atom(f->ps, atom);
    switch (x->kind) {
    case WS_ATOM_SIZE:
    case WS_ATOM_AXIS:
    case WS_ATOM_BEFORE:
    case WS_ATOM_ROUND:
    case WS_ATOM_POSITION:
    case WS_ATOM_TILES:
    case WS_ATOM_LESS:
        return TRUE;
    case WS_ATOM_DIV: /* the divisor is never 0 where it is evaluated */
        return least(f, x->arg[0], deep + 1) && least(f, x->arg[1], deep + 1);
    case WS_ATOM_MAX:
        return least(f, x->arg[0], deep + 1) || least(f, x->arg[1], deep + 1);
    case WS_ATOM_MIN:
        return least(f, x->arg[0], deep + 1) && least(f, x->arg[1], deep + 1);
    case WS_ATOM_CALL:
        return x->id == WS_FUNC_ABS || x->id == WS_FUNC_POW2FLOOR;
    case WS_ATOM_VALUE:
    default:
        return FALSE;
    }
}

static gboolean terms_least(WsFacts *f, WsPoly a, guint deep)
{
    if (ws_poly_constant(a) < 0)
        return FALSE;
    for (guint i = 0; i < a.n; i++) {
        const WsMono *m = &a.mono[i];
        if (m->n > 0 && m->factor < 0)
            return FALSE;
        for (guint k = 0; k < m->n; k++)
            if (!atom_least(f, m->atom[k], deep))
                return FALSE;
    }
    return TRUE;
}

/* a with factor * atom (alone in its term) exchanged for `with`. */
static WsPoly exchange(WsFacts *f, WsPoly a, const WsMono *m, gint64 times, WsPoly with)
{
    return ws_poly_add(f->ps, ws_poly_add(f->ps, a, -1, (WsPoly){ 1, m }), times, with);
}

/* One step with term m, which is an atom alone: TRUE if it led to an answer (*out). */
static gboolean step(WsFacts *f, WsPoly a, const WsMono *m, guint deep, gboolean *out)
{
    const WsAtom *x = ws_atom(f->ps, m->atom[0]);
    gint64 by, n = m->factor;
    WsPoly one = ws_poly_int(f->ps, 1);
    switch (x->kind) {
    case WS_ATOM_DIV:
        if (!ws_poly_is_int(x->arg[1], &by) || by > (1 << 30) || ABS(n) > (1 << 30))
            return FALSE;
        if (n % by != 0) { /* a >= 0 where by*a >= -(by - 1) */
            WsPoly wide = ws_poly_add(f->ps, ws_poly_int(f->ps, by - 1), by, a);
            *out = least(f, wide, deep + 1);
            return TRUE;
        }
        /* by*floor(z/by) is z less its remainder */
        gboolean exact = ws_facts_divides(f, x->arg[0], x->arg[1]);
        WsPoly z = n > 0 && !exact ? ws_poly_add(f->ps, x->arg[0], -1, ws_poly_int(f->ps, by - 1))
                                   : x->arg[0];
        *out = least(f, exchange(f, a, m, n / by, z), deep + 1);
        return TRUE;
    case WS_ATOM_MAX:
    case WS_ATOM_MIN: {
        gboolean any = (n > 0) == (x->kind == WS_ATOM_MAX);
        gboolean first = least(f, exchange(f, a, m, n, x->arg[0]), deep + 1);
        *out = first != any ? least(f, exchange(f, a, m, n, x->arg[1]), deep + 1) : first;
        return TRUE;
    }
    case WS_ATOM_AXIS:
    case WS_ATOM_BEFORE:
    case WS_ATOM_ROUND:
        if (n > 0)
            return FALSE;
        *out = least(f, exchange(f, a, m, n, ws_poly_add(f->ps, x->extent, -1, one)), deep + 1);
        return TRUE;
    case WS_ATOM_LESS:
        if (n > 0)
            return FALSE;
        *out = least(f, exchange(f, a, m, n, one), deep + 1);
        return TRUE;
    case WS_ATOM_CALL:
    case WS_ATOM_POSITION:
    case WS_ATOM_SIZE:
    case WS_ATOM_TILES:
    case WS_ATOM_VALUE:
    default:
        return FALSE;
    }
}

static const WsMono *same_term(WsPoly a, const WsMono *m)
{
    for (guint i = 0; i < a.n; i++) {
        gboolean same = a.mono[i].n == m->n;
        for (guint k = 0; same && k < m->n; k++)
            same = a.mono[i].atom[k] == m->atom[k];
        if (same)
            return &a.mono[i];
    }
    return NULL;
}

/* x*a - y*q >= 0 for a fact q >= 0 that takes a term away. */
static gboolean by_facts(WsFacts *f, WsPoly a, guint deep)
{
    const guint n = f->least->len;
    for (guint i = 0; i < n + (f->in_tile ? f->tile->len : 0); i++) {
        WsPoly q = i < n ? nth(f->least, i) : nth(f->tile, i - n);
        for (guint k = 0; k < q.n; k++) {
            const WsMono *m = q.mono[k].n ? same_term(a, &q.mono[k]) : NULL;
            if (!m || (m->factor < 0) != (q.mono[k].factor < 0) ||
                (m->factor > 0 && ws_poly_constant(q) >= 0))
                continue;
            gint64 x = ABS(q.mono[k].factor), y = ABS(m->factor);
            if (x > (1 << 30) || y > (1 << 30))
                continue;
            if (y % x == 0)
                y /= x, x = 1;
            /* a >= 0 where x*a >= -(x - 1) */
            WsPoly rest = ws_poly_add(f->ps, ws_poly_int(f->ps, x - 1), x, a);
            if (least(f, ws_poly_add(f->ps, rest, -y, q), deep + 4))
                return TRUE;
        }
    }
    return FALSE;
}

static gboolean least(WsFacts *f, WsPoly a, guint deep)
{
    gint64 value;
    if (ws_poly_is_int(a, &value))
        return value >= 0;
    if (f->work == 0 || deep > MOST_DEEP || ws_polys_broken(f->ps))
        return FALSE;
    f->work--;
    if (terms_least(f, a, deep))
        return TRUE;
    /* the newest atoms first: they may hold older ones */
    for (guint i = a.n; i-- > 0;) {
        gboolean out = FALSE;
        if (a.mono[i].n == 1 && step(f, a, &a.mono[i], deep, &out)) {
            if (out)
                return TRUE;
            break;
        }
    }
    return by_facts(f, a, deep);
}

gboolean ws_facts_least(WsFacts *f, WsPoly a, gboolean in_tile)
{
    f->work = MOST_WORK;
    f->in_tile = in_tile;
    return least(f, a, 0) && !ws_polys_broken(f->ps);
}
