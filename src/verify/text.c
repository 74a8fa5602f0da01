/* Names of equal values: docs/soundness.md section 8.1, TEXT. */
#include "verify/text.h"

#include <stdlib.h>
#include <string.h>

static int by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *joined(GPtrArray *part, gboolean sorted)
{
    if (sorted)
        g_ptr_array_sort(part, by_text);
    g_ptr_array_add(part, NULL);
    return g_strjoinv(", ", (char **)part->pdata);
}

/* factor * e + constant, as a sum of sorted terms; NULL: it overflows. */
static char *sum_text(const WsExpr *e, gint64 factor, gint64 constant)
{
    WsAffine f;
    gboolean fits = TRUE;
    g_autoptr(GPtrArray) part = g_ptr_array_new_with_free_func(g_free);
    if (!ws_expr_affine(e, &f))
        return NULL;
    for (guint i = 0; i < f.n; i++) {
        g_autofree char *term = text_of(f.term[i]);
        gint64 k = 0;
        fits &= !__builtin_mul_overflow(factor, f.factor[i], &k);
        g_ptr_array_add(part, k == 1 ? g_strdup(term)
                                     : g_strdup_printf("%s * %" G_GINT64_FORMAT, term, k));
    }
    fits &= !__builtin_mul_overflow(factor, f.constant, &f.constant) &&
            !__builtin_add_overflow(constant, f.constant, &constant);
    if (constant || !f.n)
        g_ptr_array_add(part, g_strdup_printf("%" G_GINT64_FORMAT, constant));
    ws_affine_clear(&f);
    return fits ? joined(part, TRUE) : NULL;
}

/* a - b < 0, or a - b == 0 */
static char *comparison_text(const WsExpr *e)
{
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    const gboolean equal = e->op == WS_EXPR_EQ || e->op == WS_EXPR_NE;
    const gboolean turned = e->op == WS_EXPR_GT || e->op == WS_EXPR_GE;
    const gboolean less = e->op == WS_EXPR_LE || e->op == WS_EXPR_GE;
    g_autofree char *sum = sum_text(d, turned ? -1 : 1, less ? -1 : 0);
    g_autofree char *other = equal ? sum_text(d, -1, 0) : NULL;
    if (!sum || (equal && !other))
        return NULL;
    return g_strdup_printf("(%s) %s 0", equal && strcmp(other, sum) < 0 ? other : sum,
                           !equal                ? "<"
                           : e->op == WS_EXPR_EQ ? "=="
                                                 : "!=");
}

char *text_of(const WsExpr *e)
{
    char *text = NULL;
    gint64 k;
    if (!e->n_args || e->op == WS_EXPR_INDEX)
        return ws_expr_print(e);
    if (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE)
        text = comparison_text(e);
    else if (e->op == WS_EXPR_NEG || e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB ||
             (e->op == WS_EXPR_MUL &&
              (ws_expr_is_int(e->arg[0], &k) || ws_expr_is_int(e->arg[1], &k))))
        text = sum_text(e, 1, 0);
    if (text)
        return text;
    g_autoptr(GPtrArray) part = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < e->n_args; i++)
        g_ptr_array_add(part, text_of(e->arg[i]));
    const gboolean call = e->op == WS_EXPR_CALL;
    g_autofree char *all = joined(
        part, e->op == WS_EXPR_MUL || (call && (e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX)));
    return g_strdup_printf("%d.%d(%s)", e->op, call ? (int)e->func : 0, all);
}

static WsExpr *bind(const WsExpr *leaf, gpointer data, GError **error)
{
    const gint var = leaf->op == WS_EXPR_NAME ? ws_program_find_var(data, leaf->name) : -1;
    return var >= 0 ? ws_expr_var(var, leaf->name) : NULL;
}

WsExpr *text_read(const WsProgram *p, const char *text)
{
    g_autoptr(WsExpr) e = ws_expr_parse(text, NULL);
    return e ? ws_expr_map(e, bind, (gpointer)p, NULL) : NULL;
}
