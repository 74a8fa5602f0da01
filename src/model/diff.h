/* What differs between two designs, as edits that turn the first into the second. */
#pragma once

#include "model/forward.h"

#include <glib.h>

G_BEGIN_DECLS

/* One difference. `words` is one line for people: the place, then what was and what is; `sign` is
 * '+' added, '-' removed, '~' changed, '>' moved. Owned by the list it stands in. */
typedef struct {
    WsEdit *edit;
    char *words;
    char sign;
} WsDifference;

/* Differences in an order in which their edits can be applied one after the other to `a`; the
 * result prints as `b` does. Objects are matched by name, steps by id, equal text, or kind and
 * operand, in the order of their lists. Never NULL; empty if the designs print alike. Transfer full
 * (WsDifference*). */
GPtrArray *ws_design_diff(const WsDesign *a, const WsDesign *b);
/* `a` after those edits: laid out like `b`, but a node that both have keeps its identity in `a`, so
 * that the two can be walked side by side. Transfer full. */
WsDesign *ws_design_diff_result(const WsDesign *a, const WsDesign *b);

G_END_DECLS
