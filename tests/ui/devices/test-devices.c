/* A mesh of devices on screen: each device of a measured trace can be chosen, says its name, and
 * stands under the prediction of its own. */
#include "scenario/scenario.h"
#include "scenario/seen.h"

#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "ui/document/document_machine.h"
#include "ui/timeline/timeline_private.h"

#define AG       "projects/ag-gemm/design.wstave"
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

static const WsSceneEdge *away(WsTimeline *t)
{
    for (guint i = 0; t->scene && i < t->scene->edge->len; i++) {
        const WsSceneEdge *e = &g_array_index(t->scene->edge, WsSceneEdge, i);
        if (e->origin && e->binding)
            return e;
    }
    return NULL;
}

static gboolean is_notify(Scenario *s)
{
    const WsFocus *f = ws_document_focus(s->document);
    const WsProgram *p = ws_document_program(s->document);
    for (guint i = 0; f->step && i < p->n_ops; i++)
        if (!g_strcmp0(p->op[i]->step, f->step))
            return ws_op_notifies(p->op[i]->kind);
    return FALSE;
}

/* The first device waits for the other one, which is launched later: from the dot of that edge a
 * click leads to the notify there, and so does the key from the await. */
static void token(Scenario *s)
{
    WsTimeline *t = score(s);
    scenario_open(s, AG);
    WAIT_FOR(ws_document_predicted(s->document) && t->scene);
    scenario_act(s, "focus-score");
    for (guint key = 0; key < 2; key++) {
        ws_timeline_set_cta(t, 0);
        ws_timeline_set_view(t, 0, 40000);
        WAIT_FOR(away(t));
        scenario_settle(GTK_WIDGET(s->window));
        WAIT_FOR(away(t));
        const WsSceneEdge *e = away(t);
        g_assert_true(g_str_has_prefix(e->origin, "device 1, CTA 0: notify ready"));
        g_assert_cmpuint(e->from_cta, ==, 1);
        g_autofree char *tip = ws_timeline_origin_tip(t, e);
        g_assert_true(g_str_has_prefix(tip, e->origin));
        if (key) {
            const WsSceneItem *await = ws_timeline_item(t, e->to - 1);
            const WsFocus focus = { await->step, await->agent, await->tile, await->round };
            ws_document_select(s->document, &focus, WS_SELECT_REPLACE, FALSE);
            ws_timeline_follow(t, FALSE);
        } else {
            scenario_click(t->canvas,
                           (WS_TIMELINE_GUTTER + e->x0 + ws_timeline_offset(t)) * t->page_scale,
                           (e->y0 - t->view.at.y) * t->page_scale, 1, NULL);
        }
        WAIT_FOR(ws_timeline_cta(t) == 1 && is_notify(s));
    }
}

static void add(void)
{
    scenario_add("devices/token", token);
    scenario_add("devices/chosen", chosen);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
