/* Guesses: a value that is only usual is recorded under `studio`, a line for each: what it is a
 * value of, and its text. It is a guess as long as it is that and nobody confirmed it. */
#include "edit/derive.h"

#include <string.h>

#define KEY "guessed"

/* --- what may be one ----------------------------------------------------------------------------
 */

/* The line under which an entry of a map, an item of a list or a field of a node is recorded. */
static char *line_of(const WsNode *node, WsFieldId field, const char *entry, const char *text)
{
    g_autofree char *label = node->kind != WS_NODE_DESIGN ? ws_edit_label(node) : NULL;
    return g_strdup_printf("%s%s%s%s%s\t%s", label != NULL ? label : "", label != NULL ? " " : "",
                           ws_field_name(field), entry != NULL ? " " : "",
                           entry != NULL ? entry : "", text);
}

/* A value: `entry` its key in a map or NULL, `text` as it is written. */
typedef void (*Seen)(const WsNode *node, const WsFieldRow *row, const char *entry, const char *text,
                     gpointer data);

static void walk_field(const WsNode *node, const WsFieldRow *row, Seen seen, gpointer data)
{
    const WsValue *value = ws_node_get(node, row->field);
    const gboolean many = value->kind == WS_VALUE_MAP || value->kind == WS_VALUE_LIST;
    if (value->kind == WS_VALUE_NONE || value->kind == WS_VALUE_NODE ||
        value->kind == WS_VALUE_NODES || row->field == WS_F_studio ||
        (many && node->kind != WS_NODE_DESIGN))
        return;
    for (guint i = 0; i < (many ? value->n : 1); i++) {
        const WsValue *one = many ? &value->item[i] : value;
        g_autofree char *text = ws_value_words(row, one);
        seen(node, row, value->kind == WS_VALUE_MAP ? value->key[i] : NULL, text, data);
    }
}

static void walk(const WsNode *node, Seen seen, gpointer data)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        walk_field(node, &rows[i], seen, data);
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            walk(ws_node_child(node, rows[i].field, c), seen, data);
    }
}

/* --- what is one --------------------------------------------------------------------------------
 */

/* The lines recorded; NULL: none. Free with g_strfreev. */
static char **recorded(const WsDesign *design)
{
    g_autoptr(WsJson) studio = ws_json_of_field(ws_design_root(design), WS_F_studio);
    const char *text = studio != NULL ? ws_json_member_text(studio, KEY) : NULL;
    return text != NULL && *text != '\0' ? g_strsplit(text, "\n", -1) : NULL;
}

static gboolean holds(char **lines, const WsNode *node, WsFieldId field, const char *entry,
                      const char *text)
{
    g_autofree char *line = lines != NULL ? line_of(node, field, entry, text) : NULL;
    return line != NULL && g_strv_contains((const char *const *)lines, line);
}

static gboolean record(WsDraft *d, const char *lines)
{
    const WsNode *root = ws_design_root(d->design);
    WsJson *json = ws_json_of_field(root, WS_F_studio);
    json = ws_json_with(json != NULL ? json : ws_json_map(), KEY, ws_json_text(lines));
    g_autofree char *all = *lines == '\0' ? ws_json_print(json) : NULL;
    if (g_strcmp0(all, "{\"" KEY "\":\"\"}") == 0)
        g_clear_pointer(&json, ws_json_free);
    return ws_draft_set(d, root->identity, WS_F_studio, json);
}

static gboolean add(WsDraft *d, const WsNode *node, WsFieldId field, const char *entry,
                    const char *text)
{
    g_auto(GStrv) lines = recorded(d->design);
    if (holds(lines, node, field, entry, text))
        return TRUE;
    g_autofree char *line = line_of(node, field, entry, text);
    g_autofree char *before = lines != NULL ? g_strjoinv("\n", lines) : NULL;
    g_autofree char *now = before != NULL ? g_strconcat(before, "\n", line, NULL) : g_strdup(line);
    return record(d, now);
}

gboolean ws_guess_entry(WsDraft *d, WsFieldId map, const char *name, gint64 value)
{
    const WsNode *root = ws_design_root(d->design);
    const WsValue *there = ws_node_get(root, map);
    for (guint i = 0; there->kind == WS_VALUE_MAP && i < there->n; i++)
        if (strcmp(there->key[i], name) == 0)
            return TRUE;
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, value);
    WsJson *json = ws_json_of_field(root, map);
    json = ws_json_with(json != NULL ? json : ws_json_map(), name, ws_json_int(value));
    return ws_draft_set(d, root->identity, map, json) &&
           add(d, ws_design_root(d->design), map, name, text);
}

gboolean ws_guess_is_entry(const WsDesign *design, WsFieldId map, const char *name)
{
    const WsNode *root = ws_design_root(design);
    const WsValue *there = ws_node_get(root, map);
    g_auto(GStrv) lines = recorded(design);
    for (guint i = 0; there->kind == WS_VALUE_MAP && i < there->n; i++) {
        g_autofree char *text = ws_value_words(ws_node_row(root->kind, map), &there->item[i]);
        if (strcmp(there->key[i], name) == 0)
            return holds(lines, root, map, name, text);
    }
    return FALSE;
}

gboolean ws_guess_item(WsDraft *d, WsFieldId list, const char *text)
{
    const WsNode *root = ws_design_root(d->design);
    const WsValue *there = ws_node_get(root, list);
    for (guint i = 0; there->kind == WS_VALUE_LIST && i < there->n; i++) {
        g_autofree char *one = ws_value_words(ws_node_row(root->kind, list), &there->item[i]);
        if (strcmp(one, text) == 0)
            return TRUE;
    }
    WsJson *json = ws_json_of_field(root, list);
    json = json != NULL ? json : ws_json_list();
    ws_json_add(json, ws_json_text(text));
    return ws_draft_set(d, root->identity, list, json) &&
           add(d, ws_design_root(d->design), list, NULL, text);
}

gboolean ws_guess_mark(WsDraft *d, const WsNode *node, WsFieldId field)
{
    g_autofree char *text =
        ws_value_words(ws_node_row(node->kind, field), ws_node_get(node, field));
    return add(d, node, field, NULL, text);
}

gboolean ws_guess_copy(WsDraft *d, guint64 from, guint64 to)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(ws_draft_node(d, from)->kind, &n);
    for (guint i = 0; i < n; i++) {
        g_autofree char *guess = ws_edit_guessed(d->design, ws_draft_node(d, from), rows[i].field);
        if (guess != NULL && !ws_guess_mark(d, ws_draft_node(d, to), rows[i].field))
            return FALSE;
    }
    return TRUE;
}

/* --- what stays one -----------------------------------------------------------------------------
 */

typedef struct {
    const WsDesign *before;
    char **was, **now;   /* lines recorded there and here */
    guint64 but;         /* confirmed: that field of that node … */
    WsFieldId but_field; /* … or WS_F_COUNT */
    GString *kept;
    guint n_kept;
    gboolean fresh; /* some line is carried */
} Settle;

/* Under its own name; under the name that it had it is carried. */
static void settle_one(const WsNode *node, const WsFieldRow *row, const char *entry,
                       const char *text, gpointer data)
{
    Settle *s = data;
    const WsNode *old = s->before != NULL ? ws_design_by_identity(s->before, node->identity) : NULL;
    g_autofree char *label = ws_edit_label(node);
    g_autofree char *former =
        old != NULL && old->kind == node->kind ? ws_edit_label(old) : g_strdup(label);
    const gboolean here = holds(s->now, node, row->field, entry, text);
    const gboolean carried =
        !here && strcmp(label, former) != 0 && holds(s->was, old, row->field, entry, text);
    if ((s->but == node->identity && s->but_field == row->field) || (!carried && !here))
        return;
    s->fresh |= carried;
    s->n_kept++;
    g_autofree char *line = line_of(node, row->field, entry, text);
    g_string_append_printf(s->kept, "%s%s", s->kept->len > 0 ? "\n" : "", line);
}

static gboolean settle(WsDraft *d, const WsDesign *before, guint64 but, WsFieldId but_field)
{
    g_auto(GStrv) was = before != NULL ? recorded(before) : NULL;
    g_auto(GStrv) now = recorded(d->design);
    g_autoptr(GString) kept = g_string_new(NULL);
    Settle s = { before, was, now, but, but_field, kept, 0, FALSE };
    if (now == NULL)
        return TRUE;
    walk(ws_design_root(d->design), settle_one, &s);
    return (!s.fresh && s.n_kept == g_strv_length(now)) || record(d, kept->str);
}

gboolean ws_guess_settle(WsDraft *d, const WsDesign *before)
{
    return settle(d, before, 0, WS_F_COUNT);
}

gboolean ws_edit_settle(WsDraft *d)
{
    return settle(d, d->former->len > 0 ? d->former->pdata[0] : NULL, 0, WS_F_COUNT);
}

gboolean ws_edit_confirm(WsDraft *d, guint64 node, WsFieldId field)
{
    return settle(d, NULL, node, field);
}

/* --- saying so ----------------------------------------------------------------------------------
 */

typedef struct {
    char **now;
    const WsDesign *before; /* those of it are left out … */
    char **was;
    gboolean placed; /* says of what */
    const WsNode *last;
    WsFieldId last_field;
    GString *s;
} Say;

static void say_one(const WsNode *node, const WsFieldRow *row, const char *entry, const char *text,
                    gpointer data)
{
    Say *say = data;
    const gboolean root = node->kind == WS_NODE_DESIGN;
    const WsNode *old = say->was == NULL ? NULL
                        : root           ? ws_design_root(say->before)
                                         : ws_design_by_identity(say->before, node->identity);
    if (!holds(say->now, node, row->field, entry, text) ||
        (old != NULL && holds(say->was, old, row->field, entry, text)))
        return;
    const gboolean same = node == say->last && row->field == say->last_field;
    if (say->s->len > 0)
        g_string_append(say->s, same || !say->placed ? ", " : "; ");
    if (say->placed && !same && !root)
        g_string_append_printf(say->s, "%s ", ws_node_name(node));
    if (say->placed && !same)
        g_string_append_printf(say->s, "%s ", ws_node_key(node->kind, row->field));
    g_string_append_printf(say->s, "%s%s%s", entry != NULL ? entry : "", entry != NULL ? " = " : "",
                           text);
    say->last = node;
    say->last_field = row->field;
}

static char *said(GString *s)
{
    return g_string_free(s, s->len == 0);
}

char *ws_edit_guessed(const WsDesign *design, const WsNode *node, WsFieldId field)
{
    const WsFieldRow *row = ws_node_row(node->kind, field);
    g_auto(GStrv) now = recorded(design);
    Say say = { .now = now, .s = g_string_new(NULL) };
    if (row != NULL && now != NULL)
        walk_field(node, row, say_one, &say);
    return said(say.s);
}

char *ws_edit_guesses(const WsDesign *before, const WsDesign *after)
{
    g_auto(GStrv) now = recorded(after), was = recorded(before);
    Say say = { .now = now, .before = before, .was = was, .placed = TRUE, .s = g_string_new(NULL) };
    if (now != NULL)
        walk(ws_design_root(after), say_one, &say);
    return said(say.s);
}
