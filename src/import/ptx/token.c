#include "import/ptx/walk.h"

/* A try_wait that nothing repeats gives a token: whether the phase was complete. It counts for a
 * wait of the same barrier and phase that is skipped where it was, as long as the thread learned
 * nothing of other threads in between: then what makes sure that the phase before is over at the
 * wait made sure of it at the test, too. Its value is said as an integer, so that rounds of a loop
 * hand it on like any other. */

const WsExpr *ptx_token(PtxWalk *w, const WsExpr *barrier, const WsExpr *parity)
{
    WsRead *r = w->p.r;
    if (!barrier || !parity)
        return NULL;
    const WsExpr *e = ws_x_op(r, WS_EXPR_MUL, barrier, ws_x_int(r, 2));
    w->tokens++;
    return ws_x_op(r, WS_EXPR_ADD, ws_x_op(r, WS_EXPR_ADD, e, parity), ws_x_name(r, PTX_TOKEN));
}

const WsExpr *ptx_token_of(PtxWalk *w, const WsExpr *condition, gboolean *done)
{
    gint64 zero;
    *done = TRUE;
    if (!condition || !ws_expr_mentions(condition, PTX_TOKEN))
        return NULL;
    while (condition->op == WS_EXPR_NOT) {
        *done = !*done;
        condition = condition->arg[0];
    }
    if ((condition->op == WS_EXPR_NE || condition->op == WS_EXPR_EQ) &&
        ws_x_is(condition->arg[1], &zero) && zero == 0) {
        *done ^= condition->op == WS_EXPR_EQ;
        condition = condition->arg[0];
    }
    return ws_x_own(w->p.r, ws_expr_ref(condition));
}

void ptx_tokens_end(PtxWalk *w)
{
    GHashTableIter it;
    gpointer value;
    if (!w->tokens)
        return;
    g_hash_table_iter_init(&it, w->p.frame->vars);
    while (g_hash_table_iter_next(&it, NULL, &value)) {
        const Val *v = value;
        if (v->kind == VAL_INT && ws_expr_mentions(v->e, PTX_TOKEN))
            g_hash_table_iter_replace(&it, (gpointer)py_opaque(&w->p));
    }
}

static guint arrivals_like(const GPtrArray *list, const WsReadStep *a, gboolean *found)
{
    guint n = 0;
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        *found |= s == a;
        n += s->barrier.object == a->barrier.object && g_strcmp0(s->text, PTX_OTHERS) &&
             (s->kind == WS_READ_ARRIVE || s->kind == WS_READ_EXPECT);
        n += arrivals_like(s->body, a, found) + arrivals_like(s->other, a, found);
    }
    return n;
}

/* A wait for the phase of an arrival was read as one for as many completions as there are rounds
 * before: so there is no other arrival of its group there. */
void ptx_phases_checked(PtxWalk *w)
{
    for (guint i = 0; i < w->phases->len; i++) {
        const WsReadStep *a = g_ptr_array_index(w->phases, i);
        for (guint g = 0; g < w->p.r->groups->len; g++) {
            gboolean found = FALSE;
            const WsReadGroup *group = g_ptr_array_index(w->p.r->groups, g);
            if (arrivals_like(group->body, a, &found) != 1 && found)
                ptx_lose_line(w, a->line, "a wait for the phase of one of several arrivals");
        }
    }
}
