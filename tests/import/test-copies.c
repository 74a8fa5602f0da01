/* What a name means is said by copies of values where a design needs them; none of them makes a
 * kernel wrong that is right. */
#include "judge/judge.h"

#include "import/import.h"

#include <glib.h>
#include <string.h>

/* Lines between a product that takes its operand p from registers and the wait for it. */
static const struct {
    const char *round;
    WsVerdictKind verdict;
    const char *says;
} rows[] = {
    { "pass\n", WS_VERDICT_PROVED, "proved" },
    { "p = q\n", WS_VERDICT_OUTSIDE, "a copy of a value that this reading adds" },
    { "p, q = q, p\n", WS_VERDICT_OUTSIDE, "a copy of a value that this reading adds" },
    { "other = other + acc\n", WS_VERDICT_REFUTED, "refuted" },
    { "p = q\n        other = other + acc\n", WS_VERDICT_REFUTED, "refuted" },
};

static void copies(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *path =
        g_build_filename(WS_SOURCE_ROOT, "tests/import/copies/operand.py", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autoptr(GString) s = g_string_new(text);
    g_assert_cmpuint(g_string_replace(s, "ROUND\n", rows[i].round, 0), ==, 1);
    g_auto(WsJudged) k = { 0 };
    g_autoptr(GError) error = NULL;
    g_assert_true(
        ws_judge_text(s->str, s->len, "kernel.py", WS_IMPORT_GLUON, NULL, NULL, &k, &error));
    g_autofree char *says = ws_verdict_text(k.verdict);
    g_test_message("%s", says);
    g_assert_cmpint(k.verdict->kind, ==, rows[i].verdict);
    g_assert_nonnull(strstr(says, rows[i].says));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/import/copies/%u", i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), copies);
    }
    return g_test_run();
}
