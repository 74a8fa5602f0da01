#include "ui/compose/edit_commands.h"

#include "model/findings.h"
#include "ui/compose/add_dialog.h"
#include "ui/compose/rename_popover.h"
#include "ui/gesture/edge_keys.h"
#include "ui/parts/words.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>
#include <string.h>

/* Commands that the edits of one kind may follow each other as one step. */
#define NUDGE "nudge"

static WsDraft *draft_of(WsWindow *w)
{
    WsDesign *latest = ws_document_latest(w->document);
    return latest ? ws_draft_new(latest) : NULL;
}

gboolean ws_edit_commit(WsWindow *w, WsDraft *taken, const char *coalesce)
{
    g_autoptr(WsDraft) draft = taken;
    if (!draft)
        return FALSE;
    if (draft->why) {
        g_autofree char *why = ws_words(draft->why);
        ws_window_toast(w, why);
        gtk_widget_error_bell(GTK_WIDGET(w));
        return FALSE;
    }
    g_autofree char *guesses = ws_edit_guesses(ws_document_latest(w->document), draft->design);
    g_autofree char *said = guesses ? g_strdup_printf(_("Guessed: %s"), guesses) : NULL;
    ws_window_toast(w, said);
    return ws_document_commit(w->document, draft, coalesce);
}

const WsNode *ws_edit_focus(WsWindow *w)
{
    WsDesign *latest = ws_document_latest(w->document);
    const guint64 node = ws_document_node(w->document, ws_document_focus(w->document)->step);
    return latest && node ? ws_design_by_identity(latest, node) : NULL;
}

gboolean ws_edit_add_kind(WsWindow *w, WsNodeKind kind, WsEditSpot spot)
{
    WsDraft *d = draft_of(w);
    if (!d)
        return FALSE;
    if (spot.owner && ws_node_kind_is_step(kind))
        ws_edit_add_at(d, kind, spot);
    else
        ws_edit_add(d, kind, ws_edit_focus(w));
    return ws_edit_commit(w, d, NULL);
}

gboolean ws_edit_insert_text(WsWindow *w, const char *text, gboolean template, WsEditSpot spot)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) clip = text ? ws_design_parse(text, strlen(text), NULL, findings) : NULL;
    WsDraft *d = draft_of(w);
    if (!d)
        return FALSE;
    if (!spot.owner)
        spot = ws_edit_spot(d->design, ws_edit_focus(w));
    if (!clip)
        ws_draft_refuse(d, "%s", _("The clipboard holds no part of a design."));
    else if (template)
        ws_edit_template(d, clip, spot);
    else
        ws_edit_paste(d, clip, spot);
    return ws_edit_commit(w, d, NULL);
}

/* --- on the selection ---------------------------------------------------------------------------
 */

typedef gboolean (*OnNodes)(WsDraft *d, const guint64 *nodes, guint n);

static void on_nodes(WsWindow *w, OnNodes edit)
{
    g_autoptr(GArray) nodes = ws_document_selected_nodes(w->document);
    WsDraft *d = draft_of(w);
    if (d)
        edit(d, (const guint64 *)(gpointer)nodes->data, nodes->len);
    ws_edit_commit(w, d, NULL);
}

typedef gboolean (*OnNodesBy)(WsDraft *d, const guint64 *nodes, guint n, gint by);

static void on_nodes_by(WsWindow *w, OnNodesBy edit, gint by, const char *coalesce)
{
    g_autoptr(GArray) nodes = ws_document_selected_nodes(w->document);
    WsDraft *d = draft_of(w);
    if (d)
        edit(d, (const guint64 *)(gpointer)nodes->data, nodes->len, by);
    ws_edit_commit(w, d, coalesce);
}

typedef gboolean (*OnFocus)(WsDraft *d, guint64 node);

static void on_focus(WsWindow *w, OnFocus edit)
{
    const WsNode *node = ws_edit_focus(w);
    WsDraft *d = draft_of(w);
    if (d && node)
        edit(d, node->identity);
    else if (d)
        ws_draft_refuse(d, "%s", _("Select a step first."));
    ws_edit_commit(w, d, NULL);
}

/* Text fields keep their own undo while they have the keyboard. */
static gboolean in_text(WsWindow *w, const char *action)
{
    GtkWidget *focus = gtk_root_get_focus(GTK_ROOT(w));
    return focus && (GTK_IS_TEXT(focus) || GTK_IS_TEXT_VIEW(focus)) &&
           gtk_widget_activate_action(focus, action, NULL);
}

static void do_undo(WsWindow *w)
{
    if (!in_text(w, "text.undo"))
        ws_document_undo(w->document);
}

static void do_redo(WsWindow *w)
{
    if (!in_text(w, "text.redo"))
        ws_document_redo(w->document);
}

static gboolean do_copy_text(WsWindow *w)
{
    g_autoptr(GArray) nodes = ws_document_selected_nodes(w->document);
    WsDesign *latest = ws_document_latest(w->document);
    g_autofree char *text =
        latest ? ws_edit_copy(latest, (const guint64 *)(gpointer)nodes->data, nodes->len) : NULL;
    if (!text || !nodes->len) {
        ws_window_toast(w, _("Nothing is selected that can be copied."));
        return FALSE;
    }
    gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(w)), text);
    return TRUE;
}

static void do_copy(WsWindow *w)
{
    do_copy_text(w);
}

static void do_cut(WsWindow *w)
{
    if (do_copy_text(w))
        on_nodes(w, ws_edit_remove);
}

static void pasted(GObject *clipboard, GAsyncResult *result, gpointer data)
{
    g_autoptr(WsWindow) w = data;
    g_autofree char *text = gdk_clipboard_read_text_finish(GDK_CLIPBOARD(clipboard), result, NULL);
    if (w->document)
        ws_edit_insert_text(w, text, FALSE, (WsEditSpot){ 0 });
}

static void do_paste(WsWindow *w)
{
    gdk_clipboard_read_text_async(gtk_widget_get_clipboard(GTK_WIDGET(w)), NULL, pasted,
                                  g_object_ref(w));
}

static gboolean one_more(WsDraft *d, guint64 node)
{
    return ws_edit_replicate(d, node, 1);
}

static gboolean one_less(WsDraft *d, guint64 node)
{
    return ws_edit_replicate(d, node, -1);
}

/* The ring that the focus is, or that the step fills, frees or waits for. */
static const WsNode *ring_of(const WsDesign *design, const WsNode *node)
{
    static const WsFieldId named[] = { WS_F_into, WS_F_from, WS_F_signal, WS_F_keyword };
    if (!node || ws_edit_depth_of(design, node))
        return node;
    for (guint i = 0; i < G_N_ELEMENTS(named); i++) {
        const WsRef *ref = ws_node_refv(node, named[i]);
        const WsNode *object =
            ws_edit_object(design, ref ? ref->name : ws_node_text(node, named[i]));
        if (object && ws_edit_depth_of(design, object))
            return object;
    }
    return NULL;
}

static gboolean change_depth(WsDraft *d, guint64 node, gint by)
{
    const WsNode *ring = ring_of(d->design, ws_draft_node(d, node));
    if (!ring)
        return ws_draft_refuse(d, "%s", _("Select a buffer, a barrier, or a step that uses one."));
    const gint64 depth = ws_edit_depth_of(d->design, ring);
    const gboolean ok = ws_edit_depth(d, ring->identity, depth + by);
    g_array_set_size(d->touched, 0);
    ws_draft_touch(d, node);
    return ok;
}

static gboolean deeper(WsDraft *d, guint64 node)
{
    return change_depth(d, node, 1);
}

static gboolean shallower(WsDraft *d, guint64 node)
{
    return change_depth(d, node, -1);
}

static void do_history(WsWindow *w)
{
    gtk_menu_button_popup(GTK_MENU_BUTTON(w->history_button));
}

static void do_rename(WsWindow *w)
{
    ws_rename_popup(w);
}

/* What edits the selection, or the focus of it. */
static const struct {
    const char *name;
    OnNodes nodes;
    OnNodesBy by;
    gint value;           /* of `by` */
    const char *coalesce; /* of `by` */
    OnFocus focus;
} edits[] = {
    { "delete", .nodes = ws_edit_remove },
    { "duplicate", .nodes = ws_edit_duplicate },
    { "mute", .nodes = ws_edit_mute },
    { "indent", .nodes = ws_edit_indent },
    { "outdent", .nodes = ws_edit_outdent },
    { "wrap", .nodes = ws_edit_wrap },
    { "earlier", .by = ws_edit_nudge, .value = -1, .coalesce = NUDGE },
    { "later", .by = ws_edit_nudge, .value = 1, .coalesce = NUDGE },
    { "ahead-more", .by = ws_edit_ahead, .value = 1, .coalesce = "ahead" },
    { "ahead-less", .by = ws_edit_ahead, .value = -1, .coalesce = "ahead" },
    { "group-before", .by = ws_edit_other_group, .value = -1, .coalesce = NULL },
    { "group-behind", .by = ws_edit_other_group, .value = 1, .coalesce = NULL },
    { "unwrap", .focus = ws_edit_unwrap },
    { "peel", .focus = ws_edit_peel },
    { "rotate", .focus = ws_edit_rotate },
    { "roll", .focus = ws_edit_roll },
    { "explicit", .focus = ws_edit_explicit },
    { "part", .focus = ws_edit_part },
    { "replicate-more", .focus = one_more },
    { "replicate-less", .focus = one_less },
    { "deeper", .focus = deeper },
    { "shallower", .focus = shallower },
};

/* FALSE: it is none of them. */
static gboolean edit(WsWindow *w, const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(edits); i++) {
        if (strcmp(edits[i].name, name))
            continue;
        if (w && edits[i].nodes)
            on_nodes(w, edits[i].nodes);
        else if (w && edits[i].by)
            on_nodes_by(w, edits[i].by, edits[i].value, edits[i].coalesce);
        else if (w)
            on_focus(w, edits[i].focus);
        return TRUE;
    }
    return FALSE;
}

static const WsCommand commands[] = {
    { "undo", do_undo },
    { "redo", do_redo },
    { "history", do_history },
    { "cut", do_cut },
    { "copy", do_copy },
    { "paste", do_paste },
    { "rename", do_rename },
    { "connect", ws_edge_keys_go },
    { "add", .with = ws_add_dialog_show, .value = FALSE },
    { "template", .with = ws_add_dialog_show, .value = TRUE },
};

gboolean ws_edit_has_command(const char *name)
{
    return edit(NULL, name) || ws_command_find(commands, G_N_ELEMENTS(commands), name);
}

void ws_edit_command(WsWindow *w, const char *name)
{
    if (!edit(w, name))
        ws_command_run(ws_command_find(commands, G_N_ELEMENTS(commands), name), w);
}
