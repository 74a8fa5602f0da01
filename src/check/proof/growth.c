/* How fast counters grow. The proof counts modulo, the machine in 64 bits: what could leave them
 * within the rounds that a launch can make has no proof. */
#include "check/proof/symbols.h"
#include "program/parts/variable.h"
#include "program/program.h"

enum { MOST = 3, ENDLESS = 99, PASSES = 8 }; /* sizes, rounds to the power of three */

typedef struct {
    const WsControl *c;
    const guint8 *power; /* [vars] */
    gint self;           /* a counter that is advanced: by itself it has no power */
} Growth;

static guint power_of(const Growth *g, const WsExpr *e);

static guint most_of(const Growth *g, const WsExpr *e, guint first)
{
    guint most = 0;
    for (guint i = first; i < e->n_args; i++)
        most = MAX(most, power_of(g, e->arg[i]));
    return most;
}

static guint power_of_var(const Growth *g, gint var)
{
    if (var < 0 || (guint)var >= g->c->n_vars || var == g->self)
        return ENDLESS;
    WsVarKind kind = g->c->p->var[var].kind;
    if (kind == WS_VAR_CTA)
        return 0;
    if (kind == WS_VAR_COUNTER || kind == WS_VAR_LET)
        return g->power[var];
    return 1;
}

static guint power_of(const Growth *g, const WsExpr *e)
{
    gint64 n;
    if (e->op == WS_EXPR_INT || e->op == WS_EXPR_TEXT_BOOL ||
        (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR) || e->op == WS_EXPR_NOT)
        return 0;
    if (e->op == WS_EXPR_VAR)
        return power_of_var(g, e->var);
    if (e->op == WS_EXPR_MOD)
        return ws_expr_is_int(e->arg[1], &n) ? 0 : power_of(g, e->arg[1]);
    if (e->op == WS_EXPR_MUL)
        return MIN(power_of(g, e->arg[0]) + power_of(g, e->arg[1]), ENDLESS);
    if (e->op == WS_EXPR_INDEX)
        return 1;
    if (e->op == WS_EXPR_DIV)
        return power_of(g, e->arg[0]);
    return most_of(g, e, e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT ? 1 : 0);
}

/* v becomes (1 + a)*v + rest. */
static guint power_of_advance(const Growth *g, const WsExpr *set)
{
    WsAffine a = { 0 };
    guint most = 0;
    if (!ws_expr_affine(set, &a))
        return ENDLESS;
    for (guint i = 0; i < a.n; i++) {
        gboolean self = a.term[i]->op == WS_EXPR_VAR && a.term[i]->var == g->self;
        guint power = !self                                    ? power_of(g, a.term[i])
                      : a.factor[i] == -1 || a.factor[i] == -2 ? 0
                                                               : ENDLESS;
        most = MAX(most, power);
    }
    ws_affine_clear(&a);
    return MIN(most + 1, ENDLESS);
}

/* L-GROWTH: a counter grows with a power of the rounds and sizes; an advance by itself only turns
 * it round. */
void ws_check_growth(WsControl *c)
{
    const WsProgram *p = c->p;
    g_autofree guint8 *power = g_new0(guint8, p->n_vars + 1);
    for (guint pass = 0; pass < PASSES; pass++) {
        for (guint i = 0; i < p->n_ops; i++) {
            const WsOp *op = p->op[i];
            if ((op->kind != WS_OP_LET && op->kind != WS_OP_ADVANCE) || op->var < 0 ||
                !c->relevant[op->var])
                continue;
            Growth g = { c, power, op->kind == WS_OP_ADVANCE ? op->var : -1 };
            guint now = !op->set                    ? 1
                        : op->kind == WS_OP_ADVANCE ? power_of_advance(&g, op->set)
                                                    : power_of(&g, op->set);
            power[op->var] = (guint8)MAX(power[op->var], now);
        }
        for (guint v = 0; v < p->n_vars; v++)
            if (p->var[v].kind == WS_VAR_COUNTER && p->var[v].value && c->relevant[v]) {
                Growth g = { c, power, -1 };
                power[v] = (guint8)MAX(power[v], power_of(&g, p->var[v].value));
            }
    }
    for (guint v = 0; v < p->n_vars && !c->outside; v++)
        if (power[v] > MOST)
            c->outside = g_strdup_printf("%s may grow beyond 64 bits: it is advanced by what grows "
                                         "itself",
                                         p->var[v].name);
}
