/* How well each variable must be known: exactly within a window, modulo a number beyond it. Two
 * states whose variables agree in that do the same from there on; the lemmas that say so are named
 * where their conditions are checked. */
#include "check/proof/symbols.h"
#include "program/parts/variable.h"
#include "program/program.h"

typedef struct {
    WsWishKind kind;
    const WsExpr *e;
    gint64 m;
} Wish;

typedef struct {
    WsControl *c;
    const WsExpr *of; /* whose wish it is, for the reason */
    gboolean sign;    /* only whether a use is negative: a use that is too small shows it as well */
    gboolean changed;
} Demand;

static const WsSpan everywhere = { -WS_ENDLESS, WS_ENDLESS };

enum { MOST_TURN = 4096 };

static void demand(Demand *d, const WsExpr *e, WsSpan w, gint64 m);

static gboolean none(WsSpan w)
{
    return w.lo > w.hi;
}

static gboolean ends(WsSpan w)
{
    return w.lo > -WS_ENDLESS && w.hi < WS_ENDLESS;
}

static WsSpan clipped(WsSpan w, WsSpan to)
{
    return (WsSpan){ MAX(w.lo, to.lo), MIN(w.hi, to.hi) };
}

static WsSpan hull(WsSpan a, WsSpan b)
{
    if (none(a) || none(b))
        return none(a) ? b : a;
    return (WsSpan){ MIN(a.lo, b.lo), MAX(a.hi, b.hi) };
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
    if (__builtin_mul_overflow(a / g, m, &r) || r > MOST_TURN) {
        if (!c->outside)
            c->outside = g_strdup("the rings repeat after more than 4096 uses only");
        return a;
    }
    return r;
}

/* --- leaves ----------------------------------------------------------------------------------- */
static void demand_symbol(Demand *d, gint symbol, WsSpan w, gint64 m)
{
    WsSymbol *s = d->c->symbols->pdata[symbol];
    gint64 before = s->modulus;
    s->modulus = ws_least_multiple(d->c, s->modulus, m);
    d->changed |= s->modulus != before;
    if (none(w))
        return;
    /* L-SMALL: what stands for a symbol is not greater than it, so a use that grows with it is
     * negative for the one if it is for the other. Anything else must not depend on a symbol. */
    if (!d->sign || w.hi >= WS_ENDLESS) {
        ws_control_outside(d->c, "an element, slot, range, count or condition depends on a symbol",
                           d->of);
        return;
    }
    d->changed |= s->window < w.hi;
    s->window = MAX(s->window, w.hi);
}

static void demand_variable(Demand *d, gint var, WsSpan w, gint64 m)
{
    WsControl *c = d->c;
    if (c->p->var[var].kind == WS_VAR_CTA)
        return;
    gint64 before = c->modulus[var];
    c->modulus[var] = ws_least_multiple(c, before, m);
    d->changed |= c->modulus[var] != before;
    if (none(w))
        return;
    if (c->tainted[var] && !d->sign) {
        ws_control_outside(c,
                           "a condition, count or place of a counter that is known up to a "
                           "multiple only",
                           d->of);
        return;
    }
    WsSpan both = hull(c->window[var], w);
    d->changed |= both.lo != c->window[var].lo || both.hi != c->window[var].hi;
    c->window[var] = both;
    WsSpan exact = ws_exact_window(c, var);
    if (!ends(exact) && !c->endless) {
        g_autofree char *text = ws_expr_print(d->of);
        c->endless = g_strdup_printf("every value of %s matters, and there is no end to them: %s",
                                     c->p->var[var].name, text);
    }
}

/* L-AWAY: beyond its window a variable counts modulo only if it cannot come back to it. */
WsSpan ws_exact_window(const WsControl *c, gint var)
{
    WsSpan w = c->window[var];
    if (none(w))
        return w;
    if (c->up[var])
        w.lo = -WS_ENDLESS;
    if (c->down[var])
        w.hi = WS_ENDLESS;
    return clipped(w, c->range[var]);
}

/* Not only its sign. */
static void demand_strictly(Demand *d, const WsExpr *e, WsSpan w, gint64 m)
{
    Demand strict = *d;
    strict.sign = FALSE;
    demand(&strict, e, w, m);
    d->changed |= strict.changed;
}

static void demand_args(Demand *d, const WsExpr *e, WsSpan w)
{
    for (guint i = 0; i < e->n_args; i++)
        demand_strictly(d, e->arg[i], w, 1);
}

/* --- sums ------------------------------------------------------------------------------------- */
static gint64 clamped(__int128 x)
{
    return x >= WS_ENDLESS ? WS_ENDLESS : x <= -WS_ENDLESS ? -WS_ENDLESS : (gint64)x;
}

/* All t for which factor * t can lie in lo .. hi, and the next ones, so that it is known of any
 * other t on which side it lies. */
static WsSpan shared_out(gint64 lo, gint64 hi, gint64 factor)
{
    if (factor < 0) {
        gint64 t = lo;
        lo = hi >= WS_ENDLESS ? -WS_ENDLESS : -hi;
        hi = t <= -WS_ENDLESS ? WS_ENDLESS : -t;
        factor = -factor;
    }
    return (WsSpan){ lo <= -WS_ENDLESS ? lo : ws_floor_div(lo, factor),
                     hi >= WS_ENDLESS ? hi : -ws_floor_div(-hi, factor) };
}

typedef struct {
    const WsExpr *term;
    gint64 factor;
    WsSpan span; /* of factor * term */
} Part;

/* L-SUM: a sum lies within the window only if each part does not lie further out than what the
 * others can make up for; if they can make up for anything, every value of it matters. */
static void demand_part(Demand *d, const Part *part, WsSpan others, WsSpan w, gint64 m)
{
    WsSpan in = everywhere;
    if (others.lo > -WS_ENDLESS && w.hi < WS_ENDLESS)
        in.hi = clamped((__int128)w.hi - others.lo);
    if (others.hi < WS_ENDLESS && w.lo > -WS_ENDLESS)
        in.lo = clamped((__int128)w.lo - others.hi);
    /* one-sided: what all parts are bounded by on one side bounds the sum there */
    in = clipped(in, part->span);
    WsSpan t = none(in) ? ws_nowhere : shared_out(in.lo, in.hi, part->factor);
    if (part->factor < 0)
        demand_strictly(d, part->term, t, m);
    else
        demand(d, part->term, t, m);
}

static void demand_sum(Demand *d, const WsExpr *e, WsSpan w, gint64 m)
{
    WsAffine a = { 0 };
    if (!ws_expr_affine(e, &a)) {
        ws_control_outside(d->c, "does not fit in 64 bits", e);
        return;
    }
    if (a.n == 1 && a.term[0]->op == e->op && ws_expr_equal(a.term[0], e)) {
        for (guint i = 0; i < e->n_args; i++) /* a product of unknowns */
            demand_strictly(d, e->arg[i], none(w) ? w : everywhere, m);
        ws_affine_clear(&a);
        return;
    }
    g_autofree Part *part = g_new0(Part, a.n + 1);
    for (guint i = 0; i < a.n; i++)
        part[i] = (Part){ a.term[i], a.factor[i],
                          ws_span_times(ws_span_of(d->c, a.term[i]), a.factor[i]) };
    for (guint i = 0; i < a.n; i++) {
        WsSpan others = { a.constant, a.constant };
        for (guint k = 0; k < a.n; k++)
            if (k != i)
                others = ws_span_add(others, part[k].span);
        if (none(w))
            demand(d, part[i].term, ws_nowhere, m);
        else
            demand_part(d, &part[i], others, w, m);
    }
    ws_affine_clear(&a);
}

/* --- the rest --------------------------------------------------------------------------------- */
static void demand_call(Demand *d, const WsExpr *e, WsSpan w, gint64 m)
{
    gint64 n;
    gboolean second = e->n_args == 2 && ws_expr_is_int(e->arg[1], &n);
    gboolean first = e->n_args == 2 && !second && ws_expr_is_int(e->arg[0], &n);
    if ((e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX) && (first || second))
        demand(d, e->arg[second ? 0 : 1], hull(w, (WsSpan){ n, n }), m);
    else if (e->func == WS_FUNC_CDIV && second && n > 0 && n <= 4096)
        demand(d, e->arg[0],
               none(w)
                   ? w
                   : (WsSpan){ clamped((__int128)(w.lo - 1) * n + 1), clamped((__int128)w.hi * n) },
               m * n);
    else if (e->func == WS_FUNC_ABS && e->n_args == 1)
        demand_strictly(d, e->arg[0], hull((WsSpan){ 0, 0 }, none(w) ? w : (WsSpan){ -w.hi, w.hi }),
                        m);
    else if (e->func == WS_FUNC_SELECT && e->n_args == 3) {
        demand_strictly(d, e->arg[0], (WsSpan){ 0, 0 }, 1);
        demand(d, e->arg[1], w, m);
        demand(d, e->arg[2], w, m);
    } else
        demand_args(d, e, everywhere);
}

static void demand(Demand *d, const WsExpr *e, WsSpan w, gint64 m)
{
    gint64 n;
    static const WsSpan zero = { 0, 0 };
    m = ws_least_multiple(d->c, 1, m);
    if (d->c->outside)
        return;
    w = none(w) ? ws_nowhere : clipped(w, ws_span_of(d->c, e));
    switch (e->op) {
    case WS_EXPR_INT:
    case WS_EXPR_TEXT_BOOL:
        return;
    case WS_EXPR_VAR:
        if (e->var >= (gint)d->c->n_vars)
            demand_symbol(d, e->var - (gint)d->c->n_vars, w, m);
        else if (e->var >= 0)
            demand_variable(d, e->var, w, m);
        return;
    case WS_EXPR_NEG:
    case WS_EXPR_ADD:
    case WS_EXPR_SUB:
    case WS_EXPR_MUL:
        demand_sum(d, e, w, m);
        return;
    case WS_EXPR_MOD:
        if (ws_expr_is_int(e->arg[1], &n) && n > 0 &&
            n <= 4096) /* known as a whole or not at all */
            demand(d, e->arg[0], ws_nowhere, n);
        else
            demand_args(d, e, everywhere);
        return;
    case WS_EXPR_DIV:
        if (ws_expr_is_int(e->arg[1], &n) && n > 0 && n <= 4096)
            demand(d, e->arg[0],
                   none(w) ? w
                           : (WsSpan){ clamped((__int128)w.lo * n),
                                       clamped((__int128)w.hi * n + n - 1) },
                   m * n);
        else
            demand_args(d, e, everywhere);
        return;
    case WS_EXPR_COMPARISON: {
        g_autoptr(WsExpr) x =
            ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
        demand_strictly(d, x, zero, 1);
        return;
    }
    case WS_EXPR_NOT:
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        demand_args(d, e, zero);
        return;
    case WS_EXPR_CALL:
        demand_call(d, e, w, m);
        return;
    case WS_EXPR_INDEX:
    case WS_EXPR_NAME:
    case WS_EXPR_REAL:
    case WS_EXPR_TOTAL:
    default:
        ws_control_outside(d->c, "control depends on what the proof does not know", e);
    }
}

/* --- wishes ----------------------------------------------------------------------------------- */
static void clear_wish(gpointer data)
{
    ws_expr_unref((WsExpr *)((Wish *)data)->e);
}

GArray *ws_wishes_new(void)
{
    GArray *wishes = g_array_new(FALSE, FALSE, sizeof(Wish));
    g_array_set_clear_func(wishes, clear_wish);
    return wishes;
}

void ws_wish(WsControl *c, WsWishKind kind, const WsExpr *e, gint64 m)
{
    gint64 x;
    if (m <= MOST_TURN && ws_expr_is_int(e, &x))
        return; /* known however well */
    Wish w = { kind, ws_expr_ref(e), m };
    g_array_append_val(c->wish, w);
}

static void grant(WsControl *c, const Wish *w)
{
    static const WsSpan window[] = { [WS_WISH_EXACT] = { -WS_ENDLESS, WS_ENDLESS },
                                     [WS_WISH_USE] = { -1, -1 },
                                     [WS_WISH_MODULO] = { 1, 0 },
                                     [WS_WISH_TRUTH] = { 0, 0 } };
    Demand d = { c, w->e, w->kind == WS_WISH_USE, FALSE };
    demand(&d, w->e, window[w->kind], w->m);
}

/* --- definitions ------------------------------------------------------------------------------ */
/* L-DEFINED: what a variable is set to must be known as well as the variable. */
static gboolean hand_set(WsControl *c, guint v, const WsExpr *e)
{
    Demand d = { c, e, c->tainted[v], FALSE };
    demand(&d, e, ws_exact_window(c, (gint)v), c->modulus[v]);
    return d.changed;
}

/* L-ADVANCE: an increment must be known exactly as far as it can end within the window. */
static gboolean hand_advance(WsControl *c, guint v, const WsExpr *e)
{
    Demand d = { c, e, c->tainted[v], FALSE };
    WsSpan w = ws_exact_window(c, (gint)v), range = c->range[v];
    if (!none(w)) {
        w.lo = w.lo <= -WS_ENDLESS || range.hi >= WS_ENDLESS ? -WS_ENDLESS
                                                             : clamped((__int128)w.lo - range.hi);
        w.hi = w.hi >= WS_ENDLESS || range.lo <= -WS_ENDLESS ? WS_ENDLESS
                                                             : clamped((__int128)w.hi - range.lo);
    }
    demand(&d, e, w, c->modulus[v]);
    return d.changed;
}

static gboolean hand_down(WsControl *c)
{
    const WsProgram *p = c->p;
    gboolean changed = FALSE;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->var < 0 || !op->set || !c->relevant[op->var])
            continue;
        if (op->kind == WS_OP_LET)
            changed |= hand_set(c, (guint)op->var, ws_rewritten(c, op->set));
        else if (op->kind == WS_OP_ADVANCE)
            changed |= hand_advance(c, (guint)op->var, ws_rewritten(c, op->set));
    }
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_COUNTER && p->var[v].value && c->relevant[v])
            changed |= hand_set(c, v, ws_rewritten(c, p->var[v].value));
    return changed;
}

void ws_grant_wishes(WsControl *c)
{
    for (guint i = 0; i < c->wish->len && !c->outside; i++)
        grant(c, &g_array_index(c->wish, Wish, i));
    for (guint pass = 0; !c->outside && hand_down(c); pass++)
        for (guint v = 0; pass == 16 && v < c->n_vars; v++)
            if (!none(c->window[v])) /* a counter that hands itself on never ends */
                c->window[v] = everywhere;
}
