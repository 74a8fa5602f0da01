/* What a command reads is never lost to what it writes, and what nobody received is no success. */
#include "../whole.h"
#include "run.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define GEMM WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave"
#define PICK WS_SOURCE_ROOT "/projects/gemm.pick"
#define SIZE "--size", "M=256", "--size", "N=256", "--size", "K=128"

static char *dir; /* holds g.wstave, its trace t.wtrace, kernel.py and links to the design */

static char *at(const char *name)
{
    return g_build_filename(dir, name, NULL);
}

static char *get(const char *file, gsize *length)
{
    char *data = NULL;
    g_assert_true(g_file_get_contents(file, &data, length, NULL));
    return data;
}

static void copy(const char *from, const char *name)
{
    gsize length;
    g_autofree char *data = get(from, &length), *to = at(name);
    g_assert_true(g_file_set_contents(to, data, (gssize)length, NULL));
}

/* The arguments with "@NAME" as a file of the folder. */
static int run_here(const char *const *arguments, char **output)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
    for (; *arguments; arguments++) {
        const char *name = strchr(*arguments, '@');
        g_autofree char *file = name ? at(name + 1) : NULL;
        g_ptr_array_add(argv,
                        name ? g_strdup_printf("%.*s%s", (int)(name - *arguments), *arguments, file)
                             : g_strdup(*arguments));
    }
    g_ptr_array_add(argv, NULL);
    return run((const char *const *)argv->pdata, output);
}

typedef struct {
    const char *title, *kept; /* the input that must stay */
    const char *arguments[16];
} Row;

static const Row over[] = {
    { "generate", "g.wstave", { "generate", "@g.wstave", "--as", "program", "-o", "@g.wstave" } },
    { "generate-json",
      "g.wstave",
      { "generate", "@g.wstave", "--as", "program", "--json", "-o", "@g.wstave" } },
    { "link", "g.wstave", { "generate", "@g.wstave", "--as", "program", "-o", "@link.wstave" } },
    { "read-by-link",
      "g.wstave",
      { "generate", "@link.wstave", "--as", "program", "-o", "@g.wstave" } },
    { "hard-link",
      "g.wstave",
      { "generate", "@hard.wstave", "--as", "program", "-o", "@g.wstave" } },
    { "simulate", "g.wstave", { "simulate", "@g.wstave", SIZE, "--trace", "@g.wstave" } },
    { "simulate-machine",
      "h200.json",
      { "simulate", "@g.wstave", SIZE, "--machine", "@h200.json", "--trace", "@h200.json" } },
    { "certificate", "g.wstave", { "check", "@g.wstave", "--certificate=@g.wstave" } },
    { "errors", "g.wstave", { "explain", "P-NOTHING", "--errors=@g.wstave", "@g.wstave" } },
    { "sarif", "kernel.py", { "check", "@kernel.py", "--from", "gluon", "--sarif=@kernel.py" } },
    { "import", "kernel.py", { "import", "@kernel.py", "--from", "gluon", "-o", "@kernel.py" } },
    { "header", "g.wstave", { "trace", "@g.wstave", "--header=@g.wstave" } },
    { "chrome", "t.wtrace", { "trace", "@t.wtrace", "--chrome=@t.wtrace" } },
    { "perfetto", "t.wtrace", { "trace", "@t.wtrace", "--perfetto=@t.wtrace" } },
    { "csv", "t.wtrace", { "trace", "@t.wtrace", "--csv=@t.wtrace" } },
    { "draw", "t.svg", { "draw", "@g.wstave", "--trace", "@t.svg", "-o", "@t.svg" } },
};

static void test_over(gconstpointer data)
{
    const Row *row = data;
    gsize before_n, after_n;
    g_autofree char *file = at(row->kept), *output = NULL, *before = get(file, &before_n);
    const int code = run_here(row->arguments, &output);
    g_autofree char *after = get(file, &after_n);
    g_assert_cmpint(code, !=, 0);
    g_assert_cmpmem(before, before_n, after, after_n);
    if (strcmp(row->title, "errors") != 0) { /* which fails before */
        g_assert_cmpint(code, ==, 2);
        g_assert_nonnull(strstr(output, "is what this command reads; write to another file"));
    }
}

static void test_twice(void)
{
    g_autofree char *output = NULL;
    const char *const arguments[] = { "trace", "@t.wtrace", "--chrome=@one", "--csv=@one", NULL };
    g_assert_cmpint(run_here(arguments, &output), ==, 2);
    g_assert_nonnull(strstr(output, "was written by this very command"));
}

/* In place is in place: `format --write` and `check --fix` change the file that they read. */
static void test_in_place(void)
{
    gsize n;
    g_autofree char *output = NULL, *file = at("same.wstave");
    copy(GEMM, "same.wstave");
    const char *const arguments[] = { "format", "@same.wstave", "--write", NULL };
    g_assert_cmpint(run_here(arguments, &output), ==, 0);
    g_autofree char *now = get(file, &n);
    g_assert_cmpuint(n, >, 1000);
}

static const Row lost[] = {
    { "help", NULL, { "--help" } },
    { "version", NULL, { "--version" } },
    { "check", NULL, { "check", "@g.wstave" } },
    { "check-json", NULL, { "check", "@g.wstave", "--json" } },
    { "generate", NULL, { "generate", "@g.wstave", "--as", "program" } },
    { "simulate", NULL, { "simulate", "@g.wstave", SIZE } },
    { "simulate-json", NULL, { "simulate", "@g.wstave", SIZE, "--json" } },
    { "advise", NULL, { "advise", "@g.wstave", SIZE } },
    { "trace", NULL, { "trace", "@t.wtrace" } },
    { "diff", NULL, { "diff", "@g.wstave", "@g.wstave" } },
    { "format", NULL, { "format", "@g.wstave" } },
    { "explain", NULL, { "explain", "P-RACE" } },
    { "pick", NULL, { "pick", PICK, SIZE } },
    { "import", NULL, { "import", "@kernel.py", "--from", "gluon" } },
};

static void test_lost(gconstpointer data)
{
    const Row *row = data;
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    g_ptr_array_add(argv, g_strdup(WS_BUILD_ROOT "/bin/warpstave"));
    for (guint i = 0; row->arguments[i]; i++)
        g_ptr_array_add(argv, *row->arguments[i] == '@' ? at(row->arguments[i] + 1)
                                                        : g_strdup(row->arguments[i]));
    g_ptr_array_add(argv, NULL);
    g_autoptr(GSubprocessLauncher) launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDERR_PIPE);
    g_subprocess_launcher_set_stdout_file_path(launcher, "/dev/full");
    g_autoptr(GSubprocess) process =
        g_subprocess_launcher_spawnv(launcher, (const char *const *)argv->pdata, &error);
    g_assert_no_error(error);
    g_autofree char *said = NULL;
    g_assert_true(g_subprocess_communicate_utf8(process, NULL, NULL, NULL, &said, &error));
    g_test_message("%s", said);
    g_assert_true(g_subprocess_get_if_exited(process));
    g_assert_cmpint(g_subprocess_get_exit_status(process), !=, 0);
    g_assert_nonnull(strstr(said, "cannot write to standard output: No space left on device"));
}

/* A trace is drawn under, and advised for, the design that it was recorded from. */
static void test_another(void)
{
    const char *const rows[][8] = {
        { "draw", WS_SOURCE_ROOT "/projects/gemm-fp16/design.wstave", "--trace", "@t.wtrace", "-o",
          "@a.svg" },
        { "draw", "@g.wstave", "--set", "STAGES=3", "--trace=@t.wtrace", "-o", "@a.svg" },
        { "advise", WS_SOURCE_ROOT "/projects/gemm-fp16/design.wstave", "--trace", "@t.wtrace" },
    };
    const char *const own[] = { "draw", "@g.wstave", "--trace", "@t.wtrace", "-o", "@a.svg", NULL };
    g_autofree char *drawn = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *output = NULL;
        g_assert_cmpint(run_here(rows[i], &output), ==, 2);
        g_assert_nonnull(strstr(output, "was recorded from another design"));
    }
    g_assert_cmpint(run_here(own, &drawn), ==, 0);
}

/* What a run left in a bundle, and what somebody else put there, is not deleted by the next. */
static void test_bundle(void)
{
    const char *const bundle[] = { "bundle", "@g.wstave", SIZE, "-o", "@bundle", NULL };
    g_autofree char *folder = at("bundle"), *results = at("bundle/results.json");
    g_autofree char *first = NULL, *second = NULL, *third = NULL, *kept = NULL;
    if (run_here(bundle, &first) == 4) {
        g_test_skip("built without code generation");
        return;
    }
    g_assert_true(g_file_test(folder, G_FILE_TEST_IS_DIR));
    g_assert_cmpint(run_here(bundle, &second), ==, 0); /* nothing of its own would be lost */
    g_assert_true(g_file_set_contents(results, "{}", -1, NULL));
    g_assert_cmpint(run_here(bundle, &third), ==, 2);
    g_assert_nonnull(strstr(third, "holds results.json"));
    g_assert_true(g_file_get_contents(results, &kept, NULL, NULL));
    g_assert_cmpstr(kept, ==, "{}");
}

static void test_large(void)
{
    g_autofree char *file = at("large.py"), *output = NULL;
    g_assert_true(g_file_set_contents(file, "", 0, NULL));
    g_assert_cmpint(truncate(file, (off_t)1 << 36), ==, 0); /* 64 GiB of holes */
    const char *const import[] = { "import", "@large.py", "--from", "gluon", NULL };
    const char *const check[] = { "check", "@large.py", NULL };
    const char *const machine[] = { "simulate", "@g.wstave", SIZE, "--machine", "@large.py", NULL };
    const char *const *const each[] = { import, check, machine };
    for (guint i = 0; i < G_N_ELEMENTS(each); i++) {
        g_clear_pointer(&output, g_free);
        g_assert_cmpint(run_here(each[i], &output), ==, 2);
    }
}

/* A design that was read from a kernel is the one that `check` of the kernel speaks of. */
static void test_same_reading(void)
{
    static const struct {
        const char *file;
        int code;
        const char *says;
    } kernels[] = {
        { "gluon/rows.py", 0, ": proved" },
        { "ptx/phases.ptx", 0, ": proved" },
        { "ptx/unrolled.ptx", 0, ": proved" },
        { "ptx/together.ptx", 0, ": proved" },
        { "ptx/tiles.ptx", 0, ": proved" },
        { "gluon/defaults.py", 1, ": refuted" },
        { "ptx/flow/two-lanes-load.ptx", 3, ": undecided" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_autofree char *file = g_strconcat(WS_SOURCE_ROOT "/tests/import/", kernels[i].file, NULL);
        g_autofree char *said = NULL, *output = NULL, *again = NULL;
        const char *const kernel[] = { "check", file, NULL };
        const char *const import[] = { "import", file, "-o", "@read.wstave", NULL };
        const char *const design[] = { "check", "@read.wstave", NULL };
        g_assert_cmpint(run_here(kernel, &said), ==, kernels[i].code);
        g_assert_cmpint(run_here(import, &output), ==, kernels[i].code);
        g_assert_cmpint(run_here(design, &again), ==, kernels[i].code);
        g_assert_nonnull(strstr(output, kernels[i].says)); /* of what it wrote */
        g_assert_nonnull(strstr(again, kernels[i].says));
    }
}

/* What is read of a kernel may be no design, or one that goes wrong by itself: the verdict is that
 * on the kernel. */
static void test_one_judge(void)
{
    static const char carried[] = "    v = tile\n    for k in range(3):\n"
                                  "        v = v.to(tl.int1, bitcast=False)\n    doubled = v * 2.0";
    gsize length;
    g_autofree char *scale = get(WS_SOURCE_ROOT "/tests/import/tle/names/scale.py", &length);
    g_autofree char *file = at("carried.py"), *said = NULL, *output = NULL, *json = NULL;
    g_auto(GStrv) part = g_strsplit(scale, "    doubled = tile * 2.0", 2);
    g_autofree char *text = g_strjoinv(carried, part);
    g_assert_true(g_file_set_contents(file, text, -1, NULL));
    const char *const kernel[] = { "check", "@carried.py", NULL };
    const char *const import[] = { "import", "@carried.py", "-o", "@read.wstave", NULL };
    const char *const told[] = { "import", "@carried.py", "--json", NULL };
    const char *const design[] = { "check", "@read.wstave", NULL };
    g_assert_cmpint(run_here(kernel, &said), ==, 3);
    g_assert_cmpint(run_here(import, &output), ==, 3);
    g_assert_nonnull(strstr(output, "carried.py: undecided: "));
    g_assert_nonnull(strstr(output, "read.wstave: the design by itself: refused"));
    g_assert_cmpint(run_here(told, &json), ==, 3);
    g_assert_nonnull(strstr(json, "\"verdict\": \"undecided\""));
    g_assert_nonnull(strstr(json, "\"design_alone\": \"refused\""));
    g_clear_pointer(&said, g_free);
    g_assert_cmpint(run_here(design, &said), ==, 2);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dir = g_dir_make_tmp("warpstave-outputs-XXXXXX", NULL);
    g_autofree char *link = at("link.wstave"), *hard = at("hard.wstave"), *design = at("g.wstave"),
                    *output = NULL;
    copy(GEMM, "g.wstave");
    copy(WS_SOURCE_ROOT "/resources/machines/h200.json", "h200.json");
    g_assert_cmpint(symlink("g.wstave", link), ==, 0);
    g_assert_cmpint(linkat(AT_FDCWD, design, AT_FDCWD, hard, 0), ==, 0);
    const char *const simulate[] = { "simulate", "@g.wstave", SIZE, "--trace", "@t.wtrace", NULL };
    const char *const export[] = { "generate", "@g.wstave",  "--as", "gluon",
                                   "-o",       "@kernel.py", NULL };
    g_assert_cmpint(run_here(simulate, &output), ==, 0);
    g_clear_pointer(&output, g_free);
    g_autofree char *trace = at("t.wtrace");
    copy(trace, "t.svg");
    g_assert_cmpint(run_here(export, &output), ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS(over); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *name = g_strconcat("/cli/outputs/over/", over[i].title, NULL);
        g_test_add_data_func(name, &over[i], test_over);
    }
    for (guint i = 0; i < G_N_ELEMENTS(lost); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *name = g_strconcat("/cli/outputs/lost/", lost[i].title, NULL);
        g_test_add_data_func(name, &lost[i], test_lost);
    }
    g_test_add_func("/cli/outputs/twice", test_twice);
    g_test_add_func("/cli/outputs/in-place", test_in_place);
    g_test_add_func("/cli/outputs/another", test_another);
    g_test_add_func("/cli/outputs/bundle", test_bundle);
    g_test_add_func("/cli/outputs/large", test_large);
    g_test_add_func("/cli/outputs/same-reading", test_same_reading);
    g_test_add_func("/cli/outputs/one-judge", test_one_judge);
    const int code = g_test_run();
    const char *const remove[] = { "rm", "-rf", dir, NULL };
    g_spawn_sync(NULL, (char **)remove, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                 NULL);
    g_free(dir);
    return code;
}
