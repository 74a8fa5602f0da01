/* Random designs whose outputs are known, for tests of edits. */
#pragma once

#include <glib.h>

/* A design as text, with its reference worked out step by step in the order that is written: one
 * group that loads for itself, or one that waits for another; rings of some depth, buffers over
 * others, counters that are advanced by numbers and by counters, also in a branch. Caller frees. */
char *random_moves(guint32 seed);
