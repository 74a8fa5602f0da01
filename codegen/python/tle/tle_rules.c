/* Judgements of tle_rule.def on the plan. Each returns what offends, or NULL, and the operation (or
 * the path) in *op and *path. */
#include "base/phrase.h"
#include "codegen/python/tle/tle.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/pipe.h"
#include "program/parts/product.h"
#include "program/parts/retired.h"
#include "program/parts/tiles.h"
#include "program/parts/transfer.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    const WsOp *op;
    const char *path; /* where no operation is at fault */
} Fault;
typedef const char *(*Judge)(WsTle *t, Fault *fault);

static const char *kept(WsTle *t, Fault *fault)
{
    return NULL;
}

static const WsProgram *program(const WsTle *t)
{
    return t->y->p;
}

/* Operations of agents in order; NULL at the end. */
static const WsOp *next_op(const WsTle *t, guint *i)
{
    while (*i < program(t)->n_ops) {
        const WsOp *op = program(t)->op[(*i)++];
        if (op->agent >= 0)
            return op;
    }
    return NULL;
}

static const char *pow2(WsTle *t, Fault *fault)
{
    for (guint i = 0; i < program(t)->n_buffers; i++) {
        const WsBuffer *b = &program(t)->buffer[i];
        gboolean rows = b->rank == 1 || ws_py_pow2(b->rows), cols = ws_py_pow2(b->cols);
        guint odd = rows ? b->cols : b->rows;
        gboolean one = b->rank == 2 && b->swizzle && (rows || cols) && odd % 16 == 0 &&
                       b->dtype != WS_DTYPE_I32 && b->dtype != WS_DTYPE_U8;
        if ((rows && cols) || one)
            continue;
        fault->path = ws_py_format(t->y, "buffers/%s", b->name);
        return ws_py_phrase(t->y, "tile [%u, %u]", b->rows, b->cols);
    }
    return NULL;
}

static const char *copies(WsTle *t, Fault *fault)
{
    guint at = 0;
    for (const WsOp *op; (op = next_op(t, &at));) {
        fault->op = op;
        if (op->kind == WS_OP_TMA_STORE && op->reduce != WS_REDUCE_NONE)
            return WS_WORD("a store that reduces");
        if (op->kind == WS_OP_TMA_LOAD && op->ctas.kind != WS_CTAS_OWN)
            return WS_WORD("a multicast");
    }
    return NULL;
}

/* What a barrier is completed by, beside copies. */
static const WsOp *other_arrival(const WsTle *t, guint barrier)
{
    guint at = 0;
    for (const WsOp *op; (op = next_op(t, &at));) {
        gboolean feeds = ws_op_arrives(op->kind) && !(ws_op_expects(op->kind) && op->derived);
        if (op->barrier == (gint)barrier && feeds)
            return op;
    }
    return NULL;
}

static const char *transactions(WsTle *t, Fault *fault)
{
    for (guint i = 0; i < t->transaction->len; i++) {
        const WsTleTransaction *x = &g_array_index(t->transaction, WsTleTransaction, i);
        const WsTleBarrier *b = &t->barrier[x->barrier];
        const char *name = program(t)->barrier[x->barrier].name;
        const WsOp *other = other_arrival(t, (guint)x->barrier);
        fault->op = g_array_index(x->load, const WsOp *, 0);
        if (x->load->len != b->n_parts)
            return ws_py_phrase(t->y, "%u loads signal %s here, and %u elsewhere", x->load->len,
                                name, b->n_parts);
        if (other) {
            fault->op = other;
            return ws_py_phrase(t->y, "%s is completed by loads, and by this", name);
        }
        for (guint k = 0; k < x->load->len; k++) {
            fault->op = g_array_index(x->load, const WsOp *, k);
            gint64 bytes = fault->op->transfer->bytes;
            if (bytes != b->part[k].expect)
                return ws_py_phrase(
                    t->y, "%" G_GINT64_FORMAT " bytes on %s here, %" G_GINT64_FORMAT " elsewhere",
                    bytes, name, b->part[k].expect);
        }
    }
    return NULL;
}

static const char *product_types(WsTle *t, Fault *fault)
{
    guint at = 0;
    for (const WsOp *op; (op = next_op(t, &at));) {
        if (!ws_op_is_product(op->kind))
            continue;
        fault->op = op;
        if (op->mma->a_type == WS_DTYPE_U8 || op->mma->b_type == WS_DTYPE_U8)
            return WS_WORD("an operand of u8");
    }
    return NULL;
}

static const char *pendings(WsTle *t, Fault *fault)
{
    guint at = 0;
    for (const WsOp *op; (op = next_op(t, &at));) {
        fault->op = op;
        if (op->kind == WS_OP_MMA_WAIT && op->wait->stay < 0)
            return WS_WORD("paths leave different numbers of products in the newest commit groups");
    }
    return NULL;
}

static gboolean has_product(const WsTree *t)
{
    gboolean found = t->kind == WS_TREE_OP && ws_op_is_product(t->op->kind);
    for (guint i = 0; i < t->n_kids && !found; i++)
        found = t->kid[i] && has_product(t->kid[i]);
    return found;
}

/* A wait under a condition that its products are not under: they would leave the branch as a
 * result, in flight or not. */
static gboolean conditional(const WsOp *op)
{
    for (const WsTree *at = op->tree; at; at = at->parent) {
        if (at->kind == WS_TREE_BRANCH)
            return !has_product(at);
    }
    return FALSE;
}

/* A product that is in flight before `op`, out of a branch that `op` does not stand in: what leaves
 * a branch is its result, and no product any more. */
static const WsOp *left_branch(const WsOp *op)
{
    for (guint i = 0; i < op->n_flying; i++) {
        for (const WsTree *at = op->flying[i]->tree; at->parent; at = at->parent) {
            const WsTree *around = op->tree;
            while (around && around != at)
                around = around->parent;
            if (at->parent->kind == WS_TREE_BRANCH && !around)
                return op->flying[i];
        }
    }
    return NULL;
}

static const char *in_flight(WsTle *t, Fault *fault)
{
    guint at = 0;
    for (const WsOp *op; (op = next_op(t, &at));) {
        gint64 known;
        fault->op = left_branch(op);
        if (fault->op)
            return WS_WORD("it leaves its branch in flight");
        fault->op = op;
        if (op->kind == WS_OP_MMA_WAIT && conditional(op))
            return WS_WORD("a wait under a condition, for products that are not");
        if (!ws_op_is_product(op->kind))
            continue;
        gboolean fixed = !op->mma->first || ws_expr_is_int(op->mma->first, &known);
        if (!fixed && ws_py_accumulates(op, op->value[0].value) && !ws_py_zeros_before(op))
            return WS_WORD("`first` is decided while the accumulator is in flight");
    }
    return NULL;
}

/* --- pipes -------------------------------------------------------------------------------------*/

static const char *pipe_path(WsTle *t, guint pipe)
{
    return ws_tle_pipe(t, (gint)pipe)->is->path;
}

static const char *fields(WsTle *t, Fault *fault)
{
    for (guint i = 0; i < t->pipe->len; i++) {
        const WsTlePipe *pipe = ws_tle_pipe(t, (gint)i);
        for (guint k = 0; k < pipe->is->n_fields; k++) {
            const WsBuffer *b = &program(t)->buffer[pipe->is->field[k]];
            fault->path = pipe_path(t, i);
            if (b->is_array)
                return ws_py_phrase(t->y, "field %s is an array", b->name);
        }
    }
    return NULL;
}

static gboolean bad_name(const char *name)
{
    return name[0] == '_' || !strcmp(name, "fields") || !strcmp(name, "readers");
}

static const char *field_names(WsTle *t, Fault *fault)
{
    for (guint i = 0; i < t->pipe->len; i++) {
        const WsTlePipe *pipe = ws_tle_pipe(t, (gint)i);
        fault->path = pipe_path(t, i);
        for (guint k = 0; k < pipe->is->n_fields; k++) {
            if (bad_name(program(t)->buffer[pipe->is->field[k]].name))
                return ws_py_phrase(t->y, "field %s", program(t)->buffer[pipe->is->field[k]].name);
        }
        for (guint k = 0; k < pipe->is->n_readers; k++) {
            if (bad_name(program(t)->agent[pipe->is->reader[k]].name))
                return ws_py_phrase(t->y, "reader %s", program(t)->agent[pipe->is->reader[k]].name);
        }
    }
    return NULL;
}

static const char *reader_fields(WsTle *t, Fault *fault)
{
    for (guint i = 0; i < t->pipe->len; i++) {
        const WsPipe *pipe = ws_tle_pipe(t, (gint)i)->is;
        fault->path = pipe->path;
        for (guint k = 0; k < pipe->n_reads; k++) {
            if (!pipe->reads[k].n_fields)
                return ws_py_phrase(t->y, "reader %s has no field", pipe->reads[k].group);
        }
    }
    return NULL;
}

static const char *writers(WsTle *t, Fault *fault)
{
    for (guint i = 0; i < t->pipe->len; i++) {
        const WsTlePipe *pipe = ws_tle_pipe(t, (gint)i);
        guint at = 0;
        for (const WsOp *op; (op = next_op(t, &at));) {
            fault->op = op;
            if (op->barrier == pipe->is->full && op->barrier >= 0 && !ws_op_waits_phase(op->kind) &&
                op->agent != pipe->is->writer)
                return WS_WORD("a second writer");
        }
    }
    return NULL;
}

static gboolean fills(const WsTle *t, const WsOp *op, gint pipe)
{
    for (guint i = 0; i < op->n_access; i++) {
        if ((op->access[i].mode & WS_MODE_WRITE) && t->pipe_of[op->access[i].buffer] == pipe)
            return TRUE;
    }
    return FALSE;
}

/* Operations that stand between copies of a pipe: those of a window of copies alone. */
static const WsOp *intruder(const WsTle *t, const WsTree *list, gint pipe)
{
    const WsOp *last = NULL, *found = NULL;
    for (guint i = 0; i < list->n_kids; i++) {
        const WsTree *kid = list->kid[i];
        const WsOp *op = kid->kind == WS_TREE_OP ? kid->op : NULL;
        if (op && op->kind == WS_OP_TMA_LOAD && fills(t, op, pipe)) {
            if (found)
                return found;
            last = op;
            continue;
        }
        gboolean touches = op && (op->n_access || op->barrier >= 0) && !ws_op_expects(op->kind) &&
                           !fills(t, op, pipe);
        if (last && touches)
            found = op;
    }
    return NULL;
}

static const WsOp *intruder_below(const WsTle *t, const WsTree *tree, gint pipe)
{
    const WsOp *op = tree->kind == WS_TREE_SEQ ? intruder(t, tree, pipe) : NULL;
    for (guint i = 0; i < tree->n_kids && !op; i++)
        op = tree->kid[i] ? intruder_below(t, tree->kid[i], pipe) : NULL;
    return op;
}

static const char *window(WsTle *t, Fault *fault)
{
    for (guint i = 0; i < t->pipe->len; i++) {
        gint writer = ws_tle_pipe(t, (gint)i)->is->writer;
        fault->op = writer < 0 ? NULL : intruder_below(t, program(t)->agent[writer].body, (gint)i);
        if (fault->op)
            return ws_py_phrase(t->y, "between copies into pipe %s", ws_tle_pipe(t, (gint)i)->name);
    }
    return NULL;
}

static const WsTree *branch_of(const WsOp *op)
{
    const WsTree *t = op->tree;
    while (t && t->kind != WS_TREE_BRANCH)
        t = t->parent;
    return t;
}

/* A store into a field of the pipe under a condition that the arrival behind it has not. */
static const WsOp *stored_apart(WsTle *t, gint pipe)
{
    const WsOp *stored = NULL;
    guint at = 0;
    for (const WsOp *op; (op = next_op(t, &at));) {
        const gboolean writes = op->n_access && (op->access[0].mode & WS_MODE_WRITE) &&
                                !ws_op_loads(op->kind) && t->pipe_of[op->access[0].buffer] == pipe;
        if (stored && stored->agent != op->agent)
            stored = NULL;
        if (stored && !ws_op_loads(op->kind) && !ws_op_expects(op->kind) &&
            op->barrier == ws_tle_pipe(t, pipe)->is->full) {
            if (branch_of(stored) != branch_of(op))
                return stored;
            stored = NULL;
        }
        stored = writes ? op : stored;
    }
    return NULL;
}

/* A commit of TLE stands behind its copies. Where loads have conditions that the commit has not,
 * their expects only add bytes, and windows without copies need a commit of another kind. */
static const char *commits(WsTle *t, Fault *fault)
{
    for (guint i = 0; i < t->pipe->len; i++)
        if ((fault->op = stored_apart(t, (gint)i)))
            return ws_py_phrase(t->y, "a write into pipe %s has a condition of its own",
                                ws_tle_pipe(t, (gint)i)->name);
    guint at = 0;
    for (const WsOp *op; (op = next_op(t, &at));)
        for (guint i = 0; i < t->pipe->len && ws_op_expects(op->kind) && op->count == 0; i++)
            if (op->barrier == ws_tle_pipe(t, (gint)i)->is->full) {
                fault->op = op;
                return ws_py_phrase(t->y, "loads into pipe %s have conditions of their own",
                                    ws_tle_pipe(t, (gint)i)->name);
            }
    return NULL;
}

static const char *mixed(WsTle *t, Fault *fault)
{
    for (guint b = 0; b < program(t)->n_buffers; b++) {
        gboolean copied = FALSE;
        const WsOp *stored = NULL;
        guint at = 0;
        for (const WsOp *op; t->pipe_of[b] >= 0 && (op = next_op(t, &at));) {
            gboolean here =
                op->n_access && op->access[0].buffer == b && (op->access[0].mode & WS_MODE_WRITE);
            copied = copied || (here && op->kind == WS_OP_TMA_LOAD);
            stored = here && op->kind != WS_OP_TMA_LOAD ? op : stored;
        }
        fault->op = stored;
        if (copied && stored)
            return ws_py_phrase(t->y, "field %s", program(t)->buffer[b].name);
    }
    return NULL;
}

/* --- values, clusters, partitions --------------------------------------------------------------*/

/* A view of a value is a tile of it: its start a multiple of its size, whatever the index is. */
static const char *tiles(WsTle *t, Fault *fault)
{
    guint at = 0;
    for (const WsOp *op; (op = next_op(t, &at));) {
        for (guint i = 0; i < op->n_value && !ws_op_is_product(op->kind); i++) {
            const WsValueUse *u = &op->value[i];
            const WsRegValue *v = &program(t)->agent[op->agent].value[u->value];
            fault->op = op;
            WsAffine a;
            gboolean whole = u->rows == v->rows && u->cols == v->cols, fits = TRUE;
            if (whole || !ws_expr_affine(u->col0, &a))
                continue;
            fits = a.constant % u->cols == 0 && v->cols % u->cols == 0 && v->rows % u->rows == 0;
            for (guint k = 0; k < a.n; k++)
                fits = fits && a.factor[k] % u->cols == 0;
            ws_affine_clear(&a);
            if (!fits)
                return ws_py_phrase(t->y, "columns of %s", v->name);
        }
    }
    return NULL;
}

static const char *powers(WsTle *t, Fault *fault)
{
    for (guint i = 0; i < program(t)->n_agents; i++) {
        const WsAgent *a = &program(t)->agent[i];
        for (guint k = 0; k < a->n_values; k++) {
            fault->path = ws_py_format(t->y, "%s/values/%s", a->path, a->value[k].name);
            if (!ws_py_pow2(a->value[k].rows) || !ws_py_pow2(a->value[k].cols))
                return ws_py_phrase(t->y, "tile [%u, %u]", a->value[k].rows, a->value[k].cols);
        }
    }
    guint at = 0;
    for (const WsOp *op; (op = next_op(t, &at));) {
        fault->op = op;
        if (op->kind == WS_OP_CP_ROWS && !ws_py_pow2(op->access[0].cols))
            return ws_py_phrase(t->y, "rows of %u elements", op->access[0].cols);
    }
    return NULL;
}

static const char *clusters(WsTle *t, Fault *fault)
{
    const guint n = program(t)->cluster;
    fault->path = "cluster";
    if (n <= 1)
        return NULL;
    if (program(t)->n_agents > 1) /* the barrier of a mesh takes all threads */
        return ws_py_phrase(t->y, "a cluster of %u CTAs with several groups", n);
    if (program(t)->tiles->launch != WS_LAUNCH_SINGLE)
        return ws_py_phrase(t->y, "a cluster of %u CTAs that works on several tiles", n);
    fault->path = NULL;
    guint at = 0;
    for (const WsOp *op; (op = next_op(t, &at));) {
        fault->op = op;
        if (op->ctas.kind != WS_CTAS_OWN && !ws_op_peeks(op->kind))
            return WS_WORD("a step that signals another CTA");
    }
    return NULL;
}

static const char *named(WsTle *t, Fault *fault)
{
    guint n = 0, workers = program(t)->n_agents - 1;
    for (guint i = 0; i < program(t)->n_barriers; i++) {
        const WsBarrier *b = &program(t)->barrier[i];
        if (b->kind != WS_BARRIER_NAMED || b->derived)
            continue;
        n += b->array;
        fault->path = b->path;
    }
    return n + workers > 14 ? ws_py_phrase(t->y, "%u named barriers beside %u workers", n, workers)
                            : NULL;
}

static const char *warps(WsTle *t, Fault *fault)
{
    for (guint i = 0; i < program(t)->n_agents; i++) {
        fault->path = program(t)->agent[i].path;
        if (!ws_py_pow2(program(t)->agent[i].warps))
            return ws_py_phrase(t->y, "%u warps", program(t)->agent[i].warps);
    }
    return t->no_default ? WS_WORD("no group has a multiple of 4 warps, so none can be the default")
                         : NULL;
}

static const char *partitions(WsTle *t, Fault *fault)
{
    fault->path = "groups";
    guint n = program(t)->n_agents;
    return n > 14 ? ws_py_phrase(t->y, "%u partitions", n) : NULL;
}

/* --- the table ---------------------------------------------------------------------------------*/

void ws_tle_judge(WsTle *t)
{
    static const struct {
        const char *id, *what, *remedy;
        Judge judge;
    } rules[] = {
#define WS_TLE_RULE(id, what, judge, remedy) { #id, what, remedy, judge },
#include "codegen/python/tle/tle_rule.def"
#undef WS_TLE_RULE
    };
    for (guint i = 0; i < G_N_ELEMENTS(rules) && !t->y->error; i++) {
        Fault fault = { 0 };
        const char *offence = rules[i].judge(t, &fault);
        if (!offence)
            continue;
        g_autofree char *rule = ws_phrase_word(rules[i].what);
        const char *what =
            ws_py_phrase(t->y, "%s, but TLE says (%s): %s", offence, rules[i].id, rule);
        ws_py_refuse_at(t->y, fault.op, fault.path, what, rules[i].remedy);
    }
}
