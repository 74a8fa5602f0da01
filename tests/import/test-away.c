/* Accesses of global memory that no step stands for: a proof names their lines, or needs none. */
#include "import/import.h"
#include "judge/judge.h"

#include <string.h>

#define HEAD                                                                                       \
    "from triton.experimental import gluon\n"                                                      \
    "from triton.experimental.gluon import language as gl\n"                                       \
    "@gluon.jit\n"                                                                                 \
    "def k(x_ptr, y_ptr, n, BLOCK: gl.constexpr):\n"                                               \
    "    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])\n"                           \
    "    offs = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)\n"
#define TAIL "def run(x, y):\n    k[(9,)](x, y, 99, BLOCK=128, num_warps=4)\n"
#define AT   "accesses to global memory whose addresses were not read (line"

/* What is granted of such accesses; NULL: nothing. */
static const struct {
    const char *title, *body, *granted;
} rows[] = {
    { "in place",
      "    v = gl.load(x_ptr + offs + 1)\n"
      "    gl.store(x_ptr + offs, v)\n",
      AT "s 7 and 8) do not race" },
    { "loaded from elsewhere",
      "    v = gl.load(x_ptr + offs)\n"
      "    gl.store(y_ptr + offs, v)\n",
      AT " 8) do not race" },
    { "all to one place",
      "    v = gl.load(x_ptr + offs)\n"
      "    gl.store(y_ptr, v)\n",
      AT " 8) do not race" },
    { "a counter that is loaded from",
      "    gl.atomic_add(x_ptr, 1)\n"
      "    v = gl.load(x_ptr)\n",
      AT " 8) do not race" },
    { "a counter beside a load",
      "    gl.atomic_add(x_ptr, 1)\n"
      "    v = gl.load(y_ptr)\n",
      NULL },
    { "nothing is stored", "    v = gl.load(x_ptr + offs)\n", NULL },
    { "nothing at all", "    pass\n", NULL },
    { "in place, by another name",
      "    p = x_ptr + offs\n"
      "    q = p + 1\n"
      "    v = gl.load(q)\n"
      "    gl.store(p, v)\n",
      AT "s 9 and 10) do not race" },
    { "in a loop and a branch",
      "    for i in range(n):\n"
      "        v = gl.load(x_ptr + offs + i)\n"
      "        if i > 3:\n"
      "            gl.store(x_ptr + offs, v)\n",
      AT "s 8 and 10) do not race" },
    { "many",
      "    gl.store(x_ptr + offs, offs)\n    gl.store(x_ptr + offs, offs)\n"
      "    gl.store(x_ptr + offs, offs)\n    gl.store(x_ptr + offs, offs)\n"
      "    gl.store(x_ptr + offs, offs)\n    gl.store(x_ptr + offs, offs)\n"
      "    gl.store(x_ptr + offs, offs)\n    gl.store(x_ptr + offs, offs)\n"
      "    gl.store(x_ptr + offs, offs)\n    gl.store(x_ptr + offs, offs)\n",
      AT "s 7, 8, 9, 10, 11, 12, 13, 14 and 2 more) do not race" },
};

static const char *granted(const WsImport *import, const char *begin)
{
    for (guint i = 0; import->granted && i < import->granted->len; i++)
        if (g_str_has_prefix(import->granted->pdata[i], begin))
            return import->granted->pdata[i];
    return NULL;
}

static void test_row(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = g_strconcat(HEAD, rows[i].body, TAIL, NULL);
    g_autoptr(GError) error = NULL;
    WsImport *import = ws_import_text(text, strlen(text), "k.py", WS_IMPORT_GLUON, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(granted(import, AT), ==, rows[i].granted);
    ws_import_free(import);
}

static WsImport *import_file(const char *path, char **text)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    gsize length;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(file, text, &length, &error);
    g_assert_no_error(error);
    WsImport *import = ws_import_text(*text, length, path, WS_IMPORT_PTX, &error);
    g_assert_no_error(error);
    return import;
}

/* Every st.global of a kernel is named, or counted among those that are not. */
static void test_ptx(void)
{
    g_autofree char *text = NULL;
    WsImport *import = import_file("tests/import/ptx/turns.ptx", &text);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    const char *says = granted(import, AT);
    g_assert_nonnull(says);
    guint stores = 0;
    for (guint i = 0; lines[i]; i++) {
        const gboolean access = strstr(lines[i], "st.global") || strstr(lines[i], "ld.global");
        g_autofree char *number = g_strdup_printf("%u", i + 1);
        stores += access;
        g_assert_true(!access || strstr(says, number));
    }
    g_assert_cmpuint(stores, >, 0);
    ws_import_free(import);
}

/* What stands in no function that is called or handed on, and gives nothing back, is a kernel. */
static void test_helpers(void)
{
    static const char text[] = HEAD "    gl.store(y_ptr + offs, gl.reduce(offs, 0, add))\n"
                                    "@gluon.jit\n"
                                    "def add(a, b):\n"
                                    "    return a + b\n"
                                    "@gluon.jit\n"
                                    "def kept(a, b):\n"
                                    "    a = a + b\n"
                                    "@gluon.jit\n"
                                    "def other(x_ptr, kept):\n"
                                    "    gl.store(x_ptr, gl.reduce(kept, 0, kept))\n"
                                    "    return None\n";
    g_autoptr(GError) error = NULL;
    GPtrArray *kernels = ws_import_kernels(text, strlen(text), "k.py", WS_IMPORT_GLUON, &error);
    g_assert_no_error(error);
    g_autofree char *all = g_strdup("");
    for (guint i = 0; i < kernels->len; i++) {
        char *more = g_strconcat(all, all[0] ? " " : "", kernels->pdata[i], NULL);
        g_free(all);
        all = more;
    }
    g_assert_cmpstr(all, ==, "k kept other");
    g_ptr_array_unref(kernels);
}

/* --- what is stated and is not so --------------------------------------------------------------*/

/* Where tests/import/gluon/add.py stores, and whether that may still be called proved. */
static const struct {
    const char *title, *rows;
    gboolean proved;
} places[] = {
    { "as it is", "row", TRUE },
    { "all tiles at one place", "0", FALSE },
    { "two tiles at one place", "row // 2", FALSE },
    { "half of a tile again", "row - row // 2", FALSE },
    { "apart, with gaps", "row * 2", TRUE }, /* written once or never: that is assumed */
    { "backwards", "4064 - row", TRUE },
};

static void test_place(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    static const char stored[] = "z_desc, [row, i * YB]";
    g_autofree char *text = NULL,
                    *file = g_build_filename(WS_SOURCE_ROOT, "tests/import/gluon/add.py", NULL);
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    const char *at = strstr(text, stored);
    g_assert_nonnull(at);
    g_autofree char *changed = g_strdup_printf("%.*sz_desc, [%s, i * YB]%s", (int)(at - text), text,
                                               places[i].rows, at + strlen(stored));
    g_auto(WsJudged) k = { 0 };
    g_autoptr(GError) error = NULL;
    g_assert_true(
        ws_judge_text(changed, strlen(changed), "add.py", WS_IMPORT_GLUON, NULL, NULL, &k, &error));
    g_assert_no_error(error);
    g_assert_cmpint(k.verdict->kind, ==, places[i].proved ? WS_VERDICT_PROVED : WS_VERDICT_OUTSIDE);
    if (!places[i].proved)
        g_assert_nonnull(strstr(k.verdict->reason, "and again by"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/import/away/%s", rows[i].title);
        g_test_add_data_func(g_strdelimit(path, " ,", '-'), GUINT_TO_POINTER(i), test_row);
    }
    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        g_autofree char *path = g_strdup_printf("/import/away/stored/%s", places[i].title);
        g_test_add_data_func(g_strdelimit(path, " ,", '-'), GUINT_TO_POINTER(i), test_place);
    }
    g_test_add_func("/import/away/ptx", test_ptx);
    g_test_add_func("/import/away/helpers", test_helpers);
    return g_test_run();
}
