/* Words that a name of a design cannot have in a text in another language. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
    WS_RESERVED_C = 1 << 0,      /* keywords up to C23, macros of the headers that are included */
    WS_RESERVED_CXX = 1 << 1,    /* keywords up to C++23 */
    WS_RESERVED_CUDA = 1 << 2,   /* what CUDA declares in every kernel */
    WS_RESERVED_PYTHON = 1 << 3, /* keywords, and what is built in */
} WsReservedIn;

/* Whether `name`, or what is left of it without underscores at its end, is such a word in one of
 * the languages: who appends an underscore then never makes one name of two ("int" and "int_"). */
gboolean ws_reserved(guint languages, const char *name);

G_END_DECLS
