/* Taking the kernel out: which forms there are, what stands in the way, and the way to that step.
 */
#include "scenario/hands.h"

#include "ui/compose/exports.h"
#include "ui/document/process.h"

#include <glib/gstdio.h>
#include <string.h>

static gboolean is_row(GtkWidget *widget, gconstpointer data)
{
    return GTK_IS_LIST_BOX_ROW(widget) && gtk_widget_get_mapped(widget);
}

static GtkWidget *row_of(GtkWindow *dialog, WsExport what)
{
    g_autoptr(GPtrArray) rows = scenario_find_all(GTK_WIDGET(dialog), is_row, NULL);
    g_assert_cmpuint(rows->len, ==, WS_EXPORT_COUNT);
    return rows->pdata[what];
}

static GtkWindow *open_dialog(Scenario *s)
{
    scenario_key("ctrl+alt+e");
    GtkWindow *dialog = hands_dialogue(s);
    g_assert_cmpstr(gtk_window_get_title(dialog), ==, "Export the Kernel");
    return dialog;
}

/* TLE refuses attention: the step, the reason, the remedy; a click leads to the step. */
static void refusal(Scenario *s)
{
    scenario_open(s, "projects/attention-d128/design.wstave");
    scenario_act(s, "focus-score");
    GtkWindow *dialog = open_dialog(s);
    WAIT_FOR(scenario_find_text(row_of(dialog, WS_EXPORT_GLUON), "can be saved"));
    scenario_key("Down");
    WAIT_FOR(scenario_find_text(row_of(dialog, WS_EXPORT_TLE), "cannot represent this design"));
    GtkWidget *step = NULL;
    WAIT_FOR((step = scenario_find_text(GTK_WIDGET(dialog), "Step groups/load/body/0/do/1")));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(dialog), "a copy expects its own bytes"));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(dialog), "give each load a barrier of its own"));
    hands_shot_of(GTK_WIDGET(dialog), "export-refusal");
    scenario_settle(GTK_WIDGET(dialog));
    scenario_click_widget(step, NULL);
    WAIT_FOR(ws_document_selected(s->document, "groups/load/body/0/do/1"));
    scenario_key("Escape");
    WAIT_FOR(g_list_model_get_n_items(gtk_window_get_toplevels()) == 1);
}

/* TLX says a GEMM, and refuses one of clusters: the step, the reason, the remedy. */
static void tlx(Scenario *s)
{
    GtkWindow *dialog = open_dialog(s);
    scenario_click_widget(row_of(dialog, WS_EXPORT_TLX), NULL);
    WAIT_FOR(scenario_find_text(row_of(dialog, WS_EXPORT_TLX), "can be saved"));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(dialog), "TLX itself was not run"));
    g_assert_null(scenario_find_text(GTK_WIDGET(dialog), "What to change"));
    scenario_key("Escape");
    WAIT_FOR(g_list_model_get_n_items(gtk_window_get_toplevels()) == 1);
    scenario_open(s, "projects/gemm-bf16-cluster2/design.wstave");
    scenario_act(s, "focus-score");
    dialog = open_dialog(s);
    scenario_click_widget(row_of(dialog, WS_EXPORT_TLX), NULL);
    WAIT_FOR(scenario_find_text(row_of(dialog, WS_EXPORT_TLX), "cannot represent this design"));
    GtkWidget *step = NULL;
    WAIT_FOR((step = scenario_find_text(GTK_WIDGET(dialog), "Step groups/load/body/0/do/0/do/2")));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(dialog), "a multicast copy"));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(dialog), "a design of cluster 1"));
    scenario_settle(GTK_WIDGET(dialog));
    scenario_click_widget(step, NULL);
    WAIT_FOR(ws_document_selected(s->document, "groups/load/body/0/do/0/do/2"));
    gtk_window_destroy(dialog);
}

/* What TLE makes of the registers is told, and an edit asks again. */
static void plan(Scenario *s)
{
    GtkWindow *dialog = open_dialog(s);
    scenario_key("Down");
    WAIT_FOR(scenario_find_text(GTK_WIDGET(dialog), "Registers as TLE's solver deals them"));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(dialog), "workers 232 232"));
    hands_shot_of(GTK_WIDGET(dialog), "export-plan");
    hands_select(s, "groups/load/body/0/do/0/do/1", FALSE);
    g_action_group_activate_action(G_ACTION_GROUP(s->window), "delete", NULL);
    hands_settle(s);
    WAIT_FOR(!scenario_find_text(row_of(dialog, WS_EXPORT_TLE), "can be saved") &&
             !scenario_find_text(row_of(dialog, WS_EXPORT_TLE), "asking"));
    gtk_window_destroy(dialog);
}

/* What was not understood when a kernel was read is not silently left out of what is generated. */
static void opaque(Scenario *s)
{
    static const char *const wait = "        tma.store_wait(0)\n        c_tile";
    g_autoptr(GFile) gemm = scenario_file("tests/import/gluon/gemm.py");
    g_autofree char *path = g_build_filename(g_get_user_runtime_dir(), "gemm.py", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(g_file_peek_path(gemm), &text, NULL, NULL));
    g_auto(GStrv) part = g_strsplit(text, wait, 2);
    g_autofree char *other = g_strconcat(part[0], "        mystery(acc)\n", wait, part[1], NULL);
    g_assert_true(g_file_set_contents(path, other, -1, NULL));
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_assert_true(ws_window_open(s->window, file));
    WAIT_FOR(ws_document_design(s->document));
    hands_settle(s);
    scenario_act(s, "focus-score");
    GtkWindow *dialog = open_dialog(s);
    scenario_click_widget(row_of(dialog, WS_EXPORT_CUDA), NULL);
    /* The answer may come before the click, which shows it. */
    WAIT_FOR(scenario_find_text(row_of(dialog, WS_EXPORT_CUDA), "something is missing here") ||
             scenario_find_text(GTK_WIDGET(dialog), "was not understood"));
    if (scenario_find_text(row_of(dialog, WS_EXPORT_CUDA), "something is missing here"))
        g_test_skip("built without code generation");
    gtk_window_destroy(dialog);
}

/* What the tool says becomes a state, a step, a reason and a remedy. */
static void words(Scenario *s)
{
    static const struct {
        WsProcessResult said;
        WsExportState state;
        const char *step, *why, *remedy;
    } all[] = {
        { { 3, "", "", "all of it", "groups/a/body/0", "it has two; or three", "give it one" },
          WS_EXPORT_REFUSED,
          "groups/a/body/0",
          "it has two; or three",
          "give it one" },
        { { 3, "", "", "all of it", NULL, "a cluster of 2", NULL },
          WS_EXPORT_REFUSED,
          NULL,
          "a cluster of 2",
          NULL },
        { { 3, "", "", "M/2: not supported by the package: why", NULL, NULL, NULL },
          WS_EXPORT_REFUSED,
          NULL,
          "M/2: not supported by the package: why",
          NULL },
        { { 1, "", "x: error P-DL\n", "the design is refuted", NULL, NULL, NULL },
          WS_EXPORT_REFUTED,
          NULL,
          "The check refutes",
          NULL },
        { { 4, "", "warpstave: no ptxas here\n", "no ptxas here", NULL, NULL, NULL },
          WS_EXPORT_ABSENT,
          NULL,
          "no ptxas here",
          NULL },
        { { 5, "", "Segmentation fault\n", NULL, NULL, NULL, NULL },
          WS_EXPORT_FAILED,
          NULL,
          "Segmentation fault",
          NULL },
        { { 2, "", "", NULL, NULL, NULL, NULL }, WS_EXPORT_FAILED, NULL, "failed", NULL },
    };
    for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
        WsExportResult r = { 0 };
        ws_export_read(&r, &all[i].said);
        g_assert_cmpint(r.state, ==, all[i].state);
        g_assert_cmpstr(r.step, ==, all[i].step);
        g_assert_nonnull(strstr(r.why, all[i].why));
        g_assert_cmpstr(r.remedy, ==, all[i].remedy);
        ws_export_clear(&r);
    }
}

static void add(void)
{
    scenario_add("export/words", words);
    scenario_add("export/refusal", refusal);
    scenario_add("export/tlx", tlx);
    scenario_add("export/plan", plan);
    scenario_add_empty("export/opaque", opaque);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
