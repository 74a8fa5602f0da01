/* Finding one's way in a design: labels, groups, loops, names. */
#include "edit/look.h"

#include <string.h>

static const WsFieldId step_list[] = { WS_F_body, WS_F_do, WS_F_then };

WsFieldId ws_edit_list_field(const WsNode *node)
{
    for (guint i = 0; i < G_N_ELEMENTS(step_list); i++) {
        const WsFieldRow *row = ws_node_row(node->kind, step_list[i]);
        if (row != NULL && row->kind == WS_FIELD_STEPS)
            return step_list[i];
    }
    return WS_F_COUNT;
}

static char *first_word(const WsNode *node)
{
    const WsFieldRow *row = ws_node_row(node->kind, WS_F_keyword);
    const WsValue *value = ws_node_get(node, WS_F_keyword);
    if (node->kind == WS_STEP_COMPUTE || row == NULL || value->kind == WS_VALUE_NONE)
        return g_strdup("");
    return ws_value_words(row, value);
}

char *ws_edit_label(const WsNode *node)
{
    const char *keyword = ws_node_kind_keyword(node->kind);
    if (node->kind == WS_NODE_DESIGN || node->kind == WS_NODE_TILES)
        return g_strdup(keyword);
    if (!ws_node_kind_is_step(node->kind))
        return g_strdup_printf("%s %s", keyword, ws_node_name(node) ? ws_node_name(node) : "");
    g_autofree char *word = first_word(node);
    return g_strchomp(g_strdup_printf("%s %s", keyword, word));
}

const WsNode *ws_edit_group(const WsDesign *design, const WsNode *node)
{
    while (node != NULL && node->kind != WS_NODE_GROUP)
        node = ws_design_owner(design, node, NULL, NULL);
    return node;
}

const WsNode *ws_edit_loop(const WsDesign *design, const WsNode *node)
{
    do
        node = ws_design_owner(design, node, NULL, NULL);
    while (node != NULL && node->kind != WS_STEP_FOR);
    return node;
}

/* --- buffers ------------------------------------------------------------------------------------
 */

const WsNode *ws_edit_pipe_of(const WsDesign *design, const char *buffer)
{
    const WsNode *root = ws_design_root(design);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_pipes); i++) {
        const WsNode *pipe = ws_node_child(root, WS_F_pipes, i);
        const WsValue *fields = ws_node_get(pipe, WS_F_fields);
        for (guint k = 0; k < fields->n; k++)
            if (g_strcmp0(fields->item[k].text, buffer) == 0)
                return pipe;
    }
    return NULL;
}

const char *ws_edit_root(const WsDesign *design, const char *name)
{
    const guint most = ws_node_n_children(ws_design_root(design), WS_F_buffers);
    for (guint i = 0; i < most; i++) { /* no longer than a chain can be, since one may be closed */
        const WsNode *object = ws_edit_object(design, name);
        const WsRef *over = object != NULL && object->kind == WS_NODE_BUFFER
                                ? ws_node_refv(object, WS_F_over)
                                : NULL;
        if (over == NULL)
            break;
        name = over->name;
    }
    return name;
}

gboolean ws_edit_is_touch(WsNodeKind kind, WsFieldId field, gboolean writes)
{
    const WsStepInfo *info = ws_node_kind_is_step(kind) ? ws_step_info(kind) : NULL;
    const char *fields = info == NULL ? NULL : writes ? info->writes : info->reads;
    g_auto(GStrv) list = g_strsplit(fields != NULL ? fields : "", " ", -1);
    return g_strv_contains((const char *const *)list, ws_field_name(field));
}

const WsRef *ws_edit_touch(const WsNode *step, const char *buffer, gboolean writes)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(step->kind, &n);
    for (guint i = 0; i < n; i++) {
        const WsRef *ref = ws_node_refv(step, rows[i].field);
        if (ref != NULL && g_strcmp0(ref->name, buffer) == 0 &&
            ws_edit_is_touch(step->kind, rows[i].field, writes))
            return ref;
    }
    return NULL;
}

/* --- names --------------------------------------------------------------------------------------
 */

static void add_name(GPtrArray *names, const char *name)
{
    if (name != NULL && !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
        g_ptr_array_add(names, g_strdup(name));
}

static void add_keys(GPtrArray *names, const WsNode *node, WsFieldId field)
{
    const WsValue *map = ws_node_get(node, field);
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++)
        add_name(names, map->key[i]);
}

static void add_children(GPtrArray *names, const WsNode *node, WsFieldId field)
{
    for (guint i = 0; i < ws_node_n_children(node, field); i++)
        add_name(names, ws_node_name(ws_node_child(node, field, i)));
}

/* Loop indices (and their totals) and lets of a body. */
static void add_declared(GPtrArray *names, const WsNode *node)
{
    static const WsFieldId list[] = { WS_F_body, WS_F_do, WS_F_then, WS_F_else };
    if (ws_step_gives_name(node->kind))
        add_name(names, ws_node_text(node, WS_F_keyword));
    if (node->kind == WS_STEP_FOR && ws_node_text(node, WS_F_keyword)) {
        g_autofree char *total = g_strconcat(ws_node_text(node, WS_F_keyword), ".total", NULL);
        add_name(names, total);
    }
    for (guint l = 0; l < G_N_ELEMENTS(list); l++)
        for (guint i = 0; i < ws_node_n_children(node, list[l]); i++)
            add_declared(names, ws_node_child(node, list[l], i));
}

GPtrArray *ws_edit_names(const WsDesign *design, const WsNode *at)
{
    static const WsFieldId map[] = { WS_F_constants, WS_F_sizes, WS_F_let, WS_F_scalars };
    static const WsFieldId list[] = { WS_F_tensors, WS_F_buffers, WS_F_barriers, WS_F_pipes };
    static const char *const always[] = {
        "replica", "replicas",  "cta",    "ctas", "cdiv", "min",
        "max",     "pow2floor", "select", "abs",  "rows", "cols"
    };
    const WsNode *root = ws_design_root(design);
    const WsNode *group = at != NULL ? ws_edit_group(design, at) : NULL;
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    if (group != NULL) {
        add_declared(names, group);
        add_children(names, group, WS_F_values);
        add_children(names, group, WS_F_counters);
    }
    add_keys(names, ws_node_child(root, WS_F_tiles, 0), WS_F_axes);
    add_keys(names, ws_node_child(root, WS_F_tiles, 0), WS_F_let);
    for (guint i = 0; i < G_N_ELEMENTS(map); i++)
        add_keys(names, root, map[i]);
    for (guint i = 0; i < G_N_ELEMENTS(list); i++)
        add_children(names, root, list[i]);
    for (guint i = 0; i < G_N_ELEMENTS(always); i++)
        add_name(names, always[i]);
    return names;
}

/* Names given below a node, without those below the list `but` of it. */
static void collect(const WsNode *node, GHashTable *taken, WsFieldId but)
{
    const char *name = ws_node_kind_is_step(node->kind) ? NULL : ws_node_name(node);
    if (ws_step_gives_name(node->kind))
        name = ws_node_text(node, WS_F_keyword);
    if (name != NULL)
        g_hash_table_add(taken, g_strdup(name));
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        const WsValue *value = ws_node_get(node, rows[i].field);
        for (guint k = 0; value->kind == WS_VALUE_MAP && k < value->n; k++)
            g_hash_table_add(taken, g_strdup(value->key[k]));
        for (guint c = 0; rows[i].field != but && c < ws_node_n_children(node, rows[i].field); c++)
            collect(ws_node_child(node, rows[i].field, c), taken, WS_F_COUNT);
    }
}

gboolean ws_edit_taken(const WsDesign *design, const WsNode *group, const char *name)
{
    const WsNode *root = ws_design_root(design);
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    collect(root, taken, group != NULL ? WS_F_groups : WS_F_COUNT);
    if (group != NULL)
        collect(group, taken, WS_F_COUNT);
    return g_hash_table_contains(taken, name);
}

char *ws_edit_fresh(const WsDesign *design, const char *base)
{
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    collect(ws_design_root(design), taken, WS_F_COUNT);
    gsize stem = strlen(base);
    while (stem > 1 && g_ascii_isdigit(base[stem - 1]))
        stem--;
    if (!g_hash_table_contains(taken, base) && !ws_name_is_reserved(base))
        return g_strdup(base);
    for (guint i = 2;; i++) {
        char *name = g_strdup_printf("%.*s%u", (int)MIN(stem, 50), base, i);
        if (!g_hash_table_contains(taken, name) && !ws_name_is_reserved(name))
            return name;
        g_free(name);
    }
}

const WsNode *ws_edit_object(const WsDesign *design, const char *name)
{
    static const WsFieldId list[] = { WS_F_buffers, WS_F_barriers, WS_F_pipes, WS_F_tensors };
    const WsNode *root = ws_design_root(design);
    for (guint l = 0; name != NULL && l < G_N_ELEMENTS(list); l++)
        for (guint i = 0; i < ws_node_n_children(root, list[l]); i++)
            if (g_strcmp0(ws_node_name(ws_node_child(root, list[l], i)), name) == 0)
                return ws_node_child(root, list[l], i);
    return NULL;
}

gboolean ws_edit_has_only(const WsNode *node, const WsFieldId *may, guint n)
{
    guint rows;
    const WsFieldRow *row = ws_node_rows(node->kind, &rows);
    for (guint i = 0; i < rows; i++) {
        gboolean known = !ws_node_has(node, row[i].field);
        for (guint k = 0; k < n && !known; k++)
            known = row[i].field == may[k];
        if (!known)
            return FALSE;
    }
    return TRUE;
}

gint64 ws_edit_number(const WsDesign *design, const char *text)
{
    gint64 value = 0;
    const WsValue *map = ws_node_get(ws_design_root(design), WS_F_constants);
    for (guint i = 0; text != NULL && map->kind == WS_VALUE_MAP && i < map->n; i++)
        if (strcmp(map->key[i], text) == 0)
            return ws_expr_is_int(map->item[i].expr, &value) ? value : 0;
    return text != NULL && g_ascii_string_to_signed(text, 10, G_MININT64, G_MAXINT64, &value, NULL)
               ? value
               : 0;
}

guint ws_edit_element_bytes(const WsNode *node)
{
    static const struct {
        const char *dtype;
        guint bytes;
    } row[] = { { "bf16", 2 }, { "f16", 2 }, { "tf32", 4 }, { "e4m3", 1 }, { "e5m2", 1 } };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++)
        if (g_strcmp0(ws_node_text(node, WS_F_dtype), row[i].dtype) == 0)
            return row[i].bytes;
    return 0;
}
