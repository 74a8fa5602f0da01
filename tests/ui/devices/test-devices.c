/* A mesh of devices on screen: each device of a measured trace can be chosen, says its name, and
 * stands under the prediction of its own. */
#include "scenario/scenario.h"
#include "scenario/seen.h"

#include "ui/document/document_machine.h"
#include "ui/timeline/timeline_private.h"

#define RS       "projects/gemm-rs/design.wstave"
#define MEASURED "projects/gemm-rs/measured/gemm-rs.wtrace"

static WsTimeline *score(Scenario *s)
{
    return WS_TIMELINE(s->timeline);
}

static void chosen(Scenario *s)
{
    WsTimeline *t = score(s);
    scenario_open(s, RS);
    WAIT_FOR(ws_document_predicted(s->document) && t->scene);
    g_assert_cmpuint(ws_timeline_n_ctas(t), ==, 2); /* of the prediction */
    g_autoptr(GFile) file = scenario_file(MEASURED);
    g_assert_true(ws_window_open_trace(s->window, file));
    WAIT_FOR(!ws_document_pending(s->document));
    scenario_settle(GTK_WIDGET(s->window));
    scenario_act(s, "focus-score");
    g_assert_cmpuint(ws_timeline_n_ctas(t), ==, 2);
    for (guint d = 0; d < 2; d++) {
        g_autofree char *name = g_strdup_printf("device %u, CTA 0", d);
        WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), name));
        g_assert_cmpuint(ws_timeline_cta(t), ==, d);
        g_assert_cmpuint(ws_timeline_cta_of(t, ws_document_predicted(s->document)), ==, d);
        scenario_key("alt+Next");
        WAIT_FOR(ws_timeline_cta(t) == (d + 1) % 2);
    }
}

static void add(void)
{
    scenario_add("devices/chosen", chosen);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
