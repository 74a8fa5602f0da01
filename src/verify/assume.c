/* Discharging the assumptions of a certificate by interval and residue arithmetic over the
 * definitions of names and `assume` (docs/soundness.md section 8.3). */
#include "verify/assume.h"
#include "verify/range.h"
#include "verify/text.h"

#include <string.h>

typedef struct {
    RangeEnv env;
    const WsProgram *p;
    GHashTable *given;    /* text -> Range*, from `assume` */
    const WsExpr *inside; /* its parts are asked for, not it */
    gboolean undefined;   /* something in it may have no value */
    guint of_launch;      /* within a name of the launch: the launch is refused then */
} Facts;

static void give(Facts *f, const WsExpr *e, Range r)
{
    char *text = text_of(e);
    Range *known = g_hash_table_lookup(f->given, text);
    if (known) {
        *known = range_meet(*known, r);
        g_free(text);
    } else {
        g_hash_table_insert(f->given, text, g_memdup2(&r, sizeof r));
    }
}

/* e OP value, as `assume` says it */
static void give_compared(Facts *f, WsExprOp op, const WsExpr *e, gint64 value)
{
    gint64 m;
    if (value <= NO_LOW + 1 || value >= NO_HIGH - 1)
        return;
    if (op == WS_EXPR_EQ && e->op == WS_EXPR_MOD && ws_expr_is_int(e->arg[1], &m) && m > 1 &&
        value >= 0 && value < m)
        give(f, e->arg[0], (Range){ NO_LOW, NO_HIGH, value, m, FALSE });
    switch (op) {
    case WS_EXPR_EQ:
        give(f, e, range_exact(value));
        return;
    case WS_EXPR_GE:
    case WS_EXPR_GT:
        give(f, e, range_of(value + (op == WS_EXPR_GT), NO_HIGH));
        return;
    case WS_EXPR_LE:
    case WS_EXPR_LT:
        give(f, e, range_of(NO_LOW, value - (op == WS_EXPR_LT)));
        return;
    default:
        return;
    }
}

static WsExprOp turned(WsExprOp op)
{
    switch (op) {
    case WS_EXPR_LT:
        return WS_EXPR_GT;
    case WS_EXPR_LE:
        return WS_EXPR_GE;
    case WS_EXPR_GT:
        return WS_EXPR_LT;
    case WS_EXPR_GE:
        return WS_EXPR_LE;
    default:
        return op;
    }
}

static void give_assumed(Facts *f, const WsExpr *e)
{
    gint64 value;
    if (e->op == WS_EXPR_AND) {
        give_assumed(f, e->arg[0]);
        give_assumed(f, e->arg[1]);
    } else if (e->n_args == 2 && ws_expr_is_int(e->arg[1], &value)) {
        give_compared(f, e->op, e->arg[0], value);
    } else if (e->n_args == 2 && ws_expr_is_int(e->arg[0], &value)) {
        give_compared(f, turned(e->op), e->arg[1], value);
    }
}

static Range of_name(Facts *f, const WsVar *v)
{
    Range r = range_of(NO_LOW, NO_HIGH);
    switch (v->kind) {
    case WS_VAR_SIZE:
        return range_of(0, NO_HIGH);
    case WS_VAR_CTA:
        return range_of(0, (gint64)f->p->cluster - 1);
    case WS_VAR_AXIS:
        r = range_eval(&f->env, f->p->tiles.axis[v->axis].extent, FALSE);
        return range_of(0, r.high == NO_HIGH ? NO_HIGH : MAX(r.high - 1, 0));
    case WS_VAR_RUN:
    case WS_VAR_TILE:
        f->of_launch += v->kind == WS_VAR_RUN;
        r = v->real || !v->value ? r : range_eval(&f->env, v->value, FALSE);
        f->of_launch -= v->kind == WS_VAR_RUN;
        return r;
    default:
        return r;
    }
}

/* Every subexpression comes by here: what is made of its parts meets what was assumed of it. */
static gboolean leaf(RangeEnv *env, const WsExpr *e, gboolean truth, Range *out)
{
    Facts *f = (Facts *)env;
    if (f->inside == e) {
        f->inside = NULL;
        return FALSE;
    }
    if (e->op == WS_EXPR_VAR && e->var >= 0) {
        *out = of_name(f, &f->p->var[e->var]);
    } else if (e->op == WS_EXPR_INDEX) {
        *out = range_of(NO_LOW, NO_HIGH);
    } else {
        f->inside = e;
        *out = range_eval(env, e, truth);
    }
    if (env->wrong)
        *out = range_of(NO_LOW, NO_HIGH);
    f->undefined |= env->wrong && !f->of_launch;
    env->wrong = NULL;
    out->open = FALSE;
    g_autofree char *text = text_of(e);
    const Range *known = g_hash_table_lookup(f->given, text);
    if (known)
        *out = range_meet(*out, *known);
    return TRUE;
}

/* Which names an expression, and what they are made of, depends on. */
static void note_names(const WsProgram *p, const WsExpr *e, gboolean *tile, gboolean *cta,
                       gboolean *other)
{
    if (e->op == WS_EXPR_INDEX)
        *tile = TRUE;
    *other |= e->op == WS_EXPR_NAME || e->op == WS_EXPR_TOTAL;
    if (e->op == WS_EXPR_VAR && e->var >= 0) {
        const WsVar *v = &p->var[e->var];
        *tile |= v->kind == WS_VAR_AXIS || v->kind == WS_VAR_TILE;
        *cta |= v->kind == WS_VAR_CTA;
        *other |= v->kind != WS_VAR_AXIS && v->kind != WS_VAR_TILE && v->kind != WS_VAR_CTA &&
                  v->kind != WS_VAR_SIZE && v->kind != WS_VAR_RUN;
        gboolean within = FALSE;
        if (v->value && (v->kind == WS_VAR_TILE || v->kind == WS_VAR_RUN))
            note_names(p, v->value, &within, cta, other);
    }
    for (guint i = 0; i < e->n_args; i++)
        note_names(p, e->arg[i], tile, cta, other);
}

/* The text of `s` is, by syntax, what its relation says. */
static gboolean relation_holds(const Certificate *c, const Symbol *s)
{
    const WsExpr *base = g_array_index(c->symbol, Symbol, s->base).expr, *e = s->expr;
    const gboolean call = e->op == WS_EXPR_CALL;
    const gboolean div = e->op == WS_EXPR_DIV || (call && e->func == WS_FUNC_CDIV);
    gint64 k = 0, offset = s->offset;
    WsAffine f;
    if (!base || e->n_args != 2 || !ws_expr_is_int(e->arg[1], &k) || k != s->number ||
        !(s->relation == RELATION_DIV   ? div
          : s->relation == RELATION_MAX ? call && e->func == WS_FUNC_MAX
                                        : call && e->func == WS_FUNC_MIN))
        return FALSE;
    if (div && call && __builtin_sub_overflow(offset, k - 1, &offset))
        return FALSE;
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(base));
    if (!ws_expr_affine(d, &f))
        return FALSE;
    const gboolean same = f.n == 0 && f.constant == offset;
    ws_affine_clear(&f);
    return same;
}

static char *judge_symbol(Facts *f, const Certificate *c, const Symbol *s)
{
    gboolean tile = FALSE, cta = FALSE, other = FALSE;
    if (!s->expr)
        return g_strdup_printf("\"%s\" is no expression", s->text);
    note_names(f->p, s->expr, &tile, &cta, &other);
    if (other)
        return g_strdup_printf("not verified: \"%s\" depends on a name of a group", s->text);
    if (tile != s->of_tile || cta != s->of_cta)
        return g_strdup_printf("scope or flags of \"%s\"", s->text);
    if (s->relation && (s->letter || !relation_holds(c, s)))
        return g_strdup_printf("relation of \"%s\"", s->text);
    f->undefined = FALSE;
    Range r = range_eval(&f->env, s->expr, s->letter);
    if (f->undefined)
        return g_strdup_printf("\"%s\" may have no value", s->text);
    if (s->letter)
        r = range_of(0, 1);
    const gboolean left = s->every == 1 ||
                          (r.low == r.high && range_mod(r.low, s->every) == s->left) ||
                          (r.g % s->every == 0 && range_mod(r.v, s->every) == s->left);
    if (r.low < s->least || r.high > s->most || !left)
        return g_strdup_printf("assumption not discharged: \"%s\"", s->text);
    return NULL;
}

static void facts_init(Facts *f, const WsProgram *p)
{
    *f = (Facts){ .env = { .leaf = leaf, .either = TRUE }, .p = p };
    f->given = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < p->n_assume; i++)
        give_assumed(f, p->assume[i]);
}

Range assumptions_range(const WsProgram *p, const WsExpr *e)
{
    Facts f;
    facts_init(&f, p);
    const Range r = range_eval(&f.env, e, FALSE);
    g_hash_table_unref(f.given);
    return r;
}

void assumptions_read(const WsProgram *p, Certificate *c)
{
    for (guint i = 1; i < c->symbol->len; i++) {
        Symbol *s = &g_array_index(c->symbol, Symbol, i);
        s->expr = text_read(p, s->text);
        s->same = s->expr ? text_of(s->expr) : g_strdup("");
    }
}

char *assumptions_judge(const WsProgram *p, const Certificate *c)
{
    Facts f;
    facts_init(&f, p);
    char *wrong = NULL;
    const Symbol *tiles = &g_array_index(c->symbol, Symbol, 0);
    const gint64 least = p->tiles.launch == WS_LAUNCH_SINGLE;
    if (tiles->least > least || tiles->most != NO_HIGH || tiles->every != 1)
        wrong = g_strdup("assumption not discharged: the number of tiles");
    for (guint i = 1; i < c->symbol->len && !wrong; i++) {
        const Symbol *s = &g_array_index(c->symbol, Symbol, i);
        for (guint j = 1; j < i && !wrong; j++) {
            const Symbol *t = &g_array_index(c->symbol, Symbol, j);
            if (s->letter == t->letter && !strcmp(s->same, t->same))
                wrong = g_strdup_printf("two symbols \"%s\"", s->text);
        }
        if (!wrong)
            wrong = judge_symbol(&f, c, s);
    }
    g_hash_table_unref(f.given);
    return wrong;
}

char *assumptions_text(const Certificate *c, guint *n)
{
    GString *t = g_string_new(NULL);
    *n = 0;
    for (guint i = 1; i < c->symbol->len; i++) {
        const Symbol *s = &g_array_index(c->symbol, Symbol, i);
        if (s->letter)
            continue;
        if (s->least != NO_LOW) {
            g_string_append_printf(t, "%s%s >= %" G_GINT64_FORMAT, t->len ? ", " : "", s->text,
                                   s->least);
            ++*n;
        }
        if (s->most != NO_HIGH) {
            g_string_append_printf(t, "%s%s <= %" G_GINT64_FORMAT, t->len ? ", " : "", s->text,
                                   s->most);
            ++*n;
        }
        if (s->every > 1) {
            g_string_append_printf(t, "%s%s %% %" G_GINT64_FORMAT " == %" G_GINT64_FORMAT,
                                   t->len ? ", " : "", s->text, s->every, s->left);
            ++*n;
        }
    }
    return g_string_free(t, FALSE);
}
