/* What a `split` loop says about its index: in each of the loops that it becomes, comparisons of
 * the index with a cut are known. Shared by the generators of PTX and CUDA C++. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

typedef struct {
    gint var;          /* of the index */
    const WsExpr *cut; /* borrowed from the program */
    gboolean below;    /* index < cut, else index >= cut */
} WsCut;

/* Notes for stretch `i` of loop `t` (0: below the first cut; n_cuts: behind the last), and forgets
 * them. `cuts` is an array of WsCut. */
void ws_cuts_enter(GArray *cuts, const WsTree *t, guint i);
void ws_cuts_leave(GArray *cuts, const WsTree *t, guint i);
/* TRUE and 0 or 1 in *value if `x` is a comparison that they decide. */
gboolean ws_cuts_decide(const GArray *cuts, const WsExpr *x, gint64 *value);

G_END_DECLS
