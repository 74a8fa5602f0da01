/* Loops in the hint form, moved by a real pointer and real keys: what is dragged is what the edit
 * would do, the verdict follows, and undo brings the same document back. */
#include "../scenario/hands.h"

#include "model/hint.h"
#include "ui/stages/stages_panel.h"

#include <string.h>

#define ATTENTION "tests/designs/hint-attention.wstave"
#define GEMM      "tests/import/tle/staged.wstave"

static WsStagesPanel *panel(Scenario *s)
{
    return WS_STAGES_PANEL(ws_window_part(s->window, WS_PART_STAGES));
}

static WsStagesMatrix *matrix(Scenario *s)
{
    return ws_stages_panel_matrix(panel(s), 0);
}

static void begin(Scenario *s, const char *path)
{
    hands_begin(s, path);
    hands_settle(s);
    scenario_key("ctrl+alt+l");
    WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(panel(s))) && matrix(s));
    /* room for all rows */
    GtkWidget *rows = gtk_widget_get_ancestor(GTK_WIDGET(panel(s)), GTK_TYPE_PANED);
    gtk_paned_set_position(GTK_PANED(rows), gtk_widget_get_height(rows) - 340);
    scenario_settle(GTK_WIDGET(panel(s)));
}

static GtkWidget *place(Scenario *s, const char *group, gint stage, const char *executor)
{
    WAIT_FOR(ws_stages_matrix_place(matrix(s), group, stage, executor));
    GtkWidget *w = ws_stages_matrix_place(matrix(s), group, stage, executor);
    WAIT_FOR(gtk_widget_get_mapped(w) && gtk_widget_get_width(w) > 0);
    return w;
}

static void drag(Scenario *s, GtkWidget *from, GtkWidget *to)
{
    (void)s;
    scenario_drag_onto(from, gtk_widget_get_width(from) / 2, gtk_widget_get_height(from) / 2, to,
                       gtk_widget_get_width(to) / 2, gtk_widget_get_height(to) / 2);
}

static const WsNode *group_named(const WsDesign *design, const char *name)
{
    g_autoptr(GPtrArray) loops = ws_hint_loops(design);
    const WsHintLoop *l = loops->pdata[0];
    for (guint i = 0; i < l->n; i++)
        if (!g_strcmp0(ws_node_name(l->cell[i].node), name))
            return l->cell[i].node;
    g_assert_not_reached();
}

/* What the edit makes of the newest design. */
static char *edited(Scenario *s, const char *group, gint64 stage, gint64 order,
                    const char *executor)
{
    g_autoptr(WsDraft) d = ws_draft_new(ws_document_latest(s->document));
    const guint64 node = group_named(ws_document_latest(s->document), group)->identity;
    g_assert_true(ws_edit_hint_move(d, node, stage, order, executor));
    return ws_design_print(d->design);
}

static void is_text(Scenario *s, const char *wanted)
{
    g_autofree char *now = hands_text(s);
    g_assert_cmpstr(now, ==, wanted);
}

static void undo_and_redo(Scenario *s, const char *before, const char *after)
{
    scenario_act(s, "focus-score");
    scenario_key("ctrl+z");
    hands_settle(s);
    is_text(s, before);
    scenario_key("ctrl+shift+z");
    hands_settle(s);
    is_text(s, after);
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
}

/* The product of Q and K a round later, before the values are loaded. */
static void stage_and_order(Scenario *s)
{
    begin(s, ATTENTION);
    g_autofree char *before = hands_text(s), *wanted = edited(s, "qk", 1, 1, NULL);
    g_assert_nonnull(strstr(ws_stages_panel_says(panel(s)), "derived"));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(panel(s)), "ring of 2 slots: k"));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(panel(s)), "1 round ahead"));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(panel(s)), "acquire keys_ring"));
    hands_shot(s, "stages-1-hint");
    const guint states = hands_states(s);
    drag(s, place(s, "qk", 0, NULL), place(s, "values", 1, NULL));
    WAIT_FOR(hands_states(s) == states + 1);
    hands_settle(s);
    is_text(s, wanted);
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
    /* The row went with it, and nothing runs ahead any more. */
    g_assert_nonnull(place(s, "qk", 1, NULL));
    g_assert_null(scenario_find_text(GTK_WIDGET(panel(s)), "1 round ahead"));
    undo_and_redo(s, before, wanted);
}

/* What cannot be is said while it is held, and is not done. */
static void refused(Scenario *s)
{
    begin(s, ATTENTION);
    g_autofree char *before = hands_text(s);
    const guint states = hands_states(s);
    GtkWidget *from = place(s, "softmax", 1, NULL), *to = place(s, "softmax", 0, NULL);
    scenario_press(from, 10, 10, "mousedown 1");
    scenario_point(from, 18, 12);
    scenario_point(to, 8, 10);
    scenario_point(to, 12, 10);
    WAIT_FOR(strstr(ws_stages_panel_says(panel(s)), "earlier order"));
    g_assert_true(gtk_widget_has_css_class(to, "ws-refused"));
    hands_shot_as_is(s, "stages-2-refused");
    scenario_press(to, 12, 10, "mouseup 1");
    WAIT_FOR(!ws_stages_matrix_holds(matrix(s)));
    hands_settle(s);
    is_text(s, before);
    g_assert_cmpuint(hands_states(s), ==, states);
    /* A value is in the registers of its own executor. */
    drag(s, place(s, "pv", -1, "math"), place(s, "pv", -1, "load"));
    WAIT_FOR(!ws_stages_matrix_holds(matrix(s)));
    hands_settle(s);
    is_text(s, before);
}

static void escape(Scenario *s)
{
    begin(s, ATTENTION);
    g_autofree char *before = hands_text(s);
    GtkWidget *from = place(s, "qk", 0, NULL), *to = place(s, "values", 1, NULL);
    scenario_press(from, 10, 10, "mousedown 1");
    scenario_point(from, 18, 12);
    scenario_point(to, 8, 10);
    scenario_point(to, 12, 10);
    WAIT_FOR(ws_stages_matrix_holds(matrix(s)) && ws_document_trying(s->document));
    scenario_key("Escape");
    WAIT_FOR(!ws_stages_matrix_holds(matrix(s)));
    g_assert_false(ws_document_trying(s->document));
    scenario_press(to, 12, 10, "mouseup 1");
    hands_settle(s);
    is_text(s, before);
}

/* A group of the design that runs nothing yet. */
static void add_loader(Scenario *s)
{
    g_autoptr(WsDraft) d = ws_draft_new(ws_document_latest(s->document));
    WsJson *group = WS_MAKE(WS_NODE_GROUP, { WS_F_name, ws_json_text("loader") },
                            { WS_F_role, ws_json_text("producer") }, { WS_F_warps, ws_json_int(4) },
                            { WS_F_body, ws_json_list() });
    g_assert_cmpuint(ws_draft_append(d, ws_design_root(d->design)->identity, WS_F_groups, group),
                     !=, 0);
    ws_draft_name(d, "Add %s", "loader");
    g_assert_true(ws_document_commit(s->document, d, NULL));
    hands_settle(s);
}

static void executor(Scenario *s)
{
    begin(s, GEMM);
    add_loader(s);
    g_autofree char *before = hands_text(s), *wanted = edited(s, "load", -1, -1, "loader");
    const guint states = hands_states(s);
    drag(s, place(s, "load", -1, "mma"), place(s, "load", -1, "loader"));
    WAIT_FOR(hands_states(s) == states + 1);
    hands_settle(s);
    is_text(s, wanted);
    g_assert_nonnull(strstr(wanted, "\"executor\": \"loader\""));
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
    undo_and_redo(s, before, wanted);
}

/* Shift and the arrows; the keyboard stays with the group. */
static void keys(Scenario *s)
{
    begin(s, GEMM);
    add_loader(s);
    g_autofree char *before = hands_text(s), *up = edited(s, "load", -1, 0, NULL);
    guint states = hands_states(s);
    gtk_widget_grab_focus(place(s, "load", 0, NULL));
    scenario_key("shift+Up");
    WAIT_FOR(hands_states(s) == states + 1);
    hands_settle(s);
    is_text(s, up);
    scenario_key("shift+Down");
    WAIT_FOR(hands_states(s) == states + 2);
    hands_settle(s);
    is_text(s, before);
    /* In one stage with the product that is before it in the round: said, and not done. */
    scenario_key("shift+Right");
    WAIT_FOR(strstr(ws_stages_panel_says(panel(s)), "cycle"));
    is_text(s, before);
    gtk_widget_grab_focus(place(s, "load", -1, "mma"));
    g_autofree char *other = edited(s, "load", -1, -1, "loader");
    scenario_key("shift+Right");
    WAIT_FOR(hands_states(s) == states + 3);
    hands_settle(s);
    is_text(s, other);
    scenario_key("shift+Left");
    WAIT_FOR(hands_states(s) == states + 4);
    hands_settle(s);
    is_text(s, before);
}

/* Text at 200 %: what is said of a place is longer or shorter than what stood there, and no place
 * moves below the pointer: each group goes where it is let go. */
static void large_text(Scenario *s)
{
    GtkSettings *settings = gtk_settings_get_default();
    int dpi;
    g_object_get(settings, "gtk-xft-dpi", &dpi, NULL);
    g_object_set(settings, "gtk-xft-dpi", 2 * (dpi > 0 ? dpi : 96 * 1024), NULL);
    begin(s, ATTENTION);
    for (guint i = 0; i < 3; i++) /* measured, allocated, drawn anew */
        scenario_settle(GTK_WIDGET(s->window));
    g_autofree char *before = hands_text(s);
    static const struct {
        const char *group, *row;
        gint stage;
    } to[] = { { "softmax", "softmax", 0 }, { "qk", "values", 1 }, { "keys", "values", 1 } };
    for (guint i = 0; i < G_N_ELEMENTS(to); i++) {
        GtkWidget *from = place(s, to[i].group, i == 0, NULL),
                  *goal = place(s, to[i].row, to[i].stage, NULL);
        int x, y, held_x, held_y;
        hands_shot_as_is(s, "stages-200");
        scenario_on_screen(goal, 0, 0, &x, &y);
        scenario_press(from, 10, 10, "mousedown 1");
        scenario_point(from, 18, 12);
        scenario_point(goal, 8, 10);
        scenario_point(goal, 12, 10);
        WAIT_FOR(gtk_widget_has_css_class(goal, "ws-drop") ||
                 gtk_widget_has_css_class(goal, "ws-refused"));
        scenario_settle(GTK_WIDGET(s->window));
        hands_shot_as_is(s, i ? "stages-200-tried" : "stages-200-refused");
        scenario_on_screen(goal, 0, 0, &held_x, &held_y);
        g_test_message("%s: %s", to[i].group, ws_stages_panel_says(panel(s)));
        g_assert_cmpint(held_x, ==, x);
        g_assert_cmpint(held_y, ==, y);
        scenario_key("Escape");
        WAIT_FOR(!ws_stages_matrix_holds(matrix(s)));
        scenario_press(goal, 12, 10, "mouseup 1");
        hands_settle(s);
        is_text(s, before);
    }
    g_autofree char *wanted = edited(s, "qk", 1, 1, NULL);
    const guint states = hands_states(s);
    drag(s, place(s, "qk", 0, NULL), place(s, "values", 1, NULL));
    WAIT_FOR(hands_states(s) == states + 1);
    hands_settle(s);
    is_text(s, wanted);
    g_object_set(settings, "gtk-xft-dpi", dpi, NULL);
    scenario_settle(GTK_WIDGET(s->window));
}

/* The steps in place of the hint; what a click on a group shows on the score is derived, too. */
static void make_explicit(Scenario *s)
{
    begin(s, ATTENTION);
    scenario_click_widget(place(s, "keys", 0, NULL), NULL);
    WAIT_FOR(ws_document_selection(s->document)->len >= 2);
    gboolean derived = FALSE;
    for (guint i = 0; i < ws_document_selection(s->document)->len; i++)
        derived |= strstr(ws_document_selection(s->document)->pdata[i], "#acquire") != NULL;
    g_assert_true(derived);
    g_autofree char *before = hands_text(s);
    g_autoptr(WsDraft) d = ws_draft_new(ws_document_latest(s->document));
    g_assert_true(ws_edit_explicit(d, 0));
    g_autofree char *wanted = ws_design_print(d->design);
    scenario_click_widget(scenario_find_text(GTK_WIDGET(panel(s)), "Make Explicit"), NULL);
    WAIT_FOR(!matrix(s));
    hands_settle(s);
    is_text(s, wanted);
    g_assert_nonnull(strstr(ws_stages_panel_says(panel(s)), "No loop"));
    undo_and_redo(s, before, wanted);
}

/* Two groups of one order, as a text may have it: the page says why it has no matrix. */
static void not_a_hint(Scenario *s)
{
    begin(s, GEMM);
    g_autoptr(WsDraft) d = ws_draft_new(ws_document_latest(s->document));
    const guint64 node = group_named(d->design, "load")->identity;
    g_assert_true(ws_draft_set(d, node, WS_F_pipe_order, ws_json_int(0)));
    ws_draft_name(d, "Edit %s", "load");
    g_assert_true(ws_document_commit(s->document, d, NULL));
    hands_settle(s);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(panel(s)), "have the same order 0"));
    g_assert_null(matrix(s));
}

static void add(void)
{
    scenario_add("stages/stage-and-order", stage_and_order);
    scenario_add("stages/refused", refused);
    scenario_add("stages/escape", escape);
    scenario_add("stages/executor", executor);
    scenario_add("stages/keys", keys);
    scenario_add("stages/text-200-percent", large_text);
    scenario_add("stages/make-explicit", make_explicit);
    scenario_add("stages/not-a-hint", not_a_hint);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
