/* Buttons under the explanation of a problem: the quick-fixes that a new check confirms. */
#pragma once

#include "ui/problems/problems.h"

G_BEGIN_DECLS

/* Fills ws_problems_actions() for the finding that is explained; what holds is found out in a
 * thread. Lives as long as the panel. */
void ws_problem_fixes_attach(WsProblems *problems, WsDocument *document);

G_END_DECLS
