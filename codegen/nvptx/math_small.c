/* bf16 of small integers that come from bytes: two elements at once. 128 + x for x of 0 to 127 is
 * 0x4300 | x as bf16, so that no conversion is needed: bytes are spread to 16 bits each, masked and
 * shifted there, set under 0x4300, and 128 is subtracted, exactly. */
#include "codegen/nvptx/math_node.h"
#include "program/parts/agent.h"
#include "program/parts/dtype.h"

#include <string.h>

/* (byte >> shift & mask) + plus */
typedef struct {
    guint value; /* the bytes it comes from */
    guint mask;  /* of a lane, after the shift */
    guint shift; /* to the right, of the byte */
    gint64 plus;
} Small;

static gboolean literal(const WsArray *a, gint64 lo, gint64 hi, gint64 *n)
{
    if (a->form != WS_ARRAY_UNIFORM || a->x->op != WS_EXPR_INT || a->x->i < lo || a->x->i > hi)
        return FALSE;
    *n = a->x->i;
    return TRUE;
}

/* i32(a byte), a mask or a shift of that, and numbers added to it at the end. */
static gboolean small(const WsAgent *agent, const WsArray *a, Small *s)
{
    gint64 n;
    if (a->form == WS_ARRAY_VALUE && agent->value[a->index].dtype == WS_DTYPE_U8) {
        *s = (Small){ .value = a->index, .mask = 255 };
        return TRUE;
    }
    if (a->form != WS_ARRAY_OPERATION || a->n_arg == 0 || !small(agent, a->arg[0], s))
        return FALSE;
    if (a->x->op == WS_EXPR_CALL && a->x->func == WS_FUNC_I32)
        return TRUE;
    if (a->n_arg != 2)
        return FALSE;
    if (a->x->op == WS_EXPR_ADD || a->x->op == WS_EXPR_SUB) {
        if (!literal(a->arg[1], -128, 128, &n))
            return FALSE;
        s->plus += a->x->op == WS_EXPR_ADD ? n : -n;
        return TRUE;
    }
    if (a->x->op != WS_EXPR_CALL || s->plus != 0)
        return FALSE;
    if (a->x->func == WS_FUNC_BITAND && literal(a->arg[1], 0, 255, &n)) {
        s->mask &= (guint)n;
        return TRUE;
    }
    if (a->x->func == WS_FUNC_SHR && literal(a->arg[1], 0, 7, &n) &&
        s->shift + (guint)n < 8) { /* all bits of a byte are gone by then */
        s->shift += (guint)n;
        s->mask >>= n;
        return TRUE;
    }
    return FALSE;
}

static LLVMValueRef both(WsEmit *e, guint half)
{
    return ws_i32(e, (gint64)half << 16 | half);
}

gboolean ws_math_small(WsMath *m, const WsArray *a, const WsFragment *f)
{
    WsEmit *e = m->e;
    Small s;
    WsFragment from;
    if (f->v->dtype != WS_DTYPE_BF16 || f->shape != WS_FRAGMENT_TILE || !small(e->agent, a, &s) ||
        s.mask > 127 || s.plus > 0 || s.plus < -128 || s.value == f->value)
        return FALSE;
    const WsRegValue *v = &e->agent->value[s.value];
    WsValueUse use = { .value = s.value, .rows = v->rows, .cols = v->cols };
    if (!ws_fragment(e, &use, &from) || from.shape != WS_FRAGMENT_TILE || from.n != f->n)
        return FALSE;
    /* 128 - plus is at most 256, and has 8 bits or is even */
    const float less = (float)(128 - s.plus);
    guint32 word;
    memcpy(&word, &less, sizeof word);
    for (guint i = 0; i < f->n; i += 2) {
        const WsElement to = ws_fragment_element(f, i), byte = ws_fragment_element(&from, i);
        LLVMValueRef x = ws_reg_get(e, s.value, byte.reg);
        x = ws_prim(e, WS_PRIM_PRMT, x, ws_i32(e, 0), ws_i32(e, byte.part ? 0x4342 : 0x4140));
        if (s.shift)
            x = LLVMBuildLShr(e->b, x, ws_i32(e, s.shift), "");
        x = LLVMBuildOr(e->b, LLVMBuildAnd(e->b, x, both(e, s.mask), ""), both(e, 0x4300), "");
        ws_reg_set(e, f->value, to.reg,
                   ws_prim(e, WS_PRIM_SUB_BF16X2_HERE, x, both(e, word >> 16)));
    }
    return TRUE;
}
