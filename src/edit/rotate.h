/* The order of a loop's round after it was cut in two and the second part runs a round later, with
 * the first part of the next round. Private to src/edit: the command is ws_edit_rotate (edit.h). */
#pragma once

#include "edit/edit.h"

G_BEGIN_DECLS

typedef struct {
    guint64 step; /* identity */
    guint index;  /* in the body as it was */
    gboolean late;
    /* Of an mma_wait: how many groups may stay in flight, before the loop (first part) or after it
     * (second part), and in it. -1: it has nothing to wait for there. */
    gint64 alone, inside;
} WsTurned;

/* Steps of the round in their new order, WsTurned; NULL after refusing. A step of the first part
 * runs before one of the second only if neither touches what the other writes, or what a product
 * that is still in flight holds. */
GArray *ws_rotate_order(WsDraft *d, const WsNode *loop, guint cut);

/* Replaces a name wherever a node or what is below it mentions it. */
gboolean ws_edit_put(WsDraft *d, guint64 below, const char *name, const char *text);
/* Makes the totals of a group's loops of that name a counter that their bodies advance, if anything
 * mentions them. */
gboolean ws_edit_count_total(WsDraft *d, guint64 group, const char *loop);
/* Whether a number of rounds is at least 1 for an evident reason: what stands in it, in `let` and
 * in `assume`. */
gboolean ws_edit_is_positive(const WsDesign *design, const WsExpr *count);

G_END_DECLS
