/* What a name means is said by copies of values where a design needs them; none of them makes a
 * kernel wrong that is right. */
#include "judge/judge.h"

#include "import/import.h"
#include "model/finding.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

/* Lines between a product that takes its operand p from registers and the wait for it. */
static const struct {
    const char *round;
    WsVerdictKind verdict;
    const char *says;
} rows[] = {
    { "pass\n", WS_VERDICT_PROVED, "proved" },
    { "p = q\n", WS_VERDICT_OUTSIDE, "a step that this reading adds" },
    { "p, q = q, p\n", WS_VERDICT_OUTSIDE, "a step that this reading adds" },
    { "other = other + acc\n", WS_VERDICT_REFUTED, "refuted" },
    { "p = q\n        other = other + acc\n", WS_VERDICT_REFUTED, "refuted" },
    { "o = other + 1.0\n        other, o = o, other; other = other + acc\n", WS_VERDICT_REFUTED,
      "refuted" }, /* a copy and the sum are of one line and name */
    { "o = other + 1.0\n        other, o = o * 2.0, other + acc\n", WS_VERDICT_REFUTED, "refuted" },
    { "o = other + acc\n        other = o\n", WS_VERDICT_REFUTED, "refuted" },
    { "o = other + 1.0\n        p, q = q, p; other = o\n", WS_VERDICT_OUTSIDE,
      "a step that this reading adds" },
};

/* The kernel with the lines of row i. Caller frees. */
static char *kernel_with(guint i)
{
    g_autofree char *path =
        g_build_filename(WS_SOURCE_ROOT, "tests/import/copies/operand.py", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autoptr(GString) s = g_string_new(text);
    g_assert_cmpuint(g_string_replace(s, "ROUND\n", rows[i].round, 0), ==, 1);
    return g_strdup(s->str);
}

static void copies(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = kernel_with(i);
    g_auto(WsJudged) k = { 0 };
    g_autoptr(GError) error = NULL;
    g_assert_true(
        ws_judge_text(text, strlen(text), "kernel.py", WS_IMPORT_GLUON, NULL, NULL, &k, &error));
    g_autofree char *says = ws_verdict_text(k.verdict);
    g_test_message("%s", says);
    g_assert_cmpint(k.verdict->kind, ==, rows[i].verdict);
    g_assert_nonnull(strstr(says, rows[i].says));
}

/* The same where the kernel stands in a file that the text imports from. */
static void imported(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *folder = g_dir_make_tmp("copies-XXXXXX", NULL), *text = kernel_with(i);
    g_autofree char *file = g_build_filename(folder, "common.py", NULL);
    char *launch = strstr(text, "def launch(");
    g_assert_true(g_file_set_contents(file, text, launch - text, NULL));
    g_autofree char *first = g_strndup(text, (gsize)(strstr(text, "@gluon.jit") - text));
    g_autofree char *own = g_strconcat(first, "from common import kernel\n\n", launch, NULL);
    const WsImportOptions options = { .folder = folder };
    g_auto(WsJudged) k = { 0 };
    g_autoptr(GError) error = NULL;
    g_assert_true(
        ws_judge_text(own, strlen(own), "kernel.py", WS_IMPORT_GLUON, &options, NULL, &k, &error));
    g_autofree char *says = ws_verdict_text(k.verdict);
    g_test_message("%s", says);
    g_assert_cmpint(k.verdict->kind, ==, rows[i].verdict);
    g_unlink(file);
    g_rmdir(folder);
}

static WsImport *import_of(const char *file, WsImportFrom from, const char *body)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "tests/import", file, NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, &error));
    g_autoptr(GString) s = g_string_new(text);
    if (body)
        g_assert_cmpuint(g_string_replace(s, "    BODY\n", body, 0), ==, 1);
    WsImport *import = ws_import_text(s->str, s->len, file, from, &error);
    g_assert_no_error(error);
    return import;
}

/* What the reader of PTX puts into the design to say where registers begin; computations of the
 * kernel are none. */
static void of_ptx(void)
{
    static const struct {
        const char *at;
        guint line; /* 0: the kernel's own */
    } steps[] = {
        { "groups/mma/body/0", 5 },        { "groups/mma/body/1", 5 },
        { "groups/mma/body/3", 0 },        { "groups/mma/body/4/do/4", 0 },
        { "groups/mma/body/4/do/5", 236 }, { "groups/mma/body/5", 0 },
    };
    g_autoptr(WsImport) import = import_of("ptx/attention.ptx", WS_IMPORT_PTX, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
        const WsFinding f = { .rule = WS_RULE_P_ASYNC, .at = (char *)steps[i].at };
        g_assert_cmpuint(ws_import_added(import, &f), ==, steps[i].line);
    }
}

/* Rings and barriers of a loop with stages are the compiler's; so are steps of a hint. */
static void of_stages(void)
{
    static const struct {
        const char *at, *object;
        gboolean added;
    } rows_of[] = {
        { "groups/kernel/body/1/do/0", "a_full", TRUE },
        { "groups/kernel/body/1/do/0", "b_stages", TRUE },
        { "groups/kernel/body/1/do/0", "c", FALSE },
        { "groups/kernel/body/1/do/0", NULL, FALSE },
        { "groups/kernel/body/1#acquire", NULL, TRUE },
        { NULL, NULL, FALSE },
    };
    g_autoptr(WsImport) import = import_of("tle/summed.txt", WS_IMPORT_TLE, "    out = acc\n");
    for (guint i = 0; i < G_N_ELEMENTS(rows_of); i++) {
        const WsFinding f = { .rule = WS_RULE_P_EARLY,
                              .at = (char *)rows_of[i].at,
                              .object = (char *)rows_of[i].object };
        g_assert_cmpint(ws_import_added(import, &f) != 0, ==, rows_of[i].added);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/import/copies/%u", i);
        g_autofree char *other = g_strdup_printf("/import/copies/imported/%u", i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), copies);
        g_test_add_data_func(other, GUINT_TO_POINTER(i), imported);
    }
    g_test_add_func("/import/copies/ptx", of_ptx);
    g_test_add_func("/import/copies/stages", of_stages);
    return g_test_run();
}
