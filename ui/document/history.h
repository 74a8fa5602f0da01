/* Undo and redo: the states a design went through, each with the name of the step that made it.
 * Designs share what they have in common, so a state costs little. Not thread-safe; no widgets. */
#pragma once

#include "model/forward.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct WsHistory WsHistory;

#define WS_HISTORY_BYTES    (64u << 20) /* the oldest states go when more is held */
#define WS_HISTORY_COALESCE 1200000     /* microseconds between edits that are one step */

WsHistory *ws_history_new(gsize max_bytes);
void ws_history_free(WsHistory *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsHistory, ws_history_free)

/* Begins anew with this design, which counts as saved unless `dirty`. */
void ws_history_reset(WsHistory *h, const WsDesign *design, gboolean dirty);
/* A new state behind the present one; what was undone is forgotten. Two steps with the same
 * `coalesce` (not NULL) shortly after each other are one. TRUE if it became part of the last one.
 */
gboolean ws_history_push(WsHistory *h, const WsDesign *design, const char *name,
                         const char *coalesce, gint64 now, gsize bytes);
/* The next edit is a step of its own, whatever its key. */
void ws_history_seal(WsHistory *h);
WsDesign *ws_history_design(const WsHistory *h); /* the present state, borrowed; NULL if none */
gboolean ws_history_undo(WsHistory *h);
gboolean ws_history_redo(WsHistory *h);
const char *ws_history_undo_name(const WsHistory *h); /* NULL: nothing to undo */
const char *ws_history_redo_name(const WsHistory *h);
/* States are numbered from 0 (the oldest kept) to n - 1. */
guint ws_history_n(const WsHistory *h);
guint ws_history_now(const WsHistory *h);
const char *ws_history_name(const WsHistory *h, guint state); /* NULL for the oldest */
WsDesign *ws_history_state(const WsHistory *h, guint state);  /* borrowed */
WsDesign *ws_history_saved(const WsHistory *h);               /* borrowed; NULL: not kept */
gboolean ws_history_dirty(const WsHistory *h);
void ws_history_mark_saved(WsHistory *h);

G_END_DECLS
