/* One run of the command line tool: its exit code and what it said. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct WsProcess WsProcess;
typedef struct {
    int code;                    /* exit code, 130 when cancelled, 4 when it could not be started */
    const char *output, *errors; /* all it said, "" nothing */
    const char *message;         /* why it failed, in one sentence; NULL: it did not say */
    const char *step, *why, *remedy; /* of a refusal: place in the design; reason and what to change
                                        as phrases; each may be NULL */
} WsProcessResult;
/* Called once on the main thread; the result is borrowed. The process is freed afterwards. */
typedef void (*WsProcessDone)(const WsProcessResult *result, gpointer data);

/* argv[0] is replaced by the tool's path: $WARPSTAVE, beside this program, the build folder, $PATH.
 */
WsProcess *ws_process_start(const char *const *argv, WsProcessDone done, gpointer data);
/* Asks it to stop (SIGINT), and after two seconds stops it. `done` is still called. */
void ws_process_cancel(WsProcess *p);
/* Nobody waits any more: `done` is not called, the process is stopped. */
void ws_process_abandon(WsProcess *p);

G_END_DECLS
