/* Timing the check. */
#pragma once

#include "cli/cli.h"

/* Prints p50 and p99 of the proof alone and of the whole check; `goal` in ms for the proof's p50, 0
 * none. With `json` they go to the list that is open there, and the text is ended and printed. */
int ws_cli_bench_check(const WsProgram *p, const char *title, double goal, WsJsonOut *json);
/* One measure of the JSON form; times in ms, `goal` 0: none. And the end of its list and object. */
void ws_cli_bench_put(WsJsonOut *json, const char *name, guint runs, double median, double p99,
                      double goal);
void ws_cli_bench_end(WsJsonOut *json);
