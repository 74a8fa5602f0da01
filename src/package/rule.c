#include "package/rule.h"
#include "package/launch_text.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

static void choice_free(gpointer data)
{
    WsShapeChoice *c = data;
    g_free(c->name);
    g_free(c->design);
    g_free(c->set);
    g_ptr_array_unref(c->when);
    if (c->cost)
        ws_expr_unref(c->cost);
    g_free(c);
}

void ws_shape_rule_free(WsShapeRule *rule)
{
    g_ptr_array_unref(rule->let_name);
    g_ptr_array_unref(rule->let);
    g_ptr_array_unref(rule->choice);
    g_free(rule);
}

WsShapeChoice *ws_shape_rule_choice(WsShapeRule *rule, const char *design)
{
    WsShapeChoice *c = g_new0(WsShapeChoice, 1);
    c->design = g_strdup(design);
    c->name = g_strdup(design);
    c->set = g_strdup("");
    c->when = g_ptr_array_new_with_free_func((GDestroyNotify)ws_expr_unref);
    c->lets = rule->let->len;
    g_ptr_array_add(rule->choice, c);
    return c;
}

WsShapeRule *ws_shape_rule_new(void)
{
    WsShapeRule *rule = g_new0(WsShapeRule, 1);
    rule->let_name = g_ptr_array_new_with_free_func(g_free);
    rule->let = g_ptr_array_new_with_free_func((GDestroyNotify)ws_expr_unref);
    rule->choice = g_ptr_array_new_with_free_func(choice_free);
    return rule;
}

static WsLookup lookup(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    const gint64 *known = leaf->op == WS_EXPR_NAME ? g_hash_table_lookup(data, leaf->name) : NULL;
    (void)error;
    if (known)
        *value = *known;
    return known ? WS_LOOKUP_KNOWN : WS_LOOKUP_UNKNOWN;
}

void ws_shape_rule_narrow(WsShapeRule *rule, GHashTable *fixed)
{
    const WsExprEnv env = { .integer = lookup, .data = fixed };
    for (guint i = rule->choice->len; i-- > 0;) {
        const WsShapeChoice *c = rule->choice->pdata[i];
        gboolean never = FALSE;
        for (guint w = 0; w < c->when->len; w++) {
            gint64 value = 1;
            g_autoptr(GError) unknown = NULL;
            never =
                never || (ws_expr_eval(c->when->pdata[w], &env, &value, &unknown) && value == 0);
        }
        if (never)
            g_ptr_array_remove_index(rule->choice, i);
    }
}

static gboolean knows(const WsExpr *e, GHashTable *names, GError **error)
{
    if (e->op == WS_EXPR_NAME && !g_hash_table_contains(names, e->name)) {
        g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_RULE,
                    "the rule needs %s, which is not a size of its designs: say --size %s=VALUE",
                    e->name, e->name);
        return FALSE;
    }
    for (guint i = 0; i < e->n_args; i++)
        if (!knows(e->arg[i], names, error))
            return FALSE;
    return TRUE;
}

static char *text_of(const WsExpr *e, GHashTable *names, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    if (!knows(e, names, error) || !ws_launch_text(out, NULL, e, WS_TEXT_C, error))
        return NULL;
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static gboolean put_let(GString *out, const char *name, const WsExpr *e, GHashTable *names,
                        GError **error)
{
    if (g_hash_table_contains(names, name)) /* a size, or given by --size */
        return TRUE;
    g_autofree char *text = text_of(e, names, error);
    if (!text)
        return FALSE;
    g_string_append_printf(
        out, "    const int64_t v_%s = %s;\n    if (bad)\n        return -1;\n    (void)v_%s;\n",
        name, text, name);
    g_hash_table_add(names, g_strdup(name));
    return TRUE;
}

static gboolean put_choice(GString *out, const WsShapeChoice *c, guint number, GHashTable *names,
                           GError **error)
{
    g_autofree char *cost = c->cost ? text_of(c->cost, names, error) : g_strdup("INT64_MAX");
    if (!cost)
        return FALSE;
    g_string_append_printf(out, "    int applies_%u = 1;\n", number);
    for (guint w = 0; w < c->when->len; w++) {
        g_autofree char *when = text_of(c->when->pdata[w], names, error);
        if (!when)
            return FALSE;
        g_string_append_printf(
            out, "    applies_%u &= (%s) != 0;\n    if (bad)\n        return -1;\n", number, when);
    }
    g_string_append_printf(
        out,
        "    if (applies_%u) {\n        const int64_t cost = %s;\n        if (bad)\n            "
        "return "
        "-1;\n        if (best == BUILDS || cost < lowest) {\n            best = %u;\n            "
        "lowest = cost;\n        }\n    }\n",
        number, cost, number);
    return TRUE;
}

gboolean ws_shape_rule_text(GString *out, const WsShapeRule *rule, const WsProgram *p,
                            GHashTable *fixed, GError **error)
{
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTableIter at;
    gpointer name, value;
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE) {
            g_autofree char *ident = ws_launch_ident(p->var[i].name);
            g_string_append_printf(out, "    const int64_t v_%s = a->%s;\n    (void)v_%s;\n",
                                   p->var[i].name, ident, p->var[i].name);
            g_hash_table_add(names, g_strdup(p->var[i].name));
        }
    g_hash_table_iter_init(&at, fixed);
    while (g_hash_table_iter_next(&at, &name, &value)) {
        if (g_hash_table_contains(names, name)) {
            g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_RULE,
                        "%s is a size of the designs: each call gives it", (char *)name);
            return FALSE;
        }
        g_string_append_printf(
            out, "    const int64_t v_%s = INT64_C(%" G_GINT64_FORMAT ");\n    (void)v_%s;\n",
            (char *)name, *(gint64 *)value, (char *)name);
        g_hash_table_add(names, g_strdup(name));
    }
    guint let = 0;
    for (guint i = 0; i <= rule->choice->len; i++) {
        const WsShapeChoice *c = i < rule->choice->len ? rule->choice->pdata[i] : NULL;
        for (; let < (c ? c->lets : rule->let->len); let++)
            if (!put_let(out, rule->let_name->pdata[let], rule->let->pdata[let], names, error))
                return FALSE;
        if (c && !put_choice(out, c, i, names, error))
            return FALSE;
    }
    return TRUE;
}
