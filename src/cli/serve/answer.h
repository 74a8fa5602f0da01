/* Answers of `warpstave serve`. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The answer to a line (without its end): one JSON object on one line, without an end. Caller
 * frees. */
char *ws_serve_answer(const char *line, gsize length);

G_END_DECLS
