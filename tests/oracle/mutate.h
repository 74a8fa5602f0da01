/* Small changes of a design, as texts: every step that orders something left out, doubled, moved;
 * every count, byte, parity, stage and bound made one wrong. */
#pragma once

#include "program/program.h"

#include <glib.h>

typedef struct {
    char *text, *what;
} Mutant;

/* Mutants of a design in canonical text (one step per line); its program says the derived counts
 * and bytes. */
GPtrArray *mutants_of(const char *text, const WsDesign *design, const WsProgram *program);
