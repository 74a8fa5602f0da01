/* Reading back a bundle that was run: what the commands collect and profile share. */
#pragma once

#include "cli/cli.h"
#include "launch/collect.h"

/* Prints the figures of `dir`, which ran on `host` (NULL: here), and keeps them in the run history;
 * writes the trace of case `which` to `out` if not NULL. With `json` the figures become members of
 * the object that is open there; none if it fails before there are any. Exit code. */
int ws_cli_collect(const char *dir, guint which, const char *host, const char *out,
                   WsJsonOut *json);
/* The members themselves, without the folder. */
void ws_cli_put_collected(WsJsonOut *json, const WsCollected *collected);
