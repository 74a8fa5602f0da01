/* Variables that control depends on, and those known up to a multiple only. */
#include "check/proof/symbols.h"
#include "program/parts/agent.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/visit.h"

#include <string.h>

static gboolean of_rank(const WsControl *c, const WsExpr *e)
{
    if (e->op == WS_EXPR_INT)
        return TRUE;
    if (e->op == WS_EXPR_VAR)
        return e->var >= 0 && (guint)e->var < c->n_vars && c->p->var[e->var].kind == WS_VAR_CTA;
    gboolean all = e->n_args > 0;
    for (guint i = 0; i < e->n_args; i++)
        all = all && of_rank(c, e->arg[i]);
    return all;
}

gboolean ws_is_private(const WsControl *c, const WsTree *t)
{
    if (!t)
        return TRUE;
    if (t->kind == WS_TREE_OP)
        return t->op->kind == WS_OP_MATH || t->op->kind == WS_OP_MARK ||
               t->op->kind == WS_OP_LD_GLOBAL || t->op->kind == WS_OP_ST_GLOBAL ||
               t->op->kind == WS_OP_RED_GLOBAL ||
               (t->op->kind == WS_OP_LET && t->op->var >= 0 && !c->relevant[t->op->var]);
    if (t->kind == WS_TREE_LOOP || (t->kind == WS_TREE_BRANCH && t->cond && of_rank(c, t->cond)))
        return FALSE; /* an agent knows its rank: what one CTA alone defines, it finds defined */
    for (guint i = 0; i < t->n_kids; i++)
        if (!ws_is_private(c, t->kid[i]))
            return FALSE;
    return TRUE;
}

/* --- variables that control depends on -------------------------------------------------------- */
typedef struct {
    WsControl *c;
    gboolean changed, symbols;
} Mark;

static void mark(const WsExpr *e, gpointer data)
{
    Mark *m = data;
    if (e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < m->c->n_vars && m->c->let[e->var]) {
        ws_expr_visit(m->c->let[e->var], mark, m);
        return;
    }
    if (e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < m->c->n_vars && m->c->start[e->var])
        ws_expr_visit(m->c->start[e->var], mark, m);
    if (e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < m->c->n_vars &&
        !m->c->relevant[e->var])
        m->c->relevant[e->var] = m->changed = TRUE;
}

static void mark_expr(Mark *m, const WsExpr *e)
{
    if (!e)
        return;
    g_autoptr(WsExpr) plain = m->c->flat->len ? ws_without_lets(m->c, e) : NULL;
    g_autoptr(WsExpr) flat = plain ? ws_flattened(m->c, plain) : NULL;
    ws_expr_visit(flat ? flat : e, mark, m);
}

static void mark_operand(const WsExpr *e, WsOperand what, gpointer data)
{
    if (what <= WS_OPERAND_FIRST)
        mark_expr(data, e);
}

static void mark_node(const WsTree *t, gpointer data)
{
    Mark *m = data;
    const WsOp *op = t->op;
    if (t->kind == WS_TREE_OP && (op->kind == WS_OP_LET || op->kind == WS_OP_ADVANCE))
        mark_expr(m, op->var >= 0 && m->c->relevant[op->var] ? op->set : NULL);
    else if (t->kind == WS_TREE_OP)
        ws_op_operands(op, mark_operand, m);
    if (t->kind == WS_TREE_LOOP)
        mark_expr(m, t->count), mark_expr(m, ws_from(m->c, t)), mark_expr(m, ws_step(m->c, t));
    if (t->kind == WS_TREE_BRANCH && !ws_is_private(m->c, t))
        mark_expr(m, t->cond);
}

static gboolean depends(const WsControl *c, const WsExpr *e);
static void see_taint(const WsExpr *e, gpointer data)
{
    Mark *m = data;
    if (e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < m->c->n_vars)
        m->symbols |= m->c->tainted[e->var];
}

static gboolean depends(const WsControl *c, const WsExpr *e)
{
    Mark m = { (WsControl *)c, FALSE, FALSE };
    ws_expr_visit(e, see_taint, &m);
    return m.symbols || ws_leaves(c, e).symbol > 0;
}

void ws_find_variables(WsControl *c)
{
    const WsProgram *p = c->p;
    Mark m = { c, TRUE, FALSE };
    while (m.changed) {
        m.changed = FALSE;
        for (guint a = 0; a < p->n_agents; a++)
            ws_tree_each(p->agent[a].body, mark_node, &m);
        for (guint v = 0; v < p->n_vars; v++)
            if (p->var[v].kind == WS_VAR_COUNTER && p->var[v].value && c->relevant[v])
                mark_expr(&m, p->var[v].value);
    }
    gboolean changed = TRUE;
    while (changed) {
        changed = FALSE;
        for (guint v = 0; v < p->n_vars; v++)
            if (p->var[v].kind == WS_VAR_COUNTER && p->var[v].value && !c->tainted[v] &&
                depends(c, p->var[v].value))
                c->tainted[v] = changed = TRUE;
        for (guint i = 0; i < p->n_ops; i++) {
            const WsOp *op = p->op[i];
            if ((op->kind == WS_OP_LET || op->kind == WS_OP_ADVANCE) && op->var >= 0 && op->set &&
                !c->tainted[op->var] && depends(c, op->set))
                c->tainted[op->var] = changed = TRUE;
        }
    }
}
