/* One operation in TLX: lower.def says how. Synchronisation and copies. */
#include "base/phrase.h"
#include "codegen/python/tlx/tlx.h"
#include "codegen/python/triton/triton.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/transfer.h"

#include <string.h>

/* --- barriers ----------------------------------------------------------------------------------*/

static const char *slot_of(WsPy *y, const WsOp *op)
{
    return ws_py_format(y, "%s[%s]", y->barrier[op->barrier], ws_py_slot(y, op));
}

void ws_tlx_wait(WsPy *y, const WsOp *op)
{
    ws_py_line(y, "tlx.barrier_wait(%s, %s)", slot_of(y, op), ws_py_parity(y, op));
}

static void arrive(WsPy *y, const WsOp *op, gint64 count)
{
    const char *n = count == 1 ? "" : ws_py_format(y, ", %" G_GINT64_FORMAT, count);
    ws_py_line(y, "tlx.barrier_arrive(%s%s)", slot_of(y, op), n);
}

void ws_tlx_arrive(WsPy *y, const WsOp *op)
{
    arrive(y, op, op->count);
}

static const char *bytes_of(WsPy *y, const WsPyBox *box, gint64 bytes)
{
    return ws_py_format(y, "%" G_GINT64_FORMAT, bytes);
}

void ws_tlx_expect(WsPy *y, const WsOp *op)
{
    if (op->count < 1) {
        ws_py_refuse(y, op, "expected bytes without an arrival (TLX arrives with them)",
                     "let the copy arrive");
        return;
    }
    const char *bytes = ws_py_expected(y, op, bytes_of);
    if (!bytes)
        bytes = ws_py_format(y, "%" G_GINT64_FORMAT, op->bytes);
    ws_py_line(y, "tlx.barrier_expect_bytes(%s, %s)", slot_of(y, op), bytes);
    if (op->count > 1)
        arrive(y, op, op->count - 1);
}

void ws_tlx_named(WsPy *y, const WsOp *op)
{
    const gboolean sync = ws_op_waits_join(op->kind);
    const char *at = ws_py_named(y, op);
    if (at && *at)
        ws_py_line(y, "tlx.named_barrier_%s(%s, %" G_GINT64_FORMAT ")", sync ? "wait" : "arrive",
                   at, op->count);
    else if (at && sync)
        ws_py_line(y, "tl.debug_barrier()");
}

/* --- copies ------------------------------------------------------------------------------------*/

static void line(WsPy *y, const WsOp *op, const WsPyBox *box, const char *at, const char *view)
{
    if (ws_op_row(op->kind)->from == WS_DATA_AT_TENSOR)
        ws_py_line(y, "tlx.async_descriptor_load(%s, %s, [%s], %s)", box->name, view, at,
                   slot_of(y, op));
    else
        ws_py_line(y, "tlx.async_descriptor_store(%s, %s, [%s])", box->name, view, at);
}

static const char *reshaped(WsPy *y, const char *view, const char *block)
{
    return ws_py_format(y, "tlx.local_reshape(%s, [%s])", view, block);
}

static const WsPyCopier copier = { ws_tlx_view, ws_tlx_stage, reshaped, line };

void ws_tlx_load(WsPy *y, const WsOp *op)
{
    const WsPyBox *box = ws_py_call(y, op);
    if (box)
        ws_py_copy(y, op, box, &copier);
}

void ws_tlx_store(WsPy *y, const WsOp *op)
{
    const WsPyBox *box = ws_py_call(y, op);
    if (op->reduce != WS_REDUCE_NONE)
        ws_py_refuse(y, op, "a store that reduces (`check --from tlx` does not read it)",
                     "write the values to the tensor");
    else if (box && ws_py_single_store(y, op, box))
        ws_py_copy(y, op, box, &copier);
}

/* Each call there is a group, whatever the design commits together. */
void ws_tlx_store_wait(WsPy *y, const WsOp *op)
{
    if (op->full) {
        ws_py_refuse(y, op, "a wait for the writes of stores (TLX waits for their reads)",
                     "wait for reads, or end the kernel there");
        return;
    }
    ws_py_line(y, "tlx.async_descriptor_store_wait(%" G_GINT64_FORMAT ")",
               ws_py_stores_stay(y, op));
}

/* --- operations --------------------------------------------------------------------------------*/

#define NO_GATHER                                       WS_WORD("a gather into shared memory (TLX's async_load signals no mbarrier)")
#define UNKNOWN                                         NULL
#define CONTROL                                         NULL
#define IMPLIED(how)                                    NULL, how
#define FIXED(text)                                     NULL, NULL, text
#define CLOSED_PIPE                                     WS_WORD("a loop that ends when the writer closes a pipe")
#define COUNTED                                         WS_WORD("give the loop a count, and drop `close`")
#define NOT(why, change)                                NULL, NULL, NULL, why, change
#define WS_LOWER(id, prim, llvm, cuda, gluon, tle, tlx) [WS_OP_##id] = { tlx },
static const WsPyRow table[WS_OP_KIND_COUNT] = {
#include "codegen/lower.def"
};

void ws_tlx_op(WsPy *y, const WsOp *op)
{
    if (ws_py_beyond(op)) {
        ws_py_refuse(y, op,
                     op->transfer
                         ? "a multicast copy (`check --from tlx` does not read it)"
                         : "an arrival in another CTA (`check --from tlx` does not read it)",
                     "a design of cluster 1");
        return;
    }
    ws_py_row(y, op, &table[op->kind]);
}
