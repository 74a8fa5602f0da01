#include "edit/draft.h"

#include "base/phrase.h"
#include "model/finding.h"
#include "model/findings.h"

WsDraft *ws_draft_new(const WsDesign *design)
{
    WsDraft *d = g_new0(WsDraft, 1);
    d->design = ws_design_ref(design);
    d->former = g_ptr_array_new_with_free_func((GDestroyNotify)ws_design_unref);
    d->edits = g_ptr_array_new_with_free_func((GDestroyNotify)ws_edit_free);
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
    g_ptr_array_unref(d->edits);
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
    d->why = ws_phrase_v(format, list);
    va_end(list);
    return FALSE;
}

/* Says the first of what was found. Always FALSE. */
static gboolean refuse_found(WsDraft *d)
{
    const WsFinding *f = d->refused->list->len > 0 ? g_ptr_array_index(d->refused->list, 0) : NULL;
    if (f == NULL)
        return ws_draft_refuse(d, "it does not fit");
    return f->advised != NULL ? ws_draft_refuse(d, "%s; %s", f->said, f->advised)
                              : ws_draft_refuse(d, "%s", f->said);
}

gboolean ws_draft_whole(WsDraft *d)
{
    if (!d->parts || d->why != NULL)
        return d->why == NULL;
    g_clear_pointer(&d->refused, ws_findings_free);
    d->refused = ws_findings_new();
    return ws_design_is_whole(d->design, d->refused) || refuse_found(d);
}

gboolean ws_draft_apply(WsDraft *d, WsEdit *edit)
{
    g_autoptr(WsEdit) own = edit;
    if (d->why != NULL)
        return FALSE;
    g_clear_pointer(&d->refused, ws_findings_free);
    d->refused = ws_findings_new();
    WsDesign *design =
        (d->parts ? ws_design_apply_part : ws_design_apply)(d->design, own, d->refused);
    if (design == NULL)
        return refuse_found(d);
    g_ptr_array_add(d->former, d->design);
    d->design = design;
    g_ptr_array_add(d->edits, g_steal_pointer(&own));
    return TRUE;
}

char *ws_draft_script(const WsDraft *d)
{
    GString *script = g_string_new(NULL);
    for (guint i = 0; i < d->edits->len; i++) {
        g_autofree char *text = ws_edit_print(d->edits->pdata[i]);
        g_string_append_printf(script, "%s\n", text);
    }
    return g_string_free(script, FALSE);
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

gboolean ws_draft_set(WsDraft *d, guint64 node, WsFieldId field, WsJson *value)
{
    g_autofree char *path = place(d, node);
    if (path != NULL)
        return ws_draft_apply(
            d, ws_edit_new_set(path, ws_node_key(ws_draft_node(d, node)->kind, field), value));
    ws_json_free(value);
    return FALSE;
}

gboolean ws_draft_replace(WsDraft *d, guint64 node, WsJson *value)
{
    g_autofree char *path = place(d, node);
    if (path != NULL)
        return ws_draft_apply(d, ws_edit_new_replace(path, value));
    ws_json_free(value);
    return FALSE;
}

gboolean ws_draft_remove(WsDraft *d, guint64 node)
{
    g_autofree char *path = place(d, node);
    return path != NULL && ws_draft_apply(d, ws_edit_new_remove(path));
}

gboolean ws_draft_move(WsDraft *d, guint64 node, guint64 owner, WsFieldId list, guint index)
{
    g_autofree char *path = place(d, node), *to = place(d, owner);
    return path != NULL && to != NULL &&
           ws_draft_apply(
               d,
               ws_edit_new_move(path, to, ws_node_key(ws_draft_node(d, owner)->kind, list), index));
}

guint64 ws_draft_insert(WsDraft *d, guint64 owner, WsFieldId list, guint index, WsJson *value)
{
    g_autofree char *path = place(d, owner);
    if (path == NULL) {
        ws_json_free(value);
        return 0;
    }
    const char *key = ws_node_key(ws_draft_node(d, owner)->kind, list);
    return ws_draft_apply(d, ws_edit_new_insert(path, key, index, value))
               ? ws_node_child(ws_draft_node(d, owner), list, index)->identity
               : 0;
}

guint64 ws_draft_append(WsDraft *d, guint64 owner, WsFieldId list, WsJson *value)
{
    const WsNode *node = ws_draft_node(d, owner);
    return ws_draft_insert(d, owner, list, node != NULL ? ws_node_n_children(node, list) : 0,
                           value);
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
