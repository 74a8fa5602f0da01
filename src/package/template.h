/* Texts with holes: @WORD@ is replaced, everything else stays. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Values by word; a word without a value is a defect of ours and stays visible. Caller frees. */
char *ws_template_fill(const char *text, GHashTable *values);

G_END_DECLS
