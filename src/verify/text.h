/* Expressions as texts that are equal if the expressions are for a reason that anyone sees. */
#pragma once

#include "program/program.h"

G_BEGIN_DECLS

/* Sums, products and comparisons in affine form, operands of min and max in one order. Caller
 * frees. */
char *text_of(const WsExpr *e);
/* An expression over names of the launch and the tile; NULL: none. Transfer full. */
WsExpr *text_read(const WsProgram *p, const char *text);

G_END_DECLS
