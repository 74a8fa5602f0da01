/* The tiles of a CTA: which ids it takes, and the coordinates of an id (LANGUAGE section 6). */
#include "program/parts/tiles.h"
#include "codegen/nvptx/emit.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"

static void bind(WsEmit *e, gint var, WsUniform u)
{
    if (var >= 0)
        e->var[var] = (WsBinding){ WS_BIND_VALUE, u.v, u.lo, u.hi };
}

/* Extents, number of tiles, and which cluster this is. A cluster takes a tile as a whole. */
void ws_tiles_entry(WsEmit *e)
{
    const WsTiles *t = e->p->tiles;
    LLVMValueRef ctaid = ws_prim0(e, WS_PRIM_CTAID), ctas = ws_prim0(e, WS_PRIM_NCTAID);
    WsUniform cluster = ws_uniform_const(e, e->p->cluster);
    WsUniform id = ws_uniform_value(ctaid, 0, G_MAXINT32);
    WsUniform n = ws_uniform_value(ctas, 1, G_MAXINT32);
    e->cluster_id = ws_uniform_op(e, WS_EXPR_DIV, id, cluster);
    e->n_clusters = ws_uniform_op(e, WS_EXPR_DIV, n, cluster);
    e->cta_rank = ws_uniform_const(e, 0);
    if (e->p->cluster > 1)
        e->cta_rank = ws_uniform_value(ws_prim0(e, WS_PRIM_CLUSTER_RANK), 0, e->p->cluster - 1);
    for (guint i = 0; i < e->p->n_vars; i++) {
        if (e->p->var[i].kind == WS_VAR_CTA)
            bind(e, (gint)i, e->cta_rank);
    }
    e->extent = g_new0(WsUniform, MAX(t->n_axes, 1));
    e->n_tiles = ws_uniform_const(e, 1);
    for (guint i = 0; i < t->n_axes; i++) {
        e->extent[i] = ws_uniform(e, t->axis[i].extent);
        e->n_tiles = ws_uniform_op(e, WS_EXPR_MUL, e->n_tiles, e->extent[i]);
    }
}

/* Takes the fastest axis off `rest`. */
static WsUniform take_axis(WsEmit *e, guint axis, WsUniform *rest, gboolean last)
{
    WsUniform x = *rest, extent = e->extent[axis];
    extent.lo = MAX(extent.lo, 1); /* there is a tile */
    if (!last) {
        x = ws_uniform_op(e, WS_EXPR_MOD, *rest, extent);
        *rest = ws_uniform_op(e, WS_EXPR_DIV, *rest, extent);
    }
    return x;
}

/* The axes that are not in the set `skip`, the last one fastest. */
static void linear(WsEmit *e, WsUniform rest, WsUniform *coord, guint skip)
{
    const WsTiles *t = e->p->tiles;
    guint left = t->n_axes - (guint)__builtin_popcount(skip);
    for (guint i = t->n_axes; i-- > 0;) {
        if (!(skip >> i & 1))
            coord[i] = take_axis(e, i, &rest, --left == 0);
    }
}

/* grouped(x, n): groups of n slowest, then the other axes, x fastest inside its group; the last
 * group is smaller. */
static void grouped(WsEmit *e, WsUniform id, WsUniform *coord)
{
    const WsTiles *t = e->p->tiles;
    guint axis = t->order_axis;
    WsUniform n = t->order_n ? ws_uniform(e, t->order_n) : ws_uniform_const(e, t->order_group);
    WsUniform others = ws_uniform_const(e, 1);
    for (guint i = 0; i < t->n_axes; i++) {
        if (i != axis)
            others = ws_uniform_op(e, WS_EXPR_MUL, others, e->extent[i]);
    }
    WsUniform per = ws_uniform_op(e, WS_EXPR_MUL, others, n);
    per.lo = MAX(per.lo, 1); /* there is a tile */
    WsUniform group = ws_uniform_op(e, WS_EXPR_DIV, id, per);
    WsUniform x0 = ws_uniform_op(e, WS_EXPR_MUL, group, n);
    WsUniform r = ws_uniform_op(e, WS_EXPR_MOD, id, per);
    WsUniform h = ws_uniform_min(e, ws_uniform_op(e, WS_EXPR_SUB, e->extent[axis], x0), n);
    h.lo = 1;
    coord[axis] = ws_uniform_op(e, WS_EXPR_ADD, x0, ws_uniform_op(e, WS_EXPR_MOD, r, h));
    linear(e, ws_uniform_op(e, WS_EXPR_DIV, r, h), coord, 1u << axis);
}

/* hilbert(x, y): the curve over x and y fastest, by the hidden table; then the other axes. */
static void hilbert(WsEmit *e, WsUniform id, WsUniform *coord)
{
    const WsTiles *t = e->p->tiles;
    guint x = t->order_axis, y = t->order_axis2;
    WsUniform cells = ws_uniform_op(e, WS_EXPR_MUL, e->extent[x], e->extent[y]);
    cells.lo = MAX(cells.lo, 1); /* there is a tile */
    WsUniform cell = ws_uniform_op(e, WS_EXPR_MOD, id, cells);
    coord[x] = ws_dynamic_hilbert(e, cell, 0, G_MAXINT32);
    coord[y] = ws_dynamic_hilbert(e, cell, 1, G_MAXINT32);
    if (t->n_axes > 2)
        linear(e, ws_uniform_op(e, WS_EXPR_DIV, id, cells), coord, 1u << x | 1u << y);
}

void ws_tiles_bind(WsEmit *e, LLVMValueRef id)
{
    const WsTiles *t = e->p->tiles;
    WsUniform coord[8], u = ws_uniform_value(id, 0, G_MAXINT32);
    if (t->order == WS_ORDER_HILBERT)
        hilbert(e, u, coord);
    else if (t->order == WS_ORDER_GROUPED)
        grouped(e, u, coord);
    else
        linear(e, u, coord, 0);
    for (guint i = 0; i < t->n_axes; i++) {
        if (t->axis[i].reverse) {
            WsUniform top = ws_uniform_op(e, WS_EXPR_SUB, e->extent[i], ws_uniform_const(e, 1));
            coord[i] = ws_uniform_op(e, WS_EXPR_SUB, top, coord[i]);
        }
        coord[i].lo = 0;
        coord[i].hi = G_MAXINT32;
        bind(e, t->axis[i].var, coord[i]);
    }
    for (guint i = 0; i < e->p->n_vars && !e->error; i++) {
        if (e->p->var[i].kind == WS_VAR_TILE)
            bind(e, (gint)i, ws_uniform(e, e->p->var[i].value));
    }
}

void ws_tiles_unbind(WsEmit *e)
{
    for (guint i = 0; i < e->p->n_vars; i++) {
        if (e->p->var[i].kind == WS_VAR_TILE || e->p->var[i].kind == WS_VAR_AXIS)
            e->var[i].kind = WS_BIND_NONE;
    }
}

/* A single launch has one position, 0, and the whole body is tile scope already. */
static void single(WsEmit *e, const WsTree *t, WsUniform from)
{
    WsUniform zero = ws_uniform_const(e, 0), here = ws_uniform_op(e, WS_EXPR_EQ, from, zero);
    gint64 known;
    if (!ws_uniform_known(&here, &known)) {
        ws_emit_step_error(e, NULL, "a tile loop whose first position is not constant");
        return;
    }
    if (!known)
        return;
    bind(e, t->index_var, zero);
    ws_watch_round(e, t, zero.v);
    ws_control_tree(e, t->kid[0]);
    ws_control_count(e, t);
}

/* Positions from, from + step, …: position i of cluster c is tile c + i*G. */
void ws_tiles_loop(WsEmit *e, const WsTree *t)
{
    WsUniform one = ws_uniform_const(e, 1);
    WsUniform from = t->from ? ws_uniform(e, t->from) : ws_uniform_const(e, 0);
    WsUniform step = t->step_by ? ws_uniform(e, t->step_by) : one;
    if (e->p->tiles->launch == WS_LAUNCH_SINGLE) {
        single(e, t, from);
        return;
    }
    gboolean dynamic = e->p->tiles->launch == WS_LAUNCH_DYNAMIC;
    LLVMValueRef outer = e->next_tile;
    gint64 a, b;
    if (dynamic && (!ws_uniform_known(&from, &a) || !ws_uniform_known(&step, &b) || a || b != 1)) {
        ws_emit_step_error(e, NULL, "a dynamic loop over tiles with from or step");
        return;
    }
    if (dynamic) {
        e->next_tile = ws_cell(e, e->i32, "next");
        LLVMBuildStore(e->b, e->n_tiles.v, e->next_tile);
    }
    WsUniform skip = ws_uniform_op(e, WS_EXPR_MUL, from, e->n_clusters);
    WsUniform first = ws_uniform_op(e, WS_EXPR_ADD, e->cluster_id, skip);
    WsUniform stride = ws_uniform_op(e, WS_EXPR_MUL, step, e->n_clusters);
    g_autofree char *after_name = g_strconcat(t->name, ".after", NULL);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef body = ws_block(e, t->name), after = ws_block(e, after_name);
    LLVMValueRef any = LLVMBuildICmp(e->b, LLVMIntSLT, first.v, e->n_tiles.v, "");
    LLVMBuildCondBr(e->b, any, body, after);
    LLVMPositionBuilderAtEnd(e->b, body);
    LLVMValueRef id = LLVMBuildPhi(e->b, e->i32, "tile.id");
    LLVMValueRef position = LLVMBuildPhi(e->b, e->i32, t->name);
    bind(e, t->index_var, ws_uniform_value(position, from.lo, G_MAXINT32));
    ws_tiles_bind(e, id);
    ws_watch_tile(e, t, id, dynamic ? position : NULL);
    ws_record_tile(e, t, id, position);
    ws_control_tree(e, t->kid[0]);
    ws_control_count(e, t);
    ws_tiles_unbind(e);
    LLVMValueRef next =
        dynamic ? ws_dynamic_next(e) : LLVMBuildAdd(e->b, id, stride.v, "tile.next");
    e->next_tile = outer;
    LLVMValueRef next_position = LLVMBuildAdd(e->b, position, step.v, "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntSLT, next, e->n_tiles.v, "");
    LLVMBuildCondBr(e->b, more, body, after);
    LLVMBasicBlockRef in[2] = { before, latch };
    LLVMAddIncoming(id, (LLVMValueRef[]){ first.v, next }, in, 2);
    LLVMAddIncoming(position, (LLVMValueRef[]){ from.v, next_position }, in, 2);
    LLVMMoveBasicBlockAfter(after, latch);
    LLVMPositionBuilderAtEnd(e->b, after);
    if (t->index_var >= 0)
        e->var[t->index_var].kind = WS_BIND_NONE;
}
