/* What the launch of a kernel may do before the one in front of it has ended. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* It waits for the kernel before (griddepcontrol wait), so its launch may begin before that one has
 * ended. A kernel that only lets the next one start must not: what it touches would race. */
gboolean ws_launch_begins_early(const WsProgram *p);

G_END_DECLS
