/* The critical path of the run, on the score. */
#pragma once

#include "ui/timeline/timeline.h"

#include <cairo.h>

G_BEGIN_DECLS

struct _WsTimeline;
void ws_path_follow(struct _WsTimeline *t);             /* redraws when the document is advised */
void ws_path_paint(struct _WsTimeline *t, cairo_t *cr); /* in coordinates of the scene */
guint ws_path_n_drawn(struct _WsTimeline *t);           /* pieces in the scene; for tests */

G_END_DECLS
