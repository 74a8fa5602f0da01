/* The kernel of gfx950: its attributes, who a thread is, and the two halves walked as one. */
#include "base/phrase.h"
#include "codegen/amdgpu/amd.h"
#include "codegen/amdgpu/machine.h"
#include "codegen/nvptx/leader.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "target/target.h"

#include <llvm-c/Target.h>
#include <string.h>

#define KERNEL 91 /* calling convention amdgpu_kernel */

/* --- module -----------------------------------------------------------------------------------*/

static void legal(WsEmit *e)
{
    const WsProgram *p = e->p;
    if (p->tiles->launch != WS_LAUNCH_SINGLE)
        ws_amd_refuse(e, NULL, WS_WORD("a CTA that takes more than one tile"),
                      WS_WORD("set \"launch\": \"single\""));
    else if (p->tiles->order == WS_ORDER_HILBERT)
        ws_amd_refuse(e, NULL, WS_WORD("tiles in the order of Hilbert's curve"),
                      WS_WORD("order grouped or linear"));
    else if (e->hold || e->recorder || e->debug_waits || e->delays)
        ws_amd_refuse(e, NULL, WS_WORD("a build that records, reports or replays"), NULL);
}

static void scopes(WsEmit *e)
{
    static const char all[] = "shared memory";
    LLVMMetadataRef text = LLVMMDStringInContext2(e->ctx, all, strlen(all)), list[2];
    LLVMMetadataRef domain = LLVMMDNodeInContext2(e->ctx, &text, 1);
    for (guint i = 0; i < 2; i++) {
        const char *name = i ? "reads" : "loads";
        LLVMMetadataRef part[] = { LLVMMDStringInContext2(e->ctx, name, strlen(name)), domain };
        LLVMMetadataRef scope = LLVMMDNodeInContext2(e->ctx, part, 2);
        list[i] = LLVMMDNodeInContext2(e->ctx, &scope, 1);
    }
    e->amd->scope_loads = LLVMMetadataAsValue(e->ctx, list[0]);
    e->amd->scope_reads = LLVMMetadataAsValue(e->ctx, list[1]);
}

static void mark(WsEmit *e, LLVMValueRef v, const char *kind, LLVMValueRef list)
{
    if (LLVMIsAInstruction(v))
        LLVMSetMetadata(v, LLVMGetMDKindIDInContext(e->ctx, kind, (unsigned)strlen(kind)), list);
}

/* Waits order loads and reads, as the program says; without this LLVM lets no load be outstanding
 * when shared memory is read. */
void ws_amd_mark_load(WsEmit *e, LLVMValueRef v)
{
    mark(e, v, "alias.scope", e->amd->scope_loads);
}

void ws_amd_mark_read(WsEmit *e, LLVMValueRef v)
{
    mark(e, v, "alias.scope", e->amd->scope_reads);
    mark(e, v, "noalias", e->amd->scope_loads);
}

static void free_pairs(gpointer pairs)
{
    g_array_unref(pairs);
}

static void begin(WsEmit *e)
{
    e->amd = g_new0(WsAmd, 1);
    e->amd->pairs = g_hash_table_new_full(NULL, NULL, NULL, free_pairs);
    e->amd->other = g_new0(const WsOp *, e->p->n_ops + 1);
    e->amd->twin = g_new(gint, e->p->n_vars + 1);
    for (guint i = 0; i < e->p->n_vars; i++)
        e->amd->twin[i] = (gint)i;
    legal(e);
    if (!e->error && ws_amd_pair(e) && !e->host)
        ws_amd_target(e->module, &e->error);
    e->twin = e->amd->twin;
    scopes(e);
}

static void end(WsEmit *e)
{
    ws_amd_layout_clear(e);
    g_hash_table_unref(e->amd->pairs);
    g_free(e->amd->other);
    g_free(e->amd->twin);
    g_clear_pointer(&e->amd, g_free);
}

static void attribute(WsEmit *e, const char *name, const char *value)
{
    LLVMAttributeRef a =
        LLVMCreateStringAttribute(e->ctx, name, strlen(name), value, strlen(value));
    LLVMAddAttributeAtIndex(e->fn, LLVMAttributeFunctionIndex, a);
}

/* Nothing but the arguments and the number of the workgroup is asked of the launch. */
static void kernel(WsEmit *e)
{
    static const char *const without[] = {
        "implicitarg-ptr",    "dispatch-ptr",     "queue-ptr",      "dispatch-id",
        "lds-kernel-id",      "workgroup-id-y",   "workgroup-id-z", "workitem-id-y",
        "workitem-id-z",      "cluster-id-x",     "cluster-id-y",   "cluster-id-z",
        "default-queue",      "hostcall-ptr",     "heap-ptr",       "completion-action",
        "multigrid-sync-arg", "flat-scratch-init"
    };
    const guint waves = e->p->hardware->halves * e->p->hardware->half_warps;
    g_autofree char *threads = g_strdup_printf("%u,%u", e->p->threads, e->p->threads);
    g_autofree char *each = g_strdup_printf("%u,%u", waves / 4, waves / 4); /* 4 SIMDs of a CU */
    LLVMSetFunctionCallConv(e->fn, KERNEL);
    for (guint i = 0; i < G_N_ELEMENTS(without); i++) {
        g_autofree char *name = g_strconcat("amdgpu-no-", without[i], NULL);
        attribute(e, name, "");
    }
    attribute(e, "uniform-work-group-size", "true");
    attribute(e, "amdgpu-flat-work-group-size", threads);
    attribute(e, "amdgpu-waves-per-eu", each);
    attribute(e, "amdgpu-agpr-alloc", "0"); /* results stay where statements read them */
}

/* --- who am I ---------------------------------------------------------------------------------*/

static void shared(WsEmit *e)
{
    if (e->host) {
        e->shared = ws_prim0(e, WS_PRIM_HOST_SHARED_BASE);
        return;
    }
    LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(e->ctx), MAX(e->p->shared_bytes, 1));
    e->amd->lds = LLVMAddGlobalInAddressSpace(e->module, bytes, "warpstave_shared", 3);
    LLVMSetLinkage(e->amd->lds, LLVMInternalLinkage);
    LLVMSetInitializer(e->amd->lds, LLVMGetUndef(bytes));
    LLVMSetAlignment(e->amd->lds, 1024);
    e->shared = ws_i32(e, 0); /* addresses are distances from it */
}

static void values(WsEmit *e)
{
    WsAmd *a = e->amd;
    const guint waves = e->p->hardware->half_warps;
    if (e->error)
        return;
    shared(e);
    e->tid = ws_prim0(e, WS_PRIM_TID);
    e->lane = LLVMBuildAnd(e->b, e->tid, ws_i32(e, WS_AMD_LANES - 1), "lane");
    e->warp = ws_amd_uniform(e, LLVMBuildUDiv(e->b, e->tid, ws_i32(e, WS_AMD_LANES), ""));
    a->block = e->p->agent[0].mma_rows;
    a->groups = WS_AMD_LANES / a->block;
    a->lane_row = LLVMBuildAnd(e->b, e->lane, ws_i32(e, a->block - 1), "");
    a->lane_group = LLVMBuildUDiv(e->b, e->lane, ws_i32(e, a->block), "");
    a->is_upper = LLVMBuildICmp(e->b, LLVMIntUGE, e->warp, ws_i32(e, waves), "upper");
    a->wave = LLVMBuildURem(e->b, e->warp, ws_i32(e, waves), "");
    if (!ws_amd_layout(e))
        return;
    a->wave_m = LLVMBuildUDiv(e->b, a->wave, ws_i32(e, a->waves_n), "");
    a->wave_n = LLVMBuildURem(e->b, a->wave, ws_i32(e, a->waves_n), "");
}

/* --- the halves as one code -------------------------------------------------------------------*/

static void emit(WsEmit *e, const WsOp *op, const WsOp *other)
{
    e->amd->partner = other;
    ws_op_emit(e, op);
    if (other != op)
        ws_account_written(&e->account, other);
}

static void sequence(WsEmit *e, const WsTree *t)
{
    const GArray *pairs = g_hash_table_lookup(e->amd->pairs, t);
    for (guint i = 0; pairs && i < pairs->len && !e->error; i++) {
        const WsAmdPair *pair = &g_array_index(pairs, WsAmdPair, i);
        const WsTree *only = pair->lower ? pair->lower : pair->upper;
        if (pair->lower && pair->upper && only->kind == WS_TREE_OP) {
            emit(e, pair->lower->op, pair->upper->op);
        } else if (pair->lower && pair->upper) {
            ws_control_tree(e, pair->lower);
        } else { /* a barrier of one half: a scalar branch, since EXEC = 0 would join, too */
            LLVMValueRef mine =
                pair->upper ? e->amd->is_upper : LLVMBuildNot(e->b, e->amd->is_upper, "");
            LLVMBasicBlockRef after = ws_if(e, mine, pair->upper ? "upper" : "lower");
            emit(e, only->op, only->op);
            ws_end_if(e, after);
        }
    }
    if (!pairs)
        ws_emit_internal_error(e, "a list of steps without its other half");
}

/* Workgroups go to dies in turn: runs of `chunk` tiles stay on one, as long as whole rounds of runs
 * last; the rest is as it comes. */
static WsUniform dealt(WsEmit *e, WsUniform id)
{
    const gint64 *xcd = e->p->tiles->xcd;
    if (!xcd[0])
        return id;
    WsUniform dies = ws_uniform_const(e, xcd[0]), chunk = ws_uniform_const(e, MAX(xcd[1], 1));
    WsUniform round = ws_uniform_op(e, WS_EXPR_MUL, dies, chunk);
    WsUniform whole =
        ws_uniform_op(e, WS_EXPR_MUL, ws_uniform_op(e, WS_EXPR_DIV, e->n_tiles, round), round);
    WsUniform die = ws_uniform_op(e, WS_EXPR_MOD, id, dies),
              own = ws_uniform_op(e, WS_EXPR_DIV, id, dies);
    WsUniform to = ws_uniform_op(e, WS_EXPR_MUL, ws_uniform_op(e, WS_EXPR_DIV, own, chunk), round);
    to = ws_uniform_op(e, WS_EXPR_ADD, to, ws_uniform_op(e, WS_EXPR_MUL, die, chunk));
    to = ws_uniform_op(e, WS_EXPR_ADD, to, ws_uniform_op(e, WS_EXPR_MOD, own, chunk));
    LLVMValueRef early = LLVMBuildICmp(e->b, LLVMIntSLT, id.v, whole.v, "");
    return ws_uniform_value(LLVMBuildSelect(e->b, early, to.v, id.v, ""), 0, G_MAXINT32);
}

/* Distances inside of a tile have 32 bits (place.c): a launch whose rows lie too far apart for that
 * traps. */
static void far_rows(WsEmit *e)
{
    LLVMValueRef far = NULL;
    for (guint t = 0; t < e->p->n_tensors && !e->host; t++) {
        const WsTensor *is = &e->p->tensor[t];
        guint rows = 0;
        for (guint i = 0; i < e->p->n_ops; i++) {
            const WsOp *op = e->p->op[i];
            if (op->tensor == (gint)t)
                rows = MAX(rows, op->n_access ? op->access[0].rows : op->value[0].rows);
        }
        if (rows == 0 || is->rank < 2)
            continue;
        const guint64 most = WS_AMD_RECORDS / ((guint64)rows * ws_dtype_bytes(is->dtype)) - 1;
        LLVMValueRef stride = ws_uniform_i32(e, is->stride[is->rank - 2]);
        LLVMValueRef here = LLVMBuildICmp(e->b, LLVMIntUGT, stride, ws_i32(e, (gint64)most), "");
        far = far ? LLVMBuildOr(e->b, far, here, "") : here;
    }
    if (!far)
        return;
    LLVMBasicBlockRef after = ws_if(e, far, "far");
    ws_amd_call(e, "llvm.trap", 0, NULL, 0, NULL);
    ws_end_if(e, after);
}

static void body(WsEmit *e)
{
    if (e->error)
        return;
    far_rows(e);
    e->agent = &e->p->agent[0];
    if (e->host)
        ws_prim(e, WS_PRIM_HOST_AGENT, LLVMBuildZExt(e->b, e->amd->is_upper, e->i32, ""));
    ws_agent_cells(e, 0);
    e->cuts = g_array_new(FALSE, FALSE, sizeof(WsCut));
    ws_tiles_bind(e, dealt(e, e->cluster_id).v);
    ws_control_tree(e, e->agent->body);
    ws_tiles_unbind(e);
    g_clear_pointer(&e->cuts, g_array_unref);
    e->agent = NULL;
    e->op = NULL;
}

/* --- operations -------------------------------------------------------------------------------*/

static void let(WsEmit *e, const WsOp *op)
{
    WsUniform u = ws_uniform(e, op->set);
    WsBinding *b = &e->var[op->var];
    LLVMBuildStore(e->b, u.v, b->v);
    b->lo = u.lo;
    b->hi = u.hi;
}

static void advance(WsEmit *e, const WsOp *op)
{
    LLVMValueRef cell = e->var[op->var].v;
    LLVMBuildStore(e->b,
                   LLVMBuildAdd(e->b, ws_load(e, e->i32, cell, ""), ws_uniform_i32(e, op->set), ""),
                   cell);
}

static void nothing(WsEmit *e, const WsOp *op)
{
}

/* What is not here is refused by its name. */
static const WsLower lower[WS_OP_KIND_COUNT] = {
#define WS_AMD_OP(op, lowers) [WS_OP_##op] = lowers,
#include "codegen/amdgpu/lower.def"
#undef WS_AMD_OP
};

const WsEmitKind ws_amd_kind = {
    .begin = begin,
    .kernel = kernel,
    .values = values,
    .body = body,
    .end = end,
    .sequence = sequence,
    .prim = ws_amd_prim,
    .lower = lower,
    .element = ws_amd_math_element,
    .assign = ws_amd_math_assign,
    .column = ws_amd_math_column,
    .across = ws_amd_math_across,
};
