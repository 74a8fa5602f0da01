/* Words of an author in the text of a program: comments and identifiers. For the printers of CUDA
 * C++ and Python. */
#pragma once

#include "program/parts/dtype.h"

#include <glib.h>

G_BEGIN_DECLS

/* Appends `text` as lines that begin with `sign`, at most `width` characters of it each, cut at
 * blanks. ASCII only: what is not printable, or is `forbidden`, becomes '?'. */
void ws_words_comment(GString *out, guint depth, const char *sign, guint width, const char *text,
                      const char *forbidden);
/* An identifier made of a title: "GEMM bf16 128x256x64, cooperative" ->
 * "gemm_bf16_128x256x64_cooperative". */
GString *ws_words_title(const char *title);
/* `name` as an identifier that is none of `words`, nor reserved in `languages` (WsReservedIn): an
 * underscore more at its end where it would be. Two names stay two. Caller frees. */
GString *ws_words_free_ident(const char *name, const char *words, guint languages);

/* C type of an element that text of the author (CUDA C++) is handed a pointer to. */
const char *ws_raw_element(WsDtype dtype);

G_END_DECLS
