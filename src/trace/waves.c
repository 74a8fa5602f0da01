#include "trace/waves.h"
#include "program/op.h"
#include "trace/op_kind.h"

static gint by_time(gconstpointer pa, gconstpointer pb)
{
    const WsWaveSpan *a = pa, *b = pb;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->cta != b->cta ? (a->cta < b->cta ? -1 : 1) : a->tile - b->tile;
}

static gint64 ns_of(const WsTrace *t, guint cta, gint64 cycles)
{
    const double ghz = g_array_index(t->cta, WsTraceCta, cta).ghz;
    return ws_trace_begin(t, cta) + (gint64)((double)cycles / ghz);
}

/* It computes, or writes a tensor. */
static gboolean works(const WsTrace *t, const WsTraceLane *lane)
{
    for (guint64 i = 0; i < lane->n; i++) {
        const WsOpKind kind =
            ws_trace_op_kind(t, g_array_index(t->record, WsTraceRecord, lane->first + i).op);
        const WsOpRow *row = ws_op_row(kind);
        if (ws_op_is_product(kind) || row->from == WS_DATA_AT_REGISTERS ||
            row->to == WS_DATA_AT_TENSOR)
            return TRUE;
    }
    return FALSE;
}

/* An agent begins a tile where it ended the one before: inner loops may hold no clock. */
static void take_lane(const WsTrace *t, const WsTraceLane *lane, GHashTable *tiles)
{
    gint64 before = 0;
    gint32 last = -1;
    for (guint64 i = 0; i < lane->n; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first + i);
        const gint64 end = MAX(r->issued, r->start);
        WsWaveSpan *s = g_hash_table_lookup(tiles, GINT_TO_POINTER(r->tile));
        if (!s) {
            s = g_new(WsWaveSpan, 1);
            *s = (WsWaveSpan){ lane->cta, r->tile, r->start, end };
            g_hash_table_insert(tiles, GINT_TO_POINTER(r->tile), s);
        }
        const gboolean follows = r->tile != last && (last >= 0 || r->tile == 0);
        s->from = MIN(s->from, follows ? MIN(before, r->start) : r->start);
        s->to = MAX(s->to, end);
        last = r->tile;
        before = MAX(before, end);
    }
}

/* Spans of a CTA, in cycles; steps outside its tiles count only where it has no tiles. */
static void take_cta(const WsTrace *t, guint cta, GArray *spans)
{
    g_autoptr(GHashTable) tiles = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    for (guint pass = 0; pass < 2 && g_hash_table_size(tiles) == 0; pass++) {
        for (guint a = 0; a < t->agent_name->len; a++) {
            const WsTraceLane *lane = ws_trace_lane(t, cta, a);
            if (lane && (pass == 1 || works(t, lane)))
                take_lane(t, lane, tiles);
        }
    }
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, tiles);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        WsWaveSpan s = *(WsWaveSpan *)value;
        if (s.tile < 0 && g_hash_table_size(tiles) > 1)
            continue;
        s.from = ns_of(t, cta, s.from);
        s.to = ns_of(t, cta, s.to);
        g_array_append_val(spans, s);
    }
}

typedef struct {
    guint32 sm;
    guint cta;
    gint64 begin, end;
} Run;

static gint by_sm(gconstpointer pa, gconstpointer pb)
{
    const Run *a = pa, *b = pb;
    if (a->sm != b->sm)
        return a->sm < b->sm ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->cta < b->cta ? -1 : a->cta > b->cta;
}

static GArray *runs_of(const WsTrace *t)
{
    GArray *runs = g_array_new(FALSE, FALSE, sizeof(Run));
    for (guint i = 0; i < t->cta->len; i++) {
        const WsTraceCta *c = &g_array_index(t->cta, WsTraceCta, i);
        const gint64 begin = ws_trace_begin(t, i);
        Run run = { c->sm, i, begin, begin < 0 || !(c->ghz > 0) ? -1 : ns_of(t, i, c->cycles) };
        g_array_append_val(runs, run);
        if (run.end < 0 || c->cycles <= 0) {
            g_array_unref(runs);
            return NULL;
        }
    }
    g_array_sort(runs, by_sm);
    return runs;
}

static void add_rows(WsWaves *w, const WsTrace *t, const GArray *runs)
{
    for (guint i = 0; i < runs->len;) {
        const guint32 sm = g_array_index(runs, Run, i).sm;
        WsWaveRow row = { .sm = sm, .first = w->span->len, .begin = G_MAXINT64 };
        g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(WsWaveSpan));
        for (; i < runs->len && g_array_index(runs, Run, i).sm == sm; i++, row.ctas++) {
            const Run *run = &g_array_index(runs, Run, i);
            row.ran += MAX(run->end - MAX(run->begin, row.end), 0);
            row.begin = MIN(row.begin, run->begin);
            row.end = MAX(row.end, run->end);
            take_cta(t, run->cta, spans);
        }
        g_array_sort(spans, by_time);
        g_array_append_vals(w->span, spans->data, spans->len);
        row.n = spans->len;
        g_array_append_val(w->row, row);
    }
}

static gint by_place(gconstpointer pa, gconstpointer pb)
{
    const WsWaveSpan *a = pa, *b = pb;
    const gint64 x = a->to - a->from, y = b->to - b->from;
    if (a->tile != b->tile)
        return a->tile < b->tile ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void add_places(WsWaves *w)
{
    g_autoptr(GArray) sorted = g_array_copy(w->span);
    g_array_sort(sorted, by_place);
    const WsWaveSpan *s = (const WsWaveSpan *)(gpointer)sorted->data;
    for (guint i = 0, n; i < sorted->len; i += n) {
        for (n = 1; i + n < sorted->len && s[i + n].tile == s[i].tile;)
            n++;
        const guint at[] = { i + (n - 1) / 10, i + (n - 1) / 2, i + (n * 9 + 9) / 10 - 1 };
        const WsWavePlace place = { s[i].tile, n, s[at[0]].to - s[at[0]].from,
                                    s[at[1]].to - s[at[1]].from, s[at[2]].to - s[at[2]].from };
        g_array_append_val(w->place, place);
    }
}

WsWaves *ws_waves_new(const WsTrace *t)
{
    g_autoptr(GArray) runs = t->cta->len > 1 ? runs_of(t) : NULL;
    if (!runs)
        return NULL;
    WsWaves *w = g_new0(WsWaves, 1);
    w->row = g_array_new(FALSE, FALSE, sizeof(WsWaveRow));
    w->span = g_array_new(FALSE, FALSE, sizeof(WsWaveSpan));
    w->place = g_array_new(FALSE, FALSE, sizeof(WsWavePlace));
    w->ctas = t->cta->len;
    w->grid = t->grid;
    add_rows(w, t, runs);
    add_places(w);
    w->earliest_end = G_MAXINT64;
    gint64 ran = 0;
    for (guint i = 0; i < w->row->len; i++) {
        const WsWaveRow *row = &g_array_index(w->row, WsWaveRow, i);
        w->end = MAX(w->end, row->end);
        w->latest_begin = MAX(w->latest_begin, row->begin);
        w->earliest_end = MIN(w->earliest_end, row->end);
        ran += row->ran;
    }
    for (guint i = 0; i < w->row->len; i++)
        w->tail += (double)(w->end - g_array_index(w->row, WsWaveRow, i).end) / w->row->len;
    w->ran = (double)ran / ((double)MAX(w->end, 1) * w->row->len);
    return w;
}

void ws_waves_free(WsWaves *w)
{
    if (!w)
        return;
    g_array_unref(w->row);
    g_array_unref(w->span);
    g_array_unref(w->place);
    g_free(w);
}

static double us(gint64 ns)
{
    return (double)ns * 1e-3;
}

enum { PLACES_PRINTED = 12 };

char *ws_waves_text(const WsWaves *w)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "%u SMs, %u", w->row->len, w->ctas);
    if (w->grid > 0)
        g_string_append_printf(out, " of %" G_GINT64_FORMAT, w->grid);
    g_string_append_printf(out,
                           " CTAs recorded: %.2f us from the first begin to the last end, CTAs ran "
                           "%.1f %% of it; SMs began within %.2f us, ended %.2f us before the last "
                           "on average, %.2f us at most\n",
                           us(w->end), 100 * w->ran, us(w->latest_begin), w->tail * 1e-3,
                           us(w->end - w->earliest_end));
    for (guint i = 0; i < MIN(w->place->len, PLACES_PRINTED); i++) {
        const WsWavePlace *p = &g_array_index(w->place, WsWavePlace, i);
        if (p->tile >= 0)
            g_string_append_printf(out, "tile %d of a CTA, %u times: ", p->tile, p->n);
        else
            g_string_append_printf(out, "a CTA, %u times: ", p->n);
        g_string_append_printf(out, "%.2f us (p10 %.2f, p90 %.2f)\n", us(p->p50), us(p->p10),
                               us(p->p90));
    }
    if (w->place->len > PLACES_PRINTED)
        g_string_append(out, "…\n");
    return g_string_free(out, FALSE);
}
