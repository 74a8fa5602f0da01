/* Two runs of one design round by round; no widgets. */
#pragma once

#include "score/scene.h"

G_BEGIN_DECLS

/* One round of the leading loop, in both runs: cycles to the next round of its tile, the median
 * over the CTAs that both traces have. */
typedef struct {
    gint32 tile, round; /* from 0 in each tile */
    guint n;            /* CTAs */
    gint64 shown, pinned;
    gint64 from; /* where it begins in the first of these CTAs of the shown run */
    guint cta;   /* that CTA's index */
} WsRunRound;
/* By tile and round. Free with g_array_unref(); empty if they share none. `loop` (or NULL) takes
 * the name of the loop. `p`, `q`: programs of either trace, most often the same. */
GArray *ws_run_rounds(const WsProgram *p, WsTrace *shown, const WsProgram *q, WsTrace *pinned,
                      char **loop);

G_END_DECLS
