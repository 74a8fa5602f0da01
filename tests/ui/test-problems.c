/* The problems by pointer and keyboard: sections by rule, filters, the explanation (I31). */
#include "model/finding.h"
#include "scenario/hands.h"

#include "ui/problems/problem_list.h"
#include "ui/problems/problems.h"
#include "ui/timeline/marks/trouble_score.h"
#include "ui/timeline/timeline_private.h"

#include <string.h>

#define BROKEN "tests/designs/broken/10-unequal-loops.wstave"
#define COUNT  "tests/designs/broken/02-wrong-count.wstave"

static gboolean has_class(GtkWidget *w, gconstpointer style)
{
    return gtk_widget_get_mapped(w) && gtk_widget_has_css_class(w, style);
}

static WsProblems *problems_of(Scenario *s)
{
    return WS_PROBLEMS(ws_window_part(s->window, WS_PART_PROBLEMS));
}

static guint n_headings(Scenario *s)
{
    g_autoptr(GPtrArray) all = scenario_find_all(GTK_WIDGET(s->window), has_class, "ws-rule");
    return all->len;
}

static guint n_rules(const WsFindings *f)
{
    gboolean seen[WS_RULE_COUNT] = { FALSE };
    guint n = 0;
    for (guint i = 0; i < f->list->len; i++) {
        const WsFinding *one = f->list->pdata[i];
        n += !one->silenced && !seen[one->rule];
        seen[one->rule] = TRUE;
    }
    return n;
}

/* A heading for each rule, and under it its findings only. */
static void sections(Scenario *s)
{
    static const char *const designs[] = { BROKEN, COUNT };
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        scenario_open(s, designs[i]);
        scenario_act(s, "show-problems");
        WAIT_FOR(n_headings(s) == n_rules(ws_document_findings(s->document)));
        const WsFinding *first = ws_document_findings(s->document)->list->pdata[0];
        WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), ws_rule(first->rule)->title));
    }
}

/* A click on a severity hides its findings, and their headings with them. */
static void filter_by_severity(Scenario *s)
{
    scenario_open(s, COUNT);
    scenario_act(s, "show-problems");
    WsProblems *p = problems_of(s);
    guint all = ws_problems_n_shown(p), hints = ws_problems_count(p, WS_SEVERITY_HINT);
    g_assert_cmpuint(hints, >, 0);
    g_assert_cmpuint(all, >, hints);
    GtkWidget *toggle = NULL;
    WAIT_FOR((toggle = scenario_find_text(GTK_WIDGET(p), "hint")) &&
             gtk_widget_get_ancestor(toggle, GTK_TYPE_TOGGLE_BUTTON));
    guint headings = n_headings(s);
    scenario_click_widget(gtk_widget_get_ancestor(toggle, GTK_TYPE_TOGGLE_BUTTON), NULL);
    WAIT_FOR(ws_problems_n_shown(p) == all - hints);
    WAIT_FOR(n_headings(s) < headings);
    scenario_click_widget(gtk_widget_get_ancestor(toggle, GTK_TYPE_TOGGLE_BUTTON), NULL);
    WAIT_FOR(ws_problems_n_shown(p) == all);
    WAIT_FOR(n_headings(s) == headings);
}

static void filter_by_text(Scenario *s)
{
    scenario_open(s, BROKEN);
    scenario_act(s, "show-problems");
    WsProblems *p = problems_of(s);
    guint all = ws_problems_n_shown(p);
    GtkWidget *entry = scenario_find_type(GTK_WIDGET(p), "GtkSearchEntry");
    g_assert_nonnull(entry);
    scenario_click_widget(entry, NULL);
    scenario_type("no_such_thing");
    WAIT_FOR(ws_problems_n_shown(p) == 0);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(p), "Nothing to show."));
    scenario_key("ctrl+a BackSpace");
    WAIT_FOR(ws_problems_n_shown(p) == all);
}

/* F8 goes round; each finding is explained and revealed; the place for buttons is there. */
static void walk(Scenario *s)
{
    scenario_open(s, BROKEN);
    scenario_act(s, "focus-score");
    WsProblems *p = problems_of(s);
    guint n = ws_problems_n_shown(p);
    const WsFinding *first = NULL;
    for (guint i = 0; i <= n; i++) {
        const WsFinding *before = ws_problems_selected(p);
        scenario_key("F8");
        WAIT_FOR(ws_problems_selected(p) && (n == 1 || ws_problems_selected(p) != before));
        const WsFinding *f = ws_problems_selected(p);
        if (!i)
            first = f;
        if (f->at && *f->at)
            WAIT_FOR(ws_document_selection(s->document)->len == 1);
    }
    g_assert_true(ws_problems_selected(p) == first);
    scenario_key("shift+F8");
    WAIT_FOR(n == 1 || ws_problems_selected(p) != first);
    scenario_act(s, "show-problems");
    WAIT_FOR(scenario_find_text(GTK_WIDGET(p), "What to do"));
    g_assert_true(gtk_widget_is_ancestor(GTK_WIDGET(ws_problems_actions(p)), GTK_WIDGET(p)));
}

/* Arrows and Return, without a pointer. */
static void by_keyboard(Scenario *s)
{
    scenario_open(s, BROKEN);
    scenario_act(s, "show-problems");
    WsProblems *p = problems_of(s);
    GtkWidget *list = scenario_find(GTK_WIDGET(p), has_class, "ws-findings");
    g_assert_nonnull(list);
    gtk_widget_child_focus(list, GTK_DIR_TAB_FORWARD);
    scenario_key("Down");
    scenario_key("Up");
    scenario_key("space");
    WAIT_FOR(ws_problems_selected(p));
    const WsFinding *f = ws_problems_selected(p);
    ws_document_select(s->document, NULL, WS_SELECT_REPLACE, FALSE);
    scenario_key("Return");
    WAIT_FOR(ws_document_selection(s->document)->len == 1);
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==, f->at);
}

/* A refuted design shows it: its steps on the score, and the verdict leads to the problems. */
static void on_the_score(Scenario *s)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    WAIT_FOR(t->scene && !ws_document_pending(s->document));
    g_assert_cmpuint(ws_trouble_n_marked(t), ==, 0);
    scenario_open(s, "tests/designs/broken/05-early-release.wstave");
    WAIT_FOR(t->scene && ws_trouble_n_marked(t) > 4);
    const WsFinding *f = ws_document_findings(s->document)->list->pdata[0];
    guint named = 0;
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        gboolean wrong = !g_strcmp0(item->step, f->at);
        for (guint k = 0; f->steps && k < f->steps->len && !wrong; k++)
            wrong = !g_strcmp0(item->step, f->steps->pdata[k]);
        g_autofree char *text = ws_trouble_text(t, item->step);
        g_assert_cmpint(text != NULL, ==, wrong);
        named += wrong && item->shape != WS_SHAPE_SLOT;
    }
    g_assert_cmpuint(ws_trouble_n_marked(t), ==, named);
    scenario_act(s, "show-code");
    WAIT_FOR(!gtk_widget_get_mapped(GTK_WIDGET(problems_of(s))));
    GtkWidget *verdict = NULL;
    WAIT_FOR((verdict = scenario_find(GTK_WIDGET(s->window), has_class, "ws-verdict-button")));
    WAIT_FOR(scenario_find_text(verdict, "refuted") && gtk_widget_has_css_class(verdict, "bad"));
    scenario_settle(verdict);
    scenario_click_widget(verdict, NULL);
    WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(problems_of(s))));
}

static gboolean is_fix(GtkWidget *w, gconstpointer data)
{
    return GTK_IS_BUTTON(w) && gtk_widget_get_mapped(w) && gtk_widget_has_css_class(w, "ws-fix");
}

/* The quick-fix stands in the row of its problem and beside the verdict: one press makes the design
 * right, undo brings the mistake back, and with it the offer. */
static void fix_in_the_row(Scenario *s)
{
    static const char *const design[] = { "tests/designs/broken/01-missing-wait.wstave",
                                          "tests/designs/broken/02-wrong-count.wstave" };
    WsProblems *p = problems_of(s);
    for (guint i = 0; i < G_N_ELEMENTS(design); i++) {
        scenario_open(s, design[i]);
        scenario_act(s, "show-problems");
        g_autofree char *before = hands_text(s);
        /* once in the row, once beside the verdict */
        GtkWidget *status = scenario_find(GTK_WIDGET(s->window), has_class, "ws-status");
        GtkWidget *root = i ? status : GTK_WIDGET(p), *button = NULL;
        hands_settle(s);
        WAIT_FOR(scenario_find(root, is_fix, NULL));
        hands_shot(s, i ? "fix-row-2" : "fix-row-1");
        hands_settle(s);
        WAIT_FOR((button = scenario_find(root, is_fix, NULL)));
        g_assert_nonnull(gtk_widget_get_tooltip_text(button));
        scenario_settle(button);
        graphene_rect_t r; /* the click takes the button away: it goes to the window */
        g_assert_true(gtk_widget_compute_bounds(button, GTK_WIDGET(s->window), &r));
        scenario_click(GTK_WIDGET(s->window), r.origin.x + r.size.width / 2,
                       r.origin.y + r.size.height / 2, 1, NULL);
        WAIT_FOR(!ws_document_pending(s->document) && ws_problems_count(p, WS_SEVERITY_ERROR) == 0);
        WAIT_FOR(ws_document_verdict(s->document) &&
                 ws_document_verdict(s->document)->kind == WS_VERDICT_PROVED);
        g_assert_cmpuint(hands_states(s), ==, 2); /* as opened, mended */
        scenario_act(s, "undo");
        WAIT_FOR(ws_problems_count(p, WS_SEVERITY_ERROR) > 0);
        g_autofree char *after = hands_text(s);
        g_assert_cmpstr(before, ==, after);
        WAIT_FOR(scenario_find(GTK_WIDGET(p), is_fix, NULL));
    }
    scenario_open(s, "projects/gemm-bf16/design.wstave");
    hands_settle(s);
    g_assert_null(scenario_find(GTK_WIDGET(s->window), is_fix, NULL));
}

static gboolean is_tab(GtkWidget *w, gconstpointer text)
{
    return GTK_IS_LABEL(w) && gtk_widget_get_mapped(w) &&
           gtk_widget_get_ancestor(w, GTK_TYPE_NOTEBOOK) &&
           !strcmp(gtk_label_get_text(GTK_LABEL(w)), text);
}

/* The lower panel's tabs take clicks over all their height: the pane's handle is beside them. */
static void tabs_to_the_edge(Scenario *s)
{
    static const struct {
        const char *tab;
        WsPart part;
    } page[] = { { "Code", WS_PART_CODE },
                 { "Idle", WS_PART_IDLE },
                 { "Resources", WS_PART_RESOURCES },
                 { "Problems", WS_PART_PROBLEMS } };
    for (guint i = 0; i < G_N_ELEMENTS(page); i++) {
        GtkWidget *label = NULL, *tab;
        WAIT_FOR((label = scenario_find(GTK_WIDGET(s->window), is_tab, page[i].tab)));
        scenario_settle(label);
        tab = gtk_widget_get_parent(label);
        while (strcmp(gtk_widget_get_css_name(tab), "tab") != 0)
            tab = gtk_widget_get_parent(tab);
        scenario_click(tab, gtk_widget_get_width(tab) / 2, i % 2 ? 2 : 4, 1, NULL);
        WAIT_FOR(gtk_widget_get_mapped(ws_window_part(s->window, page[i].part)));
    }
}

static void add(void)
{
    scenario_add("problems/I31-sections", sections);
    scenario_add("problems/I31-severity", filter_by_severity);
    scenario_add("problems/I31-text", filter_by_text);
    scenario_add("problems/I31-walk", walk);
    scenario_add("problems/I31-keyboard", by_keyboard);
    scenario_add("problems/on-the-score", on_the_score);
    scenario_add("problems/fix-in-the-row", fix_in_the_row);
    scenario_add("problems/tabs-to-the-edge", tabs_to_the_edge);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
