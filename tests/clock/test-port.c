/* The port of shared memory: products take what they need of it first, reads and writes of
 * registers get the rest. Expected are bytes over what is left of 128 a cycle. */
#include "clock/clock.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/agent.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

/* Two groups multiply PRODUCTS times, another one moves a tile of 64 x 64 READS times. */
static const char plain[] =
    "{ \"warpstave\": 1, \"name\": \"port\", \"target\": \"sm_90a\",\n"
    "\"constants\": { \"N\": 64, \"PRODUCTS\": 2000, \"READS\": 20 },\n"
    "\"tensors\": [{ \"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [64, 64] },\n"
    "{ \"name\": \"B\", \"dtype\": \"bf16\", \"shape\": [\"N\", 64] },\n"
    "{ \"name\": \"C\", \"dtype\": \"f32\", \"shape\": [128, \"N\"], \"access\": \"write\" }],\n"
    "\"tiles\": { \"axes\": { \"t\": \"1\" }, \"launch\": \"single\" },\n"
    "\"buffers\": [{ \"name\": \"a\", \"dtype\": \"bf16\", \"tile\": [64, 64] },\n"
    "{ \"name\": \"b\", \"dtype\": \"bf16\", \"tile\": [\"N\", 64] },\n"
    "{ \"name\": \"x\", \"dtype\": \"f32\", \"tile\": [64, 32] },\n"
    "{ \"name\": \"y\", \"dtype\": \"bf16\", \"tile\": [64, 64] }],\n"
    "\"barriers\": [{ \"name\": \"full\" }],\n"
    "\"groups\": [{ \"name\": \"load\", \"role\": \"producer\", \"warps\": 4, \"registers\": 24,\n"
    "\"body\": [{ \"load\": \"A\", \"at\": [0, 0], \"into\": \"a\", \"signal\": \"full\", \"use\": "
    "0 },\n"
    "{ \"load\": \"B\", \"at\": [0, 0], \"into\": \"b\", \"signal\": \"full\", \"use\": 0 }] },\n"
    "{ \"name\": \"mma\", \"role\": \"consumer\", \"warps\": 4, \"registers\": 160, \"replicate\": "
    "2,\n"
    "\"values\": [{ \"name\": \"acc\", \"dtype\": \"f32\", \"tile\": [64, \"N\"] }],\n"
    "\"body\": [{ \"wait\": \"full\", \"use\": 0 },\n"
    "{ \"for\": \"k\", \"count\": \"PRODUCTS\", \"do\": [\n"
    "{ \"mma\": \"acc\", \"a\": \"a\", \"b\": \"b\", \"first\": \"k == 0\" },\n"
    "{ \"mma_wait\": 1 }] },\n"
    "{ \"mma_wait\": 0 }, { \"write\": \"acc\", \"to\": \"C\", \"at\": [\"replica*64\", 0] }] },\n"
    "{ \"name\": \"other\", \"role\": \"consumer\", \"warps\": 4, \"registers\": 160,\n"
    "\"values\": [{ \"name\": \"v\", \"dtype\": \"bf16\", \"tile\": [64, 64] },\n"
    "{ \"name\": \"f\", \"dtype\": \"f32\", \"tile\": [64, 32] }],\n"
    "\"body\": [{ \"compute\": [\"v = 1\", \"f = 1\"] }, { \"wait\": \"full\", \"use\": 0 },\n"
    "{ \"for\": \"r\", \"count\": \"READS\", \"do\": [{ \"read\": \"v\", \"from\": \"a\" }] }] }] "
    "}";

/* Cycles from one round of the other group to the next. */
static double period(const char *set, const char *step)
{
    g_autoptr(GError) error = NULL;
    GString *s = g_string_new(plain);
    if (step)
        g_assert_cmpuint(g_string_replace(s, "{ \"read\": \"v\", \"from\": \"a\" }", step, 0), ==,
                         1);
    if (set) {
        g_auto(GStrv) word = g_strsplit(set, " -> ", 2);
        g_assert_cmpuint(g_string_replace(s, word[0], word[1], 0), >=, 1);
    }
    g_autofree char *text = g_string_free(s, FALSE);
    g_autoptr(WsFindings) f = ws_findings_new();
    WsDesign *design = ws_design_parse(text, strlen(text), "port.wstave", f);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, f) : NULL;
    g_autofree char *said = ws_findings_print(f, "port.wstave");
    g_test_message("%s", said);
    g_assert_nonnull(p);
    WsMachine *m = ws_machine_load(NULL, &error);
    g_assert_no_error(error);
    WsLaunchValues *v = ws_launch_values(p, NULL, 0, FALSE, f);
    WsClockResult *r = ws_clock_run(p, v, m, NULL, f);
    g_assert_nonnull(r);
    double found = 0;
    for (guint i = 0; i < r->loop->len; i++) {
        const WsClockLoop *loop = &g_array_index(r->loop, WsClockLoop, i);
        if (g_str_has_prefix(p->agent[loop->agent].name, "other"))
            found = (double)loop->period;
    }
    ws_clock_result_free(r);
    ws_launch_values_free(v);
    ws_machine_free(m);
    ws_program_unref(p);
    ws_design_unref(design);
    g_test_message("%s, %s: %.0f", set ? set : "64 columns", step ? step : "read", found);
    return found;
}

#define FEW   "\"PRODUCTS\": 2000 -> \"PRODUCTS\": 1"
#define WIDE  "\"N\": 64 -> \"N\": 256"
#define BYTES (64.0 * 64 * 2)

static void test_reads(void)
{
    const double alone = period(FEW, NULL), rest = alone - BYTES / 128;
    g_assert_cmpfloat(rest, >, 0); /* latency and loop */
    g_assert_cmpfloat(rest, <, 60);
    /* 256 columns take 80 of 128 bytes a cycle, 64 columns all of them */
    const double wide = period(WIDE, NULL), narrow = period(NULL, NULL);
    g_assert_cmpfloat(wide, >, BYTES / 48);
    g_assert_cmpfloat(wide, <, BYTES / 48 + 2 * rest);
    g_assert_cmpfloat(narrow, >, 28 * BYTES / 128); /* as measured */
    g_assert_cmpfloat(narrow, <, 60 * BYTES / 128);
}

static void test_writes(void)
{
    const char *write = "{ \"write\": \"v\", \"to\": \"y\" }, { \"sync\": \"group\" }";
    const double alone = period(FEW, write), wide = period(WIDE, write);
    g_assert_cmpfloat(wide, >, alone + BYTES / 48 - BYTES / 100);
    g_assert_cmpfloat(period(NULL, write), >, 28 * BYTES / 128);
}

/* Rows 2i and 2i + 1 of 4 bytes in the same banks: twice as long for as many bytes, if read. */
static void test_banks(void)
{
    const char *wide = "{ \"write\": \"f\", \"to\": \"x\" }, { \"sync\": \"group\" }";
    const char *narrow = "{ \"write\": \"v\", \"to\": \"y\" }, { \"sync\": \"group\" }";
    g_assert_cmpfloat_with_epsilon(period(FEW, wide), period(FEW, narrow), 20);
    g_assert_cmpfloat_with_epsilon(period(FEW, "{ \"read\": \"f\", \"from\": \"x\" }"),
                                   period(FEW, NULL) + BYTES / 128, 10);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/port/reads", test_reads);
    g_test_add_func("/port/writes", test_writes);
    g_test_add_func("/port/banks", test_banks);
    return g_test_run();
}
