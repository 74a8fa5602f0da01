/* Mutants of the text of a design of ascend: a flag or a barrier left out, doubled or moved, a step
 * moved, a use one off. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef void (*AscendMutant)(const char *text, const char *how, gpointer data);
void ascend_mutants(const char *design, AscendMutant judge, gpointer data);

G_END_DECLS
