/* What `collect` exits with is what it judged: a number in results.json decides nothing that the
 * cases there contradict. */
#include "run.h"

#include <glib/gstdio.h>
#include <string.h>

static char *dir;

static void copy(const char *name, const char *const *edit)
{
    g_autofree char *from = g_build_filename(WS_SOURCE_ROOT, "tests/launch/h200", name, NULL);
    g_autofree char *to = g_build_filename(dir, name, NULL), *text = NULL;
    gsize n;
    g_assert_true(g_file_get_contents(from, &text, &n, NULL));
    for (; edit && edit[0]; edit += 2) {
        const char *at = strstr(text, edit[0]);
        g_assert_nonnull(at);
        char *other =
            g_strdup_printf("%.*s%s%s", (int)(at - text), text, edit[1], at + strlen(edit[0]));
        g_free(text);
        text = other;
        n = strlen(text);
    }
    g_assert_true(g_file_set_contents(to, text, (gssize)n, NULL));
}

#define STATUS "\"status\": 0"
#define RIGHT  "\"state\": \"right\""

static void answers(void)
{
    static const struct {
        const char *edit[7];
        int code;
        const char *says;
    } row[] = {
        { { NULL }, 0, "right" },
        { { STATUS, "\"status\": 1" }, 0, "right" },
        { { STATUS, "\"status\": 77" }, 0, "right" },
        { { STATUS, "\"status\": -1" }, 0, "right" },
        { { STATUS, "\"status\": \"0\"" }, 0, "right" },
        { { RIGHT, "\"state\": \"wrong\"" }, 1, "wrong" },
        { { RIGHT, "\"state\": \"hung\"" }, 1, "hung" },
        { { RIGHT, "\"state\": \"died\"", STATUS, "\"status\": 5" }, 1, "died" },
        { { RIGHT, "\"state\": \"not judged\"" }, 0, "not judged" },
        { { RIGHT, "\"state\": \"splendid\"" }, 2, "in no state that the runner knows" },
        { { RIGHT, "\"status\": 3" }, 2, "in no state that the runner knows" },
        { { RIGHT, "\"state\": \"not run\"" }, 2, "does not say why" },
        { { RIGHT, "\"state\": \"not run\"", STATUS, "\"status\": 256" }, 2, "does not say why" },
        { { RIGHT, "\"state\": \"not run\"", STATUS, "\"status\": 4" }, 4, "not run" },
        { { RIGHT, "\"state\": \"right\", \"adversary\": {\"as_told\": false}" }, 1, "NOT" },
        { { RIGHT, "\"state\": \"hung\", \"adversary\": {\"as_told\": true}" }, 0, "reproduced" },
        { { "\"samples\": 4096", "\"samples\": 0" }, 2, "compared nothing" },
        { { "\"samples\": 4096", "\"samples\": -4096" }, 2, "compared nothing" },
        { { "\"outputs\"", "\"inputs\"" }, 2, "compared nothing" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autofree char *output = NULL, *json = NULL;
        const char *const arguments[] = { "collect", dir, NULL };
        const char *const as_json[] = { "collect", "--json", dir, NULL };
        copy("results.json", row[i].edit);
        const int code = run(arguments, &output);
        g_test_message("%u: %d\n%s", i, code, output);
        g_assert_cmpint(code, ==, row[i].code);
        g_assert_nonnull(strstr(output, row[i].says));
        g_assert_cmpint(run_for_output(as_json, &json), ==, row[i].code);
        if (row[i].code != 2) { /* it says the same */
            g_autofree char *said = g_strdup_printf("\"exit\": %d", row[i].code);
            g_assert_nonnull(strstr(json, said));
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dir = g_dir_make_tmp("warpstave-collect-XXXXXX", NULL);
    g_assert_nonnull(dir);
    g_autofree char *history = g_build_filename(dir, "history.db", NULL);
    g_setenv("WARPSTAVE_HISTORY", history, TRUE);
    copy("bundle.txt", NULL);
    copy("design.wstave", NULL);
    g_test_add_func("/cli/collect/answers", answers);
    const int status = g_test_run();
    static const char *const made[] = { "bundle.txt", "design.wstave", "results.json",
                                        "history.db" };
    for (guint i = 0; i < G_N_ELEMENTS(made); i++) {
        g_autofree char *path = g_build_filename(dir, made[i], NULL);
        g_remove(path);
    }
    g_rmdir(dir);
    g_free(dir);
    return status;
}
