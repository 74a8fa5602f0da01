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
    g_autofree char *python = g_find_program_in_path("python3");
    if (!python) {
        g_test_skip("no python3");
        return;
    }
    g_autofree char *a = written("vector-add", add, 1, NULL),
                    *g = written("cube-gemm", gemm, 1, NULL),
                    *s = written("vector-add", sub, 2, NULL);
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
