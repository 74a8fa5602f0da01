/* A normal form of expressions: docs/soundness.md section 8.1, TEXT, and lemma NAME. */
#include "verify/text.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include "verify/range.h"

#include <stdlib.h>
#include <string.h>

static WsExpr *op_int(WsExprOp op, WsExpr *a, gint64 k)
{
    return ws_expr_op(op, a, ws_expr_int(k));
}

WsExpr *text_sum(const WsAffine *f)
{
    WsExpr *sum = NULL;
    for (guint i = 0; i < f->n; i++) {
        WsExpr *term = ws_expr_ref(f->term[i]);
        if (f->factor[i] == 0) {
            ws_expr_unref(term);
            continue;
        }
        if (f->factor[i] != 1)
            term = op_int(WS_EXPR_MUL, term, f->factor[i]);
        sum = sum ? ws_expr_op(WS_EXPR_ADD, sum, term) : term;
    }
    return !sum          ? ws_expr_int(f->constant)
           : f->constant ? op_int(WS_EXPR_ADD, sum, f->constant)
                         : sum;
}

/* The same sum with its terms in order; takes `e`. */
static WsExpr *ordered(WsExpr *e)
{
    WsAffine f;
    WsExpr *sum = ws_expr_affine(e, &f) ? text_sum(&f) : ws_expr_ref(e);
    ws_affine_clear(&f);
    ws_expr_unref(e);
    return sum;
}

/* floor((x + plus) / m), m > 0; NULL: it does not fit. */
static WsExpr *floored(const WsExpr *x, gint64 plus, gint64 m)
{
    WsAffine whole, rest;
    WsExpr *made = NULL;
    gint64 k, inner = 0;
    if (!ws_expr_affine(x, &rest) || __builtin_add_overflow(rest.constant, plus, &rest.constant)) {
        ws_affine_clear(&rest);
        return NULL;
    }
    /* floor((floor(y / k) + c) / m) = floor((y + k * c) / (k * m)) */
    if (rest.n == 1 && rest.factor[0] == 1 && rest.term[0]->op == WS_EXPR_DIV &&
        ws_expr_is_int(rest.term[0]->arg[1], &k) && k > 0 &&
        !__builtin_mul_overflow(k, rest.constant, &inner) && !__builtin_mul_overflow(k, m, &k)) {
        made = floored(rest.term[0]->arg[0], inner, k);
        ws_affine_clear(&rest);
        return made;
    }
    ws_expr_affine(x, &whole);
    for (guint i = 0; i < rest.n; i++) {
        whole.factor[i] = range_floor(rest.factor[i], m);
        rest.factor[i] = range_mod(rest.factor[i], m);
    }
    whole.constant = range_floor(rest.constant, m);
    rest.constant = range_mod(rest.constant, m);
    made = text_sum(&whole);
    gint64 common = m; /* floor((g * y + c) / (g * n)) = floor((y + floor(c / g)) / n) */
    for (guint i = 0; i < rest.n; i++)
        common = range_gcd(common, rest.factor[i]);
    for (guint i = 0; i < rest.n; i++)
        rest.factor[i] /= common;
    rest.constant /= common;
    m /= common;
    const gboolean up = m == 2 && rest.constant == 1; /* x - floor(x / 2) */
    rest.constant = up ? 0 : rest.constant;
    WsExpr *over = ordered(text_sum(&rest));
    if (up)
        made = ws_expr_op(WS_EXPR_ADD, made, ws_expr_ref(over));
    if (over->op == WS_EXPR_INT)
        ws_expr_unref(over);
    else
        made = ws_expr_op(up ? WS_EXPR_SUB : WS_EXPR_ADD, made, op_int(WS_EXPR_DIV, over, m));
    ws_affine_clear(&whole);
    ws_affine_clear(&rest);
    return ordered(made);
}

static int by_text(gconstpointer a, gconstpointer b)
{
    g_autofree char *x = ws_expr_print(*(WsExpr *const *)a),
                    *y = ws_expr_print(*(WsExpr *const *)b);
    return strcmp(x, y);
}

/* Arguments of the same function within it are its own; of numbers the one that counts. */
static void flatten(const WsExpr *e, WsFunc func, GPtrArray *out, WsExpr **number)
{
    for (guint i = 0; i < e->n_args; i++) {
        WsExpr *arg = e->arg[i];
        if (arg->op == WS_EXPR_CALL && arg->func == func)
            flatten(arg, func, out, number);
        else if (arg->op != WS_EXPR_INT)
            g_ptr_array_add(out, ws_expr_ref(arg));
        else if (!*number || (func == WS_FUNC_MIN) == (arg->i < (*number)->i))
            *number = arg;
    }
}

/* NULL: of numbers alone. */
static WsExpr *extreme(const WsExpr *e)
{
    g_autoptr(GPtrArray) arg = g_ptr_array_new();
    WsExpr *number = NULL;
    flatten(e, e->func, arg, &number);
    if (arg->len == 0) /* a name that is worth a number would stand for every such number */
        return NULL;
    if (number)
        g_ptr_array_add(arg, ws_expr_ref(number));
    g_ptr_array_sort(arg, by_text);
    for (guint i = 1; i < arg->len;)
        if (ws_expr_equal(arg->pdata[i], arg->pdata[i - 1]))
            ws_expr_unref(g_ptr_array_remove_index(arg, i));
        else
            i++;
    return arg->len == 1 ? arg->pdata[0] : ws_expr_call(e->func, (WsExpr **)arg->pdata, arg->len);
}

/* d < 0, d == 0 or d != 0; NULL: it does not fit. */
static WsExpr *compared(const WsExpr *e)
{
    const gboolean equal = e->op == WS_EXPR_EQ || e->op == WS_EXPR_NE;
    const gboolean turned = e->op == WS_EXPR_GT || e->op == WS_EXPR_GE;
    const gboolean less = e->op == WS_EXPR_LE || e->op == WS_EXPR_GE;
    WsExpr *a = ws_expr_ref(e->arg[turned]), *b = ws_expr_ref(e->arg[!turned]);
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, a, b);
    WsAffine f;
    gboolean fits = ws_expr_affine(d, &f);
    const gint64 sign = equal && f.n && f.factor[0] < 0 ? -1 : 1;
    for (guint i = 0; i < f.n; i++)
        fits &= !__builtin_mul_overflow(sign, f.factor[i], &f.factor[i]);
    fits &= !__builtin_mul_overflow(sign, f.constant, &f.constant) &&
            !__builtin_sub_overflow(f.constant, less, &f.constant);
    WsExpr *made = fits ? op_int(equal ? e->op : WS_EXPR_LT, text_sum(&f), 0) : NULL;
    ws_affine_clear(&f);
    return made;
}

WsExpr *text_truth(const WsExpr *e)
{
    gint64 x;
    return text_is_truth(e)        ? ws_expr_ref(e)
           : ws_expr_is_int(e, &x) ? ws_expr_int(x != 0)
                                   : op_int(WS_EXPR_NE, ws_expr_ref(e), 0);
}

/* `e` has normal arguments. NULL: it stays as it is. */
static WsExpr *normal_node(const WsExpr *e)
{
    const WsExpr *a = e->arg[0], *b = e->n_args > 1 ? e->arg[1] : NULL;
    gint64 m;
    const gboolean divides = b && ws_expr_is_int(b, &m) && m > 0;
    WsExpr *part;
    if (e->op == WS_EXPR_NEG || e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB)
        return ordered(ws_expr_ref(e));
    if (e->op == WS_EXPR_MUL)
        return ordered(by_text(&a, &b) <= 0
                           ? ws_expr_ref(e)
                           : ws_expr_op(WS_EXPR_MUL, ws_expr_ref(b), ws_expr_ref(a)));
    if (e->op == WS_EXPR_DIV)
        return divides ? floored(a, 0, m) : NULL;
    if (e->op == WS_EXPR_MOD) { /* x - m * floor(x / m) */
        part = divides ? floored(a, 0, m) : NULL;
        return part ? ordered(ws_expr_op(WS_EXPR_SUB, ws_expr_ref(a), op_int(WS_EXPR_MUL, part, m)))
                    : NULL;
    }
    if (e->op == WS_EXPR_NOT)
        return ws_expr_is_int(a, &m) ? ws_expr_int(!m) : NULL;
    if (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR)
        return ws_expr_is_int(a, &m)
                   ? (!m == (e->op == WS_EXPR_OR) ? text_truth(b) : ws_expr_int(m != 0))
                   : NULL;
    if (e->op == WS_EXPR_CALL) {
        if (e->func == WS_FUNC_CDIV)
            return divides ? floored(a, m - 1, m) : NULL;
        return e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX ? extreme(e) : NULL;
    }
    return text_compares(e) ? compared(e) : NULL;
}

WsExpr *text_with(const WsExpr *e, WsExpr **arg)
{
    return e->op == WS_EXPR_CALL    ? ws_expr_call(e->func, arg, e->n_args)
           : e->op == WS_EXPR_INDEX ? ws_expr_index(e->name, e->var, arg, e->n_args)
                                    : ws_expr_op(e->op, arg[0], e->n_args > 1 ? arg[1] : NULL);
}

/* With names by their numbers; `normal`: in normal form, too. */
static WsExpr *rewritten(const WsExpr *e, gboolean normal)
{
    if (e->op == WS_EXPR_INT)
        return ws_expr_int(e->i);              /* without the name of a constant */
    if (e->op == WS_EXPR_VAR && e->var >= 0) { /* agents have names alike */
        g_autofree char *name = g_strdup_printf("v%d", e->var);
        return ws_expr_var(e->var, name);
    }
    if (!e->n_args)
        return ws_expr_ref(e);
    g_autofree WsExpr **arg = g_new0(WsExpr *, e->n_args);
    for (guint i = 0; i < e->n_args; i++)
        arg[i] = rewritten(e->arg[i], normal);
    g_autoptr(WsExpr) with = text_with(e, arg);
    /* the sign of a number is a part of it */
    WsExpr *made = normal && with->n_args && e->op != WS_EXPR_INDEX ? normal_node(with) : NULL;
    return made ? made : g_steal_pointer(&with);
}

WsExpr *text_normal(const WsExpr *e)
{
    return rewritten(e, TRUE);
}

gboolean text_divided(const WsExpr *e)
{
    gint64 m;
    return (e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD ||
            (e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV)) &&
           !(ws_expr_is_int(e->arg[1], &m) && m > 0);
}

gboolean text_divides(const WsExpr *e)
{
    gboolean divides = text_divided(e);
    for (guint i = 0; i < e->n_args && !divides; i++)
        divides = text_divides(e->arg[i]);
    return divides;
}

/* Normal form of `e`, printed. */
static char *normal_text(const WsExpr *e)
{
    g_autoptr(WsExpr) n = text_normal(e);
    return ws_expr_print(n);
}

/* Whatever `e` divides by, and where: behind which conditions. */
static void note_divisors(const WsExpr *e, const char *where, GHashTable *out)
{
    const gboolean select = e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT;
    const gboolean lazy = select || e->op == WS_EXPR_AND || e->op == WS_EXPR_OR;
    if (text_divided(e)) {
        g_autofree char *divisor = normal_text(e->arg[1]);
        g_hash_table_add(out, g_strconcat(where, "/", divisor, NULL));
    }
    for (guint i = 0; i < e->n_args; i++) {
        if (!text_divides(e->arg[i])) /* most parts: normal forms of them all would take seconds */
            continue;
        const gboolean holds = e->op == WS_EXPR_AND || (select && i == 1);
        g_autofree char *condition = lazy && i ? normal_text(e->arg[0]) : NULL;
        g_autofree char *there =
            condition ? g_strconcat(where, holds ? "if " : "unless ", condition, " then ", NULL)
                      : g_strdup(where);
        note_divisors(e->arg[i], there, out);
    }
}

/* A term that cancels may have no value: then the text stays as it is. */
char *text_of(const WsExpr *e)
{
    g_autoptr(WsExpr) n = text_normal(e);
    gboolean all = TRUE;
    if (text_divides(e)) {
        g_autoptr(GHashTable) of_e = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GHashTable) of_n = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        GHashTableIter each;
        gpointer divisor;
        note_divisors(e, "", of_e);
        note_divisors(n, "", of_n);
        g_hash_table_iter_init(&each, of_e);
        while (all && g_hash_table_iter_next(&each, &divisor, NULL))
            all = g_hash_table_contains(of_n, divisor);
    }
    g_autoptr(WsExpr) named = all ? NULL : rewritten(e, FALSE);
    return ws_expr_print(all ? n : named);
}

WsExpr *text_name(const WsExpr *leaf, gpointer program, GError **error)
{
    const gint var = leaf->op == WS_EXPR_NAME ? ws_program_find_var(program, leaf->name) : -1;
    return var >= 0 ? ws_expr_var(var, leaf->name) : NULL;
}

WsExpr *text_read(const char *text, WsExprMap bind, gpointer data)
{
    g_autoptr(WsExpr) e = ws_expr_parse(text, NULL);
    return e ? ws_expr_map(e, bind, data, NULL) : NULL;
}

guint text_nodes(const WsExpr *e)
{
    guint n = 1;
    for (guint i = 0; i < e->n_args; i++)
        n += text_nodes(e->arg[i]);
    return n;
}

guint text_leaves(const WsProgram *p, const WsExpr *e, gboolean deep)
{
    guint all = e->op == WS_EXPR_INDEX                            ? LEAF_ELEMENT
                : e->op == WS_EXPR_NAME || e->op == WS_EXPR_TOTAL ? LEAF_NAME
                                                                  : 0;
    if (e->op == WS_EXPR_VAR && e->var >= (gint)p->n_vars)
        all = LEAF_SYMBOL;
    else if (e->op == WS_EXPR_VAR && e->var >= 0) {
        const WsVar *v = &p->var[e->var];
        all = 1u << v->kind;
        if (deep && v->value && (v->kind == WS_VAR_TILE || v->kind == WS_VAR_RUN))
            all |= text_leaves(p, v->value, TRUE) & ~(guint)LEAF_TILE;
    }
    for (guint i = 0; i < e->n_args; i++)
        all |= text_leaves(p, e->arg[i], deep);
    return all;
}

/* What is too long stays a name: everywhere. */
static WsExpr *definition(const WsExpr *leaf, gpointer data, GError **error)
{
    const WsProgram *p = data;
    const WsVar *v = leaf->op == WS_EXPR_VAR && leaf->var >= 0 && leaf->var < (gint)p->n_vars
                         ? &p->var[leaf->var]
                         : NULL;
    if (!v || (v->kind != WS_VAR_RUN && v->kind != WS_VAR_TILE) || !v->value || v->real)
        return NULL;
    WsExpr *e = ws_expr_map(v->value, definition, data, error);
    if (e && text_nodes(e) > 100)
        g_clear_pointer(&e, ws_expr_unref);
    return e;
}

WsExpr *text_defined(const WsProgram *p, const WsExpr *e)
{
    WsExpr *whole = ws_expr_map(e, definition, (gpointer)p, NULL);
    return whole ? whole : ws_expr_ref(e);
}
