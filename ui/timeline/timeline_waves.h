/* Rows of all SMs of a trace, with the tiles that each worked on. Units of the page. */
#pragma once

#include "trace/waves.h"

#include <cairo.h>

G_BEGIN_DECLS

double ws_timeline_waves_height(const WsWaves *w); /* with room for every row */
double ws_timeline_waves_least(void);
/* `cta` (an index in the trace) is marked. */
void ws_timeline_waves_paint(const WsWaves *w, cairo_t *cr, double width, double height, guint cta);
/* The row at a place, NULL none; *span: the tile there, or NULL. The waves'. */
const WsWaveRow *ws_timeline_waves_at(const WsWaves *w, double width, double height, double x,
                                      double y, const WsWaveSpan **span);
/* What stands there, in words. Caller frees. */
char *ws_timeline_waves_tip(const WsWaves *w, const WsWaveRow *row, const WsWaveSpan *span,
                            guint id);

G_END_DECLS
