/* Products, and what moves between registers, shared memory and tensors by plain loads and stores.
 * Pointers are worked out here, clipped to the shape of the tensor. */
#include "codegen/python/tle.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/retired.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

/* --- products ----------------------------------------------------------------------------------*/

static const char *operand(WsTle *t, const WsOp *op, gboolean a, const char **flag)
{
    gboolean registers = a && op->mma->a.in_registers;
    *flag = "";
    if (registers) {
        const WsRegValue *v = &t->y->agent->value[op->value[1].value];
        if (op->value[1].rows != v->rows || op->value[1].cols != v->cols)
            ws_py_refuse(t->y, op, "a part of a value as operand", "make it a value of its own");
        return t->y->value[op->value[1].value];
    }
    const WsAccess *x = &op->access[a || op->mma->a.in_registers ? 0 : 1];
    if (a ? x->transposed : !x->transposed)
        *flag = a ? ", trans_a=True" : ", trans_b=True";
    return ws_tle_view(t, op, x, x->rows, x->cols);
}

static const char *result_type(WsDtype type)
{
    return type == WS_DTYPE_F16   ? ", out_dtype=tl.float16"
           : type == WS_DTYPE_I32 ? ", out_dtype=tl.int32"
                                  : "";
}

void ws_tle_mma(WsTle *t, const WsOp *op)
{
    const WsRegValue *v = &t->y->agent->value[op->value[0].value];
    const char *acc = t->y->value[op->value[0].value], *flag_a, *flag_b, *remark = "";
    if (op->value[0].rows != v->rows || op->value[0].cols != v->cols)
        ws_py_refuse(t->y, op, "a part of a value as accumulator", "make it a value of its own");
    const char *a = operand(t, op, TRUE, &flag_a), *b = operand(t, op, FALSE, &flag_b);
    gint64 known = 0;
    gboolean fixed = !op->mma->first || ws_py_constant(t->y, op->mma->first, &known);
    if (!fixed) {
        const char *first = ws_py_uniform(t->y, op->mma->first).s;
        remark = ws_py_format(t->y, "  # first: %s", first);
        if (!ws_py_zeros_before(op))
            ws_py_line(t->y, "%s = tl.where(%s, 0.0, %s)", acc,
                       ws_py_truth(t->y, ws_py_uniform(t->y, op->mma->first)).s, acc);
    }
    ws_py_line(t->y, "%s = tle.gpu.wgmma(%s, %s%s%s%s%s%s%s)%s", acc, a, b,
               fixed && known ? "" : ", ", fixed && known ? "" : acc, flag_a, flag_b,
               op->mma->a_type == WS_DTYPE_TF32 ? ", input_precision=\"tf32\"" : "",
               result_type(op->mma->acc_type), remark);
}

/* Every wgmma is a commit group of its own there; a wait names the accumulators that it makes
 * readable. */
void ws_tle_mma_wait(WsTle *t, const WsOp *op)
{
    const WsWait *w = op->wait;
    if (!w->n_retired && op->n_flying) { /* a wait takes an accumulator, also where none is ready */
        const char *acc = t->y->value[op->flying[op->n_flying - 1]->value[0].value];
        ws_py_line(t->y, "%s = tle.gpu.wgmma_wait(%d, %s)", acc, (int)w->stay, acc);
    } else if (!w->n_retired)
        ws_py_remark(t->y, op, "mma_wait %" G_GINT64_FORMAT ": nothing is in flight here", op->n);
    for (guint i = 0; i < w->n_retired; i++) {
        guint value = w->retired[i].op->value[0].value;
        gboolean again = FALSE;
        for (guint k = 0; k < i; k++)
            again = again || w->retired[k].op->value[0].value == value;
        if (!again)
            ws_py_line(t->y, "%s = tle.gpu.wgmma_wait(%d, %s)", t->y->value[value], (int)w->stay,
                       t->y->value[value]);
    }
}

/* --- values and shared memory ------------------------------------------------------------------*/

static gboolean is_scalar(const WsRegValue *v)
{
    return v->rows == 1 && v->cols == 1;
}

/* A view of a value: tiles of it at multiples of their shape (rule F42). */
static const char *part(WsTle *t, const WsValueUse *u)
{
    const WsRegValue *v = &t->y->agent->value[u->value];
    const char *name = t->y->value[u->value];
    if (u->rows == v->rows && u->cols == v->cols)
        return name;
    WsTerm row = ws_py_op(t->y, WS_EXPR_DIV, ws_py_use(t->y, u->row0), ws_py_int(t->y, u->rows));
    WsTerm col = ws_py_op(t->y, WS_EXPR_DIV, ws_py_use(t->y, u->col0), ws_py_int(t->y, u->cols));
    return ws_py_format(t->y, "tle.extract_tile(%s, [%s, %s], [%u, %u])", name, row.s, col.s,
                        u->rows, u->cols);
}

static const char *converted(WsTle *t, const char *x, WsDtype from, WsDtype to)
{
    if (!strcmp(ws_tle_type(from), ws_tle_type(to)))
        return x;
    return ws_py_format(t->y, "%s.to(tl.%s)", x, ws_tle_type(to));
}

static gboolean whole_rows(WsTle *t, const WsOp *op, const WsAccess *a)
{
    const WsRegValue *v = &t->y->agent->value[op->value[0].value];
    if (v->rows > 1 && v->cols == 4) {
        ws_py_refuse(t->y, op, "sums per lane in shared memory (TLE has whole rows only)",
                     "write their row sums");
        return FALSE;
    }
    if (a->transposed)
        ws_py_refuse(t->y, op, "a transposed view of a value's tile",
                     "let the mma take the buffer with .t");
    return !a->transposed;
}

void ws_tle_write(WsTle *t, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsRegValue *v = &t->y->agent->value[op->value[0].value];
    if (!whole_rows(t, op, a))
        return;
    ws_py_line(t->y, "tl.store(tle.gpu.local_ptr(%s), %s)", ws_tle_view(t, op, a, a->rows, a->cols),
               converted(t, part(t, &op->value[0]), v->dtype, t->y->p->buffer[a->buffer].dtype));
}

void ws_tle_read(WsTle *t, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsBuffer *b = &t->y->p->buffer[a->buffer];
    const WsRegValue *v = &t->y->agent->value[op->value[0].value];
    if (!whole_rows(t, op, a))
        return;
    if (op->value[0].rows != v->rows || op->value[0].cols != v->cols) {
        ws_py_refuse(t->y, op, "a read into a part of a value", "make it a value of its own");
        return;
    }
    const char *pointer = ws_tle_view(t, op, a, a->rows, a->cols);
    if (is_scalar(v) && b->rows * b->cols > 1) {
        const char *stage = ws_tle_view(t, op, a, b->rows, b->cols);
        const char *row = b->rank == 2 ? ws_py_format(t->y, "%s, ", ws_py_text(t->y, a->row0)) : "";
        pointer = ws_py_format(t->y, "%s, (%s%s,)", stage, row, ws_py_text(t->y, a->col0));
    }
    const char *x = ws_py_format(t->y, "tl.load(tle.gpu.local_ptr(%s))", pointer);
    ws_py_line(t->y, "%s = %s", t->y->value[op->value[0].value],
               converted(t, x, b->dtype, v->dtype));
}

/* One thread of the partition adds to the counter; the id goes to the others through a slot. */
void ws_tle_next_tile(WsTle *t, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const char *slot = ws_tle_view(t, op, a, 1, t->y->p->buffer[a->buffer].cols);
    if (!t->y->next_tile) {
        ws_py_refuse(t->y, op, "a claim outside of a loop over tiles", NULL);
        return;
    }
    if (op->kind == WS_OP_TAKE) {
        ws_py_line(t->y, "%s = tl.load(tle.gpu.local_ptr(%s, (0,)))", t->y->next_tile, slot);
        return;
    }
    ws_py_line(t->y, "%s = tl.num_programs(0) + tl.atomic_add(counter, 1)", t->y->next_tile);
    ws_py_line(t->y, "tl.store(tle.gpu.local_ptr(%s, (0,)), %s)", slot, t->y->next_tile);
}

/* --- tensors -----------------------------------------------------------------------------------*/

/* Offset and mask of a tile under construction. */
typedef struct {
    WsTle *t;
    const WsTensor *tensor;
    const char *offset, *mask; /* NULL: none yet */
} Pointer;

/* `index` in the offset, `plain` in the mask. */
static void add(Pointer *p, guint dim, const char *index, const char *plain, gboolean negative)
{
    WsPy *y = p->t->y;
    gint64 one;
    WsTerm stride = ws_py_uniform(y, p->tensor->stride[dim]);
    const char *by = ws_term_known(stride, &one) && one == 1
                         ? index
                         : ws_py_format(y, "%s * %s", index, ws_py_in(y, stride, WS_PREC_UNARY));
    p->offset = p->offset ? ws_py_format(y, "%s + %s", p->offset, by) : by;
    const char *extent = ws_py_in(y, ws_py_uniform(y, p->tensor->shape[dim]), WS_PREC_BIT);
    const char *low = negative ? ws_py_format(y, "(%s >= 0) & ", plain) : "";
    const char *mask = ws_py_format(y, "%s(%s < %s)", low, plain, extent);
    p->mask = p->mask ? ws_py_format(y, "%s & %s", p->mask, mask) : mask;
}

static const char *wide(WsPy *y, WsTerm x)
{
    gint64 known;
    return ws_term_known(x, &known) ? x.s : ws_py_format(y, "tl.cast(%s, tl.int64)", x.s);
}

static void add_leading(Pointer *p, const WsOp *op, guint n)
{
    WsPy *y = p->t->y;
    for (guint d = 0; d < n; d++) {
        WsTerm x = ws_py_uniform(y, op->coord[d]);
        gint64 known;
        if (ws_term_known(x, &known) && known == 0)
            continue;
        add(p, d, wide(y, x), ws_py_in(y, x, WS_PREC_BIT), x.in.lo < 0);
    }
}

/* "m * 128 + tl.arange(0, 64)" under a name of its own. */
static const char *line_of(WsPy *y, const char *name, const WsExpr *coord, guint n)
{
    WsTerm x = ws_py_uniform(y, coord);
    gint64 known;
    if (ws_term_known(x, &known) && known == 0 && !y->terms.plus_zero)
        ws_py_line(y, "%s = tl.arange(0, %u)", name, n);
    else
        ws_py_line(y, "%s = %s + tl.arange(0, %u)", name, ws_py_text(y, coord), n);
    return name;
}

static void add_line(Pointer *p, guint dim, const char *index, gboolean negative)
{
    add(p, dim, index, index, negative);
}

static Pointer pointer_of(WsTle *t, const WsOp *op, const WsRegValue *v, guint rows, guint cols)
{
    WsPy *y = t->y;
    Pointer p = { t, &y->p->tensor[op->tensor], NULL, NULL };
    guint rank = p.tensor->rank, last = rank - 1;
    if (is_scalar(v)) {
        add_leading(&p, op, rank);
        return p;
    }
    gboolean tile = rows > 1 && cols > 1;
    const char *col =
        line_of(y, ws_py_local(y, "at_col"), op->coord[last], tile ? cols : MAX(rows, cols));
    if (tile && rank > 1) {
        const char *row = line_of(y, ws_py_local(y, "at_row"), op->coord[rank - 2], rows);
        add_leading(&p, op, rank - 2);
        add_line(&p, rank - 2, ws_py_format(y, "%s[:, None]", row), TRUE);
        add_line(&p, last, ws_py_format(y, "%s[None, :]", col), TRUE);
    } else {
        add_leading(&p, op, last);
        add_line(&p, last, col, TRUE);
    }
    return p;
}

void ws_tle_global(WsTle *t, const WsOp *op)
{
    WsPy *y = t->y;
    const WsRegValue *v = &y->agent->value[op->value[0].value];
    const WsTensor *tensor = &y->p->tensor[op->tensor];
    const char *value = y->value[op->value[0].value], *name = y->tensor[op->tensor];
    gboolean load = op->kind == WS_OP_LD_GLOBAL;
    if (load && (op->value[0].rows != v->rows || op->value[0].cols != v->cols)) {
        ws_py_refuse(y, op, "a read into a part of a value", "make it a value of its own");
        return;
    }
    Pointer p = pointer_of(t, op, v, op->value[0].rows, op->value[0].cols);
    const char *offset = p.offset ? p.offset : "0", *mask = p.mask ? p.mask : "True";
    const char *place = ws_py_format(y, "  # at: [%s], [%u, %u]", ws_py_coordinates(y, op),
                                     op->value[0].rows, op->value[0].cols);
    if (load) {
        const char *x = ws_py_format(y, "tl.load(%s + (%s), mask=%s, other=0)", name, offset, mask);
        ws_py_line(y, "%s = %s%s", value, converted(t, x, tensor->dtype, v->dtype), place);
        return;
    }
    const char *x = converted(t, part(t, &op->value[0]), v->dtype, tensor->dtype);
    if (op->kind == WS_OP_RED_GLOBAL)
        ws_py_line(y, "tl.atomic_add(%s + (%s), %s, mask=%s, sem=\"relaxed\")%s", name, offset, x,
                   mask, place);
    else
        ws_py_line(y, "tl.store(%s + (%s), %s, mask=%s)%s", name, offset, x, mask, place);
}

const char *ws_tle_element(WsPy *y, const WsExpr *x)
{
    WsTle t = { .y = y };
    Pointer p = { &t, &y->p->tensor[x->var], NULL, NULL };
    for (guint d = 0; d < p.tensor->rank; d++) {
        WsTerm at = ws_py_uniform(y, x->arg[d]);
        add(&p, d, d == 0 ? wide(y, at) : ws_py_in(y, at, WS_PREC_UNARY),
            ws_py_in(y, at, WS_PREC_BIT), at.in.lo < 0);
    }
    return ws_py_format(y, "tl.load(%s + (%s), mask=%s, other=0)", y->tensor[x->var], p.offset,
                        p.mask);
}

/* --- gathers -----------------------------------------------------------------------------------*/

static void bind_row(WsPy *y, guint rows, gboolean on)
{
    for (guint i = 0; i < y->p->n_vars; i++) {
        if (y->p->var[i].kind == WS_VAR_ROW)
            y->var[i] = (WsTermName){ on, ws_py_format(y, "tl.arange(0, %u)", rows),
                                      ws_interval(0, (gint64)rows - 1) };
    }
}

/* In remarks the number of a row is `row`. */
static void name_row(WsPy *y, const char *name)
{
    for (guint i = 0; i < y->p->n_vars; i++)
        if (y->p->var[i].kind == WS_VAR_ROW)
            y->var[i].s = name;
}

/* Rows picked by data: loaded as pointers, zero outside of the tensor, then stored. The compiler
 * may make asynchronous copies of it. */
void ws_tle_gather(WsTle *t, const WsOp *op)
{
    WsPy *y = t->y;
    const WsAccess *a = &op->access[0];
    Pointer p = { t, &y->p->tensor[op->tensor], NULL, NULL };
    guint rank = p.tensor->rank;
    bind_row(y, a->rows, TRUE);
    const char *row = ws_py_local(y, "at_row"), *place = "";
    const char *rows = ws_py_uniform(y, op->coord[rank - 2]).s;
    name_row(y, "row");
    ws_py_line(y, "%s = %s  # is: %s", row, rows, ws_py_plain(y, op->coord[rank - 2]));
    bind_row(y, a->rows, FALSE);
    for (guint i = 0; i < rank; i++)
        place = ws_py_format(y, "%s%s%s", place, i ? ", " : "",
                             i == rank - 2 ? row : ws_py_text(y, op->coord[i]));
    const char *col = line_of(y, ws_py_local(y, "at_col"), op->coord[rank - 1], a->cols);
    add_leading(&p, op, rank - 2);
    add_line(&p, rank - 2, ws_py_format(y, "%s[:, None]", row), TRUE);
    add_line(&p, rank - 1, ws_py_format(y, "%s[None, :]", col), FALSE);
    const char *x = ws_py_format(y, "tl.load(%s + (%s), mask=%s, other=0)", y->tensor[op->tensor],
                                 p.offset, p.mask);
    ws_py_line(y, "tl.store(tle.gpu.local_ptr(%s), %s)  # gather: [%s]",
               ws_tle_view(t, op, a, a->rows, a->cols), x, place);
}
