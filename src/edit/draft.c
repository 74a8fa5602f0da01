#include "edit/draft.h"
#include "model/text.h"

#include <string.h>

WsDraft *ws_draft_new(const WsDesign *design)
{
    WsDraft *d = g_new0(WsDraft, 1);
    d->design = ws_design_ref(design);
    d->former = g_ptr_array_new_with_free_func((GDestroyNotify)ws_design_unref);
    d->script = g_string_new(NULL);
    d->touched = g_array_new(FALSE, FALSE, sizeof(guint64));
    d->verb = "Edit %s";
    return d;
}

void ws_draft_free(WsDraft *d)
{
    if (d == NULL)
        return;
    ws_design_unref(d->design);
    g_ptr_array_unref(d->former);
    g_string_free(d->script, TRUE);
    g_array_unref(d->touched);
    g_clear_pointer(&d->refused, ws_findings_free);
    g_free(d->what);
    g_free(d->why);
    g_free(d);
}

gboolean ws_draft_refuse(WsDraft *d, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_free(d->why);
    d->why = g_strdup_vprintf(format, list);
    va_end(list);
    return FALSE;
}

gboolean ws_draft_line(WsDraft *d, const char *line)
{
    g_autoptr(GError) error = NULL;
    if (d->why != NULL)
        return FALSE;
    g_autoptr(WsEdit) edit = ws_edit_parse(line, &error);
    if (edit == NULL)
        return ws_draft_refuse(d, "%s", error->message);
    g_clear_pointer(&d->refused, ws_findings_free);
    d->refused = ws_findings_new();
    WsDesign *design = ws_design_apply(d->design, edit, d->refused);
    if (design == NULL) {
        const WsFinding *f =
            d->refused->list->len > 0 ? g_ptr_array_index(d->refused->list, 0) : NULL;
        return ws_draft_refuse(d, "%s%s%s", f != NULL ? f->message : "it does not fit",
                               f != NULL && f->remedy != NULL ? "; " : "",
                               f != NULL && f->remedy != NULL ? f->remedy : "");
    }
    g_ptr_array_add(d->former, d->design);
    d->design = design;
    g_autofree char *text = ws_edit_print(edit);
    g_string_append_printf(d->script, "%s\n", text);
    return TRUE;
}

gboolean ws_draft_edit(WsDraft *d, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *line = g_strdup_vprintf(format, list);
    va_end(list);
    return ws_draft_line(d, line);
}

const WsNode *ws_draft_node(const WsDraft *d, guint64 node)
{
    return ws_design_by_identity(d->design, node);
}

/* Where a node stands now, "." for the document; NULL after refusing. Caller frees. */
static char *place(WsDraft *d, guint64 identity)
{
    const WsNode *node = ws_draft_node(d, identity);
    if (node == NULL) {
        ws_draft_refuse(d, "it is no longer part of the design");
        return NULL;
    }
    return node == ws_design_root(d->design) ? g_strdup(".") : ws_design_place(d->design, node);
}

gboolean ws_draft_set(WsDraft *d, guint64 node, const char *key, const char *json)
{
    g_autofree char *path = place(d, node);
    if (path == NULL)
        return FALSE;
    return json != NULL ? ws_draft_edit(d, "set %s %s %s", path, key, json)
                        : ws_draft_edit(d, "unset %s %s", path, key);
}

gboolean ws_draft_set_text(WsDraft *d, guint64 node, const char *key, const char *text)
{
    g_autofree char *json = ws_text_quote(text);
    return ws_draft_set(d, node, key, json);
}

gboolean ws_draft_remove(WsDraft *d, guint64 node)
{
    g_autofree char *path = place(d, node);
    return path != NULL && ws_draft_edit(d, "remove %s", path);
}

gboolean ws_draft_move(WsDraft *d, guint64 node, guint64 owner, const char *list, guint index)
{
    g_autofree char *path = place(d, node), *to = place(d, owner);
    return path != NULL && to != NULL &&
           ws_draft_edit(d, "move %s %s %s %u", path, to, list, index);
}

guint64 ws_draft_insert(WsDraft *d, guint64 owner, const char *list, guint index, const char *json)
{
    g_autofree char *path = place(d, owner);
    if (path == NULL || !ws_draft_edit(d, "insert %s %s %u %s", path, list, index, json))
        return 0;
    const WsNode *node = ws_draft_node(d, owner);
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        if (strcmp(ws_node_key(node->kind, rows[i].field), list) == 0)
            return ws_node_child(node, rows[i].field, index)->identity;
    return 0;
}

void ws_draft_name(WsDraft *d, const char *verb, const char *what)
{
    d->verb = verb;
    g_free(d->what);
    d->what = g_strdup(what);
}

void ws_draft_touch(WsDraft *d, guint64 node)
{
    for (guint i = 0; i < d->touched->len; i++)
        if (g_array_index(d->touched, guint64, i) == node)
            return;
    g_array_append_val(d->touched, node);
}
