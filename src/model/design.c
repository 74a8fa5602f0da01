/* Designs: a root node with the file it came from; paths and ids of its nodes. */
#include "base/file.h"
#include "model/internal.h"

#include <errno.h>
#include <string.h>

struct WsDesign {
    gint refs;
    WsNode *root;
    char *file;
};

WsDesign *ws_design_new(WsNode *root)
{
    WsDesign *design = g_new0(WsDesign, 1);
    design->refs = 1;
    design->root = root;
    return design;
}

guint64 ws_design_sum(const WsDesign *design)
{
    return ws_node_sum(design->root);
}

WsDesign *ws_design_ref(const WsDesign *design)
{
    WsDesign *d = (WsDesign *)design;
    g_atomic_int_inc(&d->refs);
    return d;
}

void ws_design_unref(WsDesign *design)
{
    if (design == NULL || !g_atomic_int_dec_and_test(&design->refs))
        return;
    ws_node_unref(design->root);
    g_free(design->file);
    g_free(design);
}

const WsNode *ws_design_root(const WsDesign *design)
{
    return design->root;
}

const char *ws_design_file(const WsDesign *design)
{
    return design->file;
}

void ws_design_set_file(WsDesign *design, const char *file)
{
    g_free(design->file);
    design->file = g_strdup(file);
}

/* `text` NULL: `json` was built. */
static WsDesign *read_design(WsJson *json, const char *text, gsize length, const char *file,
                             WsFindings *findings)
{
    WsReader r;
    ws_reader_init(&r, findings, TRUE);
    if (text != NULL)
        json = ws_json_parse(text, length, &r);
    const gboolean fits = text != NULL || ws_json_check(json, &r);
    WsNode *root = fits ? ws_read_document(&r, json) : NULL;
    ws_json_free(json);
    ws_reader_clear(&r);
    if (root == NULL)
        return NULL;
    WsDesign *design = ws_design_new(root);
    ws_design_set_file(design, file);
    return design;
}

WsDesign *ws_design_parse(const char *text, gsize length, const char *file, WsFindings *findings)
{
    return read_design(NULL, text, length, file, findings);
}

WsDesign *ws_design_build(WsJson *json, const char *file, WsFindings *findings)
{
    return read_design(json, NULL, 0, file, findings);
}

WsDesign *ws_design_with_constant(const WsDesign *design, const char *name, gint64 value)
{
    WsNode *root = ws_node_copy(design->root);
    WsValue *map = ws_node_slot(root, WS_F_constants);
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++) {
        if (strcmp(map->key[i], name) != 0)
            continue;
        ws_value_clear(&map->item[i]);
        map->item[i].kind = WS_VALUE_EXPR;
        map->item[i].expr = ws_expr_int(value);
        WsDesign *copy = ws_design_new(root);
        ws_design_set_file(copy, design->file);
        return copy;
    }
    ws_node_unref(root);
    return NULL;
}

WsDesign *ws_design_load(const char *file, WsFindings *findings)
{
    gsize length = 0;
    g_autofree char *text = NULL;
    /* one byte more than a document may have: the parser says that it is too long */
    if (!ws_file_read_some(file, WS_DESIGN_MAX_BYTES + 1, &text, &length, NULL)) {
        WsFinding *f = ws_findings_add(findings, WS_RULE_S_IO, "", "cannot read the file: %s",
                                       g_strerror(errno));
        ws_finding_set_remedy(f, "check the path");
        return NULL;
    }
    return ws_design_parse(text, length, file, findings);
}

/* --- paths ------------------------------------------------------------------------------------ */

typedef gboolean (*Match)(const WsNode *node, gconstpointer data);

/* Depth-first; on success the trail runs from the root to the node. */
static gboolean search(GArray *trail, const WsNode *node, WsFieldId field, guint index, Match match,
                       gconstpointer data)
{
    const WsTrail here = { node, field, index };
    g_array_append_val(trail, here);
    if (match(node, data))
        return TRUE;
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        const WsValue *v = &node->value[i]; /* one per row: asking by name takes most of a search */
        if (v->kind != WS_VALUE_NODES && v->kind != WS_VALUE_NODE)
            continue;
        for (guint c = 0; c < v->n; c++)
            if (search(trail, v->node[c], rows[i].field, c, match, data))
                return TRUE;
    }
    g_array_set_size(trail, trail->len - 1);
    return FALSE;
}

static gboolean has_id(const WsNode *node, gconstpointer data)
{
    return g_strcmp0(ws_node_text(node, WS_F_id), data) == 0;
}

/* Depth-first, too; leaves out what is known not to hold the identity. */
static gboolean search_identity(GArray *trail, const WsNode *node, WsFieldId field, guint index,
                                guint64 identity)
{
    if (!(ws_node_below(node) >> identity % 64 & 1))
        return FALSE;
    const WsTrail here = { node, field, index };
    g_array_append_val(trail, here);
    if (node->identity == identity)
        return TRUE;
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        const WsValue *v = &node->value[i];
        if (v->kind != WS_VALUE_NODES && v->kind != WS_VALUE_NODE)
            continue;
        for (guint c = 0; c < v->n; c++)
            if (search_identity(trail, v->node[c], rows[i].field, c, identity))
                return TRUE;
    }
    g_array_set_size(trail, trail->len - 1);
    return FALSE;
}

const WsNode *ws_design_by_identity(const WsDesign *design, guint64 identity)
{
    g_autoptr(GArray) trail = g_array_new(FALSE, FALSE, sizeof(WsTrail));
    return search_identity(trail, design->root, WS_F_keyword, 0, identity)
               ? g_array_index(trail, WsTrail, trail->len - 1).node
               : NULL;
}

const WsNode *ws_design_owner(const WsDesign *design, const WsNode *node, WsFieldId *field,
                              guint *index)
{
    g_autoptr(GArray) trail = g_array_new(FALSE, FALSE, sizeof(WsTrail));
    if (!search_identity(trail, design->root, WS_F_keyword, 0, node->identity) || trail->len < 2)
        return NULL;
    const WsTrail *last = &g_array_index(trail, WsTrail, trail->len - 1);
    if (field != NULL)
        *field = last->field;
    if (index != NULL)
        *index = last->index;
    return last[-1].node;
}

char *ws_design_path(const WsDesign *design, const WsNode *node)
{
    const char *id = ws_node_text(node, WS_F_id);
    return id != NULL ? g_strdup(id) : ws_design_place(design, node);
}

char *ws_design_place(const WsDesign *design, const WsNode *node)
{
    g_autoptr(GArray) trail = g_array_new(FALSE, FALSE, sizeof(WsTrail));
    GString *path = g_string_new(NULL);
    if (search_identity(trail, design->root, WS_F_keyword, 0, node->identity)) {
        for (guint i = 1; i < trail->len; i++) {
            const WsTrail *t = &g_array_index(trail, WsTrail, i);
            const WsNode *owner = g_array_index(trail, WsTrail, i - 1).node;
            if (path->len > 0)
                g_string_append_c(path, '/');
            g_string_append(path, ws_node_key(owner->kind, t->field));
            if (ws_node_row(owner->kind, t->field)->kind == WS_FIELD_NODE)
                continue;
            g_autofree char *segment = ws_node_segment(t->node, t->index);
            g_string_append_printf(path, "/%s", segment);
        }
    }
    return g_string_free(path, FALSE);
}

/* The place in a list that a segment says, as paths print it; -1: it is none. */
static gint64 place_of(const char *segment)
{
    guint64 place;
    if (segment[0] == '0' && segment[1])
        return -1;
    return g_ascii_string_to_unsigned(segment, 10, 0, G_MAXINT32, &place, NULL) ? (gint64)place
                                                                                : -1;
}

/* Does a path say a child of a list by this segment: its name (ws_node_segment), or its place? */
static gboolean is_segment(const WsNode *child, guint index, const char *segment, gint64 place)
{
    const char *name = ws_node_kind_is_step(child->kind) ? NULL : ws_node_text(child, WS_F_name);
    return index == place || g_strcmp0(name, segment) == 0;
}

/* The child that the segments at `*at` name, one for an object, two for a member of a list; moves
 * `*at` behind them. */
static const WsNode *child_by_path(const WsNode *node, char **segments, guint *at, WsTrail *trail)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        if (strcmp(ws_node_key(node->kind, rows[i].field), segments[*at]) != 0)
            continue;
        const gboolean single = rows[i].kind == WS_FIELD_NODE;
        if (!single && segments[*at + 1] == NULL)
            return NULL;
        const gint64 place = single ? -1 : place_of(segments[*at + 1]);
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++) {
            const WsNode *child = ws_node_child(node, rows[i].field, c);
            if (!single && !is_segment(child, c, segments[*at + 1], place))
                continue;
            *trail = (WsTrail){ child, rows[i].field, c };
            *at += single ? 1 : 2;
            return child;
        }
    }
    return NULL;
}

GArray *ws_design_trail(const WsDesign *design, const char *path_or_id)
{
    GArray *trail = g_array_new(FALSE, FALSE, sizeof(WsTrail));
    const char *made = strchr(path_or_id, '#'); /* a step that a hint made: at its group */
    g_autofree char *written = made ? g_strndup(path_or_id, (gsize)(made - path_or_id)) : NULL;
    path_or_id = written ? written : path_or_id;
    /* No id has a slash (check_id), and most paths do: the search looks at every node. */
    if (*path_or_id != '\0' && strchr(path_or_id, '/') == NULL &&
        search(trail, design->root, WS_F_keyword, 0, has_id, path_or_id))
        return trail;
    g_array_set_size(trail, 0);
    const WsTrail root = { design->root, WS_F_keyword, 0 };
    g_array_append_val(trail, root);
    g_auto(GStrv) segments = g_strsplit(path_or_id, "/", -1);
    const WsNode *node = design->root;
    for (guint at = 0; segments[at] != NULL;) {
        WsTrail next;
        node = child_by_path(node, segments, &at, &next);
        if (node == NULL) {
            g_array_unref(trail);
            return NULL;
        }
        g_array_append_val(trail, next);
    }
    return trail;
}

const WsNode *ws_design_find(const WsDesign *design, const char *path_or_id)
{
    g_autoptr(GArray) trail = ws_design_trail(design, path_or_id);
    return trail != NULL ? g_array_index(trail, WsTrail, trail->len - 1).node : NULL;
}
