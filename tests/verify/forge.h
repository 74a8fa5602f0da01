/* Tries to make a certificate of a program, whatever the check says of it. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* Explores the program with the parts of the verifier itself: at every state that stands still it
 * asks about what somebody waits for, and leads back to an earlier node wherever that covers the
 * state. A certificate, or NULL and why there is none. `letters`: conditions over names of the
 * launch and the tile are asked about as such; else the numbers in them. `anew`: numbers are those
 * of the loop at hand, asked in front of it. `modulus` of all numbers. Caller frees both. */
char *ws_forge(const WsProgram *p, gboolean letters, gboolean anew, gint64 modulus,
               guint most_nodes, char **why);

G_END_DECLS
