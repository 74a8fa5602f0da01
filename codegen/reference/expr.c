/* Nodes of the reference -> IR. */
#include "codegen/reference/internal.h"
#include "codegen/word.h"
#include "program/parts/variable.h"

LLVMValueRef ws_ref_int(RefBuilder *r, gint64 value)
{
    return LLVMConstInt(r->i64, (guint64)value, TRUE);
}

RefValue ws_ref_convert(RefBuilder *r, RefValue v, WsFormulaKind kind)
{
    RefValue out = { kind, v.v };
    if (v.kind == kind)
        return out;
    if (kind == WS_FORMULA_BOOL)
        out.v = v.kind == WS_FORMULA_INT
                    ? LLVMBuildICmp(r->b, LLVMIntNE, v.v, ws_ref_int(r, 0), "")
                    : LLVMBuildFCmp(r->b, LLVMRealUNE, v.v, LLVMConstReal(r->f64, 0), "");
    else if (kind == WS_FORMULA_INT)
        out.v = v.kind == WS_FORMULA_BOOL ? LLVMBuildZExt(r->b, v.v, r->i64, "")
                                          : LLVMBuildFPToSI(r->b, v.v, r->i64, "");
    else
        out.v = v.kind == WS_FORMULA_BOOL ? LLVMBuildUIToFP(r->b, v.v, r->f64, "")
                                          : LLVMBuildSIToFP(r->b, v.v, r->f64, "");
    return out;
}

LLVMValueRef ws_ref_memory(RefBuilder *r, LLVMTypeRef type, const char *name)
{
    /* AMDGPU's stack is in an address space of its own. */
    return LLVMBuildAddrSpaceCast(r->b, LLVMBuildAlloca(r->b, type, name), r->ptr, "");
}

LLVMBasicBlockRef ws_ref_block(RefBuilder *r, const char *name)
{
    return LLVMAppendBasicBlockInContext(r->context, r->fn, name);
}

LLVMValueRef ws_ref_intrinsic(RefBuilder *r, const char *name, LLVMValueRef *arg, guint n)
{
    LLVMTypeRef over = LLVMTypeOf(arg[0]);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(r->module, id, &over, 1);
    return LLVMBuildCall2(r->b, LLVMIntrinsicGetType(r->context, id, &over, 1), fn, arg, n, "");
}

LLVMValueRef ws_ref_slot_address(RefBuilder *r, guint slot)
{
    LLVMValueRef at = LLVMConstInt(r->i64, slot, FALSE);
    return LLVMBuildInBoundsGEP2(r->b, r->i64, r->env, &at, 1, "");
}

LLVMValueRef ws_ref_slot(RefBuilder *r, guint slot, LLVMTypeRef type)
{
    LLVMValueRef load = LLVMBuildLoad2(r->b, type, ws_ref_slot_address(r, slot), "");
    unsigned kind = LLVMGetMDKindIDInContext(r->context, "invariant.load", 14);
    LLVMMetadataRef node = LLVMMDNodeInContext2(r->context, NULL, 0);
    if (r->host) /* on the GPU env is filled in the kernel itself */
        LLVMSetMetadata(load, kind, LLVMMetadataAsValue(r->context, node));
    return load;
}

void ws_ref_flag_if(RefBuilder *r, LLVMValueRef condition, guint bit)
{
    LLVMBasicBlockRef set, on;
    LLVMValueRef at, old;
    if (LLVMIsAConstantInt(condition) && LLVMConstIntGetZExtValue(condition) == 0)
        return;
    set = ws_ref_block(r, "flag");
    on = ws_ref_block(r, "on");
    LLVMBuildCondBr(r->b, condition, set, on);
    LLVMPositionBuilderAtEnd(r->b, set);
    at = ws_ref_slot_address(r, r->flags_slot);
    old = LLVMBuildLoad2(r->b, r->i64, at, "");
    LLVMBuildStore(r->b, LLVMBuildOr(r->b, old, ws_ref_int(r, bit), ""), at);
    LLVMBuildBr(r->b, on);
    LLVMPositionBuilderAtEnd(r->b, on);
}

/* --- leaves ------------------------------------------------------------------------------------
 */
static RefValue emit_number(RefBuilder *r, const WsFormula *e)
{
    if (e->kind == WS_FORMULA_REAL)
        return (RefValue){ e->kind, LLVMConstReal(r->f64, e->x->r) };
    return (RefValue){ e->kind, e->kind == WS_FORMULA_INT
                                    ? ws_ref_int(r, e->x->i)
                                    : LLVMConstInt(r->i1, e->x->i != 0, FALSE) };
}

static RefValue emit_variable(RefBuilder *r, const WsFormula *e)
{
    if (e->n_arg > 0) /* a run name */
        return ws_ref_convert(r, ws_ref_emit(r, e->arg[0]), e->kind);
    return (RefValue){ e->kind, ws_ref_slot(r, r->slot[e->index],
                                            e->kind == WS_FORMULA_REAL ? r->f64 : r->i64) };
}

/* --- operators ----------------------------------------------------------------------------------
 */
/* Floor division and its remainder. A zero divisor sets a flag and counts as 1. */
static LLVMValueRef floor_divide(RefBuilder *r, LLVMValueRef a, LLVMValueRef b, gboolean remainder)
{
    LLVMValueRef nought = ws_ref_int(r, 0), one = ws_ref_int(r, 1), minus, q, m, safe, off, bad;
    LLVMValueRef by_zero = LLVMBuildICmp(r->b, LLVMIntEQ, b, nought, "");
    ws_ref_flag_if(r, by_zero, WS_REF_DIVIDE);
    minus = LLVMBuildICmp(r->b, LLVMIntEQ, b, ws_ref_int(r, -1), "");
    bad = LLVMBuildOr(r->b, by_zero, minus, "");
    safe = LLVMBuildSelect(r->b, bad, one, b, "");
    q = LLVMBuildSDiv(r->b, a, safe, "");
    m = LLVMBuildSub(r->b, a, LLVMBuildMul(r->b, q, safe, ""), "");
    off = LLVMBuildAnd(r->b, LLVMBuildICmp(r->b, LLVMIntNE, m, nought, ""),
                       LLVMBuildICmp(r->b, LLVMIntSLT, LLVMBuildXor(r->b, m, safe, ""), nought, ""),
                       "");
    if (remainder)
        return LLVMBuildSelect(r->b, off, LLVMBuildAdd(r->b, m, safe, ""), m, "");
    q = LLVMBuildSelect(r->b, off, LLVMBuildSub(r->b, q, one, ""), q, "");
    return LLVMBuildSelect(r->b, minus, LLVMBuildNeg(r->b, a, ""), q, "");
}

static RefValue arithmetic(RefBuilder *r, WsExprOp op, RefValue a, RefValue b)
{
    static const LLVMOpcode of[][2] = {
        { LLVMAdd, LLVMFAdd }, { LLVMSub, LLVMFSub }, { LLVMMul, LLVMFMul }, { LLVMSDiv, LLVMFDiv }
    };
    const WsFormulaKind kind = MAX(WS_FORMULA_INT, MAX(a.kind, b.kind));
    const gboolean real = kind == WS_FORMULA_REAL;
    a = ws_ref_convert(r, a, kind);
    b = ws_ref_convert(r, b, kind);
    if (!real && (op == WS_EXPR_DIV || op == WS_EXPR_MOD))
        return (RefValue){ kind, floor_divide(r, a.v, b.v, op == WS_EXPR_MOD) };
    if (op != WS_EXPR_MOD)
        return (RefValue){ kind, LLVMBuildBinOp(r->b, of[op - WS_EXPR_ADD][real], a.v, b.v, "") };
    LLVMValueRef q = LLVMBuildFDiv(r->b, a.v, b.v, ""); /* a - b floor(a/b) */
    q = ws_ref_intrinsic(r, "llvm.floor", &q, 1);
    return (RefValue){ kind, LLVMBuildFSub(r->b, a.v, LLVMBuildFMul(r->b, b.v, q, ""), "") };
}

static RefValue compare(RefBuilder *r, WsExprOp op, RefValue a, RefValue b)
{
    static const struct {
        LLVMIntPredicate i;
        LLVMRealPredicate f;
    } table[] = {
        { LLVMIntSLT, LLVMRealOLT }, { LLVMIntSLE, LLVMRealOLE }, { LLVMIntSGT, LLVMRealOGT },
        { LLVMIntSGE, LLVMRealOGE }, { LLVMIntEQ, LLVMRealOEQ },  { LLVMIntNE, LLVMRealUNE },
    };
    WsFormulaKind kind = MAX(WS_FORMULA_INT, MAX(a.kind, b.kind));
    guint row = op - WS_EXPR_LT;
    a = ws_ref_convert(r, a, kind);
    b = ws_ref_convert(r, b, kind);
    return (RefValue){ WS_FORMULA_BOOL, kind == WS_FORMULA_REAL
                                            ? LLVMBuildFCmp(r->b, table[row].f, a.v, b.v, "")
                                            : LLVMBuildICmp(r->b, table[row].i, a.v, b.v, "") };
}

/* condition ? yes : no, evaluating one of the two. NULL stands for the constants true and false. */
static RefValue choose(RefBuilder *r, const WsFormula *condition, const WsFormula *yes,
                       const WsFormula *no)
{
    LLVMBasicBlockRef then = ws_ref_block(r, "then"), other = ws_ref_block(r, "else");
    LLVMBasicBlockRef done = ws_ref_block(r, "done"), from[2];
    RefValue a = { WS_FORMULA_BOOL, LLVMConstInt(r->i1, 1, FALSE) };
    RefValue b = { WS_FORMULA_BOOL, LLVMConstInt(r->i1, 0, FALSE) };
    RefValue c = ws_ref_convert(r, ws_ref_emit(r, condition), WS_FORMULA_BOOL);
    gboolean logical = !yes || !no;
    LLVMValueRef phi, value[2];
    WsFormulaKind kind;
    LLVMBuildCondBr(r->b, c.v, then, other);
    LLVMPositionBuilderAtEnd(r->b, then);
    if (yes)
        a = ws_ref_emit(r, yes);
    from[0] = LLVMGetInsertBlock(r->b);
    LLVMPositionBuilderAtEnd(r->b, other);
    if (no)
        b = ws_ref_emit(r, no);
    kind = logical ? WS_FORMULA_BOOL : MAX(a.kind, b.kind);
    value[1] = ws_ref_convert(r, b, kind).v;
    from[1] = LLVMGetInsertBlock(r->b);
    LLVMBuildBr(r->b, done);
    LLVMPositionBuilderAtEnd(r->b, from[0]);
    value[0] = ws_ref_convert(r, a, kind).v;
    LLVMBuildBr(r->b, done);
    LLVMPositionBuilderAtEnd(r->b, done);
    phi = LLVMBuildPhi(r->b, LLVMTypeOf(value[0]), "");
    LLVMAddIncoming(phi, value, from, 2);
    return (RefValue){ kind, phi };
}

/* --- calls ---------------------------------------------------------------------------------------
 */
/* Of reals: NaN where one of the two is NaN, whichever it is, as in reductions. */
static RefValue smaller(RefBuilder *r, RefValue a, RefValue b, gboolean largest)
{
    RefValue c = compare(r, largest ? WS_EXPR_GT : WS_EXPR_LT, a, b);
    WsFormulaKind kind = MAX(WS_FORMULA_INT, MAX(a.kind, b.kind));
    a = ws_ref_convert(r, a, kind);
    b = ws_ref_convert(r, b, kind);
    if (kind == WS_FORMULA_REAL) /* b is taken where it is NaN, as the comparison is ordered */
        c.v = LLVMBuildOr(r->b, c.v, LLVMBuildFCmp(r->b, LLVMRealUNO, a.v, a.v, ""), "");
    return (RefValue){ kind, LLVMBuildSelect(r->b, c.v, a.v, b.v, "") };
}

static RefValue emit_pow2floor(RefBuilder *r, RefValue a)
{
    LLVMValueRef arg[2], n = ws_ref_convert(r, a, WS_FORMULA_INT).v, bits, power;
    LLVMValueRef below = LLVMBuildICmp(r->b, LLVMIntSLT, n, ws_ref_int(r, 1), "");
    arg[0] = LLVMBuildSelect(r->b, below, ws_ref_int(r, 1), n, "");
    arg[1] = LLVMConstInt(r->i1, 0, FALSE);
    bits = LLVMBuildSub(r->b, ws_ref_int(r, 63), ws_ref_intrinsic(r, "llvm.ctlz", arg, 2), "");
    power = LLVMBuildShl(r->b, ws_ref_int(r, 1), bits, "");
    return (RefValue){ WS_FORMULA_INT, LLVMBuildSelect(r->b, below, ws_ref_int(r, 0), power, "") };
}

static RefValue emit_cdiv(RefBuilder *r, const WsFormula *e)
{
    RefValue a = ws_ref_convert(r, ws_ref_emit(r, e->arg[0]), WS_FORMULA_INT);
    RefValue b = ws_ref_convert(r, ws_ref_emit(r, e->arg[1]), WS_FORMULA_INT);
    LLVMValueRef q = floor_divide(r, LLVMBuildNeg(r->b, a.v, ""), b.v, FALSE);
    return (RefValue){ WS_FORMULA_INT, LLVMBuildNeg(r->b, q, "") };
}

static RefValue emit_abs(RefBuilder *r, RefValue a)
{
    RefValue nought = { WS_FORMULA_INT, ws_ref_int(r, 0) },
             minus = arithmetic(r, WS_EXPR_SUB, nought, a);
    a = ws_ref_convert(r, a, minus.kind);
    if (a.kind == WS_FORMULA_REAL)
        return (RefValue){ WS_FORMULA_REAL, ws_ref_intrinsic(r, "llvm.fabs", &a.v, 1) };
    return smaller(r, a, minus, TRUE);
}

/* The low 32 bits, and back with their sign. */
static LLVMValueRef low(RefBuilder *r, const WsFormula *e)
{
    return LLVMBuildTrunc(r->b, ws_ref_convert(r, ws_ref_emit(r, e), WS_FORMULA_INT).v, r->i32, "");
}

static RefValue sign_extended(RefBuilder *r, LLVMValueRef v)
{
    return (RefValue){ WS_FORMULA_INT, LLVMBuildSExt(r->b, v, r->i64, "") };
}

static RefValue emit_call(RefBuilder *r, const WsFormula *e)
{
    const WsFunc func = e->x->func;
    RefValue a;
    LLVMValueRef v;
    guint i;
    if (func == WS_FUNC_SELECT)
        return choose(r, e->arg[0], e->arg[1], e->arg[2]);
    if (func == WS_FUNC_CDIV)
        return emit_cdiv(r, e);
    if (func == WS_FUNC_MIN || func == WS_FUNC_MAX) {
        a = ws_ref_emit(r, e->arg[0]);
        for (i = 1; i < e->n_arg; i++)
            a = smaller(r, a, ws_ref_emit(r, e->arg[i]), func == WS_FUNC_MAX);
        return a;
    }
    if (func == WS_FUNC_ABS)
        return emit_abs(r, ws_ref_emit(r, e->arg[0]));
    if (func == WS_FUNC_POW2FLOOR)
        return emit_pow2floor(r, ws_ref_emit(r, e->arg[0]));
    if (func == WS_FUNC_BITS) {
        v = ws_ref_convert(r, ws_ref_emit(r, e->arg[0]), WS_FORMULA_REAL).v;
        v = LLVMBuildFPTrunc(r->b, v, r->f32, "");
        return sign_extended(r, LLVMBuildBitCast(r->b, v, r->i32, ""));
    }
    if (func == WS_FUNC_FROM_BITS) {
        v = LLVMBuildBitCast(r->b, low(r, e->arg[0]), r->f32, "");
        return (RefValue){ WS_FORMULA_REAL, LLVMBuildFPExt(r->b, v, r->f64, "") };
    }
    if (ws_func_of_bits(func)) { /* those of i32, as in steps */
        LLVMValueRef x = low(r, e->arg[0]), y = low(r, e->arg[1]);
        return sign_extended(r, ws_word_operation(r->b, func, x, y));
    }
    a = ws_ref_convert(r, ws_ref_emit(r, e->arg[0]), WS_FORMULA_REAL);
    return (RefValue){ WS_FORMULA_REAL, ws_ref_math(r, func, a.v) };
}

static RefValue emit_operation(RefBuilder *r, const WsFormula *e)
{
    const WsExprOp op = e->x->op;
    RefValue a, b;
    if (op == WS_EXPR_CALL)
        return emit_call(r, e);
    if (op == WS_EXPR_AND)
        return choose(r, e->arg[0], e->arg[1], NULL);
    if (op == WS_EXPR_OR)
        return choose(r, e->arg[0], NULL, e->arg[1]);
    a = ws_ref_emit(r, e->arg[0]);
    if (op == WS_EXPR_NOT) {
        a = ws_ref_convert(r, a, WS_FORMULA_BOOL);
        return (RefValue){ WS_FORMULA_BOOL, LLVMBuildNot(r->b, a.v, "") };
    }
    if (op == WS_EXPR_NEG && a.kind == WS_FORMULA_REAL)
        return (RefValue){ WS_FORMULA_REAL, LLVMBuildFNeg(r->b, a.v, "") };
    if (op == WS_EXPR_NEG)
        return (RefValue){ WS_FORMULA_INT,
                           LLVMBuildNeg(r->b, ws_ref_convert(r, a, WS_FORMULA_INT).v, "") };
    b = ws_ref_emit(r, e->arg[1]);
    return op >= WS_EXPR_LT && op <= WS_EXPR_NE ? compare(r, op, a, b) : arithmetic(r, op, a, b);
}

RefValue ws_ref_emit(RefBuilder *r, const WsFormula *e)
{
    const RefHoist *hoist = r->hoisted ? g_hash_table_lookup(r->hoisted, e) : NULL;
    if (hoist)
        return ws_ref_hoisted(r, e, hoist);
    return ws_ref_evaluate(r, e);
}

RefValue ws_ref_evaluate(RefBuilder *r, const WsFormula *e)
{
    switch (e->form) {
    case WS_FORMULA_NUMBER:
        return emit_number(r, e);
    case WS_FORMULA_INDEX:
        return (RefValue){ WS_FORMULA_INT, r->scope->pdata[e->index] };
    case WS_FORMULA_VARIABLE:
        return emit_variable(r, e);
    case WS_FORMULA_ELEMENT:
    case WS_FORMULA_HELPER:
        return ws_ref_element(r, e);
    case WS_FORMULA_REDUCTION:
        return ws_ref_reduce(r, e, 0);
    case WS_FORMULA_OPERATION:
        break;
    }
    return emit_operation(r, e);
}
