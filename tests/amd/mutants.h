/* Small changes of a design's text, one after the other: a step left out, two exchanged, a number
 * one more or less, a border of stages left out, added or moved by a step, a wait or a barrier
 * moved over a block. Shares no code with what it judges. */
#pragma once

#include <glib.h>

typedef void AmdMutant(const char *how, const char *text, gpointer data);

/* Every change of one place, `takes` (NULL: all) says of which: places are the lines of the body
 * that hold a whole step, or begin or end a block. */
void amd_mutants(const char *text, gboolean (*takes)(guint place), AmdMutant *each, gpointer data);
/* `n` pairs of changes, drawn by `seed`. */
void amd_mutant_pairs(const char *text, guint n, guint32 seed, AmdMutant *each, gpointer data);
