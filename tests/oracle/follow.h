/* The oracle follows a witness: the same moves must be possible and lead to the same phases,
 * pending arrivals, bytes and named barriers at every position, and something must be wrong at the
 * end. */
#pragma once

#include "check/witness/witness.h"
#include "oracle.h"

G_BEGIN_DECLS

/* NULL if all is well, else what differs; caller frees. */
char *follow(const WsWitness *w);
/* Is its rule about something that the oracle looks at? */
gboolean follow_judged(const WsWitness *w);

G_END_DECLS
