/* The reader of Python: its tree, its errors with line and column, its limits. */
#include "import/import.h"
#include "import/python/text/python.h"

#include <string.h>

static const struct {
    const char *name, *text, *tree;
} trees[] = {
    { "precedence", "x = a + b * c % 2 << 1 & ~d\n",
      "block @1:1\n  assign @1:1\n    name x @1:1\n    binary & @1:5\n      binary << @1:5\n"
      "        binary + @1:5\n          name a @1:5\n          binary % @1:9\n"
      "            binary * @1:9\n              name b @1:9\n              name c @1:13\n"
      "            int 2 @1:17\n        int 1 @1:22\n      unary ~ @1:26\n        name d @1:27\n" },
    { "chained", "a < b < c\n",
      "block @1:1\n  expr @1:1\n    binary and @1:1\n      binary < @1:1\n        name a @1:1\n"
      "        name b @1:5\n      binary < @1:1\n        name b @1:5\n        name c @1:9\n" },
    { "call", "f(x, n=1, *r)[0, :].g\n",
      "block @1:1\n  expr @1:1\n    attr g @1:1\n      index @1:1\n        call @1:1\n"
      "          name f @1:1\n          name x @1:3\n          keyword n @1:6\n            int 1 "
      "@1:8\n"
      "          star * @1:11\n            name r @1:12\n        tuple @1:15\n          int 0 "
      "@1:15\n"
      "          slice @1:18\n            const None @1:18\n            const None @1:19\n"
      "            const None @1:19\n" },
    { "blocks", "if a:\n    b\nelif c: d\nelse:\n  e\n",
      "block @1:1\n  if @1:1\n    name a @1:4\n    block @1:5\n      expr @2:5\n        name b "
      "@2:5\n"
      "    block @3:1\n      if @3:1\n        name c @3:6\n        block @3:7\n          expr "
      "@3:9\n"
      "            name d @3:9\n        block @4:5\n          expr @5:3\n            name e "
      "@5:3\n" },
    { "f-string", "f'{{a}} {b[\"c\"]!r:>{d}} {e == f=}'\n",
      "block @1:1\n  expr @1:1\n    string f\"{{a}} {b[\"c\"]!r:>{d}} {e == f=}\" @1:1\n"
      "      index @1:1\n        name b @1:1\n        string \"c\" @1:3\n      name d @1:1\n"
      "      binary == @1:1\n        name e @1:1\n        name f @1:6\n" },
    { "clauses", "[a for b in c if d for e in f]\n",
      "block @1:1\n  expr @1:1\n    list @1:1\n      comp @1:1\n        name a @1:2\n"
      "        clause @1:4\n          name b @1:8\n          name c @1:13\n          name d @1:18\n"
      "        clause @1:20\n          name e @1:24\n          name f @1:29\n" },
    { "notes", "x: f() = 1\nlambda a=g(): a\n",
      "block @1:1\n  assign @1:1\n    name x @1:1\n    int 1 @1:10\n  noted @1:1\n    call @1:4\n"
      "      name f @1:4\n  expr @2:1\n    lambda @2:1\n      params @2:8\n        param a @2:8\n"
      "          const None @2:9\n          call @2:10\n            name g @2:10\n      name a "
      "@2:15\n" },
    { "def", "@jit\ndef f(a, b: int = 2, *, c):\n    return a,\n",
      "block @1:1\n  def f @2:1\n    params @2:7\n      param a @2:7\n        const None @2:8\n"
      "        const None @2:8\n      param b @2:10\n        name int @2:13\n        int 2 @2:19\n"
      "      param * @2:22\n        const None @2:23\n        const None @2:23\n      param c "
      "@2:25\n"
      "        const None @2:26\n        const None @2:26\n    block @2:27\n      return @3:5\n"
      "        tuple @3:12\n          name a @3:12\n    name jit @1:2\n" },
};

static void print_node(const WsPyNode *node, guint depth, GString *out)
{
    g_string_append_printf(out, "%*s%s", (int)depth * 2, "", ws_python_kind_text(node->kind));
    if (node->kind == WS_PY_INT)
        g_string_append_printf(out, " %" G_GINT64_FORMAT, node->i);
    else if (node->text)
        g_string_append_printf(out, " %s", node->text);
    g_string_append_printf(out, " @%u:%u\n", node->line, node->column);
    for (guint i = 0; i < node->n; i++)
        print_node(node->kid[i], depth + 1, out);
}

/* The tree as nested text, one node per line. Caller frees. */
static char *print(const WsPyNode *node)
{
    GString *out = g_string_new(NULL);
    print_node(node, 0, out);
    return g_string_free(out, FALSE);
}

static void test_tree(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autoptr(GError) error = NULL;
    g_autoptr(WsPython) p = ws_python_parse(trees[i].text, strlen(trees[i].text), "t.py", &error);
    g_assert_no_error(error);
    g_autofree char *tree = print(ws_python_module(p));
    g_assert_cmpstr(tree, ==, trees[i].tree);
}

static const struct {
    const char *text, *says;
} bad[] = {
    { "x = (1,\n", "t.py:2:1: the file ends inside a bracket '('" },
    { "if a:\nb\n", "t.py:2:1: 'b' where an indented block is expected" },
    { "if a:\n    b\n  c\n", "t.py:3:3: this line is indented like no block" },
    { "x = 'abc\n", "t.py:1:5: a string begins here and does not end" },
    { "x = )\n", "t.py:1:5: ')' closes no bracket of its kind" },
    { "def (x):\n  pass\n", "t.py:1:5: '(' where" },
    { "x = 1 +\n", "t.py:1:8: the line ends where an expression is expected" },
    { "a b\n", "t.py:1:3: 'b' where the end of the line is expected" },
    { "x = \xff\n", "t.py:1:1: the line holds bytes that are not UTF-8 text" },
    { "x = $\n", "t.py:1:5: the character 0x24 is no Python" },
};

static void test_bad(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(WsPython) p = ws_python_parse(bad[i].text, strlen(bad[i].text), "t.py", &error);
        g_assert_null(p);
        g_assert_error(error, WS_PYTHON_ERROR, WS_PYTHON_ERROR_SYNTAX);
        if (!g_str_has_prefix(error->message, bad[i].says))
            g_test_message("%s\nis not\n%s", error->message, bad[i].says);
        g_assert_true(g_str_has_prefix(error->message, bad[i].says));
    }
}

/* Nesting of all kinds, long chains, long files: an error, never a crash. */
static void test_limits(void)
{
    static const struct {
        const char *open, *middle, *close;
        guint n;
    } bombs[] = {
        { "(", "1", ")", 100000 },         { "[", "1", "]", 5000 },
        { "-", "1", "", 200000 },          { "f(", "1", ")", 3000 },
        { "not ", "x", "", 9000 },         { "1 + ", "1", "", 100000 },
        { "x.", "y", "", 100000 },         { "lambda: ", "1", "", 9000 },
        { "1 if ", "1", " else 1", 9000 }, { "if a:\n", "", "", 1 },
        { "x = 1\n", "", "", 180000 },     { "{", "1", "}", 3000 },
        { "1 ** ", "1", "", 100000 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(bombs); i++) {
        GString *text = g_string_new(NULL);
        for (guint k = 0; k < bombs[i].n; k++)
            g_string_append(text, bombs[i].open);
        g_string_append(text, bombs[i].middle);
        for (guint k = 0; k < bombs[i].n; k++)
            g_string_append(text, bombs[i].close);
        g_string_append_c(text, '\n');
        g_autoptr(GError) error = NULL;
        WsPython *p = ws_python_parse(text->str, text->len, "bomb.py", &error);
        g_assert_null(p);
        g_assert_nonnull(strstr(error->message, "bomb.py:"));
        g_string_free(text, TRUE);
    }
}

/* Python outside of the subset, and no kernel at all. */
static void test_no_kernel(void)
{
    static const struct {
        const char *text, *says;
        WsImportFrom from; /* Gluon */
    } files[] = {
        { "x = 1\n", "no function of the file calls warp_specialize" },
        { "def k(N: gl.constexpr):\n    gl.warp_specialize([(f, ())], [], [])\n",
          "k.py:1:7: the constexpr parameter `N` has no value" },
        { "def f(): pass\ndef k():\n    gl.warp_specialize([(f, ())], [4], [])\n",
          "k.py:3:5: 0 workers, 1 warp counts, 0 register counts" },
        { "import triton.experimental.tle.language as tle\n@jit\ndef k(x):\n"
          "    tle.gpu.warp_specialize([(k, (x,))], [4], [24])\n",
          "k.py:4:5: 0 workers, 1 warp counts, 1 register counts", WS_IMPORT_TLE },
        { "def k():\n    gl.warp_specialize(parts, [4], [24])\n",
          "k.py:2:5: a second warp_specialize" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autoptr(GError) error = NULL;
        WsImport *import =
            ws_import_text(files[i].text, strlen(files[i].text), "k.py", files[i].from, &error);
        g_assert_null(import);
        if (!strstr(error->message, files[i].says))
            g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, files[i].says));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(trees); i++) {
        g_autofree char *path = g_strdup_printf("/import/python/tree/%s", trees[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_tree);
    }
    g_test_add_func("/import/python/errors", test_bad);
    g_test_add_func("/import/python/limits", test_limits);
    g_test_add_func("/import/python/no-kernel", test_no_kernel);
    return g_test_run();
}
