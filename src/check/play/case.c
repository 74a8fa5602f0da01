/* One launch, and the tiles of one of its CTAs. */
#include "check/play/case.h"

#include "base/phrase.h"
#include "check/own_words.h"
#include "program/parts/dtype.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

enum { MOST_ASSUMED = 512 };

WsCase *ws_case_new(const WsProgram *p, WsLaunchValues *values, gint64 grid, gint64 cta, guint most)
{
    const gint64 cluster = MAX(p->cluster, 1);
    WsCase *c = g_new0(WsCase, 1);
    c->values = values;
    c->grid = grid, c->cta = cta;
    c->rounds = -1;
    c->range = g_new0(WsCaseRange, p->n_tensors + 1);
    const gint64 all = ws_launch_tiles(values), first = cta / cluster, step = grid / cluster;
    const gint64 own = first < all && step > 0 ? (all - first - 1) / step + 1 : 0;
    if (own > most) {
        ws_case_free(c);
        return NULL;
    }
    c->tiles = (guint)own;
    return c;
}

void ws_case_free(WsCase *c)
{
    if (!c)
        return;
    ws_launch_values_free(c->values);
    if (c->chosen)
        g_array_unref(c->chosen);
    g_free(c->range);
    g_free(c->said);
    g_free(c->sizes);
    ws_met_unref(c->met);
    g_free(c);
}

gint64 ws_case_tile(const WsProgram *p, const WsCase *c, gint64 position)
{
    const gint64 cluster = MAX(p->cluster, 1);
    if (position < 0 || position >= c->tiles)
        return -1;
    return c->cta / cluster + position * (c->grid / cluster);
}

/* --- elements --------------------------------------------------------------------------------- */
/* What the declared `data`, or else the type, allows. */
static void find_range(const WsProgram *p, const WsCase *c, gint tensor, gint64 *low, gint64 *high)
{
    const WsTensor *t = &p->tensor[tensor];
    WsExprEnv env = ws_launch_env(c->values);
    gint64 a = 0, b = 0;
    const gboolean known = (!t->data_a || ws_expr_eval(t->data_a, &env, &a, NULL)) &&
                           (!t->data_b || ws_expr_eval(t->data_b, &env, &b, NULL));
    *low = t->dtype == WS_DTYPE_I8 ? G_MININT8 : t->dtype == WS_DTYPE_U8 ? 0 : G_MININT32;
    *high = t->dtype == WS_DTYPE_I8 ? G_MAXINT8 : t->dtype == WS_DTYPE_U8 ? G_MAXUINT8 : G_MAXINT32;
    if (t->data == WS_DATA_ZEROS)
        *low = *high = 0;
    else if (t->data == WS_DATA_INTEGERS && known)
        *low = a, *high = MAX(b - 1, a);
    else if (t->data == WS_DATA_INDICES && known)
        *low = -1, *high = MAX(a - 1, -1);
    else if (t->data == WS_DATA_OFFSETS && known)
        *low = 0, *high = MAX(a, 0);
}

static void range_of(const WsProgram *p, const WsCase *c, gint tensor, gint64 *low, gint64 *high)
{
    WsCaseRange *r = &c->range[tensor];
    if (!r->known)
        find_range(p, c, tensor, &r->low, &r->high);
    r->known = TRUE;
    *low = r->low, *high = r->high;
}

static WsCaseElement *find(const WsProgram *p, const WsCase *c, gint tensor, const gint64 *at)
{
    for (guint i = 0; c->chosen && i < c->chosen->len; i++) {
        WsCaseElement *x = &g_array_index(c->chosen, WsCaseElement, i);
        if (x->tensor == tensor && !memcmp(x->at, at, p->tensor[tensor].rank * sizeof *at))
            return x;
    }
    return NULL;
}

static gint64 usual(const WsProgram *p, const WsCase *c, gint tensor, const gint64 *at)
{
    gint64 low, high;
    range_of(p, c, tensor, &low, &high);
    const gint64 odd = p->tensor[tensor].rank > 0 && at[0] % 2 ? c->element_step : 0;
    return CLAMP(c->element + odd, low, high);
}

gint64 ws_case_element(const WsProgram *p, const WsCase *c, gint tensor, const gint64 *at)
{
    const WsCaseElement *x = find(p, c, tensor, at);
    return x ? x->value : usual(p, c, tensor, at);
}

void ws_case_choose(const WsProgram *p, WsCase *c, gint tensor, const gint64 *at, gint64 value)
{
    WsCaseElement *x = find(p, c, tensor, at), made = { .tensor = tensor };
    gint64 low, high;
    range_of(p, c, tensor, &low, &high);
    if (!c->chosen)
        c->chosen = g_array_new(FALSE, FALSE, sizeof(WsCaseElement));
    if (!x) {
        memcpy(made.at, at, p->tensor[tensor].rank * sizeof *at);
        g_array_append_val(c->chosen, made);
        x = &g_array_index(c->chosen, WsCaseElement, c->chosen->len - 1);
    }
    x->value = CLAMP(value, low, high);
}

/* --- assumptions about tiles ------------------------------------------------------------------ */
const char *ws_case_broken(const WsProgram *p, const WsCase *c)
{
    g_autoptr(WsAtTile) a = NULL;
    for (guint i = 0; i < p->n_assume; i++) {
        const char *text = p->assume_text ? p->assume_text[i] : "an assumption";
        gboolean tile = FALSE, of_tile = ws_of_tile(p, p->assume[i], &tile);
        const gint64 all = ws_launch_tiles(c->values);
        if (!tile)
            continue; /* ws_launch_values() asked it */
        if (!of_tile || all > MOST_ASSUMED)
            return text;
        if (!a)
            a = ws_at_tile_new(p, c);
        for (gint64 t = 0; t < all; t++) {
            gint64 holds = 0;
            ws_at_tile_move(a, t);
            if (!ws_at_tile_eval(a, p->assume[i], &holds) || !holds)
                return text;
        }
    }
    return NULL;
}

/* --- words ------------------------------------------------------------------------------------ */
static WsMet *met_of(const WsProgram *p, const WsCase *c)
{
    G_STATIC_ASSERT(WS_MET_RANK == WS_MAX_RANK);
    WsMet *met = ws_met_new();
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_SIZE)
            ws_met_add(met, p->var[v].name, NULL, 0, ws_launch_var(c->values, (gint)v));
    for (guint i = 0; c->chosen && i < c->chosen->len; i++) {
        const WsCaseElement *x = &g_array_index(c->chosen, WsCaseElement, i);
        const WsTensor *t = &p->tensor[x->tensor];
        if (x->value != usual(p, c, x->tensor, x->at))
            ws_met_add(met, t->name, x->at, t->rank, x->value);
    }
    if (c->grid > MAX(p->cluster, 1))
        met->grid = c->grid, met->cta = c->cta;
    met->data = c->data;
    met->element = c->data ? c->element : 0;
    met->element_step = c->data ? c->element_step : 0;
    return met;
}

static void tell_value(GString *s, const WsMetValue *x)
{
    g_string_append_printf(s, "%s%s", s->len ? ", " : "", x->name);
    for (guint d = 0; d < x->rank; d++)
        g_string_append_printf(s, "%s%" G_GINT64_FORMAT, d ? "," : "[", x->at[d]);
    g_string_append_printf(s, "%s = %" G_GINT64_FORMAT, x->rank ? "]" : "", x->value);
}

static void tell_tiles(GString *s, const WsProgram *p, const WsCase *c)
{
    enum { MOST_TOLD = 6 };
    g_autoptr(GString) list = g_string_new(NULL);
    for (guint i = 0; i < MIN(c->tiles, MOST_TOLD); i++)
        g_string_append_printf(list, "%s%" G_GINT64_FORMAT, i ? " " : "", ws_case_tile(p, c, i));
    if (c->tiles > MOST_TOLD)
        g_string_append(list, " …");
    if (c->tiles)
        ws_phrase_append(s, c->tiles == 1 ? " (tile %s)" : " (tiles %s)", list->str);
    else
        g_string_append(s, WS_WORD(" (no tile)"));
}

void ws_case_tell(const WsProgram *p, WsCase *c)
{
    WsMet *met = met_of(p, c);
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < met->value->len; i++)
        tell_value(s, &g_array_index(met->value, WsMetValue, i));
    if (met->data)
        ws_phrase_append(s, "%selements %" G_GINT64_FORMAT, s->len ? ", " : "", met->element);
    if (met->element_step)
        ws_phrase_append(s, " and %" G_GINT64_FORMAT " by turns", met->element + met->element_step);
    if (met->grid) {
        ws_phrase_append(s, "%sCTA %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, s->len ? ", " : "",
                         met->cta, met->grid);
        tell_tiles(s, p, c);
    }
    ws_met_unref(c->met);
    c->met = met;
    g_free(c->said);
    g_free(c->sizes);
    c->said = g_string_free(s, FALSE);
    c->sizes = NULL;
    ws_own_words(p->hardware, &c->said, &c->sizes);
    if (!c->sizes)
        c->sizes = ws_phrase_text(c->said, NULL, NULL);
}

/* --- for walkers ------------------------------------------------------------------------------ */
gint64 ws_case_source_tile(gpointer source, gint64 position)
{
    const WsCaseSource *s = source;
    return ws_case_tile(s->p, s->c, position);
}

gboolean ws_case_source_element(gpointer source, gint tensor, const gint64 *at, gint64 *value)
{
    const WsCaseSource *s = source;
    *value = ws_case_element(s->p, s->c, tensor, at);
    return TRUE;
}
