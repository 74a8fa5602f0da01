/* A hand that does anything in the window: commands of the table, keys, the wheel, clicks and drags
 * on the score, whatever is selected. Nothing crashes and no warning is critical; the view stays
 * inside its limits, the newest design can be written and read; undo to the start gives the first
 * design byte for byte, redo the last one. WARPSTAVE_WALK is the number of actions (./dev soak),
 * WARPSTAVE_SEED where they begin. */
#include "model/findings.h"
#include "scenario/hands.h"
#include "ui/app/actions.h"

#include "ui/timeline/timeline_private.h"

#include <string.h>

enum { STEPS = 200 }; /* of one walk, on one design */

static const char *const designs[] = {
    "projects/gemm-bf16/design.wstave",          "projects/attention-d64/design.wstave",
    "tests/designs/sparse-mla-pipes.wstave",     "tests/designs/broken/02-wrong-count.wstave",
    "projects/gemm-bf16-pingpong/design.wstave", "projects/gemm-fp8-block/design.wstave",
};

/* Commands that leave the window: dialogues of the desktop, windows, popovers that have scenarios
 * of their own. Those of sections that are not walked at all: `walked`. */
static const char *const left_out[] = { "history", "rename",       "add",          "template",
                                        "menu",    "fullscreen",   "detach-panel", "legend",
                                        "search",  "compare-state" };

typedef struct {
    Scenario *s;
    GRand *rand;
    GPtrArray *command; /* WsAction */
    guint done;
} Walk;

static guint number(const char *variable, guint otherwise)
{
    const char *text = g_getenv(variable);
    return text ? (guint)g_ascii_strtoull(text, NULL, 10) : otherwise;
}

static guint pick(Walk *w, guint n)
{
    return (guint)g_rand_int_range(w->rand, 0, (gint32)MAX(n, 1));
}

static gboolean walked(const WsAction *a)
{
    const gboolean in = a->section == WS_SECTION_EDIT || a->section == WS_SECTION_VIEW ||
                        a->section == WS_SECTION_MOVE || a->section == WS_SECTION_SELECT ||
                        a->section == WS_SECTION_PANEL;
    for (guint i = 0; in && i < G_N_ELEMENTS(left_out); i++)
        if (!strcmp(a->name, left_out[i]))
            return FALSE;
    return in;
}

static GPtrArray *commands(void)
{
    GPtrArray *all = g_ptr_array_new();
    guint n;
    const WsAction *row = ws_actions(&n);
    for (guint i = 0; i < n; i++)
        if (walked(&row[i]))
            g_ptr_array_add(all, (gpointer)&row[i]);
    return all;
}

/* --- the hand ----------------------------------------------------------------------------------
 */

static const WsSceneItem *some_item(Walk *w)
{
    WsTimeline *t = hands_timeline(w->s);
    return t->scene && t->scene->item->len ? ws_timeline_item(t, pick(w, t->scene->item->len))
                                           : NULL;
}

/* A point of the score, on an item if there is one in sight. */
static gboolean some_point(Walk *w, double *x, double *y)
{
    WsTimeline *t = hands_timeline(w->s);
    if (!gtk_widget_get_mapped(w->s->timeline) || t->view.width < 40 || t->view.height < 40)
        return FALSE;
    *x = g_rand_double_range(w->rand, 4, t->view.width - 4);
    *y = g_rand_double_range(w->rand, 4, t->view.height - 4);
    for (guint i = 0; i < 40; i++) {
        const WsSceneItem *item = some_item(w);
        if (!item)
            break;
        double ix, iy;
        hands_place(w->s, item, 0.5, &ix, &iy);
        if (ix < 4 || ix > t->view.width - 4 || iy < 4 || iy > t->view.height - 4)
            continue;
        *x = ix;
        *y = iy;
        break;
    }
    return TRUE;
}

static void command(Walk *w)
{
    const WsAction *a = w->command->pdata[pick(w, w->command->len)];
    if (scenario_enabled(w->s, a->name))
        scenario_act(w->s, a->name);
}

static void choose(Walk *w)
{
    const WsSceneItem *item = some_item(w);
    if (!item || !item->step || !ws_document_program(w->s->document))
        return;
    WsFocus focus = { .step = item->step, .agent = G_MAXUINT, .tile = -1, .round = -1 };
    ws_document_select(w->s->document, &focus, pick(w, 3) ? WS_SELECT_REPLACE : WS_SELECT_ADD,
                       TRUE);
}

static void look(Walk *w)
{
    WsTimeline *t = hands_timeline(w->s);
    ws_timeline_zoom_at(t, g_rand_double_range(w->rand, 0, MAX(t->view.width, 1)),
                        g_rand_double_range(w->rand, 0.01, 60));
    ws_pane_pan(&t->view, g_rand_double_range(w->rand, -1e6, 1e6),
                g_rand_double_range(w->rand, -3000, 3000));
    ws_timeline_refresh(t);
}

static void press(Walk *w)
{
    static const char *const held[] = { NULL, NULL, "shift", "ctrl" };
    double x, y;
    if (some_point(w, &x, &y))
        scenario_click(w->s->timeline, x, y, pick(w, 8) ? 1 : 3, held[pick(w, 4)]);
}

static void drag(Walk *w)
{
    double x, y;
    if (!some_point(w, &x, &y))
        return;
    const WsPane *v = &hands_timeline(w->s)->view;
    const double to_x = x + g_rand_double_range(w->rand, -300, 300),
                 to_y = y + g_rand_double_range(w->rand, -60, 60);
    scenario_drag(w->s->timeline, x, y, CLAMP(to_x, 4, v->width - 4), CLAMP(to_y, 4, v->height - 4),
                  pick(w, 6) ? 1 : 2, pick(w, 5) ? NULL : "shift");
}

static void wheel(Walk *w)
{
    double x, y;
    if (some_point(w, &x, &y)) {
        scenario_point(w->s->timeline, x, y);
        scenario_xdo("click %u", 4 + pick(w, 4));
    }
}

static void type(Walk *w)
{
    static const char *const key[] = { "Left",  "Right",     "Up",        "Down",
                                       "Tab",   "Escape",    "Delete",    "bracketleft",
                                       "Home",  "Page_Down", "shift+Tab", "bracketright",
                                       "space", "n",         "c",         "Return" };
    scenario_key(key[pick(w, G_N_ELEMENTS(key))]);
}

static const struct {
    guint share; /* of 100 */
    void (*act)(Walk *w);
} deed[] = { { 52, command }, { 22, choose }, { 8, look }, { 7, press },
             { 5, drag },     { 3, wheel },   { 3, type } };

static void act(Walk *w)
{
    guint at = pick(w, 100), i = 0;
    while (i + 1 < G_N_ELEMENTS(deed) && at >= deed[i].share)
        at -= deed[i++].share;
    deed[i].act(w);
}

/* --- what must hold -----------------------------------------------------------------------------
 */

/* Popovers and windows that a deed opened are closed, as a hand would. */
static void close_others(Walk *w)
{
    GtkWidget *window = GTK_WIDGET(w->s->window);
    for (guint i = 0; i < 4; i++) {
        GtkWidget *popover = scenario_find(window, scenario_is_popover, NULL);
        if (!popover)
            break;
        gtk_popover_popdown(GTK_POPOVER(popover));
        scenario_settle(window);
    }
    GListModel *all = gtk_window_get_toplevels();
    for (guint i = g_list_model_get_n_items(all); i-- > 0;) {
        g_autoptr(GtkWindow) other = g_list_model_get_item(all, i);
        if (other && GTK_WIDGET(other) != window && gtk_widget_get_mapped(GTK_WIDGET(other)))
            gtk_window_close(other);
    }
}

static void expect_view(Walk *w)
{
    const WsPane *v = &hands_timeline(w->s)->view;
    g_assert_cmpfloat(v->at.y, >=, 0);
    g_assert_cmpfloat(v->at.y, <=, MAX(v->content - v->height, 0) + 1);
    g_assert_cmpfloat(v->at.scale, >, 0);
    g_assert_cmpfloat(v->at.scale, <=, WS_PANE_MAX_SCALE);
}

static void expect_readable(Walk *w)
{
    g_autofree char *text = hands_text(w->s);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) back = ws_design_parse(text, strlen(text), NULL, findings);
    g_assert_nonnull(back);
    g_autofree char *again = ws_design_print(back);
    g_assert_cmpstr(again, ==, text);
}

static void expect_way_back(Walk *w, const char *first)
{
    while (ws_document_redo(w->s->document))
        ;
    g_autofree char *last = hands_text(w->s);
    while (ws_document_undo(w->s->document))
        ;
    g_autofree char *back = hands_text(w->s);
    g_assert_cmpstr(back, ==, first);
    hands_settle(w->s);
    while (ws_document_redo(w->s->document))
        ;
    g_autofree char *again = hands_text(w->s);
    g_assert_cmpstr(again, ==, last);
    hands_settle(w->s);
}

static void walk(Scenario *s)
{
    const guint n = number("WARPSTAVE_WALK", 24), seed = number("WARPSTAVE_SEED", 1);
    Walk w = { .s = s, .command = commands() };
    for (guint run = 0; w.done < n; run++) {
        w.rand = g_rand_new_with_seed(seed + run);
        g_test_message("WARPSTAVE_SEED=%u", seed + run);
        hands_begin(s, designs[(seed + run) % G_N_ELEMENTS(designs)]);
        g_autofree char *first = hands_text(s);
        if (pick(&w, 2) && ws_document_predicted(s->document))
            scenario_measure(s);
        for (guint i = 0; i < STEPS && w.done < n; i++, w.done++) {
            act(&w);
            close_others(&w);
            hands_settle(s);
            expect_view(&w);
            if (i % 8 == 0)
                expect_readable(&w);
        }
        expect_way_back(&w, first);
        g_rand_free(w.rand);
    }
    g_ptr_array_unref(w.command);
}

static void add(void)
{
    scenario_add("walks/anything", walk);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
