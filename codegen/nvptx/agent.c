/* Roles: one block tree per agent, chosen by the uniform warp number, all rejoining at the exit.
 * setmaxnreg is an instruction of whole warp groups, so the choice is made per warp group first. */
#include "program/parts/agent.h"
#include "codegen/nvptx/emit.h"
#include "codegen/nvptx/replicas/join.h"
#include "codegen/span.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"

/* Cells of the agent's totals, counters and lets. */
void ws_agent_cells(WsEmit *e, guint number)
{
    for (guint i = 0; i < e->p->n_vars && !e->error; i++) {
        const WsVar *v = &e->p->var[i];
        if (v->agent != (gint)number)
            continue;
        if (v->kind == WS_VAR_TOTAL || v->kind == WS_VAR_COUNTER) {
            WsUniform start = ws_uniform_const(e, 0);
            if (v->kind == WS_VAR_COUNTER && v->value)
                start = ws_uniform(e, v->value);
            LLVMValueRef cell = ws_cell(e, e->i32, v->name);
            LLVMBuildStore(e->b, start.v, cell);
            gint64 low = v->kind == WS_VAR_TOTAL ? 0 : G_MININT32;
            e->var[i] = (WsBinding){ WS_BIND_CELL, cell, low, G_MAXINT32 };
        } else if (v->kind == WS_VAR_LET) {
            e->var[i] = (WsBinding){ WS_BIND_CELL, ws_cell(e, e->i32, v->name), WS_UNIFORM_MIN,
                                     WS_UNIFORM_MAX };
        }
    }
}

static void agent(WsEmit *e, guint number)
{
    const WsAgent *a = &e->p->agent[number];
    e->agent = a;
    e->agent_warp = ws_add(e, e->warp, -(gint64)a->warp0);
    e->agent_tid = ws_add(e, e->tid, -(gint64)a->warp0 * 32);
    if (e->host)
        ws_prim(e, WS_PRIM_HOST_AGENT, ws_i32(e, number));
    LLVMValueRef first = LLVMBuildICmp(e->b, LLVMIntEQ, e->agent_warp, ws_i32(e, 0), "");
    LLVMValueRef elected = ws_prim0(e, WS_PRIM_ELECT);
    e->leader = LLVMBuildAnd(e->b, first, elected, "leader");
    ws_agent_cells(e, number);
    ws_record_agent(e);
    ws_regs_new(e, a);
    e->cuts = g_array_new(FALSE, FALSE, sizeof(WsCut));
    if (e->p->tiles->launch == WS_LAUNCH_SINGLE)
        ws_tiles_bind(e, e->cluster_id.v);
    ws_control_tree(e, a->body);
    ws_tiles_unbind(e);
    e->op = NULL;
    ws_watch_done(e);
    ws_record_end(e);
    g_clear_pointer(&e->cuts, g_array_unref);
    ws_regs_free(e, a);
    e->agent = NULL;
    e->op = NULL;
}

/* Several agents, or idle warps, share the warp groups of a span. */
static void shared_span(WsEmit *e, const WsWarpSpan *s)
{
    const WsOp *plan = ws_span_plan(e->p, s);
    e->whole_group = FALSE;
    if (plan)
        ws_sync_registers(e, plan);
    for (guint i = s->first; i < s->end && !e->error; i++) {
        const WsAgent *a = &e->p->agent[i];
        LLVMValueRef mine = LLVMBuildICmp(e->b, LLVMIntULT, ws_add(e, e->warp, -(gint64)a->warp0),
                                          ws_i32(e, a->warps), "");
        LLVMBasicBlockRef after = ws_if(e, mine, a->name);
        e->whole_group = FALSE;
        agent(e, i);
        ws_end_if(e, after);
    }
}

void ws_agent_roles(WsEmit *e)
{
    guint warps = e->p->threads / 32;
    LLVMBasicBlockRef exit = ws_block(e, "exit");
    LLVMValueRef group = LLVMBuildLShr(e->b, e->warp, ws_i32(e, 2), "warpgroup");
    g_autoptr(GArray) code = g_array_new(FALSE, TRUE, sizeof(WsRoleCode));
    for (WsWarpSpan s = { 0 }; s.hi < warps && !e->error;) {
        s = ws_span_next(e->p, s);
        gboolean last = s.hi >= warps;
        gboolean alone = ws_span_alone(e->p, &s);
        g_autofree char *name =
            g_strdup_printf("role.%s", s.end > s.first ? e->p->agent[s.first].name : "idle");
        LLVMBasicBlockRef role = ws_block(e, name), next = last ? exit : ws_block(e, "roles");
        /* groups are taken in rising order: "below the end" is enough */
        LLVMValueRef mine = LLVMBuildICmp(e->b, LLVMIntULT, group, ws_i32(e, (s.hi + 3) / 4), "");
        WsRoleCode made = { LLVMGetInsertBlock(e->b), role, last ? NULL : mine, (s.hi + 3) / 4,
                            alone ? (gint)s.first : -1 };
        g_array_append_val(code, made);
        if (last)
            LLVMBuildBr(e->b, role);
        else
            LLVMBuildCondBr(e->b, mine, role, next);
        LLVMPositionBuilderAtEnd(e->b, role);
        e->whole_group = alone;
        if (alone)
            agent(e, s.first);
        else
            shared_span(e, &s);
        LLVMBuildBr(e->b, exit);
        if (!last) {
            LLVMMoveBasicBlockAfter(next, LLVMGetInsertBlock(e->b));
            LLVMPositionBuilderAtEnd(e->b, next);
        }
    }
    LLVMMoveBasicBlockAfter(exit, LLVMGetInsertBlock(e->b));
    if (!e->error)
        ws_replicas_join(e, (WsRoleCode *)code->data, code->len, exit);
    LLVMPositionBuilderAtEnd(e->b, exit);
}
