/* The agents that stood still, on the score. */
#pragma once

#include "ui/document/document_hang.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

struct _WsTimeline;
void ws_hang_follow(struct _WsTimeline *t); /* redraws, and goes there, when a hang is opened */
void ws_hang_snapshot(struct _WsTimeline *t, GtkSnapshot *s); /* units of the page */
guint ws_hang_n_drawn(struct _WsTimeline *t);                 /* in the scene; for tests */

G_END_DECLS
