/* Which whole warp groups belong together: setmaxnreg is an instruction of whole warp groups, so
 * the role switch chooses among spans of them first. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* Warps [lo, hi), agents [first, end). */
typedef struct {
    guint lo, hi, first, end;
} WsWarpSpan;
/* The span behind `before` (all zero: the first one). */
WsWarpSpan ws_span_next(const WsProgram *p, WsWarpSpan before);
/* One agent has the span for itself: its own setmaxnreg counts. */
gboolean ws_span_alone(const WsProgram *p, const WsWarpSpan *s);
/* The register plan of a span that several agents share, or idle warps take part in; NULL: none. */
const WsOp *ws_span_plan(const WsProgram *p, const WsWarpSpan *s);

G_END_DECLS
