#include "codegen/python/plan.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

static guint default_agent(const WsProgram *p)
{
    guint best = 0;
    for (guint i = 1; i < p->n_agents; i++) {
        const WsAgent *a = &p->agent[i], *b = &p->agent[best];
        gboolean can = a->warps % p->hardware->group_warps == 0,
                 could = b->warps % p->hardware->group_warps == 0;
        if ((can && !could) || (can == could && a->registers > b->registers))
            best = i;
    }
    return best;
}

/* Where four groups share the registers ptxas spills with a loader of one warp, and full
 * attention-d64 is 5 % slower (measured). */
#define WS_PLENTY 168

/* What one lane does, or all threads alike: it needs no second warp. What nobody has named here
 * keeps the warps of its group. */
static const gboolean led[WS_OP_KIND_COUNT] = {
    [WS_OP_MBAR_WAIT] = TRUE, [WS_OP_MBAR_ARRIVE] = TRUE, [WS_OP_MBAR_EXPECT] = TRUE,
    [WS_OP_TMA_LOAD] = TRUE,  [WS_OP_PREFETCH] = TRUE,    [WS_OP_PREFETCH_MAP] = TRUE,
    [WS_OP_CLAIM] = TRUE,     [WS_OP_TAKE] = TRUE,        [WS_OP_WARP_SYNC] = TRUE,
    [WS_OP_LET] = TRUE,       [WS_OP_ADVANCE] = TRUE,     [WS_OP_SETMAXNREG] = TRUE,
    [WS_OP_DEP_WAIT] = TRUE,  [WS_OP_DEP_LAUNCH] = TRUE,  [WS_OP_MARK] = TRUE,
};

static guint warps_of(const WsPy *y, const WsAgent *a)
{
    gboolean any = FALSE;
    if (y->p->entry_registers < WS_PLENTY)
        return a->warps;
    for (guint i = 0; i < y->p->n_ops; i++) {
        const WsOp *op = y->p->op[i];
        if (op->agent < 0 || &y->p->agent[op->agent] != a)
            continue;
        if (!led[op->kind])
            return a->warps;
        any = any || op->kind == WS_OP_TMA_LOAD;
    }
    return any ? 1 : a->warps;
}

static WsPartitionRegisters solved(const WsProgram *p, const WsPyPlan *plan)
{
    return ws_partition_registers(p->hardware, plan->warps[0], plan->n - 1, plan->warps + 1,
                                  plan->request + 1, plan->maxnreg);
}

/* The default partition gets what is left. Where it would be more than its group has asked for, the
 * other replicas of the group get as much: what is alike in the design stays alike. */
static void share(const WsProgram *p, WsPyPlan *plan)
{
    const guint group = p->agent[plan->agent[0]].group;
    const WsTargetRegisters *hw = &p->hardware->registers;
    for (guint more = plan->request[0] + hw->step; more <= hw->entry; more += hw->step) {
        g_autofree guint *request = g_memdup2(plan->request, plan->n * sizeof *request);
        gboolean any = FALSE;
        for (guint i = 1; i < plan->n; i++) {
            gboolean same = p->agent[plan->agent[i]].group == group;
            plan->request[i] = same ? more : plan->request[i];
            any = any || same;
        }
        WsPartitionRegisters r = solved(p, plan);
        if (any && !r.dropped && r.leftover >= (gint)more)
            continue;
        memcpy(plan->request, request, plan->n * sizeof *request);
        return;
    }
}

gboolean ws_py_plan(WsPy *y, WsPyPlan *out)
{
    const WsProgram *p = y->p;
    for (guint i = 0; i < p->n_agents; i++) {
        if (!ws_py_pow2(p->agent[i].warps)) {
            y->agent = &p->agent[i];
            ws_py_refuse(y, NULL, ws_py_phrase(y, "a group of %u warps", p->agent[i].warps),
                         "a power of two of warps");
            return FALSE;
        }
    }
    guint first = default_agent(p), k = 0;
    if (p->agent[first].warps % p->hardware->group_warps != 0) {
        ws_py_refuse(y, NULL, "no group of 4 warps", "at least one group of 4 warps");
        return FALSE;
    }
    *out = (WsPyPlan){ .n = p->n_agents, .maxnreg = p->entry_registers };
    out->agent = g_new0(guint, p->n_agents);
    out->request = g_new0(guint, p->n_agents);
    out->agent[k++] = first;
    for (guint i = 0; i < p->n_agents; i++) {
        if (i != first)
            out->agent[k++] = i;
    }
    out->warps = g_new0(guint, p->n_agents);
    for (guint i = 0; i < p->n_agents; i++) {
        const WsAgent *a = &p->agent[out->agent[i]];
        out->request[i] = a->registers ? a->registers : p->entry_registers;
        out->warps[i] = i ? warps_of(y, a) : a->warps;
    }
    share(p, out);
    out->result = solved(p, out);
    return TRUE;
}

void ws_py_plan_comment(WsPy *y, const WsPyPlan *plan)
{
    if (plan->n < 2)
        return;
    g_autofree char *text =
        ws_partition_registers_print(&plan->result, plan->n - 1, plan->request + 1);
    ws_py_comment(y, ws_py_format(y, "registers: %s; the design wants %u in the default group",
                                  text, plan->request[0]));
}

void ws_py_plan_clear(WsPyPlan *plan)
{
    g_clear_pointer(&plan->agent, g_free);
    g_clear_pointer(&plan->request, g_free);
    g_clear_pointer(&plan->warps, g_free);
}
