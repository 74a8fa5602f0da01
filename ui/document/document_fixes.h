/* Quick-fixes of the findings that are shown. Once a design is judged they are looked for in a
 * thread, errors first; each is tried by a check of its own. Signal "fixes": more are known. */
#pragma once

#include "mend/fix.h"
#include "ui/document/document.h"

G_BEGIN_DECLS

/* What mends the finding, the likeliest first: what leaves no error behind, or, if nothing does,
 * what mends this one alone. WsFix*; borrowed until the next "changed". NULL: not known yet; empty:
 * nothing does, or it is nothing to mend. */
const GPtrArray *ws_document_fixes(WsDocument *d, const WsFinding *finding);
/* The first of them that the check has proved; NULL if none is known. */
const WsFix *ws_document_proved_fix(WsDocument *d, const WsFinding *finding);
/* Looks for all of them; for those of `first` (or NULL) before the others. */
void ws_document_want_fixes(WsDocument *d, const WsFinding *first);
/* The finding that is to be mended first and what mends it: of the worst ones the first. NULL: none
 * is known. */
const WsFix *ws_document_first_fix(WsDocument *d, const WsFinding **finding);
/* Makes it: one step of undo. FALSE with an error: the design refuses it. */
gboolean ws_document_fix(WsDocument *d, const WsFix *fix, GError **error);
/* Whether only synchronisation changes, in words. */
const char *ws_document_fix_told(const WsFix *fix);

G_END_DECLS
