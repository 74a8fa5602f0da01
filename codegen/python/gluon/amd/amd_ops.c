/* Operations in Gluon for AMD: loads straight to shared memory, reads, products, waits, borders. */
#include "codegen/python/gluon/amd/amd.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/retired.h"
#include "program/parts/tensor.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

/* --- views ------------------------------------------------------------------------------------*/

static const char *view(WsPy *y, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsBuffer *b = &y->p->buffer[a->buffer];
    if (b->rank != 2 || a->rows != b->rows || a->cols != b->cols)
        ws_py_refuse(y, op, "a part of a buffer's tile", "give the part a buffer of its own");
    return ws_py_format(y, "%s.index(%s)", y->buffer[a->buffer], ws_py_stage(y, a));
}

/* Only loads straight to it write the buffer: its reads are ordered by waits and borders alone, as
 * the proof has them, and the compiler need add none. */
static gboolean by_loads(const WsPy *y, guint buffer)
{
    for (guint i = 0; i < y->p->n_ops; i++) {
        const WsOp *op = y->p->op[i];
        for (guint k = 0; k < op->n_access; k++)
            if (op->access[k].buffer == buffer && op->access[k].mode & WS_MODE_WRITE &&
                op->engine != WS_ENGINE_GATHER)
                return FALSE;
    }
    return TRUE;
}

static const char *converted(WsPy *y, const char *x, WsDtype from, WsDtype to)
{
    return from == to ? x : ws_py_format(y, "%s.to(%s)", x, ws_gluon_dtype(y, to));
}

static void read_shared(WsPy *y, const WsOp *op)
{
    const WsValueUse *u = &op->value[0];
    const WsRegValue *v = &y->agent->value[u->value];
    const WsBuffer *b = &y->p->buffer[op->access[0].buffer];
    const char *layout = ws_gamd_layout(y, u->value), *from = view(y, op);
    if (!layout || !ws_py_whole(y, u) || v->cols == 1) {
        ws_py_refuse(y, op, "reading into part of a value, or a line", "tiles that are values");
        return;
    }
    /* Operand b is [columns, K] in the design, [K, columns] there. */
    if (op->access[0].transposed != ws_gamd(y)->roles.role[u->value].b)
        from = ws_py_format(y, "%s.permute((1, 0))", from);
    const char *x = by_loads(y, op->access[0].buffer)
                        ? ws_py_format(y, "async_copy.load_shared_relaxed(%s, %s)", from, layout)
                        : ws_py_format(y, "%s.load(%s)", from, layout);
    ws_py_line(y, "%s = %s", y->value[u->value], converted(y, x, b->dtype, v->dtype));
}

/* --- tensors ----------------------------------------------------------------------------------*/

static const char *scaled(WsPy *y, WsTerm x, const WsExpr *stride)
{
    WsTerm by = ws_py_uniform(y, stride);
    gint64 one;
    if (ws_term_known(by, &one) && one == 1)
        return ws_py_in(y, x, WS_PREC_TERM);
    return ws_py_format(y, "%s * %s", ws_py_in(y, x, WS_PREC_ATOM), ws_py_in(y, by, WS_PREC_ATOM));
}

static void row_is(WsPy *y, gboolean zero)
{
    for (guint i = 0; i < y->p->n_vars; i++)
        if (y->p->var[i].kind == WS_VAR_ROW)
            y->var[i] = (WsTermName){ zero, "0", ws_interval(0, 0) };
}

static gboolean is_zero(WsTerm x)
{
    gint64 zero;
    return ws_term_known(x, &zero) && zero == 0;
}

/* "A + tm * 256 * K + k * 32": where the tile begins. */
static const char *base(WsPy *y, const WsOp *op)
{
    const WsTensor *t = &y->p->tensor[op->tensor];
    const char *at = y->tensor[op->tensor];
    for (guint d = 0; d < t->rank; d++) {
        WsTerm x = ws_py_uniform(y, op->coord[d]);
        if (!is_zero(x))
            at = ws_py_format(y, "%s + %s", at, scaled(y, x, t->stride[d]));
    }
    return at;
}

static const char *coordinates(WsPy *y, const WsOp *op)
{
    const char *s = "";
    for (guint d = 0; d < op->n_coord; d++)
        s = ws_py_format(y, "%s%s%s", s, d ? ", " : "", ws_py_uniform(y, op->coord[d]).s);
    return s;
}

/* The tile [rows, cols] lies along the last two dimensions. */
static gboolean lies_inside(WsPy *y, const WsOp *op, guint rows, guint cols)
{
    const WsTensor *t = &y->p->tensor[op->tensor];
    for (guint d = 0; d < t->rank; d++) {
        const gint64 extent = d + 2 == t->rank ? rows : d + 1 == t->rank ? cols : 1;
        const WsExpr *x = op->coord[d];
        if (op->n_access && d + 2 == t->rank) /* start + row, or row */
            x = x->op == WS_EXPR_ADD ? x->arg[0] : NULL;
        if (!ws_gamd_inside(y, op, x, extent, t->shape[d]))
            return FALSE;
    }
    return TRUE;
}

/* The row of a load is `row`, or a start + row: halves.c makes no other. */
static gboolean by_row(const WsPy *y, const WsOp *op)
{
    const WsTensor *t = &y->p->tensor[op->tensor];
    if (t->rank < 2 || op->n_coord != t->rank)
        return FALSE;
    const WsExpr *x = op->coord[t->rank - 2];
    const WsExpr *row = x->op == WS_EXPR_ADD ? x->arg[1] : x;
    return row->op == WS_EXPR_VAR && y->p->var[row->var].kind == WS_VAR_ROW &&
           (row == x || !ws_expr_mentions_var(x->arg[0], row->var));
}

static void load(WsPy *y, const WsOp *op)
{
    const WsTensor *t = &y->p->tensor[op->tensor];
    const WsBuffer *b = &y->p->buffer[op->access[0].buffer];
    const char *to = view(y, op);
    if (op->access[0].transposed || !by_row(y, op)) {
        ws_py_refuse(y, op, "a load of other than rows of a tile", "load a tile [rows, columns]");
        return;
    }
    gint64 one;
    if (!ws_expr_is_int(t->stride[t->rank - 1], &one) || one != 1) {
        ws_py_refuse(y, op, "a tensor whose last dimension does not lie in a row",
                     "declare it so that its last dimension has stride 1");
        return;
    }
    const WsGamdLoad *is = ws_gamd_load_layout(y, op, b);
    if (!is)
        return;
    if (!lies_inside(y, op, b->rows, b->cols)) {
        ws_py_refuse(y, op,
                     "a load that is not shown to stay inside of its tensor (masked copies have no "
                     "value there)",
                     "assume that tiles divide the sizes, and that there are enough of them");
        return;
    }
    row_is(y, TRUE);
    ws_py_line(y, "async_copy.buffer_load_to_shared(%s, %s, %s + col_%s)  # at: [%s], [%u, %u]", to,
               base(y, op),
               scaled(y, ws_term_unknown(ws_py_format(y, "row_%s", is->name), WS_PREC_ATOM),
                      t->stride[t->rank - 2]),
               is->name, coordinates(y, op), b->rows, b->cols);
    row_is(y, FALSE);
}

/* Lines `at_row`, `at_col`; the mask where the tile may reach beyond the tensor. */
static const char *addresses(WsPy *y, const WsOp *op, const char *layout, const char **mask)
{
    const WsTensor *t = &y->p->tensor[op->tensor];
    const WsValueUse *u = &op->value[0];
    *mask = NULL;
    if (t->rank < 2 || u->cols == 1 || !ws_py_whole(y, u)) {
        ws_py_refuse(y, op, "a part of a value, or a line of a tensor", "whole tiles");
        return "";
    }
    const char *at = y->tensor[op->tensor], *row = ws_py_local(y, "at_row"),
               *col = ws_py_local(y, "at_col");
    const gboolean inside = lies_inside(y, op, u->rows, u->cols);
    for (guint d = 0; d < t->rank; d++) {
        WsTerm x = ws_py_uniform(y, op->coord[d]);
        const guint from_end = t->rank - d;
        if (from_end <= 2) {
            const char *name = from_end == 2 ? row : col;
            const char *index = ws_py_format(y, "gl.arange(0, %u, layout=gl.SliceLayout(%u, %s))%s",
                                             from_end == 2 ? u->rows : u->cols, from_end - 1,
                                             layout, from_end == 2 ? "[:, None]" : "[None, :]");
            ws_py_line(y, "%s = %s%s%s", name, is_zero(x) ? "" : x.s, is_zero(x) ? "" : " + ",
                       index);
            x = ws_term_unknown(name, WS_PREC_ATOM);
        }
        if (!is_zero(x))
            at = ws_py_format(y, "%s + %s", at, scaled(y, x, t->stride[d]));
        const char *in = ws_py_format(y, "(%s >= 0) & (%s < %s)", ws_py_in(y, x, WS_PREC_BIT),
                                      ws_py_in(y, x, WS_PREC_BIT),
                                      ws_py_in(y, ws_py_uniform(y, t->shape[d]), WS_PREC_BIT));
        if (!inside)
            *mask = *mask ? ws_py_format(y, "%s & %s", *mask, in) : in;
    }
    return at;
}

static const char *place(WsPy *y, const WsOp *op)
{
    return ws_py_format(y, "  # at: [%s], [%u, %u]", coordinates(y, op), op->value[0].rows,
                        op->value[0].cols);
}

static void write_global(WsPy *y, const WsOp *op)
{
    const WsValueUse *u = &op->value[0];
    const char *layout = ws_gamd_layout(y, u->value), *mask;
    if (op->limit) {
        ws_py_refuse(y, op, "a write that leaves out rows", "write the whole tile");
        return;
    }
    if (!layout || ws_gamd_is_operand(y, u->value) || op->reduce != WS_REDUCE_NONE) {
        ws_py_refuse(y, op, "a write of an operand, or one that adds", "write an accumulator");
        return;
    }
    const char *at = addresses(y, op, layout, &mask);
    const char *x = converted(y, y->value[u->value], y->agent->value[u->value].dtype,
                              y->p->tensor[op->tensor].dtype);
    const char *where = mask ? ws_py_format(y, ", mask=%s", mask) : "";
    ws_py_line(y, "gl.store(%s, %s%s)%s", at, x, where, place(y, op));
}

static void read_global(WsPy *y, const WsOp *op)
{
    const WsValueUse *u = &op->value[0];
    const char *layout = ws_gamd_layout(y, u->value), *mask;
    if (!layout || ws_gamd(y)->roles.role[u->value].b) {
        ws_py_refuse(y, op, "reading operand b from a tensor", "load it to shared memory");
        return;
    }
    const char *at = addresses(y, op, layout, &mask);
    const char *x = mask ? ws_py_format(y, "gl.load(%s, mask=%s, other=0)", at, mask)
                         : ws_py_format(y, "gl.load(%s)", at);
    ws_py_line(y, "%s = %s%s", y->value[u->value],
               converted(y, x, y->p->tensor[op->tensor].dtype, y->agent->value[u->value].dtype),
               place(y, op));
}

/* --- products ---------------------------------------------------------------------------------*/

static void mfma(WsPy *y, const WsOp *op)
{
    const WsValueUse *sum = &op->value[0], *a = &op->value[1], *b = &op->value[2];
    const char *acc = y->value[sum->value], *left = y->value[a->value];
    gint64 first;
    if (ws_dtype_bytes(op->mma->a_type) == 1) {
        ws_py_refuse(y, op,
                     "a product of 8-bit elements: which of them a lane of mfma_scaled holds",
                     "f16 or bf16");
        return;
    }
    if (!ws_py_whole(y, sum) || !ws_py_whole(y, a) || !ws_py_whole(y, b)) {
        ws_py_refuse(y, op, "a product of parts of values", "values of their own for the parts");
        return;
    }
    if (!ws_term_known(ws_py_truth(y, ws_py_uniform(y, op->mma->first)), &first)) {
        ws_py_refuse(y, op, "a product that begins at 0 in some rounds only",
                     "set its accumulator to 0 before the loop");
        return;
    }
    if (!ws_gamd_is_operand(y, a->value))
        left = ws_py_format(y, "gl.convert_layout(%s, %s)", left,
                            ws_gamd_operand_layout(y, 0, a->value, sum->rows));
    ws_py_line(y, "%s = mfma(%s, %s, %s)", acc, left, y->value[b->value],
               first ? ws_gamd_full(y, sum->value, "0.0") : acc);
}

/* --- waits and borders ------------------------------------------------------------------------*/

static void wait_loads(WsPy *y, const WsOp *op)
{
    ws_py_line(y, "async_copy.wait_group(%" G_GINT64_FORMAT ")", op->n);
}

static gboolean ends(const WsOp *op, const char *suffix)
{
    return op->derived && g_str_has_suffix(op->id, suffix);
}

static gboolean holds_stages(const WsTree *t)
{
    gboolean any = t->stage != NULL;
    for (guint i = 0; i < t->n_kids && !any; i++)
        any = t->kid[i] && holds_stages(t->kid[i]);
    return any;
}

/* Stages end just before these begin: the compiler makes one pipeline of both, where the halves do
 * not meet, whatever barrier stands between (a wait, or work, keeps them apart). */
static gboolean follows_stages(const WsOp *prelude)
{
    const WsTree *list = prelude->tree->parent;
    guint at = 0;
    while (list->kid[at] != prelude->tree)
        at++;
    while (at-- > 0) {
        const WsTree *t = list->kid[at];
        if (t->kind != WS_TREE_OP)
            return holds_stages(t);
        if (ws_op_retires(t->op->kind) || t->op->n_access || t->op->n_value || t->op->n_math ||
            t->op->tensor >= 0)
            return FALSE;
    }
    return FALSE;
}

static void barrier(WsPy *y, const WsOp *op)
{
    if (ends(op, "#prelude") && follows_stages(op)) {
        ws_py_refuse(y, op,
                     "stages just after other stages: the compiler makes one pipeline of both",
                     "a statement between them");
        return;
    }
    if (ends(op, "#prelude") || ends(op, "#last")) {
        ws_py_implied(y, op, "the compiler makes it of the stages");
    } else if (!ends(op, "#border")) {
        ws_py_line(y, "gl.barrier()");
    } else if (op->border == WS_BORDER_LOCAL && op->lowered == WS_BORDER_PLAIN) {
        ws_py_line(y, "# the compiler would wait for no reads of shared memory here");
        ws_py_line(y, "gl.barrier()");
    } else {
        ws_py_implied(y, op, "the compiler makes it of the stages");
    }
}

void ws_gamd_block_around(WsPy *y, const WsTree *t, gboolean begin)
{
    if (t->kind == WS_TREE_LOOP && begin && t->unroll < 0 && holds_stages(t))
        ws_py_refuse(y, NULL,
                     "a loop with stages that is unrolled whole, which has no border at its end",
                     "leave the loop rolled");
    if (!t->stage)
        return;
    if (!begin)
        ws_py_close(y);
    else if (t->priority >= 0)
        ws_py_open(y, "with gl.amd.warp_pipeline_stage(\"%s\", priority=%" G_GINT64_FORMAT ")",
                   t->stage, t->priority);
    else
        ws_py_open(y, "with gl.amd.warp_pipeline_stage(\"%s\")", t->stage);
}

#define PRINT(function)                                                                            \
    {                                                                                              \
        function                                                                                   \
    }
#define IMPLIED(how)                                                                               \
    {                                                                                              \
        NULL, how                                                                                  \
    }
#define FIXED(text)                                                                                \
    {                                                                                              \
        NULL, NULL, text                                                                           \
    }
#define CONTROL                                                                                    \
    {                                                                                              \
        NULL                                                                                       \
    }
static const WsPyRow table[WS_OP_KIND_COUNT] = {
#define WS_GLUON_AMD(id, ...) [WS_OP_##id] = __VA_ARGS__,
#include "codegen/python/gluon/amd/amd.def"
#undef WS_GLUON_AMD
};

void ws_gamd_op(WsPy *y, const WsOp *op)
{
    ws_py_row(y, op, &table[op->kind]);
}
