/* Every launcher refuses what a launch by the runner refuses: a grid of less than a cluster, more
 * CTAs or tiles than a launch holds, run names beyond what it takes, extents below 0; and all of
 * them find the same number of tiles. Asked of the functions that exports and packages hold, run by
 * c++ and python3. */
#include "codegen/cuda/cuda.h"
#include "codegen/python/python.h"
#include "model/design.h"
#include "model/findings.h"
#include "package/package.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/launchable.h"

#include <glib/gstdio.h>
#include <string.h>

#define HEAD                                                                                       \
    "{ \"warpstave\": 1, \"name\": \"bounds\", \"target\": \"sm_90a\","                            \
    "\"sizes\": { \"M\": 5, \"N\": 256, \"K\": 4 },"
#define TAIL                                                                                       \
    "\"groups\": [{ \"name\": \"g\", \"role\": \"worker\", \"warps\": 4, \"values\": ["            \
    "{ \"name\": \"x\", \"dtype\": \"f32\", \"tile\": [64, 64] }], \"body\": ["                    \
    "{ \"for\": \"tile\", \"over\": \"tiles\", \"do\": ["                                          \
    "{ \"read\": \"x\", \"from\": \"A\", \"at\": [\"m*64\", 0] },"                                 \
    "{ \"if\": \"n > r\", \"then\": [{ \"compute\": \"x = x*1\" }] },"                             \
    "{ \"write\": \"x\", \"to\": \"O\", \"at\": [\"m*64\", 0] }] }] }] }"
#define TENSORS(rows)                                                                              \
    "\"tensors\": [{ \"name\": \"A\", \"dtype\": \"f32\", \"shape\": [\"" rows "\", 64] },"        \
    "{ \"name\": \"O\", \"dtype\": \"f32\", \"shape\": [\"N\", 64], \"access\": \"write\","        \
    "\"covers\": \"asked\" }],"

static const char *const designs[] = {
    HEAD "\"let\": { \"r\": \"2*N - M\" }," TENSORS(
        "N") "\"tiles\": { \"axes\": { \"m\": "
             "\"cdiv(N, 64) - 2\", \"n\": \"M - 3\" }, \"launch\": \"persistent\", \"grid\": \"K\" "
             "}," TAIL,
    HEAD "\"cluster\": 2, \"let\": { \"r\": \"N\" }," TENSORS(
        "N") "\"tiles\": { \"axes\": { "
             "\"m\": \"N\", \"n\": \"M\" }, \"launch\": \"persistent\", \"grid\": \"K - 4\" "
             "}," TAIL,
    HEAD "\"cluster\": 2, \"let\": { \"r\": \"K\" }," TENSORS(
        "N - K") "\"tiles\": { \"axes\": { "
                 "\"m\": \"N\", \"n\": \"M\" }, \"launch\": \"single\" }," TAIL,
};

static const struct {
    guint design;
    gint64 size[3];
    gint64 tiles; /* -1: refused */
} rows[] = {
    { 0, { 5, 256, 4 }, 4 },
    { 0, { 5, 256, 0 }, -1 },
    { 0, { 5, 256, 1 }, 4 },
    { 0, { 2, 64, 4 }, 0 }, /* two extents below 0 */
    { 0, { 2, 256, 4 }, 0 },
    { 0, { 5, 64, 4 }, 0 },
    { 0, { 5, 64, 0 }, -1 },
    { 0, { 0, 1073709055, 4 }, 0 },  /* r = 2147418110 */
    { 0, { 1, 1073709056, 4 }, 0 },  /* r = 2147418111 */
    { 0, { 0, 1073709056, 4 }, -1 }, /* one more */
    { 0, { 2, 1073741824, 4 }, -1 },
    { 0, { 1, 1073741824, 4 }, -1 }, /* 2^31 - 1 */
    { 0, { 5, 256, 2147418111 }, 4 },
    { 0, { 5, 256, 2147418112 }, -1 },
    { 1, { 5, 256, 6 }, 1280 }, /* a cluster of 2 */
    { 1, { 5, 256, 5 }, -1 },
    { 1, { 5, 256, 4 }, -1 },
    { 1, { 5, 256, 3 }, -1 },
    { 1, { 5, 256, 0 }, -1 },
    { 1, { 0, 256, 7 }, 0 },
    { 2, { 5, 256, 0 }, 1280 },
    { 2, { 5, 256, 256 }, 1280 },
    { 2, { 5, 256, 257 }, -1 }, /* an extent of -1 */
    { 2, { 1073741823, 1, 0 }, 1073741823 },
    { 2, { 1073741824, 1, 0 }, -1 }, /* 2^31 CTAs */
    { 2, { 65536, 16384, 0 }, -1 },
    { 2, { 32768, 32767, 0 }, 1073709056 },
};

static WsProgram *program_of(guint design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d =
        ws_design_parse(designs[design], strlen(designs[design]), "bounds", findings);
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    g_assert_nonnull(p);
    return p;
}

static char *output_of(const char *const *argv)
{
    g_autoptr(GError) error = NULL;
    char *out = NULL;
    int status;
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out,
                               NULL, &status, &error));
    g_assert_true(g_spawn_check_wait_status(status, &error));
    return out;
}

static gboolean is_there(const char *tool)
{
    g_autofree char *path = g_find_program_in_path(tool);
    if (!path)
        g_test_skip(tool);
    return path != NULL;
}

/* From `begin` to before `end`. Caller frees. */
static char *between(const char *text, const char *begin, const char *end)
{
    const char *from = strstr(text, begin), *to = from ? strstr(from, end) : NULL;
    g_assert_nonnull(to);
    return g_strndup(from, (gsize)(to - from));
}

/* One number for each row of the design, -1: refused. */
static void compare(guint design, const char *said)
{
    g_auto(GStrv) line = g_strsplit(said, "\n", -1);
    guint at = 0;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (rows[i].design != design)
            continue;
        g_test_message("row %u: %s", i, line[at] ? line[at] : "nothing");
        g_assert_nonnull(line[at]);
        g_assert_cmpint(g_ascii_strtoll(line[at++], NULL, 10), ==, rows[i].tiles);
    }
}

static void in_runner(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        WsProgram *p = program_of(rows[i].design);
        const WsSize given[] = { { "M", rows[i].size[0] },
                                 { "N", rows[i].size[1] },
                                 { "K", rows[i].size[2] } };
        g_autoptr(WsFindings) refused = ws_findings_new();
        g_autoptr(WsLaunchValues) v = ws_launch_values(p, given, 3, FALSE, refused);
        if (v)
            ws_launchable(p, v, ws_launch_grid(v, 132), refused);
        g_test_message("row %u", i);
        g_assert_cmpint(v && !refused->list->len ? ws_launch_tiles(v) : -1, ==, rows[i].tiles);
        ws_program_unref(p);
    }
}

/* What a C++ program prints that asks `ask` of the sizes of every row of the design. */
static char *in_c(guint design, const char *head, const char *ask)
{
    g_autofree char *folder = g_dir_make_tmp("bounds-XXXXXX", NULL),
                    *source = g_build_filename(folder, "bounds.cc", NULL),
                    *out = g_build_filename(folder, "bounds", NULL);
    g_autoptr(GString) s = g_string_new(head);
    g_string_append(s, "\n#include <cstdio>\nint main()\n{\n");
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].design == design) {
            g_string_append_printf(s,
                                   "    { const int64_t M = %" G_GINT64_FORMAT
                                   ", N = %" G_GINT64_FORMAT ", K = %" G_GINT64_FORMAT ";\n",
                                   rows[i].size[0], rows[i].size[1], rows[i].size[2]);
            g_string_append_printf(s, "    printf(\"%%lld\\n\", (long long)(%s)); }\n", ask);
        }
    g_string_append(s, "}\n");
    g_assert_true(g_file_set_contents(source, s->str, -1, NULL));
    g_free(output_of((const char *[]){ "c++", "-std=c++17", "-w", source, "-o", out, "-ldl",
                                       "-pthread", NULL }));
    char *said = output_of((const char *[]){ out, NULL });
    g_unlink(source);
    g_unlink(out);
    g_rmdir(folder);
    return said;
}

static void in_cuda(gconstpointer data)
{
    const guint design = GPOINTER_TO_UINT(data);
    if (!is_there("c++"))
        return;
    g_autoptr(GError) error = NULL;
    WsProgram *p = program_of(design);
    g_autofree char *text = ws_generate_cuda(p, TRUE, &error);
    g_assert_no_error(error);
    g_autofree char *problem = between(text, "struct Problem", "\n// Coordinates"),
                    *asks = strstr(text, "// Numbers of 64 bits")
                                ? between(text, "// Numbers of 64 bits", "inline cudaError_t")
                                : between(text, "inline bool counted", "inline cudaError_t");
    g_autofree char *head =
        g_strconcat("#include <algorithm>\n#include <cstdint>\nusing namespace std;\n"
                    "#define __host__\n#define __device__\n"
                    "static int cdiv(int a, int b) { return (a + b - 1) / b; }\n"
                    "struct Arguments { int64_t M, N, K; };\n",
                    problem, "\n", asks, NULL);
    g_autofree char *said = in_c(design, head,
                                 "counted(Arguments{ M, N, K }) ? "
                                 "Problem(int(M), int(N), int(K)).n_tiles : -1");
    compare(design, said);
    ws_program_unref(p);
}

static void in_package(gconstpointer data)
{
    const guint design = GPOINTER_TO_UINT(data);
    if (!is_there("c++"))
        return;
    g_autoptr(GError) error = NULL;
    WsProgram *p = program_of(design);
    const WsPackageSpec spec = { .program = p, .name = "k", .verdict = "" };
    g_autofree char *header = ws_package_header(&spec, &error),
                    *launcher = ws_package_launcher(&spec, &error);
    g_assert_no_error(error);
    g_auto(GStrv) part = g_strsplit(launcher, "#include \"k.h\"", 2);
    g_autofree char *head = g_strconcat(part[0], header, part[1], NULL);
    g_autofree char *said = in_c(design, head,
                                 "[&] { k_arguments a{}; k_layout l{}; a.M = M, a.N = N, a.K = K; "
                                 "return k_describe(&a, &l) ? -1 : l.tiles; }()");
    compare(design, said);
    ws_program_unref(p);
}

static void ask_python(guint design, const char *head, const char *ask)
{
    g_autoptr(GString) s = g_string_new(head);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].design == design)
            g_string_append_printf(
                s, "print(%s(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT "))\n",
                ask, rows[i].size[0], rows[i].size[1], rows[i].size[2]);
    /* as `python -O` runs it, which leaves asserts out */
    g_autofree char *said = output_of((const char *[]){ "python3", "-O", "-c", s->str, NULL });
    compare(design, said);
}

static void in_gluon(gconstpointer data)
{
    if (!is_there("python3"))
        return;
    g_autoptr(GError) error = NULL;
    WsProgram *p = program_of(0);
    g_autofree char *text =
        data ? ws_generate_gluon(p, FALSE, NULL, &error) : ws_generate_tle(p, FALSE, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *counted = between(text, "def counted(", "\n\n"),
                    *lines = between(text, "    r = ", "    fits("),
                    *head = g_strconcat("class triton:\n    cdiv = lambda a, b: -(-a // b)\n",
                                        counted, "\n\ndef ask(M, N, K):\n", lines,
                                        "    return n_tiles\n\ndef tiles(*n):\n    try:\n"
                                        "        return ask(*n)\n    except ValueError:\n"
                                        "        return -1\n",
                                        NULL);
    ask_python(0, head, "tiles");
    ws_program_unref(p);
}

static void in_module(gconstpointer data)
{
    const guint design = GPOINTER_TO_UINT(data);
    if (!is_there("python3"))
        return;
    g_autoptr(GError) error = NULL;
    WsProgram *p = program_of(design);
    const WsPackageSpec spec = { .program = p, .name = "k", .verdict = "" };
    g_autofree char *module = ws_package_module(&spec, &error);
    g_assert_no_error(error);
    g_autofree char *most = between(module, "        if value > ", ":"),
                    *arithmetic = between(module, "def _assumed(", "\n\n\ndef _ctas"),
                    *helpers = between(module, "def _pow2floor", "def _assumed("),
                    *head = g_strconcat(
                        helpers, arithmetic,
                        "\nclass Sizes:\n    pass\ndef tiles(M, N, K):\n    n = Sizes()\n"
                        "    n.M, n.N, n.K = M, N, K\n    for value in (M, N, K):\n",
                        most,
                        ":\n            return -1\n"
                        "    return _tiles(n) if all(h for h, t in _assumed(n)) else -1\n",
                        NULL);
    ask_python(design, head, "tiles");
    ws_program_unref(p);
}

/* The host of TLE-DSA is told the number of programs. */
static void in_dsa(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d =
        ws_design_load(WS_SOURCE_ROOT "/projects/vector-add-ascend/design.wstave", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    g_assert_nonnull(p);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = ws_generate_tle(p, FALSE, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(text, "    if not (cores >= 1):\n        raise "));
    g_assert_nonnull(strstr(text, "    if not ((N >= 1)):\n        raise "));
    g_assert_null(strstr(text, "assert"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bounds/runner", in_runner);
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *cuda = g_strdup_printf("/bounds/cuda/%u", i),
                        *package = g_strdup_printf("/bounds/package/%u", i),
                        *module = g_strdup_printf("/bounds/module/%u", i);
        g_test_add_data_func(cuda, GUINT_TO_POINTER(i), in_cuda);
        g_test_add_data_func(package, GUINT_TO_POINTER(i), in_package);
        g_test_add_data_func(module, GUINT_TO_POINTER(i), in_module);
    }
    g_test_add_data_func("/bounds/gluon", "gluon", in_gluon);
    g_test_add_data_func("/bounds/tle", NULL, in_gluon);
    g_test_add_func("/bounds/dsa", in_dsa);
    return g_test_run();
}
