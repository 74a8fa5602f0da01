/* What the files of the gestures share. */
#pragma once

#include "edit/edit.h"
#include "ui/gesture/gesture.h"

G_BEGIN_DECLS

typedef enum { WS_GESTURE_MOVE, WS_GESTURE_EDGE, WS_GESTURE_RING } WsGestureKind;

struct WsGesture {
    WsGestureKind kind;
    double x0, y0, x, y; /* where it began, where the pointer is */
    WsDesign *shown;     /* that the ghost's steps belong to */
    WsDesign *latest;    /* that is edited; the same nodes */
    WsDraft *draft;      /* what letting go commits; NULL: nothing */
    char *key;           /* of the draft: nothing is done twice for the same target */
    char *refused;       /* why the target is no good, or NULL */
    char *what;          /* what the target means, in words, or NULL */
    char *words;         /* all that stands beside the pointer */

    /* the state before: its scene, and the view it was made for */
    WsScene *ghost;
    gboolean ghost_folded;
    double ghost_unit;
    GskRenderNode *ghost_node;
    const WsSceneItem *item; /* of the ghost: what is dragged */
    GArray *nodes;           /* guint64: what moves along */
    GHashTable *node_of;     /* by step: what ws_gesture_node() found, for all rounds of it */

    /* MOVE */
    gboolean copy;                 /* a second one goes there */
    const WsSceneItem *beside;     /* of the ghost: beside which it would go, or NULL */
    double mark_x, mark_y, mark_h; /* where it would go; mark_h 0: nowhere */
    /* EDGE */
    const WsSceneItem *over; /* item under the pointer, of the ghost */
    /* RING */
    guint64 ring;
    gint64 depth0, depth;
    double pitch; /* height of a stage */
};

/* x of the ghost's scene on the canvas. */
double ws_gesture_ghost_x(WsTimeline *t, double scene_x);
/* The node that an item's step is, in the design that is edited; NULL if there is none. */
const WsNode *ws_gesture_node(const WsGesture *g, const WsSceneItem *item);
/* The step of the ghost at a place of the canvas; the nearest within a few units if `near`. */
const WsSceneItem *ws_gesture_item_at(WsTimeline *t, double x, double y);
/* Tries the draft (taken) for the target `key`; `refused` instead if the draft is. */
void ws_gesture_take(WsTimeline *t, const char *key, WsDraft *draft, char *what);

/* gesture_move.c, gesture_edge.c, gesture_ring.c */
void ws_gesture_move_to(WsTimeline *t);
void ws_gesture_edge_to(WsTimeline *t);
void ws_gesture_ring_to(WsTimeline *t);
gboolean ws_gesture_is_step(const WsScene *scene, const WsSceneItem *item);
gboolean ws_gesture_has_port(WsTimeline *t, const WsSceneItem *item);
void ws_gesture_port(WsTimeline *t, const WsSceneItem *item, double *x, double *y); /* its place */
/* Where the handle of a ring's staff is; FALSE: the staff is no ring. */
gboolean ws_gesture_handle(const WsScene *scene, const WsSceneStaff *staff, double *x, double *y);
const WsSceneStaff *ws_gesture_ring_at(WsTimeline *t, double x, double y);

/* gesture_hold.c: what was tried is let go, and stays where it is shown */
void ws_gesture_keep(WsTimeline *t, WsDesign *before, WsDesign *after);

/* gesture_paint.c */
void ws_gesture_paint_ghost(WsTimeline *t, GtkSnapshot *s);
void ws_gesture_paint_hover(WsTimeline *t, GtkSnapshot *s);
void ws_gesture_paint(WsTimeline *t, GtkSnapshot *s, double width, double height);

G_END_DECLS
