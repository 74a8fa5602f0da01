/* One text for n copies whose integer literals differ by equal steps. Language-neutral: tokens are
 * words, numbers and single characters. Shared by the printers of CUDA C++ and Python. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define WS_FOLD_IMMEDIATE "\x01" /* stands before a literal that must be a constant expression */

/* NULL if the copies do not fold. `immediates`: literals marked WS_FOLD_IMMEDIATE may depend on
 * `index` too. Caller frees. */
char *ws_fold_text(const char *const *copy, guint n, const char *index, gboolean immediates);
/* The text with every integer literal as '#': what copies must share to fold. Caller frees. */
char *ws_fold_shape(const char *text);
/* `text` without "+ 0" and marks. Caller frees. */
char *ws_fold_without_zeros(const char *text);
/* `word` stands in `text` as a word of its own, not behind a dot. */
gboolean ws_fold_mentions(const char *text, const char *word);
gboolean ws_fold_word_char(char c);

G_END_DECLS
