#include "ui/compose/new_dialog.h"

#include "model/findings.h"
#include "ui/panels/palette.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>
#include <string.h>

typedef struct {
    WsWindow *window;
    GtkWindow *dialog;
} New;

static WsDesign *starting_design(const char *name)
{
    g_autofree char *resource = g_strdup_printf("designs/%s", name);
    g_autofree char *text = ws_palette_text(resource);
    g_autoptr(WsFindings) findings = ws_findings_new();
    return text ? ws_design_parse(text, strlen(text), NULL, findings) : NULL;
}

static void activated(GtkListBox *list, GtkListBoxRow *row, New *n)
{
    const char *name = g_object_get_data(G_OBJECT(row), "name");
    g_autoptr(WsDesign) design = *name ? starting_design(name) : ws_edit_empty(_("Untitled"));
    WsWindow *w = n->window;
    gtk_window_destroy(n->dialog);
    if (design)
        ws_window_begin_design(w, design);
}

static GtkWidget *new_row(const char *name, const char *title, const char *note)
{
    GtkWidget *row = gtk_list_box_row_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
    GtkWidget *head = gtk_label_new(title), *text = gtk_label_new(note);
    gtk_label_set_xalign(GTK_LABEL(head), 0);
    gtk_label_set_xalign(GTK_LABEL(text), 0);
    gtk_label_set_wrap(GTK_LABEL(head), TRUE);
    gtk_label_set_wrap(GTK_LABEL(text), TRUE);
    gtk_label_set_max_width_chars(GTK_LABEL(text), 60);
    gtk_widget_add_css_class(head, "ws-title");
    gtk_widget_add_css_class(text, "dim");
    gtk_box_append(GTK_BOX(box), head);
    gtk_box_append(GTK_BOX(box), text);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    g_object_set_data_full(G_OBJECT(row), "name", g_strdup(name), g_free);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, note, -1);
    return row;
}

static void add_starting(GtkListBox *list, const char *name)
{
    g_autoptr(WsDesign) design = starting_design(name);
    const WsNode *root = design ? ws_design_root(design) : NULL;
    const char *note = root ? ws_node_text(root, WS_F_note) : NULL;
    if (root)
        gtk_list_box_append(list,
                            new_row(name, _(ws_node_text(root, WS_F_name)), note ? _(note) : ""));
}

static gboolean key(GtkEventControllerKey *c, guint value, guint code, GdkModifierType state,
                    New *n)
{
    if (value != GDK_KEY_Escape)
        return FALSE;
    gtk_window_destroy(n->dialog);
    return TRUE;
}

void ws_new_dialog_show(WsWindow *w)
{
    New *n = g_new0(New, 1);
    *n = (New){ w, GTK_WINDOW(gtk_window_new()) };
    GtkWidget *scroll = gtk_scrolled_window_new(), *list = gtk_list_box_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_window_set_title(n->dialog, _("New Design"));
    gtk_window_set_transient_for(n->dialog, GTK_WINDOW(w));
    gtk_window_set_modal(n->dialog, TRUE);
    gtk_window_set_destroy_with_parent(n->dialog, TRUE);
    gtk_window_set_default_size(n->dialog, 560, 420);
    gtk_widget_add_css_class(GTK_WIDGET(n->dialog), "ws-studio");
    gtk_widget_add_css_class(list, "ws-starting");
    gtk_list_box_append(GTK_LIST_BOX(list), new_row("", _("Empty"),
                                                    _("One group without steps; everything else by "
                                                      "hand")));
    g_auto(GStrv) names = ws_starting_designs();
    for (guint i = 0; names[i]; i++)
        add_starting(GTK_LIST_BOX(list), names[i]);
    gtk_list_box_select_row(GTK_LIST_BOX(list),
                            gtk_list_box_get_row_at_index(GTK_LIST_BOX(list), 0));
    g_signal_connect(list, "row-activated", G_CALLBACK(activated), n);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), list);
    gtk_window_set_child(n->dialog, scroll);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(key), n);
    gtk_widget_add_controller(GTK_WIDGET(n->dialog), keys);
    g_object_set_data_full(G_OBJECT(n->dialog), "new", n, g_free);
    gtk_window_present(n->dialog);
    gtk_widget_grab_focus(GTK_WIDGET(gtk_list_box_get_row_at_index(GTK_LIST_BOX(list), 0)));
}
