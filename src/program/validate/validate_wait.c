#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/retired.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/validate.h"

#define HOLDS(condition) ws_holds(v, condition, #condition)

/* --- waits for groups --------------------------------------------------------------------------
 */

static gboolean flies(const WsOp *op, const WsOp *product)
{
    for (guint i = 0; i < op->n_flying; i++) {
        if (op->flying[i] == product)
            return TRUE;
    }
    return FALSE;
}

/* Some product that the wait retires has a register of the part, in the same way. */
static gboolean of_retired(const WsWait *w, const WsValueUse *part)
{
    for (guint i = 0; i < w->n_retired; i++) {
        const WsOp *op = w->retired[i].op;
        for (guint k = 0; k < op->n_value; k++) {
            if (op->value[k].value == part->value && op->value[k].mode == part->mode)
                return TRUE;
        }
    }
    return FALSE;
}

static void freed(WsValidation *v, const WsWait *w, const WsValueUse *part)
{
    gint64 row = 0, col = 0;
    if (!HOLDS(part->value < v->agent->n_values))
        return;
    const WsRegValue *of = &v->agent->value[part->value];
    HOLDS(ws_literal(part->row0, &row) && ws_literal(part->col0, &col));
    HOLDS(row >= 0 && row + part->rows <= of->rows && col >= 0 && col + part->cols <= of->cols);
    ws_holds(v, of_retired(w, part), "frees registers of nothing that it retires");
}

void ws_validate_wait(WsValidation *v, const WsOp *op)
{
    const WsWait *w = op->wait;
    const gint queue = ws_op_queue(op->kind);
    HOLDS(op->n >= 0 && w->stay >= -1);
    HOLDS(op->n > 0 || w->stay == 0);
    HOLDS(op->kind == WS_OP_MMA_WAIT || w->n_freed == 0);
    for (guint i = 0; i < w->n_retired && !v->what; i++) {
        const WsOp *r = w->retired[i].op;
        ws_holds(v, r->agent == op->agent && ws_op_queue(r->kind) == queue && ws_op_flies(r->kind),
                 "retires what is not of its queue");
        ws_holds(v, queue != WS_QUEUE_MMA || flies(op, r), "retires nothing that flies");
        for (guint k = 0; k < i; k++)
            ws_holds(v, w->retired[k].op != r, "retires something twice");
    }
    for (guint i = 0; i < w->n_freed && !v->what; i++)
        freed(v, w, &w->freed[i]);
}

/* --- queues ------------------------------------------------------------------------------------
 */

static gboolean closes(const WsOp *op, const WsOp *group)
{
    const WsDeed deed = op ? ws_op_row(op->kind)->deed : WS_DEED_NONE;
    return (deed == WS_DEED_CLOSE || deed == WS_DEED_SIGNAL) &&
           ws_op_queue(op->kind) == ws_op_queue(group->kind);
}

/* Steps that run early stand in a branch each, of the same condition. */
static gboolean closes_under(const WsTree *kid, const WsTree *t, const WsOp *op)
{
    if (kid->kind != WS_TREE_BRANCH || t->kind != WS_TREE_BRANCH || !kid->kid[0] ||
        !ws_expr_equal(kid->cond, t->cond))
        return FALSE;
    gboolean found = FALSE;
    for (guint i = 0; i < kid->kid[0]->n_kids && !found; i++)
        found = closes(kid->kid[0]->kid[i]->op, op);
    return found;
}

/* A group is closed behind what fills it, in its list or, where a condition guards that step alone,
 * in one around it, or under the same condition; gathers that signal a barrier need no group. */
static gboolean is_closed(const WsOp *op)
{
    for (const WsTree *t = op->tree; t->parent; t = t->parent) {
        gboolean behind = FALSE;
        for (guint i = 0; i < t->parent->n_kids; i++) {
            const WsTree *kid = t->parent->kid[i];
            if (behind && kid && (closes(kid->op, op) || closes_under(kid, t, op)))
                return TRUE;
            behind = behind || kid == t;
        }
    }
    return FALSE;
}

void ws_validate_queue(WsValidation *v, const WsOp *op)
{
    if (ws_op_flies(op->kind) && ws_op_queue(op->kind) >= 0)
        ws_holds(v, is_closed(op), "is in a group that nothing closes");
    for (guint i = 0; i < op->n_flying; i++)
        ws_holds(v, ws_op_is_product(op->flying[i]->kind) && op->flying[i]->agent == op->agent,
                 "flying: no product of this agent");
}
