/* Designs that the check refutes: questions about refutations are asked of these, and of no other.
 */
#pragma once

#include "check/check.h"

G_BEGIN_DECLS

typedef struct {
    char *file;
    WsDesign *design;
    WsProgram *program;
    WsFindings *findings;
    const WsFinding *first; /* error of class P */
} Refuted;

/* NULL: elaboration refuses it, or nothing of class P is said against it. */
Refuted *refuted_load(const char *file, const WsCheckOptions *options);
void refuted_free(gpointer r);
/* Those of a folder of tests/designs whose names begin with `letter` (0: any), as cases called
 * PREFIX/NAME. `asked`: of which of them the question is; NULL: of all. `all` keeps them. How many
 * of how many there are is told. */
void refuted_add(GPtrArray *all, const char *folder, char letter, const WsCheckOptions *options,
                 gboolean (*asked)(const Refuted *r), const char *prefix,
                 void (*test)(gconstpointer refuted));

G_END_DECLS
