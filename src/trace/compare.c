/* Two traces side by side, execution by execution. */
#include "trace/op_kind.h"
#include "trace/stats.h"

#include "trace/spread.h"

#include <string.h>

/* The key that means the same in both traces: names, since indices may differ. */
static char *step_key(const WsTrace *t, const WsTraceRecord *r)
{
    return g_strdup_printf("%s\n%s\n%d", (const char *)t->agent_name->pdata[r->agent],
                           (const char *)t->op_id->pdata[r->op], (int)ws_trace_op_kind(t, r->op));
}

typedef struct {
    gint32 cta, tile, round;
    guint32 row;
} Key;

static guint hash_key(gconstpointer p)
{
    const Key *k = p;
    guint h = k->row;
    h = h * 1000003u ^ (guint)k->cta;
    h = h * 1000003u ^ (guint)k->tile;
    return h * 1000003u ^ (guint)k->round;
}

static gboolean same_key(gconstpointer pa, gconstpointer pb)
{
    const Key *a = pa, *b = pb;
    return a->row == b->row && a->cta == b->cta && a->tile == b->tile && a->round == b->round;
}

typedef struct {
    WsTraceDelta delta;
    GArray *held_a, *held_b, *flight_a, *flight_b, *drift; /* gint64 */
} Row;

typedef struct {
    const WsTrace *a, *b;
    GHashTable *row_of; /* step key -> row + 1 */
    GPtrArray *rows;    /* Row* */
    GHashTable *by_key; /* Key* -> record of a */
    GHashTable *shift;  /* Key* with round = 0, row = launches of both -> gint64*: start_b - start_a
                           of the tile */
} Work;

static void free_row(gpointer data)
{
    Row *r = data;
    g_array_free(r->held_a, TRUE);
    g_array_free(r->held_b, TRUE);
    g_array_free(r->flight_a, TRUE);
    g_array_free(r->flight_b, TRUE);
    g_array_free(r->drift, TRUE);
    g_free(r);
}

static GArray *times(void)
{
    return g_array_new(FALSE, FALSE, sizeof(gint64));
}

static guint row_of(Work *w, const WsTrace *t, const WsTraceRecord *r)
{
    char *key = step_key(t, r);
    guint row = GPOINTER_TO_UINT(g_hash_table_lookup(w->row_of, key));
    if (row) {
        g_free(key);
        return row - 1;
    }
    Row *new_row = g_new0(Row, 1);
    new_row->delta.agent = r->agent;
    new_row->delta.op = r->op;
    new_row->held_a = times();
    new_row->held_b = times();
    new_row->flight_a = times();
    new_row->flight_b = times();
    new_row->drift = times();
    g_ptr_array_add(w->rows, new_row);
    g_hash_table_insert(w->row_of, key, GUINT_TO_POINTER(w->rows->len));
    return w->rows->len - 1;
}

/* Row numbers of all (agent, op) of a trace, so that keys are built once and not per record. */
static GHashTable *row_table(Work *w, const WsTrace *t)
{
    GHashTable *rows = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        gint64 key = ((gint64)r->agent << 32) | r->op;
        if (!g_hash_table_contains(rows, &key))
            g_hash_table_insert(rows, g_memdup2(&key, sizeof key),
                                GUINT_TO_POINTER(row_of(w, t, r)));
    }
    return rows;
}

static Key key_of(GHashTable *rows, const WsTraceRecord *r)
{
    gint64 k = ((gint64)r->agent << 32) | r->op;
    Key key = { .cta = r->cta,
                .tile = r->tile,
                .round = r->round,
                .row = GPOINTER_TO_UINT(g_hash_table_lookup(rows, &k)) };
    return key;
}

static void match(Work *w, WsTraceComparison *c, const WsTraceRecord *a, const WsTraceRecord *b,
                  Row *row)
{
    Key tile = { .cta = a->cta, .tile = a->tile };
    tile.row = ws_trace_launch_of(w->a, a) * WS_TRACE_MAX_LAUNCHES + ws_trace_launch_of(w->b, b);
    gint64 *shift = g_hash_table_lookup(w->shift, &tile);
    gint64 apart = b->start - a->start;
    if (!shift) {
        shift = g_memdup2(&apart, sizeof apart);
        g_hash_table_insert(w->shift, g_memdup2(&tile, sizeof tile), shift);
    }
    gint64 held_a = MAX(a->issued, a->start) - a->start;
    gint64 held_b = MAX(b->issued, b->start) - b->start;
    gint64 drift = apart - *shift;
    g_array_append_val(row->held_a, held_a);
    g_array_append_val(row->held_b, held_b);
    g_array_append_val(row->drift, drift);
    if (a->done >= 0 && b->done >= 0) {
        gint64 flight_a = a->done - a->start, flight_b = b->done - b->start;
        g_array_append_val(row->flight_a, flight_a);
        g_array_append_val(row->flight_b, flight_b);
    }
    row->delta.total_a = ws_add_saturated(row->delta.total_a, held_a);
    row->delta.total_b = ws_add_saturated(row->delta.total_b, held_b);
    row->delta.n++;
    c->common++;
}

static void match_all(Work *w, WsTraceComparison *c)
{
    g_autoptr(GHashTable) rows_a = row_table(w, w->a);
    g_autoptr(GHashTable) rows_b = row_table(w, w->b);
    Key *keys = g_new(Key, MAX(w->a->record->len, 1));
    for (guint i = 0; i < w->a->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(w->a->record, WsTraceRecord, i);
        keys[i] = key_of(rows_a, r);
        if (!g_hash_table_contains(w->by_key, &keys[i]))
            g_hash_table_insert(w->by_key, &keys[i], (gpointer)r);
    }
    for (guint i = 0; i < w->b->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(w->b->record, WsTraceRecord, i);
        Key key = key_of(rows_b, r);
        const WsTraceRecord *a = g_hash_table_lookup(w->by_key, &key);
        if (a)
            match(w, c, a, r, w->rows->pdata[key.row]);
        else
            c->only_b++;
    }
    c->only_a = w->a->record->len - MIN(c->common, w->a->record->len);
    g_hash_table_remove_all(w->by_key);
    g_free(keys);
}

static void compare_loops(const WsTrace *a, const WsTrace *b, GPtrArray *out)
{
    g_autoptr(WsTraceStats) sa = ws_trace_stats_new(a);
    g_autoptr(WsTraceStats) sb = ws_trace_stats_new(b);
    for (guint i = 0; i < sa->loop->len; i++) {
        const WsTraceLoopStat *x = &g_array_index(sa->loop, WsTraceLoopStat, i);
        const char *agent = a->agent_name->pdata[x->agent];
        const char *name = strrchr(x->loop, '/');
        for (guint j = 0; j < sb->loop->len; j++) {
            const WsTraceLoopStat *y = &g_array_index(sb->loop, WsTraceLoopStat, j);
            if (strcmp(x->loop, y->loop) != 0 || strcmp(agent, b->agent_name->pdata[y->agent]) != 0)
                continue;
            g_autofree char *change =
                x->period.p50 > 0
                    ? g_strdup_printf(" (%+.1f %%)", 100.0 *
                                                         (double)(y->period.p50 - x->period.p50) /
                                                         (double)x->period.p50)
                    : g_strdup("");
            g_ptr_array_add(out, g_strdup_printf("%s loop of %s: %" G_GINT64_FORMAT
                                                 " -> %" G_GINT64_FORMAT " cycles%s",
                                                 name ? name + 1 : x->loop, agent, x->period.p50,
                                                 y->period.p50, change));
        }
    }
}

WsTraceComparison *ws_trace_compare(const WsTrace *a, const WsTrace *b)
{
    WsTraceComparison *c = g_new0(WsTraceComparison, 1);
    c->row = g_array_new(FALSE, FALSE, sizeof(WsTraceDelta));
    c->loop = g_ptr_array_new_with_free_func(g_free);
    Work w = { .a = a,
               .b = b,
               .row_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
               .rows = g_ptr_array_new_with_free_func(free_row),
               .by_key = g_hash_table_new(hash_key, same_key),
               .shift = g_hash_table_new_full(hash_key, same_key, g_free, g_free) };
    match_all(&w, c);
    for (guint i = 0; i < w.rows->len; i++) {
        Row *row = w.rows->pdata[i];
        if (!row->delta.n)
            continue;
        row->delta.held_a = ws_spread(row->held_a);
        row->delta.held_b = ws_spread(row->held_b);
        row->delta.flight_a = ws_spread(row->flight_a);
        row->delta.flight_b = ws_spread(row->flight_b);
        row->delta.drift = ws_spread(row->drift).p50;
        g_array_append_val(c->row, row->delta);
    }
    compare_loops(a, b, c->loop);
    g_hash_table_destroy(w.row_of);
    g_ptr_array_free(w.rows, TRUE);
    g_hash_table_destroy(w.by_key);
    g_hash_table_destroy(w.shift);
    return c;
}

void ws_trace_comparison_free(WsTraceComparison *c)
{
    if (!c)
        return;
    g_array_free(c->row, TRUE);
    g_ptr_array_free(c->loop, TRUE);
    g_free(c);
}

/* Rounds of launches that are not alike are not the same work. */
static void put_unlike(GString *s, const WsTrace *a, const WsTrace *b)
{
    gboolean sizes = a->size->len == b->size->len, ctas = FALSE;
    for (guint i = 0; sizes && i < a->size->len; i++)
        sizes = g_array_index(a->size, gint64, i) == g_array_index(b->size, gint64, i) &&
                strcmp(g_array_index(a->size_name, char *, i),
                       g_array_index(b->size_name, char *, i)) == 0;
    for (guint i = 0; i < MIN(a->cta->len, b->cta->len); i++)
        ctas |= g_array_index(a->cta, WsTraceCta, i).id != g_array_index(b->cta, WsTraceCta, i).id;
    if (!sizes)
        g_string_append(s, "note: the sizes differ: a round of one is not that of the other\n");
    if (a->grid > 0 && b->grid > 0 && a->grid != b->grid)
        g_string_append_printf(s,
                               "note: grids of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                               " CTAs: a CTA has other tiles\n",
                               a->grid, b->grid);
    gboolean same = TRUE;
    for (guint i = 0; i < MIN(a->cta->len, b->cta->len); i++)
        same &= ws_trace_same_claims(a, i, b, i);
    if (!same)
        g_string_append(s, "note: the CTAs claimed other tiles, or which ones is known of one "
                           "trace alone: a round of one is not that of the other\n");
    if (ctas)
        g_string_append(s, "note: CTAs of other numbers were recorded: they have other tiles\n");
    if (a->device && b->device && strcmp(a->device, b->device) != 0 && a->origin == b->origin)
        g_string_append_printf(s, "note: on %s and on %s\n", a->device, b->device);
}

char *ws_trace_comparison_print(const WsTraceComparison *c, const WsTrace *a, const WsTrace *b)
{
    GString *s = g_string_new(NULL);
    put_unlike(s, a, b);
    for (guint i = 0; i < c->loop->len; i++)
        g_string_append_printf(s, "%s\n", (const char *)c->loop->pdata[i]);
    g_string_append_printf(
        s, "%s%-12s %-28s %7s %9s %9s %9s %9s\n", c->loop->len ? "\n" : "", "agent", "step",
        "rounds", a->origin == WS_TRACE_MEASURED ? "measured" : "predicted",
        b->origin == WS_TRACE_MEASURED ? "measured" : "predicted", "difference", "drift");
    for (guint i = 0; i < c->row->len; i++) {
        const WsTraceDelta *d = &g_array_index(c->row, WsTraceDelta, i);
        g_string_append_printf(s,
                               "%-12s %-28s %7u %9" G_GINT64_FORMAT " %9" G_GINT64_FORMAT
                               " %+9" G_GINT64_FORMAT " %+9" G_GINT64_FORMAT "\n",
                               (const char *)a->agent_name->pdata[d->agent],
                               ws_trace_op_label(a, d->op), d->n, d->held_a.p50, d->held_b.p50,
                               d->held_b.p50 - d->held_a.p50, d->drift);
    }
    g_string_append_printf(s,
                           "\nmedian cycles per round from start to issued; drift: how much later "
                           "a step began than its tile's first\n%u executions in both, %u only in "
                           "the first, %u only in the second\n",
                           c->common, c->only_a, c->only_b);
    return g_string_free(s, FALSE);
}
