/* `search --measure` on a runner without a GPU (measured-runner.py): who runs how often, what is
 * written, and that nothing is where a proved design is wrong or nothing ran. */
#include "../whole.h"
#include "launch/history.h"
#include "launch/rank.h"
#include "run.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define GEMM WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave"

static char *dir;

static int search(const char *says, char **output, char **written, char **turns)
{
    g_autofree char *out = g_build_filename(dir, "out.wstave", NULL);
    g_autofree char *log = g_build_filename(dir, "turns", NULL);
    const char *const arguments[] = { "search",      GEMM,           "--rounds=2",
                                      "--beam=4",    "--budget=20s", "--size=M=8192",
                                      "--measure=4", "-o",           out,
                                      NULL };
    g_unlink(out);
    g_unlink(log);
    g_setenv("WARPSTAVE_TURNS", log, TRUE);
    g_setenv("WARPSTAVE_SAYS", says, TRUE);
    const int code = run(arguments, output);
    *written = *turns = NULL;
    g_file_get_contents(out, written, NULL, NULL);
    g_file_get_contents(log, turns, NULL, NULL);
    return code;
}

static gboolean can_run(void)
{
    g_autofree char *python = g_find_program_in_path("python3"), *version = NULL;
    const char *const arguments[] = { "--version", NULL };
    g_assert_cmpint(run(arguments, &version), ==, 0);
    if (strstr(version, "code generation: yes") && python)
        return TRUE;
    g_test_skip("needs code generation and python3");
    return FALSE;
}

/* Each turn is kept. (Designs are those of the bundle that the runner took: one.) */
static void in_history(guint turns)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsRunStore) store = ws_history_open(NULL, &error);
    if (g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT))
        return; /* built without SQLite */
    g_assert_no_error(error);
    g_autoptr(GPtrArray) runs = ws_history_list(store, NULL, 1000, &error);
    g_autoptr(GHashTable) times = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (guint i = 0; i < runs->len; i++) {
        const WsHistoryRun *r = runs->pdata[i];
        g_assert_false(isnan(r->cold_us));
        g_hash_table_add(times, (gpointer)&r->cold_us);
    }
    g_assert_cmpuint(runs->len, ==, turns);
    g_assert_cmpuint(g_hash_table_size(times), ==, 5);
}

static void order(void)
{
    g_autofree char *output = NULL, *written = NULL, *turns = NULL;
    if (!can_run())
        return;
    const int code = search("", &output, &written, &turns);
    const char *table = strstr(output, "measured, cold");
    g_assert_nonnull(table);
    g_auto(GStrv) line = g_strsplit(table, "\n", -1);
    g_assert_nonnull(strstr(line[2], "1.000     1.000  as it is"));
    double last = 0, best = 0;
    guint rows = 0, whole = 0;
    for (guint i = 3; line[i] && g_ascii_isspace(line[i][0]); i++, rows++) {
        double us, time, predicted;
        guint n;
        g_assert_cmpint(sscanf(line[i], "%lf %u %lf %lf", &us, &n, &time, &predicted), ==, 4);
        g_assert_cmpfloat(time, >=, last);
        best = rows ? best : time;
        last = time;
        whole += n == 4;
        g_assert_true(n == 4 || n == 1);
    }
    g_assert_cmpuint(rows, ==, 4);
    g_assert_cmpuint(whole, ==, 2); /* of five three stay, one of them as it is */
    g_assert_cmpint(code, ==, best < 1 ? 0 : 1);
    g_assert_cmpint(written != NULL, ==, best < 1);
    if (written) { /* the one that the first row names */
        const char *edit = strrchr(line[3], ' ');
        g_assert_nonnull(strstr(written, "found by search: "));
        g_assert_nonnull(strstr(written, edit));
    }
    guint judged = 0, again = 0;
    for (const char *at = turns; (at = strstr(at, " judged")); at++)
        judged++;
    for (const char *at = turns; (at = strstr(at, " again")); at++)
        again++;
    g_assert_cmpuint(judged, ==, 5);
    g_assert_cmpuint(again, ==, 9);
    in_history(judged + again);
}

static void wrong(void)
{
    g_autofree char *output = NULL, *written = NULL, *turns = NULL;
    if (!can_run())
        return;
    g_assert_cmpint(search("wrong", &output, &written, &turns), ==, 1);
    g_assert_nonnull(strstr(output, "a proved design ran and was wrong: nothing is written"));
    g_assert_null(written);
}

/* Right in the first turn, which is not to be believed then. */
static void later(void)
{
    g_autofree char *output = NULL, *written = NULL, *turns = NULL;
    if (!can_run())
        return;
    g_assert_cmpint(search("later", &output, &written, &turns), ==, 1);
    g_assert_nonnull(strstr(output, "a proved design ran and was hung: nothing is written"));
    g_assert_null(written);
}

/* What is said of results that cannot be read names no folder that is gone by then. */
static void broken(void)
{
    g_autofree char *output = NULL, *written = NULL, *turns = NULL;
    if (!can_run())
        return;
    g_assert_cmpint(search("broken", &output, &written, &turns), ==, 1);
    g_assert_nonnull(strstr(output, "its bundle (--keep=DIR keeps it)"));
    g_assert_null(strstr(output, g_get_tmp_dir()));
    g_assert_null(written);
}

static void absent(void)
{
    g_autofree char *output = NULL, *written = NULL, *turns = NULL;
    if (!can_run())
        return;
    g_assert_cmpint(search("absent", &output, &written, &turns), ==, 4);
    g_assert_nonnull(strstr(output, "nothing was measured: no GPU or driver here"));
    g_assert_null(written);
    g_assert_null(turns);
}

static void dies(void)
{
    g_autofree char *output = NULL, *written = NULL, *turns = NULL;
    if (!can_run())
        return;
    g_assert_cmpint(search("dies", &output, &written, &turns), ==, 1);
    g_assert_nonnull(strstr(output, "nothing was measured: the runner ended with status"));
    g_assert_null(written);
}

/* What whole turns say is kept; of half a turn nothing is. */
static void stopped(void)
{
    g_autofree char *output = NULL, *written = NULL, *turns = NULL;
    if (!can_run())
        return;
    g_assert_cmpint(search("first", &output, &written, &turns), ==, 130);
    g_assert_nonnull(strstr(output, "interrupted before the first turn was whole"));
    g_assert_null(written);
    g_clear_pointer(&output, g_free);
    g_clear_pointer(&turns, g_free);
    g_assert_cmpint(search("second", &output, &written, &turns), ==, 130);
    g_assert_nonnull(strstr(output, "interrupted; turns that were whole: 1"));
    const char *table = strstr(output, "measured, cold");
    double us, time;
    guint n;
    g_assert_nonnull(table);
    g_auto(GStrv) line = g_strsplit(table, "\n", -1);
    g_assert_nonnull(strstr(line[2], "1.000     1.000  as it is"));
    g_assert_cmpint(sscanf(line[3], "%lf %u %lf", &us, &n, &time), ==, 3);
    g_assert_cmpuint(n, ==, 1);
    g_assert_cmpint(written != NULL, ==, time < 1);
}

static int from_kept(const char *design, const char *kept, const char *says, char **output)
{
    g_autofree char *out = g_build_filename(dir, "out.wstave", NULL);
    const char *const arguments[] = { "search", design,      "--measure=4", "-o",
                                      out,      "--bundles", kept,          NULL };
    g_unlink(out);
    g_setenv("WARPSTAVE_SAYS", says, TRUE);
    return run(arguments, output);
}

/* Searched where no GPU is, measured elsewhere: the same designs, judged once more. */
static void kept(void)
{
    g_autofree char *output = NULL, *keep = g_build_filename(dir, "keep", NULL);
    g_autofree char *log = g_build_filename(dir, "turns", NULL), *turns = NULL;
    g_autofree char *out = g_build_filename(dir, "out.wstave", NULL), *written = NULL;
    g_autofree char *second = g_build_filename(keep, "001", "design.wstave", NULL), *text = NULL;
    const char *const arguments[] = { "search",        GEMM,          "--rounds=2", "--beam=2",
                                      "--size=M=8192", "--measure=3", "--keep",     keep,
                                      "--budget=20s",  NULL };
    if (!can_run())
        return;
    g_unlink(log);
    g_setenv("WARPSTAVE_TURNS", log, TRUE);
    g_setenv("WARPSTAVE_SAYS", "absent", TRUE);
    g_assert_cmpint(run(arguments, &output), ==, 4);
    g_assert_false(g_file_test(log, G_FILE_TEST_EXISTS));
    g_clear_pointer(&output, g_free);
    const int code = from_kept(GEMM, keep, "", &output);
    g_assert_nonnull(strstr(output, "1.000     1.000  as it is"));
    g_assert_true(g_file_get_contents(log, &turns, NULL, NULL));
    g_assert_nonnull(strstr(turns, " judged"));
    g_assert_cmpint(g_file_get_contents(out, &written, NULL, NULL), ==, code == 0);
    g_assert_true(!written || strstr(written, "found by search: "));
    g_clear_pointer(&output, g_free);
    g_assert_cmpint(
        from_kept(WS_SOURCE_ROOT "/projects/gemm-fp16/design.wstave", keep, "", &output), ==, 2);
    g_assert_nonnull(strstr(output, "kept of a search from another design"));
    g_clear_pointer(&output, g_free);
    g_assert_true(g_file_get_contents(WS_SOURCE_ROOT "/tests/designs/broken/01-missing-wait.wstave",
                                      &text, NULL, NULL));
    g_assert_true(g_file_set_contents(second, text, -1, NULL));
    from_kept(GEMM, keep, "", &output);
    g_assert_nonnull(strstr(output, "the check does not prove it"));
    g_clear_pointer(&output, g_free);
    g_assert_true(g_file_set_contents(second, "", 0, NULL));
    g_assert_cmpint(from_kept(GEMM, keep, "", &output), ==, 2);
    g_assert_nonnull(strstr(output, "designs.txt:3: no line of a search"));
}

static void refused(void)
{
    static const struct {
        const char *option[3], *says;
    } row[] = {
        { { "--host=x" }, "go with --measure" },
        { { "--keep=x" }, "go with --measure" },
        { { "--measure=0", "--host=x" }, "go with --measure" },
        { { "--measure=-1" }, "from 1 to 1000" },
        { { "--measure=1001" }, "from 1 to 1000" },
        { { "--size=M=64", "--size=M=128" }, "M is given twice; for several shapes write --case" },
        { { "--bundles=x" }, "goes with --measure" },
        { { "--measure=2", "--bundles=/nonexistent" }, "/nonexistent/designs.txt" },
        { { "--measure=2", "--dry" }, "do not go with it" },
        { { "--measure=2", "--case=M=64 N=64 K=64" }, "do not go with it" },
        { { "--measure=2", "--keep=/dev/null/x" }, "cannot make /dev/null/x: /dev/null" },
        { { "--measure=2", "--keep=" WS_SOURCE_ROOT "/src" }, "is no empty folder; name another" },
        { { "--measure=2", "--keep=" GEMM }, "is no empty folder; name another" },
        { { "--measure=2", "--keep=" }, "is no empty folder; name another" },
        { { "-o", "/nonexistent/x.wstave" }, "cannot write beside /nonexistent/x.wstave" },
        { { "-o", WS_SOURCE_ROOT "/src" }, "Is a directory" },
        { { "-o", GEMM }, "is what this command reads" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autofree char *output = NULL;
        const char *const arguments[] = {
            "search", GEMM, "--rounds=1", "--beam=1", row[i].option[0], row[i].option[1], NULL
        };
        g_assert_cmpint(run(arguments, &output), ==, 2);
        g_assert_nonnull(strstr(output, row[i].says));
    }
}

static void ranks(void)
{
    static const double up[] = { 1, 2, 3, 4 }, down[] = { 9, 8, 7, -1 }, tied[] = { 5, 5, 5, 5 },
                        half[] = { 1, 1, 2, 2 }, mixed[] = { 2, 1, 4, 3 };
    g_assert_cmpfloat_with_epsilon(ws_rank_correlation(up, up, 4), 1, 1e-12);
    g_assert_cmpfloat_with_epsilon(ws_rank_correlation(up, down, 4), -1, 1e-12);
    g_assert_cmpfloat_with_epsilon(ws_rank_correlation(up, mixed, 4), 0.6, 1e-12);
    g_assert_cmpfloat_with_epsilon(ws_rank_correlation(up, half, 4), 4 / sqrt(20), 1e-12);
    g_assert_true(isnan(ws_rank_correlation(up, tied, 4)));
    g_assert_true(isnan(ws_rank_correlation(up, up, 2)));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dir = g_dir_make_tmp("ws-measured-XXXXXX", NULL);
    g_autofree char *history = g_build_filename(dir, "history.db", NULL);
    g_setenv("WARPSTAVE_HISTORY", history, TRUE);
    g_setenv("WARPSTAVE_RUNNER", WS_SOURCE_ROOT "/tests/cli/measured-runner.py", TRUE);
    g_setenv("WARPSTAVE_RAN", WS_SOURCE_ROOT "/tests/launch/h200", TRUE);
    static const struct {
        const char *path;
        void (*test)(void);
    } tests[] = {
        { "/cli/measured/order", order },   { "/cli/measured/wrong", wrong },
        { "/cli/measured/later", later },   { "/cli/measured/broken", broken },
        { "/cli/measured/absent", absent }, { "/cli/measured/refused", refused },
        { "/cli/measured/ranks", ranks },   { "/cli/measured/kept", kept },
        { "/cli/measured/dies", dies },     { "/cli/measured/stopped", stopped },
    };
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
        if (test_either(i)) /* each is a search */
            g_test_add_func(tests[i].path, tests[i].test);
    const int code = g_test_run();
    const char *const gone[] = { "rm", "-rf", dir, NULL };
    g_spawn_sync(NULL, (char **)gone, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                 NULL);
    g_free(dir);
    return code;
}
