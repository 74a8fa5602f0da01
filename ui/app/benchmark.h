/* warpstave-studio --benchmark: how long the studio takes to start and to draw a frame. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Called first thing in main(): where the clock of the process itself is not to be had, the time
 * until the first frame counts from here. */
void ws_benchmark_note_start(void);
/* Opens `design` (NULL: the shipped GEMM) and the measured trace beside it, then a design of 32
 * groups, 2 000 steps and 64 barriers, then traces of one and of ten million records; drives zoom
 * and pan as a person would, prints a line for each figure and whether its goal is met, and closes
 * its windows. $WARPSTAVE_BENCHMARK names some of the scenes (first, large, long, longest, drag),
 * separated by commas. The exit status: 0 all goals met, 1 missed, 3 could not be measured. Goals:
 * issue of the studio, frames at 1600x900. */
int ws_benchmark_run(GtkApplication *application, const char *design);

G_END_DECLS
