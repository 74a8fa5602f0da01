/* Who else loads the same bytes, and whether they are in L2 already: which part of a launch touches
 * which tile of a tensor first. The CTAs are taken to move in step, one tile after the other; all
 * that load the same box at that time wait for one fetch. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef struct WsShares WsShares;
typedef struct {
    gboolean fetched; /* nobody loaded it before, or it has left L2 since */
    guint sharers;    /* CTAs (clusters) that load it at this time, at least 1 */
    gboolean along;   /* a tile walks along the rows of its tensor */
} WsShare;

/* For the CTAs of one launch: `clusters` of them take the tiles in turn, `played` is the one whose
 * loads are asked for. Looks at its first `waves` tiles and those of the others that
 * are on the GPU with it, at most `resident`, and behind the same L2: CTAs go to `dies` in turn, at
 * least 1. */
WsShares *ws_shares_new(const WsProgram *p, const WsLaunchValues *v, gint64 clusters, gint64 played,
                        gint64 resident, gint64 dies, guint waves, double l2_bytes);
void ws_shares_free(WsShares *s);
/* Of a load of the CTA's tile number `position`; beyond the tiles looked at, as in the last one. */
WsShare ws_shares_get(const WsShares *s, guint op, gint64 position);
/* Id of the tile of workgroup `id` of a launch of `count` tiles: `xcd` deals them to dies. */
gint64 ws_dealt_tile(const WsProgram *p, gint64 count, gint64 id);

/* Whether gathered rows of a tensor come from memory, where L2 keeps so many bytes: the last row of
 * a tile decides, so that both halves of L2 together have to hold the tensor. */
gboolean ws_rows_are_far(const WsProgram *p, const WsLaunchValues *v, double l2, guint tensor);

G_END_DECLS
