#include "ui/app/command_palette.h"

#include <glib/gi18n.h>
#include <string.h>

typedef struct {
    WsWindow *window;
    GtkWindow *palette;
    GtkListBox *list;
    GtkWidget *entry;
    char **words; /* of the entry, folded */
} Palette;

static void palette_free(Palette *p)
{
    g_strfreev(p->words);
    g_free(p);
}

static const WsAction *row_action(GtkListBoxRow *row)
{
    return g_object_get_data(G_OBJECT(row), "action");
}

static GtkWidget *new_row(WsWindow *w, const WsAction *action)
{
    GtkWidget *row = gtk_list_box_row_new();
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    GtkWidget *name = gtk_label_new(ws_action_label(action));
    GtkWidget *section = gtk_label_new(ws_section_label(action->section));
    g_autofree char *keys = ws_action_keys_text(action);
    GtkWidget *key = gtk_label_new(keys);
    gtk_widget_set_hexpand(section, TRUE);
    gtk_label_set_xalign(GTK_LABEL(section), 0);
    gtk_label_set_ellipsize(GTK_LABEL(section), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(section, "section");
    gtk_widget_add_css_class(key, "keys");
    gtk_box_append(GTK_BOX(line), name);
    gtk_box_append(GTK_BOX(line), section);
    gtk_box_append(GTK_BOX(line), key);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), line);
    gtk_widget_set_tooltip_text(row, ws_action_help(action));
    gtk_widget_set_sensitive(row,
                             g_action_group_get_action_enabled(G_ACTION_GROUP(w), action->name));
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   ws_action_label(action), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   ws_action_help(action), -1);
    g_object_set_data(G_OBJECT(row), "action", (gpointer)action);
    return row;
}

static gboolean matches(GtkListBoxRow *row, gpointer data)
{
    Palette *p = data;
    const WsAction *action = row_action(row);
    g_autofree char *all = g_strconcat(ws_action_label(action), " ", ws_action_help(action), " ",
                                       action->name, " ", ws_section_label(action->section), NULL);
    g_autofree char *folded = g_utf8_casefold(all, -1);
    for (guint i = 0; p->words && p->words[i]; i++)
        if (!strstr(folded, p->words[i]))
            return FALSE;
    return TRUE;
}

/* 0: the label begins with what was typed, 1: it holds it, 2: found elsewhere. */
static int rank(GtkListBoxRow *row, Palette *p)
{
    g_autofree char *label = g_utf8_casefold(ws_action_label(row_action(row)), -1);
    if (!p->words || !p->words[0])
        return 0;
    char *at = strstr(label, p->words[0]);
    return at == label ? 0 : at ? 1 : 2;
}

static int in_order(GtkListBoxRow *a, GtkListBoxRow *b, gpointer data)
{
    int difference = rank(a, data) - rank(b, data);
    return difference ? difference : row_action(a) < row_action(b) ? -1 : 1;
}

static GtkListBoxRow *first_row(Palette *p)
{
    GtkListBoxRow *row;
    for (int i = 0; (row = gtk_list_box_get_row_at_index(p->list, i)); i++)
        if (gtk_widget_get_child_visible(GTK_WIDGET(row)) &&
            gtk_widget_get_sensitive(GTK_WIDGET(row)))
            return row;
    return NULL;
}

static void typed(GtkEditable *entry, Palette *p)
{
    g_autofree char *text = g_utf8_casefold(gtk_editable_get_text(entry), -1);
    g_strfreev(p->words);
    p->words = g_strsplit_set(g_strstrip(text), " ", -1);
    gtk_list_box_invalidate_sort(p->list);
    gtk_list_box_invalidate_filter(p->list);
    gtk_list_box_select_row(p->list, first_row(p));
}

static gboolean run_later(gpointer data)
{
    g_autoptr(GObject) window = ((gpointer *)data)[0];
    const WsAction *action = ((gpointer *)data)[1];
    g_action_group_activate_action(G_ACTION_GROUP(window), action->name, NULL);
    g_free(data);
    return G_SOURCE_REMOVE;
}

/* The palette is gone before the command runs: it may open a dialogue or move the focus. */
static void run_row(Palette *p, GtkListBoxRow *row)
{
    if (!row || !gtk_widget_get_sensitive(GTK_WIDGET(row)))
        return;
    gpointer *both = g_new(gpointer, 2);
    both[0] = g_object_ref(p->window);
    both[1] = (gpointer)row_action(row);
    gtk_window_destroy(p->palette);
    g_idle_add(run_later, both);
}

static void row_activated(GtkListBox *list, GtkListBoxRow *row, Palette *p)
{
    run_row(p, row);
}

static void entry_activated(GtkWidget *entry, Palette *p)
{
    GtkListBoxRow *row = gtk_list_box_get_selected_row(p->list);
    run_row(p, row ? row : first_row(p));
}

static void move(Palette *p, int step)
{
    GtkListBoxRow *row = gtk_list_box_get_selected_row(p->list);
    for (int i = row ? gtk_list_box_row_get_index(row) + step : 0; i >= 0; i += step) {
        GtkListBoxRow *next = gtk_list_box_get_row_at_index(p->list, i);
        if (!next)
            return;
        if (!gtk_widget_get_child_visible(GTK_WIDGET(next)) ||
            !gtk_widget_get_sensitive(GTK_WIDGET(next)))
            continue;
        gtk_list_box_select_row(p->list, next);
        gtk_widget_grab_focus(GTK_WIDGET(next)); /* scrolls to it */
        gtk_widget_grab_focus(p->entry);
        gtk_editable_set_position(GTK_EDITABLE(p->entry), -1);
        return;
    }
}

static gboolean key_pressed(GtkEventControllerKey *controller, guint key, guint code,
                            GdkModifierType state, Palette *p)
{
    if (key == GDK_KEY_Escape)
        gtk_window_destroy(p->palette);
    else if (key == GDK_KEY_Down)
        move(p, 1);
    else if (key == GDK_KEY_Up)
        move(p, -1);
    else
        return FALSE;
    return TRUE;
}

static GtkWidget *make_list(Palette *p)
{
    guint n;
    const WsAction *action = ws_actions(&n);
    GtkWidget *scroll = gtk_scrolled_window_new();
    p->list = GTK_LIST_BOX(gtk_list_box_new());
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Commands"), -1);
    for (guint i = 0; i < n; i++)
        if (strcmp(action[i].name, "palette"))
            gtk_list_box_append(p->list, new_row(p->window, &action[i]));
    gtk_list_box_set_filter_func(p->list, matches, p, NULL);
    gtk_list_box_set_sort_func(p->list, in_order, p, NULL);
    GtkWidget *none = gtk_label_new(_("No command of that name"));
    gtk_widget_set_margin_top(none, 24);
    gtk_list_box_set_placeholder(p->list, none);
    g_signal_connect(p->list, "row-activated", G_CALLBACK(row_activated), p);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), GTK_WIDGET(p->list));
    return scroll;
}

GtkWidget *ws_command_palette_new(WsWindow *window)
{
    Palette *p = g_new0(Palette, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    p->window = window;
    p->palette = GTK_WINDOW(gtk_window_new());
    gtk_window_set_title(p->palette, _("Commands"));
    gtk_window_set_transient_for(p->palette, GTK_WINDOW(window));
    gtk_window_set_modal(p->palette, TRUE);
    gtk_window_set_destroy_with_parent(p->palette, TRUE);
    gtk_window_set_default_size(p->palette, 620, 460);
    gtk_widget_add_css_class(GTK_WIDGET(p->palette), "ws-studio");
    gtk_widget_add_css_class(GTK_WIDGET(p->palette), "ws-palette");
    p->entry = gtk_search_entry_new();
    g_object_set(p->entry, "placeholder-text", _("Type a command"), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Type a command"), -1);
    g_signal_connect(p->entry, "changed", G_CALLBACK(typed), p);
    g_signal_connect(p->entry, "activate", G_CALLBACK(entry_activated), p);
    gtk_box_append(GTK_BOX(box), p->entry);
    gtk_box_append(GTK_BOX(box), make_list(p));
    gtk_window_set_child(p->palette, box);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(key_pressed), p);
    gtk_widget_add_controller(GTK_WIDGET(p->palette), keys);
    g_object_set_data_full(G_OBJECT(p->palette), "state", p, (GDestroyNotify)palette_free);
    gtk_widget_grab_focus(p->entry);
    return GTK_WIDGET(p->palette);
}
