/* What a new step is likely to mean, from the tiles and the loops around it. Private to src/edit.
 * `owner`: the node whose list it goes into. Texts belong to the caller. */
#pragma once

#include "model/design.h"

#include <glib.h>

G_BEGIN_DECLS

/* "k == 0" in the loop k; "true" outside of loops. */
char *ws_propose_first(const WsDesign *design, const WsNode *owner);
/* Where along dimension `i` of a tensor a tile of this group begins: "tm*BM" where an axis of the
 * tiles counts it in steps of BM, "k*BK" where a loop around does, else "0". `step` (may be NULL):
 * BM, BK, or NULL. */
char *ws_propose_coordinate(const WsDesign *design, const WsNode *owner, const WsNode *tensor,
                            guint i, char **step);
/* The buffer whose tile is what those steps say, one that nothing is loaded into yet before others;
 * NULL: none. Borrowed. */
const char *ws_propose_buffer(const WsDesign *design, const WsNode *owner, const WsNode *tensor);
/* The tensor that is likely meant next: one that is written, or one that nothing loads yet.
 * Borrowed; NULL: there is none. */
const WsNode *ws_propose_tensor(const WsDesign *design, gboolean written);

/* Whether there is a step of that kind at or below the node. */
gboolean ws_propose_has(const WsNode *node, WsNodeKind kind);

G_END_DECLS
