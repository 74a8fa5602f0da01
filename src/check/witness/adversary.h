/* From the witness of a refuted program to an order that a kernel can be held to (program/hold.h):
 * the smallest sizes that show it, a gate before every move, and what must be seen then. */
#pragma once

#include "check/witness/witness.h"
#include "program/hold.h"

G_BEGIN_DECLS

/* `variant` 0: of two accesses that collide the one that came first in the witness is carried out
 * after the other; 1: they come as in the witness. NULL and an error if no launch does what the
 * witness does (counts per tile, more moves than a kernel should hold). The witness's program must
 * outlive the hold. */
enum { WS_ADVERSARY_VARIANTS = 2 };
WsHold *ws_adversary_hold(const WsWitness *w, guint variant, GError **error);

G_END_DECLS
