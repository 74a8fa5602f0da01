/* Rows picked by data: cp.async of 16 bytes a thread, eight lanes to a row where rows are long
 * enough. What lies outside of the tensor is zero in shared memory; rows begin and end at multiples
 * of 16 bytes, which the compiler must be told. */
#include "codegen/python/gluon/gluon.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

/* "gather_8x8": lanes of a row, elements of a lane. */
static const char *layout_of(WsPy *y, const WsAccess *a, WsDtype dtype)
{
    guint vector = 16 / ws_dtype_bytes(dtype), lanes = MIN(8, a->cols / vector);
    const char *name = ws_py_format(y, "gather_%ux%u", lanes, vector);
    const char *line =
        ws_py_format(y,
                     "%s = gl.constexpr(gl.BlockedLayout([1, %u], [%u, %u], [%u, 1], "
                     "[1, 0]))",
                     name, vector, 32 / lanes, lanes, y->agent->warps);
    GPtrArray *all = ws_gluon(y)->gathers;
    if (!g_ptr_array_find_with_equal_func(all, line, g_str_equal, NULL))
        g_ptr_array_add(all, (gpointer)line);
    for (guint i = 0; i < all->len; i++) {
        if (g_str_has_prefix(all->pdata[i], name) && strcmp(all->pdata[i], line) != 0)
            ws_py_refuse(y, y->op, "gathers by groups of different numbers of warps",
                         "the same number of warps in all of them");
    }
    return name;
}

static void bind_row(WsPy *y, const char *name, guint rows)
{
    for (guint i = 0; i < y->p->n_vars; i++) {
        if (y->p->var[i].kind == WS_VAR_ROW)
            y->var[i] = (WsTermName){ name != NULL, name, ws_interval(0, (gint64)rows - 1) };
    }
}

/* Line that picks the rows; its name. The remark says it in the design's words. */
static const char *picked(WsPy *y, const WsOp *op, const char *layout)
{
    guint at = op->n_coord - 2, rows = op->access[0].rows;
    const char *name = ws_py_local(y, "at_row");
    ws_py_line(y, "row = gl.arange(0, %u, layout=gl.SliceLayout(1, %s))", rows, layout);
    bind_row(y, "row", rows);
    const char *x = ws_py_uniform(y, op->coord[at]).s;
    ws_py_line(y, "%s = %s  # is: %s", name, x, ws_py_plain(y, op->coord[at]));
    bind_row(y, NULL, rows);
    return name;
}

typedef struct {
    const char *at, *mask;
} Place;

static void add(WsPy *y, Place *p, const char *x, WsTerm stride, const char *inside)
{
    gint64 one;
    p->at = ws_term_known(stride, &one) && one == 1
                ? ws_py_format(y, "%s + %s", p->at, x)
                : ws_py_format(y, "%s + %s * %s", p->at, x, ws_py_in(y, stride, WS_PREC_ATOM));
    if (inside)
        p->mask = p->mask ? ws_py_format(y, "%s & %s", p->mask, inside) : inside;
}

static void add_rows(WsPy *y, Place *p, const WsOp *op, const char *row)
{
    const WsTensor *t = &y->p->tensor[op->tensor];
    guint d = op->n_coord - 2;
    const char *shape = ws_py_in(y, ws_py_uniform(y, t->shape[d]), WS_PREC_BIT);
    add(y, p, ws_py_format(y, "%s[:, None]", row), ws_py_uniform(y, t->stride[d]),
        ws_py_format(y, "((%s >= 0) & (%s < %s))[:, None]", row, row, shape));
}

/* Columns: clipped only where the tile is not known to lie inside. */
static void add_cols(WsPy *y, Place *p, const WsOp *op, const char *layout)
{
    const WsTensor *t = &y->p->tensor[op->tensor];
    guint d = op->n_coord - 1, cols = op->access[0].cols;
    WsTerm from = ws_py_uniform(y, op->coord[d]), shape = ws_py_uniform(y, t->shape[d]);
    const char *line =
        ws_py_format(y, "gl.arange(0, %u, layout=gl.SliceLayout(0, %s))[None, :]", cols, layout);
    const char *x = ws_py_local(y, "at_col");
    gint64 zero;
    if (ws_term_known(from, &zero) && zero == 0)
        ws_py_line(y, "%s = %s", x, line);
    else
        ws_py_line(y, "%s = %s + %s", x, from.s, line);
    gboolean inside = from.in.lo >= 0 && from.in.hi + cols <= shape.in.lo;
    add(y, p, x, ws_py_uniform(y, t->stride[d]),
        inside ? NULL
               : ws_py_format(y, "gl.max_constancy(%s < %s, [1, %u])", x,
                              ws_py_in(y, shape, WS_PREC_BIT), 16 / ws_dtype_bytes(t->dtype)));
}

void ws_gluon_gather(WsPy *y, const WsOp *op)
{
    const WsTensor *t = &y->p->tensor[op->tensor];
    const WsAccess *a = &op->access[0];
    if (t->rank < 2 || a->transposed || !ws_py_pow2(a->cols) || !ws_py_pow2(a->rows)) {
        ws_py_refuse(y, op, ws_py_phrase(y, "a gather of %u rows of %u columns", a->rows, a->cols),
                     "2^n rows of 2^n columns");
        return;
    }
    if (!ws_py_picks_rows(y, op))
        return;
    const char *layout = layout_of(y, a, t->dtype), *row = picked(y, op, layout), *place = "";
    Place p = { y->tensor[op->tensor], NULL };
    for (guint d = 0; d < t->rank; d++)
        place = ws_py_format(y, "%s%s%s", place, d ? ", " : "",
                             d + 2 == t->rank ? row : ws_py_text(y, op->coord[d]));
    for (guint d = 0; d + 2 < t->rank; d++) {
        WsTerm x = ws_py_uniform(y, op->coord[d]);
        add(y, &p, ws_py_in(y, x, WS_PREC_TERM), ws_py_uniform(y, t->stride[d]), NULL);
    }
    add_rows(y, &p, op, row);
    add_cols(y, &p, op, layout);
    p.at = ws_py_format(y, "gl.max_contiguous(gl.multiple_of(%s, [1, 16]), [1, %u])", p.at,
                        16 / ws_dtype_bytes(t->dtype));
    ws_py_line(y, "async_copy.async_copy_global_to_shared(%s, %s, mask=%s)  # gather: [%s]",
               ws_gluon_view(y, a), p.at, p.mask, place);
}

/* The barrier counts the arrivals of all threads: they are no further ones. */
void ws_gluon_gather_arrive(WsPy *y, const WsOp *op)
{
    ws_py_line(y, "async_copy.mbarrier_arrive(%s.index(%s), increment_count=False)",
               y->barrier[op->barrier], ws_py_slot(y, op));
}

void ws_gluon_gather_wait(WsPy *y, const WsOp *op)
{
    ws_py_line(y, "async_copy.wait_group(%" G_GINT64_FORMAT ")", op->n);
}
