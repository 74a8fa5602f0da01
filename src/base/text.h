/* Small text helpers shared by everything that writes JSON or escapes text. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends `s` as a JSON string with its quotes; NULL becomes null. */
void ws_text_json(GString *out, const char *s);
/* Appends a JSON number; NAN and infinities become null. */
void ws_text_json_real(GString *out, double value);
/* The nearest of `n` words to `word` by edit distance (about half its length at most), or NULL. */
const char *ws_text_nearest(const char *word, const char *const *words, guint n);

G_END_DECLS
