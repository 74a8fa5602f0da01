/* Designs of ascend drawn by chance: a ring of each of several kinds in loops, loops in loops,
 * under conditions, one after another, with up to three changes of their lines. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Design number `seed`; `how` says what was drawn. The caller frees both. */
char *ascend_drawn(guint32 seed, char **how);

G_END_DECLS
