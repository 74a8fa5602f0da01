/* Tensors through pointers: TLE and TLX. Pointers are worked out here, clipped to the shape. */
#include "codegen/python/triton/triton.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

gboolean ws_tl_scalar(const WsRegValue *v)
{
    return v->rows == 1 && v->cols == 1;
}

/* `index` in the offset, `plain` in the mask. */
static void add(WsTlPointer *p, guint dim, const char *index, const char *plain, gboolean negative)
{
    WsPy *y = p->y;
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

void ws_tl_leading_one(WsTlPointer *p, const WsOp *op, guint d)
{
    WsTerm x = ws_py_uniform(p->y, op->coord[d]);
    gint64 known;
    if (!ws_term_known(x, &known) || known != 0)
        add(p, d, wide(p->y, x), ws_py_in(p->y, x, WS_PREC_BIT), x.in.lo < 0);
}

void ws_tl_leading(WsTlPointer *p, const WsOp *op, guint n)
{
    for (guint d = 0; d < n; d++)
        ws_tl_leading_one(p, op, d);
}

/* "m * 128 + tl.arange(0, 64)" under a name of its own. */
const char *ws_tl_line(WsPy *y, const char *name, const WsExpr *coord, guint n)
{
    WsTerm x = ws_py_uniform(y, coord);
    gint64 known;
    if (ws_term_known(x, &known) && known == 0 && !y->terms.plus_zero)
        ws_py_line(y, "%s = tl.arange(0, %u)", name, n);
    else
        ws_py_line(y, "%s = %s + tl.arange(0, %u)", name, ws_py_text(y, coord), n);
    return name;
}

void ws_tl_running(WsTlPointer *p, guint dim, const char *index, gboolean negative)
{
    add(p, dim, index, index, negative);
}

static WsTlPointer pointer_of(WsPy *y, const WsOp *op, const WsRegValue *v, guint rows, guint cols)
{
    WsTlPointer p = { y, &y->p->tensor[op->tensor], NULL, NULL };
    guint rank = p.tensor->rank, last = rank - 1;
    if (ws_tl_scalar(v)) {
        ws_tl_leading(&p, op, rank);
        return p;
    }
    gboolean tile = rows > 1 && cols > 1;
    const char *col =
        ws_tl_line(y, ws_py_local(y, "at_col"), op->coord[last], tile ? cols : MAX(rows, cols));
    if (tile && rank > 1) {
        const char *row = ws_tl_line(y, ws_py_local(y, "at_row"), op->coord[rank - 2], rows);
        ws_tl_leading(&p, op, rank - 2);
        ws_tl_running(&p, rank - 2, ws_py_format(y, "%s[:, None]", row), TRUE);
        ws_tl_running(&p, last, ws_py_format(y, "%s[None, :]", col), TRUE);
    } else {
        ws_tl_leading(&p, op, last);
        ws_tl_running(&p, last, col, TRUE);
    }
    return p;
}

/* Which elements stand in the rows that are written. */
static const char *first_rows(WsPy *y, const WsOp *op)
{
    const guint rows = op->value[0].rows;
    const char *limit = ws_py_in(y, ws_py_uniform(y, op->limit), WS_PREC_BIT);
    return ws_py_format(y, "%stl.arange(0, %u)%s < %s", op->value[0].cols > 1 ? "(" : "", rows,
                        op->value[0].cols > 1 ? ")[:, None]" : "", limit);
}

void ws_tl_global(WsPy *y, const WsOp *op, const char *part, const char *relaxed)
{
    const WsRegValue *v = &y->agent->value[op->value[0].value];
    const WsTensor *tensor = &y->p->tensor[op->tensor];
    const char *value = y->value[op->value[0].value], *name = y->tensor[op->tensor];
    gboolean load = !ws_op_stores_global(op->kind);
    if (load && !ws_py_whole(y, &op->value[0])) {
        ws_py_refuse(y, op, "a read into a part of a value", "make it a value of its own");
        return;
    }
    gint64 rows;
    if (op->limit && !ws_py_constant(y, op->limit, &rows)) { /* not read again */
        ws_py_refuse(y, op, "a write that leaves out rows", "write the whole tile");
        return;
    }
    if (op->limit &&
        tensor->rank > (op->value[0].cols > 1 ? 2 : 1)) { /* not read without a remark */
        ws_py_refuse(y, op,
                     "a write that leaves out rows, to a tensor of more dimensions than the tile",
                     "write the whole tile");
        return;
    }
    WsTlPointer p = pointer_of(y, op, v, op->value[0].rows, op->value[0].cols);
    const char *offset = p.offset ? p.offset : "0", *mask = p.mask ? p.mask : "True";
    const char *place = ws_py_format(y, "  # at: [%s], [%u, %u]", ws_py_coordinates(y, op),
                                     op->value[0].rows, op->value[0].cols);
    if (load) {
        const char *x = ws_py_format(y, "tl.load(%s + (%s), mask=%s, other=0)", name, offset, mask);
        ws_py_line(y, "%s = %s%s", value, ws_tl_converted(y, x, tensor->dtype, v->dtype), place);
        return;
    }
    const char *x = ws_tl_converted(y, part, v->dtype, tensor->dtype);
    if (op->mask) { /* no remark: what it leaves out is no tile */
        if (!ws_py_whole(y, &op->value[op->mask])) {
            ws_py_refuse(y, op, "a mask that is a part of a value", "make it a value of its own");
            return;
        }
        mask = ws_py_format(y, "%s & (%s != 0)", mask, y->value[op->value[op->mask].value]);
        place = "";
    }
    if (op->limit) {
        mask = ws_py_format(y, "%s & (%s)", mask, first_rows(y, op));
        place = "";
    }
    if (op->reduce != WS_REDUCE_NONE)
        ws_py_line(y, "tl.atomic_%s(%s + (%s), %s, mask=%s%s)%s", ws_tl_reduction(op->reduce), name,
                   offset, x, mask, relaxed, place);
    else
        ws_py_line(y, "tl.store(%s + (%s), %s, mask=%s)%s", name, offset, x, mask, place);
}

const char *ws_tl_element(WsPy *y, const WsExpr *x)
{
    WsTlPointer p = { y, &y->p->tensor[x->var], NULL, NULL };
    for (guint d = 0; d < p.tensor->rank; d++) {
        WsTerm at = ws_py_uniform(y, x->arg[d]);
        add(&p, d, d == 0 ? wide(y, at) : ws_py_in(y, at, WS_PREC_UNARY),
            ws_py_in(y, at, WS_PREC_BIT), at.in.lo < 0);
    }
    return ws_py_format(y, "tl.load(%s + (%s), mask=%s, other=0)", y->tensor[x->var], p.offset,
                        p.mask);
}
