/* Launches that take turns with the rounds of inner loops, merged into one trace. */
#include "launch/collect.h"
#include "program/op.h"
#include "trace/op_kind.h"
#include "trace/stats.h"

#include "recorded.h"

#include <glib/gstdio.h>

enum { LAUNCHES = 4 };

/* Records of launch i, in which tiles come later by `later`. */
static WsTrace *launch(guint i, guint later, guint *phase)
{
    static const guint cta[] = { 1, 2 };
    WsRecordChoice choice = { .rounds = ROUNDS,
                              .tiles = 2,
                              .n_ctas = 2,
                              .cta = cta,
                              .every = LAUNCHES,
                              .launches = LAUNCHES,
                              .launch = i };
    Fixture f;
    guint64 missing;
    g_autoptr(GError) error = NULL;
    set_up(&f, NULL);
    f.later = later;
    ws_recorder_free(f.plan);
    f.plan = ws_recorder_new(f.p, &choice);
    g_assert_cmpuint(f.plan->launches, ==, LAUNCHES);
    f.size = f.plan->cta_bytes * 2;
    f.data = g_realloc(f.data, f.size);
    memset(f.data, 0xff, f.size);
    record(&f, 0);
    record(&f, 1);
    WsTrace *t = ws_measure(f.p, f.v, f.plan, GRID, f.data, f.size, NULL, NULL, &missing, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(missing, ==, 0);
    *phase = (guint)ws_record_phase(LAUNCHES, i);
    tear_down(&f, NULL);
    return t;
}

static GPtrArray *launches(guint late, guint *phase)
{
    GPtrArray *part = g_ptr_array_new_with_free_func((GDestroyNotify)ws_trace_unref);
    for (guint i = 0; i < LAUNCHES; i++)
        g_ptr_array_add(part, launch(i, late * i, &phase[i]));
    return part;
}

static WsTrace *whole_trace(void)
{
    Fixture f;
    guint64 missing;
    set_up(&f, NULL);
    WsTrace *t = ws_measure(f.p, f.v, f.plan, GRID, f.data, f.size, NULL, NULL, &missing, NULL);
    tear_down(&f, NULL);
    return t;
}

static gboolean is_inner(const WsTrace *t, const WsTraceRecord *r)
{
    return strchr(t->op_loop->pdata[r->op], '/') != NULL;
}

/* Of a CTA, a product: its record in the whole trace. */
static const WsTraceRecord *same_of(const WsTrace *all, const WsTraceRecord *r)
{
    for (guint k = 0; k < all->record->len; k++) {
        const WsTraceRecord *o = &all->record->data[k];
        if (o->op == r->op && o->cta == r->cta && o->round == r->round && o->tile == r->tile)
            return o;
    }
    return NULL;
}

/* Every round is there once, of the launch whose turn it was, at the time that it has where one
 * launch records all: also where that launch came to its tiles later. */
static void check_merged(guint late)
{
    guint phase[LAUNCHES], seen[LAUNCHES] = { 0 }, products = 0, all_products = 0;
    g_autoptr(GPtrArray) part = launches(late, phase);
    g_autoptr(WsTrace) t = ws_trace_merge(part, phase, NULL);
    g_autoptr(WsTrace) all = whole_trace();
    g_assert_cmpint(t->every, ==, LAUNCHES);
    g_assert_cmpuint(ws_trace_launches(t), ==, LAUNCHES);
    g_assert_cmpuint(ws_trace_launches(all), ==, 1);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &t->record->data[i], *o = same_of(all, r);
        const guint of = ws_trace_launch_of(t, r);
        g_assert_true(is_inner(t, r) || of == 0);
        g_assert_true(!is_inner(t, r) || (guint)r->round % LAUNCHES == phase[of]);
        if (!is_inner(t, r) || !ws_op_is_product(ws_trace_op_kind(t, r->op)))
            continue;
        seen[of]++;
        products++;
        g_assert_nonnull(o);
        g_assert_cmpint(ABS(o->start - r->start), <=, 24);
    }
    for (guint i = 0; i < all->record->len; i++)
        all_products += is_inner(all, &all->record->data[i]) &&
                        ws_op_is_product(ws_trace_op_kind(all, all->record->data[i].op));
    g_assert_cmpuint(products, ==, all_products);
    for (guint i = 0; i < LAUNCHES; i++)
        g_assert_cmpuint(seen[i], >, 2);
}

static void test_merged(void)
{
    check_merged(0);
    check_merged(40);
}

/* Distances are of one launch: rounds of launches that came later are not drawn apart by it. What
 * one launch costs is seen in them. */
static void test_distances(void)
{
    guint phase[LAUNCHES];
    g_autoptr(GPtrArray) part = launches(0, phase);
    g_autoptr(WsTrace) t = ws_trace_merge(part, phase, NULL);
    g_autoptr(WsTrace) all = whole_trace();
    g_assert_cmpfloat_with_epsilon(ws_trace_round_cost(all, t), 0, 1e-9);
    g_assert_cmpuint(ws_trace_turns(all), ==, 4); /* tiles of ten rounds */
    for (guint i = 0; i < t->record->len; i++) {
        WsTraceRecord *r = &t->record->data[i];
        if (is_inner(t, r)) /* far apart: each launch at a time of its own */
            r->start += 100000 * (gint64)ws_trace_launch_of(t, r);
    }
    ws_trace_finish(t);
    g_autoptr(WsTraceStats) s = ws_trace_stats_new(t), whole = ws_trace_stats_new(all);
    guint compared = 0;
    for (guint i = 0; i < s->loop->len; i++)
        for (guint k = 0; k < whole->loop->len; k++) {
            const WsTraceLoopStat *a = &g_array_index(s->loop, WsTraceLoopStat, i);
            const WsTraceLoopStat *b = &g_array_index(whole->loop, WsTraceLoopStat, k);
            if (a->agent != b->agent || strcmp(a->loop, b->loop) != 0 || !strchr(a->loop, '/'))
                continue;
            g_assert_cmpint(a->period.max, ==, b->period.p50);
            compared++;
        }
    g_assert_cmpuint(compared, >=, 2);
    g_assert_cmpuint(s->pair->len, ==, 0);
    for (guint i = 0; i < all->record->len; i++) /* a tenth longer */
        all->record->data[i].start = all->record->data[i].start * 11 / 10;
    ws_trace_finish(all);
    g_assert_cmpfloat_with_epsilon(ws_trace_round_cost(all, t), 0.1, 0.02);
}

/* The file keeps which launch a record is of; one that says that two recorded the same rounds is
 * refused. */
static void test_file(void)
{
    guint phase[LAUNCHES];
    g_autoptr(GPtrArray) part = launches(0, phase);
    g_autoptr(WsTrace) t = ws_trace_merge(part, phase, NULL);
    g_autoptr(GError) error = NULL;
    g_autofree char *dir = g_dir_make_tmp("ws-launches-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(dir, "a.wtrace", NULL);
    g_autofree char *csv = g_build_filename(dir, "a.csv", NULL);
    g_assert_true(ws_trace_save(t, file, NULL) && ws_trace_export_csv(t, csv, NULL));
    g_autoptr(WsTrace) back = ws_trace_load(file, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(back->launch->len, ==, LAUNCHES);
    for (guint i = 0; i < t->record->len; i++)
        g_assert_cmpuint(ws_trace_launch_of(t, &t->record->data[i]), ==,
                         ws_trace_launch_of(back, &back->record->data[i]));
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(csv, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, ",done,launch\n"));
    g_assert_nonnull(strstr(text, ",4\n"));
    g_array_index(t->launch, WsTraceLaunch, 1).phase =
        g_array_index(t->launch, WsTraceLaunch, 2).phase;
    g_assert_true(ws_trace_save(t, file, NULL));
    g_assert_null(ws_trace_load(file, &error));
    g_assert_error(error, WS_TRACE_ERROR, WS_TRACE_ERROR_FORMAT);
    g_unlink(file);
    g_unlink(csv);
    g_rmdir(dir);
}

/* From the tile on that its CTA claimed in another order a launch counts for nothing; launches of
 * other CTAs make no trace. */
static void test_other_tiles(void)
{
    guint phase[LAUNCHES];
    g_autoptr(GPtrArray) part = launches(0, phase);
    for (guint i = 0; i < LAUNCHES; i++)
        for (guint c = 0; c < 2; c++) {
            ws_trace_add_claim(part->pdata[i], c, 4);
            ws_trace_add_claim(part->pdata[i], c, i == 2 ? 6 : 5);
        }
    g_autoptr(WsTrace) t = ws_trace_merge(part, phase, NULL);
    g_assert_cmpint(g_array_index(t->launch, WsTraceLaunch, 2).tiles, ==, 1);
    g_assert_cmpint(g_array_index(t->launch, WsTraceLaunch, 1).tiles, ==, G_MAXINT32);
    guint of[LAUNCHES] = { 0 };
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &t->record->data[i];
        of[ws_trace_launch_of(t, r)] += is_inner(t, r) && r->tile == 1;
    }
    g_assert_cmpuint(of[2], ==, 0);
    g_assert_true(of[0] && of[1] && of[3]);
    g_autoptr(GPtrArray) others = launches(0, phase);
    g_autoptr(GError) error = NULL;
    g_array_index(((WsTrace *)others->pdata[3])->cta, WsTraceCta, 1).id = 7;
    g_assert_null(ws_trace_merge(others, phase, &error));
    g_assert_error(error, WS_TRACE_ERROR, WS_TRACE_ERROR_LAUNCHES);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/launch/launches/merged", test_merged);
    g_test_add_func("/launch/launches/distances", test_distances);
    g_test_add_func("/launch/launches/file", test_file);
    g_test_add_func("/launch/launches/other-tiles", test_other_tiles);
    return g_test_run();
}
