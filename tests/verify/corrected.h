/* Certificates with what the verifier says of them put right. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* `reason`: of a rejection. Says it what a node does not know, or what may not be assumed, the
 * certificate without that; else NULL. Caller frees. */
char *ws_corrected(const char *text, const char *reason);

G_END_DECLS
