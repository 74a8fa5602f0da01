/* The studio in its languages: the words are there, and no button, tab or heading is cut off. */
#include "scenario/hands.h"

#include "model/finding.h"
#include "ui/app/theme.h"
#include "ui/parts/words.h"
#include "ui/runs/measurements.h"
#include "ui/timeline/timeline_private.h"

#include <libintl.h>
#include <string.h>

#ifdef __GLIBC__
extern int _nl_msg_cat_cntr; /* gettext looks again at LANGUAGE when this changes */
#endif

static gboolean speak(const char *language)
{
    g_setenv("LANGUAGE", language, TRUE);
#ifdef __GLIBC__
    _nl_msg_cat_cntr++;
    /* Not g_dgettext(): GLib asks once whether the program is translated, and then it is not. */
    return strcmp(dgettext("warpstave", "Rehearse"), "Rehearse") != 0;
#else
    g_test_skip("the language of a running program cannot be changed here");
    return FALSE;
#endif
}

/* Labels of what one presses or goes by; texts of lists may be cut, they have tips. */
static gboolean is_cut(GtkWidget *w, gconstpointer data)
{
    if (!GTK_IS_LABEL(w) || !gtk_widget_get_mapped(w) ||
        !pango_layout_is_ellipsized(gtk_label_get_layout(GTK_LABEL(w))))
        return FALSE;
    for (GtkWidget *p = gtk_widget_get_parent(w); p; p = gtk_widget_get_parent(p)) {
        const char *type = G_OBJECT_TYPE_NAME(p);
        if (GTK_IS_BUTTON(p) || GTK_IS_STACK_SIDEBAR(p) || !strcmp(type, "GtkColumnViewTitle") ||
            GTK_IS_MENU_BUTTON(p))
            return TRUE;
    }
    return FALSE;
}

static void nothing_is_cut(GtkWidget *root, const char *where)
{
    scenario_settle(root);
    GtkWidget *cut = scenario_find(root, is_cut, NULL);
    if (cut)
        g_error("%s: cut off: %s", where, gtk_label_get_text(GTK_LABEL(cut)));
}

static void look_round(GtkApplication *application)
{
    static const char *const panel[] = { "show-problems",  "show-code",        "show-measurements",
                                         "show-resources", "show-differences", "show-next",
                                         "show-witness",   "show-idle",        "show-schedules",
                                         "show-stages" };
    static const char *const page[] = { "summary", "loops",   "steps", "waits", "overlap",
                                        "range",   "results", "next",  "runs",  "two-runs" };
    WsWindow *w = ws_window_new(application);
    g_autoptr(GFile) file = scenario_file("projects/gemm-bf16/design.wstave");
    gtk_window_set_default_size(GTK_WINDOW(w), 1500, 900);
    gtk_window_present(GTK_WINDOW(w));
    nothing_is_cut(GTK_WIDGET(w), "welcome");
    g_assert_true(ws_window_open(w, file));
    for (guint i = 0; i < G_N_ELEMENTS(panel); i++) {
        g_action_group_activate_action(G_ACTION_GROUP(w), panel[i], NULL);
        nothing_is_cut(GTK_WIDGET(w), panel[i]);
    }
    GtkWidget *measurements = ws_window_part(w, WS_PART_MEASUREMENTS);
    g_action_group_activate_action(G_ACTION_GROUP(w), "show-measurements", NULL);
    for (guint i = 0; i < G_N_ELEMENTS(page); i++) {
        g_assert_true(ws_measurements_show(WS_MEASUREMENTS(measurements), page[i]));
        nothing_is_cut(GTK_WIDGET(w), page[i]);
    }
    gtk_window_destroy(GTK_WINDOW(w));
}

/* What the clock says of its prediction, every sentence of it, with its numbers. */
static void says_clock(Scenario *s)
{
    const WsClockResult *clock = ws_document_clock(s->document);
    g_autofree char *english = ws_phrase_text(clock->note, NULL, NULL);
    g_autofree char *words = ws_words(clock->note);
    g_auto(GStrv) sentence = g_regex_split_simple("(?<=\\.) ", english, 0, 0);
    for (guint i = 0; sentence[i]; i++)
        g_assert_null(strstr(words, sentence[i]));
    g_autofree char *launch = ws_words_launch("M = 320, CTA 0 of 6 (tile 3)");
    g_assert_true(g_str_has_prefix(launch, "M = 320, CTA 0") && !strstr(launch, " of 6"));
    g_autofree char *verdict = ws_words_said(ws_document_verdict(s->document));
    g_assert_nonnull(strstr(ws_document_verdict(s->document)->proof, "every "));
    g_assert_null(strstr(verdict, "every "));
    g_assert_null(strstr(verdict, " of each tile"));
    g_autofree char *bound = ws_words_bound("wait full in mma.1 (tensor pipe 82 %)");
    g_assert_null(strstr(bound, "tensor pipe"));
    g_assert_nonnull(strstr(bound, "wait full"));
    g_assert_nonnull(strstr(bound, "82"));
}

static gboolean has_tip(GtkWidget *w, gconstpointer text)
{
    return !g_strcmp0(gtk_widget_get_tooltip_text(w), text);
}

/* Findings with the launch that they were met with, and what fields and steps are for. */
static void says_findings(Scenario *s, const char *architecture)
{
    scenario_open(s, "tests/designs/broken/05-early-release.wstave");
    hands_settle(s);
    const WsFinding *f = ws_document_findings(s->document)->list->pdata[0];
    g_autofree char *message = ws_words_message(f);
    g_assert_nonnull(strstr(f->message, "CTA 0 of 6 (tile 0); 1 tile"));
    g_assert_nonnull(strstr(message, "K = "));
    g_assert_null(strstr(message, " of "));
    g_assert_null(strstr(message, "; 1 tile]"));
    /* and those that keep a file from being opened */
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_assert_null(ws_design_parse("{ \"warpstave\": 1 }", 18, NULL, findings));
    g_autofree char *text = ws_words_findings(findings, "f.wstave");
    g_assert_true(g_str_has_prefix(text, "f.wstave:1:1: "));
    g_assert_null(strstr(text, "is missing"));
    g_assert_null(strstr(text, "error"));
    ws_document_select(s->document, NULL, WS_SELECT_REPLACE, FALSE);
    WAIT_FOR(scenario_find(GTK_WIDGET(s->window), has_tip, architecture));
}

/* The words on the score are in the language, too, and high contrast is the score's as well. */
static void look_at_score(Scenario *s, const char *issue, const char *waits, const char *picture)
{
    WsTimeline *t = hands_timeline(s);
    gboolean row = FALSE, tip = FALSE;
    scenario_open(s, "projects/attention-d128/design.wstave");
    hands_settle(s);
    WAIT_FOR(t->scene);
    for (guint i = 0; i < t->scene->row->len; i++)
        row |= !g_strcmp0(g_array_index(t->scene->row, WsSceneRow, i).label, issue);
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        tip |= item->tip && strstr(item->tip, waits);
        g_assert_false(item->tip && strstr(item->tip, "cycles"));
        g_assert_false(item->label && g_str_has_prefix(item->label, "wait "));
    }
    g_assert_true(row && tip);
    says_clock(s);
    hands_shot(s, picture);
    scenario_act(s, "theme-contrast");
    scenario_settle(GTK_WIDGET(s->window));
    g_assert_true(ws_theme_contrast(ws_theme_current()));
    hands_shot_as_is(s, picture);
    scenario_act(s, "theme-system");
}

static void german(Scenario *s)
{
    if (!speak("de")) {
        g_test_skip("no translations here");
        return;
    }
    g_assert_cmpstr(dgettext("warpstave", "Rehearse"), ==, "Probelauf");
    g_assert_cmpstr(dngettext("warpstave", "%s step", "%s steps", 2), ==, "%s Schritte");
    look_round(scenario_application());
    look_at_score(s, "Absetzen", "wartet", "score-de");
    says_findings(s, "GPU-Architektur");
    speak("en");
}

static void chinese(Scenario *s)
{
    if (!speak("zh_CN")) {
        g_test_skip("no translations here");
        return;
    }
    g_assert_cmpstr(dgettext("warpstave", "Rehearse"), ==, "预演");
    look_round(scenario_application());
    look_at_score(s, "发出", "等待", "score-zh");
    says_findings(s, "GPU 架构");
    speak("en");
}

static void add(void)
{
    scenario_add_empty("languages/de", german);
    scenario_add_empty("languages/zh_CN", chinese);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
