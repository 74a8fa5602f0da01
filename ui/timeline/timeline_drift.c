/* While a marquee or a range is dragged near an edge, the score moves on by itself: the nearer the
 * edge (or the farther beyond it), the faster. */
#include "ui/timeline/timeline_private.h"

#include <math.h>

#define BORDER 50.0  /* pixels inside an edge */
#define SPEED  900.0 /* pixels per second at the edge; four times that at most */

/* Pixels per second for a pointer at `at` in a length that begins at `low` and ends at `high`. */
static double speed(double at, double low, double high)
{
    double over = at < low + BORDER ? at - low - BORDER : MAX(at - high + BORDER, 0);
    double share = MIN(fabs(over) / BORDER, 2);
    return copysign(share * share * SPEED, over);
}

static double speed_x(WsTimeline *t)
{
    return speed(t->drag_x + t->drag_dx, WS_TIMELINE_GUTTER, WS_TIMELINE_GUTTER + t->view.width);
}

static double speed_y(WsTimeline *t)
{
    double top = t->scene ? t->scene->top : 0;
    if (t->drag == WS_DRAG_RANGE)
        return 0;
    return speed(t->drag_y + t->drag_dy, top, top + t->view.height);
}

static gboolean wanted(WsTimeline *t)
{
    return t->scene && (t->drag == WS_DRAG_MARQUEE || t->drag == WS_DRAG_RANGE) &&
           (speed_x(t) != 0 || speed_y(t) != 0);
}

/* The place where the drag began stays where it is in the score. */
static void move(WsTimeline *t, double dx, double dy)
{
    double y = t->view.at.y, x = t->drag_x - WS_TIMELINE_GUTTER;
    double cycle = ws_timeline_cycle_of_x(t, x);
    ws_timeline_scroll_by(t, dx, dy);
    double by_x = ws_timeline_x_of_cycle(t, cycle) - x, by_y = y - t->view.at.y;
    t->drag_x += by_x;
    t->drag_dx -= by_x;
    t->drift_x += by_x;
    if (t->drag == WS_DRAG_MARQUEE) {
        t->drag_y += by_y;
        t->drag_dy -= by_y;
        t->drift_y += by_y;
    }
}

static gboolean on_tick(GtkWidget *canvas, GdkFrameClock *clock, gpointer data)
{
    WsTimeline *t = data;
    gint64 now = gdk_frame_clock_get_frame_time(clock);
    double seconds = t->drift_time ? MIN((double)(now - t->drift_time) / 1e6, 0.1) : 0;
    if (!wanted(t)) {
        t->drift = 0;
        return G_SOURCE_REMOVE;
    }
    t->drift_time = now;
    move(t, speed_x(t) * seconds, speed_y(t) * seconds);
    ws_timeline_drag_moved(t);
    return G_SOURCE_CONTINUE;
}

void ws_timeline_drift(WsTimeline *t)
{
    if (t->drift || !wanted(t))
        return;
    t->drift_time = 0;
    t->drift = gtk_widget_add_tick_callback(t->canvas, on_tick, t, NULL);
}
