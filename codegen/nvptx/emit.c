/* The module: kernel parameters, launch-wide values, prologue, roles, end. */
#include "codegen/nvptx/emit.h"
#include "program/parts/agent.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/refusal.h"
#include "target/target.h"

#include <llvm-c/Analysis.h>

void ws_emit_step_error(WsEmit *e, const WsOp *op, const char *what)
{
    ws_generate_refuse(&e->error, "generate", op, e->agent ? e->agent->path : NULL, what, NULL);
}

void ws_emit_internal_error(WsEmit *e, const char *format, ...)
{
    if (e->error)
        return;
    va_list ap;
    va_start(ap, format);
    g_autofree char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    g_set_error(&e->error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_INTERNAL,
                "internal error of the generator at %s: %s",
                e->op      ? e->op->id
                : e->agent ? e->agent->path
                           : "the kernel",
                text);
}

static void types(WsEmit *e)
{
    e->i1 = LLVMInt1TypeInContext(e->ctx);
    e->i16 = LLVMInt16TypeInContext(e->ctx);
    e->i32 = LLVMInt32TypeInContext(e->ctx);
    e->i64 = LLVMInt64TypeInContext(e->ctx);
    e->f32 = LLVMFloatTypeInContext(e->ctx);
    e->ptr = LLVMPointerTypeInContext(e->ctx, 0);
    e->none = LLVMVoidTypeInContext(e->ctx);
}

/* --- parameters (order: generate.h) ----------------------------------------------------------- */

typedef struct {
    GArray *type;
    GPtrArray *name;
} Params;

static void param(Params *q, LLVMTypeRef type, char *name)
{
    g_array_append_val(q->type, type);
    g_ptr_array_add(q->name, name);
}

static void collect_params(WsEmit *e, Params *q)
{
    const WsProgram *p = e->p;
    for (guint i = 0; i < p->n_maps; i++)
        param(q, e->host ? e->i64 : e->ptr,
              g_strdup_printf("map.%u.%s", i, p->tensor[p->map[i].tensor].name));
    for (guint i = 0; i < p->n_tensors; i++)
        param(q, e->i64, g_strdup(p->tensor[i].name));
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind == WS_VAR_SIZE)
            param(q, e->i64, g_strdup(p->var[i].name));
    }
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind == WS_VAR_SCALAR)
            param(q, e->f32, g_strdup(p->var[i].name));
    }
    if (e->recorder)
        param(q, e->i64, g_strdup("record"));
    if (e->recorder && e->recorder->launches > 1)
        param(q, e->i32, g_strdup("phase"));
    if (e->debug_waits || (e->hold && !e->host))
        param(q, e->i64, g_strdup("debug"));
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC)
        param(q, e->i64, g_strdup("counter"));
    if (p->tiles->order == WS_ORDER_HILBERT)
        param(q, e->i64, g_strdup("hilbert"));
    if (p->mesh) {
        param(q, e->i64, g_strdup("peer.maps"));
        param(q, e->i64, g_strdup("flags"));
        param(q, e->i64, g_strdup("launches"));
    }
}

/* Value of parameter i: an argument, or a word of the host's parameter array. */
static LLVMValueRef param_value(WsEmit *e, const Params *q, guint i)
{
    LLVMTypeRef type = g_array_index(q->type, LLVMTypeRef, i);
    const char *name = q->name->pdata[i];
    LLVMValueRef v;
    if (!e->host) {
        v = LLVMGetParam(e->fn, i);
        LLVMSetValueName2(v, name, strlen(name));
        return type == e->ptr ? LLVMBuildPtrToInt(e->b, v, e->i64, "") : v;
    }
    LLVMValueRef at = LLVMConstInt(e->i64, i, 0);
    at = LLVMBuildInBoundsGEP2(e->b, e->i64, LLVMGetParam(e->fn, 0), &at, 1, "");
    return LLVMBuildLoad2(e->b, type, at, name);
}

static void take_params(WsEmit *e, const Params *q)
{
    const WsProgram *p = e->p;
    guint at = 0;
    e->map = g_new0(LLVMValueRef, MAX(p->n_maps, 1));
    e->tensor = g_new0(LLVMValueRef, MAX(p->n_tensors, 1));
    for (guint i = 0; i < p->n_maps; i++)
        e->map[i] = param_value(e, q, at++);
    for (guint i = 0; i < p->n_tensors; i++)
        e->tensor[i] = param_value(e, q, at++);
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind != WS_VAR_SIZE)
            continue;
        LLVMValueRef v = LLVMBuildTrunc(e->b, param_value(e, q, at++), e->i32, p->var[i].name);
        e->var[i] = (WsBinding){ WS_BIND_VALUE, v, 0, G_MAXINT32 };
    }
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind == WS_VAR_SCALAR)
            e->var[i] = (WsBinding){ WS_BIND_VALUE, param_value(e, q, at++), 0, 0 };
    }
    if (e->recorder)
        e->record = param_value(e, q, at++);
    if (e->recorder && e->recorder->launches > 1)
        e->rec_phase = param_value(e, q, at++);
    e->debug_param = at;
    if (e->debug_waits || (e->hold && !e->host))
        e->debug = param_value(e, q, at++);
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC)
        e->counter = param_value(e, q, at++);
    if (p->tiles->order == WS_ORDER_HILBERT)
        e->hilbert = param_value(e, q, at++);
    if (p->mesh) {
        e->peer_map = param_value(e, q, at++);
        e->flags = param_value(e, q, at++);
        e->launches = param_value(e, q, at++);
    }
}

static void make_function(WsEmit *e, Params *q)
{
    LLVMTypeRef type;
    if (e->host)
        type = LLVMFunctionType(e->none, &e->ptr, 1, 0);
    else
        type = LLVMFunctionType(e->none, (LLVMTypeRef *)q->type->data, q->type->len, 0);
    e->fn = LLVMAddFunction(e->module, WS_KERNEL_NAME, type);
    if (e->host)
        return;
    if (e->kind) {
        e->kind->kernel(e);
        return;
    }
    ws_llvm_mark_kernel(e, e->p->threads, e->p->cluster, e->p->per_sm);
    for (guint i = 0; i < e->p->n_maps; i++)
        ws_llvm_mark_map(e, i);
}

/* --- launch-wide values ----------------------------------------------------------------------- */

static void shared_base(WsEmit *e)
{
    if (e->host) {
        e->shared = ws_prim0(e, WS_PRIM_HOST_SHARED_BASE);
        return;
    }
    LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(e->ctx), 0);
    LLVMValueRef g = LLVMAddGlobalInAddressSpace(e->module, bytes, "warpstave_shared", 3);
    LLVMSetLinkage(g, LLVMExternalLinkage);
    LLVMSetAlignment(g, 1024);
    e->shared = LLVMBuildPtrToInt(e->b, g, e->i32, "shared");
}

static void thread_values(WsEmit *e)
{
    e->tid = ws_prim0(e, WS_PRIM_TID);
    e->lane = LLVMBuildAnd(e->b, e->tid, ws_i32(e, 31), "lane");
    LLVMValueRef warp = LLVMBuildLShr(e->b, e->tid, ws_i32(e, 5), "");
    /* through a shuffle, so that ptxas sees a uniform value */
    e->warp = ws_prim(e, WS_PRIM_SHFL_IDX, warp, ws_i32(e, 0));
}

static void run_names(WsEmit *e)
{
    for (guint i = 0; i < e->p->n_vars && !e->error; i++) {
        const WsVar *v = &e->p->var[i];
        if (v->kind != WS_VAR_RUN)
            continue;
        if (v->real) {
            e->var[i] = (WsBinding){ WS_BIND_VALUE, ws_math_run_name(e, v->array), 0, 0 };
            continue;
        }
        WsUniform u = ws_uniform(e, v->value);
        e->var[i] = (WsBinding){ WS_BIND_VALUE, u.v, u.lo, u.hi };
    }
}

/* Operations of the prologue; thread 0 does the leader's. */
static void prologue(WsEmit *e)
{
    e->leader = LLVMBuildICmp(e->b, LLVMIntEQ, e->tid, ws_i32(e, 0), "thread.0");
    for (guint i = 0; i < e->p->n_prologue && !e->error;) {
        if (!ws_op_leader_only(e->p->prologue[i])) {
            ws_op_emit(e, e->p->prologue[i++]);
            continue;
        }
        LLVMBasicBlockRef after = ws_if(e, e->leader, "prologue");
        e->in_leader = TRUE;
        for (; i < e->p->n_prologue && ws_op_leader_only(e->p->prologue[i]) && !e->error; i++)
            ws_op_emit(e, e->p->prologue[i]);
        e->in_leader = FALSE;
        ws_end_if(e, after);
    }
    e->op = NULL;
}

static void body(WsEmit *e, const Params *q)
{
    LLVMBasicBlockRef entry = ws_block(e, "entry"), start = ws_block(e, "start");
    LLVMPositionBuilderAtEnd(e->entry, entry);
    LLVMValueRef jump = LLVMBuildBr(e->entry, start);
    LLVMPositionBuilderBefore(e->entry, jump);
    LLVMPositionBuilderAtEnd(e->b, start);
    take_params(e, q);
    ws_uniform_ranges(e);
    if (e->kind) {
        e->kind->values(e);
    } else {
        shared_base(e);
        thread_values(e);
    }
    ws_record_entry(e);
    run_names(e);
    ws_tiles_entry(e);
    prologue(e);
    if (e->kind)
        e->kind->body(e);
    else
        ws_record_roles(e);
    LLVMBuildRetVoid(e->b);
}

static gboolean supported(WsEmit *e)
{
    g_autofree char *refusal =
        ws_program_refusal(e->p, e->host ? WS_LENS_REHEARSE : WS_LENS_GENERATE);
    if (refusal) {
        g_set_error(&e->error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP, "%s", refusal);
        return FALSE;
    }
    if ((e->kind != NULL) != (e->p->hardware->halves > 0)) {
        g_set_error(&e->error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP,
                    "target %s: not supported by generate (its code is %s)", e->p->target,
                    e->kind ? "PTX: --as ptx" : "AMDGPU: --as amdgpu or hsaco");
        return FALSE;
    }
    if (e->p->mesh && (e->kind || e->debug_waits || e->hold)) {
        g_set_error(&e->error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP,
                    "devices: not supported by %s (%s)", e->host ? "rehearse" : "generate",
                    e->kind   ? "puts and flags of devices have no code for this target"
                    : e->hold ? "no witness is replayed on several devices"
                              : "waits of several devices are not reported yet");
        return FALSE;
    }
    return ws_generate_fits(e->p, e->host ? "rehearse" : "generate", &e->error);
}

static void verify(WsEmit *e)
{
    char *message = NULL;
    if (LLVMVerifyModule(e->module, LLVMReturnStatusAction, &message))
        ws_emit_internal_error(e, "LLVM does not accept the module: %s", message);
    LLVMDisposeMessage(message);
}

static void finish(WsEmit *e)
{
    g_free(e->map);
    g_free(e->tensor);
    g_free(e->extent);
    g_free(e->var);
    g_clear_pointer(&e->round_cell, g_hash_table_unref);
    g_clear_pointer(&e->put_off, g_ptr_array_unref);
    g_clear_pointer(&e->looked_up, g_array_unref);
    if (e->rec_word) {
        for (guint i = 0; i < e->recorder->n_strips; i++) {
            g_free(e->rec_word[i]);
            g_free(e->rec_taken[i]);
        }
        g_free(e->rec_word);
        g_free(e->rec_taken);
    }
    LLVMDisposeBuilder(e->b);
    LLVMDisposeBuilder(e->entry);
}

/* Lowers `p`; the module belongs to the caller. */
LLVMModuleRef ws_emit_module(const WsProgram *p, const WsGenerateOptions *options, gboolean host,
                             const WsEmitKind *kind, LLVMContextRef ctx, GError **error)
{
    WsEmit e = { .p = p, .kind = kind, .host = host, .ctx = ctx, .row_lanes = 32, .quad_lanes = 4 };
    if (options)
        e.hold = options->hold;
    if (options && !host) {
        e.recorder = options->recorder;
        e.debug_waits = options->debug_waits;
        e.delays = options->delays;
    }
    if (!supported(&e)) {
        g_propagate_error(error, e.error);
        return NULL;
    }
    types(&e);
    e.module = LLVMModuleCreateWithNameInContext("warpstave", ctx);
    e.b = LLVMCreateBuilderInContext(ctx);
    e.entry = LLVMCreateBuilderInContext(ctx);
    e.var = g_new0(WsBinding, MAX(p->n_vars, 1));
    if (kind)
        kind->begin(&e);
    Params q = { g_array_new(FALSE, FALSE, sizeof(LLVMTypeRef)),
                 g_ptr_array_new_with_free_func(g_free) };
    e.account = ws_account_new(p);
    if (!e.error) {
        collect_params(&e, &q);
        make_function(&e, &q);
        body(&e, &q);
    }
    const WsOp *lost = e.error ? NULL : ws_account_missing(&e.account);
    if (lost)
        ws_emit_step_error(&e, lost, "nothing was emitted for it (a bug of the generator)");
    ws_account_clear(&e.account);
    g_array_free(q.type, TRUE);
    g_ptr_array_free(q.name, TRUE);
    if (!e.error)
        verify(&e);
    if (kind)
        kind->end(&e);
    finish(&e);
    if (e.error) {
        g_propagate_error(error, e.error);
        LLVMDisposeModule(e.module);
        return NULL;
    }
    return e.module;
}
