/* What the studio says of steps: by their names, never by their places in the file, with the
 * measured time beside the predicted one. */
#include "scenario/hands.h"

#include "program/parts/operation.h"
#include "program/program.h"
#include "ui/document/document_idle.h"
#include "ui/document/document_names.h"
#include "ui/inspector/inspector.h"
#include "ui/parts/format.h"
#include "ui/timeline/timeline_private.h"
#include "ui/window/window_private.h"

#include <string.h>

#define LOAD  "groups/load/body/0/do/0/do/1"
#define TRACE "projects/gemm-bf16/measured/gemm-bf16.wtrace"

static gboolean bar(const WsSceneItem *item)
{
    return item->shape == WS_SHAPE_HEAD || item->shape == WS_SHAPE_FLIGHT ||
           item->shape == WS_SHAPE_WAIT;
}

/* Tips of all that is in sight; how many name the other trace's time. */
static guint tips(Scenario *s, const char *other)
{
    WsTimeline *t = hands_timeline(s);
    guint found = 0;
    for (guint i = 0; i < ws_timeline_n_items(t); i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        g_autofree char *tip = ws_timeline_tip(t, item);
        g_assert_null(strstr(tip, "groups/"));
        g_assert_null(strstr(tip, "/body/"));
        g_assert_cmpuint(strlen(tip), >, 0);
        found += bar(item) && strstr(tip, other) != NULL;
    }
    return found;
}

static void tips_of_bars(Scenario *s)
{
    scenario_open(s, "projects/gemm-bf16/design.wstave");
    g_assert_cmpuint(tips(s, "measured:"), ==, 0); /* no trace, no measured time */
    g_assert_cmpuint(tips(s, "by "), ==, 0);
    g_autoptr(GFile) file = scenario_file(TRACE);
    g_assert_true(ws_window_open_trace(s->window, file));
    WAIT_FOR(!ws_document_pending(s->document));
    hands_settle(s);
    g_assert_cmpuint(tips(s, "\nmeasured:"), >, 10);
    g_assert_cmpuint(tips(s, "\npredicted:"), >, 10);
    /* The figure is that execution's own. */
    WsTimeline *t = hands_timeline(s);
    const WsTrace *m = ws_document_measured(s->document);
    guint checked = 0;
    for (guint i = 0; i < ws_timeline_n_items(t); i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        const WsTraceLane *lane = ws_trace_lane(m, 0, item->agent);
        g_autofree char *tip = ws_timeline_tip(t, item);
        const char *said = strstr(tip, "\nmeasured: ");
        for (guint64 k = 0; lane && said && !item->measured && k < lane->n; k++) {
            const WsTraceRecord *r = &g_array_index(m->record, WsTraceRecord, lane->first + k);
            if (r->op != item->op || r->tile != item->tile || r->round != item->round)
                continue;
            g_autofree char *cycles =
                ws_format_cycles(MAX(MAX(r->issued, r->done), r->start) - r->start);
            g_assert_true(g_str_has_prefix(said + strlen("\nmeasured: "), cycles));
            checked++;
            break;
        }
    }
    g_assert_cmpuint(checked, >, 10);
}

/* A launch that claims tiles of different lengths: the middle of all executions, and so it says. */
static void tips_of_claimed(Scenario *s)
{
    scenario_open(s, "projects/attention-d128/design.wstave");
    g_autoptr(GFile) file = scenario_file("projects/attention-d128/measured/attention-d128.wtrace");
    g_assert_true(ws_window_open_trace(s->window, file));
    ws_document_stats(s->document, TRUE);
    hands_settle(s);
    const gboolean mixed = ws_document_claims(s->document);
    g_assert_cmpuint(tips(s, mixed ? "the middle of all" : "\nmeasured:"), >, 10);
}

static void status_names(Scenario *s)
{
    WsProgram *p = ws_document_program(s->document);
    for (guint i = 0; i < p->n_ops; i++) {
        if (!p->op[i]->step || p->op[i]->agent < 0)
            continue;
        WsFocus focus = { .step = p->op[i]->step, .agent = G_MAXUINT, .tile = -1, .round = -1 };
        ws_document_select(s->document, &focus, WS_SELECT_REPLACE, FALSE);
        scenario_settle(GTK_WIDGET(s->window));
        g_autofree char *name = ws_name_of_step(p, p->op[i]->step);
        g_assert_nonnull(strstr(gtk_label_get_text(s->window->status_selection), name));
        g_assert_null(strstr(gtk_label_get_text(s->window->status_selection), "groups/"));
        if (i > 40)
            break;
    }
    g_autofree char *unknown = ws_name_of_step(p, "groups/nobody/body/7");
    g_assert_nonnull(strstr(unknown, "nobody"));
    g_assert_null(ws_name_of_step(p, NULL));
}

/* The list of problems and the places under an explanation. */
static void problems_name_steps(Scenario *s)
{
    scenario_open(s, "tests/designs/broken/10-unequal-loops.wstave");
    scenario_act(s, "show-problems");
    scenario_act(s, "next-problem");
    GtkWidget *panel = ws_window_part(s->window, WS_PART_PROBLEMS);
    WAIT_FOR(scenario_find_text(panel, "wait full, mma"));
    g_autofree char *text = scenario_text(panel);
    g_assert_null(strstr(text, "groups/"));
    scenario_act(s, "show-witness");
    GtkWidget *witness = ws_window_part(s->window, WS_PART_WITNESS);
    WAIT_FOR(scenario_find_text(witness, "wait full, mma"));
    g_autofree char *run = scenario_text(witness);
    g_assert_null(strstr(run, "groups/"));
    /* what is derived of a step ("expect full") is not its name */
    scenario_open(s, "tests/designs/broken/05-early-release.wstave");
    hands_settle(s);
    g_autofree char *load = ws_name_of_step(ws_document_program(s->document), LOAD);
    g_assert_cmpstr(load, ==, "load A -> a, load");
    scenario_act(s, "next-problem");
    WAIT_FOR(g_str_has_prefix(gtk_label_get_text(s->window->status_selection), load));
    scenario_open(s, "tests/designs/broken/10-unequal-loops.wstave");
    hands_settle(s);
    /* a field of a step, a place that is none, one of no program */
    WsProgram *p = ws_document_program(s->document);
    g_autofree char *field = ws_name_of_step(p, "groups/mma/body/0/do/0/do/0/use");
    g_autofree char *object = ws_name_of_step(p, "barriers/full");
    g_autofree char *none = ws_name_of_step(NULL, "groups/mma/body/0");
    g_assert_cmpstr(field, ==, "wait full, mma");
    g_assert_cmpstr(object, ==, "barriers/full");
    g_assert_cmpstr(none, ==, "groups/mma/body/0");
}

static gboolean names_place(GtkWidget *w, gconstpointer data)
{
    const char *tip = gtk_widget_get_tooltip_text(w);
    const char *text = GTK_IS_LABEL(w) ? gtk_label_get_text(GTK_LABEL(w)) : NULL;
    return !gtk_widget_get_ancestor(w, WS_TYPE_INSPECTOR) &&
           ((tip && strstr(tip, "/body/")) || (text && strstr(text, "/body/")));
}

/* No panel, and no tip of one, says where in the file a step stands. */
static void no_places(Scenario *s)
{
    static const char *const panel[] = { "show-problems", "show-witness",   "show-idle",
                                         "show-next",     "show-resources", "show-measurements",
                                         "show-stages" };
    static const char *const design[] = { "tests/designs/broken/05-early-release.wstave",
                                          "tests/designs/hint-gemm.wstave",
                                          "projects/gemm-bf16/design.wstave" };
    scenario_act(s, "toggle-sidebar");
    for (guint i = 0; i < G_N_ELEMENTS(design); i++) {
        scenario_open(s, design[i]);
        hands_settle(s);
        if (i == 0)
            scenario_act(s, "next-problem");
        for (guint k = 0; k < G_N_ELEMENTS(panel); k++) {
            scenario_act(s, panel[k]);
            hands_settle(s);
            GtkWidget *w = scenario_find(GTK_WIDGET(s->window), names_place, NULL);
            if (w)
                g_error("%s of %s: %s", panel[k], design[i],
                        gtk_widget_get_tooltip_text(w) ? gtk_widget_get_tooltip_text(w)
                                                       : gtk_label_get_text(GTK_LABEL(w)));
        }
    }
    scenario_act(s, "toggle-sidebar");
}

static void add(void)
{
    scenario_add("words/no-places", no_places);
    scenario_add("words/tips", tips_of_bars);
    scenario_add("words/tips-of-claimed-tiles", tips_of_claimed);
    scenario_add("words/status", status_names);
    scenario_add("words/problems", problems_name_steps);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
