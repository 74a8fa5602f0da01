/* Words of an author in the text of a program: comments and identifiers. For the printers of CUDA
 * C++ and Python. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends `text` as lines that begin with `sign`, at most `width` characters of it each, cut at
 * blanks. ASCII only: what is not printable, or is `forbidden`, becomes '?'. */
void ws_words_comment(GString *out, guint depth, const char *sign, guint width, const char *text,
                      const char *forbidden);
/* `name` of letters, digits and '_' that does not begin with a digit. Caller frees. */
GString *ws_words_ident(const char *name);
/* An identifier made of a title: "GEMM bf16 128x256x64, cooperative" ->
 * "gemm_bf16_128x256x64_cooperative". */
GString *ws_words_title(const char *title);
/* " a b c " holds it as a word of its own. */
gboolean ws_words_have(const char *words, const char *word);
/* `name` as an identifier that is none of `words`, nor reserved in `languages` (WsReservedIn): an
 * underscore more at its end where it would be. Two names stay two. Caller frees. */
GString *ws_words_free_ident(const char *name, const char *words, guint languages);

G_END_DECLS
