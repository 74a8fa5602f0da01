/* Inside src/model: which children of two lists of nodes belong together. */
#pragma once

#include "model/design.h"

G_BEGIN_DECLS

typedef struct {
    guint na, nb;
    int *to_b;        /* for each of a: index in b, or -1 */
    int *to_a;        /* for each of b */
    gboolean *anchor; /* for each of b: in the common order, so it need not move */
    gboolean *same;   /* for each of b: it prints as its partner does */
} WsDiffMatch;

/* The children of a field of two nodes. Objects belong together by name, steps by id, both by equal
 * text, steps also by kind and operand, in the order of their lists; what is not in that order has
 * moved. Lists too long to be aligned are matched by text and name alone. */
WsDiffMatch ws_diff_match(const WsNode *a, const WsNode *b, WsFieldId field);
void ws_diff_match_clear(WsDiffMatch *m);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsDiffMatch, ws_diff_match_clear)

G_END_DECLS
