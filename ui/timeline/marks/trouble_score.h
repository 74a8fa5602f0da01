/* What is wrong with a design, on its score: every execution of a step that an error names is
 * marked, and so are folds (the round may lie there) and staffs that have such steps. */
#pragma once

#include <cairo.h>
#include <glib.h>

struct _WsTimeline;

void ws_trouble_paint(struct _WsTimeline *t, cairo_t *cr); /* in the scene's coordinates */
/* Beside the names of staffs, in the gutter; y as in the scene. */
void ws_trouble_paint_staffs(struct _WsTimeline *t, cairo_t *cr);
void ws_trouble_follow(struct _WsTimeline *t);    /* redraws when the findings are new */
guint ws_trouble_n_marked(struct _WsTimeline *t); /* executions in the scene */
/* What the first error at this step says; caller frees. NULL: none names it. */
char *ws_trouble_text(struct _WsTimeline *t, const char *step);
