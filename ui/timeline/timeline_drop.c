/* Steps and templates dropped onto the score: where they would go is shown as a line between two
 * executions of the staff under the pointer (I16). */
#include "edit/edit.h"
#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/gesture/gesture.h"
#include "ui/window/window.h"

#include <math.h>
#include <string.h>

/* The execution on its agent's own line that is nearest to a place of the canvas; `behind` if the
 * place is in its later half. NULL where no staff of agents is. */
static const WsSceneItem *nearest(WsTimeline *t, double x, double y, gboolean *behind)
{
    const double at = y + t->view.at.y, off = ws_timeline_offset(t) + WS_TIMELINE_GUTTER;
    const WsSceneItem *best = NULL;
    double least = G_MAXDOUBLE;
    for (guint i = 0; t->scene && i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        const WsSceneRow *row = &g_array_index(t->scene->row, WsSceneRow, item->row);
        const WsSceneStaff *staff = &g_array_index(t->scene->staff, WsSceneStaff, row->staff);
        if (!item->step || item->measured || row->kind != WS_ROW_CONTROL || at < staff->y ||
            at > staff->y + staff->h)
            continue;
        const double left = item->x + off, right = left + item->w;
        const double far = x < left ? left - x : x > right ? x - right : 0;
        if (far >= least)
            continue;
        least = far;
        best = item;
        *behind = x > (left + right) / 2;
    }
    return best;
}

static WsEditSpot spot_at(WsTimeline *t, double x, double y)
{
    gboolean behind = FALSE;
    const WsSceneItem *item = nearest(t, x, y, &behind);
    WsDesign *latest = ws_document_latest(t->document);
    const guint64 id = item ? ws_document_node(t->document, item->step) : 0;
    const WsNode *node = id && latest ? ws_design_by_identity(latest, id) : NULL;
    WsEditSpot spot = { 0 };
    const WsNode *owner = node ? ws_design_owner(latest, node, &spot.list, &spot.index) : NULL;
    if (!owner)
        return (WsEditSpot){ 0 };
    spot.owner = owner->identity;
    spot.index += behind ? 1 : 0;
    return spot;
}

static GdkDragAction moved(GtkDropTarget *target, double x, double y, WsTimeline *t)
{
    gboolean behind = FALSE;
    GtkWidget *over = gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(target));
    if (over != t->canvas) { /* where no score is yet */
        gtk_widget_add_css_class(over, "ws-drop");
        return GDK_ACTION_COPY;
    }
    ws_timeline_page(t, &x, &y);
    const WsSceneItem *item = nearest(t, x, y, &behind);
    t->drop_item = item ? item->id : 0;
    t->drop_behind = behind;
    gtk_widget_queue_draw(t->canvas);
    return GDK_ACTION_COPY;
}

static void left(GtkDropTarget *target, WsTimeline *t)
{
    t->drop_item = 0;
    gtk_widget_remove_css_class(t->message, "ws-drop");
    gtk_widget_queue_draw(t->canvas);
}

static gboolean dropped(GtkDropTarget *target, const GValue *value, double x, double y,
                        WsTimeline *t)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(t));
    const gboolean score =
        gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(target)) == t->canvas;
    left(target, t);
    ws_timeline_page(t, &x, &y);
    return root && WS_IS_WINDOW(root) && g_value_get_string(value) &&
           ws_window_drop_text(WS_WINDOW(root), g_value_get_string(value),
                               score ? spot_at(t, x, y) : (WsEditSpot){ 0 });
}

/* Files also come as text; they are for the window, which opens them. */
static gboolean accepts(GtkDropTarget *target, GdkDrop *drop, gpointer data)
{
    GdkContentFormats *formats = gdk_drop_get_formats(drop);
    return !gdk_content_formats_contain_gtype(formats, GDK_TYPE_FILE_LIST) &&
           !gdk_content_formats_contain_mime_type(formats, "text/uri-list");
}

static void attach(WsTimeline *t, GtkWidget *widget)
{
    GtkDropTarget *target = gtk_drop_target_new(G_TYPE_STRING, GDK_ACTION_COPY | GDK_ACTION_MOVE);
    g_signal_connect(target, "accept", G_CALLBACK(accepts), NULL);
    g_signal_connect(target, "enter", G_CALLBACK(moved), t);
    g_signal_connect(target, "motion", G_CALLBACK(moved), t);
    g_signal_connect(target, "leave", G_CALLBACK(left), t);
    g_signal_connect(target, "drop", G_CALLBACK(dropped), t);
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(target));
}

void ws_timeline_drop_attach(WsTimeline *t)
{
    attach(t, t->canvas);
    attach(t, t->message);
}

/* A line over the height of the staff where the drop would go. */
void ws_timeline_drop_snapshot(WsTimeline *t, GtkSnapshot *s)
{
    const WsSceneItem *item = t->drop_item ? ws_timeline_item(t, t->drop_item - 1) : NULL;
    if (!item)
        return;
    const WsSceneRow *row = &g_array_index(t->scene->row, WsSceneRow, item->row);
    const WsSceneStaff *staff = &g_array_index(t->scene->staff, WsSceneStaff, row->staff);
    const guint32 c = ws_palette_item(ws_theme_current(), WS_ITEM_LOAD);
    const GdkRGBA colour = { (float)(c >> 16 & 255) / 255.0f, (float)(c >> 8 & 255) / 255.0f,
                             (float)(c & 255) / 255.0f, 1 };
    const double x =
        item->x + (t->drop_behind ? item->w : 0) + ws_timeline_offset(t) + WS_TIMELINE_GUTTER;
    gtk_snapshot_append_color(
        s, &colour,
        &GRAPHENE_RECT_INIT((float)x - 1, (float)(staff->y - t->view.at.y), 2.5f, (float)staff->h));
}
