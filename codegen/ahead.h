/* What may be read before a wait, so that it is there when the wait returns. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* Calls `see` for each gather that stands behind kid `i` of `seq`, an mbarrier wait, and whose
 * coordinates are the same before that wait: nothing between changes a name they may mention. A
 * tensor that is read is written by nobody while the kernel runs; but an earlier kernel may still
 * write it before `griddepcontrol.wait`, of which agents may tell each other by mbarriers: where a
 * program has it, only an agent that has passed its own reads before a wait. Returns the number of the kid from which on what
 * was read no longer holds; 0 if kid `i` is no such wait. */
guint ws_ahead_gathers(const WsProgram *p, const WsTree *seq, guint i,
                       void (*see)(const WsOp *op, gpointer data), gpointer data);

/* Whether an element of a tensor is in `x`. */
gboolean ws_ahead_reads(const WsExpr *x);

G_END_DECLS
