/* What `assume` says of the sizes of a program. */
#pragma once

#include "codegen/interval.h"
#include "program/forward.h"

G_BEGIN_DECLS

WsInterval ws_fact_size(const WsProgram *p, gint var);

G_END_DECLS
