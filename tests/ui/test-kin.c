/* Traces of another design than the one that is open: offered beside it, compared by the names of
 * their steps, or opened with their own design; what was edited is never lost over one. */
#include "scenario/hands.h"

#include "program/program.h"
#include "ui/document/document_kin.h"
#include "ui/runs/measurements.h"

#include <string.h>

#define FOLDER "projects/attention-d128/"

static void activate(Scenario *s, const char *path)
{
    g_autoptr(GFile) file = scenario_file(path);
    g_autofree char *uri = g_file_get_uri(file);
    g_action_group_activate_action(G_ACTION_GROUP(s->window), "open-file",
                                   g_variant_new_string(uri));
}

/* A button of the bar, or something with this text. */
static gboolean is_button(GtkWidget *w, gconstpointer label)
{
    return GTK_IS_BUTTON(w) && gtk_widget_get_mapped(w) &&
           !g_strcmp0(gtk_button_get_label(GTK_BUTTON(w)), label);
}

static void press(Scenario *s, const char *label)
{
    GtkWidget *root = GTK_WIDGET(s->window), *button = NULL;
    WAIT_FOR((button = *label == '_' ? scenario_find(root, is_button, label)
                                     : scenario_find_text(root, label)));
    scenario_settle(GTK_WIDGET(s->window));
    scenario_click_widget(button, NULL);
}

/* The design offers what was measured of it; one of its own is laid under the prediction. */
static void beside(Scenario *s)
{
    scenario_open(s, FOLDER "design.wstave");
    hands_settle(s);
    g_assert_null(ws_document_measured(s->document));
    press(s, "5 measured traces");
    press(s, "measured/attention-d128.wtrace");
    WAIT_FOR(ws_document_measured(s->document));
    g_assert_null(ws_document_kin(s->document));
    /* A design that has none beside it offers none. */
    scenario_open(s, "tests/designs/gemm-cooperative.wstave");
    WAIT_FOR(!scenario_find_text(GTK_WIDGET(s->window), "measured traces"));
}

/* Rows below the fold, too. */
static gboolean lists(GtkWidget *measurements, const char *what)
{
    g_autofree char *text = ws_measurements_copy(WS_MEASUREMENTS(measurements));
    return strstr(text, what) != NULL;
}

static void compared(Scenario *s)
{
    scenario_open(s, FOLDER "measured/attention-d128.wtrace");
    hands_settle(s);
    WsDesign *design = ws_document_latest(s->document);
    GtkWidget *m = ws_window_part(s->window, WS_PART_MEASUREMENTS);
    activate(s, FOLDER "measured/unordered.wtrace");
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "another form of this design"));
    g_assert_true(ws_document_latest(s->document) == design);
    press(s, "_Compare");
    WAIT_FOR(ws_document_kin(s->document) && ws_document_kin(s->document)->stats);
    g_assert_true(ws_document_kin(s->document)->answers->verdict != NULL);
    WAIT_FOR(scenario_find_text(m, "By name and role"));
    WAIT_FOR(lists(m, "Tensor core idle\t\xe2\x89\xa5"));
    WAIT_FOR(lists(m, "Round of j, mma.0"));
    g_assert_true(ws_document_latest(s->document) == design);
    hands_shot(s, "kin");
    g_assert_true(lists(m, "unordered.wtrace"));
    g_assert_true(lists(m, "proved, 0 errors\tproved, 0 errors"));
    press(s, "Stop Comparing");
    WAIT_FOR(!ws_document_kin(s->document));
    WAIT_FOR(!scenario_find_text(m, "By name and role"));
    /* What is compared with goes with the design. */
    activate(s, FOLDER "measured/no-overlap.wtrace");
    press(s, "_Compare");
    WAIT_FOR(lists(m, "only there"));
    scenario_open(s, "projects/gemm-bf16/design.wstave");
    g_assert_null(ws_document_kin(s->document));
}

static void own_design(Scenario *s)
{
    scenario_open(s, FOLDER "design.wstave");
    hands_settle(s);
    activate(s, FOLDER "measured/causal.wtrace");
    press(s, "_Open Its Own Design");
    WAIT_FOR(ws_document_measured(s->document));
    g_assert_cmpstr(ws_document_program(s->document)->design_hash, ==,
                    ws_document_measured(s->document)->design_hash);
}

/* A trace that shares nothing opens with its own design, once what is open is saved or given up. */
static void nothing_is_lost(Scenario *s)
{
    g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(s->document));
    g_assert_true(ws_edit_depth(draft, ws_document_node(s->document, "buffers/a"), 2));
    g_assert_true(ws_document_commit(s->document, draft, NULL));
    hands_settle(s);
    g_autofree char *was = hands_text(s);
    activate(s, FOLDER "measured/causal.wtrace");
    GtkWindow *asks = NULL;
    WAIT_FOR((asks = scenario_toplevel("GtkMessageDialog")));
    g_autofree char *now = hands_text(s);
    g_assert_cmpstr(now, ==, was);
    gtk_dialog_response(GTK_DIALOG(asks), GTK_RESPONSE_CANCEL);
    WAIT_FOR(!scenario_toplevel("GtkMessageDialog"));
    g_autofree char *still = hands_text(s);
    g_assert_cmpstr(still, ==, was);
    g_assert_true(ws_document_dirty(s->document));
    ws_document_undo(s->document);
    hands_settle(s);
}

static void add(void)
{
    scenario_add("kin/beside", beside);
    scenario_add("kin/compared", compared);
    scenario_add("kin/own-design", own_design);
    scenario_add("kin/nothing-is-lost", nothing_is_lost);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
