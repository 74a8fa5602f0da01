/* Gluon as people write it: a kernel with its verdict and places, and one that is not read whole.
 */
#include "judged.h"
#include "model/design.h"
#include "program/program.h"

#include <string.h>

/* The import as a program; `unread` things are left unread. */
static Judged read_text(const char *text, WsImportFrom language, guint unread)
{
    Judged j = judge_kernel(text, language);
    g_assert_cmpuint(j.import->unread->len, ==, unread);
    return j;
}

static char *written(const char *name)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, "tests/import/gluon", name, NULL);
    char *text;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    return text;
}

/* --- by hand
 * ---------------------------------------------------------------------------------------*/

static void test_hand(void)
{
    g_autofree char *text = written("gemm.py");
    g_auto(Judged) r = read_text(text, WS_IMPORT_GLUON, 0);
    g_assert_cmpint(r.verdict->kind, ==, WS_VERDICT_PROVED);
    g_assert_cmpuint(r.program->n_agents, ==, 3);
    g_assert_cmpuint(r.program->n_buffers, ==, 3);
    g_assert_cmpuint(r.program->threads, ==, 384);
    const WsNode *wait = ws_design_find(r.import->design, "groups/load/body/0/do/0/do/0");
    guint line, column, last;
    g_assert_true(ws_import_place(wait, &line, &column, &last));
    g_assert_cmpuint(last, ==, 21);
    g_assert_cmpuint(line, ==, 21);
    g_assert_cmpuint(column, ==, 13);
}

static char *plant(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    g_assert_nonnull(at);
    g_autofree char *head = g_strndup(text, at - text);
    return g_strconcat(head, to, at + strlen(from), NULL);
}

/* Stages of AMD's warp pipelines are not read: a kernel with them is not called proved, even where
 * what it does besides would be right. Also where the context is called by another name. */
static void test_stages(void)
{
    static const char *const contexts[] = {
        "gl.amd.warp_pipeline_stage(\"mem\", priority=1)",
        "gl.amd.warp_pipeline_stage()",
        "warp_pipeline_stage('mem')",
    };
    g_autofree char *right = written("gemm.py");
    for (guint i = 0; i < G_N_ELEMENTS(contexts); i++) {
        g_autofree char *with = g_strdup_printf(
            "            with %s:\n                mbarrier.wait(empty.index(slot), phase)\n",
            contexts[i]);
        g_autofree char *text =
            plant(right, "            mbarrier.wait(empty.index(slot), phase)\n", with);
        g_auto(Judged) r = read_text(text, WS_IMPORT_GLUON, 1);
        g_assert_cmpint(r.verdict->kind, ==, WS_VERDICT_OUTSIDE);
        g_assert_nonnull(
            strstr(((const WsUnread *)r.import->unread->pdata[0])->what, "warp_pipeline_stage"));
    }
}

/* What is not read stays in the design, so that nothing is called proved. */
static void test_opaque(void)
{
    g_autofree char *right = written("gemm.py");
    g_autofree char *text = plant(right, "            mbarrier.wait(empty.index(slot), phase)\n",
                                  "            mystery(empty, slot)\n");
    g_auto(Judged) r = read_text(text, WS_IMPORT_GLUON, 1);
    g_assert_cmpint(r.verdict->kind, !=, WS_VERDICT_PROVED);
    g_assert_true(r.program->has_raw);
}

/* … and what its lines name counts as touched: no mistake is made up. */
static void test_opaque_store(void)
{
    g_autofree char *right = written("gemm.py");
    g_autofree char *text =
        plant(right, "        c_tile.index(replica).store(acc.to(gl.bfloat16))\n",
              "        mystery(c_tile.index(replica), acc)\n");
    g_auto(Judged) r = read_text(text, WS_IMPORT_GLUON, 1);
    g_assert_cmpint(r.verdict->kind, ==, WS_VERDICT_OUTSIDE);
}

/* Kernels as people and tutorials write them: classes, tuples, helpers, one group or several. What
 * is not read of them is where stores through pointers go. */
static const struct {
    WsImportFrom language;
    const char *path;
    WsVerdictKind verdict;
    guint agents, unread;
} hand[] = {
    { WS_IMPORT_GLUON, "tests/import/gluon/gemm.py", WS_VERDICT_PROVED, 3, 0 },
    { WS_IMPORT_GLUON, "tests/import/gluon/add.py", WS_VERDICT_PROVED, 3, 0 },
    { WS_IMPORT_GLUON, "tests/import/gluon/classes.py", WS_VERDICT_PROVED, 2, 0 },
    { WS_IMPORT_GLUON, "tests/import/gluon/pipelined.py", WS_VERDICT_PROVED, 1, 0 },
    { WS_IMPORT_GLUON, "tests/import/gluon/persistent.py", WS_VERDICT_PROVED, 1, 0 },
    { WS_IMPORT_GLUON, "tests/import/gluon/subrings.py", WS_VERDICT_PROVED, 3, 0 },
    { WS_IMPORT_TLE, "tests/codegen/tle/by_hand.py", WS_VERDICT_PROVED, 3, 0 },
    { WS_IMPORT_TLE, "tests/import/tle/pipe.py", WS_VERDICT_PROVED, 3, 0 },
    { WS_IMPORT_TLX, "tests/import/tlx/gemm.py", WS_VERDICT_PROVED, 3, 0 },
    { WS_IMPORT_TLE, "tests/import/tle/guarded.py", WS_VERDICT_OUTSIDE, 2, 0 },
};

static void test_hands(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, hand[i].path, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    if (strstr(text, "Impl = select()")) {
        /* which class a helper gives is asked of the machine, which an import does not know:
         * refused by name */
        g_autoptr(GError) error = NULL;
        g_assert_null(ws_import_text(text, strlen(text), "kernel.py", hand[i].language, &error));
        g_assert_nonnull(strstr(error->message, "`Impl`"));
        char *given = plant(text, "Impl = select()", "Impl = Acc");
        g_free(text);
        text = given;
    }
    g_auto(Judged) r = read_text(text, hand[i].language, hand[i].unread);
    g_assert_cmpint(r.verdict->kind, ==, hand[i].verdict);
    g_assert_cmpuint(r.program->n_agents, ==, hand[i].agents);
    g_assert_false(r.program->has_raw);
}

/* A default of the launch is a size where it may be one, and is said where it must be a number. */
static void test_defaults(void)
{
    g_autofree char *file =
        g_build_filename(WS_SOURCE_ROOT, "tests/import/gluon/defaults.py", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_auto(Judged) r = read_text(text, WS_IMPORT_GLUON, 0);
    g_assert_cmpint(r.verdict->kind, ==, WS_VERDICT_REFUTED);
    g_assert_cmpstr(r.import->given, ==, "DEPTH = 3, wide = False");
    g_autofree char *fixed = plant(text, "N=3", "N: gl.constexpr = 3");
    g_auto(Judged) held = judge_kernel(fixed, WS_IMPORT_GLUON);
    g_assert_cmpint(held.verdict->kind, ==, WS_VERDICT_PROVED); /* N cannot be another */
}

/* A launch that is handed on is not read, whatever it is given: that is said, with its line. */
static void test_handed_on(void)
{
    static const char end[] =
        "    import functools\n"
        "    functools.partial(kernel[(1, )], x_desc, kt, depth, 0)(registers)\n";
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, "tests/import/gluon/names.py", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_auto(Judged) called = judge_kernel(text, WS_IMPORT_GLUON);
    g_assert_null(called.import->given);
    guint line = 2; /* the second one that is added */
    for (const char *at = text; at < strstr(text, "# end\n"); at++)
        line += *at == '\n';
    g_autofree char *twice = plant(text, "# end\n", end);
    g_auto(Judged) r = judge_kernel(twice, WS_IMPORT_GLUON);
    g_autofree char *said = g_strdup_printf("the launches by kernel[…] of line %u left out", line);
    g_assert_cmpstr(r.import->given, ==, said);
}

/* A filled tile of narrow elements, and registers that the launch caps. */
static void test_filled(void)
{
    g_autofree char *right = written("gemm.py");
    g_autofree char *text =
        plant(right, "        c_tile.index(replica).store(acc.to(gl.bfloat16))\n",
              "        one = gl.full((BM, BN), 1.0, gl.bfloat16, layout)\n"
              "        c_tile.index(replica).store(one)\n");
    g_auto(Judged) r = judge_kernel(text, WS_IMPORT_GLUON);
    g_assert_cmpuint(r.import->unread->len, ==, 0);
}

/* The ways in which versions of Triton want partitions called, one for the other. */
static void test_calls(void)
{
    static const char *const calls[] = {
        "    gl.warp_specialize((p, Tiling), multiply, (p, Tiling), [load], [1], [24])\n\n\n",
        "    gl.warp_specialize([(multiply, (p, Tiling)), (load, (p, Tiling))], [1], [24])\n\n\n",
        "    gl.warp_specialize([(multiply, (p, Tiling)), (load, (p, Tiling))], [1])\n\n\n",
    };
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, "tests/import/gluon/classes.py", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    char *from = strstr(text, "    gl.warp_specialize("), *to = strstr(text, "def matmul(");
    g_assert_true(from && to && from < to);
    *from = '\0';
    for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
        g_autofree char *own = g_strconcat(text, calls[i], to, NULL);
        g_auto(Judged) r = read_text(own, WS_IMPORT_GLUON, 0);
        g_assert_cmpint(r.verdict->kind, ==, WS_VERDICT_PROVED);
        g_assert_cmpuint(r.program->n_agents, ==, 2);
    }
}

/* --- what is computed of a tile ----------------------------------------------------------------*/

static const struct {
    const char *source, *text;
} computed[] = {
    { "gl.erf(first)", "out = erf(first)" },
    { "gl.rsqrt(first)", "out = rsqrt(first)" },
    { "gl.sin(first)", "out = sin(first)" },
    { "gl.cos(first)", "out = cos(first)" },
    { "gl.floor(first)", "out = floor(first)" },
    { "gl.ceil(first)", "out = ceil(first)" },
    { "gl.fma(first, second, first)", "out = first*second + first" },
    { "word & 15", "out = bitand(word, 15)" },
    { "word | 3", "out = bitor(word, 3)" },
    { "word ^ 5", "out = bitxor(word, 5)" },
    { "word << 2", "out = shl(word, 2)" },
    { "word >> 1", "out = sar(word, 1)" },
    { "word % 4", "out = select(word >= 0, word % 4, -(-word % 4))" }, /* cut towards 0 */
    { "word // 4", "out = select(word >= 0, word/4, -(-word/4))" },
    { "word / 4", "out = f32(word)/f32(4)" }, /* of reals */
    { "(gl.arange(0, 64, layout=gl.SliceLayout(1, acc_layout)) + 5) // 4", "out = (row + 5)/4" },
    { "(gl.arange(0, 64, layout=gl.SliceLayout(1, acc_layout)) - 5) // 4", "out = select(row - 5" },
};

static void test_computed(void)
{
    g_autofree char *text = written("products.py");
    char *made = strstr(text, "    bars ="), *stored = strstr(text, "    gl.store(y, second)\n");
    g_assert_true(made && stored);
    *made = *stored = '\0';
    for (guint i = 0; i < G_N_ELEMENTS(computed); i++) {
        g_autofree char *own =
            g_strconcat(text,
                        "    words = gl.allocate_shared_memory(gl.int32, [64, 64], x_desc.layout, "
                        "gl.zeros([64, 64], gl.int32, acc_layout))\n    bars =",
                        made + strlen("    bars ="),
                        "    word = words.load(acc_layout)\n    out = ", computed[i].source,
                        "\n    gl.store(y, out)\n    ", stored + 4, NULL);
        g_assert_cmpint(is_proved(own, WS_IMPORT_GLUON), ==, computed[i].text != NULL);
        if (!computed[i].text)
            continue;
        g_auto(Judged) r = judge_kernel(own, WS_IMPORT_GLUON);
        g_autofree char *design = ws_design_print(r.import->design);
        g_autofree char *step = g_strdup_printf("\"compute\": \"%s", computed[i].text);
        g_assert_nonnull(strstr(design, step));
    }
}

/* What runs on the host makes no barrier of the kernel, and a kernel does not launch itself. */
static void test_host(void)
{
    static const char launch[] = "\n\ndef launch(x, y):\n";
    static const char *const to[] = {
        "\n\ndef launch(x, y):\n"
        "    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())\n"
        "    mbarrier.init(bar, count=128)\n",
        "\n\n    x = y\n",                     /* the launch within the kernel */
        "\n\n@gluon.jit\ndef launch(x, y):\n", /* within a function of kernels */
        "\n\n@gluon.jit\ndef launch(x, y):\n    launch(y, x)\n",
    };
    for (guint i = 0; i < G_N_ELEMENTS(to); i++) {
        g_autofree char *right = written("rows.py");
        g_autofree char *text = plant(right, launch, to[i]);
        g_autoptr(GError) error = NULL;
        g_autoptr(WsImport) r =
            ws_import_text(text, strlen(text), "kernel.py", WS_IMPORT_GLUON, &error);
        g_assert_true(!r || r->unread->len);
        if (!r)
            g_test_message("%s", error->message);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(hand); i++) {
        g_autofree char *path = g_strdup_printf("/import/hand/%s", hand[i].path);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_hands);
    }
    g_test_add_func("/import/hand/places", test_hand);
    g_test_add_func("/import/hand/calls", test_calls);
    g_test_add_func("/import/hand/computed", test_computed);
    g_test_add_func("/import/hand/defaults", test_defaults);
    g_test_add_func("/import/hand/filled", test_filled);
    g_test_add_func("/import/hand/handed-on", test_handed_on);
    g_test_add_func("/import/hand/host", test_host);
    g_test_add_func("/import/hand/stages", test_stages);
    g_test_add_func("/import/hand/opaque", test_opaque);
    g_test_add_func("/import/hand/opaque-store", test_opaque_store);
    return g_test_run();
}
