/* Elements of a buffer that fare alike: whatever touches one of them touches the other, too, by the
 * same lanes. One of them is judged for all. Exact, and a buffer is left as it is where this cannot
 * be told from the program: other buffers lie over it, views move in it, or lanes are not laid
 * down.
 */
#include "lanes.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/dtype.h"
#include "program/parts/operation.h"
#include "program/parts/value.h"
#include "program/program.h"

enum { RUNS_BEFORE = 2 }; /* designs that go wrong at once need it not */

struct LanesAlike {
    guint runs, n_buffers;
    Elements **judged; /* [buffers]; NULL: all */
};

LanesAlike *lanes_alike_new(const WsProgram *p)
{
    LanesAlike *all = g_new0(LanesAlike, 1);
    all->n_buffers = p->n_buffers;
    return all;
}

void lanes_alike_free(LanesAlike *all)
{
    for (guint i = 0; all->judged && i < all->n_buffers; i++)
        if (all->judged[i]) {
            g_free(all->judged[i]->at);
            g_free(all->judged[i]);
        }
    g_free(all->judged);
    g_free(all);
}

static gboolean constant(const WsExpr *e, guint *value)
{
    *value = e ? (guint)e->i : 0;
    return !e || (e->op == WS_EXPR_INT && e->i >= 0 && e->i <= 1 << 20);
}

static gboolean lies_alone(const WsProgram *p, guint buffer)
{
    const WsBuffer *b = &p->buffer[buffer];
    for (guint i = 0; i < p->n_buffers; i++)
        if (i != buffer && p->buffer[i].offset < b->offset + b->bytes &&
            b->offset < p->buffer[i].offset + p->buffer[i].bytes)
            return FALSE;
    return TRUE;
}

static void mix(guint64 *hash, guint64 value)
{
    *hash = (*hash ^ value) * 0x9e3779b97f4a7c15u;
    *hash ^= *hash >> 29;
}

typedef enum { BY_ENGINE, BY_GATHER, BY_LANES, NOT_TOLD } Toucher;

static Toucher toucher(const WsOp *op)
{
    if (op->kind == WS_OP_TMA_LOAD || op->kind == WS_OP_BULK_COPY || op->kind == WS_OP_ST_REMOTE ||
        op->kind == WS_OP_MMA || op->kind == WS_OP_TMA_STORE)
        return BY_ENGINE;
    if (op->kind == WS_OP_CP_ROWS)
        return BY_GATHER;
    if (op->kind == WS_OP_ST_SHARED || op->kind == WS_OP_STMATRIX || op->kind == WS_OP_LD_SHARED ||
        op->kind == WS_OP_LDMATRIX)
        return op->n_value == 1 ? BY_LANES : NOT_TOLD;
    return NOT_TOLD;
}

/* An access goes into what is known of each element; FALSE: it cannot be told. */
static gboolean touch(const Lab *L, const WsOp *op, guint nth, guint64 *hash)
{
    const WsAccess *x = &op->access[nth];
    const WsBuffer *b = &L->p->buffer[x->buffer];
    const guint n_lanes = op->agent >= 0 ? L->inst[op->agent].n_lanes : 1;
    const Toucher by = toucher(op);
    guint row0, col0, value_row = 0, value_col = 0, rows = x->rows, cols = x->cols;
    gboolean turned = FALSE;
    const WsRegValue *value = NULL;
    if (by == NOT_TOLD || op->agent < 0 || !constant(x->row0, &row0) || !constant(x->col0, &col0) ||
        row0 + rows > b->rows || col0 + cols > b->cols)
        return FALSE;
    if (by == BY_LANES) {
        const WsValueUse *u = &op->value[0];
        if (!constant(u->row0, &value_row) || !constant(u->col0, &value_col))
            return FALSE;
        value = &L->p->agent[op->agent].value[u->value];
        turned = lanes_turned(x, u);
        rows = u->rows, cols = u->cols;
        if (row0 + (turned ? cols : rows) > b->rows || col0 + (turned ? rows : cols) > b->cols)
            return FALSE;
        mix(&hash[row0 * b->cols + col0], 1); /* lanes without an element read the first one */
    }
    for (guint r = 0; r < rows; r++)
        for (guint c = 0; c < cols; c++) {
            guint64 *h = &hash[(row0 + (turned ? c : r)) * b->cols + col0 + (turned ? r : c)];
            guint first = 0, step = 0, n = 0;
            if (by == BY_GATHER)
                first = lanes_gathers(x, ws_dtype_bytes(b->dtype), n_lanes, r, c);
            else if (by == BY_LANES)
                n = lanes_owners(lanes_shape(op, value), value, n_lanes, value_row + r,
                                 value_col + c, &first, &step);
            mix(h, (guint64)op->index << 40 | (guint64)nth << 36 | (guint64)n << 24 | step << 16 |
                       first);
        }
    return TRUE;
}

static gboolean whole(const WsProgram *p, const WsAccess *x)
{
    const WsBuffer *b = &p->buffer[x->buffer];
    guint row0, col0;
    return constant(x->row0, &row0) && constant(x->col0, &col0) && row0 == 0 && col0 == 0 &&
           x->rows == b->rows && x->cols == b->cols;
}

static Elements *judged_of(const Lab *L, guint buffer)
{
    const WsProgram *p = L->p;
    const WsBuffer *b = &p->buffer[buffer];
    const gsize n = (gsize)b->rows * b->cols;
    /* engines look at one byte in 16 of what no lane touches */
    const gboolean fine = L->fine[b->offset / 16];
    g_autofree guint64 *hash = g_new0(guint64, n);
    if (!lies_alone(p, buffer))
        return NULL;
    for (guint i = 0; i < p->n_ops; i++)
        for (guint k = 0; k < p->op[i]->n_access; k++)
            if (p->op[i]->access[k].buffer == buffer &&
                (!touch(L, p->op[i], k, hash) || (!fine && !whole(p, &p->op[i]->access[k]))))
                return NULL;
    Elements *judged = g_new0(Elements, 1);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
    judged->at = g_malloc(n * sizeof *judged->at);
    for (gsize i = 0; i < n; i++)
        if (g_hash_table_add(seen, &hash[i])) {
            judged->at[judged->n].row = (guint)(i / b->cols);
            judged->at[judged->n++].col = (guint)(i % b->cols);
        }
    return judged;
}

Elements **lanes_alike(const Lab *L, LanesAlike *all)
{
    if (!all || all->runs++ < RUNS_BEFORE)
        return NULL;
    if (!all->judged) {
        all->judged = g_new0(Elements *, all->n_buffers + 1);
        for (guint i = 0; i < all->n_buffers; i++)
            all->judged[i] = judged_of(L, i);
    }
    return all->judged;
}
