/* Inside src/check: the case that words name, and a case in which an alarm's answers hold. */
#pragma once

#include "check/play/case.h"
#include "check/proof/prove.h"

G_BEGIN_DECLS

/* "K = 257, L[1] = 3, CTA 1 of 2 (tile 1)": the case that such words name, with that many tiles;
 * all other sizes as for the rehearsal. NULL: a word is not understood, or there is no such launch.
 */
WsCase *ws_case_at(const WsProgram *p, const char *sizes, guint tiles);
/* A case of `tiles` tiles in which as many answers (WsTold) hold as can be. NULL: no launch has so
 * many tiles. `missed` (caller frees) is an answer that does not hold there, in words: "e = 40 in
 * tile 0"; NULL: all of them do. */
WsCase *ws_case_told(const WsProgram *p, const GArray *told, guint tiles, char **missed);

G_END_DECLS
