/* The two halves as one code: which operations of the upper half belong to which of the lower. What
 * differs in more than integers, and in barriers that one half joins alone, is refused. */
#include "base/phrase.h"
#include "codegen/amdgpu/amd.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/product.h"
#include "program/parts/retired.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

gboolean ws_amd_same(const WsEmit *e, const WsExpr *x, const WsExpr *y)
{
    if (!x || !y)
        return x == y;
    if (x->op != y->op || x->n_args != y->n_args || x->i != y->i || x->func != y->func ||
        (x->op == WS_EXPR_REAL && x->r != y->r))
        return FALSE;
    if (x->op == WS_EXPR_VAR ? e->amd->twin[y->var] != e->amd->twin[x->var] : x->var != y->var)
        return FALSE;
    if (x->op == WS_EXPR_NAME && g_strcmp0(x->name, y->name) != 0)
        return FALSE;
    for (guint i = 0; i < x->n_args; i++)
        if (!ws_amd_same(e, x->arg[i], y->arg[i]))
            return FALSE;
    return TRUE;
}

LLVMValueRef ws_amd_i32(WsEmit *e, const WsExpr *lower, const WsExpr *upper)
{
    LLVMValueRef low = ws_uniform_i32(e, lower);
    if (ws_amd_same(e, lower, upper))
        return low;
    return LLVMBuildSelect(e->b, e->amd->is_upper, ws_uniform_i32(e, upper), low, "");
}

static gboolean same_array(const WsEmit *e, const WsArray *x, const WsArray *y)
{
    if (!x || !y)
        return x == y;
    if (x->form != y->form || x->kind != y->kind || x->rows != y->rows || x->cols != y->cols ||
        x->index != y->index || x->n_arg != y->n_arg)
        return FALSE;
    if (x->n_arg == 0 ? !ws_amd_same(e, x->x, y->x)
                      : x->x->op != y->x->op || x->x->func != y->x->func)
        return FALSE;
    for (guint i = 0; i < x->n_arg; i++)
        if (!same_array(e, x->arg[i], y->arg[i]))
            return FALSE;
    return TRUE;
}

static gboolean same_math(const WsEmit *e, const WsOp *x, const WsOp *y)
{
    if (x->n_math != y->n_math || !same_array(e, x->unless, y->unless))
        return FALSE;
    for (guint i = 0; i < x->n_math; i++)
        if (x->assign[i].value != y->assign[i].value ||
            !same_array(e, x->assign[i].array, y->assign[i].array))
            return FALSE;
    return TRUE;
}

static gboolean same_use(const WsEmit *e, const WsValueUse *x, const WsValueUse *y)
{
    return x->value == y->value && x->rows == y->rows && x->cols == y->cols &&
           ws_amd_same(e, x->row0, y->row0) && ws_amd_same(e, x->col0, y->col0);
}

/* What may differ are the coordinates and the first row and column of a view. */
static gboolean same_access(const WsEmit *e, const WsAccess *x, const WsAccess *y)
{
    return x->buffer == y->buffer && x->rows == y->rows && x->cols == y->cols &&
           x->transposed == y->transposed && ws_amd_same(e, x->element, y->element) &&
           ws_amd_same(e, x->stage, y->stage);
}

static gboolean same_product(const WsEmit *e, const WsMma *x, const WsMma *y)
{
    if (!x || !y)
        return x == y;
    return x->m == y->m && x->n == y->n && x->k == y->k && x->a_type == y->a_type &&
           x->b_type == y->b_type && x->acc_type == y->acc_type &&
           ws_amd_same(e, x->first, y->first);
}

static gboolean same_op(const WsEmit *e, const WsOp *x, const WsOp *y)
{
    if (x->kind != y->kind || x->n != y->n || x->border != y->border || x->bytes != y->bytes ||
        x->tensor != y->tensor || x->n_coord != y->n_coord || x->n_access != y->n_access ||
        x->n_value != y->n_value || x->reduce != y->reduce || x->barrier != y->barrier ||
        !ws_amd_same(e, x->set, y->set) || !same_math(e, x, y) || !same_product(e, x->mma, y->mma))
        return FALSE;
    if (x->var >= 0 && e->amd->twin[y->var] != e->amd->twin[x->var])
        return FALSE;
    if (x->wait && (!y->wait || x->wait->stay_bytes != y->wait->stay_bytes))
        return FALSE;
    for (guint i = 0; i < x->n_access; i++)
        if (!same_access(e, &x->access[i], &y->access[i]))
            return FALSE;
    for (guint i = 0; i < x->n_value; i++)
        if (!same_use(e, &x->value[i], &y->value[i]))
            return FALSE;
    return TRUE;
}

/* --- trees ------------------------------------------------------------------------------------*/

static gboolean differ(WsEmit *e, const WsTree *at)
{
    ws_generate_refuse(&e->error, "generate", at ? at->op : NULL,
                       at && at->step ? at->step : e->p->agent[0].path,
                       WS_WORD("the halves of a group run codes that differ in it"),
                       WS_WORD("make one code of it for both halves"));
    return FALSE;
}

/* A barrier that one half joins alone: what puts it a stage behind the other. */
static gboolean alone(const WsTree *t)
{
    return t->kind == WS_TREE_OP && ws_op_joins(t->op->kind) && t->op->derived &&
           g_str_has_suffix(t->op->id, "#phase");
}

static gboolean match(WsEmit *e, const WsTree *x, const WsTree *y);

static gboolean match_lists(WsEmit *e, const WsTree *x, const WsTree *y)
{
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(WsAmdPair));
    g_hash_table_insert(e->amd->pairs, (gpointer)x, pairs);
    guint i = 0, k = 0;
    while (i < x->n_kids || k < y->n_kids) {
        WsAmdPair pair = { i < x->n_kids ? x->kid[i] : NULL, k < y->n_kids ? y->kid[k] : NULL };
        if (pair.lower && alone(pair.lower))
            pair.upper = NULL;
        else if (pair.upper && alone(pair.upper))
            pair.lower = NULL;
        else if (!pair.lower || !pair.upper || !match(e, pair.lower, pair.upper))
            return e->error ? FALSE : differ(e, pair.lower ? pair.lower : pair.upper);
        i += pair.lower != NULL;
        k += pair.upper != NULL;
        g_array_append_val(pairs, pair);
    }
    return TRUE;
}

static gboolean match_loops(WsEmit *e, const WsTree *x, const WsTree *y)
{
    if (x->over != y->over || x->n_cuts != y->n_cuts || x->unroll != y->unroll)
        return FALSE;
    if ((x->index_var < 0) != (y->index_var < 0) || (x->total_var < 0) != (y->total_var < 0))
        return FALSE;
    if (x->index_var >= 0)
        e->amd->twin[y->index_var] = x->index_var;
    if (x->total_var >= 0)
        e->amd->twin[y->total_var] = x->total_var;
    if (!ws_amd_same(e, x->count, y->count) || !ws_amd_same(e, x->from, y->from) ||
        !ws_amd_same(e, x->step_by, y->step_by))
        return FALSE;
    for (guint i = 0; i < x->n_cuts; i++)
        if (!ws_amd_same(e, x->cut[i], y->cut[i]))
            return FALSE;
    return match(e, x->kid[0], y->kid[0]);
}

static gboolean match(WsEmit *e, const WsTree *x, const WsTree *y)
{
    if (x->kind != y->kind || x->leader != y->leader)
        return FALSE;
    switch (x->kind) {
    case WS_TREE_SEQ:
        return match_lists(e, x, y);
    case WS_TREE_LOOP:
        return match_loops(e, x, y);
    case WS_TREE_BRANCH:
        if (x->n_kids != y->n_kids || !ws_amd_same(e, x->cond, y->cond))
            return FALSE;
        for (guint i = 0; i < x->n_kids; i++)
            if ((x->kid[i] == NULL) != (y->kid[i] == NULL) ||
                (x->kid[i] && !match(e, x->kid[i], y->kid[i])))
                return FALSE;
        return TRUE;
    case WS_TREE_OP:
        if (x->op->var >= 0 && y->op->var >= 0 &&
            g_strcmp0(e->p->var[x->op->var].name, e->p->var[y->op->var].name) == 0)
            e->amd->twin[y->op->var] = x->op->var;
        e->amd->other[x->op->index] = y->op;
        return same_op(e, x->op, y->op);
    }
    return FALSE;
}

static gboolean same_values(const WsAgent *x, const WsAgent *y)
{
    if (x->n_values != y->n_values || x->threads != y->threads)
        return FALSE;
    for (guint i = 0; i < x->n_values; i++) {
        const WsRegValue *a = &x->value[i], *b = &y->value[i];
        if (a->dtype != b->dtype || a->rows != b->rows || a->cols != b->cols ||
            a->halved != b->halved || strcmp(a->name, b->name) != 0)
            return FALSE;
    }
    return TRUE;
}

/* Counters: of one name. */
static void twins(WsEmit *e)
{
    const WsProgram *p = e->p;
    for (guint i = 0; i < p->n_vars; i++)
        for (guint k = 0; k < p->n_vars && p->var[i].agent == 1; k++)
            if (p->var[k].agent == 0 && p->var[k].kind == p->var[i].kind &&
                p->var[i].kind == WS_VAR_COUNTER && strcmp(p->var[k].name, p->var[i].name) == 0)
                e->amd->twin[i] = (gint)k;
}

gboolean ws_amd_pair(WsEmit *e)
{
    const WsProgram *p = e->p;
    if (p->n_agents != 2 || p->agent[0].half != 0 || p->agent[1].half != 1 ||
        !same_values(&p->agent[0], &p->agent[1]))
        return differ(e, NULL);
    twins(e);
    if (!match(e, p->agent[0].body, p->agent[1].body) && !e->error)
        differ(e, NULL);
    return !e->error;
}
