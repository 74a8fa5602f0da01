/* Which pairs of features were drawn, judged, proved and refuted: of one run, and of all runs that
 * add to one file. */
#pragma once

#include "compose.h"

G_BEGIN_DECLS

typedef struct {
    guint drawn, judged, proved, refuted; /* designs */
} PairTally;

typedef struct Pairs Pairs;

Pairs *pairs_new(void);
void pairs_free(Pairs *p);
/* A design of these features was `drawn`, …: counts are added to each of its pairs. */
void pairs_count(Pairs *p, const guint *feature, guint n, PairTally what);
/* Adds what `file` holds (nothing, where there is no file) and writes the sum to it: lines
 * "FEATURE FEATURE drawn judged proved refuted". Features that are gone are dropped. FALSE: it
 * cannot be written. */
gboolean pairs_add_to(Pairs *p, const char *file);
/* One line: how many pairs may stand together, and how many were drawn, … Caller frees. */
char *pairs_text(const Pairs *p);
/* Pairs that were never judged though drawn often enough, one line each, "": none. Caller frees. */
char *pairs_missing(const Pairs *p, guint most);

G_END_DECLS
