/* The journal of a document: what it began from and every committed edit, written as it happens, so
 * that a crash loses none. One file per open document under the state folder; it is gone when the
 * document is closed in peace. A journal that no running program holds is one to recover from. */
#pragma once

#include "model/forward.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct WsJournal WsJournal;

char *ws_journal_folder(void); /* $XDG_STATE_HOME/warpstave/journal; caller frees */
/* Begins one for a design that `file` (or NULL) holds. Nothing is written before the first edit.
 */
WsJournal *ws_journal_new(const WsDesign *design, GFile *file);
/* Keeps the file: for tests of a crash. */
void ws_journal_abandon(WsJournal *j);
void ws_journal_free(WsJournal *j); /* removes the file */

/* Each is one write; FALSE once, when the folder cannot be written (error says why). */
/* `joined`: the edit became part of the step before it. */
gboolean ws_journal_edit(WsJournal *j, const char *name, const char *script, gboolean joined,
                         GError **error);
gboolean ws_journal_move(WsJournal *j, gboolean redo, GError **error);
/* The design is on disk now: the journal begins anew from it. */
void ws_journal_saved(WsJournal *j, const WsDesign *design, GFile *file);

/* --- recovering ---------------------------------------------------------------------------------
 */
typedef struct {
    char *path;       /* of the journal */
    GFile *file;      /* the design's, or NULL */
    WsDesign *design; /* with all edits that were committed */
    guint n_edits;
    gint64 time; /* of the last one, seconds since the epoch */
} WsLost;
void ws_lost_free(WsLost *lost);
/* Journals that nobody holds, newest first; free with g_ptr_array_unref. Empty ones are removed. */
GPtrArray *ws_journal_lost(void);
/* NULL if it cannot be read; a last record that was cut short is left out. */
WsLost *ws_lost_read(const char *path);
void ws_lost_remove(const WsLost *lost);

G_END_DECLS
