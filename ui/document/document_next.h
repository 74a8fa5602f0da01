/* What the lens of advice says of the document (advise/next.h): exposed edges, critical path,
 * ranked edits. Worked out in a thread, when somebody asks. */
#pragma once

#include "advise/idle.h"
#include "ui/document/document.h"

G_BEGIN_DECLS

/* Asks for it; "advised" follows. Costs nothing if the answer is there or on its way. The edits
 * take seconds, edges and path milliseconds: `edits` FALSE asks for those alone. */
void ws_document_want_next(WsDocument *d, gboolean edits);
/* Of what is shown now; NULL: not asked for, or on its way. Borrowed until the next "advised" or
 * "changed". */
const WsNext *ws_document_next(WsDocument *d);
guint64 ws_document_next_number(WsDocument *d); /* another one for every answer; 0 none */
gboolean ws_document_next_running(WsDocument *d);
gboolean ws_document_next_has_edits(WsDocument *d); /* they were asked for, too */
/* The edit of the list that lowers a cause of an idle unit most, predicted; NULL: none that was
 * tried does, or they were not asked for. */
const WsNextEdit *ws_document_idle_edit(WsDocument *d, const WsIdleCause *cause);
/* Tries an edit of the list without committing to it; NULL goes back. */
gboolean ws_document_try_next(WsDocument *d, const WsNextEdit *edit);
/* One undoable step named as the edit is. */
gboolean ws_document_take_next(WsDocument *d, const WsNextEdit *edit, GError **error);
/* Whether the critical path is drawn. Emits "advised". */
void ws_document_show_path(WsDocument *d, gboolean shown);
gboolean ws_document_path_shown(WsDocument *d);

G_END_DECLS
