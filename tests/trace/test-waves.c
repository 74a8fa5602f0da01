/* Rows of all SMs: spans, tail and places counted by hand. */
#include "toy.h"
#include "trace/op_kind.h"

#include "trace/waves.h"

#include <math.h>

/* CTA, SM, when it began, cycles it ran, GHz; its tiles each take a second of these. */
typedef struct {
    guint32 id, sm;
    gint64 begin, cycles;
    double ghz;
    gint32 tiles;
} One;

static WsTrace *made(const One *one, guint n)
{
    WsTrace *t = ws_trace_new(toy_program(), WS_TRACE_MEASURED);
    guint load = G_MAXUINT, mma = G_MAXUINT;
    for (guint i = 0; i < t->op_kind->len; i++) {
        if (ws_trace_op_kind(t, i) == WS_OP_TMA_LOAD)
            load = i;
        if (ws_trace_op_kind(t, i) == WS_OP_MMA)
            mma = i;
    }
    g_assert_true(load != G_MAXUINT && mma != G_MAXUINT);
    t->grid = 5;
    for (guint c = 0; c < n; c++) {
        const WsTraceCta row = {
            .id = one[c].id, .sm = one[c].sm, .cycles = one[c].cycles, .ghz = one[c].ghz
        };
        g_array_append_val(t->cta, row);
        if (one[c].begin >= 0)
            g_array_append_val(t->begin, one[c].begin);
        const gint64 each = one[c].cycles / MAX(one[c].tiles, 1);
        for (gint32 k = 0; k < one[c].tiles; k++) {
            /* the loader runs ahead: not what a tile's time is taken from */
            const WsTraceRecord l = { load,     0,       (guint16)c, k, 0, k ? (k - 1) * each : 0,
                                      k * each, k * each };
            const WsTraceRecord m = { mma, 1,        (guint16)c,          k,
                                      0,   k * each, (k + 1) * each - 10, (k + 1) * each };
            ws_trace_add(t, &l);
            ws_trace_add(t, &m);
        }
    }
    ws_trace_finish(t);
    return t;
}

static void test_rows(void)
{
    static const One all[] = { { 3, 7, 400, 2000, 2, 2 }, /* from 400 to 1400 ns */
                               { 0, 7, 0, 800, 2, 1 },    /* the same SM, from 0 to 400 */
                               { 1, 2, 100, 4000, 2, 2 }, /* from 100 to 2100 */
                               { 2, 5, 0, 1000, 1, 2 } }; /* from 0 to 1000, a slower clock */
    g_autoptr(WsTrace) t = made(all, 4);
    g_autoptr(WsWaves) w = ws_waves_new(t);
    g_assert_nonnull(w);
    g_assert_cmpuint(w->row->len, ==, 3);
    const WsWaveRow *row = (const WsWaveRow *)(gpointer)w->row->data;
    const WsWaveSpan *span = (const WsWaveSpan *)(gpointer)w->span->data;
    g_assert_cmpuint(row[0].sm, ==, 2);
    g_assert_cmpuint(row[1].sm, ==, 5);
    g_assert_cmpuint(row[2].sm, ==, 7);
    g_assert_cmpuint(row[2].ctas, ==, 2);
    g_assert_cmpuint(row[2].n, ==, 3);
    g_assert_cmpint(row[2].begin, ==, 0);
    g_assert_cmpint(row[2].end, ==, 1400);
    g_assert_cmpint(row[2].ran, ==, 1400);
    g_assert_cmpuint(span[row[2].first].cta, ==, 1); /* index: the CTA that ran first */
    g_assert_cmpint(span[row[2].first + 2].from, ==, 895);
    g_assert_cmpint(span[row[2].first + 2].to, ==, 1395);
    g_assert_cmpint(span[row[1].first].to, ==, 490);
    g_assert_cmpint(w->end, ==, 2100);
    g_assert_cmpint(w->latest_begin, ==, 100);
    g_assert_cmpint(w->earliest_end, ==, 1000);
    g_assert_cmpfloat(fabs(w->tail - (0 + 1100 + 700) / 3.0), <, 1e-9);
    g_assert_cmpfloat(fabs(w->ran - (2000 + 1000 + 1400) / (3 * 2100.0)), <, 1e-9);
    g_assert_cmpuint(w->place->len, ==, 2);
    const WsWavePlace *place = (const WsWavePlace *)(gpointer)w->place->data;
    g_assert_cmpint(place[0].tile, ==, 0);
    g_assert_cmpuint(place[0].n, ==, 4);
    g_assert_cmpint(place[0].p10, ==, 395);
    g_assert_cmpint(place[0].p50, ==, 490);
    g_assert_cmpint(place[0].p90, ==, 995);
    g_assert_cmpuint(place[1].n, ==, 3);
    g_autofree char *text = ws_waves_text(w);
    g_assert_nonnull(strstr(text, "3 SMs, 4 of 5 CTAs recorded: 2.10 us"));
    g_assert_nonnull(strstr(text, "tile 1 of a CTA, 3 times: "));
}

/* One CTA, beginnings that are not known, a clock that is not, a CTA that never ended. */
static void test_unknown(void)
{
    static const One none[][2] = {
        { { 0, 1, -1, 100, 2, 1 }, { 1, 2, -1, 100, 2, 1 } },
        { { 0, 1, 0, 100, 2, 1 }, { 1, 2, 0, 100, 0, 1 } },
        { { 0, 1, 0, 100, 2, 1 }, { 1, 2, 0, 100, NAN, 1 } },
        { { 0, 1, 0, 100, 2, 1 }, { 1, 2, 0, 0, 2, 0 } },
    };
    for (guint i = 0; i < G_N_ELEMENTS(none); i++) {
        g_autoptr(WsTrace) t = made(none[i], 2);
        g_assert_null(ws_waves_new(t));
    }
    g_autoptr(WsTrace) one = made(&none[1][0], 1);
    g_assert_null(ws_waves_new(one));
}

/* Traces put together began at other times. */
static void test_append(void)
{
    static const One two[] = { { 0, 1, 0, 100, 2, 1 }, { 1, 2, 0, 100, 2, 1 } };
    g_autoptr(WsTrace) a = made(two, 2), b = made(two, 2);
    ws_trace_append(a, b);
    ws_trace_finish(a);
    g_assert_cmpint(ws_trace_begin(a, 0), ==, -1);
    g_assert_null(ws_waves_new(a));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/waves/rows", test_rows);
    g_test_add_func("/waves/unknown", test_unknown);
    g_test_add_func("/waves/append", test_append);
    int status = g_test_run();
    toy_program_free();
    return status;
}
