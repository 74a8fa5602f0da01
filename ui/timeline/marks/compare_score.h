/* What differs between two designs, on the score: marks on the steps of the one that is shown, and
 * ghosts of the other where it had them. */
#pragma once

#include "ui/document/document_compare.h"
#include "ui/timeline/timeline.h"

#include <cairo.h>

G_BEGIN_DECLS

struct _WsTimeline;
typedef struct WsCompareScore WsCompareScore;
void ws_compare_score_free(WsCompareScore *s);
void ws_compare_follow(struct _WsTimeline *t); /* redraws when the document compares */
/* In coordinates of the scene. */
void ws_compare_paint(struct _WsTimeline *t, cairo_t *cr);
/* Colour of a sign ('+', '-', '~', '>', or 0: a ghost of what only moved in time). */
guint32 ws_compare_colour(char sign);
/* Marks of a sign in the scene that is drawn: of steps, or of edges; for tests. */
guint ws_compare_n_marks(struct _WsTimeline *t, char sign, gboolean edges);

G_END_DECLS
