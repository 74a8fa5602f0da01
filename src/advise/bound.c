#include "advise/bound.h"

#include <math.h>

gboolean ws_bound_by(const WsIdle *idle, WsBoundBy *by)
{
    guint first = 0;
    *by = (WsBoundBy){ .op = G_MAXUINT };
    for (guint unit = 0; unit < WS_UNITS; unit++)
        if (idle->uses[unit] && !isnan(idle->rated[unit]) && idle->rated[unit] > by->share &&
            idle->rated[unit] >= WS_BOUND_RATE)
            *by = (WsBoundBy){
                TRUE, (WsUnit)unit, G_MAXUINT, WS_NEXT_WORK, FALSE, idle->rated[unit]
            };
    if (by->is_unit)
        return TRUE;
    while (first < WS_UNITS && !idle->uses[first])
        first++;
    for (guint i = 0; i < idle->cause->len; i++) {
        const WsIdleCause *k = &g_array_index(idle->cause, WsIdleCause, i);
        if (k->unit == first && k->share > by->share && k->share >= WS_BOUND_CAUSE)
            *by = (WsBoundBy){ FALSE, k->unit, k->op, k->reason, ws_idle_together(k), k->share };
    }
    return by->op != G_MAXUINT;
}
