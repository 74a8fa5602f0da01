/* Devices of a mesh: their puts, flags and awaits, for every number of devices and every launch. */
#pragma once

#include "check/check.h"
#include "model/forward.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* Judges a program with a mesh whose device is not refuted: WRONG adds findings of class P and G
 * and refutes it, what is not followed one of class F, and leaves it outside. What is shown adds
 * what that builds on. */
void ws_judge_mesh(const WsProgram *p, WsVerdict *v, WsFindings *findings);

G_END_DECLS
