/* Small changes of a design, as texts: every step that orders something left out, doubled, moved;
 * every count, byte, parity, stage and bound made one wrong. */
#pragma once

#include "program/forward.h"

#include <glib.h>

typedef struct {
    char *text, *what;
} Mutant;

/* Mutants of a design in canonical text (one step per line); its program says the derived counts
 * and bytes. */
GPtrArray *mutants_of(const char *text, const WsDesign *design, const WsProgram *program);
/* A mutant leaves a step out by muting it; here it is gone, so that no fix can find it again. NULL
 * if nothing is muted. */
WsDesign *without_muted(const WsDesign *design, WsFindings *findings);
