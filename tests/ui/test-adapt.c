/* Small windows and large text: the score keeps its room, nothing hangs over the edge, the button
 * that closes the window is on it; what is selected moves nothing. */
#include "scenario/hands.h"

#include "program/parts/operation.h"
#include "program/program.h"
#include "ui/app/settings.h"
#include "ui/timeline/timeline_private.h"
#include "ui/window/window_private.h"

static gboolean is_close(GtkWidget *w, gconstpointer data)
{
    return GTK_IS_BUTTON(w) && gtk_widget_get_mapped(w) && gtk_widget_has_css_class(w, "close") &&
           gtk_widget_get_ancestor(w, GTK_TYPE_WINDOW_CONTROLS);
}

/* Beyond the edge of the window, and no scrolled window lies between. */
static gboolean hangs_over(GtkWidget *w, gconstpointer window)
{
    graphene_rect_t r;
    if (w == window || !gtk_widget_get_mapped(w) ||
        gtk_widget_get_ancestor(w, GTK_TYPE_SCROLLED_WINDOW) ||
        gtk_widget_get_ancestor(w, WS_TYPE_TIMELINE) ||
        gtk_widget_get_ancestor(w, GTK_TYPE_POPOVER) ||
        gtk_widget_get_ancestor(w, GTK_TYPE_NOTEBOOK) ||
        !gtk_widget_compute_bounds(w, GTK_WIDGET(window), &r))
        return FALSE;
    return r.origin.x + r.size.width > (float)gtk_widget_get_width(GTK_WIDGET(window)) + 1 ||
           r.origin.y + r.size.height > (float)gtk_widget_get_height(GTK_WIDGET(window)) + 1;
}

static void text_size(double scale)
{
    g_object_set(gtk_settings_get_default(), "gtk-xft-dpi", (int)(96 * 1024 * scale), NULL);
}

static void resize(Scenario *s, int width, int height)
{
    gtk_window_set_default_size(GTK_WINDOW(s->window), width, height);
    for (guint i = 0; i < 4; i++)
        scenario_settle(GTK_WIDGET(s->window));
}

static void fits(Scenario *s, int width, int height, double scale)
{
    GtkWidget *window = GTK_WIDGET(s->window);
    g_autofree char *where = g_strdup_printf("%d x %d at %.0f %%", width, height, 100 * scale);
    int least = 0, high = 0;
    text_size(scale);
    resize(s, width, height);
    resize(s, width, height); /* what makes room has made it */
    gtk_widget_measure(window, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
    gtk_widget_measure(window, GTK_ORIENTATION_VERTICAL, width, &high, NULL, NULL, NULL);
    g_test_message("%s: at least %d x %d", where, least, high);
    if (least > width || high > height)
        g_error("%s: it wants %d x %d", where, least, high);
    WAIT_FOR(gtk_widget_get_width(window) <= width && gtk_widget_get_height(window) <= height);
    GtkWidget *over = scenario_find(window, hangs_over, window);
    if (over)
        g_error("%s: %s hangs over the edge", where, gtk_widget_get_css_name(over));
    g_assert_nonnull(scenario_find(window, is_close, NULL));
    g_assert_cmpfloat(hands_timeline(s)->view.width * scale, >=, width * 0.3);
    g_autofree char *shot = g_strdup_printf("adapt-%d-%.0f", width, 100 * scale);
    hands_shot(s, shot);
}

static void small_windows(Scenario *s)
{
    scenario_act(s, "toggle-sidebar");
    fits(s, 1600, 960, 1);
    g_assert_true(ws_window_pane_shown(s->window, WS_PANE_SIDEBAR));
    fits(s, 1280, 720, 1);
    fits(s, 900, 700, 1);
    g_assert_false(ws_window_pane_shown(s->window, WS_PANE_SIDEBAR));
    fits(s, 1600, 960, 2);
    fits(s, 1280, 720, 2);
    fits(s, 800, 500, 1); /* 1600x1000 where a pixel counts for two */
    fits(s, 640, 360, 1); /* 1280x720 there */
    /* What is asked for comes all the same, and what made room comes back with the room. */
    text_size(1);
    resize(s, 900, 700);
    scenario_act(s, "toggle-sidebar");
    g_assert_true(ws_window_pane_shown(s->window, WS_PANE_SIDEBAR));
    resize(s, 1600, 960);
    WAIT_FOR(ws_window_pane_shown(s->window, WS_PANE_SIDEBAR) &&
             ws_window_pane_shown(s->window, WS_PANE_INSPECTOR) &&
             ws_window_pane_shown(s->window, WS_PANE_PANELS));
    scenario_act(s, "toggle-sidebar");
}

static gboolean is_wide(GtkWidget *w, gconstpointer room)
{
    int least;
    gtk_widget_measure(w, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
    return GTK_IS_LABEL(w) && gtk_widget_get_mapped(w) && least > *(const int *)room;
}

/* What is selected has all of its fields in the inspector: none is cut off at its right edge. */
static void inspector_holds_it(Scenario *s)
{
    static const char *const design[] = { "tests/designs/attention-straight.wstave",
                                          "projects/gemm-bf16/design.wstave" };
    for (guint i = 0; i < G_N_ELEMENTS(design); i++) {
        scenario_open(s, design[i]);
        hands_settle(s);
        GtkWidget *part = ws_window_part(s->window, WS_PART_INSPECTOR);
        GtkWidget *scroll = scenario_find_type(part, "GtkScrolledWindow");
        GtkAdjustment *h = gtk_scrolled_window_get_hadjustment(GTK_SCROLLED_WINDOW(scroll));
        const WsProgram *p = ws_document_program(s->document);
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL); /* one of each kind */
        for (guint k = 0; k < p->n_ops; k++) {
            WsFocus focus = { .step = p->op[k]->step, .agent = G_MAXUINT, .tile = -1, .round = -1 };
            if (!focus.step || !g_hash_table_add(seen, GUINT_TO_POINTER(p->op[k]->kind)))
                continue;
            ws_document_select(s->document, &focus, WS_SELECT_REPLACE, FALSE);
            scenario_settle(s->timeline);
            const double over = gtk_adjustment_get_upper(h) - gtk_adjustment_get_page_size(h);
            const int room = 160;
            GtkWidget *wide = over > 0.5 ? scenario_find(part, is_wide, &room) : NULL;
            if (over > 0.5)
                g_error("%s: %.0f pixels of the inspector are cut off; \"%s\"", focus.step, over,
                        wide ? gtk_label_get_text(GTK_LABEL(wide)) : "?");
        }
    }
}

/* Whatever is selected, the score stays where it is. */
static void selection_moves_nothing(Scenario *s)
{
    WsTimeline *t = hands_timeline(s);
    static const int width[] = { 1600, 1280, 900 };
    for (guint i = 0; i < G_N_ELEMENTS(width); i++) {
        resize(s, width[i], 800);
        hands_settle(s);
        ws_document_select(s->document, NULL, WS_SELECT_REPLACE, FALSE);
        hands_settle(s);
        const double room = t->view.width;
        const WsProgram *p = ws_document_program(s->document);
        for (guint k = 0; k < p->n_ops; k++) {
            WsFocus focus = { .step = p->op[k]->step, .agent = G_MAXUINT, .tile = -1, .round = -1 };
            if (!focus.step || (k && !g_strcmp0(focus.step, p->op[k - 1]->step)))
                continue;
            ws_document_select(s->document, &focus, WS_SELECT_REPLACE, FALSE);
            scenario_settle(s->timeline);
            g_assert_cmpfloat(t->view.width, ==, room);
        }
    }
}

/* A step that is in sight is shown where it stands: the folds stay, and so do the rows. */
static void revealed_where_it_stands(Scenario *s)
{
    WsTimeline *t = hands_timeline(s);
    scenario_open(s, "projects/attention-d128/design.wstave");
    hands_settle(s);
    g_assert_true(t->view.at.folded);
    const guint folds = t->scene->fold->len;
    const double foot = t->scene->bottom;
    g_autoptr(GHashTable) done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < ws_timeline_n_items(t); i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (!item->step || item->shape == WS_SHAPE_SLOT || item->measured ||
            !g_hash_table_add(done, g_strdup(item->step)))
            continue;
        g_autofree char *step = g_strdup(item->step);
        const WsFocus focus = { .step = step, .agent = G_MAXUINT, .tile = -1, .round = -1 };
        ws_document_select(s->document, &focus, WS_SELECT_REPLACE, TRUE);
        scenario_settle(s->timeline);
        g_assert_true(t->view.at.folded);
        g_assert_cmpuint(t->scene->fold->len, ==, folds);
        g_assert_cmpfloat(t->scene->bottom, ==, foot);
    }
    g_assert_cmpuint(g_hash_table_size(done), >, 10);
    /* An execution that is folded away is brought into view. */
    const WsTraceLane *lane = ws_trace_lane(t->main_trace, 0, 0);
    const WsTraceRecord *r =
        &g_array_index(t->main_trace->record, WsTraceRecord, lane->first + lane->n - 2);
    const WsFocus far = { .step = t->main_trace->op_id->pdata[r->op],
                          .agent = r->agent,
                          .tile = r->tile,
                          .round = r->round };
    ws_document_select(s->document, &far, WS_SELECT_REPLACE, TRUE);
    WAIT_FOR(!t->view.at.folded);
}

/* Structure and palette stay as they were left: in a window that is opened beside this one, too. */
static void left_as_they_were(Scenario *s)
{
    if (!ws_settings()) {
        g_test_skip("no schema of the settings here");
        return;
    }
    for (guint i = 0; i < 2; i++) {
        scenario_act(s, "toggle-sidebar");
        const gboolean shown = ws_window_pane_shown(s->window, WS_PANE_SIDEBAR);
        scenario_open(s, "projects/gemm-fp16/design.wstave");
        g_assert_cmpint(ws_window_pane_shown(s->window, WS_PANE_SIDEBAR), ==, shown);
        WsWindow *other = ws_window_new(scenario_application());
        g_autoptr(GFile) file = scenario_file("projects/gemm-bf16/design.wstave");
        gtk_window_present(GTK_WINDOW(other));
        g_assert_true(ws_window_open(other, file));
        scenario_settle(GTK_WIDGET(other));
        g_assert_cmpint(ws_window_pane_shown(other, WS_PANE_SIDEBAR), ==, shown);
        gtk_window_destroy(GTK_WINDOW(other));
    }
}

static void add(void)
{
    scenario_add("adapt/small-windows", small_windows);
    scenario_add("adapt/inspector-holds-it", inspector_holds_it);
    scenario_add("adapt/selection-moves-nothing", selection_moves_nothing);
    scenario_add("adapt/revealed-where-it-stands", revealed_where_it_stands);
    scenario_add("adapt/left-as-they-were", left_as_they_were);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
