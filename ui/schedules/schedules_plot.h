/* Proved schedules as points: predicted cycles over shared memory, over registers, or predicted
 * over measured time. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_SCHEDULES_PLOT ws_schedules_plot_get_type()
G_DECLARE_FINAL_TYPE(WsSchedulesPlot, ws_schedules_plot, WS, SCHEDULES_PLOT, GtkWidget)

typedef enum {
    WS_POINT_BEATEN, /* another one is better in all */
    WS_POINT_FRONT,
    WS_POINT_START, /* the design as it is */
} WsPointKind;

typedef struct {
    double x, y; /* NAN: not drawn */
    WsPointKind kind;
    guint index; /* the owner's number of it */
} WsPlotPoint;

/* Signals: "picked" (guint index): a point was clicked. */

GtkWidget *ws_schedules_plot_new(void); /* floating reference */
/* Points (WsPlotPoint, copied) and what the axes say; `equal`: both axes have one scale, and a line
 * shows where x is y. */
void ws_schedules_plot_show(WsSchedulesPlot *plot, const GArray *points, const char *x,
                            const char *y, gboolean equal);
void ws_schedules_plot_choose(WsSchedulesPlot *plot, gint index);
guint ws_schedules_plot_n(WsSchedulesPlot *plot, WsPointKind kind); /* points drawn; for tests */
/* Where a point is, in pixels of the widget; FALSE: it is not drawn. */
gboolean ws_schedules_plot_place(WsSchedulesPlot *plot, guint index, double *x, double *y);

G_END_DECLS
