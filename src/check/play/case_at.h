/* Inside src/check: a case at given sizes. */
#pragma once

#include "check/play/play.h"
#include "check/proof/prove.h"

G_BEGIN_DECLS

/* "K = 257, nb = 2 3": sizes of the launch, values of tile names from tile to tile; all others as
 * for the rehearsal. NULL: a word is not understood, or no launch has these sizes. */
WsCase *ws_case_at(const WsProgram *p, const char *sizes, guint tiles);
void ws_case_free(WsCase *c);
/* Sizes at which all answers (WsTold) hold, in such words; NULL: none were found. Caller frees. */
char *ws_sizes_of(const WsProgram *p, const GArray *told);

G_END_DECLS
