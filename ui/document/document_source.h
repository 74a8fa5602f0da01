/* The kernel in another language that the open design was read from. Its file is read, never
 * written: the design is a new one without a file until it is saved. */
#pragma once

#include "import/import.h"
#include "ui/document/document.h"
#include "ui/document/source_map.h"

G_BEGIN_DECLS

/* Immutable but for the map, which follows the design. The document's. */
typedef struct {
    guint number; /* no other reading has it */
    GFile *file;
    char *name; /* as the design calls it */
    char *text; /* UTF-8 */
    WsImportFrom from;
    WsImport *import;  /* limits what is said of the design, edited or not; NULL as with `unread` */
    GPtrArray *unread; /* WsUnread*, or NULL: the design was opened again, its opaque steps tell */
} WsSource;

const WsSource *ws_document_source(WsDocument *d); /* NULL: the design was not read from one */
/* Lines and steps of what is shown; NULL without a source. */
const WsSourceMap *ws_document_source_map(WsDocument *d);

/* A place that was not understood, as the list of them shows it. */
typedef struct {
    guint first, last; /* lines, from 0 */
    char *what;
    GPtrArray *steps; /* char*: opaque steps of the design that stand for it; may be empty */
} WsOpaque;
/* In the order of the lines; free with g_ptr_array_unref. Empty without a source. */
GPtrArray *ws_document_opaque(WsDocument *d);

/* TRUE if the name of the file is that of a kernel in another language. */
gboolean ws_source_is(GFile *file);
/* Reads a kernel, elaborates, checks and times it in a thread; nothing changes until _finish, which
 * opens it as a new design. Cancelled: the thread ends soon, and the document stays as it is. Where
 * the same file was open already, what differs from before is shown (document_compare.h); `former`
 * then says whether anything does. Errors name file, line and column. */
void ws_document_import_async(WsDocument *d, GFile *file, GCancellable *cancellable,
                              GAsyncReadyCallback done, gpointer data);
/* What the thread of this reading does now ("Line 412 of 3,120 is read"). Caller frees; NULL: it
 * has not begun. */
char *ws_document_import_words(GCancellable *cancellable);
guint ws_document_readings(void); /* threads that read a kernel now */
typedef enum { WS_IMPORT_NEW, WS_IMPORT_SAME, WS_IMPORT_DIFFERS } WsImported;
gboolean ws_document_import_finish(WsDocument *d, GAsyncResult *result, WsImported *imported,
                                   GError **error);
/* Whether the source's file still holds what was read. */
gboolean ws_document_source_is_ours(WsDocument *d);

/* "2 places not understood": those that an import left in the design, of which a proof says that
 * only values hang on them; NULL: there are none. Caller frees. */
char *ws_document_unread_words(WsDocument *d);
/* All that the verdict says, and these places where it is a proof; NULL: there is no verdict.
 * Caller frees. */
char *ws_document_verdict_said(WsDocument *d);

G_END_DECLS
