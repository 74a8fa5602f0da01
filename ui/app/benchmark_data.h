/* What the benchmark looks at beyond the shipped design; written to temporary files. */
#pragma once

#include "trace/trace.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* 16 pairs of a producer and a consumer warp, 2 000 steps and 64 barriers in all; plays clean.
 * Transfer full; the caller deletes the file. */
GFile *ws_benchmark_large_design(GError **error);
/* A measured trace of `program`: the predicted one repeated over CTAs until it has that many
 * records, each CTA a little slower than the last. */
GFile *ws_benchmark_long_trace(WsTrace *predicted, WsProgram *program, guint records,
                               GError **error);

G_END_DECLS
