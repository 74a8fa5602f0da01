#include "import/ptx/walk.h"

#include <string.h>

/* Numbers of CTAs, x C + cta in clusters of C, against what is a multiple of C: all CTAs of a
 * cluster find the same. */

/* e = C x + factor cta: x, and the factor. NULL: it is not that. */
static const WsExpr *per_cluster(WsRead *r, const WsExpr *e, gint64 *factor)
{
    const gint64 n = r->cluster;
    WsAffine f;
    *factor = 0;
    if (n < 2 || !e || !ws_expr_affine(e, &f))
        return NULL;
    gboolean good = f.constant % n == 0;
    const WsExpr *x = ws_x_int(r, f.constant / n);
    for (guint i = 0; i < f.n && good; i++) {
        if (f.term[i]->op == WS_EXPR_NAME && !strcmp(f.term[i]->name, "cta")) {
            *factor = f.factor[i];
            continue;
        }
        good = f.factor[i] % n == 0;
        x = ws_x_op(r, WS_EXPR_ADD, x,
                    ws_x_op(r, WS_EXPR_MUL, ws_x_own(r, ws_expr_ref(f.term[i])),
                            ws_x_int(r, f.factor[i] / n)));
    }
    ws_affine_clear(&f);
    return good && *factor ? x : NULL;
}

/* x where e is C x - cta: rounded up in steps of a multiple of C it is the same as C x. */
const WsExpr *ptx_clusters(WsRead *r, const WsExpr *e)
{
    gint64 factor;
    const WsExpr *x = per_cluster(r, e, &factor);
    return x && factor == -1 ? x : NULL;
}

/* a op b as a comparison that says the same in all CTAs of a cluster; NULL: it does not. */
const WsExpr *ptx_cluster_compare(WsRead *r, WsExprOp op, const WsExpr *a, const WsExpr *b)
{
    if (r->cluster < 2 || !a || !b || op == WS_EXPR_EQ || op == WS_EXPR_NE)
        return NULL;
    const WsExpr *e = ws_x_op(r, WS_EXPR_SUB, a, b);
    for (guint way = 0; way < 2; way++) { /* e > 0 is e - 1 >= 0, and so on */
        gint64 factor;
        const WsExpr *x = per_cluster(r, e, &factor);
        const gboolean up = op == WS_EXPR_GE || op == WS_EXPR_LT;
        if (x && factor == (up ? 1 : -1))
            return ws_x_op(r, op, x, ws_x_int(r, 0));
        if (way)
            break;
        const gboolean more = op == WS_EXPR_GE || op == WS_EXPR_LT;
        e = ws_x_op(r, more ? WS_EXPR_ADD : WS_EXPR_SUB, e, ws_x_int(r, 1));
        op = op == WS_EXPR_GT   ? WS_EXPR_GE
             : op == WS_EXPR_LE ? WS_EXPR_LT
             : op == WS_EXPR_GE ? WS_EXPR_GT
                                : WS_EXPR_LE;
    }
    return NULL;
}
