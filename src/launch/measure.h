/* From the clocks of a record buffer to a measured trace. */
#pragma once

#include "program/forward.h"
#include "program/walk/walk.h"
#include "trace/recorder.h"
#include "trace/trace.h"

G_BEGIN_DECLS

/* Walks every recorded CTA of a launch with `grid` CTAs through the program, and gives each
 * recorded step its times: start = clock before, issued = clock after; done = issued, except for
 * what goes on by itself: mma and stores are done when the agent returns from the wait that retires
 * their group, loads and copies when the first agent returns from the wait for their barrier's
 * completion (all upper bounds), -1 if that wait was not recorded. `data` is the record buffer
 * (little-endian 32-bit words), `size` its bytes: a short buffer is an error; slots never written
 * are counted in *n_missing and give no record. `element` says what the elements of integer tensors
 * were, which loops may count by; NULL: a program that asks is an error. The trace's device, note
 * and overhead are left to the caller. */
WsTrace *ws_measure(const WsProgram *p, const WsLaunchValues *v, const WsRecorder *plan,
                    gint64 grid, const guint8 *data, gsize size, WsWalkElement element,
                    gpointer inputs, guint64 *n_missing, GError **error);

#define WS_MEASURE_MOST_BYTES (1 << 30) /* of a record buffer */

/* A number that changes whenever the plan lays its clocks out differently: stored in the bundle, so
 * that records are never read with another plan than the one they were made with. */
guint64 ws_measure_plan_key(const WsRecorder *plan);

G_END_DECLS
