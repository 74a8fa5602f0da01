/* Launches that take turns with the rounds of inner loops, beside one that records them all: which
 * of the two a profile's trace is. */
#pragma once

#include "cli/kernels.h"
#include "launch/run.h"

/* Of a design that was just profiled, its trace of one launch in `trace`: records it once more by
 * turns, and where rounds of the one launch are longer by more than 1 % puts what was merged in its
 * place, and what the one launch recorded beside it: idle units, overlap and causes are in that
 * alone. Both hold what was found; it is printed but for `quiet`. Exit code. */
int ws_cli_launches(const char *file, const WsBundleOptions *options, const WsRunSpec *run,
                    const char *trace, gboolean quiet);
