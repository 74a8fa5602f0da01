/* What sums along rows cost: products are part of the sum, and columns that `select` leaves out
 * cost nothing where every register knows its column. */
#include "clock/clock.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

/* ALU cycles of 100 rounds of a statement on a tile of 64 x 128, beyond those of `l = l + l`. */
static double cycles(const char *statement)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = g_strdup_printf(
        "{ \"warpstave\": 1, \"name\": \"sums\", \"target\": \"sm_90a\",\n"
        "\"sizes\": { \"T\": 1 }, \"assume\": [\"T >= 1\"],\n"
        "\"tensors\": [{ \"name\": \"Y\", \"dtype\": \"f32\", \"shape\": [\"T*64\", 1], "
        "\"access\": \"write\" }],\n"
        "\"tiles\": { \"axes\": { \"t\": \"T\" }, \"launch\": \"single\" },\n"
        "\"groups\": [{ \"name\": \"use\", \"role\": \"worker\", \"warps\": 4, \"values\": [\n"
        "{ \"name\": \"v\", \"dtype\": \"f32\", \"tile\": [64, 128] },\n"
        "{ \"name\": \"w\", \"dtype\": \"f32\", \"tile\": [1, 128] },\n"
        "{ \"name\": \"l\", \"dtype\": \"f32\", \"tile\": [64, 4] },\n"
        "{ \"name\": \"s\", \"dtype\": \"f32\", \"tile\": [64, 1] }],\n"
        "\"body\": [{ \"compute\": [\"v = 1\", \"w = 2\", \"l = 0\"] },\n"
        "{ \"for\": \"k\", \"count\": 100, \"do\": [{ \"compute\": \"%s\" }] },\n"
        "{ \"compute\": \"s = rowsum(l)\" },\n"
        "{ \"write\": \"s\", \"to\": \"Y\", \"at\": [\"t*64\", 0] }] }] }",
        statement);
    g_autoptr(WsFindings) f = ws_findings_new();
    WsDesign *design = ws_design_parse(text, strlen(text), "sums.wstave", f);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, f) : NULL;
    g_autofree char *said = ws_findings_print(f, "sums.wstave");
    g_assert_cmpstr(said, ==, "");
    WsMachine *m = ws_machine_load(NULL, &error);
    g_assert_no_error(error);
    const WsSize size[] = { { "T", 1 } };
    WsLaunchValues *v = ws_launch_values(p, size, 1, FALSE, f);
    WsClockResult *r = ws_clock_run(p, v, m, NULL, f);
    g_assert_nonnull(r);
    double busy = r->alu_busy * (double)r->played / 100;
    ws_clock_result_free(r);
    ws_launch_values_free(v);
    ws_machine_free(m);
    ws_program_unref(p);
    ws_design_unref(design);
    return busy;
}

static void near(double a, double b)
{
    g_assert_cmpfloat_with_epsilon(a, b, 3 + 0.05 * b); /* start and end of the launch are in it */
}

static void sums(void)
{
    const double none = cycles("l = l + l"), sum = cycles("l = lanesum(v)") - none;
    const double max = cycles("l = lanesum(max(v, 0))") - none - sum;
    g_assert_cmpfloat(sum, >, 50); /* 64 cycles of 128 lanes */
    near(max, 2 * sum);            /* half the rate */
    near(cycles("l = lanesum(v*w)") - none, sum);
    near(cycles("l = lanesum(max(v, 0)*w)") - none, sum + max);
    near(cycles("l = lanesum(v*w*w)") - none, 2 * sum);
    near(cycles("l = lanemax(v*w)") - none, 3 * sum); /* a maximum takes no product in */
}

static void columns(void)
{
    const double none = cycles("l = l + l"), sum = cycles("l = lanesum(max(v, 0)*w)") - none;
    static const struct {
        const char *keep;
        double share;
    } part[] = {
        { "col < 64", 0.5 },    { "col >= 96", 0.25 },    { "col >= 32 && col < 64", 0.25 },
        { "col*2 < 64", 0.25 }, { "col / 64 == 1", 0.5 }, { "col < 128", 1 },
        { "col < 0", 0 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++) {
        g_autofree char *text =
            g_strdup_printf("l = lanesum(select(%s, max(v, 0)*w, -0.0))", part[i].keep);
        near(cycles(text) - none, part[i].share * sum);
    }
    /* columns of one register differ, a maximum takes the others in, and so does another number */
    g_assert_cmpfloat(cycles("l = lanesum(select(col < 60, max(v, 0)*w, -0.0))") - none, >,
                      1.5 * sum);
    near(cycles("l = lanesum(select(col < 64, max(v, 0)*w, 1.0))") - none, sum * 2.5 / 3);
    near(cycles("l = lanesum(select(col < 64, max(v, 0), max(v, 1)))") - none, sum);
    g_assert_cmpfloat(cycles("l = lanesum(select(row < 8, max(v, 0)*w, -0.0))") - none, >, sum);
    /* one column takes the sum of the whole row */
    const double row = cycles("s = rowsum(v)");
    g_assert_cmpfloat(cycles("v = select(col < 120, 1.0, rowsum(v))"), >, row);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/clock/sums/products", sums);
    g_test_add_func("/clock/sums/columns", columns);
    return g_test_run();
}
