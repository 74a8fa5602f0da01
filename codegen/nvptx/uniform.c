/* Uniform integer expressions as i32 code. Every value carries the interval it lies in: comparisons
 * that an interval decides fold (a peeled round knows k == 0), and divisions know their sign.
 * Sizes are taken as 31-bit: tile ids, coordinates and uses of any real launch fit. */
#include "codegen/facts.h"
#include "codegen/nvptx/emit.h"
#include "program/parts/variable.h"
#include "program/program.h"

WsUniform ws_uniform_value(LLVMValueRef v, gint64 lo, gint64 hi)
{
    WsInterval range = ws_interval(lo, hi);
    return (WsUniform){ v, range.lo, range.hi };
}

WsUniform ws_uniform_const(WsEmit *e, gint64 value)
{
    if (value < G_MININT32 || value > G_MAXINT32)
        ws_emit_step_error(e, e->op, "an integer beyond 32 bits");
    return ws_uniform_value(LLVMConstInt(e->i32, (guint64)value & 0xffffffffu, 0), value, value);
}

static WsInterval range_of(WsUniform u)
{
    return (WsInterval){ u.lo, u.hi };
}

gboolean ws_uniform_known(const WsUniform *u, gint64 *value)
{
    return ws_interval_known(range_of(*u), value);
}

static WsUniform fold(WsEmit *e, LLVMValueRef v, WsInterval range)
{
    WsUniform u = ws_uniform_value(v, range.lo, range.hi);
    gint64 c;
    return ws_uniform_known(&u, &c) ? ws_uniform_const(e, c) : u;
}

static WsUniform add(WsEmit *e, WsUniform a, WsUniform b, gboolean minus)
{
    WsInterval x = range_of(a), y = range_of(b);
    LLVMValueRef v = minus ? LLVMBuildSub(e->b, a.v, b.v, "") : LLVMBuildAdd(e->b, a.v, b.v, "");
    return fold(e, v, minus ? ws_interval_sub(x, y) : ws_interval_add(x, y));
}

static WsUniform multiply(WsEmit *e, WsUniform a, WsUniform b)
{
    return fold(e, LLVMBuildMul(e->b, a.v, b.v, ""), ws_interval_mul(range_of(a), range_of(b)));
}

/* `least`: the quotient by -1 needs an answer of its own. */
static LLVMValueRef floor_div(WsEmit *e, LLVMValueRef a, LLVMValueRef b, WsInterval by,
                              gboolean mod, gboolean least)
{
    LLVMValueRef zero = ws_i32(e, 0), none = NULL, minus = NULL;
    if (LLVMIsAConstantInt(b)) {
        gint64 c = LLVMConstIntGetSExtValue(b);
        if (c == -1)
            return mod ? zero : LLVMBuildNeg(e->b, a, "");
        if (c > 0 && (c & (c - 1)) == 0) /* & and >> have floor semantics for both signs */
            return mod ? LLVMBuildAnd(e->b, a, ws_i32(e, c - 1), "")
                       : LLVMBuildAShr(e->b, a, ws_i32(e, __builtin_ctzll((guint64)c)), "");
    }
    if (by.lo <= 0 && by.hi >= 0)
        none = LLVMBuildICmp(e->b, LLVMIntEQ, b, zero, "");
    if (least && by.lo <= -1 && by.hi >= -1) {
        minus = LLVMBuildICmp(e->b, LLVMIntEQ, b, ws_i32(e, -1), "");
        none = none ? LLVMBuildOr(e->b, none, minus, "") : minus;
    }
    if (none)
        b = LLVMBuildSelect(e->b, none, ws_i32(e, 1), b, "");
    LLVMValueRef rest = LLVMBuildSRem(e->b, a, b, "");
    LLVMValueRef differ =
        LLVMBuildICmp(e->b, LLVMIntSLT, LLVMBuildXor(e->b, rest, b, ""), zero, "");
    LLVMValueRef fix =
        LLVMBuildAnd(e->b, differ, LLVMBuildICmp(e->b, LLVMIntNE, rest, zero, ""), "");
    if (mod)
        return LLVMBuildAdd(e->b, rest, LLVMBuildSelect(e->b, fix, b, zero, ""), "");
    LLVMValueRef q =
        LLVMBuildSub(e->b, LLVMBuildSDiv(e->b, a, b, ""), LLVMBuildZExt(e->b, fix, e->i32, ""), "");
    return minus ? LLVMBuildSelect(e->b, minus, LLVMBuildNeg(e->b, a, ""), q, "") : q;
}

LLVMValueRef ws_emit_floor_div(WsEmit *e, LLVMValueRef a, LLVMValueRef b, WsInterval by,
                               gboolean mod)
{
    return floor_div(e, a, b, by, mod, TRUE);
}

LLVMValueRef ws_emit_cdiv(WsEmit *e, LLVMValueRef a, LLVMValueRef b, WsInterval by)
{
    LLVMValueRef rest = ws_emit_floor_div(e, a, b, by, TRUE);
    LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntNE, rest, ws_i32(e, 0), "");
    return LLVMBuildAdd(e->b, ws_emit_floor_div(e, a, b, by, FALSE),
                        LLVMBuildZExt(e->b, more, e->i32, ""), "");
}

/* The least integer by -1: 2^31 fits nowhere, so of a quotient only what is known to reach there is
 * guarded, and what no bound is known of is taken to fit (LANGUAGE section 3); the rest is 0. The
 * host would stop at either. */
static gboolean may_be_least(const WsEmit *e, WsInterval a, gboolean mod)
{
    return e->host || (a.lo <= G_MININT32 && (mod || a.lo > WS_INTERVAL_MIN));
}

static WsUniform divide(WsEmit *e, WsUniform a, WsUniform b, gboolean mod)
{
    gint64 c = 0;
    gboolean known = ws_uniform_known(&b, &c) && c > 0;
    gboolean positive = (a.lo >= 0 || e->nonneg) && b.lo >= 0;
    if (known && c == 1)
        return mod ? ws_uniform_const(e, 0) : a;
    if (known && mod && a.lo >= 0 && a.hi < c)
        return a;
    WsInterval x = range_of(a), y = range_of(b);
    WsInterval range = mod ? ws_interval_mod(x, y, positive) : ws_interval_div(x, y, positive);
    /* such a sum has 32 bits and no sign, unless it is one of places */
    const gboolean wide =
        a.lo >= 0 && a.hi > G_MAXINT32 && a.hi < WS_INTERVAL_MAX && MAX(a.lo, c) > WS_FACT_MARGIN;
    if (!positive || (known && (c & (c - 1)) == 0 && !wide))
        return fold(e, floor_div(e, a.v, b.v, y, mod, may_be_least(e, x, mod)), range);
    if (b.lo <= 0) {
        LLVMValueRef none = LLVMBuildICmp(e->b, LLVMIntEQ, b.v, ws_i32(e, 0), "");
        b.v = LLVMBuildSelect(e->b, none, ws_i32(e, 1), b.v, "");
    }
    return fold(e, mod ? LLVMBuildURem(e->b, a.v, b.v, "") : LLVMBuildUDiv(e->b, a.v, b.v, ""),
                range);
}

static LLVMIntPredicate predicate(WsExprOp op)
{
    if (op == WS_EXPR_LT)
        return LLVMIntSLT;
    if (op == WS_EXPR_LE)
        return LLVMIntSLE;
    if (op == WS_EXPR_GT)
        return LLVMIntSGT;
    if (op == WS_EXPR_GE)
        return LLVMIntSGE;
    if (op == WS_EXPR_EQ)
        return LLVMIntEQ;
    return LLVMIntNE;
}

static LLVMValueRef truth(WsEmit *e, WsUniform a)
{
    return LLVMBuildICmp(e->b, LLVMIntNE, a.v, ws_i32(e, 0), "");
}

static WsUniform compare(WsEmit *e, WsExprOp op, WsUniform a, WsUniform b)
{
    int known = ws_interval_decide(op, range_of(a), range_of(b));
    if (known >= 0)
        return ws_uniform_const(e, known);
    LLVMValueRef c = LLVMBuildICmp(e->b, predicate(op), a.v, b.v, "");
    return ws_uniform_value(LLVMBuildZExt(e->b, c, e->i32, ""), 0, 1);
}

WsUniform ws_uniform_op(WsEmit *e, WsExprOp op, WsUniform a, WsUniform b)
{
    if (op == WS_EXPR_ADD)
        return add(e, a, b, FALSE);
    if (op == WS_EXPR_SUB)
        return add(e, a, b, TRUE);
    if (op == WS_EXPR_MUL)
        return multiply(e, a, b);
    if (op == WS_EXPR_DIV)
        return divide(e, a, b, FALSE);
    if (op == WS_EXPR_MOD)
        return divide(e, a, b, TRUE);
    if (op < WS_EXPR_LT || op > WS_EXPR_NE)
        ws_emit_step_error(e, e->op, "this operator in a uniform expression");
    return compare(e, op, a, b);
}

static WsUniform extreme(WsEmit *e, WsUniform a, WsUniform b, gboolean max)
{
    LLVMValueRef c = LLVMBuildICmp(e->b, max ? LLVMIntSGT : LLVMIntSLT, a.v, b.v, "");
    LLVMValueRef v = LLVMBuildSelect(e->b, c, a.v, b.v, "");
    if (max ? a.lo >= b.hi : a.hi <= b.lo)
        return a;
    if (max ? b.lo >= a.hi : b.hi <= a.lo)
        return b;
    WsInterval p = range_of(a), q = range_of(b);
    return fold(e, v, max ? ws_interval_max(p, q) : ws_interval_min(p, q));
}

WsUniform ws_uniform_min(WsEmit *e, WsUniform a, WsUniform b)
{
    return extreme(e, a, b, FALSE);
}

WsUniform ws_uniform_cdiv(WsEmit *e, WsUniform a, WsUniform b)
{
    const WsInterval by = range_of(b),
                     up = ws_interval_sub(ws_interval_add(range_of(a), by), (WsInterval){ 1, 1 });
    const gboolean near = ws_fact_place(range_of(a)) && b.hi <= WS_FACT_MARGIN;
    if (b.lo > 0 && (near || up.hi <= (a.lo >= 0 && up.lo < up.hi ? G_MAXUINT32 : G_MAXINT32)))
        return divide(e, add(e, a, add(e, b, ws_uniform_const(e, 1), TRUE), FALSE), b, FALSE);
    return fold(e, ws_emit_cdiv(e, a.v, b.v, by),
                b.lo > 0 ? ws_interval_div(up, by, FALSE) : WS_INTERVAL_ANY);
}

WsUniform ws_uniform_truth(WsEmit *e, WsUniform u)
{
    return compare(e, WS_EXPR_NE, u, ws_uniform_const(e, 0));
}

static WsUniform choose(WsEmit *e, WsUniform c, const WsExpr *x, const WsExpr *y)
{
    gint64 known;
    c = ws_uniform_truth(e, c);
    if (ws_uniform_known(&c, &known))
        return ws_uniform(e, known ? x : y);
    WsUniform a = ws_uniform(e, x), b = ws_uniform(e, y);
    LLVMValueRef v = LLVMBuildSelect(e->b, truth(e, c), a.v, b.v, "");
    return fold(e, v, (WsInterval){ MIN(a.lo, b.lo), MAX(a.hi, b.hi) });
}

/* Largest power of two <= n, 0 for n < 1: the sign bit pattern shifted by the leading zeros. */
static WsUniform pow2floor(WsEmit *e, WsUniform a)
{
    LLVMValueRef v = a.v;
    for (guint s = 1; s < 32; s *= 2)
        v = LLVMBuildOr(e->b, v, LLVMBuildLShr(e->b, v, ws_i32(e, s), ""), "");
    v = LLVMBuildSub(e->b, v, LLVMBuildLShr(e->b, v, ws_i32(e, 1), ""), "");
    LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntSGT, a.v, ws_i32(e, 0), "");
    return fold(e, LLVMBuildSelect(e->b, some, v, ws_i32(e, 0), ""),
                (WsInterval){ 0, MAX(a.hi, 0) });
}

static WsUniform call(WsEmit *e, const WsExpr *x)
{
    WsUniform a = ws_uniform(e, x->arg[0]);
    if (x->func == WS_FUNC_CDIV)
        return ws_uniform_cdiv(e, a, ws_uniform(e, x->arg[1]));
    if (x->func == WS_FUNC_MIN || x->func == WS_FUNC_MAX) {
        for (guint i = 1; i < x->n_args; i++)
            a = extreme(e, a, ws_uniform(e, x->arg[i]), x->func == WS_FUNC_MAX);
        return a;
    }
    if (x->func == WS_FUNC_ABS)
        return extreme(e, a, add(e, ws_uniform_const(e, 0), a, TRUE), TRUE);
    if (x->func == WS_FUNC_POW2FLOOR)
        return pow2floor(e, a);
    if (x->func == WS_FUNC_SELECT)
        return choose(e, a, x->arg[1], x->arg[2]);
    ws_emit_step_error(e, e->op, "a real function in a uniform expression");
    return ws_uniform_const(e, 0);
}

static WsUniform logic(WsEmit *e, const WsExpr *x)
{
    gboolean is_and = x->op == WS_EXPR_AND;
    WsUniform a = ws_uniform_truth(e, ws_uniform(e, x->arg[0]));
    gint64 known;
    if (ws_uniform_known(&a, &known)) {
        if ((known != 0) != is_and)
            return ws_uniform_const(e, !is_and);
        return ws_uniform_truth(e, ws_uniform(e, x->arg[1]));
    }
    WsUniform b = ws_uniform_truth(e, ws_uniform(e, x->arg[1]));
    if (ws_uniform_known(&b, &known))
        return (known != 0) == is_and ? a : b;
    LLVMValueRef v = is_and ? LLVMBuildAnd(e->b, a.v, b.v, "") : LLVMBuildOr(e->b, a.v, b.v, "");
    return ws_uniform_value(v, 0, 1);
}

static WsUniform variable(WsEmit *e, const WsExpr *x)
{
    if (x->var < 0 || (guint)x->var >= e->p->n_vars) {
        ws_emit_internal_error(e, "variable %d of %s is unknown", x->var, x->name);
        return ws_uniform_const(e, 0);
    }
    const WsBinding *b = &e->var[e->twin ? e->twin[x->var] : x->var];
    if (b->kind == WS_BIND_NONE) {
        ws_emit_internal_error(e, "%s has no value here", e->p->var[x->var].name);
        return ws_uniform_const(e, 0);
    }
    if (!e->in_leader && b->stale)
        ws_emit_step_error(e, e->op, "a counter that the leader alone advanced");
    if (b->kind == WS_BIND_VALUE)
        return ws_uniform_value(b->v, b->lo, b->hi);
    return ws_uniform_value(ws_load(e, e->i32, b->v, e->p->var[x->var].name), b->lo, b->hi);
}

WsUniform ws_uniform(WsEmit *e, const WsExpr *x)
{
    switch (x->op) {
    case WS_EXPR_INT:
    case WS_EXPR_TEXT_BOOL:
        return ws_uniform_const(e, x->i);
    case WS_EXPR_VAR:
        return variable(e, x);
    case WS_EXPR_NEG:
        return add(e, ws_uniform_const(e, 0), ws_uniform(e, x->arg[0]), TRUE);
    case WS_EXPR_NOT:
        return compare(e, WS_EXPR_EQ, ws_uniform(e, x->arg[0]), ws_uniform_const(e, 0));
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        return logic(e, x);
    case WS_EXPR_CALL:
        return call(e, x);
    case WS_EXPR_INDEX:
        return ws_global_element(e, x);
    case WS_EXPR_ARITHMETIC:
    case WS_EXPR_COMPARISON: {
        gint64 known;
        if (e->cuts && ws_cuts_decide(e->cuts, x, &known))
            return ws_uniform_const(e, known);
        WsUniform a = ws_uniform(e, x->arg[0]);
        return ws_uniform_op(e, x->op, a, ws_uniform(e, x->arg[1]));
    }
    case WS_EXPR_NAME:
    case WS_EXPR_REAL:
    case WS_EXPR_TOTAL:
    default:
        ws_emit_internal_error(e, "unbound name %s in a uniform expression",
                               x->name ? x->name : "?");
        return ws_uniform_const(e, 0);
    }
}

WsUniform ws_uniform_use(WsEmit *e, const WsExpr *x)
{
    gboolean outer = e->nonneg;
    e->nonneg = TRUE;
    WsUniform u = ws_uniform(e, x);
    e->nonneg = outer;
    return u;
}

LLVMValueRef ws_uniform_i32(WsEmit *e, const WsExpr *x)
{
    return ws_uniform(e, x).v;
}

void ws_uniform_ranges(WsEmit *e)
{
    for (guint i = 0; i < e->p->n_vars; i++) {
        if (e->p->var[i].kind != WS_VAR_SIZE)
            continue;
        WsInterval in = ws_fact_size(e->p, (gint)i);
        e->var[i].lo = in.lo;
        e->var[i].hi = in.hi;
    }
}
