/* Where the score stands in its window: arithmetic alone, no widgets, so that it can be tested.
 *
 * The axis counts "units": cycles on the axis Time, distinct events on the axis Order. A view is
 * either folded (the opening picture, whose x is the scene's own) or plain: x = (u - from) * scale.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define WS_PANE_MAX_SCALE 24.0 /* pixels per cycle */

typedef struct {
    gboolean folded;
    double from;  /* unit at x = 0 */
    double scale; /* pixels per unit */
    double y;     /* pixels scrolled down */
} WsPanePlace;

typedef struct {
    double width, height; /* of the time area, pixels */
    double length;        /* units from 0 to the end */
    double content;       /* height of the rows, pixels */
    WsPanePlace at;
    GArray *history; /* WsPanePlace */
    guint now;       /* places before `now` are behind, from `now` on ahead */
    gint64 pushed;   /* microseconds of the last ws_pane_push() */
    WsPanePlace own; /* where the person left it … */
    WsPanePlace fit; /* … and what the score had room for of that */
} WsPane;

void ws_pane_init(WsPane *v);
void ws_pane_clear(WsPane *v);
double ws_pane_x(const WsPane *v, double unit); /* plain views */
double ws_pane_unit(const WsPane *v, double x);
/* Makes the view lie inside the score (with a tenth of the window beyond either end). */
void ws_pane_clamp(WsPane *v);
/* The score may have grown or shrunk (an edit, undo, redo): the view goes back to where the person
 * left it, which ws_pane_settle() then makes lie inside the score. FALSE: it was moved since, and
 * what it shows now becomes that place. */
gboolean ws_pane_return(WsPane *v);
void ws_pane_settle(WsPane *v, gboolean returned);
/* The unit under x stays there to less than a pixel, unless the score's ends forbid. */
void ws_pane_zoom_at(WsPane *v, double x, double factor);
void ws_pane_pan(WsPane *v, double dx, double dy);
void ws_pane_show(WsPane *v, double from, double to); /* these units fill the window */
/* Scrolls as little as it takes to show [from, to] with some air; returns TRUE if it moved. */
gboolean ws_pane_reveal(WsPane *v, double from, double to);
gboolean ws_pane_reveal_y(WsPane *v, double y, double h);
/* Remembers the place shown, before leaving it. Pushes less than `apart` microseconds after another
 * are one movement (now: g_get_monotonic_time()). */
void ws_pane_push(WsPane *v, gint64 now, gint64 apart);
gboolean ws_pane_back(WsPane *v);
gboolean ws_pane_forward(WsPane *v);

G_END_DECLS
