/* Between reach.c, which follows the expressions of a program, and what it asks. */
#pragma once

#include "expr/expr.h"
#include "program/walk/reach.h"

G_BEGIN_DECLS

/* --- reach_range.c: intervals of integers --- */
#define WS_REACH_FAR (G_GINT64_CONSTANT(1) << 61) /* beyond this, a bound says nothing more */

#define WS_REACH_TILE_MOST (1 << 16) /* rows and columns of a tile */

typedef struct {
    gint64 lo, hi;
} WsReachRange;

WsReachRange ws_reach_range(gint64 lo, gint64 hi); /* within WS_REACH_FAR */
WsReachRange ws_reach_range_both(WsReachRange a, WsReachRange b);
WsReachRange ws_reach_range_product(WsReachRange a, WsReachRange b);
/* Floor division, or `up` rounded up; the remainder. `b` is taken not to be 0. */
WsReachRange ws_reach_range_quotient(WsReachRange a, WsReachRange b, gboolean up);
WsReachRange ws_reach_range_rest(WsReachRange a, WsReachRange b);
gint64 ws_reach_range_most(WsReachRange a); /* of either sign */

/* --- reach.c: what is known of one program's expressions --- */
typedef struct {
    const WsExpr *when; /* of sizes and run names alone */
    gboolean other;     /* evaluated where it is 0, else where it is not */
} WsReachWhen;

typedef struct {
    const WsProgram *p;
    gint64 most;       /* of all sizes */
    WsReachRange *of;  /* by variable */
    guint8 *state;     /* by variable: 0 not asked, 1 being asked, 2 known */
    GPtrArray *wide;   /* texts: of what tiles, rounds or data make */
    GPtrArray *launch; /* WsExpr: of sizes and run names alone, which a launch is refused for */
    GArray *when;      /* WsReachWhen: around what is looked at */
    guint depth;       /* of names that ws_reach_top has followed */
    gboolean asking;   /* within ws_reach_top */
} WsReach;

/* With sizes of at most `most`; what it holds is given back by ws_reach_end(). */
void ws_reach_begin(WsReach *r, const WsProgram *p, gint64 most);
void ws_reach_end(WsReach *r);
WsReachRange ws_reach_of(WsReach *r, const WsExpr *e);

/* --- reach_top.c: bounds of sizes --- */
/* Made of sizes and run names alone. */
gboolean ws_reach_of_launch(const WsReach *r, const WsExpr *e);
/* An expression of sizes and run names that `e`, at least 0, is never above; NULL: nobody says. */
WsExpr *ws_reach_top(WsReach *r, const WsExpr *e);

G_END_DECLS
