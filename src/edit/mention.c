/* Names and where they are mentioned. A name is given once in its scope (nothing shadows anything),
 * so renaming is replacing the word wherever the field tables say that names may stand. */
#include "edit/derive.h"
#include "edit/rotate.h"

#include <string.h>

/* Where words of a field are names that refer to something. */
typedef enum { REFERS_NOT, REFERS, REFERS_ALL /* keys, too */ } Refers;

static Refers refers(WsNodeKind owner, const WsFieldRow *row)
{
    switch (row->kind) {
    case WS_FIELD_EXPR:
    case WS_FIELD_EXPR_OR_BOOL:
    case WS_FIELD_EXPRS:
    case WS_FIELD_REF:
    case WS_FIELD_REFS:
    case WS_FIELD_STATEMENTS:
    case WS_FIELD_NAMES:
    case WS_FIELD_MAP_EXPR:
    case WS_FIELD_MAP_REF:
        return REFERS;
    case WS_FIELD_CHOICE:
        return row->of == WS_FIELD_EXPR || row->of == WS_FIELD_EXPRS ? REFERS : REFERS_NOT;
    case WS_FIELD_MAP_NAMES:
        return REFERS_ALL;
    case WS_FIELD_NAME:
        return row->field == ws_node_name_field(owner) ? REFERS_NOT : REFERS;
    case WS_FIELD_TEXT:
        return row->field == WS_F_order || row->field == WS_F_data ? REFERS : REFERS_NOT;
    case WS_FIELD_BOOL:
    case WS_FIELD_ENUM:
    case WS_FIELD_INT:
    case WS_FIELD_JSON:
    case WS_FIELD_MAP_INT:
    case WS_FIELD_MAP_NUMBER:
    case WS_FIELD_NODES:
    case WS_FIELD_NODE:
    case WS_FIELD_NUMBERS:
    case WS_FIELD_NUMBER:
    case WS_FIELD_STEPS:
    case WS_FIELD_TEXTS:
    default:
        return REFERS_NOT;
    }
}

static gboolean is_word(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

typedef struct {
    const char *old, *name;
} Renaming;

/* The text with the word replaced, NULL if it does not occur; words after a dot are views, not
 * names. */
static WsJson *replace_words(const char *text, gpointer data)
{
    const Renaming *r = data;
    const gsize length = strlen(r->old);
    g_autoptr(GString) out = g_string_new(NULL);
    gboolean any = FALSE;
    for (const char *c = text; *c != '\0';) {
        const char *end = c;
        while (is_word(*end))
            end++;
        if (end == c) {
            g_string_append_c(out, *c++);
            continue;
        }
        const gboolean hit = (gsize)(end - c) == length && strncmp(c, r->old, length) == 0 &&
                             !(c > text && c[-1] == '.');
        any |= hit;
        g_string_append_len(out, hit ? r->name : c, hit ? (gssize)strlen(r->name) : end - c);
        c = end;
    }
    return any ? ws_json_text(out->str) : NULL;
}

/* Takes `now`, the value after replacing. */
typedef void (*Seen)(const WsNode *node, const WsFieldRow *row, WsJson *now, gpointer data);

/* Calls `seen` for each field below `node` that mentions `old`. */
static void walk(const WsNode *node, const char *old, const char *name, gboolean reference,
                 Seen seen, gpointer data)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        const WsValue *value = ws_node_get(node, rows[i].field);
        const Refers how = refers(node->kind, &rows[i]);
        const gboolean word = rows[i].kind == WS_FIELD_CHOICE && value->kind == WS_VALUE_TEXT;
        if (value->kind != WS_VALUE_NONE && how != REFERS_NOT && !word &&
            (reference || rows[i].field != WS_F_reference)) {
            WsJson *now = ws_json_of_value(&rows[i], value);
            if (ws_json_replace(now, how == REFERS_ALL, replace_words, &(Renaming){ old, name }))
                seen(node, &rows[i], now, data);
            else
                ws_json_free(now);
        }
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            walk(ws_node_child(node, rows[i].field, c), old, name, reference, seen, data);
    }
}

typedef struct {
    guint64 node;
    WsFieldId field;
    WsJson *now;
} Rewrite;

static void clear_rewrite(gpointer data)
{
    ws_json_free(((Rewrite *)data)->now);
}

static void note_rewrite(const WsNode *node, const WsFieldRow *row, WsJson *now, gpointer data)
{
    const Rewrite r = { node->identity, row->field, now };
    g_array_append_val((GArray *)data, r);
}

static gboolean rewrite_mentions(WsDraft *d, const WsNode *below, const char *old, const char *name,
                                 gboolean reference)
{
    g_autoptr(GArray) rewrites = g_array_new(FALSE, FALSE, sizeof(Rewrite));
    g_array_set_clear_func(rewrites, clear_rewrite);
    walk(below, old, name, reference, note_rewrite, rewrites);
    for (guint i = 0; i < rewrites->len; i++) {
        Rewrite *r = &g_array_index(rewrites, Rewrite, i);
        if (!ws_draft_set(d, r->node, r->field, g_steal_pointer(&r->now)))
            return FALSE;
    }
    return TRUE;
}

gboolean ws_edit_put(WsDraft *d, guint64 below, const char *name, const char *text)
{
    const WsNode *node = ws_draft_node(d, below);
    return node != NULL && rewrite_mentions(d, node, name, text, FALSE);
}

/* `scope`: the group whose own names it is among, or NULL. */
static gboolean may_be_called(WsDraft *d, const char *name, const WsNode *scope, gboolean group)
{
    if (!ws_name_is_identifier(name))
        return ws_draft_refuse(d, "a name is a letter or _ and then letters, digits and _");
    if (!group && ws_name_is_reserved(name))
        return ws_draft_refuse(d, "\"%s\" means something in the language; choose another name",
                               name);
    g_autofree char *fresh = ws_edit_fresh(d->design, name);
    if (ws_edit_taken(d->design, scope, name))
        return ws_draft_refuse(d, "\"%s\" is taken; %s is free", name, fresh);
    return TRUE;
}

gboolean ws_edit_rename(WsDraft *d, guint64 node, const char *name)
{
    const WsNode *n = ws_draft_node(d, node);
    if (n == NULL)
        return ws_draft_refuse(d, "it is no longer part of the design");
    const gboolean step = ws_node_kind_is_step(n->kind);
    if (n->kind == WS_NODE_DESIGN) {
        ws_draft_name(d, "Rename %s", "the design");
        return ws_draft_set(d, node, WS_F_name, ws_json_text(name));
    }
    const WsFieldId field = ws_node_name_field(n->kind);
    if (field == WS_F_COUNT)
        return ws_draft_refuse(d, "it has no name of its own");
    g_autofree char *old = g_strdup(ws_node_text(n, field));
    if (g_strcmp0(old, name) == 0)
        return TRUE;
    const gboolean local = step || n->kind == WS_NODE_VALUE || n->kind == WS_NODE_COUNTER;
    if (!may_be_called(d, name, local ? ws_edit_group(d->design, n) : NULL,
                       n->kind == WS_NODE_GROUP))
        return FALSE;
    ws_draft_name(d, "Rename %s", old);
    ws_draft_touch(d, node);
    const WsNode *below = local ? ws_edit_group(d->design, n) : ws_design_root(d->design);
    const gboolean reference = n->kind == WS_NODE_TENSOR;
    const guint64 scope = below->identity;
    g_autoptr(WsDesign) before = ws_design_ref(d->design);
    if (!ws_draft_set(d, node, field, ws_json_text(name)) || !ws_guess_settle(d, before))
        return FALSE;
    if (step && !ws_step_gives_name(n->kind))
        return TRUE;
    return rewrite_mentions(d, ws_draft_node(d, scope), old, name, reference);
}

static void note_mention(const WsNode *node, const WsFieldRow *row, WsJson *now, gpointer data)
{
    GArray *found = data;
    ws_json_free(now);
    if (found->len == 0 || g_array_index(found, guint64, found->len - 1) != node->identity)
        g_array_append_val(found, node->identity);
}

GArray *ws_edit_mentions(const WsDesign *design, const char *name)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(guint64));
    walk(ws_design_root(design), name, name, FALSE, note_mention, found);
    return found;
}

/* --- counters ----------------------------------------------------------------------------------
 */

/* Whether a step at or below `node` advances a counter that `step` mentions. */
static gboolean advances_for(const WsDesign *design, const WsNode *node, const WsNode *step)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    if (node->kind == WS_STEP_ADVANCE) {
        g_autoptr(GArray) who = ws_edit_mentions(design, ws_node_text(node, WS_F_keyword));
        for (guint i = 0; i < who->len; i++)
            if (g_array_index(who, guint64, i) == step->identity)
                return TRUE;
    }
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            if (advances_for(design, ws_node_child(node, rows[i].field, c), step))
                return TRUE;
    return FALSE;
}

gboolean ws_edit_keeps_counters(const WsDesign *design, const WsNode *step, gint by)
{
    WsFieldId list;
    guint index;
    const WsNode *owner = ws_design_owner(design, step, &list, &index);
    const guint n = owner != NULL ? ws_node_n_children(owner, list) : 0;
    const gint64 beside = (gint64)index + by;
    const gboolean within = by != 0 && beside >= 0 && beside < (gint64)n;
    for (guint i = 0; i < n; i++)
        if ((!within || i == (guint64)beside) &&
            advances_for(design, ws_node_child(owner, list, i), step))
            return FALSE;
    return TRUE;
}
