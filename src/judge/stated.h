/* What is assumed of a kernel's stores, beside the launch that its file makes. Private to
 * src/judge. */
#pragma once

#include "check/check.h"
#include "import/import.h"

G_BEGIN_DECLS

/* A proof that takes for granted that every element is written once does not stand where the launch
 * of the file writes one twice. Nothing is refuted: some kernels write the same value twice. */
void ws_judge_stated(const WsImport *import, const WsProgram *program, WsVerdict *verdict,
                     WsFindings *findings);

G_END_DECLS
