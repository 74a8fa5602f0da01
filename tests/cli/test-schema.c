/* docs/schema against what the commands print, in both directions: every output is valid, has no
 * member that its schema does not name, and every member that a schema names is met. */
#include "run.h"
#include "schema.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#define PROJECTS WS_SOURCE_ROOT "/projects/"
#define GEMM     PROJECTS "gemm-bf16/design.wstave"
#define DESIGNS  WS_SOURCE_ROOT "/tests/designs/"
#define TRACE    PROJECTS "gemm-bf16/measured/gemm-bf16.wtrace"
#define ONE      DESIGNS "gemm-one-consumer.wstave"
#define JSON_OF(design)                                                                            \
    {                                                                                              \
        "check",                                                                                   \
        {                                                                                          \
            "check", "--json", design                                                              \
        }                                                                                          \
    }

static char *dir;

/* '@' is the folder of the test. */
static const struct {
    const char *schema, *arguments[10];
    const char *says; /* without blanks behind colons; NULL: nothing is looked for */
} rows[] = {
    JSON_OF(DESIGNS "broken/02-wrong-count.wstave"),
    JSON_OF(DESIGNS "broken/04-wrong-bytes.wstave"),
    JSON_OF(DESIGNS "broken/06-staging-overwritten.wstave"),
    JSON_OF(DESIGNS "catalogue/B07-constant-parity.wstave"),
    JSON_OF(DESIGNS "catalogue/B79-both-groups-prime-the-ping-pong.wstave"),
    JSON_OF(DESIGNS "catalogue/B79b-nobody-primes-the-ping-pong.wstave"),
    JSON_OF(DESIGNS "catalogue/B91-slots-freed-in-the-own-CTA-only.wstave"),
    JSON_OF(DESIGNS "catalogue/B101-registers-not-a-multiple-of-8.wstave"),
    JSON_OF(DESIGNS "catalogue/B01-missing-empty-wait.wstave"),
    JSON_OF(DESIGNS "catalogue/B103-too-much-shared-memory.wstave"),
    JSON_OF(DESIGNS "catalogue/B89-circular-wait-of-three.wstave"),
    JSON_OF(DESIGNS "catalogue/C01-plain-ring.wstave"),
    JSON_OF(DESIGNS "attention-fa3-causal.wstave"),
    JSON_OF(DESIGNS "global/right-covers.wstave"),
    JSON_OF(WS_SOURCE_ROOT "/tests/cli/suppressed.wstave"),
    { "check", { "check", "--json", GEMM, DESIGNS "catalogue/C01-plain-ring.wstave" } },
    { "check", { "check", "--json", "--back-ends", GEMM, DESIGNS "raw-steps.wstave" } },
    { "simulate", { "simulate", GEMM, "--json", "--gains" } },
    { "simulate", { "simulate", GEMM, "--json", "--size", "M=0" } },
    { "critical", { "simulate", GEMM, "--json", "--critical" } },
    { "critical", { "simulate", "projects/attention-d64/design.wstave", "--json", "--critical" } },
    { "advise", { "advise", GEMM, "--json" } },
    { "search", { "search", GEMM, "--json", "--rounds", "1", "--beam", "1", "--budget", "20s" } },
    { "search",
      { "search", GEMM, "--json", "--rounds=2", "--beam=2", "--budget=20s", "--measure=3" } },
    { "search",
      { "search", DESIGNS "global/right-covers.wstave", "--json", "--dry", "--rounds=1",
        "--beam=1" },
      "\"given\":\"given that picked" },
    { "search-cases",
      { "search", GEMM, "--json", "--dry", "--rounds=1", "--beam=1", "--case=M=1024 N=1024 K=1024",
        "--case=M=512 N=512 K=512" } },
    { "calibrate", { "calibrate", "--table", PROJECTS "cycles.txt", "--json" } },
    { "generate", { "generate", GEMM, "--as", "program", "--json" } },
    { "generate", { "generate", GEMM, "--as", "gluon", "--pinned", "--json", "-o", "@k.py" } },
    { "pick",
      { "pick", PROJECTS "gemm.pick", "--json", "--size", "M=64", "--size", "N=64", "--size",
        "K=64" } },
    { "pick-regret", { "pick", PROJECTS "gemm.pick", "--json", "--regret" } },
    { "pick-regret", { "pick", WS_SOURCE_ROOT "/tests/cli/no-table.pick", "--json", "--regret" } },
    { "bundle", { "bundle", GEMM, "-o", "@bundle", "--json" } },
    { "package", { "package", GEMM, "-o", "@package", "--wheel", "@wheels", "--json" } },
    { "collect", { "collect", WS_SOURCE_ROOT "/tests/launch/h200", "--json" } },
    { "trace", { "trace", PROJECTS "gemm-bf16/measured/gemm-bf16.wtrace", "--json" } },
    { "trace", { "trace", PROJECTS "attention-d128/measured/causal.wtrace", "--json" } },
    { "trace", { "trace", PROJECTS "gemm-bf16/measured/waves.wtrace", "--json" } },
    { "rehearse", { "rehearse", ONE, "--json", "--size", "M=128", "--size", "K=64" } },
    { "rehearse", { "rehearse", DESIGNS "broken/02-wrong-count.wstave", "--json", "--adversary" } },
    { "profile", { "profile", ONE, "--json", "--size", "M=128" } },
    { "profile", { "profile", ONE, "--json", "--sweep", "STAGES=2..3", "--size", "M=128" } },
    { "profile", { "profile", ONE, "--json", "--sweep", "STAGES=90,91" } }, /* no kernels */
    { "draw", { "draw", GEMM, "--json", "-o", "@score.svg", "--trace", TRACE } },
    { "diff",
      { "diff", "--json", DESIGNS "broken/02-wrong-count.wstave",
        DESIGNS "broken/04-wrong-bytes.wstave" } },
    { "diff", { "diff", "--json", ONE, ONE } },
    { "diff", { "diff", "--json", TRACE, TRACE } },
    { "format", { "format", "--json", DESIGNS "catalogue/C01-plain-ring.wstave" } },
    { "import", { "import", "--json", WS_SOURCE_ROOT "/tests/import/gluon/rows.py" } },
    { "import",
      { "import", "--json", WS_SOURCE_ROOT "/tests/import/gluon/rows.py", "-o", "@d.wstave" } },
    { "explain", { "explain", "--json", "P-RACE" } },
    { "explain", { "explain", "--json", "load" } },
    { "explain", { "explain", "--json", "let" } },
    { "explain", { "explain", "--json", "barrier" } },
    { "explain", { "explain", "--json", "sm_100a" } },
    { "explain", { "explain", "--json", "--all" } },
    { "bench", { "bench", ONE, "--json" } },
    { "bench", { "bench", ONE, "--json", "--check", "--goal=5000" } },
    { "errors", { "generate", GEMM, "--as", "nothing", "--errors=@errors" } },
    { "errors",
      { "generate", PROJECTS "gemm-bf16-cluster2/design.wstave", "--as", "tle",
        "--errors=@errors" } },
};

static gboolean generates(void)
{
    const char *const version[] = { "--version", NULL };
    g_autofree char *output = NULL;
    g_assert_cmpint(run(version, &output), ==, 0);
    return strstr(output, "code generation: yes") != NULL;
}

static void judge(const char *schema, const char *text)
{
    json_object *value = json_tokener_parse(text);
    if (!value)
        g_error("%s: no JSON: %s", schema, text);
    g_autofree char *no = schema_check(schema, value);
    if (no)
        g_error("%s: %s", schema, no);
    json_object_put(value);
}

static void test_outputs(void)
{
    const gboolean codegen = generates();
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *output = NULL, *errors = g_build_filename(dir, "errors", NULL);
        for (guint k = 0; k < 10 && rows[i].arguments[k]; k++) {
            g_auto(GStrv) part = g_strsplit(rows[i].arguments[k], "@", 2);
            g_ptr_array_add(argv, part[1] ? g_strconcat(part[0], dir, "/", part[1], NULL)
                                          : g_strdup(part[0]));
        }
        g_ptr_array_add(argv, NULL);
        const int code = run_for_output((const char *const *)argv->pdata, &output);
        if (code == 4 && !codegen)
            continue;
        if (strcmp(rows[i].schema, "errors") == 0) {
            g_free(g_steal_pointer(&output));
            g_assert_true(g_file_get_contents(errors, &output, NULL, NULL));
        }
        judge(rows[i].schema, output);
        g_autoptr(GString) close = g_string_new(output);
        g_string_replace(close, "\": ", "\":", 0);
        g_assert_true(!rows[i].says || strstr(close->str, rows[i].says));
    }
}

static void test_serve(void)
{
    const char *const argv[] = { WS_BUILD_ROOT "/bin/warpstave", "serve", NULL };
    g_autofree char *kernel = NULL, *quoted = NULL;
    const char *make[] = { "generate", GEMM, "--as", "gluon", "--pinned", NULL };
    g_assert_cmpint(run_for_output(make, &kernel), ==, 0);
    json_object *text = json_object_new_string(kernel);
    quoted = g_strdup(json_object_to_json_string(text));
    json_object_put(text);
    g_autofree char *input =
        g_strconcat("{\"do\":\"hello\",\"id\":\"a\"}\n{\"do\":\"chekc\"}\n"
                    "{\"do\":\"simulate\",\"design\":\"{ }\"}\n{\"do\":\"check\",\"design\":\"{ "
                    "}\"}\n{\"do\":\"check\",\"file\":\"" GEMM "\"}\n"
                    "{\"do\":\"simulate\",\"file\":\"" GEMM "\"}\n"
                    "{\"do\":\"advise\",\"edits\":1,\"file\":\"" GEMM "\"}\n"
                    "{\"do\":\"fix\",\"file\":\"" DESIGNS "broken/02-wrong-count.wstave\"}\n"
                    "{\"do\":\"import\",\"from\":\"gluon\",\"text\":",
                    quoted,
                    "}\n{\"do\":\"import\",\"from\":\"gluon\",\"file\":\"" WS_SOURCE_ROOT
                    "/tests/import/gluon/rows.py\"}\n",
                    NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) process = g_subprocess_newv(
        argv, G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error);
    g_assert_no_error(error);
    g_autofree char *output = NULL;
    g_assert_true(g_subprocess_communicate_utf8(process, input, NULL, &output, NULL, &error));
    g_auto(GStrv) line = g_strsplit(g_strchomp(output), "\n", -1);
    for (guint i = 0; line[i]; i++)
        judge("serve", line[i]);
}

/* After all others: a member that nothing writes any more goes from the schema, too. */
static void test_met(void)
{
    g_autoptr(GDir) folder = g_dir_open(WS_SOURCE_ROOT "/docs/schema", 0, NULL);
    guint n = 0;
    for (const char *name; (name = g_dir_read_name(folder));) {
        if (!g_str_has_suffix(name, ".json"))
            continue;
        g_autofree char *schema = g_strndup(name, strlen(name) - strlen(".json"));
        if (!generates() && (!strcmp(schema, "bundle") || !strcmp(schema, "package") ||
                             !strcmp(schema, "rehearse") || !strcmp(schema, "profile")))
            continue;
        g_autoptr(GPtrArray) list = schema_never_met(schema);
        for (guint i = 0; i < list->len; i++, g_test_fail())
            g_test_message("never met: %s", (char *)list->pdata[i]);
        n++;
    }
    g_assert_cmpuint(n, >, 8);
}

/* Every command that takes --json has a schema, and a row here. */
static void test_commands(void)
{
    static const char *const commands[] = {
#define WS_COMMAND(name, ...) #name,
#include "cli/command.def"
#undef WS_COMMAND
    };
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        const char *const help[] = { "help", commands[i], NULL };
        g_autofree char *output = NULL;
        gboolean has = FALSE;
        g_assert_cmpint(run(help, &output), ==, 0);
        for (guint k = 0; k < G_N_ELEMENTS(rows); k++)
            has |= strcmp(rows[k].schema, commands[i]) == 0;
        if ((strstr(output, "--json ") != NULL) != has)
            g_error("%s: --json without a row, or a row without it", commands[i]);
    }
}

/* A runner without a GPU: in place of the bundle it puts one that ran. */
static void put_runner(void)
{
    static const char text[] =
        "#!/bin/sh\nrm -rf \"$1\"/*\ncp " WS_SOURCE_ROOT "/tests/launch/h200/* \"$1\"\n";
    g_autofree char *runner = g_build_filename(dir, "runner", NULL);
    g_assert_true(g_file_set_contents(runner, text, -1, NULL));
    g_assert_cmpint(g_chmod(runner, 0755), ==, 0);
    g_setenv("WARPSTAVE_RUNNER", runner, TRUE);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dir = g_dir_make_tmp("ws-schema-XXXXXX", NULL);
    put_runner();
    g_autofree char *history = g_build_filename(dir, "history.db", NULL);
    g_setenv("WARPSTAVE_HISTORY", history, TRUE);
    g_test_add_func("/cli/schema/commands", test_commands);
    g_test_add_func("/cli/schema/outputs", test_outputs);
    g_test_add_func("/cli/schema/serve", test_serve);
    g_test_add_func("/cli/schema/zz-met", test_met);
    const int code = g_test_run();
    const char *const gone[] = { "rm", "-rf", dir, NULL };
    g_spawn_sync(NULL, (char **)gone, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                 NULL);
    return code;
}
