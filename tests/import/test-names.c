/* What names mean in a file: a kernel whose host binds, patches and changes things in all the ways
 * of Python. None that goes wrong is proved, and those that only look odd still are. */
#include "judge.h"
#include "judged.h"

#include "codegen/python/python.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

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

static gboolean holds(const GPtrArray *list, const char *text)
{
    return g_ptr_array_find_with_equal_func((GPtrArray *)list, text, g_str_equal, NULL);
}

/* What a reading takes for granted stands in its design: a verdict on that says it, wherever the
 * design was kept meanwhile, and so does an import of an export. */
static void test_granted(void)
{
    g_autofree char *kernel = kernel_of("tests/import/gluon/names.py", WS_IMPORT_GLUON);
    g_autofree char *called = changed(kernel, "launch(X, kt)", "launch(X, kt, causal=False)");
    g_autofree char *text = g_strconcat("# taken for granted: the moon is round\n", called, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import =
        ws_import_text(text, strlen(text), "k.py", WS_IMPORT_GLUON, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(import->granted->len, >=, 2);
    g_assert_true(holds(import->granted, "the moon is round"));
    g_assert_nonnull(import->given);
    g_autofree char *kept = ws_design_print(import->design);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(kept, strlen(kept), "k.wstave", findings);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
    for (guint i = 0; i < import->granted->len; i++)
        g_assert_true(holds(v->assumed, import->granted->pdata[i]));
    g_autofree char *said = ws_verdict_text(v);
    g_assert_nonnull(strstr(said, import->given));
    char *gluon = ws_generate_gluon(p, FALSE, NULL, NULL);
    g_assert_nonnull(strstr(gluon, "# taken for granted: the moon is round\n"));
    g_free(gluon);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_strdup_printf("/import/names/%s", files[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_file);
    }
    g_test_add_func("/import/names/granted", test_granted);
    return g_test_run();
}
