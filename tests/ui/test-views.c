/* The view stays on the score whatever becomes of it: zoomed, scrolled, edited, undone to nothing
 * and done again, folded, another design opened. */
#include "scenario/hands.h"

#include "ui/timeline/timeline_private.h"

#include <math.h>

/* Something of the score is inside the window, whose ends are at most a tenth of it away. */
static void expect_on_score(Scenario *s, const char *after)
{
    WsTimeline *t = hands_timeline(s);
    hands_settle(s);
    if (!t->scene || !t->main_trace || !t->main_trace->record->len)
        return; /* an empty design says so in words */
    const WsPane *v = &t->view;
    const double shown = v->width / v->at.scale;
    g_assert_cmpfloat(v->at.y, >=, 0);
    g_assert_cmpfloat(v->at.y, <=, MAX(v->content - v->height, 0) + 1);
    if (v->at.folded)
        return;
    const double beyond = MAX(shown / 10, (shown - v->length) / 2) + 1e-6;
    if (v->at.from < -beyond || v->at.from + shown > v->length + beyond ||
        v->at.scale > WS_PANE_MAX_SCALE)
        g_error("after %s: %.0f to %.0f of %.0f are shown", after, v->at.from, v->at.from + shown,
                v->length);
    guint in_view = 0;
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        const double x = item->x + ws_timeline_offset(t);
        in_view += x + item->w > 0 && x < v->width;
    }
    if (!in_view && shown > 2000)
        g_error("after %s: nothing is shown", after);
}

static void do_all(Scenario *s, const char *action)
{
    for (guint i = 0; i < 200 && scenario_enabled(s, action); i++) {
        scenario_act(s, action);
        hands_settle(s);
    }
}

static double zoom_of(Scenario *s)
{
    double zoom;
    g_object_get(s->timeline, "zoom", &zoom, NULL);
    return zoom;
}

/* A score that goes and comes back (all of it deleted, undone, done again): the place that was
 * looked at is shown again, at its zoom. */
static void undone_and_done(Scenario *s)
{
    WsTimeline *t = hands_timeline(s);
    double from, to, f, u;
    hands_begin(s, "projects/gemm-bf16/design.wstave");
    WAIT_FOR(t->scene);
    ws_timeline_set_view(t, 100000, 130000);
    scenario_settle(s->timeline);
    ws_timeline_get_view(t, &from, &to);
    const double zoom = zoom_of(s);
    scenario_act(s, "select-all");
    hands_settle(s);
    scenario_act(s, "delete");
    hands_settle(s);
    expect_on_score(s, "deleting all");
    for (guint i = 0; i < 2; i++) {
        do_all(s, "undo");
        expect_on_score(s, "undo to the start");
        ws_timeline_get_view(t, &f, &u);
        g_assert_cmpfloat(fabs(f - from), <, 2);
        g_assert_cmpfloat(fabs(u - to), <, 2);
        g_assert_cmpfloat(fabs(zoom_of(s) / zoom - 1), <, 0.01);
        do_all(s, "redo");
        expect_on_score(s, "redo to the end");
    }
}

/* Events in order, of a design that has none. */
static void nothing_in_order(Scenario *s)
{
    hands_begin(s, "projects/gemm-bf16/design.wstave");
    scenario_act(s, "select-all");
    hands_settle(s);
    scenario_act(s, "delete");
    hands_settle(s);
    for (guint i = 0; i < 2; i++) {
        scenario_act(s, "toggle-axis");
        expect_on_score(s, "the other axis of nothing");
    }
}

/* Random sequences; the seed of a failure is in its words. */
static void random_walk(Scenario *s)
{
    static const char *const action[] = { "zoom-in", "zoom-in",     "zoom-out",  "zoom-normal",
                                          "fit-all", "toggle-axis", "undo",      "redo",
                                          "delete",  "duplicate",   "pan-right", "pan-left" };
    static const char *const design[] = { "projects/gemm-bf16/design.wstave",
                                          "tests/designs/broken/02-wrong-count.wstave",
                                          "projects/attention-d64/design.wstave" };
    const char *given = g_getenv("WARPSTAVE_SEED");
    const guint32 seed = given ? (guint32)g_ascii_strtoull(given, NULL, 10) : 19;
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    WsTimeline *t = hands_timeline(s);
    g_test_message("WARPSTAVE_SEED=%u", seed);
    for (guint i = 0; i < 140; i++) {
        const guint what = (guint)g_rand_int_range(rand, 0, G_N_ELEMENTS(action) + 6);
        if (i % 45 == 44) {
            scenario_open(s, design[i / 45 % G_N_ELEMENTS(design)]);
            expect_on_score(s, "opening");
            continue;
        }
        if (what >= G_N_ELEMENTS(action)) {
            const WsProgram *p = ws_document_program(s->document);
            const guint n = t->scene ? t->scene->item->len : 0;
            const WsSceneItem *item =
                n && p ? ws_timeline_item(t, (guint)g_rand_int_range(rand, 0, (gint32)n)) : NULL;
            WsFocus focus = { .agent = G_MAXUINT, .tile = -1, .round = -1 };
            if (item && item->step) {
                focus.step = item->step;
                ws_document_select(s->document, &focus, WS_SELECT_REPLACE, TRUE);
            }
            ws_timeline_zoom_at(t, g_rand_double_range(rand, 0, t->view.width),
                                g_rand_double_range(rand, 0.01, 60));
            ws_pane_pan(&t->view, g_rand_double_range(rand, -1e6, 1e6),
                        g_rand_double_range(rand, -3000, 3000));
            ws_timeline_refresh(t);
        } else if (scenario_enabled(s, action[what])) {
            scenario_act(s, action[what]);
        }
        expect_on_score(s, what < G_N_ELEMENTS(action) ? action[what] : "zoom and pan");
    }
    do_all(s, "undo");
    expect_on_score(s, "undo to the start");
    do_all(s, "redo");
    expect_on_score(s, "redo to the end");
}

static void add(void)
{
    scenario_add("views/undone-and-done", undone_and_done);
    scenario_add("views/nothing-in-order", nothing_in_order);
    scenario_add("views/random-walk", random_walk);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
