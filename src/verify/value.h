/* Values of expressions in a state: docs/soundness.md section 8.4. */
#pragma once

#include "verify/state.h"

G_BEGIN_DECLS

/* 1: not 0, 0: it is 0, -1: undecided. */
int value_truth(Plan *plan, const State *s, guint inst, const WsExpr *e);
/* round < e: as value_truth. */
int value_more(Plan *plan, const State *s, guint inst, gint64 round, const WsExpr *e);
/* FALSE: undecided. `loose` NULL: it must be exact. */
gboolean value_number(Plan *plan, const State *s, guint inst, const WsExpr *e, gint64 *value,
                      gint64 *loose);
/* The least that it can be, NO_LOW if it has none. FALSE: undecided. */
gboolean value_least(Plan *plan, const State *s, guint inst, const WsExpr *e, gint64 *least);
/* What this step adds to its variable in any tile, by what is assumed of names alone: anything, if
 * it is no ADVANCE. */
Range value_step(Plan *plan, const WsOp *op);
/* The least that a counter ever is, if it only rises: where it starts; else NO_LOW. */
gint64 value_counter_least(Plan *plan, guint agent, gint var);

G_END_DECLS
