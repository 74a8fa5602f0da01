/* Trying with numbers what was found of the variables of a loop: a mistake of the reader leaves a
 * value unknown, never wrong. */
#pragma once

#include "import/python/loops/pyread_loop.h"

G_BEGIN_DECLS

/* A variable of a loop. NULL where it is no expression. */
typedef struct {
    const char *name;
    const WsExpr *entry, *head, *left, *start, *counter,
        *counted;   /* before the loop, at the head of a
    round, at its end; its counter now and then */
    gint64 modulus; /* of what the counter counts; 0: none */
} PyTried;

/* Whether `loop` stands in a round of `l`. */
gboolean py_is_inside(const PyLoop *l, const char *loop);
/* Each is called when the variables are what they are there; what is not right becomes unknown, or
 * the loop unread. The list is empty while a loop is only tried. */
GArray *py_try_heads(PyRead *p, const PyLoop *l, const GArray *carries);
void py_try_rounds(PyRead *p, const PyLoop *l, GArray *tried);
void py_try_exits(PyRead *p, const PyLoop *l, const GArray *tried);

G_END_DECLS
