/* Which CTA of the trace the score shows, and where its rounds lie. */
#include "ui/document/document_machine.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>

#include <math.h>

static WsTrace *chosen_trace(WsTimeline *t)
{
    WsTrace *measured = ws_document_measured(t->document);
    return measured ? measured : ws_document_predicted(t->document);
}

guint ws_timeline_n_ctas(WsTimeline *t)
{
    WsTrace *trace = chosen_trace(t);
    return trace ? trace->cta->len : 0;
}

guint ws_timeline_cta(WsTimeline *t)
{
    return t->cta;
}

const WsTraceCta *ws_timeline_cta_info(WsTimeline *t, guint cta)
{
    WsTrace *trace = chosen_trace(t);
    return trace && cta < trace->cta->len ? &g_array_index(trace->cta, WsTraceCta, cta) : NULL;
}

char *ws_timeline_cta_name(WsTimeline *t, guint cta)
{
    const WsTrace *trace = chosen_trace(t);
    if (trace && ws_trace_has_devices(trace))
        return g_strdup_printf(_("device %u, CTA %u"), ws_trace_device(trace, cta),
                               ws_trace_cta_id(trace, cta));
    return g_strdup_printf(_("CTA %u"), trace ? ws_trace_cta_id(trace, cta) : cta);
}

/* The prediction plays few CTAs: the same one if it has it, else its first, which stands for all.
 */
guint ws_timeline_cta_of(WsTimeline *t, const WsTrace *trace)
{
    const WsTraceCta *wanted = ws_timeline_cta_info(t, t->cta);
    if (trace == chosen_trace(t))
        return t->cta;
    for (guint i = 0; wanted && trace && i < trace->cta->len; i++)
        if (g_array_index(trace->cta, WsTraceCta, i).id == wanted->id)
            return i;
    return 0;
}

void ws_timeline_cta_reset(WsTimeline *t)
{
    const WsMachine *machine = ws_document_machine(t->document);
    const WsProgram *p = ws_document_program(t->document);
    if (t->cta >= ws_timeline_n_ctas(t))
        t->cta = 0;
    g_clear_pointer(&t->special, g_free);
    if (p && machine)
        t->special = ws_clock_special_cycles(p, machine);
    ws_timeline_cta_changed(t);
}

void ws_timeline_cta_changed(WsTimeline *t)
{
    g_clear_pointer(&t->rounds, g_array_unref);
    g_clear_pointer(&t->loop, g_free);
    g_clear_pointer(&t->knots, g_array_unref);
    ws_timeline_heat_reset(t);
    g_signal_emit_by_name(t, "rounds-changed");
}

void ws_timeline_set_cta(WsTimeline *t, guint cta)
{
    if (cta == t->cta || cta >= ws_timeline_n_ctas(t))
        return;
    t->cta = cta;
    ws_score_cache_free(t->cache);
    t->cache = ws_score_cache_new();
    g_clear_pointer(&t->scene, ws_scene_free);
    ws_minimap_reset(WS_MINIMAP(t->minimap));
    ws_timeline_cta_changed(t);
    ws_timeline_refresh(t);
}

void ws_timeline_step_cta(WsTimeline *t, gint by)
{
    gint n = (gint)ws_timeline_n_ctas(t);
    if (n > 1)
        ws_timeline_set_cta(t, (guint)(((gint)t->cta + by + n) % n));
}

/* --- rounds --------------------------------------------------------------------------------------
 */

const GArray *ws_timeline_rounds(WsTimeline *t, const char **loop)
{
    const WsProgram *p = ws_document_program(t->document);
    if (!t->rounds && p && t->main_trace)
        t->rounds =
            ws_score_rounds(p, t->main_trace, ws_timeline_cta_of(t, t->main_trace), &t->loop);
    if (loop)
        *loop = t->loop;
    return t->rounds;
}

gint ws_timeline_round_at(WsTimeline *t)
{
    const GArray *rounds = ws_timeline_rounds(t, NULL);
    double middle = ws_timeline_cycle_of_x(t, t->view.width / 2);
    guint lo = 0, hi = rounds ? rounds->len : 0;
    while (lo < hi) {
        guint mid = (lo + hi) / 2;
        if ((double)g_array_index(rounds, WsScoreRound, mid).from <= middle)
            lo = mid + 1;
        else
            hi = mid;
    }
    return rounds && rounds->len ? MAX((gint)lo - 1, 0) : -1;
}

/* The middle of the window comes to the middle of the round. */
void ws_timeline_show_round(WsTimeline *t, guint round)
{
    const GArray *rounds = ws_timeline_rounds(t, NULL);
    if (!rounds || round >= rounds->len)
        return;
    ws_timeline_sync(t);
    if (!t->scene)
        return;
    ws_pane_push(&t->view, g_get_monotonic_time(), 700000);
    const WsScoreRound *r = &g_array_index(rounds, WsScoreRound, round);
    double from = (double)r->from, to = from + 2;
    if (round + 1 < rounds->len && r[1].tile == r->tile)
        to = (double)r[1].from;
    ws_timeline_unfold(t, t->view.width / 2);
    double middle = (ws_timeline_unit_of(t, from) + ws_timeline_unit_of(t, to)) / 2;
    t->view.at.from = middle - t->view.width / t->view.at.scale / 2;
    ws_pane_clamp(&t->view);
    t->fitted = FALSE;
    ws_timeline_refresh(t);
}

void ws_timeline_step_round(WsTimeline *t, gint by, gboolean tile)
{
    const GArray *rounds = ws_timeline_rounds(t, NULL);
    gint at = ws_timeline_round_at(t);
    if (at < 0)
        return;
    gint32 now = g_array_index(rounds, WsScoreRound, at).tile;
    gint next = at + by;
    while (tile && next >= 0 && next < (gint)rounds->len &&
           g_array_index(rounds, WsScoreRound, next).tile == now)
        next += by;
    /* Back to a tile means to its beginning. */
    while (tile && by < 0 && next > 0 &&
           g_array_index(rounds, WsScoreRound, next - 1).tile ==
               g_array_index(rounds, WsScoreRound, next).tile)
        next--;
    if (next >= 0 && next < (gint)rounds->len)
        ws_timeline_show_round(t, (guint)next);
}
