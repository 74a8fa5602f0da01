/* Another design beside the one that is open: A is what it is compared with, B what is shown. */
#pragma once

#include "edit/compare.h"
#include "ui/document/document.h"

G_BEGIN_DECLS

/* Immutable; the document's until its next "compared". */
typedef struct {
    guint64 number;           /* no other comparison has it */
    char *name;               /* of A, for people: "the saved design" */
    WsDesign *a, *b;          /* borrowed from `compare` */
    WsCompare *compare;       /* from A to B */
    WsProgram *program;       /* of A; NULL: it cannot be elaborated */
    WsTrace *predicted;       /* of A; may be NULL */
    const WsMachine *machine; /* that it is predicted on */
    gint64 cycles_a;          /* predicted of the whole launch; 0 unknown */
    gint64 cycles_b;
} WsComparison;

/* Compares what is open with another design, from now on after every edit; NULL stops. The answer
 * comes from a thread, with "compared". */
void ws_document_compare_with(WsDocument *d, const WsDesign *design, const char *name);
/* With the design as it was saved or read last; FALSE: it never was. */
gboolean ws_document_compare_saved(WsDocument *d);
/* With a state that undo or redo leads to. */
gboolean ws_document_compare_state(WsDocument *d, guint state);
gboolean ws_document_compare_file(WsDocument *d, GFile *file, GError **error);
gboolean ws_document_comparing(WsDocument *d); /* perhaps without an answer yet */
/* NULL: none, or the answer is on its way; what it was made for is `b`. */
const WsComparison *ws_document_comparison(WsDocument *d);
/* The one that is drawn: of what is shown. NULL while another design is only tried. */
const WsComparison *ws_document_comparison_shown(WsDocument *d);
/* Shows A in the place of B, without committing to it; again: back. FALSE: nothing is compared. */
gboolean ws_document_flip_designs(WsDocument *d);
gboolean ws_document_shows_a(WsDocument *d);
/* The row that is looked at, in WsCompare.row; -1 none. Emits "compared" with it. */
void ws_document_look_at_row(WsDocument *d, gint row);
gint ws_document_row(WsDocument *d);

G_END_DECLS
