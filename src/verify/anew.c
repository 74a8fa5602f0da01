/* When names are asked anew that a certificate says it of (`anew`): docs/soundness.md sections 8.1
 * and 8.6. */
#include "verify/cover.h"

/* Symbols that the count of a loop names. */
static guint64 counted(const Context *x, const WsTree *loop)
{
    Plan *plan = (Plan *)x->c->plan;
    g_autofree gint64 *named = g_new0(gint64, plan->c->symbol->len);
    guint64 all = 0;
    if (loop->over != WS_OVER_COUNT)
        return 0;
    plan_count_symbols(plan, plan_form(plan, loop->count, FALSE), FALSE, named);
    for (guint k = 1; k < MIN(plan->c->symbol->len, 64); k++)
        all |= named[k] ? 1ull << k : 0;
    return all;
}

/* Symbols of the counts of loops within one. */
static guint64 counted_within(const Context *x, const WsTree *t)
{
    guint64 all = 0;
    for (guint i = 0; i < t->n_kids; i++)
        if (t->kid[i])
            all |= counted_within(x, t->kid[i]) |
                   (t->kid[i]->kind == WS_TREE_LOOP ? counted(x, t->kid[i]) : 0);
    return all;
}

/* Of loops that are asked anew in front of them: symbols that are so before the node is come by,
 * since it stands between that place and the end of its loop, and the instance neither does nor
 * runs that loop in the same turn; and those that are not, since it does run it. */
void anew_times(Context *x, gint n)
{
    const AgentPlan *a = &x->c->plan->agent[x->agent];
    x->moved = x->stays = 0;
    for (guint i = 0; i < x->c->plan->c->anew->len; i++) {
        const Anew *w = &g_array_index(x->c->plan->c->anew, Anew, i);
        const WsTree *loop = w->agent == x->agent ? a->place[w->loop].tree : NULL;
        const gboolean below = loop && n > w->loop && tree_is_below(x->at, loop);
        if (!loop || n < w->place || (n > w->loop && !below))
            continue;
        if (in_same(x, loop))
            x->stays |= below ? counted(x, loop) & ~counted_within(x, loop) : 0;
        else if (x->y->place < w->place || x->y->place > w->loop)
            x->moved |= counted(x, loop);
    }
}

/* Entered (again) in the round at hand of the loop whose index its count follows. */
gboolean within_round(const Context *x, gint n)
{
    const AgentPlan *a = &x->c->plan->agent[x->agent];
    gboolean again = n > x->y->place || (n == x->y->place && !loop_of(x, x->y, x->at)->entered);
    for (const WsTree *up = x->at->parent; up; up = up->parent) {
        const gint place = GPOINTER_TO_INT(g_hash_table_lookup(a->number, up));
        if (a->place[place].of_rounds)
            return again && in_same(x, up) && place != x->y->place;
        again |= up->kind == WS_TREE_LOOP && loop_of(x, x->y, up)->running;
    }
    return FALSE;
}
