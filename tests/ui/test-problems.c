/* The problems by pointer and keyboard: sections by rule, filters, the explanation (I31). */
#include "model/finding.h"
#include "scenario/hands.h"

#include "ui/panels/code_panel.h"
#include "ui/problems/problem_list.h"
#include "ui/problems/problems.h"
#include "ui/problems/wrong_steps.h"
#include "ui/timeline/marks/trouble_score.h"
#include "ui/timeline/timeline_private.h"
#include "ui/window/window_private.h"

#include <gtksourceview/gtksource.h>
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
        g_autofree char *text = ws_wrong_step_text(s->document, item->step);
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

/* A fold is marked if it hides an execution of a wrong step, a staff if its agents have one, in
 * sight or not; from afar ticks stand where bars are merged. */
static void from_afar(Scenario *s)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    static const struct {
        const char *design;
        gboolean folded, of_load; /* the wrong steps: in the rounds of k; of the group load, too */
    } row[] = { { "tests/designs/broken/05-early-release.wstave", TRUE, TRUE },
                { "tests/designs/broken/07-missing-sync.wstave", FALSE, FALSE } };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        scenario_open(s, row[i].design);
        hands_settle(s);
        g_autoptr(GHashTable) wrong = ws_wrong_steps(s->document);
        g_assert_cmpuint(g_hash_table_size(wrong), >=, 2);
        guint folds = 0;
        for (guint k = 0; k < t->scene->fold->len; k++)
            folds += ws_trouble_on_fold(t, k);
        g_test_message("%s: %u of %u folds", row[i].design, folds, t->scene->fold->len);
        g_assert_cmpuint(t->scene->fold->len, >, 0);
        g_assert_cmpuint(folds, ==, row[i].folded ? t->scene->fold->len : 0);
        for (guint k = 0; k < t->scene->staff->len; k++) {
            const WsSceneStaff *staff = &g_array_index(t->scene->staff, WsSceneStaff, k);
            const gboolean load = !g_strcmp0(staff->name, "load");
            g_test_message("staff %s: %d", staff->name, ws_trouble_on_staff(t, k));
            g_assert_cmpint(ws_trouble_on_staff(t, k), ==,
                            staff->n_agents > 0 && (row[i].of_load || !load));
        }
        g_assert_cmpuint(ws_trouble_n_ticks(t), ==, 0);
        scenario_act(s, "fit-all");
        hands_settle(s);
        g_test_message("from afar: %u bars, %u ticks", ws_trouble_n_marked(t),
                       ws_trouble_n_ticks(t));
        g_assert_cmpuint(ws_trouble_n_ticks(t), >, 1);
        g_assert_cmpuint(ws_trouble_n_ticks(t), <,
                         t->scene->staff->len * (guint)(t->view.width / 3));
        hands_shot(s, i ? "wrong-afar-2" : "wrong-afar-1");
    }
    scenario_open(s, "projects/gemm-bf16/design.wstave");
    scenario_act(s, "fit-all");
    hands_settle(s);
    g_assert_cmpuint(ws_trouble_n_ticks(t), ==, 0);
    for (guint k = 0; k < t->scene->staff->len; k++)
        g_assert_false(ws_trouble_on_staff(t, k));
}

static gboolean is_fix(GtkWidget *w, gconstpointer data)
{
    return GTK_IS_BUTTON(w) && gtk_widget_get_mapped(w) && gtk_widget_has_css_class(w, "ws-fix");
}

static gboolean is_text(GtkWidget *w, gconstpointer data)
{
    return GTK_SOURCE_IS_VIEW(w);
}

/* Lines with a sign of an error, from 1, and how many: of the text that the code panel shows. */
static guint signs(Scenario *s, GArray *lines)
{
    GtkWidget *view = scenario_find(ws_window_part(s->window, WS_PART_CODE), is_text, NULL);
    GtkTextBuffer *b = gtk_text_view_get_buffer(GTK_TEXT_VIEW(view));
    g_array_set_size(lines, 0);
    for (gint i = 0; i < gtk_text_buffer_get_line_count(b); i++) {
        GSList *marks =
            gtk_source_buffer_get_source_marks_at_line(GTK_SOURCE_BUFFER(b), i, "warpstave-wrong");
        if (marks)
            g_array_append_vals(lines, (gint[]){ i + 1 }, 1);
        g_slist_free(marks);
    }
    return lines->len;
}

/* The lines of wrong steps have a sign in the gutter, in the program and in the design; a selection
 * leaves it there, a fix takes it away. */
static void in_the_gutter(Scenario *s)
{
    static const WsCodeKind kind[] = { WS_CODE_PROGRAM, WS_CODE_DESIGN };
    WsCodePanel *code = WS_CODE_PANEL(ws_window_part(s->window, WS_PART_CODE));
    g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(gint));
    scenario_act(s, "show-code");
    for (guint i = 0; i < G_N_ELEMENTS(kind); i++) {
        ws_code_panel_show(code, kind[i]);
        scenario_open(s, "tests/designs/broken/01-missing-wait.wstave");
        hands_settle(s);
        GHashTableIter each;
        gpointer step;
        guint expected = 0;
        g_autoptr(GHashTable) wrong = ws_wrong_steps(s->document);
        for (g_hash_table_iter_init(&each, wrong); g_hash_table_iter_next(&each, &step, NULL);) {
            g_autoptr(GArray) own = ws_document_code_lines(s->document, kind[i], step);
            g_assert_cmpuint(own->len, >, 0);
            expected += own->len;
        }
        g_assert_cmpuint(signs(s, lines), ==, expected);
        g_autofree char *text = g_strdup(ws_document_code(s->document, kind[i]));
        g_auto(GStrv) line = g_strsplit(text, "\n", -1);
        for (guint k = 0; k < lines->len; k++) {
            const char *at = line[g_array_index(lines, gint, k) - 1];
            g_assert_true(strstr(at, "load") || strstr(at, "expect"));
        }
        /* The step of that line is selected from it, and keeps its sign. */
        g_autofree char *there =
            ws_document_code_step(s->document, kind[i], (guint)g_array_index(lines, gint, 0) - 1);
        g_assert_nonnull(there);
        g_assert_true(g_hash_table_contains(wrong, there));
        scenario_act(s, "next-problem");
        hands_settle(s);
        scenario_act(s, "show-code");
        guint first, last;
        g_assert_true(ws_code_panel_marked(code, &first, &last));
        g_assert_cmpuint(signs(s, lines), ==, expected);
        hands_shot(s, i ? "wrong-lines-design" : "wrong-lines-program");
        GtkWidget *button = NULL,
                  *status = scenario_find(GTK_WIDGET(s->window), has_class, "ws-status");
        WAIT_FOR((button = scenario_find(status, is_fix, NULL)));
        gtk_widget_activate(button);
        WAIT_FOR(signs(s, lines) == 0);
    }
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

/* What a proof takes as given, and what was not understood, stands in the verdict's first words. */
static void not_just_proved(Scenario *s)
{
    static const struct {
        const char *file, *said;
        gboolean partly;
    } row[] = {
        { "projects/gemm-bf16/design.wstave", "proved \xc2\xb7", FALSE },
        { "tests/import/gluon/products.py", "proved under 1 assumption, 2 places not understood",
          TRUE },
        { "tests/designs/moves/masked-store.wstave", "proved under ", FALSE },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autoptr(GFile) file = scenario_file(row[i].file);
        g_assert_true(ws_window_open(s->window, file));
        WAIT_FOR(ws_document_verdict(s->document) && !ws_document_pending(s->document) &&
                 !ws_window_importing(s->window));
        hands_settle(s);
        const WsVerdict *v = ws_document_verdict(s->document);
        const char *text = gtk_label_get_text(s->window->status_verdict);
        g_test_message("%s: %s", row[i].file, text);
        g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
        g_assert_true(g_str_has_prefix(text, row[i].said));
        scenario_act(s, "show-problems");
        hands_settle(s);
        g_autofree char *heading = scenario_text(GTK_WIDGET(problems_of(s)));
        const char *tip = gtk_widget_get_tooltip_text(GTK_WIDGET(s->window->status_verdict));
        g_assert_cmpint(strstr(heading, "2 places not understood") != NULL, ==, row[i].partly);
        g_assert_cmpint(strstr(tip, "2 places not understood") != NULL, ==, row[i].partly);
        g_assert_cmpint(strstr(text, "assumption") != NULL, ==, v->assumed->len > 0);
        g_assert_cmpint(gtk_widget_has_css_class(s->window->status_verdict_button, "partly"), ==,
                        row[i].partly);
        g_assert_cmpint(gtk_widget_has_css_class(s->window->status_verdict_button, "good"), ==,
                        !row[i].partly);
    }
}

static const char nothing[] =
    "{ \"warpstave\": 1, \"name\": \"nothing\", \"target\": \"sm_90a\", \"tensors\": [],"
    "\"tiles\": { \"axes\": { \"t\": \"1\" }, \"order\": \"linear\", \"launch\": \"single\" },"
    "\"buffers\": [], \"barriers\": [], \"groups\": [ { \"name\": \"g\", \"role\": \"worker\","
    "\"warps\": 4, \"body\": [] } ] }";

/* A design without steps is empty, not proved, wherever a verdict stands; no error is not red. */
static void empty(Scenario *s)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(nothing, strlen(nothing), NULL, findings);
    g_assert_nonnull(design);
    scenario_act(s, "show-problems");
    GtkWidget *toggle = NULL, *panel = GTK_WIDGET(problems_of(s));
    ws_document_take_design(s->document, design, NULL, FALSE);
    hands_settle(s);
    g_assert_true(g_str_has_prefix(gtk_label_get_text(s->window->status_verdict), "empty"));
    WAIT_FOR(scenario_find_text(panel, "empty: there is no step"));
    g_assert_null(scenario_find_text(panel, "proved"));
    WAIT_FOR((toggle = scenario_find_text(panel, "0 errors")));
    toggle = gtk_widget_get_ancestor(toggle, GTK_TYPE_TOGGLE_BUTTON);
    g_assert_false(gtk_widget_has_css_class(toggle, "ws-error-text"));
    scenario_open(s, BROKEN);
    hands_settle(s);
    g_assert_true(gtk_widget_has_css_class(toggle, "ws-error-text"));
    g_assert_null(scenario_find_text(panel, "empty"));
}

/* The legend says what the signs of errors are, and needs no scrolling to be read. */
static void legend(Scenario *s)
{
    GtkWindow *window = NULL;
    GtkWidget *row = NULL;
    scenario_act(s, "focus-score");
    scenario_key("ctrl+F1");
    WAIT_FOR((window = g_object_get_data(G_OBJECT(s->window), "warpstave-legend")) &&
             gtk_widget_get_mapped(GTK_WIDGET(window)));
    WAIT_FOR((row = scenario_find_text(GTK_WIDGET(window), "an error names this step")));
    GtkWidget *scroll = gtk_widget_get_ancestor(row, GTK_TYPE_SCROLLED_WINDOW);
    scenario_settle(GTK_WIDGET(window));
    GtkAdjustment *v = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(scroll));
    WAIT_FOR(gtk_adjustment_get_upper(v) <= gtk_adjustment_get_page_size(v) + 1);
    gtk_window_close(window);
    WAIT_FOR(!g_object_get_data(G_OBJECT(s->window), "warpstave-legend"));
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
    scenario_add("problems/from-afar", from_afar);
    scenario_add("problems/in-the-gutter", in_the_gutter);
    scenario_add("problems/not-just-proved", not_just_proved);
    scenario_add("problems/empty", empty);
    scenario_add("problems/legend", legend);
    scenario_add("problems/fix-in-the-row", fix_in_the_row);
    scenario_add("problems/tabs-to-the-edge", tabs_to_the_edge);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
