/* Changes of a design as JSON, whatever it is made of: faults at random, and the small steps by
 * which a design that shows something is made smaller. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The design with one change drawn from `rand`, and what it was in `*what` (caller frees both);
 * NULL: the draw met nothing to change. */
char *fault(const char *text, GRand *rand, char **what);

/* The design with its nth thing left out or made simpler; NULL behind the last one. A
 * simplification that does not apply gives the text as it was. Caller frees. */
char *simpler(const char *text, guint nth);

G_END_DECLS
