/* TMA copies as Python sees them: one call per step. The program cuts a view into boxes as the
 * hardware wants them (256 elements a side, a swizzle span wide); the compilers there do it again.
 */
#include "codegen/python/py.h"
#include "program/parts/operation.h"
#include "program/parts/transfer.h"
#include "program/program.h"

#include <string.h>

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

GArray *ws_py_boxes(WsPy *y)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(WsPyBox));
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
    return all;
}

const WsPyBox *ws_py_call(WsPy *y, const GArray *boxes, const WsOp *op)
{
    WsPyBox box;
    if (!ws_py_first_box(op)) {
        ws_py_implied(y, op, "the call for the first box of the step");
        return NULL;
    }
    if (!fill(y, op, &box))
        return NULL;
    for (guint k = 0; k < boxes->len; k++) {
        const WsPyBox *b = &g_array_index(boxes, WsPyBox, k);
        if (equal(b, &box))
            return b;
    }
    return NULL;
}

const char *ws_py_coordinates(WsPy *y, const WsOp *op)
{
    const char *s = "";
    for (guint i = 0; i < op->n_coord; i++)
        s = ws_py_format(y, "%s%s%s", s, i ? ", " : "", ws_py_text(y, op->coord[i]));
    return s;
}

guint ws_py_part_rows(guint rows)
{
    return rows & -rows;
}

guint ws_py_block(const WsPyBox *box, guint dim)
{
    return dim + 1 < box->rank ? ws_py_part_rows(box->block[dim]) : box->block[dim];
}

const char *ws_py_part_coordinates(WsPy *y, const WsOp *op, guint dim, guint rows)
{
    const char *s = "";
    for (guint i = 0; i < op->n_coord; i++) {
        const char *x = ws_py_text(y, op->coord[i]);
        s = ws_py_format(y, "%s%s%s", s, i ? ", " : "", x);
        if (i == dim)
            s = ws_py_format(y, "%s + part * %u", s, rows);
    }
    return s;
}

guint ws_py_parts(const WsPyBox *box, guint *dim)
{
    for (*dim = 0; *dim + 1 < box->rank; ++*dim) {
        guint rows = ws_py_block(box, *dim);
        if (rows != box->block[*dim])
            return box->block[*dim] / rows;
    }
    return 1;
}

gboolean ws_py_beyond(const WsOp *op)
{
    return op->ctas.kind != WS_CTAS_OWN &&
           (op->kind == WS_OP_MBAR_ARRIVE || op->kind == WS_OP_TMA_LOAD);
}
