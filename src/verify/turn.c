/* Obligation M in a cover: turns that no symbol decides (docs/soundness.md section 8.6). */
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "verify/cover.h"

gboolean tree_is_below(const WsTree *t, const WsTree *up)
{
    while (t && t != up)
        t = t->parent;
    return t != NULL;
}

/* Lemma PAST: it stands in a branch that is not taken from now on. */
static gboolean is_past(const Context *x)
{
    const WsTree *same = x->n_same ? x->same[x->n_same - 1] : NULL;
    const WsTree *now = x->c->plan->agent[x->agent].place[x->y->place].tree;
    for (const WsTree *t = x->at; t->parent; t = t->parent) {
        if (t->parent->kind != WS_TREE_BRANCH || tree_is_below(same, t) || tree_is_below(now, t))
            continue;
        Context there = *x;
        there.at = t->parent;
        const int cond = settled_truth(&there, plan_form(x->c->plan, t->parent->cond, TRUE));
        if (cond >= 0 && (cond != 0) != (t == t->parent->kid[0]))
            return TRUE;
    }
    return FALSE;
}

static gboolean may_be(Context *x, const WsExpr *e, gint64 value)
{
    g_autoptr(WsExpr) n = ws_expr_int(value);
    const Range r = difference(x, e, n, FALSE);
    return r.low <= 0 && r.high >= 0;
}

/* A turn that no symbol decides goes on as the phases of all slots do that it may be about. */
static gboolean goes_with(Context *x, const WsOp *op, const WsExpr *turn, const WsExpr *slot)
{
    const Plan *plan = x->c->plan;
    const WsBarrier *b = &plan->p->barrier[op->barrier];
    const WsExpr *element = plan_form(plan, op->element, FALSE);
    const WsExpr *to = op->ctas.kind == WS_CTAS_EXPR ? plan_form(plan, op->ctas.expr, FALSE) : NULL;
    const guint own = x->inst / plan->p->n_agents;
    Shift by;
    gboolean holds = shift(x, turn, FALSE, &by) && by.g == 0;
    for (guint k = 0; k < b->array * b->slots && holds; k++)
        for (guint cta = 0; cta < plan->p->cluster && holds; cta++) {
            const guint n = cta * plan->n_slots + plan->slot0[op->barrier] + k;
            if (op->ctas.kind == WS_CTAS_OWN    ? cta != own
                : op->ctas.kind == WS_CTAS_MASK ? !(op->ctas.mask >> cta & 1)
                                                : to && !may_be(x, to, cta))
                continue;
            holds = x->c->s->slot[n].phase - x->c->by->slot[n].phase == by.d ||
                    !may_be(x, element, k / b->slots) || !may_be(x, slot, k % b->slots);
        }
    return holds;
}

typedef struct {
    gint var;
    gint64 value;
} Round;

static WsLookup in_round(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    const Round *r = data;
    *value = r->value;
    return leaf->op == WS_EXPR_VAR && leaf->var == r->var ? WS_LOOKUP_KNOWN : WS_LOOKUP_UNKNOWN;
}

/* As long as the plan lives: what is known of expressions goes by where they are. */
static const WsExpr *folded(Plan *plan, const WsExpr *e, const WsExprEnv *env)
{
    const Round *r = env->data;
    char *key = g_strdup_printf("%p %d %" G_GINT64_FORMAT, (const void *)e, r->var, r->value);
    WsExpr *made = plan_made(plan, key, NULL);
    if (!made)
        made = plan_made(plan, key, ws_expr_fold(e, env, NULL));
    g_free(key);
    return made;
}

/* So it does, or it does for every index of the loop around it that has few rounds. */
gboolean turn_holds(Context *x, const WsOp *op, const WsExpr *turn)
{
    const WsExpr *slot = plan_form(x->c->plan, op->slot, FALSE);
    const WsTree *loop = x->at;
    gint64 rounds = 0, d = 0, from, step;
    if (goes_with(x, op, turn, slot) || is_past(x))
        return TRUE;
    while (loop && loop->kind != WS_TREE_LOOP)
        loop = loop->parent;
    if (!loop || loop->index_var < 0 || loop->over != WS_OVER_COUNT ||
        !ws_expr_is_int(loop->count, &rounds) || rounds > 16 ||
        !plan_fixed(x->c->plan, loop, &from, &step) || from != 0 || step != 1 ||
        (in_same(x, loop) &&
         (!less(loop_of(x, x->x, loop)->index, loop_of(x, x->y, loop)->index, &d) || d != 0)))
        return FALSE;
    Round r = { loop->index_var, 0 };
    const WsExprEnv env = { .integer = in_round, .data = &r };
    for (; r.value < rounds; r.value++) {
        const WsExpr *its = folded(x->c->plan, turn, &env), *at = folded(x->c->plan, slot, &env);
        if (!its || !at || !goes_with(x, op, its, at))
            return FALSE;
    }
    return rounds > 0;
}
