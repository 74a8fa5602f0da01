/* Every element of a tensor of access `write` is written once in a launch: counted one by one,
 * where the run holds all tiles of the launch. */
#include "lanes.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#define MOST_ELEMENTS (1 << 20)

static gint64 elements_of(const Lab *L, guint tensor)
{
    gint64 n = 1;
    for (guint d = 0; d < L->p->tensor[tensor].rank && n <= MOST_ELEMENTS; d++)
        n *= MAX(ws_launch_shape(L->data.v, tensor, d), 0);
    return n;
}

void lanes_outputs_new(Lab *L)
{
    L->written = g_new0(guint8 *, L->p->n_tensors + 1);
    gint64 all = ws_launch_tiles(L->data.v);
    if (all != L->options->tiles || L->options->first > 0 || L->options->stride > 1 ||
        (L->p->tiles->launch == WS_LAUNCH_SINGLE && all != 1))
        return;
    for (guint t = 0; t < L->p->n_tensors; t++) {
        gint64 n = elements_of(L, t);
        if (L->p->tensor[t].access == WS_ACCESS_WRITE && !L->p->tensor[t].covers &&
            n <= MOST_ELEMENTS)
            L->written[t] = g_malloc0((gsize)n + 1);
    }
}

/* A tile covers the last dimensions; FALSE for one row or column of more: which dimension it runs
 * along is not told here. */
static gboolean extents(const Lab *L, const WsOp *op, gint64 *extent)
{
    const WsTensor *t = &L->p->tensor[op->tensor];
    guint rows = op->n_access ? op->access[0].rows : op->value[0].rows;
    guint cols = op->n_access ? op->access[0].cols : op->value[0].cols;
    for (guint d = 0; d < t->rank; d++)
        extent[d] = 1;
    if (t->rank >= 2) {
        extent[t->rank - 2] = rows;
        extent[t->rank - 1] = cols;
        return rows > 1 && cols > 1;
    }
    extent[0] = (gint64)rows * cols;
    return rows == 1 || cols == 1;
}

void lanes_outputs(Lab *L, Lanes *a, const WsOp *op)
{
    if (op->tensor < 0 || (op->kind != WS_OP_TMA_STORE && op->kind != WS_OP_ST_GLOBAL) ||
        op->reduce != WS_REDUCE_NONE || !L->written[op->tensor])
        return;
    const WsTensor *t = &L->p->tensor[op->tensor];
    guint8 *written = L->written[op->tensor];
    gint64 extent[WS_MAX_RANK], first[WS_MAX_RANK], n = 1;
    if (op->n_coord != t->rank || !extents(L, op, extent)) {
        g_clear_pointer(&L->written[op->tensor], g_free);
        return;
    }
    if (op->limit) {
        const guint d = t->rank >= 2 && op->value[0].cols > 1 ? t->rank - 2 : t->rank - 1;
        extent[d] = MIN(extent[d], MAX(lanes_value(L, a, op->limit), 0));
    }
    for (guint d = 0; d < t->rank; d++) {
        first[d] = lanes_value(L, a, op->coord[d]);
        n *= extent[d];
    }
    for (gint64 i = 0; i < n; i++) {
        gint64 rest = i, at = 0, step = 1;
        gboolean inside = TRUE;
        for (guint d = t->rank; d-- > 0;) {
            gint64 shape = ws_launch_shape(L->data.v, (guint)op->tensor, d);
            gint64 x = first[d] + rest % extent[d];
            rest /= extent[d];
            inside = inside && x >= 0 && x < shape;
            at += x * step;
            step *= shape;
        }
        if (inside && written[at]++ > 0)
            lanes_problem(L, ORACLE_OUTPUT, a, op, NULL);
    }
}

void lanes_outputs_end(Lab *L, gboolean judged)
{
    for (guint t = 0; t < L->p->n_tensors; t++) {
        for (gint64 i = 0; judged && L->written[t] && i < elements_of(L, t); i++)
            if (L->written[t][i] == 0) {
                lanes_problem(L, ORACLE_OUTPUT, NULL, NULL, NULL);
                break;
            }
        g_free(L->written[t]);
    }
    g_free(L->written);
}
