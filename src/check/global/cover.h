/* Inside src/check/global: the cases of a tensor's conditions, and the cover in one of them. */
#pragma once

#include "check/global/global.h"

G_BEGIN_DECLS

enum { WS_MOST_GROUPS = 8, WS_MOST_THRESHOLDS = 8, WS_MOST_PINNED = 4 };

/* Conditions that compare the same thing: value < threshold. The case says between which two. */
typedef struct {
    WsPoly value;
    guint n;
    gint64 threshold[WS_MOST_THRESHOLDS]; /* ascending */
    gboolean launch;                      /* one answer per launch */
    guint chosen; /* it is below threshold[chosen], not below the one before */
} WsGroup;

/* An axis that is in no coordinate: where it has `value` all is written, elsewhere nothing. */
typedef struct {
    guint atom, group;
    guint chosen; /* the answer of the group that says so */
    WsPoly value;
} WsPinned;

typedef struct {
    WsGlobal *g;
    guint n_groups;
    WsGroup group[WS_MOST_GROUPS];
    guint n_pinned;
    WsPinned pinned[WS_MOST_PINNED];
    gboolean have_shape;
    WsPoly shape[WS_MAX_RANK]; /* where the box of a tile begins */
    gint64 wide[WS_MAX_RANK];
} WsCover;

/* The pieces, all that are written of a tile in this case, write each of its elements once, and the
 * tiles all of the tensor. */
gboolean ws_cover_fills(WsCover *c, const GPtrArray *pieces);

G_END_DECLS
