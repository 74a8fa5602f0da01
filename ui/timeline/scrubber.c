#include "ui/timeline/scrubber.h"

#include "ui/app/actions.h"
#include "ui/parts/format.h"

#include <glib/gi18n.h>

struct _WsScrubber {
    GtkWidget parent;
    WsTimeline *timeline;
    GtkWidget *box, *cta, *back, *place, *forward, *list, *tile_row;
    GtkAdjustment *tile, *round; /* of the scales in the popover; owned by them */
    guint later;                 /* source: label after a move */
    gboolean quiet;
};

G_DEFINE_FINAL_TYPE(WsScrubber, ws_scrubber, GTK_TYPE_WIDGET)

/* --- what it says -------------------------------------------------------------------------------
 */

static const WsScoreRound *round_of(WsScrubber *self, guint i)
{
    return &g_array_index(ws_timeline_rounds(self->timeline, NULL), WsScoreRound, i);
}

static guint n_rounds(WsScrubber *self)
{
    const GArray *rounds = ws_timeline_rounds(self->timeline, NULL);
    return rounds ? rounds->len : 0;
}

/* First round of the tile that round `i` belongs to. */
static guint first_of_tile(WsScrubber *self, guint i)
{
    gint32 tile = round_of(self, i)->tile;
    while (i > 0 && round_of(self, i - 1)->tile == tile)
        i--;
    return i;
}

static guint tiles_before(WsScrubber *self, guint i)
{
    guint n = 0;
    for (guint k = 1; k <= i; k++)
        n += round_of(self, k)->tile != round_of(self, k - 1)->tile;
    return n;
}

static char *place_text(WsScrubber *self, guint at)
{
    const char *loop;
    ws_timeline_rounds(self->timeline, &loop);
    const WsScoreRound *r = round_of(self, at);
    if (r->tile < 0)
        return g_strdup_printf("%s %d", loop, r->round);
    /* Translators: a tile of the output, and a round of the loop named %s. */
    return r->round < 0 ? g_strdup_printf(_("tile %d"), r->tile)
                        : g_strdup_printf(_("tile %d · %s %d"), r->tile, loop, r->round);
}

static gboolean say_place(gpointer data)
{
    WsScrubber *self = data;
    self->later = 0;
    gint at = ws_timeline_round_at(self->timeline);
    gboolean any = at >= 0 && n_rounds(self) > 1;
    gtk_widget_set_visible(self->place, any);
    gtk_widget_set_visible(self->back, any);
    gtk_widget_set_visible(self->forward, any);
    if (!any)
        return G_SOURCE_REMOVE;
    g_autofree char *text = place_text(self, (guint)at);
    gtk_menu_button_set_label(GTK_MENU_BUTTON(self->place), text);
    gtk_widget_set_sensitive(self->back, at > 0);
    gtk_widget_set_sensitive(self->forward, at + 1 < (gint)n_rounds(self));
    self->quiet = TRUE;
    guint first = first_of_tile(self, (guint)at), last = (guint)at;
    while (last + 1 < n_rounds(self) &&
           round_of(self, last + 1)->tile == round_of(self, last)->tile)
        last++;
    gtk_adjustment_configure(self->round, at - (gint)first, 0, last - first, 1, 8, 0);
    guint tiles = tiles_before(self, n_rounds(self) - 1);
    gtk_adjustment_configure(self->tile, tiles_before(self, (guint)at), 0, tiles, 1, 4, 0);
    gtk_widget_set_visible(self->tile_row, tiles > 0);
    self->quiet = FALSE;
    return G_SOURCE_REMOVE;
}

static void moved(WsScrubber *self)
{
    if (!self->later)
        self->later = g_idle_add_full(G_PRIORITY_LOW, say_place, self, NULL);
}

static char *cta_text(WsScrubber *self, guint i, gboolean all)
{
    const WsTraceCta *cta = ws_timeline_cta_info(self->timeline, i);
    g_autofree char *name = ws_timeline_cta_name(self->timeline, i);
    g_autofree char *cycles = ws_format_cycles(cta->cycles);
    if (!all)
        return g_steal_pointer(&name);
    return cta->sm == G_MAXUINT32 ? g_strdup_printf("%s · %s", name, cycles)
                                  : g_strdup_printf(_("%s · SM %u · %s"), name, cta->sm, cycles);
}

static void fill_list(WsScrubber *self)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->list)))
        gtk_list_box_remove(GTK_LIST_BOX(self->list), child);
    for (guint i = 0; i < ws_timeline_n_ctas(self->timeline); i++) {
        g_autofree char *text = cta_text(self, i, TRUE);
        GtkWidget *label = gtk_label_new(text);
        gtk_label_set_xalign(GTK_LABEL(label), 0);
        gtk_list_box_append(GTK_LIST_BOX(self->list), label);
    }
}

static void rounds_changed(WsScrubber *self)
{
    guint n = ws_timeline_n_ctas(self->timeline), at = ws_timeline_cta(self->timeline);
    gtk_widget_set_visible(self->cta, n > 1);
    if (n > 1) {
        g_autofree char *text = cta_text(self, at, FALSE);
        gtk_menu_button_set_label(GTK_MENU_BUTTON(self->cta), text);
    }
    moved(self);
}

/* --- what one does with it ----------------------------------------------------------------------
 */

static void cta_opens(GtkMenuButton *button, gpointer data)
{
    WsScrubber *self = data;
    fill_list(self);
    GtkListBoxRow *row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(self->list),
                                                       (int)ws_timeline_cta(self->timeline));
    gtk_list_box_select_row(GTK_LIST_BOX(self->list), row);
}

static void cta_chosen(WsScrubber *self, GtkListBoxRow *row)
{
    ws_timeline_set_cta(self->timeline, (guint)gtk_list_box_row_get_index(row));
    gtk_menu_button_popdown(GTK_MENU_BUTTON(self->cta));
}

static void round_dragged(WsScrubber *self)
{
    gint at = ws_timeline_round_at(self->timeline);
    if (self->quiet || at < 0)
        return;
    guint to = first_of_tile(self, (guint)at) + (guint)gtk_adjustment_get_value(self->round);
    if (to != (guint)at && to < n_rounds(self))
        ws_timeline_show_round(self->timeline, to);
}

static void tile_dragged(WsScrubber *self)
{
    guint wanted = (guint)gtk_adjustment_get_value(self->tile), tile = 0;
    if (self->quiet || ws_timeline_round_at(self->timeline) < 0)
        return;
    for (guint i = 0; i < n_rounds(self); i++) {
        tile += i && round_of(self, i)->tile != round_of(self, i - 1)->tile;
        if (tile == wanted) {
            ws_timeline_show_round(self->timeline, i);
            return;
        }
    }
}

/* --- widget -------------------------------------------------------------------------------------
 */

static GtkWidget *step_button(const char *action_name, const char *icon)
{
    const WsAction *action = ws_action_find(action_name);
    g_autofree char *target = g_strdup_printf("win.%s", action_name);
    g_autofree char *tip = ws_action_tooltip(action);
    GtkWidget *button = gtk_button_new_from_icon_name(icon);
    gtk_button_set_has_frame(GTK_BUTTON(button), FALSE);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), target);
    gtk_widget_set_tooltip_text(button, tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   ws_action_label(action), -1);
    return button;
}

static GtkWidget *menu_button(const char *tip)
{
    GtkWidget *button = gtk_menu_button_new();
    gtk_menu_button_set_has_frame(GTK_MENU_BUTTON(button), FALSE);
    gtk_menu_button_set_direction(GTK_MENU_BUTTON(button), GTK_ARROW_UP);
    gtk_widget_set_tooltip_text(button, tip);
    return button;
}

static GtkWidget *scale_row(const char *name, GtkAdjustment **adjustment)
{
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8), *label = gtk_label_new(name);
    GtkWidget *scale = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 1, 1);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_width_chars(GTK_LABEL(label), 6);
    gtk_scale_set_digits(GTK_SCALE(scale), 0);
    gtk_scale_set_draw_value(GTK_SCALE(scale), FALSE);
    gtk_widget_set_size_request(scale, 320, -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(scale), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    gtk_box_append(GTK_BOX(row), label);
    gtk_box_append(GTK_BOX(row), scale);
    *adjustment = gtk_range_get_adjustment(GTK_RANGE(scale));
    return row;
}

static GtkWidget *popover_with(GtkWidget *child)
{
    GtkWidget *popover = gtk_popover_new();
    gtk_popover_set_child(GTK_POPOVER(popover), child);
    return popover;
}

static void make_popovers(WsScrubber *self)
{
    GtkWidget *rows = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
    self->tile_row = scale_row(_("Tile"), &self->tile);
    gtk_box_append(GTK_BOX(rows), self->tile_row);
    gtk_box_append(GTK_BOX(rows), scale_row(_("Round"), &self->round));
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(self->place), popover_with(rows));
    self->list = gtk_list_box_new();
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("CTAs of the trace"), -1);
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroll), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroll), 320);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), self->list);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(self->cta), popover_with(scroll));
    gtk_menu_button_set_create_popup_func(GTK_MENU_BUTTON(self->cta), cta_opens, self, NULL);
    g_signal_connect_swapped(self->list, "row-activated", G_CALLBACK(cta_chosen), self);
    g_signal_connect_swapped(self->tile, "value-changed", G_CALLBACK(tile_dragged), self);
    g_signal_connect_swapped(self->round, "value-changed", G_CALLBACK(round_dragged), self);
}

static void dispose(GObject *object)
{
    WsScrubber *self = WS_SCRUBBER(object);
    g_clear_handle_id(&self->later, g_source_remove);
    if (self->timeline)
        g_signal_handlers_disconnect_by_data(self->timeline, self);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    g_clear_object(&self->timeline);
    G_OBJECT_CLASS(ws_scrubber_parent_class)->dispose(object);
}

static void ws_scrubber_class_init(WsScrubberClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(class), "scrubber");
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void ws_scrubber_init(WsScrubber *self)
{
    self->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    self->cta = menu_button(_("Which CTA of the trace is shown"));
    self->back = step_button("previous-round", "go-previous-symbolic");
    self->place = menu_button(_("Tile and round in the middle of the score"));
    self->forward = step_button("next-round", "go-next-symbolic");
    gtk_box_append(GTK_BOX(self->box), self->cta);
    gtk_box_append(GTK_BOX(self->box), self->back);
    gtk_box_append(GTK_BOX(self->box), self->place);
    gtk_box_append(GTK_BOX(self->box), self->forward);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
    make_popovers(self);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Place in the score"), -1);
}

GtkWidget *ws_scrubber_new(WsTimeline *timeline)
{
    WsScrubber *self = g_object_new(WS_TYPE_SCRUBBER, NULL);
    self->timeline = g_object_ref(timeline);
    g_signal_connect_swapped(timeline, "rounds-changed", G_CALLBACK(rounds_changed), self);
    g_signal_connect_swapped(timeline, "notify::zoom", G_CALLBACK(moved), self);
    rounds_changed(self);
    return GTK_WIDGET(self);
}
