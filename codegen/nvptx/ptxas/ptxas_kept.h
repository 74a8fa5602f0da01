/* Answers of ptxas that are kept from run to run: a search asks about the same text again whenever
 * it is begun again. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whether ptxas reports nothing that is not meant (ws_ptxas_report_clean) of this PTX. What it said
 * stands in the user's cache, by the text and by the assembler's file, size and time; only what it
 * reports is kept, no failure. FALSE with an error: it cannot be asked, or refuses. */
gboolean ws_ptxas_ask(const char *ptx, gboolean *clean, GError **error);

G_END_DECLS
