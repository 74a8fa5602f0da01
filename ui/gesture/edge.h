/* Edges between two executions on the score: which edit they mean, and what it would make in words.
 * The pointer (gesture_edge.c) and the keyboard (edge_keys.c) ask here. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

typedef struct {
    guint64 node;
    guint agent; /* G_MAXUINT: not known */
    gint32 tile; /* -1: not known */
} WsEdgeEnd;

/* The same step, of the same replica as far as that is known. */
gboolean ws_edge_is_loop(const WsDesign *design, WsEdgeEnd from, WsEdgeEnd to);
/* Between two replicas of a group: a turn; else an edge of a barrier. The draft may be refused.
 * Caller frees both; `words` is NULL if there is nothing to say. */
WsDraft *ws_edge_draft(const WsDesign *design, WsEdgeEnd from, WsEdgeEnd to, char **words);

G_END_DECLS
