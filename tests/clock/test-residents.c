/* Several CTAs of one SM (`ctas_per_sm`) in the play: they share its units, and nothing else. */
#include "clock/clock.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

/* A copy of tiles whose CTAs only stream: `per_sm`, `cluster`, and a lane that meets the cluster.
 */
static char *streams(guint per_sm, guint cluster)
{
    return g_strdup_printf(
        "{ \"warpstave\": 1, \"name\": \"streams\", \"target\": \"sm_90a\", \"cluster\": %u, "
        "\"ctas_per_sm\": %u,\n"
        "\"sizes\": { \"T\": 1, \"N\": 8 }, \"assume\": [\"T >= 1\", \"N >= 1\"],\n"
        "\"tensors\": [{ \"name\": \"X\", \"dtype\": \"bf16\", \"shape\": [\"T*%u*64\", \"N*64\"] "
        "},\n"
        "{ \"name\": \"Y\", \"dtype\": \"f32\", \"shape\": [\"T*%u*64\", 1], \"access\": \"write\" "
        "}],\n"
        "\"tiles\": { \"axes\": { \"t\": \"T\" }, \"launch\": \"single\" },\n"
        "\"buffers\": [{ \"name\": \"x\", \"dtype\": \"bf16\", \"tile\": [64, 64] }],\n"
        "\"barriers\": [{ \"name\": \"full\" }, { \"name\": \"empty\", \"init\": \"ready\" }],\n"
        "\"groups\": [{ \"name\": \"load\", \"role\": \"producer\", \"warps\": 1, \"body\": [{ "
        "\"for\": \"k\", \"count\": "
        "\"N\", "
        "\"do\": [{ \"wait\": \"empty\", \"use\": \"k\" }, { \"load\": \"X\", \"at\": "
        "[\"(t*%u + %s)*64\", \"k*64\"], \"into\": \"x\", \"signal\": \"full\", \"use\": \"k\" }] "
        "}%s] },\n"
        "{ \"name\": \"use\", \"role\": \"consumer\", \"warps\": 4, \"values\": [{ \"name\": "
        "\"v\", \"dtype\": \"bf16\", "
        "\"tile\": "
        "[64, 64] }, { \"name\": \"s\", \"dtype\": \"f32\", \"tile\": [64, 1] }],\n"
        "\"body\": [{ \"compute\": \"s = 0\" }, { \"for\": \"k\", \"count\": \"N\", \"do\": [{ "
        "\"wait\": "
        "\"full\", \"use\": \"k\" }, { \"read\": \"v\", \"from\": \"x\", \"use\": \"k\" }, { "
        "\"arrive\": "
        "\"empty\", \"by\": \"warp\", \"use\": \"k\" }, { \"compute\": \"s = s + rowsum(v)\" }] }, "
        "{ \"write\": \"s\", \"to\": \"Y\", \"at\": [\"(t*%u + %s)*64\", 0] }%s] }] }",
        cluster, per_sm, cluster, cluster, cluster, cluster > 1 ? "cta" : "0",
        cluster > 1 ? ", { \"cluster\": \"sync\" }" : "", cluster, cluster > 1 ? "cta" : "0",
        cluster > 1 ? ", { \"cluster\": \"sync\" }" : "");
}

static WsClockResult *played(guint per_sm, guint cluster, gint64 tiles, gint64 rounds)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = streams(per_sm, cluster);
    g_autoptr(WsFindings) f = ws_findings_new();
    WsDesign *design = ws_design_parse(text, strlen(text), "streams.wstave", f);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, f) : NULL;
    g_autofree char *said = ws_findings_print(f, "streams.wstave");
    g_assert_cmpstr(said, ==, "");
    g_assert_nonnull(p);
    WsMachine *m = ws_machine_load(NULL, &error);
    g_assert_no_error(error);
    const WsSize size[] = { { "T", tiles }, { "N", rounds } };
    WsLaunchValues *v = ws_launch_values(p, size, 2, FALSE, f);
    g_assert_nonnull(v);
    WsClockResult *r = ws_clock_run(p, v, m, NULL, f);
    g_assert_nonnull(r);
    g_assert_false(r->stuck);
    ws_launch_values_free(v);
    ws_machine_free(m);
    ws_program_unref(p);
    ws_design_unref(design);
    return r;
}

/* Where each SM has one CTA anyway, nothing changes. */
static void alone(void)
{
    for (guint cluster = 1; cluster <= 4; cluster *= 2) {
        WsClockResult *one = played(1, cluster, (cluster == 4 ? 120 : 132) / (gint64)cluster, 40);
        WsClockResult *four = played(4, cluster, (cluster == 4 ? 120 : 132) / (gint64)cluster, 40);
        g_assert_cmpint(one->cycles, ==, four->cycles);
        g_assert_cmpint(one->waves, ==, 1);
        g_assert_cmpint(four->waves, ==, 1);
        ws_clock_result_free(one);
        ws_clock_result_free(four);
    }
}

/* One buffer each: a CTA waits for memory nearly always. Two of them on an SM wait at the same
 * time, so that two waves become one that takes little longer; what the units do is the same in
 * both. */
static void beside(void)
{
    for (guint cluster = 1; cluster <= 2; cluster++) {
        const gint64 tiles = 264 / (gint64)cluster;
        WsClockResult *one = played(1, cluster, tiles, 40), *two = played(2, cluster, tiles, 40);
        g_assert_cmpint(one->waves, ==, 2);
        g_assert_cmpint(two->waves, ==, 1);
        g_assert_cmpint(two->cycles, <, one->cycles * 7 / 10);
        g_assert_cmpint(two->cycles, >=, one->played); /* a CTA is not faster than alone */
        g_assert_cmpfloat_with_epsilon(two->tma_busy * (double)two->played,
                                       2 * one->tma_busy * (double)one->played,
                                       0.02 * (double)two->played * two->tma_busy);
        g_assert_cmpuint(two->trace->cta->len, ==, cluster); /* what is drawn is one cluster */
        ws_clock_result_free(one);
        ws_clock_result_free(two);
    }
}

/* Where memory is what bounds them, more CTAs do not carry more. */
static void full(void)
{
    WsClockResult *four = played(4, 1, 528, 400), *eight = played(8, 1, 1056, 400);
    g_assert_cmpint(four->waves, ==, 1);
    g_assert_cmpint(eight->waves, ==, 1);
    g_assert_cmpint(eight->cycles, >, four->cycles * 3 / 2);
    g_assert_cmpint(eight->cycles, >=, (gint64)eight->hbm_cycles);
    ws_clock_result_free(four);
    ws_clock_result_free(eight);
}

/* 33 clusters of four CTAs, of which an H200 holds 30. */
static void clusters(void)
{
    WsClockResult *fit = played(1, 4, 30, 40), *more = played(1, 4, 31, 40),
                  *two = played(1, 2, 66, 40);
    g_assert_cmpint(fit->waves, ==, 1);
    g_assert_cmpint(more->waves, ==, 2);
    g_assert_cmpint(two->waves, ==, 1);
    g_assert_cmpint(more->cycles, >, 2 * fit->cycles - 1);
    ws_clock_result_free(fit);
    ws_clock_result_free(more);
    ws_clock_result_free(two);
}

/* Half of the SMs have one CTA more than the others: the busiest is what is played. */
static void uneven(void)
{
    WsClockResult *even = played(2, 1, 264, 40), *odd = played(2, 1, 200, 40);
    g_assert_cmpint(odd->waves, ==, 1);
    g_assert_cmpint(odd->played, ==, even->played);
    ws_clock_result_free(even);
    ws_clock_result_free(odd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/residents/alone", alone);
    g_test_add_func("/residents/beside", beside);
    g_test_add_func("/residents/full", full);
    g_test_add_func("/residents/clusters", clusters);
    g_test_add_func("/residents/uneven", uneven);
    return g_test_run();
}
