#include "program/mesh.h"
#include "base/phrase.h"
#include "program/arena.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

/* --- devices by turns ------------------------------------------------------------------------- */
const WsExpr *ws_mesh_meaning(const WsProgram *p, const WsExpr *e)
{
    for (guint deep = 0; deep < 16 && e->op == WS_EXPR_VAR && e->var >= 0; deep++) {
        const WsVar *v = &p->var[e->var];
        if (v->kind != WS_VAR_TILE || !v->value || v->real)
            break;
        e = v->value;
    }
    return e;
}

static gboolean runs(const WsProgram *p, const WsExpr *e)
{
    const WsVarKind kind = e->op == WS_EXPR_VAR && e->var >= 0 ? p->var[e->var].kind : WS_VAR_SIZE;
    return kind == WS_VAR_AXIS || kind == WS_VAR_INDEX;
}

typedef struct {
    const WsProgram *p;
    gint var;
    gboolean clean; /* nothing but sizes and run names */
} Rest;

static void see_rest(const WsExpr *e, gpointer data)
{
    Rest *r = data;
    if (e->op == WS_EXPR_INDEX)
        r->clean = FALSE;
    if (e->op != WS_EXPR_VAR)
        return;
    const WsVarKind kind = e->var >= 0 ? r->p->var[e->var].kind : WS_VAR_ROW;
    r->clean = r->clean && (kind == WS_VAR_SIZE || kind == WS_VAR_RUN);
}

/* One of the terms of a sum is a variable that runs, the others do not change in a launch. */
static gboolean one_runs(const WsProgram *p, const WsExpr *sum, gboolean negative, gint *var)
{
    const WsExpr *e = ws_mesh_meaning(p, sum);
    if (e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB)
        return one_runs(p, e->arg[0], negative, var) &&
               one_runs(p, e->arg[1], negative != (e->op == WS_EXPR_SUB), var);
    if (runs(p, e)) {
        if (*var >= 0 || negative)
            return FALSE;
        *var = e->var;
        return TRUE;
    }
    Rest r = { p, *var, TRUE };
    ws_expr_visit(e, see_rest, &r);
    return r.clean;
}

gboolean ws_mesh_device_var(const WsProgram *p, const WsExpr *device, gint *var)
{
    const WsExpr *e = ws_mesh_meaning(p, device);
    *var = -1;
    if (runs(p, e)) {
        *var = e->var;
        return TRUE;
    }
    return e->op == WS_EXPR_MOD && ws_expr_equal(e->arg[1], p->mesh->devices) &&
           one_runs(p, e->arg[0], FALSE, var) && *var >= 0;
}

/* --- one launch of all ------------------------------------------------------------------------ */
typedef struct {
    WsProgram *out;
    WsArena *arena;
    const WsProgram *p;
    gint tensor;
    gboolean own; /* each device puts into itself alone */
    char *why;
} Spread;

static void give_up(Spread *s, const char *format, const WsOp *op)
{
    if (!s->why)
        s->why = ws_phrase(format, op->step ? op->step : op->id);
}

/* `var` is named, also by what tile names stand for. */
typedef struct {
    const WsProgram *p;
    gint var;
    gboolean found;
    guint deep;
} Names;

static void see_name(const WsExpr *e, gpointer data)
{
    Names *n = data;
    if (e->op != WS_EXPR_VAR || e->var < 0 || n->found)
        return;
    const WsVar *v = &n->p->var[e->var];
    n->found = e->var == n->var || n->deep > 16;
    if (n->found || v->kind != WS_VAR_TILE || !v->value)
        return;
    n->deep++;
    ws_expr_visit(v->value, see_name, n);
    n->deep--;
}

/* The variable runs from 0 to the number of devices. */
static gboolean runs_over_all(const WsProgram *p, const WsOp *op, gint var)
{
    const WsVar *v = &p->var[var];
    gint64 known;
    if (v->kind == WS_VAR_AXIS)
        return ws_expr_equal(p->tiles->axis[v->axis].extent, p->mesh->devices);
    for (const WsTree *t = op->tree; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && t->index_var == var)
            return t->over == WS_OVER_COUNT && t->count &&
                   ws_expr_equal(t->count, p->mesh->devices) &&
                   (!t->from || (ws_expr_is_int(t->from, &known) && known == 0)) &&
                   (!t->step_by || (ws_expr_is_int(t->step_by, &known) && known == 1));
    return FALSE;
}

static WsOp *store_of(Spread *s, const WsOp *put)
{
    WsOp *op = ws_arena_new0(s->arena, WsOp, 1);
    gint var;
    *op = *put;
    op->kind = WS_OP_TMA_STORE;
    op->peer = NULL;
    op->reduce = WS_REDUCE_NONE;
    if (s->own)
        return op;
    if (op->n_coord + 1 > WS_MAX_RANK) {
        give_up(s, "%s: a tensor of five dimensions on each device", put);
        return op;
    }
    memmove(&op->coord[1], &op->coord[0], sizeof op->coord[0] * op->n_coord);
    op->n_coord++;
    op->coord[0] = put->peer->device;
    const WsExpr *device = ws_mesh_meaning(s->p, put->peer->device);
    if (!ws_mesh_device_var(s->p, put->peer->device, &var) || device->op == WS_EXPR_VAR)
        return op;
    if (!runs_over_all(s->p, put, var)) {
        give_up(s, "%s reaches devices by turns of something that does not run over all of them",
                put);
        return op;
    }
    Names n = { s->p, var, FALSE, 0 };
    for (guint d = 1; d < op->n_coord; d++)
        ws_expr_visit(op->coord[d], see_name, &n);
    if (n.found)
        give_up(s, "%s reaches devices by turns, and its place hangs on the turn, too", put);
    op->coord[0] = ws_arena_expr(s->arena, ws_expr_var(var, s->p->var[var].name));
    return op;
}

static WsTree *tree(Spread *s, const WsTree *t, WsTree *parent)
{
    if (!t)
        return NULL;
    WsTree *out = ws_arena_new0(s->arena, WsTree, 1);
    *out = *t;
    out->parent = parent;
    out->kid = ws_arena_new0(s->arena, WsTree *, t->n_kids + 1);
    for (guint i = 0; i < t->n_kids; i++)
        out->kid[i] = tree(s, t->kid[i], out);
    if (t->op) {
        const gboolean put = ws_op_puts(t->op->kind) && t->op->tensor == s->tensor;
        if (!put && t->op->tensor == s->tensor && ws_op_row(t->op->kind)->to == WS_DATA_AT_TENSOR)
            give_up(s, "%s writes on its own device what devices put", t->op);
        out->op = put ? store_of(s, t->op) : ws_arena_new0(s->arena, WsOp, 1);
        if (!put)
            *out->op = *t->op;
        out->op->tree = out;
        s->out->op[out->op->index] = out->op;
    }
    return out;
}

static void tensor(Spread *s)
{
    WsProgram *out = s->out;
    out->tensor = ws_arena_new0(s->arena, WsTensor, out->n_tensors);
    memcpy(out->tensor, s->p->tensor, sizeof(WsTensor) * out->n_tensors);
    WsTensor *t = &out->tensor[s->tensor];
    t->access = WS_ACCESS_WRITE;
    if (s->own)
        return;
    for (guint i = 0; i < s->p->n_ops; i++)
        if (t->rank + 1 > WS_MAX_RANK && s->p->op[i]->tensor == s->tensor)
            give_up(s, "%s: a tensor of five dimensions on each device", s->p->op[i]);
    if (s->why)
        return;
    memmove(&t->shape[1], &t->shape[0], sizeof t->shape[0] * t->rank);
    t->shape[0] = s->p->mesh->devices;
    /* the strides of one device stand; where devices lie is no question of elements meeting */
    memmove(&t->stride[1], &t->stride[0], sizeof t->stride[0] * t->rank);
    t->stride[0] = t->shape[1];
    for (guint d = 2; d <= t->rank; d++)
        t->stride[0] = ws_arena_expr(
            s->arena, ws_expr_op(WS_EXPR_MUL, ws_expr_ref(t->stride[0]), ws_expr_ref(t->shape[d])));
    if (t->strides_given)
        s->why = s->why ? s->why : ws_phrase("%s has strides of its own on each device", t->name);
    t->rank++;
    out->map = ws_arena_new0(s->arena, WsTensorMap, out->n_maps);
    memcpy(out->map, s->p->map, sizeof(WsTensorMap) * out->n_maps);
    for (guint m = 0; m < out->n_maps; m++)
        if ((gint)out->map[m].tensor == s->tensor)
            out->map[m].box[out->map[m].rank++] = 1;
}

/* The number of the device as an axis of tiles: the launches of all devices in one. */
static void axis(Spread *s)
{
    WsProgram *out = s->out;
    WsTiles *tiles = out->tiles = ws_arena_new0(s->arena, WsTiles, 1);
    *tiles = *s->p->tiles;
    out->var = ws_arena_new0(s->arena, WsVar, out->n_vars);
    memcpy(out->var, s->p->var, sizeof(WsVar) * out->n_vars);
    if (tiles->n_axes == G_N_ELEMENTS(tiles->axis)) {
        s->why = s->why ? s->why : ws_phrase("tiles have eight axes beside the devices");
        return;
    }
    WsVar *rank = &out->var[s->p->mesh->rank];
    rank->kind = WS_VAR_AXIS;
    rank->axis = (gint)tiles->n_axes;
    tiles->axis[tiles->n_axes].name = s->p->mesh->name;
    tiles->axis[tiles->n_axes].var = s->p->mesh->rank;
    tiles->axis[tiles->n_axes++].extent = s->p->mesh->devices;
    tiles->order = WS_ORDER_LINEAR;
}

/* All puts into the tensor name the number of their own device. */
static gboolean puts_into_itself(const WsProgram *p, gint tensor)
{
    gboolean any = FALSE;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (!ws_op_puts(op->kind) || op->tensor != tensor)
            continue;
        const WsExpr *device = ws_mesh_meaning(p, op->peer->device);
        if (device->op != WS_EXPR_VAR || device->var != p->mesh->rank)
            return FALSE;
        any = TRUE;
    }
    return any;
}

WsProgram *ws_program_over_devices(const WsProgram *p, gint of, char **why)
{
    Spread s = { .p = p, .tensor = of, .own = puts_into_itself(p, of), .arena = ws_arena_new() };
    const gboolean each = p->tensor[of].access == WS_ACCESS_REDUCE;
    s.out = g_new0(WsProgram, 1);
    *s.out = *p;
    s.out->refs = 1;
    s.out->arena = s.arena;
    s.out->mesh = NULL;
    s.out->op = ws_arena_new0(s.arena, WsOp *, p->n_ops);
    memcpy(s.out->op, p->op, sizeof(WsOp *) * p->n_ops);
    tensor(&s);
    if (!each && !s.own)
        axis(&s);
    s.out->agent = ws_arena_new0(s.arena, WsAgent, p->n_agents);
    memcpy(s.out->agent, p->agent, sizeof(WsAgent) * p->n_agents);
    for (guint a = 0; a < p->n_agents; a++)
        s.out->agent[a].body = tree(&s, p->agent[a].body, NULL);
    if (s.why)
        g_clear_pointer(&s.out, ws_program_unref);
    *why = s.why;
    return s.out;
}
