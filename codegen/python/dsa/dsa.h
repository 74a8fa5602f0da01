/* `generate --as tle` for targets whose core works by queues. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* NULL with an error that names the step and the reason. Caller frees. */
char *ws_generate_dsa(const WsProgram *p, GError **error);

G_END_DECLS
