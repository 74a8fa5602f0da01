/* What an operation touches, worked out once for the play and for the proof. */
#include "check/touch.h"
#include "check/named.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

enum { BLOCKS = 64 };

/* Cuts are ascending, each once. */
static void cut_at(GArray *cut, gint64 at, guint all)
{
    const guint32 x = (guint32)CLAMP(at, 0, (gint64)all);
    guint i = cut->len;
    while (i > 0 && g_array_index(cut, guint32, i - 1) > x)
        i--;
    if (i == 0 || g_array_index(cut, guint32, i - 1) != x)
        g_array_insert_val(cut, i, x);
}

static void cut_every(GArray *cut, guint size, guint all)
{
    for (guint at = 0; at < all; at += size)
        cut_at(cut, at, all);
    cut_at(cut, all, all);
}

/* Rows of accumulators come in bands (`atom`); other values are cut in four. Columns are cut as
 * finely as the blocks allow, by a power of two. */
static void regular(const WsRegValue *v, guint atom, GArray *row, GArray *col)
{
    gboolean atoms =
        atom && v->rows % atom == 0 && v->rows <= 8 * atom && v->layout == WS_LAYOUT_ACCUMULATOR;
    guint down = atoms ? atom : MAX(1, (v->rows + 3) / 4), across = 1;
    g_array_set_size(row, 0);
    g_array_set_size(col, 0);
    cut_every(row, down, v->rows);
    while (((v->cols + across - 1) / across) * (row->len - 1) > BLOCKS)
        across *= 2;
    cut_every(col, across, v->cols);
}

/* FALSE if a view is not constant. */
static gboolean cut_views(const WsRegValue *v, guint value, const GPtrArray *uses, GArray *row,
                          GArray *col)
{
    cut_at(row, 0, v->rows), cut_at(row, v->rows, v->rows);
    cut_at(col, 0, v->cols), cut_at(col, v->cols, v->cols);
    for (guint i = 0; i < uses->len; i++) {
        const WsValueUse *u = uses->pdata[i];
        gint64 r = 0, c = 0;
        if (u->value != value)
            continue;
        if ((u->row0 && !ws_expr_is_int(u->row0, &r)) || (u->col0 && !ws_expr_is_int(u->col0, &c)))
            return FALSE;
        cut_at(row, r, v->rows), cut_at(row, r + MAX(u->rows, 1), v->rows);
        cut_at(col, c, v->cols), cut_at(col, c + MAX(u->cols, 1), v->cols);
    }
    return TRUE;
}

WsGrid *ws_value_grids(const WsProgram *p, guint agent)
{
    const WsAgent *a = &p->agent[agent];
    WsGrid *grids = g_new0(WsGrid, a->n_values + 1);
    g_autoptr(GArray) row = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) col = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GPtrArray) uses = g_ptr_array_new();
    for (guint i = 0; i < p->n_ops; i++)
        for (guint k = 0; p->op[i]->agent == (gint)agent && k < p->op[i]->n_value; k++)
            g_ptr_array_add(uses, &p->op[i]->value[k]);
    for (guint v = 0; v < a->n_values; v++) {
        WsGrid *g = &grids[v];
        g_array_set_size(row, 0);
        g_array_set_size(col, 0);
        if (!cut_views(&a->value[v], v, uses, row, col) || (row->len - 1) * (col->len - 1) > BLOCKS)
            regular(&a->value[v], p->hardware->matrix.rows, row, col);
        g->rows = row->len - 1, g->cols = col->len - 1;
        memcpy(g->row, row->data, row->len * sizeof(guint32));
        memcpy(g->col, col->data, col->len * sizeof(guint32));
    }
    return grids;
}

/* The blocks that meet [first, first + n); FALSE if that is not a union of blocks. */
static gboolean blocks_of(const guint32 *cut, guint n_blocks, gint64 first, gint64 n, guint *from,
                          guint *to)
{
    gboolean begins = FALSE, ends = FALSE;
    *from = n_blocks, *to = 0;
    for (guint i = 0; i < n_blocks; i++) {
        if (cut[i + 1] <= first || cut[i] >= first + n)
            continue;
        *from = MIN(*from, i), *to = i + 1;
        begins |= cut[i] == first;
        ends |= cut[i + 1] == first + n;
    }
    return begins && ends;
}

guint64 ws_value_blocks(const WsGrid *g, const WsValueUse *u, gint64 r0, gint64 c0, gboolean *exact)
{
    guint r, rows, c, cols;
    gboolean down = blocks_of(g->row, g->rows, r0, MAX(u->rows, 1), &r, &rows);
    gboolean across = blocks_of(g->col, g->cols, c0, MAX(u->cols, 1), &c, &cols);
    guint64 mask = 0;
    *exact = down && across;
    for (; r < rows; r++)
        for (guint k = c; k < cols; k++)
            mask |= 1ull << (r * g->cols + k);
    return mask;
}

typedef struct {
    GArray *read, *write; /* guint */
} Values;

static void see_value(const WsArray *a, gpointer data)
{
    Values *n = data;
    for (guint i = 0; a->form == WS_ARRAY_VALUE && i < n->write->len; i++)
        if (g_array_index(n->write, guint, i) == a->index)
            return; /* defined by an earlier statement of the step */
    if (a->form == WS_ARRAY_VALUE)
        g_array_append_val(n->read, a->index);
}

void ws_math_values(const WsOp *op, gboolean kept, GArray *read, GArray *write)
{
    Values n = { read, write };
    ws_array_visit(op->unless, see_value, &n);
    for (guint i = 0; i < op->n_math; i++) {
        guint value = (guint)op->assign[i].value;
        ws_array_visit(op->assign[i].array, see_value, &n);
        if (op->assign[i].value < 0)
            continue;
        if (op->unless && kept)
            g_array_append_val(read, value);
        g_array_append_val(write, value);
    }
}

static gboolean single_arrivals(const WsProgram *p, const WsOp *op)
{
    gint64 lanes = op->kind == WS_OP_CP_ARRIVE ? 1 : op->per;
    return (op->kind == WS_OP_MBAR_ARRIVE || op->kind == WS_OP_CP_ARRIVE) && op->agent >= 0 &&
           op->count == (lanes > 0 ? p->agent[op->agent].threads / lanes : 1);
}

gboolean *ws_fed_singly(const WsProgram *p)
{
    gboolean *singly = g_new(gboolean, p->n_barriers + 1);
    for (guint b = 0; b < p->n_barriers; b++)
        singly[b] = p->barrier[b].kind == WS_BARRIER_MBARRIER && !p->has_raw;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->barrier >= 0 && op->kind != WS_OP_MBAR_INIT && op->kind != WS_OP_MBAR_WAIT &&
            !single_arrivals(p, op))
            singly[op->barrier] = FALSE;
    }
    return singly;
}

gboolean *ws_unwatched(const WsProgram *p)
{
    gboolean *unwatched = ws_fed_singly(p);
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->barrier >= 0 && p->op[i]->kind == WS_OP_MBAR_WAIT)
            unwatched[p->op[i]->barrier] = FALSE;
    return unwatched;
}

gboolean *ws_unheard(const WsProgram *p)
{
    const guint n = ws_named_ids(p);
    gboolean *unheard = g_new(gboolean, n + 1);
    for (guint i = 0; i <= n; i++)
        unheard[i] = !p->has_raw;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        const WsBarrier *b = op->barrier < 0 ? NULL : &p->barrier[op->barrier];
        if (op->kind != WS_OP_BAR_SYNC)
            continue;
        if (!b)
            unheard[0] = FALSE;
        for (guint e = 0; b && e < MAX(b->array, 1); e++)
            unheard[ws_named_id(p, b, e)] = FALSE;
    }
    return unheard;
}

gboolean ws_follows_warp_sync(const WsOp *op)
{
    const WsTree *seq = op->tree->parent;
    for (guint i = 1; seq && i < seq->n_kids; i++) {
        const WsTree *before = seq->kid[i - 1];
        if (seq->kid[i] == op->tree)
            return before && before->op && before->op->kind == WS_OP_WARP_SYNC;
    }
    return FALSE;
}

gboolean ws_has_integer_tensor(const WsProgram *p)
{
    for (guint i = 0; i < p->n_tensors; i++)
        if (!ws_dtype_real(p->tensor[i].dtype) && p->tensor[i].access == WS_ACCESS_READ &&
            p->tensor[i].data != WS_DATA_ZEROS)
            return TRUE;
    return FALSE;
}

guint ws_combination(const WsProgram *p, const WsOp *op)
{
    if (!ws_op_is_atomic(op->kind))
        return 0;
    return 2 * op->reduce + (p->buffer[op->access[0].buffer].dtype == WS_DTYPE_F32);
}
