/* Parts of what an expression is taken for (form.c). */
#pragma once

#include "verify/state.h"

G_BEGIN_DECLS

/* What a comparison without such a division says in other words, by lemmas TRUTH and EXTREME; NULL:
 * it stays as it is. */
WsExpr *form_compared(const Plan *plan, const WsExpr *e);

G_END_DECLS
