/* Threads that were followed one by one, put together: warps of a group, groups of the CTA. */
#pragma once

#include "import/ptx/walk.h"

G_BEGIN_DECLS

/* `warp`, `lane`: the lines of the steps that each made. */
/* Does a lane issue a bulk store that the first one issues, too, from another place? */
gboolean ptx_lanes_store(const GPtrArray *list, const GPtrArray *lane);
/* What several lanes store is waited for by each of them for itself: all of the group has to meet
 * behind the wait. Takes the lane's stores and waits out of what it is compared by. */
void ptx_lanes_wait(PtxWalk *w, const GPtrArray *list, gboolean ends);
void ptx_lanes_drop(GPtrArray *lane);
void ptx_unite_last(PtxWalk *w, const GPtrArray *list, GHashTable *last);
void ptx_spread_drop(GPtrArray *lane);
void ptx_unite_arrivals(PtxWalk *w, GPtrArray *list, GHashTable *const *warp, guint n,
                        GHashTable *lane);
void ptx_unite_copies(GPtrArray *list, const GPtrArray *from);
void ptx_unite_bytes(PtxWalk *w, GPtrArray *list, const GPtrArray *other, guint lane);
void ptx_unite_cta(WsRead *r);
void ptx_unite_cluster(PtxWalk *w);

G_END_DECLS
