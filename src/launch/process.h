/* Running another program to its end. */
#pragma once

#include "launch/run.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Its standard output goes where ours goes, is dropped (`quiet`), or is returned in *output (caller
 * frees). *status: exit status, 128 + signal if it was killed. */
gboolean ws_process_run(const char *const *argv, gboolean quiet, char **output, int *status,
                        GError **error);

/* Starts it and hands out its standard output as it comes, until it ends. `interrupted` (may be
 * NULL) is asked several times a second; once it says TRUE the program is killed. */
typedef void (*WsProcessOutput)(const char *data, gsize n, gpointer user);
gboolean ws_process_follow(const char *const *argv, WsProcessOutput output, gpointer user,
                           gboolean (*interrupted)(void), int *status, GError **error);

/* A run on another host (run.h): remote.c. */
gboolean ws_run_remote(const char *dir, const char *runner, const WsRunSpec *spec, int *status,
                       GError **error);

G_END_DECLS
