/* Certificates with what the verifier says of them put right. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* `reason`: of a rejection. Says it in which state a node is, the certificate with that put right;
 * else NULL. Caller frees. */
char *ws_corrected_state(const char *text, const char *reason);

/* The same; also what a node does not know, and what may not be assumed. */
char *ws_corrected(const char *text, const char *reason);

G_END_DECLS
