/* What 32 bits hold. Uniform expressions are integers of 64 bits; kernels compute them in 32. From
 * sizes of at most some number, intervals say which expressions fit; of the others, which products
 * of sizes and what data give make, nobody knows it before a launch, or not even then. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* The largest size that a launch of any design has, with room for a tile behind it. */
#define WS_REACH_SIZE_MOST (G_MAXINT32 - (1 << 16))

/* What of tiles, rounds and data may leave 32 bits is taken to stay within this, either way. */
#define WS_REACH_TAKEN (1 << 29)

/* Texts (char *) of the expressions that may leave 32 bits even with small sizes, each once. Rounds
 * of a CTA are taken to be at most 2^27 (LANGUAGE section 3). The caller frees it. */
GPtrArray *ws_reach_wide(const WsProgram *p);
/* What a launch has to look at. *most: the largest size with which no other expressions of `p`
 * leave 32 bits than those of ws_reach_wide(), at most WS_REACH_SIZE_MOST. Expressions (WsExpr *)
 * of sizes and run names alone that leave them for some of such sizes. The caller frees it. */
GPtrArray *ws_reach_launch(const WsProgram *p, gint64 *most);

G_END_DECLS
