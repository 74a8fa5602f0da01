/* TLX: views of shared memory, what moves between it and values, products and their waits. */
#include "codegen/python/tlx/tlx.h"
#include "codegen/python/triton/triton.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/retired.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

/* --- views -------------------------------------------------------------------------------------*/

const char *ws_tlx_part_view(WsPy *y, const WsAccess *a, const char *part)
{
    const WsBuffer *b = &y->p->buffer[a->buffer];
    const guint n = b->rows / ws_py_part_rows(b->rows);
    return ws_py_format(y, "%s[%s * %u + %s]", y->buffer[a->buffer],
                        ws_py_format(y, b->array > 1 ? "(%s)" : "%s", ws_py_stage(y, a)), n, part);
}

const char *ws_tlx_view(WsPy *y, const WsAccess *a)
{
    const WsBuffer *b = &y->p->buffer[a->buffer];
    const guint part = ws_py_part_rows(b->rows);
    gint64 row0 = 0;
    if (b->rank > 1 && part != b->rows) {
        if (!ws_py_constant(y, a->row0, &row0) || a->rows != part || row0 % part != 0 ||
            a->cols != b->cols)
            ws_py_refuse(y, y->op,
                         ws_py_phrase(y, "%u rows of a tile of %u (extents are powers of two)",
                                      a->rows, b->rows),
                         ws_py_phrase(y, "views of %u rows, or a tile of 2^n rows", part));
        return ws_tlx_part_view(y, a, ws_py_format(y, "%" G_GINT64_FORMAT, row0 / part));
    }
    const char *s = ws_py_format(y, "%s[%s]", y->buffer[a->buffer], ws_py_stage(y, a));
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

static gboolean whole(WsPy *y, const WsValueUse *u)
{
    const WsRegValue *v = &y->agent->value[u->value];
    return u->rows == v->rows && u->cols == v->cols;
}

static gboolean flies(const WsOp *op, guint value)
{
    for (guint i = 0; i < op->n_flying; i++) {
        if (op->flying[i]->value[0].value == value)
            return TRUE;
    }
    return FALSE;
}

/* There is no flag for an accumulator that starts at 0: it is zeros before, or no argument. */
void ws_tlx_mma(WsPy *y, const WsOp *op)
{
    const WsMma *m = op->mma;
    const WsValueUse *u = &op->value[0];
    gint64 first = 0;
    const gboolean fixed = !m->first || ws_py_constant(y, m->first, &first);
    if (!whole(y, u) || (m->a.in_registers && !whole(y, &op->value[1]))) {
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
        if (flies(op, u->value)) {
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

/* Every product is a group of its own there; a wait names one accumulator. */
void ws_tlx_mma_wait(WsPy *y, const WsOp *op)
{
    const WsWait *w = op->wait;
    const gint64 stay = op->n_flying ? ws_py_stay(y, op) : 0;
    if (!op->n_flying)
        ws_py_remark(y, op, "mma_wait %" G_GINT64_FORMAT ": nothing is in flight here", op->n);
    else if (!w->n_retired) {
        const char *acc = y->value[op->flying[op->n_flying - 1]->value[0].value];
        ws_py_line(y, "%s = tlx.async_dot_wait(%" G_GINT64_FORMAT ", %s)", acc, stay, acc);
    }
    for (guint i = 0; i < w->n_retired; i++) {
        const guint value = w->retired[i].op->value[0].value;
        gboolean again = FALSE;
        for (guint k = 0; k < i; k++)
            again = again || w->retired[k].op->value[0].value == value;
        if (!again)
            ws_py_line(y, "%s = tlx.async_dot_wait(%" G_GINT64_FORMAT ", %s)", y->value[value],
                       stay, y->value[value]);
    }
}

/* --- values and shared memory ------------------------------------------------------------------*/

/* A value, or columns of it. */
static const char *part_of(WsPy *y, const WsValueUse *u)
{
    const WsRegValue *v = &y->agent->value[u->value];
    const char *name = y->value[u->value];
    if (whole(y, u))
        return name;
    if (u->rows != v->rows || !u->cols || v->cols % u->cols != 0 ||
        !ws_py_pow2(v->cols / u->cols)) {
        ws_py_refuse(y, y->op, "part of a value that halving its columns does not give",
                     "all rows, and columns in a power-of-two share");
        return name;
    }
    return ws_py_format(y, "%s(%s, %s, %u)", ws_py_helper(y, "columns"), name,
                        ws_py_text(y, u->col0), u->cols);
}

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
        ws_py_line(
            y, "tlx.local_store(%s, %s)", operand(y, a, a->transposed),
            ws_tl_converted(y, part_of(y, &op->value[0]), held, y->p->buffer[a->buffer].dtype));
}

void ws_tlx_read(WsPy *y, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsRegValue *v = &y->agent->value[op->value[0].value];
    if (ws_tl_scalar(v)) {
        ws_py_refuse(y, op, "reading one element of shared memory", "read a row or a column");
        return;
    }
    if (!whole(y, &op->value[0])) {
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
        ws_tl_global(y, op, load ? NULL : part_of(y, &op->value[0]), "");
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
