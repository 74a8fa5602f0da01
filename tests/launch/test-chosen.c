/* Which CTAs and rounds are recorded, and clocks that one step has from another. */
#include "launch/collect.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/tree.h"

#include "base/folder.h"
#include "launch/bundle.h"
#include "runner/manifest.h"

#include "recorded.h"

static WsTrace *measure(const Fixture *f, guint64 *missing)
{
    g_autoptr(GError) error = NULL;
    WsTrace *t =
        ws_measure(f->p, f->v, f->plan, GRID, f->data, f->size, NULL, NULL, missing, &error);
    g_assert_no_error(error);
    return t;
}

/* The last CTA of a launch is known only when it ran; of a cluster it is the first CTA of the last
 * one, and of a launch of fewer CTAs than a cluster CTA 0. */
static void test_last(Fixture *f, gconstpointer unused)
{
    guint64 missing;
    g_autoptr(WsTrace) named = measure(f, &missing);
    f->plan->cta[1] = WS_RECORD_LAST_CTA;
    g_assert_cmpuint(ws_recorder_cta(f->plan, 0, GRID, 1), ==, 1);
    g_assert_cmpuint(ws_recorder_cta(f->plan, 1, GRID, 1), ==, 2);
    g_assert_cmpuint(ws_recorder_cta(f->plan, 1, 132, 2), ==, 130);
    g_assert_cmpuint(ws_recorder_cta(f->plan, 1, 0, 2), ==, 0);
    g_autoptr(WsTrace) t = measure(f, &missing);
    g_assert_cmpuint(missing, ==, 0);
    g_assert_cmpuint(t->cta->len, ==, 2);
    g_assert_cmpuint(g_array_index(t->cta, WsTraceCta, 1).id, ==, 2);
    g_assert_cmpuint(t->record->len, ==, named->record->len);
}

/* Beginnings count from the earliest; of CTAs an hour apart, of other launches, nothing is said. */
static void test_begins(Fixture *f, gconstpointer unused)
{
    guint64 missing;
    put64(f->data + 8, 1500);
    put64(f->data + 16, 3500);
    g_autoptr(WsTrace) t = measure(f, &missing);
    g_assert_cmpint(ws_trace_begin(t, 0), ==, 500);
    g_assert_cmpint(ws_trace_begin(t, 1), ==, 0);
    put64(f->data + 8, 1000 + (G_GUINT64_CONSTANT(1) << 42));
    put64(f->data + 16, 3000 + (G_GUINT64_CONSTANT(1) << 42));
    g_autoptr(WsTrace) apart = measure(f, &missing);
    g_assert_cmpint(ws_trace_begin(apart, 0), ==, -1);
    f->plan->cta[1] = 7; /* not in the grid: one CTA is left */
    g_autoptr(WsTrace) one = measure(f, &missing);
    g_assert_cmpint(ws_trace_begin(one, 0), ==, -1);
}

/* No round of inner loops: nothing of them, nothing that their time is laid to, nothing lost. */
static void test_tiles(void)
{
    static const guint cta[] = { 1, 2, 9 };
    Fixture f;
    set_up(&f, NULL);
    WsRecordChoice choice = { .tiles = 2, .n_ctas = 3, .cta = cta };
    ws_recorder_free(f.plan);
    f.plan = ws_recorder_new(f.p, &choice);
    g_assert_false(f.plan->rounds);
    f.size = f.plan->cta_bytes * f.plan->n_ctas;
    memset(f.data, 0xff, f.size);
    record(&f, 0);
    record(&f, 1);
    guint64 missing;
    g_autoptr(WsTrace) t = measure(&f, &missing);
    g_assert_cmpuint(missing, ==, 0);
    g_assert_cmpint(t->every, ==, WS_TRACE_NO_ROUNDS);
    g_assert_true(ws_trace_between_unknown(f.p, t));
    g_assert_cmpuint(t->record->len, >, 8);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        g_assert_null(strchr(t->op_loop->pdata[r->op], '/'));
        g_assert_cmpint(r->issued - r->start, <, 200); /* ten rounds take more */
    }
    tear_down(&f, NULL);
}

/* Block scales: reads in front of a wait count to it, those behind it to the product, and a round
 * begins where the one before ended. So four clocks tell of a round, which are written in the
 * shadow of its product; and the steps of an agent cover its time still. */
static void test_chained(void)
{
    static const guint cta[] = { 0, 1, 2 };
    WsRecordChoice choice = { 0, 64, 0, 8, 3, cta, 0 };
    const WsSize size[] = { { "M", 256 }, { "N", 576 }, { "K", 1024 } };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_load(WS_SOURCE_ROOT "/projects/gemm-fp8-block/design.wstave", findings);
    Fixture f = { .p = ws_elaborate(design, NULL, 0, findings) };
    f.v = ws_launch_values(f.p, size, G_N_ELEMENTS(size), FALSE, findings);
    f.plan = ws_recorder_new(f.p, &choice);
    f.size = f.plan->cta_bytes * f.plan->n_ctas;
    f.data = g_malloc(f.size);
    memset(f.data, 0xff, f.size);
    for (guint i = 0; i < 3; i++)
        record(&f, i);
    guint rounds = 0;
    for (guint s = 0; s < f.plan->n_strips; s++) {
        const WsRecordStrip *strip = &f.plan->strip[s];
        if (!strip->loop || !g_str_equal(strip->loop->name, "k") ||
            !g_str_has_prefix(f.p->agent[strip->agent].name, "math"))
            continue;
        rounds++;
        g_assert_cmpuint(strip->n_points, ==, 4);
        g_assert_cmpuint(strip->words, ==, 4);
        g_assert_cmpuint(strip->flush, !=, G_MAXUINT);
        g_assert_cmpint(strip->point[0].before, ==, -1);
        g_assert_cmpint(f.p->op[strip->point[0].op]->kind, ==, WS_OP_MBAR_WAIT);
        g_assert_cmpint(f.p->op[strip->point[0].at]->kind, ==, WS_OP_MBAR_WAIT);
        g_assert_cmpint(f.p->op[strip->point[1].op]->kind, ==, WS_OP_MMA);
    }
    g_assert_cmpuint(rounds, ==, 2);
    guint64 missing;
    g_autoptr(WsTrace) t = measure(&f, &missing);
    g_assert_cmpuint(missing, ==, 0);
    guint first = 0;
    for (guint i = 0; i < t->lane->len; i++) {
        const WsTraceLane *lane = &g_array_index(t->lane, WsTraceLane, i);
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first);
        if (!g_str_has_prefix(t->agent_name->pdata[lane->agent], "math"))
            continue;
        for (guint64 k = 1; k < lane->n; k++) {
            g_assert_cmpint(r[k].start, ==, r[k - 1].issued);
            first += f.p->op[r[k].op]->kind == WS_OP_MBAR_WAIT && r[k].round == 0 &&
                     strchr(t->op_loop->pdata[r[k].op], '/');
        }
    }
    g_assert_cmpuint(first, ==, 6); /* the first round of each group, too */
    /* The first round of a window has no round before it: its clock is its own. */
    choice.first_round = 2;
    g_autoptr(WsRecorder) later = ws_recorder_new(f.p, &choice);
    choice.first_round = 0;
    choice.every = 8;
    g_autoptr(WsRecorder) sampled = ws_recorder_new(f.p, &choice);
    for (guint s = 0; s < f.plan->n_strips; s++) {
        const WsRecordStrip *strip = &f.plan->strip[s];
        if (!strip->loop || strip->loop->over == WS_OVER_TILES)
            continue;
        g_assert_cmpint(later->strip[s].point[0].before, ==, 0);
        g_assert_cmpint(sampled->strip[s].point[0].before, ==, 0);
    }
    tear_down(&f, NULL);
}

/* All CTAs are one word and a number in the manifest; a list with a hole stays a list; records that
 * nobody would read back are refused. */
static void test_all(Fixture *f, gconstpointer unused)
{
    static const struct {
        guint n, skip;
        const char *line;
    } cases[] = { { 3, 0, "\nctas 0 1 2\n" },
                  { 200, 0, "\nctas all 200\n" },
                  { 200, 1, "\nctas 1 2 " } };
    g_autofree guint *cta = g_new(guint, 4097);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        for (guint k = 0; k < cases[i].n; k++)
            cta[k] = k + cases[i].skip;
        WsRecordChoice choice = { .tiles = 2, .n_ctas = cases[i].n, .cta = cta };
        WsBundleSpec spec = {
            .program = f->p, .timed_ptx = "", .traced_ptx = "", .choice = &choice
        };
        g_autofree char *dir = g_dir_make_tmp("warpstave-chosen-XXXXXX", NULL);
        g_autofree char *text = ws_bundle_manifest(&spec, findings, &error);
        g_assert_no_error(error);
        g_assert_nonnull(strstr(text, cases[i].line));
        ws_bundle_write(&spec, dir, findings, &error);
        g_assert_no_error(error);
        g_autofree WsManifest *m = g_new0(WsManifest, 1);
        char why[512];
        g_assert_true(ws_manifest_load(dir, m, why, sizeof why));
        g_assert_cmpint(m->n_ctas, ==, cases[i].n);
        g_assert_cmpuint(m->cta[cases[i].n - 1], ==, cta[cases[i].n - 1]);
        ws_folder_remove(dir);
    }
    for (guint k = 0; k < 4097; k++)
        cta[k] = k;
    WsRecordChoice wide = { .rounds = 100000, .tiles = 2, .n_ctas = 4096, .cta = cta };
    WsBundleSpec spec = { .program = f->p, .timed_ptx = "", .traced_ptx = "", .choice = &wide };
    g_assert_null(ws_bundle_manifest(&spec, findings, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_LENS);
    g_clear_error(&error);
    wide = (WsRecordChoice){ .tiles = 2, .n_ctas = 4097, .cta = cta };
    g_assert_null(ws_bundle_manifest(&spec, findings, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_LENS);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/launch/chosen/last", Fixture, NULL, set_up, test_last, tear_down);
    g_test_add("/launch/chosen/begins", Fixture, NULL, set_up, test_begins, tear_down);
    g_test_add("/launch/chosen/all", Fixture, NULL, set_up, test_all, tear_down);
    g_test_add_func("/launch/chosen/tiles", test_tiles);
    g_test_add_func("/launch/chosen/chained", test_chained);
    return g_test_run();
}
