/* Statements of a compute step, once for each part of what they assign. A reduction of a tile in
 * parts is that of its parts; sums are then added in another order, as everywhere where a language
 * reduces. */
#include "program/split/split.h"

#include <string.h>

static void see_scan(const WsExpr *e, gpointer data)
{
    *(gboolean *)data |= e->op == WS_EXPR_CALL && e->func == WS_FUNC_CUMSUM;
}

static gboolean reduces(const WsExpr *e)
{
    return e->op == WS_EXPR_CALL && (e->func == WS_FUNC_ROWMAX || e->func == WS_FUNC_ROWSUM ||
                                     e->func == WS_FUNC_LANEMAX || e->func == WS_FUNC_LANESUM);
}

/* Cuts of what stands in `e` outside of reductions, NULL: none. */
static const WsCuts *cuts_of(const WsSplit *s, const WsExpr *e)
{
    const WsCuts *is = e->op == WS_EXPR_NAME ? ws_split_of_name(s, e->name) : NULL;
    for (guint i = 0; !is && !reduces(e) && i < e->n_args; i++)
        is = cuts_of(s, e->arg[i]);
    return is;
}

typedef struct {
    const WsSplit *s;
    const char *name;
    gboolean split, column, itself;
} Seen;

static void see(const WsExpr *e, gpointer data)
{
    Seen *seen = data;
    if (e->op != WS_EXPR_NAME)
        return;
    seen->split = seen->split || ws_split_of_name(seen->s, e->name);
    seen->column = seen->column || !strcmp(e->name, "col");
    seen->itself = seen->itself || !strcmp(e->name, seen->name);
}

static Seen looked_at(const WsSplit *s, const WsExpr *e, const char *name)
{
    Seen seen = { s, name, FALSE, FALSE, FALSE };
    ws_expr_visit(e, see, &seen);
    return seen;
}

static void put(const WsSplit *s, const WsExpr *e, const WsCuts *cuts, guint part, GString *out);

static void infix(const WsSplit *s, const WsExpr *e, const WsCuts *cuts, guint part, GString *out)
{
    static const char *const sign[] = {
        [WS_EXPR_ADD] = "+", [WS_EXPR_SUB] = "-", [WS_EXPR_MUL] = "*", [WS_EXPR_DIV] = "/",
        [WS_EXPR_MOD] = "%", [WS_EXPR_LT] = "<",  [WS_EXPR_LE] = "<=", [WS_EXPR_GT] = ">",
        [WS_EXPR_GE] = ">=", [WS_EXPR_EQ] = "==", [WS_EXPR_NE] = "!=", [WS_EXPR_AND] = "&&",
        [WS_EXPR_OR] = "||",
    };
    g_string_append_c(out, '(');
    put(s, e->arg[0], cuts, part, out);
    g_string_append_printf(out, " %s ", sign[e->op]);
    put(s, e->arg[1], cuts, part, out);
    g_string_append_c(out, ')');
}

static void call(const WsSplit *s, const WsExpr *e, const WsCuts *cuts, guint part, GString *out)
{
    g_string_append_printf(out, "%s(", ws_func_text(e->func));
    for (guint i = 0; i < e->n_args; i++) {
        g_string_append(out, i ? ", " : "");
        put(s, e->arg[i], cuts, part, out);
    }
    g_string_append_c(out, ')');
}

static void reduction(const WsSplit *s, const WsExpr *e, const WsCuts *cuts, GString *out)
{
    const gboolean sum = e->func == WS_FUNC_ROWSUM || e->func == WS_FUNC_LANESUM;
    g_string_append(out, sum ? "(" : "max(");
    for (guint i = 0; i < cuts->n; i++) {
        g_string_append(out, !i ? "" : sum ? " + " : ", ");
        call(s, e, cuts, i, out);
    }
    g_string_append_c(out, ')');
}

/* `cuts` NULL: of no part. */
static void put(const WsSplit *s, const WsExpr *e, const WsCuts *cuts, guint part, GString *out)
{
    if (reduces(e)) {
        const WsCuts *inner = cuts_of(s, e->arg[0]);
        if (inner)
            reduction(s, e, inner, out);
        else
            call(s, e, NULL, 0, out);
        return;
    }
    g_autofree char *text = e->n_args ? NULL : ws_expr_print(e);
    if (cuts && e->op == WS_EXPR_NAME && ws_split_of_name(s, e->name))
        g_string_append_printf(out, "%s_%u", e->name, part);
    else if (cuts && cuts->at[part] && e->op == WS_EXPR_NAME && !strcmp(e->name, "col"))
        g_string_append_printf(out, "(col + %u)", cuts->at[part]);
    else if (text)
        g_string_append(out, text);
    else if (e->op == WS_EXPR_CALL)
        call(s, e, cuts, part, out);
    else if (e->op == WS_EXPR_NEG || e->op == WS_EXPR_NOT) {
        g_string_append(out, e->op == WS_EXPR_NEG ? "(-" : "(!");
        put(s, e->arg[0], cuts, part, out);
        g_string_append_c(out, ')');
    } else if (e->op == WS_EXPR_INDEX) {
        g_autofree char *whole = ws_expr_print(e);
        g_string_append(out, whole);
    } else {
        infix(s, e, cuts, part, out);
    }
}

static void add(WsJson *list, const WsSplit *s, const WsStatement *is, const WsCuts *cuts,
                guint part, gboolean named)
{
    GString *text = g_string_new(is->name);
    if (named)
        g_string_append_printf(text, "_%u", part);
    g_string_append(text, " = ");
    put(s, is->value, cuts, part, text);
    ws_json_add(list, ws_json_take_text(g_string_free(text, FALSE)));
}

/* The columns that a reduction sees are changed by parts: none may see those of another one. */
static gboolean reduces_itself(const WsSplit *s, const WsExpr *e, const char *name)
{
    if (reduces(e))
        return looked_at(s, e, name).itself;
    for (guint i = 0; i < e->n_args; i++) {
        if (reduces_itself(s, e->arg[i], name))
            return TRUE;
    }
    return FALSE;
}

static gboolean statement(WsSplit *s, const WsStatement *is, WsJson *list)
{
    const Seen seen = looked_at(s, is->value, is->name);
    const WsCuts *of_value = ws_split_of_name(s, is->name), *cuts = cuts_of(s, is->value);
    if (!of_value && !cuts && seen.column && g_hash_table_size(s->temporary))
        return ws_split_give_up(s, "column numbers without a tile");
    if (!of_value && cuts)
        g_hash_table_insert(s->temporary, g_strdup(is->name), (gpointer)cuts);
    cuts = of_value ? of_value : cuts;
    if (!cuts) {
        add(list, s, is, NULL, 0, FALSE);
        return TRUE;
    }
    gboolean scan = FALSE;
    ws_expr_visit(is->value, see_scan, &scan);
    if (scan)
        return ws_split_give_up(s, "a running sum of columns in parts");
    if (reduces_itself(s, is->value, is->name))
        return ws_split_give_up(s, "%s reduced where it is assigned", is->name);
    for (guint i = 0; i < cuts->n; i++)
        add(list, s, is, cuts, i, TRUE);
    return TRUE;
}

WsJson *ws_split_statements(WsSplit *s, const WsValue *all)
{
    WsJson *list = ws_json_list();
    gboolean good = TRUE;
    s->temporary = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; good && i < all->n; i++)
        good = statement(s, all->item[i].statement, list);
    g_clear_pointer(&s->temporary, g_hash_table_unref);
    if (!good)
        g_clear_pointer(&list, ws_json_free);
    return list;
}
