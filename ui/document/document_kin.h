/* A run of another design beside the one that is shown: it is compared by what steps are called and
 * what they do. What its own design comes to is worked out in a thread. */
#pragma once

#include "advise/idle.h"
#include "ui/document/answers.h"
#include "ui/document/document.h"

G_BEGIN_DECLS

/* Borrowed until the next "range-changed". */
typedef struct {
    char *name;         /* "measured/unordered.wtrace" */
    WsTrace *trace;     /* with its design inside */
    guint64 number;     /* another one for every run and answer */
    WsAnswers *answers; /* of its design; NULL: not yet, or it cannot be read */
    WsIdle *idle;       /* NULL so far */
    WsTraceStats *stats;
} WsKin;

/* Whether the design that is shown is kin of a trace's. */
gboolean ws_document_is_kin(WsDocument *d, const WsTrace *t);
/* Compares with it; NULL no longer. "range-changed" follows, and again when the answers are there.
 */
void ws_document_compare_kin(WsDocument *d, WsTrace *t, const char *name);
const WsKin *ws_document_kin(WsDocument *d); /* NULL: none */

G_END_DECLS
