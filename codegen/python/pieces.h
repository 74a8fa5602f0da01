/* A text in pieces, and the integers of a piece. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* In the order in which they are written; `frozen`: no name can stand there for a number. */
typedef struct {
    GPtrArray *piece; /* char* */
    GArray *frozen;   /* gboolean */
} WsPyPieces;
WsPyPieces *ws_py_pieces_new(void);
void ws_py_pieces_free(WsPyPieces *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsPyPieces, ws_py_pieces_free)
void ws_py_pieces_add(WsPyPieces *p, const char *text, gboolean frozen);

/* A place in a text, behind the integer that was found last; begin with { text, FALSE }. */
typedef struct {
    const char *c;
    gboolean comment;
} WsPyCursor;
/* The next integer: its first character; `at` is behind it then. NULL: no more. Those of comments
 * too, since import reads some of them; not those of names, reals and texts in quotes. */
const char *ws_py_next_integer(WsPyCursor *at);

/* The integers of all pieces, and what stands around them. */
typedef struct {
    GArray *value;  /* gint64 */
    GArray *first;  /* guint per piece: number of its first integer */
    GArray *frozen; /* gboolean per integer */
    GString *shape; /* the code with one sign for every integer */
} WsPyIntegers;
WsPyIntegers *ws_py_integers(const WsPyPieces *p);
void ws_py_integers_free(WsPyIntegers *n);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsPyIntegers, ws_py_integers_free)

G_END_DECLS
