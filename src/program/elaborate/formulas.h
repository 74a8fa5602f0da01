/* Inside of formulas*.c: the state while the reference is bound. */
#pragma once

#include "base/phrase.h"
#include "program/arena.h"
#include "program/formula.h"
#include "program/forward.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"

#include <string.h>

G_BEGIN_DECLS

typedef struct {
    WsFormula *formula;
    guint terms, height;
} WsBoundVariable;

typedef struct {
    WsProgram *p;
    WsArena *arena;
    gboolean *shaped;          /* of each tensor: its shape is bound */
    WsBoundVariable *variable; /* of each variable */
    gboolean named;   /* names are looked up: not in run names and shapes, which are bound */
    GPtrArray *scope; /* char*: indices, from outside in */
    guint height;     /* nodes of the statement above this one */
    guint depth;      /* the most that there were, helpers written out */
    guint statement;
    gboolean whole; /* what is bound next is all that the statement says of an element */
    WsDefinition *d;
} WsBinder;

/* The first problem of the statement at hand. Always NULL: the node that there is not. */
WsFormula *ws_bind_fail(WsBinder *B, const char *problem);
/* The statement that is being bound lends its names: NULL where `e` has no meaning. */
WsFormula *ws_bind_expr(WsBinder *B, const WsExpr *e);
gboolean ws_bind_shape(WsBinder *B, guint tensor);
/* A constant, an index in scope or a variable has this name: nothing shadows anything (LANGUAGE
 * section 2). */
gboolean ws_bind_taken(const WsBinder *B, const char *name);

G_END_DECLS
