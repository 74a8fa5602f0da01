/* How large an area each narrow step of a score can be grabbed in, on every shipped design in two
 * sizes of window; and some of them, grabbed there by a real pointer. */
#include "../../whole.h"
#include "scenario/hands.h"
#include "scenario/seen.h"

#include "ui/gesture/gesture_private.h"
#include "ui/timeline/timeline_private.h"

#include <math.h>
#include <string.h>

#define TARGET 12 /* units of the page, both ways */
#define AROUND 40 /* and how far from a step its area is looked for */
#define LINES  26 /* rows of units: the highest row and one unit beyond it on either side */

static const struct {
    int width, height;
} sizes[] = { { 1600, 1000 }, { 900, 700 } };

/* A step that a hand can move, as far as it is in sight. */
static gboolean is_step(WsTimeline *t, const WsSceneItem *item)
{
    const double x = item->x + ws_timeline_offset(t);
    return ws_gesture_is_step(t->scene, item) && x >= 0 && x + item->w <= t->view.width &&
           item->y - t->view.at.y >= t->scene->top;
}

/* The side of the largest square in which a drag would move this execution, and its place. */
static guint target_of(WsTimeline *t, const WsSceneItem *item, double *x, double *y)
{
    const double x0 = floor(item->x + WS_TIMELINE_GUTTER + ws_timeline_offset(t)) - AROUND + 0.5;
    const double y0 = item->y - t->view.at.y - 1.5;
    const guint n = (guint)(2 * AROUND + item->w), lines = (guint)MIN(item->h + 3, LINES);
    guint before[3 * AROUND + 2] = { 0 }, now[3 * AROUND + 2] = { 0 }, best = 0;
    for (guint k = 0; k < lines; k++) {
        for (guint i = 1; i <= n; i++) {
            const double at = x0 + i, up = y0 + k;
            const gboolean own = ws_timeline_hit(t, at, up) == item &&
                                 !g_strcmp0(ws_gesture_cursor(t, at, up), "grab");
            now[i] = own ? 1 + MIN(MIN(now[i - 1], before[i]), before[i - 1]) : 0;
            if (now[i] <= best)
                continue;
            best = now[i];
            *x = at - best / 2.0 + 0.5;
            *y = up - best / 2.0 + 0.5;
        }
        memcpy(before, now, sizeof before);
    }
    return best;
}

static void resize(Scenario *s, guint size)
{
    gtk_window_set_default_size(GTK_WINDOW(s->window), sizes[size].width, sizes[size].height);
    for (guint i = 0; i < 4; i++)
        scenario_settle(GTK_WIDGET(s->window));
}

typedef struct {
    guint narrow, crowded, least, beside;
} Count;

/* What is narrow has its square or lies in a crowd; what is wider and gave has one, too. */
static Count measure(Scenario *s, const char *name, guint size)
{
    WsTimeline *t = hands_timeline(s);
    Count n = { .least = G_MAXUINT };
    hands_settle(s);
    WAIT_FOR(t->scene && t->settle == 0);
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        double x, y;
        if (!is_step(t, item) || item->w >= AROUND)
            continue;
        const guint side = target_of(t, item, &x, &y);
        if (!ws_scene_narrow(item)) {
            n.beside += side < TARGET;
            continue;
        }
        n.narrow++;
        if (ws_scene_zone(t->scene, item)->shared) {
            n.crowded++;
            n.least = MIN(n.least, side);
        } else if (side < TARGET) {
            g_error("%s, %d x %d: %s of round %d is %.1f wide and has %u units", name,
                    sizes[size].width, sizes[size].height, item->step, item->round, item->w, side);
        }
    }
    g_test_message("%s, %d x %d: %u narrow steps, %u of them crowded (%u units at least); %u of "
                   "those beside have less",
                   name, sizes[size].width, sizes[size].height, n.narrow, n.crowded,
                   n.crowded ? n.least : 0, n.beside);
    return n;
}

/* The nth narrow step in sight. */
static const WsSceneItem *narrow_step(WsTimeline *t, guint nth, gboolean crowded)
{
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (is_step(t, item) && ws_scene_narrow(item) && item->x > 30 &&
            item->y - t->view.at.y + item->h < t->scene->top + t->view.height - 30 &&
            !ws_scene_zone(t->scene, item)->shared == !crowded && nth-- == 0)
            return item;
    }
    return NULL;
}

/* Pressed in its square and drawn to both sides it is what is dragged. */
static void drag(Scenario *s, guint nth)
{
    WsTimeline *t = hands_timeline(s);
    for (int by = -60; by <= 60; by += 120) {
        const WsSceneItem *item = narrow_step(t, nth, FALSE);
        double x, y;
        if (!item)
            return;
        g_assert_cmpuint(target_of(t, item, &x, &y), >=, TARGET);
        g_autofree char *step = g_strdup(item->step);
        const gint32 round = item->round;
        hands_press(s, x, y);
        hands_glide(s, x, y, x + by, y);
        g_assert_true(seen_gesture_active(t));
        g_test_message("%s of round %d: %s", step, round, seen_gesture_words(t));
        g_assert_cmpstr(t->gesture->item->step, ==, step);
        g_assert_cmpint(t->gesture->item->round, ==, round);
        scenario_key("Escape");
        hands_settle(s);
        hands_let_go(s);
        WAIT_FOR(t->scene && t->settle == 0);
    }
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void every_design(Scenario *s)
{
    g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, "projects", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename("projects", name, "design.wstave", NULL);
        g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL);
        if (g_file_test(file, G_FILE_TEST_EXISTS))
            g_ptr_array_add(names, g_steal_pointer(&path));
    }
    g_ptr_array_sort(names, by_name);
    g_assert_cmpuint(names->len, >, 30);
    Count all = { 0 };
    for (guint size = 0; size < G_N_ELEMENTS(sizes); size++) {
        resize(s, size);
        for (guint i = 0; i < names->len; i++)
            if (test_takes(2 * i + size, 56, 56)) {
                scenario_open(s, names->pdata[i]);
                const Count n = measure(s, names->pdata[i], size);
                drag(s, n.narrow / 2);
                all.narrow += n.narrow;
                all.crowded += n.crowded;
                all.beside += n.beside;
            }
    }
    g_test_message("all: %u narrow steps, %u of them crowded; %u of those beside have less",
                   all.narrow, all.crowded, all.beside);
    g_assert_cmpuint(all.crowded * (g_test_slow() ? 20 : 2), <=, all.narrow);
}

/* Where steps are crowded a click shows those that lie there; the one that is chosen is selected,
 * and grabbed on what is drawn of it whatever lies beside it. */
static void crowd(Scenario *s)
{
    WsTimeline *t = hands_timeline(s);
    resize(s, 0);
    scenario_open(s, "projects/sparse-mla-decode/design.wstave");
    hands_settle(s);
    WAIT_FOR(t->scene && t->settle == 0);
    g_assert_cmpuint(measure(s, "sparse-mla-decode", 0).crowded, >, 3);
    for (guint nth = 0; nth < 3; nth++) {
        const WsSceneItem *item = narrow_step(t, nth, TRUE);
        double x, y;
        g_assert_nonnull(item);
        hands_place(s, item, 0.5, &x, &y);
        scenario_click(t->canvas, x, y, 1, NULL);
        WAIT_FOR(t->crowd && gtk_widget_get_mapped(t->crowd));
        GtkWidget *row = scenario_find_text(t->crowd, item->tip);
        g_assert_nonnull(row);
        for (guint i = 0; i < 4; i++)
            scenario_settle(t->crowd);
        scenario_click_widget(row, NULL);
        WAIT_FOR(!gtk_widget_get_mapped(t->crowd));
        hands_settle(s);
        item = narrow_step(t, nth, TRUE);
        const WsFocus *focus = ws_document_focus(s->document);
        g_assert_cmpstr(focus->step, ==, item->step);
        g_assert_cmpint(focus->round, ==, item->round);
        g_assert_cmpuint(target_of(t, item, &x, &y), >=, TARGET);
        g_assert_true(ws_timeline_hit(t, x, y) == item);
        g_autofree char *step = g_strdup(item->step);
        hands_press(s, x, y);
        hands_glide(s, x, y, x - 50, y);
        g_assert_true(seen_gesture_active(t));
        g_assert_cmpstr(t->gesture->item->step, ==, step);
        scenario_key("Escape");
        hands_settle(s);
        g_assert_cmpstr(ws_document_focus(s->document)->step, ==, step);
        hands_let_go(s);
        WAIT_FOR(t->scene && t->settle == 0);
    }
}

/* Executions that are merged: the one that is chosen is brought into sight. */
static void merged(Scenario *s)
{
    WsTimeline *t = hands_timeline(s);
    scenario_act(s, "fit-all");
    hands_settle(s);
    WAIT_FOR(t->scene && t->settle == 0);
    const WsSceneItem *item = NULL;
    for (guint i = 0; i < t->scene->item->len && !item; i++) {
        const WsSceneItem *each = ws_timeline_item(t, i);
        if (each->shape == WS_SHAPE_DENSE && each->w > 6)
            item = each;
    }
    g_assert_nonnull(item);
    double x, y;
    hands_place(s, item, 0.5, &x, &y);
    scenario_click(t->canvas, x, y, 1, NULL);
    WAIT_FOR(t->crowd && gtk_widget_get_mapped(t->crowd));
    for (guint i = 0; i < 4; i++)
        scenario_settle(t->crowd);
    scenario_key("Return"); /* the first one has the keyboard */
    WAIT_FOR(!gtk_widget_get_mapped(t->crowd));
    hands_settle(s);
    WAIT_FOR(t->scene && t->settle == 0);
    const WsFocus *f = ws_document_focus(s->document);
    g_assert_nonnull(f->step);
    gboolean shown = FALSE;
    double from, to;
    ws_timeline_get_view(t, &from, &to);
    g_test_message("%s of round %d, agent %u, tile %d, in cycles %.0f to %.0f", f->step, f->round,
                   f->agent, f->tile, from, to);
    for (guint i = 0; i < t->scene->item->len && !shown; i++) {
        item = ws_timeline_item(t, i);
        shown = is_step(t, item) && !g_strcmp0(item->step, f->step) && item->round == f->round &&
                item->agent == f->agent && item->w >= TARGET;
    }
    g_assert_true(shown);
}

static void add(void)
{
    scenario_add_empty("targets/every-design", every_design);
    scenario_add_empty("targets/crowd", crowd);
    scenario_add("targets/merged", merged);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
