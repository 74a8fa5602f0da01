/* Running a bundle: here, or on a host reached by ssh. */
#pragma once

#include "launch/bundle.h"

G_BEGIN_DECLS

typedef struct {
    const char *host;              /* NULL: this machine; else what `ssh` takes: "user@gpu1" */
    const char *runner;            /* NULL: found by ws_run_find_runner() */
    const char *const *arguments;  /* further arguments of the runner, NULL-terminated, or NULL */
    gboolean quiet;                /* its output is dropped */
    gboolean (*interrupted)(void); /* asked while a remote run goes on; TRUE ends it; may be NULL */
    guint retry_ms; /* pause before a lost connection is taken up, doubled each time; 0: 1000 */
} WsRunSpec;

/* Runs warpstave-runner on the bundle `dir` and waits. results.json and records lie in `dir`
 * afterwards, for remote runs too. *status is the runner's exit status (0 right, 1 wrong or hung,
 * 2 bad bundle, 4 no GPU, …). FALSE with WS_BUNDLE_ERROR_ABSENT if runner, ssh or host cannot be
 * had, WS_BUNDLE_ERROR_FAILED if copying failed. */
gboolean ws_run_bundle(const char *dir, const WsRunSpec *spec, int *status, GError **error);

/* $WARPSTAVE_RUNNER, else beside this program, else in its build folder, else in PATH. NULL if
 * there is none. Caller frees. */
char *ws_run_find_runner(void);

G_END_DECLS
