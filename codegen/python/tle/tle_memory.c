/* Products, and what moves between registers, shared memory and tensors by plain loads and stores.
 * Pointers are worked out here, clipped to the shape of the tensor. */
#include "codegen/python/tle/tle.h"
#include "codegen/python/triton/triton.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/tensor.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

/* --- products ----------------------------------------------------------------------------------*/

static const char *operand(WsTle *t, const WsOp *op, gboolean a, const char **flag)
{
    gboolean registers = a && op->mma->a.in_registers;
    *flag = "";
    if (registers) {
        if (!ws_py_whole(t->y, &op->value[1]))
            ws_py_refuse(t->y, op, "a part of a value as operand", "make it a value of its own");
        return t->y->value[op->value[1].value];
    }
    const WsAccess *x = &op->access[a || op->mma->a.in_registers ? 0 : 1];
    if (a ? x->transposed : !x->transposed)
        *flag = a ? ", trans_a=True" : ", trans_b=True";
    return ws_tle_view(t, op, x, x->rows, x->cols);
}

static const char *result_type(WsDtype type)
{
    return type == WS_DTYPE_F16   ? ", out_dtype=tl.float16"
           : type == WS_DTYPE_I32 ? ", out_dtype=tl.int32"
                                  : "";
}

void ws_tle_mma(WsTle *t, const WsOp *op)
{
    const char *acc = t->y->value[op->value[0].value], *flag_a, *flag_b, *remark = "";
    if (!ws_py_whole(t->y, &op->value[0]))
        ws_py_refuse(t->y, op, "a part of a value as accumulator", "make it a value of its own");
    const char *a = operand(t, op, TRUE, &flag_a), *b = operand(t, op, FALSE, &flag_b);
    gint64 known = 0;
    gboolean fixed = !op->mma->first || ws_py_constant(t->y, op->mma->first, &known);
    if (!fixed) {
        const char *first = ws_py_uniform(t->y, op->mma->first).s;
        remark = ws_py_format(t->y, "  # first: %s", first);
        if (!ws_py_zeros_before(op))
            ws_py_line(t->y, "%s = tl.where(%s, 0.0, %s)", acc,
                       ws_py_truth(t->y, ws_py_uniform(t->y, op->mma->first)).s, acc);
    }
    ws_py_line(t->y, "%s = tle.gpu.wgmma(%s, %s%s%s%s%s%s%s)%s", acc, a, b,
               fixed && known ? "" : ", ", fixed && known ? "" : acc, flag_a, flag_b,
               op->mma->a_type == WS_DTYPE_TF32 ? ", input_precision=\"tf32\"" : "",
               result_type(op->mma->acc_type), remark);
}

void ws_tle_mma_wait(WsTle *t, const WsOp *op)
{
    ws_tl_mma_wait(t->y, op, "tle.gpu.wgmma_wait");
}

/* --- values and shared memory ------------------------------------------------------------------*/

/* A view of a value: tiles of it at multiples of their shape (rule F42). */
static const char *part(WsTle *t, const WsValueUse *u)
{
    const char *name = t->y->value[u->value];
    if (ws_py_whole(t->y, u))
        return name;
    WsTerm row = ws_py_op(t->y, WS_EXPR_DIV, ws_py_use(t->y, u->row0), ws_py_int(t->y, u->rows));
    WsTerm col = ws_py_op(t->y, WS_EXPR_DIV, ws_py_use(t->y, u->col0), ws_py_int(t->y, u->cols));
    return ws_py_format(t->y, "tle.extract_tile(%s, [%s, %s], [%u, %u])", name, row.s, col.s,
                        u->rows, u->cols);
}

static gboolean whole_rows(WsTle *t, const WsOp *op, const WsAccess *a)
{
    const WsRegValue *v = &t->y->agent->value[op->value[0].value];
    if (v->rows > 1 && v->cols == 4) {
        ws_py_refuse(t->y, op, "sums per lane in shared memory (TLE has whole rows only)",
                     "write their row sums");
        return FALSE;
    }
    if (a->transposed)
        ws_py_refuse(t->y, op, "a transposed view of a value's tile",
                     "let the mma take the buffer with .t");
    return !a->transposed;
}

/* The same place of another CTA. */
static const char *at_peer(WsTle *t, const WsOp *op, const char *pointer)
{
    return ws_py_format(t->y, "tle.remote(%s, %s, scope=%s)", pointer,
                        ws_py_text(t->y, op->ctas.expr), t->y->mesh);
}

void ws_tle_write(WsTle *t, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsRegValue *v = &t->y->agent->value[op->value[0].value];
    if (!whole_rows(t, op, a))
        return;
    const char *pointer = ws_tle_view(t, op, a, a->rows, a->cols);
    if (ws_op_peeks(op->kind))
        pointer = at_peer(t, op, pointer);
    ws_py_line(
        t->y, "tl.store(tle.gpu.local_ptr(%s), %s)", pointer,
        ws_tl_converted(t->y, part(t, &op->value[0]), v->dtype, t->y->p->buffer[a->buffer].dtype));
}

/* Elements of a view that `places` picks, counted along its rows, or those of `of`: the operand of
 * local_ptr, and the condition that they are some of it. */
static const char *picked(WsTle *t, const WsOp *op, const char *of, const char *view,
                          const char **in)
{
    WsPy *y = t->y;
    const WsAccess *a = &op->access[0];
    const guint cols = a->transposed ? a->rows : a->cols;
    const char *at = of ? of : part(t, &op->value[op->places]);
    const char *row = ws_py_format(y, "%s // %u", at, cols),
               *col = ws_py_format(y, "%s %% %u", at, cols);
    *in = ws_py_format(y, "mask=(%s >= 0) & (%s < %u)", at, at, a->rows * a->cols);
    return y->p->buffer[a->buffer].rank == 1 ? ws_py_format(y, "%s, (%s,)", view, at)
           : a->transposed                   ? ws_py_format(y, "%s, (%s, %s)", view, col, row)
                                             : ws_py_format(y, "%s, (%s, %s)", view, row, col);
}

/* What was there before: 0 where nothing was asked for. */
static void put_old(WsTle *t, const WsOp *op, const char *call, const char *in)
{
    const char *old = op->old ? t->y->value[op->value[op->old].value] : NULL;
    if (!old)
        ws_py_line(t->y, "%s", call);
    else
        ws_py_line(t->y, "%s = %s", old,
                   in ? ws_py_format(t->y, "tl.where(%s, %s, 0)", in, call) : call);
}

/* A compare and swap has no mask: what lies outside compares the first element, and leaves it as it
 * is. */
static void compare(WsTle *t, const WsOp *op, const char *view)
{
    WsPy *y = t->y;
    const WsAccess *a = &op->access[0];
    const char *x = part(t, &op->value[0]), *is = part(t, &op->value[op->expected]), *in = NULL;
    if (ws_op_picks(op)) {
        const char *at = part(t, &op->value[op->places]), *mask;
        at = ws_py_format(y, "tl.minimum(tl.maximum(%s, 0), %u)", at, a->rows * a->cols - 1);
        view = picked(t, op, at, view, &mask);
        in = ws_py_format(y, "(%s >= 0) & (%s < %u)", part(t, &op->value[op->places]),
                          part(t, &op->value[op->places]), a->rows * a->cols);
        x = ws_py_format(y, "tl.where(%s, %s, %s)", in, x, is);
    }
    put_old(t, op,
            ws_py_format(y,
                         "tl.atomic_cas(tle.gpu.local_ptr(%s), %s, %s, sem=\"relaxed\", "
                         "scope=\"cta\")",
                         view, is, x),
            in);
}

/* Elements that `places` picks; what lies outside is masked out. Elements in step with the value
 * otherwise. */
void ws_tle_combine(WsTle *t, const WsOp *op)
{
    WsPy *y = t->y;
    const WsAccess *a = &op->access[0];
    const WsRegValue *v = &y->agent->value[op->value[0].value];
    if (!ws_op_picks(op) && !whole_rows(t, op, a))
        return;
    if (op->old && !ws_py_whole(y, &op->value[op->old])) {
        ws_py_refuse(y, op, "what was there before, in a part of a value",
                     "make it a value of its own");
        return;
    }
    const char *view = ws_tle_view(t, op, a, a->rows, a->cols), *mask = "";
    if (op->reduce == WS_REDUCE_COMPARE) {
        compare(t, op, view);
        return;
    }
    if (ws_op_picks(op)) {
        view = picked(t, op, NULL, view, &mask);
        mask = ws_py_format(y, ", %s", mask);
    }
    const char *x = part(t, &op->value[0]);
    if (op->reduce == WS_REDUCE_STORE) {
        ws_py_line(y, "tl.store(tle.gpu.local_ptr(%s), %s%s)", view,
                   ws_tl_converted(y, x, v->dtype, y->p->buffer[a->buffer].dtype), mask);
        return;
    }
    const char *call =
        ws_py_format(y, "tl.atomic_%s(tle.gpu.local_ptr(%s), %s%s, sem=\"relaxed\", scope=\"cta\")",
                     ws_tl_reduction(op->reduce), view, x, mask);
    put_old(t, op, call, *mask ? mask + strlen(", mask=") : NULL);
}

void ws_tle_read(WsTle *t, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsBuffer *b = &t->y->p->buffer[a->buffer];
    const WsRegValue *v = &t->y->agent->value[op->value[0].value];
    if (!ws_op_picks(op) && !whole_rows(t, op, a))
        return;
    if (!ws_py_whole(t->y, &op->value[0])) {
        ws_py_refuse(t->y, op, "a read into a part of a value", "make it a value of its own");
        return;
    }
    if (ws_op_picks(op)) {
        const char *in, *places = picked(t, op, NULL, ws_tle_view(t, op, a, a->rows, a->cols), &in);
        ws_py_line(t->y, "%s = %s", t->y->value[op->value[0].value],
                   ws_tl_converted(t->y,
                                   ws_py_format(t->y, "tl.load(tle.gpu.local_ptr(%s), %s, other=0)",
                                                places, in),
                                   b->dtype, v->dtype));
        return;
    }
    if (ws_tl_scalar(v) && b->rank == 2) { /* `check --from tle` reads none */
        ws_py_refuse(t->y, op, "reading one element of a tile", "read a row or a column");
        return;
    }
    if (b->rank == 2 &&
        (v->rows == 1 || v->cols == 1)) { /* two dimensions there, the value has one */
        ws_py_refuse(t->y, op, "a row or a column of a matrix in shared memory as a value",
                     "give the buffer a tile of one dimension");
        return;
    }
    const char *pointer = ws_tle_view(t, op, a, a->rows, a->cols);
    if (ws_op_peeks(op->kind) && ws_tl_scalar(v)) {
        ws_py_refuse(t->y, op, "reading one element of another CTA", "read a row or a column");
        return;
    }
    if (ws_tl_scalar(v) && b->rows * b->cols > 1) {
        const char *stage = ws_tle_view(t, op, a, b->rows, b->cols);
        pointer = ws_py_format(t->y, "%s, (%s,)", stage, ws_py_text(t->y, a->col0));
    }
    if (ws_op_peeks(op->kind))
        pointer = at_peer(t, op, pointer);
    const char *x = ws_py_format(t->y, "tl.load(tle.gpu.local_ptr(%s))", pointer);
    ws_py_line(t->y, "%s = %s", t->y->value[op->value[0].value],
               ws_tl_converted(t->y, x, b->dtype, v->dtype));
}

/* One thread of the partition adds to the counter; the id goes to the others through a slot. */
void ws_tle_next_tile(WsTle *t, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const char *slot = ws_tle_view(t, op, a, 1, t->y->p->buffer[a->buffer].cols);
    if (!t->y->next_tile) {
        ws_py_refuse(t->y, op, "a claim outside of a loop over tiles", NULL);
        return;
    }
    if (op->kind == WS_OP_TAKE) {
        ws_py_line(t->y, "%s = tl.load(tle.gpu.local_ptr(%s, (0,)))", t->y->next_tile, slot);
        return;
    }
    ws_py_line(t->y, "%s = tl.num_programs(0) + tl.atomic_add(counter, 1)", t->y->next_tile);
    ws_py_line(t->y, "tl.store(tle.gpu.local_ptr(%s, (0,)), %s)", slot, t->y->next_tile);
}

void ws_tle_global(WsTle *t, const WsOp *op)
{
    const gboolean load = !ws_op_stores_global(op->kind);
    ws_tl_global(t->y, op, load ? NULL : part(t, &op->value[0]), ", sem=\"relaxed\"");
}

/* --- gathers -----------------------------------------------------------------------------------*/

enum { MOST_GROUPS = 7 }; /* that a wait may leave there */

static void bind_row(WsPy *y, guint rows, gboolean on)
{
    for (guint i = 0; i < y->p->n_vars; i++) {
        if (y->p->var[i].kind == WS_VAR_ROW)
            y->var[i] = (WsTermName){ on, ws_py_format(y, "tl.arange(0, %u)", rows),
                                      ws_interval(0, (gint64)rows - 1) };
    }
}

/* In remarks the number of a row is `row`. */
static void name_row(WsPy *y, const char *name)
{
    for (guint i = 0; i < y->p->n_vars; i++)
        if (y->p->var[i].kind == WS_VAR_ROW)
            y->var[i].s = name;
}

/* Whether the step is a load group of its own: no barrier is told of it. */
static gboolean is_load_group(const WsPy *y, const WsOp *op)
{
    for (guint i = 0; i < y->p->n_ops; i++)
        if (ws_op_closes(y->p->op[i]->kind) && !g_strcmp0(y->p->op[i]->step, op->step))
            return TRUE;
    return FALSE;
}

static gboolean copies_rows(const WsOp *op)
{
    return ws_op_row(op->kind)->engine == WS_ENGINE_GATHER;
}

/* The operation waits for all copies so far, and nothing but copies stands since the first of them:
 * none is in flight beside anything else. */
static gboolean ends_at_once(const WsOp *op)
{
    const WsTree *list = op->tree->parent;
    guint at = 0;
    while (at < list->n_kids && list->kid[at] != op->tree)
        at++;
    while (++at < list->n_kids && list->kid[at]->kind == WS_TREE_OP) {
        const WsOp *next = list->kid[at]->op;
        if (!copies_rows(next))
            return FALSE;
        if (ws_op_retires(next->kind))
            return next->n == 0;
    }
    return FALSE;
}

gboolean ws_tle_in_groups(const WsPy *y, gint agent)
{
    for (guint i = 0; i < y->p->n_ops; i++) {
        const WsOp *op = y->p->op[i];
        if (op->agent == agent && copies_rows(op) && ws_op_flies(op->kind) &&
            is_load_group(y, op) && !ends_at_once(op))
            return TRUE;
    }
    return FALSE;
}

/* Copied, in a group of its own. */
static void copy_rows(WsTle *t, const WsOp *op, const WsTlPointer *p, const char *place)
{
    const WsAccess *a = &op->access[0];
    ws_py_line(t->y,
               "tle.gpu.copy(%s + (%s), %s, [%u, %u], mask=%s, is_async=True)  # gather: [%s]",
               t->y->tensor[op->tensor], p->offset, ws_tle_view(t, op, a, a->rows, a->cols),
               a->rows, a->cols, p->mask, place);
}

void ws_tle_gather_commit(WsTle *t, const WsOp *op)
{
    if (ws_tle_in_groups(t->y, op->agent))
        ws_py_line(t->y, "tle.gpu.async_commit_group()");
    else
        ws_py_implied(t->y, op, "each call is a group");
}

/* What loads gave is there where it is stored. */
void ws_tle_gather_wait(WsTle *t, const WsOp *op)
{
    if (!ws_tle_in_groups(t->y, op->agent))
        ws_py_remark(t->y, op, "load_wait: %d", (int)op->n);
    else if (op->n > MOST_GROUPS)
        ws_py_refuse(t->y, op,
                     ws_py_phrase(t->y, "a wait that leaves %d groups of copies", (int)op->n),
                     ws_py_phrase(t->y, "leave at most %d", MOST_GROUPS));
    else
        ws_py_line(t->y, "tle.gpu.async_wait_group(%d)", (int)op->n);
}

/* Rows picked by data, zero outside of the tensor: loaded as pointers, then stored; where other
 * steps run beside them, copied. */
void ws_tle_gather(WsTle *t, const WsOp *op)
{
    WsPy *y = t->y;
    const WsAccess *a = &op->access[0];
    WsTlPointer p = { y, &y->p->tensor[op->tensor], NULL, NULL };
    const guint rank = p.tensor->rank;
    if (!ws_py_picks_any(y, op))
        return;
    const guint by = (guint)ws_py_row_dimension(y, op);
    bind_row(y, a->rows, TRUE);
    const char *row = ws_py_local(y, "at_row"), *place = "";
    const char *rows = ws_py_uniform(y, op->coord[by]).s;
    name_row(y, "row");
    ws_py_line(y, "%s = %s  # is: %s", row, rows, ws_py_plain(y, op->coord[by]));
    bind_row(y, a->rows, FALSE);
    for (guint i = 0; i < rank; i++)
        place = ws_py_format(y, "%s%s%s", place, i ? ", " : "",
                             i == by ? row : ws_py_text(y, op->coord[i]));
    const char *col = ws_tl_line(y, ws_py_local(y, "at_col"), op->coord[rank - 1], a->cols);
    for (guint d = 0; d + 1 < rank; d++)
        if (d == by)
            ws_tl_running(&p, d, ws_py_format(y, "%s[:, None]", row), TRUE);
        else
            ws_tl_leading_one(&p, op, d);
    ws_tl_running(&p, rank - 1, ws_py_format(y, "%s[None, :]", col), FALSE);
    const gboolean async = is_load_group(y, op);
    if (async && ws_tle_in_groups(y, op->agent)) {
        copy_rows(t, op, &p, place);
        return;
    }
    const char *x =
        ws_py_format(y, "%s.load(%s + (%s), mask=%s, other=0%s)", async ? "tle" : "tl",
                     y->tensor[op->tensor], p.offset, p.mask, async ? ", is_async=True" : "");
    ws_py_line(y, "tl.store(tle.gpu.local_ptr(%s), %s)  # gather: [%s]",
               ws_tle_view(t, op, a, a->rows, a->cols), x, place);
}
