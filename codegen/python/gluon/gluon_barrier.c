/* mbarriers, and named barriers. 3.6 has no call for these, but PTX inline: as mbarriers, where
 * every arrival synchronises its group first, they cost attention 2 % (measured). */
#include "codegen/python/gluon/gluon.h"
#include "program/op.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/transfer.h"
#include "program/program.h"
#include "target/target.h"

static const char *slot_of(WsPy *y, const WsOp *op)
{
    return ws_py_format(y, "%s.index(%s)", y->barrier[op->barrier], ws_py_slot(y, op));
}

void ws_gluon_wait(WsPy *y, const WsOp *op)
{
    ws_py_line(y, "mbarrier.wait(%s, %s)", slot_of(y, op), ws_py_parity(y, op));
}

void ws_gluon_arrive(WsPy *y, const WsOp *op)
{
    if (op->count == 1)
        ws_py_line(y, "mbarrier.arrive(%s)", slot_of(y, op));
    else
        ws_py_line(y, "mbarrier.arrive(%s, count=%" G_GINT64_FORMAT ")", slot_of(y, op), op->count);
}

/* "A_desc.block_type.nbytes + B_desc.block_type.nbytes": what the loads of an expect bring, as
 * their descriptors say it; NULL: the figure says it. */
static const char *blocks_of(WsPy *y, const WsOp *expect)
{
    const WsTransaction *t = NULL;
    for (guint i = 0; i < y->p->n_transactions; i++) {
        if (y->p->transaction[i]->expect == expect)
            t = y->p->transaction[i];
    }
    const char *s = "";
    gint64 bytes = 0;
    for (guint i = 0; t && i < t->n; i++) {
        const WsOp *op = t->op[i];
        if (!op->transfer || ws_op_row(op->kind)->from != WS_DATA_AT_TENSOR)
            return NULL;
        if (!ws_py_first_box(op))
            continue;
        const WsPyBox *box = ws_py_call(y, ws_gluon(y)->boxes, op);
        if (!box)
            return NULL;
        gint64 one = ws_dtype_bytes(y->p->tensor[box->tensor].dtype);
        for (guint d = 0; d < box->rank; d++) {
            if (ws_py_block(box, d) != box->block[d])
                return NULL;
            one *= box->block[d];
        }
        bytes += one;
        s = ws_py_format(y, "%s%s%s.block_type.nbytes", s, *s ? " + " : "", box->name);
    }
    return *s && bytes == expect->bytes ? s : NULL;
}

void ws_gluon_expect(WsPy *y, const WsOp *op)
{
    if (op->count < 1) {
        ws_py_refuse(y, op, "expected bytes without an arrival (3.6 arrives with them)",
                     "let the copy arrive");
        return;
    }
    const char *blocks = blocks_of(y, op);
    if (blocks)
        ws_py_line(y, "mbarrier.expect(%s, %s)", slot_of(y, op), blocks);
    else
        ws_py_line(y, "mbarrier.expect(%s, %" G_GINT64_FORMAT ")", slot_of(y, op), op->bytes);
    if (op->count > 1)
        ws_py_line(y, "mbarrier.arrive(%s, count=%" G_GINT64_FORMAT ")", slot_of(y, op),
                   op->count - 1);
}

void ws_gluon_named(WsPy *y, const WsOp *op)
{
    if (op->barrier < 0) {
        ws_py_refuse(y, op, "a barrier of the whole CTA between groups", "an mbarrier or two");
        return;
    }
    guint number = (guint)op->barrier;
    gint64 element = 0;
    if (op->element && !ws_py_constant(y, op->element, &element)) {
        ws_py_refuse(y, op, "a named barrier whose element is not constant", NULL);
        return;
    }
    gboolean sync = ws_op_waits_join(op->kind);
    if (!ws_py_between_groups(y, number)) {
        if (sync)
            ws_py_line(y, "gl.thread_barrier()");
        return;
    }
    const WsBarrier *b = &y->p->barrier[number];
    const char *at = y->barrier[number];
    if (b->array > 1)
        at = ws_py_format(y, "%s + %s", at, ws_py_text(y, op->element));
    ws_py_line(y, "%s(%s, %" G_GINT64_FORMAT ")",
               ws_py_helper(y, sync ? "named_sync" : "named_arrive"), at, op->count);
}

/* --- storage
 * ------------------------------------------------------------------------------------*/

static void initialise(WsPy *y, guint i, guint slots)
{
    const WsBarrier *b = &y->p->barrier[i];
    gboolean alike = TRUE;
    for (guint e = 1; e < b->array; e++)
        alike = alike && b->arrivals[e] == b->arrivals[0];
    if (alike) {
        ws_py_open(y, "for i in gl.static_range(%u)", b->array * slots);
        ws_py_line(y, "mbarrier.init(%s.index(i), count=%u)", y->barrier[i], b->arrivals[0]);
        ws_py_close(y);
        return;
    }
    for (guint e = 0; e < b->array; e++) {
        ws_py_open(y, "for i in gl.static_range(%u)", slots);
        ws_py_line(y, "mbarrier.init(%s.index(%u + i), count=%u)", y->barrier[i], e * slots,
                   b->arrivals[e]);
        ws_py_close(y);
    }
}

void ws_gluon_barriers(WsPy *y)
{
    for (guint i = 0; i < y->p->n_barriers; i++) {
        const WsBarrier *b = &y->p->barrier[i];
        if (b->kind == WS_BARRIER_NAMED)
            continue;
        guint slots = MAX(b->slots, 1);
        ws_py_line(y,
                   "%s = gl.allocate_shared_memory(gl.int64, [%u, 1], mbarrier.MBarrierLayout())%s",
                   y->barrier[i], b->array * slots,
                   b->ready && b->ready[0] ? "  # ready: the first waits pass" : "");
        initialise(y, i, slots);
    }
}
