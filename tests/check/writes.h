/* A judge of what a kernel writes, for the tests: runs the agents of a program at given sizes with
 * an interpreter of its own and counts the writes of every element, one by one. It shares nothing
 * with src/check/global. */
#pragma once

#include "program/walk/walk.h"

typedef struct {
    gboolean right; /* every element of every tensor of access `write` once */
    gboolean told;  /* FALSE: it could not be run (sizes, too large, a division by 0) */
    char *what;     /* of the first element that is not: "C[3,0] 2 times" */
} Writes;

/* `ctas` for launches that do not say; `variant` chooses the data. */
Writes writes_at(const WsProgram *p, const WsSize *size, guint n_size, gint64 ctas, guint variant);

/* The launch that a finding names: "M = 129, elements -1 and 1 by turns, indices backwards, 2
 * CTAs". Elements are brought into the range of their `data`. */
Writes writes_said(const WsProgram *p, const char *sizes);
