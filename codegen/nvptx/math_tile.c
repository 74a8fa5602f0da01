/* One element of a typed node: what each operator and function of the array language becomes. */
#include "codegen/nvptx/math_node.h"
#include "codegen/word.h"

#include <string.h>

static LLVMValueRef real(WsEmit *e, double x)
{
    return LLVMConstReal(e->f32, x);
}

static LLVMValueRef intrinsic(WsEmit *e, const char *name, LLVMTypeRef type, guint n,
                              LLVMValueRef *arg)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, &type, 1);
    return LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->ctx, id, &type, 1), fn, arg, n, "");
}

LLVMValueRef ws_math_contract(LLVMValueRef v)
{
    if (LLVMIsAInstruction(v) && LLVMCanValueUseFastMathFlags(v))
        LLVMSetFastMathFlags(v, LLVMFastMathAllowContract);
    return v;
}

/* A NaN operand is ignored (f32). */
LLVMValueRef ws_math_max(WsEmit *e, LLVMValueRef a, LLVMValueRef b, gboolean max)
{
    if (LLVMTypeOf(a) == e->f32)
        return intrinsic(e, max ? "llvm.maxnum" : "llvm.minnum", e->f32, 2,
                         (LLVMValueRef[]){ a, b });
    LLVMValueRef first = LLVMBuildICmp(e->b, max ? LLVMIntSGT : LLVMIntSLT, a, b, "");
    return LLVMBuildSelect(e->b, first, a, b, "");
}

static gboolean known(WsMathNode *n, gint64 *value)
{
    return n->is->form == WS_ARRAY_UNIFORM && n->evaluated && ws_uniform_known(&n->u, value);
}

/* Constant of a condition that the build has decided: -1 not, else 0 or 1. */
static int decided(LLVMValueRef v)
{
    return LLVMIsAConstantInt(v) ? (int)LLVMConstIntGetZExtValue(v) : -1;
}

/* --- leaves ------------------------------------------------------------------------------------*/

static LLVMValueRef uniform(WsMath *m, WsMathNode *n)
{
    WsEmit *e = m->e;
    gint64 c;
    n->u = ws_uniform(e, n->is->x);
    if (n->is->kind == WS_MATH_BOOL)
        n->u = ws_uniform_truth(e, n->u);
    n->evaluated = TRUE;
    if (n->is->kind != WS_MATH_BOOL)
        return n->u.v;
    if (known(n, &c))
        return LLVMConstInt(e->i1, c != 0, 0);
    return LLVMBuildICmp(e->b, LLVMIntNE, n->u.v, ws_i32(e, 0), "");
}

/* Row or column number of a slot: a part of the lane, plus a constant. */
static LLVMValueRef lane_part(WsEmit *e, const WsMathNode *n, guint r, guint c, gint64 *constant)
{
    *constant = 0;
    if (n->is->form == WS_ARRAY_ROW && n->is->rows > 1) {
        LLVMValueRef lane = LLVMBuildLShr(e->b, e->lane, ws_i32(e, 2), "");
        LLVMValueRef warp = LLVMBuildShl(e->b, e->agent_warp, ws_i32(e, 4), "");
        *constant = r / 2 * 64 + r % 2 * 8;
        return LLVMBuildAdd(e->b, warp, lane, "");
    }
    if (n->is->form == WS_ARRAY_COL && n->is->cols > 1) {
        LLVMValueRef lane = LLVMBuildAnd(e->b, e->lane, ws_i32(e, 3), "");
        *constant = c / 2 * 8 + c % 2;
        return n->is->cols > 4 ? LLVMBuildShl(e->b, lane, ws_i32(e, 1), "") : lane;
    }
    return ws_i32(e, 0);
}

static LLVMValueRef place(WsMath *m, const WsMathNode *n, guint r, guint c)
{
    WsEmit *e = m->e;
    gint64 constant;
    if (e->kind)
        return n->is->form == WS_ARRAY_COL && n->is->cols > 1 ? e->kind->column(e, c)
                                                              : ws_i32(e, 0);
    if (m->linear) {
        WsFragment f = { .shape = WS_FRAGMENT_LINEAR,
                         .v = &m->lin,
                         .rows = m->lin.rows,
                         .cols = m->lin.cols,
                         .n = n->n_row,
                         .row = e->agent_tid };
        WsFragmentPlace p = ws_fragment_place(e, &f, r);
        return n->is->form == WS_ARRAY_ROW ? p.row : p.col;
    }
    LLVMValueRef lane = lane_part(e, n, r, c, &constant);
    return ws_add(e, lane, constant);
}

/* Register (row slot, column slot) of a value; see slot_of() in math_step.c. */
static LLVMValueRef value(WsMath *m, WsMathNode *n, guint r, guint c)
{
    guint i = r;
    if (m->e->kind)
        return m->e->kind->element(m->e, n->is->index, r, c);
    if (n->f.shape == WS_FRAGMENT_TILE)
        i = r / 2 * (n->f.cols / 2) + c / 2 * 4 + r % 2 * 2 + c % 2;
    else if (n->f.shape == WS_FRAGMENT_COLUMNS)
        i = c;
    return ws_fragment_get(m->e, &n->f, i);
}

static LLVMValueRef scalar(WsMath *m, WsMathNode *n)
{
    const WsBinding *b = &m->e->var[n->is->x->var];
    if (b->kind != WS_BIND_VALUE) {
        ws_emit_internal_error(m->e, "%s has no value here", n->is->x->name);
        return LLVMGetUndef(m->e->f32);
    }
    return b->v;
}

/* --- operators ---------------------------------------------------------------------------------*/

static LLVMValueRef arg(WsMath *m, WsMathNode *n, guint i, guint r, guint c)
{
    return ws_math_as(m, n->arg[i], r, c,
                      n->is->kind == WS_MATH_LITERAL ? WS_MATH_INT : n->is->kind);
}

/* All that an i32 may be. */
static const WsInterval word = { G_MININT32, G_MAXINT32 };

static LLVMValueRef real_op(WsEmit *e, WsExprOp op, LLVMValueRef a, LLVMValueRef b)
{
    if (op == WS_EXPR_ADD)
        return ws_math_contract(LLVMBuildFAdd(e->b, a, b, ""));
    if (op == WS_EXPR_SUB)
        return ws_math_contract(LLVMBuildFSub(e->b, a, b, ""));
    if (op == WS_EXPR_MUL)
        return ws_math_contract(LLVMBuildFMul(e->b, a, b, ""));
    if (op != WS_EXPR_DIV)
        ws_emit_step_error(e, e->op, "this operator on reals");
    /* a·rcp(b) */
    return ws_math_contract(LLVMBuildFMul(e->b, a, ws_prim(e, WS_PRIM_RCP, b), ""));
}

static LLVMValueRef arithmetic(WsMath *m, WsMathNode *n, guint r, guint c)
{
    WsEmit *e = m->e;
    WsExprOp op = n->is->x->op;
    LLVMValueRef a = arg(m, n, 0, r, c), b = arg(m, n, 1, r, c);
    if (n->is->kind == WS_MATH_REAL)
        return real_op(e, op, a, b);
    if (op == WS_EXPR_ADD)
        return LLVMBuildAdd(e->b, a, b, "");
    if (op == WS_EXPR_SUB)
        return LLVMBuildSub(e->b, a, b, "");
    if (op == WS_EXPR_MUL)
        return LLVMBuildMul(e->b, a, b, "");
    if (op != WS_EXPR_DIV && op != WS_EXPR_MOD)
        ws_emit_step_error(e, m->op, "this operator");
    return ws_emit_floor_div(e, a, b, word, op == WS_EXPR_MOD);
}

/* Of such a sum: what does not change from slot to slot, and a constant. */
static LLVMValueRef index_part(WsMath *m, WsMathNode *n, guint r, guint c, gint64 *constant)
{
    gint64 more;
    if (n->is->form == WS_ARRAY_ROW || n->is->form == WS_ARRAY_COL)
        return lane_part(m->e, n, r, c, constant);
    LLVMValueRef a, b;
    *constant = 0;
    if (n->is->form == WS_ARRAY_UNIFORM)
        return ws_math_at(m, n, r, c);
    a = index_part(m, n->arg[0], r, c, constant);
    b = index_part(m, n->arg[1], r, c, &more);
    gboolean minus = n->is->x->op == WS_EXPR_SUB;
    *constant += minus ? -more : more;
    return minus ? LLVMBuildSub(m->e->b, a, b, "") : LLVMBuildAdd(m->e->b, a, b, "");
}

static WsInterval uniform_range(gpointer data, const WsExpr *x)
{
    const WsUniform u = ws_uniform(data, x);
    return (WsInterval){ u.lo, u.hi };
}

/* Masks: `base + col <= last + row` becomes a test of one difference per thread against a constant
 * per slot, instead of a sum per row and column kept in registers. NULL: not of this form. */
static LLVMValueRef index_comparison(WsMath *m, WsMathNode *n, LLVMIntPredicate p, guint r, guint c)
{
    WsMathNode *a = n->arg[0], *b = n->arg[1];
    gint64 ka, kb;
    if (m->linear || m->e->kind || !ws_fact_one_difference(n->is, uniform_range, m->e))
        return NULL;
    LLVMValueRef left = index_part(m, a, r, c, &ka), right = index_part(m, b, r, c, &kb);
    return LLVMBuildICmp(m->e->b, p, LLVMBuildSub(m->e->b, left, right, ""), ws_i32(m->e, kb - ka),
                         "");
}

static LLVMValueRef comparison(WsMath *m, WsMathNode *n, guint r, guint c)
{
    static const LLVMRealPredicate on_real[] = { LLVMRealOLT, LLVMRealOLE, LLVMRealOGT,
                                                 LLVMRealOGE, LLVMRealOEQ, LLVMRealUNE };
    static const LLVMIntPredicate on_int[] = { LLVMIntSLT, LLVMIntSLE, LLVMIntSGT,
                                               LLVMIntSGE, LLVMIntEQ,  LLVMIntNE };
    gboolean is_real = n->arg[0]->is->kind == WS_MATH_REAL || n->arg[1]->is->kind == WS_MATH_REAL;
    WsMathKind kind = is_real ? WS_MATH_REAL : WS_MATH_INT;
    guint at = n->is->x->op - WS_EXPR_LT;
    LLVMValueRef index = is_real ? NULL : index_comparison(m, n, on_int[at], r, c);
    if (index)
        return index;
    LLVMValueRef a = ws_math_as(m, n->arg[0], r, c, kind);
    LLVMValueRef b = ws_math_as(m, n->arg[1], r, c, kind);
    return is_real ? LLVMBuildFCmp(m->e->b, on_real[at], a, b, "")
                   : LLVMBuildICmp(m->e->b, on_int[at], a, b, "");
}

static LLVMValueRef logic(WsMath *m, WsMathNode *n, guint r, guint c)
{
    WsEmit *e = m->e;
    LLVMValueRef a = ws_math_as(m, n->arg[0], r, c, WS_MATH_BOOL);
    if (n->is->x->op == WS_EXPR_NOT)
        return LLVMBuildNot(e->b, a, "");
    gboolean is_and = n->is->x->op == WS_EXPR_AND;
    if (decided(a) >= 0) /* a uniform condition that the interval of its names decides */
        return decided(a) == is_and ? ws_math_as(m, n->arg[1], r, c, WS_MATH_BOOL) : a;
    LLVMValueRef b = ws_math_as(m, n->arg[1], r, c, WS_MATH_BOOL);
    if (decided(b) >= 0)
        return decided(b) == is_and ? a : b;
    return is_and ? LLVMBuildAnd(e->b, a, b, "") : LLVMBuildOr(e->b, a, b, "");
}

static LLVMValueRef choose(WsMath *m, WsMathNode *n, guint r, guint c)
{
    LLVMValueRef cond = ws_math_as(m, n->arg[0], r, c, WS_MATH_BOOL);
    if (decided(cond) >= 0)
        return arg(m, n, decided(cond) ? 1 : 2, r, c);
    LLVMValueRef x = arg(m, n, 1, r, c), y = arg(m, n, 2, r, c);
    return LLVMBuildSelect(m->e->b, cond, x, y, "");
}

/* --- functions ---------------------------------------------------------------------------------*/

static const WsDtype conversion[WS_FUNC_COUNT] = {
    [WS_FUNC_BF16] = WS_DTYPE_BF16, [WS_FUNC_F16] = WS_DTYPE_F16,   [WS_FUNC_TF32] = WS_DTYPE_TF32,
    [WS_FUNC_E4M3] = WS_DTYPE_E4M3, [WS_FUNC_E5M2] = WS_DTYPE_E5M2, [WS_FUNC_I8] = WS_DTYPE_I8,
    [WS_FUNC_U8] = WS_DTYPE_U8,     [WS_FUNC_I32] = WS_DTYPE_I32,   [WS_FUNC_F32] = WS_DTYPE_F32,
};

/* Functions of one float that are a row of prim.def. */
static const WsPrim primitive[WS_FUNC_COUNT] = {
    [WS_FUNC_RCP] = WS_PRIM_RCP, [WS_FUNC_SQRT] = WS_PRIM_SQRT,   [WS_FUNC_TANH] = WS_PRIM_TANH,
    [WS_FUNC_ERF] = WS_PRIM_ERF, [WS_FUNC_RSQRT] = WS_PRIM_RSQRT, [WS_FUNC_SIN] = WS_PRIM_SIN,
    [WS_FUNC_COS] = WS_PRIM_COS, [WS_FUNC_FLOOR] = WS_PRIM_FLOOR, [WS_FUNC_CEIL] = WS_PRIM_CEIL,
};

static LLVMValueRef convert(WsMath *m, WsMathNode *n, guint r, guint c)
{
    WsEmit *e = m->e;
    WsDtype t = conversion[n->is->x->func];
    if (t == WS_DTYPE_F32)
        return ws_math_as(m, n->arg[0], r, c, WS_MATH_REAL);
    if (ws_dtype_real(t))
        return ws_widen(e, t, ws_narrow(e, t, ws_math_as(m, n->arg[0], r, c, WS_MATH_REAL)));
    gboolean from_real = n->arg[0]->is->kind == WS_MATH_REAL;
    LLVMValueRef x = ws_math_as(m, n->arg[0], r, c, n->arg[0]->is->kind);
    if (from_real)
        x = ws_prim(e, WS_PRIM_CVT_RNI, x);
    if (t == WS_DTYPE_I32)
        return x;
    if (from_real) { /* the float conversions saturate */
        gint64 low = t == WS_DTYPE_I8 ? -128 : 0, high = t == WS_DTYPE_I8 ? 127 : 255;
        x = ws_math_max(e, ws_math_max(e, x, ws_i32(e, low), TRUE), ws_i32(e, high), FALSE);
    }
    return ws_widen(e, t, x);
}

static LLVMValueRef extreme(WsMath *m, WsMathNode *n, guint r, guint c)
{
    LLVMValueRef x = arg(m, n, 0, r, c);
    for (guint i = 1; i < n->is->n_arg; i++)
        x = ws_math_max(m->e, x, arg(m, n, i, r, c), n->is->x->func == WS_FUNC_MAX);
    return x;
}

static LLVMValueRef scaled(WsEmit *e, LLVMValueRef x, double by)
{
    return ws_math_contract(LLVMBuildFMul(e->b, x, real(e, by), ""));
}

/* exp2(x, n, of): evenly spread over the elements that a thread holds of a row. */
static gboolean by_polynomial(const WsMathNode *n, guint r, guint c)
{
    if (n->is->n_arg != 3)
        return FALSE;
    gint64 share = n->is->x->arg[1]->i, of = n->is->x->arg[2]->i;
    guint at = n->n_col > 1 ? c : r;
    return (at + 1) * share / of != at * share / of;
}

static LLVMValueRef call(WsMath *m, WsMathNode *n, guint r, guint c)
{
    WsEmit *e = m->e;
    switch (n->is->x->func) {
    case WS_FUNC_SELECT:
        return choose(m, n, r, c);
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
        return extreme(m, n, r, c);
    case WS_FUNC_ABS: {
        LLVMValueRef x = arg(m, n, 0, r, c);
        if (n->is->kind == WS_MATH_REAL)
            return intrinsic(e, "llvm.fabs", e->f32, 1, &x);
        return ws_math_max(e, x, LLVMBuildNeg(e->b, x, ""), TRUE);
    }
    case WS_FUNC_EXP2:
        return ws_prim(e, by_polynomial(n, r, c) ? WS_PRIM_EX2_POLY : WS_PRIM_EX2,
                       arg(m, n, 0, r, c));
    case WS_FUNC_EXP:
        return ws_prim(e, WS_PRIM_EX2, scaled(e, arg(m, n, 0, r, c), 1 / G_LN2));
    case WS_FUNC_LOG2:
        return ws_prim(e, WS_PRIM_LG2, arg(m, n, 0, r, c));
    case WS_FUNC_LN:
        return scaled(e, ws_prim(e, WS_PRIM_LG2, arg(m, n, 0, r, c)), G_LN2);
    case WS_FUNC_RCP:
    case WS_FUNC_ELEMENTARY:
    case WS_FUNC_TANH:
        return ws_prim(e, primitive[n->is->x->func], arg(m, n, 0, r, c));
    case WS_FUNC_BITS:
        return LLVMBuildBitCast(e->b, ws_math_as(m, n->arg[0], r, c, WS_MATH_REAL), e->i32, "");
    case WS_FUNC_FROM_BITS:
        return LLVMBuildBitCast(e->b, ws_math_as(m, n->arg[0], r, c, WS_MATH_INT), e->f32, "");
    case WS_FUNC_CDIV: {
        if (n->is->kind == WS_MATH_REAL) {
            ws_emit_step_error(e, m->op, "cdiv of floats");
            return LLVMGetUndef(e->f32);
        }
        LLVMValueRef x = arg(m, n, 0, r, c), by = arg(m, n, 1, r, c);
        return ws_emit_cdiv(e, x, by, word);
    }
    case WS_FUNC_OF_BITS: {
        LLVMValueRef x = ws_math_as(m, n->arg[0], r, c, WS_MATH_INT);
        LLVMValueRef y = ws_math_as(m, n->arg[1], r, c, WS_MATH_INT);
        return ws_word_operation(e->b, n->is->x->func, x, y);
    }
    case WS_FUNC_CONVERSION:
        return convert(m, n, r, c);
    case WS_FUNC_OF_ROWS:
    case WS_FUNC_POW2FLOOR:
    case WS_FUNC_SUM:
    case WS_FUNC_COUNT:
    default:
        ws_emit_step_error(e, m->op, "this function");
        return LLVMGetUndef(e->f32);
    }
}

static LLVMValueRef operation(WsMath *m, WsMathNode *n, guint r, guint c)
{
    WsEmit *e = m->e;
    if (n->is->x->op == WS_EXPR_CALL)
        return call(m, n, r, c);
    if (n->is->x->op == WS_EXPR_NEG) {
        LLVMValueRef x = arg(m, n, 0, r, c);
        return n->is->kind == WS_MATH_REAL ? LLVMBuildFNeg(e->b, x, "") : LLVMBuildNeg(e->b, x, "");
    }
    if (n->is->x->op == WS_EXPR_NOT || n->is->x->op == WS_EXPR_AND || n->is->x->op == WS_EXPR_OR)
        return logic(m, n, r, c);
    if (n->is->x->op == WS_EXPR_LT || n->is->x->op == WS_EXPR_LE || n->is->x->op == WS_EXPR_GT ||
        n->is->x->op == WS_EXPR_GE || n->is->x->op == WS_EXPR_EQ || n->is->x->op == WS_EXPR_NE)
        return comparison(m, n, r, c);
    return arithmetic(m, n, r, c);
}

/* --- elements ----------------------------------------------------------------------------------*/

static LLVMValueRef make(WsMath *m, WsMathNode *n, guint r, guint c)
{
    switch (n->is->form) {
    case WS_ARRAY_UNIFORM:
        return uniform(m, n);
    case WS_ARRAY_NUMBER:
        return real(m->e, n->is->x->r);
    case WS_ARRAY_SCALAR:
        return scalar(m, n);
    case WS_ARRAY_ROW:
    case WS_ARRAY_COL:
        return place(m, n, r, c);
    case WS_ARRAY_VALUE:
        return value(m, n, r, c);
    case WS_ARRAY_REDUCTION:
        return ws_math_reduce(m, n, r);
    case WS_ARRAY_OPERATION:
    case WS_ARRAY_SCAN: /* made by the row (ws_math_at) */
    case WS_ARRAY_TEMPORARY:
    default:
        return operation(m, n, r, c);
    }
}

LLVMValueRef ws_math_at(WsMath *m, WsMathNode *n, guint r, guint c)
{
    guint at = (n->n_row > 1 ? r : 0) * n->n_col + (n->n_col > 1 ? c : 0);
    if (!n->made[at] && n->is->form == WS_ARRAY_SCAN)
        ws_math_scan(m, n, n->n_row > 1 ? r : 0);
    else if (!n->made[at])
        n->made[at] = make(m, n, n->n_row > 1 ? r : 0, n->n_col > 1 ? c : 0);
    return n->made[at];
}

LLVMValueRef ws_math_as(WsMath *m, WsMathNode *n, guint r, guint c, WsMathKind kind)
{
    WsEmit *e = m->e;
    if (kind == WS_MATH_REAL && n->is->form == WS_ARRAY_UNIFORM && n->is->x->op == WS_EXPR_INT)
        return real(e, (double)n->is->x->i); /* any magnitude */
    LLVMValueRef v = ws_math_at(m, n, r, c);
    gint64 c0;
    if (kind != WS_MATH_REAL || n->is->kind == WS_MATH_REAL)
        return v;
    if (known(n, &c0))
        return real(e, (double)c0);
    return LLVMBuildSIToFP(e->b, v, e->f32, "");
}
