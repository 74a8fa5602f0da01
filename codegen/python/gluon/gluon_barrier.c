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

/* What a descriptor says of its bytes; NULL: a load is several calls, and the figure says it. */
static const char *block_bytes(WsPy *y, const WsPyBox *box, gint64 bytes)
{
    for (guint d = 0; d < box->rank; d++) {
        if (ws_py_block(box, d) != box->block[d])
            return NULL;
    }
    return ws_py_format(y, "%s.block_type.nbytes", box->name);
}

void ws_gluon_expect(WsPy *y, const WsOp *op)
{
    if (op->count < 1) {
        ws_py_refuse(y, op, "expected bytes without an arrival (3.6 arrives with them)",
                     "let the copy arrive");
        return;
    }
    const char *blocks = ws_py_expected(y, op, block_bytes);
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
    const gboolean sync = ws_op_waits_join(op->kind);
    const char *at = ws_py_named(y, op);
    if (at && *at)
        ws_py_line(y, "%s(%s, %" G_GINT64_FORMAT ")",
                   ws_py_helper(y, sync ? "named_sync" : "named_arrive"), at, op->count);
    else if (at && sync)
        ws_py_line(y, "gl.thread_barrier()");
}

/* --- storage ---------------------------------------------------------------------------------- */

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
