#include "import/ptx/rolled.h"

#include <string.h>

/* Whether two stretches of steps are the same ones, on registers that begin alike. */

gboolean ptx_same(const WsExpr *a, const WsExpr *b)
{
    gint64 d;
    return a == b || (a && b && (ws_expr_equal(a, b) || (ws_x_difference(a, b, &d) && d == 0)));
}

gboolean ptx_same_value(const Val *a, const Val *b)
{
    gint64 x, y;
    return a == b || (a && b && a->kind == VAL_INT && b->kind == VAL_INT && ptx_same(a->e, b->e)) ||
           (a && b && py_known(a, &x) && py_known(b, &y) && x == y);
}

static gboolean same_place(PtxWalk *w, const WsPlace *a, const WsPlace *b)
{
    const PtxOperand *x = g_hash_table_lookup(w->operands, a),
                     *y = g_hash_table_lookup(w->operands, b);
    if (a->object != b->object || !ptx_same(a->index, b->index) || !ptx_same(a->use, b->use) ||
        g_strcmp0(a->views, b->views) || a->transposed != b->transposed ||
        a->in_value != b->in_value || !x != !y)
        return FALSE;
    if (!x)
        return TRUE;
    const guint pieces = x->pieces ? x->pieces->len : 0;
    return x->from == y->from && x->to == y->to && x->touched == y->touched && x->span == y->span &&
           x->rows == y->rows && x->width == y->width && x->pitch == y->pitch &&
           x->expected == y->expected && x->times == y->times && x->tensor == y->tensor &&
           x->unknown == y->unknown && x->guess == y->guess && !g_strcmp0(x->dtype, y->dtype) &&
           x->turned == y->turned && x->matrix == y->matrix && x->idle == y->idle &&
           x->piece == y->piece && x->last == y->last && !x->pieces == !y->pieces &&
           (!pieces || pieces == y->pieces->len) &&
           (!pieces || !memcmp(x->pieces->data, y->pieces->data, pieces * sizeof(PtxPiece)));
}

static gboolean same_step(PtxWalk *w, const WsReadStep *a, const WsReadStep *b)
{
    if (a->kind != b->kind || a->kind == WS_READ_OPAQUE || a->kind == WS_READ_FOR ||
        a->kind == WS_READ_LET || a->off != b->off || a->tensor != b->tensor ||
        a->value != b->value || a->n_coord != b->n_coord || a->ctas != b->ctas || a->n != b->n ||
        a->stride != b->stride || a->flag != b->flag || a->all != b->all || a->parts != b->parts ||
        a->reads || b->reads || a->places || b->places)
        return FALSE;
    for (guint i = 0; i < a->n_coord; i++)
        if (!ptx_same(a->coord[i], b->coord[i]))
            return FALSE;
    return same_place(w, &a->barrier, &b->barrier) && same_place(w, &a->buffer, &b->buffer) &&
           same_place(w, &a->a, &b->a) && same_place(w, &a->b, &b->b) &&
           ptx_same(a->parity, b->parity) && ptx_same(a->e, b->e) && ptx_same(a->cta, b->cta) &&
           ptx_same(a->when, b->when) && !g_strcmp0(a->name, b->name) &&
           !g_strcmp0(a->text, b->text) && ptx_same_steps(w, a->body, b->body) &&
           ptx_same_steps(w, a->other, b->other);
}

gboolean ptx_same_steps(PtxWalk *w, const GPtrArray *a, const GPtrArray *b)
{
    if (!a || !b)
        return (!a || !a->len) && (!b || !b->len);
    if (a->len != b->len)
        return FALSE;
    for (guint i = 0; i < b->len; i++)
        if (!same_step(w, g_ptr_array_index(a, i), g_ptr_array_index(b, i)))
            return FALSE;
    return TRUE;
}
