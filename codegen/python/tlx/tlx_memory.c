/* TLX: views of shared memory, what moves between it and values, products and their waits. */
#include "codegen/python/tlx/tlx.h"
#include "codegen/python/triton/triton.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

/* --- views -------------------------------------------------------------------------------------*/

const char *ws_tlx_stage(WsPy *y, const WsAccess *a, const char *part)
{
    return ws_py_format(y, "%s[%s]", y->buffer[a->buffer], ws_py_part_stage(y, a, part));
}

const char *ws_tlx_view(WsPy *y, const WsAccess *a)
{
    const WsBuffer *b = &y->p->buffer[a->buffer];
    const char *part = ws_py_view_part(y, a), *s = ws_tlx_stage(y, a, part);
    if (part)
        return s;
    if (a->rows == b->rows && a->cols == b->cols)
        return s;
    if (b->rank == 1)
        ws_py_refuse(y, y->op, "part of a line of shared memory", "make the part a buffer");
    return ws_py_format(y, "tlx.local_slice(%s, [%s, %s], [%u, %u])", s, ws_py_text(y, a->row0),
                        ws_py_text(y, a->col0), a->rows, a->cols);
}

static const char *operand(WsPy *y, const WsAccess *a, gboolean turned)
{
    const char *view = ws_tlx_view(y, a);
    return turned ? ws_py_format(y, "tlx.local_trans(%s)", view) : view;
}

/* --- products ----------------------------------------------------------------------------------*/

/* There is no flag for an accumulator that starts at 0: it is zeros before, or no argument. */
void ws_tlx_mma(WsPy *y, const WsOp *op)
{
    const WsMma *m = op->mma;
    const WsValueUse *u = &op->value[0];
    gint64 first = 0;
    const gboolean fixed = !m->first || ws_py_constant(y, m->first, &first);
    if (!ws_py_whole(y, u) || (m->a.in_registers && !ws_py_whole(y, &op->value[1]))) {
        ws_py_refuse(y, op, "a product with part of a value", "make the part a value of its own");
        return;
    }
    if (m->acc_type != WS_DTYPE_F32) {
        ws_py_refuse(y, op,
                     "an accumulator that is not f32 (`check --from tlx` reads no out_dtype)",
                     "accumulate in f32");
        return;
    }
    const char *acc = y->value[u->value];
    if (!fixed && !ws_py_zeros_before(op)) {
        if (ws_py_accumulates(op, u->value)) {
            ws_py_refuse(y, op, "`first` decided while the accumulator is in flight",
                         "wait for its products before, or let `first` be true");
            return;
        }
        ws_py_line(y, "%s = tl.where(%s, 0.0, %s)", acc,
                   ws_py_truth(y, ws_py_uniform(y, m->first)).s, acc);
    }
    const char *a = m->a.in_registers ? y->value[op->value[1].value]
                                      : operand(y, &op->access[0], op->access[0].transposed);
    const WsAccess *b = &op->access[m->a.in_registers ? 0 : 1];
    const char *remark =
        fixed ? "" : ws_py_format(y, "  # first: %s", ws_py_uniform(y, m->first).s);
    ws_py_line(y, "%s = tlx.async_dot(%s, %s%s%s)%s", acc, a, operand(y, b, !b->transposed),
               fixed && first ? "" : ", ", fixed && first ? "" : acc, remark);
}

void ws_tlx_mma_wait(WsPy *y, const WsOp *op)
{
    ws_tl_mma_wait(y, op, "tlx.async_dot_wait");
}

/* --- values and shared memory ------------------------------------------------------------------*/

static gboolean lanes(WsPy *y, const WsOp *op)
{
    const WsRegValue *v = &y->agent->value[op->value[0].value];
    if (v->rows <= 1 || v->cols != 4)
        return FALSE;
    ws_py_refuse(y, op, "sums per lane in memory (TLX has whole rows only)",
                 "write their row sums");
    return TRUE;
}

void ws_tlx_write(WsPy *y, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsDtype held = y->agent->value[op->value[0].value].dtype;
    if (ws_tl_scalar(&y->agent->value[op->value[0].value]))
        ws_py_refuse(y, op, "writing one element of shared memory", "write a row or a column");
    else if (!lanes(y, op))
        ws_py_line(y, "tlx.local_store(%s, %s)", operand(y, a, a->transposed),
                   ws_tl_converted(y, ws_py_columns(y, &op->value[0]), held,
                                   y->p->buffer[a->buffer].dtype));
}

void ws_tlx_read(WsPy *y, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsRegValue *v = &y->agent->value[op->value[0].value];
    if (ws_op_picks(op)) {
        ws_py_refuse(y, op, "a read of elements that a value picks", "read the whole view");
        return;
    }
    if (ws_tl_scalar(v)) {
        ws_py_refuse(y, op, "reading one element of shared memory", "read a row or a column");
        return;
    }
    if (!ws_py_whole(y, &op->value[0])) {
        ws_py_refuse(y, op, "a read into a part of a value", "make it a value of its own");
        return;
    }
    if (lanes(y, op))
        return;
    const char *x = ws_py_format(y, "tlx.local_load(%s)", operand(y, a, a->transposed));
    ws_py_line(y, "%s = %s", y->value[op->value[0].value],
               ws_tl_converted(y, x, y->p->buffer[a->buffer].dtype, v->dtype));
}

void ws_tlx_global(WsPy *y, const WsOp *op)
{
    const gboolean load = !ws_op_stores_global(op->kind);
    if (op->reduce != WS_REDUCE_NONE && op->reduce != WS_REDUCE_ADD)
        ws_py_refuse(y, op, "a minimum or maximum in memory", "add, or write the values");
    else if (!lanes(y, op))
        ws_tl_global(y, op, load ? NULL : ws_py_columns(y, &op->value[0]), "");
}

/* --- dynamic launches --------------------------------------------------------------------------*/

void ws_tlx_claim(WsPy *y, const WsOp *op)
{
    if (!y->next_tile) {
        ws_py_refuse(y, op, "a claim outside of a loop over tiles", NULL);
        return;
    }
    ws_py_line(y, "%s = tl.num_programs(0) + tl.atomic_add(counter, 1)", y->next_tile);
    ws_py_line(y, "tlx.local_store(%s, tl.full([1], %s, tl.int32))", ws_tlx_view(y, &op->access[0]),
               y->next_tile);
}

void ws_tlx_take(WsPy *y, const WsOp *op)
{
    if (!y->next_tile)
        ws_py_refuse(y, op, "a take outside of a loop over tiles", NULL);
    else
        ws_py_line(y, "%s = tl.max(tlx.local_load(%s), axis=0)", y->next_tile,
                   ws_tlx_view(y, &op->access[0]));
}
