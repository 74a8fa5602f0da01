/* Shared memory, copies, tensors. Buffers are [stages, rows, cols]; a stage of an array element
 * lies at element * stages + stage. */
#include "codegen/python/gluon/gluon.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/program.h"

/* --- views ------------------------------------------------------------------------------------ */

static gboolean line_buffer(const WsBuffer *b)
{
    return b->rank == 1;
}

/* A stage of a buffer, or `part` of it: "q.index(use % QBUF * 3 + 1)". */
static const char *stage(WsPy *y, const WsAccess *a, const char *part)
{
    return ws_py_format(y, "%s.index(%s)", y->buffer[a->buffer], ws_py_part_stage(y, a, part));
}

const char *ws_gluon_view(WsPy *y, const WsAccess *a)
{
    const WsBuffer *b = &y->p->buffer[a->buffer];
    const char *part = ws_py_view_part(y, a), *s = stage(y, a, part);
    if (part)
        return s;
    if (line_buffer(b)) {
        if (a->cols != b->cols)
            s = ws_py_format(y, "%s.slice(%s, %u, 0)", s, ws_py_text(y, a->col0), a->cols);
        return s;
    }
    if (a->rows != b->rows)
        s = ws_py_format(y, "%s.slice(%s, %u, 0)", s, ws_py_text(y, a->row0), a->rows);
    if (a->cols != b->cols)
        s = ws_py_format(y, "%s.slice(%s, %u, 1)", s, ws_py_text(y, a->col0), a->cols);
    return s;
}

static const char *converted(WsPy *y, const char *x, WsDtype from, WsDtype to)
{
    return from == to ? x : ws_py_format(y, "%s.to(%s)", x, ws_gluon_dtype(y, to));
}

static const char *turned(WsPy *y, const WsAccess *a)
{
    const char *view = ws_gluon_view(y, a);
    return a->transposed ? ws_py_format(y, "%s.permute((1, 0))", view) : view;
}

void ws_gluon_write(WsPy *y, const WsOp *op)
{
    const WsValueUse *u = &op->value[0];
    const WsBuffer *b = &y->p->buffer[op->access[0].buffer];
    const char *x = ws_py_columns(y, u);
    ws_py_line(y, "%s.store(%s)", turned(y, &op->access[0]),
               converted(y, x, y->agent->value[u->value].dtype, b->dtype));
}

/* One element of a line: the line seen as so many lines of one, since slices begin at constants. */
static void read_element(WsPy *y, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsBuffer *b = &y->p->buffer[a->buffer];
    if (!line_buffer(b)) {
        ws_py_refuse(y, op, "reading one element of a tile", "read a row or a column");
        return;
    }
    const char *x = ws_py_format(y, "%s.index(%s)", y->buffer[a->buffer], ws_py_stage(y, a));
    if (b->cols > 1)
        x = ws_py_format(y, "%s._reinterpret(%s, [%u, 1], %s).index(%s)", x,
                         ws_gluon_dtype(y, b->dtype), b->cols,
                         "gl.SwizzledSharedLayout(1, 1, 1, order=[0])", ws_py_text(y, a->col0));
    x = ws_py_format(y, "gl.max(%s.load(%s), axis=0)", x, ws_gluon_line_layout(y));
    const WsValueUse *u = &op->value[0];
    ws_py_line(y, "%s = %s", y->value[u->value],
               converted(y, x, b->dtype, y->agent->value[u->value].dtype));
}

void ws_gluon_read(WsPy *y, const WsOp *op)
{
    const WsValueUse *u = &op->value[0];
    const WsRegValue *v = &y->agent->value[u->value];
    const WsBuffer *b = &y->p->buffer[op->access[0].buffer];
    const char *layout = ws_gluon_layout(y, v);
    if (ws_op_picks(op)) {
        ws_py_refuse(y, op, "a read of elements that a value picks", "read the whole view");
        return;
    }
    if (!layout) {
        read_element(y, op);
        return;
    }
    if (!ws_py_whole(y, u)) {
        ws_py_refuse(y, op, "reading into part of a value", "make the part a value of its own");
        return;
    }
    ws_py_line(y, "%s = %s", y->value[u->value],
               converted(y, ws_py_format(y, "%s.load(%s)", turned(y, &op->access[0]), layout),
                         b->dtype, v->dtype));
}

/* --- copies ----------------------------------------------------------------------------------- */

static const char *const reduced[] = {
    [WS_REDUCE_ADD] = "add", [WS_REDUCE_MIN] = "min", [WS_REDUCE_MAX] = "max"
};

static void line(WsPy *y, const WsOp *op, const WsPyBox *box, const char *at, const char *view)
{
    if (ws_op_row(op->kind)->from == WS_DATA_AT_TENSOR)
        ws_py_line(y, "tma.async_copy_global_to_shared(%s, [%s], %s.index(%s), %s)", box->name, at,
                   y->barrier[op->barrier], ws_py_slot(y, op), view);
    else if (op->reduce != WS_REDUCE_NONE)
        ws_py_line(
            y, "%s(%s, [%s], %s)",
            ws_py_helper(y, ws_py_format(y, "async_%s_shared_to_global", reduced[op->reduce])),
            box->name, at, view);
    else
        ws_py_line(y, "tma.async_copy_shared_to_global(%s, [%s], %s)", box->name, at, view);
}

static const char *reshaped(WsPy *y, const char *view, const char *block)
{
    return ws_py_format(y, "%s.reshape([%s])", view, block);
}

static const WsPyCopier copier = { ws_gluon_view, stage, reshaped, line };

void ws_gluon_load(WsPy *y, const WsOp *op)
{
    const WsPyBox *box = ws_py_call(y, op);
    if (box)
        ws_py_copy(y, op, box, &copier);
}

void ws_gluon_store(WsPy *y, const WsOp *op)
{
    const WsPyBox *box = ws_py_call(y, op);
    if (box && ws_py_single_store(y, op, box))
        ws_py_copy(y, op, box, &copier);
}

/* --- tensors through pointers ----------------------------------------------------------------- */

/* Uniform coordinates that are no plain axis may lie outside of the tensor. */
static gboolean may_leave(const WsExpr *x)
{
    return x->op == WS_EXPR_ADD || x->op == WS_EXPR_SUB || x->op == WS_EXPR_MUL;
}

/* A coordinate that runs over rows or columns of a value: a line of its own, and its name. */
static WsTerm running(WsPy *y, const WsOp *op, guint d, gboolean row, gboolean tile)
{
    const WsValueUse *u = &op->value[0];
    const char *name = ws_py_local(y, row ? "at_row" : "at_col");
    const char *index = row ? ws_gluon_row_index(y, u->rows, tile ? u->cols : 1)
                            : ws_gluon_col_index(y, tile ? u->rows : 1, u->cols);
    WsTerm from = ws_py_uniform(y, op->coord[d]);
    gint64 zero;
    if (ws_term_known(from, &zero) && zero == 0)
        ws_py_line(y, "%s = %s", name, index);
    else
        ws_py_line(y, "%s = %s + %s", name, ws_py_text(y, op->coord[d]), index);
    return ws_term_unknown(name, WS_PREC_ATOM);
}

/* Addresses and mask of a value's elements: rows and columns run along the last dimensions. */
static void addresses(WsPy *y, const WsOp *op, const char **at, const char **mask)
{
    const WsTensor *t = &y->p->tensor[op->tensor];
    const WsValueUse *u = &op->value[0];
    gint col = u->cols > 1 && !ws_gluon_lanes(&y->agent->value[u->value]) ? (gint)t->rank - 1 : -1;
    gint row = u->rows > 1 ? (gint)t->rank - (col >= 0 ? 2 : 1) : -1;
    *at = y->tensor[op->tensor];
    *mask = NULL;
    if (!ws_py_pow2(u->rows) || !ws_py_pow2(u->cols))
        ws_py_refuse(y, op,
                     ws_py_phrase(y,
                                  "%u rows and %u columns of a tensor (extents are powers of two)",
                                  u->rows, u->cols),
                     "make them powers of two");
    for (guint d = 0; d < t->rank; d++) {
        gboolean runs = (gint)d == row || (gint)d == col;
        WsTerm x = runs ? running(y, op, d, (gint)d == row, row >= 0 && col >= 0)
                        : ws_py_uniform(y, op->coord[d]);
        WsTerm stride = ws_py_uniform(y, t->stride[d]);
        gint64 one;
        *at = ws_term_known(stride, &one) && one == 1
                  ? ws_py_format(y, "%s + %s", *at, ws_py_in(y, x, WS_PREC_TERM))
                  : ws_py_format(y, "%s + %s * %s", *at, ws_py_in(y, x, WS_PREC_TERM),
                                 ws_py_in(y, stride, WS_PREC_ATOM));
        if (!runs && !may_leave(op->coord[d]))
            continue;
        const char *inside = ws_py_format(y, "(%s < %s)", ws_py_in(y, x, WS_PREC_BIT),
                                          ws_py_in(y, ws_py_uniform(y, t->shape[d]), WS_PREC_BIT));
        *mask = *mask ? ws_py_format(y, "%s & %s", *mask, inside) : inside;
    }
}

/* What the pointers mean, for who reads it (and for import). */
static const char *place(WsPy *y, const WsOp *op)
{
    return ws_py_format(y, "  # at: [%s], [%u, %u]", ws_py_coordinates(y, op), op->value[0].rows,
                        op->value[0].cols);
}

void ws_gluon_write_global(WsPy *y, const WsOp *op)
{
    const char *at, *mask;
    const WsValueUse *u = &op->value[0];
    if (op->limit) {
        ws_py_refuse(y, op, "a write that leaves out rows", "write the whole tile");
        return;
    }
    addresses(y, op, &at, &mask);
    if (op->mask) {
        ws_py_refuse(y, op, "a mask of a write to a tensor", "write the whole tile");
        return;
    }
    const char *x = ws_py_columns(y, u);
    if (!ws_py_whole(y, u)) /* halves of a layout are none of those that the addresses have */
        x = ws_py_format(y, "gl.convert_layout(%s, %s)", x, ws_gluon_tile_layout(y, u->cols));
    x = converted(y, x, y->agent->value[u->value].dtype, y->p->tensor[op->tensor].dtype);
    const char *where = mask ? ws_py_format(y, ", mask=%s", mask) : "";
    if (op->kind == WS_OP_RED_GLOBAL)
        ws_py_line(y, "gl.atomic_%s(%s, %s%s, sem=\"relaxed\")%s", reduced[op->reduce], at, x,
                   where, place(y, op));
    else
        ws_py_line(y, "gl.store(%s, %s%s)%s", at, x, where, place(y, op));
}

void ws_gluon_read_global(WsPy *y, const WsOp *op)
{
    const char *at, *mask;
    const WsValueUse *u = &op->value[0];
    const WsRegValue *v = &y->agent->value[u->value];
    addresses(y, op, &at, &mask);
    if (!ws_py_whole(y, u)) {
        ws_py_refuse(y, op, "reading into part of a value", "make the part a value of its own");
        return;
    }
    const char *x = mask ? ws_py_format(y, "gl.load(%s, mask=%s, other=0)", at, mask)
                         : ws_py_format(y, "gl.load(%s)", at);
    ws_py_line(y, "%s = %s%s", y->value[u->value],
               converted(y, x, y->p->tensor[op->tensor].dtype, v->dtype), place(y, op));
}

const char *ws_gluon_element(WsPy *y, const WsExpr *x)
{
    const WsTensor *t = &y->p->tensor[x->var];
    const char *at = y->tensor[x->var], *mask = NULL;
    for (guint d = 0; d < t->rank; d++) {
        WsTerm i = ws_py_uniform(y, x->arg[d]), stride = ws_py_uniform(y, t->stride[d]);
        gint64 one;
        at = ws_term_known(stride, &one) && one == 1
                 ? ws_py_format(y, "%s + %s", at, ws_py_in(y, i, WS_PREC_TERM))
                 : ws_py_format(y, "%s + %s * %s", at, ws_py_in(y, i, WS_PREC_TERM),
                                ws_py_in(y, stride, WS_PREC_ATOM));
        const char *s = ws_py_in(y, i, WS_PREC_BIT);
        const char *n = ws_py_in(y, ws_py_uniform(y, t->shape[d]), WS_PREC_BIT);
        s = i.in.lo < 0 ? ws_py_format(y, "(%s >= 0) & (%s < %s)", s, s, n)
                        : ws_py_format(y, "(%s < %s)", s, n);
        mask = mask ? ws_py_format(y, "%s & %s", mask, s) : s;
    }
    return ws_py_format(y, "gl.load(%s, mask=%s, other=0)", at, mask);
}

/* --- dynamic launches ------------------------------------------------------------------------- */

void ws_gluon_claim(WsPy *y, const WsOp *op)
{
    if (!y->next_tile) {
        ws_py_refuse(y, op, "a claim outside of a loop over tiles", NULL);
        return;
    }
    ws_py_line(y, "%s = gl.num_programs(0) + gl.atomic_add(counter, 1, sem=\"relaxed\")",
               y->next_tile);
    ws_py_line(y, "%s.store(gl.full([1], %s, gl.int32, %s))", ws_gluon_view(y, &op->access[0]),
               y->next_tile, ws_gluon_line_layout(y));
}

void ws_gluon_take(WsPy *y, const WsOp *op)
{
    if (!y->next_tile) {
        ws_py_refuse(y, op, "a take outside of a loop over tiles", NULL);
        return;
    }
    ws_py_line(y, "%s = gl.max(%s.load(%s), axis=0)", y->next_tile,
               ws_gluon_view(y, &op->access[0]), ws_gluon_line_layout(y));
}
