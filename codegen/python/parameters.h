/* Which constants of a design are parameters of the text, and what its numbers are in terms of
 * them.
 *
 * The text is written for the design and for designs that differ in one constant. Where texts
 * differ in numbers alone, and every number is a product or quotient of constants, that constant is
 * a parameter over the values that were tried; any other is pinned to its value. Nothing is taken
 * from the design's text: what a number is, its values say. */
#pragma once

#include "program/forward.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct WsPyNumbers WsPyNumbers;

/* Pieces of a text in the order in which they are written; `frozen`: no constant can stand in it.
 */
typedef struct {
    GPtrArray *piece; /* char* */
    GArray *frozen;   /* gboolean */
} WsPyPieces;
void ws_py_pieces_add(WsPyPieces *p, const char *text, gboolean frozen);

/* Writes the text of a program: its pieces into `pieces` unless NULL, with names in place of
 * numbers where `numbers` is given. NULL and `error`: the language cannot say it. Caller frees. */
typedef char *(*WsPyWrite)(const WsProgram *p, gboolean remarks, WsPyPieces *pieces,
                           const WsPyNumbers *numbers, GError **error);
/* The text of `p` with its constants as parameters. Caller frees. */
char *ws_py_parametric(const WsProgram *p, gboolean remarks, WsPyWrite write, GError **error);

/* Piece number `piece` with names in place of numbers; `ident`: how a constant is called. Caller
 * frees. */
char *ws_py_numbers_apply(const WsPyNumbers *n, guint piece, const char *text,
                          const char *const *ident);
/* Values that constant i may have: lo = hi where it is pinned. */
void ws_py_numbers_range(const WsPyNumbers *n, guint constant, gint64 *lo, gint64 *hi);
/* Quotients of the text, which must leave no rest: "BN", "SLAB". Array of pairs of char*; borrowed.
 */
const GPtrArray *ws_py_numbers_quotients(const WsPyNumbers *n);

G_END_DECLS
