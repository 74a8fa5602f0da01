/* The law of reading: whatever a kernel holds that the reader does not know, at whatever place, the
 * verdict is neither proved nor refuted. Exports of shipped designs, with one thing planted at a
 * time: a call, a keyword, a context, a decorator. And what is known to change nothing is not
 * held against a kernel. */
#include "../whole.h"
#include "judge.h"
#include "judged.h"

#include <string.h>

static const struct {
    const char *path;
    WsImportFrom language;
    guint every; /* of the places only each n-th */
} kernels[] = {
    { "tests/import/gluon/gemm.py", WS_IMPORT_GLUON, 1 },
    { "tests/import/gluon/add.py", WS_IMPORT_GLUON, 1 },
    { "tests/import/gluon/pipelined.py", WS_IMPORT_GLUON, 1 },
    { "tests/import/tle/pipe.py", WS_IMPORT_TLE, 1 },
    { "tests/import/tlx/gemm.py", WS_IMPORT_TLX, 1 },
    { "projects/gemm-bf16/design.wstave", WS_IMPORT_GLUON, 3 },
    { "projects/gemm-bf16/design.wstave", WS_IMPORT_TLE, 3 },
    { "projects/attention-d128/design.wstave", WS_IMPORT_GLUON, 9 },
    { "tests/designs/attention-tle-pingpong.wstave", WS_IMPORT_TLE, 5 },
};

/* --- places ------------------------------------------------------------------------------------*/

typedef enum { PLANT_CALL, PLANT_KEYWORD, PLANT_CONTEXT, PLANT_DECORATOR, PLANT_N } Plant;

/* How far brackets are open behind the line; strings and remarks do not count. */
static gint opened(const char *line)
{
    gint depth = 0;
    char quote = 0;
    for (const char *c = line; *c && (quote || *c != '#'); c++) {
        if (quote)
            quote = *c == quote ? 0 : quote;
        else if (*c == '"' || *c == '\'')
            quote = *c;
        else
            depth += (strchr("([{", *c) != NULL) - (strchr(")]}", *c) != NULL);
    }
    return depth;
}

static gboolean begins(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (g_str_has_prefix(text, *words))
            return TRUE;
    return FALSE;
}

/* Line `at` with the plant; NULL: it has no place there. `inside`: of a jit function's body. */
static char *planted(const char *line, Plant plant, gboolean inside)
{
    static const char *const calls[] = { "mbarrier.", "tma.", "tle.gpu.", "tlx.", NULL };
    static const char *const blocks[] = { "for ",   "while ", "if ", "else", "elif ", "with ",
                                          "return", "#",      "@",   "def ", ")",     NULL };
    const gsize blanks = strspn(line, " ");
    const char *text = line + blanks;
    const gboolean whole = inside && blanks >= 4 && *text && !opened(line);
    g_autofree char *pad = g_strnfill(blanks, ' ');
    if (plant == PLANT_DECORATOR)
        return g_str_has_prefix(line, "@gluon.jit") || g_str_has_prefix(line, "@triton.jit")
                   ? g_strdup_printf("@mystery\n%s", line)
                   : NULL;
    if (!whole || begins(text, blocks))
        return NULL;
    if (plant == PLANT_CALL)
        return g_strdup_printf("%smystery()\n%s", pad, line);
    if (plant == PLANT_CONTEXT)
        return g_strdup_printf("%swith mystery():\n    %s", pad, line);
    if (!begins(text, calls) || !g_str_has_suffix(line, ")"))
        return NULL;
    return g_strdup_printf("%.*s, mystery=1)", (int)strlen(line) - 1, line);
}

static void test_plants(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data) / PLANT_N;
    const Plant plant = GPOINTER_TO_UINT(data) % PLANT_N;
    g_autofree char *text = kernel_of(kernels[i].path, kernels[i].language);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    guint places = 0, share = 0, tried = 0;
    gboolean jit = FALSE, decorated = FALSE;
    for (guint k = 0, depth = 0; line[k]; k++) {
        const guint before = depth;
        depth = (guint)MAX(0, (gint)depth + opened(line[k]));
        if (*line[k] == '@') {
            decorated |= strstr(line[k], ".jit") != NULL;
        } else if (*line[k] && !strchr(" #)", *line[k])) {
            jit = decorated && g_str_has_prefix(line[k], "def ");
            decorated = FALSE;
        }
        char *own = before ? NULL : planted(line[k], plant, jit);
        if (!own || places++ % kernels[i].every || !test_takes(share++, 16, 64)) {
            g_free(own);
            continue;
        }
        char *right = line[k];
        line[k] = own;
        g_autofree char *wrong = g_strjoinv("\n", line);
        const WsVerdictKind verdict = verdict_of(wrong, kernels[i].language);
        if (verdict != WS_VERDICT_OUTSIDE)
            g_test_message("line %u is %s:\n%s", k + 1, ws_verdict_word(verdict), own);
        g_assert_cmpint(verdict, ==, WS_VERDICT_OUTSIDE);
        line[k] = right;
        g_free(own);
        tried++;
    }
    g_test_message("%u of %u places", tried, places);
    g_assert_cmpuint(tried, >=, share > 1 ? 1 : test_least(1, 1, 2));
}

/* --- arguments ---------------------------------------------------------------------------------*/

/* Each word of the tables that a kernel calls, by its name and the names of its parameters. */
static const struct {
    const char *word, *parameters;
    WsImportFrom language;
} terms[] = {
#define WS_TERM(name, meaning, parameters) { name, parameters, WS_IMPORT_GLUON },
#include "import/python/dialect/gluon.def"
#undef WS_TERM
#define WS_TERM(name, meaning, parameters) { name, parameters, WS_IMPORT_TLE },
#include "import/python/dialect/tle.def"
#undef WS_TERM
#define WS_TERM(name, meaning, parameters) { name, parameters, WS_IMPORT_TLX },
#include "import/python/dialect/tlx.def"
#undef WS_TERM
};

typedef enum { MORE, UNKNOWN, UNKNOWN_OFF, TWICE, ARGUMENTS } Argument;

/* Where the bracket that `open` points at is closed. */
static const char *closing(const char *open)
{
    gint depth = 0;
    for (const char *c = open; *c && *c != '\n'; c++) {
        depth += (strchr("([{", *c) != NULL) - (strchr(")]}", *c) != NULL);
        if (!depth)
            return c;
    }
    return NULL;
}

/* Commas of the call itself, and whether it names an argument. */
static guint count_arguments(const char *open, const char *close, gboolean *named)
{
    gint depth = 0;
    guint n = close > open + 1;
    *named = FALSE;
    for (const char *c = open + 1; c < close; c++) {
        depth += (strchr("([{", *c) != NULL) - (strchr(")]}", *c) != NULL);
        n += !depth && *c == ',';
        *named |= !depth && *c == '=' && c[1] != '=' && !strchr("=!<>", c[-1]);
    }
    return n;
}

/* The arguments that are too many, with a comma before them; NULL: it cannot be written there. */
static char *too_many(const char *parameters, gboolean method, guint given, gboolean named,
                      Argument argument)
{
    g_auto(GStrv) name = g_strsplit(parameters, " ", -1);
    const guint n = g_strv_length(name) - method;
    const char *comma = given ? ", " : "";
    if (argument == UNKNOWN || argument == UNKNOWN_OFF)
        return g_strdup_printf("%smystery=%s", comma, argument == UNKNOWN ? "1" : "None");
    if (argument == TWICE)
        return n && given && !named && strcmp(name[method], "*") != 0
                   ? g_strdup_printf("%s%s=0", comma, name[method])
                   : NULL;
    if (named || given > n || (n && !strcmp(name[g_strv_length(name) - 1], "*")))
        return NULL;
    GString *s = g_string_new(NULL); /* as many as there are, and one more */
    for (guint i = given; i <= n; i++)
        g_string_append_printf(s, "%sNone", s->len || given ? ", " : "");
    return g_string_free(s, FALSE);
}

/* Whether the line is one of a jit function. */
static gboolean in_jit(const char *text, const char *line)
{
    gboolean jit = FALSE, decorated = FALSE;
    for (const char *c = text; c && c < line; c = strchr(c, '\n'), c = c ? c + 1 : NULL) {
        if (*c == '@') {
            decorated |= !strncmp(c, "@gluon.jit", 10) || !strncmp(c, "@triton.jit", 11);
        } else if (*c != '\n' && !strchr(" #)", *c)) {
            jit = decorated && !strncmp(c, "def ", 4);
            decorated = FALSE;
        }
    }
    return jit;
}

/* Whether what stands before the dot at `at` is a module, and the word a function of it. */
static gboolean of_module(const char *text, const char *at)
{
    static const char *const modules[] = { "tl", "gl", "tlx", "gpu", "tma", "mbarrier", NULL };
    const char *begin = at;
    while (begin > text && (g_ascii_isalnum(begin[-1]) || begin[-1] == '_'))
        begin--;
    g_autofree char *name = g_strndup(begin, at - begin);
    return g_strv_contains(modules, name);
}

/* Whether a row of law.def says that no keyword of the word matters. */
static gboolean takes_any(const char *word)
{
    static const char *const rows[] = {
#define WS_HARMLESS(kind, name, reason) #kind " " name,
#include "import/python/law.def"
#undef WS_HARMLESS
        NULL,
    };
    g_autofree char *row = g_strdup_printf("KEYWORD %s.", word);
    return g_strv_contains(rows, row);
}

static guint plant_arguments(const char *text, guint term, Argument argument, WsImportFrom language,
                             guint calls)
{
    const char *dot = strrchr(terms[term].word, '.'), *end = dot ? dot + 1 : terms[term].word;
    const gboolean method = *terms[term].word == '.';
    g_autofree char *call = g_strdup_printf("%s%s(", method ? "." : "", end);
    guint tried = 0;
    if ((argument == UNKNOWN || argument == UNKNOWN_OFF) && takes_any(end))
        return 0;
    for (const char *at = strstr(text, call); at && tried < calls; at = strstr(at + 1, call)) {
        const char *open = at + strlen(call) - 1, *close = closing(open), *line = at;
        while (line > text && line[-1] != '\n')
            line--;
        if (!close || *line != ' ' || !in_jit(text, line) ||
            (!method && at > text && g_ascii_isalnum(at[-1])) ||
            (!method && at > text && at[-1] == '_') || (method && of_module(text, at)))
            continue;
        gboolean named;
        const guint given = count_arguments(open, close, &named);
        g_autofree char *more = too_many(terms[term].parameters, method, given, named, argument);
        if (!more)
            continue;
        g_autofree char *head = g_strndup(text, close - text);
        g_autofree char *wrong = g_strconcat(head, more, close, NULL);
        const WsVerdictKind verdict = verdict_of(wrong, language);
        g_autofree char *shown = g_strndup(line, strcspn(line, "\n"));
        if (verdict == WS_VERDICT_PROVED)
            g_test_message("proved with %s in:\n%s", more, shown);
        g_assert_cmpint(verdict, !=, WS_VERDICT_PROVED);
        tried++;
    }
    return tried;
}

/* An argument that no parameter takes, or that a parameter has already: no word of the tables is
 * proved with it, whatever the word does. */
static void test_arguments(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data) / ARGUMENTS;
    const Argument argument = GPOINTER_TO_UINT(data) % ARGUMENTS;
    g_autofree char *text = kernel_of(kernels[i].path, kernels[i].language);
    guint tried = 0;
    if (verdict_of(text, kernels[i].language) != WS_VERDICT_PROVED)
        g_error("%s is not proved", kernels[i].path);
    for (guint k = 0; k < G_N_ELEMENTS(terms); k++)
        if (terms[k].language == kernels[i].language)
            tried += plant_arguments(text, k, argument, kernels[i].language, 1);
    g_test_message("%u words", tried);
    g_assert_cmpuint(tried, >=, 1);
}

/* --- single lines in a kernel by hand ----------------------------------------------------------*/

static const struct {
    const char *title, *from, *to;
    WsVerdictKind verdict;
} changes[] = {
    { "as-it-is", "", "", WS_VERDICT_PROVED },
    { "known-to-compute", "        acc = gl.zeros(",
      "        gl.static_print(1)\n        acc = gl.zeros(", WS_VERDICT_PROVED },
    { "fence-of-the-compiler", "        fence_async_shared()\n", "", WS_VERDICT_PROVED },
    { "init-missing", "        mbarrier.init(full.index(i), count=1)\n", "", WS_VERDICT_OUTSIDE },
    { "init-twice", "        mbarrier.init(full.index(i), count=1)\n",
      "        mbarrier.init(full.index(i), count=1)\n        mbarrier.init(full.index(i), "
      "count=1)\n",
      WS_VERDICT_OUTSIDE },
    { "bytes-nobody-expects", "            mbarrier.expect(bar, (2 * BM * BK + BN * BK) * 2)\n", "",
      WS_VERDICT_OUTSIDE },
    { "carried-name", "            mbarrier.arrive(empty.index(slot), count=1)\n",
      "            mbarrier.arrive(empty.index(slot), count=1)\n            full = empty\n",
      WS_VERDICT_OUTSIDE },
    { "carried-swap", "            mbarrier.expect(bar,",
      "            full, empty = empty, full\n            mbarrier.expect(bar,",
      WS_VERDICT_OUTSIDE },
    { "carried-and-right",
      "            bar = full.index(slot)\n            mbarrier.wait(empty.index(slot), phase)\n",
      "            mbarrier.wait(empty.index(slot), phase)\n            bar = full.index(slot)\n",
      WS_VERDICT_PROVED },
    { "assert-acts", "            mbarrier.arrive(empty.index(slot), count=1)\n",
      "            mbarrier.arrive(empty.index(slot), count=1)\n            assert "
      "mbarrier.arrive(empty.index(slot), count=1) is None\n",
      WS_VERDICT_REFUTED },
    { "else-of-a-loop", "            mbarrier.arrive(empty.index(slot), count=1)\n",
      "            for q in range(0):\n                pass\n            else:\n                "
      "mbarrier.arrive(empty.index(slot), count=1)\n",
      WS_VERDICT_OUTSIDE },
    { "del", "            mbarrier.expect(bar,",
      "            del slot\n            mbarrier.expect(bar,", WS_VERDICT_OUTSIDE },
    { "yield", "            mbarrier.arrive(empty.index(slot), count=1)\n",
      "            mbarrier.arrive(empty.index(slot), count=1)\n            yield acc\n",
      WS_VERDICT_OUTSIDE },
    { "await", "            mbarrier.arrive(empty.index(slot), count=1)\n",
      "            mbarrier.arrive(empty.index(slot), count=1)\n            await acc\n",
      WS_VERDICT_OUTSIDE },
    { "named-expression", "            mbarrier.arrive(empty.index(slot), count=1)\n",
      "            mbarrier.arrive(empty.index(slot), count=1)\n            print((slot := 0))\n",
      WS_VERDICT_OUTSIDE },
    { "keyword-of-a-range", "gl.static_range(STAGES)", "gl.static_range(0, STAGES, foo=2)",
      WS_VERDICT_OUTSIDE },
    { "another-module", "from triton.experimental.gluon.language.nvidia.hopper import",
      "from my.hopper import", WS_VERDICT_OUTSIDE },
    { "all-of-a-module", "import torch\n", "import torch\nfrom my.hopper import *\n",
      WS_VERDICT_OUTSIDE },
};

static void test_change(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *right = kernel_of("tests/import/gluon/gemm.py", WS_IMPORT_GLUON);
    const char *at = strstr(right, changes[i].from);
    g_assert_nonnull(at);
    g_autofree char *head = g_strndup(right, at - right);
    g_autofree char *text = g_strconcat(head, changes[i].to, at + strlen(changes[i].from), NULL);
    g_assert_cmpint(verdict_of(text, WS_IMPORT_GLUON), ==, changes[i].verdict);
}

/* --- buffers that the compiler may place over each other ---------------------------------------*/

static char *with_line(const char *text, const char *line)
{
    g_auto(GStrv) part = g_strsplit(text, "%s", 2);
    return g_strjoin(line, part[0], part[1], NULL);
}

static void test_lifetimes(gconstpointer data)
{
    static const char *const text =
        "import triton\n"
        "from triton.experimental import gluon\n"
        "from triton.experimental.gluon import language as gl\n"
        "from triton.experimental.gluon.language.nvidia.hopper import tma, fence_async_shared\n"
        "@gluon.jit\n"
        "def two(x_desc, y_desc, layout: gl.constexpr):\n"
        "    x = gl.allocate_shared_memory(gl.float16, [64, 64], x_desc.layout)\n"
        "    x.store(gl.full([64, 64], 1.0, gl.float16, layout))\n"
        "    fence_async_shared()\n"
        "    tma.async_copy_shared_to_global(x_desc, [0, 0], x)\n"
        "    %s\n"
        "    y = gl.allocate_shared_memory(gl.float16, [64, 64], y_desc.layout)\n"
        "    y.store(gl.full([64, 64], 2.0, gl.float16, layout))\n"
        "    fence_async_shared()\n"
        "    tma.async_copy_shared_to_global(y_desc, [0, 0], y)\n"
        "    tma.store_wait(0)\n"
        "def run(x_desc, y_desc):\n"
        "    two[(1,)](x_desc, y_desc, gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))\n";
    const gboolean waits = GPOINTER_TO_INT(data);
    g_autofree char *own = with_line(text, waits ? "tma.store_wait(0)" : "pass");
    g_assert_cmpint(verdict_of(own, WS_IMPORT_GLUON), ==,
                    waits ? WS_VERDICT_PROVED : WS_VERDICT_OUTSIDE);
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "call", "keyword", "context", "decorator" };
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(kernels) * PLANT_N; i++) {
        g_autofree char *path = g_strdup_printf("/import/law/%s/%s/%s", names[i % PLANT_N],
                                                ws_import_from_text(kernels[i / PLANT_N].language),
                                                kernels[i / PLANT_N].path);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_plants);
    }
    for (guint i = 0; i < G_N_ELEMENTS(kernels) * ARGUMENTS; i++) {
        if (!test_takes(i, 9, 23))
            continue;
        g_autofree char *path = g_strdup_printf(
            "/import/law/argument/%s/%s/%s",
            (const char *const[]){ "more", "unknown", "unknown-off", "twice" }[i % ARGUMENTS],
            ws_import_from_text(kernels[i / ARGUMENTS].language), kernels[i / ARGUMENTS].path);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_arguments);
    }
    for (guint i = 0; i < G_N_ELEMENTS(changes); i++) {
        if (!test_takes(i, 1, 5))
            continue;
        g_autofree char *path = g_strdup_printf("/import/law/change/%s", changes[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_change);
    }
    g_test_add_data_func("/import/law/lifetimes/waited-for", GINT_TO_POINTER(1), test_lifetimes);
    g_test_add_data_func("/import/law/lifetimes/in-flight", GINT_TO_POINTER(0), test_lifetimes);
    return g_test_run();
}
