/* Sums along the columns of linear values, of which a thread holds every threads-th element: in
 * each warp by shuffles, between warps through bytes of the program's own
 * (program/elaborate/exchange.c). A chunk is what a warp holds of one element per thread: 32 elements
 * that follow each other. */
#include "base/phrase.h"
#include "codegen/nvptx/math_node.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

#define WS_CHUNK  32
#define WS_CHUNKS 256 /* of one sum: each thread reads all of them */

typedef struct {
    WsMath *m;
    guint warps, all, cols;
    gboolean reverse;
    LLVMTypeRef type;
    LLVMValueRef at; /* of the bytes between warps */
} Line;

static gboolean line(WsMath *m, WsMathNode *a, WsMathKind kind, gboolean reverse, Line *l)
{
    WsEmit *e = m->e;
    *l = (Line){ .m = m,
                 .warps = e->agent->threads / WS_CHUNK,
                 .all = m->lin.rows * m->lin.cols,
                 .cols = m->lin.cols,
                 .reverse = reverse,
                 .type = kind == WS_MATH_REAL ? e->f32 : e->i32 };
    if (e->agent->threads % WS_CHUNK != 0 || a->n_row * l->warps > WS_CHUNKS) {
        ws_emit_step_error(e, m->op, WS_WORD("a sum along more than 8192 linear elements"));
        return FALSE;
    }
    if (l->warps > 1 && m->op->line_barrier < 0) {
        ws_emit_internal_error(e, "a sum between warps without bytes for it");
        return FALSE;
    }
    if (l->warps > 1)
        l->at = ws_add(e, e->shared, (gint64)m->op->line_at);
    return TRUE;
}

static LLVMValueRef bits(WsEmit *e, LLVMValueRef v)
{
    return LLVMTypeOf(v) == e->i32 ? v : LLVMBuildBitCast(e->b, v, e->i32, "");
}

static LLVMValueRef of_bits(const Line *l, LLVMValueRef v)
{
    WsEmit *e = l->m->e;
    return l->type == e->i32 ? v : LLVMBuildBitCast(e->b, v, l->type, "");
}

static LLVMValueRef plus(const Line *l, LLVMValueRef a, LLVMValueRef b)
{
    WsEmit *e = l->m->e;
    return l->type == e->f32 ? LLVMBuildFAdd(e->b, a, b, "") : LLVMBuildAdd(e->b, a, b, "");
}

static LLVMValueRef nought(const Line *l)
{
    WsEmit *e = l->m->e;
    return l->type == e->f32 ? LLVMConstReal(e->f32, 0) : ws_i32(e, 0);
}

static LLVMValueRef where(const Line *l, LLVMValueRef condition, LLVMValueRef v)
{
    return condition ? LLVMBuildSelect(l->m->e->b, condition, v, nought(l), "") : v;
}

static LLVMValueRef of_lane(const Line *l, LLVMValueRef v, LLVMValueRef lane)
{
    return of_bits(l, ws_prim(l->m->e, WS_PRIM_SHFL_IDX, bits(l->m->e, v), lane));
}

static void meet(const Line *l)
{
    WsEmit *e = l->m->e;
    const guint32 imm[] = { (guint32)e->p->barrier[l->m->op->line_barrier].hw_id[0],
                            (guint32)e->agent->threads };
    ws_prim_call(e, WS_PRIM_BAR_SYNC, 0, NULL, 2, imm);
}

static WsFragmentPlace element(const Line *l, guint n, guint i)
{
    WsEmit *e = l->m->e;
    const WsFragment f = { .shape = WS_FRAGMENT_LINEAR,
                           .v = &l->m->lin,
                           .rows = l->m->lin.rows,
                           .cols = l->m->lin.cols,
                           .n = n,
                           .row = e->agent_tid };
    return ws_fragment_place(e, &f, i);
}

static LLVMValueRef below(WsEmit *e, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(e->b, LLVMIntULT, a, b, "");
}

/* What a warp hands on of `v`, one of each chunk, into `out`: all of them, the same in all lanes.
 */
static void hand_on(const Line *l, guint n, LLVMValueRef *v, guint lane, LLVMValueRef *out)
{
    WsEmit *e = l->m->e;
    if (l->warps == 1) {
        for (guint i = 0; i < n; i++)
            out[i] = of_lane(l, v[i], ws_i32(e, lane));
        return;
    }
    LLVMValueRef own = ws_add(e, l->at, 0);
    own = LLVMBuildAdd(e->b, own, LLVMBuildShl(e->b, e->agent_warp, ws_i32(e, 2), ""), "");
    meet(l);
    LLVMBasicBlockRef after =
        ws_if(e, LLVMBuildICmp(e->b, LLVMIntEQ, e->lane, ws_i32(e, lane), ""), "handed");
    for (guint i = 0; i < n; i++) {
        LLVMValueRef to[] = { ws_add(e, own, (gint64)4 * i * l->warps), bits(e, v[i]) };
        ws_prim_call(e, WS_PRIM_ST_SHARED, 2, to, 0, NULL);
    }
    ws_end_if(e, after);
    meet(l);
    for (guint j = 0; j < n * l->warps; j++)
        out[j] = of_bits(l, ws_prim(e, WS_PRIM_LD_SHARED, ws_add(e, l->at, (gint64)4 * j)));
}

/* --- running sums ------------------------------------------------------------------------------*/

/* Whether a row begins (reverse: ends) in chunk j, so that nothing before it goes on behind. */
static gboolean breaks(const Line *l, guint j)
{
    const guint first = j * WS_CHUNK, last = first + WS_CHUNK - 1;
    return l->reverse ? (last + 1) / l->cols != first / l->cols
                      : first % l->cols == 0 || first / l->cols != last / l->cols;
}

/* The sum of a row's elements in the chunks before each of this thread's. */
static void carries(const Line *l, guint n, LLVMValueRef *total, LLVMValueRef *carry)
{
    WsEmit *e = l->m->e;
    LLVMValueRef sum = nought(l);
    const guint chunks = n * l->warps;
    for (guint k = 0; k < chunks; k++) {
        const guint j = l->reverse ? chunks - 1 - k : k, i = j / l->warps, w = j % l->warps;
        LLVMValueRef here = LLVMBuildICmp(e->b, LLVMIntEQ, e->agent_warp, ws_i32(e, w), "");
        carry[i] = carry[i] ? LLVMBuildSelect(e->b, here, sum, carry[i], "") : sum;
        if (j * WS_CHUNK < l->all)
            sum = breaks(l, j) ? total[j] : plus(l, sum, total[j]);
    }
}

/* `v` of the lane `far` before (reverse: behind) in the same row; 0 where there is none. */
static LLVMValueRef near(const Line *l, LLVMValueRef v, LLVMValueRef col, guint far)
{
    WsEmit *e = l->m->e;
    LLVMValueRef from = ws_add(e, e->lane, l->reverse ? far : -(gint64)far), in_row;
    if (l->reverse)
        in_row = below(e, ws_add(e, col, far), ws_i32(e, l->cols));
    else
        in_row = LLVMBuildNot(e->b, below(e, col, ws_i32(e, far)), "");
    LLVMValueRef there = LLVMBuildAnd(e->b, in_row, below(e, from, ws_i32(e, WS_CHUNK)), "");
    from = LLVMBuildAnd(e->b, from, ws_i32(e, WS_CHUNK - 1), "");
    return where(l, there, of_lane(l, v, from));
}

void ws_math_scan_line(WsMath *m, WsMathNode *n, WsMathKind kind)
{
    WsEmit *e = m->e;
    gboolean exclusive, reverse;
    ws_array_scan(n->is, &exclusive, &reverse);
    Line l;
    if (!line(m, n, kind, reverse, &l)) {
        for (guint i = 0; i < n->n_row; i++)
            n->made[i] = LLVMGetUndef(l.type);
        return;
    }
    g_autofree LLVMValueRef *sum = g_new0(LLVMValueRef, n->n_row),
                            *col = g_new0(LLVMValueRef, n->n_row),
                            *carry = g_new0(LLVMValueRef, n->n_row),
                            *total = g_new0(LLVMValueRef, (gsize)n->n_row * l.warps);
    for (guint i = 0; i < n->n_row && !e->error; i++) {
        const WsFragmentPlace p = element(&l, n->n_row, i);
        sum[i] = where(&l, p.there, ws_math_as(m, n->arg[0], i, 0, kind));
        col[i] = p.col;
        for (guint far = 1; far < MIN(WS_CHUNK, l.cols); far *= 2)
            sum[i] = plus(&l, sum[i], near(&l, sum[i], p.col, far));
    }
    if (e->error)
        return;
    hand_on(&l, n->n_row, sum, reverse ? 0 : WS_CHUNK - 1, total);
    carries(&l, n->n_row, total, carry);
    for (guint i = 0; i < n->n_row; i++) {
        LLVMValueRef lane = e->lane, place = col[i];
        if (reverse) { /* counted from the end */
            lane = LLVMBuildSub(e->b, ws_i32(e, WS_CHUNK - 1), lane, "");
            place = LLVMBuildSub(e->b, ws_i32(e, l.cols - 1), place, "");
        }
        LLVMValueRef before = where(&l, below(e, lane, place), carry[i]);
        LLVMValueRef own = exclusive ? near(&l, sum[i], col[i], 1) : sum[i];
        n->made[i] = plus(&l, before, own);
    }
}

/* --- sums of one row ---------------------------------------------------------------------------*/

LLVMValueRef ws_math_reduce_line(WsMath *m, WsMathNode *n, WsMathKind kind, WsMathJoin join,
                                 gboolean max)
{
    WsEmit *e = m->e;
    WsMathNode *a = n->arg[0];
    Line l;
    if (!line(m, a, kind, FALSE, &l))
        return LLVMGetUndef(l.type);
    if (max && l.all < e->agent->threads) {
        ws_emit_step_error(e, m->op, WS_WORD("the largest of fewer linear elements than threads"));
        return LLVMGetUndef(l.type);
    }
    LLVMValueRef v = NULL;
    for (guint i = 0; i < a->n_row && !e->error; i++) {
        const WsFragmentPlace p = element(&l, a->n_row, i);
        LLVMValueRef x = ws_math_as(m, a, i, 0, kind);
        if (!v)
            v = where(&l, p.there, x);
        else if (p.there)
            v = LLVMBuildSelect(e->b, p.there, join(e, v, x, max), v, "");
        else
            v = join(e, v, x, max);
    }
    for (guint mask = WS_CHUNK / 2; mask && !e->error; mask /= 2)
        v = join(e, v, of_bits(&l, ws_prim(e, WS_PRIM_SHFL_BFLY, bits(e, v), ws_i32(e, mask))),
                 max);
    if (e->error || l.warps == 1)
        return v ? v : LLVMGetUndef(l.type);
    g_autofree LLVMValueRef *of = g_new0(LLVMValueRef, l.warps);
    hand_on(&l, 1, &v, 0, of);
    v = of[0];
    for (guint w = 1; w < l.warps; w++)
        v = join(e, v, of[w], max);
    return v;
}
