/* warpstave trace --idle of every shipped trace: what the pages of projects found by hand, and
 * nothing that cannot be: no unit is idle and at work in more than its time. */
#include "run.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *trace, *cause, *reason;
    gboolean together;
    double least, most, rated_least, rated_most;
} rows[] = {
#define WS_SHIPPED_IDLE(...) { __VA_ARGS__ },
#include "../advise/shipped_idle.def"
};

static char *idle_of(const char *file)
{
    char *text = NULL;
    const char *const arguments[] = { "trace", file, "--idle", NULL };
    g_assert_cmpint(run_for_output(arguments, &text), ==, 0);
    return text;
}

/* The number behind a word of a line, as a share; -1: the line has no such word. */
static double share_after(const char *line, const char *word)
{
    const char *end = strchr(line, '\n'), *at = strstr(line, word);
    return at && (!end || at < end) ? g_ascii_strtod(at + strlen(word), NULL) / 100 : -1;
}

static void causes(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *file =
            g_strdup_printf(WS_SOURCE_ROOT "/projects/%s.wtrace", rows[i].trace);
        g_autofree char *text = idle_of(file);
        const char *unit = strstr(text, "tensor core idle at least ");
        g_assert_nonnull(unit);
        const double idle = share_after(unit, "at least "),
                     rated = share_after(unit, "given takes ");
        g_assert_cmpfloat(idle, >=, rows[i].least);
        g_assert_cmpfloat(idle, <=, rows[i].most);
        g_assert_cmpfloat(rated, >=, rows[i].rated_least);
        g_assert_cmpfloat(rated, <=, rows[i].rated_most);
        g_auto(GStrv) line = g_strsplit(unit, "\n", 3);
        g_autofree char *wanted = g_strdup_printf("%%  %-6s %s (", rows[i].reason, rows[i].cause);
        g_test_message("%s: %s", rows[i].trace, line[1]);
        g_assert_nonnull(strstr(line[1], wanted));
        g_assert_cmpint(strstr(line[1], "of all agents that use it at once") != NULL, ==,
                        rows[i].together);
    }
}

/* Of one unit: its line and the causes below it. */
static void unit_holds(const char *line)
{
    const double least = share_after(line, "idle at least "), most = share_after(line, "at most ");
    const double rated = share_after(line, "given takes ");
    g_assert_cmpfloat(least, <=, 1);
    g_assert_true(most < 0 || (most >= least && most <= 1));
    /* figures are printed in tenths of a hundredth */
    g_assert_true(rated < 0 || rated + least <= 1.0015);
    double sum = 0;
    for (const char *at = strchr(line, '\n'); at && g_str_has_prefix(at + 1, "  ");
         at = strchr(at + 1, '\n'))
        if (strstr(at, "gaps)") && memchr(at, '%', 12))
            sum += g_ascii_strtod(at + 1, NULL) / 100;
    g_assert_cmpfloat(sum, <=, least + 0.005);
}

static void laws(void)
{
    g_autoptr(GDir) projects = g_dir_open(WS_SOURCE_ROOT "/projects", 0, NULL);
    const char *name, *trace;
    guint n = 0, unknown = 0;
    while ((name = g_dir_read_name(projects))) {
        g_autofree char *folder =
            g_build_filename(WS_SOURCE_ROOT, "projects", name, "measured", NULL);
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        while (dir && (trace = g_dir_read_name(dir))) {
            if (!g_str_has_suffix(trace, ".wtrace"))
                continue;
            g_autofree char *file = g_build_filename(folder, trace, NULL), *text = idle_of(file);
            guint units = 0;
            for (const char *at = text; (at = strstr(at, " idle at least ")); at++, units++) {
                const char *line = at;
                while (line > text && line[-1] != '\n')
                    line--;
                unit_holds(line);
            }
            if (!units) /* of some rounds, or of none: that is said instead */
                g_assert_nonnull(strstr(text, "recorded"));
            unknown += units == 0;
            n++;
        }
    }
    g_test_message("%u traces, %u without units", n, unknown);
    g_assert_cmpuint(n, >=, 25);
    g_assert_cmpuint(unknown, <=, 2);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cli/idle/causes", causes);
    g_test_add_func("/cli/idle/laws", laws);
    return g_test_run();
}
