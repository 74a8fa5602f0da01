/* One operation in TLX: lower.def says how. Synchronisation and copies. */
#include "codegen/python/tlx/tlx.h"
#include "codegen/python/triton/triton.h"
#include "program/op.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/transfer.h"
#include "program/program.h"

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

/* "16384 + 32768": what each load of the transaction brings; NULL: not all of it are loads. */
static const char *bytes_of(WsPy *y, const WsOp *expect)
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
        const WsPyBox *box = ws_py_call(y, ws_tlx(y)->boxes, op);
        if (!box)
            return NULL;
        gint64 one = ws_dtype_bytes(y->p->tensor[box->tensor].dtype);
        for (guint d = 0; d < box->rank; d++)
            one *= box->block[d];
        bytes += one;
        s = ws_py_format(y, "%s%s%" G_GINT64_FORMAT, s, *s ? " + " : "", one);
    }
    return *s && bytes == expect->bytes ? s : NULL;
}

void ws_tlx_expect(WsPy *y, const WsOp *op)
{
    if (op->count < 1) {
        ws_py_refuse(y, op, "expected bytes without an arrival (TLX arrives with them)",
                     "let the copy arrive");
        return;
    }
    const char *bytes = bytes_of(y, op);
    if (!bytes)
        bytes = ws_py_format(y, "%" G_GINT64_FORMAT, op->bytes);
    ws_py_line(y, "tlx.barrier_expect_bytes(%s, %s)", slot_of(y, op), bytes);
    if (op->count > 1)
        arrive(y, op, op->count - 1);
}

void ws_tlx_named(WsPy *y, const WsOp *op)
{
    if (op->barrier < 0) {
        ws_py_refuse(y, op, "a barrier of the whole CTA between groups", "an mbarrier or two");
        return;
    }
    gint64 element = 0;
    if (op->element && !ws_py_constant(y, op->element, &element)) {
        ws_py_refuse(y, op, "a named barrier whose element is not constant", NULL);
        return;
    }
    const gboolean sync = ws_op_waits_join(op->kind);
    const guint number = (guint)op->barrier;
    if (!ws_py_between_groups(y, number)) {
        if (sync)
            ws_py_line(y, "tl.debug_barrier()");
        return;
    }
    const char *at = y->barrier[number];
    if (y->p->barrier[number].array > 1)
        at = ws_py_format(y, "%s + %s", at, ws_py_text(y, op->element));
    ws_py_line(y, "tlx.named_barrier_%s(%s, %" G_GINT64_FORMAT ")", sync ? "wait" : "arrive", at,
               op->count);
}

/* --- copies ------------------------------------------------------------------------------------*/

/* The view as the descriptor wants it: its rank, with the extents of its block. */
static const char *as_block(WsPy *y, const WsPyBox *box, const WsAccess *a, const char *part)
{
    WsAccess all = *a;
    all.rows = box->rows;
    all.cols = box->cols;
    const char *view = part ? ws_tlx_part_view(y, &all, part) : ws_tlx_view(y, &all), *shape = "";
    if (box->rank == y->p->buffer[a->buffer].rank)
        return view;
    for (guint i = 0; i < box->rank; i++)
        shape = ws_py_format(y, "%s%s%u", shape, i ? ", " : "", ws_py_block(box, i));
    return ws_py_format(y, "tlx.local_reshape(%s, [%s])", view, shape);
}

static void copy(WsPy *y, const WsOp *op, const WsPyBox *box, gboolean load)
{
    const WsBuffer *b = &y->p->buffer[op->access[0].buffer];
    guint dim, n = ws_py_parts(box, &dim), rows = n > 1 ? ws_py_block(box, dim) : 0;
    if (n > 1 && (box->rows != b->rows || rows != ws_py_part_rows(b->rows))) {
        ws_py_refuse(y, op, "a copy of a number of rows that is no power of two",
                     "copy 2^n rows, or whole tiles");
        return;
    }
    const char *at = n > 1 ? ws_py_part_coordinates(y, op, dim, rows) : ws_py_coordinates(y, op);
    const char *view = as_block(y, box, &op->access[0], n > 1 ? "part" : NULL);
    if (n > 1)
        ws_py_open(y, "for part in tl.static_range(%u)", n);
    if (load)
        ws_py_line(y, "tlx.async_descriptor_load(%s, %s, [%s], %s)", box->name, view, at,
                   slot_of(y, op));
    else
        ws_py_line(y, "tlx.async_descriptor_store(%s, %s, [%s])", box->name, view, at);
    if (n > 1)
        ws_py_close(y);
}

void ws_tlx_load(WsPy *y, const WsOp *op)
{
    const WsPyBox *box = ws_py_call(y, ws_tlx(y)->boxes, op);
    if (box)
        copy(y, op, box, TRUE);
}

void ws_tlx_store(WsPy *y, const WsOp *op)
{
    const WsPyBox *box = ws_py_call(y, ws_tlx(y)->boxes, op);
    guint dim;
    if (op->reduce != WS_REDUCE_NONE)
        ws_py_refuse(y, op, "a store that reduces (`check --from tlx` does not read it)",
                     "write the values to the tensor");
    else if (box && strcmp(op->id, op->step) != 0) /* a wait counts steps, and would count both */
        ws_py_refuse(y, op, "a store in boxes of several shapes", "store it in two steps");
    else if (box && ws_py_parts(box, &dim) > 1)
        ws_py_refuse(y, op, "a store of a number of rows that is no power of two",
                     "store 2^n rows at a time");
    else if (box)
        copy(y, op, box, FALSE);
}

/* Each call there is a group, whatever the design commits together. */
void ws_tlx_store_wait(WsPy *y, const WsOp *op)
{
    if (op->full) {
        ws_py_refuse(y, op, "a wait for the writes of stores (TLX waits for their reads)",
                     "wait for reads, or end the kernel there");
        return;
    }
    const gint64 n = ws_py_stay(y, op);
    if (n >= 0)
        ws_py_line(y, "tlx.async_descriptor_store_wait(%" G_GINT64_FORMAT ")", n);
}

/* --- operations --------------------------------------------------------------------------------*/

typedef struct {
    void (*print)(WsPy *y, const WsOp *op);
    const char *implied, *fixed, *why, *change;
} Row;

#define NO_GATHER                                       WS_WORD("a gather into shared memory (TLX's async_load signals no mbarrier)")
#define UNKNOWN                                         NULL
#define CONTROL                                         NULL
#define IMPLIED(how)                                    NULL, how
#define FIXED(text)                                     NULL, NULL, text
#define NOT(why, change)                                NULL, NULL, NULL, why, change
#define WS_LOWER(id, prim, llvm, cuda, gluon, tle, tlx) [WS_OP_##id] = { tlx },
static const Row table[WS_OP_KIND_COUNT] = {
#include "codegen/lower.def"
};

void ws_tlx_op(WsPy *y, const WsOp *op)
{
    const Row *row = &table[op->kind];
    if (ws_py_beyond(op)) {
        ws_py_refuse(y, op,
                     op->transfer
                         ? "a multicast copy (`check --from tlx` does not read it)"
                         : "an arrival in another CTA (`check --from tlx` does not read it)",
                     "a design of cluster 1");
        return;
    }
    if (row->why || (!row->print && !row->fixed && !row->implied)) {
        ws_py_refuse(y, op, row->why ? row->why : ws_op_kind_text(op->kind), row->change);
        return;
    }
    if (row->implied)
        ws_py_implied(y, op, row->implied);
    else
        ws_py_step_comment(y, op);
    if (row->fixed)
        ws_py_line(y, "%s", row->fixed);
    else if (row->print)
        row->print(y, op);
}
