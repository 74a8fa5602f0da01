#include "cli/package/parse.h"
#include "expr/expr.h"

#include <string.h>

static gboolean take_let(WsShapeRule *rule, char *rest, GError **error)
{
    char *equals = strchr(rest, '=');
    if (!equals || equals == rest) {
        g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_RULE, "`let` is NAME = EXPRESSION");
        return FALSE;
    }
    *equals = 0;
    WsExpr *e = ws_expr_parse(equals + 1, error);
    if (!e)
        return FALSE;
    g_ptr_array_add(rule->let_name, g_strdup(g_strstrip(rest)));
    g_ptr_array_add(rule->let, e);
    return TRUE;
}

static gboolean take_line(WsShapeRule *rule, char *line, GError **error)
{
    WsShapeChoice *last = rule->choice->len ? rule->choice->pdata[rule->choice->len - 1] : NULL;
    char *rest = line + strcspn(line, " \t");
    if (*rest)
        *rest++ = 0;
    rest = g_strstrip(rest);
    if (strcmp(line, "let") == 0)
        return take_let(rule, rest, error);
    if (strcmp(line, "table") == 0 && *rest)
        return TRUE; /* of `pick --regret` */
    if (strcmp(line, "design") == 0) {
        ws_shape_rule_choice(rule, rest);
        return TRUE;
    }
    if (last && strcmp(line, "set") == 0) {
        g_free(last->set);
        last->set = g_strdup(rest);
        g_free(last->name);
        last->name = g_strdup_printf("%s %s", last->design, rest);
        return TRUE;
    }
    const gboolean when = strcmp(line, "when") == 0, cost = strcmp(line, "cost") == 0;
    if (last && (when || cost)) {
        WsExpr *e = last->lets == rule->let->len ? ws_expr_parse(rest, error) : NULL;
        if (!e && last->lets != rule->let->len)
            g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_RULE,
                        "`let` between the lines of a design: not supported by the package");
        if (!e)
            return FALSE;
        if (when)
            g_ptr_array_add(last->when, e);
        else if (last->cost)
            ws_expr_unref(last->cost);
        if (cost)
            last->cost = e;
        return TRUE;
    }
    g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_RULE,
                "expected let, table, design, or set, when, cost after a design");
    return FALSE;
}

WsShapeRule *ws_shape_rule_parse(const char *text, GError **error)
{
    g_autoptr(WsShapeRule) rule = ws_shape_rule_new();
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i]; i++) {
        lines[i][strcspn(lines[i], "#")] = 0;
        char *line = g_strstrip(lines[i]);
        if (*line && !take_line(rule, line, error)) {
            g_prefix_error(error, "line %u: ", i + 1);
            return NULL;
        }
    }
    return g_steal_pointer(&rule);
}
