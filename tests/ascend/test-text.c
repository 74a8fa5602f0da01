/* TLE-DSA text: it computes what the design says (run_dsa.py runs it on lists), and what its order
 * of steps would not do is refused. */
#include "ascend/designs.h"
#include "codegen/python/python.h"

#include <glib/gstdio.h>

static char *written(const char *design, const AscendChange *change, guint n, GError **error)
{
    g_autofree char *text = ascend_text(design, change, n);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ascend_program(text, findings);
    g_assert_nonnull(p);
    return ws_generate_tle(p, FALSE, NULL, error);
}

static gint run(const char *text, const char *what, const char *sizes)
{
    g_autofree char *name = NULL, *command = NULL, *said = NULL;
    g_autoptr(GError) error = NULL;
    gint status = -1;
    g_close(g_file_open_tmp("dsa-XXXXXX.py", &name, NULL), NULL);
    g_assert_true(g_file_set_contents(name, text, -1, NULL));
    command = g_strdup_printf("python3 " WS_SOURCE_ROOT "/tests/ascend/run_dsa.py %s %s 16 %s",
                              name, what, sizes);
    if (!g_spawn_command_line_sync(command, NULL, &said, &status, &error))
        status = -1;
    if (status)
        g_test_message("%s", error ? error->message : said);
    g_unlink(name);
    return status;
}

static void test_numbers(void)
{
    static const AscendChange add[] = { { "\"BN\": 8192", "\"BN\": 16" } },
                              gemm[] = { { "\"BM\": 128, \"BN\": 128, \"BK\": 64",
                                           "\"BM\": 16, \"BN\": 16, \"BK\": 16" } },
                              sub[] = { { "\"BN\": 8192", "\"BN\": 16" },
                                        { "\"vector\": \"add\"", "\"vector\": \"sub\"" } };
    /* Sums in a ring, at one use in all rounds, begin in the first. */
    static const AscendChange ring[] = {
        { "\"BM\": 128, \"BN\": 128, \"BK\": 64", "\"BM\": 16, \"BN\": 16, \"BK\": 16" },
        { "\"tile\": [\"BM\", \"BN\"]", "\"stages\": 2, \"tile\": [\"BM\", \"BN\"]" },
        { "\"mma\": \"c0\"", "\"mma\": \"c0 @ 0\"" },
        { "\"from\": \"c0\" }", "\"from\": \"c0\", \"use\": 0 }" },
        { "\"k*BK\"", "\"((k + kt) % kt)*BK\"" },
    };
    g_autofree char *python = g_find_program_in_path("python3");
    if (!python) {
        g_test_skip("no python3");
        return;
    }
    g_autofree char *a = written("vector-add", add, 1, NULL),
                    *g = written("cube-gemm", gemm, 1, NULL),
                    *s = written("vector-add", sub, 2, NULL);
    g_autoptr(GError) error = NULL;
    g_autofree char *r = written("cube-gemm", ring, 5, &error);
    g_assert_no_error(error);
    g_assert_cmpint(run(r, "gemm", "32 48 80"), ==, 0);
    g_assert_true(a && g && s);
    g_assert_cmpint(run(a, "add", "1"), ==, 0);
    g_assert_cmpint(run(a, "add", "100"), ==, 0);
    g_assert_cmpint(run(g, "gemm", "16 16 16"), ==, 0);
    g_assert_cmpint(run(g, "gemm", "32 48 80"), ==, 0);
    g_assert_cmpint(run(s, "add", "100"), !=, 0); /* the judge can say no */
}

static void test_refused(void)
{
    static const struct {
        const char *design;
        AscendChange change[6];
        const char *why;
    } rows[] = {
        { "vector-add",
          { { "          { \"arrive\": \"filled\", \"use\": \"k\" },\n          { \"wait\": "
              "\"filled\", \"use\": \"k\" },\n",
              "          { \"wait\": \"filled\", \"use\": \"k\" },\n          { \"arrive\": "
              "\"filled\", \"use\": \"k\" },\n" } },
          "after its wait" },
        { "vector-add",
          { { "\"into\": \"x\", \"use\": \"k\"", "\"into\": \"x\", \"use\": \"k + 1\"" } },
          "at uses" },
        { "cube-gemm",
          { { "\"launch\": \"single\"", "\"launch\": \"single\", \"order\": \"grouped(tm, 2)\"" } },
          "order" },
        { "cube-gemm",
          { { "          { \"load\": \"A\", \"at\": [\"tm*BM\", \"k*BK\"], \"into\": \"a1\", "
              "\"use\": \"k\" },\n",
              "" } },
          "in front of what writes it" },
        { "vector-add",
          { { "{ \"vector\": \"add\"", "{ \"when\": \"k % 2 == 0\", \"vector\": \"add\"" } },
          "a condition" },
        { "vector-add",
          { { "{ \"vector\": \"add\"", "{ \"id\": \"sum\", \"vector\": \"add\"" } },
          "an id of its own" },
        { "cube-gemm",
          { { "\"into\": \"a1\", \"use\": \"k\" }",
              "\"into\": \"a1\", \"use\": \"k\", \"ahead\": 1 }" } },
          "a condition" },
        { "cube-gemm",
          { { "\"let\": { \"kt\": \"K/BK\" }", "\"let\": { \"unused\": \"K/BK\" }" },
            { "{ \"load\": \"A\", \"at\": [\"tm*BM\", \"k*BK\"], \"into\": \"a1\", \"use\": \"k\" "
              "}",
              "{ \"load\": \"A\", \"at\": [\"tm*BM\", \"k*BK\"], \"into\": \"a1\", \"use\": \"k\", "
              "\"ahead\": 1 }" },
            { "\"count\": \"kt\"", "\"count\": 4" },
            { "\"kt + r\"", "\"4 + r\"" },
            { "\"kt + r\"", "\"4 + r\"" } },
          "ahead" },
        { "vector-add", /* all sets of it stand behind the wait, at other uses */
          { { "          { \"arrive\": \"free\", \"use\": \"s\" },\n", "" } },
          "flag free is set after its wait" },
        { "vector-add", /* a division of the position: the reason is the position */
          { { "{ \"load\": \"Y\", \"at\": [\"t*BN\"]",
              "{ \"load\": \"Y\", \"at\": [\"(k % 2)*BN\"]" } },
          "the position in a loop over tiles" },
        /* --- one tile of a ring --- */
        { "vector-add",
          { { "          { \"wait\": \"stored\", \"use\": \"k\" },\n",
              "          { \"wait\": \"stored\", \"use\": \"k\" } ] },\n"
              "        { \"for\": \"m\", \"over\": \"tiles\", \"do\": [\n" },
            { "\"b\": \"y\", \"into\": \"z\", \"use\": \"k\" }",
              "\"b\": \"y\", \"into\": \"z\", \"use\": \"m\" }" },
            { "{ \"arrive\": \"free\", \"use\": \"k + S\" }",
              "{ \"arrive\": \"free\", \"use\": \"m + S\" }" },
            { "{ \"arrive\": \"summed\", \"use\": \"k\" },\n          { \"wait\": \"summed\", "
              "\"use\": \"k\" }",
              "{ \"arrive\": \"summed\", \"use\": \"m\" },\n          { \"wait\": \"summed\", "
              "\"use\": \"m\" }" },
            { "\"from\": \"z\", \"use\": \"k\"", "\"from\": \"z\", \"use\": \"m\"" },
            { "{ \"arrive\": \"stored\", \"use\": \"k + S\" }",
              "{ \"arrive\": \"stored\", \"use\": \"m + S\" }" } },
          "the same round has not written" },
        { "vector-add", /* what the rounds of a loop wrote, behind it */
          { { "          { \"store\": \"Z\"", "          ] }, { \"store\": \"Z\"" },
            { "\"from\": \"z\", \"use\": \"k\" },\n          { \"arrive\": \"stored\", \"use\": "
              "\"k + S\" }\n        ] },",
              "\"from\": \"z\", \"use\": 0 }," },
            { "{ \"wait\": \"summed\", \"use\": \"k\" },",
              "{ \"wait\": \"summed\", \"use\": \"k\" }" },
            { "\"t\": \"cdiv(N, BN)\" }, \"launch\": \"persistent\"",
              "\"t\": \"cdiv(N, BN)\" }, \"launch\": \"single\"" },
            { "\"over\": \"tiles\"", "\"count\": 2" } },
          "after a loop" },
        { "cube-gemm", /* sums of a ring that start from zero in some round */
          { { "\"name\": \"c0\", \"dtype\": \"f32\", \"tile\": [\"BM\", \"BN\"]",
              "\"name\": \"c0\", \"dtype\": \"f32\", \"stages\": 2, \"tile\": [\"BM\", \"BN\"]" },
            { "\"BM\": 128, \"BN\": 128", "\"BM\": 64, \"BN\": 64" },
            { "\"from\": \"c0\" }", "\"from\": \"c0\", \"use\": 0 }" },
            { "\"first\": \"k == 0\"", "\"first\": \"k % 2 == 0\"" } },
          "start from zero" },
        /* --- names --- */
        { "vector-add",
          { { "{ \"load\": \"Y\", \"at\": [\"t*BN\"]", "{ \"load\": \"Y\", \"at\": [\"k*BN\"]" } },
          "the position in a loop over tiles" },
        { "vector-add",
          { { "\"for\": \"k\", \"over\": \"tiles\"",
              "\"for\": \"k\", \"over\": \"tiles\", \"step\": 2" } },
          "from or step" },
        { "cube-gemm",
          { { "\"tn\": \"N/BN\"", "\"tile\": \"N/BN\"" },
            { "\"tn*BN\"", "\"tile*BN\"" },
            { "\"tn*BN\"", "\"tile*BN\"" } },
          "the name tile" },
        { "cube-gemm",
          { { "\"let\": { \"kt\": \"K/BK\" }", "\"let\": { \"kt\": \"K/BK\", \"tl\": \"K\" }" } },
          "the name tl" },
        { "cube-gemm",
          { { "\"let\": { \"kt\": \"K/BK\" }",
              "\"let\": { \"kt\": \"K/BK\", \"A_ptr\": \"K\" }" } },
          "the name A_ptr" },
        /* --- rounding --- */
        { "cube-gemm",
          { { "[\"tm*BM\", \"k*BK\"]", "[\"tm*BM\", \"((k - 1) % kt)*BK\"]" } },
          "rounds down" },
        { "cube-gemm",
          { { "[\"tm*BM\", \"k*BK\"]", "[\"tm*BM\", \"((k - 3)/2 + 2)*BK\"]" } },
          "rounds down" },
        { "cube-gemm",
          { { "[\"tm*BM\", \"k*BK\"]", "[\"tm*BM\", \"cdiv(k - 3, 2)*BK\"]" } },
          "rounds down" },
        { "cube-gemm",
          { { "[\"tm*BM\", \"k*BK\"]", "[\"tm*BM\", \"(k/(tm - 1))*BK\"]" } },
          "rounds down" },
        { "cube-gemm",
          { { "[\"tm*BM\", \"k*BK\"]", "[\"tm*BM\", \"(k - 1)*BK\"]" } },
          "in front of A" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = written(rows[i].design, rows[i].change, 6, &error);
        if (text || !strstr(error->message, rows[i].why))
            g_error("row %u: %s", i, text ? text : error->message);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ascend/text/numbers", test_numbers);
    g_test_add_func("/ascend/text/refused", test_refused);
    return g_test_run();
}
