#include "import/recognise.h"

#include <string.h>

/* Integer expressions of what is read: built, folded, taken apart. */

const WsExpr *ws_x_own(WsRead *r, WsExpr *e)
{
    if (e)
        g_ptr_array_add(r->exprs, e);
    return e;
}

/* An expression shares its parts, but whoever walks it sees a tree: it must stay small. */
static gboolean is_small(const WsExpr *e, guint *left)
{
    if (!*left)
        return FALSE;
    --*left;
    for (guint i = 0; i < e->n_args; i++)
        if (!is_small(e->arg[i], left))
            return FALSE;
    return TRUE;
}

/* Folds what is constant; an overflow or a division by zero makes it "not known". */
static const WsExpr *fold(WsRead *r, WsExpr *e)
{
    static const WsExprEnv nothing = { 0 };
    guint left = 1000;
    const gboolean fits = e->height < WS_EXPR_MAX_HEIGHT / 4 && is_small(e, &left);
    WsExpr *folded = fits ? ws_expr_fold(e, &nothing, NULL) : NULL;
    ws_expr_unref(e);
    return ws_x_own(r, folded);
}

const WsExpr *ws_x_int(WsRead *r, gint64 value)
{
    return ws_x_own(r, ws_expr_int(value));
}

const WsExpr *ws_x_name(WsRead *r, const char *name)
{
    return ws_x_own(r, ws_expr_name(name));
}

const WsExpr *ws_x_total(WsRead *r, const char *loop)
{
    g_autofree char *text = g_strdup_printf("%s.total", loop);
    return ws_x_own(r, ws_expr_parse(text, NULL));
}

const WsExpr *ws_x_parsed(WsRead *r, const char *text)
{
    gpointer found;
    if (!g_hash_table_lookup_extended(r->parsed, text, NULL, &found)) {
        found = (gpointer)ws_x_own(r, ws_expr_parse(text, NULL));
        g_hash_table_insert(r->parsed, g_strdup(text), found);
    }
    return found;
}

gboolean ws_x_is(const WsExpr *e, gint64 *value)
{
    return e && ws_expr_is_int(e, value);
}

/* Sums in the order of their affine form, so that equal ones look equal. */
static const WsExpr *normal(WsRead *r, const WsExpr *e)
{
    WsAffine f;
    if (!e || (e->op != WS_EXPR_ADD && e->op != WS_EXPR_SUB && e->op != WS_EXPR_NEG) ||
        !ws_expr_affine(e, &f))
        return e;
    WsExpr *sum = NULL;
    for (guint pass = 0; pass < 2; pass++) /* what is added before what is taken away */
        for (guint i = 0; i < f.n; i++) {
            const gint64 c = f.factor[i];
            if (c == G_MININT64 || (c < 0) != (pass == 1))
                continue;
            WsExpr *t = ws_expr_ref(f.term[i]);
            const gint64 size = c < 0 ? -c : c;
            if (size != 1)
                t = ws_expr_op(WS_EXPR_MUL, t, ws_expr_int(size));
            sum = !sum ? (c < 0 ? ws_expr_op(WS_EXPR_NEG, t, NULL) : t)
                       : ws_expr_op(c < 0 ? WS_EXPR_SUB : WS_EXPR_ADD, sum, t);
        }
    if (!sum)
        sum = ws_expr_int(f.constant);
    else if (f.constant > 0)
        sum = ws_expr_op(WS_EXPR_ADD, sum, ws_expr_int(f.constant));
    else if (f.constant < 0 && f.constant != G_MININT64)
        sum = ws_expr_op(WS_EXPR_SUB, sum, ws_expr_int(-f.constant));
    ws_affine_clear(&f);
    return ws_x_own(r, sum);
}

const WsExpr *ws_x_op(WsRead *r, WsExprOp op, const WsExpr *a, const WsExpr *b)
{
    const gboolean one = op == WS_EXPR_NEG || op == WS_EXPR_NOT;
    if (!a || (!b && !one))
        return NULL;
    gint64 n, i;
    if (op == WS_EXPR_MOD && ws_x_is(b, &n) && n > 0 && a->op == WS_EXPR_MOD &&
        ws_x_is(a->arg[1], &i) && i > 0 && i % n == 0)
        return ws_x_op(r, op, a->arg[0], b); /* (x % 4) % 2 */
    return normal(r, fold(r, ws_expr_op(op, ws_expr_ref(a), one ? NULL : ws_expr_ref(b))));
}

const WsExpr *ws_x_call(WsRead *r, WsFunc f, const WsExpr *a, const WsExpr *b, const WsExpr *c)
{
    if (!a || !b || (f == WS_FUNC_SELECT && !c))
        return NULL;
    WsExpr *arg[3] = { ws_expr_ref(a), ws_expr_ref(b), c ? ws_expr_ref(c) : NULL };
    return fold(r, ws_expr_call(f, arg, c ? 3 : 2));
}

const WsExpr *ws_x_mod(WsRead *r, const WsExpr *a, gint64 n)
{
    WsAffine f;
    if (!a || n <= 0 || !ws_expr_affine(a, &f))
        return NULL;
    WsExpr *sum = ws_expr_int(f.constant); /* not reduced: it says which turn is meant */
    for (guint i = 0; i < f.n; i++) {
        const WsExpr *t = f.term[i];
        gint64 m;
        if (t->op == WS_EXPR_MOD && ws_x_is(t->arg[1], &m) && m > 0 && m % n == 0)
            t = t->arg[0];
        WsExpr *term = ws_expr_ref(t); /* multiples of n stay: they say which turn is meant, too */
        sum = ws_expr_op(
            WS_EXPR_ADD, sum,
            f.factor[i] == 1 ? term : ws_expr_op(WS_EXPR_MUL, term, ws_expr_int(f.factor[i])));
    }
    ws_affine_clear(&f);
    const WsExpr *inner = normal(r, fold(r, sum));
    return inner ? fold(r, ws_expr_op(WS_EXPR_MOD, ws_expr_ref(inner), ws_expr_int(n))) : NULL;
}

typedef struct {
    const char *name;
    const WsExpr *by;
} Replace;

gboolean ws_x_difference(const WsExpr *a, const WsExpr *b, gint64 *d)
{
    if (!a || !b)
        return FALSE;
    g_autoptr(WsExpr) diff = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(b), ws_expr_ref(a));
    WsAffine f;
    if (!ws_expr_affine(diff, &f))
        return FALSE;
    const gboolean constant = f.n == 0;
    *d = f.constant;
    ws_affine_clear(&f);
    return constant;
}

const WsExpr *ws_x_without(WsRead *r, const WsExpr *e, const char *name, gboolean total,
                           gint64 *factor)
{
    *factor = 0;
    WsAffine f;
    if (!e || !ws_expr_affine(e, &f))
        return e;
    WsExpr *sum = ws_expr_int(f.constant);
    for (guint i = 0; i < f.n; i++) {
        const WsExpr *t = f.term[i];
        if (t->op == (total ? WS_EXPR_TOTAL : WS_EXPR_NAME) && !strcmp(t->name, name)) {
            *factor = f.factor[i];
            continue;
        }
        sum = ws_expr_op(WS_EXPR_ADD, sum,
                         ws_expr_op(WS_EXPR_MUL, ws_expr_ref(t), ws_expr_int(f.factor[i])));
    }
    ws_affine_clear(&f);
    return normal(r, fold(r, sum));
}

static WsExpr *replace(const WsExpr *leaf, gpointer data, GError **error)
{
    const Replace *want = data;
    return leaf->op == WS_EXPR_NAME && !strcmp(leaf->name, want->name) ? ws_expr_ref(want->by)
                                                                       : NULL;
}

const WsExpr *ws_x_replace(WsRead *r, const WsExpr *e, const char *name, const WsExpr *by)
{
    if (!e || !by)
        return NULL;
    Replace want = { .name = name, .by = by };
    WsExpr *mapped = ws_expr_map(e, replace, &want, NULL);
    return mapped ? normal(r, fold(r, mapped)) : NULL;
}

gboolean ws_x_modulus(WsRead *r, const WsExpr *e, gint64 *base, const WsExpr **u, gint64 *n)
{
    WsAffine f;
    if (!e || !ws_expr_affine(e, &f))
        return FALSE;
    const gboolean found = f.n == 1 && f.factor[0] == 1 && f.term[0]->op == WS_EXPR_MOD &&
                           ws_x_is(f.term[0]->arg[1], n) && *n > 0;
    if (found) {
        *base = f.constant;
        *u = ws_x_own(r, ws_expr_ref(f.term[0]->arg[0]));
    }
    ws_affine_clear(&f);
    return found;
}

char *ws_x_text(const WsExpr *e)
{
    return e ? ws_expr_print(e) : g_strdup("?");
}

gboolean ws_x_strides_part(WsRead *r, const WsExpr *const *shape, const WsExpr *const *stride,
                           gboolean (*handed)(gconstpointer data, const WsExpr *stride),
                           gconstpointer data)
{
    for (guint i = 0; i < 2; i++) {
        const WsExpr *inner = stride[i], *outer = stride[1 - i];
        gint64 one, far, d;
        if (!(ws_x_is(inner, &one) && one > 0) && !handed(data, inner))
            continue;
        if (handed(data, outer))
            return TRUE;
        const WsExpr *all = shape[i] ? ws_x_op(r, WS_EXPR_MUL, inner, shape[i]) : NULL;
        if (all && ((ws_x_is(all, &one) && ws_x_is(outer, &far) && far >= one) ||
                    ws_expr_equal(all, outer) || (ws_x_difference(outer, all, &d) && d == 0)))
            return TRUE;
    }
    return FALSE;
}
