/* f16 of a product of an 8-bit float and an f16 of its row: two elements at once. Both are exact in
 * f16 and their product in f32, so that the one rounding of the instruction is that of the
 * conversion. */
#include "codegen/nvptx/math_node.h"
#include "program/parts/agent.h"
#include "program/parts/dtype.h"

gboolean ws_math_half(WsMath *m, const WsArray *a, const WsFragment *f)
{
    WsEmit *e = m->e;
    const WsAgent *agent = e->agent;
    guint tile;
    WsFragment x, s;
    if (f->shape != WS_FRAGMENT_TILE || !ws_array_half(agent, a, f->value, &tile))
        return FALSE;
    const guint by = a->arg[a->arg[0]->index == tile ? 1 : 0]->index;
    WsValueUse use = { .value = tile, .rows = f->v->rows, .cols = f->v->cols };
    WsValueUse scale = { .value = by, .rows = f->v->rows, .cols = 1 };
    if (!ws_fragment(e, &use, &x) || x.shape != WS_FRAGMENT_TILE || x.n != f->n ||
        !ws_fragment(e, &scale, &s) || s.shape != WS_FRAGMENT_ROWS)
        return FALSE;
    for (guint i = 0; i < f->n; i += 2) {
        const WsElement to = ws_fragment_element(f, i), from = ws_fragment_element(&x, i);
        const guint row = to.row / 64 * 2 + to.row / 8 % 2;
        LLVMValueRef two = ws_reg_get(e, tile, from.reg);
        if (from.part)
            two = LLVMBuildLShr(e->b, two, ws_i32(e, 16), "");
        LLVMValueRef each = ws_reg_get(e, by, ws_fragment_element(&s, row).reg);
        each = ws_prim(e, WS_PRIM_PRMT, each, ws_i32(e, 0), ws_i32(e, 0x1010));
        two = ws_widen_pair(e, x.v->dtype, two);
        ws_reg_set(e, f->value, to.reg, ws_prim(e, WS_PRIM_MUL_F16X2_HERE, two, each));
    }
    return TRUE;
}
