/* Parts of what an expression is taken for (form.c). */
#pragma once

#include "verify/state.h"

G_BEGIN_DECLS

/* What a comparison without such a division says in other words, by lemmas TRUTH and EXTREME; NULL:
 * it stays as it is. */
WsExpr *form_compared(const Plan *plan, const WsExpr *e);

/* --- parts.c: sums that are worth what something else is ----------------------------------------
 */
GPtrArray *form_parts_new(void);
/* `sum` is worth `with`, which is taken. `asked`: a node asks about it. */
void form_add_part(Plan *plan, const WsExpr *sum, WsExpr *with, gboolean asked);
void form_sort_parts(Plan *plan);
/* Puts in what parts of `f` are worth, longer ones first; of those of one length what stands there
 * once, then many times. FALSE: none does. */
gboolean form_put_parts(const Plan *plan, WsAffine *f);
/* Lemma REMAINDER: x - m * (x / m) is x % m. */
gboolean form_put_rest(WsAffine *f, guint term);

G_END_DECLS
