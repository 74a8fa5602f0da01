/* TLE that is none, or damaged: a design or an error with its place, never more than that. */
#include "codegen/python/python.h"
#include "import/import.h"

#include <string.h>

typedef struct {
    WsDesign *design;
    WsProgram *program;
} Read;

static void read_clear(Read *r)
{
    g_clear_pointer(&r->program, ws_program_unref);
    g_clear_pointer(&r->design, ws_design_unref);
}

static Read read_design(const char *path)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    Read r = { ws_design_load(file, findings), NULL };
    r.program = r.design ? ws_elaborate(r.design, NULL, 0, findings) : NULL;
    g_assert_nonnull(r.program);
    return r;
}

/* A design as TLE. */
static char *export_of(const char *path)
{
    char *text = NULL;
    Read r = read_design(path);
    g_autoptr(GError) error = NULL;
    text = ws_generate_tle(r.program, &error);
    g_assert_no_error(error);
    read_clear(&r);
    return text;
}

/* --- what is not TLE ---------------------------------------------------------------------------*/

static void test_bad(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "import triton\n", "warp_specialize" },
        { "def f(:\n  pass\n", ":3:1" },
        { "import triton.experimental.tle.language as tle\n@jit\ndef k(x):\n"
          "    tle.gpu.warp_specialize([(k, (x,))], [4], [24])\n",
          ":4:5" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(WsImport) import =
            ws_import_text(bad[i].text, strlen(bad[i].text), "bad.py", WS_IMPORT_TLE, &error);
        g_assert_null(import);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, bad[i].says));
    }
}

/* Lines lost, doubled, swapped, numbers changed, words cut: a design or an error with its place,
 * never more than that. */
static char *damaged(const char *text, GRand *rand)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    const guint n = g_strv_length(line);
    for (guint times = 0; times < 3; times++) {
        char **at = &line[g_rand_int_range(rand, 0, (gint32)n)];
        char *digit = strpbrk(*at, "0123456789"), *word = strpbrk(*at, ".([");
        switch (g_rand_int_range(rand, 0, 5)) {
        case 0:
            **at = '\0';
            break;
        case 1:
            if (digit)
                *digit = (char)('0' + g_rand_int_range(rand, 0, 10));
            break;
        case 2:
            if (word)
                *word = '\0';
            break;
        case 3:
            if (word)
                memmove(word, word + 1, strlen(word));
            break;
        default: {
            char **other = &line[g_rand_int_range(rand, 0, (gint32)n)], *kept = *at;
            *at = *other;
            *other = kept;
        }
        }
    }
    return g_strjoinv("\n", line);
}

static void test_damaged(void)
{
    static const char *const designs[] = { "tests/designs/gemm-tle.wstave",
                                           "tests/designs/gemm-pipe.wstave",
                                           "tests/designs/attention-tle-pingpong.wstave",
                                           "tests/designs/sparse-mla-pipes.wstave" };
    guint designed = 0, refused = 0;
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *text = export_of(designs[i]);
        for (guint32 seed = 0; seed < 60; seed++) {
            g_autoptr(GRand) rand = g_rand_new_with_seed(seed * 7 + i);
            g_autofree char *bad = damaged(text, rand);
            g_autoptr(GError) error = NULL;
            g_autoptr(WsImport) import =
                ws_import_text(bad, strlen(bad), "bad.py", WS_IMPORT_TLE, &error);
            g_autoptr(WsFindings) findings = ws_findings_new();
            WsProgram *p = import ? ws_elaborate(import->design, NULL, 0, findings) : NULL;
            g_assert_true(!import == (error != NULL));
            designed += import != NULL;
            refused += error != NULL;
            if (error)
                g_assert_true(g_str_has_prefix(error->message, "bad.py:"));
            if (p)
                ws_program_unref(p);
        }
    }
    g_test_message("%u designs, %u errors", designed, refused);
    g_assert_cmpuint(designed, >, 40);
    g_assert_cmpuint(refused, >, 10);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tle-import/bad", test_bad);
    g_test_add_func("/tle-import/damaged", test_damaged);
    return g_test_run();
}
