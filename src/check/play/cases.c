/* Which cases to play: the wanted rounds of every driver, over 0 to 3 tiles; then whatever else
 * sizes and grids make of the program's questions. */
#include "check/play/launches.h"
#include "check/play/play.h"
#include "check/play/questions.h"
#include "check/touch.h"
#include "program/parts/agent.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

enum { MOST_TOLD = 64, MOST_FULL = 4 }; /* of a CTA of a full grid, tiles */

typedef struct {
    const WsProgram *p;
    WsLaunches *launches;
    GPtrArray *drivers, *cases;
    GArray *questions;
    gint64 *base;
    GPtrArray *skipped;
    GHashTable *seen; /* of cases that are there: their words; of cases_beyond(): their profiles */
} Maker;

static void skip(const Maker *m, const char *what, const char *why)
{
    if (m->skipped->len < MOST_TOLD)
        g_ptr_array_add(m->skipped, ws_phrase("%s: %s", what, why));
}

static void case_free(gpointer data)
{
    ws_case_free(data);
}

/* What is wanted of a case: its text if it cannot be had. */
static char *wish_text(const Maker *m, const gint64 *now, guint tiles)
{
    GString *text = g_string_new(NULL);
    for (guint v = 0; v < m->p->n_vars; v++)
        if (m->p->var[v].kind == WS_VAR_SIZE && now[v] != m->base[v])
            g_string_append_printf(text, "%s = %" G_GINT64_FORMAT ", ", m->p->var[v].name, now[v]);
    g_string_append_printf(text, "%u tile%s", tiles, tiles == 1 ? "" : "s");
    return g_string_free(text, FALSE);
}

/* Elements that give the tile names of drivers their wanted values, where elements decide them. */
static void choose_elements(const Maker *m, WsCase *c, const guint *pick, gboolean mixed)
{
    g_autoptr(WsAtTile) at = ws_at_tile_new(m->p, c);
    for (guint t = 0; t < c->tiles; t++)
        for (guint i = 0; i < m->drivers->len; i++) {
            const WsDriver *d = m->drivers->pdata[i];
            if (d->tile_var < 0 || d->value->len == 0 || !m->p->var[d->tile_var].value)
                continue;
            const gint64 x =
                g_array_index(d->value, gint64, (pick[i] + (mixed ? t : 0)) % d->value->len);
            ws_at_tile_move(at, ws_case_tile(m->p, c, t));
            if (ws_at_tile_reach(at, c, m->p->var[d->tile_var].value, x))
                ws_at_tile_keep(at, c);
        }
}

/* Takes a case into the list unless it is there or assumptions about its tiles do not hold. */
static void take(Maker *m, WsCase *c)
{
    const char *broken = ws_case_broken(m->p, c);
    ws_case_tell(m->p, c);
    char *key = g_strdup_printf("%s; %u", c->sizes, c->tiles);
    if (broken) {
        g_autofree char *why = ws_phrase("%s does not hold", broken);
        skip(m, key, why);
    }
    const gboolean few = ws_case_weigh(m->p, c, m->questions);
    if (!few)
        skip(m, key, WS_WORD("too many rounds to simulate"));
    if (!g_hash_table_add(m->seen, key) || broken || !few) {
        ws_case_free(c);
        return;
    }
    g_ptr_array_add(m->cases, c);
}

/* One choice: index into the rounds of each driver. Where two drivers choose the same size, `lead`
 * (-1: the last) has its way. */
static void make_case(Maker *m, const guint *pick, guint tiles, gboolean mixed, gint lead)
{
    const WsProgram *p = m->p;
    g_autofree gint64 *now = g_memdup2(m->base, (p->n_vars + 1) * sizeof(gint64));
    g_autofree gboolean *locked = g_new0(gboolean, p->n_vars + 1);
    if (lead >= 0) {
        const WsDriver *d = m->drivers->pdata[lead];
        if (d->tile_var < 0 && d->rounds->len)
            now[d->size] = g_array_index(d->value, gint64, pick[lead] % d->rounds->len);
    }
    for (guint i = 0; i < m->drivers->len; i++) {
        const WsDriver *d = m->drivers->pdata[i];
        if (d->rounds->len == 0 || d->tile_var >= 0)
            continue;
        gboolean led =
            lead >= 0 && (guint)lead != i && ((WsDriver *)m->drivers->pdata[lead])->size == d->size;
        locked[d->size] = TRUE;
        if (!led)
            now[d->size] = g_array_index(d->value, gint64, pick[i] % d->rounds->len);
    }
    g_autofree char *text = wish_text(m, now, tiles), *why = NULL;
    WsCase *c = ws_case_with(m->launches, now, locked, tiles, &why);
    if (!c) {
        skip(m, text, why ? why : WS_WORD("no CTA of any launch has so many"));
        return;
    }
    choose_elements(m, c, pick, mixed);
    take(m, c);
}

static void cases_of(Maker *m, guint tiles, guint most)
{
    guint n = m->drivers->len;
    g_autofree guint *pick = g_new0(guint, n + 1);
    gboolean by_tile = FALSE;
    for (guint i = 0; i < n; i++)
        by_tile |= ((WsDriver *)m->drivers->pdata[i])->tile_var >= 0;
    if (tiles == 0 || most == 0) {
        make_case(m, pick, tiles, FALSE, -1);
        return;
    }
    for (guint r = 0; r < most; r++) {
        for (guint i = 0; i < n; i++)
            pick[i] = r;
        make_case(m, pick, tiles, FALSE, -1);
        if (by_tile && tiles > 1)
            make_case(m, pick, tiles, TRUE, -1);
    }
    for (guint i = 0; i < n && n > 1;
         i++) /* unequal: one driver alone, the others at their third */
        for (guint r = 0; r < most; r++) {
            for (guint k = 0; k < n; k++)
                pick[k] = k == i ? r : MIN(2, ((WsDriver *)m->drivers->pdata[k])->rounds->len - 1);
            make_case(m, pick, tiles, FALSE, (gint)i);
        }
}

/* Fewest tiles and rounds together, then fewest tiles. */
static gint smaller(gconstpointer a, gconstpointer b)
{
    const WsCase *x = *(WsCase *const *)a, *y = *(WsCase *const *)b;
    guint64 p = (guint64)x->weight + x->tiles, q = (guint64)y->weight + y->tiles;
    if (p != q)
        return p < q ? -1 : 1;
    if (x->tiles != y->tiles)
        return x->tiles < y->tiles ? -1 : 1;
    return x->grid < y->grid ? -1 : x->grid > y->grid;
}

GPtrArray *ws_cases(const WsProgram *p, guint max_tiles, const GArray *more, GPtrArray *skipped)
{
    g_autofree gint64 *base = ws_rehearsal_sizes(p);
    g_autoptr(GPtrArray) drivers = ws_drivers(p, base, more, skipped);
    g_autoptr(GArray) questions = ws_questions(p);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    guint most = 0;
    for (guint i = 0; i < drivers->len; i++)
        most = MAX(most, ((WsDriver *)drivers->pdata[i])->rounds->len);
    g_autoptr(WsLaunches) launches = ws_launches_new(p);
    Maker m = { p,         launches, drivers, g_ptr_array_new_with_free_func(case_free),
                questions, base,     skipped, seen };
    gboolean single = p->tiles->launch == WS_LAUNCH_SINGLE;
    for (guint t = single ? 1 : 0; t <= (single ? 1 : max_tiles); t++)
        cases_of(&m, t, most);
    g_ptr_array_sort(m.cases, smaller);
    return m.cases;
}

/* --- further sizes, grids and CTAs ------------------------------------------------------------ */
/* Numbers worth trying for a size. */
static GArray *numbers(const Maker *m)
{
    enum { MOST_LITERALS = 6 };
    g_autoptr(GArray) literal = g_array_new(FALSE, FALSE, sizeof(gint64));
    GArray *list = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < m->questions->len; i++)
        ws_literals(m->p, g_array_index(m->questions, WsQuestion, i).expr, literal, MOST_LITERALS);
    for (guint a = 0; a < m->p->tiles->n_axes; a++)
        ws_literals(m->p, m->p->tiles->axis[a].extent, literal, MOST_LITERALS);
    for (gint64 x = 0; x <= 8; x++)
        g_array_append_val(list, x);
    for (guint i = 0; i < literal->len; i++) {
        const gint64 l = g_array_index(literal, gint64, i);
        for (gint64 k = 1; l > 1 && l <= 4096 && k <= 6; k++)
            for (gint64 d = k > 3 ? 0 : -1; d <= (k > 3 ? 0 : 1); d++) {
                gint64 x = k * l + d;
                g_array_append_val(list, x);
            }
    }
    return list;
}

/* All places at these sizes where the questions have answers that no case before had. */
static void places_at(Maker *m, const gint64 *now, guint max_tiles, guint *left)
{
    enum { MOST_PLACES = 24, MOST_NEW = 96 };
    gboolean single = m->p->tiles->launch == WS_LAUNCH_SINGLE;
    for (guint t = 1; t <= (single ? 1 : max_tiles); t++)
        for (guint nth = 0; nth<MOST_PLACES && * left> 0 && m->cases->len < MOST_NEW; nth++) {
            gint64 grid, cta;
            WsLaunchValues *values = ws_values_at(m->launches, now, NULL);
            --*left;
            if (!values)
                return;
            if (!ws_place(m->p, values, t, nth, &grid, &cta)) {
                ws_launch_values_free(values);
                break;
            }
            WsCase *c = ws_case_new(m->p, values, grid, cta, t);
            if (g_hash_table_add(m->seen, ws_profile(m->p, c, m->questions)))
                take(m, c);
            else
                ws_case_free(c);
        }
}

/* Two sizes at once, both small: extents of two axes. */
static void two_sizes(Maker *m, gint64 *now, guint max_tiles, guint *left)
{
    enum { SMALL = 4 };
    const WsProgram *p = m->p;
    for (guint v = 0; v < p->n_vars; v++)
        for (guint w = v + 1; w < p->n_vars; w++) {
            const gint64 keep[2] = { now[v], now[w] };
            if (p->var[v].kind != WS_VAR_SIZE || p->var[w].kind != WS_VAR_SIZE)
                continue;
            for (gint i = 0; i<SMALL * SMALL && * left> 0; i++) {
                now[v] = 1 + i / SMALL, now[w] = 1 + i % SMALL;
                places_at(m, now, max_tiles, left);
            }
            now[v] = keep[0], now[w] = keep[1];
        }
}

/* Where the design says how many CTAs there are: sizes that give each so many tiles, and the first
 * of them one more. */
static void full_grids(Maker *m, gint64 *now, guint max_tiles, guint *left)
{
    enum { MOST_LITERALS = 8, MOST_PARTS = 2 };
    const WsProgram *p = m->p;
    g_autoptr(WsLaunchValues) values = p->tiles->grid ? ws_values_at(m->launches, now, NULL) : NULL;
    const gint64 ctas = values ? ws_launch_grid(values, 1) / MAX(p->cluster, 1) : 0;
    g_autoptr(GArray) factor = g_array_new(FALSE, FALSE, sizeof(gint64));
    const gint64 one = 1;
    g_array_append_val(factor, one);
    for (guint a = 0; a < p->tiles->n_axes; a++)
        ws_literals(p, p->tiles->axis[a].extent, factor, MOST_LITERALS);
    for (guint v = 0; v < p->n_vars && ctas > 1; v++) {
        const gint64 keep = now[v];
        for (guint i = 0; p->var[v].kind == WS_VAR_SIZE && i < factor->len; i++)
            for (gint64 t = 1; t <= max_tiles; t++)
                for (gint64 part = 1; part <= MOST_PARTS && *left > 0; part++) {
                    const gint64 by = g_array_index(factor, gint64, i);
                    if (by < 1 || by > G_MAXINT16 || ctas > G_MAXINT16)
                        continue;
                    now[v] = (t * ctas / part) * by;
                    places_at(m, now, (guint)t, left);
                    now[v] = ((t - 1) * ctas / part + 1) * by;
                    places_at(m, now, (guint)t, left);
                }
        now[v] = keep;
    }
}

GPtrArray *ws_cases_beyond(const WsProgram *p, guint max_tiles)
{
    enum { MOST_LAUNCHES = 4000 };
    g_autofree gint64 *now = ws_rehearsal_sizes(p);
    g_autoptr(GPtrArray) drivers = g_ptr_array_new(),
                         skipped = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GArray) questions = ws_questions(p);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(WsLaunches) launches = ws_launches_new(p);
    Maker m = { p,         launches, drivers, g_ptr_array_new_with_free_func(case_free),
                questions, now,      skipped, seen };
    g_autoptr(GArray) number = numbers(&m);
    guint left = MOST_LAUNCHES;
    if (questions->len == 0)
        return m.cases;
    places_at(&m, now, max_tiles, &left);
    for (guint k = 0; k < number->len; k++)
        for (guint v = 0; v < p->n_vars && left > 0; v++) {
            const gint64 keep = now[v];
            if (p->var[v].kind != WS_VAR_SIZE)
                continue;
            now[v] = g_array_index(number, gint64, k);
            places_at(&m, now, max_tiles, &left);
            now[v] = keep;
        }
    two_sizes(&m, now, max_tiles, &left);
    full_grids(&m, now, MIN(max_tiles, MOST_FULL), &left);
    g_ptr_array_sort(m.cases, smaller);
    return m.cases;
}

/* --- data worth choosing ---------------------------------------------------------------------- */
enum { MOST_DATA = 64 };

static void add_data(GArray *list, gint64 element, gint64 step)
{
    for (guint i = 1; i < list->len; i++) {
        const WsCaseData *d = &g_array_index(list, WsCaseData, i);
        if (d->element == element && d->step == step)
            return;
    }
    const WsCaseData d = { element, step };
    if (list->len < MOST_DATA)
        g_array_append_val(list, d);
}

static void add_literal(const WsExpr *e, gpointer data)
{
    gint64 x;
    if (!ws_expr_is_int(e, &x) || ABS(x) > G_MAXINT32)
        return;
    for (gint64 d = -1; d <= 1; d++)
        add_data(data, x + d, 0);
}

static void add_conditions(const WsTree *t, GArray *list)
{
    if (t && t->cond)
        ws_expr_visit(t->cond, add_literal, list);
    for (guint i = 0; t && i < t->n_kids; i++)
        add_conditions(t->kid[i], list);
}

GArray *ws_case_data(const WsProgram *p)
{
    static const WsCaseData small[] = { { 0, 0 }, { 0, 0 }, { 1, 0 },  { 2, 0 }, { 3, 0 }, { 5, 0 },
                                        { 9, 0 }, { 0, 1 }, { 1, -1 }, { 1, 2 }, { 4, -3 } };
    GArray *list = g_array_new(FALSE, FALSE, sizeof(WsCaseData));
    gboolean chooses = ws_has_integer_tensor(p);
    g_array_append_vals(list, small, chooses ? G_N_ELEMENTS(small) : 1);
    for (guint t = 0; chooses && t < p->n_tensors; t++)
        for (guint k = 0; k < 2 && p->tensor[t].data == WS_DATA_INTEGERS; k++) {
            const WsExpr *end = k ? p->tensor[t].data_b : p->tensor[t].data_a;
            if (end)
                ws_expr_visit(end, add_literal, list);
        }
    for (guint a = 0; chooses && a < p->n_agents; a++)
        add_conditions(p->agent[a].body, list);
    for (guint v = 0; chooses && v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_TILE && p->var[v].value)
            ws_expr_visit(p->var[v].value, add_literal, list);
    return list;
}

gboolean ws_case_with_data(const WsProgram *p, WsCase *c, const WsCaseData *data)
{
    c->data = data != NULL;
    c->element = data ? data->element : 0;
    c->element_step = data ? data->step : 0;
    ws_case_tell(p, c);
    return !ws_case_broken(p, c);
}
