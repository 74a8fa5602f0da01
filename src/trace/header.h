/* The header that stamps a kernel of one's own. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* Text of a C header: step and agent numbers of the program, device macros that read the clock,
 * and a host part that writes a .wtrace of what they read. Caller frees. */
char *ws_trace_header(const WsProgram *p);

G_END_DECLS
