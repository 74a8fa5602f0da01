/* The page of the score: as large as the text of the desktop. */
#include "ui/timeline/timeline_private.h"

#include <math.h>

void ws_timeline_page(WsTimeline *t, double *x, double *y)
{
    if (x)
        *x /= t->page_scale;
    if (y)
        *y /= t->page_scale;
}

void ws_timeline_page_area(WsTimeline *t, GdkRectangle *area, double x, double y, double w,
                           double h)
{
    double k = t->page_scale;
    *area = (GdkRectangle){ (int)floor(x * k), (int)floor(y * k), MAX((int)ceil(w * k), 1),
                            MAX((int)ceil(h * k), 1) };
}

double ws_timeline_page_scale(WsTimeline *t)
{
    return t->page_scale;
}

/* The desktop says its text scale as the resolution of fonts; 96 dots per inch are 100 %. */
static double text_scale(GtkSettings *settings)
{
    int dpi = 0;
    g_object_get(settings, "gtk-xft-dpi", &dpi, NULL);
    return dpi > 0 ? CLAMP(dpi / (96.0 * 1024), 0.5, 4) : 1;
}

static void changed(GtkSettings *settings, GParamSpec *spec, WsTimeline *t)
{
    double k = text_scale(settings);
    if (fabs(k - t->page_scale) < 1e-6)
        return;
    t->page_scale = k;
    t->pointer_x = t->pointer_y = -1;
    ws_timeline_drop_nodes(t);
    ws_minimap_reset(WS_MINIMAP(t->minimap));
    gtk_widget_queue_resize(t->minimap);
    gtk_widget_queue_resize(t->heat);
    gtk_widget_queue_resize(t->units);
    gtk_widget_queue_resize(t->canvas);
    gtk_widget_queue_draw(t->canvas);
}

void ws_timeline_page_follow(WsTimeline *t)
{
    GtkSettings *settings = gtk_settings_get_default();
    g_signal_connect_object(settings, "notify::gtk-xft-dpi", G_CALLBACK(changed), t, 0);
    changed(settings, NULL, t);
}
