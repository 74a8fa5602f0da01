/* How many registers a thread of an agent is likely to need: an estimate before any compiler. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef struct {
    guint values;     /* largest number of registers of values that are alive at once */
    guint scratch;    /* temporaries and packed operands of the step where that is, or of another */
    guint fixed;      /* addresses, counters, loop state: a flat allowance */
    guint budget;     /* what the agent has: its plan, else the registers at entry */
    const WsOp *peak; /* where most values are alive; NULL without values */
} WsPressure;

WsPressure ws_program_pressure(const WsProgram *p, guint agent);
/* values + scratch + fixed. */
guint ws_pressure_total(const WsPressure *r);
/* Of a thread of a warp group once it has taken its share: setmaxnreg changes idle warps of the
 * group, too. */
guint ws_program_group_registers(const WsProgram *p, guint warp_group);
/* Of a whole CTA then. */
gint64 ws_program_planned_registers(const WsProgram *p);

G_END_DECLS
