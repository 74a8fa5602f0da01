/* What the fuzzer looks for is found: each kind of misbehaviour, by a command that has it. And its
 * mutations change files that stay JSON, alike for one seed. */
#include "nodes.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 1 };

static int good(int argc, char **argv)
{
    printf("{}\n");
    return argc == 1 && argv[0] ? 0 : 5;
}

static int crash(int argc, char **argv)
{
    (void)argc, (void)argv;
    signal(SIGSEGV, SIG_DFL); /* also under a sanitizer */
    return raise(SIGSEGV);
}

static int warn(int argc, char **argv)
{
    (void)argc, (void)argv;
    g_warning("something is not as it should be");
    return 0;
}

static int spin(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (volatile guint64 i = 0; i < G_MAXUINT64; i++)
        ;
    return 0;
}

/* More processor time than is allowed, then a word of a limit; only the code says that it was one.
 */
static int spin_and_say(int code)
{
    while (clock() < SECONDS * FUZZ_SLOWER * 1.5 * CLOCKS_PER_SEC)
        ;
    printf("looked at the first 100 rounds, at most: the limit\n");
    return code;
}

static int spin_bounded(int argc, char **argv)
{
    (void)argc, (void)argv;
    return spin_and_say(3);
}

static int spin_said(int argc, char **argv)
{
    (void)argc, (void)argv;
    return spin_and_say(1);
}

static int devour(int argc, char **argv)
{
    const gsize n = (gsize)400 << 20;
    char *data = g_malloc(n);
    (void)argc, (void)argv;
    for (gsize i = 0; i < n; i += 4096)
        ((volatile char *)data)[i] = 1;
    g_free(data);
    return 0;
}

static int odd_code(int argc, char **argv)
{
    (void)argc, (void)argv;
    return 7;
}

static int silent(int argc, char **argv)
{
    (void)argc, (void)argv;
    return 2;
}

static int half_json(int argc, char **argv)
{
    (void)argc, (void)argv;
    printf("{ \"version\": 1, \"findings\": [");
    return 0;
}

static int changes_input(int argc, char **argv)
{
    (void)argc, (void)argv;
    return !g_file_set_contents("in.txt", "other", -1, NULL);
}

static int removes_input(int argc, char **argv)
{
    (void)argc, (void)argv;
    return g_unlink("in.txt") != 0;
}

static int leaves(int argc, char **argv)
{
    (void)argc, (void)argv;
    return !g_file_set_contents("in.txt.ABCDEF", "", -1, NULL);
}

static int half_sarif(int argc, char **argv)
{
    (void)argc, (void)argv;
    return !g_file_set_contents("out.sarif", "{", -1, NULL);
}

static const struct {
    const char *title;
    FuzzRun run;
    gboolean json;
    const char *kind; /* how it begins; NULL: nothing is wrong */
} rows[] = {
    { "good", good, TRUE, NULL },
    { "crash", crash, FALSE, "signal 11" },
    { "warning", warn, FALSE, "signal" },
    { "time", spin, FALSE, "time" },
    { "time-bounded", spin_bounded, FALSE, NULL },
    { "time-said", spin_said, FALSE, "time" },
    { "memory", devour, FALSE, "memory" },
    { "exit", odd_code, FALSE, "exit 7" },
    { "silent", silent, FALSE, "exit 2 without a word" },
    { "json", half_json, TRUE, "no JSON" },
    { "no-json-asked", half_json, FALSE, NULL },
    { "input-changed", changes_input, FALSE, "input in.txt changed" },
    { "input-removed", removes_input, FALSE, "input in.txt removed" },
    { "left", leaves, FALSE, "left behind: in.txt.ABCDEF" },
    { "sarif", half_sarif, FALSE, "no JSON: out.sarif" },
};

static void test_row(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    const FuzzLimits limits = { .json = rows[i].json,
                                .seconds = SECONDS,
                                .bytes = (gsize)120 << 20 };
    char *argv[] = { (char *)"warpstave", NULL };
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("ws-nodes-XXXXXX", &error);
    g_autofree char *in = g_build_filename(folder, "in.txt", NULL);
    g_assert_no_error(error);
    g_assert_true(g_file_set_contents(in, "input", -1, NULL));
    FuzzOutcome o = fuzz_judge(folder, rows[i].run, argv, &limits);
    g_test_message("%s: code %d, %.1f s, %zu bytes: %s", o.kind ? o.kind : "nothing", o.code,
                   o.seconds, o.bytes, o.said);
    if (rows[i].kind)
        g_assert_true(o.kind && g_str_has_prefix(o.kind, rows[i].kind));
    else
        g_assert_cmpstr(o.kind, ==, NULL);
    fuzz_outcome_clear(&o);
    fuzz_empty(folder);
    g_rmdir(folder);
}

static void test_mutations(void)
{
    gsize n;
    g_autofree char *design = NULL;
    guint changed = 0, same_length = 0;
    g_assert_true(g_file_get_contents(WS_SOURCE_ROOT "/tests/designs/gemm-one-consumer.wstave",
                                      &design, &n, NULL));
    for (guint32 seed = 1; seed <= 300; seed++) {
        GRand *a = g_rand_new_with_seed(seed), *b = g_rand_new_with_seed(seed);
        g_autofree char *one = fuzz_tree(a, design), *two = fuzz_tree(b, design);
        g_autofree char *lines = fuzz_lines(a, design), *other = fuzz_lines(b, design);
        g_assert_nonnull(one);
        g_assert_cmpstr(one, ==, two);
        g_assert_cmpstr(lines, ==, other);
        changed += strcmp(one, lines) != 0;
        same_length += strlen(one) == n;
        g_rand_free(a);
        g_rand_free(b);
    }
    g_assert_cmpuint(changed, >, 290);
    g_assert_cmpuint(same_length, <, 30);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *name = g_strconcat("/fuzz/nodes/", rows[i].title, NULL);
        g_test_add_data_func(name, GUINT_TO_POINTER(i), test_row);
    }
    g_test_add_func("/fuzz/nodes/mutations", test_mutations);
    return g_test_run();
}
