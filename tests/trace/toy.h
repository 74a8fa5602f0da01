/* A small warp-specialised GEMM built by hand, and a trace of it by a few lines of arithmetic:
 * tests of trace and score need neither elaboration nor the clock. */
#pragma once

#include "trace/trace.h"

enum { TOY_STAGES = 4 };
/* One program for the whole process; never freed by its users. */
WsProgram *toy_program(void);
void toy_program_free(void);
/* `rounds` per tile; every period is `period` cycles long; `late` is added to every 7th load. */
WsTrace *toy_trace(WsTraceOrigin origin, gint tiles, gint rounds, gint64 late);
