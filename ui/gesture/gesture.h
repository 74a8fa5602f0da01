/* Editing the score by hand: a step dragged along its staff, across the end of its loop or onto
 * another staff; an edge drawn from step to step; a ring made deeper. While a gesture lasts the
 * design it would give is tried (ws_document_try), the former state stays behind as a ghost, and
 * what it would gain stands beside the pointer. Letting go commits one step; Escape leaves no
 * trace. Coordinates are units of the page, as the timeline's pointer fields. */
#pragma once

#include "ui/timeline/timeline_private.h"

G_BEGIN_DECLS

typedef struct WsGesture WsGesture;

/* Begins what a drag from this place means; FALSE: nothing that can be dragged is there. */
gboolean ws_gesture_start(WsTimeline *t, double x, double y);
/* `copy`: what is dragged stays, and a second one goes there. */
void ws_gesture_set_copy(WsTimeline *t, gboolean copy);
void ws_gesture_move(WsTimeline *t, double x, double y);
void ws_gesture_finish(WsTimeline *t);
/* What is tried is another score: it is shown so that a step that stays lies where it lay. */
void ws_gesture_follow(WsTimeline *t);
void ws_gesture_hold(WsTimeline *t, WsSceneOptions *o); /* of the opening window */
void ws_gesture_return(WsTimeline *t); /* a drag is undone, or done again: the view goes along */
gboolean ws_gesture_active(const WsTimeline *t);
gboolean ws_gesture_abandon(WsTimeline *t); /* FALSE: there was none */
/* Ports, handles, the ghost, what is dragged, and the words; called last, in page units. */
void ws_gesture_snapshot(WsTimeline *t, GtkSnapshot *s, double width, double height);
/* Whether a drag from here would draw an edge or a ring: its pointer. */
const char *ws_gesture_cursor(WsTimeline *t, double x, double y);

G_END_DECLS
