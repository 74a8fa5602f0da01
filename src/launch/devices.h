/* Traces of devices that ran one launch together, as one. Private to this folder. */
#pragma once

#include "trace/recorder.h"
#include "trace/trace.h"

G_BEGIN_DECLS

/* `part`: a WsTrace for each device, of the same CTAs; their records (`each` bytes of one, headers
 * as in recorder.h) say when each CTA began by the timer of its device. Times of all then begin
 * with the first CTA of all, each in cycles of its own clock. `timers`: WsCollectedTimer; where one
 * is not known, or a clock's rate, or one of the times is none that a trace holds, the times of
 * each CTA begin with itself. `note` receives which of it, and the devices without a CTA; nothing
 * of one device. Transfer full. */
WsTrace *ws_join_devices(const WsProgram *p, GPtrArray *part, const WsRecorder *plan,
                         const GArray *timers, const guint8 *data, gsize each, GString *note);

G_END_DECLS
