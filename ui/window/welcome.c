#include "ui/window/welcome.h"

#include "ui/app/actions.h"
#include "ui/app/settings.h"
#include "ui/app/theme.h"
#include "ui/window/card_picture.h"

#include <glib/gi18n.h>
#include <string.h>

#define MAX_ROWS 6 /* of recent files */

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

/* --- cards --------------------------------------------------------------------------------------
 */

static const struct {
    const char *name, *purpose;
} cards[] = {
#define WS_CARD(name, purpose) { name, purpose },
#include "ui/window/welcome.def"
#undef WS_CARD
};

/* A page of its own: its cards, and the pictures that are still being drawn while it is shown. */
typedef struct {
    GtkWidget *box; /* borrowed */
    GtkFlowBox *flow;
    WsCardQueue *queue; /* NULL: nothing is being drawn */
    gboolean filled;
} Welcome;

static char *design_of(const char *folder, const char *name)
{
    return g_build_filename(folder, name, "design.wstave", NULL);
}

static GtkWidget *new_card(const char *name, const char *purpose, const char *design)
{
    GtkWidget *button = gtk_button_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
    GtkWidget *picture = gtk_picture_new(), *second = label(purpose, "place");
    g_autofree char *uri = g_filename_to_uri(design, NULL, NULL);
    gtk_widget_set_size_request(picture, WS_CARD_WIDTH, WS_CARD_HEIGHT);
    gtk_picture_set_can_shrink(GTK_PICTURE(picture), TRUE);
    gtk_widget_add_css_class(picture, "ws-card-picture");
    gtk_label_set_max_width_chars(GTK_LABEL(second), 28);
    gtk_box_append(GTK_BOX(box), picture);
    gtk_box_append(GTK_BOX(box), label(name, "name"));
    gtk_box_append(GTK_BOX(box), second);
    gtk_button_set_child(GTK_BUTTON(button), box);
    gtk_widget_add_css_class(button, "ws-card");
    gtk_widget_set_valign(button, GTK_ALIGN_FILL);
    gtk_widget_set_tooltip_text(button, design);
    gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "s", uri);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.open-file");
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, purpose, -1);
    g_object_set_data(G_OBJECT(button), "picture", picture);
    g_object_set_data_full(G_OBJECT(button), "design", g_strdup(design), g_free);
    return button;
}

static void add_card(Welcome *w, const char *folder, const char *name, const char *purpose)
{
    g_autofree char *design = design_of(folder, name);
    if (!g_file_test(design, G_FILE_TEST_IS_REGULAR))
        return;
    if (!w->flow) {
        GtkWidget *flow = gtk_flow_box_new();
        w->flow = GTK_FLOW_BOX(flow);
        gtk_flow_box_set_selection_mode(w->flow, GTK_SELECTION_NONE);
        gtk_flow_box_set_homogeneous(w->flow, TRUE);
        gtk_flow_box_set_max_children_per_line(w->flow, 4);
        gtk_flow_box_set_column_spacing(w->flow, 8);
        gtk_flow_box_set_row_spacing(w->flow, 8);
        gtk_box_append(GTK_BOX(w->box), label(_("Designs that come with Warpstave"), "heading"));
        gtk_box_append(GTK_BOX(w->box), flow);
    }
    gtk_flow_box_insert(w->flow, new_card(name, purpose, design), -1);
}

static gboolean has_card(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(cards); i++)
        if (!strcmp(cards[i].name, name))
            return TRUE;
    return FALSE;
}

static int by_name(gconstpointer a, gconstpointer b)
{
    return g_strcmp0(*(const char *const *)a, *(const char *const *)b);
}

static void add_cards(Welcome *w)
{
    g_autofree char *folder = ws_projects_folder();
    g_autoptr(GDir) dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
    g_autoptr(GPtrArray) others = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; dir && i < G_N_ELEMENTS(cards); i++)
        add_card(w, folder, cards[i].name, _(cards[i].purpose));
    for (const char *entry; dir && (entry = g_dir_read_name(dir));)
        if (!has_card(entry))
            g_ptr_array_add(others, g_strdup(entry));
    g_ptr_array_sort(others, by_name);
    for (guint i = 0; i < others->len; i++)
        add_card(w, folder, others->pdata[i], "");
}

static void draw_cards(Welcome *w)
{
    g_clear_pointer(&w->queue, ws_card_queue_free);
    if (!w->flow || !gtk_widget_get_mapped(GTK_WIDGET(w->box)))
        return;
    w->queue = ws_card_queue_new();
    GtkFlowBoxChild *child;
    for (int i = 0; (child = gtk_flow_box_get_child_at_index(w->flow, i)); i++) {
        GObject *button = G_OBJECT(gtk_flow_box_child_get_child(child));
        gtk_widget_set_focusable(GTK_WIDGET(child), FALSE); /* the button in it is */
        ws_card_queue_add(w->queue, g_object_get_data(button, "picture"),
                          g_object_get_data(button, "design"));
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

/* "New Design…", "Open…": what one begins with. */
static void add_button(GtkBox *box, const char *name, gboolean first)
{
    const WsAction *action = ws_action_find(name);
    g_autofree char *tip = ws_action_tooltip(action), *target = g_strconcat("win.", name, NULL);
    GtkWidget *button = gtk_button_new_with_label(ws_action_label(action));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), target);
    gtk_widget_set_tooltip_text(button, tip);
    if (first)
        gtk_widget_add_css_class(button, "suggested-action");
    gtk_box_append(box, button);
}

/* Only a window without a design shows it: nothing is made before that. */
static void shown(GtkWidget *box, Welcome *w)
{
    if (!w->filled) {
        GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
        w->filled = TRUE;
        add_button(GTK_BOX(row), "new", FALSE);
        add_button(GTK_BOX(row), "open", TRUE);
        gtk_box_append(GTK_BOX(box), row);
        add_recent(GTK_BOX(box));
        add_cards(w);
    }
    draw_cards(w);
}

static void hidden(GtkWidget *box, Welcome *w)
{
    g_clear_pointer(&w->queue, ws_card_queue_free);
}

static void forget(gpointer data, GObject *box)
{
    Welcome *w = data;
    g_clear_pointer(&w->queue, ws_card_queue_free);
    g_free(w);
}

static void recolour(GtkWidget *box, gpointer unused)
{
    draw_cards(g_object_get_data(G_OBJECT(box), "welcome"));
}

GtkWidget *ws_welcome_new(void)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 10);
    Welcome *w = g_new0(Welcome, 1);
    w->box = box;
    gtk_widget_set_halign(box, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(box, GTK_ALIGN_START);
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
    g_object_set_data(G_OBJECT(box), "welcome", w);
    g_signal_connect(box, "map", G_CALLBACK(shown), w);
    g_signal_connect(box, "unmap", G_CALLBACK(hidden), w);
    g_signal_connect_object(ws_theme_watch(), "changed", G_CALLBACK(recolour), box,
                            G_CONNECT_SWAPPED);
    g_object_weak_ref(G_OBJECT(box), forget, w);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), box);
    gtk_widget_set_hexpand(scroll, TRUE);
    gtk_widget_add_css_class(scroll, "ws-welcome");
    return scroll;
}
