/* What `assume` says of the sizes of a program. */
#pragma once

#include "codegen/interval.h"
#include "program/forward.h"

G_BEGIN_DECLS

WsInterval ws_fact_size(const WsProgram *p, gint var);
/* A size for the self test of a text: the preset, the one for rehearsals, or one near the preset,
 * whichever keeps all assumptions first. */
gint64 ws_fact_preset(const WsProgram *p, gint var);

G_END_DECLS
