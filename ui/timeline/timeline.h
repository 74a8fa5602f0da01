/* The score: staffs, rings, units and edges of the document's program over time. */
#pragma once

#include "score/scene.h"
#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_TIMELINE ws_timeline_get_type()
G_DECLARE_FINAL_TYPE(WsTimeline, ws_timeline, WS, TIMELINE, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_timeline_new(WsDocument *document);

/* --- for benchmarks and tests -------------------------------------------------------------------
 * x and y are units of the page in the time area (its left edge is at x = 0, its rows begin at
 * y = 0); a unit is ws_timeline_page_scale() pixels. Cycles are those of the main trace. */
void ws_timeline_set_view(WsTimeline *t, double from, double to); /* cycles that fill the window */
/* What is shown; the opening view is folded: there the cycles at the two edges. */
void ws_timeline_get_view(WsTimeline *t, double *from, double *to);
void ws_timeline_zoom_at(WsTimeline *t, double x, double factor);
void ws_timeline_scroll_by(WsTimeline *t, double dx, double dy);
double ws_timeline_x_of_cycle(WsTimeline *t, double cycle);
double ws_timeline_cycle_of_x(WsTimeline *t, double x);
double ws_timeline_length(WsTimeline *t);     /* cycles of the whole score */
double ws_timeline_page_scale(WsTimeline *t); /* 1 where the text has its ordinary size */
guint ws_timeline_n_items(WsTimeline *t);
/* --- which CTA, and where in it ------------------------------------------------------------------
 * CTAs are those of the measured trace, else of the predicted one. Signal "rounds-changed": other
 * CTAs or rounds; the property "zoom" notifies when the view moves. */
guint ws_timeline_n_ctas(WsTimeline *t);
guint ws_timeline_cta(WsTimeline *t);
void ws_timeline_set_cta(WsTimeline *t, guint cta);
char *ws_timeline_cta_name(WsTimeline *t, guint cta); /* translated; caller frees */
const WsTraceCta *ws_timeline_cta_info(WsTimeline *t, guint cta);   /* NULL past the end */
const GArray *ws_timeline_rounds(WsTimeline *t, const char **loop); /* WsScoreRound; borrowed */
gint ws_timeline_round_at(WsTimeline *t); /* index of the round in the middle, -1 none */
void ws_timeline_show_round(WsTimeline *t, guint round);

/* All views that are linked show the same stretch of time. */
gboolean ws_timeline_linked(WsTimeline *t);
void ws_timeline_set_linked(WsTimeline *t, gboolean linked);

G_END_DECLS
