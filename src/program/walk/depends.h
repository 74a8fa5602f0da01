/* What a value or a decision of a program depends on: known once, for all who ask whether tiles are
 * alike, whether data decide, or whether a size does.
 *
 * Belongs to the caller; borrows the program. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

typedef enum {
    WS_DEPENDS_TILE = 1 << 0,  /* coordinates and names of the tile */
    WS_DEPENDS_ORDER = 1 << 1, /* what came before in this CTA: position, totals, counters */
    WS_DEPENDS_DATA = 1 << 2,  /* elements of tensors */
    WS_DEPENDS_CTA = 1 << 3,   /* rank in the cluster */
    WS_DEPENDS_SIZES = 1 << 4, /* sizes that the caller asks for */
} WsDependsOn;

typedef struct WsDepends WsDepends;

/* `sizes`: [vars], which of them are WS_DEPENDS_SIZES; NULL: none. */
WsDepends *ws_depends_new(const WsProgram *p, const gboolean *sizes);
void ws_depends_free(WsDepends *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsDepends, ws_depends_free)

/* Bits of WsDependsOn, names and counters followed to what they are made of; 0 for NULL. */
guint ws_depends_of(const WsDepends *d, const WsExpr *e);
/* Of the number of rounds of a counted loop, or which side of a branch is taken; 0 for all else. */
guint ws_depends_control(const WsDepends *d, const WsTree *t);
/* Of all such that stand around `t`: whether, and how often, it happens within a tile. */
guint ws_depends_around(const WsDepends *d, const WsTree *t);

G_END_DECLS
