/* Sequences, loops, branches and leader guards of one agent. */
#include "codegen/nvptx/emit.h"
#include "codegen/nvptx/fragment.h"
#include "program/parts/tree.h"

LLVMValueRef ws_i32(WsEmit *e, gint64 value)
{
    return LLVMConstInt(e->i32, (guint64)value & 0xffffffffu, 0);
}

LLVMValueRef ws_add(WsEmit *e, LLVMValueRef a, gint64 b)
{
    return b ? LLVMBuildAdd(e->b, a, ws_i32(e, b), "") : a;
}

LLVMBasicBlockRef ws_block(WsEmit *e, const char *name)
{
    return LLVMAppendBasicBlockInContext(e->ctx, e->fn, name);
}

/* Cells live in the entry block: only there does LLVM turn them into registers. */
LLVMValueRef ws_cell(WsEmit *e, LLVMTypeRef type, const char *name)
{
    return LLVMBuildAlloca(e->entry, type, name);
}

LLVMValueRef ws_load(WsEmit *e, LLVMTypeRef type, LLVMValueRef cell, const char *name)
{
    return LLVMBuildLoad2(e->b, type, cell, name);
}

LLVMBasicBlockRef ws_if(WsEmit *e, LLVMValueRef cond, const char *name)
{
    g_autofree char *after_name = g_strconcat(name, ".after", NULL);
    LLVMBasicBlockRef then = ws_block(e, name), after = ws_block(e, after_name);
    LLVMBuildCondBr(e->b, cond, then, after);
    LLVMPositionBuilderAtEnd(e->b, then);
    return after;
}

void ws_end_if(WsEmit *e, LLVMBasicBlockRef after)
{
    LLVMBuildBr(e->b, after);
    LLVMMoveBasicBlockAfter(after, LLVMGetInsertBlock(e->b));
    LLVMPositionBuilderAtEnd(e->b, after);
}

static LLVMValueRef nonzero(WsEmit *e, WsUniform u)
{
    return LLVMBuildICmp(e->b, LLVMIntNE, u.v, ws_i32(e, 0), "");
}

/* --- sequences --------------------------------------------------------------------------------*/

/* The other threads keep the old values of what code under `if (leader)` changes. */
static void left(gpointer data, gint var)
{
    ((WsEmit *)data)->var[var].stale = TRUE;
}

static void one(WsEmit *e, const WsTree *seq, guint i)
{
    const WsTree *t = seq->kid[i];
    ws_record_begin_kid(e, seq, i);
    if (t->kind == WS_TREE_OP)
        ws_record_before(e, t->op);
    ws_control_tree(e, t);
    if (t->kind == WS_TREE_OP)
        ws_record_after(e, t->op);
    ws_record_end_kid(e, seq, i);
}

/* Neighbours that only the leader runs share one guard. Returns the index after the last. */
static guint leader_run(WsEmit *e, const WsTree *seq, guint i)
{
    LLVMBasicBlockRef after = ws_if(e, e->leader, "leader");
    e->in_leader = TRUE;
    for (; i < seq->n_kids && ws_tree_wants_leader(seq->kid[i]) && !e->error; i++) {
        ws_watch_before(e, seq->kid[i]);
        one(e, seq, i);
        ws_tree_left_behind(seq->kid[i], left, e);
    }
    e->in_leader = FALSE;
    ws_end_if(e, after);
    return i;
}

static void sequence(WsEmit *e, const WsTree *t)
{
    if (e->kind) {
        e->kind->sequence(e, t);
        return;
    }
    GArray *outer = g_steal_pointer(&e->looked_up); /* the places of other rows */
    guint drop = 0;
    for (guint i = 0; i < t->n_kids && !e->error;) {
        if (drop && i >= drop) {
            g_clear_pointer(&e->looked_up, g_array_unref);
            drop = 0;
        }
        if (!e->looked_up)
            drop = ws_gather_look_up(e, t, i);
        for (guint k = i;
             e->put_off && k < t->n_kids && (k == i || ws_tree_wants_leader(t->kid[k])); k++)
            ws_watch_before(e, t->kid[k]); /* not under the guard of a run of the leader */
        if (!e->in_leader && ws_tree_wants_leader(t->kid[i]))
            i = leader_run(e, t, i);
        else
            one(e, t, i++);
    }
    g_clear_pointer(&e->looked_up, g_array_unref);
    e->looked_up = outer;
    ws_watch_flush(e);
}

/* --- loops ------------------------------------------------------------------------------------*/

typedef struct {
    const WsTree *tree;
    WsUniform from, step; /* index of round i: from + step*i */
} Loop;

void ws_control_count(WsEmit *e, const WsTree *t)
{
    if (t->total_var < 0)
        return;
    LLVMValueRef cell = e->var[t->total_var].v;
    LLVMBuildStore(e->b, ws_add(e, ws_load(e, e->i32, cell, ""), 1), cell);
}

/* One round: binds the index, emits the body, counts. `leader` flags of a group body hold inside.
 */
static void round_of(WsEmit *e, const Loop *loop, WsUniform i)
{
    WsUniform scaled = ws_uniform_op(e, WS_EXPR_MUL, i, loop->step);
    WsUniform index = ws_uniform_op(e, WS_EXPR_ADD, loop->from, scaled);
    if (loop->tree->index_var >= 0)
        e->var[loop->tree->index_var] = (WsBinding){ WS_BIND_VALUE, index.v, index.lo, index.hi };
    ws_watch_round(e, loop->tree, i.v);
    ws_control_tree(e, loop->tree->kid[0]);
    ws_control_count(e, loop->tree);
    if (loop->tree->index_var >= 0)
        e->var[loop->tree->index_var].kind = WS_BIND_NONE;
}

void ws_control_latch(WsEmit *e, WsLatch *latch)
{
    if (latch->next)
        return;
    latch->next = ws_add(e, latch->round, latch->by);
    latch->more = LLVMBuildICmp(e->b, LLVMIntSLT, latch->next, latch->last, "");
}

static void rolled(WsEmit *e, const Loop *loop, WsUniform first, WsUniform last, guint by);

/* The same where one round in `every` is recorded: up to that round a loop without clocks, which is
 * the timed build's, then the `by` rounds that it is one of, and so on. A branch in the body
 * instead would change what ptxas makes of it (block scales: 9 % of the time). */
static void sampled(WsEmit *e, const Loop *loop, const WsRecordStrip *strip, WsUniform first,
                    WsUniform last, guint by)
{
    const WsRecorder *recorder = e->recorder;
    const gint64 hi = last.hi < WS_UNIFORM_MAX ? last.hi - 1 : WS_UNIFORM_MAX;
    LLVMBasicBlockRef head = ws_block(e, "sampled"), after = ws_block(e, "sampled.after");
    LLVMValueRef cell = ws_cell(e, e->i32, "sampled.round");
    LLVMBuildStore(e->b, first.v, cell);
    LLVMBuildCondBr(e->b, nonzero(e, ws_uniform_op(e, WS_EXPR_LT, first, last)), head, after);
    LLVMPositionBuilderAtEnd(e->b, head);
    LLVMValueRef i = ws_load(e, e->i32, cell, "");
    LLVMValueRef total = ws_load(e, e->i32, e->var[loop->tree->total_var].v, "");
    LLVMValueRef left = LLVMBuildSub(e->b, ws_record_phase_value(e, strip), total, "");
    left = LLVMBuildAnd(e->b, left, ws_i32(e, strip->every - 1), "");
    left = LLVMBuildSub(e->b, left, LLVMBuildURem(e->b, left, ws_i32(e, by), ""), "");
    LLVMValueRef stop = LLVMBuildAdd(e->b, i, left, "");
    LLVMValueRef inside = LLVMBuildICmp(e->b, LLVMIntSLT, stop, last.v, "");
    stop = LLVMBuildSelect(e->b, inside, stop, last.v, "");
    e->recorder = NULL;
    rolled(e, loop, ws_uniform_value(i, first.lo, hi), ws_uniform_value(stop, first.lo, last.hi),
           by);
    e->recorder = recorder;
    /* made here, so that the loop falls through to it as the timed build's does */
    LLVMBasicBlockRef clocks = ws_block(e, "sampled.recorded");
    LLVMBuildCondBr(e->b, inside, clocks, after);
    LLVMPositionBuilderAtEnd(e->b, clocks);
    for (guint j = 0; j < by && !e->error; j++)
        round_of(e, loop, ws_uniform_value(ws_add(e, stop, j), first.lo + j, hi));
    LLVMValueRef next = ws_add(e, stop, by);
    LLVMBuildStore(e->b, next, cell);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, next, last.v, ""), head, after);
    LLVMMoveBasicBlockAfter(after, latch);
    LLVMPositionBuilderAtEnd(e->b, after);
}

/* Rounds first..last-1, `by` at a time, as a loop with the test at its end; the number of rounds is
 * a multiple of `by`. */
static void rolled(WsEmit *e, const Loop *loop, WsUniform first, WsUniform last, guint by)
{
    g_autofree char *after_name = g_strconcat(loop->tree->name, ".after", NULL);
    WsUniform any = ws_uniform_op(e, WS_EXPR_LT, first, last);
    gint64 known = 0;
    gboolean sure = ws_uniform_known(&any, &known);
    if (sure && !known) {
        ws_account_never(&e->account, loop->tree);
        return;
    }
    const WsRecordStrip *strip = ws_record_sampled(e, loop->tree);
    if (strip) {
        sampled(e, loop, strip, first, last, by);
        return;
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef body = ws_block(e, loop->tree->name), after = ws_block(e, after_name);
    if (sure)
        LLVMBuildBr(e->b, body);
    else
        LLVMBuildCondBr(e->b, nonzero(e, any), body, after);
    LLVMPositionBuilderAtEnd(e->b, body);
    LLVMValueRef i = LLVMBuildPhi(e->b, e->i32, loop->tree->name);
    gint64 hi = last.hi < WS_UNIFORM_MAX ? last.hi - 1 : WS_UNIFORM_MAX;
    WsLatch latch = { .loop = loop->tree, .round = i, .last = last.v, .by = by };
    WsLatch *outer = e->rec_latch;
    e->rec_latch = &latch;
    for (guint j = 0; j < by && !e->error; j++)
        round_of(e, loop, ws_uniform_value(ws_add(e, i, j), first.lo + j, hi));
    e->rec_latch = outer;
    ws_control_latch(e, &latch);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    LLVMBuildCondBr(e->b, latch.more, body, after);
    LLVMAddIncoming(i, (LLVMValueRef[]){ first.v, latch.next },
                    (LLVMBasicBlockRef[]){ before, from }, 2);
    LLVMMoveBasicBlockAfter(after, from);
    LLVMPositionBuilderAtEnd(e->b, after);
}

#define WS_UNROLL_MOST 4096

/* Rounds first..last-1 with known bounds, each emitted by itself. */
static void unrolled(WsEmit *e, const Loop *loop, gint64 first, gint64 last)
{
    if (last - first > WS_UNROLL_MOST) {
        ws_emit_step_error(e, NULL, "unrolling more than 4096 rounds");
        return;
    }
    if (first >= last)
        ws_account_never(&e->account, loop->tree);
    for (gint64 i = first; i < last && !e->error; i++)
        round_of(e, loop, ws_uniform_const(e, i));
}

static void stretch(WsEmit *e, const Loop *loop, WsUniform first, WsUniform last)
{
    gint64 a, b;
    gboolean known = ws_uniform_known(&first, &a) && ws_uniform_known(&last, &b);
    if (known && (b - a <= 1 || loop->tree->unroll < 0)) {
        unrolled(e, loop, a, b);
        return;
    }
    if (loop->tree->unroll < 0) {
        ws_emit_step_error(e, NULL, "full unrolling of a loop whose count is not constant");
        return;
    }
    /* a peeled round that may be missing: `0 .. min(1, count)` */
    if (ws_uniform_known(&first, &a) && last.hi == a + 1) {
        LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntSLT, first.v, last.v, "");
        LLVMBasicBlockRef after = ws_if(e, some, loop->tree->name);
        round_of(e, loop, first);
        ws_end_if(e, after);
        return;
    }
    guint by = loop->tree->unroll > 1 ? (guint)MIN(loop->tree->unroll, 64) : 1;
    if (by > 1) { /* whole groups of rounds, then the rest one by one */
        WsUniform n = ws_uniform_const(e, by), rounds = ws_uniform_op(e, WS_EXPR_SUB, last, first);
        rounds = ws_uniform_op(e, WS_EXPR_MUL, ws_uniform_op(e, WS_EXPR_DIV, rounds, n), n);
        WsUniform whole = ws_uniform_op(e, WS_EXPR_ADD, first, rounds);
        WsUniform less = ws_uniform_op(e, WS_EXPR_LT, whole, first); /* no round at all */
        gint64 sure;
        if (!ws_uniform_known(&less, &sure))
            whole = ws_uniform_value(LLVMBuildSelect(e->b, nonzero(e, less), first.v, whole.v, ""),
                                     first.lo, MAX(whole.hi, first.hi));
        rolled(e, loop, first, whole, by);
        first = whole;
    }
    rolled(e, loop, first, last, 1);
}

/* Round at which the index reaches `cut`: max(0, cdiv(cut - from, step)), at most count. */
static WsUniform cut_round(WsEmit *e, const Loop *loop, WsUniform cut, WsUniform low,
                           WsUniform count)
{
    WsUniform far = ws_uniform_op(e, WS_EXPR_SUB, cut, loop->from);
    WsUniform r = ws_uniform_cdiv(e, far, loop->step);
    r = ws_uniform_min(e, r, count);
    WsUniform less = ws_uniform_op(e, WS_EXPR_LT, r, low);
    gint64 known;
    if (ws_uniform_known(&less, &known))
        return known ? low : r;
    LLVMValueRef v = LLVMBuildSelect(e->b, nonzero(e, less), low.v, r.v, "");
    return ws_uniform_value(v, MAX(r.lo, low.lo), MAX(r.hi, low.hi));
}

/* A loop over a pipe: the slot that has been waited for says whether there is another round. Its
 * count is the writer's, and no thread computes it. */
static void asked(WsEmit *e, const Loop *loop)
{
    g_autofree char *after_name = g_strconcat(loop->tree->name, ".after", NULL);
    g_autofree char *test_name = g_strconcat(loop->tree->name, ".ask", NULL);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), test = ws_block(e, test_name);
    LLVMBasicBlockRef body = ws_block(e, loop->tree->name), after = ws_block(e, after_name);
    LLVMBuildBr(e->b, test);
    LLVMPositionBuilderAtEnd(e->b, test);
    LLVMValueRef i = LLVMBuildPhi(e->b, e->i32, loop->tree->name);
    LLVMBuildCondBr(e->b, ws_dynamic_goes_on(e, loop->tree->ask), body, after);
    LLVMPositionBuilderAtEnd(e->b, body);
    round_of(e, loop, ws_uniform_value(i, 0, WS_UNIFORM_MAX));
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMAddIncoming(i, (LLVMValueRef[]){ ws_i32(e, 0), ws_add(e, i, 1) },
                    (LLVMBasicBlockRef[]){ before, latch }, 2);
    LLVMBuildBr(e->b, test);
    LLVMMoveBasicBlockAfter(after, latch);
    LLVMPositionBuilderAtEnd(e->b, after);
}

static void counted(WsEmit *e, const WsTree *t)
{
    WsUniform zero = ws_uniform_const(e, 0);
    Loop loop = { t, t->from ? ws_uniform(e, t->from) : zero,
                  t->step_by ? ws_uniform(e, t->step_by) : ws_uniform_const(e, 1) };
    if (t->ask) {
        asked(e, &loop);
        return;
    }
    WsUniform count = ws_uniform(e, t->count), low = zero;
    for (guint i = 0; i < t->n_cuts && !e->error; i++) {
        WsUniform high = cut_round(e, &loop, ws_uniform(e, t->cut[i]), low, count);
        ws_cuts_enter(e->cuts, t, i);
        stretch(e, &loop, low, high);
        ws_cuts_leave(e->cuts, t, i);
        low = high;
    }
    ws_cuts_enter(e->cuts, t, t->n_cuts);
    stretch(e, &loop, low, count);
    ws_cuts_leave(e->cuts, t, t->n_cuts);
}

/* --- branches ---------------------------------------------------------------------------------*/

static void branch(WsEmit *e, const WsTree *t)
{
    WsUniform c = ws_uniform_truth(e, ws_uniform(e, t->cond));
    const WsTree *otherwise = t->n_kids > 1 ? t->kid[1] : NULL;
    gint64 known;
    if (ws_uniform_known(&c, &known)) {
        const WsTree *taken = known ? t->kid[0] : otherwise;
        ws_account_never(&e->account, known ? otherwise : t->kid[0]);
        if (taken)
            ws_control_tree(e, taken);
        return;
    }
    LLVMBasicBlockRef then = ws_block(e, "then"), other = ws_block(e, "else");
    LLVMBasicBlockRef after = otherwise ? ws_block(e, "if.after") : other;
    LLVMBuildCondBr(e->b, nonzero(e, c), then, other);
    LLVMPositionBuilderAtEnd(e->b, then);
    ws_control_tree(e, t->kid[0]);
    LLVMBuildBr(e->b, after);
    if (otherwise) {
        LLVMMoveBasicBlockAfter(other, LLVMGetInsertBlock(e->b));
        LLVMPositionBuilderAtEnd(e->b, other);
        ws_control_tree(e, otherwise);
        LLVMBuildBr(e->b, after);
    }
    LLVMMoveBasicBlockAfter(after, LLVMGetInsertBlock(e->b));
    LLVMPositionBuilderAtEnd(e->b, after);
}

void ws_control_tree(WsEmit *e, const WsTree *t)
{
    if (e->error)
        return;
    if (t->leader && !e->in_leader) { /* reached by other ways than a sequence */
        LLVMBasicBlockRef after = ws_if(e, e->leader, "leader");
        e->in_leader = TRUE;
        ws_control_tree(e, t);
        ws_tree_left_behind(t, left, e);
        e->in_leader = FALSE;
        ws_end_if(e, after);
        return;
    }
    switch (t->kind) {
    case WS_TREE_SEQ:
        sequence(e, t);
        return;
    case WS_TREE_OP:
        ws_op_emit(e, t->op);
        return;
    case WS_TREE_BRANCH:
        branch(e, t);
        return;
    case WS_TREE_LOOP:
        if (t->over == WS_OVER_TILES)
            ws_tiles_loop(e, t);
        else
            counted(e, t);
        return;
    }
}
