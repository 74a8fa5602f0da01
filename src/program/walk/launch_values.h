/* A launch: sizes -> run names, tensor shapes, tile ids. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* Evaluates sizes (presets overlaid by `size`; with `rehearse` the design's rehearsal sizes), run
 * names, axis extents. Checks `assume` and that every size is >= 0; an unknown name, a broken
 * assumption ("K >= 1 does not hold for K = 0") or an overflow is reported in `findings` (class S /
 * N / R), NULL then. Scalars keep their presets. */
WsLaunchValues *ws_launch_values(const WsProgram *p, const WsSize *size, guint n_size,
                                 gboolean rehearse, WsFindings *findings);
/* Every reference is freed once. */
WsLaunchValues *ws_launch_values_ref(WsLaunchValues *v);
void ws_launch_values_free(WsLaunchValues *v);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsLaunchValues, ws_launch_values_free)
gint64 ws_launch_var(const WsLaunchValues *v, gint var);      /* SIZE, integer RUN */
double ws_launch_var_real(const WsLaunchValues *v, gint var); /* SCALAR, real RUN */
gint64 ws_launch_extent(const WsLaunchValues *v, guint axis);
gint64 ws_launch_tiles(const WsLaunchValues *v); /* product of the extents */
gint64 ws_launch_shape(const WsLaunchValues *v, guint tensor, guint dim);
gint64 ws_launch_stride(const WsLaunchValues *v, guint tensor, guint dim); /* elements */
/* CTAs of a launch on a device with `sms` SMs (LANGUAGE section 6); 0 if there is no tile. */
gint64 ws_launch_grid(const WsLaunchValues *v, gint64 sms);
/* Tile id -> axis coordinates (order, reverse applied). `coord` has room for n_axes. */
void ws_launch_tile(const WsLaunchValues *v, gint64 id, gint64 *coord);
/* order hilbert(x, y): the hidden tensor of the launch, position along the curve -> (x, y) as pairs
 * before `reverse`; NULL for other orders. `n` receives the number of pairs. Borrowed. */
const gint32 *ws_launch_hilbert(const WsLaunchValues *v, gint64 *n);
/* "M=8192 N=8192 K=8192". Caller frees. */
char *ws_launch_sizes_text(const WsLaunchValues *v);
/* Looks up SIZE and RUN (integers) and SCALAR and real RUN variables: the environment of shapes,
 * strides and other launch-grain expressions. Borrows v. */
WsExprEnv ws_launch_env(const WsLaunchValues *v);

G_END_DECLS
