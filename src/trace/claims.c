/* Which tiles CTAs claimed, in launches that claim them. */
#include "program/parts/agent.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "trace/trace.h"

void ws_trace_add_claim(WsTrace *t, guint cta, gint32 tile)
{
    const WsTraceClaim claim = { cta, tile };
    g_return_if_fail(!t->claimed->len ||
                     g_array_index(t->claimed, WsTraceClaim, t->claimed->len - 1).cta <= cta);
    g_array_append_val(t->claimed, claim);
}

const WsTraceClaim *ws_trace_claims(const WsTrace *t, guint cta, guint *n)
{
    const WsTraceClaim *list = (const WsTraceClaim *)(gpointer)t->claimed->data;
    guint lo = 0, hi = t->claimed->len;
    while (lo < hi) {
        const guint mid = lo + (hi - lo) / 2;
        if (list[mid].cta < cta)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (hi = lo; hi < t->claimed->len && list[hi].cta == cta;)
        hi++;
    *n = hi - lo;
    return *n ? list + lo : NULL;
}

gint64 ws_trace_claim_at(gpointer claims, gint64 position)
{
    const WsTraceClaims *c = claims;
    return position >= 0 && position < c->n ? c->claim[position].tile : -1;
}

gboolean ws_trace_knows_claims(const WsTrace *t)
{
    return t->claimed->len > 0;
}

gboolean ws_trace_same_claims(const WsTrace *a, guint cta_a, const WsTrace *b, guint cta_b)
{
    guint n, m;
    const WsTraceClaim *x = ws_trace_claims(a, cta_a, &n), *y = ws_trace_claims(b, cta_b, &m);
    if (ws_trace_knows_claims(a) != ws_trace_knows_claims(b))
        return FALSE;
    for (guint i = 0; i < MIN(n, m); i++)
        if (x[i].tile != y[i].tile)
            return FALSE;
    return TRUE;
}

void ws_trace_append(WsTrace *t, const WsTrace *other)
{
    const guint first = t->cta->len;
    g_array_set_size(t->begin, 0); /* other launches began at other times */
    g_array_append_vals(t->cta, other->cta->data, other->cta->len);
    for (guint i = 0; i < other->claimed->len; i++) {
        const WsTraceClaim *c = &g_array_index(other->claimed, WsTraceClaim, i);
        ws_trace_add_claim(t, first + c->cta, c->tile);
    }
    for (guint i = 0; i < other->record->len; i++) {
        WsTraceRecord r = other->record->data[i];
        r.cta = (guint16)(first + r.cta);
        ws_trace_add(t, &r);
    }
}

gint64 ws_trace_begin(const WsTrace *t, guint cta)
{
    return cta < t->begin->len ? g_array_index(t->begin, gint64, cta) : -1;
}

/* --- rounds that depend on the tile ----------------------------------------------------------- */

typedef struct {
    const WsProgram *p;
    gboolean tile; /* the expression may depend on the tile */
} Look;

static void look_at(const WsExpr *e, gpointer data)
{
    Look *look = data;
    if (e->op != WS_EXPR_VAR || e->var < 0 || (guint)e->var >= look->p->n_vars)
        return;
    const WsVar *v = &look->p->var[e->var];
    static const gboolean same_for_all[] = {
        [WS_VAR_SIZE] = TRUE, [WS_VAR_SCALAR] = TRUE, [WS_VAR_RUN] = TRUE,
        [WS_VAR_CTA] = TRUE,  [WS_VAR_COL] = FALSE, /* the last one */
    };
    if (v->kind == WS_VAR_TILE && v->value) /* of what it is made of */
        ws_expr_visit(v->value, look_at, look);
    else
        look->tile |= !same_for_all[v->kind];
}

static gboolean of_tile(const WsProgram *p, const WsExpr *e)
{
    Look look = { p, FALSE };
    if (e)
        ws_expr_visit(e, look_at, &look);
    return look.tile;
}

static gboolean differs(const WsProgram *p, const WsTree *t)
{
    gboolean any = FALSE;
    if (t->kind == WS_TREE_LOOP && t->over != WS_OVER_TILES)
        any = of_tile(p, t->count);
    for (guint i = 0; i < t->n_kids && !any; i++)
        any = t->kid[i] && differs(p, t->kid[i]);
    return any;
}

static gboolean uneven(const WsProgram *p)
{
    if (p->tiles->launch != WS_LAUNCH_DYNAMIC)
        return FALSE;
    for (guint i = 0; i < p->n_agents; i++)
        if (p->agent[i].body && differs(p, p->agent[i].body))
            return TRUE;
    return FALSE;
}

gboolean ws_trace_rounds_unknown(const WsProgram *p, const WsTrace *t)
{
    return t->origin == WS_TRACE_MEASURED && !ws_trace_knows_claims(t) && uneven(p);
}

gboolean ws_trace_between_unknown(const WsProgram *p, const WsTrace *t)
{
    return t->every > 1 || ws_trace_rounds_unknown(p, t);
}

gboolean ws_trace_rounds_apart(const WsProgram *p, const WsTrace *a, guint cta_a, const WsTrace *b,
                               guint cta_b)
{
    return !ws_trace_same_claims(a, cta_a, b, cta_b) && uneven(p);
}
