#include "edit/entry.h"

#include "base/phrase.h"
#include "edit/draft.h"

#include <gio/gio.h>
#include <string.h>

gboolean ws_entry_lines(const WsFieldRow *row)
{
    return row->kind == WS_FIELD_STATEMENTS || row->kind == WS_FIELD_TEXTS ||
           row->field == WS_F_note;
}

/* --- value to text ------------------------------------------------------------------------------
 */

static void append_item(GString *s, const WsFieldRow *row, const WsValue *v)
{
    g_autofree char *text =
        v->kind == WS_VALUE_LIST || v->kind == WS_VALUE_NONE ? NULL : ws_value_words(row, v);
    g_string_append(s, text != NULL ? text : "");
}

char *ws_entry_text(const WsFieldRow *row, const WsValue *value)
{
    GString *s = g_string_new(NULL);
    const char *between = ws_entry_lines(row) ? "\n" : ", ";
    if (value->kind != WS_VALUE_LIST && value->kind != WS_VALUE_MAP) {
        append_item(s, row, value);
        return g_string_free(s, FALSE);
    }
    for (guint i = 0; i < value->n; i++) {
        if (i > 0)
            g_string_append(s, value->kind == WS_VALUE_MAP && value->item[i].kind == WS_VALUE_LIST
                                   ? "; "
                                   : between);
        if (value->kind == WS_VALUE_MAP)
            g_string_append_printf(s, "%s = ", value->key[i]);
        const WsValue *item = &value->item[i];
        for (guint k = 0; item->kind == WS_VALUE_LIST && k < item->n; k++) {
            g_string_append(s, k > 0 ? ", " : "");
            append_item(s, row, &item->item[k]);
        }
        append_item(s, row, item);
    }
    return g_string_free(s, FALSE);
}

/* --- text to value ------------------------------------------------------------------------------
 */

/* Splits at `separator` outside brackets; strips. */
static GPtrArray *split(const char *text, const char *separators)
{
    GPtrArray *parts = g_ptr_array_new_with_free_func(g_free);
    const char *from = text;
    gint depth = 0;
    for (const char *c = text;; c++) {
        depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
        if (*c != '\0' && (depth > 0 || strchr(separators, *c) == NULL))
            continue;
        char *part = g_strstrip(g_strndup(from, (gsize)(c - from)));
        if (*part != '\0')
            g_ptr_array_add(parts, part);
        else
            g_free(part);
        if (*c == '\0')
            return parts;
        from = c + 1;
    }
}

/* Says as a phrase what is wrong. */
G_GNUC_PRINTF(2, 3) static WsJson *bad_entry(GError **error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *phrase = ws_phrase_v(format, list);
    va_end(list);
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, phrase);
    return NULL;
}

/* An expression is checked here so that what is wrong is said at once and in its own words. */
static WsJson *expr_json(const char *text, GError **error)
{
    g_autoptr(WsExpr) e = ws_expr_parse(text, error);
    return e != NULL ? ws_json_expr(text) : NULL;
}

static WsJson *number_json(const char *text, GError **error)
{
    if (g_ascii_isdigit(*text) || *text == '-') {
        WsJson *number = ws_json_read(text, NULL);
        if (number != NULL)
            return number;
    }
    return bad_entry(error, "\"%s\" is not a number", text);
}

static WsJson *scalar_json(WsFieldKind kind, const char *text, GError **error)
{
    if (kind == WS_FIELD_INT || kind == WS_FIELD_NUMBER || kind == WS_FIELD_NUMBERS ||
        kind == WS_FIELD_MAP_INT || kind == WS_FIELD_MAP_NUMBER)
        return number_json(text, error);
    if (kind == WS_FIELD_BOOL || kind == WS_FIELD_EXPR_OR_BOOL) {
        if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
            return ws_json_bool(*text == 't');
        if (kind == WS_FIELD_EXPR_OR_BOOL)
            return expr_json(text, error);
        return bad_entry(error, "write true or false");
    }
    if (kind == WS_FIELD_EXPR || kind == WS_FIELD_EXPRS || kind == WS_FIELD_MAP_EXPR)
        return expr_json(text, error);
    if (kind == WS_FIELD_REF || kind == WS_FIELD_REFS) {
        g_autoptr(WsRef) ref = ws_ref_parse(text, error);
        return ref != NULL ? ws_json_text(text) : NULL;
    }
    return ws_json_text(text);
}

static WsJson *list_json(WsFieldKind kind, GPtrArray *parts, GError **error)
{
    g_autoptr(WsJson) list = ws_json_list();
    for (guint i = 0; i < parts->len; i++) {
        WsJson *item = scalar_json(kind, parts->pdata[i], error);
        if (item == NULL)
            return NULL;
        ws_json_add(list, item);
    }
    return g_steal_pointer(&list);
}

static WsJson *map_json(const WsFieldRow *row, const char *text, GError **error)
{
    const gboolean lists = row->kind == WS_FIELD_MAP_NAMES;
    g_autoptr(GPtrArray) parts = split(text, lists ? ";\n" : ",;\n");
    g_autoptr(WsJson) map = ws_json_map();
    for (guint i = 0; i < parts->len; i++) {
        char *equal = strchr(parts->pdata[i], '=');
        if (equal == NULL || equal[1] == '=')
            return bad_entry(error, "write name = value, not \"%s\"", (char *)parts->pdata[i]);
        *equal = '\0';
        g_autoptr(GPtrArray) names = lists ? split(equal + 1, ",") : NULL;
        WsJson *value = lists ? list_json(WS_FIELD_NAMES, names, error)
                              : scalar_json(row->kind, g_strstrip(equal + 1), error);
        if (value == NULL)
            return NULL;
        ws_json_put(map, g_strstrip(parts->pdata[i]), value);
    }
    return g_steal_pointer(&map);
}

static gboolean is_word_of(const WsFieldRow *row, const char *text)
{
    g_auto(GStrv) words = g_strsplit(row->words != NULL ? row->words : "", " ", -1);
    return g_strv_contains((const char *const *)words, text);
}

static WsJson *choice_json(const WsFieldRow *row, const char *text, GError **error)
{
    if (is_word_of(row, text))
        return ws_json_text(text);
    if (row->of == WS_FIELD_EXPR)
        return expr_json(text, error);
    g_autoptr(GPtrArray) parts = split(text, ",");
    return list_json(row->of == WS_FIELD_EXPRS ? WS_FIELD_EXPRS : WS_FIELD_NAMES, parts, error);
}

WsJson *ws_entry_json(const WsFieldRow *row, const char *typed, GError **error)
{
    g_autofree char *text = g_strstrip(g_strdup(typed));
    g_autoptr(GPtrArray) parts = NULL;
    if (*text == '\0')
        return NULL;
    switch (row->kind) {
    case WS_FIELD_NAMES:
    case WS_FIELD_EXPRS:
    case WS_FIELD_REFS:
    case WS_FIELD_NUMBERS:
        parts = split(text, ",\n");
        return list_json(row->kind, parts, error);
    case WS_FIELD_TEXTS:
    case WS_FIELD_STATEMENTS:
        parts = split(text, "\n");
        return parts->len == 1 ? ws_json_text(parts->pdata[0])
                               : list_json(WS_FIELD_TEXT, parts, error);
    case WS_FIELD_MAP_INT:
    case WS_FIELD_MAP_NUMBER:
    case WS_FIELD_MAP_EXPR:
    case WS_FIELD_MAP_NAMES:
    case WS_FIELD_MAP_REF:
        return map_json(row, text, error);
    case WS_FIELD_CHOICE:
        return choice_json(row, text, error);
    case WS_FIELD_JSON:
        return ws_json_read(text, error);
    case WS_FIELD_BOOL:
    case WS_FIELD_ENUM:
    case WS_FIELD_EXPR_OR_BOOL:
    case WS_FIELD_EXPR:
    case WS_FIELD_INT:
    case WS_FIELD_NAME:
    case WS_FIELD_NODES:
    case WS_FIELD_NODE:
    case WS_FIELD_NUMBER:
    case WS_FIELD_REF:
    case WS_FIELD_STEPS:
    case WS_FIELD_TEXT:
    default:
        return scalar_json(row->kind, text, error);
    }
}
