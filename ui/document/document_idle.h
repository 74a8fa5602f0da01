/* Where the units of an SM stand idle (advise/idle.h): of the prediction and of the measured run of
 * what is shown, worked out in a thread when somebody asks; and the gap that is looked at. */
#pragma once

#include "advise/bound.h"
#include "advise/overlap.h"
#include "ui/document/document.h"

G_BEGIN_DECLS

/* What is found by walking all of it (edges, gaps) comes after its first picture. */
gboolean ws_document_is_long(const WsTrace *t);
/* Asks for it; "idle" follows. Costs nothing if the answer is there or on its way. */
void ws_document_want_idle(WsDocument *d);
/* Of what is shown now; NULL: not asked for, on its way, or no such trace. Borrowed until the next
 * "idle", "changed" or "previewed". */
const WsIdle *ws_document_idle(WsDocument *d, gboolean measured);
/* What ran beside what, of the same traces; NULL as above. */
const WsOverlap *ws_document_overlap(WsDocument *d, gboolean measured);
/* What the measured run is bound by; FALSE: not known. */
gboolean ws_document_bound(WsDocument *d, WsBoundBy *by);
/* Why the measured run has none of all this, to be translated (score/scene.h); NULL: it has. */
const char *ws_document_between(WsDocument *d);
/* The rounds of the measured run cannot be counted to tiles. */
gboolean ws_document_claims(WsDocument *d);
guint64 ws_document_idle_number(WsDocument *d); /* another one for every answer; 0 none */

/* A gap of one of the two. */
typedef struct {
    gboolean measured;
    guint cta; /* index in that trace's CTAs */
    WsUnit unit;
    guint gap; /* in WsIdleCta.gap of the unit */
} WsGapRef;
/* Looks at a gap: its waiter and the release that it waited for (or what most of it goes to and the
 * next use) are selected. NULL: at none. `reveal`: the score shows it. Emits "idle". */
void ws_document_look_at_gap(WsDocument *d, const WsGapRef *gap, gboolean reveal);
/* FALSE: at none, or it is gone. */
gboolean ws_document_gap(WsDocument *d, WsGapRef *gap);
/* The last look asked for the score to show it; FALSE from then on. */
gboolean ws_document_gap_to_reveal(WsDocument *d);
const WsIdleGap *ws_document_gap_of(WsDocument *d, const WsGapRef *gap, const WsIdleCta **cta);

G_END_DECLS
