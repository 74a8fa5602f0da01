/* Verdicts for people. */
#pragma once

#include "check/check.h"

/* "simulated", "refuted", "undecided", "proved"; ws_verdict_word() is for programs. */
const char *ws_verdict_title(WsVerdictKind kind);
