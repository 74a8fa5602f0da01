/* Shared memory, copies, tensors. Buffers are [stages, rows, cols]; a stage of an array element lies
 * at element * stages + stage. */
#include "codegen/python/gluon.h"

/* --- views --------------------------------------------------------------------------------------*/

static gboolean line_buffer(const WsBuffer *b)
{
    return b->rank == 1;
}

const char *ws_gluon_view(WsPy *y, const WsAccess *a)
{
    const WsBuffer *b = &y->p->buffer[a->buffer];
    const char *s = ws_py_format(y, "%s.index(%s)", y->buffer[a->buffer], ws_py_stage(y, a));
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

const char *ws_gluon_part(WsPy *y, const WsValueUse *u)
{
    const WsRegValue *v = &y->agent->value[u->value];
    const char *name = y->value[u->value];
    if (u->rows == v->rows && u->cols == v->cols)
        return name;
    if (u->rows != v->rows || !u->cols || v->cols % u->cols != 0 ||
        ((v->cols / u->cols) & (v->cols / u->cols - 1)) != 0) {
        ws_py_refuse(y, y->op, "part of a value that halving its columns does not give",
                     "all rows, and columns in a power-of-two share");
        return name;
    }
    return ws_py_format(y, "%s(%s, %s, %u)", ws_py_helper(y, "columns"), name,
                        ws_py_text(y, u->col0), u->cols);
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
    const char *x = ws_gluon_part(y, u);
    ws_py_line(y, "%s.store(%s)", turned(y, &op->access[0]),
               converted(y, x, y->agent->value[u->value].dtype, b->dtype));
}

void ws_gluon_read(WsPy *y, const WsOp *op)
{
    const WsValueUse *u = &op->value[0];
    const WsRegValue *v = &y->agent->value[u->value];
    const WsBuffer *b = &y->p->buffer[op->access[0].buffer];
    const char *layout = ws_gluon_layout(y, v);
    if (u->rows != v->rows || u->cols != v->cols || !layout) {
        ws_py_refuse(y, op, "reading into part of a value", "make the part a value of its own");
        return;
    }
    ws_py_line(y, "%s = %s", y->value[u->value],
               converted(y, ws_py_format(y, "%s.load(%s)", turned(y, &op->access[0]), layout),
                         b->dtype, v->dtype));
}

/* --- copies -------------------------------------------------------------------------------------*/

/* The view as the descriptor wants it: its rank, with the extents of its block. */
static const char *as_block(WsPy *y, const WsPyBox *box, const WsAccess *a)
{
    WsAccess all = *a;
    all.rows = box->rows;
    all.cols = box->cols;
    const char *view = ws_gluon_view(y, &all), *shape = "";
    guint rank = line_buffer(&y->p->buffer[a->buffer]) ? 1 : 2;
    if (box->rank == rank)
        return view;
    for (guint i = 0; i < box->rank; i++)
        shape = ws_py_format(y, "%s%s%u", shape, i ? ", " : "", box->block[i]);
    return ws_py_format(y, "%s.reshape([%s])", view, shape);
}

void ws_gluon_load(WsPy *y, const WsOp *op)
{
    if (!ws_py_first_box(y, op))
        return;
    const WsPyBox *box = ws_py_box(y, ws_gluon(y)->boxes, op);
    if (!box)
        return;
    ws_py_line(y, "tma.async_copy_global_to_shared(%s, [%s], %s.index(%s), %s)", box->name,
               ws_py_coordinates(y, op), y->barrier[op->barrier], ws_py_slot(y, op),
               as_block(y, box, &op->access[0]));
}

void ws_gluon_store(WsPy *y, const WsOp *op)
{
    if (!ws_py_first_box(y, op))
        return;
    if (op->reduce != WS_REDUCE_NONE) {
        ws_py_refuse(y, op, "a store that reduces (3.6 has none)", "store partial results");
        return;
    }
    const WsPyBox *box = ws_py_box(y, ws_gluon(y)->boxes, op);
    if (box)
        ws_py_line(y, "tma.async_copy_shared_to_global(%s, [%s], %s)", box->name,
                   ws_py_coordinates(y, op), as_block(y, box, &op->access[0]));
}

/* --- tensors through pointers -------------------------------------------------------------------*/

/* Uniform coordinates that are no plain axis may lie outside of the tensor. */
static gboolean may_leave(const WsExpr *x)
{
    return x->op == WS_EXPR_ADD || x->op == WS_EXPR_SUB || x->op == WS_EXPR_MUL;
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
    for (guint d = 0; d < t->rank; d++) {
        WsPyTerm x = ws_py_uniform(y, op->coord[d]), stride = ws_py_uniform(y, t->stride[d]);
        const char *more = (gint)d == row   ? ws_gluon_row_index(y, u->rows, col >= 0 ? u->cols : 1)
                           : (gint)d == col ? ws_gluon_col_index(y, row >= 0 ? u->rows : 1, u->cols)
                                            : NULL;
        const char *s = more ? ws_py_text(y, op->coord[d]) : ws_py_in(y, x, WS_PY_TERM);
        gint64 one;
        if (more)
            s = ws_py_format(y, "(%s + %s)", s, more);
        *at = ws_py_known(stride, &one) && one == 1
                  ? ws_py_format(y, "%s + %s", *at, s)
                  : ws_py_format(y, "%s + %s * %s", *at, s, ws_py_in(y, stride, WS_PY_ATOM));
        if (!more && !may_leave(op->coord[d]))
            continue;
        const char *inside = ws_py_format(
            y, "(%s < %s)", s, ws_py_in(y, ws_py_uniform(y, t->shape[d]), WS_PY_BIT));
        *mask = *mask ? ws_py_format(y, "%s & %s", *mask, inside) : inside;
    }
}

void ws_gluon_write_global(WsPy *y, const WsOp *op)
{
    const char *at, *mask;
    const WsValueUse *u = &op->value[0];
    addresses(y, op, &at, &mask);
    const char *x = converted(y, ws_gluon_part(y, u), y->agent->value[u->value].dtype,
                              y->p->tensor[op->tensor].dtype);
    ws_py_line(y, mask ? "gl.store(%s, %s, mask=%s)" : "gl.store(%s, %s)", at, x, mask);
}

void ws_gluon_read_global(WsPy *y, const WsOp *op)
{
    const char *at, *mask;
    const WsValueUse *u = &op->value[0];
    const WsRegValue *v = &y->agent->value[u->value];
    addresses(y, op, &at, &mask);
    if (u->rows != v->rows || u->cols != v->cols) {
        ws_py_refuse(y, op, "reading into part of a value", "make the part a value of its own");
        return;
    }
    const char *x = mask ? ws_py_format(y, "gl.load(%s, mask=%s, other=0)", at, mask)
                         : ws_py_format(y, "gl.load(%s)", at);
    ws_py_line(y, "%s = %s", y->value[u->value],
               converted(y, x, y->p->tensor[op->tensor].dtype, v->dtype));
}

/* --- dynamic launches ---------------------------------------------------------------------------*/

static const char *one_element(WsPy *y)
{
    return ws_py_format(y, "gl.BlockedLayout([1], [32], [%u], [0])", y->agent->warps);
}

void ws_gluon_claim(WsPy *y, const WsOp *op)
{
    if (!y->next_tile) {
        ws_py_refuse(y, op, "a claim outside of a loop over tiles", NULL);
        return;
    }
    ws_py_line(y, "%s = gl.num_programs(0) + gl.atomic_add(counter, 1)", y->next_tile);
    ws_py_line(y, "%s.store(gl.full([1], %s, gl.int32, %s))", ws_gluon_view(y, &op->access[0]),
               y->next_tile, one_element(y));
}

void ws_gluon_take(WsPy *y, const WsOp *op)
{
    if (!y->next_tile) {
        ws_py_refuse(y, op, "a take outside of a loop over tiles", NULL);
        return;
    }
    ws_py_line(y, "%s = gl.max(%s.load(%s), axis=0)", y->next_tile,
               ws_gluon_view(y, &op->access[0]), one_element(y));
}
