/* All answers to the conditions on which steps write: in each case the tensor must be covered.
 * Lemmas G8 to G10 and G18 of docs/soundness.md. */
#include "check/global/cover.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/program.h"

enum { MOST_CASES = 256, MOST_POSITIONS = 64 };

/* --- conditions --------------------------------------------------------------------------------
 */
static void add_threshold(WsCover *c, guint atom)
{
    WsGlobal *g = c->g;
    const WsAtom *x = ws_atom(g->ps, atom);
    gint64 limit = 0;
    guint i = 0, k = 0;
    ws_poly_is_int(x->arg[1], &limit);
    while (i < c->n_groups && !ws_poly_equal(c->group[i].value, x->arg[0]))
        i++;
    if (i == WS_MOST_GROUPS) {
        ws_global_problem(g, "it depends on too many conditions");
        return;
    }
    WsGroup *group = &c->group[i];
    if (i == c->n_groups) {
        *group = (WsGroup){ .value = x->arg[0], .launch = ws_poly_on(g->ps, x->arg[0]) == 0 };
        c->n_groups++;
    }
    while (k < group->n && group->threshold[k] < limit)
        k++;
    if (k < group->n && group->threshold[k] == limit)
        return;
    if (group->n == WS_MOST_THRESHOLDS) {
        ws_global_problem(g, "it depends on too many conditions");
        return;
    }
    for (guint j = group->n++; j > k; j--)
        group->threshold[j] = group->threshold[j - 1];
    group->threshold[k] = limit;
}

static void read_choice(gpointer data, guint atom)
{
    WsCover *c = data;
    const WsAtom *x = ws_atom(c->g->ps, atom);
    if (x->kind == WS_ATOM_LESS && !(x->on & (WS_ON_STEP | WS_ON_SEQUENCE)))
        add_threshold(c, atom);
}

static void read_conditions(WsCover *c, const WsPiece *piece)
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
                    ws_global_problem(g, "whether %s writes depends on %s",
                                      piece->op->step ? piece->op->step : piece->op->id, text);
                    return;
                }
                add_threshold(c, atom);
            }
}

static gboolean chosen(gpointer data, guint atom, WsPoly *out)
{
    WsCover *c = data;
    const WsAtom *x = ws_atom(c->g->ps, atom);
    if (x->kind != WS_ATOM_LESS)
        return FALSE;
    gint64 limit = 0;
    ws_poly_is_int(x->arg[1], &limit);
    for (guint i = 0; i < c->n_groups; i++) {
        const WsGroup *group = &c->group[i];
        if (!ws_poly_equal(group->value, x->arg[0]))
            continue;
        gboolean less = group->chosen < group->n && limit >= group->threshold[group->chosen];
        *out = ws_poly_int(c->g->ps, less);
        return TRUE;
    }
    return FALSE;
}

/* The piece is written in this case. */
static gboolean active(WsCover *c, const WsPiece *piece)
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
static void push_facts(WsCover *c, const WsGroup *x)
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
static gboolean impossible(WsCover *c, guint i)
{
    WsGlobal *g = c->g;
    const WsGroup *x = &c->group[i];
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
/* All of the piece lies outside of the tensor: it writes nothing. */
static gboolean outside(WsCover *c, const WsPiece *piece)
{
    WsGlobal *g = c->g;
    for (guint d = 0; d < piece->n_dims; d++) {
        WsPoly shape = ws_terms_of(&g->terms, g->p->tensor[g->tensor].shape[d]);
        if (ws_facts_least(&g->facts, ws_poly_add(g->ps, piece->at[d], -1, shape), TRUE))
            return TRUE;
    }
    return FALSE;
}

/* The piece as it is in this case: what `select` picks is known. */
static const WsPiece *in_case(WsCover *c, const WsPiece *piece)
{
    if (c->n_groups == 0)
        return piece;
    WsPiece *out = ws_polys_alloc(c->g->ps, sizeof *out);
    *out = *piece;
    for (guint d = 0; d < piece->n_dims; d++)
        out->at[d] = ws_poly_map(c->g->ps, piece->at[d], chosen, c);
    return out;
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

/* In this case some pinned axis has another value: nothing may be written. */
static gboolean off_pin(const WsCover *c)
{
    for (guint i = 0; i < c->n_pinned; i++)
        if (c->group[c->pinned[i].group].chosen != c->pinned[i].chosen)
            return TRUE;
    return FALSE;
}

/* Positions of tiles of a CTA, which agents may share out: they repeat after a while. */
static gboolean positions_fill(WsCover *c, gboolean last)
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
    if (g->p->tiles->launch == WS_LAUNCH_SINGLE)
        from = 0, every = 1;
    g_autoptr(GPtrArray) now = g_ptr_array_new();
    for (gint64 position = 0; position < from + every; position++) {
        guint n_active = 0;
        g_ptr_array_set_size(now, 0);
        for (guint i = 0; i < g->piece->len && !g->problem; i++) {
            WsPiece *piece = g->piece->pdata[i];
            gboolean mine = position >= piece->from && (position - piece->from) % piece->by == 0;
            gboolean late = piece->late == (last ? WS_LATE_NEXT : WS_LATE_END);
            if (!mine || late)
                continue;
            gboolean on = active(c, piece);
            n_active += on;
            if (on || outside(c, piece))
                g_ptr_array_add(now, (gpointer)in_case(c, piece));
        }
        if (!g->problem && off_pin(c)) {
            if (n_active == 0)
                continue;
            ws_global_cure(
                g, 2,
                "name %s in the coordinates, let one of its values alone write, or add to a tensor "
                "with access \"reduce\"",
                ws_atom(g->ps, c->pinned[0].atom)->name);
            ws_global_problem(
                g, "%s is in no coordinate: several of its values write the same elements",
                ws_atom(g->ps, c->pinned[0].atom)->name);
        }
        if (g->problem || !ws_cover_fills(c, now))
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

static gboolean leaf(WsCover *c, guint *work)
{
    WsGlobal *g = c->g;
    if ((*work)-- == 0)
        ws_global_problem(g, "it depends on too many conditions");
    return !g->problem && positions_fill(c, FALSE) && (!any_late(g) || positions_fill(c, TRUE));
}

/* Chooses group i and those behind it in every way; what holds for the launch comes first. */
static gboolean cases(WsCover *c, guint i, guint *work)
{
    WsGlobal *g = c->g;
    const gboolean launch = i < c->n_groups && c->group[i].launch;
    const gboolean first = !launch && (i == 0 || c->group[i - 1].launch);
    gboolean ok = TRUE;
    if (first)
        c->have_shape = FALSE; /* answers of the launch may cut the tiles in another way */
    if (i == c->n_groups)
        ok = leaf(c, work);
    for (guint k = 0; i < c->n_groups && k <= c->group[i].n && ok; k++) {
        const guint least = g->facts.least->len, tile = g->facts.tile->len;
        c->group[i].chosen = k;
        if (impossible(c, i))
            continue;
        push_facts(c, &c->group[i]);
        ok = cases(c, i + 1, work);
        g_array_set_size(g->facts.least, least);
        g_array_set_size(g->facts.tile, tile);
    }
    /* Where all answers of a tile are impossible there is no tile. */
    if (ok && first && !c->have_shape) {
        ws_global_problem(g, "it may be that no tile writes it");
        return FALSE;
    }
    return ok;
}

/* --- axes that are in no coordinate ------------------------------------------------------------
 */
/* The pieces name the axis in a coordinate, or it cannot be pinned by a condition. */
static gboolean in_coordinates(const WsGlobal *g, guint atom)
{
    for (guint i = 0; i < g->piece->len; i++) {
        const WsPiece *piece = g->piece->pdata[i];
        for (guint d = 0; d < piece->n_dims; d++)
            if (ws_poly_has(g->ps, piece->at[d], atom))
                return TRUE;
    }
    return FALSE;
}

/* Answer k of the group says that the axis has one value: what is compared, axis + rest or rest -
 * axis, lies between two thresholds that follow each other (an axis alone: between 0 and 1). */
static gboolean one_value(WsGlobal *g, const WsGroup *group, guint k, guint atom, WsPoly *value)
{
    WsPoly factor, rest;
    gint64 sign, from = 0;
    if (!ws_poly_linear(g->ps, group->value, atom, &factor, &rest) ||
        !ws_poly_is_int(factor, &sign) || ABS(sign) != 1 || ws_poly_on(g->ps, rest) != 0 ||
        k == group->n || (k == 0 && (sign < 0 || rest.n != 0)))
        return FALSE;
    if (k > 0)
        from = group->threshold[k - 1];
    WsPoly lies = ws_poly_add(g->ps, ws_poly_int(g->ps, from), -1, rest); /* sign * axis */
    *value = sign > 0 ? lies : ws_poly_add(g->ps, (WsPoly){ 0 }, -1, lies);
    return group->threshold[k] == from + 1;
}

static gboolean try_pins(WsCover *c, guint axis)
{
    WsGlobal *g = c->g;
    while (axis < g->axes->len && in_coordinates(g, g_array_index(g->axes, guint, axis)))
        axis++;
    if (axis == g->axes->len) {
        guint work = MOST_CASES;
        return cases(c, 0, &work);
    }
    const guint atom = g_array_index(g->axes, guint, axis);
    for (guint i = 0; i < c->n_groups && c->n_pinned < WS_MOST_PINNED; i++)
        for (guint k = 0; k <= c->group[i].n; k++) {
            WsPoly value;
            if (!one_value(g, &c->group[i], k, atom, &value))
                continue;
            c->pinned[c->n_pinned++] = (WsPinned){ atom, i, k, value };
            if (try_pins(c, axis + 1))
                return TRUE;
            c->n_pinned--;
            g_clear_pointer(&g->problem, g_free);
            g_clear_pointer(&g->cure, g_free);
            g_clear_pointer(&g->bounded, g_free);
            g_ptr_array_set_size(g->free, 0);
        }
    if (g->reduces) /* each value may do the same (cover.c is_free) */
        return try_pins(c, axis + 1);
    ws_global_cure(
        g, 2,
        "name %s in the coordinates, let one of its values alone write, or add to a tensor "
        "with access \"reduce\"",
        ws_atom(g->ps, atom)->name);
    ws_global_problem(g, "%s is in no coordinate: all its values write the same elements",
                      ws_atom(g->ps, atom)->name);
    return FALSE;
}

gboolean ws_global_covered(WsGlobal *g)
{
    WsCover *c = g_new0(WsCover, 1);
    c->g = g;
    for (guint i = 0; i < g->piece->len && !g->problem; i++)
        read_conditions(c, g->piece->pdata[i]);
    /* one answer per launch first: below it the tiles may be cut differently */
    for (guint i = 0, n = 0; i < c->n_groups; i++)
        if (c->group[i].launch) {
            WsGroup x = c->group[n];
            c->group[n++] = c->group[i];
            c->group[i] = x;
        }
    gboolean ok = !g->problem && try_pins(c, 0) && !ws_polys_broken(g->ps);
    g_free(c);
    return ok && !g->problem;
}
