#include "toy.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"

static WsProgram *toy;
static GPtrArray *ops; /* WsOp* */

typedef struct {
    gint total, index, tile_total, tile_index;
} Vars;

static gint add_var(WsVarKind kind, const char *name, gint agent)
{
    toy->var = g_renew(WsVar, toy->var, toy->n_vars + 1);
    toy->var[toy->n_vars] =
        (WsVar){ .kind = kind, .name = g_strdup(name), .agent = agent, .axis = -1 };
    return (gint)toy->n_vars++;
}

static WsExpr *total(gint var, gint64 add)
{
    return ws_expr_op(WS_EXPR_ADD, ws_expr_var(var, "k.total"), ws_expr_int(add));
}

static WsExpr *ring(WsExprOp op, gint var, gint64 add)
{
    return ws_expr_op(op, total(var, add), ws_expr_int(TOY_STAGES));
}

static WsTree *add_tree(WsTree *parent, WsTreeKind kind)
{
    WsTree *t = g_new0(WsTree, 1);
    t->kind = kind;
    t->parent = parent;
    t->index_var = t->total_var = -1;
    if (parent) {
        parent->kid = g_renew(WsTree *, parent->kid, parent->n_kids + 1);
        parent->kid[parent->n_kids++] = t;
    }
    return t;
}

static WsOp *add_op(WsTree *body, gint agent, WsOpKind kind, const char *step, const char *label)
{
    WsOp *op = g_new0(WsOp, 1);
    op->kind = kind;
    op->index = ops->len;
    op->id = g_strdup_printf("%s#%u", step, op->index);
    op->step = g_strdup(step);
    op->label = g_strdup(label);
    op->agent = agent;
    op->barrier = op->tensor = op->map = op->var = -1;
    op->tree = add_tree(body, WS_TREE_OP);
    op->tree->op = op;
    g_ptr_array_add(ops, op);
    return op;
}

static void on_barrier(WsOp *op, gint barrier, gint var, gint64 add, gboolean ready)
{
    op->barrier = barrier;
    op->element = ws_expr_int(0);
    op->use = total(var, add);
    op->slot = ring(WS_EXPR_MOD, var, add);
    op->turn = ready ? ws_expr_op(WS_EXPR_SUB, ring(WS_EXPR_DIV, var, add), ws_expr_int(1))
                     : ring(WS_EXPR_DIV, var, add);
}

static void on_buffer(WsOp *op, guint buffer, gint64 element, gint var, WsMode mode)
{
    op->access = g_renew(WsAccess, op->access, op->n_access + 1);
    op->access[op->n_access++] =
        (WsAccess){ .buffer = buffer,
                    .element = ws_expr_int(element),
                    .use = var >= 0 ? total(var, 0) : NULL,
                    .stage = var >= 0 ? ring(WS_EXPR_MOD, var, 0) : ws_expr_int(0),
                    .mode = mode };
}

static WsTree *loops(WsAgent *agent, gint a, Vars *v, WsTree **tile_body)
{
    v->tile_total = add_var(WS_VAR_TOTAL, "tile.total", a);
    v->tile_index = add_var(WS_VAR_INDEX, "tile", a);
    v->total = add_var(WS_VAR_TOTAL, "k.total", a);
    v->index = add_var(WS_VAR_INDEX, "k", a);
    agent->body = add_tree(NULL, WS_TREE_SEQ);
    WsTree *tile = add_tree(agent->body, WS_TREE_LOOP);
    tile->name = g_strdup("tile");
    tile->over = WS_OVER_TILES;
    tile->total_var = v->tile_total;
    tile->index_var = v->tile_index;
    *tile_body = add_tree(tile, WS_TREE_SEQ);
    WsTree *k = add_tree(*tile_body, WS_TREE_LOOP);
    k->name = g_strdup("k");
    k->over = WS_OVER_COUNT;
    k->count = ws_expr_var(0, "rounds");
    k->total_var = v->total;
    k->index_var = v->index;
    return add_tree(k, WS_TREE_SEQ);
}

static WsAgent *add_agent(const char *name, guint group, guint replica, guint replicas)
{
    WsAgent *a = &toy->agent[toy->n_agents++];
    *a = (WsAgent){ .name = g_strdup(name),
                    .path = g_strdup("groups/x"),
                    .group = group,
                    .replica = replica,
                    .replicas = replicas,
                    .half = -1,
                    .role = group ? WS_ROLE_CONSUMER : WS_ROLE_PRODUCER,
                    .warps = 4,
                    .threads = 128,
                    .registers = group ? 232 : 40 };
    return a;
}

static void build_load(void)
{
    Vars v;
    WsTree *tile;
    WsTree *body = loops(add_agent("load", 0, 0, 1), 0, &v, &tile);
    on_barrier(add_op(body, 0, WS_OP_MBAR_WAIT, "load/0", "wait empty"), 1, v.total, 0, TRUE);
    on_barrier(add_op(body, 0, WS_OP_MBAR_EXPECT, "load/1#expect", "expect full"), 0, v.total, 0,
               FALSE);
    for (guint i = 0; i < 2; i++) {
        WsOp *op = add_op(body, 0, WS_OP_TMA_LOAD, i ? "load/2" : "load/1",
                          i ? "load B -> b" : "load A -> a");
        op->tensor = (gint)i;
        on_barrier(op, 0, v.total, 0, FALSE);
        on_buffer(op, i, 0, v.total, WS_MODE_WRITE);
    }
}

static void build_consumer(guint replica)
{
    Vars v;
    gint a = (gint)replica + 1;
    WsTree *tile;
    WsTree *body = loops(add_agent(replica ? "mma.1" : "mma.0", 1, replica, 2), a, &v, &tile);
    on_barrier(add_op(body, a, WS_OP_MBAR_WAIT, "mma/0", "wait full"), 0, v.total, 0, FALSE);
    WsOp *mma = add_op(body, a, WS_OP_MMA, "mma/1", "mma acc");
    on_buffer(mma, 0, 0, v.total, WS_MODE_READ);
    on_buffer(mma, 1, 0, v.total, WS_MODE_READ);
    add_op(body, a, WS_OP_MMA_COMMIT, "mma/1", "commit");
    add_op(body, a, WS_OP_MMA_WAIT, "mma/2", "mma_wait 1");
    WsTree *branch = add_tree(body, WS_TREE_BRANCH);
    branch->cond = ws_expr_op(WS_EXPR_GT, ws_expr_var(v.index, "k"), ws_expr_int(0));
    WsTree *then = add_tree(branch, WS_TREE_SEQ);
    on_barrier(add_op(then, a, WS_OP_MBAR_ARRIVE, "mma/3", "arrive empty"), 1, v.total, -1, FALSE);
    add_op(tile, a, WS_OP_MMA_WAIT, "mma/4", "mma_wait 0");
    on_barrier(add_op(tile, a, WS_OP_MBAR_ARRIVE, "mma/5", "arrive empty"), 1, v.total, -1, FALSE);
    on_buffer(add_op(tile, a, WS_OP_STMATRIX, "mma/6", "write acc -> c"), 2, replica, -1,
              WS_MODE_WRITE);
    add_op(tile, a, WS_OP_BAR_SYNC, "mma/7", "sync group");
    WsOp *store = add_op(tile, a, WS_OP_TMA_STORE, "mma/8", "store C");
    store->tensor = 2;
    on_buffer(store, 2, replica, -1, WS_MODE_READ);
    add_op(tile, a, WS_OP_BULK_COMMIT, "mma/8", "commit");
    add_op(tile, a, WS_OP_BULK_WAIT, "mma/9", "store_wait 0");
}

static void build_tables(void)
{
    static const char *const tensor[] = { "A", "B", "C" }, *const buffer[] = { "a", "b", "c" },
                             *const barrier[] = { "full", "empty" };
    toy->tensor = g_new0(WsTensor, 3);
    toy->n_tensors = 3;
    toy->buffer = g_new0(WsBuffer, 3);
    toy->n_buffers = 3;
    toy->barrier = g_new0(WsBarrier, 2);
    toy->n_barriers = 2;
    for (guint i = 0; i < 3; i++) {
        toy->tensor[i].name = (char *)tensor[i];
        toy->buffer[i] = (WsBuffer){ .name = (char *)buffer[i],
                                     .array = i == 2 ? 2 : 1,
                                     .is_array = i == 2,
                                     .stages = i == 2 ? 1 : TOY_STAGES,
                                     .stage_bytes = 16384 };
    }
    for (guint i = 0; i < 2; i++)
        toy->barrier[i] =
            (WsBarrier){ .name = (char *)barrier[i], .array = 1, .slots = TOY_STAGES };
}

WsProgram *toy_program(void)
{
    if (toy)
        return toy;
    toy = g_new0(WsProgram, 1);
    toy->refs = 1 << 20; /* users may ref and unref; nobody frees it */
    toy->name = "toy GEMM";
    toy->cluster = 1;
    toy->design_text = "{}\n";
    toy->design_hash = "0123";
    toy->agent = g_new0(WsAgent, 3);
    ops = g_ptr_array_new();
    gint size = add_var(WS_VAR_SIZE, "rounds", -1);
    toy->var[size].preset = 32;
    gint axis = add_var(WS_VAR_AXIS, "t", -1);
    toy->tiles = g_new0(WsTiles, 1);
    toy->tiles->n_axes = 1;
    toy->tiles->axis[0].name = "t";
    toy->tiles->axis[0].var = axis;
    toy->tiles->axis[0].extent = ws_expr_int(4000);
    toy->tiles->launch = WS_LAUNCH_PERSISTENT;
    build_tables();
    build_load();
    build_consumer(0);
    build_consumer(1);
    toy->op = (WsOp **)ops->pdata;
    toy->n_ops = ops->len;
    return toy;
}

/* --- a trace of it ------------------------------------------------------------------------- */
typedef struct {
    WsTrace *t;
    gint rounds;
    gint64 loader, agent[2], tensor, mma_done[2], late;
    gint64 *full, *empty[2];
} Play;

static guint op_of(guint agent, const char *step, WsOpKind kind)
{
    for (guint i = 0; i < toy->n_ops; i++)
        if (toy->op[i]->agent == (gint)agent && toy->op[i]->kind == kind &&
            g_str_equal(toy->op[i]->step, step))
            return i;
    g_assert_not_reached();
}

static void add(Play *p, guint agent, const char *step, WsOpKind kind, gint tile, gint round,
                gint64 start, gint64 issued, gint64 done)
{
    WsTraceRecord r = { .op = op_of(agent, step, kind),
                        .agent = (guint16)agent,
                        .tile = tile,
                        .round = round,
                        .start = start,
                        .issued = issued,
                        .done = done };
    ws_trace_add(p->t, &r);
}

static void play_load(Play *p, gint tile, gint u)
{
    gint64 at = p->loader,
           free = u < TOY_STAGES
                      ? 0
                      : MAX(p->empty[0][u - TOY_STAGES], p->empty[1][u - TOY_STAGES]) + 24;
    gint64 go = MAX(at + 8, free);
    gint64 landed = go + 640 + (u % 7 == 6 ? p->late : 0);
    add(p, 0, "load/0", WS_OP_MBAR_WAIT, tile, u, at, go, go);
    add(p, 0, "load/1", WS_OP_TMA_LOAD, tile, u, go, go + 14, landed - 30);
    add(p, 0, "load/2", WS_OP_TMA_LOAD, tile, u, go + 14, go + 28, landed);
    p->full[u] = landed;
    p->loader = go + 40;
}

static void play_round(Play *p, guint c, gint tile, gint u)
{
    gint64 at = p->agent[c], go = MAX(at + 6, p->full[u] + 22);
    gint64 begin = MAX(go + 32, p->tensor), done = begin + 512;
    gint64 issued = MAX(go + 64, begin - 480);
    gint64 waited = MAX(issued + 4, p->mma_done[c]);
    add(p, c + 1, "mma/0", WS_OP_MBAR_WAIT, tile, u, at, go, go);
    add(p, c + 1, "mma/1", WS_OP_MMA, tile, u, go, issued, done);
    add(p, c + 1, "mma/2", WS_OP_MMA_WAIT, tile, u, issued, waited, waited);
    if (u % p->rounds)
        p->empty[c][u - 1] = waited + 6;
    p->tensor = p->mma_done[c] = done;
    p->agent[c] = waited + 14;
}

static void play_end(Play *p, guint c, gint tile, gint u)
{
    gint64 at = p->agent[c], done = MAX(at, p->mma_done[c]);
    add(p, c + 1, "mma/4", WS_OP_MMA_WAIT, tile, tile, at, done, done);
    p->empty[c][u] = done + 6;
    add(p, c + 1, "mma/6", WS_OP_STMATRIX, tile, tile, done + 12, done + 620, done + 620);
    add(p, c + 1, "mma/7", WS_OP_BAR_SYNC, tile, tile, done + 620, done + 668, done + 668);
    add(p, c + 1, "mma/8", WS_OP_TMA_STORE, tile, tile, done + 668, done + 690, done + 1380);
    add(p, c + 1, "mma/9", WS_OP_BULK_WAIT, tile, tile, done + 690, done + 1384, done + 1384);
    p->agent[c] = done + 1400;
}

WsTrace *toy_trace(WsTraceOrigin origin, gint tiles, gint rounds, gint64 late)
{
    Play p = { .t = ws_trace_new(toy_program(), origin), .rounds = rounds, .late = late };
    gint all = tiles * rounds;
    p.full = g_new0(gint64, all);
    p.empty[0] = g_new0(gint64, all);
    p.empty[1] = g_new0(gint64, all);
    p.loader = 400;
    p.agent[0] = p.agent[1] = 420;
    for (gint tile = 0; tile < tiles; tile++) {
        for (gint k = 0; k < rounds; k++) {
            play_load(&p, tile, tile * rounds + k);
            play_round(&p, 0, tile, tile * rounds + k);
            play_round(&p, 1, tile, tile * rounds + k);
        }
        play_end(&p, 0, tile, tile * rounds + rounds - 1);
        play_end(&p, 1, tile, tile * rounds + rounds - 1);
    }
    g_free(p.full);
    g_free(p.empty[0]);
    g_free(p.empty[1]);
    p.t->device = g_strdup("NVIDIA H200");
    p.t->bound = g_strdup("tensor pipe");
    p.t->grid = 132;
    p.t->tensor_busy = 0.93;
    ws_trace_add_size(p.t, "rounds", rounds);
    ws_trace_finish(p.t);
    return p.t;
}

/* --- freeing -------------------------------------------------------------------------------- */
static void free_tree(WsTree *t)
{
    for (guint i = 0; i < t->n_kids; i++)
        free_tree(t->kid[i]);
    ws_expr_unref(t->count);
    ws_expr_unref(t->cond);
    g_free(t->name);
    g_free(t->kid);
    g_free(t);
}

void toy_program_free(void)
{
    if (!toy)
        return;
    for (guint i = 0; i < ops->len; i++) {
        WsOp *op = ops->pdata[i];
        for (guint k = 0; k < op->n_access; k++) {
            ws_expr_unref(op->access[k].element);
            ws_expr_unref(op->access[k].use);
            ws_expr_unref(op->access[k].stage);
        }
        ws_expr_unref(op->element);
        ws_expr_unref(op->use);
        ws_expr_unref(op->slot);
        ws_expr_unref(op->turn);
        g_free(op->access);
        g_free(op->id);
        g_free(op->step);
        g_free(op->label);
        g_free(op);
    }
    for (guint i = 0; i < toy->n_agents; i++) {
        free_tree(toy->agent[i].body);
        g_free(toy->agent[i].name);
        g_free(toy->agent[i].path);
    }
    for (guint i = 0; i < toy->n_vars; i++)
        g_free(toy->var[i].name);
    ws_expr_unref(toy->tiles->axis[0].extent);
    g_free(toy->tiles);
    g_free(toy->var);
    g_free(toy->agent);
    g_free(toy->tensor);
    g_free(toy->buffer);
    g_free(toy->barrier);
    g_ptr_array_free(ops, TRUE);
    g_clear_pointer(&toy, g_free);
}
