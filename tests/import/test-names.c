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

/* What the host may end by before its launch, and whether the verdict takes for granted that it
 * does not; of `never` the launch is not read. */
static const struct {
    const char *host;
    const char *past; /* the end of the assumption; NULL: there is none */
    gboolean never;
} ends[] = {
    { "    if kt > 4:\n        return None\n", NULL, FALSE },
    { "    if not (kt > 4):\n        raise ValueError(kt)\n", NULL, FALSE },
    { "    assert X.dtype == torch.float16 and X.is_contiguous()\n", NULL, FALSE },
    { "    if X.device != 'cuda' or kt < 0:\n        raise ValueError(kt)\n", NULL, FALSE },
    { "    if False:\n        return None\n", NULL, FALSE },
    { "    for q in range(3):\n        print(q)\n", NULL, FALSE },
    { "    def f():\n        return 1\n    f()\n", NULL, FALSE },
    { "    if other(kt):\n        return None\n", " line 65", FALSE },
    { "    if X.numel() > other(kt):\n        return None\n", " line 65", FALSE },
    { "    if kt % 2:\n        return None\n", NULL, FALSE },
    { "    def f(x, n):\n        if not all(0 <= q < n for q in [x]):\n            raise "
      "ValueError(n)\n"
      "    f(kt, 2**31)\n",
      NULL, FALSE },
    { "    def f(x):\n        if START != x:\n            raise ValueError(x)\n    f(kt)\n",
      " line 66", FALSE },
    { "    if other(kt):\n        pass\n    else:\n        return None\n", " line 67", FALSE },
    { "    if kt < 0:\n        pass\n    elif other(kt):\n        return None\n", " line 67",
      FALSE },
    { "    if kt < 0:\n        if other(kt):\n            return None\n", " line 65", FALSE },
    { "    if other(kt):\n        print(kt)\n        return None\n", " line 65", FALSE },
    { "    if other(kt):\n        exit(1)\n", " line 65", FALSE },
    { "    assert other(kt)\n", " line 65", FALSE },
    { "    assert kt >= 0 and other(kt)\n", " line 65", FALSE },
    { "    while other(kt):\n        pass\n", " line 65", FALSE },
    { "    for q in range(kt):\n        if q > 4:\n            raise ValueError(q)\n", " line 65",
      FALSE },
    { "    try:\n        x = 1\n    except ValueError:\n        return None\n", " line 65", FALSE },
    { "    with torch.no_grad():\n        raise ValueError(kt)\n", " line 66", FALSE },
    { "    def f():\n        if other(kt):\n            raise ValueError(kt)\n    f()\n",
      " line 66", FALSE },
    { "    exit(0)\n", NULL, TRUE },
    { "    import sys as s\n    s.exit()\n", " line 66", FALSE },
    { "    import os\n    os._exit(0)\n", NULL, TRUE },
    { "    def f():\n        quit()\n    f()\n", NULL, TRUE },
};

static void test_ends(void)
{
    static const char passed[] = "its host comes to the launch past";
    g_autofree char *kernel = kernel_of("tests/import/gluon/names.py", WS_IMPORT_GLUON);
    for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
        g_autofree char *host = g_strconcat("    # host\n", ends[i].host, NULL),
                        *text = changed(kernel, "    # host\n", host);
        g_autoptr(GError) error = NULL;
        g_autoptr(WsImport) import =
            ws_import_text(text, strlen(text), "k.py", WS_IMPORT_GLUON, &error);
        g_assert_no_error(error);
        const char *said = NULL;
        for (guint k = 0; k < import->granted->len; k++)
            if (g_str_has_prefix(import->granted->pdata[k], passed))
                said = (const char *)import->granted->pdata[k] + strlen(passed);
        g_test_message("%u: %s", i, said ? said : "nothing");
        g_assert_cmpstr(said, ==, ends[i].past);
        g_assert_cmpint(verdict_of(text, WS_IMPORT_GLUON), ==,
                        ends[i].never ? WS_VERDICT_OUTSIDE : WS_VERDICT_PROVED);
    }
}

/* A host that returns before its launch launches nothing: of the kernel alone nothing is proved. */
static void test_returned(void)
{
    g_autofree char *kernel = kernel_of("tests/import/gluon/names.py", WS_IMPORT_GLUON),
                    *back = changed(kernel, "    # host\n", "    return None\n"),
                    *first = changed(back,
                                     "N: gl.constexpr, S: gl.constexpr, L: gl.constexpr):\n"
                                     "    ring",
                                     "N, S, L: gl.constexpr = 1):\n    ring");
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import =
        ws_import_text(back, strlen(back), "k.py", WS_IMPORT_GLUON, &error);
    g_assert_null(import);
    g_assert_cmpint(verdict_of(first, WS_IMPORT_GLUON), ==, WS_VERDICT_OUTSIDE);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_strdup_printf("/import/names/%s", files[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_file);
    }
    g_test_add_func("/import/names/granted", test_granted);
    g_test_add_func("/import/names/ends", test_ends);
    g_test_add_func("/import/names/returned", test_returned);
    return g_test_run();
}
