#include "ui/window/welcome.h"

#include "ui/app/actions.h"
#include "ui/app/settings.h"

#include <glib/gi18n.h>

#define MAX_ROWS 8

static GtkWidget *label(const char *text, const char *style)
{
    GtkWidget *widget = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(widget), 0);
    gtk_label_set_wrap(GTK_LABEL(widget), TRUE);
    gtk_widget_add_css_class(widget, style);
    return widget;
}

/* A row opens a file: "win.open-file" with its URI. */
static void add_file(GtkListBox *list, const char *name, const char *place, const char *uri)
{
    GtkWidget *row = gtk_list_box_row_new();
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *second = label(place, "place");
    gtk_label_set_wrap(GTK_LABEL(second), FALSE);
    gtk_label_set_ellipsize(GTK_LABEL(second), PANGO_ELLIPSIZE_START);
    gtk_box_append(GTK_BOX(box), label(name, "name"));
    gtk_box_append(GTK_BOX(box), second);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    gtk_actionable_set_action_target(GTK_ACTIONABLE(row), "s", uri);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(row), "win.open-file");
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, place, -1);
    gtk_list_box_append(list, row);
}

static GtkListBox *add_list(GtkBox *box, const char *heading)
{
    GtkWidget *list = gtk_list_box_new();
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(list), GTK_ACCESSIBLE_PROPERTY_LABEL, heading,
                                   -1);
    gtk_box_append(box, label(heading, "heading"));
    gtk_box_append(box, list);
    return GTK_LIST_BOX(list);
}

static int by_name(gconstpointer a, gconstpointer b)
{
    return g_strcmp0(*(const char *const *)a, *(const char *const *)b);
}

static void add_projects(GtkBox *box)
{
    g_autofree char *folder = ws_projects_folder();
    g_autoptr(GDir) dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *entry;
    while (dir && (entry = g_dir_read_name(dir))) {
        g_autofree char *design = g_build_filename(folder, entry, "design.wstave", NULL);
        if (g_file_test(design, G_FILE_TEST_IS_REGULAR))
            g_ptr_array_add(names, g_strdup(entry));
    }
    if (!names->len)
        return;
    g_ptr_array_sort(names, by_name);
    GtkListBox *list = add_list(box, _("Designs that come with Warpstave"));
    for (guint i = 0; i < names->len && i < 2 * MAX_ROWS; i++) {
        const char *name = g_ptr_array_index(names, i);
        g_autofree char *design = g_build_filename(folder, name, "design.wstave", NULL);
        g_autofree char *uri = g_filename_to_uri(design, NULL, NULL);
        add_file(list, name, design, uri);
    }
}

static gint newest_first(gconstpointer a, gconstpointer b)
{
    GtkRecentInfo *first = (GtkRecentInfo *)a, *second = (GtkRecentInfo *)b;
    return g_date_time_compare(gtk_recent_info_get_modified(second),
                               gtk_recent_info_get_modified(first));
}

/* Designs are mostly called design.wstave: the folder says more. Caller frees. */
static char *recent_name(GtkRecentInfo *info)
{
    g_autoptr(GFile) file = g_file_new_for_uri(gtk_recent_info_get_uri(info));
    g_autoptr(GFile) folder = g_file_get_parent(file);
    const char *shown = gtk_recent_info_get_display_name(info);
    return folder && !g_strcmp0(shown, "design.wstave") ? g_file_get_basename(folder)
                                                        : g_strdup(shown);
}

static void add_recent(GtkBox *box)
{
    GList *all = gtk_recent_manager_get_items(gtk_recent_manager_get_default());
    GtkListBox *list = NULL;
    guint n = 0;
    all = g_list_sort(all, newest_first);
    for (GList *l = all; l && n < MAX_ROWS; l = l->next) {
        GtkRecentInfo *info = l->data;
        if (!gtk_recent_info_has_group(info, "warpstave") || !gtk_recent_info_exists(info))
            continue;
        if (!list)
            list = add_list(box, _("Recent"));
        g_autofree char *place = gtk_recent_info_get_uri_display(info);
        g_autofree char *name = recent_name(info);
        add_file(list, name, place ? place : "", gtk_recent_info_get_uri(info));
        n++;
    }
    g_list_free_full(all, (GDestroyNotify)gtk_recent_info_unref);
}

static GtkWidget *open_button(void)
{
    const WsAction *open = ws_action_find("open");
    g_autofree char *tip = ws_action_tooltip(open);
    GtkWidget *button = gtk_button_new_with_label(ws_action_label(open));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.open");
    gtk_widget_set_tooltip_text(button, tip);
    gtk_widget_set_halign(button, GTK_ALIGN_START);
    gtk_widget_add_css_class(button, "suggested-action");
    return button;
}

GtkWidget *ws_welcome_new(void)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 10);
    gtk_widget_set_halign(box, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    gtk_widget_set_size_request(box, 520, -1);
    gtk_widget_set_margin_top(box, 32);
    gtk_widget_set_margin_bottom(box, 32);
    gtk_widget_set_margin_start(box, 24);
    gtk_widget_set_margin_end(box, 24);
    gtk_box_append(GTK_BOX(box), label(_("Warpstave"), "headline"));
    gtk_box_append(GTK_BOX(box),
                   label(_("Open the design of a GPU kernel, or a kernel in Gluon, TLE or PTX, to "
                           "see its pipeline as a score: what each warp group does, when, and what "
                           "it waits for. Or drop a file here."),
                         "lead"));
    gtk_box_append(GTK_BOX(box), open_button());
    add_projects(GTK_BOX(box));
    add_recent(GTK_BOX(box));
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), box);
    gtk_widget_set_hexpand(scroll, TRUE);
    gtk_widget_add_css_class(scroll, "ws-welcome");
    return scroll;
}
