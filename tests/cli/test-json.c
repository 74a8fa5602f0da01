/* --json of the commands: a few values are those of the text form. */
#include "base/phrase.h"
#include "model/findings.h"
#include "model/internal.h"
#include "run.h"

#include <glib/gstdio.h>
#include <string.h>

#define GEMM  WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave"
#define RULES WS_SOURCE_ROOT "/projects/gemm.pick"
#define H200  WS_SOURCE_ROOT "/tests/launch/h200" /* a bundle that was run there */

static WsJson *parsed(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsReader r;
    ws_reader_init(&r, findings, TRUE);
    WsJson *json = ws_json_parse(text, strlen(text), &r);
    if (json == NULL || r.n_errors > 0)
        g_test_message("no JSON:\n%s", text);
    g_assert_nonnull(json);
    g_assert_cmpuint(r.n_errors, ==, 0);
    ws_reader_clear(&r);
    return json;
}

/* Runs with --json. */
static WsJson *told(const char *const *arguments)
{
    g_autofree char *text = NULL;
    g_assert_cmpint(run(arguments, &text), ==, 0);
    WsJson *json = parsed(text);
    g_assert_cmpint(ws_json_member(json, "version")->i, ==, 1);
    return json;
}

static void test_pick(void)
{
    const char *const arguments[] = { "pick",   RULES,    "--json", "--size", "M=4096",
                                      "--size", "N=4096", "--size", "K=4096", NULL };
    const char *const plain[] = { "pick",   RULES,    "--size", "M=4096", "--size",
                                  "N=4096", "--size", "K=4096", NULL };
    g_autofree char *text = NULL;
    g_assert_cmpint(run(plain, &text), ==, 0);
    WsJson *json = told(arguments);
    const WsJson *choices = ws_json_member(json, "choices");
    guint picked = 0;
    for (guint i = 0; i < choices->n; i++) {
        if (!ws_json_member(&choices->item[i], "picked")->b)
            continue;
        picked++;
        g_assert_true(g_str_has_prefix(text, ws_json_member(&choices->item[i], "design")->text));
        g_assert_true(ws_json_member(&choices->item[i], "applies")->b);
    }
    g_assert_cmpuint(picked, ==, 1);
    ws_json_free(json);
}

static void test_generate(void)
{
    const char *const plain[] = { "generate", GEMM, "--as", "gluon", "--pinned", NULL };
    const char *const arguments[] = {
        "generate", GEMM, "--as", "gluon", "--pinned", "--json", NULL
    };
    g_autofree char *text = NULL;
    g_assert_cmpint(run(plain, &text), ==, 0);
    WsJson *json = told(arguments);
    g_assert_cmpstr(ws_json_member(json, "text")->text, ==, text);
    g_assert_cmpint(ws_json_member(json, "bytes")->i, ==, (gint64)strlen(text));
    ws_json_free(json);
    g_autofree char *dir = g_dir_make_tmp("ws-json-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(dir, "kernel.py", NULL), *written = NULL;
    const char *const to[] = { "generate", GEMM, "--as", "gluon", "--pinned",
                               "--json",   "-o", file,   NULL };
    json = told(to);
    g_assert_cmpstr(ws_json_member(json, "output")->text, ==, file);
    g_assert_cmpint(ws_json_member(json, "text")->kind, ==, WS_JSON_NULL);
    g_assert_true(g_file_get_contents(file, &written, NULL, NULL));
    g_assert_cmpstr(written, ==, text);
    ws_json_free(json);
    g_remove(file);
    g_rmdir(dir);
}

static void test_trace(void)
{
    g_autofree char *dir = g_dir_make_tmp("ws-json-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(dir, "t.wtrace", NULL), *said = NULL;
    const char *const make[] = { "simulate", GEMM, "--trace", file, NULL };
    g_assert_cmpint(run(make, &said), ==, 0);
    const char *const arguments[] = { "trace", file, "--json", NULL };
    WsJson *json = told(arguments);
    g_assert_cmpstr(ws_json_member(json, "origin")->text, ==, "predicted");
    g_assert_cmpint(ws_json_member(json, "records")->i, >, 0);
    ws_json_free(json);
    const char *const both[] = { "trace", file, "--json", "--overlap", NULL };
    g_autofree char *refused = NULL;
    g_assert_cmpint(run(both, &refused), ==, 2);
    g_remove(file);
    g_rmdir(dir);
}

static void test_collect(void)
{
    g_autofree char *dir = g_dir_make_tmp("ws-json-XXXXXX", NULL), *text = NULL, *plain = NULL;
    g_autofree char *history = g_build_filename(dir, "history.db", NULL);
    g_setenv("WARPSTAVE_HISTORY", history, TRUE);
    const char *const arguments[] = { "collect", H200, "--json", NULL };
    const char *const words[] = { "collect", H200, NULL };
    g_assert_cmpint(run(arguments, &text), ==, 0);
    g_assert_cmpint(run(words, &plain), ==, 0);
    WsJson *json = parsed(text);
    const WsJson *one = &ws_json_member(json, "cases")->item[0];
    g_assert_cmpstr(ws_json_member(json, "device")->text, ==, "NVIDIA H200");
    g_assert_nonnull(strstr(plain, "NVIDIA H200"));
    g_assert_nonnull(strstr(plain, ws_json_member(one, "label")->text));
    g_assert_cmpint(ws_json_member(json, "exit")->i, ==, 0);
    ws_json_free(json);
    const char *const absent[] = { "collect", dir, "--json", NULL };
    g_autofree char *refused = NULL;
    g_assert_cmpint(run(absent, &refused), !=, 0);
    g_assert_nonnull(strstr(refused, dir));
    g_remove(history);
    g_rmdir(dir);
    g_unsetenv("WARPSTAVE_HISTORY");
}

/* --errors of every command: why it failed, as data. */
static void test_errors(void)
{
    static const struct {
        const char *arguments[8];
        int code;
        const char *member, *has;
    } cases[] = {
        { { "generate", WS_SOURCE_ROOT "/projects/gemm-bf16-cluster2/design.wstave", "--as",
            "tle" },
          3,
          "why",
          "multicast" },
        { { "generate", GEMM, "--as", "nothing" }, 2, "message", "no form 'nothing'" },
        { { "simulate", GEMM, "--machine", "/nowhere" }, 2, "message", "/nowhere" },
        { { "check", GEMM, "--no-such-option" }, 2, "message", "--no-such-option" },
    };
    g_autofree char *dir = g_dir_make_tmp("ws-json-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(dir, "why.json", NULL);
    g_autofree char *option = g_strconcat("--errors=", file, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *arguments[12] = { cases[i].arguments[0], option };
        g_autofree char *said = NULL, *text = NULL;
        for (guint k = 1; cases[i].arguments[k]; k++)
            arguments[k + 1] = cases[i].arguments[k];
        g_assert_cmpint(run(arguments, &said), ==, cases[i].code);
        g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
        WsJson *json = parsed(text);
        g_assert_cmpint(ws_json_member(json, "code")->i, ==, cases[i].code);
        g_assert_nonnull(strstr(said, ws_json_member(json, "message")->text));
        const char *says = ws_json_member(json, cases[i].member)->text;
        g_assert_nonnull(strstr(says, cases[i].has));
        const WsJson *phrase = ws_json_member(json, "why_phrase");
        g_assert_true((phrase->kind == WS_JSON_TEXT) == (cases[i].code == 3));
        if (phrase->kind == WS_JSON_TEXT) { /* a template, for another language */
            g_autofree char *english = ws_phrase_text(phrase->text, NULL, NULL);
            g_assert_cmpstr(english, ==, says);
            g_assert_cmpstr(phrase->text, !=, says);
        }
        ws_json_free(json);
        g_remove(file);
    }
    const char *const right[] = { "generate", GEMM, "--as", "program", option, NULL };
    g_autofree char *said = NULL;
    g_assert_cmpint(run(right, &said), ==, 0);
    g_assert_false(g_file_test(file, G_FILE_TEST_EXISTS));
    g_rmdir(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cli/json/collect", test_collect);
    g_test_add_func("/cli/json/errors", test_errors);
    g_test_add_func("/cli/json/pick", test_pick);
    g_test_add_func("/cli/json/generate", test_generate);
    g_test_add_func("/cli/json/trace", test_trace);
    return g_test_run();
}
