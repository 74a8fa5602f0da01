/* Symbols that are an expression of another one: N/2, cdiv(N, 2), max(0, N - 1) beside N. A
 * question about such a symbol is a question about its base, so both always go together. */
#include "check/proof/symbols.h"
#include "program/program.h"

#include <string.h>

enum { FAR_QUOTIENT = 1 << 20 };

/* e = base + offset with one opaque term; the term, or NULL. */
static WsExpr *term_of(const WsExpr *e, gint64 *offset)
{
    WsAffine a = { 0 };
    if (!ws_expr_affine(e, &a))
        return NULL;
    WsExpr *t = a.n == 1 && a.factor[0] == 1 ? ws_expr_ref(a.term[0]) : NULL;
    *offset = a.constant;
    ws_affine_clear(&a);
    return t;
}

/* 2*x + 1 */
static gboolean is_multiple(const WsExpr *e, WsSymbol *s, WsExpr **base)
{
    WsAffine a = { 0 };
    if (!ws_expr_affine(e, &a))
        return FALSE;
    gboolean is = a.n == 1 && a.factor[0] > 1 && a.factor[0] <= 64 && ABS(a.constant / 2) < 500;
    if (is) {
        s->relation = WS_RELATION_MUL;
        s->number = a.factor[0], s->offset = a.constant;
        *base = ws_expr_ref(a.term[0]);
    }
    ws_affine_clear(&a);
    return is;
}

/* What a symbol is of another expression; FALSE: nothing that is known here. */
static gboolean look_through(const WsControl *c, const WsExpr *e, WsSymbol *s, WsExpr **base)
{
    const WsExpr *in = NULL;
    gint64 number = 0;
    if (e->n_args != 2)
        return FALSE;
    if (!c->page && is_multiple(e, s, base))
        return TRUE;
    gboolean second = ws_expr_is_int(e->arg[1], &number);
    if (!second && !ws_expr_is_int(e->arg[0], &number))
        return FALSE;
    in = second ? e->arg[0] : e->arg[1];
    gboolean call = e->op == WS_EXPR_CALL;
    s->offset = 0;
    if (second && number > 0 && number <= 64 &&
        (e->op == WS_EXPR_DIV || (call && e->func == WS_FUNC_CDIV))) {
        s->relation = WS_RELATION_DIV;
        s->number = number;
        *base = term_of(in, &s->offset);
        s->offset += call ? number - 1 : 0;
    } else if (call && (e->func == WS_FUNC_MAX || e->func == WS_FUNC_MIN)) {
        s->relation = e->func == WS_FUNC_MAX ? WS_RELATION_MAX : WS_RELATION_MIN;
        s->number = number;
        *base = term_of(in, &s->offset);
    } else {
        return FALSE;
    }
    return *base != NULL && s->offset > -1000 && s->offset < 1000;
}

/* A certificate has no relations to what is equal by assumptions only. */
static gboolean is_plainly(const WsControl *c, const WsExpr *a, const WsExpr *b)
{
    g_autoptr(WsExpr) x = ws_defined(c, a), y = ws_defined(c, b);
    return ws_expr_equal(x, y);
}

static gint symbol_with(const WsControl *c, const WsExpr *e)
{
    g_autofree char *normal = ws_normal_text(c, e);
    for (guint i = 1; i < c->symbols->len; i++) {
        const WsSymbol *s = c->symbols->pdata[i];
        if (!s->letter && s->base < 0 && s->expr && strcmp(s->normal, normal) == 0 &&
            (!c->written || c->page || is_plainly(c, e, s->expr)))
            return (gint)i;
    }
    return -1;
}

static gboolean shared(const WsControl *c, guint self, const WsExpr *base)
{
    for (guint i = 1; i < c->symbols->len; i++) {
        const WsSymbol *s = c->symbols->pdata[i];
        WsSymbol other = { 0 };
        g_autoptr(WsExpr) its = NULL;
        if (i != self && !s->letter && s->expr && look_through(c, s->expr, &other, &its) &&
            ws_expr_equal(its, base))
            return TRUE;
    }
    return FALSE;
}

/* x and m of x/m or cdiv(x, m), as names stand for them; NULL: it is none. */
static const WsExpr *quotient_of(const WsSymbol *s, gint64 *m, gboolean *up)
{
    const WsExpr *e = s->expr ? s->form : NULL;
    *up = e && e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV;
    if (!e || (e->op != WS_EXPR_DIV && !*up) || !ws_expr_is_int(e->arg[1], m) || *m < 2)
        return NULL;
    return e->arg[0];
}

/* L-QUOTIENTS: floor(x/(a*b)) is floor(floor(x/a)/b), and so for cdiv. A symbol that is x/a for one
 * that is x/(a*b); -1: none. */
static gint smaller_quotient(const WsControl *c, guint of, WsSymbol *found)
{
    gint64 m, n;
    gboolean up, its_up;
    const WsExpr *x = quotient_of(c->symbols->pdata[of], &m, &up);
    for (guint i = 1; x && !c->page && i < c->symbols->len; i++) {
        const WsSymbol *s = c->symbols->pdata[i];
        if (i == of || s->letter || s->base >= 0)
            continue;
        const WsExpr *y = quotient_of(s, &n, &its_up);
        if (!y || its_up != up || n >= m || m % n || m / n > 64 || !ws_expr_equal(x, y))
            continue;
        found->relation = WS_RELATION_DIV;
        found->number = m / n;
        found->offset = up ? m / n - 1 : 0;
        return (gint)i;
    }
    return -1;
}

/* What is a quotient of the symbol becomes one of its base: no base has a base itself. FALSE: what
 * stands for something else of it forbids that. */
static gboolean hand_on(const WsControl *c, guint i, const WsSymbol *found, gint of, gboolean now)
{
    for (guint k = 1; k < c->symbols->len; k++) {
        WsSymbol *s = c->symbols->pdata[k];
        gint64 number, offset;
        if (s->base != (gint)i)
            continue;
        if (s->relation != WS_RELATION_DIV || found->relation != WS_RELATION_DIV ||
            __builtin_mul_overflow(s->number, found->number, &number) ||
            __builtin_mul_overflow(s->offset, found->number, &offset) || number > FAR_QUOTIENT ||
            ABS(offset) > FAR_QUOTIENT)
            return FALSE;
        if (now)
            s->number = number, s->offset = offset + found->offset, s->base = of;
    }
    return TRUE;
}

/* A remainder of the symbol follows from one of its base only if the relation is a division. */
static void relate(WsControl *c, guint i)
{
    WsSymbol *s = c->symbols->pdata[i], found = { 0 };
    g_autoptr(WsExpr) base = NULL;
    if (s->letter || s->split || s->by_index || !s->expr)
        return;
    gint of = smaller_quotient(c, i, &found);
    if (of < 0 && !look_through(c, s->expr, &found, &base))
        return;
    gboolean multiple = found.relation == WS_RELATION_MUL;
    if (s->ring && found.relation != WS_RELATION_DIV && !multiple)
        return;
    if (of < 0)
        of = symbol_with(c, base);
    if (of < 0 && shared(c, i, base) && base->op == WS_EXPR_VAR)
        of = ws_symbol_of(c, base, FALSE);
    if (of < 0 || (guint)of == i || !hand_on(c, i, &found, of, FALSE))
        return;
    WsSymbol *b = c->symbols->pdata[of];
    if (b->split || b->run != s->run || b->per_cta != s->per_cta || !b->bounded || b->least < 0)
        return;
    if (s->ring) {
        gint64 modulus; /* of a multiple the remainder of the base is more than enough */
        if (__builtin_mul_overflow(s->modulus, multiple ? 1 : found.number, &modulus))
            return;
        gint64 both = ws_least_multiple(c, b->modulus, modulus);
        if (both > 256) /* so many answers cost more than the relation gives */
            return;
        b->modulus = both;
        b->ring = TRUE;
        if (s->window >= 0) /* L-SMALL, in terms of the base */
            b->window = MAX(b->window, multiple ? s->window + 1 + ABS(found.offset)
                                                : found.number * (s->window + 1) - found.offset);
    }
    s->relation = found.relation, s->number = found.number, s->offset = found.offset;
    s->base = of;
    hand_on(c, i, &found, of, TRUE);
}

/* x % m == r: x/n leaves r/n modulo m/n if n divides m. */
static void assume_quotients(WsControl *c, const WsExpr *x, gint64 m, gint64 r)
{
    gint64 n;
    gboolean up;
    g_autoptr(WsExpr) whole = ws_expanded(c, x);
    for (guint i = 1; i < c->symbols->len; i++) {
        WsSymbol *s = c->symbols->pdata[i];
        const WsExpr *y = s->letter || s->by_index ? NULL : quotient_of(s, &n, &up);
        if (!y || m % n || m / n < 2 || m / n > 64 || s->every != 1 || !ws_expr_equal(whole, y))
            continue;
        s->every = m / n;
        s->left = ws_control_mod(up ? -ws_floor_div(-r, n) : r / n, s->every);
    }
}

/* assume N % 2 == 0 */
static void assume_multiples(WsControl *c, const WsExpr *e)
{
    gint64 m = 0, r = 0;
    if (e->op != WS_EXPR_EQ || e->n_args != 2)
        return;
    const WsExpr *mod = e->arg[0]->op == WS_EXPR_MOD ? e->arg[0] : e->arg[1];
    const WsExpr *left = mod == e->arg[0] ? e->arg[1] : e->arg[0];
    if (mod->op != WS_EXPR_MOD || !ws_expr_is_int(left, &r) || !ws_expr_is_int(mod->arg[1], &m) ||
        m < 2)
        return;
    if (!c->page)
        assume_quotients(c, mod->arg[0], m, ws_control_mod(r, m));
    if (m > 64)
        return;
    gint i = symbol_with(c, mod->arg[0]);
    WsSymbol *s = i < 0 ? NULL : c->symbols->pdata[i];
    if (s && s->every == 1)
        s->every = m, s->left = ws_control_mod(r, m);
}

void ws_relate_symbols(WsControl *c)
{
    for (guint i = 0; i < c->p->n_assume; i++)
        assume_multiples(c, c->p->assume[i]);
    for (guint i = 1; i < c->symbols->len; i++)
        relate(c, i);
}

gint ws_base_of(const WsControl *c, gint symbol)
{
    const WsSymbol *s = c->symbols->pdata[symbol];
    return s->base >= 0 ? s->base : symbol;
}

/* symbol > n is base > the result; WS_NEVER, WS_ALWAYS where the answer is none of the base's. */
gint64 ws_base_question(const WsControl *c, gint symbol, gint64 n)
{
    const WsSymbol *s = c->symbols->pdata[symbol];
    if (s->base < 0)
        return n;
    switch (s->relation) {
    case WS_RELATION_MAX:
        return s->number > n ? WS_ALWAYS : n - s->offset;
    case WS_RELATION_MIN:
        return s->number <= n ? WS_NEVER : n - s->offset;
    case WS_RELATION_MUL:
        return ws_floor_div(n - s->offset, s->number);
    case WS_RELATION_DIV:
    default:
        return s->number * (n + 1) - s->offset - 1;
    }
}

/* Value of a symbol for a value of its base. */
gint64 ws_value_from_base(const WsControl *c, gint symbol, gint64 x)
{
    const WsSymbol *s = c->symbols->pdata[symbol];
    if (s->base < 0)
        return x;
    if (s->relation == WS_RELATION_MUL)
        return s->number * x + s->offset;
    x += s->offset;
    if (s->relation == WS_RELATION_MAX)
        return MAX(x, s->number);
    if (s->relation == WS_RELATION_MIN)
        return MIN(x, s->number);
    return (x - ws_control_mod(x, s->number)) / s->number;
}
