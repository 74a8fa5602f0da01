/* The smallest example of every rule: a design that breaks it and one that nearly does, kept as the
 * few lines in which the two differ (resources/rules). */
#pragma once

#include "model/finding.h"

G_BEGIN_DECLS

/* The whole design, right or wrong; NULL if the rule is not one that a text breaks (how says what
 * does). Caller frees. */
char *ws_rule_example(WsRuleId rule, gboolean wrong);
/* The lines that differ, "- " in the right one only, "+ " in the wrong one only, with `context`
 * lines around them and "…" where some are left out. NULL as above. Caller frees. */
char *ws_rule_example_difference(WsRuleId rule, guint context);
/* What breaks the rule beside the text: "size N=-1" (a launch), "edit remove …", "file …"; NULL if
 * the text does. Borrowed. */
const char *ws_rule_example_how(WsRuleId rule);

G_END_DECLS
