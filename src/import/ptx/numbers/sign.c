#include "import/ptx/walk.h"

#include <string.h>

/* The sign of a number, as compilers shift it out: x >> 31 is -1 where x is below 0, of which an
 * unsigned shift makes 2^n - 1. Followed where x is known to be at least -1 (an index less 1, of
 * the round before), as the bit x < 0, which is 0 under a predicate that says x is not. */

static const WsExpr *own(WsRead *r, const WsExpr *e)
{
    return ws_x_own(r, ws_expr_ref((WsExpr *)e));
}

/* x of the bit x < 0; NULL: it is not that. */
static const WsExpr *signed_by(const WsExpr *bit)
{
    gint64 n;
    return bit->op == WS_EXPR_LT && ws_x_is(bit->arg[1], &n) && n == 0 ? bit->arg[0] : NULL;
}

/* -1, 0 of a bit; NULL: it is not that. */
static const WsExpr *minus_bit(WsRead *r, const WsExpr *e)
{
    WsAffine f;
    if (!ws_expr_affine(e, &f))
        return NULL;
    const WsExpr *bit = f.n == 1 && !f.constant && f.factor[0] == -1 && signed_by(f.term[0])
                            ? own(r, f.term[0])
                            : NULL;
    ws_affine_clear(&f);
    return bit;
}

const WsExpr *ptx_sign(PtxWalk *w, const WsPtxInst *i)
{
    WsRead *r = w->p.r;
    gint64 n;
    const gboolean all = !strcmp(i->op, "shr.s32"), high = !strcmp(i->op, "shr.u32");
    if ((!all && !high) || i->n != 3 || !ws_x_is(ptx_int(w, i->arg[2]), &n) || n < 1 || n > 31)
        return NULL;
    const WsExpr *x = ptx_int(w, i->arg[1]), *bit = x ? minus_bit(r, x) : NULL;
    if (bit && high)
        return ws_x_op(r, WS_EXPR_MUL, bit, ws_x_int(r, ((gint64)1 << (32 - n)) - 1));
    if (!x || n != 31 || ws_x_is(x, &n) ||
        !ptx_not_negative(w, ws_x_op(r, WS_EXPR_ADD, x, ws_x_int(r, 1))))
        return NULL;
    bit = ws_x_op(r, WS_EXPR_LT, x, ws_x_int(r, 0));
    return all ? ws_x_op(r, WS_EXPR_NEG, bit, NULL) : bit;
}

gboolean ptx_with_sign(PtxWalk *w, const WsExpr *e)
{
    WsRead *r = w->p.r;
    WsAffine f;
    if (!ws_expr_affine(e, &f))
        return FALSE;
    gboolean good = FALSE;
    for (guint i = 0; i < f.n && !good; i++) {
        const WsExpr *x = f.factor[i] > 0 ? signed_by(f.term[i]) : NULL;
        if (!x || f.n < 2)
            continue;
        const WsExpr *bits = ws_x_op(r, WS_EXPR_MUL, own(r, f.term[i]), ws_x_int(r, f.factor[i])),
                     *rest = ws_x_op(r, WS_EXPR_SUB, e, bits);
        rest = ws_x_op(r, WS_EXPR_SUB, rest, own(r, x));
        good = ptx_not_negative(w, rest) &&
               ptx_not_negative(w, ws_x_op(r, WS_EXPR_ADD, own(r, x), ws_x_int(r, 1)));
    }
    ws_affine_clear(&f);
    return good;
}

/* e with the bits that are 0 here left out. */
static const WsExpr *settle(PtxWalk *w, const WsExpr *e, guint depth)
{
    WsRead *r = w->p.r;
    gint64 n;
    const WsExpr *x = signed_by(e);
    if (x)
        return ptx_not_negative(w, x) ? ws_x_int(r, 0) : e;
    const gboolean walks = e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB || e->op == WS_EXPR_MUL ||
                           e->op == WS_EXPR_MOD || e->op == WS_EXPR_DIV;
    if (!walks || depth > 32)
        return e;
    const WsExpr *a = settle(w, own(r, e->arg[0]), depth + 1),
                 *b = settle(w, own(r, e->arg[1]), depth + 1);
    if (a == e->arg[0] && b == e->arg[1])
        return e;
    return e->op == WS_EXPR_MOD && ws_x_is(b, &n) ? ws_x_mod(r, a, n) : ws_x_op(r, e->op, a, b);
}

const WsExpr *ptx_under(PtxWalk *w, const WsExpr *e, const WsExpr *guard)
{
    const guint known = w->least->len;
    if (!e || !guard)
        return e;
    ptx_path(w, guard, TRUE);
    const WsExpr *is = settle(w, e, 0);
    g_ptr_array_set_size(w->least, (gint)known);
    return is ? is : e;
}
