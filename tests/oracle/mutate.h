/* Small changes of a design text in canonical form: one step or one field at a time. */
#pragma once

#include <glib.h>

typedef struct {
    char *text; /* of the whole design */
    char *what; /* "line 31: dropped: { "wait": … }" */
} Mutant;

/* Every mutant of a design; the array frees them. */
GPtrArray *mutants_of(const char *text);
