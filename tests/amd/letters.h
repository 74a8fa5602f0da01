/* Designs of a few letters. Steps of a stage: Rxk reads buffer x (y), use 0, 1, k or K, which is k
 * + 1; W writes it; L loads it; C computes; ?.. the next step in a branch. `|` ends a stage, `w`
 * and `s` are a load_wait and a sync at the border. `/` parts lists: each is the body of a loop, or
 * with `=` before it stages of the group, with `-` a loop whose steps stand in no stage. */
#pragma once

#include "model/findings.h"
#include "program/elaborate.h"

G_BEGIN_DECLS

/* Text of the design; `fields`: of each stage in order, with `;` between, or NULL. */
char *letters_design(const char *letters, const char *fields);
/* The same around steps that are given as text, each with a comma before it. */
char *letters_around(const char *body);
/* NULL where the text is none of a program; the findings are also told as a message of the test. */
WsProgram *letters_program(const char *text, WsFindings *findings);

G_END_DECLS
