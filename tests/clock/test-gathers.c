/* What gathers wait for: which rows they take, once a round, and rows that L2 does not hold. And
 * what it costs to widen 8-bit floats. */
#include "clock/clock.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

#define ROUNDS 20

static const char plain[] =
    "{ \"warpstave\": 1, \"name\": \"gathers\", \"target\": \"sm_90a\",\n"
    "\"sizes\": { \"R\": 1000 },\n"
    "\"tensors\": [{ \"name\": \"X\", \"dtype\": \"e4m3\", \"shape\": [\"R\", 128] },\n"
    "{ \"name\": \"I\", \"dtype\": \"i32\", \"shape\": [2000], \"data\": \"indices(R, 0)\" },\n"
    "{ \"name\": \"Y\", \"dtype\": \"f16\", \"shape\": [64, 128], \"access\": \"write\" }],\n"
    "\"tiles\": { \"axes\": { \"t\": \"1\" }, \"launch\": \"single\" },\n"
    "\"buffers\": [{ \"name\": \"x\", \"dtype\": \"e4m3\", \"tile\": [64, 128] }],\n"
    "\"barriers\": [{ \"name\": \"full\" }],\n"
    "\"groups\": [{ \"name\": \"w\", \"role\": \"worker\", \"warps\": 4, \"values\": [\n"
    "{ \"name\": \"v\", \"dtype\": \"e4m3\", \"tile\": [64, 128] },\n"
    "{ \"name\": \"y\", \"dtype\": \"f16\", \"tile\": [64, 128] },\n"
    "{ \"name\": \"s\", \"dtype\": \"f16\", \"tile\": [64, 1] },\n"
    "{ \"name\": \"f\", \"dtype\": \"f32\", \"tile\": [64, 1] }],\n"
    "\"body\": [{ \"compute\": [\"s = 1\", \"f = 1\"] },\n"
    "{ \"for\": \"k\", \"count\": 20, \"do\": [\n"
    "{ \"gather\": \"X\", \"at\": [\"I[64*k + row]\", 0], \"into\": \"x\", \"signal\": \"full\", "
    "\"use\": \"k\" },\n"
    "{ \"wait\": \"full\", \"use\": \"k\" },\n"
    "{ \"read\": \"v\", \"from\": \"x\" },\n"
    "{ \"sync\": \"group\" },\n"
    "{ \"compute\": \"y = f16(v*s)\" }] },\n"
    "{ \"write\": \"y\", \"to\": \"Y\", \"at\": [0, 0] }] }] }";

/* Cycles of a round. */
static double cycles(gint64 rows, const char *from, const char *to)
{
    g_autoptr(GError) error = NULL;
    GString *s = g_string_new(plain);
    if (from)
        g_assert_cmpuint(g_string_replace(s, from, to, 0), ==, 1);
    g_autofree char *text = g_string_free(s, FALSE);
    g_autoptr(WsFindings) f = ws_findings_new();
    WsDesign *design = ws_design_parse(text, strlen(text), "gathers.wstave", f);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, f) : NULL;
    g_autofree char *said = ws_findings_print(f, "gathers.wstave");
    g_test_message("%s", said);
    g_assert_nonnull(p);
    WsMachine *m = ws_machine_load(NULL, &error);
    g_assert_no_error(error);
    const WsSize size[] = { { "R", rows } };
    WsLaunchValues *v = ws_launch_values(p, size, 1, FALSE, f);
    WsClockResult *r = ws_clock_run(p, v, m, NULL, f);
    g_assert_nonnull(r);
    const double all = (double)r->cycles / ROUNDS;
    ws_clock_result_free(r);
    ws_launch_values_free(v);
    ws_machine_free(m);
    ws_program_unref(p);
    ws_design_unref(design);
    g_test_message("%s: %.0f cycles a round", to ? to : "as it stands", all);
    return all;
}

static void test_rows(void)
{
    const double near = cycles(1000, NULL, NULL);
    /* 128 bytes each: 50 MB are held by both halves of L2 together */
    g_assert_cmpfloat_with_epsilon(cycles(390000, NULL, NULL), near, 1);
    g_assert_cmpfloat_with_epsilon(cycles(400000, NULL, NULL), near + 1100 - 560, 5);
    /* what no tensor says need not be looked up */
    g_assert_cmpfloat_with_epsilon(cycles(2000, "I[64*k + row]", "64*k + row"), near - 560, 5);
}

static void test_widening(void)
{
    const double half = cycles(1000, NULL, NULL);
    const double full = cycles(1000, "f16(v*s)", "f16(v*f)");
    /* 8192 elements: 1.5 instructions for two against six */
    g_assert_cmpfloat(full, >, half + 90);
    g_assert_cmpfloat(full, <, half + 200);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/clock/gathers/rows", test_rows);
    g_test_add_func("/clock/gathers/widening", test_widening);
    return g_test_run();
}
