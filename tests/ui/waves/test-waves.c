/* All SMs of a trace below the score: how busy each was, and rows with its tiles. */
#include "scenario/scenario.h"
#include "scenario/seen.h"

#include "ui/timeline/timeline_private.h"

static WsTimeline *score(Scenario *s)
{
    return WS_TIMELINE(s->timeline);
}

static void add_trace(Scenario *s, const char *name)
{
    g_autoptr(GFile) file = scenario_file(name);
    g_assert_true(ws_window_open_trace(s->window, file));
    WAIT_FOR(!ws_document_pending(s->document));
    scenario_settle(GTK_WIDGET(s->window));
}

/* Of a trace of all SMs: a row for each, with its tiles in order; a click on a tile shows its CTA,
 * hovering says where and when it was; what no row has is no CTA. */
static void wave_rows(Scenario *s)
{
    WsTimeline *t = score(s);
    add_trace(s, "projects/gemm-bf16/measured/waves.wtrace");
    WAIT_FOR(gtk_widget_get_mapped(t->heat) && gtk_widget_get_height(t->heat) > 130);
    scenario_settle(s->timeline);
    g_assert_cmpuint(ws_timeline_n_ctas(t), ==, 132);
    const int width = gtk_widget_get_width(t->heat);
    guint seen[2];
    for (guint i = 0; i < 2; i++) {
        scenario_click(t->heat, width / 2, 20 + 100 * (int)i, 1, NULL);
        seen[i] = ws_timeline_cta(t);
        g_assert_cmpuint(ws_timeline_cta_info(t, seen[i])->sm, <, 132);
    }
    /* 132 rows share 140 pixels */
    g_assert_cmpuint(ws_timeline_cta_info(t, seen[0])->sm, ==, (20 - 3) * 132 / 140);
    g_assert_cmpuint(ws_timeline_cta_info(t, seen[1])->sm, ==, (120 - 3) * 132 / 140);
    scenario_click(t->heat, WS_TIMELINE_GUTTER / 2, 60, 1, NULL); /* the words beside the rows */
    g_assert_cmpuint(ws_timeline_cta(t), ==, seen[1]);
    scenario_point(t->heat, WS_TIMELINE_GUTTER + (width - WS_TIMELINE_GUTTER) / 3, 60);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "tile 1: from"));
}

/* The strip has a cell for each CTA, by SM; a click shows that CTA, hovering says which it is. */
static void heat_strip(Scenario *s)
{
    WsTimeline *t = score(s);
    g_assert_false(gtk_widget_get_visible(t->heat)); /* one CTA is no strip */
    add_trace(s, "projects/gemm-bf16/measured/gemm-bf16.wtrace");
    WAIT_FOR(gtk_widget_get_mapped(t->heat) && gtk_widget_get_height(t->heat) > 10);
    scenario_settle(s->timeline);
    guint sm[3], seen = 0;
    for (guint i = 0; i < 3; i++) {
        scenario_click(t->heat, WS_TIMELINE_GUTTER + 48 * i + 20, 12, 1, NULL);
        sm[i] = ws_timeline_cta_info(t, ws_timeline_cta(t))->sm;
        seen |= 1u << ws_timeline_cta(t);
        g_assert_true(!i || sm[i] >= sm[i - 1]);
    }
    g_assert_cmpuint(seen, ==, 7);
    g_autofree char *tip = g_strdup_printf("SM %u, CTA", sm[2]);
    scenario_point(t->heat, WS_TIMELINE_GUTTER + 48 * 2 + 24, 13);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), tip) ||
             scenario_find_text(GTK_WIDGET(s->window), "tensor core busy"));
    WsTrace *m = ws_document_measured(s->document);
    for (guint i = 0; i < 3; i++) {
        double share = ws_score_tensor_share(m, i);
        g_assert_cmpfloat(share, >, 0.5);
        g_assert_cmpfloat(share, <=, 1);
    }
}

static void add(void)
{
    scenario_add("waves/heat-strip", heat_strip);
    scenario_add("waves/rows", wave_rows);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
