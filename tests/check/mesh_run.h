/* A mesh that is run: every CTA of every device, over several launches, in an order drawn by
 * chance. It knows nothing of the check: what goes wrong is seen as it would be on devices. Agents
 * of a CTA do not wait for each other here, so that more orders come up than there are. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* NULL: nothing went wrong with `devices` devices in `launches` launches. Else what did. Caller
 * frees. */
char *mesh_run(const WsProgram *p, guint devices, guint launches, guint32 seed);

G_END_DECLS
