/* What is wrong with a design, on its score: every execution of a step that an error names is
 * marked, one by one or, where they are too narrow for that, by a tick; so are the folds that hide
 * some, and the staffs of the agents that have such steps, in sight or not. */
#pragma once

#include <cairo.h>
#include <glib.h>

struct _WsTimeline;

void ws_trouble_paint(struct _WsTimeline *t, cairo_t *cr); /* in the scene's coordinates */
/* Beside the names of staffs, in the gutter; y as in the scene. */
void ws_trouble_paint_staffs(struct _WsTimeline *t, cairo_t *cr);
/* What a bar looks like that is wrong, for the legend. */
void ws_trouble_paint_sign(cairo_t *cr, double x, double y, double w, double h);
void ws_trouble_follow(struct _WsTimeline *t);    /* redraws when the findings are new */
guint ws_trouble_n_marked(struct _WsTimeline *t); /* executions in the scene */
guint ws_trouble_n_ticks(struct _WsTimeline *t);  /* places of those that have no bar of their own */
gboolean ws_trouble_on_fold(struct _WsTimeline *t, guint fold); /* index in the scene's folds */
gboolean ws_trouble_on_staff(struct _WsTimeline *t, guint staff);
