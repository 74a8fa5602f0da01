/* The reference compiled for the host and, as a kernel of sampled elements, for the GPU. */
#include "codegen/reference/reference.h"
#include "base/phrase.h"
#include "program/elaborate.h"
#include "program/parts/tensor.h"
#include "program/program.h"

#include "codegen/amdgpu/amdgpu.h"
#include "codegen/amdgpu/code_object.h"
#include "codegen/amdgpu/machine.h"
#include "codegen/emit_text.h"
#include "codegen/nvptx/emit.h"
#include "codegen/reference/internal.h"
#include "codegen/rehearse/jit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/TargetMachine.h>

/* --- memo of helper values (host) --------------------------------------------------------------
 */
/* Direct-mapped: an attention reference asks for S[b,h,i,j] once per output column. */
#define MEMO_ENTRIES (1u << 16)
#define MEMO_INDICES 6
typedef struct {
    guint32 statement, used; /* used: run number, 0 never */
    gint64 index[MEMO_INDICES];
    guint64 value;
} MemoEntry;
typedef struct {
    guint32 run;
    MemoEntry *entry;
} Memo;

static MemoEntry *memo_entry(Memo *m, guint32 statement, guint32 n, const gint64 *index)
{
    guint64 h = statement * 0x9e3779b97f4a7c15u;
    guint32 i;
    for (i = 0; i < n; i++)
        h = (h ^ (guint64)index[i]) * 0xff51afd7ed558ccdu, h ^= h >> 29;
    return &m->entry[(h ^ h >> 32) % MEMO_ENTRIES];
}

static const guint64 *memo_find(Memo *m, guint32 statement, guint32 n, const gint64 *index)
{
    MemoEntry *e = memo_entry(m, statement, n, index);
    if (n > MEMO_INDICES || e->used != m->run || e->statement != statement)
        return NULL;
    for (guint32 i = 0; i < n; i++) /* so few that a call of memcmp costs more than it does */
        if (e->index[i] != index[i])
            return NULL;
    return &e->value;
}

static void memo_store(Memo *m, guint32 statement, guint32 n, const gint64 *index, guint64 value)
{
    MemoEntry *e = memo_entry(m, statement, n, index);
    if (n > MEMO_INDICES)
        return;
    e->used = m->run;
    e->statement = statement;
    e->value = value;
    memcpy(e->index, index, n * sizeof *index);
}

/* --- code around a statement --------------------------------------------------------------------
 */
/* Value of the element with flat logical index `flat`, as double. */
static LLVMValueRef build_element(RefBuilder *r, guint tensor, RefFunction *f, LLVMValueRef flat)
{
    const WsTensor *t = &r->p->tensor[tensor];
    LLVMValueRef arg[WS_MAX_RANK + 2], extent, one = ws_ref_int(r, 1);
    const guint of_device = r->p->mesh ? 1 : 0;
    RefValue v;
    guint i;
    arg[0] = r->env;
    for (i = t->rank; i-- > 0;) {
        extent =
            ws_ref_convert(r, ws_ref_emit(r, r->p->formula_shape[tensor].extent[i]), WS_FORMULA_INT)
                .v;
        extent = LLVMBuildSelect(r->b, LLVMBuildICmp(r->b, LLVMIntSLT, extent, one, ""), one,
                                 extent, "");
        arg[i + 1 + of_device] = LLVMBuildURem(r->b, flat, extent, "");
        flat = LLVMBuildUDiv(r->b, flat, extent, "");
    }
    if (of_device)
        arg[1] = flat;
    v.kind = f->kind;
    v.v = LLVMBuildCall2(r->b, f->type, f->fn, arg, t->rank + 1 + of_device, "");
    return ws_ref_convert(r, v, WS_FORMULA_REAL).v;
}

/* On the GPU helpers are inlined, and each may name another twice. */
#define MAX_TERMS 50000u

static RefFunction *output_function(RefBuilder *r, guint tensor, GError **error)
{
    const WsProgram *p = r->p;
    gint at;
    gboolean missing;
    g_autofree char *why = ws_formula_problem(p, tensor, &at, &missing);
    if (!why) {
        const WsDefinition *d = &p->reference[at];
        if (r->host || d->terms <= MAX_TERMS)
            return ws_ref_function(r, (guint)at);
        why = ws_phrase("%s has more than %u terms when its helpers are written out",
                        d->statement->name, MAX_TERMS);
    }
    g_autofree char *place = at < 0 ? g_strdup("reference") : g_strdup_printf("reference/%d", at);
    ws_generate_refuse(error, "reference", NULL, place, why, NULL);
    return NULL;
}

/* void ws_eval_T(i64 *env, i64 *flat or NULL, double *out, i64 first, i64 n) */
static void build_host(RefBuilder *r, guint tensor, RefFunction *f)
{
    g_autofree char *name = g_strdup_printf("ws_eval_%u", tensor);
    LLVMTypeRef arg[5] = { r->ptr, r->ptr, r->ptr, r->i64, r->i64 };
    LLVMTypeRef type = LLVMFunctionType(r->nothing, arg, 5, FALSE);
    LLVMBasicBlockRef entry, head, given, body, done;
    LLVMValueRef i, flat, own, listed, n, out, next;
    r->fn = LLVMAddFunction(r->module, name, type);
    r->env = LLVMGetParam(r->fn, 0);
    n = LLVMGetParam(r->fn, 4);
    entry = ws_ref_block(r, "entry");
    head = ws_ref_block(r, "head");
    given = ws_ref_block(r, "given");
    body = ws_ref_block(r, "body");
    done = ws_ref_block(r, "done");
    LLVMPositionBuilderAtEnd(r->b, entry);
    LLVMBuildCondBr(r->b, LLVMBuildICmp(r->b, LLVMIntSGT, n, ws_ref_int(r, 0), ""), head, done);
    LLVMPositionBuilderAtEnd(r->b, head);
    i = LLVMBuildPhi(r->b, r->i64, "");
    own = LLVMBuildAdd(r->b, LLVMGetParam(r->fn, 3), i, "");
    LLVMBuildCondBr(r->b, LLVMBuildIsNull(r->b, LLVMGetParam(r->fn, 1), ""), body, given);
    LLVMPositionBuilderAtEnd(r->b, given);
    listed = LLVMBuildInBoundsGEP2(r->b, r->i64, LLVMGetParam(r->fn, 1), &i, 1, "");
    listed = LLVMBuildLoad2(r->b, r->i64, listed, "");
    LLVMBuildBr(r->b, body);
    LLVMPositionBuilderAtEnd(r->b, body);
    flat = LLVMBuildPhi(r->b, r->i64, "");
    LLVMAddIncoming(flat, (LLVMValueRef[]){ own, listed }, (LLVMBasicBlockRef[]){ head, given }, 2);
    out = LLVMBuildInBoundsGEP2(r->b, r->f64, LLVMGetParam(r->fn, 2), &i, 1, "");
    LLVMBuildStore(r->b, build_element(r, tensor, f, flat), out);
    next = LLVMBuildNSWAdd(r->b, i, ws_ref_int(r, 1), "");
    LLVMAddIncoming(i, (LLVMValueRef[]){ ws_ref_int(r, 0), next },
                    (LLVMBasicBlockRef[]){ entry, LLVMGetInsertBlock(r->b) }, 2);
    LLVMBuildCondBr(r->b, LLVMBuildICmp(r->b, LLVMIntSLT, next, n, ""), head, done);
    LLVMPositionBuilderAtEnd(r->b, done);
    LLVMBuildRetVoid(r->b);
}

/* --- host ----------------------------------------------------------------------------------------
 */
typedef void (*EvalFunction)(guint64 *env, const gint64 *flat, double *out, gint64 first, gint64 n);

struct WsReference {
    WsProgram *p;
    LLVMModuleRef module; /* until it is compiled, which takes it and its context */
    LLVMContextRef context;
    char *text;         /* LLVM's, of the module; NULL until it is asked for */
    WsJit *jit;         /* NULL until the first evaluation */
    EvalFunction *eval; /* per tensor, NULL if it is no output */
    guint64 *env;
    guint n_sizes, n_scalars, n_pitches, flags_slot, memo_slot, terms_slot;
    Memo memo;
};

WsReference *ws_reference_new(const WsProgram *p, GError **error)
{
    g_autoptr(WsReference) r = g_new0(WsReference, 1);
    r->context = LLVMContextCreate();
    RefBuilder *b = ws_ref_builder_new(p, r->context, "reference", TRUE);
    gboolean fine = TRUE;
    r->p = ws_program_ref(p);
    r->module = b->module;
    r->eval = g_new0(EvalFunction, p->n_tensors);
    r->env = g_new0(guint64, b->n_slots);
    r->n_sizes = b->n_sizes;
    r->n_scalars = b->n_scalars;
    r->n_pitches = b->n_pitches;
    r->flags_slot = b->flags_slot;
    r->memo_slot = b->memo_slot;
    r->terms_slot = b->terms_slot;
    ws_reference_restart(r);
    for (guint i = 0; i < p->n_tensors && fine; i++) {
        RefFunction *f;
        if (!ws_tensor_is_output(&p->tensor[i]))
            continue;
        f = output_function(b, i, error);
        fine = f != NULL;
        if (fine)
            build_host(b, i, f);
    }
    ws_ref_builder_free(b);
    return fine ? g_steal_pointer(&r) : NULL;
}

static gboolean compile(WsReference *r, GError **error)
{
    static const WsJitSymbol symbol[] = { { "ws_ref_memo_find", memo_find },
                                          { "ws_ref_memo_store", memo_store } };
    if (r->module) {
        r->jit = ws_jit_new(g_steal_pointer(&r->module), g_steal_pointer(&r->context),
                            "default<O2>", symbol, G_N_ELEMENTS(symbol), error);
        r->memo.entry = g_new0(MemoEntry, MEMO_ENTRIES);
    }
    for (guint i = 0; i < r->p->n_tensors && r->jit; i++) {
        g_autofree char *name = g_strdup_printf("ws_eval_%u", i);
        if (!ws_tensor_is_output(&r->p->tensor[i]))
            continue;
        r->eval[i] = (EvalFunction)ws_jit_find(r->jit, name, error);
        if (!r->eval[i])
            return FALSE;
    }
    return r->jit != NULL;
}

void ws_reference_restart(WsReference *r)
{
    ws_reference_limit(r, WS_REFERENCE_TERMS);
}

void ws_reference_limit(WsReference *r, gint64 terms)
{
    r->env[r->terms_slot] = (guint64)CLAMP(terms, 0, WS_REFERENCE_TERMS);
}

gint64 ws_reference_left(const WsReference *r)
{
    return (gint64)r->env[r->terms_slot];
}

const char *ws_reference_text(WsReference *r)
{
    if (!r->text && r->module)
        r->text = LLVMPrintModuleToString(r->module);
    return r->text;
}

void ws_reference_free(WsReference *r)
{
    if (!r)
        return;
    ws_jit_free(r->jit);
    if (r->text)
        LLVMDisposeMessage(r->text);
    if (r->module)
        LLVMDisposeModule(r->module);
    if (r->context)
        LLVMContextDispose(r->context);
    g_free(r->memo.entry);
    g_free(r->env);
    g_free(r->eval);
    ws_program_unref(r->p);
    g_free(r);
}

static void refuse_long(const char *tensor, GError **error)
{
    g_autofree char *terms = ws_phrase(
        "what defines %s adds up more than %" G_GINT64_FORMAT " terms", tensor, WS_REFERENCE_TERMS);
    ws_generate_refuse(error, "reference", NULL, "reference", terms, "give smaller sizes");
}

gboolean ws_reference_eval(WsReference *r, guint tensor, const WsReferenceInput *input,
                           const gint64 *flat, gint64 first, gint64 n, double *out, GError **error)
{
    guint i, slot = 0;
    if (!r->jit && !compile(r, error))
        return FALSE;
    g_return_val_if_fail(tensor < r->p->n_tensors && r->eval[tensor], FALSE);
    for (i = 0; i < r->p->n_tensors; i++)
        r->env[slot++] = (guint64)(guintptr)input->tensor[i];
    for (i = 0; i < r->n_sizes; i++)
        r->env[slot++] = (guint64)input->size[i];
    for (i = 0; i < r->n_scalars; i++)
        memcpy(&r->env[slot++], &input->scalar[i], 8);
    for (i = 0; i < r->n_pitches; i++)
        r->env[slot++] = (guint64)input->pitch[i];
    r->env[r->flags_slot] = 0;
    r->env[r->memo_slot] = (guint64)(guintptr)&r->memo;
    r->memo.run++;
    r->eval[tensor](r->env, flat, out, first, n);
    if (r->env[r->flags_slot] == 0)
        return TRUE;
    const char *name = r->p->tensor[tensor].name;
    if (r->env[r->flags_slot] & WS_REF_LONG) {
        refuse_long(name, error);
        return FALSE;
    }
    g_autofree char *why =
        r->env[r->flags_slot] & WS_REF_OUTSIDE
            ? ws_phrase("what defines %s reads a tensor outside its shape", name)
        : r->env[r->flags_slot] & WS_REF_DIVIDE
            ? ws_phrase("what defines %s divides an integer by zero", name)
            : ws_phrase("what defines %s takes sin or cos of more than 2^30 radians", name);
    ws_generate_refuse(error, "reference", NULL, "reference", why, NULL);
    return FALSE;
}

/* Elements side by side share what helpers are worth (the memo), those far apart differ in their
 * sums: eight runs of 64. A row of 128 shares twice as much, so that four times too many are
 * refused, not twice. */
enum { RUNS = 8, RUN = 64, TOO_MANY = 4 };

gboolean ws_reference_bounded(WsReference *r, guint tensor, const WsReferenceInput *input, gint64 n,
                              GError **error)
{
    double value[RUN];
    gboolean fine = TRUE;
    if (n <= RUNS * RUN)
        return TRUE;
    ws_reference_restart(r);
    for (gint64 i = 0; i < RUNS && fine; i++)
        fine = ws_reference_eval(r, tensor, input, NULL, n / RUNS * i, RUN, value, NULL);
    const gboolean spent = r->env[r->flags_slot] & WS_REF_LONG;
    const double terms = (double)(WS_REFERENCE_TERMS - (gint64)r->env[r->terms_slot]);
    ws_reference_restart(r);
    if (!spent &&
        (!fine || terms / (RUNS * RUN) * (double)n <= TOO_MANY * (double)WS_REFERENCE_TERMS))
        return TRUE;
    refuse_long(r->p->tensor[tensor].name, error);
    return FALSE;
}

/* --- GPU -------------------------------------------------------------------------------------- */
static LLVMValueRef special_register(RefBuilder *r, const char *name)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(r->module, id, NULL, 0), v;
    v = LLVMBuildCall2(r->b, LLVMIntrinsicGetType(r->context, id, NULL, 0), fn, NULL, 0, "");
    return LLVMBuildZExt(r->b, v, r->i64, "");
}

/* Copies the kernel's parameters into an env of its own. Returns the parameter after them. */
static guint build_env(RefBuilder *r)
{
    LLVMTypeRef array = LLVMArrayType2(r->i64, r->n_slots);
    guint i, n = r->p->n_tensors + r->n_sizes + r->n_scalars + r->n_pitches;
    r->env = ws_ref_memory(r, array, "env");
    for (i = 0; i < r->n_slots; i++) {
        LLVMValueRef v = i < n ? LLVMGetParam(r->fn, i) : ws_ref_int(r, 0);
        if (LLVMTypeOf(v) == r->f32)
            v = LLVMBuildFPExt(r->b, v, r->f64, "");
        LLVMBuildStore(r->b, v, ws_ref_slot_address(r, i));
    }
    return n;
}

static LLVMValueRef global_element(RefBuilder *r, LLVMTypeRef type, LLVMValueRef base,
                                   LLVMValueRef i)
{
    LLVMValueRef at = LLVMBuildIntToPtr(r->b, base, LLVMPointerTypeInContext(r->context, 1), "");
    return LLVMBuildInBoundsGEP2(r->b, type, at, &i, 1, "");
}

enum { PTX_KERNEL = 71, AMDGPU_KERNEL = 91, AMD_BLOCK = 64 };

/* On AMD the size of a block is no register: it is always that of a wave. */
static void set_block(RefBuilder *r)
{
    static const char name[] = "amdgpu-flat-work-group-size", value[] = "64,64";
    LLVMAttributeRef size =
        LLVMCreateStringAttribute(r->context, name, strlen(name), value, strlen(value));
    LLVMAddAttributeAtIndex(r->fn, LLVMAttributeFunctionIndex, size);
}

static LLVMValueRef thread_of(RefBuilder *r)
{
    const char *const *name = (const char *const[][2]){
        { "llvm.nvvm.read.ptx.sreg.ctaid.x", "llvm.nvvm.read.ptx.sreg.tid.x" },
        { "llvm.amdgcn.workgroup.id.x", "llvm.amdgcn.workitem.id.x" }
    }[r->amd];
    LLVMValueRef block = special_register(r, name[0]),
                 size = r->amd ? ws_ref_int(r, AMD_BLOCK)
                               : special_register(r, "llvm.nvvm.read.ptx.sreg.ntid.x");
    return LLVMBuildAdd(r->b, LLVMBuildMul(r->b, block, size, ""), special_register(r, name[1]),
                        "");
}

static void build_kernel(RefBuilder *r, guint tensor, RefFunction *f)
{
    guint real = r->p->n_tensors + r->n_sizes, n = real + r->n_scalars + r->n_pitches, i;
    g_autofree LLVMTypeRef *type = g_new(LLVMTypeRef, n + 3);
    LLVMBasicBlockRef body, done;
    LLVMValueRef id, count, flat, v, bad;
    for (i = 0; i < n + 3; i++)
        type[i] = i >= real && i < real + r->n_scalars ? r->f32 : r->i64;
    r->fn = LLVMAddFunction(r->module, "warpstave_reference",
                            LLVMFunctionType(r->nothing, type, n + 3, FALSE));
    LLVMSetFunctionCallConv(r->fn, r->amd ? AMDGPU_KERNEL : PTX_KERNEL);
    if (r->amd)
        set_block(r);
    LLVMPositionBuilderAtEnd(r->b, ws_ref_block(r, "entry"));
    build_env(r);
    id = thread_of(r);
    count = LLVMGetParam(r->fn, n + 2);
    body = ws_ref_block(r, "body");
    done = ws_ref_block(r, "done");
    LLVMBuildCondBr(r->b, LLVMBuildICmp(r->b, LLVMIntSLT, id, count, ""), body, done);
    LLVMPositionBuilderAtEnd(r->b, body);
    flat = LLVMBuildLoad2(r->b, r->i64, global_element(r, r->i64, LLVMGetParam(r->fn, n), id), "");
    v = build_element(r, tensor, f, flat);
    bad = LLVMBuildLoad2(r->b, r->i64, ws_ref_slot_address(r, r->flags_slot), "");
    bad = LLVMBuildICmp(r->b, LLVMIntNE, bad, ws_ref_int(r, 0), "");
    v = LLVMBuildSelect(r->b, bad, LLVMConstRealOfString(r->f64, "nan"), v, "");
    LLVMBuildStore(r->b, v, global_element(r, r->f64, LLVMGetParam(r->fn, n + 1), id));
    LLVMBuildBr(r->b, done);
    LLVMPositionBuilderAtEnd(r->b, done);
    LLVMBuildRetVoid(r->b);
}

static char *emit_ptx(LLVMModuleRef module, GError **error)
{
    LLVMTargetMachineRef machine = ws_llvm_machine(error);
    char *message = NULL;
    g_autoptr(GBytes) text = NULL;
    if (!machine)
        return NULL;
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeTargetData(layout);
    LLVMSetTarget(module, "nvptx64-nvidia-cuda");
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
        g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_INTERNAL,
                    "reference module does not verify: %s", message);
    else if (ws_llvm_passes(module, "default<O2>", machine, "passes", error))
        text = ws_llvm_emit(module, machine, LLVMAssemblyFile, "PTX", error);
    LLVMDisposeMessage(message);
    LLVMDisposeTargetMachine(machine);
    return text ? g_strndup(g_bytes_get_data(text, NULL), g_bytes_get_size(text)) : NULL;
}

/* The kernel of one output, for NVPTX or AMD; whoever gets the module disposes of it. */
static LLVMModuleRef kernel_module(const WsProgram *p, guint tensor, gboolean amd,
                                   LLVMContextRef context, GError **error)
{
    if (tensor >= p->n_tensors || !ws_tensor_is_output(&p->tensor[tensor])) {
        g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP,
                    "tensor %u is no output: it has no reference", tensor);
        return NULL;
    }
    RefBuilder *r = ws_ref_builder_new(p, context, "reference", FALSE);
    LLVMModuleRef module = r->module;
    r->amd = amd;
    RefFunction *f =
        !amd || ws_amd_target(module, error) ? output_function(r, tensor, error) : NULL;
    if (f)
        build_kernel(r, tensor, f);
    else
        LLVMDisposeModule(module);
    ws_ref_builder_free(r);
    return f ? module : NULL;
}

char *ws_generate_reference_ptx(const WsProgram *p, guint tensor, GError **error)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = kernel_module(p, tensor, FALSE, context, error);
    char *text = module ? emit_ptx(module, error) : NULL;
    if (module)
        LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return text;
}

GBytes *ws_generate_reference_amd(const WsProgram *p, guint tensor, GError **error)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = kernel_module(p, tensor, TRUE, context, error);
    char *message = NULL;
    g_autoptr(GBytes) object = NULL;
    if (module && LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
        g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_INTERNAL,
                    "reference module does not verify: %s", message);
    else if (module)
        object = ws_amd_compile_by(module, "default<O2>", WS_CODE_OBJECT_VERSION, FALSE, error);
    LLVMDisposeMessage(message);
    if (module)
        LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return object ? ws_code_object_link(object, error) : NULL;
}
