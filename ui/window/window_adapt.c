/* What a small window leaves out, and what the person wants to see: structure and palette, the
 * inspector and the lower panels make room for the score, and come back with the room; what is
 * asked for while there is none comes all the same. Sizes count in units of the text. */
#include "ui/window/window_private.h"

#include "ui/app/settings.h"
#include "ui/timeline/timeline.h"

static const struct {
    const char *key;   /* of the settings */
    gboolean shown;    /* unless they say otherwise */
    int width, height; /* of the window, from which there is room */
} panes[WS_PANE_COUNT] = {
    [WS_PANE_SIDEBAR] = { "show-sidebar", FALSE, 1000, 0 },
    [WS_PANE_INSPECTOR] = { "show-inspector", TRUE, 960, 0 },
    [WS_PANE_PANELS] = { "show-panels", TRUE, 0, 540 },
};

#define LABELS_WIDTH 1240 /* words beside the icons of the header */
#define STATUS_WIDTH 1100 /* the device in the status bar */
#define WORK_WIDTH   680  /* pixels: Generate, Rehearse, Run, which the menu has too */

static GtkWidget *pane_of(WsWindow *w, WsPaneKind pane)
{
    GtkWidget *const all[] = { [WS_PANE_SIDEBAR] = w->sidebar,
                               [WS_PANE_INSPECTOR] = w->inspector_box,
                               [WS_PANE_PANELS] = GTK_WIDGET(w->panels) };
    return all[pane];
}

static void show_pane(WsWindow *w, WsPaneKind pane)
{
    gtk_widget_set_visible(pane_of(w, pane),
                           w->wanted[pane] && (!w->no_room[pane] || w->insisted[pane]));
}

gboolean ws_window_pane_shown(WsWindow *w, WsPaneKind pane)
{
    return gtk_widget_get_visible(pane_of(w, pane));
}

void ws_window_want_pane(WsWindow *w, WsPaneKind pane, gboolean wanted)
{
    w->wanted[pane] = wanted;
    w->insisted[pane] = wanted && w->no_room[pane];
    if (ws_settings()) /* at once: the next window is to be like this one */
        g_settings_set_boolean(ws_settings(), panes[pane].key, wanted);
    show_pane(w, pane);
}

static void set_room(WsWindow *w, WsPaneKind pane, gboolean none)
{
    if (w->no_room[pane] == none)
        return;
    w->no_room[pane] = none;
    w->insisted[pane] = FALSE;
    show_pane(w, pane);
}

static void show_labels(GtkWidget *box, gboolean shown)
{
    for (GtkWidget *b = gtk_widget_get_first_child(box); b; b = gtk_widget_get_next_sibling(b)) {
        GtkWidget *child = GTK_IS_BUTTON(b) ? gtk_button_get_child(GTK_BUTTON(b)) : NULL;
        GtkWidget *label = GTK_IS_BOX(child) ? gtk_widget_get_last_child(child) : NULL;
        if (GTK_IS_LABEL(label)) /* its tip and its name say it, too */
            gtk_widget_set_visible(label, shown);
    }
}

static gboolean adapt(gpointer data)
{
    WsWindow *w = data;
    const double unit = ws_timeline_page_scale(WS_TIMELINE(w->part[WS_PART_TIMELINE]));
    int wide = gtk_widget_get_width(GTK_WIDGET(w)), high = gtk_widget_get_height(GTK_WIDGET(w));
    w->adapt_source = 0;
    if (wide < 1) /* not on screen yet: what it is going to be */
        gtk_window_get_default_size(GTK_WINDOW(w), &wide, &high);
    const double width = wide / unit, height = high / unit;
    if (width < 1)
        return G_SOURCE_REMOVE;
    show_labels(w->work_box, width >= LABELS_WIDTH);
    gtk_widget_set_visible(w->work_box, wide >= WORK_WIDTH);
    gtk_widget_set_visible(GTK_WIDGET(w->status_device), width >= STATUS_WIDTH);
    for (guint i = 0; i < WS_PANE_COUNT; i++)
        set_room(w, (WsPaneKind)i, width < panes[i].width || height < panes[i].height);
    return G_SOURCE_REMOVE;
}

void ws_window_adapt(WsWindow *w)
{
    if (!w->adapt_source) /* not while sizes are being given out */
        w->adapt_source = g_idle_add_full(G_PRIORITY_HIGH_IDLE, adapt, w, NULL);
}

/* A window whose panes want more than its size is made larger when it comes on screen, and stays
 * so: they make room before. */
void ws_window_adapt_first(WsWindow *w)
{
    g_clear_handle_id(&w->adapt_source, g_source_remove);
    adapt(w);
}

void ws_window_restore_panes(WsWindow *w)
{
    for (guint i = 0; i < WS_PANE_COUNT; i++) {
        w->wanted[i] = ws_settings_boolean(panes[i].key, panes[i].shown);
        show_pane(w, (WsPaneKind)i);
    }
}
