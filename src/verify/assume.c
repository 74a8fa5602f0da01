/* Discharging the assumptions of a certificate by interval and residue arithmetic over the
 * definitions of names and `assume` (docs/soundness.md section 8.3). */
#include "verify/assume.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "verify/facts.h"
#include "verify/text.h"

#include <string.h>

/* What `e` says of the sum of its terms, without what all of them are multiples of: times * sum +
 * constant. The text of that sum. */
static char *sum_of(const Facts *f, const WsExpr *e, gint64 *times, gint64 *constant)
{
    WsAffine sum;
    gint64 common = 0;
    g_autoptr(WsExpr) plain = text_defined(f->p, e);
    g_autoptr(WsExpr) all = text_divides(plain) ? ws_expr_ref(plain) : text_normal(plain);
    gboolean fits = ws_expr_affine(all, &sum) && sum.constant != G_MININT64;
    for (guint i = 0; i < sum.n; i++)
        fits &= sum.factor[i] != G_MININT64;
    for (guint i = 0; i < sum.n && fits; i++)
        common = range_gcd(common, sum.factor[i]);
    *constant = fits ? sum.constant : 0;
    *times = !common ? 1 : sum.factor[0] < 0 ? -common : common;
    sum.constant = 0;
    for (guint i = 0; i < sum.n && fits; i++)
        sum.factor[i] /= *times;
    g_autoptr(WsExpr) whole = fits ? text_sum(&sum) : ws_expr_ref(all);
    ws_affine_clear(&sum);
    return text_of(whole);
}

/* `e` lies in `r`. */
static void give(Facts *f, const WsExpr *e, Range r)
{
    gint64 times, constant;
    g_autofree char *text = sum_of(f, e, &times, &constant);
    r = range_scaled(range_moved(r, -constant), times < 0 ? -1 : 1);
    r = range_divided(r, ABS(times));
    Range *known = g_hash_table_lookup(f->given, text);
    if (known)
        *known = range_meet(*known, r);
    else
        g_hash_table_insert(f->given, g_strdup(text), g_memdup2(&r, sizeof r));
}

gboolean facts_give(Facts *f, const WsExpr *e)
{
    if (e->op < WS_EXPR_LT || e->op > WS_EXPR_EQ)
        return TRUE;
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    const gboolean greater = e->op == WS_EXPR_GT || e->op == WS_EXPR_GE;
    give(f, d,
         e->op == WS_EXPR_EQ ? range_exact(0)
         : greater           ? range_of(e->op == WS_EXPR_GT, NO_HIGH)
                             : range_of(NO_LOW, -(gint64)(e->op == WS_EXPR_LT)));
    const Range r = facts_range(f, d);
    return r.low <= r.high;
}

static void give_assumed(Facts *f, const WsExpr *e)
{
    gint64 m, rest;
    if (e->op == WS_EXPR_AND) {
        give_assumed(f, e->arg[0]);
        give_assumed(f, e->arg[1]);
    }
    for (guint side = 0; side < 2 && e->op == WS_EXPR_EQ; side++) {
        const WsExpr *x = e->arg[side];
        if (x->op == WS_EXPR_MOD && ws_expr_is_int(x->arg[1], &m) && m > 1 &&
            ws_expr_is_int(e->arg[!side], &rest) && rest >= 0 && rest < m)
            give(f, x->arg[0], (Range){ NO_LOW, NO_HIGH, rest, m, FALSE });
    }
    facts_give(f, e);
}

static Range of_name(Facts *f, const WsVar *v)
{
    Range r = range_of(NO_LOW, NO_HIGH);
    if (v->kind == WS_VAR_SIZE)
        return range_of(0, NO_HIGH);
    if (v->kind == WS_VAR_CTA)
        return range_of(0, (gint64)f->p->cluster - 1);
    if (v->kind == WS_VAR_AXIS) {
        r = range_eval(&f->env, f->p->tiles->axis[v->axis].extent, FALSE);
        return range_of(0, r.high == NO_HIGH ? NO_HIGH : MAX(r.high - 1, 0));
    }
    const gboolean defined = (v->kind == WS_VAR_RUN || v->kind == WS_VAR_TILE) && v->value;
    return defined && !v->real ? range_eval(&f->env, v->value, FALSE) : r;
}

/* Every subexpression comes by here: what is made of its parts meets what was assumed of it. */
static gboolean leaf(RangeEnv *env, const WsExpr *e, gboolean truth, Range *out)
{
    Facts *f = (Facts *)env;
    if (f->inside == e) {
        f->inside = NULL;
        return FALSE;
    }
    if (e->op == WS_EXPR_VAR && e->var >= (gint)f->p->n_vars) {
        *out = range_of(0, NO_HIGH); /* an index, a position */
    } else if (e->op == WS_EXPR_VAR && e->var >= 0) {
        *out = of_name(f, &f->p->var[e->var]);
    } else if (e->op == WS_EXPR_INDEX) {
        *out = range_of(NO_LOW, NO_HIGH);
    } else {
        f->inside = e;
        *out = range_eval(env, e, truth);
    }
    if (env->wrong)
        *out = range_of(NO_LOW, NO_HIGH);
    env->wrong = NULL;
    out->open = FALSE;
    gint64 times, constant;
    g_autofree char *text = sum_of(f, e, &times, &constant);
    const Range *known = g_hash_table_lookup(f->given, text);
    if (known)
        *out = range_meet(*out, range_moved(range_scaled(*known, times), constant));
    return TRUE;
}

gboolean symbol_within(const Symbol *s, Range r)
{
    return r.low >= s->least && r.high <= s->most &&
           (s->every == 1 || (r.low == r.high && range_mod(r.low, s->every) == s->left) ||
            (r.g % s->every == 0 && range_mod(r.v, s->every) == s->left));
}

/* A condition that holds, and those around it. */
typedef struct Guard {
    const struct Guard *up;
    const WsExpr *holds;
} Guard;

static gboolean is_guarded(const WsExpr *divisor, const Guard *guard)
{
    g_autofree char *not_0 = NULL, *above = NULL;
    for (guint i = 0; i < 2; i++) {
        g_autoptr(WsExpr) e =
            ws_expr_op(i ? WS_EXPR_GT : WS_EXPR_NE, ws_expr_ref(divisor), ws_expr_int(0));
        *(i ? &above : &not_0) = text_of(e);
    }
    for (; guard; guard = guard->up) {
        g_autofree char *text = text_of(guard->holds);
        if (!strcmp(text, not_0) || !strcmp(text, above))
            return TRUE;
    }
    return FALSE;
}

/* What may be 0 and is divided by; a launch for which a name of it has no value is refused. */
static void find_divisors(Facts *f, const WsExpr *e, const Guard *guard, GPtrArray *out)
{
    const gboolean select = e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT;
    const Guard within = { guard, e->n_args ? e->arg[0] : NULL };
    if (e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD ||
        (e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV)) {
        const Range r = facts_range(f, e->arg[1]);
        if (r.low <= 0 && r.high >= 0 && !is_guarded(e->arg[1], guard))
            g_ptr_array_add(out, ws_expr_ref(e->arg[1]));
    }
    if (e->op == WS_EXPR_VAR && e->var >= 0 && f->p->var[e->var].kind == WS_VAR_TILE &&
        f->p->var[e->var].value)
        find_divisors(f, f->p->var[e->var].value, NULL, out);
    for (guint i = 0; i < e->n_args; i++)
        find_divisors(f, e->arg[i], i == 1 && (select || e->op == WS_EXPR_AND) ? &within : guard,
                      out);
}

static char *judge_symbol(Facts *f, const Certificate *c, const Symbol *s)
{
    if (s->local) /* what it is, and what is assumed of it, follows from a loop (form.c) */
        return s->of_tile && (!s->letter || s->round)
                   ? NULL
                   : g_strdup_printf("the statement about \"%.200s\"", s->text);
    if (!s->expr)
        return g_strdup_printf("\"%.200s\" is no expression", s->text);
    const guint leaves = text_leaves(f->p, s->expr, TRUE);
    if (leaves & ~(LEAF_LAUNCH | LEAF_TILE | LEAF(CTA)))
        return g_strdup_printf("not verified: \"%.200s\" depends on a name of a group", s->text);
    if (((leaves & LEAF_TILE) != 0) != s->of_tile || ((leaves & LEAF(CTA)) != 0) != s->of_cta)
        return g_strdup_printf("scope or flags of \"%.200s\"", s->text);
    Range r = range_eval(&f->env, s->expr, s->letter);
    find_divisors(f, s->expr, NULL, s->divisor);
    if (s->letter)
        r = range_of(0, 1);
    return symbol_within(s, r) ? NULL
                               : g_strdup_printf("assumption not discharged: \"%.200s\"", s->text);
}

void facts_init(Facts *f, const WsProgram *p)
{
    *f = (Facts){ .env = { .leaf = leaf, .either = TRUE }, .p = p };
    f->given = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < p->n_assume; i++)
        give_assumed(f, p->assume[i]);
}

void facts_copy(Facts *f, const Facts *of)
{
    GHashTableIter all;
    gpointer text, range;
    *f = *of;
    f->given = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_hash_table_iter_init(&all, of->given);
    while (g_hash_table_iter_next(&all, &text, &range))
        g_hash_table_insert(f->given, g_strdup(text), g_memdup2(range, sizeof(Range)));
}

void facts_clear(Facts *f)
{
    g_hash_table_unref(f->given);
}

Range facts_range(Facts *f, const WsExpr *e)
{
    return range_eval(&f->env, e, FALSE);
}

gboolean assumptions_divide(const WsProgram *p, const WsExpr *e, gboolean always)
{
    Facts f;
    facts_init(&f, p);
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)ws_expr_unref);
    gboolean found = FALSE;
    find_divisors(&f, e, NULL, all);
    for (guint i = 0; i < all->len; i++) {
        const Range r = facts_range(&f, all->pdata[i]);
        found |= !always || (r.low == 0 && r.high == 0);
    }
    facts_clear(&f);
    return found;
}

Range assumptions_range(const WsProgram *p, const WsExpr *e)
{
    Facts f;
    facts_init(&f, p);
    const Range r = facts_range(&f, e);
    facts_clear(&f);
    return r;
}

void assumptions_read(const WsProgram *p, Certificate *c)
{
    for (guint i = 1; i < c->symbol->len; i++) {
        Symbol *s = &g_array_index(c->symbol, Symbol, i);
        s->expr = s->round ? NULL : text_read(s->text, text_name, (gpointer)p);
        s->local = s->round || (s->expr && (text_leaves(p, s->expr, FALSE) & LEAF_NAME));
        s->whole = s->expr && !s->local ? text_defined(p, s->expr) : NULL;
        s->same = s->whole ? text_of(s->whole) : g_strdup("");
        s->divisor = g_ptr_array_new_with_free_func((GDestroyNotify)ws_expr_unref);
    }
}

char *assumptions_judge(const WsProgram *p, const Certificate *c)
{
    Facts f;
    facts_init(&f, p);
    char *wrong = NULL;
    const Symbol *tiles = &g_array_index(c->symbol, Symbol, 0);
    const gint64 least = p->tiles->launch == WS_LAUNCH_SINGLE;
    if (tiles->least > least || tiles->most != NO_HIGH || tiles->every != 1)
        wrong = g_strdup("assumption not discharged: the number of tiles");
    for (guint i = 1; i < c->symbol->len && !wrong; i++) {
        const Symbol *s = &g_array_index(c->symbol, Symbol, i);
        wrong = judge_symbol(&f, c, s);
    }
    facts_clear(&f);
    return wrong;
}

static void tell(GString *t, guint *n, const Symbol *s, const char *relation, gint64 value)
{
    g_string_append_printf(t, "%s%s%s%" G_GINT64_FORMAT, t->len ? ", " : "", s->text, relation,
                           value);
    ++*n;
}

char *assumptions_text(const Certificate *c, guint *n)
{
    GString *t = g_string_new(NULL);
    *n = 0;
    for (guint i = 1; i < c->symbol->len; i++) {
        const Symbol *s = &g_array_index(c->symbol, Symbol, i);
        g_autofree char *rest = g_strdup_printf(" %% %" G_GINT64_FORMAT " == ", s->every);
        if (!s->letter && s->least != NO_LOW)
            tell(t, n, s, " >= ", s->least);
        if (!s->letter && s->most != NO_HIGH)
            tell(t, n, s, " <= ", s->most);
        if (!s->letter && s->every > 1)
            tell(t, n, s, rest, s->left);
    }
    return g_string_free(t, FALSE);
}
