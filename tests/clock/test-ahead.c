/* What memory gives more of a row than a box takes is in L2 when the next box of it is loaded. One
 * stage, so that a round takes as long as its load; expected are the latencies of the machine. */
#include "clock/clock.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

static const char text[] =
    "{ \"warpstave\": 1, \"name\": \"ahead\", \"target\": \"sm_90a\",\n"
    "\"constants\": { \"W\": 64 },\n"
    "\"tensors\": [{ \"name\": \"X\", \"dtype\": \"bf16\", \"shape\": [12800, 12800] },\n"
    "{ \"name\": \"Y\", \"dtype\": \"bf16\", \"shape\": [64, \"W\"], \"access\": \"write\" }],\n"
    "\"tiles\": { \"axes\": { \"t\": \"1\" }, \"launch\": \"single\" },\n"
    "\"buffers\": [{ \"name\": \"x\", \"dtype\": \"bf16\", \"tile\": [64, \"W\"] }],\n"
    "\"barriers\": [{ \"name\": \"full\" }, { \"name\": \"empty\", \"init\": \"ready\" }],\n"
    "\"groups\": [{ \"name\": \"load\", \"role\": \"producer\", \"warps\": 4, \"body\": [\n"
    "{ \"for\": \"r\", \"count\": 60, \"do\": [{ \"wait\": \"empty\", \"use\": \"r\" },\n"
    "{ \"load\": \"X\", \"at\": [\"A\", \"B\"], \"into\": \"x\", \"signal\": \"full\", \"use\": "
    "\"r\" "
    "}] }] },\n"
    "{ \"name\": \"take\", \"role\": \"consumer\", \"warps\": 4,\n"
    "\"values\": [{ \"name\": \"v\", \"dtype\": \"bf16\", \"tile\": [64, \"W\"] }],\n"
    "\"body\": [{ \"for\": \"r\", \"count\": 60, \"do\": [{ \"wait\": \"full\", \"use\": \"r\" },\n"
    "{ \"read\": \"v\", \"from\": \"x\", \"use\": \"r\" }, { \"arrive\": \"empty\", \"use\": "
    "\"r\" }] },\n"
    "{ \"write\": \"v\", \"to\": \"Y\", \"at\": [0, 0] }] }] }";

/* Cycles of a round where boxes of so many columns begin at (row, column). */
static double period(const char *w, const char *row, const char *column)
{
    g_autoptr(GError) error = NULL;
    GString *s = g_string_new(text);
    g_string_replace(s, "\"W\": 64", w, 1);
    g_string_replace(s, "\"A\"", row, 1);
    g_string_replace(s, "\"B\"", column, 1);
    g_autofree char *all = g_string_free(s, FALSE);
    g_autoptr(WsFindings) f = ws_findings_new();
    WsDesign *design = ws_design_parse(all, strlen(all), "ahead.wstave", f);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, f) : NULL;
    g_autofree char *said = ws_findings_print(f, "ahead.wstave");
    g_test_message("%s", said);
    g_assert_nonnull(p);
    WsMachine *m = ws_machine_load(NULL, &error);
    g_assert_no_error(error);
    WsLaunchValues *v = ws_launch_values(p, NULL, 0, FALSE, f);
    const WsClockOptions options = { .no_trace = TRUE };
    WsClockResult *r = ws_clock_run(p, v, m, &options, f);
    g_assert_nonnull(r);
    const double found = (double)r->played / 60;
    ws_clock_result_free(r);
    ws_launch_values_free(v);
    ws_machine_free(m);
    ws_program_unref(p);
    ws_design_unref(design);
    g_test_message("%s at [%s, %s]: %.0f", w, row, column, found);
    return found;
}

#define NARROW "\"W\": 64"

static void test_rows(void)
{
    /* 128 bytes of each of 64 other rows in every round: all from memory */
    const double far = period(NARROW, "\"64*r\"", "0");
    /* … of the same rows, one behind the other: every second round from L2 */
    const double along = period(NARROW, "0", "\"64*r\"");
    g_assert_cmpfloat_with_epsilon(far - along, (1100 - 500) / 2.0, 40);
    /* 256 bytes apart nothing comes along, and 256 bytes are all of it */
    g_assert_cmpfloat_with_epsilon(period(NARROW, "0", "\"128*r\""), far, 5);
    g_assert_cmpfloat(period("\"W\": 128", "0", "\"128*r\""), >=, far);
    /* 64 bytes: one round of four */
    const double short_far = period("\"W\": 32", "\"64*r\"", "0");
    g_assert_cmpfloat_with_epsilon(short_far - period("\"W\": 32", "0", "\"32*r\""),
                                   (1100 - 500) * 3 / 4.0, 40);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ahead/rows", test_rows);
    return g_test_run();
}
