/* A kernel that was read, with the verdict on it. */
#pragma once

#include "check/check.h"
#include "import/import.h"

/* Owns all four. */
typedef struct {
    WsImport *import;
    WsProgram *program;
    WsFindings *findings; /* with the lines of the kernel */
    WsVerdict *verdict;
} Judged;

/* What is not read goes into the test's log; a text that gives no program fails the test. */
Judged judge_kernel(const char *text, WsImportFrom language);
/* The verdict with what was not read taken into account; a text that is refused is outside. */
WsVerdictKind verdict_by(const char *text, WsImportFrom language, const WsImportOptions *how);
WsVerdictKind verdict_of(const char *text, WsImportFrom language);
/* Proved by uses, or by slot and parity alone. */
gboolean is_proved(const char *text, WsImportFrom language);
void judged_clear(Judged *j);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Judged, judged_clear)
