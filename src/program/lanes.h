/* Which thread of its agent touches which element of shared memory in one operation (LANGUAGE
 * section 10; the generators follow it). What is not known of an operation is said to be unknown.
 */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* One operation at one place: the first row and column of its view in the stage. */
typedef struct {
    const WsOp *op;
    gint64 row0, col0;
} WsLanesAt;

/* How many lanes share a gathered row of so many units (WsTargetShared): each takes every so
 * manieth.
 */
guint ws_gather_lanes(guint units);

typedef enum {
    WS_LANES_OTHER, /* threads of different warps meet in some element, or nobody can say */
    WS_LANES_WARP,  /* those that meet belong to one warp: they are ordered once the warp has met */
    WS_LANES_SAME,  /* every element belongs to one and the same thread in both */
} WsLanesMeet;

/* How two operations of one agent on the same stage of the same buffer meet. Of an mma operand a
 * in shared memory is meant. */
WsLanesMeet ws_lanes_meet(const WsProgram *p, const WsLanesAt *first, const WsLanesAt *second);

/* Is it known that different threads meet in some byte, or, where the warps of the agent have met
 * in between (`met`), threads of different warps? FALSE also if nobody can say. The stages begin at
 * these bytes of shared memory. */
gboolean ws_lanes_collide(const WsProgram *p, const WsLanesAt *first, guint64 first_base,
                          const WsLanesAt *second, guint64 second_base, gboolean met);

G_END_DECLS
