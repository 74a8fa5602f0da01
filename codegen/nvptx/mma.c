/* wgmma: descriptors, one asm per instruction, waits that tie the registers they release. */
#include "codegen/facts.h"
#include "codegen/nvptx/emit.h"
#include "codegen/nvptx/fragment.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"

/* --- registers of values ---------------------------------------------------------------------- */

static gboolean packed(WsDtype t)
{
    return ws_dtype_bytes(t) < 4;
}

/* Device: a cell per register, so that LLVM makes each an SSA value. Host: one array, whose address
 * the wgmma of the rehearsal takes. */
void ws_regs_new(WsEmit *e, const WsAgent *a)
{
    g_autofree gboolean *quads = e->kind ? NULL : ws_quads(e->p, a);
    e->regs = g_new0(WsRegs, MAX(a->n_values, 1));
    for (guint v = 0; v < a->n_values; v++) {
        const WsRegValue *value = &a->value[v];
        WsRegs *r = &e->regs[v];
        r->n = value->registers;
        r->quads = quads && quads[v];
        r->type = packed(value->dtype) || value->dtype == WS_DTYPE_I32 ? e->i32 : e->f32;
        r->cell = g_new0(LLVMValueRef, MAX(r->n, 1));
        r->apart = !e->host && ws_fact_meets_in_flight(e->p, a, v);
        LLVMTypeRef array = LLVMArrayType2(r->type, MAX(r->n, 1));
        LLVMValueRef all = e->host ? ws_cell(e, array, value->name) : NULL;
        for (guint i = 0; i < r->n; i++) {
            g_autofree char *name = g_strdup_printf("%s.%u", value->name, i);
            LLVMValueRef at = LLVMConstInt(e->i64, i, 0);
            r->cell[i] = e->host ? LLVMBuildInBoundsGEP2(e->entry, r->type, all, &at, 1, name)
                                 : ws_cell(e, r->type, name);
        }
    }
}

void ws_regs_free(WsEmit *e, const WsAgent *a)
{
    for (guint v = 0; v < a->n_values; v++)
        g_free(e->regs[v].cell);
    g_clear_pointer(&e->regs, g_free);
}

LLVMValueRef ws_reg_get(WsEmit *e, guint value, guint i)
{
    if (i >= e->regs[value].n) {
        ws_emit_internal_error(e, "register %u of %s", i, e->agent->value[value].name);
        return LLVMGetUndef(e->regs[value].type);
    }
    return ws_load(e, e->regs[value].type, e->regs[value].cell[i], "");
}

static void put(WsEmit *e, guint value, guint i, LLVMValueRef v)
{
    if (i < e->regs[value].n)
        LLVMBuildStore(e->b, v, e->regs[value].cell[i]);
    else
        ws_emit_internal_error(e, "register %u of %s", i, e->agent->value[value].name);
}

/* Where paths meet of which one has the value in flight, LLVM joins its registers by copies unless
 * they are the same on all paths. A constant that all accumulators share is one register of them,
 * and then they differ: a copy would read what is in flight. */
void ws_reg_set(WsEmit *e, guint value, guint i, LLVMValueRef v)
{
    if (e->regs[value].apart && LLVMIsConstant(v) && e->op && ws_fact_begins_sum(e->op, value)) {
        LLVMTypeRef type = e->regs[value].type;
        LLVMValueRef own = ws_prim(e, WS_PRIM_MOV32, LLVMBuildBitCast(e->b, v, e->i32, ""));
        v = LLVMBuildBitCast(e->b, own, type, "");
    }
    put(e, value, i, v);
}

/* --- descriptors -------------------------------------------------------------------------------*/

/* Swizzle code in bits 62-63. */
static guint64 swizzle_code(guint bytes)
{
    return bytes == 128 ? 1 : bytes == 64 ? 2 : bytes == 32 ? 3 : 0;
}

/* Descriptor of the operand's first instruction. The base goes through an opaque move inside the
 * loop: otherwise LLVM hoists every sum of base and step into a register of its own. */
static LLVMValueRef descriptor(WsEmit *e, const WsMmaOperand *o, const WsAccess *a)
{
    LLVMValueRef at = ws_stage_address(e, a);
    if (o->start >= 0)
        at = ws_add(e, at, o->start);
    else
        at = LLVMBuildAdd(e->b, at, ws_view_offset(e, a, 0, 0), "");
    /* In a cluster the address of a shared variable carries the CTA's rank from bit 24 on, which
     * would land in the leading offset: no matter for K-major operands, wrong for all others. */
    if (e->p->cluster > 1)
        at = LLVMBuildAnd(e->b, at, ws_i32(e, 0x3ffff), "");
    LLVMValueRef low = LLVMBuildLShr(e->b, at, ws_i32(e, 4), "");
    guint64 fixed = swizzle_code(o->swizzle) << 62 | (guint64)(o->stride >> 4 & 0x3fff) << 32 |
                    (guint64)(o->leading >> 4 & 0x3fff) << 16;
    LLVMValueRef d = LLVMBuildOr(e->b, LLVMBuildZExt(e->b, low, e->i64, ""),
                                 LLVMConstInt(e->i64, fixed, 0), "descriptor");
    return e->host ? d : ws_prim(e, WS_PRIM_MOV64, d);
}

static LLVMValueRef step_descriptor(WsEmit *e, LLVMValueRef base, const WsMmaOperand *o, guint atom,
                                    guint k)
{
    guint64 by = ((guint64)atom * o->atom_step + o->k_offset[k]) >> 4;
    return by ? LLVMBuildAdd(e->b, base, LLVMConstInt(e->i64, by, 0), "") : base;
}

/* --- instructions ------------------------------------------------------------------------------*/

static const char *ptx_type(WsDtype t)
{
    static const char *const text[WS_DTYPE_COUNT] = {
        [WS_DTYPE_F32] = "f32",   [WS_DTYPE_F16] = "f16",   [WS_DTYPE_BF16] = "bf16",
        [WS_DTYPE_TF32] = "tf32", [WS_DTYPE_E4M3] = "e4m3", [WS_DTYPE_E5M2] = "e5m2",
        [WS_DTYPE_I8] = "s8",     [WS_DTYPE_U8] = "u8",     [WS_DTYPE_I32] = "s32",
    };
    return text[t];
}

typedef struct {
    const WsMma *m;
    WsWgmmaScale scale;
    guint regs;  /* accumulator registers of one instruction */
    guint first; /* first of them in the value */
    guint value;
    LLVMTypeRef type;
    gboolean a_regs;
} Instruction;

char *ws_wgmma_text(const WsMma *m, guint regs, WsWgmmaScale scale, gboolean a_regs,
                    gboolean tied_apart)
{
    GString *s = g_string_new(NULL);
    /* operands: results, then (unless the accumulator starts at 0) the tied inputs, then A, B */
    guint at = regs * (scale != WS_WGMMA_ZERO && tied_apart ? 2 : 1);
    guint p_at = at + (a_regs ? 4 : 1) + 1;
    if (scale == WS_WGMMA_RUN)
        g_string_append_printf(s, "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, $%u, 0;\n\t", p_at);
    g_string_append_printf(s, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s {", m->n, m->inst_k,
                           ptx_type(m->acc_type), ptx_type(m->a_type), ptx_type(m->b_type));
    for (guint i = 0; i < regs; i++)
        g_string_append_printf(s, "%s$%u", i ? ", " : "", i);
    if (a_regs)
        g_string_append_printf(s, "}, {$%u, $%u, $%u, $%u}, $%u, ", at, at + 1, at + 2, at + 3,
                               at + 4);
    else
        g_string_append_printf(s, "}, $%u, $%u, ", at, at + 1);
    g_string_append(s, scale == WS_WGMMA_ZERO ? "0" : scale == WS_WGMMA_ONE ? "1" : "p");
    gboolean integer = m->acc_type == WS_DTYPE_I32;
    if (!integer)
        g_string_append(s, ", 1, 1");
    if (m->a_type == WS_DTYPE_F16 || m->a_type == WS_DTYPE_BF16) {
        if (!a_regs)
            g_string_append_printf(s, ", %d", m->a.transposed);
        g_string_append_printf(s, ", %d", m->b.transposed);
    }
    g_string_append(s, scale == WS_WGMMA_RUN ? ";\n\t}" : ";");
    return g_string_free(s, FALSE);
}

/* Results "=f" (early clobber when nothing ties them), tied inputs, descriptors, predicate. */
static char *instruction_constraints(const Instruction *in, gboolean real)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < in->regs; i++)
        g_string_append_printf(s, "%s=%s%s", i ? "," : "", in->scale == WS_WGMMA_ZERO ? "&" : "",
                               real ? "f" : "r");
    for (guint i = 0; i < in->regs && in->scale != WS_WGMMA_ZERO; i++)
        g_string_append_printf(s, ",%u", i);
    g_string_append(s, in->a_regs ? ",r,r,r,r,l" : ",l,l");
    if (in->scale == WS_WGMMA_RUN)
        g_string_append(s, ",r");
    return g_string_free(s, FALSE);
}

/* Struct of n registers; one register is a plain value. */
static LLVMTypeRef bundle(WsEmit *e, LLVMTypeRef type, guint n)
{
    g_autofree LLVMTypeRef *all = g_new(LLVMTypeRef, n);
    for (guint i = 0; i < n; i++)
        all[i] = type;
    return LLVMStructTypeInContext(e->ctx, all, n, 0);
}

static void issue(WsEmit *e, const Instruction *in, LLVMValueRef *a, LLVMValueRef b,
                  LLVMValueRef scale)
{
    g_autoptr(GArray) arg = g_array_new(FALSE, FALSE, sizeof(LLVMValueRef));
    g_autoptr(GArray) type = g_array_new(FALSE, FALSE, sizeof(LLVMTypeRef));
    for (guint i = 0; i < in->regs && in->scale != WS_WGMMA_ZERO; i++) {
        LLVMValueRef v = ws_reg_get(e, in->value, in->first + i);
        g_array_append_val(arg, v);
    }
    g_array_append_vals(arg, a, in->a_regs ? 4 : 1);
    g_array_append_val(arg, b);
    if (in->scale == WS_WGMMA_RUN)
        g_array_append_val(arg, scale);
    for (guint i = 0; i < arg->len; i++) {
        LLVMTypeRef t = LLVMTypeOf(g_array_index(arg, LLVMValueRef, i));
        g_array_append_val(type, t);
    }
    LLVMTypeRef returns = bundle(e, in->type, in->regs);
    g_autofree char *text = ws_wgmma_text(in->m, in->regs, in->scale, in->a_regs, TRUE);
    g_autofree char *constraints = instruction_constraints(in, in->type == e->f32);
    LLVMValueRef r =
        ws_prim_asm(e, LLVMFunctionType(returns, (LLVMTypeRef *)type->data, type->len, 0), text,
                    constraints, arg->len, (LLVMValueRef *)arg->data);
    for (guint i = 0; i < in->regs; i++)
        put(e, in->value, in->first + i, LLVMBuildExtractValue(e->b, r, i, ""));
}

static void issue_host(WsEmit *e, const Instruction *in, LLVMValueRef *a, LLVMValueRef b,
                       LLVMValueRef scale)
{
    const WsMma *m = in->m;
    LLVMValueRef zero = LLVMConstInt(e->i64, 0, 0), a_regs = zero, a_desc = a[0];
    if (in->a_regs) {
        LLVMValueRef array = ws_cell(e, LLVMArrayType2(e->i32, 4), "a.regs");
        for (guint i = 0; i < 4; i++) {
            LLVMValueRef at = LLVMConstInt(e->i64, i, 0);
            LLVMBuildStore(e->b, a[i], LLVMBuildInBoundsGEP2(e->b, e->i32, array, &at, 1, ""));
        }
        a_regs = LLVMBuildPtrToInt(e->b, array, e->i64, "");
        a_desc = zero;
    }
    LLVMValueRef acc = LLVMBuildPtrToInt(e->b, e->regs[in->value].cell[in->first], e->i64, "");
    LLVMValueRef s = in->scale == WS_WGMMA_RUN ? scale : ws_i32(e, in->scale == WS_WGMMA_ONE);
    ws_prim(e, WS_PRIM_HOST_WGMMA, acc, a_regs, a_desc, b, ws_i32(e, m->n), ws_i32(e, m->a_type),
            ws_i32(e, m->b_type), ws_i32(e, m->acc_type), s, ws_i32(e, m->a.transposed),
            ws_i32(e, m->b.transposed));
}

/* --- the step --------------------------------------------------------------------------------- */

/* Registers of a 64-row atom of a value: 32-bit, or two 16-bit or four 8-bit elements in one. */
static guint atom_regs(const WsRegValue *v, guint cols)
{
    return cols * ws_dtype_bytes(v->dtype) / 8;
}

/* First register of (row0, col0) of a value in accumulator layout. */
static gboolean first_register(WsEmit *e, const WsValueUse *u, guint *at)
{
    const WsRegValue *v = &e->agent->value[u->value];
    WsUniform zero = ws_uniform_const(e, 0);
    WsUniform r = u->row0 ? ws_uniform(e, u->row0) : zero,
              c = u->col0 ? ws_uniform(e, u->col0) : zero;
    gint64 row, col;
    if (!ws_uniform_known(&r, &row) || !ws_uniform_known(&c, &col) || row < 0 || col < 0 ||
        row % 64 || col % (ws_dtype_bytes(v->dtype) == 1 ? 16 : 8) ||
        v->layout != WS_LAYOUT_ACCUMULATOR)
        return FALSE;
    *at = (guint)(row / 64) * atom_regs(v, v->cols) + atom_regs(v, (guint)col);
    return TRUE;
}

static WsWgmmaScale scale_of(WsEmit *e, const WsOp *op, LLVMValueRef *run)
{
    const WsMma *m = op->mma;
    if (!m->first)
        return WS_WGMMA_ONE;
    WsUniform first = ws_uniform_truth(e, ws_uniform(e, m->first));
    gint64 known;
    if (ws_uniform_known(&first, &known) && known && !e->host && ws_fact_sum_stays(e->agent, op)) {
        *run = ws_prim(e, WS_PRIM_MOV32, ws_i32(e, 0)); /* 0, and nobody can know: one place */
        return WS_WGMMA_RUN;
    }
    if (ws_uniform_known(&first, &known))
        return known ? WS_WGMMA_ZERO : WS_WGMMA_ONE;
    LLVMValueRef on = LLVMBuildICmp(e->b, LLVMIntEQ, first.v, ws_i32(e, 0), "");
    *run = LLVMBuildZExt(e->b, on, e->i32, "");
    return WS_WGMMA_RUN;
}

/* Sums that were made of the partial sum pass through an empty asm: what is drawn before the
 * product stays there. LLVM sinks them behind it otherwise, with a copy of the partial sum. */
static void pin_sums(WsEmit *e, const WsOp *op)
{
    g_autoptr(GString) constraints = g_string_new(NULL);
    g_autoptr(GArray) arg = g_array_new(FALSE, FALSE, sizeof(LLVMValueRef));
    g_autoptr(GArray) type = g_array_new(FALSE, FALSE, sizeof(LLVMTypeRef));
    g_autoptr(GArray) from = g_array_new(FALSE, FALSE, sizeof(guint)); /* value, register */
    for (guint v = 0; v < e->agent->n_values; v++) {
        if (e->regs[v].type != e->f32 || !ws_fact_sum_before(e->agent, op, v))
            continue;
        for (guint i = 0; i < e->regs[v].n; i++) {
            LLVMValueRef r = ws_reg_get(e, v, i);
            g_array_append_val(arg, r);
            g_array_append_val(type, e->regs[v].type);
            g_array_append_val(from, v);
            g_array_append_val(from, i);
            g_string_append(constraints, constraints->len ? ",=f" : "=f");
        }
    }
    if (arg->len < 2)
        return;
    for (guint i = 0; i < arg->len; i++)
        g_string_append_printf(constraints, ",%u", i);
    LLVMTypeRef all = LLVMStructTypeInContext(e->ctx, (LLVMTypeRef *)type->data, type->len, 0);
    LLVMValueRef r = ws_prim_asm(e, LLVMFunctionType(all, (LLVMTypeRef *)type->data, type->len, 0),
                                 "", constraints->str, arg->len, (LLVMValueRef *)arg->data);
    for (guint i = 0; i < arg->len; i++)
        put(e, g_array_index(from, guint, 2 * i), g_array_index(from, guint, 2 * i + 1),
            LLVMBuildExtractValue(e->b, r, i, ""));
}

void ws_mma_step(WsEmit *e, const WsOp *op)
{
    const WsMma *m = op->mma;
    guint b_at = m->a.in_registers ? 0 : 1, first, a_first = 0;
    const WsRegValue *acc = &e->agent->value[op->value[0].value];
    if (op->n_access <= b_at || !first_register(e, &op->value[0], &first) ||
        (m->a.in_registers &&
         (ws_dtype_bytes(m->a_type) > 2 || !first_register(e, &op->value[1], &a_first)))) {
        ws_emit_step_error(e, op, "operands of this form");
        return;
    }
    LLVMValueRef run = NULL, a[4], a_base = NULL;
    Instruction in = { .m = m,
                       .regs = atom_regs(acc, m->n),
                       .value = op->value[0].value,
                       .type = e->regs[op->value[0].value].type,
                       .a_regs = m->a.in_registers };
    WsWgmmaScale scale = scale_of(e, op, &run);
    if (!e->host && ws_fact_sum_stays(e->agent, op))
        pin_sums(e, op);
    if (!m->a.in_registers)
        a_base = descriptor(e, &m->a, &op->access[0]);
    LLVMValueRef b_base = descriptor(e, &m->b, &op->access[b_at]);
    for (guint k = 0; k < m->b.n_k; k++) {
        for (guint atom = 0; atom < m->atoms; atom++) {
            in.scale = k == 0 ? scale : WS_WGMMA_ONE;
            in.first = first + atom * atom_regs(acc, acc->cols);
            if (m->a.in_registers) {
                const WsRegValue *av = &e->agent->value[op->value[1].value];
                guint at = a_first + atom * atom_regs(av, av->cols) + 4 * k;
                for (guint i = 0; i < 4; i++)
                    a[i] = ws_reg_get(e, op->value[1].value, at + i);
            } else {
                a[0] = step_descriptor(e, a_base, &m->a, atom, k);
            }
            LLVMValueRef b = step_descriptor(e, b_base, &m->b, 0, k);
            (e->host ? issue_host : issue)(e, &in, a, b, run);
            if (k == 0 && atom + 1 == m->atoms)
                ws_record_shadow(e, op);
        }
    }
}

/* --- fences and waits --------------------------------------------------------------------------*/

/* The instruction `text`, through which the registers of `which` pass ([value] of [register] or
 * NULL; both are freed): nothing that makes them is moved below it, nothing that reads them above.
 */
static void pass_through(WsEmit *e, const char *text, gboolean **which)
{
    const guint n_values = e->agent->n_values;
    g_autoptr(GArray) arg = g_array_new(FALSE, FALSE, sizeof(LLVMValueRef));
    g_autoptr(GArray) type = g_array_new(FALSE, FALSE, sizeof(LLVMTypeRef));
    g_autoptr(GString) constraints = g_string_new(NULL);
    for (guint v = 0; v < n_values; v++) {
        for (guint i = 0; which[v] && i < e->regs[v].n; i++) {
            if (!which[v][i])
                continue;
            LLVMValueRef r = ws_reg_get(e, v, i);
            g_array_append_val(arg, r);
            g_array_append_val(type, e->regs[v].type);
            g_string_append_printf(constraints, "%s=%s", constraints->len ? "," : "",
                                   e->regs[v].type == e->f32 ? "f" : "r");
        }
    }
    for (guint i = 0; i < arg->len; i++)
        g_string_append_printf(constraints, ",%u", i);
    LLVMTypeRef all = LLVMStructTypeInContext(e->ctx, (LLVMTypeRef *)type->data, type->len, 0);
    LLVMTypeRef fn = LLVMFunctionType(all, (LLVMTypeRef *)type->data, type->len, 0);
    LLVMValueRef r =
        ws_prim_asm(e, fn, text, constraints->str, arg->len, (LLVMValueRef *)arg->data);
    guint at = 0;
    for (guint v = 0; v < n_values; v++) {
        for (guint i = 0; which[v] && i < e->regs[v].n; i++) {
            if (which[v][i])
                put(e, v, i, LLVMBuildExtractValue(e->b, r, at++, ""));
        }
        g_free(which[v]);
    }
    g_free(which);
}

static gboolean begins_anew(gpointer e, const WsOp *product)
{
    LLVMValueRef run;
    return scale_of(e, product, &run) == WS_WGMMA_ZERO;
}

void ws_mma_fence(WsEmit *e, const WsOp *op)
{
    const guint n_values = e->host ? 0 : e->agent->n_values;
    gboolean **fenced = g_new0(gboolean *, n_values + 1), any = FALSE;
    for (guint v = 0; v < n_values; v++) {
        fenced[v] = ws_fact_fenced(e->p, e->agent, op, v, begins_anew, e);
        any = any || fenced[v];
    }
    if (any) {
        pass_through(e, "wgmma.fence.sync.aligned;", fenced);
        return;
    }
    g_free(fenced);
    ws_prim_call(e, WS_PRIM_WGMMA_FENCE, 0, NULL, 0, NULL);
}

void ws_mma_wait(WsEmit *e, const WsOp *op)
{
    const guint n_values = e->host ? 0 : e->agent->n_values;
    guint32 n = (guint32)op->n;
    gboolean **freed = g_new0(gboolean *, n_values + 1), any = FALSE;
    for (guint v = 0; v < n_values; v++) {
        freed[v] = ws_fact_freed(e->p, e->agent, op, v);
        any = any || freed[v];
    }
    if (any) {
        g_autofree char *text = g_strdup_printf("wgmma.wait_group.sync.aligned %u;", n);
        pass_through(e, text, freed);
        return;
    }
    g_free(freed);
    ws_prim_call(e, WS_PRIM_WGMMA_WAIT, 0, NULL, 1, &n);
}
