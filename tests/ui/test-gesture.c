/* I16-I20, I25: editing the score with the pointer. */
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "scenario/hands.h"
#include "scenario/seen.h"

#include "ui/gesture/gesture.h"

#include <math.h>
#include <string.h>

#define LOADS "groups/load/body/0/do/0/do/"
#define MMAS  "groups/mma/body/0/do/0/do/"

static const WsSceneItem *find(Scenario *s, const char *step, gint32 round, double from)
{
    return hands_find(s, (HandsItem){ step, -1, round, -1, from, FALSE });
}

/* --- I17: reorder, with words; Escape leaves no trace
 * ---------------------------------------------- */

static void drag_along(Scenario *s)
{
    double x0, y0, x1, y1;
    g_autofree char *first = hands_text(s);
    hands_zoom_to(s, LOADS "1", -1, 60, 3000);
    const WsSceneItem *b = find(s, LOADS "2", 60, 0), *a = find(s, LOADS "1", 60, 0);
    g_assert_nonnull(a);
    g_assert_nonnull(b);
    hands_place(s, b, 0.4, &x0, &y0);
    hands_place(s, a, 0.1, &x1, &y1);
    x1 -= 1;
    hands_press(s, x0, y0);
    g_assert_false(seen_gesture_active(hands_timeline(s)));
    hands_glide(s, x0, y0, x1, y1);
    g_assert_true(seen_gesture_active(hands_timeline(s)));
    g_test_message("%.0f %.0f -> %.0f %.0f", x0, y0, x1, y1);
    g_test_message("%s", seen_gesture_words(hands_timeline(s)));
    WAIT_FOR(ws_document_trying(s->document));
    g_autofree char *words = g_strdup(seen_gesture_words(hands_timeline(s)));
    g_test_message("%s", words);
    g_assert_nonnull(strstr(words, "before load A"));
    WAIT_FOR(strstr(seen_gesture_words(hands_timeline(s)), "✔"));
    scenario_key("Escape");
    hands_settle(s);
    g_assert_false(seen_gesture_active(hands_timeline(s)));
    g_assert_false(ws_document_trying(s->document));
    hands_let_go(s);
    g_autofree char *same = hands_text(s);
    g_assert_cmpstr(same, ==, first);
    g_assert_false(ws_document_dirty(s->document));
    /* Once more, and let go. */
    hands_zoom_to(s, LOADS "1", -1, 60, 3000);
    a = find(s, LOADS "1", 60, 0);
    b = find(s, LOADS "2", 60, 0);
    hands_place(s, b, 0.4, &x0, &y0);
    hands_place(s, a, 0.1, &x1, &y1);
    hands_press(s, x0, y0);
    hands_glide(s, x0, y0, x1 - 1, y1);
    hands_let_go(s);
    WsDesign *now = ws_document_latest(s->document);
    g_assert_cmpstr(ws_node_text(ws_design_find(now, LOADS "1"), WS_F_keyword), ==, "B");
    g_assert_cmpstr(ws_node_text(ws_design_find(now, LOADS "2"), WS_F_keyword), ==, "A");
    g_assert_cmpstr(ws_history_undo_name(ws_document_history(s->document)), ==, "Move load B");
    scenario_act(s, "undo");
    hands_settle(s);
    g_autofree char *back = hands_text(s);
    g_assert_cmpstr(back, ==, first);
}

/* Across the end of the loop: the round before. */
static void drag_across(Scenario *s)
{
    double x0, y0, x1, y1;
    hands_zoom_to(s, LOADS "0", -1, 60, 4000);
    const WsSceneItem *wait = find(s, LOADS "0", 60, 0), *b = find(s, LOADS "2", 59, 0);
    g_assert_nonnull(wait);
    g_assert_nonnull(b);
    hands_place(s, wait, 0.5, &x0, &y0);
    hands_place(s, b, 0.9, &x1, &y1);
    hands_press(s, x0, y0);
    hands_glide(s, x0, y0, x1, y1);
    g_test_message("%s", seen_gesture_words(hands_timeline(s)));
    g_assert_nonnull(strstr(seen_gesture_words(hands_timeline(s)), "1 round ahead"));
    hands_let_go(s);
    const WsNode *last = ws_design_find(ws_document_latest(s->document), LOADS "2");
    g_assert_cmpint(last->kind, ==, WS_STEP_WAIT);
    g_assert_cmpint(ws_node_int(last, WS_F_ahead, 0), ==, 1);
}

/* Onto another staff. */
static void drag_over(Scenario *s)
{
    double x0, y0, x1, y1;
    hands_zoom_to(s, MMAS "1", -1, 60, 3000);
    const WsSceneItem *b = find(s, LOADS "2", -1, 0), *mma = find(s, MMAS "1", -1, 0);
    g_assert_nonnull(b);
    g_assert_nonnull(mma);
    hands_place(s, b, 0.4, &x0, &y0);
    hands_place(s, mma, 0.1, &x1, &y1);
    hands_press(s, x0, y0);
    hands_glide(s, x0, y0, x1, y1);
    g_test_message("%s", seen_gesture_words(hands_timeline(s)));
    g_assert_nonnull(strstr(seen_gesture_words(hands_timeline(s)), "in mma"));
    hands_let_go(s);
    /* Before the mma or the wait behind it, whichever the pointer is nearer to. */
    const WsNode *loop = ws_design_find(ws_document_latest(s->document), "groups/mma/body/0/do/0");
    guint found = 0;
    for (guint i = 1; i < 3; i++)
        found += ws_node_child(loop, WS_F_do, i)->kind == WS_STEP_LOAD;
    g_assert_cmpuint(found, ==, 1);
}

/* --- I20: an edge
 * ----------------------------------------------------------------------------------- */

static void draw_edge(Scenario *s)
{
    g_autoptr(WsDraft) bare = ws_draft_new(ws_document_latest(s->document));
    const guint64 empty = ws_document_node(s->document, "barriers/empty");
    g_assert_true(ws_edit_remove(bare, &empty, 1));
    g_assert_true(ws_document_commit(s->document, bare, NULL));
    hands_settle(s);
    /* Without `empty` the score is refuted; an edge from the mma to the load mends it. */
    const WsSceneItem *mma, *load;
    g_assert_true(hands_find_pair(s, MMAS "1", LOADS "0", 2600, &mma, &load));
    hands_draw_edge(s, mma, load);
    g_test_message("%s", seen_gesture_words(hands_timeline(s)));
    g_assert_true(seen_gesture_active(hands_timeline(s)));
    g_assert_nonnull(strstr(seen_gesture_words(hands_timeline(s)), "new barrier empty"));
    g_assert_nonnull(strstr(seen_gesture_words(hands_timeline(s)), "STAGES slots, ready at first"));
    hands_let_go(s);
    WsDesign *now = ws_document_latest(s->document);
    g_assert_nonnull(ws_design_find(now, "barriers/empty"));
    g_assert_cmpstr(ws_node_text(ws_design_find(now, "barriers/empty"), WS_F_init), ==, "ready");
    g_autofree char *text = hands_text(s);
    g_assert_nonnull(strstr(text, "\"wait\": \"empty\""));
    g_assert_nonnull(strstr(text, "\"arrive\": \"empty\""));
}

/* --- what is tried may be another score, or none: the pointer keeps what it drags over
 * ------------
 */

/* The design with another field of the loop of the loads. */
static void try_count(Scenario *s, const char *count)
{
    g_autoptr(WsDraft) d = ws_draft_new(ws_document_latest(s->document));
    const guint64 loop = ws_document_node(s->document, "groups/load/body/0/do/0");
    g_assert_true(ws_draft_set(d, loop, WS_F_count, ws_json_text(count)));
    ws_document_try(s->document, d->design);
    hands_settle(s);
}

static void view_holds(Scenario *s)
{
    double x0, y0, from, to, from2, to2;
    WsTimeline *t = hands_timeline(s);
    g_autofree char *first = hands_text(s);
    hands_zoom_to(s, LOADS "1", -1, 100, 3000);
    const WsSceneItem *a = find(s, LOADS "1", 100, 0);
    g_assert_nonnull(a);
    hands_place(s, a, 0.4, &x0, &y0);
    ws_timeline_get_view(t, &from, &to);
    hands_press(s, x0, y0);
    hands_glide(s, x0, y0, x0 + 40, y0);
    g_assert_true(seen_gesture_active(t));
    static const char *const counts[] = { "1", "0" };
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
        try_count(s, counts[i]); /* the score of it ends long before what is in view */
        g_assert_true(seen_gesture_active(t));
        g_assert_true(gtk_widget_get_mapped(t->canvas));
        ws_timeline_get_view(t, &from2, &to2);
        g_assert_cmpfloat_with_epsilon(from, from2, 1e-6);
        g_assert_cmpfloat_with_epsilon(to, to2, 1e-6);
    }
    hands_glide(s, x0 + 40, y0, x0, y0); /* back where it is: nothing to be done */
    hands_let_go(s);
    ws_timeline_get_view(t, &from2, &to2);
    g_assert_cmpfloat_with_epsilon(from, from2, 1e-6);
    g_autofree char *same = hands_text(s);
    g_assert_cmpstr(same, ==, first);
}

/* A pointer that is taken away while it drags lets nothing go. */
static void pointer_taken(Scenario *s)
{
    double x0, y0, x1, y1;
    WsTimeline *t = hands_timeline(s);
    g_autofree char *first = hands_text(s);
    hands_zoom_to(s, LOADS "1", -1, 60, 3000);
    const WsSceneItem *b = find(s, LOADS "2", 60, 0), *a = find(s, LOADS "1", 60, 0);
    g_assert_true(a && b);
    hands_place(s, b, 0.4, &x0, &y0);
    hands_place(s, a, 0.1, &x1, &y1);
    hands_press(s, x0, y0);
    hands_glide(s, x0, y0, x1 - 1, y1);
    g_assert_true(seen_gesture_active(t) && ws_document_trying(s->document));
    g_autoptr(GListModel) all = gtk_widget_observe_controllers(t->canvas);
    for (guint i = 0; i < g_list_model_get_n_items(all); i++) {
        g_autoptr(GtkEventController) each = g_list_model_get_item(all, i);
        if (GTK_IS_GESTURE_DRAG(each)) /* as a broken grab does */
            gtk_event_controller_reset(each);
    }
    g_assert_false(seen_gesture_active(t));
    hands_let_go(s);
    g_autofree char *same = hands_text(s);
    g_assert_cmpstr(same, ==, first);
}

/* An answer between two frames takes the drawn score away; a click meanwhile still counts. */
static void click_between_frames(Scenario *s)
{
    double x, y;
    int sx, sy;
    hands_zoom_to(s, LOADS "1", -1, 60, 3000);
    const WsSceneItem *a = find(s, LOADS "1", 60, 0);
    g_assert_nonnull(a);
    hands_place(s, a, 0.5, &x, &y);
    scenario_on_screen(hands_timeline(s)->canvas, x, y, &sx, &sy);
    scenario_xdo("mousemove %d %d", sx, sy);
    scenario_settle(s->timeline);
    for (guint i = 0; i < 2; i++) { /* pressed, and let go, with nothing drawn */
        g_clear_pointer(&hands_timeline(s)->scene, ws_scene_free);
        scenario_xdo(i ? "mouseup 1" : "mousedown 1");
    }
    WAIT_FOR(!g_strcmp0(ws_document_focus(s->document)->step, LOADS "1"));
}

/* --- I25: the ring
 * ----------------------------------------------------------------------------------- */

static void ring_depth(Scenario *s)
{
    double x, y;
    g_assert_true(seen_gesture_ring_handle(hands_timeline(s), "a, b", &x, &y));
    hands_press(s, x, y);
    const double pitch = 15;
    hands_glide(s, x, y, x, y - 1.2 * pitch);
    g_test_message("%s", seen_gesture_words(hands_timeline(s)));
    g_assert_nonnull(strstr(seen_gesture_words(hands_timeline(s)), "3 stages"));
    WAIT_FOR(strstr(seen_gesture_words(hands_timeline(s)), "cycles") ||
             strstr(seen_gesture_words(hands_timeline(s)), "as fast"));
    hands_let_go(s);
    const WsNode *a = ws_design_find(ws_document_latest(s->document), "buffers/a");
    g_assert_cmpint(ws_edit_depth_of(ws_document_latest(s->document), a), ==, 3);
    g_assert_cmpuint(ws_document_program(s->document)->buffer[0].stages, ==, 3);
    /* Too deep: refuted by the budget, said before the button is let go. */
    scenario_act(s, "undo");
    hands_settle(s);
    g_assert_true(seen_gesture_ring_handle(hands_timeline(s), "a, b", &x, &y));
    hands_press(s, x, y);
    hands_glide(s, x, y, x, y + 4 * pitch);
    g_test_message("%s", seen_gesture_words(hands_timeline(s)));
    WAIT_FOR(strstr(seen_gesture_words(hands_timeline(s)), "✖"));
    scenario_key("Escape");
    hands_let_go(s);
    g_assert_cmpint(ws_edit_depth_of(ws_document_latest(s->document),
                                     ws_design_find(ws_document_latest(s->document), "buffers/a")),
                    ==, 4);
}

/* --- attention: QK a round ahead of its softmax, by one drag
 * ----------------------------------------- */

#define ROUND "groups/math/body/0/do/2/do/"

/* Heights of the staffs, from the top on. Between an answer and the next frame there is no scene.
 */
static char *rows_now(Scenario *s)
{
    WAIT_FOR(hands_timeline(s)->scene);
    const WsScene *scene = hands_timeline(s)->scene;
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < scene->staff->len; i++) {
        const WsSceneStaff *staff = &g_array_index(scene->staff, WsSceneStaff, i);
        g_string_append_printf(text, "%s %.1f+%.1f; ", staff->name, staff->y, staff->h);
    }
    return g_strdup(text->str);
}

typedef struct {
    gint64 t;
    double x;
} Mark;

/* What the ruler says, and where on the canvas. */
static GArray *ruler_now(Scenario *s)
{
    WsTimeline *t = hands_timeline(s);
    GArray *marks = g_array_new(FALSE, FALSE, sizeof(Mark));
    WAIT_FOR(t->scene);
    for (guint i = 0; i < t->scene->tick->len; i++) {
        const WsSceneTick *k = &g_array_index(t->scene->tick, WsSceneTick, i);
        const Mark mark = { k->t, k->x + ws_timeline_offset(t) };
        if (mark.x > 2 && mark.x < t->view.width - 2)
            g_array_append_val(marks, mark);
    }
    return marks;
}

static void assert_ruler(Scenario *s, const GArray *before)
{
    g_autoptr(GArray) now = ruler_now(s);
    g_assert_cmpuint(before->len, >, 2);
    g_assert_cmpuint(now->len, ==, before->len);
    for (guint i = 0; i < now->len; i++) {
        g_assert_cmpint(g_array_index(now, Mark, i).t, ==, g_array_index(before, Mark, i).t);
        g_assert_cmpfloat_with_epsilon(g_array_index(now, Mark, i).x,
                                       g_array_index(before, Mark, i).x, 1.5);
    }
}

/* Where an execution begins on the canvas; it has to be in view. */
static double place_of(Scenario *s, const char *step, const WsSceneItem *of)
{
    WAIT_FOR(hands_timeline(s)->scene);
    const WsSceneItem *item =
        hands_find(s, (HandsItem){ step, of->tile, of->round, (gint32)of->agent, -1e9, FALSE });
    g_assert_nonnull(item);
    return item->x + ws_timeline_offset(hands_timeline(s));
}

/* The opening window, whose rounds between are folded: its scale, its ruler and what lies beside
 * what is dragged stay where they are, though each round becomes longer. */
static void axis_holds(Scenario *s)
{
    double x0, y0, x1, y1;
    WsTimeline *t = hands_timeline(s);
    WAIT_FOR(t->scene);
    g_assert_true(t->view.at.folded);
    const WsSceneItem *mma = NULL, *before = NULL;
    for (gint32 r = 250; r < 256 && !before; r++) {
        mma = hands_find(s, (HandsItem){ MMAS "1", 1, r, 1, 0, FALSE });
        before = mma ? hands_find(s, (HandsItem){ MMAS "1", 1, r - 1, 1, -1e9, FALSE }) : NULL;
    }
    g_assert_nonnull(before);
    const WsSceneItem still = *hands_find(
        s, (HandsItem){ MMAS "3", before->tile, before->round, (gint32)before->agent, 0, FALSE });
    g_autoptr(GArray) ruler = ruler_now(s);
    g_autofree char *rows = rows_now(s);
    const double at = place_of(s, MMAS "3", &still);
    hands_place(s, mma, 0.5, &x0, &y0);
    hands_place(s, before, 0, &x1, &y1);
    hands_press(s, x0, y0);
    hands_glide(s, x0, y0, x1 - 2, y1);
    WAIT_FOR(seen_gesture_words(t) && strstr(seen_gesture_words(t), "✔"));
    g_test_message("%s", seen_gesture_words(t));
    g_assert_nonnull(strstr(seen_gesture_words(t), "1 round ahead"));
    g_assert_nonnull(strstr(seen_gesture_words(t), "lost"));
    scenario_settle(s->timeline);
    assert_ruler(s, ruler);
    g_autofree char *held = rows_now(s);
    g_assert_cmpstr(held, ==, rows);
    g_assert_cmpfloat_with_epsilon(place_of(s, MMAS "3", &still), at, 1.5);
    scenario_key("Escape");
    hands_settle(s);
    hands_let_go(s);
    scenario_settle(s->timeline);
    assert_ruler(s, ruler);
}

static void one_round_ahead(Scenario *s)
{
    double x0, y0, x1, y1;
    hands_begin(s, "tests/designs/attention-straight.wstave");
    const gint64 before = ws_document_clock(s->document)->cycles;
    hands_zoom_to(s, ROUND "1", -1, 20, 9000);
    hands_shot(s, "ahead-1-straight");
    hands_zoom_to(s, ROUND "1", -1, 20, 9000);
    const WsSceneItem *mma = NULL, *softmax = NULL;
    for (gint32 r = 15; r < 26 && (!mma || !softmax); r++) {
        softmax = find(s, ROUND "4", r - 1, 0);
        mma = softmax ? find(s, ROUND "1", r, softmax->x + ws_timeline_offset(hands_timeline(s)))
                      : NULL;
        if (mma && softmax->agent != mma->agent)
            mma = NULL;
    }
    g_assert_nonnull(softmax);
    g_assert_nonnull(mma);
    hands_place(s, mma, 0.4, &x0, &y0);
    hands_place(s, softmax, 0.97, &x1, &y1);
    g_autofree char *rows = rows_now(s);
    g_autoptr(GArray) ruler = ruler_now(s);
    const WsSceneItem still = *softmax; /* the drag begins another scene */
    const double at = place_of(s, ROUND "4", &still);
    hands_press(s, x0, y0); /* tried and dropped: as it was */
    hands_glide(s, x0, y0, x1, y1);
    WAIT_FOR(seen_gesture_words(hands_timeline(s)) &&
             strstr(seen_gesture_words(hands_timeline(s)), "✔"));
    scenario_key("Escape");
    hands_settle(s);
    hands_let_go(s);
    g_assert_cmpfloat_with_epsilon(place_of(s, ROUND "4", &still), at, 1.5);
    hands_press(s, x0, y0);
    hands_glide(s, x0, y0, x1, y1);
    WAIT_FOR(seen_gesture_words(hands_timeline(s)) &&
             strstr(seen_gesture_words(hands_timeline(s)), "✔"));
    g_test_message("%s", seen_gesture_words(hands_timeline(s)));
    g_assert_nonnull(strstr(seen_gesture_words(hands_timeline(s)), "after compute, 1 round ahead, "
                                                                   "with wait k_fulls"));
    g_assert_nonnull(strstr(seen_gesture_words(hands_timeline(s)), "gained"));
    g_assert_nonnull(strstr(seen_gesture_words(hands_timeline(s)), "proved"));
    g_autofree char *held = rows_now(s);
    g_assert_cmpstr(held, ==, rows); /* nothing moves below the pointer */
    assert_ruler(s, ruler);          /* though twenty rounds have become shorter */
    g_assert_cmpfloat_with_epsilon(place_of(s, ROUND "2", &still), at, 1.5);
    hands_shot(s, "ahead-2-drag");
    hands_let_go(s);
    g_assert_cmpfloat_with_epsilon(place_of(s, ROUND "2", &still), at, 1.5);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "mma s, math"));
    WsDesign *now = ws_document_latest(s->document);
    g_assert_cmpint(ws_design_find(now, ROUND "3")->kind, ==, WS_STEP_WAIT);
    g_assert_cmpint(ws_design_find(now, ROUND "4")->kind, ==, WS_STEP_MMA);
    for (guint i = 3; i < 5; i++) {
        g_autofree char *id = g_strdup_printf(ROUND "%u", i);
        g_assert_cmpint(ws_node_int(ws_design_find(now, id), WS_F_ahead, 0), ==, 1);
    }
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
    g_assert_cmpint(ws_document_clock(s->document)->cycles * 10, <, before * 9);
    g_assert_cmpuint(ws_history_n(ws_document_history(s->document)), ==, 2); /* one drag */
    hands_shot(s, "ahead-3-done");
    /* Undone and done again, it lies where it lay. */
    scenario_act(s, "undo");
    hands_settle(s);
    g_assert_cmpfloat_with_epsilon(place_of(s, ROUND "4", &still), at, 1.5);
    scenario_act(s, "redo");
    hands_settle(s);
    g_assert_cmpfloat_with_epsilon(place_of(s, ROUND "2", &still), at, 1.5);
    hands_assert_same_ptx(s, "tests/designs/attention-ahead.wstave");
}

/* A wait of a few units is grabbed on it and beside it: 12 units in all. */
static void narrow_by_its_edge(Scenario *s)
{
    WsTimeline *t = hands_timeline(s);
    hands_zoom_to(s, MMAS "0", -1, 60, 17000);
    for (double at = 0.5; at < 12; at += 3.5) {
        double x, y;
        const WsSceneItem *wait = find(s, MMAS "0", 60, 0);
        g_assert_nonnull(wait);
        g_assert_cmpfloat(wait->w, <, 12);
        hands_place(s, wait, 0, &x, &y);
        x += ws_scene_zone(t->scene, wait)->x0 - wait->x;
        g_assert_cmpstr(ws_gesture_cursor(t, x + at, y), ==, "grab");
        hands_press(s, x + at, y);
        hands_glide(s, x + at, y, x + at - 60, y);
        g_assert_true(seen_gesture_active(t));
        g_test_message("%.1f of %.1f: %s", at, wait->w, seen_gesture_words(t));
        g_assert_true(strstr(seen_gesture_words(t), "after ") ||
                      strstr(seen_gesture_words(t), "before "));
        g_assert_null(strstr(seen_gesture_words(t), "with ")); /* the wait, not the product */
        scenario_key("Escape");
        hands_settle(s);
        hands_let_go(s);
        hands_zoom_to(s, MMAS "0", -1, 60, 17000);
    }
    g_assert_cmpuint(hands_states(s), ==, 1);
}

/* Pixels in a row at which a drag would move this execution. */
static guint target_of(Scenario *s, const WsSceneItem *item)
{
    WsTimeline *t = hands_timeline(s);
    double x, y;
    guint n = 0;
    const WsSceneZone *z = ws_scene_zone(t->scene, item);
    hands_place(s, item, 0, &x, &y);
    if (ws_scene_narrow(item))
        y = (z->y0 + z->y1) / 2 - t->view.at.y;
    for (double at = floor(x) - 24 + 0.5; at < x + item->w + 24; at++)
        n += ws_timeline_hit(t, at, y) == item && !g_strcmp0(ws_gesture_cursor(t, at, y), "grab");
    return n;
}

/* In the opening window of a GEMM every wait and every arrival of its rounds can be grabbed in
 * twelve units or more, and what gives them room has its port beside it. */
static void targets(Scenario *s)
{
    static const char *const step[] = { LOADS "0", MMAS "0", MMAS "3" };
    WsTimeline *t = hands_timeline(s);
    guint n = 0, narrow = 0;
    WAIT_FOR(t->scene && t->settle == 0);
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (!item->step ||
            !g_strv_contains((const char *const[]){ step[0], step[1], step[2], NULL },
                             item->step) ||
            item->x < 40 || item->x + item->w > t->view.width - 40 ||
            g_array_index(t->scene->row, WsSceneRow, item->row).kind != WS_ROW_CONTROL)
            continue;
        const guint target = target_of(s, item);
        g_test_message("%s of round %d: %.1f wide, target %u", item->step, item->round, item->w,
                       target);
        g_assert_cmpuint(target, >=, 12);
        n++;
        narrow += item->w < 4;
    }
    g_assert_cmpuint(n, >, 12);
    g_assert_cmpuint(narrow, >, 4);
    /* An arrival by its edge, where the wait before it ends. */
    double x, y;
    const WsSceneItem *arrive = find(s, MMAS "3", 254, 0);
    g_assert_nonnull(arrive);
    hands_place(s, arrive, 0, &x, &y);
    const WsSceneZone *z = ws_scene_zone(t->scene, arrive);
    x += z->x0 + 1 - arrive->x;
    hands_press(s, x, y);
    hands_glide(s, x, y, x - 90, y);
    g_assert_true(seen_gesture_active(t));
    g_test_message("%s", seen_gesture_words(t));
    g_assert_nonnull(strstr(seen_gesture_words(t), "before mma_wait 1"));
    scenario_key("Escape");
    hands_settle(s);
    hands_let_go(s);
    g_assert_cmpuint(hands_states(s), ==, 1);
}

/* Dragged onto another staff a product takes its wait along; before its place it leaves it. */
static void product_takes_its_wait(Scenario *s)
{
    double x0, y0, x1, y1;
    g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(s->document));
    g_assert_true(
        ws_draft_set(draft, ws_document_node(s->document, MMAS "2"), WS_F_keyword, ws_json_int(0)));
    g_assert_true(ws_document_commit(s->document, draft, NULL));
    hands_settle(s);
    hands_zoom_to(s, MMAS "1", -1, 60, 3000);
    const WsSceneItem *mma = find(s, MMAS "1", 60, 0), *before = find(s, MMAS "0", 60, 0);
    g_assert_nonnull(mma);
    g_assert_nonnull(before);
    hands_place(s, mma, 0.5, &x0, &y0);
    hands_place(s, before, 0.05, &x1, &y1);
    hands_press(s, x0, y0);
    hands_glide(s, x0, y0, x1 - 1, y1);
    WAIT_FOR(seen_gesture_words(hands_timeline(s)) && ws_document_trying(s->document));
    g_assert_null(strstr(seen_gesture_words(hands_timeline(s)), "mma_wait 0"));
    scenario_key("Escape");
    hands_settle(s);
    hands_let_go(s);
    hands_zoom_to(s, MMAS "1", -1, 60, 3000);
    const WsSceneItem *load = find(s, LOADS "2", -1, 0);
    mma = find(s, MMAS "1", 60, 0);
    g_assert_nonnull(mma);
    g_assert_nonnull(load);
    hands_place(s, mma, 0.5, &x0, &y0);
    hands_place(s, load, 0.9, &x1, &y1);
    hands_press(s, x0, y0);
    hands_glide(s, x0, y0, x1, y1);
    WAIT_FOR(strstr(seen_gesture_words(hands_timeline(s)), "mma_wait 0"));
    hands_let_go(s);
    const WsNode *from = ws_design_find(ws_document_latest(s->document), "groups/mma/body/0/do/0");
    for (guint i = 0; i < ws_node_n_children(from, WS_F_do); i++) {
        const WsNode *step = ws_node_child(from, WS_F_do, i);
        g_assert_true(step->kind != WS_STEP_MMA && step->kind != WS_STEP_MMA_WAIT);
    }
    const WsNode *into = ws_design_find(ws_document_latest(s->document), "groups/load/body/0/do/0");
    guint found = 0;
    for (guint i = 0; i + 1 < ws_node_n_children(into, WS_F_do); i++)
        found += ws_node_child(into, WS_F_do, i)->kind == WS_STEP_MMA &&
                 ws_node_child(into, WS_F_do, i + 1)->kind == WS_STEP_MMA_WAIT;
    g_assert_cmpuint(found, ==, 1);
}

static void add(void)
{
    scenario_add("I17/drag-along-and-escape", drag_along);
    scenario_add("I17/drag-across-the-loop", drag_across);
    scenario_add("I17/narrow-by-its-edge", narrow_by_its_edge);
    scenario_add("I17/targets", targets);
    scenario_add("I17/product-takes-its-wait", product_takes_its_wait);
    scenario_add("I17/drag-onto-another-staff", drag_over);
    scenario_add("I20/draw-edge", draw_edge);
    scenario_add("I17/view-holds", view_holds);
    scenario_add("I17/axis-holds", axis_holds);
    scenario_add("I17/pointer-taken", pointer_taken);
    scenario_add("I10/click-between-frames", click_between_frames);
    scenario_add("I25/ring-depth", ring_depth);
    scenario_add_empty("I17/attention-one-round-ahead", one_round_ahead);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
