/* A design without its hints: pipes for what groups fill, the loop's steady round in the group that
 * holds it, and in the body of each other executor the same loops with the groups that it runs. */
#include "model/hint/hint_parts.h"

#include <string.h>

static gboolean find(GArray *trail, const WsNode *node, WsFieldId field, guint index, guint *before)
{
    const WsTrail here = { node, field, index };
    g_array_append_val(trail, here);
    if (node->kind == WS_STEP_FOR && ws_node_has(node, WS_F_num_stages) &&
        !ws_node_bool(node, WS_F_muted, FALSE) && !(*before)--)
        return TRUE;
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            if (find(trail, ws_node_child(node, rows[i].field, c), rows[i].field, c, before))
                return TRUE;
    g_array_set_size(trail, trail->len - 1);
    return FALSE;
}

GArray *ws_hint_trail(const WsDesign *design, guint before)
{
    GArray *trail = g_array_new(FALSE, FALSE, sizeof(WsTrail));
    if (find(trail, ws_design_root(design), WS_F_keyword, 0, &before))
        return trail;
    g_array_unref(trail);
    return NULL;
}

gboolean ws_hint_in(const WsDesign *design)
{
    g_autoptr(GArray) trail = ws_hint_trail(design, 0);
    return trail != NULL;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void set_children(WsNode *node, WsFieldId field, GPtrArray *children)
{
    WsValue *v = ws_node_slot(node, field);
    ws_value_clear(v);
    *v = (WsValue){ .kind = WS_VALUE_NODES,
                    .n = children->len,
                    .node = g_new0(WsNode *, MAX(children->len, 1)) };
    for (guint i = 0; i < children->len; i++)
        v->node[i] = children->pdata[i];
    g_ptr_array_unref(children);
}

static void set_child(WsNode *node, WsFieldId field, guint index, WsNode *child)
{
    WsValue *v = ws_node_slot(node, field);
    ws_node_unref(v->node[index]);
    v->node[index] = child;
}

static void drop(WsNode *node, WsFieldId field)
{
    ws_value_clear(ws_node_slot(node, field));
}

static void set_id(WsNode *node, const char *id)
{
    WsValue *v = ws_node_slot(node, WS_F_id);
    ws_value_clear(v);
    *v = (WsValue){ .kind = WS_VALUE_TEXT, .text = g_strdup(id) };
}

/* The loop as it runs in an executor. */
static WsNode *loop_of(WsHint *h, guint executor, gboolean places)
{
    WsNode *loop = ws_node_copy(h->loop);
    drop(loop, WS_F_num_stages);
    set_children(loop, WS_F_do, ws_hint_round(h, executor, places));
    if (places && executor != h->home && !ws_node_has(loop, WS_F_id)) {
        g_autofree char *place = ws_design_place(h->design, h->loop);
        set_id(loop, place);
    }
    return loop;
}

/* --- executors -------------------------------------------------------------------------------- */

/* What stands around the loop, with the lets before it, and nothing else. NULL: refused. */
static WsNode *around(WsHint *h, guint level, guint executor, gboolean places)
{
    const WsTrail *t = &g_array_index(h->trail, WsTrail, level);
    if (t->node == h->loop)
        return loop_of(h, executor, places);
    const WsTrail *next = t + 1;
    g_autofree char *place = ws_design_place(h->design, t->node);
    const gboolean group = t->node->kind == WS_NODE_GROUP;
    if (!group && t->node->kind != WS_STEP_FOR && t->node->kind != WS_STEP_IF) {
        ws_hint_refuse(h, place, "Take the loop out of it, or leave the executors out.",
                       "a loop with executors stands in a %s", ws_node_kind_keyword(t->node->kind));
        return NULL;
    }
    GPtrArray *list = g_ptr_array_new_with_free_func((GDestroyNotify)ws_node_unref);
    for (guint i = 0; i < next->index; i++) {
        const WsNode *before = ws_node_child(t->node, next->field, i);
        if (before->kind != WS_STEP_LET || ws_node_bool(before, WS_F_muted, FALSE))
            continue;
        WsNode *let = ws_node_copy(before);
        g_autofree char *at = ws_design_place(h->design, before);
        if (places && !ws_node_has(let, WS_F_id))
            set_id(let, at);
        g_ptr_array_add(list, let);
    }
    WsNode *inner = around(h, level + 1, executor, places);
    if (!inner) {
        g_ptr_array_unref(list);
        return NULL;
    }
    g_ptr_array_add(list, inner);
    g_ptr_array_set_free_func(list, NULL);
    WsNode *node = ws_node_copy(group ? ws_node_child(h->root, WS_F_groups, executor) : t->node);
    if (t->node->kind == WS_STEP_IF) { /* the branch that does not hold the loop is empty */
        set_children(node, WS_F_then, g_ptr_array_new());
        drop(node, WS_F_else);
    }
    if (t->node->kind == WS_STEP_FOR)
        drop(node, WS_F_split);
    set_children(node, next->field, list);
    if (!group && places && !ws_node_has(node, WS_F_id))
        set_id(node, place);
    return node;
}

/* --- pipes ------------------------------------------------------------------------------------ */

static gboolean is_taken(const WsNode *root, const char *name)
{
    static const WsFieldId lists[] = { WS_F_tensors, WS_F_buffers, WS_F_barriers, WS_F_pipes,
                                       WS_F_flags };
    static const WsFieldId maps[] = { WS_F_constants, WS_F_sizes, WS_F_scalars, WS_F_let };
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
        if (ws_hint_has(root, lists[i], name))
            return TRUE;
    const WsNode *tiles = ws_node_child(root, WS_F_tiles, 0);
    const WsValue *of_tiles[] = { ws_node_get(tiles, WS_F_axes), ws_node_get(tiles, WS_F_let) };
    for (guint i = 0; i < G_N_ELEMENTS(maps) + 2; i++) {
        const WsValue *v =
            i < G_N_ELEMENTS(maps) ? ws_node_get(root, maps[i]) : of_tiles[i - G_N_ELEMENTS(maps)];
        for (guint k = 0; v->kind == WS_VALUE_MAP && k < v->n; k++)
            if (!strcmp(v->key[k], name))
                return TRUE;
    }
    return FALSE;
}

/* A pipe for each group that fills something; appended to `root`. */
static gboolean add_pipes(WsHint *h, WsNode *root, GPtrArray *names)
{
    GPtrArray *pipes = g_ptr_array_new();
    for (guint i = 0; i < ws_node_n_children(root, WS_F_pipes); i++)
        g_ptr_array_add(pipes, ws_node_ref(ws_node_child(root, WS_F_pipes, i)));
    for (guint i = 0; i < h->n; i++) {
        WsHintGroup *g = &h->group[i];
        if (!g->fills->len)
            continue;
        char *name = g_strdup_printf("%s_ring", g->name);
        for (guint k = 2; is_taken(root, name); k++) {
            g_free(name);
            name = g_strdup_printf("%s_ring%u", g->name, k);
        }
        g_ptr_array_add(names, name);
        g->pipe = name;
        WsJson *fields = ws_json_list();
        for (guint k = 0; k < g->fills->len; k++)
            ws_json_add(fields, ws_json_text(g->fills->pdata[k]));
        WsJson *json = WS_MAKE(WS_NODE_PIPE, { WS_F_name, ws_json_text(name) },
                               { WS_F_capacity, ws_json_of_field(h->loop, WS_F_num_stages) },
                               { WS_F_fields, fields });
        WsReader r;
        ws_reader_init(&r, h->findings, FALSE);
        WsNode *pipe = ws_read_node(&r, json, WS_NODE_PIPE);
        ws_json_free(json);
        ws_reader_clear(&r);
        if (pipe)
            g_ptr_array_add(pipes, pipe);
        h->refused |= !pipe;
    }
    set_children(root, WS_F_pipes, pipes);
    return !h->refused;
}

/* --- one loop after the other ----------------------------------------------------------------- */

/* The home group with the loop replaced: a copy of the path down to it. */
static WsNode *home_of(WsHint *h, guint level, gboolean places)
{
    const WsTrail *t = &g_array_index(h->trail, WsTrail, level);
    if (t->node == h->loop)
        return loop_of(h, h->home, places);
    WsNode *node = ws_node_copy(t->node);
    set_child(node, t[1].field, t[1].index, home_of(h, level + 1, places));
    return node;
}

static WsDesign *without_first(const WsDesign *design, GArray *trail, gboolean places,
                               WsFindings *findings)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    WsHint h = { .design = design, .root = ws_design_root(design), .findings = findings };
    h.trail = trail;
    h.loop = g_array_index(trail, WsTrail, trail->len - 1).node;
    h.home = g_array_index(trail, WsTrail, 1).index;
    WsNode *root = NULL;
    if (ws_hint_read(&h) && ws_hint_judge(&h)) {
        root = ws_node_copy(h.root);
        gboolean ok = add_pipes(&h, root, names);
        g_autofree gboolean *done = g_new0(gboolean, ws_node_n_children(root, WS_F_groups) + 1);
        done[h.home] = TRUE;
        if (ok)
            set_child(root, WS_F_groups, h.home, home_of(&h, 1, places));
        for (guint i = 0; i < h.n && ok; i++) {
            const guint e = h.group[i].executor;
            WsNode *body = done[e] ? NULL : around(&h, 1, e, places);
            ok = done[e] || body;
            done[e] = TRUE;
            if (body)
                set_child(root, WS_F_groups, e, body);
        }
        if (!ok || h.refused)
            g_clear_pointer(&root, ws_node_unref);
    }
    ws_hint_clear(&h);
    if (!root)
        return NULL;
    WsDesign *next = ws_design_new(root);
    ws_design_set_file(next, ws_design_file(design));
    return next;
}

WsDesign *ws_hint_explicit(const WsDesign *design, gboolean places, WsFindings *findings)
{
    WsDesign *now = ws_design_ref(design);
    GArray *trail;
    while (now && (trail = ws_hint_trail(now, 0))) {
        WsDesign *next = without_first(now, trail, places, findings);
        ws_design_unref(now);
        now = next;
    }
    return now;
}
