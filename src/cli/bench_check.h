/* Timing the check. */
#pragma once

#include "cli/cli.h"

/* Prints p50 and p99 of the proof alone and of the whole check; `goal` in ms for the proof's p50, 0
 * none. */
int ws_cli_bench_check(const WsProgram *p, const char *title, double goal);
