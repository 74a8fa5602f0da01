/* What a step stands on and what stands on it: the links that the program holds between its steps,
 * through barriers, through memory and registers, and through the order of an agent's own program.
 * Plain data; needs no display. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* Step ids (of `p`, borrowed) that the given ones wait for or use, directly or not (upstream), or
 * that wait for them or use what they made (downstream), without the given ones. Stays within one
 * round of the pipeline: links from a round to the next (a stage given back, an accumulator kept)
 * are taken only when there is nothing else left, one round at a time. Free with
 * g_ptr_array_unref(). */
GPtrArray *ws_stream_of(const WsProgram *p, const GPtrArray *steps, gboolean downstream);

G_END_DECLS
