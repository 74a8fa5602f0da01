/* What an operation touches, worked out once for the play and for the proof. */
#pragma once

#include "program/program.h"

/* Blocks of a value that a view at row `r0`, column `c0` covers, a bit each: a value is cut in
 * 4 x 16 blocks. */
guint64 ws_value_blocks(const WsRegValue *v, const WsValueUse *u, gint64 r0, gint64 c0);

/* Values (guint, indices into the agent's) that a compute step reads before it assigns them are
 * added to `read`, values it assigns to `write`. */
void ws_math_values(const WsAgent *agent, const WsOp *op, GArray *read, GArray *write);

/* Whether a tensor of integers is read: paths may hang on its elements. */
gboolean ws_has_integer_tensor(const WsProgram *p);
