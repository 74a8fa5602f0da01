/* A finding on the lines of the kernel that the design was read from. */
#pragma once

#include "ui/problems/problems.h"

G_BEGIN_DECLS

/* Under what a finding says: its line of the source between its neighbours, and the way there. */
void ws_problem_source_attach(WsProblems *problems, WsDocument *document);

G_END_DECLS
