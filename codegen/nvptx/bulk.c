/* TMA: a tile is one box or several (box <= one swizzle span wide, <= 256 rows). */
#include "codegen/facts.h"
#include "codegen/nvptx/emit.h"
#include "program/parts/access.h"
#include "program/parts/tensor.h"
#include "program/program.h"

LLVMValueRef ws_bulk_policy(WsEmit *e, WsHint hint)
{
    static const guint64 bits[] = {
        [WS_HINT_EVICT_FIRST] = 0x12F0000000000000u,
        [WS_HINT_EVICT_NORMAL] = 0x1000000000000000u,
        [WS_HINT_EVICT_LAST] = 0x14F0000000000000u,
    };
    return LLVMConstInt(e->i64, bits[hint], 0);
}

void ws_bulk_boxes(WsEmit *e, const WsOp *op, LLVMValueRef bar, WsBoxFn f)
{
    const WsTensorMap *map = &e->p->map[op->map];
    const WsAccess *a = &op->access[0];
    guint wide = map->box[0], high = map->rank > 1 && a->rows > 1 ? map->box[1] : 1;
    if (a->transposed || !wide || !high || a->cols % wide || a->rows % high ||
        op->n_coord != map->rank) {
        ws_emit_internal_error(e, "view %ux%u, rank %u does not fit boxes of %ux%u, rank %u",
                               a->rows, a->cols, op->n_coord, high, wide, map->rank);
        return;
    }
    LLVMValueRef stage = ws_stage_address(e, a), base[WS_MAX_RANK], c[WS_MAX_RANK];
    for (guint i = 0; i < map->rank; i++)
        base[i] = ws_uniform_i32(e, op->coord[map->rank - 1 - i]);
    for (guint col = 0; col < a->cols; col += wide) {
        for (guint row = 0; row < a->rows; row += high) {
            for (guint i = 0; i < map->rank; i++)
                c[i] = base[i];
            c[0] = ws_add(e, base[0], col);
            if (map->rank > 1)
                c[1] = ws_add(e, base[1], row);
            LLVMValueRef at = LLVMBuildAdd(e->b, stage, ws_view_offset(e, a, row, col), "");
            f(e, op, at, c, map->rank, bar);
        }
    }
}

static void load_box(WsEmit *e, const WsOp *op, LLVMValueRef at, LLVMValueRef *c, guint rank,
                     LLVMValueRef bar)
{
    static const WsPrim prim[4][WS_MAX_RANK] = {
        { WS_PRIM_TMA_LOAD_1D, WS_PRIM_TMA_LOAD_2D, WS_PRIM_TMA_LOAD_3D, WS_PRIM_TMA_LOAD_4D,
          WS_PRIM_TMA_LOAD_5D },
        { WS_PRIM_TMA_LOAD_1D_HINT, WS_PRIM_TMA_LOAD_2D_HINT, WS_PRIM_TMA_LOAD_3D_HINT,
          WS_PRIM_TMA_LOAD_4D_HINT, WS_PRIM_TMA_LOAD_5D_HINT },
        { WS_PRIM_TMA_LOAD_1D_MULTI, WS_PRIM_TMA_LOAD_2D_MULTI, WS_PRIM_TMA_LOAD_3D_MULTI,
          WS_PRIM_TMA_LOAD_4D_MULTI, WS_PRIM_TMA_LOAD_5D_MULTI },
        { WS_PRIM_TMA_LOAD_1D_MULTI_HINT, WS_PRIM_TMA_LOAD_2D_MULTI_HINT,
          WS_PRIM_TMA_LOAD_3D_MULTI_HINT, WS_PRIM_TMA_LOAD_4D_MULTI_HINT,
          WS_PRIM_TMA_LOAD_5D_MULTI_HINT },
    };
    guint mask = ws_fact_receivers(e->p, op), n = 0;
    LLVMValueRef arg[10] = { at, e->map[op->map], bar };
    if (e->host) {
        arg[3] = ws_i32(e, rank);
        for (guint i = 0; i < WS_MAX_RANK; i++)
            arg[4 + i] = i < rank ? c[i] : ws_i32(e, 0);
        arg[9] = ws_i32(e, mask);
        ws_prim_call(e, WS_PRIM_HOST_TMA_LOAD, 10, arg, 0, NULL);
        return;
    }
    n = 3;
    for (guint i = 0; i < rank; i++)
        arg[n++] = c[i];
    if (mask)
        arg[n++] = LLVMConstInt(e->i16, mask, 0);
    if (op->hint)
        arg[n++] = ws_bulk_policy(e, op->hint);
    ws_prim_call(e, prim[(mask ? 2 : 0) + (op->hint ? 1 : 0)][rank - 1], n, arg, 0, NULL);
}

void ws_bulk_load(WsEmit *e, const WsOp *op)
{
    if (op->map < 0 || op->barrier < 0 || op->ctas.kind == WS_CTAS_EXPR) {
        ws_emit_step_error(e, op, "a load without tensor map or barrier");
        return;
    }
    ws_bulk_boxes(e, op, ws_barrier_address(e, op), load_box);
}

WsPrim ws_bulk_store_prim(WsReduce reduce, guint rank)
{
#define WS_ROW(kind)                                                                               \
    {                                                                                              \
        WS_PRIM_TMA_##kind##_1D, WS_PRIM_TMA_##kind##_2D, WS_PRIM_TMA_##kind##_3D,                 \
            WS_PRIM_TMA_##kind##_4D, WS_PRIM_TMA_##kind##_5D                                       \
    }
    static const WsPrim prim[][WS_MAX_RANK] = { [WS_REDUCE_NONE] = WS_ROW(STORE),
                                                [WS_REDUCE_ADD] = WS_ROW(ADD),
                                                [WS_REDUCE_MIN] = WS_ROW(MIN),
                                                [WS_REDUCE_MAX] = WS_ROW(MAX) };
#undef WS_ROW
    return prim[reduce][rank - 1];
}

static void store_box(WsEmit *e, const WsOp *op, LLVMValueRef at, LLVMValueRef *c, guint rank,
                      LLVMValueRef bar)
{
    static const WsPrim hinted[] = { WS_PRIM_TMA_STORE_1D_HINT, WS_PRIM_TMA_STORE_2D_HINT,
                                     WS_PRIM_TMA_STORE_3D_HINT, WS_PRIM_TMA_STORE_4D_HINT,
                                     WS_PRIM_TMA_STORE_5D_HINT };
    LLVMValueRef arg[9] = { at, e->map[op->map] };
    if (e->host) {
        arg[2] = ws_i32(e, rank);
        for (guint i = 0; i < WS_MAX_RANK; i++)
            arg[3 + i] = i < rank ? c[i] : ws_i32(e, 0);
        arg[8] = ws_i32(e, op->reduce);
        ws_prim_call(e, WS_PRIM_HOST_TMA_STORE, 9, arg, 0, NULL);
        return;
    }
    guint n = 2;
    for (guint i = 0; i < rank; i++)
        arg[n++] = c[i];
    gboolean hint = op->hint && op->reduce == WS_REDUCE_NONE; /* a hint is only advice */
    if (hint)
        arg[n++] = ws_bulk_policy(e, op->hint);
    ws_prim_call(e, hint ? hinted[rank - 1] : ws_bulk_store_prim(op->reduce, rank), n, arg, 0,
                 NULL);
}

void ws_bulk_store(WsEmit *e, const WsOp *op)
{
    if (op->map < 0) {
        ws_emit_step_error(e, op, "a store without tensor map");
        return;
    }
    ws_bulk_boxes(e, op, NULL, store_box);
}

void ws_bulk_wait(WsEmit *e, const WsOp *op)
{
    ws_prim_call(e, op->full ? WS_PRIM_BULK_WAIT : WS_PRIM_BULK_WAIT_READ, 0, NULL, 1,
                 (guint32[]){ (guint32)op->n });
}

void ws_bulk_prefetch(WsEmit *e, const WsOp *op)
{
#define WS_ROW(n)                                                                                  \
    {                                                                                              \
        WS_PRIM_TMA_PREFETCH_##n, WS_PRIM_TMA_PREFETCH_##n##_HINT                                  \
    }
    static const WsPrim prim[WS_MAX_RANK][2] = { WS_ROW(1D), WS_ROW(2D), WS_ROW(3D), WS_ROW(4D),
                                                 WS_ROW(5D) };
#undef WS_ROW
    if (op->map < 0 || op->n_coord != e->p->map[op->map].rank) {
        ws_emit_step_error(e, op, "a prefetch without tensor map");
        return;
    }
    if (e->host) { /* moves nothing that can be seen */
        ws_prim(e, WS_PRIM_HOST_TMA_PREFETCH, e->map[op->map]);
        return;
    }
    LLVMValueRef arg[WS_MAX_RANK + 2] = { e->map[op->map] };
    guint n = 1;
    for (guint i = 0; i < op->n_coord; i++)
        arg[n++] = ws_uniform_i32(e, op->coord[op->n_coord - 1 - i]);
    if (op->hint)
        arg[n++] = ws_bulk_policy(e, op->hint);
    ws_prim_call(e, prim[op->n_coord - 1][op->hint != 0], n, arg, 0, NULL);
}

void ws_bulk_prefetch_map(WsEmit *e, const WsOp *op)
{
    if (op->map >= 0)
        ws_prim(e, WS_PRIM_PREFETCH_MAP, e->map[op->map]);
}
