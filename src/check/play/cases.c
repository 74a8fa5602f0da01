/* Which cases to play: the wanted rounds of every driver, over 0 to 3 tiles. */
#include "check/play/play.h"
#include "check/touch.h"

#include <string.h>

typedef struct {
    const WsProgram *p;
    GPtrArray *drivers, *cases;
    gint64 *base;
    GPtrArray *skipped;
} Maker;

/* Rounds that a driver makes at a value of its size: those of the largest value that was solved and
 * is not above it. */
static gint64 rounds_at(const WsDriver *d, gint64 value)
{
    gint64 r = 0;
    for (guint i = 0; i < d->value->len; i++)
        if (g_array_index(d->value, gint64, i) <= value)
            r = MAX(r, g_array_index(d->rounds, gint64, i));
    return r;
}

/* Rounds and tiles of a case together, once it is settled which driver has its way. */
static void weigh(const Maker *m, WsCase *c, const guint *pick, const gint64 *now)
{
    for (guint i = 0; i < m->drivers->len; i++) {
        const WsDriver *d = m->drivers->pdata[i];
        if (d->rounds->len == 0)
            continue;
        gint64 r = d->tile_var < 0 ? rounds_at(d, now[d->size])
                                   : g_array_index(d->rounds, gint64, pick[i] % d->rounds->len);
        c->rounds = MAX(c->rounds, r);
        c->weight += (guint)MIN(r * c->tiles, 1000000);
    }
}

static void case_free(gpointer data)
{
    WsCase *c = data;
    g_clear_pointer(&c->values, ws_launch_values_free);
    g_free(c->pin);
    g_free(c->pin_values);
    g_free(c->sizes);
    g_free(c);
}

/* One choice: index into the rounds of each driver. Where two drivers choose the same size, `lead`
 * (-1: the last) has its way. */
static void make_case(Maker *m, const guint *pick, guint tiles, gboolean mixed, gint lead)
{
    const WsProgram *p = m->p;
    g_autofree WsSize *size = g_new0(WsSize, p->n_vars + 1);
    g_autofree gint64 *now = g_memdup2(m->base, p->n_vars * sizeof(gint64));
    g_autoptr(GString) text = g_string_new(NULL);
    WsCase *c = g_new0(WsCase, 1);
    c->rounds = -1;
    c->tiles = tiles;
    c->mixed = mixed;
    c->pin = g_new0(gint64, p->n_vars + 1);
    c->n_pin_values = mixed ? MAX(tiles, 1) : 1;
    c->pin_values = g_new0(gint64, m->drivers->len * c->n_pin_values + 1);
    if (lead >= 0) {
        const WsDriver *d = m->drivers->pdata[lead];
        if (d->tile_var < 0 && d->rounds->len)
            now[d->size] = g_array_index(d->value, gint64, pick[lead] % d->rounds->len);
    }
    for (guint i = 0; i < m->drivers->len; i++) {
        const WsDriver *d = m->drivers->pdata[i];
        if (d->rounds->len == 0)
            continue;
        guint at = pick[i] % d->rounds->len;
        gint64 v = g_array_index(d->value, gint64, at);
        if (d->tile_var < 0) {
            gboolean led = lead >= 0 && (guint)lead != i &&
                           ((WsDriver *)m->drivers->pdata[lead])->size == d->size;
            now[d->size] = led ? now[d->size] : v;
            continue;
        }
        c->pin[d->tile_var] = i + 1;
        g_string_append_printf(text, "%s%s =", text->len ? ", " : "", p->var[d->tile_var].name);
        for (guint k = 0; k < c->n_pin_values; k++) {
            gint64 x = g_array_index(d->value, gint64, (at + k) % d->value->len);
            c->pin_values[i * c->n_pin_values + k] = x;
            g_string_append_printf(text, " %" G_GINT64_FORMAT, x);
        }
    }
    weigh(m, c, pick, now);
    guint n = 0;
    for (guint v = 0; v < p->n_vars; v++) {
        if (p->var[v].kind != WS_VAR_SIZE)
            continue;
        size[n++] = (WsSize){ p->var[v].name, now[v] };
        if (now[v] != m->base[v])
            g_string_append_printf(text, "%s%s = %" G_GINT64_FORMAT, text->len ? ", " : "",
                                   p->var[v].name, now[v]);
    }
    g_autoptr(WsFindings) why = ws_findings_new();
    c->values = ws_launch_values(p, size, n, TRUE, why);
    if (!c->values || (tiles > 0 && ws_launch_tiles(c->values) < 1)) {
        const WsFinding *f = why->list->len ? why->list->pdata[0] : NULL;
        g_ptr_array_add(m->skipped,
                        g_strdup_printf("%s: %s", text->str, f ? f->message : "no tile"));
        case_free(c);
        return;
    }
    c->sizes = g_strdup(text->str);
    g_ptr_array_add(m->cases, c);
}

static void cases_of(Maker *m, guint tiles, guint most)
{
    guint n = m->drivers->len;
    g_autofree guint *pick = g_new0(guint, n + 1);
    gboolean pinned = FALSE;
    for (guint i = 0; i < n; i++)
        pinned |= ((WsDriver *)m->drivers->pdata[i])->tile_var >= 0;
    if (tiles == 0 || most == 0) {
        make_case(m, pick, tiles, FALSE, -1);
        return;
    }
    for (guint r = 0; r < most; r++) {
        for (guint i = 0; i < n; i++)
            pick[i] = r;
        make_case(m, pick, tiles, FALSE, -1);
        if (pinned && tiles > 1)
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
    return x->tiles < y->tiles ? -1 : x->tiles > y->tiles;
}

GPtrArray *ws_cases(const WsProgram *p, guint max_tiles, const GArray *more, GPtrArray *skipped)
{
    g_autofree gint64 *base = g_new0(gint64, p->n_vars + 1);
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_SIZE)
            base[v] = p->var[v].rehearse;
    g_autoptr(GPtrArray) drivers = ws_drivers(p, base, more, skipped);
    guint most = 0;
    for (guint i = 0; i < drivers->len; i++)
        most = MAX(most, ((WsDriver *)drivers->pdata[i])->rounds->len);
    Maker m = { p, drivers, g_ptr_array_new_with_free_func(case_free), base, skipped };
    gboolean single = p->tiles.launch == WS_LAUNCH_SINGLE;
    for (guint t = single ? 1 : 0; t <= (single ? 1 : max_tiles); t++)
        cases_of(&m, t, most);
    g_ptr_array_sort(m.cases, smaller);
    return m.cases;
}

gboolean ws_case_element(const WsProgram *p, const WsCase *c, gint tensor, const gint64 *at,
                         gint64 *value)
{
    const WsTensor *t = &p->tensor[tensor];
    WsExprEnv env = ws_launch_env(c->values);
    gint64 low = 0, high = G_MAXINT32;
    if (t->data == WS_DATA_INTEGERS && ((t->data_a && !ws_expr_eval(t->data_a, &env, &low, NULL)) ||
                                        (t->data_b && !ws_expr_eval(t->data_b, &env, &high, NULL))))
        return FALSE;
    gint64 x = low + c->element + (t->rank > 0 && at[0] % 2 ? c->element_step : 0);
    *value = CLAMP(x, low, MAX(high - 1, low));
    return TRUE;
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
    if (!ws_expr_is_int(e, &x) || x < -1 || x > G_MAXINT32)
        return;
    for (gint64 d = -1; d <= 1; d++)
        if (x + d >= 0)
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
    for (guint a = 0; chooses && a < p->n_agents; a++)
        add_conditions(p->agent[a].body, list);
    for (guint v = 0; chooses && v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_TILE && p->var[v].value)
            ws_expr_visit(p->var[v].value, add_literal, list);
    return list;
}
