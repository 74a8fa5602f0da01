/* A rehearsal of all devices of a mesh. Internal to codegen/rehearse. */
#pragma once

#include "codegen/generate.h"
#include "codegen/reference/reference.h"

G_BEGIN_DECLS

/* Runs some launches of all devices, each with inputs of its own, and compares what each launch
 * leaves on each device with the reference over all of them. FALSE: not to be rehearsed. */
gboolean ws_rehearse_devices(WsRehearseResult *r, const WsProgram *p, const WsRehearseOptions *o,
                             void (*kernel)(const guint64 *), WsReference *reference,
                             WsFindings *findings, GError **error);

G_END_DECLS
