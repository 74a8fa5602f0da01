/* Canonical text (LANGUAGE section 23). A design is turned into a tree of values, each with the way
 * it breaks, and that tree is laid out. */
#include "base/text.h"
#include "model/internal.h"

#include <string.h>

#define LINE_LIMIT 110 /* characters */

/* --- from values to a tree -------------------------------------------------------------------- */

static WsJson *json_of_expr(const WsExpr *e)
{
    gint64 i;
    if (ws_expr_is_int(e, &i))
        return ws_json_int(i);
    return ws_json_take_text(ws_expr_print(e));
}

/* The shortest text that reads back as the same number. */
static WsJson *json_of_real(double r)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    static const char *const formats[] = { "%.15g", "%.16g", "%.17g" };
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_ascii_formatd(text, sizeof text, formats[i], r);
        if (g_ascii_strtod(text, NULL) == r)
            break;
    }
    WsJson *json = g_new0(WsJson, 1);
    *json = (WsJson){ .kind = WS_JSON_REAL, .r = r, .text = g_strdup(text) };
    return json;
}

/* View state is kept as compact JSON text. */
static WsJson *json_of_kept(const char *text)
{
    WsJson *json = ws_json_read(text, NULL);
    return json != NULL ? json : ws_json_map();
}

static WsJson *json_of_items(const WsFieldRow *row, const WsValue *v)
{
    const gboolean lines = row->kind == WS_FIELD_STATEMENTS || row->kind == WS_FIELD_TEXTS;
    if (row->kind == WS_FIELD_STATEMENTS && v->n == 1)
        return ws_json_of_value(row, &v->item[0]);
    WsJson *json = v->kind == WS_VALUE_MAP ? ws_json_map() : ws_json_list();
    json->how = lines && row->field != WS_F_reference && v->n > 1 ? WS_BREAK_ALWAYS : WS_BREAK_AUTO;
    for (guint i = 0; i < v->n; i++)
        ws_json_append(json, v->kind == WS_VALUE_MAP ? v->key[i] : NULL,
                       ws_json_of_value(row, &v->item[i]));
    return json;
}

static WsJson *json_of_children(const WsFieldRow *row, const WsValue *v)
{
    const gboolean rows = row->field != WS_F_suppress && row->field != WS_F_signals;
    WsJson *json = ws_json_list();
    json->how = rows ? WS_BREAK_ALWAYS : WS_BREAK_AUTO;
    for (guint i = 0; i < v->n; i++)
        ws_json_add(json, ws_json_of_node(v->node[i]));
    return json;
}

WsJson *ws_json_of_value(const WsFieldRow *row, const WsValue *v)
{
    switch (v->kind) {
    case WS_VALUE_INT:
        return ws_json_int(v->i);
    case WS_VALUE_REAL:
        return json_of_real(v->r);
    case WS_VALUE_BOOL:
        return ws_json_bool(v->b);
    case WS_VALUE_TEXT:
        return row->kind == WS_FIELD_JSON ? json_of_kept(v->text) : ws_json_text(v->text);
    case WS_VALUE_EXPR:
        return json_of_expr(v->expr);
    case WS_VALUE_REF:
        return ws_json_take_text(ws_ref_print(v->ref));
    case WS_VALUE_STATEMENT:
        return v->typed != NULL ? ws_json_text(v->typed)
                                : ws_json_take_text(ws_statement_print(v->statement));
    case WS_VALUE_LIST:
    case WS_VALUE_MAP:
        return json_of_items(row, v);
    case WS_VALUE_NODE:
        return ws_json_of_node(v->node[0]);
    case WS_VALUE_NODES:
        return json_of_children(row, v);
    case WS_VALUE_NONE:
        break;
    }
    return g_new0(WsJson, 1); /* null */
}

static WsJsonBreak break_of_kind(WsNodeKind kind)
{
    if (kind == WS_NODE_DESIGN)
        return WS_BREAK_ALWAYS;
    return kind == WS_NODE_TILES || kind == WS_NODE_SUPPRESS ? WS_BREAK_AUTO : WS_BREAK_NEVER;
}

WsJson *ws_json_of_node(const WsNode *node)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    WsJson *json = ws_json_map();
    json->how = break_of_kind(node->kind);
    for (guint i = 0; i < n; i++) {
        if (ws_value_is_default(node->kind, &rows[i], &node->value[i]))
            continue;
        /* values, counters and body of a group start lines of their own */
        json->own_lines += json->own_lines > 0 ||
                           (node->kind == WS_NODE_GROUP && node->value[i].kind == WS_VALUE_NODES);
        ws_json_append(json, ws_node_key(node->kind, rows[i].field),
                       ws_json_of_value(&rows[i], &node->value[i]));
    }
    return json;
}

WsJson *ws_json_of_field(const WsNode *node, WsFieldId field)
{
    const WsFieldRow *row = ws_node_row(node->kind, field);
    return ws_node_has(node, field) ? ws_json_of_value(row, ws_node_get(node, field)) : NULL;
}

/* --- layout ----------------------------------------------------------------------------------- */

static void append_key(GString *s, const WsJson *o, guint i)
{
    if (o->kind != WS_JSON_MAP)
        return;
    ws_text_json(s, o->key[i]);
    g_string_append(s, ": ");
}

static void append_flat(GString *s, const WsJson *o)
{
    const gboolean map = o->kind == WS_JSON_MAP;
    if (o->n == 0) { /* a scalar, or an empty container */
        ws_json_append_text(s, o);
        return;
    }
    g_string_append(s, map ? "{ " : "[");
    for (guint i = 0; i < o->n; i++) {
        if (i > 0)
            g_string_append(s, ", ");
        append_key(s, o, i);
        append_flat(s, &o->item[i]);
    }
    g_string_append(s, map ? " }" : "]");
}

static void new_line(GString *s, guint indent)
{
    g_string_append_c(s, '\n');
    for (guint i = 0; i < indent; i++)
        g_string_append_c(s, ' ');
}

static gboolean fits(const GString *s, const char *flat, guint tail)
{
    const char *line = memrchr(s->str, '\n', s->len);
    line = line != NULL ? line + 1 : s->str;
    return g_utf8_strlen(line, -1) + g_utf8_strlen(flat, -1) + tail <= LINE_LIMIT;
}

static void append(GString *s, const WsJson *o, guint indent, guint tail);

static void append_broken(GString *s, const WsJson *o, guint indent)
{
    g_string_append_c(s, o->kind == WS_JSON_MAP ? '{' : '[');
    for (guint i = 0; i < o->n; i++) {
        const gboolean last = i + 1 == o->n;
        new_line(s, indent + 2);
        append_key(s, o, i);
        append(s, &o->item[i], indent + 2, last ? 0 : 1);
        if (!last)
            g_string_append_c(s, ',');
    }
    new_line(s, indent);
    g_string_append_c(s, o->kind == WS_JSON_MAP ? '}' : ']');
}

/* One line, but members that always break do so, and close at the indentation of the line. */
static void append_one_line(GString *s, const WsJson *o, guint indent)
{
    g_string_append(s, o->kind == WS_JSON_MAP ? "{ " : "[");
    for (guint i = 0; i < o->n; i++) {
        const WsJson *item = &o->item[i];
        const gboolean own_line = i >= o->n - o->own_lines;
        if (i > 0)
            g_string_append_c(s, ',');
        if (own_line)
            new_line(s, indent + 2);
        else if (i > 0)
            g_string_append_c(s, ' ');
        append_key(s, o, i);
        if (item->how == WS_BREAK_ALWAYS && item->n > 0)
            append_broken(s, item, own_line ? indent + 2 : indent);
        else
            append_flat(s, item);
    }
    g_string_append(s, o->kind == WS_JSON_MAP ? " }" : "]");
}

/* Appends a value; `tail` characters (a comma) will follow on its line. */
static void append(GString *s, const WsJson *o, guint indent, guint tail)
{
    if (o->n == 0) {
        append_flat(s, o);
    } else if (o->how == WS_BREAK_NEVER) {
        append_one_line(s, o, indent);
    } else if (o->how == WS_BREAK_ALWAYS) {
        append_broken(s, o, indent);
    } else {
        GString *flat = g_string_new(NULL);
        append_flat(flat, o);
        if (fits(s, flat->str, tail))
            g_string_append(s, flat->str);
        else
            append_broken(s, o, indent);
        g_string_free(flat, TRUE);
    }
}

char *ws_node_print(const WsNode *node, guint indent)
{
    GString *s = g_string_new(NULL);
    g_autoptr(WsJson) json = ws_json_of_node(node);
    append(s, json, indent, 0);
    return g_string_free(s, FALSE);
}

char *ws_value_print(const WsFieldRow *row, const WsValue *value)
{
    GString *s = g_string_new(NULL);
    g_autoptr(WsJson) json = ws_json_of_value(row, value);
    append_flat(s, json);
    return g_string_free(s, FALSE);
}

char *ws_value_words(const WsFieldRow *row, const WsValue *value)
{
    g_autoptr(WsJson) json = ws_json_of_value(row, value);
    return json->kind == WS_JSON_TEXT ? g_steal_pointer(&json->text) : ws_json_print(json);
}

char *ws_design_print(const WsDesign *design)
{
    g_autofree char *text = ws_node_print(ws_design_root(design), 0);
    return g_strconcat(text, "\n", NULL);
}
