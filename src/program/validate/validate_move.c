/* What program.h states about transfers, transactions and pipes. */
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/pipe.h"
#include "program/parts/tensor.h"
#include "program/parts/transfer.h"
#include "program/program.h"
#include "program/validate.h"

#define HOLDS(condition) ws_holds(v, condition, #condition)

/* The boxes of a transfer cover its view: they follow each other, and have its elements together.
 */
static void transfer(WsValidation *v, const WsOp *op)
{
    const WsTensorTransfer *t = op->transfer;
    guint64 elements = 0, extent = 1, own = 0;
    gint64 bytes = 0;
    HOLDS(op->tensor == (gint)t->tensor && t->rank == v->p->tensor[t->tensor].rank);
    for (guint i = 0; i < t->n && !v->what; i++) {
        const WsOp *box = t->box[i];
        own += box == op;
        if (!HOLDS(box && box->transfer == t && box->kind == op->kind && box->n_access == 1))
            return;
        HOLDS(box->agent == op->agent && box->access[0].buffer == op->access[0].buffer);
        HOLDS(i == 0 || box->index > t->box[i - 1]->index);
        elements += (guint64)box->access[0].rows * box->access[0].cols;
        bytes += box->bytes;
    }
    for (guint d = 0; d < t->rank; d++)
        extent *= t->extent[d];
    HOLDS(own == 1);
    HOLDS(elements == (guint64)t->rows * t->cols && extent == elements && bytes == t->bytes);
}

static void transaction(WsValidation *v, const WsTransaction *t)
{
    if (!HOLDS(t->n >= 1 && t->barrier >= 0 && (guint)t->barrier < v->p->n_barriers))
        return;
    for (guint i = 0; i < t->n; i++) {
        v->op = t->op[i];
        HOLDS(v->op->barrier == t->barrier && ws_op_row(v->op->kind)->gives == WS_GIVES_BYTES);
        HOLDS(i == 0 || v->op->agent == t->op[i - 1]->agent);
    }
    v->op = t->expect;
    HOLDS(!t->expect || (t->expect->barrier == t->barrier && t->expect->derived &&
                         ws_op_row(t->expect->kind)->gives == WS_GIVES_EXPECT));
    v->op = NULL;
}

static gboolean has_field(const WsPipe *pipe, guint buffer)
{
    for (guint i = 0; i < pipe->n_fields; i++)
        if (pipe->field[i] == buffer)
            return TRUE;
    return FALSE;
}

static void one_pipe(WsValidation *v, const WsPipe *pipe)
{
    const WsProgram *p = v->p;
    HOLDS(pipe->name && pipe->path && pipe->capacity >= 1);
    HOLDS(pipe->full >= 0 && (guint)pipe->full < p->n_barriers);
    HOLDS(pipe->empty < (gint)p->n_barriers && (pipe->empty < 0) == pipe->one_shot);
    HOLDS(pipe->writer < (gint)p->n_agents);
    for (guint i = 0; i < pipe->n_fields && !v->what; i++)
        HOLDS(pipe->field[i] < p->n_buffers && p->buffer[pipe->field[i]].stages == pipe->capacity);
    for (guint i = 0; i < pipe->n_readers; i++)
        HOLDS(pipe->reader[i] < p->n_agents);
    for (guint i = 0; i < pipe->n_reads; i++)
        for (guint k = 0; k < pipe->reads[i].n_fields; k++)
            HOLDS(pipe->reads[i].group && has_field(pipe, pipe->reads[i].field[k]));
}

/* Kinds that move boxes of a tensor. */
static const gboolean boxed[WS_OP_KIND_COUNT] = {
    [WS_OP_TMA_LOAD] = TRUE, [WS_OP_TMA_STORE] = TRUE, [WS_OP_TMA_PUT] = TRUE,
    [WS_OP_TMA_GET] = TRUE,  [WS_OP_QUEUE_IN] = TRUE,  [WS_OP_QUEUE_OUT] = TRUE,
};

void ws_validate_moves(WsValidation *v)
{
    const WsProgram *p = v->p;
    for (guint i = 0; i < p->n_ops && !v->what; i++) {
        const WsOp *op = v->op = p->op[i];
        if (HOLDS((op->transfer != NULL) == boxed[op->kind]) && op->transfer)
            transfer(v, op);
        HOLDS(!op->unread || op->text);
    }
    v->op = NULL;
    for (guint i = 0; i < p->n_transactions && !v->what; i++)
        transaction(v, p->transaction[i]);
    for (guint i = 0; i < p->n_pipes && !v->what; i++)
        one_pipe(v, &p->pipe[i]);
}
