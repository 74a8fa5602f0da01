/* Sizes of which the host makes values that were not followed. Private to src/judge. */
#pragma once

#include "check/check.h"
#include "import/import.h"

G_BEGIN_DECLS

/* A refutation stands where none of them decides what it is about: they may never have the values
 * that it was found for. A proof holds for all values, and stays. */
void ws_judge_open(const WsImport *import, const WsProgram *program, WsVerdict *verdict,
                   WsFindings *findings);

G_END_DECLS
