/* Fuzzes the expression language: whatever parses prints, prints back to itself, and folds, maps,
 * evaluates and normalises without a fault; folding never changes a value. */
#include "expr/expr.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Values that depend on the name alone; names that begin with u are unknown. */
static WsLookup integer(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    if (!leaf->name || leaf->name[0] == 'u')
        return WS_LOOKUP_UNKNOWN;
    *value = (gint64)g_str_hash(leaf->name) % 7 - 2;
    return WS_LOOKUP_KNOWN;
}

static WsLookup element(gpointer data, const WsExpr *leaf, const gint64 *at, gint64 *value,
                        GError **error)
{
    *value = leaf->n_args ? (gint64)((guint64)at[0] * 3) : 0;
    return WS_LOOKUP_KNOWN;
}

static const WsExprEnv env = { integer, NULL, element, NULL };

static void check(gboolean holds, const char *what, const char *text)
{
    if (!holds)
        g_error("%s: %s", what, text);
}

static void round_trip(const WsExpr *e)
{
    g_autofree char *text = ws_expr_print(e);
    g_autoptr(GError) error = NULL;
    g_autoptr(WsExpr) again = ws_expr_parse(text, &error);
    check(again && ws_expr_equal(e, again), "round trip", text);
}

static void values(const WsExpr *e)
{
    gint64 direct = 0, folded = 0;
    double real = 0;
    g_autofree char *text = ws_expr_print(e);
    g_autoptr(GError) error = NULL;
    gboolean has = ws_expr_eval(e, &env, &direct, &error);
    check(has == (error == NULL), "error and result", text);
    ws_expr_eval_real(e, &env, &real, NULL);
    g_autoptr(WsExpr) f = ws_expr_fold(e, &env, NULL);
    if (has) {
        check(f && ws_expr_eval(f, &env, &folded, NULL) && folded == direct, "fold", text);
        g_autoptr(WsExpr) blind = ws_expr_fold(e, NULL, NULL);
        check(!blind || (ws_expr_eval(blind, &env, &folded, NULL) && folded == direct), "fold",
              text);
    }
    WsAffine a;
    ws_expr_affine(e, &a);
    ws_affine_clear(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_autoptr(GError) error = NULL;
    g_autoptr(WsExpr) e = ws_expr_parse(text, &error);
    check((e == NULL) == (error != NULL), "error and result", text);
    if (e) {
        round_trip(e);
        values(e);
    }
    g_autoptr(WsRef) ref = ws_ref_parse(text, NULL);
    if (ref) {
        g_autofree char *print = ws_ref_print(ref);
        g_autoptr(WsRef) again = ws_ref_parse(print, NULL);
        g_autofree char *twice = again ? ws_ref_print(again) : NULL;
        check(g_strcmp0(print, twice) == 0, "reference", print);
    }
    g_autoptr(WsStatement) s = ws_statement_parse(text, NULL);
    if (s) {
        g_autofree char *print = ws_statement_print(s);
        g_autoptr(WsStatement) again = ws_statement_parse(print, NULL);
        g_autofree char *twice = again ? ws_statement_print(again) : NULL;
        check(g_strcmp0(print, twice) == 0, "statement", print);
    }
    char *name = NULL;
    GPtrArray *args = NULL;
    if (ws_form_parse(text, &name, &args, NULL)) {
        g_free(name);
        g_ptr_array_unref(args);
    }
    return 0;
}
