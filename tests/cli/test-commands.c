/* The command line as a person meets it: exit codes and what is said, from tables. */
#include <gio/gio.h>
#include <string.h>

#define GEMM WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave"

typedef struct {
    const char *title;
    const char *arguments[12];
    int exit_code;
    const char *says; /* part of stdout + stderr, or NULL */
} Case;


static int run(const char *const *arguments, char **output)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    g_ptr_array_add(argv, WS_BUILD_ROOT "/bin/warpstave");
    for (; *arguments; arguments++)
        g_ptr_array_add(argv, (gpointer)*arguments);
    g_ptr_array_add(argv, NULL);
    g_autoptr(GSubprocess) process = g_subprocess_newv(
        (const char *const *)argv->pdata,
        G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE, &error);
    g_assert_no_error(error);
    g_autoptr(GBytes) bytes = NULL;
    g_subprocess_communicate(process, NULL, NULL, &bytes, NULL, &error);
    g_assert_no_error(error);
    gsize size;
    const char *data = g_bytes_get_data(bytes, &size);
    *output = g_strndup(data, size);
    g_assert_true(g_subprocess_get_if_exited(process));
    return g_subprocess_get_exit_status(process);
}

static void test_case(gconstpointer data)
{
    const Case *c = data;
    g_autofree char *output = NULL;
    int code = run(c->arguments, &output);
    if (code != c->exit_code || (c->says && !strstr(output, c->says))) {
        g_test_message("exit %d, expected %d; wanted \"%s\" in:\n%s", code, c->exit_code,
                       c->says ? c->says : "", output);
        g_test_fail();
    }
}

static const Case cases[] = {
    { "no-command", { NULL }, 2, "usage: warpstave COMMAND" },
    { "unknown-command", { "chekc", NULL }, 2, "did you mean 'check'" },
    { "help", { "--help", NULL }, 0, "rehearse" },
    { "no-file", { "check", NULL }, 2, "usage: warpstave check" },
    { "missing-file", { "check", "/nonexistent.wstave", NULL }, 2, "/nonexistent.wstave" },
    { "bad-setting", { "check", GEMM, "--set", "STAGES=x", NULL }, 2, "NAME=INTEGER" },
    { "unknown-setting", { "check", GEMM, "--set", "STAGE=3", NULL }, 2, "STAGE" },
    { "zero-stages", { "check", GEMM, "--set", "STAGES=0", NULL }, 2, "STAGES" },
    { "too-large", { "check", GEMM, "--set", "STAGES=9", NULL }, 1, "B-" },
    { "check", { "check", GEMM, NULL }, 0, "played" },
    { "check-3-stages", { "check", GEMM, "--set", "STAGES=3", NULL }, 0, "played" },
    { "check-narrow", { "check", GEMM, "--set", "BN=128", NULL }, 0, "played" },
    { "check-json", { "check", GEMM, "--json", NULL }, 0, "\"verdict\": \"played\"" },
    { "require-proved", { "check", GEMM, "--require", "proved", NULL }, 3, "played" },
    { "format", { "format", GEMM, NULL }, 0, "\"warpstave\": 1" },
    { "explain", { "explain", "p-dl", NULL }, 0, "deadlock" },
    { "explain-unknown", { "explain", "P-NOPE", NULL }, 2, "explain --all" },
    { "simulate", { "simulate", GEMM, "--size", "M=4096", "--size", "N=4096", "--size", "K=4096", NULL },
      0, "cycles" },
    { "simulate-assume", { "simulate", GEMM, "--size", "K=0", NULL }, 2, "K >= 1" },
    { "simulate-unknown-size", { "simulate", GEMM, "--size", "Q=1", NULL }, 2, "Q" },
    { "simulate-negative", { "simulate", GEMM, "--size", "M=-1", NULL }, 2, "M" },
    { "generate-program", { "generate", GEMM, "--as", "program", NULL }, 0, "full" },
    { "generate-later", { "generate", GEMM, "--as", "tle", NULL }, 3, "tle" },
    { "generate-unknown", { "generate", GEMM, "--as", "elf", NULL }, 2, "elf" },
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/cli/%s", cases[i].title);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    int status = g_test_run();
    return status;
}
