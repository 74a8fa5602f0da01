/* Reading back a bundle that was run: what the commands collect and profile share. */
#pragma once

#include "cli/cli.h"

/* Prints the figures of `dir`, which ran on `host` (NULL: here), and keeps them in the run history;
 * writes the trace of case `which` to `out` if not NULL. With `json` the figures are its JSON form.
 * Exit code. */
int ws_cli_collect(const char *dir, guint which, const char *host, const char *out, gboolean json);
