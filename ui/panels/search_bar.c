#include "ui/panels/search_bar.h"

#include "ui/inspector/matches.h"
#include "ui/parts/format.h"

#include <glib/gi18n.h>

struct _WsSearchBar {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *bar, *entry, *count, *popover, *list, *scroll;
    GPtrArray *match;
    char *looked;      /* text that `match` is of */
    GtkWidget *before; /* had the keyboard, weak */
};

G_DEFINE_FINAL_TYPE(WsSearchBar, ws_search_bar, GTK_TYPE_WIDGET)

static void forget_before(WsSearchBar *self)
{
    if (self->before)
        g_object_remove_weak_pointer(G_OBJECT(self->before), (gpointer *)&self->before);
    self->before = NULL;
}

static void dispose(GObject *object)
{
    WsSearchBar *self = WS_SEARCH_BAR(object);
    GtkWidget *child;
    forget_before(self);
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    g_clear_pointer(&self->match, g_ptr_array_unref);
    g_clear_pointer(&self->looked, g_free);
    G_OBJECT_CLASS(ws_search_bar_parent_class)->dispose(object);
}

/* --- results ------------------------------------------------------------------------------------
 */

static GtkWidget *cell(const char *value, const char *css_class, gboolean expand)
{
    GtkWidget *label = gtk_label_new(value);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_MIDDLE);
    gtk_widget_set_hexpand(label, expand);
    if (css_class)
        gtk_widget_add_css_class(label, css_class);
    return label;
}

static GtkWidget *make_row(const WsMatch *m)
{
    GtkWidget *row = gtk_list_box_row_new(), *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    GtkWidget *kind = cell(m->kind, "dim", FALSE), *place = cell(m->place, "dim", TRUE);
    GtkWidget *title = cell(m->title, NULL, TRUE);
    gtk_label_set_width_chars(GTK_LABEL(kind), 8);
    gtk_label_set_width_chars(GTK_LABEL(title), 24);
    gtk_label_set_max_width_chars(GTK_LABEL(title), 60);
    gtk_label_set_width_chars(GTK_LABEL(place), 30);
    gtk_label_set_max_width_chars(GTK_LABEL(place), 50);
    gtk_box_append(GTK_BOX(box), kind);
    gtk_box_append(GTK_BOX(box), title);
    gtk_box_append(GTK_BOX(box), place);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    g_autofree char *spoken =
        g_strdup_printf("%s %s, %s", m->kind, m->title, m->place ? m->place : "");
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken, -1);
    return row;
}

static void show_count(WsSearchBar *self, const char *text)
{
    guint n = self->match->len;
    g_autofree char *found = ws_format_count(n, ngettext("%s result", "%s results", n));
    g_autofree char *many = n == WS_MATCHES_MAX ? g_strdup_printf(_("the first %s"), found) : NULL;
    gtk_label_set_text(GTK_LABEL(self->count), !*text ? "" : many ? many : found);
}

static void point_popover(WsSearchBar *self)
{
    graphene_rect_t bounds;
    if (!gtk_widget_compute_bounds(self->entry, GTK_WIDGET(self), &bounds))
        return;
    GdkRectangle at = { (int)bounds.origin.x, (int)bounds.origin.y, (int)bounds.size.width,
                        (int)bounds.size.height };
    gtk_popover_set_pointing_to(GTK_POPOVER(self->popover), &at);
}

static void look(WsSearchBar *self)
{
    const char *text = gtk_editable_get_text(GTK_EDITABLE(self->entry));
    GtkWidget *row;
    while ((row = gtk_widget_get_first_child(self->list)))
        gtk_list_box_remove(GTK_LIST_BOX(self->list), row);
    g_clear_pointer(&self->match, g_ptr_array_unref);
    self->match = ws_matches_new(self->document, text);
    g_free(self->looked);
    self->looked = g_strdup(text);
    for (guint i = 0; i < self->match->len; i++)
        gtk_list_box_append(GTK_LIST_BOX(self->list), make_row(g_ptr_array_index(self->match, i)));
    show_count(self, text);
    gtk_list_box_select_row(GTK_LIST_BOX(self->list),
                            gtk_list_box_get_row_at_index(GTK_LIST_BOX(self->list), 0));
    if (self->match->len && gtk_widget_get_mapped(GTK_WIDGET(self))) {
        point_popover(self);
        gtk_popover_popup(GTK_POPOVER(self->popover));
    } else {
        gtk_popover_popdown(GTK_POPOVER(self->popover));
    }
}

/* --- going there --------------------------------------------------------------------------------
 */

static gboolean go(WsSearchBar *self, int index)
{
    if (index < 0 || !self->match || (guint)index >= self->match->len)
        return FALSE;
    const WsMatch *m = g_ptr_array_index(self->match, (guint)index);
    WsFocus focus = { .step = m->place, .agent = G_MAXUINT, .tile = -1, .round = -1 };
    gtk_popover_popdown(GTK_POPOVER(self->popover));
    if (m->place)
        ws_document_select(self->document, &focus, WS_SELECT_REPLACE, TRUE);
    return m->place != NULL;
}

/* "search-changed" comes a moment after the last key: whoever acts before it must not act on the
 * results of an earlier text. */
static void look_if_new(WsSearchBar *self)
{
    if (g_strcmp0(self->looked, gtk_editable_get_text(GTK_EDITABLE(self->entry))))
        look(self);
}

gboolean ws_search_bar_activate(WsSearchBar *self)
{
    look_if_new(self);
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(self->list));
    return go(self, row ? gtk_list_box_row_get_index(row) : 0);
}

static void on_row(WsSearchBar *self, GtkListBoxRow *row)
{
    go(self, gtk_list_box_row_get_index(row));
}

/* Keeps the chosen row in sight while the keyboard stays in the entry. */
static void scroll_to(WsSearchBar *self, GtkWidget *row)
{
    graphene_rect_t bounds;
    GtkAdjustment *at = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(self->scroll));
    if (gtk_widget_compute_bounds(row, self->list, &bounds))
        gtk_adjustment_clamp_page(at, bounds.origin.y, bounds.origin.y + bounds.size.height);
}

static void move(WsSearchBar *self, int by)
{
    look_if_new(self);
    int n = self->match ? (int)self->match->len : 0;
    GtkListBoxRow *old = gtk_list_box_get_selected_row(GTK_LIST_BOX(self->list));
    if (n == 0)
        return;
    int to = old ? CLAMP(gtk_list_box_row_get_index(old) + by, 0, n - 1) : 0;
    GtkListBoxRow *row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(self->list), to);
    gtk_list_box_select_row(GTK_LIST_BOX(self->list), row);
    scroll_to(self, GTK_WIDGET(row));
    point_popover(self);
    gtk_popover_popup(GTK_POPOVER(self->popover));
    const WsMatch *m = g_ptr_array_index(self->match, (guint)to);
    g_autofree char *spoken = g_strdup_printf("%s %s", m->kind, m->title);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->entry), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   spoken, -1);
}

static gboolean on_key(WsSearchBar *self, guint key, guint code, GdkModifierType state)
{
    if (key == GDK_KEY_Down || key == GDK_KEY_Up)
        move(self, key == GDK_KEY_Down ? 1 : -1);
    else if (key == GDK_KEY_Page_Down || key == GDK_KEY_Page_Up)
        move(self, key == GDK_KEY_Page_Down ? 8 : -8);
    else
        return GDK_EVENT_PROPAGATE;
    return GDK_EVENT_STOP;
}

static void on_next(WsSearchBar *self)
{
    move(self, 1);
    ws_search_bar_activate(self);
}

static void on_previous(WsSearchBar *self)
{
    move(self, -1);
    ws_search_bar_activate(self);
}

/* --- opening and closing ------------------------------------------------------------------------
 */

void ws_search_bar_open(WsSearchBar *self)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(self));
    GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;
    if (focus && !gtk_widget_is_ancestor(focus, GTK_WIDGET(self))) {
        forget_before(self);
        self->before = focus;
        g_object_add_weak_pointer(G_OBJECT(focus), (gpointer *)&self->before);
    }
    gtk_widget_set_visible(GTK_WIDGET(self), TRUE);
    gtk_widget_grab_focus(self->entry);
    gtk_editable_select_region(GTK_EDITABLE(self->entry), 0, -1);
}

void ws_search_bar_close(WsSearchBar *self)
{
    GtkWidget *before = self->before;
    gtk_popover_popdown(GTK_POPOVER(self->popover));
    gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
    if (before && gtk_widget_get_mapped(before))
        gtk_widget_grab_focus(before);
    forget_before(self);
}

guint ws_search_bar_find(WsSearchBar *self, const char *text)
{
    gtk_editable_set_text(GTK_EDITABLE(self->entry), text);
    look(self);
    return self->match->len;
}

static void on_document(WsSearchBar *self)
{
    if (gtk_widget_get_visible(GTK_WIDGET(self)))
        look(self);
    else
        g_ptr_array_set_size(self->match, 0);
}

/* The results would lie over whatever the person turned to. */
static void on_leave(WsSearchBar *self)
{
    gtk_popover_popdown(GTK_POPOVER(self->popover));
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void ws_search_bar_class_init(WsSearchBarClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(widget, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_SEARCH);
}

static void make_results(WsSearchBar *self)
{
    self->popover = gtk_popover_new();
    self->list = gtk_list_box_new();
    self->scroll = gtk_scrolled_window_new();
    gtk_popover_set_autohide(GTK_POPOVER(self->popover), FALSE);
    gtk_popover_set_has_arrow(GTK_POPOVER(self->popover), FALSE);
    gtk_popover_set_position(GTK_POPOVER(self->popover), GTK_POS_BOTTOM);
    gtk_widget_set_can_focus(self->popover, FALSE);
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(self->list), GTK_SELECTION_BROWSE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Search results"), -1);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(self->scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(self->scroll), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(self->scroll), 320);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->scroll), self->list);
    gtk_popover_set_child(GTK_POPOVER(self->popover), self->scroll);
    gtk_widget_add_css_class(self->popover, "ws-results");
    gtk_widget_set_parent(self->popover, GTK_WIDGET(self));
    g_signal_connect_swapped(self->list, "row-activated", G_CALLBACK(on_row), self);
}

static void ws_search_bar_init(WsSearchBar *self)
{
    GtkEventController *keys = gtk_event_controller_key_new();
    GtkWidget *close = gtk_button_new_from_icon_name("window-close-symbolic");
    self->match = g_ptr_array_new();
    self->bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    self->entry = gtk_search_entry_new();
    self->count = gtk_label_new("");
    g_object_set(self->entry, "placeholder-text",
                 _("Find steps, buffers, barriers, groups and problems"), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Search"), -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(close), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Close the search"), -1);
    gtk_widget_set_tooltip_text(close, _("Close the search (Escape)"));
    gtk_button_set_has_frame(GTK_BUTTON(close), FALSE);
    gtk_widget_set_size_request(self->entry, 420, -1);
    gtk_widget_add_css_class(self->count, "dim");
    gtk_widget_set_hexpand(self->count, TRUE);
    gtk_label_set_xalign(GTK_LABEL(self->count), 0);
    gtk_widget_add_css_class(self->bar, "ws-bar");
    gtk_box_append(GTK_BOX(self->bar), self->entry);
    gtk_box_append(GTK_BOX(self->bar), self->count);
    gtk_box_append(GTK_BOX(self->bar), close);
    gtk_widget_set_parent(self->bar, GTK_WIDGET(self));
    gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
    make_results(self);
    GtkEventController *focus = gtk_event_controller_focus_new();
    g_signal_connect_swapped(focus, "leave", G_CALLBACK(on_leave), self);
    gtk_widget_add_controller(GTK_WIDGET(self), focus);
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect_swapped(keys, "key-pressed", G_CALLBACK(on_key), self);
    gtk_widget_add_controller(self->entry, keys);
    g_signal_connect_swapped(self->entry, "search-changed", G_CALLBACK(look), self);
    g_signal_connect_swapped(self->entry, "activate", G_CALLBACK(ws_search_bar_activate), self);
    g_signal_connect_swapped(self->entry, "next-match", G_CALLBACK(on_next), self);
    g_signal_connect_swapped(self->entry, "previous-match", G_CALLBACK(on_previous), self);
    g_signal_connect_swapped(self->entry, "stop-search", G_CALLBACK(ws_search_bar_close), self);
    g_signal_connect_swapped(close, "clicked", G_CALLBACK(ws_search_bar_close), self);
}

GtkWidget *ws_search_bar_new(WsDocument *document)
{
    WsSearchBar *self = g_object_new(WS_TYPE_SEARCH_BAR, NULL);
    self->document = g_object_ref(document);
    g_signal_connect_object(document, "changed", G_CALLBACK(on_document), self, G_CONNECT_SWAPPED);
    return GTK_WIDGET(self);
}
