#include "verify/value.h"
#include "program/parts/variable.h"

typedef struct {
    RangeEnv env;
    Plan *plan;
    const State *s;
    guint inst;
    gboolean number; /* symbols stand for one value each */
    gboolean missing;
} Eval;

/* What a symbol stands for. As a number: its least value with the known residue, off by multiples
 * of its modulus. */
static Range of_symbol(Eval *v, guint symbol)
{
    const Symbol *y = &g_array_index(v->plan->c->symbol, Symbol, symbol);
    for (guint i = 0; y->divisor && i < y->divisor->len; i++)
        if (value_truth(v->plan, v->s, v->inst, y->divisor->pdata[i]) != 1)
            plan_fail(v->plan, WS_VERIFY_REJECTED, "\"%s\" may have no value here", y->text);
    Fact f = instance_fact(v->plan, v->s, v->inst, symbol);
    Range r = range_of(f.low, f.high);
    const gint64 residue = fact_residue(v->plan, v->s, &f);
    if (!v->number && f.low != f.high && residue >= 0) {
        r.v = residue;
        r.g = y->modulus;
    }
    if (v->number && f.low != f.high) {
        if (residue < 0 || f.low == NO_LOW) {
            v->missing = TRUE;
            r.open = TRUE;
            return r;
        }
        if (__builtin_add_overflow(f.low, range_up(f.low, residue, y->modulus), &r.v))
            v->env.wrong = "an overflow";
        r.g = y->modulus;
    }
    return r;
}

/* The least that an index ever is: its loops start from numbers, and none falls; else NO_LOW. */
static gint64 least_index(const Plan *plan, gint var)
{
    gint64 least = NO_HIGH;
    for (guint a = 0; a < plan->p->n_agents; a++)
        for (gint n = 1; n <= plan->agent[a].n_places; n++) {
            const WsTree *t = plan->agent[a].place[n].tree;
            gint64 from, step;
            if (t->kind != WS_TREE_LOOP || t->index_var != var)
                continue;
            if (!plan_fixed(plan, t, &from, &step) || step < 0)
                from = NO_LOW;
            least = MIN(least, from);
        }
    return least == NO_HIGH ? NO_LOW : least;
}

/* --- by assumptions alone --------------------------------------------------------------------- */
static gboolean assumed_leaf(RangeEnv *env, const WsExpr *e, gboolean truth, Range *out)
{
    Plan *plan = ((Eval *)env)->plan;
    const guint symbol = plan_symbol(plan, e);
    if (!symbol && (e->op == WS_EXPR_INT || (e->n_args && e->op != WS_EXPR_INDEX)))
        return FALSE;
    const Fact f = fact_default(plan->c, &(Fact){ .symbol = symbol });
    *out = symbol                 ? range_of(f.low, f.high)
           : plan_is_var(plan, e) ? range_of(least_index(plan, e->var), NO_HIGH)
                                  : range_of(NO_LOW, NO_HIGH);
    return TRUE;
}

static Range assumed(Plan *plan, const WsExpr *e)
{
    Eval env = { .env = { .leaf = assumed_leaf }, .plan = plan };
    g_autoptr(WsExpr) zero = ws_expr_int(0);
    return range_difference(&env.env, plan_form(plan, e, FALSE), zero);
}

Range value_step(Plan *plan, const WsOp *op)
{
    if (op->kind != WS_OP_ADVANCE)
        return range_of(NO_LOW, NO_HIGH);
    return op->set ? assumed(plan, op->set) : range_exact(1);
}

gint64 value_counter_least(Plan *plan, guint agent, gint var)
{
    const AgentPlan *a = &plan->agent[agent];
    for (gint n = 1; n <= a->n_places; n++) {
        const WsTree *t = a->place[n].tree;
        if (t->kind == WS_TREE_OP && t->op->var == var && value_step(plan, t->op).low < 0)
            return NO_LOW;
    }
    const WsVar *v = &plan->p->var[var];
    return v->value ? assumed(plan, v->value).low : 0;
}

static gboolean leaf(RangeEnv *env, const WsExpr *e, gboolean truth, Range *out)
{
    Eval *v = (Eval *)env;
    if (e->op == WS_EXPR_INT)
        return FALSE;
    guint symbol = plan_symbol(v->plan, e);
    if (symbol) {
        *out = of_symbol(v, symbol);
        return TRUE;
    }
    if (e->op != WS_EXPR_VAR || e->var < 0)
        return FALSE;
    const Instance *x = &v->s->inst[v->inst];
    const WsVarKind kind = v->plan->p->var[e->var].kind;
    const guint agent = v->inst % v->plan->p->n_agents;
    *out = range_exact((gint64)(v->inst / v->plan->p->n_agents));
    if (kind == WS_VAR_CTA)
        return TRUE;
    *out = range_exact(x->var[e->var]);
    if (x->loose[e->var])
        *out =
            (Range){ kind == WS_VAR_COUNTER ? value_counter_least(v->plan, agent, e->var) : NO_LOW,
                     NO_HIGH, x->var[e->var], x->loose[e->var], FALSE };
    return kind == WS_VAR_INDEX || kind == WS_VAR_TOTAL || kind == WS_VAR_COUNTER ||
           kind == WS_VAR_LET;
}

/* All symbols of a number are asked for before it is made. */
static void need_symbols(Eval *v, const WsExpr *e)
{
    guint symbol = e->op == WS_EXPR_INT ? 0 : plan_symbol(v->plan, e);
    if (symbol)
        of_symbol(v, symbol);
    for (guint i = 0; !symbol && i < e->n_args; i++)
        need_symbols(v, e->arg[i]);
}

static Eval begin(Plan *plan, const State *s, guint inst, gboolean number)
{
    return (Eval){ { .leaf = leaf }, plan, s, inst, number, FALSE };
}

static gboolean failed(Eval *v, const WsExpr *e)
{
    const char *wrong = v->env.undefined ? "a division by what may be 0" : v->env.wrong;
    if (wrong) {
        g_autofree char *text = ws_expr_print(e);
        plan_fail(v->plan, WS_VERIFY_REJECTED, "%s in \"%s\"", wrong, text);
    }
    return wrong != NULL;
}

int value_truth(Plan *plan, const State *s, guint inst, const WsExpr *e)
{
    e = plan_form(plan, e, TRUE);
    Eval v = begin(plan, s, inst, FALSE);
    Range r = range_eval(&v.env, e, TRUE);
    if (failed(&v, e) || r.open)
        return -1;
    return r.low > 0 || r.high < 0 ? 1 : r.low == 0 && r.high == 0 ? 0 : -1;
}

int value_more(Plan *plan, const State *s, guint inst, gint64 round, const WsExpr *e)
{
    e = plan_form(plan, e, FALSE);
    Eval v = begin(plan, s, inst, FALSE);
    Range r = range_eval(&v.env, e, FALSE);
    if (failed(&v, e))
        return -1;
    if (!r.open && (r.low > round || r.high <= round))
        return r.low > round;
    g_autoptr(WsExpr) made = ws_expr_int(round);
    return range_answer(WS_EXPR_GT, range_difference(&v.env, e, made));
}

static gboolean number(Plan *plan, const State *s, guint inst, const WsExpr *e, Range *out)
{
    Eval v = begin(plan, s, inst, TRUE);
    need_symbols(&v, e);
    if (v.missing || v.env.wrong)
        return failed(&v, e) && FALSE;
    *out = range_eval(&v.env, e, FALSE);
    return !failed(&v, e) && !out->open;
}

gboolean value_least(Plan *plan, const State *s, guint inst, const WsExpr *e, gint64 *least)
{
    Range r;
    if (!number(plan, s, inst, plan_form(plan, e, FALSE), &r))
        return FALSE;
    *least = r.low;
    return TRUE;
}

gboolean value_number(Plan *plan, const State *s, guint inst, const WsExpr *e, gint64 *value,
                      gint64 *loose)
{
    Range r;
    e = plan_form(plan, e, FALSE);
    if (!number(plan, s, inst, e, &r))
        return FALSE;
    const gboolean exact = r.g == 0 || r.low == r.high;
    *value = r.low == r.high ? r.low : r.v;
    if (*value == NO_LOW || *value == NO_HIGH)
        plan_fail(plan, WS_VERIFY_REJECTED, "an overflow");
    if (loose)
        *loose = exact ? 0 : r.g;
    else if (!exact) {
        g_autofree char *text = ws_expr_print(e);
        plan_fail(plan, WS_VERIFY_REFUSED, "\"%s\" is not exact", text);
    }
    return exact || loose;
}
