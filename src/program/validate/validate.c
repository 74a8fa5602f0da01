#include "program/validate.h"
#include "program/elaborate/elab.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/visit.h"
#include "target/target.h"

gboolean ws_holds(WsValidation *v, gboolean holds, const char *what)
{
    if (holds || v->what)
        return holds;
    v->what = v->op ? g_strdup_printf("%s %s: %s", v->op->id ? v->op->id : "?",
                                      ws_op_kind_text(v->op->kind), what)
                    : g_strdup_printf("%s: %s", v->agent ? v->agent->name : "program", what);
    return holds;
}

gboolean ws_literal(const WsExpr *e, gint64 *value)
{
    return e && ws_expr_is_int(e, value);
}

#define HOLDS(condition) ws_holds(v, condition, #condition)

/* --- expressions -------------------------------------------------------------------------------
 */

/* Names are bound, and an agent names its own variables. */
static void bound(const WsExpr *e, gpointer data)
{
    WsValidation *v = data;
    const WsProgram *p = v->p;
    if (e->op == WS_EXPR_TOTAL || (e->op == WS_EXPR_NAME && !(v->op && v->op->n_math)))
        ws_holds(v, FALSE, "a name in an expression is not bound");
    if (e->op == WS_EXPR_INDEX)
        ws_holds(v, e->var >= 0 && (guint)e->var < p->n_tensors, "an element of no tensor");
    if (e->op != WS_EXPR_VAR)
        return;
    if (!ws_holds(v, e->var >= 0 && (guint)e->var < p->n_vars, "a variable out of range"))
        return;
    const WsVar *var = &p->var[e->var];
    ws_holds(v, var->agent < 0 || (v->agent && &p->agent[var->agent] == v->agent),
             "a variable of another agent");
}

static void bound_operand(const WsExpr *e, WsOperand what, gpointer data)
{
    ws_expr_visit(e, bound, data);
}

/* --- names -------------------------------------------------------------------------------------
 */

#define KIND(kind) (1u << WS_VAR_##kind)
enum {
    OF_LAUNCH = KIND(SIZE) | KIND(SCALAR) | KIND(RUN),
    OF_TILE = OF_LAUNCH | KIND(AXIS) | KIND(TILE) | KIND(CTA),
    OF_AGENT = KIND(INDEX) | KIND(TOTAL) | KIND(COUNTER) | KIND(LET),
};

typedef struct {
    WsValidation *v;
    guint kinds;
} Scope;

static void leaf_in(const WsExpr *e, gpointer data)
{
    const Scope *s = data;
    bound(e, s->v);
    if (e->op == WS_EXPR_VAR && !s->v->what)
        ws_holds(s->v, s->kinds >> s->v->p->var[e->var].kind & 1, "a variable of a narrower scope");
}

/* It is there, and made of such variables. */
static void made_of(WsValidation *v, const WsExpr *e, guint kinds)
{
    Scope s = { v, kinds };
    if (HOLDS(e != NULL))
        ws_expr_visit(e, leaf_in, &s);
}

static void variables(WsValidation *v)
{
    for (guint i = 0; i < v->p->n_vars && !v->what; i++) {
        const WsVar *var = &v->p->var[i];
        const guint kind = 1u << var->kind;
        HOLDS(var->name && var->agent < (gint)v->p->n_agents);
        ws_holds(v, !(kind & OF_AGENT) == (var->agent < 0), "a variable of no agent, or of one");
        HOLDS(!var->real || kind & (KIND(SCALAR) | KIND(RUN)));
        if (kind & KIND(AXIS) && HOLDS(var->axis >= 0 && (guint)var->axis < v->p->tiles->n_axes))
            HOLDS(v->p->tiles->axis[var->axis].var == (gint)i);
        if (kind & (KIND(RUN) | KIND(TILE)))
            made_of(v, var->value, kind & KIND(RUN) ? OF_LAUNCH : OF_TILE);
    }
}

static void tiles(WsValidation *v)
{
    const WsTiles *t = v->p->tiles;
    if (!HOLDS(t && t->n_axes <= G_N_ELEMENTS(t->axis)))
        return;
    for (guint i = 0; i < t->n_axes && !v->what; i++) {
        HOLDS(t->axis[i].name && t->axis[i].var >= 0 && (guint)t->axis[i].var < v->p->n_vars);
        made_of(v, t->axis[i].extent, OF_LAUNCH);
    }
    HOLDS(t->order == WS_ORDER_LINEAR || t->order_axis < t->n_axes);
    HOLDS(t->order != WS_ORDER_HILBERT ||
          (t->order_axis2 < t->n_axes && t->order_axis2 != t->order_axis));
    HOLDS(t->order != WS_ORDER_GROUPED || t->order_group > 0 || t->order_n);
    if (t->order_n)
        made_of(v, t->order_n, OF_LAUNCH);
    if (t->grid)
        made_of(v, t->grid, OF_LAUNCH);
}

/* --- declarations ------------------------------------------------------------------------------
 */

static gboolean has_span(const WsTarget *t, guint bytes)
{
    for (guint i = 0; i < G_N_ELEMENTS(t->shared.swizzle); i++)
        if (t->shared.swizzle[i] == bytes)
            return TRUE;
    return FALSE;
}

static void buffers(WsValidation *v)
{
    for (guint i = 0; i < v->p->n_buffers; i++) {
        const WsBuffer *b = &v->p->buffer[i];
        HOLDS(b->name && b->array >= 1 && b->stages >= 1 && b->rows >= 1 && b->cols >= 1);
        HOLDS(b->rank == 1 || b->rank == 2);
        HOLDS(b->is_array || b->array == 1);
        HOLDS(b->align > 0 && b->offset % b->align == 0);
        HOLDS(b->over < (gint)v->p->n_buffers);
        HOLDS(b->stage_pitch >= b->stage_bytes);
        HOLDS(b->array_pitch >= b->stage_pitch * (b->stages - 1) + b->stage_bytes);
        HOLDS(b->offset + b->bytes <= v->p->shared_bytes);
        HOLDS(b->swizzle == 0 || has_span(v->p->hardware, b->swizzle));
    }
}

static void barriers(WsValidation *v)
{
    for (guint i = 0; i < v->p->n_barriers; i++) {
        const WsBarrier *b = &v->p->barrier[i];
        HOLDS(b->name && b->array >= 1 && b->slots >= 1);
        HOLDS(b->is_array || b->array == 1);
        HOLDS(b->kind != WS_BARRIER_NAMED || b->slots == 1);
        for (guint e = 0; e < b->array; e++) {
            HOLDS(b->kind != WS_BARRIER_MBARRIER || b->hw_id[e] == -1);
            HOLDS(b->kind != WS_BARRIER_NAMED ||
                  (b->hw_id[e] >= 0 && b->hw_id[e] < (gint)v->p->hardware->sync.named));
        }
        HOLDS(b->kind != WS_BARRIER_MBARRIER ||
              b->offset + v->p->hardware->sync.bytes * (guint64)b->array * b->slots <=
                  v->p->shared_bytes);
    }
}

static void tensors(WsValidation *v)
{
    for (guint i = 0; i < v->p->n_tensors; i++) {
        const WsTensor *t = &v->p->tensor[i];
        HOLDS(t->name && t->rank >= 1 && t->rank <= WS_MAX_RANK);
        for (guint d = 0; d < t->rank && !v->what; d++) {
            made_of(v, t->shape[d], OF_LAUNCH);
            made_of(v, t->stride[d], OF_LAUNCH);
        }
    }
    for (guint i = 0; i < v->p->n_maps; i++) {
        const WsTensorMap *m = &v->p->map[i];
        if (!HOLDS(m->tensor < v->p->n_tensors))
            return;
        HOLDS(m->rank == v->p->tensor[m->tensor].rank);
        for (guint d = 0; d < m->rank; d++)
            HOLDS(m->box[d] >= 1 && m->box[d] <= v->p->hardware->bulk.box);
    }
}

static void values(WsValidation *v)
{
    const WsAgent *a = v->agent;
    HOLDS(a->name && a->path && a->body);
    HOLDS(a->group < v->p->n_groups && a->replica < a->replicas);
    const guint lanes = v->p->hardware->lanes;
    HOLDS(a->threads == lanes * a->warps && lanes * (a->warp0 + a->warps) <= v->p->threads);
    for (guint i = 0; i < a->n_values; i++)
        HOLDS(a->value[i].name && a->value[i].rows >= 1 && a->value[i].cols >= 1 &&
              a->value[i].registers >= 1);
}

/* --- trees -------------------------------------------------------------------------------------
 */

static gboolean var_of(WsValidation *v, gint var, WsVarKind kind)
{
    const WsProgram *p = v->p;
    return var == -1 || (var >= 0 && (guint)var < p->n_vars && p->var[var].kind == kind &&
                         &p->agent[p->var[var].agent] == v->agent);
}

static void tree(WsValidation *v, const WsTree *t);

static void kids(WsValidation *v, const WsTree *t)
{
    for (guint i = 0; i < t->n_kids && !v->what; i++) {
        const WsTree *kid = t->kid[i];
        if (!kid) {
            HOLDS(t->kind == WS_TREE_BRANCH && i == 1);
            continue;
        }
        ws_holds(v, kid->parent == t, "a tree whose parent is another one");
        ws_holds(v, !t->leader || kid->leader, "all threads below what the leader runs alone");
        ws_holds(v,
                 (t->kind != WS_TREE_LOOP && t->kind != WS_TREE_BRANCH) || kid->kind == WS_TREE_SEQ,
                 "a body that is no sequence");
        tree(v, kid);
    }
}

static void tree(WsValidation *v, const WsTree *t)
{
    gint64 step;
    v->op = NULL;
    if (t->kind != WS_TREE_OP)
        ws_tree_operands(t, bound_operand, v);
    switch (t->kind) {
    case WS_TREE_SEQ:
        break;
    case WS_TREE_LOOP:
        HOLDS(t->n_kids == 1 && t->name && t->from && t->step_by && t->unroll >= -1);
        HOLDS(t->n_cuts == 0 || (ws_literal(t->step_by, &step) && step >= 1));
        for (guint i = 0; i < t->n_cuts; i++)
            HOLDS(t->cut[i] != NULL);
        HOLDS(t->over != WS_OVER_COUNT || t->count);
        HOLDS(var_of(v, t->index_var, WS_VAR_INDEX) && var_of(v, t->total_var, WS_VAR_TOTAL));
        break;
    case WS_TREE_BRANCH:
        HOLDS(t->cond && t->n_kids == 2 && t->kid[0]);
        break;
    case WS_TREE_OP:
        if (!HOLDS(t->op && t->op->tree == t && t->n_kids == 0))
            return;
        v->op = t->op;
        ws_holds(v, t->op->agent >= 0 && &v->p->agent[t->op->agent] == v->agent,
                 "is in the body of another agent");
        ws_holds(v,
                 !t->leader || ws_op_row(t->op->kind)->any || t->op->breadth == WS_BREADTH_LEADER,
                 "is run by the leader alone, and for more than it");
        ws_op_operands(t->op, bound_operand, v);
        ws_validate_op(v, t->op);
        return;
    }
    kids(v, t);
}

/* --- the whole ---------------------------------------------------------------------------------
 */

static void numbers(WsValidation *v)
{
    const WsProgram *p = v->p;
    HOLDS(p->name && p->target && p->n_agents >= 1);
    HOLDS(ws_target_has_cluster(p->hardware, p->cluster));
    HOLDS(p->per_sm >= 1);
    for (guint i = 0; i < p->n_ops && !v->what; i++) {
        const WsOp *op = v->op = p->op[i];
        HOLDS(op->index == i);
        HOLDS(op->id && op->step && op->label);
        HOLDS((i < p->n_prologue) == (op->agent < 0));
        HOLDS(i >= p->n_prologue || p->prologue[i] == op);
        HOLDS(op->agent < (gint)p->n_agents);
        HOLDS(i <= p->n_prologue || op->agent >= p->op[i - 1]->agent);
    }
    v->op = NULL;
}

char *ws_program_validate(const WsProgram *p)
{
    WsValidation v = { .p = p };
    numbers(&v);
    if (!v.what)
        tiles(&v);
    if (!v.what)
        variables(&v);
    tensors(&v);
    buffers(&v);
    barriers(&v);
    for (guint i = 0; i < p->n_prologue && !v.what; i++) {
        v.op = p->prologue[i];
        ws_validate_op(&v, v.op);
    }
    for (guint i = 0; i < p->n_agents && !v.what; i++) {
        v.agent = &p->agent[i];
        v.op = NULL;
        values(&v);
        if (!v.what && ws_holds(&v, v.agent->body->kind == WS_TREE_SEQ && !v.agent->body->parent,
                                "a body that is no sequence of its own"))
            tree(&v, v.agent->body);
    }
    v.agent = NULL;
    v.op = NULL;
    if (!v.what)
        ws_validate_moves(&v);
    return v.what;
}
