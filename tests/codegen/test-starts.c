/* What counts in a loop has a register of its own from its first value on: ptxas 13.0 made an
 * illegal address of sum-of-pieces where the count had the register of the thread number (seen on
 * an H200: a store to shared memory took the count of the round before for the thread). */
#include "../whole.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

static const char *const designs[] = {
    WS_SOURCE_ROOT "/tests/designs/moves/sum-of-pieces.wstave",
    WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave",
    WS_SOURCE_ROOT "/projects/attention-d128/design.wstave",
    WS_SOURCE_ROOT "/projects/gemm-grouped/design.wstave",
};

/* "add.s32 %r5, %r5, 256;": the register that counts on; NULL: another line. Caller frees. */
static char *counted(const char *line)
{
    static GRegex *add;
    if (!add)
        add = g_regex_new("^\\s+add\\.s(?:32|64) \\s*(%rd?\\d+), \\1, \\d+;", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    return g_regex_match(add, line, 0, &match) ? g_match_info_fetch(match, 1) : NULL;
}

/* The first line that defines it. */
static const char *first_of(char *const *lines, const char *reg)
{
    g_autofree char *pattern = g_strdup_printf("^\\s+(?:@!?%%p\\d+ )?[a-z][\\w.:]*\\s+%s, ", reg);
    g_autoptr(GRegex) defines = g_regex_new(pattern, 0, 0, NULL);
    for (; *lines; lines++)
        if (g_regex_match(defines, *lines, 0, NULL) && !strstr(*lines, "\tst.") &&
            !strstr(*lines, "\tsetp"))
            return *lines;
    return "";
}

static void test_starts(gconstpointer data)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsDesign) design = ws_design_load(data, findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_assert_nonnull(p);
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    g_auto(GStrv) lines = g_strsplit(ptx, "\n", -1);
    guint n = 0;
    for (char **line = lines; *line; line++) {
        g_autofree char *reg = counted(*line);
        if (!reg)
            continue;
        const char *first = first_of(lines, reg);
        g_test_message("%s: %s", reg, first);
        g_assert_true(strstr(first, "\tmov.b32") || strstr(first, "\tmov.b64"));
        n++;
    }
    g_assert_cmpuint(n, >, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *name = g_strdup_printf("/codegen/starts/%u", i);
        g_test_add_data_func(name, designs[i], test_starts);
    }
    return g_test_run();
}
