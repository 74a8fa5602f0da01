/* Synchronisation and copies in TLE, and which file writes which operation. Parities turn into
 * phaseIdx, the number of times that a slot was used before: READY flips it there, as `init ready`
 * does here. One thread arrives for a partition, so a count is a weight. */
#include "base/phrase.h"
#include "codegen/python/tle/tle.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/pipe.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "target/target.h"

/* --- views -------------------------------------------------------------------------------------*/

static gboolean equal_use(const WsExpr *a, const WsExpr *b)
{
    return a == b || !a || !b || ws_expr_equal(a, b);
}

/* The buffer's stage; of a pipe's field the slot that the window holds. */
static const char *stage_text(WsTle *t, const WsOp *op, const WsAccess *a)
{
    gint pipe = t->pipe_of[a->buffer];
    const char *buffer = t->y->buffer[a->buffer];
    if (pipe < 0)
        return ws_py_format(t->y, "%s.slot(%s)", buffer, ws_py_stage(t->y, a));
    if (!t->window[pipe] || (a->use && !equal_use(t->window[pipe], a->use)))
        ws_py_refuse(t->y, op, "a field of a pipe outside of its window, or another use of it",
                     "put the step between acquire and commit, or wait and release, of that use");
    return ws_py_format(t->y, "%s_slot.%s", ws_tle_pipe(t, pipe)->name, buffer);
}

const char *ws_tle_view(WsTle *t, const WsOp *op, const WsAccess *a, guint rows, guint cols)
{
    const WsBuffer *b = &t->y->p->buffer[a->buffer];
    const char *s = stage_text(t, op, a);
    guint row_dim = 0, col_dim = b->rank - 1;
    if (b->rank == 2 && rows != b->rows)
        s = ws_py_format(t->y, "%s.subslice(%s, %u, %u)", s, ws_py_text(t->y, a->row0), rows,
                         row_dim);
    if (cols != b->cols)
        s = ws_py_format(t->y, "%s.subslice(%s, %u, %u)", s, ws_py_text(t->y, a->col0), cols,
                         col_dim);
    return s;
}

/* --- barriers ----------------------------------------------------------------------------------*/

/* "full[k_total % 4]": elements with their own init or count are arrays of their own. */
const char *ws_tle_barrier_at(WsTle *t, const WsOp *op, guint part)
{
    const WsTleBarrier *b = &t->barrier[op->barrier];
    const WsBarrier *of = &t->y->p->barrier[op->barrier];
    const char *name = b->part[part].name;
    if (!b->per_element)
        return ws_py_format(t->y, "%s[%s]", name, ws_py_slot(t->y, op));
    gint64 element = 0;
    if (!ws_py_constant(t->y, op->element, &element))
        ws_py_refuse(t->y, op, "elements of different init, picked while it runs", NULL);
    WsBarrier one = *of; /* the same slot of an array of one */
    const char *slot = one.slots > 1 && op->slot ? ws_py_use(t->y, op->slot).s : "0";
    return ws_py_format(t->y, "%s_%d[%s]", name, (int)element, slot);
}

static const char *phase(WsTle *t, const WsOp *op)
{
    const WsBarrier *b = &t->y->p->barrier[op->barrier];
    if (!op->use) { /* slot and parity were given: what makes TLE test this parity */
        if (!op->parity)
            return "0";
        WsTerm parity = ws_py_use(t->y, op->parity);
        gboolean ready = b->ready[0];
        return ready ? ws_py_op(t->y, WS_EXPR_ADD, parity, ws_py_int(t->y, 1)).s : parity.s;
    }
    const char *count = ws_py_count(t->y, b->slots_name);
    WsTerm slots = ws_py_int(t->y, b->slots);
    gboolean nonneg = t->y->terms.nonneg;
    if (count)
        slots.s = count;
    t->y->terms.nonneg = TRUE;
    const char *s = ws_py_op(t->y, WS_EXPR_DIV, ws_py_use(t->y, op->use), slots).s;
    t->y->terms.nonneg = nonneg;
    return s;
}

static void arrive(WsTle *t, const WsOp *op)
{
    gboolean one = op->count == 1;
    const char *count =
        one ? "" : ws_py_format(t->y, ", arrive_count=%" G_GINT64_FORMAT, op->count);
    const char *by = op->per > 0 ? ws_py_format(t->y, "  # by: %s",
                                                op->per == t->y->p->hardware->lanes ? "warp"
                                                : op->per == 1                      ? "all"
                                                                                    : "lanes")
                                 : "";
    if (op->ctas.kind != WS_CTAS_OWN) {
        ws_py_refuse(t->y, op, "an arrival in another CTA", "use cluster 1");
        return;
    }
    ws_py_line(t->y, "tle.gpu.barrier_arrive(%s%s, phaseIdx=%s)%s", ws_tle_barrier_at(t, op, 0),
               count, phase(t, op), by);
}

/* --- pipes -------------------------------------------------------------------------------------*/

static void open_window(WsTle *t, const WsOp *op, gint pipe, const char *how, const char *slot)
{
    WsTlePipe *p = ws_tle_pipe(t, pipe);
    const char *use = op->use ? ws_py_text(t->y, op->use) : "0";
    ws_py_line(t->y, "%s_slot = %s_%s(%s)%s", p->name, p->name, how, use, slot);
    t->window[pipe] = op->use;
}

static gboolean fills(const WsTle *t, const WsOp *op, gint pipe)
{
    for (guint i = 0; i < op->n_access; i++) {
        if ((op->access[i].mode & WS_MODE_WRITE) && t->pipe_of[op->access[i].buffer] == pipe)
            return TRUE;
    }
    return op->barrier >= 0 && op->barrier == ws_tle_pipe(t, pipe)->is->full &&
           !ws_op_waits_phase(op->kind);
}

/* No operation of this list behind `op` fills the pipe at the same use. */
static gboolean ends_window(const WsTle *t, const WsOp *op, gint pipe)
{
    const WsTree *list = op->tree->parent;
    gboolean behind = FALSE;
    for (guint i = 0; list && i < list->n_kids; i++) {
        const WsOp *other = list->kid[i]->kind == WS_TREE_OP ? list->kid[i]->op : NULL;
        if (behind && other && other->barrier >= 0 && ws_op_waits_phase(other->kind) &&
            other->barrier == ws_tle_pipe(t, pipe)->is->empty)
            return TRUE; /* the next window */
        if (behind && other && fills(t, other, pipe))
            return FALSE;
        behind = behind || other == op;
    }
    return TRUE;
}

/* Before and behind whatever fills a pipe. A one_shot pipe is acquired by nobody in the program,
 * and copies commit themselves there: TLE wants both written. */
static void before_fill(WsTle *t, const WsOp *op)
{
    gint pipe = op->barrier >= 0 ? t->barrier[op->barrier].pipe : -1;
    if (pipe < 0 || op->step_kind == WS_STEP_CLOSE || ws_op_waits_phase(op->kind) ||
        t->window[pipe] || op->barrier != ws_tle_pipe(t, pipe)->is->full)
        return;
    open_window(t, op, pipe, "writer.acquire", "");
}

static void behind_fill(WsTle *t, const WsOp *op)
{
    for (guint i = 0; i < t->pipe->len; i++) {
        gint pipe = (gint)i;
        if (!fills(t, op, pipe) || !ends_window(t, op, pipe) || !t->window[pipe])
            continue;
        WsTerm use = ws_py_use(t->y, t->window[pipe]);
        ws_py_line(t->y, "%s_writer.commit(%s)", ws_tle_pipe(t, pipe)->name, use.s);
        t->window[pipe] = NULL;
    }
}

static gboolean committed(WsTle *t, const WsOp *op)
{
    if (!ws_op_arrives(op->kind))
        return FALSE;
    ws_py_implied(t->y, op, "the commit of the pipe");
    return TRUE;
}

static gboolean pipe_op(WsTle *t, const WsOp *op)
{
    gint pipe = op->barrier >= 0 ? t->barrier[op->barrier].pipe : -1;
    if (pipe < 0)
        return FALSE;
    const WsTlePipe *p = ws_tle_pipe(t, pipe);
    gboolean full = op->barrier == p->is->full;
    if (op->step_kind == WS_STEP_CLOSE)
        ws_py_implied(t->y, op, "the close of the pipe");
    else if (op->step_kind == WS_STEP_FOR && ws_op_waits_phase(op->kind))
        ws_py_line(t->y, "%s_next = %s_reader.wait(%s)", p->name, p->name,
                   op->use ? ws_py_text(t->y, op->use) : "0");
    else if (ws_op_waits_phase(op->kind) && full)
        open_window(t, op, pipe, "reader.wait", ".slot");
    else if (ws_op_waits_phase(op->kind))
        open_window(t, op, pipe, "writer.acquire", "");
    else if (op->kind == WS_OP_MBAR_ARRIVE && !full)
        ws_py_line(t->y, "%s_reader.release(%s)", p->name,
                   op->use ? ws_py_text(t->y, op->use) : "0");
    else
        return committed(t, op);
    return TRUE;
}

/* A window says by itself that it is a round. */
static void tell(WsTle *t, const WsOp *op)
{
    const WsTlePipe *p = ws_tle_pipe(t, t->told_of[op->access[0].buffer]);
    if (op->n)
        ws_py_line(t->y, "%s_writer.close(%s)", p->name, ws_py_text(t->y, op->access[0].use));
    else
        ws_py_implied(t->y, op, "the commit of the pipe");
}

/* The test of the loop is that of what was waited for last; a round takes its slot. */
static void ask(WsTle *t, const WsOp *op)
{
    const gint pipe = t->told_of[op->access[0].buffer];
    const WsTlePipe *p = ws_tle_pipe(t, pipe);
    if (op->n) {
        ws_py_implied(t->y, op, "the test of the loop over the pipe");
        return;
    }
    ws_py_line(t->y, "%s_slot = %s_next.slot", p->name, p->name);
    t->window[pipe] = op->access[0].use;
}

const char *ws_tle_goes_on(WsPy *y, const WsTree *loop)
{
    WsTle *t = y->role;
    const gint pipe = t->told_of[loop->ask->access[0].buffer];
    return ws_py_format(y, "not %s_next.is_closed", ws_tle_pipe(t, pipe)->name);
}

/* --- copies ------------------------------------------------------------------------------------*/

void ws_tle_load(WsTle *t, const WsOp *op)
{
    const WsPyBox *box = ws_py_call(t->y, op);
    if (!box)
        return;
    gboolean piped = t->barrier[op->barrier].pipe >= 0;
    const char *signal =
        piped ? ""
              : ws_py_format(t->y, ", barrier=%s", ws_tle_barrier_at(t, op, ws_tle_part(t, op)));
    if (op->hint != WS_HINT_NONE)
        t->dropped |= WS_TLE_DROPPED_HINT;
    ws_py_line(t->y, "tle.gpu.copy(%s, %s, [%s], [%s]%s)", box->name,
               ws_tle_view(t, op, &op->access[0], box->rows, box->cols),
               ws_py_block_shape(t->y, box), ws_py_coordinates(t->y, op), signal);
}

void ws_tle_store(WsTle *t, const WsOp *op)
{
    const WsPyBox *box = ws_py_call(t->y, op);
    if (!box)
        return;
    if (op->hint != WS_HINT_NONE)
        t->dropped |= WS_TLE_DROPPED_HINT;
    ws_py_line(t->y, "tle.gpu.copy(%s, %s, [%s], [%s])",
               ws_tle_view(t, op, &op->access[0], box->rows, box->cols), box->name,
               ws_py_block_shape(t->y, box), ws_py_coordinates(t->y, op));
}

/* --- operations --------------------------------------------------------------------------------*/

static void named(WsTle *t, const WsOp *op)
{
    const WsBarrier *b = &t->y->p->barrier[op->barrier];
    gboolean sync = ws_op_waits_join(op->kind);
    if ((guint)b->hw_id[0] < t->y->p->hardware->sync.named_reserved) /* of the CTA */
        ws_py_refuse(t->y, op, "a barrier of all partitions",
                     "declare a named barrier and let every group sync on it");
    else if (t->barrier[op->barrier].skipped)
        ws_py_line(t->y, "tl.debug_barrier()");
    else
        ws_py_line(t->y, "tle.gpu.barrier_%s(%s)", sync ? "wait" : "arrive",
                   ws_tle_barrier_at(t, op, 0));
}

static void barrier_wait(WsTle *t, const WsOp *op)
{
    for (guint i = 0; i < t->barrier[op->barrier].n_parts; i++)
        ws_py_line(t->y, "tle.gpu.barrier_wait(%s, phaseIdx=%s)", ws_tle_barrier_at(t, op, i),
                   phase(t, op));
}

/* Copies to tensors wait by themselves. */
static void store_wait(WsTle *t, const WsOp *op)
{
    ws_py_remark(t->y, op, "store_wait: %d%s", (int)op->n, op->full ? " full" : "");
}

static void math(WsTle *t, const WsOp *op)
{
    ws_py_math(t->y, op);
}

/* The operation beside it in its list, derived ones that the compiler makes left out. */
static gboolean has_beside(const WsOp *op, WsOpKind kind, gint step)
{
    const WsTree *list = op->tree->parent;
    guint at = 0;
    while (list && at < list->n_kids && list->kid[at] != op->tree)
        at++;
    const guint next = at + (guint)step;
    return list && next < list->n_kids && list->kid[next] && list->kid[next]->kind == WS_TREE_OP &&
           list->kid[next]->op->kind == kind;
}

#define APART "an arrival at the cluster barrier apart from its wait"

static void meet(WsTle *t, const WsOp *op)
{
    if (has_beside(op, WS_OP_CLUSTER_WAIT, 1))
        ws_py_line(t->y, "tle.distributed_barrier(%s)", t->y->mesh);
    else
        ws_py_refuse(t->y, op, APART, "let all meet by a `sync`");
}

static void meet_end(WsTle *t, const WsOp *op)
{
    if (has_beside(op, WS_OP_CLUSTER_ARRIVE, -1))
        ws_py_implied(t->y, op, "the barrier of the mesh");
    else
        ws_py_refuse(t->y, op, APART, "let all meet by a `sync`");
}

typedef struct {
    void (*print)(WsTle *t, const WsOp *op);
    const char *implied, *why, *change;
} Row;

#define OTHER_CTAS                                      WS_WORD("TLE's shared memory of other CTAs is not written by this export")
#define UNKNOWN                                         NULL
#define CONTROL                                         NULL
#define IMPLIED(how)                                    NULL, how
#define NOT(why, change)                                NULL, NULL, why, change
#define WS_LOWER(id, prim, llvm, cuda, gluon, tle, ...) [WS_OP_##id] = { tle },
static const Row table[WS_OP_KIND_COUNT] = {
#include "codegen/lower.def"
};

void ws_tle_op(WsPy *y, const WsOp *op)
{
    WsTle *t = y->role;
    const Row *row = &table[op->kind];
    if (op->kind == WS_OP_PREFETCH)
        t->dropped |= WS_TLE_DROPPED_PREFETCH;
    if (row->why || (!row->print && !row->implied))
        ws_py_refuse(y, op, row->why ? row->why : ws_op_kind_text(op->kind), row->change);
    if (row->implied)
        ws_py_implied(y, op, row->implied);
    if (!row->print || y->error)
        return;
    ws_py_step_comment(y, op);
    before_fill(t, op);
    if (!pipe_op(t, op))
        row->print(t, op);
    behind_fill(t, op);
}
