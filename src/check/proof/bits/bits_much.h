/* What a proof that is given up says. */
#pragma once

#include "check/proof/bits/bits.h"

G_BEGIN_DECLS

/* Why a proof is given up: `what` was too much, and what makes so many states (a phrase). Caller
 * frees. */
char *ws_bits_too_much(const WsBits *b, const char *what);
/* The loop that counts itself in each round of another one, as a phrase; NULL: none. */
char *ws_bits_starts_again(const WsControl *c);

G_END_DECLS
