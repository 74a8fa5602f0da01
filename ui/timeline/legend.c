#include "ui/timeline/legend.h"

#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/parts/words.h"
#include "ui/timeline/marks/trouble_score.h"

#include <glib/gi18n.h>

#define KEY    "warpstave-legend"
#define WIDTH  46
#define HEIGHT 22

enum { DATA = WS_ITEM_KIND_COUNT, RELEASE, AWAY, WRONG, PATH, N_ROWS };

static const char *text_of(guint row)
{
    if (row == DATA)
        return _("data ready: an edge of a barrier, thicker where the wait was longer");
    if (row == RELEASE)
        return _("release, turn: a place is free again");
    if (row == AWAY)
        return _("a flag of another device or CTA, from the dot on: click it to go there");
    if (row == WRONG)
        return _("an error names this step; on a fold: one that is hidden there");
    if (row == PATH)
        return _("on the critical path, or the cause of the gap that is looked at");
    return ws_words_of_text(ws_item_kind_text((WsItemKind)row));
}

static void draw_path(cairo_t *cr, WsTheme theme, int width, int height)
{
    ws_paint_colour(cr, ws_palette(theme)->path, 1);
    cairo_set_line_width(cr, 2);
    cairo_rectangle(cr, 2, 4, width - 4, height - 8);
    cairo_stroke(cr);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    const WsTheme theme = ws_theme_current();
    if (row == WRONG)
        ws_trouble_paint_sign(cr, 1, 3, width - 2, height - 6);
    else if (row == PATH)
        draw_path(cr, theme, width, height);
    else if (row == AWAY)
        ws_scene_paint_flag_sample(cr, theme, width / 2.0, 4, height - 5);
    else if (row < WS_ITEM_KIND_COUNT)
        ws_scene_paint_sample(cr, theme, (WsItemKind)row, 1, 3, width - 2, height - 6);
    else
        ws_scene_paint_edge_sample(cr, theme, row == RELEASE, width / 2.0, 1, height - 2);
}

static GtkWidget *make_row(guint row)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12),
              *area = ws_theme_area_new(WIDTH, HEIGHT, draw, GUINT_TO_POINTER(row));
    GtkWidget *label = gtk_label_new(text_of(row));
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_width_chars(GTK_LABEL(label), 34);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 40);
    gtk_box_append(GTK_BOX(box), area);
    gtk_box_append(GTK_BOX(box), label);
    return box;
}

static GtkWidget *make_rows(void)
{
    GtkWidget *rows = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4), *scroll = gtk_scrolled_window_new();
    GtkWidget *note = gtk_label_new(_("Solid: the issue of a step, or what its warps do. Hatched: "
                                      "its time in flight. Hollow: a wait. The thin bars under "
                                      "them were measured."));
    for (guint row = 0; row < N_ROWS; row++)
        if (row != WS_ITEM_OTHER)
            gtk_box_append(GTK_BOX(rows), make_row(row));
    gtk_label_set_wrap(GTK_LABEL(note), TRUE);
    gtk_label_set_xalign(GTK_LABEL(note), 0);
    gtk_label_set_max_width_chars(GTK_LABEL(note), 40);
    gtk_box_append(GTK_BOX(rows), note);
    gtk_widget_add_css_class(rows, "ws-legend");
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroll), TRUE);
    gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(scroll), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroll), 680);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), rows);
    return scroll;
}

static gboolean on_key(GtkWindow *window, guint key)
{
    if (key != GDK_KEY_Escape)
        return FALSE;
    gtk_window_close(window);
    return TRUE;
}

static void forget(GtkWidget *window, GObject *parent)
{
    g_object_set_data(parent, KEY, NULL);
}

void ws_legend_present(GtkWindow *parent)
{
    GtkWindow *window = g_object_get_data(G_OBJECT(parent), KEY);
    if (!window) {
        GtkEventController *keys = gtk_event_controller_key_new();
        window = GTK_WINDOW(gtk_window_new());
        gtk_window_set_title(window, _("Legend"));
        gtk_window_set_transient_for(window, parent);
        gtk_window_set_destroy_with_parent(window, TRUE);
        gtk_window_set_child(window, make_rows());
        gtk_widget_add_css_class(GTK_WIDGET(window), "ws-studio");
        g_signal_connect_swapped(keys, "key-pressed", G_CALLBACK(on_key), window);
        gtk_widget_add_controller(GTK_WIDGET(window), keys);
        g_object_set_data(G_OBJECT(parent), KEY, window);
        g_signal_connect_object(window, "destroy", G_CALLBACK(forget), parent, 0);
    }
    gtk_window_present(window);
}
