/* Names that a package can have: none of what its C and Python declare themselves, by their
 * templates; and what replaces a package that stands in a folder. */
#include "base/folder.h"
#include "package/name.h"
#include "package/package.h"
#include "package_test.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static void test_refused(void)
{
    static const struct {
        const char *name, *why;
    } rows[] = {
        { "", "no identifier" },
        { "a-b", "no identifier" },
        { "3d", "no identifier" },
        { "a b", "no identifier" },
        { "\303\251t\303\251", "no identifier" },
        { "class", "word of Python" },
        { "class_", "word of Python" },
        { "print", "word of Python" },
        { "torch", "module that Python or torch has" },
        { "random", "module that Python or torch has" },
        { "_gemm", "begin with _" },
        { "int", "word of" },
        { "register", "word of C" },
        { "malloc", "word of C" },
        { "pthread_kernel", "C library" },
        { "kernel_t", "C library" },
        { "system", "C library" },
        { "cuGemm", "begin so" },
        { "Python", "begin so" },
        { "bench", "package's own" },
        { "kernel", "package's own" },
        { "gemm", NULL },
        { "kernels", NULL },
        { "cutlass_gemm", NULL },
        { "G2", NULL },
        { "attention_d128_", NULL },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *why = ws_package_name_problem(rows[i].name);
        if (!rows[i].why != !why || (why && !strstr(why, rows[i].why)))
            g_error("%s: %s", rows[i].name, why ? why : "accepted");
    }
    g_assert_null(ws_package_folder_problem("kernel")); /* a folder is a name of Python alone */
    g_assert_null(ws_package_folder_problem("_attention"));
    g_assert_nonnull(ws_package_folder_problem("my-attention"));
    g_assert_nonnull(ws_package_folder_problem("yield"));
    g_assert_nonnull(ws_package_folder_problem(".."));
}

/* What a template declares at the begin of a line. */
static guint declared(const char *file, const char *pattern)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "resources/package", file, NULL),
                    *text = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_MULTILINE, 0, &error);
    g_assert_no_error(error);
    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(GMatchInfo) match = NULL;
    guint n = 0;
    g_regex_match(regex, text, 0, &match);
    for (; g_match_info_matches(match); n++) {
        g_autofree char *name = g_match_info_fetch(match, 1);
        if (!ws_package_name_problem(name))
            g_error("%s declares %s, which a package may be called", file, name);
        g_match_info_next(match, NULL);
    }
    return n;
}

static void test_declared(void)
{
    static const char python[] =
        "^(?:def |class |import |from \\. import )?([A-Za-z]\\w*)(?= = |\\(|:$|$)",
                      c[] = "^static (?:[\\w*@]+ )*\\**(\\w+)(?=\\(|\\[|;| =)",
                      type[] = "^\\} (\\w+)(?=;|\\[)";
    static const char *const modules[] = { "module.py.in", "common.py.in", "pair.py.in",
                                           "bench.py.in" },
                             *const sources[] = { "launcher.c.in", "rule.c.in", "hip.c.in",
                                                  "python.c.in" };
    for (guint i = 0; i < G_N_ELEMENTS(modules); i++)
        declared(modules[i], python);
    guint n = 0;
    for (guint i = 0; i < G_N_ELEMENTS(sources); i++)
        n += declared(sources[i], c) + declared(sources[i], type);
    g_assert_cmpuint(n, >, 50);
    g_assert_cmpuint(declared("arithmetic.c.in", "^static inline \\w+ (\\w+)\\("), >, 8);
}

/* A package that was imported, or stands behind a link, is replaced; what somebody put there is
 * not. */
static void test_again(void)
{
    g_autofree char *dir = package_folder(), *to = g_build_filename(dir, "p", NULL),
                    *cache = g_build_filename(to, "__pycache__", NULL),
                    *compiled = g_build_filename(cache, "p.cpython-311.pyc", NULL),
                    *own = g_build_filename(cache, "notes.txt", NULL),
                    *link = g_build_filename(dir, "link", NULL);
    for (guint round = 0; round < 4; round++) {
        g_autoptr(GError) error = NULL;
        if (round == 1) { /* Python kept a module */
            g_assert_cmpint(g_mkdir(cache, 0755), ==, 0);
            g_assert_true(g_file_set_contents(compiled, "pyc", 3, NULL));
        }
        if (round == 2) /* a link to it */
            g_assert_cmpint(symlink("p", link), ==, 0);
        if (round == 3) { /* somebody's file is in it */
            g_assert_cmpint(g_mkdir(cache, 0755), ==, 0);
            g_assert_true(g_file_set_contents(own, "mine", 4, NULL));
        }
        const char *where = round == 2 ? link : to;
        g_assert_true(ws_folder_check(where, WS_PACKAGE_MARK, "a package", &error));
        g_autofree char *part = ws_folder_begin(where, WS_PACKAGE_MARK, "a package", &error);
        g_assert_no_error(error);
        g_assert_true(ws_folder_put_text(part, WS_PACKAGE_MARK, "mark", &error));
        const gboolean done = ws_folder_commit(part, where, "a package", &error);
        g_assert_cmpint(done, ==, round < 3);
        g_assert_cmpint(g_file_test(cache, G_FILE_TEST_EXISTS), ==, round == 3);
        g_assert_cmpint(g_file_test(link, G_FILE_TEST_IS_SYMLINK), ==, round >= 2);
        if (!done)
            ws_folder_remove(part);
        g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
        const char *name;
        while ((name = g_dir_read_name(d))) /* nothing is left beside it */
            g_assert_true(g_str_equal(name, "p") || g_str_equal(name, "link"));
    }
    g_unlink(own);
    g_rmdir(cache);
    g_unlink(link);
    package_remove(to);
    package_remove(dir);
}

/* Text of a design in a table of the README. */
static void test_cell(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    ws_package_cell(out, "a|b\nc\td || e");
    g_assert_cmpstr(out->str, ==, "a\\|b c d \\|\\| e");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/package/names/refused", test_refused);
    g_test_add_func("/package/names/declared", test_declared);
    g_test_add_func("/package/names/again", test_again);
    g_test_add_func("/package/names/cell", test_cell);
    return g_test_run();
}
