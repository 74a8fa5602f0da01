/* Host functions of the primitives, by symbol. */
#pragma once

#include "codegen/rehearse/jit.h"

G_BEGIN_DECLS
const WsJitSymbol *ws_host_symbols(guint *n);
G_END_DECLS
