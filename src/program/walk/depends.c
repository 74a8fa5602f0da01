#include "program/walk/depends.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/visit.h"

enum { ANYTHING = WS_DEPENDS_TILE | WS_DEPENDS_ORDER | WS_DEPENDS_DATA | WS_DEPENDS_CTA };

struct WsDepends {
    const WsProgram *p;
    guint *of; /* by variable */
    gboolean more;
};

typedef struct {
    const WsDepends *d;
    guint bits;
} Look;

static void look_at(const WsExpr *e, gpointer data)
{
    Look *look = data;
    const WsProgram *p = look->d->p;
    if (e->op == WS_EXPR_INDEX)
        look->bits |= WS_DEPENDS_DATA;
    if (e->op == WS_EXPR_VAR)
        look->bits |= e->var >= 0 && (guint)e->var < p->n_vars ? look->d->of[e->var] : ANYTHING;
}

guint ws_depends_of(const WsDepends *d, const WsExpr *e)
{
    Look look = { d, 0 };
    if (e)
        ws_expr_visit(e, look_at, &look);
    return look.bits;
}

guint ws_depends_control(const WsDepends *d, const WsTree *t)
{
    if (t->kind == WS_TREE_LOOP && t->over == WS_OVER_COUNT)
        return ws_depends_of(d, t->count);
    return t->kind == WS_TREE_BRANCH ? ws_depends_of(d, t->cond) : 0;
}

static void give(WsDepends *d, gint var, guint bits)
{
    if (var < 0 || (d->of[var] | bits) == d->of[var])
        return;
    d->of[var] |= bits;
    d->more = TRUE;
}

guint ws_depends_around(const WsDepends *d, const WsTree *t)
{
    guint bits = 0;
    for (const WsTree *up = t->parent; up; up = up->parent)
        bits |= ws_depends_control(d, up);
    return bits;
}

/* An index of a round is the same in each tile where its first and its step are; running totals and
 * what counters have been given are as what has come before. A `let` is named where it is set. */
static void of_tree(const WsTree *t, gpointer data)
{
    WsDepends *d = data;
    if (t->kind == WS_TREE_LOOP) {
        const guint place = t->over == WS_OVER_TILES ? WS_DEPENDS_ORDER : 0;
        const guint bits = ws_depends_of(d, t->from) | ws_depends_of(d, t->step_by);
        give(d, t->index_var, place | bits);
        give(d, t->total_var,
             WS_DEPENDS_ORDER | ws_depends_control(d, t) | ws_depends_around(d, t) | bits);
    }
    if (!t->op || t->op->var < 0)
        return;
    const gboolean let = t->op->set && d->p->var[t->op->var].kind == WS_VAR_LET;
    const guint given = t->op->set ? ws_depends_of(d, t->op->set) : WS_DEPENDS_TILE; /* claimed */
    give(d, t->op->var, given | (let ? 0 : WS_DEPENDS_ORDER | ws_depends_around(d, t)));
}

static guint first_of(const WsVar *v)
{
    static const guint bits[] = {
        [WS_VAR_AXIS] = WS_DEPENDS_TILE, [WS_VAR_TILE] = WS_DEPENDS_TILE,
        [WS_VAR_CTA] = WS_DEPENDS_CTA,   [WS_VAR_ROW] = WS_DEPENDS_TILE,
        [WS_VAR_COL] = WS_DEPENDS_TILE, /* the last one */
    };
    return bits[v->kind];
}

WsDepends *ws_depends_new(const WsProgram *p, const gboolean *sizes)
{
    WsDepends *d = g_new0(WsDepends, 1);
    d->p = p;
    d->of = g_new0(guint, p->n_vars + 1);
    for (guint v = 0; v < p->n_vars; v++)
        d->of[v] = first_of(&p->var[v]) | (sizes && sizes[v] ? WS_DEPENDS_SIZES : 0);
    do {
        d->more = FALSE;
        for (guint v = 0; v < p->n_vars; v++)
            give(d, (gint)v, ws_depends_of(d, p->var[v].value));
        for (guint a = 0; a < p->tiles->n_axes; a++)
            give(d, p->tiles->axis[a].var, ws_depends_of(d, p->tiles->axis[a].extent));
        for (guint a = 0; a < p->n_agents; a++)
            ws_tree_each(p->agent[a].body, of_tree, d);
    } while (d->more);
    return d;
}

void ws_depends_free(WsDepends *d)
{
    if (!d)
        return;
    g_free(d->of);
    g_free(d);
}
