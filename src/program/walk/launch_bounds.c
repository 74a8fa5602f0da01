/* Between which numbers a launch is one: what launchers ask beside what 32 bits hold. */
#include "expr/expr.h"
#include "program/parts/mesh.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_asked.h"
#include "program/walk/launchable.h"
#include "program/walk/reach_private.h"

typedef struct {
    WsReach r;
    GPtrArray *asked; /* WsExpr, owned */
} Bounds;

static void ask(Bounds *b, WsExprOp op, const WsExpr *e, gint64 bound)
{
    g_autoptr(WsExpr) condition = ws_expr_op(op, ws_expr_ref(e), ws_expr_int(bound));
    for (guint i = 0; i < b->asked->len; i++)
        if (ws_expr_equal(b->asked->pdata[i], condition))
            return;
    g_ptr_array_add(b->asked, g_steal_pointer(&condition));
}

/* Asked where sizes that launches may have do not say so already. */
static void between(Bounds *b, const WsExpr *e, gint64 least, gint64 most)
{
    if (!e || !ws_reach_of_launch(&b->r, e))
        return;
    const WsReachRange x = ws_reach_of(&b->r, e);
    if (x.lo < least)
        ask(b, WS_EXPR_GE, e, least);
    if (x.hi > most)
        ask(b, WS_EXPR_LE, e, most);
}

/* That the tiles are at most 2^31-1 is asked with what 32 bits hold; a CTA is one of a cluster's.
 * An axis of a negative extent has no tiles. */
static void ctas_of_tiles(Bounds *b, const WsProgram *p)
{
    g_autoptr(WsExpr) all = NULL;
    if (p->tiles->launch != WS_LAUNCH_SINGLE || p->cluster < 2)
        return;
    for (guint a = 0; a < p->tiles->n_axes; a++) {
        WsExpr *extent = ws_expr_ref(p->tiles->axis[a].extent);
        if (ws_reach_of(&b->r, extent).lo < 0) {
            WsExpr *arg[] = { extent, ws_expr_int(0) };
            extent = ws_expr_call(WS_FUNC_MAX, arg, G_N_ELEMENTS(arg));
        }
        all = all ? ws_expr_op(WS_EXPR_MUL, all, extent) : extent;
    }
    between(b, all, 0, G_MAXINT32 / p->cluster);
}

GPtrArray *ws_launch_bounds(const WsProgram *p)
{
    gint64 most;
    g_autoptr(GPtrArray) wide = ws_reach_launch(p, &most);
    Bounds b = { .asked = g_ptr_array_new_with_free_func((GDestroyNotify)ws_expr_unref) };
    ws_reach_begin(&b.r, p, most);
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_RUN && !p->var[i].real && p->var[i].value) {
            g_autoptr(WsExpr) name = ws_expr_var((gint)i, p->var[i].name);
            between(&b, name, -WS_REACH_FAR, WS_REACH_SIZE_MOST); /* above, 32 bits are asked */
        }
    for (guint t = 0; t < p->n_tensors; t++)
        for (guint d = 0; d < p->tensor[t].rank; d++)
            between(&b, p->tensor[t].shape[d], 0, G_MAXINT64);
    between(&b, p->tiles->grid, MAX(p->cluster, 1), G_MAXINT32);
    ctas_of_tiles(&b, p);
    for (guint f = 0; p->mesh && f < p->mesh->n_flags; f++) {
        between(&b, p->mesh->flag[f].array, 1, WS_LAUNCH_FLAGS_MOST);
        between(&b, p->mesh->flag[f].per_launch, 0, G_MAXINT32);
    }
    ws_reach_end(&b.r);
    return b.asked;
}
