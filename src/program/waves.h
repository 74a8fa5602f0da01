/* How the waves of a half stand over its accumulators, where a target's groups are halves: which of
 * them hold, and so read, the same rows of an operand. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* `half_warps` waves in a grid of m by n: 2 by 2 where rows need not be reduced and no product
 * takes what another one or a statement made, since then each wave reads half of both operands;
 * else all of them by 1, so that a row lies in one wave. Operand a of a product is read by n waves
 * each, b by m. 1 by 1 on targets without halves. */
void ws_waves_grid(const WsProgram *p, guint *m, guint *n);

G_END_DECLS
