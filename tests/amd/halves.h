/* What two halves of a group can do to each other, by trying all interleavings. */
#pragma once

#include "program/forward.h"

#include <glib.h>

/* NULL if no interleaving of CTA 0's halves goes wrong for these sizes, else what does; the caller
 * frees it. Also NULL, with `ran` FALSE, where the sizes do not launch. */
char *halves_wrong(const WsProgram *p, const char *size, gint64 value, gboolean *ran);
