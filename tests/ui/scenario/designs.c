#include "designs.h"

#include "ui/inspector/facts.h"

WsDocument *designs_open(const char *path)
{
    WsDocument *d = ws_document_new();
    g_autofree char *full = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    g_autoptr(GFile) file = g_file_new_for_path(full);
    g_autoptr(GError) error = NULL;
    ws_document_open(d, file, &error);
    g_assert_no_error(error);
    return d;
}

void designs_each(const char *folder, void (*visit)(WsDocument *d, const char *name))
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    guint n = 0;
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        if (!g_str_has_suffix(name, ".wstave"))
            continue;
        g_autofree char *relative = g_build_filename(folder, name, NULL);
        g_autoptr(WsDocument) d = designs_open(relative);
        visit(d, name);
        n++;
    }
    g_assert_cmpuint(n, >, 5);
}

void designs_check_places(WsDocument *d, const WsNode *node)
{
    WsDesign *design = ws_document_design(d);
    g_autofree char *path = ws_design_path(design, node);
    g_autoptr(WsInspectorFacts) facts = ws_facts_new(d, path);
    g_assert_cmpuint(facts->list->len, >, 0);
    for (guint i = 0; i < facts->list->len; i++) {
        const WsFact *f = g_ptr_array_index(facts->list, i);
        g_assert_nonnull(f->value);
        if (f->target && !ws_design_find(design, f->target))
            g_error("%s: link to %s, which is not there", path, f->target);
    }
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            designs_check_places(d, ws_node_child(node, rows[i].field, c));
}
