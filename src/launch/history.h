/* Run history: one SQLite file per user that remembers the figures of every collected case, so that
 * runs of one design, or of two, can be compared later. Traces stay in their files. Without SQLite
 * at build time every function fails with WS_BUNDLE_ERROR_ABSENT. */
#pragma once

#include "launch/collect.h"

G_BEGIN_DECLS

typedef struct WsRunStore WsRunStore;

typedef struct {
    gint64 id;
    gint64 time; /* Unix seconds, UTC */
    char *design_hash, *name, *sizes, *device, *host, *state;
    guint driver;
    double cold_us, sustained_us, tflops, sm_mhz, watt, overhead; /* NAN unknown */
    char *trace;       /* file it was saved to, or NULL */
    char *note, *tags; /* of the person; NULL none. Tags: words separated by spaces */
} WsHistoryRun;

/* $WARPSTAVE_HISTORY, else warpstave/history.db in the user's data folder. Caller frees. */
char *ws_history_default_file(void);
/* Opens or creates; `file` NULL: the default. A file of a newer version is refused by number. */
WsRunStore *ws_history_open(const char *file, GError **error);
void ws_history_close(WsRunStore *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsRunStore, ws_history_close)

/* Adds every case of `c` that ran, in one transaction. `host` NULL: this machine; `trace`: where
 * the trace of case 0 was saved, or NULL. */
gboolean ws_history_add(WsRunStore *h, const WsCollected *c, const char *host, const char *trace,
                        GError **error);
/* The newest `limit` runs, newest first; of one design if `design_hash` is not NULL.
 * GPtrArray of WsHistoryRun*, owned by the array. */
GPtrArray *ws_history_list(WsRunStore *h, const char *design_hash, guint limit, GError **error);
/* Replaces note and tags of a run; NULL or "" takes them away. FALSE too if there is no such run.
 */
gboolean ws_history_annotate(WsRunStore *h, gint64 id, const char *note, const char *tags,
                             GError **error);

G_END_DECLS
