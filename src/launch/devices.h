/* Traces of devices that ran one launch together, as one. Private to this folder. */
#pragma once

#include "trace/recorder.h"
#include "trace/trace.h"

G_BEGIN_DECLS

/* `part`: a WsTrace for each device, of the same CTAs; their records (`each` bytes of one, headers
 * as in recorder.h) say when each CTA began by the timer of its device. Times of all then begin
 * with the first CTA of all, each in cycles of its own clock. `timers`: WsCollectedTimer; where one
 * is not known, the times of each CTA begin with itself. Transfer full. */
WsTrace *ws_join_devices(const WsProgram *p, GPtrArray *part, const WsRecorder *plan,
                         const GArray *timers, const guint8 *data, gsize each);
/* How well the devices' times fit each other, in words; nothing without devices. */
void ws_join_note(GString *note, const GArray *timers);

G_END_DECLS
