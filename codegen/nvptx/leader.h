/* What one thread of a group, its leader, does alone. For both lowerings. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* Done by the leader alone wherever it stands. Arrivals choose their lanes themselves. */
gboolean ws_op_leader_only(const WsOp *op);
gboolean ws_tree_wants_leader(const WsTree *t);
/* Variables that t changes, each told to `left` (some more than once): where the leader alone did
 * t, the other threads keep their old values. */
void ws_tree_left_behind(const WsTree *t, void (*left)(gpointer data, gint var), gpointer data);

G_END_DECLS
