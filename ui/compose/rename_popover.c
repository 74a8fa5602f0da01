#include "ui/compose/rename_popover.h"

#include "ui/compose/edit_commands.h"
#include "ui/parts/words.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>

typedef struct {
    WsWindow *window;
    GtkWindow *dialog;
    GtkEditable *entry;
    GtkLabel *why;
    guint64 node;
} Rename;

/* Tries the name; says what stands against it as it is typed. */
static WsDraft *try_name(Rename *r)
{
    WsDesign *latest = ws_document_latest(r->window->document);
    WsDraft *d = latest ? ws_draft_new(latest) : NULL;
    if (d)
        ws_edit_rename(d, r->node, gtk_editable_get_text(r->entry));
    return d;
}

static void typed(Rename *r)
{
    g_autoptr(WsDraft) d = try_name(r);
    g_autofree char *why = ws_words(d ? d->why : NULL);
    gtk_label_set_text(r->why, why ? why : "");
}

static void activated(Rename *r)
{
    WsDraft *d = try_name(r);
    if (d && !d->why) {
        ws_edit_commit(r->window, d, NULL);
        gtk_window_destroy(r->dialog);
        return;
    }
    ws_draft_free(d);
    gtk_widget_error_bell(GTK_WIDGET(r->entry));
}

static gboolean key(GtkEventControllerKey *c, guint value, guint code, GdkModifierType state,
                    Rename *r)
{
    if (value != GDK_KEY_Escape)
        return FALSE;
    gtk_window_destroy(r->dialog);
    return TRUE;
}

void ws_rename_popup(WsWindow *w)
{
    const WsNode *node = ws_edit_focus(w);
    const char *name = node ? ws_node_text(node, ws_node_name_field(node->kind)) : NULL;
    if (!name) {
        ws_window_toast(w, _("It has no name of its own; select an object, a group or a loop."));
        return;
    }
    Rename *r = g_new0(Rename, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *entry = gtk_entry_new(), *why = gtk_label_new("");
    g_autofree char *label = ws_edit_label(node);
    g_autofree char *title = g_strdup_printf(_("Rename %s"), label);
    *r = (Rename){ w, GTK_WINDOW(gtk_window_new()), GTK_EDITABLE(entry), GTK_LABEL(why),
                   node->identity };
    gtk_window_set_title(r->dialog, title);
    gtk_window_set_transient_for(r->dialog, GTK_WINDOW(w));
    gtk_window_set_modal(r->dialog, TRUE);
    gtk_window_set_default_size(r->dialog, 380, -1);
    gtk_editable_set_text(r->entry, name);
    gtk_label_set_wrap(r->why, TRUE);
    gtk_label_set_xalign(r->why, 0);
    gtk_widget_add_css_class(why, "ws-field-error");
    gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
    gtk_widget_add_css_class(box, "ws-dialog");
    gtk_box_append(GTK_BOX(box), entry);
    gtk_box_append(GTK_BOX(box), why);
    gtk_window_set_child(r->dialog, box);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(key), r);
    gtk_widget_add_controller(GTK_WIDGET(r->dialog), keys);
    g_signal_connect_swapped(entry, "changed", G_CALLBACK(typed), r);
    g_signal_connect_swapped(entry, "activate", G_CALLBACK(activated), r);
    g_object_set_data_full(G_OBJECT(r->dialog), "rename", r, g_free);
    gtk_window_present(r->dialog);
    gtk_editable_select_region(r->entry, 0, -1);
}
