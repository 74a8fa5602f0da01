/* Edits of a kernel's text: the unified difference says exactly what was changed, an edit changes
 * nothing else, and edits that repair a planted mistake are among the first. */
#include "../whole.h"
#include "import/edits.h"
#include "judged.h"

#include <string.h>

#define FOLDER WS_SOURCE_ROOT "/tests/import/"

/* --- differences ------------------------------------------------------------------------------ */
/* Reads a difference on its own terms and makes the second text of the first; NULL: it does not
 * fit. */
static char *patched(const char *before, const char *difference)
{
    g_auto(GStrv) d = g_strsplit(difference, "\n", -1);
    GString *out = g_string_new(NULL);
    const char *rest = before;
    guint line = 1;
    for (guint i = 2; d[0] && d[1] && d[i] && *d[i]; i++) {
        const gboolean bare = d[i + 1] && d[i + 1][0] == '\\';
        if (d[i][0] == '@') {
            const guint count = strchr(d[i], ',') && strchr(d[i], ',') < strchr(d[i], '+')
                                    ? (guint)strtoul(strchr(d[i], ',') + 1, NULL, 10)
                                    : 1;
            const guint first = (guint)strtoul(d[i] + 4, NULL, 10) + (count == 0);
            for (; line < first; line++) {
                const char *end = strchr(rest, '\n');
                g_assert_nonnull(end);
                g_string_append_len(out, rest, end + 1 - rest);
                rest = end + 1;
            }
            continue;
        }
        if (d[i][0] == '\\')
            continue;
        g_autofree char *text = g_strconcat(d[i] + 1, bare ? "" : "\n", NULL);
        if (d[i][0] != '+') {
            if (!g_str_has_prefix(rest, text)) {
                g_string_free(out, TRUE);
                return NULL;
            }
            rest += strlen(text);
            line++;
        }
        if (d[i][0] != '-')
            g_string_append(out, text);
    }
    g_string_append(out, rest);
    return g_string_free(out, FALSE);
}

static void fits(const char *before, const char *after)
{
    g_autofree char *difference = ws_import_difference(before, after, "k.py");
    g_autofree char *again = patched(before, difference);
    if (g_strcmp0(again, after))
        g_test_message("%s\n---\n%s\n---\n%s", before, after, difference);
    g_assert_cmpstr(again, ==, after);
}

static void test_differences(void)
{
    static const char *const text[] = { "",
                                        "\n",
                                        "a",
                                        "a\n",
                                        "a\nb",
                                        "a\nb\n",
                                        "b\na\n",
                                        "a\na\na\n",
                                        "a\n\n\na\n",
                                        "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
                                        "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12",
                                        "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n",
                                        "2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n1\n",
                                        "1\nx\n3\n4\n5\n6\n7\n8\n9\n10\ny\n12\n" };
    for (guint i = 0; i < G_N_ELEMENTS(text); i++)
        for (guint k = 0; k < G_N_ELEMENTS(text); k++)
            fits(text[i], text[k]);
    g_autofree char *none = ws_import_difference("a\n", "a\n", "k.py");
    g_assert_cmpstr(none, ==, "");
    g_autofree char *one = ws_import_difference("a\nb\nc\n", "a\nB\nc\n", "k.py");
    g_assert_cmpstr(one, ==, "--- k.py\n+++ k.py\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    g_autofree char *added = ws_import_difference("", "a\n", "k.py");
    g_assert_cmpstr(added, ==, "--- k.py\n+++ k.py\n@@ -0,0 +1 @@\n+a\n");
    g_autofree char *end = ws_import_difference("a", "a\n", "k.py");
    g_assert_cmpstr(end, ==,
                    "--- k.py\n+++ k.py\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

/* Texts too long for the table of common parts. */
static void test_long_difference(void)
{
    g_autoptr(GString) a = g_string_new(NULL), b = g_string_new(NULL);
    for (guint i = 0; i < 5000; i++) {
        g_string_append_printf(a, "%u\n", i);
        g_string_append_printf(b, "%u\n", i * 7 % 5000);
    }
    fits(a->str, b->str);
}

/* A copy into a field of a pipe at a slot that may lie outside was a crash. */
static void test_field(void)
{
    g_autofree char *path = g_strconcat(FOLDER, "tle/pipe.py", NULL), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autoptr(GString) wrong = g_string_new(text);
    g_assert_cmpuint(g_string_replace(wrong, ".acquire(k)", ".acquire(k - 1)", 0), >, 0);
    g_assert_cmpint(verdict_of(wrong->str, WS_IMPORT_TLE), !=, WS_VERDICT_PROVED);
}

/* A name of the function that has no value yet is no global one: nothing compiles it. */
static void test_unbound(void)
{
    static const struct {
        const char *from, *to;
    } rows[] = {
        { "    slot = 0\n    phase = 1\n", "    slot += 1\n    slot = 0\n    phase = 1\n" },
        { "    done = 0\n", "    done += 1\n    done = 0\n" },
        { "    done = 0\n", "    done ^= 1\n    done = 0\n" },
        { "    done = 0\n", "    left = done\n    done = 0\n" },
        { "        acc = gl.zeros((BM", "        acc = acc\n        acc = gl.zeros((BM" },
    };
    g_autofree char *path = g_strconcat(FOLDER, "gluon/gemm.py", NULL), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_cmpint(verdict_of(text, WS_IMPORT_GLUON), ==, WS_VERDICT_PROVED);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GString) wrong = g_string_new(text);
        g_assert_cmpuint(g_string_replace(wrong, rows[i].from, rows[i].to, 1), ==, 1);
        g_test_message("%s", rows[i].to);
        g_assert_cmpint(verdict_of(wrong->str, WS_IMPORT_GLUON), ==, WS_VERDICT_OUTSIDE);
    }
}

/* --- edits ------------------------------------------------------------------------------------ */
typedef struct {
    const char *file;
    WsImportFrom language;
} Kernel;
static const Kernel kernels[] = {
    { "gluon/gemm.py", WS_IMPORT_GLUON },      { "gluon/classes.py", WS_IMPORT_GLUON },
    { "gluon/pipelined.py", WS_IMPORT_GLUON }, { "gluon/ring.py", WS_IMPORT_GLUON },
    { "gluon/rows.py", WS_IMPORT_GLUON },      { "tle/pipe.py", WS_IMPORT_TLE },
    { "tle/guarded.py", WS_IMPORT_TLE },       { "tlx/gemm.py", WS_IMPORT_TLX },
};

static char *text_of_file(const char *name)
{
    g_autofree char *path = g_strconcat(FOLDER, name, NULL);
    char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return text;
}

static GPtrArray *edits_of(const char *text, WsImportFrom language, guint line, const char *name,
                           guint most)
{
    char *const names[] = { (char *)name, NULL };
    const WsImportHints hints = { &line, line ? 1 : 0, names, NULL, 0 };
    g_autoptr(GError) error = NULL;
    GPtrArray *edits = ws_import_edits(text, strlen(text), "k.py", language, &hints, most, &error);
    g_assert_no_error(error);
    return edits;
}

static guint lines_in(const char *text)
{
    guint n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Every edit of every kernel, with and without an end of the last line: lines it does not name
 * stay, and the difference leads from one text to the other. */
static void test_edits(gconstpointer data)
{
    const Kernel *k = data;
    for (guint bare = 0; bare < 2; bare++) {
        g_autofree char *text = text_of_file(k->file);
        if (bare)
            g_strchomp(text);
        g_autoptr(GPtrArray) edits = edits_of(text, k->language, 0, NULL, 100000);
        g_assert_cmpuint(edits->len, >, 100);
        for (guint i = 0; i < edits->len; i++) {
            const WsImportEdit *e = edits->pdata[i];
            g_autofree char *edited = ws_import_edited(text, e);
            gint lines = (gint)lines_in(text);
            for (guint h = 0; h < e->n; h++)
                lines += (gint)lines_in(e->hunk[h].text) - (gint)e->hunk[h].count;
            g_assert_cmpint((gint)lines_in(edited), ==, lines);
            g_assert_cmpint(g_str_has_suffix(edited, "\n"), ==, g_str_has_suffix(text, "\n"));
            g_assert_cmpstr(edited, !=, text);
            g_assert_true(!i || e->rank >= ((WsImportEdit *)edits->pdata[i - 1])->rank);
            if (i % 7 == 0)
                fits(text, edited);
            if (i % 30 == 0 && !bare) /* read without a crash, whatever it says */
                verdict_by(edited, k->language, NULL);
        }
    }
}

/* One line of a kernel becomes another: the edit that undoes it is among the first `within`, when a
 * finding points at `line` and names `name`. */
typedef struct {
    const char *file;
    WsImportFrom language;
    const char *from, *to;
    guint line;
    const char *name;
    guint within;
} Undone;
static const Undone undone[] = {
#define GEMM "gluon/gemm.py", WS_IMPORT_GLUON
    { GEMM, "            mbarrier.wait(empty.index(slot), phase)\n", "", 21, "full", 800 },
    { GEMM, "            mbarrier.wait(full.index(slot), done // STAGES & 1)\n", "", 43, "full",
      800 },
    { GEMM, "                phase ^= 1\n", "", 21, "empty", 2500 },
    { GEMM, "            acc = warpgroup_mma_wait(0, deps=[acc])\n", "", 49, "acc", 600 },
    { GEMM, "warpgroup_mma_wait(0, deps", "warpgroup_mma_wait(1, deps", 46, "acc", 40 },
    { GEMM, "mbarrier.init(empty.index(i), count=2)", "mbarrier.init(empty.index(i), count=3)", 21,
      "empty", 60 },
    { GEMM, "            mbarrier.arrive(empty.index(slot), count=1)\n",
      "            if k > 0:\n                mbarrier.arrive(empty.index(slot), count=1)\n", 47,
      "empty", 300 },
    { GEMM, "(2 * BM * BK + BN * BK) * 2", "(2 * BM * BK + BN * BK) * 4", 22, "full", 100 },
    { GEMM, "mbarrier.wait(full.index(slot)", "mbarrier.wait(empty.index(slot)", 43, "full", 200 },
#undef GEMM
};

static void test_undone(gconstpointer data)
{
    const Undone *u = data;
    g_autofree char *right = text_of_file(u->file);
    g_autoptr(GString) wrong = g_string_new(right);
    g_assert_cmpuint(g_string_replace(wrong, u->from, u->to, 1), ==, 1);
    g_autoptr(GPtrArray) edits = edits_of(wrong->str, u->language, u->line, u->name, 100000);
    guint at = 0;
    for (; at < edits->len; at++) {
        g_autofree char *edited = ws_import_edited(wrong->str, edits->pdata[at]);
        if (!strcmp(edited, right))
            break;
    }
    g_test_message("edit %u of %u", at, edits->len);
    g_assert_cmpuint(at, <, u->within);
}

/* Long files: refused, or within seconds. */
static void test_long(void)
{
    const guint line[] = { 40, 150, 1000 };
    char *const name[] = { "b7", "s", NULL };
    const WsImportHints hints = { line, G_N_ELEMENTS(line), name, NULL, 0 };
    for (guint n = 100; n <= 1900; n += 900) {
        g_autoptr(GString) text = g_string_new("@gluon.jit\ndef f(a, b):\n");
        for (guint i = 0; i < n; i++)
            g_string_append_printf(
                text, "    mbarrier.wait(b%u.index(s %% %u), p%u & 1)\n    s = n %% %u\n", i, i, i,
                i);
        g_autoptr(GError) error = NULL;
        const gint64 began = g_get_monotonic_time();
        g_autoptr(GPtrArray) edits =
            ws_import_edits(text->str, text->len, "k.py", WS_IMPORT_GLUON, &hints, 100, &error);
        g_test_message("%u: %.2f s", n, (g_get_monotonic_time() - began) / 1e6);
        g_assert_cmpint((g_get_monotonic_time() - began) / G_USEC_PER_SEC, <, 60);
        g_assert_true(edits ? edits->len == 100 : error != NULL && n > 1000);
    }
}

static void test_refused(void)
{
    g_autoptr(GError) error = NULL;
    const WsImportHints hints = { 0 };
    g_assert_null(ws_import_edits("x", 1, "k.ptx", WS_IMPORT_PTX, &hints, 10, &error));
    g_assert_error(error, WS_IMPORT_ERROR, WS_IMPORT_ERROR_READ);
    g_clear_error(&error);
    g_assert_null(ws_import_edits("def (", 5, "k.py", WS_IMPORT_GLUON, &hints, 10, &error));
    g_assert_nonnull(error);
    g_clear_error(&error);
    static const char *const odd[] = {
        "",
        "\n",
        "import triton",
        "@gluon.jit\ndef f(): mbarrier.wait(b, 0)",
        "@gluon.jit\ndef f():\n\tmbarrier.wait(b, 0)\n\tmbarrier.arrive(b)\n",
        "@gluon.jit\ndef f():\n    mbarrier.wait(b, 0); mbarrier.arrive(b)\n",
        "@gluon.jit\ndef f():\n    if a: mbarrier.wait(b, 0)\n    elif c:\n        "
        "mbarrier.arrive(b)\n    else:\n        mbarrier.wait(b, (\n            0))",
        "@gluon.jit\ndef f():\n    mbarrier.wait(b.index(0), \"# (\" 'x')\n    while a:\n        "
        "mbarrier.arrive()\n",
        "@gluon.jit\ndef f():\n    mbarrier.wait(99999999999999999999, 999999999)\n",
    };
    for (guint i = 0; i < G_N_ELEMENTS(odd); i++) {
        GPtrArray *edits =
            ws_import_edits(odd[i], strlen(odd[i]), "k.py", WS_IMPORT_GLUON, &hints, 1000, &error);
        g_assert_no_error(error);
        for (guint k = 0; k < edits->len; k++) {
            g_autofree char *edited = ws_import_edited(odd[i], edits->pdata[k]);
            fits(odd[i], edited);
        }
        g_ptr_array_unref(edits);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/edits/differences", test_differences);
    g_test_add_func("/edits/long-difference", test_long_difference);
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *name = g_strdup_printf("/edits/of/%s", kernels[i].file);
        g_test_add_data_func(name, &kernels[i], test_edits);
    }
    for (guint i = 0; i < G_N_ELEMENTS(undone); i++) {
        g_autofree char *name = g_strdup_printf("/edits/undone/%u", i);
        g_test_add_data_func(name, &undone[i], test_undone);
    }
    g_test_add_func("/edits/no-value-yet", test_unbound);
    g_test_add_func("/edits/field-outside", test_field);
    g_test_add_func("/edits/long", test_long);
    g_test_add_func("/edits/refused", test_refused);
    return g_test_run();
}
