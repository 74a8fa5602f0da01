/* Tiles whose columns nobody tells apart: 8-bit floats that are read from shared memory, multiplied
 * by an f16 of their row and written back as f16 (math_half.c). Which columns a lane holds is then
 * free. In accumulator layout it holds columns 2q, 2q + 1 of every 8, two bytes that are read at a
 * time; here 4q to 4q + 3 of every 16, read as one word and written as two. Odd rows hold the block
 * of 16 two further or before, so that lanes of a store meet in no bank. The rows are those of the
 * accumulator layout: what a warp touches is the same. */
#include "codegen/facts.h"
#include "codegen/nvptx/fragment.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/value.h"
#include "program/program.h"

#define BLOCK 16 /* columns of which a lane holds four */
#define SPAN  64 /* columns of whole blocks and their neighbours: 128 bytes of f16 */

static gboolean is_tile(const WsRegValue *v)
{
    const gboolean wide = v->dtype == WS_DTYPE_F16;
    return v->layout == WS_LAYOUT_ACCUMULATOR && v->rows % 64 == 0 && v->cols % SPAN == 0 &&
           (wide || v->dtype == WS_DTYPE_E4M3 || v->dtype == WS_DTYPE_E5M2);
}

static guint root(const WsProgram *p, guint buffer)
{
    while (p->buffer[buffer].over >= 0)
        buffer = (guint)p->buffer[buffer].over;
    return buffer;
}

/* The first columns and rows of 128 bytes and 8 rows, of the value as it stands. */
static gboolean moves_whole(const WsProgram *p, const WsAgent *agent, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsBuffer *b = &p->buffer[a->buffer];
    const WsRegValue *v = &agent->value[op->value[0].value];
    gint64 row = 0, col = 0;
    const WsValueUse *u = &op->value[0];
    if ((u->row0 && (!ws_expr_is_int(u->row0, &row) || row)) ||
        (u->col0 && (!ws_expr_is_int(u->col0, &col) || col)) || u->rows != v->rows ||
        u->cols != v->cols)
        return FALSE;
    return (!a->row0 || ws_expr_is_int(a->row0, &row)) && row % 8 == 0 &&
           (!a->col0 || ws_expr_is_int(a->col0, &col)) && col % SPAN == 0 && row >= 0 && col >= 0 &&
           b->rank == 2 && b->swizzle == 128 && !a->transposed && b->dtype == v->dtype &&
           !b->k_permuted;
}

/* The statement that math_half.c takes, of such tiles. */
static gboolean multiplies(const WsAgent *agent, const gboolean *free, const WsAssign *s)
{
    guint tile;
    return s->value >= 0 && free[s->value] &&
           ws_array_half(agent, s->array, (guint)s->value, &tile) && free[tile];
}

typedef struct {
    const WsProgram *p;
    const WsAgent *agent;
    gboolean *free; /* [n_values] */
    gboolean changed;
} Search;

static void bar(Search *s, guint value)
{
    s->changed |= s->free[value];
    s->free[value] = FALSE;
}

static void bar_mentioned(const WsArray *node, gpointer data)
{
    if (node->form == WS_ARRAY_VALUE)
        bar(data, node->index);
}

static void math(Search *s, const WsOp *op)
{
    for (guint i = 0; i < op->n_math; i++) {
        const WsAssign *x = &op->assign[i];
        if (multiplies(s->agent, s->free, x))
            continue;
        if (x->value >= 0)
            bar(s, (guint)x->value);
        if (x->array)
            ws_array_visit(x->array, bar_mentioned, s);
    }
    if (op->unless) {
        ws_array_visit(op->unless, bar_mentioned, s);
        for (guint i = 0; i < op->n_math; i++) {
            if (op->assign[i].value >= 0)
                bar(s, (guint)op->assign[i].value);
        }
    }
}

/* What is lowered here: bytes of an element of the tiles that it moves. */
static const guint8 moved[WS_OP_KIND_COUNT] = { [WS_OP_LD_SHARED] = 1, [WS_OP_STMATRIX] = 2 };

/* Whether it moves one free tile, in the direction of its type. */
static gboolean moves(const Search *s, const WsOp *op)
{
    if (op->n_value != 1 || op->n_access != 1 || !s->free[op->value[0].value] ||
        !moves_whole(s->p, s->agent, op))
        return FALSE;
    return moved[op->kind] == ws_dtype_bytes(s->agent->value[op->value[0].value].dtype);
}

/* Lanes that read or write the same bytes in another way rely on which lane has which: those of a
 * free tile may not meet them without a barrier that the check asks for. */
static void meets(Search *s, const WsOp *op)
{
    for (guint i = 0; i < s->p->n_ops; i++) {
        const WsOp *x = s->p->op[i];
        if (x->agent != op->agent || !moves(s, x))
            continue;
        for (guint k = 0; k < op->n_access; k++) {
            if (root(s->p, op->access[k].buffer) == root(s->p, x->access[0].buffer))
                bar(s, x->value[0].value);
        }
    }
}

static void see(Search *s, const WsOp *op)
{
    if (op->n_math) {
        math(s, op);
        return;
    }
    if (moves(s, op))
        return;
    for (guint k = 0; k < op->n_value; k++)
        bar(s, op->value[k].value);
    for (guint k = 0; k < op->n_raw; k++) {
        for (guint v = 0; v < s->agent->n_values; v++)
            bar(s, v);
    }
    if (op->n_value || ws_op_is_raw(op->kind) ||
        (op->proxy == WS_PROXY_GENERIC && !ws_op_issues(op->kind, WS_QUEUE_ROWS)))
        meets(s, op);
}

gboolean *ws_quads(const WsProgram *p, const WsAgent *agent)
{
    Search s = { p, agent, g_new0(gboolean, MAX(agent->n_values, 1)), TRUE };
    for (guint v = 0; v < agent->n_values; v++)
        s.free[v] = is_tile(&agent->value[v]);
    while (s.changed) {
        s.changed = FALSE;
        for (guint i = 0; i < p->n_ops; i++) {
            const WsOp *op = p->op[i];
            if (op->agent >= 0 && &p->agent[op->agent] == agent)
                see(&s, op);
        }
    }
    return s.free;
}

/* --- moves ------------------------------------------------------------------------------------*/

/* The lane's first word in the stage, and what flips where it goes on to another block. */
static LLVMValueRef first_word(WsEmit *e, const WsOp *op, const WsFragment *f)
{
    const WsAccess *a = &op->access[0];
    const WsBuffer *b = &e->p->buffer[a->buffer];
    const guint bytes = ws_dtype_bytes(b->dtype);
    LLVMValueRef odd = LLVMBuildAnd(e->b, f->row, ws_i32(e, 1), "");
    LLVMValueRef at = LLVMBuildMul(e->b, f->row, ws_i32(e, b->row_bytes), "");
    at = LLVMBuildAdd(e->b, at, LLVMBuildMul(e->b, f->col, ws_i32(e, 2 * bytes), ""), "");
    at = LLVMBuildAdd(e->b, at, LLVMBuildMul(e->b, odd, ws_i32(e, 2 * BLOCK * bytes), ""), "");
    return LLVMBuildAdd(e->b, ws_stage_address(e, a), ws_swizzled(e, b, at), "");
}

static LLVMValueRef word_at(WsEmit *e, const WsOp *op, LLVMValueRef first, guint row, guint col)
{
    const WsAccess *a = &op->access[0];
    const WsBuffer *b = &e->p->buffer[a->buffer];
    gint64 row0 = 0, col0 = 0;
    if (a->row0)
        ws_expr_is_int(a->row0, &row0);
    if (a->col0)
        ws_expr_is_int(a->col0, &col0);
    const gint64 c = col0 + col, inside = c % b->chunk_cols * ws_dtype_bytes(b->dtype);
    if (inside)
        first = LLVMBuildXor(e->b, first, ws_i32(e, inside), "");
    return ws_add(e, first, c / b->chunk_cols * b->chunk_bytes + (row0 + row) * b->row_bytes);
}

void ws_quads_move(WsEmit *e, const WsOp *op)
{
    WsFragment f;
    if (!ws_fragment(e, &op->value[0], &f)) {
        ws_emit_step_error(e, op, "a tile of this form");
        return;
    }
    const gboolean wide = f.v->dtype == WS_DTYPE_F16;
    LLVMValueRef first = first_word(e, op, &f);
    for (guint row = 0; row < f.rows; row += row % 16 ? 56 : 8) { /* r and r + 8 of every 64 */
        for (guint col = 0; col < f.cols; col += BLOCK) {
            const guint i = row / 64 * (f.cols / 2) + col / 2 + (row % 64 ? 2 : 0);
            const guint reg = ws_fragment_element(&f, i).reg;
            LLVMValueRef at = word_at(e, op, first, row, col);
            if (wide)
                ws_prim(e, WS_PRIM_ST_SHARED_V2, at, ws_reg_get(e, f.value, reg),
                        ws_reg_get(e, f.value, ws_fragment_element(&f, i + 4).reg));
            else
                ws_reg_set(e, f.value, reg, ws_prim(e, WS_PRIM_LD_SHARED, at));
        }
    }
}
