/* One axis that stands for several coordinates: where x of 0 .. F*E - 1 is used as x / E and x % E,
 * it is two axes, q of extent F and r of extent E with x = E*q + r. That is a bijection for E > 0. */
#include "check/global/global.h"

typedef struct {
    WsGlobal *g;
    guint axis;     /* found; 0 none */
    WsPoly divisor; /* largest that was found */
    WsPoly outer;   /* extent / divisor */
} Search;

/* extent = outer * divisor */
static gboolean factor(WsGlobal *g, WsPoly extent, WsPoly divisor, WsPoly *outer)
{
    if (ws_poly_quotient(g->ps, extent, divisor, outer))
        return TRUE;
    if (!ws_facts_divides(&g->facts, extent, divisor))
        return FALSE;
    *outer = ws_poly_div(g->ps, extent, divisor);
    return TRUE;
}

static void look(gpointer data, guint atom)
{
    Search *s = data;
    WsGlobal *g = s->g;
    const WsAtom *x = ws_atom(g->ps, atom);
    guint axis;
    WsPoly outer;
    if (x->kind != WS_ATOM_DIV || !ws_poly_is_atom(x->arg[0], &axis) ||
        (ws_atom(g->ps, axis)->kind != WS_ATOM_AXIS && ws_atom(g->ps, axis)->kind != WS_ATOM_ROUND) ||
        ws_poly_on(g->ps, x->arg[1]) != 0 || (s->axis && s->axis != axis) ||
        !factor(g, ws_atom(g->ps, axis)->extent, x->arg[1], &outer) ||
        !ws_facts_least(&g->facts, x->arg[1], FALSE))
        return;
    /* of x/2 and x/6 the larger first: the smaller one then divides what is left of it */
    WsPoly times;
    if (s->axis && !(ws_poly_quotient(g->ps, x->arg[1], s->divisor, &times)))
        return;
    s->axis = axis;
    s->divisor = x->arg[1];
    s->outer = outer;
}

static void replace(WsGlobal *g, guint axis, WsPoly with)
{
    for (guint i = 0; i < g->piece->len; i++) {
        WsPiece *piece = g->piece->pdata[i];
        for (guint d = 0; d < piece->n_dims; d++)
            piece->at[d] = ws_poly_replace(g->ps, piece->at[d], axis, with);
        for (guint c = 0; c < piece->n_conds; c++)
            piece->cond[c] = ws_poly_replace(g->ps, piece->cond[c], axis, with);
    }
}

/* A loop's axis that is split belongs to the same pieces as two. */
static void replace_round(WsGlobal *g, guint axis, guint q, guint r)
{
    for (guint i = 0; i < g->piece->len; i++) {
        WsPiece *piece = g->piece->pdata[i];
        for (guint k = 0; k < piece->n_rounds; k++)
            if (piece->round[k] == axis) {
                piece->round[k] = (guint16)q;
                if (piece->n_rounds == G_N_ELEMENTS(piece->round))
                    ws_global_problem(g, "loops are nested too deeply");
                else
                    piece->round[piece->n_rounds++] = (guint16)r;
                break;
            }
    }
}

static gboolean split_one(WsGlobal *g)
{
    Search s = { .g = g };
    for (guint i = 0; i < g->piece->len; i++) {
        const WsPiece *piece = g->piece->pdata[i];
        for (guint d = 0; d < piece->n_dims; d++)
            ws_poly_visit(g->ps, piece->at[d], look, &s);
        for (guint c = 0; c < piece->n_conds; c++)
            ws_poly_visit(g->ps, piece->cond[c], look, &s);
    }
    if (!s.axis)
        return FALSE;
    const WsAtom *x = ws_atom(g->ps, s.axis);
    gint id = 100 + g->terms.next;
    g->terms.next += 2;
    WsPoly q = ws_poly_leaf(g->ps, x->kind, id, x->on, &s.outer, x->name);
    WsPoly r = ws_poly_leaf(g->ps, x->kind, id + 1, x->on, &s.divisor, x->name);
    guint qa = 0, ra = 0;
    ws_poly_is_atom(q, &qa);
    ws_poly_is_atom(r, &ra);
    WsPoly with = ws_poly_add(g->ps, ws_poly_mul(g->ps, s.divisor, q), 1, r);
    replace(g, s.axis, with);
    for (guint a = 0; a < g->axes->len; a++)
        if (g_array_index(g->axes, guint, a) == s.axis) {
            g_array_index(g->axes, guint, a) = qa;
            g_array_append_val(g->axes, ra);
            return TRUE;
        }
    replace_round(g, s.axis, qa, ra);
    return TRUE;
}

void ws_global_split_axes(WsGlobal *g)
{
    enum { MOST = 16 };
    for (guint i = 0; i < MOST && split_one(g); i++)
        ;
}
