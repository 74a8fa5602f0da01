/* Programs of which no launch is known. */
#pragma once

#include "check/check.h"

G_BEGIN_DECLS

/* Nothing was played: what is said of all launches may be said of none. A proof stands if
 * sizes are found that make a launch, from the program's own and those of its rehearsal; otherwise
 * OUTSIDE. */
void ws_judge_no_launch(const WsProgram *p, WsVerdict *v, WsFindings *findings);
/* A proof of launches that are all refused, since kernels do not count so far, is one of nothing:
 * OUTSIDE unless sizes are found for which it is not. */
void ws_judge_uncounted(const WsProgram *p, WsVerdict *v, WsFindings *findings);

G_END_DECLS
