/* Several shapes: which design for which, what a rule of few designs loses, and the rule as `pick`
 * reads it. */
#include "cli/pick/pick.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "search/shapes.h"

#include <math.h>
#include <string.h>

#define SHAPES 3
static const gint64 size_of[SHAPES][3] = { { 1024, 1024, 2048 },
                                           { 4096, 4096, 512 },
                                           { 256, 8192, 1024 } };

typedef struct {
    WsDesign *design;
    WsProgram *p;
    WsMachine *m;
    WsTrialOf of[SHAPES];
    WsLaunchValues *v[SHAPES];
    WsSearch *found[SHAPES];
} Fixture;

static void set_up(Fixture *f, gconstpointer unused)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsSearchOptions options = { .seconds = 1000, .beam = 2, .rounds = 2 };
    f->design = ws_design_load(WS_SOURCE_ROOT "/tests/designs/search/gemm-plain.wstave", findings);
    f->p = ws_elaborate(f->design, NULL, 0, findings);
    f->m = ws_machine_load(NULL, NULL);
    g_assert_nonnull(f->p);
    for (guint i = 0; i < SHAPES; i++) {
        const WsSize size[] = { { "M", size_of[i][0] },
                                { "N", size_of[i][1] },
                                { "K", size_of[i][2] } };
        f->v[i] = ws_launch_values(f->p, size, 3, FALSE, findings);
        f->of[i] = (WsTrialOf){ f->p, f->v[i], f->m };
        f->found[i] = ws_search_new(&f->of[i], f->design, &options, findings);
        g_assert_nonnull(f->found[i]);
    }
}

static void tear_down(Fixture *f, gconstpointer unused)
{
    for (guint i = 0; i < SHAPES; i++) {
        ws_search_free(f->found[i]);
        ws_launch_values_free(f->v[i]);
    }
    ws_machine_free(f->m);
    ws_program_unref(f->p);
    ws_design_unref(f->design);
}

/* By the clock, with nothing that the rule was made from. */
static gint64 cycles_of(const Fixture *f, const WsDesign *design, guint shape)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    const WsSize size[] = { { "M", size_of[shape][0] },
                            { "N", size_of[shape][1] },
                            { "K", size_of[shape][2] } };
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, 3, FALSE, findings);
    const WsClockOptions options = { .no_trace = TRUE };
    g_autoptr(WsClockResult) r = ws_clock_run(p, v, f->m, &options, findings);
    return r ? r->cycles : 0;
}

/* The mean regret of the best rule of so many designs, all of them tried. */
static double best_mean(const WsShapes *s, guint most)
{
    double least = INFINITY;
    const guint n = s->all->len;
    for (guint a = 0; a < n; a++)
        for (guint b = most > 1 ? 0 : a; b <= (most > 1 ? n - 1 : a); b++) {
            double sum = 0;
            for (guint i = 0; i < SHAPES; i++) {
                double best = INFINITY, own = INFINITY;
                for (guint d = 0; d < n; d++) {
                    const double c = (double)s->cycles[d * SHAPES + i];
                    best = c > 0 ? MIN(best, c) : best;
                    if ((d == a || d == b) && c > 0)
                        own = MIN(own, c);
                }
                sum += own / best - 1;
            }
            least = MIN(least, sum / SHAPES);
        }
    return least;
}

static void check_rule(const Fixture *f, const WsShapes *s)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint k = 0; k < s->kept->len; k++)
        g_ptr_array_add(names, g_strdup_printf("d%u.wstave", g_array_index(s->kept, guint, k)));
    g_autofree char *text = ws_shapes_rule(s, f->of, (const char *const *)names->pdata);
    for (guint i = 0; i <= SHAPES; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GHashTable) sizes =
            g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        static const char *const name[] = { "M", "N", "K" };
        for (guint k = 0; k < 3; k++) {
            /* The last one is no shape that was searched. */
            const gint64 value = i < SHAPES ? size_of[i][k] : 777 + (gint64)k;
            g_hash_table_insert(sizes, g_strdup(name[k]), g_memdup2(&value, sizeof value));
        }
        g_autoptr(GPtrArray) choices = ws_pick_judge(text, sizes, &error);
        g_assert_no_error(error);
        const WsPickChoice *best = ws_pick_best(choices);
        g_assert_nonnull(best);
        g_autofree char *wanted =
            i < SHAPES ? g_strdup_printf("d%u.wstave", s->choice[i]) : g_strdup(names->pdata[0]);
        g_assert_cmpstr(best->design, ==, wanted);
        if (i < SHAPES)
            g_assert_cmpint(best->cost, ==, s->cycles[s->choice[i] * SHAPES + i]);
    }
}

static void test_rule(Fixture *f, gconstpointer unused)
{
    for (guint most = 1; most <= 4; most++) {
        g_autoptr(WsShapes) s =
            ws_shapes_new(f->of, (const WsSearch *const *)f->found, SHAPES, f->design, most);
        double worst = 0, sum = 0;
        g_assert_cmpuint(s->all->len, >, 2);
        g_assert_cmpuint(s->kept->len, <=, most);
        for (guint i = 0; i < SHAPES; i++) {
            gint64 best = G_MAXINT64;
            for (guint d = 0; most == 1 && d < s->all->len; d++)
                g_assert_cmpint(s->cycles[d * SHAPES + i], ==, cycles_of(f, s->all->pdata[d], i));
            for (guint d = 0; d < s->all->len; d++)
                if (s->cycles[d * SHAPES + i] > 0)
                    best = MIN(best, s->cycles[d * SHAPES + i]);
            const double own = (double)s->cycles[s->choice[i] * SHAPES + i] / (double)best - 1;
            g_assert_cmpfloat_with_epsilon(own, s->regret[i], 1e-9);
            worst = MAX(worst, own);
            sum += own;
        }
        g_assert_cmpfloat_with_epsilon(worst, s->worst, 1e-9);
        g_assert_cmpfloat_with_epsilon(sum / SHAPES, s->mean, 1e-9);
        if (most <= 2)
            g_assert_cmpfloat_with_epsilon(s->mean, best_mean(s, most), 1e-3);
        check_rule(f, s);
        g_test_message("%u of %u designs: regret %.2f %% on average, %.2f %% at most", s->kept->len,
                       s->all->len, 100 * s->mean, 100 * s->worst);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/shapes/rule", Fixture, NULL, set_up, test_rule, tear_down);
    return g_test_run();
}
