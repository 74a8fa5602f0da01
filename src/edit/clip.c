/* Fragments: a part of a design as a design of its own. Steps stand in the body of a group called
 * "clip"; what they name comes along. */
#include "edit/edit.h"
#include "model/findings.h"
#include "target/target.h"

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

static void append_text(GString *all, const WsJson *json)
{
    g_autofree char *text = ws_json_print(json);
    g_string_append(all, text);
}

/* Objects of a list that are chosen or that `all` mentions; adds their texts to `all`. */
static WsJson *wanted(const WsNode *owner, WsFieldId list, GHashTable *chosen, GString *all)
{
    WsJson *objects = ws_json_list();
    for (guint i = 0; owner != NULL && i < ws_node_n_children(owner, list); i++) {
        const WsNode *object = ws_node_child(owner, list, i);
        if (!g_hash_table_contains(chosen, GSIZE_TO_POINTER(object->identity)) &&
            !mentions(all->str, ws_node_name(object)))
            continue;
        WsJson *json = ws_json_of_node(object);
        append_text(all, json);
        ws_json_add(objects, json);
    }
    return objects;
}

/* Entries of a map of the document that `all` mentions; later ones may need earlier ones. NULL if
 * there is none. */
static WsJson *wanted_entries(const WsNode *node, WsFieldId field, GString *all)
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
    WsJson *json = any ? ws_json_map() : NULL;
    for (guint i = 0; i < map->n; i++)
        if (in[i])
            ws_json_put(json, map->key[i], ws_json_of_value(row, &map->item[i]));
    return json;
}

typedef struct {
    WsJson *steps, *groups;
    guint n_steps, n_groups;
    const WsNode *home; /* group of the steps, whose values come along */
    GHashTable *chosen;
} Picked;

static void pick(const WsDesign *design, const WsNode *node, Picked *p)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    if (g_hash_table_contains(p->chosen, GSIZE_TO_POINTER(node->identity)) &&
        (ws_node_kind_is_step(node->kind) || node->kind == WS_NODE_GROUP)) {
        const gboolean group = node->kind == WS_NODE_GROUP;
        ws_json_add(group ? p->groups : p->steps, ws_json_of_node(node));
        *(group ? &p->n_groups : &p->n_steps) += 1;
        if (!group && p->home == NULL)
            p->home = ws_edit_group(design, node);
        return; /* with all below it */
    }
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            pick(design, ws_node_child(node, rows[i].field, c), p);
}

/* The group that the steps stand in; takes them. */
static WsJson *steps_group(Picked *p, GString *all)
{
    WsJson *values = wanted(p->home, WS_F_values, p->chosen, all);
    WsJson *counters = wanted(p->home, WS_F_counters, p->chosen, all);
    return WS_MAKE(WS_NODE_GROUP, { WS_F_name, ws_json_text(CLIP_GROUP) },
                   { WS_F_role, ws_json_text("worker") },
                   { WS_F_warps, ws_json_int(ws_target_at(0)->group_warps) },
                   { WS_F_values, values }, { WS_F_counters, counters },
                   { WS_F_body, g_steal_pointer(&p->steps) });
}

/* The tile space if `all` mentions a name of it, which adds what it mentions; else one that says
 * nothing. */
static WsJson *wanted_tiles(const WsNode *root, GString *all)
{
    static const WsFieldId map[] = { WS_F_axes, WS_F_let };
    const WsNode *tiles = ws_node_child(root, WS_F_tiles, 0);
    for (guint m = 0; m < G_N_ELEMENTS(map); m++) {
        const WsValue *value = ws_node_get(tiles, map[m]);
        for (guint i = 0; value->kind == WS_VALUE_MAP && i < value->n; i++) {
            if (!mentions(all->str, value->key[i]))
                continue;
            WsJson *json = ws_json_of_node(tiles);
            append_text(all, json);
            return json;
        }
    }
    WsJson *axes = ws_json_map();
    ws_json_put(axes, CLIP_AXIS, ws_json_int(1));
    return WS_MAKE(WS_NODE_TILES, { WS_F_axes, axes }, { WS_F_launch, ws_json_text("persistent") });
}

/* What is mentioned last is asked for first: each adds its text to `all`. */
static WsJson *document(const WsDesign *design, Picked *p, GString *all)
{
    const WsNode *root = ws_design_root(design);
    if (p->n_steps > 0 || p->n_groups == 0)
        ws_json_add(p->groups, steps_group(p, all));
    WsJson *pipes = wanted(root, WS_F_pipes, p->chosen, all);
    WsJson *barriers = wanted(root, WS_F_barriers, p->chosen, all);
    WsJson *buffers = wanted(root, WS_F_buffers, p->chosen, all);
    WsJson *tensors = wanted(root, WS_F_tensors, p->chosen, all);
    WsJson *tiles = wanted_tiles(root, all);
    WsJson *let = wanted_entries(root, WS_F_let, all);
    WsJson *scalars = wanted_entries(root, WS_F_scalars, all);
    WsJson *sizes = wanted_entries(root, WS_F_sizes, all);
    WsJson *constants = wanted_entries(root, WS_F_constants, all);
    return WS_MAKE(WS_NODE_DESIGN, { WS_F_warpstave, ws_json_int(WS_DESIGN_VERSION) },
                   { WS_F_name, ws_json_text(CLIP_GROUP) },
                   { WS_F_target, ws_json_of_field(root, WS_F_target) }, { WS_F_let, let },
                   { WS_F_scalars, scalars }, { WS_F_sizes, sizes }, { WS_F_constants, constants },
                   { WS_F_pipes, pipes }, { WS_F_barriers, barriers }, { WS_F_buffers, buffers },
                   { WS_F_tensors, tensors }, { WS_F_tiles, tiles },
                   { WS_F_groups, g_steal_pointer(&p->groups) });
}

char *ws_edit_copy(const WsDesign *design, const guint64 *nodes, guint n)
{
    g_autoptr(GHashTable) chosen = g_hash_table_new(NULL, NULL);
    g_autoptr(GString) all = g_string_new(NULL);
    Picked p = { .steps = ws_json_list(), .groups = ws_json_list(), .chosen = chosen };
    for (guint i = 0; i < n; i++) {
        const WsNode *node = ws_design_by_identity(design, nodes[i]);
        g_hash_table_add(chosen, GSIZE_TO_POINTER(nodes[i]));
        if (node != NULL && (node->kind == WS_NODE_VALUE || node->kind == WS_NODE_COUNTER))
            p.home = ws_edit_group(design, node);
    }
    pick(design, ws_design_root(design), &p);
    append_text(all, p.steps);
    append_text(all, p.groups);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) clip = ws_design_build(document(design, &p, all), NULL, findings);
    ws_json_free(p.steps);
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
    WsJson *both = n > 0 ? ws_json_of_field(root, field) : ws_json_map();
    gboolean any = FALSE;
    for (guint i = 0; i < more->n; i++) {
        if (has_key(d->design, more->key[i]))
            continue;
        ws_json_put(both, more->key[i], ws_json_of_value(row, &more->item[i]));
        any = TRUE;
    }
    if (any)
        return ws_draft_set(d, root->identity, field, both);
    ws_json_free(both);
    return TRUE;
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
        const guint64 node = ws_draft_append(d, owner, list, ws_json_of_node(object));
        if (node == 0)
            return FALSE;
        ws_draft_touch(d, node);
    }
    return TRUE;
}

static gboolean paste_steps(WsDraft *d, const WsNode *from, WsEditSpot spot)
{
    for (guint i = 0; i < ws_node_n_children(from, WS_F_body); i++) {
        if (ws_draft_node(d, spot.owner) == NULL)
            return ws_draft_refuse(d, "there is no place for it");
        const guint64 node = ws_draft_insert(d, spot.owner, spot.list, spot.index + i,
                                             ws_json_of_node(ws_node_child(from, WS_F_body, i)));
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
    if (only != NULL && ws_node_n_children(only, WS_F_body) == 0 &&
        ws_node_n_children(only, WS_F_values) == 0) {
        ws_draft_touch(d, only->identity);
        return ws_draft_replace(d, only->identity, ws_json_of_node(group));
    }
    g_autofree char *name = ws_edit_fresh(d->design, ws_node_name(group));
    const guint64 node =
        ws_draft_append(d, root->identity, WS_F_groups,
                        ws_json_with(ws_json_of_node(group), "name", ws_json_text(name)));
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
    return ws_draft_set(d, ws_design_root(d->design)->identity, WS_F_tiles, ws_json_of_node(tiles));
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
