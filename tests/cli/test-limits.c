/* What a file, a size or a system may ask of the commands: a bound that is told, JSON whatever the
 * names, nothing left behind. */
#include "../whole.h"
#include "run.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <json.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define GEMM   WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave"
#define FP16   WS_SOURCE_ROOT "/projects/gemm-fp16/design.wstave"
#define WINDOW WS_SOURCE_ROOT "/tests/designs/global/window-unsaid.wstave"
#define SUM    "sum(k < K, A[m,k]*B[n,k])"

static char *dir;

static char *at(const char *name)
{
    return g_build_filename(dir, name, NULL);
}

/* A shipped design with the first `was` replaced, as a file of the folder. */
static char *changed(const char *design, const char *was, const char *is, const char *name)
{
    g_autofree char *text = NULL, *file = at(name);
    g_assert_true(g_file_get_contents(design, &text, NULL, NULL));
    const char *place = strstr(text, was);
    g_assert_nonnull(place);
    g_autofree char *now =
        g_strdup_printf("%.*s%s%s", (int)(place - text), text, is, place + strlen(was));
    g_assert_true(g_file_set_contents(file, now, -1, NULL));
    return g_steal_pointer(&file);
}

typedef struct {
    const char *title, *command, *was, *is; /* NULL: the design as it is */
    const char *more[6];
    int exit_code;
    const char *says;
    gboolean generates; /* skipped without code generation */
} Row;

static const Row rows[] = {
    { "size-twice",
      "simulate",
      NULL,
      NULL,
      { "--size", "M=1024", "--size", "M=2048" },
      2,
      "--size: M is given twice",
      FALSE },
    { "same-size-twice",
      "search",
      NULL,
      NULL,
      { "--dry", "--case", "M=256 N=256 M=256" },
      2,
      "--case: M is given twice",
      FALSE },
    { "constant-twice",
      "check",
      NULL,
      NULL,
      { "--set", "STAGES=2", "--set", "STAGES=3" },
      2,
      "--set: STAGES is given twice",
      FALSE },
    { "case-of-nothing",
      "search",
      NULL,
      NULL,
      { "--dry", "--case", "M=256", "--case", " , " },
      2,
      "names no size: write --case \"M=1 N=2\"",
      FALSE },
    { "resume-nothing",
      "search",
      NULL,
      NULL,
      { "--dry", "--resume", "" },
      2,
      "--resume '' is no file: name one",
      FALSE },
    { "rehearse-stride",
      "rehearse",
      NULL,
      NULL,
      { "--size", "K=65" },
      2,
      "TMA needs a multiple of 16 bytes",
      TRUE },
    { "rehearse-grid",
      "rehearse",
      "\"launch\": \"persistent\"",
      "\"launch\": \"persistent\", \"grid\": 4611686018427387904",
      { NULL },
      2,
      "a launch holds at most 2^31-1",
      TRUE },
    { "simulate-grid",
      "simulate",
      "\"launch\": \"persistent\"",
      "\"launch\": \"persistent\", \"grid\": 4611686018427387904",
      { NULL },
      2,
      "a launch holds at most 2^31-1",
      FALSE },
    /* a CTA for each of a million tiles: those that share the GPU are looked at */
    { "simulate-tiles",
      "simulate",
      "\"launch\": \"persistent\"",
      "\"launch\": \"single\"",
      { "--size", "K=64", "--size", "M=256000000", "--size", "N=128" },
      0,
      "cycles",
      FALSE },
    { "simulate-sweep-json",
      "simulate",
      NULL,
      NULL,
      { "--sweep", "STAGES=2..3", "--json" },
      2,
      "do not go with it",
      FALSE },
    { "rehearse-terms",
      "rehearse",
      SUM,
      "sum(k < K, sum(j < 100000000000, A[m,k]*B[n,k]))",
      { "--size", "M=128", "--size", "N=128", "--size", "K=64" },
      3,
      "adds up more than 2147483648 terms",
      TRUE },
    { "rehearse-terms-nested",
      "rehearse",
      SUM,
      "sum(k < K, j < 100000, max(i < 100000, A[m,k]*B[n,k] + i))",
      { "--size", "M=128", "--size", "N=128", "--size", "K=64" },
      3,
      "adds up more than 2147483648 terms",
      TRUE },
    /* told before the kernel runs: it would for hours */
    { "rehearse-terms-of-all",
      "rehearse",
      NULL,
      NULL,
      { "--size", "M=8192", "--size", "N=8192", "--size", "K=8192" },
      3,
      "adds up more than 2147483648 terms",
      TRUE },
    { "rehearse-tensor",
      "rehearse",
      NULL,
      NULL,
      { "--size", "M=65536", "--size", "N=8192", "--size", "K=8192" },
      3,
      "tensor A is too large to rehearse",
      TRUE },
    { "check-sum", "check", SUM, "sum(k, K, A[m,k]*B[n,k])", { NULL }, 2, "index < bound", TRUE },
    { "check-rank",
      "check",
      SUM,
      "sum(k < K, A[m]*B[n,k])",
      { NULL },
      2,
      "\\\"A\\\" takes 2 indices, not 1",
      TRUE },
    { "check-output", "check", "C[m,n] =", "C[m] =", { NULL }, 2, "C has 2 dimensions", TRUE },
    { "check-sizes",
      "check",
      "\"K\": 8192",
      "\"K\": 8190",
      { NULL },
      0,
      "warning R-LAUNCH at tensors/",
      FALSE },
    { "check-size-of-32-bits",
      "check",
      "\"N\": 8192",
      "\"N\": 2147418112",
      { NULL },
      0,
      "kernels count in 32 bits",
      FALSE },
    { "check-tiles-of-32-bits",
      "check",
      "\"M\": 8192, \"N\": 8192",
      "\"M\": 1073741824, \"N\": 1073741824",
      { NULL },
      0,
      "tiles for M=1073741824",
      FALSE },
    { "check-rehearsal",
      "check",
      "\"N\": 512, \"K\": 320",
      "\"N\": 512, \"K\": 321",
      { NULL },
      0,
      "warning R-LAUNCH at tensors/",
      FALSE },
    { "check-sizes-strict",
      "check",
      "\"K\": 8192",
      "\"K\": 8190",
      { "--strict" },
      1,
      "warning R-LAUNCH at tensors/",
      FALSE },
    { "goal",
      "bench",
      NULL,
      NULL,
      { "--check", "--goal", "0.0000001" },
      1,
      "goal is missed",
      FALSE },
};

static gboolean generates(void)
{
    const char *const version[] = { "--version", NULL };
    g_autofree char *output = NULL;
    g_assert_cmpint(run(version, &output), ==, 0);
    return strstr(output, "code generation: yes") != NULL;
}

static void test_row(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *file =
        row->was ? changed(GEMM, row->was, row->is, "row.wstave") : g_strdup(GEMM);
    const char *argv[10] = { row->command, file };
    g_autofree char *output = NULL, *says = g_strcompress(row->says);
    if (row->generates && !generates()) {
        g_test_skip("built without code generation");
        return;
    }
    memcpy(argv + 2, row->more, sizeof row->more);
    g_assert_cmpint(run(argv, &output), ==, row->exit_code);
    g_assert_nonnull(strstr(output, says));
}

/* --- names that are no text ------------------------------------------------------------------- */

static void assert_json(const char *text)
{
    g_assert_true(g_utf8_validate(text, -1, NULL));
    json_object *parsed = json_tokener_parse(text);
    g_assert_nonnull(parsed);
    json_object_put(parsed);
}

static void test_bytes(void)
{
    g_autofree char *design = changed(GEMM, "", "", "g\xff\xc3.wstave");
    g_autofree char *absent = at("absent\xff.wstave"), *errors = at("errors.json");
    g_autofree char *option = g_strconcat("--errors=", errors, NULL);
    const char *const commands[][5] = { { "check", design, "--json" },
                                        { "generate", design, "--as=program", "--json" },
                                        { "simulate", design, "--json" },
                                        { "advise", design, "--json", "--no-edits" } };
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        g_autofree char *output = NULL;
        g_assert_cmpint(run(commands[i], &output), ==, 0);
        assert_json(output);
    }
    const char *const failing[] = { "advise", absent, option, NULL };
    g_autofree char *said = NULL, *kept = NULL;
    g_assert_cmpint(run(failing, &said), ==, 2);
    g_assert_true(g_file_get_contents(errors, &kept, NULL, NULL));
    assert_json(kept);
}

/* No tiles: an object as ever, in which nothing runs. */
static void test_nothing(void)
{
    const char *const simulate[] = { "simulate", GEMM, "--size", "M=0", "--json", NULL };
    g_autofree char *output = NULL;
    g_assert_cmpint(run(simulate, &output), ==, 0);
    assert_json(output);
    g_assert_nonnull(strstr(output, "\"cycles\": 0,"));
    g_assert_nonnull(strstr(output, "\"tensor_busy\": null,"));
}

/* --- work ------------------------------------------------------------------------------------- */

/* Processor time of a command, in seconds. */
static double work_of(const char *const *arguments)
{
    struct rusage before, after;
    g_autofree char *output = NULL;
    getrusage(RUSAGE_CHILDREN, &before);
    g_assert_cmpint(run(arguments, &output), ==, 1);
    getrusage(RUSAGE_CHILDREN, &after);
    return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
           1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
}

/* The fixes of a finding are checked one by one: some dozens of checks, not hundreds of proofs. */
static void test_json_work(void)
{
    g_autofree char *file =
        changed(FP16, "{ \"wait\": \"empty\", \"use\": \"k.total\" },", "", "less.wstave");
    const char *const text[] = { "check", file, NULL }, *const json[] = { "check", "--json", file,
                                                                          NULL };
    const double plain = work_of(text), all = work_of(json);
    g_test_message("check %.2f s, check --json %.2f s", plain, all);
    g_assert_cmpfloat(all, <, 25 * plain);
}

/* --- temporaries ------------------------------------------------------------------------------ */

static guint files_in(const char *folder)
{
    g_autoptr(GDir) d = g_dir_open(folder, 0, NULL);
    guint n = 0;
    for (const char *name; (name = g_dir_read_name(d)); n++)
        g_test_message("%s", name);
    return n;
}

/* A limit of the file size is an error of the write. */
static void test_file_limit(void)
{
    g_autofree char *folder = at("limited"), *out = g_build_filename(folder, "out.txt", NULL);
    g_autofree char *command = g_strdup_printf(
        "ulimit -f 1; exec " WS_BUILD_ROOT "/bin/warpstave generate " GEMM " --as program -o %s",
        out);
    const char *argv[] = { "sh", "-c", command, NULL };
    int status;
    g_autofree char *said = NULL;
    g_assert_cmpint(g_mkdir(folder, 0700), ==, 0);
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                               &said, &status, NULL));
    g_test_message("%s", said);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 2);
    g_assert_nonnull(strstr(said, "File too large"));
    g_assert_cmpuint(files_in(folder), ==, 0);
}

/* Ended while the runner works: the folder of its bundle goes, too. */
static void test_killed(gconstpointer signal_number)
{
    g_autofree char *folder = at("tmp"), *runner = at("runner"), *started = at("started");
    g_autofree char *script = g_strdup_printf("#!/bin/sh\ntouch %s\nexec sleep 20\n", started);
    g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(
        G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
    if (!generates()) {
        g_test_skip("built without code generation");
        return;
    }
    g_unlink(started);
    g_assert_true(g_file_set_contents(runner, script, -1, NULL));
    g_assert_cmpint(g_chmod(runner, 0700), ==, 0);
    g_mkdir(folder, 0700);
    g_subprocess_launcher_setenv(launcher, "TMPDIR", folder, TRUE);
    g_subprocess_launcher_setenv(launcher, "WARPSTAVE_RUNNER", runner, TRUE);
    const char *const argv[] = { WS_BUILD_ROOT "/bin/warpstave", "profile", GEMM, NULL };
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) process = g_subprocess_launcher_spawnv(launcher, argv, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < 3000 && !g_file_test(started, G_FILE_TEST_EXISTS); i++)
        g_usleep(20000);
    g_assert_true(g_file_test(started, G_FILE_TEST_EXISTS));
    g_assert_cmpuint(files_in(folder), ==, 1);
    g_subprocess_send_signal(process, GPOINTER_TO_INT(signal_number));
    g_assert_true(g_subprocess_wait(process, NULL, &error));
    g_assert_true(g_subprocess_get_if_signaled(process));
    g_assert_cmpint(g_subprocess_get_term_sig(process), ==, GPOINTER_TO_INT(signal_number));
    g_assert_cmpuint(files_in(folder), ==, 0);
}

/* LLVM and ptxas would take seconds to spill what no thread can hold. */
static void test_registers(void)
{
    static const char *const commands[][4] = { { "rehearse" },
                                               { "generate", "--as", "ptx" },
                                               { "generate", "--as", "cuda" } };
    for (guint i = 0; i < 2 * G_N_ELEMENTS(commands); i++) {
        /* 256 are the most: 512 columns of bf16, one in a register of each thread */
        const gboolean fits = i >= G_N_ELEMENTS(commands);
        const char *const *c = commands[i % G_N_ELEMENTS(commands)];
        g_autofree char *file = changed(WINDOW, "80]", fits ? "512]" : "514]", "wide.wstave");
        g_autofree char *output = NULL;
        const char *const argv[] = { c[0], file, c[1] ? c[1] : "--sms=1", c[2], NULL };
        const int code = run(argv, &output);
        g_test_message("%s: %d", c[0], code);
        if (code == 4)
            return;
        g_assert_cmpint(code, ==, fits ? 0 : 3);
        g_assert_true(fits || strstr(output, "value x takes 257 registers of every thread"));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dir = g_dir_make_tmp("warpstave-limits-XXXXXX", NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (!test_often(i))
            continue;
        g_autofree char *name = g_strconcat("/cli/limits/", rows[i].title, NULL);
        g_test_add_data_func(name, &rows[i], test_row);
    }
    g_test_add_func("/cli/limits/bytes", test_bytes);
    g_test_add_func("/cli/limits/registers", test_registers);
    g_test_add_func("/cli/limits/nothing", test_nothing);
    g_test_add_func("/cli/limits/json-work", test_json_work);
    g_test_add_func("/cli/limits/file-limit", test_file_limit);
    g_test_add_data_func("/cli/limits/terminated", GINT_TO_POINTER(SIGTERM), test_killed);
    g_test_add_data_func("/cli/limits/hung-up", GINT_TO_POINTER(SIGHUP), test_killed);
    const int code = g_test_run();
    const char *const remove[] = { "rm", "-rf", dir, NULL };
    g_spawn_sync(NULL, (char **)remove, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                 NULL);
    g_free(dir);
    return code;
}
