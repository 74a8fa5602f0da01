#include "codegen/span.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "target/target.h"

WsWarpSpan ws_span_next(const WsProgram *p, WsWarpSpan before)
{
    const WsTarget *hw = p->hardware;
    WsWarpSpan s = { before.hi, before.hi + hw->group_warps, before.end, before.end };
    while (s.end < p->n_agents && p->agent[s.end].warp0 < s.hi) {
        guint top = p->agent[s.end].warp0 + p->agent[s.end].warps;
        s.hi = MAX(s.hi, (top + hw->group_warps - 1) / hw->group_warps * hw->group_warps);
        s.end++;
    }
    s.hi = MIN(s.hi, p->threads / hw->lanes);
    return s;
}

gboolean ws_span_alone(const WsProgram *p, const WsWarpSpan *s)
{
    return s->end - s->first == 1 && p->agent[s->first].warps == s->hi - s->lo;
}

static const WsOp *find_setmaxnreg(const WsTree *t)
{
    if (t->kind == WS_TREE_OP)
        return t->op->kind == WS_OP_SETMAXNREG ? t->op : NULL;
    for (guint i = 0; t->kind == WS_TREE_SEQ && i < t->n_kids; i++) {
        const WsOp *op = find_setmaxnreg(t->kid[i]);
        if (op)
            return op;
    }
    return NULL;
}

const WsOp *ws_span_plan(const WsProgram *p, const WsWarpSpan *s)
{
    for (guint i = s->first; i < s->end; i++) {
        const WsOp *plan = find_setmaxnreg(p->agent[i].body);
        if (plan)
            return plan;
    }
    return NULL;
}
