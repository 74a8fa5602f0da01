/* Certificates with the state of a node as the verifier says that it is. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* `reason`: of a rejection. Says it 'another state: "X" is "Y"', then Y stands for X in the block
 * of that node; else NULL. Caller frees. */
char *ws_corrected(const char *text, const char *reason);

G_END_DECLS
