/* One axis that stands for several coordinates: where x of 0 .. F*E - 1 is used as x / E and x % E,
 * it is two axes, q of extent F and r of extent E with x = E*q + r. That is a bijection for E > 0.
 */
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
        (ws_atom(g->ps, axis)->kind != WS_ATOM_AXIS &&
         ws_atom(g->ps, axis)->kind != WS_ATOM_ROUND) ||
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

/* --- grouped tiles ------------------------------------------------------------------------------
 */
/* The order that kernels write out by hand: with q = x / (G*n), r = x - G*n*q and h = min(m - G*q,
 * G) the tile lies in row G*q + r % h and column r / h. For G, n >= 1 that is a bijection of 0 ..
 * m*n - 1 onto m rows and n columns: group q holds h rows of n columns, filled column by column. */
typedef struct {
    WsGlobal *g;
    guint x, column; /* atoms: the axis, and r / h */
    WsPoly q, h, n, m, wide;
    gint64 group;
} Grouped;

static gboolean group_of(WsGlobal *g, WsPoly h, WsPoly *rows, gint64 *group)
{
    guint atom;
    if (!ws_poly_is_atom(h, &atom) || ws_atom(g->ps, atom)->kind != WS_ATOM_MIN)
        return FALSE;
    const WsAtom *x = ws_atom(g->ps, atom);
    for (guint k = 0; k < 2; k++)
        if (ws_poly_is_int(x->arg[k], group) && *group >= 1) {
            *rows = x->arg[1 - k];
            return TRUE;
        }
    return FALSE;
}

static void look_grouped(gpointer data, guint atom)
{
    Grouped *d = data;
    WsGlobal *g = d->g;
    const WsAtom *div = ws_atom(g->ps, atom);
    if (d->column || div->kind != WS_ATOM_DIV || !group_of(g, div->arg[1], &d->m, &d->group))
        return;
    for (guint a = 0; a < g->axes->len; a++) {
        guint x = g_array_index(g->axes, guint, a);
        const WsAtom *axis = ws_atom(g->ps, x);
        WsPoly of_x =
            ws_poly_leaf(g->ps, axis->kind, axis->id, axis->on, &axis->extent, axis->name);
        WsPoly rest = ws_poly_add(g->ps, div->arg[0], -1, of_x); /* -G*n*q */
        /* every term of it holds q: find it, an atom x / (G*n) */
        for (guint i = 0; rest.n == 1 && i < rest.mono[0].n; i++) {
            const WsAtom *q = ws_atom(g->ps, rest.mono[0].atom[i]);
            guint inner;
            if (q->kind != WS_ATOM_DIV || !ws_poly_is_atom(q->arg[0], &inner) || inner != x)
                continue;
            WsPoly of_q = ws_poly_div(g->ps, of_x, q->arg[1]), group = ws_poly_int(g->ps, d->group);
            WsPoly all = ws_poly_add(g->ps, rest, 1, ws_poly_mul(g->ps, q->arg[1], of_q));
            WsPoly m = ws_poly_add(g->ps, d->m, d->group, of_q); /* rows: m - G*q */
            if (all.n != 0 || ws_poly_on(g->ps, m) != 0 ||
                !ws_poly_quotient(g->ps, q->arg[1], group, &d->n) ||
                !ws_poly_equal(ws_poly_mul(g->ps, m, d->n), axis->extent))
                continue;
            d->x = x, d->column = atom;
            d->q = of_q, d->h = div->arg[1], d->wide = q->arg[1], d->m = m;
            return;
        }
    }
}

typedef struct {
    guint x, column;
    WsPoly for_x, for_column;
} Renamed;

/* On the outside only: what lies inside of other atoms stays as it is. */
static gboolean rename_atom(gpointer data, guint atom, WsPoly *out)
{
    Renamed *r = data;
    if (atom != r->x && atom != r->column)
        return FALSE;
    *out = atom == r->x ? r->for_x : r->for_column;
    return TRUE;
}

static WsPoly renamed(WsGlobal *g, WsPoly a, Renamed *r)
{
    WsPoly sum = { 0 };
    for (guint i = 0; i < a.n; i++) {
        WsMono left = { .factor = a.mono[i].factor };
        WsPoly product = ws_poly_int(g->ps, 1);
        for (guint k = 0; k < a.mono[i].n; k++) {
            WsPoly with;
            if (rename_atom(r, a.mono[i].atom[k], &with))
                product = ws_poly_mul(g->ps, product, with);
            else
                left.atom[left.n++] = a.mono[i].atom[k];
        }
        sum = ws_poly_add(g->ps, sum, 1, ws_poly_mul(g->ps, product, (WsPoly){ 1, &left }));
    }
    return sum;
}

static void rename_places(WsGlobal *g, Renamed *r)
{
    for (guint i = 0; i < g->piece->len; i++) {
        WsPiece *piece = g->piece->pdata[i];
        for (guint k = 0; k < piece->n_dims; k++)
            piece->at[k] = renamed(g, piece->at[k], r);
    }
}

static gboolean split_grouped(WsGlobal *g)
{
    Grouped d = { .g = g };
    for (guint i = 0; i < g->piece->len && !d.column; i++) {
        const WsPiece *piece = g->piece->pdata[i];
        for (guint k = 0; k < piece->n_dims; k++)
            ws_poly_visit(g->ps, piece->at[k], look_grouped, &d);
    }
    if (!d.column || !ws_facts_least(&g->facts, d.n, FALSE) ||
        !ws_facts_least(&g->facts, d.m, FALSE))
        return FALSE;
    const WsAtom *x = ws_atom(g->ps, d.x);
    gint id = 100 + g->terms.next;
    g->terms.next += 2;
    WsPoly row = ws_poly_leaf(g->ps, x->kind, id, x->on, &d.m, "row of tiles");
    WsPoly column = ws_poly_leaf(g->ps, x->kind, id + 1, x->on, &d.n, "column of tiles");
    /* x = G*n*q + h*column + row - G*q */
    WsPoly for_x = ws_poly_add(g->ps, row, -d.group, d.q);
    for_x = ws_poly_add(g->ps, for_x, 1, ws_poly_mul(g->ps, d.wide, d.q));
    for_x = ws_poly_add(g->ps, for_x, 1, ws_poly_mul(g->ps, d.h, column));
    Renamed r = { d.x, d.column, for_x, column };
    rename_places(g, &r);
    for (guint a = 0; a < g->axes->len; a++)
        if (g_array_index(g->axes, guint, a) == d.x) {
            guint one = 0, other = 0;
            ws_poly_is_atom(row, &one);
            ws_poly_is_atom(column, &other);
            g_array_index(g->axes, guint, a) = one;
            g_array_append_val(g->axes, other);
            break;
        }
    return TRUE;
}

/* --- turned axes --------------------------------------------------------------------------------
 */
typedef struct {
    WsGlobal *g;
    guint x, q; /* atoms: the axis that is looked for, and (x + r) / E; 0: none */
    WsPoly r;
} Turned;

static void look_turned(gpointer data, guint atom)
{
    Turned *d = data;
    WsGlobal *g = d->g;
    const WsAtom *div = ws_atom(g->ps, atom);
    gint64 factor;
    WsPoly f, r;
    if (!d->q && div->kind == WS_ATOM_DIV &&
        ws_poly_equal(div->arg[1], ws_atom(g->ps, d->x)->extent) &&
        ws_poly_linear(g->ps, div->arg[0], d->x, &f, &r) && ws_poly_is_int(f, &factor) &&
        factor == 1 && ws_poly_on(g->ps, r) == 0)
        d->q = atom, d->r = r;
}

/* What x is worth by its other name *y: y - r + E*q. */
static Renamed turned_name(Turned *d, guint *y_atom)
{
    WsGlobal *g = d->g;
    const WsAtom *x = ws_atom(g->ps, d->x), *q = ws_atom(g->ps, d->q);
    WsPoly y = ws_poly_leaf(g->ps, x->kind, 100 + g->terms.next++, x->on, &x->extent, x->name);
    WsPoly of_q = ws_poly_div(g->ps, q->arg[0], q->arg[1]);
    Renamed out = { .x = d->x };
    out.for_x =
        ws_poly_add(g->ps, ws_poly_add(g->ps, y, -1, d->r), 1, ws_poly_mul(g->ps, x->extent, of_q));
    ws_poly_is_atom(y, y_atom);
    return out;
}

gboolean ws_global_turn(WsGlobal *g, guint x, WsPoly *a, guint *y)
{
    Turned d = { .g = g, .x = x };
    ws_poly_visit(g->ps, *a, look_turned, &d);
    if (!d.q)
        return FALSE;
    Renamed name = turned_name(&d, y);
    *a = renamed(g, *a, &name);
    return TRUE;
}

static gboolean split_turned(WsGlobal *g)
{
    for (guint i = 0; i < g->axes->len; i++) {
        Turned d = { .g = g, .x = g_array_index(g->axes, guint, i) };
        gboolean asked = FALSE; /* a condition would still speak of x */
        for (guint k = 0; k < g->piece->len; k++) {
            const WsPiece *piece = g->piece->pdata[k];
            for (guint c = 0; c < piece->n_conds; c++)
                asked = asked || ws_poly_has(g->ps, piece->cond[c], d.x);
            for (guint n = 0; n < piece->n_dims; n++)
                ws_poly_visit(g->ps, piece->at[n], look_turned, &d);
        }
        if (!d.q || asked)
            continue;
        Renamed name = turned_name(&d, &g_array_index(g->axes, guint, i));
        rename_places(g, &name);
        return TRUE;
    }
    return FALSE;
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
    for (guint i = 0; i < MOST && split_grouped(g); i++)
        ;
    for (guint i = 0; i < MOST && split_turned(g); i++)
        ;
    for (guint i = 0; i < MOST && split_one(g); i++)
        ;
}
