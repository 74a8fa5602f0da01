/* What the clock assumes of rounds that data decide. */
#include "advise/fold.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/visit.h"

typedef struct {
    const WsProgram *p;
    gboolean *data; /* by variable: elements of tensors decide it */
    gboolean found; /* in the expression that is looked at */
} Look;

static void look_at(const WsExpr *e, gpointer data)
{
    Look *look = data;
    look->found = look->found || e->op == WS_EXPR_INDEX ||
                  (e->op == WS_EXPR_VAR && e->var >= 0 && look->data[e->var]);
}

static gboolean hangs(Look *look, const WsExpr *e)
{
    look->found = FALSE;
    if (e)
        ws_expr_visit(e, look_at, look);
    return look->found;
}

/* One pass over what is defined and what is set. TRUE: another variable hangs on data. */
static gboolean spread(Look *look)
{
    const WsProgram *p = look->p;
    gboolean more = FALSE;
    for (guint i = 0; i < p->n_vars; i++)
        if (!look->data[i] && hangs(look, p->var[i].value))
            more = look->data[i] = TRUE;
    for (guint i = 0; i < p->n_ops; i++) {
        const gint var = p->op[i]->var;
        if (var >= 0 && !look->data[var] && hangs(look, p->op[i]->set))
            more = look->data[var] = TRUE;
    }
    return more;
}

/* What each round does may be another's: a branch or an inner loop, a step that may be skipped,
 * text whose time is not known. */
static const char *assumed_of(Look *look, const WsTree *t)
{
    if (t->kind == WS_TREE_BRANCH && hangs(look, t->cond))
        return "data decide a branch within its rounds, and the clock takes the middle of "
               "their range";
    if (t->kind == WS_TREE_LOOP && hangs(look, t->count))
        return "data decide how many rounds an inner loop has, and the clock takes the "
               "middle of their range";
    if (t->kind == WS_TREE_OP && t->op->skip)
        return "a step with `unless` stands in its rounds, and the clock takes it as "
               "skipped";
    if (t->kind == WS_TREE_OP && ws_op_is_raw(t->op->kind))
        return "a raw step stands in its rounds, and the clock gives it no time";
    return NULL;
}

/* Of what stands in rounds of loops like the one that is told. */
static const char *within(Look *look, const WsTree *t, gboolean tiles, gboolean inside)
{
    const char *found = inside ? assumed_of(look, t) : NULL;
    const gboolean rounds = t->kind == WS_TREE_LOOP && (tiles || t->over == WS_OVER_COUNT);
    for (guint i = 0; i < t->n_kids && !found; i++)
        found = t->kid[i] ? within(look, t->kid[i], tiles, inside || rounds) : NULL;
    return found;
}

const char *ws_fold_assumes(const WsProgram *p, gboolean tiles)
{
    g_autofree gboolean *data = g_new0(gboolean, p->n_vars + 1);
    Look look = { p, data, FALSE };
    const char *found = p->unread ? "values that were not read take no time in the clock" : NULL;
    while (spread(&look))
        ;
    for (guint a = 0; a < p->n_agents && !found; a++)
        found = p->agent[a].body ? within(&look, p->agent[a].body, tiles, FALSE) : NULL;
    return found;
}
