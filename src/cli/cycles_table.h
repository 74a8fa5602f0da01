/* A kept table of measured launches, and what the clock says of each. */
#pragma once

#include "cli/cli.h"

G_BEGIN_DECLS

/* Prints one line per row of `file` and a summary. Exit code: NO if a row is off by more than
 * `within` (0.1: ten per cent). */
int ws_cli_cycles_table(const char *file, const WsMachine *m, double within, gboolean json);

G_END_DECLS
