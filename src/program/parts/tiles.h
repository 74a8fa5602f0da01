/* Tiles and launch: which tile a CTA works on, in which order. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

typedef enum { WS_LAUNCH_SINGLE, WS_LAUNCH_PERSISTENT, WS_LAUNCH_DYNAMIC } WsLaunch;
typedef enum { WS_ORDER_LINEAR, WS_ORDER_GROUPED, WS_ORDER_HILBERT } WsOrder;
struct WsTiles {
    guint n_axes;
    struct {
        char *name;
        gint var;       /* WS_VAR_AXIS */
        WsExpr *extent; /* over SIZE, RUN */
        gboolean reverse;
    } axis[8];
    WsLaunch launch;
    WsOrder order;
    guint order_axis, order_axis2; /* GROUPED: axis; HILBERT: both */
    gint64 order_group;            /* GROUPED: n if constant, else 0 */
    WsExpr *order_n;               /* GROUPED: n, over SIZE, RUN (attention computes it from SK) */
    WsExpr *grid;                  /* NULL: SMs of the device */
    gint64 xcd[2];                 /* gfx950; 0 = none */
};

G_END_DECLS
