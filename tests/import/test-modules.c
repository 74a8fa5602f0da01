/* Files beside a text that it imports from: what is imported means what it means in Python, or is
 * not taken, with the reason; and what stands there is told by the name of its file. */
#include "judge/judge.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "remove.h"

#include "codegen/python/python.h"

#include <string.h>

/* The text that is exported of the design, with its two helpers cut out. */
typedef struct {
    char *dir;
    char *whole, *rest, *dealt, *tile_at;
} Folder;

static const char head[] = "from triton.experimental import gluon\n"
                           "from triton.experimental.gluon import language as gl\n\n\n";

static char *cut(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from), *end = at ? strstr(at, to) : NULL;
    g_assert_nonnull(end);
    char *own = g_strndup(at, (gsize)(end - at));
    memmove(at, end, strlen(end) + 1);
    return own;
}

static void set_up(Folder *f, gconstpointer unused)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_load(WS_SOURCE_ROOT "/projects/gemm-gfx950/design.wstave", findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(p);
    f->whole = ws_generate_gluon(p, FALSE, NULL, &error);
    g_assert_no_error(error);
    f->rest = g_strdup(f->whole);
    f->dealt = cut(f->rest, "@gluon.jit\ndef dealt(", "def fits(");
    f->tile_at = cut(f->rest, "@gluon.jit\ndef tile_at(", "@gluon.jit\ndef all_(");
    f->dir = g_dir_make_tmp("warpstave-XXXXXX", &error);
    g_assert_no_error(error);
}

static void tear_down(Folder *f, gconstpointer unused)
{
    remove_tree(f->dir);
    g_free(f->dir);
    g_free(f->whole);
    g_free(f->rest);
    g_free(f->dealt);
    g_free(f->tile_at);
}

static void put(const Folder *f, const char *name, const char *text, ...)
{
    g_autofree char *path = g_build_filename(f->dir, name, NULL), *in = g_path_get_dirname(path);
    g_autoptr(GString) all = g_string_new(text);
    va_list more;
    va_start(more, text);
    for (const char *next; (next = va_arg(more, const char *));)
        g_string_append(all, next);
    va_end(more);
    g_mkdir_with_parents(in, 0700);
    g_assert_true(g_file_set_contents(path, all->str, -1, NULL));
}

/* The text, its line `import torch` followed by other ones. */
static char *kernel_with(const Folder *f, const char *imports)
{
    GString *s = g_string_new(f->rest);
    g_autofree char *lines = g_strconcat("import torch\n", imports, "\n", NULL);
    g_assert_cmpuint(g_string_replace(s, "import torch\n", lines, 1), ==, 1);
    return g_string_free(s, FALSE);
}

static void judge_in(const Folder *f, const char *text, const char *folder, char **modules,
                     WsJudged *k)
{
    g_autoptr(GError) error = NULL;
    const WsImportOptions how = { .folder = folder ? folder : f->dir, .modules = modules };
    ws_judge_text(text, strlen(text), "kernel.py", WS_IMPORT_GLUON, &how, NULL, k, &error);
    g_assert_no_error(error);
    ws_import_locate(k->design, k->findings);
}

static void judge(const Folder *f, const char *text, WsJudged *k)
{
    judge_in(f, text, NULL, NULL, k);
}

static gboolean is_unread(const WsJudged *k, const char *what)
{
    gboolean found = FALSE;
    for (guint i = 0; i < k->import->unread->len; i++) {
        const WsUnread *u = k->import->unread->pdata[i];
        g_test_message("%u: %s", u->line, u->what);
        found |= strstr(u->what, what) != NULL;
    }
    return found;
}

static void assert_proved(const Folder *f, const char *text)
{
    g_auto(WsJudged) k = { 0 };
    judge(f, text, &k);
    g_assert_false(is_unread(&k, "\n"));
    g_assert_cmpint(k.verdict->kind, ==, WS_VERDICT_PROVED);
}

static void assert_left(const Folder *f, const char *imports, const char *why)
{
    g_autofree char *text = kernel_with(f, imports);
    g_auto(WsJudged) k = { 0 };
    judge(f, text, &k);
    g_assert_true(is_unread(&k, why));
    g_assert_cmpint(k.verdict->kind, ==, WS_VERDICT_OUTSIDE);
}

/* --- what is taken ----------------------------------------------------------------------------*/

/* The same program as of one file, and it is said what it was read with. */
static void test_same(Folder *f, gconstpointer unused)
{
    g_autofree char *text = kernel_with(f, "from common import dealt, tile_at");
    put(f, "common.py", head, f->dealt, "\n\n", f->tile_at, NULL);
    g_auto(WsJudged) one = { 0 }, two = { 0 };
    judge(f, f->whole, &one);
    judge(f, text, &two);
    g_assert_cmpint(two.verdict->kind, ==, WS_VERDICT_PROVED);
    g_autofree char *a = ws_program_print(one.program), *b = ws_program_print(two.program);
    g_assert_cmpstr(a, ==, b);
    g_assert_true(g_ptr_array_find_with_equal_func(
        two.import->granted, "what is imported from common.py is what that file says", g_str_equal,
        NULL));
    g_assert_cmpuint(one.import->granted->len + 1, ==, two.import->granted->len);
}

static void test_forms(Folder *f, gconstpointer unused)
{
    static const struct {
        const char *file, *imports, *from, *to;
    } forms[] = {
        { "common.py", "from .common import dealt, tile_at", "", "" },
        { "of/common.py", "from of.common import dealt, tile_at", "", "" },
        { "of/common.py", "from .of.common import (\n    dealt,\n    tile_at,\n)", "", "" },
        { "common.py", "from common import dealt, tile_at as where", "= tile_at(", "= where(" },
        { "common.py", "from common import tile_at\nfrom common import dealt", "", "" },
    };
    put(f, "__init__.py", "", NULL); /* what is run itself lies in no package */
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        g_autofree char *text = kernel_with(f, forms[i].imports);
        GString *s = g_string_new(text);
        if (*forms[i].from)
            g_assert_cmpuint(g_string_replace(s, forms[i].from, forms[i].to, 0), ==, 1);
        put(f, forms[i].file, head, f->dealt, "\n\n", f->tile_at, NULL);
        assert_proved(f, s->str);
        g_string_free(s, TRUE);
    }
}

/* Files that import from each other, one by two; constants; what runs only as a program. */
static void test_chain(Folder *f, gconstpointer unused)
{
    put(f, "sizes.py", "HEIGHT = 8\n", NULL);
    put(f, "dies.py", "from sizes import HEIGHT\n", head, f->dealt,
        "\n\nif __name__ == \"__main__\":\n    dealt = None\n", NULL);
    g_autoptr(GString) grouped = g_string_new(f->tile_at);
    g_assert_cmpuint(g_string_replace(grouped, "gl.minimum(n_tm - first, 8)",
                                      "gl.minimum(n_tm - first, HEIGHT)", 0),
                     ==, 1);
    put(f, "groups.py", "from sizes import HEIGHT\n", head, grouped->str, NULL);
    g_autofree char *text = kernel_with(f, "from dies import dealt\nfrom groups import tile_at");
    assert_proved(f, text);
}

/* Parameters and names of functions are no names of a file. */
static void test_locals(Folder *f, gconstpointer unused)
{
    g_autofree char *text =
        kernel_with(f, "from common import dealt, tile_at\nn_tm = 3\ntile = 5\nchunk = 7\nx = 9");
    put(f, "common.py", head, f->dealt, "\n\n", f->tile_at,
        "\n\ndef unused(own):\n    return [x for x in own] + [tm for tm in own]\n", NULL);
    assert_proved(f, text);
}

static void test_elsewhere(Folder *f, gconstpointer unused)
{
    g_autofree char *text = kernel_with(f, "from common import dealt, tile_at"), *other = NULL;
    put(f, "utils/common.py", head, f->dealt, "\n\n", f->tile_at, NULL);
    put(f, "kernels/kernel.py", text, NULL);
    put(f, "kernels/__init__.py", "", NULL);
    other = g_build_filename(f->dir, "utils", NULL);
    g_autofree char *own = g_build_filename(f->dir, "kernels", NULL);
    char *modules[] = { other, NULL };
    g_auto(WsJudged) without = { 0 }, with = { 0 }, up = { 0 };
    judge_in(f, text, own, NULL, &without);
    g_assert_cmpint(without.verdict->kind, ==, WS_VERDICT_OUTSIDE);
    judge_in(f, text, own, modules, &with);
    g_assert_cmpint(with.verdict->kind, ==, WS_VERDICT_PROVED);
    g_autofree char *higher = kernel_with(f, "from ..utils.common import dealt, tile_at");
    judge_in(f, higher, own, NULL, &up);
    g_assert_cmpint(up.verdict->kind, ==, WS_VERDICT_PROVED);
}

/* A partition and what it calls, of each language that is read. */
static void test_languages(Folder *f, gconstpointer unused)
{
    static const struct {
        WsImportFrom from;
        char *(*made)(const WsProgram *p, gboolean checked, const WsPyJudge *judge, GError **error);
        const char *jit;
    } languages[] = {
        { WS_IMPORT_GLUON, ws_generate_gluon, "@gluon.jit\n" },
        { WS_IMPORT_TLE, ws_generate_tle, "@triton.jit\n" },
        { WS_IMPORT_TLX, ws_generate_tlx, "@triton.jit\n" },
    };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_load(WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave", findings);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    for (guint i = 0; i < G_N_ELEMENTS(languages); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *whole = languages[i].made(p, FALSE, NULL, &error), *rest = g_strdup(whole),
                        *copy = g_strdup(whole),
                        *from = g_strconcat(languages[i].jit, "def tile_at(", NULL),
                        *to = g_strconcat(languages[i].jit, "def mma(", NULL);
        g_autofree char *role = cut(rest, from, to), *imports = cut(copy, "\nimport ", "\n\n\n");
        GString *s = g_string_new(rest);
        g_string_replace(s, "\nimport torch\n", "\nimport torch\nfrom roles import load, tile_at\n",
                         1);
        put(f, "roles.py", imports, "\n\n\n", role, NULL);
        g_auto(WsJudged) one = { 0 }, two = { 0 };
        const WsImportOptions how = { .folder = f->dir };
        ws_judge_text(whole, strlen(whole), "k.py", languages[i].from, NULL, NULL, &one, &error);
        ws_judge_text(s->str, s->len, "k.py", languages[i].from, &how, NULL, &two, &error);
        g_assert_no_error(error);
        g_assert_false(is_unread(&two, "\n"));
        g_assert_cmpint(two.verdict->kind, ==, WS_VERDICT_PROVED);
        g_autofree char *a = ws_program_print(one.program), *b = ws_program_print(two.program);
        g_assert_cmpstr(a, ==, b);
        g_string_free(s, TRUE);
    }
}

/* --- what stands in them ----------------------------------------------------------------------*/

/* A wait that lets too much stay is in the helper: the finding names its file and line. */
static void test_refuted(Folder *f, gconstpointer unused)
{
    g_autofree char *text = kernel_with(f, "from common import dealt, tile_at, waited, fetched");
    g_autoptr(GString) s = g_string_new(text);
    g_assert_cmpuint(
        g_string_replace(s, "        async_copy.wait_group(2)\n", "        waited()\n", 0), ==, 1);
    g_assert_cmpuint(g_string_replace(s,
                                      "            fa = async_copy.load_shared_relaxed(a.index(k % "
                                      "NB), gl.DotOperandLayout(0, mma_256, 8))\n",
                                      "            fa = fetched(a, k % NB, mma_256)\n", 0),
                     ==, 1);
    static const char with[] =
        "from triton.experimental.gluon.language.amd.cdna4 import async_copy\n\n\n"
        "@gluon.jit\ndef waited():\n    async_copy.wait_group(%d)\n\n\n"
        "@gluon.jit\ndef fetched(ring, slot, sums: gl.constexpr):\n"
        "    return async_copy.load_shared_relaxed(ring.index(slot), gl.DotOperandLayout(0, sums, "
        "8))\n";
    for (guint n = 2; n <= 4; n += 2) {
        g_autofree char *more = g_strdup_printf(with, n);
        put(f, "common.py", head, f->dealt, "\n\n", f->tile_at, more, NULL);
        g_auto(WsJudged) k = { 0 };
        judge(f, s->str, &k);
        g_assert_cmpint(k.verdict->kind, ==, n == 2 ? WS_VERDICT_PROVED : WS_VERDICT_REFUTED);
        gboolean named = FALSE;
        for (guint i = 0; i < k.findings->list->len; i++) {
            const WsFinding *found = k.findings->list->pdata[i];
            g_test_message("%u: %s", found->line, found->message);
            if (found->severity == WS_SEVERITY_ERROR && strstr(found->message, "(common.py:")) {
                named = TRUE;
                g_auto(GStrv) line = g_strsplit(s->str, "\n", -1);
                g_assert_true(g_str_has_prefix(line[found->line - 1], "from common import"));
            }
        }
        g_assert_true(named == (n == 4));
    }
}

static void test_unread(Folder *f, gconstpointer unused)
{
    put(f, "common.py", head, f->tile_at, "\n\n@gluon.jit\n",
        "def dealt(cta, n_tiles, dies: gl.constexpr, chunk: gl.constexpr):\n",
        "    return gl.something(cta)\n", NULL);
    assert_left(f, "from common import dealt, tile_at", "something` (common.py:");
}

/* --- what is left -----------------------------------------------------------------------------*/

static void test_left(Folder *f, gconstpointer unused)
{
    static const char take[] = "from common import dealt, tile_at";
    assert_left(f, "from .common import dealt, tile_at",
                "lies in no package, and Python refuses it");
    put(f, "common.py", head, f->dealt, "\n\n", f->tile_at, NULL);
    assert_left(f, "from .common import dealt, tile_at",
                "lies in no package, and Python refuses it");
    put(f, "first.py", "from .common import dealt, tile_at\n", NULL);
    assert_left(f, "from first import dealt, tile_at", "lies in no package, and Python refuses it");
    put(f, "inner/second.py", "from ..common import dealt, tile_at\n", NULL);
    assert_left(f, "from inner.second import dealt, tile_at",
                "lies in fewer packages, and Python refuses it");
    put(f, "__init__.py", "", NULL);
    assert_left(f, "from .nothing import dealt, tile_at",
                "(`.nothing` is not read: no such file lies beside kernel.py)");
    assert_left(f, "from nothing import dealt, tile_at", "`nothing.dealt");
    put(f, "common.py", head, f->dealt, NULL);
    assert_left(f, take, "common.py binds no `tile_at` at its outermost level");
    put(f, "common.py", head, f->dealt, "\n\nif dealt:\n    def tile_at(:\n", NULL);
    assert_left(f, take, "common.py:");
    put(f, "common.py", head, f->dealt, f->tile_at, "\nx = __name__\n", NULL);
    assert_left(f, take, "what it does hangs on `__name__`");
    put(f, "common.py", head, f->dealt, f->tile_at, NULL);
    assert_left(f, "from common import *", "all names of another module");
    /* names of two files: of a function, of a constant, of one that Python itself has */
    assert_left(f, "from common import dealt\n\n\ndef tile_at(*x):\n    return x\n",
                "`tile_at` is another name in common.py than in kernel.py");
    put(f, "common.py", head, f->dealt, f->tile_at, "\nfits = None\n", NULL);
    assert_left(f, take, "`fits` is another name in common.py than in kernel.py");
    put(f, "common.py", head, f->dealt, f->tile_at, "\n\ndef range(n):\n    return n\n", NULL);
    assert_left(f, take, "`range` is another name in common.py than in kernel.py");
    put(f, "common.py", "import torch as math\n", head, f->dealt, f->tile_at, NULL);
    assert_left(f, take, "`math` is another name in common.py than in kernel.py");
    put(f, "common.py", head, f->dealt, f->tile_at, NULL);
    assert_left(f, "from common import tile_at, dealt as range", "`dealt` is another name");
}

/* A name that a helper takes from its own file is not that of the kernel's. */
static void test_own_constant(Folder *f, gconstpointer unused)
{
    g_autoptr(GString) grouped = g_string_new(f->tile_at);
    g_string_replace(grouped, "gl.minimum(n_tm - first, 8)", "gl.minimum(n_tm - first, HEIGHT)", 0);
    put(f, "common.py", head, "HEIGHT = 4\n", f->dealt, grouped->str, NULL);
    assert_left(f, "from common import dealt, tile_at\nHEIGHT = 8",
                "`HEIGHT` is another name in common.py than in kernel.py");
}

/* Python looks beside the text that is run, not beside the one that imports; a package goes before
 * a file and runs its own file first. */
static void test_packages(Folder *f, gconstpointer unused)
{
    static const char imports[] = "from pkg.a import dealt, tile_at";
    g_autofree char *text = kernel_with(f, imports);
    put(f, "pkg/u.py", "dealt = 1\n", NULL);
    put(f, "u.py", head, f->dealt, "\n\n", f->tile_at, NULL);
    put(f, "pkg/a.py", "from u import dealt, tile_at\n", NULL);
    assert_proved(f, text);
    put(f, "pkg/__init__.py", "# nothing\n\n", NULL);
    assert_proved(f, text);
    put(f, "pkg/__init__.py", "from . import a\na.dealt = 1\n", NULL);
    assert_left(f, imports, "pkg/__init__.py is run before it");
    put(f, "u/__init__.py", "", NULL);
    assert_left(f, "from u import dealt, tile_at", "u is a package, too");
    put(f, "more/b.py", head, f->dealt, "\n\n", f->tile_at, NULL);
    put(f, "more.py", "", NULL);
    assert_left(f, "from more.b import dealt, tile_at", "more.py is a file, too");
}

/* Names that Python finds elsewhere. */
static void test_elsewhere_first(Folder *f, gconstpointer unused)
{
    g_autofree char *other = g_build_filename(f->dir, "other", NULL);
    g_autofree char *text = kernel_with(f, "from pk.c import dealt, tile_at");
    char *modules[] = { other, NULL };
    put(f, "pk/c.py", head, f->dealt, "\n\n", f->tile_at, NULL);
    put(f, "other/empty.py", "", NULL);
    g_auto(WsJudged) one = { 0 }, two = { 0 };
    judge_in(f, text, NULL, modules, &one);
    g_assert_cmpint(one.verdict->kind, ==, WS_VERDICT_PROVED);
    put(f, "other/pk/__init__.py", "", NULL);
    judge_in(f, text, NULL, modules, &two);
    g_assert_true(is_unread(&two, "pk lies in more than one folder"));
    put(f, "errno.py", head, f->dealt, "\n\n", f->tile_at, NULL);
    assert_left(f, "from errno import dealt, tile_at", "Python has a module errno itself");
    put(f, "u.py", head, f->dealt, "\n\n", f->tile_at, NULL);
    put(f, "u.cpython-311-x86_64-linux-gnu.so", "", NULL);
    assert_left(f, "from u import dealt, tile_at", "u is a compiled module, too");
    put(f, "v.py", head, f->dealt, NULL);
    put(f, "w.py", head, f->tile_at, NULL);
    g_autofree char *line = kernel_with(f, "from v import dealt; from w import tile_at");
    assert_proved(f, line);
}

static void test_texts(Folder *f, gconstpointer unused)
{
    static const char imports[] = "from common import dealt, tile_at";
    g_autofree char *text = kernel_with(f, imports);
    put(f, "common.py", "\xef\xbb\xbf", head, f->dealt, "\n\n", f->tile_at, NULL);
    assert_proved(f, text);
    put(f, "common.py", head, f->dealt, "\n\n", f->tile_at,
        "\n\nif __name__ == \"__main__\":\n    dealt = 1\n", NULL);
    assert_proved(f, text);
    put(f, "common.py", head, f->dealt, "\n\n", f->tile_at,
        "\n\nif __name__ == \"common\":\n    dealt = 1\n", NULL);
    assert_left(f, imports, "`__name__`");
    put(f, "common.py", "# coding: utf-7\n", head, f->dealt, "\n\n", f->tile_at, NULL);
    assert_left(f, imports, "its encoding is declared");
    put(f, "of/__init__.py", "# nothing\rimport of.common\n", NULL);
    put(f, "of/common.py", head, f->dealt, "\n\n", f->tile_at, NULL);
    assert_left(f, "from of.common import dealt, tile_at", "of/__init__.py is run before it");
}

static void test_circle(Folder *f, gconstpointer unused)
{
    put(f, "common.py", "from other import dealt\n", head, f->tile_at, NULL);
    put(f, "other.py", "from common import tile_at\n", head, f->dealt, NULL);
    assert_left(f, "from common import dealt, tile_at",
                "common.py imports from itself, through other.py");
    put(f, "other.py", "from kernel import fits\n", head, f->dealt, NULL);
    put(f, "kernel.py", "", NULL);
    assert_left(f, "from common import dealt, tile_at",
                "kernel.py imports from itself, through other.py");
}

static void test_many(Folder *f, gconstpointer unused)
{
    for (guint i = 0; i < 20; i++) {
        g_autofree char *name = g_strdup_printf("m%u.py", i),
                        *next = g_strdup_printf("from m%u import dealt, tile_at\n", i + 1);
        put(f, name, i < 19 ? next : head, i < 19 ? "" : f->dealt, i < 19 ? "" : f->tile_at, NULL);
    }
    assert_left(f, "from m0 import dealt, tile_at", "`m16` is not read: more than 16 files");
    g_autofree char *text = kernel_with(f, "from m12 import dealt, tile_at");
    assert_proved(f, text);
    g_autofree char *large = g_strnfill(WS_IMPORT_MAX_BYTES / 8, '#');
    put(f, "common.py", head, f->dealt, f->tile_at, large, NULL);
    assert_left(f, "from common import dealt, tile_at", "bytes");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(Folder *f, gconstpointer unused);
    } tests[] = {
        { "same", test_same },
        { "forms", test_forms },
        { "chain", test_chain },
        { "locals", test_locals },
        { "elsewhere", test_elsewhere },
        { "refuted", test_refuted },
        { "unread", test_unread },
        { "left", test_left },
        { "own-constant", test_own_constant },
        { "languages", test_languages },
        { "packages", test_packages },
        { "elsewhere-first", test_elsewhere_first },
        { "texts", test_texts },
        { "circle", test_circle },
        { "many", test_many },
    };
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_autofree char *path = g_strdup_printf("/import/modules/%s", tests[i].name);
        g_test_add(path, Folder, NULL, set_up, tests[i].test, tear_down);
    }
    return g_test_run();
}
