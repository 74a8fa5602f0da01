/* Threads that were followed one by one, put together: warps of a group, groups of the CTA. */
#pragma once

#include "import/ptx/walk.h"

G_BEGIN_DECLS

/* `warp`, `lane`: the lines of the steps that each made. */
void ptx_unite_arrivals(GPtrArray *list, GHashTable *const *warp, guint n, GHashTable *lane);
void ptx_unite_copies(GPtrArray *list, const GPtrArray *from);
void ptx_unite_bytes(PtxWalk *w, GPtrArray *list, const GPtrArray *other, gboolean warps);
void ptx_unite_cta(WsRead *r);
void ptx_unite_cluster(PtxWalk *w);

G_END_DECLS
