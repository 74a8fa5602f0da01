/* The cover of a tensor in one case of its conditions. The pieces of one tile must fill a box
 * without gap or overlap (numbers), the tiles must be lined up by that box (a mixed radix: each
 * axis steps by the extent of what lies inside of it), and the outermost axis of a dimension must
 * reach its end (an inequality). Lemmas G4 to G6 and G12 of docs/soundness.md. */
#include "check/global/cover.h"
#include "base/phrase.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/program.h"

static const WsTensor *tensor(const WsGlobal *g)
{
    return &g->p->tensor[g->tensor];
}

/* --- the box of one tile -----------------------------------------------------------------------
 */
/* Loops of another piece by the names that the first one has, where steps and rounds are equal. */
static gboolean same_rounds(WsGlobal *g, const WsPiece *first, const WsPiece *piece, WsPoly *at)
{
    gboolean used[G_N_ELEMENTS(first->round)] = { FALSE };
    if (first->n_rounds != piece->n_rounds)
        return FALSE;
    for (guint d = 0; d < piece->n_dims; d++)
        at[d] = piece->at[d];
    for (guint k = 0; k < piece->n_rounds; k++) {
        gboolean found = FALSE;
        for (guint j = 0; j < first->n_rounds && !found; j++) {
            const WsAtom *a = ws_atom(g->ps, first->round[j]), *b = ws_atom(g->ps, piece->round[k]);
            found = !used[j] && ws_poly_equal(a->extent, b->extent);
            for (guint d = 0; d < piece->n_dims && found; d++) {
                WsPoly fa, fb, rest;
                found = ws_poly_linear(g->ps, first->at[d], first->round[j], &fa, &rest) &&
                        ws_poly_linear(g->ps, piece->at[d], piece->round[k], &fb, &rest) &&
                        ws_poly_equal(fa, fb);
            }
            if (!found)
                continue;
            used[j] = TRUE;
            WsPoly with = ws_poly_leaf(g->ps, WS_ATOM_ROUND, a->id, a->on, &a->extent, a->name);
            for (guint d = 0; d < piece->n_dims; d++)
                at[d] = ws_poly_replace(g->ps, at[d], piece->round[k], with);
        }
        if (!found)
            return FALSE;
    }
    return TRUE;
}

typedef struct {
    guint n;
    gint64 lo[512][WS_MAX_RANK], hi[512][WS_MAX_RANK];
} Boxes;

/* [0, wide) of every dimension, each place in one box. */
static gboolean boxes_fill(WsGlobal *g, const Boxes *b, guint dims, const gint64 *wide)
{
    gint64 sum = 0, whole = 1;
    for (guint d = 0; d < dims; d++)
        if (__builtin_mul_overflow(whole, wide[d], &whole))
            return FALSE;
    for (guint i = 0; i < b->n; i++) {
        gint64 volume = 1;
        for (guint d = 0; d < dims; d++)
            if (__builtin_mul_overflow(volume, b->hi[i][d] - b->lo[i][d], &volume))
                return FALSE;
        sum += volume;
        for (guint j = 0; j < i; j++) {
            gboolean meet = TRUE;
            for (guint d = 0; d < dims && meet; d++)
                meet = b->lo[i][d] < b->hi[j][d] && b->lo[j][d] < b->hi[i][d];
            if (meet) {
                ws_global_cure(g, 2,
                               "give each step, replica and CTA its own part of the tile: let the "
                               "coordinates name `replica` or `cta`, or let one of them write");
                ws_global_problem(g, "two steps write the same elements of a tile");
                return FALSE;
            }
        }
    }
    if (sum == whole)
        return TRUE;
    ws_global_cure(g, 0,
                   "write the rest of the tile, too, or let the axes step by what is written");
    ws_global_problem(g, "what the steps write of a tile has gaps");
    return FALSE;
}

/* Where the axes put the box of a tile: `at` without its number. */
static WsPoly origin(WsGlobal *g, WsPoly at)
{
    return ws_poly_add(g->ps, at, -1, ws_poly_int(g->ps, ws_poly_constant(at)));
}

static gboolean take_boxes(WsCover *c, const GPtrArray *pieces, Boxes *b, WsPoly *shape,
                           gint64 *wide)
{
    WsGlobal *g = c->g;
    const WsPiece *first = pieces->pdata[0];
    const guint dims = first->n_dims;
    b->n = pieces->len;
    for (guint d = 0; d < dims; d++) {
        shape[d] = origin(g, first->at[d]);
        wide[d] = 0;
    }
    for (guint i = 0; i < pieces->len; i++) {
        const WsPiece *piece = pieces->pdata[i];
        WsPoly at[WS_MAX_RANK];
        if (!same_rounds(g, first, piece, at)) {
            ws_global_problem(g, "%s and %s are made in different loops", first->op->id,
                              piece->op->id);
            return FALSE;
        }
        for (guint d = 0; d < dims; d++) {
            if (!ws_poly_equal(origin(g, at[d]), shape[d])) {
                g_autofree char *x = ws_poly_text(g->ps, first->at[d]);
                g_autofree char *y = ws_poly_text(g->ps, at[d]);
                ws_global_problem(g, "dimension %u begins at %s and at %s", d, x, y);
                return FALSE;
            }
            b->lo[i][d] = ws_poly_constant(at[d]);
            b->hi[i][d] = b->lo[i][d] + piece->size[d];
            wide[d] = MAX(wide[d], b->hi[i][d]);
        }
    }
    return TRUE;
}

/* --- the tiles ---------------------------------------------------------------------------------
 */
/* The dimension in which an axis counts, and by how much; FALSE if that is not one. */
static gboolean dimension_of(WsGlobal *g, const WsPoly *shape, guint dims, guint atom, guint *dim,
                             WsPoly *factor)
{
    guint n = 0;
    for (guint d = 0; d < dims; d++) {
        WsPoly f, rest;
        if (!ws_poly_has(g->ps, shape[d], atom))
            continue;
        if (!ws_poly_linear(g->ps, shape[d], atom, &f, &rest) || ws_poly_on(g->ps, f) != 0) {
            g_autofree char *text = ws_poly_text(g->ps, shape[d]);
            ws_global_problem(g, "%s is not a sum of axes", text);
            return FALSE;
        }
        *dim = d;
        *factor = f;
        n++;
    }
    if (n == 1)
        return TRUE;
    if (!n)
        ws_global_cure(
            g, 2,
            "name %s in the coordinates, let one of its values alone write, or add to a tensor "
            "with access \"reduce\"",
            ws_atom(g->ps, atom)->name);
    ws_global_problem(g,
                      n ? "%s is part of two coordinates"
                        : "%s is in no coordinate: all its values write the same elements",
                      ws_atom(g->ps, atom)->name);
    return FALSE;
}

/* Of a tensor that is reduced: an axis in no coordinate, each value of which does the same. */
static gboolean is_free(WsGlobal *g, const WsPoly *shape, guint dims, guint atom)
{
    for (guint d = 0; d < dims; d++)
        if (ws_poly_has(g->ps, shape[d], atom))
            return FALSE;
    const char *name = ws_atom(g->ps, atom)->name;
    if (g->reduces && !g_ptr_array_find_with_equal_func(g->free, name, g_str_equal, NULL))
        g_ptr_array_add(g->free, (gpointer)name);
    return g->reduces;
}

static gboolean is_pinned(const WsCover *c, guint atom)
{
    for (guint i = 0; i < c->n_pinned; i++)
        if (c->pinned[i].atom == atom)
            return TRUE;
    return FALSE;
}

/* The values at which axes are pinned are reached by every launch. */
static gboolean pins_reached(WsCover *c)
{
    WsGlobal *g = c->g;
    for (guint i = 0; i < c->n_pinned; i++) {
        const WsAtom *x = ws_atom(g->ps, c->pinned[i].atom);
        WsPoly last = ws_poly_add(g->ps, x->extent, -1, ws_poly_int(g->ps, 1));
        if (ws_facts_least(&g->facts, c->pinned[i].value, FALSE) &&
            ws_facts_least(&g->facts, ws_poly_add(g->ps, last, -1, c->pinned[i].value), FALSE))
            continue;
        g_autofree char *value = ws_poly_text(g->ps, c->pinned[i].value);
        ws_global_problem(g, "it is written where %s is %s, which it may never be", x->name, value);
        return FALSE;
    }
    return TRUE;
}

typedef struct {
    guint n;
    struct {
        guint dim;
        WsPoly factor, extent;
        gboolean used;
    } axis[32];
} Axes;

static gboolean find_axes(WsCover *c, const WsPiece *first, const WsPoly *shape, Axes *axes)
{
    WsGlobal *g = c->g;
    const guint dims = first->n_dims;
    WsPoly rest[WS_MAX_RANK];
    axes->n = 0;
    for (guint d = 0; d < dims; d++)
        rest[d] = shape[d];
    for (guint k = 0; k < g->axes->len + first->n_rounds; k++) {
        guint atom =
            k < g->axes->len ? g_array_index(g->axes, guint, k) : first->round[k - g->axes->len];
        guint dim;
        WsPoly factor, left;
        if (is_pinned(c, atom) || is_free(g, shape, dims, atom))
            continue;
        if (axes->n == G_N_ELEMENTS(axes->axis) ||
            !dimension_of(g, shape, dims, atom, &dim, &factor))
            return FALSE;
        axes->axis[axes->n].dim = dim;
        axes->axis[axes->n].factor = factor;
        axes->axis[axes->n].extent = ws_atom(g->ps, atom)->extent;
        axes->axis[axes->n++].used = FALSE;
        ws_poly_linear(g->ps, rest[dim], atom, &factor, &left);
        rest[dim] = left;
    }
    for (guint d = 0; d < dims; d++)
        if (rest[d].n) {
            g_autofree char *text = ws_poly_text(g->ps, rest[d]);
            ws_global_cure(g, 0, "let the first tile of dimension %u begin at 0", d);
            ws_global_problem(g, "dimension %u is shifted by %s", d, text);
            return FALSE;
        }
    return TRUE;
}

/* The axes of a dimension, from the innermost: each steps by what lies inside of it. */
static gboolean lined_up(WsCover *c, Axes *axes, guint dim, gint64 wide)
{
    WsGlobal *g = c->g;
    WsPoly reach = ws_poly_int(g->ps, wide), extent = ws_terms_of(&g->terms, tensor(g)->shape[dim]);
    guint left = 0;
    for (guint k = 0; k < axes->n; k++)
        left += axes->axis[k].dim == dim;
    const gboolean any = left > 0, several = left > 1;
    while (left > 0) {
        guint k = 0;
        while (k < axes->n && (axes->axis[k].used || axes->axis[k].dim != dim ||
                               !ws_poly_equal(axes->axis[k].factor, reach)))
            k++;
        if (k == axes->n) {
            g_autofree char *text = ws_poly_text(g->ps, reach);
            ws_global_cure(g, -1,
                           "let an axis or a loop of dimension %u step by %s, or write as much as "
                           "its steps are wide",
                           dim, text);
            ws_global_problem(g, "no axis of dimension %u steps by %s, which one step fills", dim,
                              text);
            return FALSE;
        }
        if (several && !ws_facts_least(&g->facts, axes->axis[k].extent, FALSE)) {
            ws_global_problem(g, "an axis of dimension %u may be negative", dim);
            return FALSE;
        }
        axes->axis[k].used = TRUE;
        reach = ws_poly_mul(g->ps, reach, axes->axis[k].extent);
        left--;
    }
    if (ws_facts_least(&g->facts, ws_poly_add(g->ps, reach, -1, extent), FALSE))
        return TRUE;
    g_autofree char *to = ws_poly_text(g->ps, reach), *end = ws_poly_text(g->ps, extent);
    if (!any) {
        g->window[dim] = wide;
        if (!g->bounded)
            g->bounded = ws_phrase("dimension %u is written up to %s by every launch; "
                                   "\"%s <= %s\" under `assume` would say so",
                                   dim, to, end, to);
        return TRUE;
    }
    ws_global_cure(
        g, 0,
        "let dimension %u reach %s: round its axis or its loop up (cdiv), or state under "
        "`assume` which sizes the kernel is for",
        dim, end);
    ws_global_problem(g, "dimension %u is written up to %s, which may be less than %s", dim, to,
                      end);
    return FALSE;
}

/* Without an axis, what lies outside of a constant extent does not count. */
static void clip(WsCover *c, const Axes *axes, Boxes *b, guint dims, gint64 *wide)
{
    WsGlobal *g = c->g;
    for (guint d = 0; d < dims; d++) {
        gboolean axis = FALSE;
        gint64 extent;
        for (guint k = 0; k < axes->n; k++)
            axis |= axes->axis[k].dim == d;
        if (axis || !ws_poly_is_int(ws_terms_of(&g->terms, tensor(g)->shape[d]), &extent))
            continue;
        wide[d] = MIN(wide[d], extent);
        for (guint i = 0; i < b->n; i++) {
            b->lo[i][d] = CLAMP(b->lo[i][d], 0, extent);
            b->hi[i][d] = CLAMP(b->hi[i][d], b->lo[i][d], extent);
        }
    }
}

gboolean ws_cover_fills(WsCover *c, const GPtrArray *pieces)
{
    WsGlobal *g = c->g;
    WsPoly shape[WS_MAX_RANK];
    gint64 wide[WS_MAX_RANK];
    g_autofree Boxes *b = g_new(Boxes, 1);
    Axes axes;
    if (pieces->len == 0) {
        ws_global_cure(g, 0,
                       "write in the other case of the condition, too, or after the loop what the "
                       "last round leaves");
        ws_global_problem(g, "there are tiles of which nothing is written");
        return FALSE;
    }
    const WsPiece *first = pieces->pdata[0];
    const guint dims = first->n_dims;
    if (!take_boxes(c, pieces, b, shape, wide) || !find_axes(c, first, shape, &axes))
        return FALSE;
    clip(c, &axes, b, dims, wide);
    for (guint i = 0; i < b->n; i++)
        for (guint d = 0; d < dims; d++)
            if (b->lo[i][d] < 0) {
                ws_global_cure(g, 0, "let dimension %u begin at 0", d);
                ws_global_problem(g, "dimension %u begins below 0", d);
                return FALSE;
            }
    if (!boxes_fill(g, b, dims, wide))
        return FALSE;
    /* every tile must be cut like every other one */
    for (guint d = 0; d < dims && c->have_shape; d++)
        if (!ws_poly_equal(shape[d], c->shape[d]) || wide[d] != c->wide[d]) {
            ws_global_problem(g, "tiles are cut in different ways");
            return FALSE;
        }
    for (guint d = 0; d < dims; d++) {
        c->shape[d] = shape[d];
        c->wide[d] = wide[d];
    }
    if (c->have_shape)
        return TRUE;
    c->have_shape = TRUE;
    if (!pins_reached(c))
        return FALSE;
    for (guint d = 0; d < dims; d++)
        if (!lined_up(c, &axes, d, wide[d]))
            return FALSE;
    return TRUE;
}

/* --- strides -----------------------------------------------------------------------------------
 */
/* Sorted by stride, each dimension steps over all that lies inside of it. */
gboolean ws_global_injective(WsGlobal *g)
{
    const WsTensor *t = tensor(g);
    WsPoly inside = ws_poly_int(g->ps, 1);
    gboolean used[WS_MAX_RANK] = { FALSE };
    for (guint n = 0; t->strides_given && n < t->rank; n++) {
        guint next = t->rank;
        for (guint exact = 2; exact-- > 0 && next == t->rank;)
            for (guint d = 0; d < t->rank && next == t->rank; d++) {
                WsPoly stride = ws_terms_of(&g->terms, t->stride[d]);
                if (!used[d] &&
                    (exact ? ws_poly_equal(stride, inside)
                           : ws_facts_least(&g->facts, ws_poly_add(g->ps, stride, -1, inside),
                                            FALSE)))
                    next = d;
            }
        if (next == t->rank) {
            ws_global_problem(g, "its strides may put two elements at one place");
            return FALSE;
        }
        used[next] = TRUE;
        inside = ws_poly_mul(g->ps, ws_terms_of(&g->terms, t->stride[next]),
                             ws_terms_of(&g->terms, t->shape[next]));
    }
    return TRUE;
}
