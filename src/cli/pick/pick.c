#include "cli/pick/pick.h"

#include <gio/gio.h>
#include <string.h>

static void choice_free(gpointer data)
{
    WsPickChoice *c = data;
    g_free(c->design);
    g_free(c->set);
    g_free(c);
}

static WsLookup lookup(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    const gint64 *known = leaf->op == WS_EXPR_NAME ? g_hash_table_lookup(data, leaf->name) : NULL;
    if (known)
        *value = *known;
    return known ? WS_LOOKUP_KNOWN : WS_LOOKUP_UNKNOWN;
}

static gboolean evaluate(const char *text, GHashTable *names, gint64 *value, GError **error)
{
    g_autoptr(WsExpr) e = ws_expr_parse(text, error);
    const WsExprEnv env = { .integer = lookup, .data = names };
    return e && ws_expr_eval(e, &env, value, error);
}

/* let NAME = EXPR. What --size gave already stays. */
static gboolean take_let(char *rest, GHashTable *names, GError **error)
{
    char *equals = strchr(rest, '=');
    if (!equals || equals == rest) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "`let` is NAME = EXPRESSION");
        return FALSE;
    }
    *equals = '\0';
    char *name = g_strstrip(rest);
    gint64 value;
    if (g_hash_table_contains(names, name))
        return TRUE;
    if (!evaluate(equals + 1, names, &value, error))
        return FALSE;
    g_hash_table_insert(names, g_strdup(name), g_memdup2(&value, sizeof value));
    return TRUE;
}

static gboolean take_line(char *line, GPtrArray *choices, GHashTable *names, guint number,
                          GError **error)
{
    WsPickChoice *last = choices->len ? choices->pdata[choices->len - 1] : NULL;
    char *rest = line + strcspn(line, " \t");
    if (*rest)
        *rest++ = '\0';
    rest = g_strstrip(rest);
    gint64 value;
    if (strcmp(line, "let") == 0)
        return take_let(rest, names, error);
    if (strcmp(line, "table") == 0 && *rest)
        return TRUE; /* of ws_pick_tables() */
    if (strcmp(line, "design") == 0) {
        WsPickChoice *c = g_new0(WsPickChoice, 1);
        *c = (WsPickChoice){ .design = g_strdup(rest),
                             .set = g_strdup(""),
                             .applies = TRUE,
                             .cost = G_MAXINT64,
                             .line = number };
        g_ptr_array_add(choices, c);
        return TRUE;
    }
    if (last && strcmp(line, "set") == 0) {
        g_free(last->set);
        last->set = g_strdup(rest);
        return TRUE;
    }
    if (last && strcmp(line, "when") == 0) {
        if (!evaluate(rest, names, &value, error))
            return FALSE;
        last->applies = last->applies && value != 0;
        return TRUE;
    }
    if (last && strcmp(line, "cost") == 0)
        /* a choice that does not apply may divide by a size that is 0 */
        return !last->applies || evaluate(rest, names, &last->cost, error);
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                "expected let, table, design, or set, when, cost after a design; found \"%s\"",
                g_utf8_validate(line, -1, NULL) ? line : "bytes that are no text");
    return FALSE;
}

GPtrArray *ws_pick_judge(const char *text, GHashTable *sizes, GError **error)
{
    g_autoptr(GPtrArray) choices = g_ptr_array_new_with_free_func(choice_free);
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    GHashTableIter it;
    gpointer key, value;
    g_hash_table_iter_init(&it, sizes);
    while (g_hash_table_iter_next(&it, &key, &value))
        g_hash_table_insert(names, g_strdup(key), g_memdup2(value, sizeof(gint64)));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i]; i++) {
        lines[i][strcspn(lines[i], "#")] = '\0';
        char *line = g_strstrip(lines[i]);
        if (*line && !take_line(line, choices, names, i + 1, error)) {
            g_prefix_error(error, "line %u: ", i + 1);
            return NULL;
        }
    }
    return g_steal_pointer(&choices);
}

GPtrArray *ws_pick_tables(const char *text)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i]; i++) {
        lines[i][strcspn(lines[i], "#")] = '\0';
        const char *line = g_strstrip(lines[i]);
        const gsize word = strcspn(line, " \t");
        if (word == strlen("table") && g_str_has_prefix(line, "table") && line[word])
            g_ptr_array_add(list, g_strstrip(g_strdup(line + word)));
    }
    return list;
}

const WsPickChoice *ws_pick_best(const GPtrArray *choices)
{
    const WsPickChoice *best = NULL;
    for (guint i = 0; i < choices->len; i++) {
        const WsPickChoice *c = choices->pdata[i];
        if (c->applies && (!best || c->cost < best->cost))
            best = c;
    }
    return best;
}
