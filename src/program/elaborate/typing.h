/* Typing of array statements: what types.c and shapes.c share. */
#pragma once

#include "program/array.h"
#include "program/elaborate/elab.h"
#include "program/parts/dtype.h"

G_BEGIN_DECLS

/* A temporary of the step, by its name. */
typedef struct {
    WsArray *array; /* as the statement left it */
    guint statement;
    gboolean open; /* an extent is not known before it is used */
    WsDtype dtype;
    gboolean converted;
} WsTemporary;

typedef struct {
    WsElab *E;
    const WsAgent *agent;    /* whose values are meant; NULL: a run name has none */
    const WsOp *op;          /* the compute step, or NULL */
    guint statement;         /* being typed; op->n_math: `unless` */
    GHashTable *temporaries; /* name -> WsTemporary* */
    const WsExpr *here;      /* being typed */
    const WsExpr *where;     /* of the problem */
    const char *problem;     /* first one, arena */
    gboolean extents;        /* it is one of extents */
} WsTyping;

/* Extents a and b in one expression; 0 takes that of what it meets. FALSE: they do not fit. */
gboolean ws_shape_meet(guint a, guint b, guint *out);
/* The shape of all operands together. FALSE: two of them do not fit. */
gboolean ws_shape_of_args(WsArray *a);
/* Extents that only the context knows: rows x cols is the shape of what `a` stands in. */
void ws_shape_resolve(WsArray *a, guint rows, guint cols);
gboolean ws_shape_open(const WsArray *a); /* somewhere an extent is left to the context */
/* What an open temporary says, made again for a use of it. NULL: a name in it has been assigned
 * since, and `name` is it. */
WsArray *ws_shape_copy(WsTyping *T, const WsTemporary *t, const char **name);

/* Does a bound name stand in it? */
gboolean ws_typing_has_var(const WsExpr *x);

/* The problem, if there is one, as a finding at the step; then there is none. `written`: as the
 * author wrote it, NULL for `unless`. */
void ws_typing_report(WsTyping *T, const char *at, const WsStatement *written,
                      const WsStatement *bound);

G_END_DECLS
