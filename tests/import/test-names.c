/* What names mean in a file: a kernel whose host binds, patches and changes things in all the ways
 * of Python. None that goes wrong is proved, and those that only look odd still are. */
#include "judge.h"
#include "judged.h"

#include <string.h>

static const struct {
    const char *title;
    WsVerdictKind verdict;
    const char *change[10]; /* from, to; NULL: no more */
} files[] = {
#define NAMED(title, verdict, ...) { title, WS_VERDICT_##verdict, { __VA_ARGS__ } },
#include "names.def"
#undef NAMED
};

static char *changed(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    g_assert_nonnull(at);
    g_autofree char *head = g_strndup(text, at - text);
    return g_strconcat(head, to, at + strlen(from), NULL);
}

static void test_file(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = kernel_of("tests/import/gluon/names.py", WS_IMPORT_GLUON);
    for (guint k = 0; k < G_N_ELEMENTS(files[i].change) && files[i].change[k]; k += 2) {
        char *next = changed(text, files[i].change[k], files[i].change[k + 1]);
        g_free(text);
        text = next;
    }
    const WsVerdictKind verdict = verdict_of(text, WS_IMPORT_GLUON);
    if (verdict != files[i].verdict)
        g_test_message("%s is %s", files[i].title, ws_verdict_word(verdict));
    g_assert_cmpint(verdict, ==, files[i].verdict);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_strdup_printf("/import/names/%s", files[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_file);
    }
    return g_test_run();
}
