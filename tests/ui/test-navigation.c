/* I01-I09: moving about the score by pointer and by keyboard. */
#include "program/op_kind.h"
#include "scenario/scenario.h"
#include "scenario/seen.h"
#include "trace/op_kind.h"

#include <math.h>
#include <string.h>

typedef struct {
    double from, to;
} View;

static View view(Scenario *s)
{
    View v;
    ws_timeline_get_view(WS_TIMELINE(s->timeline), &v.from, &v.to);
    return v;
}

static double origin_x(Scenario *s)
{
    double x, y;
    seen_timeline_origin(WS_TIMELINE(s->timeline), &x, &y);
    return x;
}

static double origin_y(Scenario *s)
{
    double x, y;
    seen_timeline_origin(WS_TIMELINE(s->timeline), &x, &y);
    return y;
}

/* A plain view in the middle of the score, with the keyboard on it. */
static View middle(Scenario *s, double share)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    double length = ws_timeline_length(t);
    ws_timeline_set_view(t, length / 2, length / 2 + length * share);
    scenario_act(s, "focus-score");
    scenario_settle(s->timeline);
    return view(s);
}

/* --- I01 ----------------------------------------------------------------------------------------
 */

/* The cycle under the pointer moves by less than a pixel, wherever the pointer is. */
static void zoom_about_pointer(Scenario *s)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    static const double places[] = { 40, 333, 700 };
    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        View before = middle(s, 0.1);
        double x = places[i], cycle = ws_timeline_cycle_of_x(t, x);
        scenario_point(s->timeline, origin_x(s) + x, origin_y(s) + 80);
        for (int in = 0; in < 2; in++) {
            int button = in ? 5 : 4;
            scenario_xdo("keydown ctrl click --repeat 3 --delay 5 %d keyup ctrl", button);
            WAIT_FOR(fabs(view(s).to - before.to) > 1 || in);
            scenario_settle(s->timeline);
            g_assert_cmpfloat(fabs(ws_timeline_x_of_cycle(t, cycle) - x), <, 1.5);
            if (!in)
                g_assert_cmpfloat(view(s).to - view(s).from, <, before.to - before.from);
        }
        g_assert_cmpfloat_with_epsilon(view(s).to - view(s).from, before.to - before.from,
                                       0.02 * (before.to - before.from));
    }
}

/* The same without a pointer's rounding: to the thousandth of a pixel. */
static void zoom_exact(Scenario *s)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    for (double x = 1; x < 800; x += 97)
        for (double factor = 0.5; factor < 2.1; factor += 0.3) {
            middle(s, 0.1);
            double cycle = ws_timeline_cycle_of_x(t, x);
            ws_timeline_zoom_at(t, x, factor);
            g_assert_cmpfloat(fabs(ws_timeline_x_of_cycle(t, cycle) - x), <, 1);
        }
}

/* --- I02, I03 -----------------------------------------------------------------------------------
 */

static void wheel(Scenario *s)
{
    View before = middle(s, 0.1);
    scenario_point(s->timeline, origin_x(s) + 300, origin_y(s) + 80);
    scenario_xdo("keydown shift click 5 keyup shift");
    WAIT_FOR(view(s).from > before.from + 1);
    g_assert_cmpfloat_with_epsilon(view(s).to - view(s).from, before.to - before.from, 2);
    scenario_xdo("keydown shift click 4 keyup shift");
    WAIT_FOR(fabs(view(s).from - before.from) < 2);
    double y = 0, y2 = 0, x, w, h;
    guint n = ws_timeline_n_items(WS_TIMELINE(s->timeline)), item = 0;
    while (item < n && !seen_timeline_item_place(WS_TIMELINE(s->timeline), item, &x, &y, &w, &h))
        item++;
    scenario_xdo("click 5");
    scenario_settle(s->timeline);
    g_assert_true(seen_timeline_item_place(WS_TIMELINE(s->timeline), item, &x, &y2, &w, &h));
    g_assert_cmpfloat_with_epsilon(view(s).from, before.from, 2);
    g_assert_cmpfloat(y2, <=, y);
}

/* The preference swaps what the plain wheel does. */
static void wheel_swapped(Scenario *s)
{
    View before = middle(s, 0.1);
    scenario_act(s, "swap-wheel");
    scenario_point(s->timeline, origin_x(s) + 300, origin_y(s) + 80);
    scenario_xdo("click 5");
    WAIT_FOR(view(s).from > before.from + 1);
    View there = view(s);
    scenario_xdo("keydown shift click 5 keyup shift");
    scenario_settle(s->timeline);
    g_assert_cmpfloat_with_epsilon(view(s).from, there.from, 1);
    scenario_act(s, "swap-wheel");
}

static gboolean scrolls(GtkWidget *w, gconstpointer found)
{
    g_autoptr(GListModel) all = gtk_widget_observe_controllers(w);
    for (guint i = 0; i < g_list_model_get_n_items(all); i++) {
        g_autoptr(GtkEventController) c = g_list_model_get_item(all, i);
        if (GTK_IS_EVENT_CONTROLLER_SCROLL(c))
            *(GtkEventController **)(gpointer)found = c;
    }
    return *(GtkEventController *const *)found != NULL;
}

/* Two fingers move both ways at once; Xvfb has no touchpad, so the controller says what one would.
 */
static void two_fingers(Scenario *s)
{
    View before = middle(s, 0.1);
    GtkEventController *controller = NULL;
    GtkWidget *canvas = scenario_find_type(s->timeline, "WsCanvas");
    WsTimeline *t = WS_TIMELINE(s->timeline);
    double x, y, y2, w, h;
    gboolean handled = FALSE;
    guint item = 0;
    g_assert_true(scrolls(canvas, &controller));
    gtk_window_set_default_size(GTK_WINDOW(s->window), 1600, 700); /* more rows than fit */
    scenario_settle(s->timeline);
    while (item < ws_timeline_n_items(t) && !seen_timeline_item_place(t, item, &x, &y, &w, &h))
        item++;
    g_signal_emit_by_name(controller, "scroll", 1.0, 0.5, &handled);
    g_assert_true(handled);
    scenario_settle(s->timeline);
    g_assert_cmpfloat(view(s).from, >, before.from + 1);
    g_assert_true(seen_timeline_item_place(t, item, &x, &y2, &w, &h));
    g_assert_cmpfloat(y2, <, y - 5);
    gtk_window_set_default_size(GTK_WINDOW(s->window), 1600, 960);
}

static void drag_pan(Scenario *s, int button, const char *held)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    View before = middle(s, 0.1);
    double cycle = ws_timeline_cycle_of_x(t, 300);
    double x = origin_x(s), y = origin_y(s);
    scenario_drag(s->timeline, x + 300, y + 80, x + 180, y + 80, button, held);
    WAIT_FOR(view(s).from > before.from + 1);
    g_assert_cmpfloat(fabs(ws_timeline_x_of_cycle(t, cycle) - 180), <, 2);
    g_assert_cmpuint(ws_document_selection(s->document)->len, ==, 0);
}

static void pan_middle(Scenario *s)
{
    drag_pan(s, 2, NULL);
}

static void pan_space(Scenario *s)
{
    drag_pan(s, 1, "space");
}

/* --- I04 ----------------------------------------------------------------------------------------
 */

static void keys_zoom(Scenario *s)
{
    static const char *const in[] = { "w", "ctrl+equal", "ctrl+plus" };
    static const char *const out[] = { "s", "ctrl+minus" };
    for (guint i = 0; i < G_N_ELEMENTS(in); i++) {
        View before = middle(s, 0.1);
        scenario_key(in[i]);
        WAIT_FOR(view(s).to - view(s).from < before.to - before.from);
    }
    for (guint i = 0; i < G_N_ELEMENTS(out); i++) {
        View before = middle(s, 0.1);
        scenario_key(out[i]);
        WAIT_FOR(view(s).to - view(s).from > before.to - before.from);
    }
}

static void keys_pan(Scenario *s)
{
    View before = middle(s, 0.1);
    scenario_key("d");
    WAIT_FOR(view(s).from > before.from);
    scenario_key("a");
    WAIT_FOR(fabs(view(s).from - before.from) < 2);
    g_assert_cmpfloat_with_epsilon(view(s).to - view(s).from, before.to - before.from, 2);
}

static void keys_fit(Scenario *s)
{
    middle(s, 0.05);
    double length = ws_timeline_length(WS_TIMELINE(s->timeline));
    scenario_key("Home");
    WAIT_FOR(view(s).from <= 0 && view(s).to >= length);
    scenario_key("ctrl+0");
    WAIT_FOR(seen_timeline_folded(WS_TIMELINE(s->timeline)) || view(s).to - view(s).from < length);
    double zoom;
    g_object_get(s->timeline, "zoom", &zoom, NULL);
    g_assert_cmpfloat_with_epsilon(zoom, 1, 0.01);
}

static void keys_focus(Scenario *s)
{
    double length = ws_timeline_length(WS_TIMELINE(s->timeline));
    scenario_act(s, "focus-score");
    scenario_key("period");
    WAIT_FOR(ws_document_focus(s->document)->step);
    scenario_key("f");
    WAIT_FOR(!seen_timeline_folded(WS_TIMELINE(s->timeline)) &&
             view(s).to - view(s).from < length / 2);
    scenario_key("f");
    WAIT_FOR(view(s).from <= 0 && view(s).to >= length);
}

/* --- I05 ----------------------------------------------------------------------------------------
 */

static void keys_along(Scenario *s)
{
    scenario_act(s, "focus-score");
    scenario_key("period");
    WAIT_FOR(ws_document_focus(s->document)->step);
    WsFocus first = *ws_document_focus(s->document);
    g_autofree char *step = g_strdup(first.step);
    for (int i = 0; i < 4; i++) {
        scenario_key("period");
        scenario_settle(s->timeline);
        g_assert_cmpuint(ws_document_focus(s->document)->agent, ==, first.agent);
    }
    WsFocus there = *ws_document_focus(s->document);
    g_assert_true(strcmp(there.step, step) || there.round != first.round ||
                  there.tile != first.tile);
    for (int i = 0; i < 4; i++)
        scenario_key("comma");
    WAIT_FOR(!g_strcmp0(ws_document_focus(s->document)->step, step) &&
             ws_document_focus(s->document)->round == first.round);
}

/* A step of a kind, selected. */
static gboolean select_kind(Scenario *s, WsOpKind kind)
{
    WsTrace *t = ws_document_predicted(s->document);
    for (guint i = t->record->len / 2; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        if (ws_trace_op_kind(t, r->op) != kind)
            continue;
        WsFocus f = { t->op_id->pdata[r->op], r->agent, r->tile, r->round };
        ws_document_select(s->document, &f, WS_SELECT_REPLACE, TRUE);
        scenario_settle(s->timeline);
        return TRUE;
    }
    return FALSE;
}

static void keys_edges(Scenario *s)
{
    g_assert_true(select_kind(s, WS_OP_MBAR_WAIT));
    scenario_act(s, "focus-score");
    g_autofree char *wait = g_strdup(ws_document_focus(s->document)->step);
    guint agent = ws_document_focus(s->document)->agent;
    scenario_key("ctrl+Left");
    WAIT_FOR(g_strcmp0(ws_document_focus(s->document)->step, wait) != 0);
    g_assert_cmpuint(ws_document_focus(s->document)->agent, !=, agent);
    scenario_key("ctrl+Right");
    WAIT_FOR(!g_strcmp0(ws_document_focus(s->document)->step, wait));
}

/* Single letters belong to the score alone. */
static void letters_stay(Scenario *s)
{
    GtkWidget *bar = ws_window_part(s->window, WS_PART_SEARCH);
    middle(s, 0.1);
    scenario_key("ctrl+f");
    WAIT_FOR(gtk_widget_get_mapped(bar) && scenario_find_type(bar, "GtkText"));
    WAIT_FOR(gtk_widget_has_focus(scenario_find_type(bar, "GtkText")));
    scenario_settle(s->timeline); /* the bar may make the score lower, and so need a scroll bar */
    View before = view(s);
    scenario_type("wasdf");
    WAIT_FOR(scenario_find_text(bar, "wasdf"));
    scenario_settle(s->timeline);
    g_assert_cmpfloat_with_epsilon(view(s).from, before.from, 1e-6);
    g_assert_cmpfloat_with_epsilon(view(s).to, before.to, 1e-6);
}

/* --- I06 ----------------------------------------------------------------------------------------
 */

static void minimap_pan(Scenario *s)
{
    View before = middle(s, 0.1);
    GtkWidget *map = scenario_find_type(s->timeline, "WsMinimap");
    g_assert_nonnull(map);
    double gutter = origin_x(s), length = ws_timeline_length(WS_TIMELINE(s->timeline));
    double room = gtk_widget_get_width(map) - gutter;
    double x = gutter + room * (before.from + before.to) / 2 / length;
    double y = gtk_widget_get_height(map) / 2.0;
    scenario_drag(map, x, y, x - 150, y, 1, NULL);
    WAIT_FOR(view(s).from < before.from - 1);
    g_assert_cmpfloat_with_epsilon(view(s).to - view(s).from, before.to - before.from,
                                   0.01 * (before.to - before.from));
    g_assert_cmpfloat_with_epsilon(before.from - view(s).from, 150 * length / room,
                                   0.1 * 150 * length / room);
}

static void minimap_zoom(Scenario *s)
{
    View before = middle(s, 0.1);
    GtkWidget *map = scenario_find_type(s->timeline, "WsMinimap");
    double gutter = origin_x(s), length = ws_timeline_length(WS_TIMELINE(s->timeline));
    double room = gtk_widget_get_width(map) - gutter, y = gtk_widget_get_height(map) / 2.0;
    scenario_drag(map, gutter + 0.1 * room, y, gutter + 0.3 * room, y, 1, NULL);
    WAIT_FOR(view(s).from < before.from - 1);
    g_assert_cmpfloat_with_epsilon(view(s).from, 0.1 * length, 0.03 * length);
    g_assert_cmpfloat_with_epsilon(view(s).to, 0.3 * length, 0.03 * length);
}

/* --- I07 ----------------------------------------------------------------------------------------
 */

static void history(Scenario *s)
{
    View first = middle(s, 0.1);
    scenario_key("Home");
    WAIT_FOR(view(s).from <= 0);
    View second = view(s);
    scenario_key("alt+Left");
    WAIT_FOR(fabs(view(s).from - first.from) < 2 && fabs(view(s).to - first.to) < 2);
    scenario_key("alt+Right");
    WAIT_FOR(fabs(view(s).from - second.from) < 2 && fabs(view(s).to - second.to) < 2);
}

/* --- I08 ----------------------------------------------------------------------------------------
 */

static gboolean covered(Scenario *s, double x, double y)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    double ix, iy, w, h;
    for (guint i = 0; i < ws_timeline_n_items(t); i++)
        if (seen_timeline_item_place(t, i, &ix, &iy, &w, &h) && x > ix - 8 && x < ix + w + 8 &&
            y > iy - 2 && y < iy + h + 2)
            return TRUE;
    return FALSE;
}

/* Where no step lies: what begins on one moves it. */
static void empty_place(Scenario *s, double *x, double *y)
{
    for (*y = 4; *y < 400; *y += 3)
        for (*x = 200; *x < 600; *x += 7)
            if (!covered(s, *x, *y))
                return;
    g_assert_not_reached();
}

/* A marquee held near the right edge scrolls; away from it, it stands. */
static void autoscroll(Scenario *s)
{
    View before = middle(s, 0.1);
    double x = origin_x(s), y = origin_y(s), right = gtk_widget_get_width(s->timeline) - 40;
    double from_x, from_y;
    empty_place(s, &from_x, &from_y);
    int ax, ay, bx, by;
    scenario_on_screen(s->timeline, x + from_x, y + from_y, &ax, &ay);
    scenario_on_screen(s->timeline, right, y + 60, &bx, &by);
    g_autofree char *how =
        g_strdup_printf("mousedown 1 mousemove_relative 10 4 mousemove %d %d", (ax + bx) / 2, by);
    scenario_press(s->timeline, x + from_x, y + from_y, how);
    scenario_settle(s->timeline);
    g_assert_cmpfloat_with_epsilon(view(s).from, before.from, 1);
    scenario_xdo("mousemove %d %d", bx, by);
    WAIT_FOR(view(s).from > before.from + 50);
    scenario_xdo("mousemove %d %d mouseup 1", (ax + bx) / 2, by);
    scenario_settle(s->timeline);
    View after = view(s);
    scenario_settle(s->timeline);
    scenario_settle(s->timeline);
    g_assert_cmpfloat_with_epsilon(view(s).from, after.from, 1e-6);
}

/* --- I09 ----------------------------------------------------------------------------------------
 */

static gboolean differ(cairo_surface_t *a, cairo_surface_t *b)
{
    int h = cairo_image_surface_get_height(a), stride = cairo_image_surface_get_stride(a);
    return stride != cairo_image_surface_get_stride(b) || h != cairo_image_surface_get_height(b) ||
           memcmp(cairo_image_surface_get_data(a), cairo_image_surface_get_data(b),
                  (gsize)h * (gsize)stride) != 0;
}

/* The ruler is only painted, so it is told by its picture: a trace whose clock is not known shows
 * another ruler than one whose clock is known. */
static void ruler_clock(Scenario *s)
{
    scenario_measure(s);
    cairo_surface_t *with = scenario_picture(s->timeline);
    WsTrace *t = ws_document_measured(s->document);
    g_autofree char *path = g_build_filename(g_get_user_runtime_dir(), "noclock.wtrace", NULL);
    g_autoptr(GError) error = NULL;
    for (guint i = 0; i < t->cta->len; i++)
        g_array_index(t->cta, WsTraceCta, i).ghz = 1.1;
    g_assert_true(ws_trace_save(t, path, &error));
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_assert_true(ws_window_open_trace(s->window, file));
    scenario_settle(s->timeline);
    cairo_surface_t *without = scenario_picture(s->timeline);
    g_assert_true(differ(with, without));
    cairo_surface_destroy(with);
    cairo_surface_destroy(without);
}

/* The axis counts time, or the order of the steps. */
static void axis(Scenario *s)
{
    middle(s, 0.02);
    cairo_surface_t *time = scenario_picture(s->timeline);
    scenario_key("ctrl+t");
    scenario_settle(s->timeline);
    cairo_surface_t *order = scenario_picture(s->timeline);
    g_assert_true(differ(time, order));
    scenario_key("ctrl+t");
    scenario_settle(s->timeline);
    cairo_surface_destroy(time);
    cairo_surface_destroy(order);
}

static void edges_off(Scenario *s)
{
    cairo_surface_t *on = scenario_picture(s->timeline);
    scenario_act(s, "toggle-edges");
    cairo_surface_t *off = scenario_picture(s->timeline);
    g_assert_true(differ(on, off));
    scenario_act(s, "toggle-edges");
    cairo_surface_destroy(on);
    cairo_surface_destroy(off);
}

static void add(void)
{
    scenario_add("I01/zoom-about-pointer", zoom_about_pointer);
    scenario_add("I01/zoom-exact", zoom_exact);
    scenario_add("I02/wheel", wheel);
    scenario_add("I02/wheel-swapped", wheel_swapped);
    scenario_add("I02/two-fingers", two_fingers);
    scenario_add("I03/pan-middle-button", pan_middle);
    scenario_add("I03/pan-space", pan_space);
    scenario_add("I04/keys-zoom", keys_zoom);
    scenario_add("I04/keys-pan", keys_pan);
    scenario_add("I04/keys-fit", keys_fit);
    scenario_add("I04/keys-focus", keys_focus);
    scenario_add("I05/keys-along-the-lane", keys_along);
    scenario_add("I05/keys-along-edges", keys_edges);
    scenario_add("I05/letters-stay-in-the-search", letters_stay);
    scenario_add("I06/minimap-pan", minimap_pan);
    scenario_add("I06/minimap-zoom", minimap_zoom);
    scenario_add("I07/history", history);
    scenario_add("I08/autoscroll", autoscroll);
    scenario_add("I09/ruler-clock", ruler_clock);
    scenario_add("navigation/axis", axis);
    scenario_add("navigation/edges-off", edges_off);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
