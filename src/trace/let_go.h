/* Which notify let which await go, over all CTAs and devices of a trace of a mesh.
 *
 * Predicted: as the clock played it; the CTA that is played notifies for all of its device.
 * Measured: from what each recorded execution adds and asks for. CTAs that were not recorded
 * notify, too: a notify is named only where the await needed it for sure, and no other one that is
 * known may have come later, as the clocks of the devices were compared. */
#pragma once

#include "trace/trace.h"

G_BEGIN_DECLS

typedef struct WsLetGo WsLetGo;

typedef struct {
    const WsTraceRecord *by; /* the notify, of this CTA or another one; NULL: not known */
    gint64 at;               /* when it was over; not after the await returned */
    gboolean least; /* it was awaited at least: of what was awaited, others were not recorded */
} WsLetGoBy;

/* NULL where nothing is known: no mesh, another program, clocks that could not be compared. Borrows
 * both until it is freed. */
WsLetGo *ws_let_go_new(const WsProgram *p, const WsTrace *t);
void ws_let_go_free(WsLetGo *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsLetGo, ws_let_go_free)
WsLetGoBy ws_let_go_of(const WsLetGo *l, const WsTraceRecord *await); /* `l` may be NULL */

/* What the collector says of the clocks of a measured trace of devices: their number, and ns by
 * which times of two devices may be off at most. */
#define WS_CLOCKS_COMPARED "%u devices, their clocks compared to within %.2f us"
/* That many ns for two CTAs of a trace; 0 of the same one, or predicted; NAN: not known. */
double ws_trace_clock_error(const WsTrace *t, guint cta, guint other);

G_END_DECLS
