/* What is derived of a loop in the hint form, as text: rings, rounds ahead, the round of each
 * executor. */
#pragma once

#include "model/hint.h"

G_BEGIN_DECLS

/* Of one group: "ring of 2 slots: k; 1 round ahead". Caller frees. */
char *ws_stages_derived(const WsHintLoop *loop, guint cell);
/* Of each executor what it runs before the first round, in each, and not in the last ones.
 * `markup`: for a label, derived steps in italics. Lines; NULL: the design has errors. Caller
 * frees. */
char *ws_stages_rounds(const WsDesign *design, const WsHintLoop *loop, gboolean markup);

G_END_DECLS
