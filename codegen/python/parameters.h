/* Which constants of a design are parameters of the text, and what its numbers are in terms of
 * them.
 *
 * The text is written for the design and for designs that differ in one constant, and in two. A
 * value belongs to a parameter if the design that has it was shown to do the same (the judge), and
 * its text is this one but for numbers, each a product or quotient of constants; a constant for
 * which there is no such value is pinned. Nothing is taken from the design's text: what a number
 * is, its values say; and no value is let through that was not tried, nor more than two constants
 * changed at once. */
#pragma once

#include "codegen/python/pieces.h"
#include "codegen/python/python.h"

G_BEGIN_DECLS

typedef struct WsPyNumbers WsPyNumbers;

/* Writes the text of a program: its pieces into `pieces` unless NULL, with names in place of
 * numbers where `numbers` is given. NULL and `error`: the language cannot say it. Caller frees. */
typedef char *(*WsPyWrite)(const WsProgram *p, gboolean remarks, WsPyPieces *pieces,
                           const WsPyNumbers *numbers, GError **error);
/* The text of `p` with its constants as parameters; `judge` NULL: none is one. Caller frees. */
char *ws_py_parametric(const WsProgram *p, gboolean remarks, const WsPyJudge *judge,
                       WsPyWrite write, GError **error);

/* Piece number `piece` with names in place of numbers; `ident`: how a constant is called. Caller
 * frees. */
char *ws_py_numbers_apply(const WsPyNumbers *n, guint piece, const char *text,
                          const char *const *ident);
/* gint64: values that constant i may have, the design's own first; NULL: only its own. Borrowed. */
const GArray *ws_py_numbers_values(const WsPyNumbers *n, guint constant);
/* Two constants that may have these values, each by itself, but not together. */
typedef struct {
    guint constant[2];
    gint64 value[2];
} WsPyPair;
const GArray *ws_py_numbers_apart(const WsPyNumbers *n); /* WsPyPair; borrowed */

G_END_DECLS
