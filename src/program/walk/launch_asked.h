/* What every launcher asks before a launch, the runner's and those that exports write; sizes that
 * leave 32 bits are in reach.h. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* Is `e` made of sizes, scalars and run names alone? Of an assumption: a launcher can ask it. */
gboolean ws_launch_knows(const WsProgram *p, const WsExpr *e);
/* A divisor that is no number: the expression may have no value. */
gboolean ws_may_lack_value(const WsExpr *e);
/* What has to have a value in every launch, and may have none: values of run names, shapes, strides
 * and extents (WsExpr *, borrowed). The caller frees the array. */
GPtrArray *ws_launch_valued(const WsProgram *p);
/* Conditions (WsExpr *, owned by the array) that hold of every launch: no extent below 0, a grid of
 * at least one cluster, at most 2^31-1 tiles and CTAs, run names within what the runner takes. Those
 * that no size that launches may have breaks are left out. The caller frees the array. */
GPtrArray *ws_launch_bounds(const WsProgram *p);

G_END_DECLS
