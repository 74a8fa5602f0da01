#include "import/fit.h"
#include "import/ptx/walk.h"

#include <string.h>

/* Wide registers that are put together of halves, and taken apart: descriptors. */

static gboolean is_small(const WsExpr *e, guint *left)
{
    if (!*left || !--*left)
        return FALSE;
    for (guint i = 0; i < e->n_args; i++)
        if (!is_small(e->arg[i], left))
            return FALSE;
    return TRUE;
}

const Val *ptx_value(PtxWalk *w, const WsExpr *e)
{
    guint left = PTX_MAX_NODES;
    return e && is_small(e, &left) ? py_int(&w->p, e) : py_opaque(&w->p);
}

const WsExpr *ptx_fit(PtxWalk *w, const WsExpr *e)
{
    guint left = PTX_MAX_NODES;
    if (!e || !is_small(e, &left))
        return e;
    const guint nodes = PTX_MAX_NODES - left;
    w->p.budget += nodes * nodes / 8; /* it is computed for many values of its unknown */
    return ws_fit(w->p.r, e);
}

/* mov.b64 or mov.b32 to, {low, high} with a number in the high half. NULL: it is not that. */
const WsExpr *ptx_packed(PtxWalk *w, const WsPtxInst *i)
{
    gint64 high;
    const guint bits = !strcmp(i->op, "mov.b64") ? 32 : !strcmp(i->op, "mov.b32") ? 16 : 0;
    if (!bits || *i->arg[1] != '{')
        return NULL;
    g_autofree char *list = g_strdelimit(g_strdup(i->arg[1]), "{} ", ' ');
    g_auto(GStrv) word = g_strsplit(list, ",", -1);
    if (g_strv_length(word) != 2)
        return NULL;
    const WsExpr *half[2];
    for (guint k = 0; k < 2; k++)
        half[k] =
            ptx_typed(w, bits == 32 ? ".u32" : ".u16",
                      ptx_int(w, g_string_chunk_insert_const(w->p.r->text, g_strstrip(word[k]))));
    return ptx_not_negative(w, half[0]) && ws_x_is(half[1], &high) && high >= 0 &&
                   high < (gint64)1 << (bits - 1)
               ? ws_x_op(w->p.r, WS_EXPR_ADD, half[0], ws_x_int(w->p.r, high << bits))
               : NULL;
}

/* mov.b64 {low, high}, from: what varies fits into the low half. FALSE: it is not that. */
gboolean ptx_unpacked(PtxWalk *w, const WsPtxInst *i)
{
    WsRead *r = w->p.r;
    WsAffine f;
    if (*i->arg[0] != '{')
        return FALSE;
    g_autofree char *list = g_strdelimit(g_strdup(i->arg[0]), "{} ", ' ');
    g_auto(GStrv) word = g_strsplit(list, ",", -1);
    const WsExpr *e = strcmp(i->op, "mov.b64") ? NULL : ptx_int(w, i->arg[1]);
    ptx_forget(w, i->arg[0]);
    if (g_strv_length(word) != 2 || !e || !ws_expr_affine(e, &f))
        return TRUE;
    const gint64 high = f.constant >> 32;
    ws_affine_clear(&f);
    const WsExpr *half[2] = { ws_x_op(r, WS_EXPR_SUB, e, ws_x_int(r, high * ((gint64)1 << 32))),
                              ws_x_int(r, high) };
    for (guint k = 0; k < 2 && high >= 0 && ptx_not_negative(w, half[0]); k++)
        ptx_set(w, g_string_chunk_insert_const(r->text, g_strstrip(word[k])),
                py_int(&w->p, ptx_held(w, ".b32", half[k])));
    return TRUE;
}
