/* TMA copies as Python sees them: one call per step. The program cuts a view into boxes as the
 * hardware wants them (256 elements a side, a swizzle span wide); the compilers there do it again.
 */
#include "codegen/python/py.h"

#include <string.h>

static gboolean is_copy(const WsOp *op)
{
    return op->kind == WS_OP_TMA_LOAD || op->kind == WS_OP_TMA_STORE;
}

/* Further boxes follow the first one directly. */
static gboolean together(const WsOp *a, const WsOp *b)
{
    return a->agent == b->agent && a->kind == b->kind && a->step && b->step &&
           !strcmp(a->step, b->step);
}

static gboolean same_box(const WsOp *a, const WsOp *b);

/* Operations [*first, *end) of the step of op, in one copy of its loop body. */
static void span_of(const WsPy *y, const WsOp *op, guint *first, guint *end)
{
    const WsProgram *p = y->p;
    *first = op->index;
    while (*first > 0 && together(p->op[*first - 1], op) && same_box(p->op[*first - 1], op))
        --*first;
    *end = op->index + 1;
    while (*end < p->n_ops && together(p->op[*end], op) && same_box(p->op[*end], op))
        ++*end;
}

/* Both move parts of one view: same buffer, element, stage, tensor, and the same tree around. */
static gboolean same_box(const WsOp *a, const WsOp *b)
{
    return a->map == b->map && a->tree->parent == b->tree->parent && a->n_access == 1 &&
           b->n_access == 1 && a->access[0].buffer == b->access[0].buffer;
}

gboolean ws_py_first_box(const WsPy *y, const WsOp *op)
{
    guint first, end;
    span_of(y, op, &first, &end);
    return first == op->index;
}

gint64 ws_py_step_bytes(const WsPy *y, const WsOp *op)
{
    guint first, end;
    gint64 bytes = 0;
    span_of(y, op, &first, &end);
    for (guint i = first; i < end; i++)
        bytes += y->p->op[i]->bytes;
    return bytes;
}

/* Extents of the whole view: boxes tile it, so they add up along rows and columns. */
static gboolean extent_of(WsPy *y, guint first, guint end, guint *rows, guint *cols)
{
    const WsOp *op = y->p->op[first];
    const WsAccess *a = &op->access[0];
    gint64 row0, col0, row, col;
    *rows = a->rows;
    *cols = a->cols;
    if (end - first == 1)
        return TRUE;
    if (!ws_py_constant(y, a->row0, &row0) || !ws_py_constant(y, a->col0, &col0))
        return FALSE;
    for (guint i = first; i < end; i++) {
        const WsAccess *b = &y->p->op[i]->access[0];
        if (!ws_py_constant(y, b->row0, &row) || !ws_py_constant(y, b->col0, &col) || row < row0 ||
            col < col0)
            return FALSE;
        *rows = MAX(*rows, (guint)(row - row0) + b->rows);
        *cols = MAX(*cols, (guint)(col - col0) + b->cols);
    }
    return TRUE;
}

static gboolean fill(WsPy *y, const WsOp *op, WsPyBox *out)
{
    guint first, end;
    span_of(y, op, &first, &end);
    const WsOp *head = y->p->op[first];
    const WsTensorMap *m = &y->p->map[head->map];
    *out = (WsPyBox){ .tensor = m->tensor, .rank = m->rank, .swizzle = m->swizzle };
    if (!extent_of(y, first, end, &out->rows, &out->cols)) {
        ws_py_refuse(y, op, "a view whose boxes lie at places that vary", "copy whole buffers");
        return FALSE;
    }
    guint product = 1, tall = G_MAXUINT;
    for (guint d = 0; d < m->rank; d++) {
        guint at = m->rank - 1 - d; /* boxes are listed innermost first */
        out->block[at] = m->box[d];
        if (d > 0) {
            product *= m->box[d];
            if (m->box[d] > 1 && tall == G_MAXUINT)
                tall = at;
        }
    }
    out->block[m->rank - 1] = out->cols;
    if (m->rank > 1 && product != out->rows) {
        if (tall == G_MAXUINT)
            tall = m->rank - 2;
        if (out->rows % product != 0) {
            ws_py_refuse(y, op, "boxes of this form", "copy whole buffers");
            return FALSE;
        }
        out->block[tall] *= out->rows / product;
    }
    return TRUE;
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
        if (!is_copy(op) || op->agent < 0 || op->map < 0 || !fill(y, op, &box))
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

const WsPyBox *ws_py_box(WsPy *y, const GArray *boxes, const WsOp *op)
{
    guint first, end;
    WsPyBox box;
    span_of(y, op, &first, &end);
    if (first != op->index || !fill(y, op, &box))
        return NULL;
    for (guint k = 0; k < boxes->len; k++) {
        const WsPyBox *b = &g_array_index(boxes, WsPyBox, k);
        if (equal(b, &box))
            return b;
    }
    return NULL;
}

const WsPyBox *ws_py_call(WsPy *y, const GArray *boxes, const WsOp *op)
{
    if (ws_py_first_box(y, op))
        return ws_py_box(y, boxes, op);
    ws_py_implied(y, op, "the call for the first box of the step");
    return NULL;
}

const char *ws_py_coordinates(WsPy *y, const WsOp *op)
{
    const char *s = "";
    for (guint i = 0; i < op->n_coord; i++)
        s = ws_py_format(y, "%s%s%s", s, i ? ", " : "", ws_py_text(y, op->coord[i]));
    return s;
}
