/* What a reference names and nobody has declared: tensors and sizes. And guesses: a value that is
 * only usual is recorded under `studio` with its text, and is a guess as long as it is that. */
#include "edit/derive.h"

#include <string.h>

/* --- guesses ------------------------------------------------------------------------------------
 */

static char *map_key(WsFieldId map, const char *name)
{
    return g_strdup_printf("guessed %s %s", ws_field_name(map), name);
}

static char *node_key(const WsNode *node, WsFieldId field)
{
    g_autofree char *label = ws_edit_label(node);
    return g_strdup_printf("guessed %s %s", label, ws_field_name(field));
}

static gboolean put(WsDraft *d, WsFieldId map, const char *key, WsJson *value)
{
    const WsNode *root = ws_design_root(d->design);
    WsJson *json = ws_json_of_field(root, map);
    return ws_draft_set(d, root->identity, map,
                        ws_json_with(json != NULL ? json : ws_json_map(), key, value));
}

gboolean ws_guess_entry(WsDraft *d, WsFieldId map, const char *name, gint64 value)
{
    const WsValue *there = ws_node_get(ws_design_root(d->design), map);
    for (guint i = 0; there->kind == WS_VALUE_MAP && i < there->n; i++)
        if (strcmp(there->key[i], name) == 0)
            return TRUE;
    g_autofree char *key = map_key(map, name);
    return put(d, map, name, ws_json_int(value)) &&
           put(d, WS_F_studio, key, ws_json_format("%" G_GINT64_FORMAT, value));
}

gboolean ws_guess_mark(WsDraft *d, const WsNode *node, WsFieldId field)
{
    g_autofree char *key = node_key(node, field);
    return put(d, WS_F_studio, key,
               ws_json_take_text(
                   ws_value_words(ws_node_row(node->kind, field), ws_node_get(node, field))));
}

/* Whether it is recorded under that key with the value it still has. */
static gboolean is_guess(const WsJson *studio, const char *key, const WsFieldRow *row,
                         const WsValue *value)
{
    const char *recorded = ws_json_member_text(studio, key);
    g_autofree char *now = recorded != NULL ? ws_value_words(row, value) : NULL;
    return recorded != NULL && g_strcmp0(recorded, now) == 0;
}

char *ws_edit_guessed(const WsDesign *design, const WsNode *node, WsFieldId field)
{
    const WsNode *root = ws_design_root(design);
    const WsFieldRow *row = ws_node_row(node->kind, field);
    const WsValue *value = ws_node_get(node, field);
    if (!ws_node_has(root, WS_F_studio) || row == NULL || value->kind == WS_VALUE_NONE)
        return NULL;
    g_autoptr(WsJson) studio = ws_json_of_field(root, WS_F_studio);
    g_autoptr(GString) s = g_string_new(NULL);
    for (guint i = 0; node == root && value->kind == WS_VALUE_MAP && i < value->n; i++) {
        g_autofree char *key = map_key(field, value->key[i]);
        g_autofree char *text = ws_value_words(row, &value->item[i]);
        if (is_guess(studio, key, row, &value->item[i]))
            g_string_append_printf(s, "%s%s = %s", s->len > 0 ? ", " : "", value->key[i], text);
    }
    g_autofree char *key = node_key(node, field);
    if (value->kind != WS_VALUE_MAP && is_guess(studio, key, row, value))
        g_string_append(s, ws_json_member_text(studio, key));
    return s->len > 0 ? g_string_free(g_steal_pointer(&s), FALSE) : NULL;
}

static void collect(const WsDesign *before, const WsDesign *after, const WsNode *node, GString *s)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    const WsNode *old = node == ws_design_root(after)
                            ? ws_design_root(before)
                            : ws_design_by_identity(before, node->identity);
    for (guint i = 0; i < n; i++) {
        g_autofree char *now = ws_edit_guessed(after, node, rows[i].field);
        g_autofree char *was =
            now != NULL && old != NULL ? ws_edit_guessed(before, old, rows[i].field) : NULL;
        /* Entries of a map are added behind the others. */
        const char *fresh = now != NULL && was != NULL && g_str_has_prefix(now, was)
                                ? now + strlen(was) + strspn(now + strlen(was), ", ")
                                : now;
        if (fresh != NULL && *fresh != '\0' && node == ws_design_root(after))
            g_string_append_printf(s, "%s%s", s->len > 0 ? ", " : "", fresh);
        else if (fresh != NULL && *fresh != '\0')
            g_string_append_printf(s, "%s%s %s %s", s->len > 0 ? ", " : "", ws_node_name(node),
                                   ws_node_key(node->kind, rows[i].field), fresh);
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            collect(before, after, ws_node_child(node, rows[i].field, c), s);
    }
}

char *ws_edit_guesses(const WsDesign *before, const WsDesign *after)
{
    g_autoptr(GString) s = g_string_new(NULL);
    if (ws_node_has(ws_design_root(after), WS_F_studio))
        collect(before, after, ws_design_root(after), s);
    return s->len > 0 ? g_string_free(g_steal_pointer(&s), FALSE) : NULL;
}

/* --- what a reference names ---------------------------------------------------------------------
 */

typedef struct {
    WsDraft *d;
    const WsValue *all;     /* statements */
    const WsStatement *now; /* the one looked at */
} Declare;

static const WsStatement *defined(const Declare *c, const char *name)
{
    for (guint i = 0; i < c->all->n; i++)
        if (strcmp(c->all->item[i].statement->name, name) == 0)
            return c->all->item[i].statement;
    return NULL;
}

typedef struct {
    const WsDesign *design;
    const char *name;
    char *extent; /* found */
    gboolean used;
} Search;

/* `k < K` gives k; an element of a declared tensor gives its indices. */
static void see_extent(const WsExpr *e, gpointer data)
{
    Search *s = data;
    if (e->op == WS_EXPR_LT && e->arg[0]->op == WS_EXPR_NAME &&
        strcmp(e->arg[0]->name, s->name) == 0 && s->extent == NULL)
        s->extent = ws_expr_print(e->arg[1]);
    const WsNode *t = e->op == WS_EXPR_INDEX ? ws_edit_object(s->design, e->name) : NULL;
    const WsValue *shape = t != NULL ? ws_node_get(t, WS_F_shape) : NULL;
    for (guint i = 0; shape != NULL && i < e->n_args && i < shape->n && s->extent == NULL; i++)
        if (e->arg[i]->op == WS_EXPR_NAME && strcmp(e->arg[i]->name, s->name) == 0)
            s->extent = ws_value_words(ws_node_row(t->kind, WS_F_shape), &shape->item[i]);
    s->used |= e->op == WS_EXPR_INDEX && strcmp(e->name, s->name) == 0;
}

/* The extent of an index: by the statement, else its own name in capitals. */
static char *extent_of(const Declare *c, const char *index)
{
    Search s = { .design = c->d->design, .name = index };
    ws_expr_visit(c->now->value, see_extent, &s);
    return s.extent != NULL ? s.extent : g_ascii_strup(index, -1);
}

/* A size that the text names alone; the rehearsal takes a small one. */
static gboolean declare_size(WsDraft *d, const char *extent)
{
    if (!ws_name_is_identifier(extent) || ws_edit_taken(d->design, NULL, extent))
        return TRUE;
    return ws_guess_entry(d, WS_F_sizes, extent, 8192) &&
           ws_guess_entry(d, WS_F_rehearse, extent, 320);
}

static gboolean declare_tensor(Declare *c, const char *name, char *const *index, guint n,
                               const char *access)
{
    WsDraft *d = c->d;
    if (ws_edit_taken(d->design, NULL, name) || n == 0)
        return TRUE;
    WsJson *shape = ws_json_list();
    for (guint i = 0; i < n; i++) {
        g_autofree char *extent = extent_of(c, index[i]);
        declare_size(d, extent);
        ws_json_add(shape, ws_json_expr(extent));
    }
    const guint64 made =
        ws_draft_append(d, ws_design_root(d->design)->identity, WS_F_tensors,
                        WS_MAKE(WS_NODE_TENSOR, { WS_F_name, ws_json_text(name) },
                                { WS_F_dtype, ws_json_text("bf16") }, { WS_F_shape, shape },
                                { WS_F_access, ws_json_text(access) }));
    return made != 0 && ws_guess_mark(d, ws_draft_node(d, made), WS_F_dtype);
}

static void see_read(const WsExpr *e, gpointer data)
{
    Declare *c = data;
    char *index[8];
    if (e->op != WS_EXPR_INDEX || e->n_args > G_N_ELEMENTS(index) || defined(c, e->name))
        return;
    for (guint i = 0; i < e->n_args; i++) {
        if (e->arg[i]->op != WS_EXPR_NAME) /* its extent does not follow */
            return;
        index[i] = e->arg[i]->name;
    }
    declare_tensor(c, e->name, index, e->n_args, NULL);
}

gboolean ws_edit_declare(WsDraft *d)
{
    g_autoptr(WsDesign) design = ws_design_ref(d->design);
    Declare c = { .d = d, .all = ws_node_get(ws_design_root(design), WS_F_reference) };
    for (guint i = 0; c.all->kind == WS_VALUE_LIST && i < c.all->n && d->why == NULL; i++) {
        c.now = c.all->item[i].statement;
        for (guint k = 0; k < c.now->n_index; k++) { /* sizes of the result come first */
            g_autofree char *extent = extent_of(&c, c.now->index[k]);
            declare_size(d, extent);
        }
        ws_expr_visit(c.now->value, see_read, &c);
    }
    for (guint i = 0; c.all->kind == WS_VALUE_LIST && i < c.all->n && d->why == NULL; i++) {
        c.now = c.all->item[i].statement;
        Search s = { .design = d->design, .name = c.now->name };
        for (guint k = 0; k < c.all->n; k++)
            ws_expr_visit(c.all->item[k].statement->value, see_extent, &s);
        g_free(s.extent);
        if (!s.used)
            declare_tensor(&c, c.now->name, c.now->index, c.now->n_index, "write");
    }
    return d->why == NULL;
}
