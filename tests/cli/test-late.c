/* Commands that make no code do not load LLVM, whatever stands in the design: opening it takes
 * longer than they do. The loader itself says what it opens (LD_DEBUG of glibc). */
#include "run.h"

#include <string.h>

#define GEMM   WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave"
#define RAW    WS_SOURCE_ROOT "/tests/designs/raw-steps.wstave"
#define MLA    WS_SOURCE_ROOT "/tests/designs/sparse-mla-pipes.wstave"
#define BROKEN WS_SOURCE_ROOT "/tests/designs/attention-straight.wstave"

static gboolean opens_llvm(const char *const *arguments)
{
    g_autofree char *output = NULL;
    run(arguments, &output);
    g_assert_nonnull(strstr(output, "libc.so"));
    return strstr(output, "libLLVM") != NULL;
}

static void test_late(void)
{
    static const char *const without[][8] = {
        { "check", GEMM, NULL },
        { "check", RAW, NULL },
        { "check", MLA, NULL },
        { "check", GEMM, RAW, MLA, NULL },
        { "check", "--json", BROKEN, NULL },
        { "simulate", GEMM, NULL },
        { "generate", RAW, "--as", "program", NULL },
        { "generate", GEMM, "--as", "gluon", "--pinned", NULL },
        { "format", GEMM, NULL },
        { "explain", "P-RACE", NULL },
    };
    static const char *const with[] = { "generate", GEMM, "--as", "llvm", NULL };
    g_setenv("LD_DEBUG", "files", TRUE);
    for (guint i = 0; i < G_N_ELEMENTS(without); i++)
        if (opens_llvm(without[i]))
            g_error("%s %s opens LLVM", without[i][0], without[i][1]);
    g_assert_true(opens_llvm(with));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cli/late", test_late);
    return g_test_run();
}
