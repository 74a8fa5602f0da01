/* Counters stay within 64 bits: lemma GROWTH of docs/soundness.md. What grows faster than the third
 * power of sizes and rounds is refused. */
#include "program/parts/variable.h"
#include "verify/state.h"

typedef struct {
    Plan *plan;
    guint *power; /* of each variable */
    gboolean more;
} Growth;

/* With which power of sizes and rounds it grows, at most. */
static guint power_of(const Growth *g, const WsExpr *e)
{
    const WsProgram *p = g->plan->p;
    guint most = 0, sum = 0;
    if (e->op == WS_EXPR_VAR && e->var >= (gint)p->n_vars) {
        const Symbol *s = &g_array_index(g->plan->c->symbol, Symbol, (guint)e->var - p->n_vars);
        return s->whole ? power_of(g, s->whole) : 1;
    }
    if (e->op == WS_EXPR_VAR && e->var >= 0) {
        const WsVar *v = &p->var[e->var];
        return v->kind == WS_VAR_COUNTER || v->kind == WS_VAR_LET ? g->power[e->var]
               : (v->kind == WS_VAR_RUN || v->kind == WS_VAR_TILE) && v->value
                   ? power_of(g, v->value)
                   : 1;
    }
    if (!e->n_args || e->op == WS_EXPR_INDEX)
        return e->op != WS_EXPR_INT && e->op != WS_EXPR_TEXT_BOOL;
    if ((e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR) || e->op == WS_EXPR_NOT)
        return 0;
    const gboolean divides =
        e->op == WS_EXPR_DIV || (e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV);
    for (guint i = 0; i < e->n_args; i++) {
        const guint part = power_of(g, e->arg[i]);
        sum += part;
        if (!(divides && i == 1) && !(e->op == WS_EXPR_MOD && i == 0))
            most = MAX(most, part);
    }
    return e->op == WS_EXPR_MUL ? sum : most;
}

static void raise_to(Growth *g, gint var, guint power)
{
    if (power > 3)
        plan_fail(g->plan, WS_VERIFY_REFUSED, "\"%s\" may grow beyond 64 bits",
                  g->plan->p->var[var].name);
    g->more |= power > g->power[var];
    g->power[var] = MAX(power, g->power[var]);
}

static void grow(gpointer data, const WsTree *t, const WsExpr *e, Ask ask)
{
    Growth *g = data;
    WsAffine f;
    gint64 own = 0;
    guint rest = 0;
    if ((ask != ASK_LET && ask != ASK_ADVANCE) || !g->plan->relevant[t->op->var])
        return;
    if (ask == ASK_LET) {
        raise_to(g, t->op->var, power_of(g, e));
        return;
    }
    if (!ws_expr_affine(e, &f))
        own = 1;
    for (guint i = 0; i < f.n; i++)
        if (f.term[i]->op == WS_EXPR_VAR && f.term[i]->var == t->op->var)
            own = f.factor[i];
        else
            rest = MAX(rest, power_of(g, f.term[i]));
    ws_affine_clear(&f);
    /* x + own * x + rest, again in every round */
    raise_to(g, t->op->var, own == -1 ? rest : own == 0 || own == -2 ? rest + 1 : 4);
}

void plan_growth(Plan *plan)
{
    Growth g = { .plan = plan, .power = g_new0(guint, plan->p->n_vars + 1), .more = TRUE };
    for (guint v = 0; v < plan->p->n_vars; v++)
        if (plan->relevant[v] && plan->p->var[v].kind == WS_VAR_COUNTER && plan->p->var[v].value)
            raise_to(&g, (gint)v, power_of(&g, plan_form(plan, plan->p->var[v].value, FALSE)));
    while (g.more && !plan->reason) {
        g.more = FALSE;
        for (guint a = 0; a < plan->p->n_agents; a++)
            for (gint i = 1; i <= plan->agent[a].n_places; i++)
                plan_visit(plan, plan->agent[a].place[i].tree, grow, &g);
    }
    g_free(g.power);
}
