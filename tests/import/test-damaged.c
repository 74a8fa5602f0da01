/* Kernels of Gluon and TLE that are damaged: a design or an error with its place, never more than
 * that. */
#include "../whole.h"
#include "import/import.h"
#include "judge.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

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

static const struct {
    WsImportFrom language;
    const char *kernel;
} kernels[] = {
    { WS_IMPORT_TLE, "tests/designs/gemm-tle.wstave" },
    { WS_IMPORT_TLE, "tests/designs/gemm-pipe.wstave" },
    { WS_IMPORT_TLE, "tests/designs/attention-tle-pingpong.wstave" },
    { WS_IMPORT_TLE, "tests/designs/sparse-mla-pipes.wstave" },
    { WS_IMPORT_TLE, "tests/import/tle/pipe.py" },
    { WS_IMPORT_GLUON, "tests/designs/attention-fa3-dynamic.wstave" },
    { WS_IMPORT_GLUON, "tests/designs/gemm-aliased.wstave" },
    { WS_IMPORT_TLX, "tests/import/tlx/gemm.py" },
    { WS_IMPORT_GLUON, "tests/import/gluon/ring.py" },
    { WS_IMPORT_GLUON, "tests/import/gluon/gemm.py" },
    { WS_IMPORT_GLUON, "tests/import/gluon/classes.py" },
    { WS_IMPORT_GLUON, "tests/import/gluon/pipelined.py" },
};

static void test_damaged(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = kernel_of(kernels[i].kernel, kernels[i].language);
    guint designed = 0, refused = 0;
    for (guint32 seed = 0; seed < 60; seed++) {
        if (!test_takes(seed, 6, 15))
            continue;
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed * 7 + i);
        g_autofree char *bad = damaged(text, rand);
        g_autoptr(GError) error = NULL;
        g_autoptr(WsImport) import =
            ws_import_text(bad, strlen(bad), "bad.py", kernels[i].language, &error);
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
    g_test_message("%u designs, %u errors", designed, refused);
    g_assert_cmpuint(designed, >=, test_least(6, 60, 60));
    g_assert_cmpuint(refused, >=, test_least(6, 6, 15));
}

/* Given up: an error, never a design of half of it; and where it stands is told. */
static void test_given_up(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_autofree char *text = kernel_of(kernels[i].kernel, kernels[i].language);
        gint stop = 0, line = 0;
        const WsImportOptions how = { .cancel = &stop, .line = &line };
        g_autoptr(GError) error = NULL;
        WsImport *whole =
            ws_import_text_as(text, strlen(text), "kernel.py", kernels[i].language, &how, &error);
        g_assert_nonnull(whole);
        ws_import_free(whole);
        g_assert_cmpint(line, >, 1);
        stop = 1;
        g_assert_null(
            ws_import_text_as(text, strlen(text), "kernel.py", kernels[i].language, &how, &error));
        g_assert_nonnull(strstr(error->message, "cancelled"));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/damaged/given-up", test_given_up);
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_autofree char *path = g_strdup_printf(
            "/import/damaged/%s/%s", ws_import_from_text(kernels[i].language), kernels[i].kernel);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_damaged);
    }
    return g_test_run();
}
