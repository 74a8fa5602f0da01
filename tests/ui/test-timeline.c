/* Arithmetic of the score on screen: no display. The numbers Inn are those of the studio's list of
 * interactions. */
#include "clock/clock.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#include "score/scene.h"
#include "ui/timeline/timeline_view.h"

#include <math.h>

static WsPane pane(double length)
{
    WsPane v;
    ws_pane_init(&v);
    v.width = 1400;
    v.height = 500;
    v.content = 900;
    v.length = length;
    ws_pane_show(&v, 0, length);
    return v;
}

static void test_zoom_about_pointer(void) /* I01 */
{
    WsPane v = pane(271349);
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    ws_pane_show(&v, 120000, 150000);
    for (guint i = 0; i < 5000; i++) {
        double x = g_rand_double_range(rand, 0, v.width);
        double unit = ws_pane_unit(&v, x), old = v.at.scale;
        ws_pane_zoom_at(&v, x, g_rand_boolean(rand) ? 1.2 : 1 / 1.2);
        gboolean at_end =
            v.at.scale == old || v.at.from < 0 || v.at.from + v.width / v.at.scale > v.length;
        if (!at_end) /* away from the ends nothing forbids it */
            g_assert_cmpfloat(fabs(ws_pane_x(&v, unit) - x), <, 1);
        g_assert_cmpfloat(v.at.scale, <=, WS_PANE_MAX_SCALE);
        g_assert_cmpfloat(v.at.scale, >, 0);
    }
    ws_pane_clear(&v);
}

static void test_pan_stays_inside(void) /* I03 */
{
    WsPane v = pane(100000);
    ws_pane_show(&v, 40000, 42000);
    for (guint i = 0; i < 1000; i++)
        ws_pane_pan(&v, 5000, 100);
    g_assert_cmpfloat(v.at.from + v.width / v.at.scale, <=, 100000 + 2000 / 5);
    g_assert_cmpfloat(v.at.y, ==, 400);
    for (guint i = 0; i < 1000; i++)
        ws_pane_pan(&v, -5000, -100);
    g_assert_cmpfloat(v.at.from, >=, -2000 / 5);
    g_assert_cmpfloat(v.at.y, ==, 0);
    double from = v.at.from = 50000;
    ws_pane_pan(&v, 37, 0);
    g_assert_cmpfloat(fabs((v.at.from - from) * v.at.scale - 37), <, 1e-6);
    ws_pane_clear(&v);
}

/* Whatever was done to it, and however long the score is now: the view lies inside it, and goes
 * back to where the person left it when the score is as long as it was. */
static void test_returns(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(19);
    WsPane v = pane(271349);
    ws_pane_settle(&v, FALSE);
    for (guint i = 0; i < 20000; i++) {
        const WsPanePlace before = v.at;
        const double length = v.length, content = v.content;
        switch (g_rand_int_range(rand, 0, 6)) {
        case 0:
            ws_pane_zoom_at(&v, g_rand_double_range(rand, 0, v.width),
                            g_rand_double_range(rand, 0.01, 100));
            break;
        case 1:
            ws_pane_pan(&v, g_rand_double_range(rand, -1e7, 1e7),
                        g_rand_double_range(rand, -1e4, 1e4));
            break;
        case 2:
            ws_pane_show(&v, g_rand_double_range(rand, -1e6, 1e6),
                         g_rand_double_range(rand, -1e6, 1e7));
            break;
        case 3:
            ws_pane_push(&v, i, 0);
            ws_pane_back(&v);
            break;
        case 4: /* there and back, over nothing at all */
            v.length = g_rand_boolean(rand) ? 1 : g_rand_double_range(rand, 1, 1e7);
            v.content = g_rand_double_range(rand, 0, 3000);
            ws_pane_settle(&v, ws_pane_return(&v));
            v.length = length;
            v.content = content;
            g_assert_true(ws_pane_return(&v));
            ws_pane_settle(&v, TRUE);
            g_assert_cmpfloat(fabs(v.at.from - before.from), <, 1e-6);
            g_assert_cmpfloat(v.at.scale, ==, before.scale);
            g_assert_cmpfloat(v.at.y, ==, before.y);
            break;
        default:
            v.length = g_rand_boolean(rand) ? 1 : exp(g_rand_double_range(rand, 0, 18));
            v.content = g_rand_double_range(rand, 0, 3000);
            v.width = g_rand_double_range(rand, 16, 3000);
            break;
        }
        ws_pane_settle(&v, ws_pane_return(&v));
        const double shown = v.width / v.at.scale;
        const double beyond = fmax(shown / 10, (shown - v.length) / 2) * (1 + 1e-9) + 1e-6;
        g_assert_cmpfloat(v.at.from, >=, -beyond);
        g_assert_cmpfloat(v.at.from + shown, <=, v.length + beyond);
        g_assert_cmpfloat(v.at.scale, >, 0);
        g_assert_cmpfloat(v.at.scale, <=, WS_PANE_MAX_SCALE);
        g_assert_cmpfloat(v.at.y, >=, 0);
        g_assert_cmpfloat(v.at.y, <=, fmax(v.content - v.height, 0));
    }
    ws_pane_clear(&v);
}

static void test_fit_and_most(void) /* I04 */
{
    WsPane v = pane(5000);
    ws_pane_show(&v, -50, 5050);
    g_assert_cmpfloat(ws_pane_x(&v, 0), >=, 0);
    g_assert_cmpfloat(ws_pane_x(&v, 5000), <=, v.width);
    ws_pane_show(&v, 2500, 2500.001); /* no closer than the most */
    g_assert_cmpfloat(v.at.scale, ==, WS_PANE_MAX_SCALE);
    g_assert_cmpfloat(fabs(ws_pane_x(&v, 2500) - v.width / 2), <, 1);
    ws_pane_zoom_at(&v, 700, 1e-9);
    g_assert_cmpfloat(v.width / v.at.scale, <=, 5000 / 0.8 + 1);
    ws_pane_clear(&v);
}

static void test_reveal(void)
{
    WsPane v = pane(100000);
    ws_pane_show(&v, 10000, 12000);
    g_assert_false(ws_pane_reveal(&v, 10800, 10900));
    g_assert_true(ws_pane_reveal(&v, 12050, 12100)); /* near: just into the window */
    g_assert_cmpfloat(ws_pane_x(&v, 12100), <, v.width);
    g_assert_cmpfloat(ws_pane_x(&v, 12100), >, v.width / 2);
    g_assert_true(ws_pane_reveal(&v, 80000, 80100)); /* far: into the middle */
    g_assert_cmpfloat(fabs(ws_pane_x(&v, 80050) - v.width / 2), <, 1);
    g_assert_true(ws_pane_reveal_y(&v, 700, 22));
    g_assert_cmpfloat(v.at.y, ==, 700 + 22 + 8 - 500);
    g_assert_false(ws_pane_reveal_y(&v, 600, 22));
    ws_pane_clear(&v);
}

static void test_history(void) /* I07 */
{
    WsPane v = pane(100000);
    ws_pane_show(&v, 0, 1000);
    gint64 now = 1000000;
    double first = v.at.from;
    g_assert_false(ws_pane_back(&v));
    ws_pane_push(&v, now, 700000);
    ws_pane_show(&v, 50000, 51000);
    ws_pane_push(&v, now + 100000, 700000); /* the same movement */
    ws_pane_show(&v, 60000, 61000);
    double last = v.at.from;
    g_assert_true(ws_pane_back(&v));
    g_assert_cmpfloat(v.at.from, ==, first);
    g_assert_false(ws_pane_back(&v));
    g_assert_true(ws_pane_forward(&v));
    g_assert_cmpfloat(v.at.from, ==, last);
    g_assert_false(ws_pane_forward(&v));
    g_assert_true(ws_pane_back(&v));
    ws_pane_push(&v, now + 5000000, 700000); /* another way: what was ahead is gone */
    ws_pane_show(&v, 20000, 21000);
    g_assert_false(ws_pane_forward(&v));
    for (gint64 i = 0; i < 1000; i++) {
        ws_pane_push(&v, now * (10 + i), 0);
        ws_pane_show(&v, (double)i * 50, (double)i * 50 + 1000);
    }
    g_assert_cmpuint(v.history->len, <=, 200);
    ws_pane_clear(&v);
}

static void test_order(void)
{
    static const gint64 knot[] = { 0, 10, 11, 1000, 1000000 };
    for (double u = -3; u < 8; u += 0.125)
        g_assert_cmpfloat(fabs(ws_order_of(knot, 5, ws_order_time(knot, 5, u)) - u), <, 1e-9);
    g_assert_cmpfloat(ws_order_of(knot, 5, 10), ==, 1);
    g_assert_cmpfloat(ws_order_of(knot, 5, 10.5), ==, 1.5);
    g_assert_cmpfloat(ws_order_of(knot, 5, 1000000), ==, 4);
}

/* --- scenes of a design
 * ---------------------------------------------------------------------------
 */

typedef struct {
    WsDesign *design;
    WsProgram *program;
    WsClockResult *clock;
} Fixture;

static void load(Fixture *f, gconstpointer file)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, file, NULL);
    f->design = ws_design_load(path, findings);
    f->program = ws_elaborate(f->design, NULL, 0, findings);
    g_assert_nonnull(f->program);
    g_autoptr(WsLaunchValues) v = ws_launch_values(f->program, NULL, 0, TRUE, findings);
    g_autoptr(WsMachine) machine = ws_machine_load(NULL, NULL);
    f->clock = ws_clock_run(f->program, v, machine, NULL, findings);
    g_assert_nonnull(f->clock);
}

static void drop(Fixture *f, gconstpointer file)
{
    ws_clock_result_free(f->clock);
    ws_program_unref(f->program);
    ws_design_unref(f->design);
}

/* Any window: exact edges, x and time are inverse, rows stay where the opening window put them. */
static void test_windows(Fixture *f, gconstpointer file)
{
    g_autoptr(WsScoreCache) cache = ws_score_cache_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    WsSceneOptions o = { .width = 1300, .bare = TRUE, .cache = cache };
    g_autoptr(WsScene) opening = ws_scene_new(f->program, f->clock->trace, NULL, &o);
    g_assert_cmpuint(opening->item->len, >, 10);
    guint rows = opening->row->len;
    gint64 length = f->clock->trace->cycles;
    for (guint i = 0; i < 60; i++) {
        o.from = g_rand_int_range(rand, 0, (gint32)MIN(length, G_MAXINT32 / 2));
        o.to = o.from + g_rand_int_range(rand, 1, i % 4 ? 9000 : (gint32)MIN(length, 1 << 30));
        o.hasty = i % 5 == 0;
        g_autoptr(WsScene) s = ws_scene_new(f->program, f->clock->trace, NULL, &o);
        g_assert_cmpfloat(ws_scene_x(s, o.from), ==, 0);
        g_assert_cmpfloat(fabs(ws_scene_x(s, o.to) - 1300), <, 1e-6);
        gint64 t = o.from + (o.to - o.from) / 3;
        g_assert_cmpfloat(fabs(ws_scene_time(s, ws_scene_x(s, t)) - (double)t), <, 1e-3);
        for (guint k = 0; k < s->item->len; k++) {
            const WsSceneItem *item = &g_array_index(s->item, WsSceneItem, k);
            g_assert_cmpfloat(item->x, >=, -0.01);
            g_assert_cmpfloat(item->x + item->w, <=, 1301.1);
            g_assert_cmpuint(item->row, <, s->row->len);
        }
        g_assert_cmpuint(s->row->len, >=, rows); /* rows come, and do not go */
        rows = s->row->len;
    }
}

/* However long the window, no more items than the screen can show. */
static void test_bounded(Fixture *f, gconstpointer file)
{
    g_autoptr(WsScoreCache) cache = ws_score_cache_new();
    WsSceneOptions o = { .width = 1300, .bare = TRUE, .cache = cache, .to = 1 };
    guint most = 0;
    for (gint64 to = 1000; to < f->clock->trace->cycles * 4; to *= 2) {
        o.to = to;
        g_autoptr(WsScene) s = ws_scene_new(f->program, f->clock->trace, NULL, &o);
        most = MAX(most, s->item->len);
    }
    g_assert_cmpuint(most, <, 12000);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/timeline/I01-zoom-about-pointer", test_zoom_about_pointer);
    g_test_add_func("/timeline/I03-pan-stays-inside", test_pan_stays_inside);
    g_test_add_func("/timeline/returns", test_returns);
    g_test_add_func("/timeline/I04-fit", test_fit_and_most);
    g_test_add_func("/timeline/reveal", test_reveal);
    g_test_add_func("/timeline/I07-history", test_history);
    g_test_add_func("/timeline/order", test_order);
    static const char *const file[] = { "projects/gemm-bf16/design.wstave",
                                        "tests/designs/attention-fa3-causal.wstave" };
    for (guint i = 0; i < G_N_ELEMENTS(file); i++) {
        g_autofree char *windows = g_strdup_printf("/timeline/windows/%u", i);
        g_autofree char *bounded = g_strdup_printf("/timeline/bounded/%u", i);
        g_test_add(windows, Fixture, file[i], load, test_windows, drop);
        g_test_add(bounded, Fixture, file[i], load, test_bounded, drop);
    }
    return g_test_run();
}
