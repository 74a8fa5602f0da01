/* Whether what came back of an export is the same program. */
#pragma once

#include "program/walk/launch_values.h"

/* TRUE if two programs make the same operations in the same order, up to names: every agent of `a`
 * is walked beside its partner of `b` (any that does the same, whatever the warp order), with the
 * sizes of `va` and `vb`, for a CTA that has every third of `n_tiles` tiles. What a compiler adds
 * by itself is left out: prologue, setmaxnreg, fences, commits, `sync group`, `let`, `advance`,
 * array statements. `why` names the first difference; caller frees. */
gboolean ws_program_same(const WsProgram *a, const WsProgram *b, const WsLaunchValues *va,
                         const WsLaunchValues *vb, gint64 n_tiles, char **why);
