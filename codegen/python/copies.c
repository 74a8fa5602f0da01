/* TMA copies as Python sees them: one call per step. The program cuts a view into boxes as the
 * hardware wants them (256 elements a side, a swizzle span wide); the compilers there do it again.
 */
#include "codegen/python/py.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/transfer.h"
#include "program/parts/variable.h"
#include "program/program.h"

gboolean ws_py_first_box(const WsOp *op)
{
    return op->transfer->box[0] == op;
}

/* FALSE and refused: boxes that lie at places that vary. */
static gboolean fill(WsPy *y, const WsOp *op, WsPyBox *out)
{
    const WsTensorTransfer *t = op->transfer;
    *out = (WsPyBox){ .tensor = t->tensor,
                      .rank = t->rank,
                      .rows = t->rows,
                      .cols = t->cols,
                      .swizzle = t->swizzle };
    memcpy(out->block, t->extent, sizeof out->block);
    if (t->n == 1 || t->constant)
        return TRUE;
    ws_py_refuse(y, op, "a view whose boxes lie at places that vary", "copy whole buffers");
    return FALSE;
}

static gboolean equal(const WsPyBox *a, const WsPyBox *b)
{
    return a->tensor == b->tensor && a->rank == b->rank && a->swizzle == b->swizzle &&
           !memcmp(a->block, b->block, sizeof a->block);
}

void ws_py_boxes(WsPy *y)
{
    GArray *all = y->boxes = g_array_new(FALSE, FALSE, sizeof(WsPyBox));
    for (guint i = 0; i < y->p->n_ops && !y->error; i++) {
        const WsOp *op = y->p->op[i];
        WsPyBox box;
        if (!op->transfer || !ws_py_first_box(op) || !fill(y, op, &box))
            continue;
        gboolean known = FALSE;
        guint of_tensor = 0;
        for (guint k = 0; k < all->len; k++) {
            const WsPyBox *b = &g_array_index(all, WsPyBox, k);
            known = known || equal(b, &box);
            of_tensor += b->tensor == box.tensor;
        }
        if (known)
            continue;
        const char *name = y->tensor[box.tensor];
        box.name = of_tensor ? ws_py_format(y, "%s_desc%u", name, of_tensor + 1)
                             : ws_py_format(y, "%s_desc", name);
        g_array_append_val(all, box);
    }
}

const WsPyBox *ws_py_call(WsPy *y, const WsOp *op)
{
    WsPyBox box;
    if (!ws_py_first_box(op)) {
        ws_py_implied(y, op, "the call for the first box of the step");
        return NULL;
    }
    if (!fill(y, op, &box))
        return NULL;
    for (guint k = 0; k < y->boxes->len; k++) {
        const WsPyBox *b = &g_array_index(y->boxes, WsPyBox, k);
        if (equal(b, &box))
            return b;
    }
    return NULL;
}

/* Coordinates of calls that follow each other along `dim`, `rows` apart; 0: of one call. */
static const char *coordinates(WsPy *y, const WsOp *op, guint dim, guint rows)
{
    const char *s = "";
    for (guint i = 0; i < op->n_coord; i++) {
        s = ws_py_format(y, "%s%s%s", s, i ? ", " : "", ws_py_text(y, op->coord[i]));
        if (rows && i == dim)
            s = ws_py_format(y, "%s + part * %u", s, rows);
    }
    return s;
}

const char *ws_py_coordinates(WsPy *y, const WsOp *op)
{
    return coordinates(y, op, 0, 0);
}

guint ws_py_block(const WsPyBox *box, guint dim)
{
    return dim + 1 < box->rank ? ws_py_part_rows(box->block[dim]) : box->block[dim];
}

const char *ws_py_block_shape(WsPy *y, const WsPyBox *box)
{
    const char *s = "";
    for (guint i = 0; i < box->rank; i++)
        s = ws_py_format(y, "%s%s%u", s, i ? ", " : "",
                         y->dialect->parts ? ws_py_block(box, i) : box->block[i]);
    return s;
}

/* How many calls, which follow each other along `dim`. */
static guint parts(const WsPyBox *box, guint *dim)
{
    for (*dim = 0; *dim + 1 < box->rank; ++*dim) {
        guint rows = ws_py_block(box, *dim);
        if (rows != box->block[*dim])
            return box->block[*dim] / rows;
    }
    return 1;
}

static guint ws_py_copies(WsPy *y, const WsOp *op, const WsPyBox *box, const char **at)
{
    const WsBuffer *b = &y->p->buffer[op->access[0].buffer];
    guint dim, n = parts(box, &dim), rows = n > 1 ? ws_py_block(box, dim) : 0;
    if (n > 1 && (box->rows != b->rows || rows != ws_py_part_rows(b->rows))) {
        ws_py_refuse(y, op, "a copy of a number of rows that is not a power of two",
                     "copy 2^n rows, or whole tiles");
        return 0;
    }
    *at = coordinates(y, op, dim, rows);
    return n;
}

void ws_py_copy(WsPy *y, const WsOp *op, const WsPyBox *box, const WsPyCopier *c)
{
    const char *at = "";
    const guint n = ws_py_copies(y, op, box, &at);
    if (!n)
        return;
    WsAccess all = op->access[0];
    all.rows = box->rows;
    all.cols = box->cols;
    const char *view = n > 1 ? c->stage(y, &all, "part") : c->view(y, &all);
    if (box->rank != y->p->buffer[all.buffer].rank)
        view = c->reshaped(y, view, ws_py_block_shape(y, box));
    if (n > 1)
        ws_py_open(y, "for part in %s(%u)", y->dialect->static_range, n);
    c->line(y, op, box, at, view);
    if (n > 1)
        ws_py_close(y);
}

gboolean ws_py_single_store(WsPy *y, const WsOp *op, const WsPyBox *box)
{
    guint dim;
    const gboolean shapes = !ws_py_first_box(op); /* a wait counts steps, not calls */
    if (shapes)
        ws_py_refuse(y, op, "a store in boxes of several shapes", "store it in two steps");
    else if (parts(box, &dim) > 1)
        ws_py_refuse(y, op, "a store of a number of rows that is not a power of two",
                     "store 2^n rows at a time");
    return !shapes && parts(box, &dim) == 1;
}

const char *ws_py_expected(WsPy *y, const WsOp *expect, WsPyTerm term)
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
        const WsPyBox *box = ws_py_call(y, op);
        if (!box)
            return NULL;
        gint64 one = ws_dtype_bytes(y->p->tensor[box->tensor].dtype);
        for (guint d = 0; d < box->rank; d++)
            one *= box->block[d];
        const char *x = term(y, box, one);
        if (!x)
            return NULL;
        bytes += one;
        s = ws_py_format(y, "%s%s%s", s, *s ? " + " : "", x);
    }
    return *s && bytes == expect->bytes ? s : NULL;
}

gboolean ws_py_beyond(const WsOp *op)
{
    return op->ctas.kind != WS_CTAS_OWN &&
           (op->kind == WS_OP_MBAR_ARRIVE || op->kind == WS_OP_TMA_LOAD);
}

/* --- gathers -----------------------------------------------------------------------------------*/

static gboolean goes_by_row(const WsPy *y, const WsExpr *x)
{
    gboolean found = x->op == WS_EXPR_VAR && y->p->var[x->var].kind == WS_VAR_ROW;
    for (guint i = 0; i < x->n_args && !found; i++)
        found = goes_by_row(y, x->arg[i]);
    return found;
}

gint ws_py_row_dimension(const WsPy *y, const WsOp *op)
{
    gint found = -1;
    for (guint d = 0; d < op->n_coord; d++) {
        if (!goes_by_row(y, op->coord[d]))
            continue;
        if (found >= 0 || d + 1 == op->n_coord)
            return -1;
        found = (gint)d;
    }
    return found >= 0 ? found : (gint)op->n_coord - 2;
}

/* FALSE: refused. */
static gboolean picks(WsPy *y, const WsOp *op, gboolean good)
{
    if (!good)
        ws_py_refuse(
            y, op,
            ws_py_phrase(y, "a gather of which another coordinate than the row's goes by the row"),
            "the same columns in all rows");
    return good;
}

gboolean ws_py_picks_rows(WsPy *y, const WsOp *op)
{
    return picks(y, op, ws_py_row_dimension(y, op) + 2 == (gint)op->n_coord);
}

gboolean ws_py_picks_any(WsPy *y, const WsOp *op)
{
    return picks(y, op, ws_py_row_dimension(y, op) >= 0);
}
