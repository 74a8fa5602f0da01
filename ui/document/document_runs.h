/* Two runs of one design: one shown under the prediction, one pinned; a flip changes places. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/* The measured trace that is shown is kept; FALSE: there is none. */
gboolean ws_document_pin_run(WsDocument *d);
/* The pinned trace, if it is of the design that is open; borrowed, NULL if none. */
WsTrace *ws_document_pinned_run(WsDocument *d);
/* Shows the pinned run, and pins the one that was shown; views stay where they are. FALSE: none is
 * pinned. */
gboolean ws_document_flip_run(WsDocument *d);

G_END_DECLS
