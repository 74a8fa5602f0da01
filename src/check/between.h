/* What a proof takes for granted of the kernel before, where launches may overlap. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* Adds to `assumed` (phrases) what holds only if the kernel before does its part. */
void ws_between_assumed(const WsProgram *p, GPtrArray *assumed);

G_END_DECLS
