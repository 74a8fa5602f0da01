/* What the files that propose edits share. Private to this folder. */
#pragma once

#include "advise/candidate.h"

G_BEGIN_DECLS

typedef struct {
    const WsDesign *design;
    GPtrArray *list;  /* WsCandidate* */
    GHashTable *seen; /* texts of edits */
} WsGather;

/* A draft of a design, whose rules of the whole document ws_gather_take() asks. */
WsDraft *ws_gather_draft(const WsDesign *design);
/* Takes the draft and its title, a phrase; `done`: the edit was possible. `node`: what changes, or
 * NULL. */
void ws_gather_take(WsGather *g, WsDraft *d, gboolean done, const WsNode *node, char *words);
/* Those from `from` on change only when these steps wait, tell or begin a transfer. */
void ws_gather_moved(WsGather *g, guint from, const guint64 *node, guint n);
/* Loops rotated, and buffers with barriers of their own, also both at once (rotations.c). */
void ws_gather_rotations(WsGather *g);
/* Steps further than one place earlier, orders taken away: of a list and all below (reach.c). */
void ws_gather_reach(WsGather *g, const WsNode *owner, WsFieldId list);

G_END_DECLS
