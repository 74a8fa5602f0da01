/* warpstave serve: answers are those of the commands, and no line ends it. */
#include "run.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <json.h>
#include <string.h>

#define GEMM WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave"
#define FP16 WS_SOURCE_ROOT "/projects/gemm-fp16/design.wstave"
#define WAIT "{ \"wait\": \"empty\", \"use\": \"k.total\" },"

/* Answers to the lines, one each; the process ends by itself with 0. */
static char **serve(const char *input, gsize length)
{
    const char *const argv[] = { WS_BUILD_ROOT "/bin/warpstave", "serve", NULL };
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) process = g_subprocess_newv(
        argv, G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error);
    g_assert_no_error(error);
    g_autoptr(GBytes) in = g_bytes_new(input, length), out = NULL;
    g_subprocess_communicate(process, in, NULL, &out, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(g_subprocess_get_if_exited(process));
    g_assert_cmpint(g_subprocess_get_exit_status(process), ==, 0);
    gsize n;
    const char *data = g_bytes_get_data(out, &n);
    g_autofree char *text = g_strndup(data, n);
    g_strchomp(text);
    return g_strsplit(text, "\n", -1);
}

static json_object *member(json_object *of, const char *name)
{
    json_object *value = NULL;
    g_assert_true(json_object_object_get_ex(of, name, &value));
    return value;
}

static json_object *parsed(const char *line)
{
    json_object *json = json_tokener_parse(line);
    if (!json_object_is_type(json, json_type_object))
        g_error("no object: %s", line);
    return json;
}

#define KERNELS WS_SOURCE_ROOT "/tests/import/"

static const struct {
    const char *request;
    int exit_code;
    const char *says; /* part of the answer */
} rows[] = {
    { "{\"do\":\"hello\",\"id\":\"a\"}", 0, "\"id\": \"a\"" },
    { "{\"do\":\"hello\",\"id\":{\"a\":[1,null]}}", 2, "id" },
    { "{\"do\":\"hello\",\"id\":NaN}", 2, "\"id\": null" },
    { "{\"do\":\"hello\",\"id\":12345678901234567890123}", 2, "\"id\": null" },
    { "{\"do\":\"check\",\"file\":\"-\"}", 2, "not a stream" },
    { "{\"do\":\"import\",\"file\":\"/dev/stdin\"}", 2, "not a stream" },
    { "{\"do\":\"check\",\"file\":\"" GEMM "\"}", 0, "\"verdict\": \"proved\"" },
    { "{\"do\":\"check\",\"file\":\"" GEMM "\",\"set\":{\"STAGES\":9}}", 1, "\"B-" },
    { "{\"do\":\"check\",\"file\":\"" GEMM "\",\"set\":{\"NOTHING\":9}}", 2, "NOTHING" },
    { "{\"do\":\"check\",\"file\":\"/nonexistent\"}", 2, "No such file" },
    { "{\"do\":\"check\",\"design\":\"{ }\"}", 2, "\"rule\": \"" },
    { "{\"do\":\"simulate\",\"file\":\"" GEMM "\",\"size\":{\"K\":4096}}", 0, "\"cycles\":" },
    { "{\"do\":\"simulate\",\"file\":\"" GEMM "\",\"size\":{\"K\":65}}", 2, "R-LAUNCH" },
    { "{\"do\":\"simulate\",\"file\":\"" GEMM "\",\"machine\":\"/nonexistent\"}", 2, "nonexist" },
    { "{\"do\":\"advise\",\"file\":\"" GEMM "\",\"edits\":0}", 0, "\"edges\":" },
    { "{\"do\":\"advise\",\"file\":\"" GEMM "\",\"edits\":65}", 2, "0 to 64" },
    { "{\"do\":\"fix\",\"file\":\"" GEMM "\"}", 0, "\"fixed\": false" },
    { "{\"do\":\"import\",\"text\":\"x = 1\",\"from\":\"gluon\"}", 2, "no function of the file" },
    { "{\"do\":\"import\",\"text\":\"x = 1\"}", 2, "say the language" },
    { "{\"do\":\"import\",\"file\":\"" KERNELS "gluon/rows.py\"}", 0, "\"verdict\": \"proved\"" },
    { "{\"do\":\"import\",\"file\":\"" KERNELS "gluon/defaults.py\"}", 1,
      "\"verdict\": \"refuted\"" },
    { "{\"do\":\"import\",\"file\":\"" KERNELS "ptx/flow/two-lanes-load.ptx\"}", 3,
      "\"says\": \"undecided: line 279: a guard" },
    { "{\"do\":\"check\"}", 2, "say which" },
    { "{\"do\":\"chekc\",\"file\":\"x\"}", 2, "chekc" },
    { "{\"id\":7}", 2, "say what to do" },
    { "{\"do\":\"check\",\"file\":\"" GEMM "\",\"sets\":{}}", 2, "no member" },
    { "{\"do\":\"check\",\"file\":\"" GEMM "\",\"size\":{}}", 2, "does not go with" },
    { "{\"do\":\"check\",\"file\":1}", 2, "must be a string" },
    { "{\"do\":\"check\",\"file\":\"a\\u0000b\"}", 2, "must be a string" },
    { "{\"do\":\"check\",\"file\":\"" GEMM "\",\"set\":{\"BM\":99999999999999999999}}", 2,
      "must be an object of integers" },
    { "[1]", 2, "a request is an object" },
    { "{} {}", 2, "no JSON at byte 3" },
    { "{\"do\":", 2, "ends too early" },
    { "\xff", 2, "no JSON" },
};

static void test_rows(void)
{
    g_autoptr(GString) input = g_string_new("\n  \r\n");
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        g_string_append_printf(input, "%s\r\n%s", rows[i].request, i % 3 ? "" : "\n");
    g_string_append(input, "{\"do\":\"hello\"}"); /* without a line end */
    g_auto(GStrv) answer = serve(input->str, input->len);
    g_assert_cmpuint(g_strv_length(answer), ==, G_N_ELEMENTS(rows) + 1);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_test_message("%s\n%.300s", rows[i].request, answer[i]);
        json_object *json = parsed(answer[i]), *result, *error;
        g_assert_cmpint(json_object_get_int(member(json, "exit")), ==, rows[i].exit_code);
        g_assert_true(json_object_object_get_ex(json, "result", &result) !=
                      json_object_object_get_ex(json, "error", &error));
        g_assert_nonnull(strstr(answer[i], rows[i].says));
        json_object_put(json);
    }
}

/* The commands answer alike. */
static void test_same(void)
{
    static const char *const commands[] = { "check", "simulate", "advise" };
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        const char *const argv[] = { commands[i], "--json", GEMM, NULL };
        g_autofree char *line =
            g_strdup_printf("{\"do\":\"%s\",\"file\":\"" GEMM "\"}\n", commands[i]);
        g_autofree char *output = NULL;
        g_assert_cmpint(run(argv, &output), ==, 0);
        g_auto(GStrv) answer = serve(line, strlen(line));
        json_object *a = parsed(output), *b = parsed(answer[0]);
        g_assert_true(json_object_equal(a, member(b, "result")));
        json_object_put(a);
        json_object_put(b);
    }
}

/* A request with a design without one wait; the design as text. */
static char *broken_request(const char *what)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(FP16, &text, NULL, NULL));
    char *wait = strstr(text, WAIT);
    g_assert_nonnull(wait);
    memset(wait, ' ', strlen(WAIT));
    json_object *request = json_object_new_object();
    json_object_object_add(request, "do", json_object_new_string(what));
    json_object_object_add(request, "design", json_object_new_string(text));
    char *line = g_strdup(json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN));
    json_object_put(request);
    return line;
}

/* Bytes of requests replaced, cut and repeated: each line gets its answer, and so does the last. */
static void test_damaged(void)
{
    enum { LINES = 150 };
    g_autofree char *design = broken_request("simulate");
    g_autoptr(GString) input = g_string_new(NULL);
    g_autoptr(GRand) rand = g_rand_new_with_seed(23);
    for (guint i = 0; i < LINES; i++) {
        const char *from = i % 2 ? design : rows[g_rand_int(rand) % G_N_ELEMENTS(rows)].request;
        g_autoptr(GString) line = g_string_new(from);
        for (guint k = g_rand_int(rand) % 4; line->len > 1 && k-- > 0;) {
            const gsize at = g_rand_int(rand) % line->len, n = g_rand_int(rand) % 20;
            switch (g_rand_int(rand) % 3) {
            case 0:
                line->str[at] = (char)(g_rand_int(rand) % 256);
                break;
            case 1:
                g_string_erase(line, (gssize)at, (gssize)MIN(n, line->len - at));
                break;
            default:
                g_string_truncate(line, at);
            }
        }
        for (gsize k = 0; k < line->len; k++)
            if (line->str[k] == '\n')
                line->str[k] = 'n';
        g_string_append_len(input, line->str, (gssize)line->len);
        g_string_append(input, "\n{\"do\":\"hello\",\"id\":1}\n");
    }
    g_auto(GStrv) answer = serve(input->str, input->len);
    guint hellos = 0;
    for (guint i = 0; answer[i]; i++) {
        json_object *json = parsed(answer[i]);
        hellos += json_object_get_int(member(json, "id")) == 1;
        json_object_put(json);
    }
    g_assert_cmpuint(hellos, >=, LINES);
}

/* One line of more bytes than are taken does not fill the memory. */
static void test_long(void)
{
    g_autoptr(GString) input = g_string_new(NULL);
    for (guint i = 0; i < 21 << 16; i++)
        g_string_append(input, "0123456789abcdef");
    g_string_append(input, "\n{\"do\":\"hello\"}\n");
    g_auto(GStrv) answer = serve(input->str, input->len);
    g_assert_cmpuint(g_strv_length(answer), ==, 2);
    g_assert_nonnull(strstr(answer[0], "longer than"));
    g_assert_nonnull(strstr(answer[1], "\"exit\": 0"));
}

/* The client of the page is run as it stands there. */
static void test_client(void)
{
    static const char begin[] = "```python\n";
    g_autofree char *page = NULL, *python = g_find_program_in_path("python3"), *text = NULL;
    if (!python) {
        g_test_skip("no python3");
        return;
    }
    g_autofree char *dir = g_dir_make_tmp("warpstave-serve-XXXXXX", NULL);
    g_autofree char *client = g_build_filename(dir, "client.py", NULL);
    g_autofree char *design = g_build_filename(dir, "broken.wstave", NULL);
    g_assert_true(g_file_get_contents(WS_SOURCE_ROOT "/docs/serve.md", &page, NULL, NULL));
    char *from = strstr(page, begin);
    g_assert_nonnull(from);
    from += strlen(begin);
    *strstr(from, "```") = '\0';
    g_auto(GStrv) lines = g_strsplit(from, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines) - 1, <=, 30);
    g_assert_true(g_file_set_contents(client, from, -1, NULL));
    g_assert_true(g_file_get_contents(FP16, &text, NULL, NULL));
    memset(strstr(text, WAIT), ' ', strlen(WAIT));
    g_assert_true(g_file_set_contents(design, text, -1, NULL));
    g_autofree char *bin = g_canonicalize_filename(WS_BUILD_ROOT "/bin", NULL);
    g_autofree char *path = g_strconcat(bin, ":", g_getenv("PATH"), NULL);
    g_autoptr(GSubprocessLauncher) launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE);
    g_subprocess_launcher_setenv(launcher, "PATH", path, TRUE);
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) process =
        g_subprocess_launcher_spawn(launcher, &error, python, client, design, NULL);
    g_assert_no_error(error);
    g_autofree char *said = NULL;
    g_assert_true(g_subprocess_communicate_utf8(process, NULL, NULL, &said, NULL, &error));
    g_test_message("%s", said);
    g_assert_cmpint(g_subprocess_get_exit_status(process), ==, 0);
    g_assert_nonnull(strstr(said, "P-EARLY"));
    g_assert_nonnull(strstr(said, "\nproved\n"));
    g_unlink(client);
    g_unlink(design);
    g_rmdir(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cli/serve/rows", test_rows);
    g_test_add_func("/cli/serve/same", test_same);
    g_test_add_func("/cli/serve/damaged", test_damaged);
    g_test_add_func("/cli/serve/long", test_long);
    g_test_add_func("/cli/serve/client", test_client);
    return g_test_run();
}
