#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* Appends the names (char*, owned by `out`) of the buffers, values and tensors whose content hangs
 * on the order of atomics, or may: what exchanges and picked stores leave, what was there before an
 * atomic, and all that is computed of these. */
void ws_check_order(const WsProgram *p, GPtrArray *out);

G_END_DECLS
