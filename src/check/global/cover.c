/* Every element once, for all sizes. The pieces of one tile must fill a box without gap or overlap
 * (numbers), the tiles must be lined up by that box (a mixed radix: each axis steps by the extent
 * of what lies inside of it), and the outermost axis of a dimension must reach its end (an
 * inequality). The lemmas are named G1 to G9 in docs/soundness.md. */
#include "check/global/global.h"

enum { MOST_GROUPS = 8, MOST_THRESHOLDS = 8, MOST_CASES = 256, MOST_POSITIONS = 64 };

/* Conditions that compare the same thing: value < threshold. The case says between which two. */
typedef struct {
    WsPoly value;
    guint n;
    gint64 threshold[MOST_THRESHOLDS]; /* ascending */
    gboolean launch;                   /* one answer per launch */
    guint chosen;                      /* it is below threshold[chosen], not below the one before */
} Group;

typedef struct {
    WsGlobal *g;
    guint n_groups;
    Group group[MOST_GROUPS];
    gboolean have_shape;
    WsPoly shape[WS_MAX_RANK]; /* where the box of a tile begins */
    gint64 wide[WS_MAX_RANK];
    WsPoly round_extent[WS_MAX_RANK][4], round_factor[WS_MAX_RANK][4];
} Cover;

static const WsTensor *tensor(const WsGlobal *g)
{
    return &g->p->tensor[g->tensor];
}

/* --- conditions --------------------------------------------------------------------------------
 */
static void add_threshold(Cover *c, guint atom)
{
    WsGlobal *g = c->g;
    const WsAtom *x = ws_atom(g->ps, atom);
    gint64 limit = 0;
    guint i = 0, k = 0;
    ws_poly_is_int(x->arg[1], &limit);
    while (i < c->n_groups && !ws_poly_equal(c->group[i].value, x->arg[0]))
        i++;
    if (i == MOST_GROUPS) {
        ws_global_problem(g, "it hangs on too many conditions");
        return;
    }
    Group *group = &c->group[i];
    if (i == c->n_groups) {
        *group = (Group){ .value = x->arg[0], .launch = ws_poly_on(g->ps, x->arg[0]) == 0 };
        c->n_groups++;
    }
    while (k < group->n && group->threshold[k] < limit)
        k++;
    if (k < group->n && group->threshold[k] == limit)
        return;
    if (group->n == MOST_THRESHOLDS) {
        ws_global_problem(g, "it hangs on too many conditions");
        return;
    }
    for (guint j = group->n++; j > k; j--)
        group->threshold[j] = group->threshold[j - 1];
    group->threshold[k] = limit;
}

static void read_choice(gpointer data, guint atom)
{
    Cover *c = data;
    const WsAtom *x = ws_atom(c->g->ps, atom);
    if (x->kind == WS_ATOM_LESS && !(x->on & (WS_ON_STEP | WS_ON_SEQUENCE)))
        add_threshold(c, atom);
}

static void read_conditions(Cover *c, const WsPiece *piece)
{
    WsGlobal *g = c->g;
    for (guint d = 0; d < piece->n_dims; d++)
        ws_poly_visit(g->ps, piece->at[d], read_choice, c);
    for (guint i = 0; i < piece->n_conds; i++)
        for (guint m = 0; m < piece->cond[i].n; m++)
            for (guint k = 0; k < piece->cond[i].mono[m].n; k++) {
                guint atom = piece->cond[i].mono[m].atom[k];
                const WsAtom *x = ws_atom(g->ps, atom);
                if (x->kind != WS_ATOM_LESS || x->on & (WS_ON_STEP | WS_ON_SEQUENCE)) {
                    g_autofree char *text = ws_poly_text(g->ps, piece->cond[i]);
                    ws_global_problem(g, "whether %s writes hangs on %s",
                                      piece->op->step ? piece->op->step : piece->op->id, text);
                    return;
                }
                add_threshold(c, atom);
            }
}

static gboolean chosen(gpointer data, guint atom, WsPoly *out)
{
    Cover *c = data;
    const WsAtom *x = ws_atom(c->g->ps, atom);
    if (x->kind != WS_ATOM_LESS)
        return FALSE;
    gint64 limit = 0;
    ws_poly_is_int(x->arg[1], &limit);
    for (guint i = 0; i < c->n_groups; i++) {
        const Group *group = &c->group[i];
        if (!ws_poly_equal(group->value, x->arg[0]))
            continue;
        gboolean less = group->chosen < group->n && limit >= group->threshold[group->chosen];
        *out = ws_poly_int(c->g->ps, less);
        return TRUE;
    }
    return FALSE;
}

/* The piece is written in this case. */
static gboolean active(Cover *c, const WsPiece *piece)
{
    for (guint i = 0; i < piece->n_conds; i++) {
        gint64 value = 1;
        WsPoly x = ws_poly_map(c->g->ps, piece->cond[i], chosen, c);
        if (!ws_poly_is_int(x, &value))
            ws_global_problem(c->g, "a condition of %s is not followed", piece->op->id);
        if (value == 0)
            return FALSE;
    }
    return TRUE;
}

/* What the case says of a condition, as facts: of the launch, or of the tile. */
static void push_facts(Cover *c, const Group *x)
{
    WsPolys *ps = c->g->ps;
    GArray *to = x->launch ? c->g->facts.least : c->g->facts.tile;
    if (x->chosen > 0) {
        WsPoly at_least =
            ws_poly_add(ps, x->value, -1, ws_poly_int(ps, x->threshold[x->chosen - 1]));
        g_array_append_val(to, at_least);
    }
    if (x->chosen < x->n) {
        WsPoly below = ws_poly_add(ps, ws_poly_int(ps, x->threshold[x->chosen] - 1), -1, x->value);
        g_array_append_val(to, below);
    }
}

/* The facts rule this case out. */
static gboolean impossible(Cover *c, guint i)
{
    WsGlobal *g = c->g;
    const Group *x = &c->group[i];
    if (x->chosen > 0) {
        WsPoly under =
            ws_poly_add(g->ps, ws_poly_int(g->ps, x->threshold[x->chosen - 1] - 1), -1, x->value);
        if (ws_facts_least(&g->facts, under, !x->launch))
            return TRUE;
    }
    if (x->chosen < x->n) {
        WsPoly over = ws_poly_add(g->ps, x->value, -1, ws_poly_int(g->ps, x->threshold[x->chosen]));
        if (ws_facts_least(&g->facts, over, !x->launch))
            return TRUE;
    }
    return FALSE;
}

/* --- the box of one tile -----------------------------------------------------------------------
 */
/* All of the piece lies outside of the tensor: it writes nothing. */
static gboolean outside(Cover *c, const WsPiece *piece)
{
    WsGlobal *g = c->g;
    for (guint d = 0; d < piece->n_dims; d++) {
        WsPoly shape = ws_terms_of(&g->terms, tensor(g)->shape[d]);
        if (ws_facts_least(&g->facts, ws_poly_add(g->ps, piece->at[d], -1, shape), TRUE))
            return TRUE;
    }
    return FALSE;
}

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
                ws_global_problem(g, "two steps write the same elements of a tile");
                return FALSE;
            }
        }
    }
    if (sum == whole)
        return TRUE;
    ws_global_problem(g, "what the steps write of a tile has gaps");
    return FALSE;
}

/* Where the axes put the box of a tile: `at` without its number. */
static WsPoly origin(WsGlobal *g, WsPoly at)
{
    return ws_poly_add(g->ps, at, -1, ws_poly_int(g->ps, ws_poly_constant(at)));
}

/* The piece as it is in this case: what `select` picks is known. */
static const WsPiece *in_case(Cover *c, const WsPiece *piece)
{
    if (c->n_groups == 0)
        return piece;
    WsPiece *out = ws_polys_alloc(c->g->ps, sizeof *out);
    *out = *piece;
    for (guint d = 0; d < piece->n_dims; d++)
        out->at[d] = ws_poly_map(c->g->ps, piece->at[d], chosen, c);
    return out;
}

static gboolean take_boxes(Cover *c, const GPtrArray *pieces, Boxes *b, WsPoly *shape, gint64 *wide)
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
            ws_global_problem(g, "%s is no sum of axes", text);
            return FALSE;
        }
        *dim = d;
        *factor = f;
        n++;
    }
    if (n == 1)
        return TRUE;
    ws_global_problem(g,
                      n ? "%s is part of two coordinates"
                        : "%s is in no coordinate: all its values write the same elements",
                      ws_atom(g->ps, atom)->name);
    return FALSE;
}

typedef struct {
    guint n;
    struct {
        guint dim;
        WsPoly factor, extent;
        gboolean used;
    } axis[32];
} Axes;

static gboolean find_axes(Cover *c, const WsPiece *first, const WsPoly *shape, Axes *axes)
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
            ws_global_problem(g, "dimension %u is shifted by %s", d, text);
            return FALSE;
        }
    return TRUE;
}

/* The axes of a dimension, from the innermost: each steps by what lies inside of it. */
static gboolean lined_up(Cover *c, Axes *axes, guint dim, gint64 wide)
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
            g->bounded = g_strdup_printf("dimension %u is written up to %s by every launch; "
                                         "\"%s <= %s\" under `assume` would say so",
                                         dim, to, end, to);
        return TRUE;
    }
    ws_global_problem(g, "dimension %u is written up to %s, which may be less than %s", dim, to,
                      end);
    return FALSE;
}

/* Without an axis, what lies outside of a constant extent does not count. */
static void clip(Cover *c, const Axes *axes, Boxes *b, guint dims, gint64 *wide)
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

static gboolean fills(Cover *c, GPtrArray *pieces)
{
    WsGlobal *g = c->g;
    WsPoly shape[WS_MAX_RANK];
    gint64 wide[WS_MAX_RANK];
    g_autofree Boxes *b = g_new(Boxes, 1);
    Axes axes;
    if (pieces->len == 0) {
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
    for (guint d = 0; d < dims; d++)
        if (!lined_up(c, &axes, d, wide[d]))
            return FALSE;
    return TRUE;
}

/* --- all cases ---------------------------------------------------------------------------------
 */
static gint64 common(gint64 a, gint64 b)
{
    gint64 x = a, y = b;
    while (y) {
        gint64 r = x % y;
        x = y, y = r;
    }
    return a / x * b;
}

/* Positions of tiles of a CTA, which agents may share out: they repeat after a while. */
static gboolean positions_fill(Cover *c, gboolean last)
{
    WsGlobal *g = c->g;
    gint64 from = 0, every = 1;
    for (guint i = 0; i < g->piece->len; i++) {
        const WsPiece *piece = g->piece->pdata[i];
        from = MAX(from, piece->from);
        every = common(every, piece->by);
        if (from + every > MOST_POSITIONS) {
            ws_global_problem(g, "tiles are shared out in too long a pattern");
            return FALSE;
        }
    }
    if (g->p->tiles.launch == WS_LAUNCH_SINGLE)
        from = 0, every = 1;
    g_autoptr(GPtrArray) now = g_ptr_array_new();
    for (gint64 position = 0; position < from + every; position++) {
        g_ptr_array_set_size(now, 0);
        for (guint i = 0; i < g->piece->len && !g->problem; i++) {
            WsPiece *piece = g->piece->pdata[i];
            gboolean mine = position >= piece->from && (position - piece->from) % piece->by == 0;
            gboolean late = piece->late == (last ? WS_LATE_NEXT : WS_LATE_END);
            if (mine && !late && (active(c, piece) || outside(c, piece)))
                g_ptr_array_add(now, (gpointer)in_case(c, piece));
        }
        if (g->problem || !fills(c, now))
            return FALSE;
    }
    return TRUE;
}

static gboolean any_late(const WsGlobal *g)
{
    for (guint i = 0; i < g->piece->len; i++)
        if (((WsPiece *)g->piece->pdata[i])->late != WS_LATE_NO)
            return TRUE;
    return FALSE;
}

/* Chooses group i and those behind it in every way; what holds for the launch comes first. */
static gboolean cases(Cover *c, guint i, guint *work)
{
    WsGlobal *g = c->g;
    if (i == c->n_groups) {
        if ((*work)-- == 0)
            ws_global_problem(g, "it hangs on too many conditions");
        return !g->problem && positions_fill(c, FALSE) && (!any_late(g) || positions_fill(c, TRUE));
    }
    gboolean ok = TRUE;
    Group *x = &c->group[i];
    for (x->chosen = 0; x->chosen <= x->n && ok; x->chosen++) {
        const guint least = g->facts.least->len, tile = g->facts.tile->len;
        if (x->launch)
            c->have_shape = FALSE;
        if (impossible(c, i))
            continue;
        push_facts(c, x);
        ok = cases(c, i + 1, work);
        g_array_set_size(g->facts.least, least);
        g_array_set_size(g->facts.tile, tile);
    }
    return ok;
}

gboolean ws_global_covered(WsGlobal *g)
{
    Cover *c = g_new0(Cover, 1);
    guint work = MOST_CASES;
    c->g = g;
    for (guint i = 0; i < g->piece->len && !g->problem; i++)
        read_conditions(c, g->piece->pdata[i]);
    /* one answer per launch first: below it the tiles may be cut differently */
    for (guint i = 0, n = 0; i < c->n_groups; i++)
        if (c->group[i].launch) {
            Group x = c->group[n];
            c->group[n++] = c->group[i];
            c->group[i] = x;
        }
    gboolean ok = !g->problem && cases(c, 0, &work) && !ws_polys_broken(g->ps);
    g_free(c);
    return ok && !g->problem;
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
