/* I10-I15: selecting by pointer and keyboard, and what follows the selection. */
#include "program/op_kind.h"
#include "scenario/scenario.h"
#include "scenario/seen.h"
#include "trace/op_kind.h"

#include <gtksourceview/gtksource.h>

#include <math.h>
#include <string.h>

static guint n_selected(Scenario *s)
{
    return ws_document_selection(s->document)->len;
}

/* The n-th item in sight that is wide enough to be hit, in the coordinates of the widget. */
static gboolean place(Scenario *s, guint nth, double *x, double *y)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    double ox, oy, ix, iy, w, h;
    seen_timeline_origin(t, &ox, &oy);
    double wide = gtk_widget_get_width(s->timeline) - ox, high = 300;
    for (guint i = 0; i < ws_timeline_n_items(t); i++) {
        if (!seen_timeline_item_place(t, i, &ix, &iy, &w, &h) || w < 30 || ix < 4 ||
            ix + w > wide - 60 || iy < 4 || iy + h > high)
            continue;
        if (nth-- > 0)
            continue;
        /* Not in the middle, where an edge's label may stand. */
        *x = ox + ix + w * 0.3;
        *y = oy + iy + h / 2;
        return TRUE;
    }
    return FALSE;
}

/* Clicks items until one selects a step other than `not`; its place. */
static const char *click_step(Scenario *s, guint *nth, const char * not, const char *modifier)
{
    double x, y;
    while (place(s, (*nth)++, &x, &y)) {
        scenario_click(s->timeline, x, y, 1, modifier);
        const char *step = ws_document_focus(s->document)->step;
        if (step && g_strcmp0(step, not ))
            return step;
    }
    return NULL;
}

/* --- I10 ----------------------------------------------------------------------------------------
 */

static void click(Scenario *s)
{
    guint nth = 0;
    g_autofree char *first = g_strdup(click_step(s, &nth, NULL, NULL));
    g_assert_nonnull(first);
    g_assert_cmpuint(n_selected(s), ==, 1);
    const char *second = click_step(s, &nth, first, NULL);
    g_assert_nonnull(second);
    g_assert_cmpuint(n_selected(s), ==, 1);
    /* The inspector shows it. */
    scenario_settle(GTK_WIDGET(s->window));
    g_autofree char *text = scenario_text(ws_window_part(s->window, WS_PART_INSPECTOR));
    g_assert_nonnull(strstr(text, second));
}

static void ctrl_click(Scenario *s)
{
    guint nth = 0;
    g_autofree char *first = g_strdup(click_step(s, &nth, NULL, NULL));
    g_assert_nonnull(first);
    guint before = nth;
    g_autofree char *second = g_strdup(click_step(s, &nth, first, "ctrl"));
    g_assert_nonnull(second);
    g_assert_true(ws_document_selected(s->document, second));
    if (nth == before + 1)
        g_assert_cmpuint(n_selected(s), ==, 2);
    /* Once more at the same place takes it away. */
    double x, y;
    g_assert_true(place(s, nth - 1, &x, &y));
    scenario_click(s->timeline, x, y, 1, "ctrl");
    g_assert_false(ws_document_selected(s->document, second));
}

/* Clicks two executions of one lane; all between them are selected. */
static void shift_click(Scenario *s)
{
    guint nth = 0;
    double x, y;
    while (place(s, nth, &x, &y)) {
        scenario_click(s->timeline, x, y, 1, NULL);
        const WsFocus *f = ws_document_focus(s->document);
        guint agent = f->agent;
        double last_x = 0, last_y = 0, x2, y2;
        for (guint m = nth + 1; f->step && place(s, m, &x2, &y2); m++)
            if (fabs(y2 - y) < 2 && x2 > x + 150) {
                last_x = x2;
                last_y = y2;
            }
        if (last_x > 0) {
            scenario_click(s->timeline, last_x, last_y, 1, "shift");
            g_assert_cmpuint(n_selected(s), >=, 2);
            g_assert_cmpuint(ws_document_focus(s->document)->agent, ==, agent);
            return;
        }
        nth++;
    }
    g_assert_not_reached();
}

static void click_nothing(Scenario *s)
{
    guint nth = 0;
    g_assert_nonnull(click_step(s, &nth, NULL, NULL));
    scenario_key("Escape");
    scenario_act(s, "select-none");
    g_assert_cmpuint(n_selected(s), ==, 0);
}

/* --- I11 ----------------------------------------------------------------------------------------
 */

static void marquee(Scenario *s)
{
    double x, y;
    seen_timeline_origin(WS_TIMELINE(s->timeline), &x, &y);
    scenario_drag(s->timeline, x + 60, y + 2, x + 700, y + 200, 1, NULL);
    guint all = n_selected(s);
    g_assert_cmpuint(all, >=, 3);
    scenario_drag(s->timeline, x + 60, y + 2, x + 400, y + 60, 1, NULL);
    guint some = n_selected(s);
    g_assert_cmpuint(some, <, all);
    g_assert_cmpuint(some, >=, 1);
    scenario_drag(s->timeline, x + 60, y + 100, x + 700, y + 250, 1, "shift");
    g_assert_cmpuint(n_selected(s), >, some);
    scenario_drag(s->timeline, x + 60, y + 2, x + 900, y + 300, 1, "alt");
    g_assert_cmpuint(n_selected(s), <, all);
}

/* --- I12, I13 -----------------------------------------------------------------------------------
 */

static void all_none_invert(Scenario *s)
{
    scenario_act(s, "focus-score");
    scenario_key("ctrl+a");
    WAIT_FOR(n_selected(s) > 5);
    guint all = n_selected(s);
    scenario_key("ctrl+shift+a");
    WAIT_FOR(n_selected(s) == 0);
    scenario_key("period");
    WAIT_FOR(n_selected(s) == 1);
    g_autofree char *one = g_strdup(ws_document_focus(s->document)->step);
    scenario_key("ctrl+i");
    WAIT_FOR(n_selected(s) == all - 1);
    g_assert_false(ws_document_selected(s->document, one));
}

static gboolean select_kind(Scenario *s, WsOpKind kind)
{
    WsTrace *t = ws_document_predicted(s->document);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        if (ws_trace_op_kind(t, r->op) != kind)
            continue;
        WsFocus f = { t->op_id->pdata[r->op], r->agent, r->tile, r->round };
        ws_document_select(s->document, &f, WS_SELECT_REPLACE, FALSE);
        return TRUE;
    }
    return FALSE;
}

static void streams(Scenario *s)
{
    g_assert_true(select_kind(s, WS_OP_MBAR_WAIT));
    scenario_act(s, "focus-score");
    scenario_key("l");
    WAIT_FOR(n_selected(s) > 1);
    guint up = n_selected(s);
    scenario_act(s, "select-none");
    g_assert_true(select_kind(s, WS_OP_MBAR_WAIT));
    scenario_act(s, "select-upstream");
    g_assert_cmpuint(n_selected(s), ==, up);
    scenario_act(s, "select-none");
    g_assert_true(select_kind(s, WS_OP_TMA_LOAD));
    scenario_act(s, "focus-score");
    scenario_key("shift+l");
    WAIT_FOR(n_selected(s) > 1);
}

/* --- I14 ----------------------------------------------------------------------------------------
 */

static void range(Scenario *s)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    double x, y, length = ws_timeline_length(t);
    gint64 from, to;
    ws_timeline_set_view(t, length / 2, length / 2 + 8000);
    scenario_settle(s->timeline);
    seen_timeline_origin(t, &x, &y);
    double c0 = ws_timeline_cycle_of_x(t, 100), c1 = ws_timeline_cycle_of_x(t, 400);
    scenario_drag(s->timeline, x + 100, y - 20, x + 400, y - 20, 1, NULL);
    g_assert_true(ws_document_range(s->document, &from, &to));
    double pixel = (c1 - c0) / 300;
    g_assert_cmpfloat(fabs((double)from - c0), <, 3 * pixel);
    g_assert_cmpfloat(fabs((double)to - c1), <, 3 * pixel);
    scenario_act(s, "show-measurements");
    g_autofree char *with = scenario_text(ws_window_part(s->window, WS_PART_MEASUREMENTS));
    scenario_act(s, "clear-range");
    g_assert_false(ws_document_range(s->document, &from, &to));
    scenario_settle(GTK_WIDGET(s->window));
    g_autofree char *without = scenario_text(ws_window_part(s->window, WS_PART_MEASUREMENTS));
    g_assert_cmpstr(with, !=, without);
}

/* --- I15 and what follows the selection
 * ------------------------------------------------------------ */

static void survives(Scenario *s)
{
    g_assert_true(select_kind(s, WS_OP_MBAR_WAIT));
    g_autofree char *step = g_strdup(ws_document_focus(s->document)->step);
    static const char *const modes[] = {
        "toggle-axis", "toggle-axis", "toggle-edges", "fit-all",
        "zoom-normal", "theme-dark",  "theme-light",  "show-code"
    };
    for (guint i = 0; i < G_N_ELEMENTS(modes); i++) {
        scenario_act(s, modes[i]);
        g_assert_cmpstr(ws_document_focus(s->document)->step, ==, step);
    }
    scenario_measure(s);
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==, step);
}

static gboolean has_place(GtkWidget *w, gconstpointer data)
{
    return GTK_IS_TEXT_VIEW(w) && gtk_widget_get_mapped(w);
}

static int cursor_line(GtkTextBuffer *buffer)
{
    GtkTextIter at;
    gtk_text_buffer_get_iter_at_mark(buffer, &at, gtk_text_buffer_get_insert(buffer));
    return gtk_text_iter_get_line(&at);
}

/* Score to code and back. */
static void code_follows(Scenario *s)
{
    scenario_act(s, "show-code");
    g_assert_true(select_kind(s, WS_OP_MBAR_WAIT));
    scenario_settle(GTK_WIDGET(s->window));
    const char *step = ws_document_focus(s->document)->step;
    g_autoptr(GArray) lines = ws_document_code_lines(s->document, WS_CODE_PROGRAM, step);
    g_assert_cmpuint(lines->len, >=, 1);
    GtkWidget *view = scenario_find(ws_window_part(s->window, WS_PART_CODE), has_place, NULL);
    g_assert_nonnull(view);
    /* Another line: its step becomes the selection. */
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(view));
    GtkSourceLanguage *language = gtk_source_buffer_get_language(GTK_SOURCE_BUFFER(buffer));
    g_assert_nonnull(language);
    g_assert_cmpstr(gtk_source_language_get_id(language), ==, "warpstave-program");
    int n = gtk_text_buffer_get_line_count(buffer);
    for (int line = 0; line < n; line++) {
        g_autofree char *other = ws_document_code_step(s->document, WS_CODE_PROGRAM, (guint)line);
        if (!other || !g_strcmp0(other, step) || !g_str_has_prefix(other, "groups/"))
            continue;
        GtkTextIter at;
        GdkRectangle where;
        int x = 0, y = -1;
        gtk_text_buffer_get_iter_at_line(buffer, &at, line);
        /* Heights of lines are guessed at first: it may take more than one look. */
        for (int last = -2, out = 1; out || y != last;) {
            last = y;
            if (out)
                gtk_text_view_scroll_to_iter(GTK_TEXT_VIEW(view), &at, 0, TRUE, 0, 0.5);
            scenario_settle(view);
            gtk_text_view_get_iter_location(GTK_TEXT_VIEW(view), &at, &where);
            gtk_text_view_buffer_to_window_coords(GTK_TEXT_VIEW(view), GTK_TEXT_WINDOW_WIDGET,
                                                  where.x, where.y, &x, &y);
            out = y < 0 || y > gtk_widget_get_height(view) - 20;
        }
        scenario_click(view, x + 2, y + where.height / 2.0, 1, NULL);
        g_test_message("line %d of step %s: cursor in line %d", line, other, cursor_line(buffer));
        WAIT_FOR(!g_strcmp0(ws_document_focus(s->document)->step, other));
        return;
    }
    g_assert_not_reached();
}

static void add(void)
{
    scenario_add("I10/click", click);
    scenario_add("I10/ctrl-click", ctrl_click);
    scenario_add("I10/shift-click", shift_click);
    scenario_add("I12/click-and-none", click_nothing);
    scenario_add("I11/marquee", marquee);
    scenario_add("I12/all-none-invert", all_none_invert);
    scenario_add("I13/streams", streams);
    scenario_add("I14/range-on-the-ruler", range);
    scenario_add("I15/survives-modes", survives);
    scenario_add("I35/code-follows", code_follows);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
