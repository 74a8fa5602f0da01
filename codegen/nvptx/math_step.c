/* Compute steps: the statements in order, what they store, and the branch of `unless`. */
#include "base/phrase.h"
#include "codegen/facts.h"
#include "codegen/nvptx/math_node.h"
#include "program/parts/agent.h"

static void fail(WsMath *m, const char *what)
{
    ws_emit_step_error(m->e, m->op, what);
}

static LLVMValueRef packed_pair(WsEmit *e, WsDtype t, gboolean here, LLVMValueRef lo,
                                LLVMValueRef hi)
{
    if (here)
        return ws_prim(e, t == WS_DTYPE_BF16 ? WS_PRIM_CVT_BF16X2_HERE : WS_PRIM_CVT_F16X2_HERE, hi,
                       lo);
    return ws_narrow_pair(e, t, lo, hi);
}

/* Tiles of narrow types: 2 or 4 elements make a register. Elements i of a fragment come in pairs of
 * neighbouring columns; 8-bit registers hold the pairs of two 8-column blocks. */
static void store_packed(WsEmit *e, const WsFragment *f, LLVMValueRef *x)
{
    WsDtype t = f->v->dtype;
    guint bytes = ws_dtype_bytes(t);
    gboolean here = ws_dtype_real(t) && ws_fact_feeds_mma(e->p, e->agent, f->value);
    for (guint i = 0; i < f->n; i += 2) {
        WsElement at = ws_fragment_element(f, i);
        if (at.part != 0)
            continue;
        if (bytes == 1 && here) {
            const WsPrim four =
                t == WS_DTYPE_E4M3 ? WS_PRIM_CVT_E4M3X4_HERE : WS_PRIM_CVT_E5M2X4_HERE;
            ws_reg_set(e, f->value, at.reg, ws_prim(e, four, x[i], x[i + 1], x[i + 4], x[i + 5]));
            continue;
        }
        LLVMValueRef bits = packed_pair(e, t, here, x[i], x[i + 1]);
        if (bytes == 1) {
            LLVMValueRef high = ws_narrow_pair(e, t, x[i + 4], x[i + 5]);
            bits = LLVMBuildOr(e->b, bits, LLVMBuildShl(e->b, high, ws_i32(e, 16), ""), "");
        }
        ws_reg_set(e, f->value, at.reg, bits);
    }
}

/* Row and column slot of element i of a value. */
static void slot_of(const WsFragment *f, guint i, guint *r, guint *c)
{
    *r = *c = 0;
    if (f->shape == WS_FRAGMENT_TILE) {
        guint k = i % (f->cols / 2);
        *r = i / (f->cols / 2) * 2 + k / 2 % 2;
        *c = k / 4 * 2 + k % 2;
    } else if (f->shape == WS_FRAGMENT_COLUMNS) {
        *c = i;
    } else if (f->shape != WS_FRAGMENT_SCALAR) {
        *r = i;
    }
}

/* The same where a target has a layout of its own. */
static void assign_slots(WsMath *m, const WsArray *a, guint value)
{
    WsEmit *e = m->e;
    const WsRegValue *v = &e->agent->value[value];
    const guint rows = ws_slots(v->rows, e->row_lanes), cols = ws_slots(v->cols, e->quad_lanes);
    WsMathKind kind = ws_dtype_real(v->dtype) ? WS_MATH_REAL : WS_MATH_INT;
    WsMathNode *n = ws_math_node(m, a);
    g_autofree LLVMValueRef *made = g_new0(LLVMValueRef, MAX(rows * cols, 1));
    for (guint i = 0; n && i < rows * cols && !e->error; i++)
        made[i] = ws_math_as(m, n, i / cols, i % cols, kind);
    if (n && !e->error)
        e->kind->assign(e, value, made);
}

/* All elements are built before any is stored: a statement reads its target's old value. */
static void assign(WsMath *m, const WsArray *a, guint value)
{
    WsEmit *e = m->e;
    const WsRegValue *v = &e->agent->value[value];
    WsValueUse use = { .value = value, .rows = v->rows, .cols = v->cols };
    WsFragment f = { 0 };
    /* rounding comes with the store */
    if (ws_fact_rounds(a, v->dtype))
        a = a->arg[0];
    if (e->kind) {
        m->linear = FALSE;
        assign_slots(m, a, value);
        return;
    }
    if (!ws_fragment(e, &use, &f)) {
        fail(m, WS_WORD("a value of this shape"));
        return;
    }
    if (ws_math_small(m, a, &f) || ws_math_half(m, a, &f))
        return;
    m->linear = f.shape == WS_FRAGMENT_LINEAR;
    m->lin = (WsRegValue){ .rows = m->linear ? v->rows : 0, .cols = m->linear ? v->cols : 0 };
    WsMathNode *n = ws_math_node(m, a);
    if (!n)
        return;
    WsMathKind kind = ws_dtype_real(v->dtype) ? WS_MATH_REAL : WS_MATH_INT;
    g_autofree LLVMValueRef *made = g_new0(LLVMValueRef, MAX(f.n, 1));
    for (guint i = 0; i < f.n && !e->error; i++) {
        guint r, c;
        slot_of(&f, i, &r, &c);
        made[i] = ws_math_as(m, n, r, c, kind);
    }
    if (e->error)
        return;
    if (f.shape == WS_FRAGMENT_TILE && ws_dtype_bytes(v->dtype) < 4) {
        store_packed(e, &f, made);
        return;
    }
    for (guint i = 0; i < f.n; i++)
        ws_fragment_set(e, &f, i, made[i]);
}

static void temporary(WsMath *m, guint statement)
{
    m->linear = FALSE;
    m->lin = (WsRegValue){ 0 };
    WsMathNode *n = ws_math_node(m, m->op->assign[statement].array);
    for (guint r = 0; n && r < n->n_row; r++) {
        for (guint c = 0; c < n->n_col && !m->e->error; c++)
            ws_math_at(m, n, r, c);
    }
    m->temporary[statement] = n;
}

static void statement(WsMath *m, guint i)
{
    const WsAssign *s = &m->op->assign[i];
    if (s->value >= 0)
        assign(m, s->array, (guint)s->value);
    else if (s->array)
        temporary(m, i);
}

static void statements(WsMath *m)
{
    for (guint i = 0; i < m->op->n_math && !m->e->error; i++)
        statement(m, i);
}

/* The warp's vote on `unless`: TRUE where an element of some lane does not satisfy it. */
static LLVMValueRef needed(WsMath *m)
{
    WsEmit *e = m->e;
    LLVMValueRef all = LLVMConstInt(e->i1, 1, 0);
    WsMathNode *n = ws_math_node(m, m->op->unless);
    for (guint r = 0; n && r < n->n_row; r++) {
        for (guint c = 0; c < n->n_col && !e->error; c++)
            all = LLVMBuildAnd(e->b, all, ws_math_as(m, n, r, c, WS_MATH_BOOL), "");
    }
    return LLVMBuildNot(e->b, ws_prim(e, WS_PRIM_VOTE_ALL, all), "needed");
}

/* Arithmetic beside products in flight is to be done before the wait that follows, or the two do
 * not overlap, and arithmetic before a named barrier before that: ptxas moves both up. A sum over
 * the columns needs all of them. */
static void hold(WsMath *m)
{
    WsEmit *e = m->e;
    LLVMValueRef all = NULL;
    if (!m->op->n_flying && !ws_fact_before_named_barrier(e->p, m->op))
        return;
    for (guint i = 0; i < m->op->n_math && !e->error; i++) {
        if (!ws_fact_sums(e->agent, &m->op->assign[i]))
            continue;
        guint v = (guint)m->op->assign[i].value;
        for (guint r = 0; r < e->regs[v].n && r < 8; r++) {
            LLVMValueRef x = ws_reg_get(e, v, r);
            all = all ? LLVMBuildFAdd(e->b, all, x, "") : x;
        }
    }
    if (all && !e->error)
        ws_prim(e, WS_PRIM_HOLD, all);
}

void ws_math_step(WsEmit *e, const WsOp *op)
{
    WsMath m;
    ws_math_init(&m, e, op);
    if (op->skip) {
        LLVMValueRef some = needed(&m);
        if (!e->error) {
            LLVMBasicBlockRef after = ws_if(e, some, "unless");
            statements(&m);
            ws_end_if(e, after);
        }
    } else {
        statements(&m);
        if (!e->kind)
            hold(&m);
    }
    ws_math_clear(&m);
}

/* f32 run names: in the entry of the kernel, from the scalars. */
LLVMValueRef ws_math_run_name(WsEmit *e, const WsArray *value)
{
    WsMath m;
    ws_math_init(&m, e, NULL);
    WsMathNode *n = ws_math_node(&m, value);
    LLVMValueRef v = n ? ws_math_as(&m, n, 0, 0, WS_MATH_REAL) : LLVMGetUndef(e->f32);
    ws_math_clear(&m);
    return v;
}
