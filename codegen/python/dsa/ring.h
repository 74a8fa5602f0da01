/* The text has one tile of a ring, so what is read there is what was written last: it has to be at
 * the same use, in the same round. A table holds what the steps above have written in this round,
 * by names of buffers. */
#pragma once

#include "program/forward.h"

#include <glib.h>

G_BEGIN_DECLS

GHashTable *ws_dsa_ring_new(void);
/* The next step touches buffer `b`. Phrase: why the text would do something else, with a remedy or
 * NULL; NULL: it does the same. Caller frees. */
char *ws_dsa_ring_touch(GHashTable *ring, const WsBuffer *b, const WsAccess *a,
                        const char **remedy);
/* For the rounds of a loop: what is written in front of it at a use that stays the same in all of
 * them can be read there. Caller unrefs. */
GHashTable *ws_dsa_ring_inside(GHashTable *ring);
/* Behind the loop, whose last round left `inside`. */
void ws_dsa_ring_behind(GHashTable *ring, GHashTable *inside, const WsTree *loop);

G_END_DECLS
