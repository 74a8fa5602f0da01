/* Who cannot take a program, and why. */
#pragma once

#include "program/forward.h"
#include "target/target.h"

G_BEGIN_DECLS

/* "target gfx950: not supported by cuda (…)", "devices: not supported by generate (…)",
 * "line 18: what this computes was not read: not supported by generate (…)"; NULL: the
 * lens takes its target and its mesh, which says nothing of its steps. Caller frees. */
char *ws_program_refusal(const WsProgram *p, WsLens lens);

G_END_DECLS
