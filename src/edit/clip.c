/* Fragments: a part of a design as a design of its own. Steps stand in the body of a group called
 * "clip"; what they name comes along. */
#include "edit/edit.h"
#include "model/text.h"

#include <string.h>

#define CLIP_GROUP "clip"
#define CLIP_AXIS  "clip_axis"

/* --- words in a text ----------------------------------------------------------------------------
 */

static gboolean mentions(const char *text, const char *name)
{
    const gsize n = strlen(name);
    for (const char *c = strstr(text, name); c != NULL; c = strstr(c + 1, name)) {
        const char before = c > text ? c[-1] : ' ', after = c[n];
        if (!g_ascii_isalnum(before) && before != '_' && before != '.' && !g_ascii_isalnum(after) &&
            after != '_')
            return TRUE;
    }
    return FALSE;
}

/* --- copying ------------------------------------------------------------------------------------
 */

static void append_list(GString *out, const char *key, GPtrArray *texts)
{
    g_string_append_printf(out, ",\"%s\":[", key);
    for (guint i = 0; i < texts->len; i++)
        g_string_append_printf(out, "%s%s", i > 0 ? "," : "", (const char *)texts->pdata[i]);
    g_string_append_c(out, ']');
}

/* Objects of a list that are chosen or that `all` mentions; adds their texts to `all`. */
static GPtrArray *wanted(const WsNode *owner, WsFieldId list, GHashTable *chosen, GString *all)
{
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; owner != NULL && i < ws_node_n_children(owner, list); i++) {
        const WsNode *object = ws_node_child(owner, list, i);
        if (!g_hash_table_contains(chosen, GSIZE_TO_POINTER(object->identity)) &&
            !mentions(all->str, ws_node_name(object)))
            continue;
        char *text = ws_node_print(object, 0);
        g_string_append(all, text);
        g_ptr_array_add(texts, text);
    }
    return texts;
}

/* Entries of a map of the document that `all` mentions, as JSON; later ones may need earlier ones.
 * Caller frees; NULL if there is none. */
static char *wanted_entries(const WsNode *node, WsFieldId field, GString *all)
{
    const WsFieldRow *row = ws_node_row(node->kind, field);
    const WsValue *map = ws_node_get(node, field);
    if (map->kind != WS_VALUE_MAP)
        return NULL;
    g_autofree gboolean *in = g_new0(gboolean, map->n + 1);
    gboolean any = FALSE;
    for (guint i = map->n; i > 0; i--) {
        if (!mentions(all->str, map->key[i - 1]))
            continue;
        in[i - 1] = any = TRUE;
        if (map->item[i - 1].kind == WS_VALUE_EXPR) {
            g_autofree char *text = ws_expr_print(map->item[i - 1].expr);
            g_string_append_printf(all, " %s ", text);
        }
    }
    WsValue part = { .kind = WS_VALUE_MAP,
                     .key = g_new0(char *, map->n + 1),
                     .item = g_new0(WsValue, map->n + 1) };
    for (guint i = 0; i < map->n; i++)
        if (in[i]) {
            part.key[part.n] = map->key[i];
            part.item[part.n++] = map->item[i];
        }
    char *json = any ? ws_value_print(row, &part) : NULL;
    g_free(part.key);
    g_free(part.item);
    return json;
}

typedef struct {
    GPtrArray *steps, *groups; /* char* */
    const WsNode *home;        /* group of the steps, whose values come along */
    GHashTable *chosen;
} Picked;

static void pick(const WsDesign *design, const WsNode *node, Picked *p)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    if (g_hash_table_contains(p->chosen, GSIZE_TO_POINTER(node->identity)) &&
        (ws_node_kind_is_step(node->kind) || node->kind == WS_NODE_GROUP)) {
        g_ptr_array_add(node->kind == WS_NODE_GROUP ? p->groups : p->steps, ws_node_print(node, 0));
        if (node->kind != WS_NODE_GROUP && p->home == NULL)
            p->home = ws_edit_group(design, node);
        return; /* with all below it */
    }
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            pick(design, ws_node_child(node, rows[i].field, c), p);
}

static void append_steps_group(GString *out, Picked *p, GString *all)
{
    g_autoptr(GPtrArray) values = wanted(p->home, WS_F_values, p->chosen, all);
    g_autoptr(GPtrArray) counters = wanted(p->home, WS_F_counters, p->chosen, all);
    g_string_append(out, "{\"name\":\"" CLIP_GROUP "\",\"role\":\"worker\",\"warps\":4");
    append_list(out, "values", values);
    append_list(out, "counters", counters);
    append_list(out, "body", p->steps);
    g_string_append_c(out, '}');
}

static void append_entries(GString *out, const WsNode *root, WsFieldId field, GString *all)
{
    g_autofree char *json = wanted_entries(root, field, all);
    if (json != NULL)
        g_string_append_printf(out, ",\"%s\":%s", ws_field_name(field), json);
}

/* The tile space if `all` mentions a name of it, which adds what it mentions; else one that says
 * nothing. Caller frees. */
static char *wanted_tiles(const WsNode *root, GString *all)
{
    static const WsFieldId map[] = { WS_F_axes, WS_F_let };
    const WsNode *tiles = ws_node_child(root, WS_F_tiles, 0);
    for (guint m = 0; m < G_N_ELEMENTS(map); m++) {
        const WsValue *value = ws_node_get(tiles, map[m]);
        for (guint i = 0; value->kind == WS_VALUE_MAP && i < value->n; i++) {
            if (!mentions(all->str, value->key[i]))
                continue;
            char *text = ws_node_print(tiles, 0);
            g_string_append(all, text);
            return text;
        }
    }
    return g_strdup("{\"axes\":{\"" CLIP_AXIS "\":1},\"launch\":\"persistent\"}");
}

static void append_document(GString *out, const WsDesign *design, Picked *p, GString *all)
{
    static const WsFieldId list[] = { WS_F_pipes, WS_F_barriers, WS_F_buffers, WS_F_tensors };
    const WsNode *root = ws_design_root(design);
    g_autoptr(GString) groups = g_string_new(NULL);
    for (guint i = 0; i < p->groups->len; i++)
        g_string_append_printf(groups, "%s%s", i > 0 ? "," : "", (char *)p->groups->pdata[i]);
    if (p->steps->len > 0 || p->groups->len == 0) {
        g_string_append(groups, p->groups->len > 0 ? "," : "");
        append_steps_group(groups, p, all);
    }
    g_string_append(out, "{\"warpstave\":1,\"name\":\"" CLIP_GROUP "\",\"target\":");
    g_autofree char *target = ws_text_quote(ws_node_text(root, WS_F_target));
    g_string_append(out, target);
    g_autoptr(GString) objects = g_string_new(NULL);
    gboolean tensors = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(list); i++) {
        g_autoptr(GPtrArray) texts = wanted(root, list[i], p->chosen, all);
        tensors |= list[i] == WS_F_tensors;
        if (texts->len > 0 || list[i] == WS_F_tensors)
            append_list(objects, ws_field_name(list[i]), texts);
    }
    g_autofree char *tiles = wanted_tiles(root, all);
    append_entries(out, root, WS_F_let, all);
    append_entries(out, root, WS_F_scalars, all);
    append_entries(out, root, WS_F_sizes, all);
    append_entries(out, root, WS_F_constants, all);
    g_string_append(out, objects->str);
    g_string_append_printf(out, ",\"tiles\":%s", tiles);
    g_string_append_printf(out, ",\"groups\":[%s]}", groups->str);
}

char *ws_edit_copy(const WsDesign *design, const guint64 *nodes, guint n)
{
    g_autoptr(GHashTable) chosen = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) all = g_string_new(NULL), out = g_string_new(NULL);
    Picked p = { steps, groups, NULL, chosen };
    for (guint i = 0; i < n; i++) {
        const WsNode *node = ws_design_by_identity(design, nodes[i]);
        g_hash_table_add(chosen, GSIZE_TO_POINTER(nodes[i]));
        if (node != NULL && (node->kind == WS_NODE_VALUE || node->kind == WS_NODE_COUNTER))
            p.home = ws_edit_group(design, node);
    }
    pick(design, ws_design_root(design), &p);
    for (guint i = 0; i < steps->len; i++)
        g_string_append(all, steps->pdata[i]);
    for (guint i = 0; i < groups->len; i++)
        g_string_append(all, groups->pdata[i]);
    append_document(out, design, &p, all);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) clip = ws_design_parse(out->str, out->len, NULL, findings);
    return clip != NULL ? ws_design_print(clip) : NULL;
}

/* --- pasting ------------------------------------------------------------------------------------
 */

static gboolean has_key(const WsDesign *design, const char *name)
{
    static const WsFieldId map[] = { WS_F_constants, WS_F_sizes, WS_F_scalars, WS_F_let };
    const WsNode *root = ws_design_root(design);
    for (guint m = 0; m < G_N_ELEMENTS(map); m++) {
        const WsValue *value = ws_node_get(root, map[m]);
        for (guint i = 0; value->kind == WS_VALUE_MAP && i < value->n; i++)
            if (strcmp(value->key[i], name) == 0)
                return TRUE;
    }
    return FALSE;
}

/* Entries that the design has not yet go behind those it has. */
static gboolean paste_entries(WsDraft *d, const WsNode *from, WsFieldId field)
{
    const WsFieldRow *row = ws_node_row(WS_NODE_DESIGN, field);
    const WsValue *more = ws_node_get(from, field);
    const WsNode *root = ws_design_root(d->design);
    const WsValue *there = ws_node_get(root, field);
    const guint n = there->kind == WS_VALUE_MAP ? there->n : 0;
    if (more->kind != WS_VALUE_MAP)
        return TRUE;
    WsValue both = { .kind = WS_VALUE_MAP,
                     .n = n,
                     .key = g_new0(char *, n + more->n + 1),
                     .item = g_new0(WsValue, n + more->n + 1) };
    for (guint i = 0; i < n; i++) {
        both.key[i] = there->key[i];
        both.item[i] = there->item[i];
    }
    for (guint i = 0; i < more->n; i++) {
        if (has_key(d->design, more->key[i]))
            continue;
        both.key[both.n] = more->key[i];
        both.item[both.n++] = more->item[i];
    }
    g_autofree char *json = both.n > n ? ws_value_print(row, &both) : NULL;
    g_free(both.key);
    g_free(both.item);
    return json == NULL || ws_draft_set(d, root->identity, ws_field_name(field), json);
}

static gboolean has_named(const WsNode *owner, WsFieldId list, const char *name)
{
    for (guint i = 0; i < ws_node_n_children(owner, list); i++)
        if (g_strcmp0(ws_node_name(ws_node_child(owner, list, i)), name) == 0)
            return TRUE;
    return FALSE;
}

static gboolean paste_objects(WsDraft *d, const WsNode *from, guint64 owner, WsFieldId list)
{
    for (guint i = 0; i < ws_node_n_children(from, list); i++) {
        const WsNode *object = ws_node_child(from, list, i), *to = ws_draft_node(d, owner);
        if (has_named(to, list, ws_node_name(object)))
            continue;
        g_autofree char *json = ws_node_print(object, 0);
        const guint64 node =
            ws_draft_insert(d, owner, ws_field_name(list), ws_node_n_children(to, list), json);
        if (node == 0)
            return FALSE;
        ws_draft_touch(d, node);
    }
    return TRUE;
}

static gboolean paste_steps(WsDraft *d, const WsNode *from, WsEditSpot spot)
{
    for (guint i = 0; i < ws_node_n_children(from, WS_F_body); i++) {
        const WsNode *owner = ws_draft_node(d, spot.owner);
        if (owner == NULL)
            return ws_draft_refuse(d, "there is no place for it");
        g_autofree char *json = ws_node_print(ws_node_child(from, WS_F_body, i), 0);
        const guint64 node = ws_draft_insert(d, spot.owner, ws_node_key(owner->kind, spot.list),
                                             spot.index + i, json);
        if (node == 0)
            return FALSE;
        ws_draft_touch(d, node);
    }
    return TRUE;
}

static gboolean paste_group(WsDraft *d, const WsNode *group)
{
    const WsNode *root = ws_design_root(d->design);
    const guint n = ws_node_n_children(root, WS_F_groups);
    /* A design that is still empty is filled, not added to. */
    const WsNode *only = n == 1 ? ws_node_child(root, WS_F_groups, 0) : NULL;
    g_autofree char *json = ws_node_print(group, 0);
    if (only != NULL && ws_node_n_children(only, WS_F_body) == 0 &&
        ws_node_n_children(only, WS_F_values) == 0) {
        g_autofree char *path = ws_design_place(d->design, only);
        ws_draft_touch(d, only->identity);
        return ws_draft_edit(d, "replace %s %s", path, json);
    }
    g_autofree char *name = ws_edit_fresh(d->design, ws_node_name(group));
    /* Inserted under a name that is free meanwhile. */
    const char *at = strstr(json, ws_node_name(group));
    g_autofree char *renamed =
        g_strdup_printf("%.*s%s%s", (int)(at - json), json, name, at + strlen(ws_node_name(group)));
    const guint64 node = ws_draft_insert(d, root->identity, "groups", n, renamed);
    if (node != 0)
        ws_draft_touch(d, node);
    return node != 0;
}

static gboolean has_steps(const WsNode *root)
{
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++)
        if (ws_node_n_children(ws_node_child(root, WS_F_groups, i), WS_F_body) > 0)
            return TRUE;
    return FALSE;
}

/* Whether the tile space is still that of an empty design: a single tile. */
static gboolean has_one_tile(const WsNode *root)
{
    const WsValue *axes = ws_node_get(ws_node_child(root, WS_F_tiles, 0), WS_F_axes);
    gint64 extent;
    return axes->n == 1 && ws_expr_is_int(axes->item[0].expr, &extent) && extent == 1;
}

/* A design without a step and a tile space of its own takes it over as well. */
static gboolean paste_tiles(WsDraft *d, const WsNode *from)
{
    const WsNode *tiles = ws_node_child(from, WS_F_tiles, 0);
    const WsValue *axes = ws_node_get(tiles, WS_F_axes);
    if (has_steps(ws_design_root(d->design)) || !has_one_tile(ws_design_root(d->design)) ||
        strcmp(axes->key[0], CLIP_AXIS) == 0)
        return TRUE;
    g_autofree char *json = ws_node_print(tiles, 0);
    return ws_draft_edit(d, "set . tiles %s", json);
}

static gboolean put(WsDraft *d, const WsDesign *clip, WsEditSpot spot)
{
    static const WsFieldId map[] = { WS_F_constants, WS_F_sizes, WS_F_scalars, WS_F_let };
    static const WsFieldId list[] = { WS_F_tensors, WS_F_buffers, WS_F_barriers, WS_F_pipes };
    const WsNode *from = ws_design_root(clip);
    const guint64 root = ws_design_root(d->design)->identity;
    for (guint i = 0; i < G_N_ELEMENTS(map); i++)
        if (!paste_entries(d, from, map[i]))
            return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(list); i++)
        if (!paste_objects(d, from, root, list[i]))
            return FALSE;
    if (!paste_tiles(d, from))
        return FALSE;
    for (guint i = 0; i < ws_node_n_children(from, WS_F_groups); i++) {
        const WsNode *group = ws_node_child(from, WS_F_groups, i);
        if (strcmp(ws_node_name(group), CLIP_GROUP) != 0) {
            if (!paste_group(d, group))
                return FALSE;
            continue;
        }
        const WsNode *owner = ws_draft_node(d, spot.owner);
        const WsNode *home = owner != NULL ? ws_edit_group(d->design, owner) : NULL;
        if (home == NULL)
            return ws_draft_refuse(d, "there is no group to paste into");
        const guint64 into = home->identity;
        if (!paste_objects(d, group, into, WS_F_values) ||
            !paste_objects(d, group, into, WS_F_counters))
            return FALSE;
        /* What is selected afterwards are the steps, where there are any. */
        if (ws_node_n_children(group, WS_F_body) > 0)
            g_array_set_size(d->touched, 0);
        if (!paste_steps(d, group, spot))
            return FALSE;
    }
    return TRUE;
}

gboolean ws_edit_paste(WsDraft *d, const WsDesign *clip, WsEditSpot spot)
{
    ws_draft_name(d, "Paste %s", "");
    return put(d, clip, spot);
}

/* --- templates ----------------------------------------------------------------------------------
 */

/* Names of the template that the design has given away already are changed in the template. */
static gboolean make_fresh(WsDraft *t, const WsDesign *design)
{
    static const WsFieldId list[] = { WS_F_buffers, WS_F_barriers, WS_F_pipes };
    g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(guint64));
    const WsNode *root = ws_design_root(t->design);
    for (guint l = 0; l < G_N_ELEMENTS(list); l++)
        for (guint i = 0; i < ws_node_n_children(root, list[l]); i++)
            g_array_append_val(nodes, ws_node_child(root, list[l], i)->identity);
    for (guint i = 0; i < nodes->len; i++) {
        const WsNode *object = ws_draft_node(t, g_array_index(nodes, guint64, i));
        g_autofree char *name = ws_edit_fresh(design, ws_node_name(object));
        /* It may be free there and taken here. */
        if (strcmp(name, ws_node_name(object)) == 0)
            continue;
        g_autofree char *free_here = ws_edit_fresh(t->design, name);
        g_autofree char *both = ws_edit_fresh(design, free_here);
        if (!ws_edit_rename(t, object->identity, both))
            return FALSE;
    }
    return TRUE;
}

gboolean ws_edit_template(WsDraft *d, const WsDesign *clip, WsEditSpot spot)
{
    g_autoptr(WsDraft) t = ws_draft_new(clip);
    if (!make_fresh(t, d->design))
        return ws_draft_refuse(d, "%s", t->why);
    const char *title = ws_node_text(ws_design_root(clip), WS_F_name);
    if (!put(d, t->design, spot))
        return FALSE;
    ws_draft_name(d, "Insert %s", title);
    return TRUE;
}
