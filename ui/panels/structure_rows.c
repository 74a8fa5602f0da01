#include "ui/panels/structure_rows.h"

#include "edit/edit.h"
#include "edit/entry.h"

#include <glib/gi18n.h>
#include <string.h>

G_DEFINE_FINAL_TYPE(WsStructureRow, ws_structure_row, G_TYPE_OBJECT)

static void finalize(GObject *object)
{
    WsStructureRow *r = WS_STRUCTURE_ROW(object);
    g_free(r->id);
    g_free(r->label);
    g_free(r->detail);
    G_OBJECT_CLASS(ws_structure_row_parent_class)->finalize(object);
}

static void ws_structure_row_class_init(WsStructureRowClass *class)
{
    G_OBJECT_CLASS(class)->finalize = finalize;
}

static void ws_structure_row_init(WsStructureRow *row)
{
}

gboolean ws_structure_row_equal(const WsStructureRow *a, const WsStructureRow *b)
{
    return a->node == b->node && a->depth == b->depth && a->muted == b->muted &&
           a->wrong == b->wrong && !g_strcmp0(a->id, b->id) && !g_strcmp0(a->label, b->label) &&
           !g_strcmp0(a->detail, b->detail);
}

/* The fields that tell one step from another of its kind, with the word that stands before them. */
static const struct {
    WsFieldId field;
    const char *format;
} shown[] = {
    { WS_F_into, "→ %s" },      { WS_F_to, "→ %s" },        { WS_F_from, "← %s" },
    { WS_F_a, "= %s" },         { WS_F_b, "× %s" },         { WS_F_count, "× %s" },
    { WS_F_over, "over %s" },   { WS_F_be, "= %s" },        { WS_F_signal, "⚑ %s" },
    { WS_F_by, "by %s" },       { WS_F_use, "@ %s" },       { WS_F_when, "if %s" },
    { WS_F_ahead, "ahead %s" }, { WS_F_dtype, "%s" },       { WS_F_shape, "[%s]" },
    { WS_F_tile, "[%s]" },      { WS_F_array, "array %s" }, { WS_F_stages, "stages %s" },
    { WS_F_slots, "slots %s" }, { WS_F_init, "%s" },        { WS_F_capacity, "capacity %s" },
    { WS_F_fields, "%s" },      { WS_F_warps, "%s warps" }, { WS_F_replicate, "× %s" },
    { WS_F_start, "from %s" },
};

/* What stands behind "kernel.py:49:9: "; "" if that is not what the note says. */
static const char *quoted(const char *note)
{
    for (const char *c = note ? strchr(note, ':') : NULL; c; c = strchr(c + 1, ':')) {
        const char *end = c + 1 + strspn(c + 1, "0123456789:");
        if (end > c + 2 && end[-1] == ':' && *end == ' ')
            return end + 1;
    }
    return "";
}

static char *detail_of(const WsNode *node)
{
    GString *s = g_string_new(NULL);
    if (node->kind == WS_STEP_RAW) /* of an import: what it quotes of its source */
        g_string_append(s, quoted(ws_node_text(node, WS_F_note)));
    if (node->kind == WS_STEP_COMPUTE) {
        g_autofree char *text =
            ws_entry_text(ws_node_row(node->kind, WS_F_keyword), ws_node_get(node, WS_F_keyword));
        g_strdelimit(text, "\n", ';');
        g_string_append(s, text);
    }
    for (guint i = 0; i < G_N_ELEMENTS(shown); i++) {
        const WsFieldRow *row = ws_node_row(node->kind, shown[i].field);
        const WsValue *value = ws_node_get(node, shown[i].field);
        if (!row || value->kind == WS_VALUE_NONE)
            continue;
        g_autofree char *text = ws_entry_text(row, value);
        g_auto(GStrv) part = g_strsplit(shown[i].format, "%s", 2);
        g_string_append_printf(s, "%s%s%s%s", s->len ? " " : "", part[0], text, part[1]);
    }
    return g_string_free(s, FALSE);
}

static WsStructureRow *new_row(const WsDesign *design, const WsNode *node, guint depth,
                               GHashTable *wrong)
{
    WsStructureRow *r = g_object_new(WS_TYPE_STRUCTURE_ROW, NULL);
    r->id = ws_design_path(design, node);
    r->label = ws_edit_label(node);
    r->detail = detail_of(node);
    r->node = node->identity;
    r->depth = depth;
    r->kind = node->kind;
    r->muted = ws_node_kind_is_step(node->kind) && ws_node_bool(node, WS_F_muted, FALSE);
    r->wrong = wrong && g_hash_table_contains(wrong, r->id);
    return r;
}

static void add_heading(GPtrArray *rows, const char *text)
{
    WsStructureRow *r = g_object_new(WS_TYPE_STRUCTURE_ROW, NULL);
    r->label = g_strdup(text);
    r->kind = WS_NODE_KIND_COUNT;
    g_ptr_array_add(rows, r);
}

static void add_list(GPtrArray *rows, const WsDesign *design, const WsNode *owner, WsFieldId list,
                     guint depth, GHashTable *wrong)
{
    static const WsFieldId inner[] = { WS_F_values, WS_F_counters, WS_F_body,
                                       WS_F_do,     WS_F_then,     WS_F_else };
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *node = ws_node_child(owner, list, i);
        g_ptr_array_add(rows, new_row(design, node, depth, wrong));
        for (guint l = 0; l < G_N_ELEMENTS(inner); l++)
            add_list(rows, design, node, inner[l], depth + 1, wrong);
    }
}

GPtrArray *ws_structure_rows(const WsDesign *design, GHashTable *wrong)
{
    static const struct {
        WsFieldId list;
        const char *heading;
    } part[] = { { WS_F_groups, N_("Groups") },
                 { WS_F_buffers, N_("Buffers") },
                 { WS_F_barriers, N_("Barriers") },
                 { WS_F_pipes, N_("Pipes") },
                 { WS_F_tensors, N_("Tensors") } };
    GPtrArray *rows = g_ptr_array_new_with_free_func(g_object_unref);
    if (!design)
        return rows;
    const WsNode *root = ws_design_root(design);
    WsStructureRow *tiles = new_row(design, ws_node_child(root, WS_F_tiles, 0), 0, wrong);
    g_ptr_array_add(rows, tiles);
    for (guint i = 0; i < G_N_ELEMENTS(part); i++) {
        if (!ws_node_n_children(root, part[i].list))
            continue;
        add_heading(rows, _(part[i].heading));
        add_list(rows, design, root, part[i].list, 0, wrong);
    }
    return rows;
}
