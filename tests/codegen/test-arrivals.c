/* An arrival at a named barrier between a wait for products and arithmetic: the wait stands behind
 * it once more, or ptxas moves the arrival behind all of the arithmetic (attention-d64-straight on
 * an H200: 1637 us, 1071 with it). */
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

#define STRAIGHT WS_SOURCE_ROOT "/tests/designs/search/attention-d64-straight.wstave"
#define WAIT     "            { \"mma_wait\": 0 },\n"
#define ARRIVE   "            { \"arrive\": \"turn[(replica + 1) % replicas]\" },\n"

/* Of the text with `find` written as `by`: PTX, or CUDA C++. */
static char *code(const char *find, const char *by, gboolean cuda)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(STRAIGHT, &text, NULL, NULL));
    GString *s = g_string_new(text);
    if (find)
        g_assert_cmpuint(g_string_replace(s, find, by, 0), ==, 1);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(s->str, s->len, "straight.wstave", findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_autofree char *said = ws_findings_print(findings, "straight.wstave");
    if (!p)
        g_error("%s", said);
    char *made = cuda ? ws_generate_cuda(p, FALSE, &error) : ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    g_string_free(s, TRUE);
    return made;
}

/* Arrivals in the rounds, and how many of them have the wait right behind them. */
static guint waits_behind(const char *ptx, const char *wait, guint *arrivals)
{
    g_auto(GStrv) lines = g_strsplit(ptx, "\n", -1);
    guint n = 0;
    *arrivals = 0;
    for (char **line = lines; *line; line++) {
        if (!strstr(*line, "bar.arrive") || !strstr(line[-1], "do/3/do"))
            continue;
        ++*arrivals;
        char **next = line + 1;
        while (*next && (strstr(*next, "inline asm") || strstr(*next, "// groups")))
            next++;
        n += *next && strstr(*next, wait) != NULL;
    }
    return n;
}

static void ptx(void)
{
    static const struct {
        const char *find, *by, *wait;
        gboolean all;
    } rows[] = {
        { NULL, NULL, "wgmma.wait_group.sync.aligned 0;", TRUE },
        { WAIT ARRIVE, ARRIVE WAIT, "wgmma.wait_group", TRUE }, /* its own wait, drawn there */
        { ARRIVE,
          "            { \"arrive\": \"turn[(replica + 1) % replicas]\", \"when\": \"nb > 0\" },\n",
          "wgmma.wait_group", FALSE },
        { WAIT ARRIVE, WAIT "            { \"let\": \"odd\", \"be\": \"j % 2\" },\n" ARRIVE,
          "wgmma.wait_group", TRUE },
        { ARRIVE, ARRIVE "            { \"let\": \"odd\", \"be\": \"j % 2\" },\n",
          "wgmma.wait_group", TRUE },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        guint arrivals;
        g_autofree char *text = code(rows[i].find, rows[i].by, FALSE);
        const guint n = waits_behind(text, rows[i].wait, &arrivals);
        g_test_message("row %u: %u of %u", i, n, arrivals);
        g_assert_cmpuint(arrivals, >, 0);
        g_assert_cmpuint(n, ==, rows[i].all ? arrivals : 0);
    }
}

/* Drawn in front of the wait it is not waited for twice. */
static void once(void)
{
    g_autofree char *as_drawn = code(NULL, NULL, FALSE),
                    *before = code(WAIT ARRIVE, ARRIVE WAIT, FALSE);
    g_auto(GStrv) more = g_strsplit(as_drawn, "wgmma.wait_group", -1),
                  fewer = g_strsplit(before, "wgmma.wait_group", -1);
    guint arrivals;
    waits_behind(as_drawn, "wgmma.wait_group", &arrivals);
    g_assert_cmpuint(g_strv_length(more), ==, g_strv_length(fewer) + arrivals);
}

static void cuda(void)
{
    g_autofree char *as_drawn = code(NULL, NULL, TRUE),
                    *before = code(WAIT ARRIVE, ARRIVE WAIT, TRUE);
    g_auto(GStrv) more = g_strsplit(as_drawn, "wgmma_wait<", -1),
                  fewer = g_strsplit(before, "wgmma_wait<", -1);
    g_assert_cmpuint(g_strv_length(more), >, g_strv_length(fewer));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/codegen/arrivals/ptx", ptx);
    g_test_add_func("/codegen/arrivals/once", once);
    g_test_add_func("/codegen/arrivals/cuda", cuda);
    return g_test_run();
}
