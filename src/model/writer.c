/* Canonical text (LANGUAGE section 23). A design is turned into a tree of containers, each with the
 * way it breaks, and that tree is laid out. */
#include "model/internal.h"
#include "model/text.h"

#include <string.h>

#define LINE_LIMIT 110 /* characters */

typedef enum {
    BREAK_AUTO,  /* one line if it fits, else one member per line */
    BREAK_NEVER, /* one line; containers inside that break always still do */
    BREAK_ALWAYS,
} Break;

typedef struct Out Out;
struct Out {
    char *text; /* atom; NULL for a container */
    gboolean map;
    Break how;
    GPtrArray *keys;  /* char*, maps */
    GPtrArray *items; /* Out* */
    guint n_flat;     /* BREAK_NEVER: members from here on start a line of their own */
};

static void free_out(gpointer data)
{
    Out *o = data;
    g_free(o->text);
    g_clear_pointer(&o->keys, g_ptr_array_unref);
    g_clear_pointer(&o->items, g_ptr_array_unref);
    g_free(o);
}

static Out *atom(char *text)
{
    Out *o = g_new0(Out, 1);
    o->text = text;
    return o;
}

static Out *container(gboolean map, Break how)
{
    Out *o = g_new0(Out, 1);
    o->map = map;
    o->how = how;
    o->n_flat = G_MAXUINT;
    o->items = g_ptr_array_new_with_free_func(free_out);
    if (map)
        o->keys = g_ptr_array_new_with_free_func(g_free);
    return o;
}

static void add(Out *o, const char *key, Out *item)
{
    if (o->map)
        g_ptr_array_add(o->keys, g_strdup(key));
    g_ptr_array_add(o->items, item);
}

/* --- from values to the tree ------------------------------------------------------------------ */

static Out *out_of_node(const WsNode *node);

static Out *out_of_expr(const WsExpr *e)
{
    gint64 i;
    char *text = ws_expr_print(e);
    if (ws_expr_is_int(e, &i))
        return atom(text);
    Out *o = atom(ws_text_quote(text));
    g_free(text);
    return o;
}

static Out *quoted(char *text)
{
    Out *o = atom(ws_text_quote(text));
    g_free(text);
    return o;
}

/* The shortest text that reads back as the same number. */
static Out *out_of_real(double r)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    static const char *const formats[] = { "%.15g", "%.16g", "%.17g" };
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_ascii_formatd(text, sizeof text, formats[i], r);
        if (g_ascii_strtod(text, NULL) == r)
            break;
    }
    return atom(g_strdup(text));
}

static Out *out_of_json(const WsJson *json)
{
    if (json->kind != WS_JSON_LIST && json->kind != WS_JSON_MAP)
        return atom(ws_json_print(json));
    Out *o = container(json->kind == WS_JSON_MAP, BREAK_AUTO);
    for (guint i = 0; i < json->n; i++)
        add(o, o->map ? json->key[i] : NULL, out_of_json(&json->item[i]));
    return o;
}

/* View state is kept as compact JSON text. */
static Out *out_of_kept_json(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsReader r;
    ws_reader_init(&r, findings, FALSE);
    WsJson *json = ws_json_parse(text, strlen(text), &r);
    Out *o = json != NULL ? out_of_json(json) : atom(g_strdup("{}"));
    ws_json_free(json);
    ws_reader_clear(&r);
    return o;
}

static Out *out_of_value(const WsFieldRow *row, const WsValue *v);

static Out *out_of_items(const WsFieldRow *row, const WsValue *v)
{
    const gboolean lines = row->kind == WS_FIELD_STATEMENTS || row->kind == WS_FIELD_TEXTS;
    if (row->kind == WS_FIELD_STATEMENTS && v->n == 1)
        return out_of_value(row, &v->item[0]);
    Out *o =
        container(v->kind == WS_VALUE_MAP,
                  lines && row->field != WS_F_reference && v->n > 1 ? BREAK_ALWAYS : BREAK_AUTO);
    for (guint i = 0; i < v->n; i++)
        add(o, o->map ? v->key[i] : NULL, out_of_value(row, &v->item[i]));
    return o;
}

static Out *out_of_children(const WsFieldRow *row, const WsValue *v)
{
    const gboolean rows = row->field != WS_F_suppress && row->field != WS_F_signals;
    Out *o = container(FALSE, rows ? BREAK_ALWAYS : BREAK_AUTO);
    for (guint i = 0; i < v->n; i++)
        add(o, NULL, out_of_node(v->node[i]));
    return o;
}

static Out *out_of_value(const WsFieldRow *row, const WsValue *v)
{
    switch (v->kind) {
    case WS_VALUE_INT:
        return atom(g_strdup_printf("%" G_GINT64_FORMAT, v->i));
    case WS_VALUE_REAL:
        return out_of_real(v->r);
    case WS_VALUE_BOOL:
        return atom(g_strdup(v->b ? "true" : "false"));
    case WS_VALUE_TEXT:
        return row->kind == WS_FIELD_JSON ? out_of_kept_json(v->text) : quoted(g_strdup(v->text));
    case WS_VALUE_EXPR:
        return out_of_expr(v->expr);
    case WS_VALUE_REF:
        return quoted(ws_ref_print(v->ref));
    case WS_VALUE_STATEMENT:
        return quoted(v->typed != NULL ? g_strdup(v->typed) : ws_statement_print(v->statement));
    case WS_VALUE_LIST:
    case WS_VALUE_MAP:
        return out_of_items(row, v);
    case WS_VALUE_NODE:
        return out_of_node(v->node[0]);
    case WS_VALUE_NODES:
        return out_of_children(row, v);
    case WS_VALUE_NONE:
        break;
    }
    return atom(g_strdup("null"));
}

static Break break_of_kind(WsNodeKind kind)
{
    if (kind == WS_NODE_DESIGN)
        return BREAK_ALWAYS;
    return kind == WS_NODE_TILES || kind == WS_NODE_SUPPRESS ? BREAK_AUTO : BREAK_NEVER;
}

static Out *out_of_node(const WsNode *node)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    Out *o = container(TRUE, break_of_kind(node->kind));
    for (guint i = 0; i < n; i++) {
        if (ws_value_is_default(node->kind, &rows[i], &node->value[i]))
            continue;
        /* values, counters and body of a group start lines of their own */
        if (node->kind == WS_NODE_GROUP && node->value[i].kind == WS_VALUE_NODES &&
            o->n_flat == G_MAXUINT)
            o->n_flat = o->items->len;
        add(o, ws_node_key(node->kind, rows[i].field), out_of_value(&rows[i], &node->value[i]));
    }
    return o;
}

/* --- layout ----------------------------------------------------------------------------------- */

static void append_key(GString *s, const Out *o, guint i)
{
    if (!o->map)
        return;
    g_autofree char *key = ws_text_quote(g_ptr_array_index(o->keys, i));
    g_string_append(s, key);
    g_string_append(s, ": ");
}

static void append_flat(GString *s, const Out *o)
{
    if (o->text != NULL) {
        g_string_append(s, o->text);
        return;
    }
    if (o->items->len == 0) {
        g_string_append(s, o->map ? "{}" : "[]");
        return;
    }
    g_string_append(s, o->map ? "{ " : "[");
    for (guint i = 0; i < o->items->len; i++) {
        if (i > 0)
            g_string_append(s, ", ");
        append_key(s, o, i);
        append_flat(s, g_ptr_array_index(o->items, i));
    }
    g_string_append(s, o->map ? " }" : "]");
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

static void append(GString *s, const Out *o, guint indent, guint tail);

static void append_broken(GString *s, const Out *o, guint indent)
{
    g_string_append_c(s, o->map ? '{' : '[');
    for (guint i = 0; i < o->items->len; i++) {
        const gboolean last = i + 1 == o->items->len;
        new_line(s, indent + 2);
        append_key(s, o, i);
        append(s, g_ptr_array_index(o->items, i), indent + 2, last ? 0 : 1);
        if (!last)
            g_string_append_c(s, ',');
    }
    new_line(s, indent);
    g_string_append_c(s, o->map ? '}' : ']');
}

/* One line, but members that always break do so, and close at the indentation of the line. */
static void append_one_line(GString *s, const Out *o, guint indent)
{
    g_string_append(s, o->map ? "{ " : "[");
    for (guint i = 0; i < o->items->len; i++) {
        const Out *item = g_ptr_array_index(o->items, i);
        const gboolean own_line = i >= o->n_flat;
        if (i > 0)
            g_string_append_c(s, ',');
        if (own_line)
            new_line(s, indent + 2);
        else if (i > 0)
            g_string_append_c(s, ' ');
        append_key(s, o, i);
        if (item->text == NULL && item->how == BREAK_ALWAYS && item->items->len > 0)
            append_broken(s, item, own_line ? indent + 2 : indent);
        else
            append_flat(s, item);
    }
    g_string_append(s, o->map ? " }" : "]");
}

/* Appends a value; `tail` characters (a comma) will follow on its line. */
static void append(GString *s, const Out *o, guint indent, guint tail)
{
    if (o->text != NULL || o->items->len == 0) {
        append_flat(s, o);
    } else if (o->how == BREAK_NEVER) {
        append_one_line(s, o, indent);
    } else if (o->how == BREAK_ALWAYS) {
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
    Out *o = out_of_node(node);
    append(s, o, indent, 0);
    free_out(o);
    return g_string_free(s, FALSE);
}

char *ws_value_print(const WsFieldRow *row, const WsValue *value)
{
    GString *s = g_string_new(NULL);
    Out *o = out_of_value(row, value);
    append_flat(s, o);
    free_out(o);
    return g_string_free(s, FALSE);
}

char *ws_design_print(const WsDesign *design)
{
    g_autofree char *text = ws_node_print(ws_design_root(design), 0);
    return g_strconcat(text, "\n", NULL);
}
