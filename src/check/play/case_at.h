/* Inside src/check: the case that a finding was met with, and one in which an alarm's answers hold.
 */
#pragma once

#include "check/play/case.h"
#include "check/proof/prove.h"

G_BEGIN_DECLS

/* The case that was met, with that many tiles; sizes that it does not say are as for the rehearsal.
 * NULL: it says a size or an element that the program has not, or there is no such launch. */
WsCase *ws_case_at(const WsProgram *p, const WsMet *met, guint tiles);
/* A case of `tiles` tiles in which as many answers (WsTold) hold as can be. NULL: no launch has so
 * many tiles. `missed` (caller frees) is an answer that does not hold there, in words: "e = 40 in
 * tile 0"; NULL: all of them do. */
WsCase *ws_case_told(const WsProgram *p, const GArray *told, guint tiles, char **missed);

G_END_DECLS
