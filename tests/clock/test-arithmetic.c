/* Statements in phases, and the code of many of them. Expected are results over lanes a cycle, and
 * bytes of instructions over what is fetched in a cycle. */
#include "clock/clock.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

static const char head[] =
    "{ \"warpstave\": 1, \"name\": \"arithmetic\", \"target\": \"sm_90a\",\n"
    "\"tensors\": [{ \"name\": \"X\", \"dtype\": \"f32\", \"shape\": [64, 128] },\n"
    "{ \"name\": \"Y\", \"dtype\": \"f32\", \"shape\": [64, 128], \"access\": \"write\" },\n"
    "{ \"name\": \"Z\", \"dtype\": \"f32\", \"shape\": [64, 128], \"access\": \"write\" }],\n"
    "\"tiles\": { \"axes\": { \"t\": \"1\" }, \"launch\": \"single\" },\n"
    "\"groups\": [{ \"name\": \"math\", \"role\": \"consumer\", \"warps\": 4, \"registers\": 232,\n"
    "\"values\": [{ \"name\": \"s\", \"dtype\": \"f32\", \"tile\": [64, 128] },\n"
    "{ \"name\": \"o\", \"dtype\": \"f32\", \"tile\": [64, 128] },\n"
    "{ \"name\": \"m\", \"dtype\": \"f32\", \"tile\": [64, 1] },\n"
    "{ \"name\": \"held\", \"dtype\": \"f32\", \"tile\": [1, 128] },\n"
    "{ \"name\": \"dealt\", \"dtype\": \"f32\", \"tile\": [1, 1024] }],\n"
    "\"body\": [{ \"compute\": [\"s = 1\", \"o = 1\", \"m = 0\", \"held = 1\", \"dealt = 1\"] },\n"
    "{ \"for\": \"r\", \"count\": 100, \"do\": [";
static const char tail[] = "] },\n"
                           "{ \"write\": \"s\", \"to\": \"Y\", \"at\": [0, 0] },\n"
                           "{ \"write\": \"o\", \"to\": \"Z\", \"at\": [0, 0] }] }] }";

/* Cycles of a round of so many of these steps. */
static double period(const char *step, guint steps)
{
    g_autoptr(GError) error = NULL;
    GString *s = g_string_new(head);
    for (guint i = 0; i < steps; i++)
        g_string_append_printf(s, "%s{ \"compute\": [%s] }", i ? ", " : "", step);
    g_string_append(s, tail);
    g_autofree char *text = g_string_free(s, FALSE);
    g_autoptr(WsFindings) f = ws_findings_new();
    WsDesign *design = ws_design_parse(text, strlen(text), "arithmetic.wstave", f);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, f) : NULL;
    g_autofree char *said = ws_findings_print(f, "arithmetic.wstave");
    g_test_message("%s", said);
    g_assert_nonnull(p);
    WsMachine *m = ws_machine_load(NULL, &error);
    g_assert_no_error(error);
    WsLaunchValues *v = ws_launch_values(p, NULL, 0, FALSE, f);
    WsClockResult *r = ws_clock_run(p, v, m, NULL, f);
    g_assert_nonnull(r);
    g_assert_cmpuint(r->loop->len, ==, 1);
    const double found = (double)g_array_index(r->loop, WsClockLoop, 0).period;
    ws_clock_result_free(r);
    ws_launch_values_free(v);
    ws_machine_free(m);
    ws_program_unref(p);
    ws_design_unref(design);
    g_test_message("%u of %s: %.0f", steps, step, found);
    return found;
}

#define RESULTS (64.0 * 128)

static void test_phases(void)
{
    const double ex2 = period("\"s = exp2(s)\"", 1);
    g_assert_cmpfloat_with_epsilon(ex2, RESULTS / 16, 40);
    /* what works on it hides behind it, what does not comes last */
    const double follows = period("\"s = exp2(s)\", \"s = s*2\"", 1);
    const double apart = period("\"s = exp2(s)\", \"o = o*2\"", 1);
    g_assert_cmpfloat_with_epsilon(follows, ex2, 20);
    g_assert_cmpfloat_with_epsilon(apart, follows + RESULTS / 120, 10);
    /* … also where it stands in front, and where a row of one column is taken */
    g_assert_cmpfloat_with_epsilon(period("\"o = o*2\", \"s = exp2(s)\"", 1), apart, 2);
    g_assert_cmpfloat_with_epsilon(period("\"s = exp2(s)\", \"o = o*m\"", 1), apart, 2);
}

/* A complete row is waited for: 64 maxima a cycle, and what the quad exchanges. */
static void test_rows(void)
{
    const double ex2 = period("\"s = exp2(s)\"", 1);
    const double most = period("\"m = rowmax(s)\", \"s = exp2(s - m)\"", 1);
    g_assert_cmpfloat(most, >, ex2 + RESULTS / 64 + 40);
    g_assert_cmpfloat(most, <, ex2 + RESULTS / 64 + 90);
    /* a sum in each lane is no complete row */
    g_assert_cmpfloat(period("\"s = exp2(s)\", \"m = rowsum(s)\"", 1), <, ex2 + 90);
}

/* 64 multiplications and a little more, 16 bytes each: 20 steps stay in an SM, 40 do not. */
static void test_code(void)
{
    const double few = period("\"s = s*2\"", 20) / 20, many = period("\"s = s*2\"", 40) / 40;
    g_assert_cmpfloat_with_epsilon(few, RESULTS / 120 + 12, 3);
    g_assert_cmpfloat(many, >, 64 * 16 / 8);
    g_assert_cmpfloat(many, <, 1.2 * 64 * 16 / 8);
    /* under ex2 there is time for it */
    const double slow = period("\"s = exp2(s)\"", 40) / 40;
    g_assert_cmpfloat_with_epsilon(slow, period("\"s = exp2(s)\"", 1), 15);
}

/* A row that meets tiles is held by each warp; one of its own is dealt out to the threads. */
static void test_dealt(void)
{
    const double held = period("\"s = s + held\", \"held = held*2\"", 4) / 4,
                 both = period("\"s = s + held\", \"held = held*2\", \"dealt = dealt*2\"", 4) / 4;
    g_assert_cmpfloat(both - held, >, 1024.0 / 128);
    g_assert_cmpfloat(both - held, <, 1024.0 / 128 + 24);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/arithmetic/phases", test_phases);
    g_test_add_func("/arithmetic/rows", test_rows);
    g_test_add_func("/arithmetic/code", test_code);
    g_test_add_func("/arithmetic/dealt", test_dealt);
    return g_test_run();
}
