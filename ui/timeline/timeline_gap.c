#include "ui/timeline/timeline_gap.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include "ui/parts/format.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>
#include <math.h>

/* --- on the axis --------------------------------------------------------------------------------
 */

guint ws_gap_axes(WsTimeline *t, gboolean measured, WsGapAxis axis[WS_GAP_AXES])
{
    const double off = ws_timeline_offset(t) + WS_TIMELINE_GUTTER;
    guint n = 0;
    for (guint i = 0; t->scene && i < t->scene->segment->len && n < WS_GAP_AXES; i++) {
        const WsSceneSegment *g = &g_array_index(t->scene->segment, WsSceneSegment, i);
        WsGapAxis *a = &axis[n];
        *a = (WsGapAxis){ .t = t,
                          .x0 = MAX(g->x0 + off, WS_TIMELINE_GUTTER),
                          .x1 = MIN(g->x1 + off, WS_TIMELINE_GUTTER + t->view.width),
                          .shift = measured && t->scene->predicted ? g->shift : 0 };
        if (a->x1 <= a->x0)
            continue;
        a->from = ws_gap_time(a, a->x0);
        a->to = ws_gap_time(a, a->x1) + 1;
        n++;
    }
    return n;
}

double ws_gap_x(const WsGapAxis *a, gint64 time)
{
    const double off = ws_timeline_offset(a->t) + WS_TIMELINE_GUTTER;
    return ws_scene_x(a->t->scene, MAX(time + a->shift, 0)) + off;
}

gint64 ws_gap_time(const WsGapAxis *a, double x)
{
    const double off = ws_timeline_offset(a->t) + WS_TIMELINE_GUTTER;
    return (gint64)floor(ws_scene_time(a->t->scene, x - off)) - a->shift;
}

gboolean ws_gap_span(WsTimeline *t, const WsGapRef *ref, double *from, double *to)
{
    const WsIdleGap *gap = ws_document_gap_of(t->document, ref, NULL);
    WsGapAxis axis[WS_GAP_AXES];
    const guint n = gap ? ws_gap_axes(t, ref->measured, axis) : 0;
    for (guint i = 0; i < n; i++) {
        if (gap->to <= axis[i].from || gap->from >= axis[i].to)
            continue;
        *from = ws_gap_x(&axis[i], gap->from) - WS_TIMELINE_GUTTER;
        *to = ws_gap_x(&axis[i], gap->to) - WS_TIMELINE_GUTTER;
        return TRUE;
    }
    return FALSE;
}

gboolean ws_gap_at(WsTimeline *t, double x, WsGapRef *ref)
{
    const WsIdleCta *c = ws_idle_cta(ws_document_idle(t->document, ref->measured), ref->cta);
    WsGapAxis axis[WS_GAP_AXES];
    const guint n = c ? ws_gap_axes(t, ref->measured, axis) : 0;
    for (guint i = 0; i < n; i++) {
        double least = 3.5;
        if (x < axis[i].x0 || x > axis[i].x1)
            continue;
        ref->gap = G_MAXUINT;
        for (guint k = ws_idle_gap_from(c, ref->unit, ws_gap_time(&axis[i], x - 4));
             k < c->gap[ref->unit]->len; k++) {
            const WsIdleGap *g = &g_array_index(c->gap[ref->unit], WsIdleGap, k);
            const double x0 = ws_gap_x(&axis[i], g->from), x1 = ws_gap_x(&axis[i], g->to);
            const double far = x < x0 ? x0 - x : x > x1 ? x - x1 : 0;
            if (x0 > x + 4)
                break;
            if (far < least) {
                least = far;
                ref->gap = k;
            }
        }
        return ref->gap != G_MAXUINT;
    }
    return FALSE;
}

/* --- in words -----------------------------------------------------------------------------------
 */

static const char *const unit_name[WS_UNITS] = {
    N_("Tensor core"),
    N_("MUFU"),
    N_("TMA load"),
    N_("TMA store"),
};

static const char *agent_of(const WsProgram *p, guint agent)
{
    return agent < p->n_agents ? p->agent[agent].name : "";
}

static const char *label_of(const WsProgram *p, guint op)
{
    return p->op[op]->label ? p->op[op]->label : p->op[op]->id;
}

typedef struct {
    guint op, agent;
    WsNextReason reason;
    gint waits_for;
    gint64 cycles;
} Part;

static gint by_cycles(gconstpointer pa, gconstpointer pb)
{
    const Part *a = pa, *b = pb;
    return a->cycles > b->cycles ? -1 : a->cycles < b->cycles;
}

/* What a gap consists of, most first. */
static GArray *parts_of(const WsIdleCta *c, const WsIdleGap *gap)
{
    GArray *parts = g_array_new(FALSE, FALSE, sizeof(Part));
    for (guint i = 0; i < gap->pieces; i++) {
        const WsNextPiece *x = &g_array_index(c->piece, WsNextPiece, gap->first_piece + i);
        Part *part = NULL;
        for (guint k = 0; k < parts->len && !part; k++) {
            Part *q = &g_array_index(parts, Part, k);
            part = q->op == x->op && q->agent == x->agent && q->reason == x->reason &&
                           q->waits_for == x->waits_for
                       ? q
                       : NULL;
        }
        if (!part) {
            const Part fresh = { x->op, x->agent, x->reason, x->waits_for, 0 };
            g_array_append_val(parts, fresh);
            part = &g_array_index(parts, Part, parts->len - 1);
        }
        part->cycles += x->to - x->from;
    }
    g_array_sort(parts, by_cycles);
    return parts;
}

char *ws_gap_text(WsDocument *d, const WsGapRef *ref)
{
    static const char *const reason[] = { N_("work"), N_("wait"), N_("flight") };
    const WsProgram *p = ws_document_program(d);
    const WsIdle *idle = ws_document_idle(d, ref->measured);
    const WsIdleCta *c = NULL;
    const WsIdleGap *gap = ws_document_gap_of(d, ref, &c);
    if (!gap || !p)
        return NULL;
    GString *s = g_string_new(NULL);
    g_autofree char *cycles = ws_format_cycles(gap->to - gap->from);
    g_autofree char *share = ws_format_real(100 * gap->share, 2);
    g_string_append_printf(s,
                           ref->measured
                               ? _("%s idle, measured: at least %s, %s %% of the time recorded")
                               : _("%s idle, predicted: %s, %s %% of the simulated time"),
                           _(unit_name[ref->unit]), cycles, share);
    g_autoptr(GArray) parts = parts_of(c, gap);
    for (guint i = 0; i < parts->len && i < 4; i++) {
        const Part *x = &g_array_index(parts, Part, i);
        g_autofree char *n = ws_format_cycles(x->cycles);
        g_string_append_printf(s, "\n%s: %s, %s (%s)", n, label_of(p, x->op), agent_of(p, x->agent),
                               _(reason[x->reason]));
        if (x->waits_for >= 0) {
            g_string_append(s, ", ");
            g_string_append_printf(s, _("for device %d"), x->waits_for);
        }
    }
    if (gap->cause < idle->cause->len &&
        ws_idle_together(&g_array_index(idle->cause, WsIdleCause, gap->cause)))
        g_string_append_printf(s, "\n%s", _("all agents that use the unit work at the same time"));
    if (gap->waiter.op < p->n_ops && gap->release.op < p->n_ops) {
        g_autofree char *n = ws_format_cycles(gap->waited);
        g_string_append_c(s, '\n');
        g_string_append_printf(s, _("%s of %s stalled %s for %s of %s"),
                               label_of(p, gap->waiter.op), agent_of(p, gap->waiter.agent), n,
                               label_of(p, gap->release.op), agent_of(p, gap->release.agent));
    }
    if (gap->next.op < p->n_ops) {
        g_string_append_c(s, '\n');
        g_string_append_printf(s, _("next: %s of %s"), label_of(p, gap->next.op),
                               agent_of(p, gap->next.agent));
    }
    return g_string_free(s, FALSE);
}

char *ws_gap_unit_text(const WsIdle *idle, WsUnit unit)
{
    if (!idle)
        return NULL;
    g_autofree char *share = ws_format_share(idle->idle[unit]);
    g_autofree char *rated = ws_format_share(idle->rated[unit]);
    GString *s = g_string_new(NULL);
    if (idle->origin == WS_TRACE_MEASURED)
        g_string_append_printf(s,
                               _("%s: nothing in flight for at least %s of the time recorded, "
                                 "between its first and last use"),
                               _(unit_name[unit]), share);
    else
        g_string_append_printf(
            s,
            _("%s: nothing in flight for %s of the simulated time, between its first and last use"),
            _(unit_name[unit]), share);
    if (idle->most[unit] - idle->idle[unit] > 0.0005) {
        g_autofree char *most = ws_format_share(idle->most[unit]);
        g_string_append_c(s, '\n');
        g_string_append_printf(s,
                               _("at most %s: where it is pale, its wait came when the flight was "
                                 "over, so that its end was not seen"),
                               most);
    }
    if (!isnan(idle->rated[unit])) {
        g_string_append_c(s, '\n');
        g_string_append_printf(s, _("what it was given takes %s of that time at its rate"), rated);
    }
    return g_string_free(s, FALSE);
}

/* --- going there --------------------------------------------------------------------------------
 */

/* The window comes to the gap; measured times move with the tile that is in view, so that one looks
 * again. */
static void bring(WsTimeline *t, const WsGapRef *ref, const WsIdleGap *gap)
{
    double from = 0, to = 0;
    ws_timeline_sync(t);
    if (!t->scene)
        return;
    if (ws_gap_span(t, ref, &from, &to) && from >= 0 && to <= t->view.width)
        return;
    ws_pane_push(&t->view, g_get_monotonic_time(), 700000);
    t->fitted = FALSE;
    for (guint k = 0; k < 4; k++) {
        const gint64 shift = ref->measured && t->scene->predicted ? t->scene->shift : 0;
        const double middle =
            ws_timeline_unit_of(t, (double)(gap->from + gap->to) / 2 + (double)shift);
        ws_timeline_unfold(t, t->view.width / 2);
        const double wide = ws_timeline_unit_of(t, (double)(gap->to + shift)) -
                            ws_timeline_unit_of(t, (double)(gap->from + shift));
        if (wide * t->view.at.scale > t->view.width * 0.8)
            t->view.at.scale = t->view.width * 0.6 / wide;
        t->view.at.from = middle - t->view.width / t->view.at.scale / 2;
        ws_pane_clamp(&t->view);
        ws_timeline_sync(t);
        if (ws_gap_span(t, ref, &from, &to) && from >= 0 && to <= t->view.width)
            break;
    }
    ws_timeline_refresh(t);
}

void ws_gap_follow(WsTimeline *t)
{
    WsGapRef ref;
    const WsIdleGap *gap =
        ws_document_gap(t->document, &ref) ? ws_document_gap_of(t->document, &ref, NULL) : NULL;
    if (gap && ws_document_gap_to_reveal(t->document)) {
        WsTrace *shown = ws_document_measured(t->document);
        if (ref.measured == (shown != NULL))
            ws_timeline_set_cta(t, ref.cta);
        bring(t, &ref, gap);
    }
    gtk_widget_queue_draw(t->canvas);
    gtk_widget_queue_draw(t->units);
}

/* The first gap of some length from `at` on, and from the other end if there is none; -1 none. */
static gint64 long_gap(const WsIdleCta *c, WsUnit unit, gint64 at, gint by)
{
    const gint64 n = c->gap[unit]->len;
    for (gint64 tried = 0; tried < n; tried++, at += by) {
        at = at < 0 ? n - 1 : at >= n ? 0 : at;
        const WsIdleGap *g = &g_array_index(c->gap[unit], WsIdleGap, (guint)at);
        if (g->to - g->from >= WS_IDLE_SHORT)
            return at;
    }
    return -1;
}

/* From what is in view, of the first unit that is used at all. */
static gboolean step_from_view(WsTimeline *t, gboolean measured, gint by)
{
    WsDocument *d = t->document;
    const WsIdle *idle = ws_document_idle(d, measured);
    WsTrace *trace = measured ? ws_document_measured(d) : ws_document_predicted(d);
    WsGapRef ref = { .measured = measured };
    while (idle && ref.unit + 1 < WS_UNITS && !idle->uses[ref.unit])
        ref.unit++;
    if (!idle || !trace)
        return FALSE;
    ref.cta = ws_timeline_cta_of(t, trace);
    const WsIdleCta *c = ws_idle_cta(idle, ref.cta);
    WsGapAxis axis[WS_GAP_AXES];
    const guint n = ws_gap_axes(t, measured, axis);
    const gint64 edge = !n ? 0 : by > 0 ? axis[0].from : axis[n - 1].to;
    const gint64 at =
        c ? long_gap(c, ref.unit, (gint64)ws_idle_gap_from(c, ref.unit, edge) - (by < 0), by) : -1;
    if (at < 0)
        return FALSE;
    ref.gap = (guint)at;
    ws_document_look_at_gap(d, &ref, TRUE);
    return TRUE;
}

/* Where the measured unit is never seen to be idle, the predicted one is gone through. */
void ws_gap_step(WsTimeline *t, gint by)
{
    WsDocument *d = t->document;
    WsGapRef ref;
    if (!ws_document_gap(d, &ref)) {
        if (!step_from_view(t, TRUE, by))
            step_from_view(t, FALSE, by);
        return;
    }
    const WsIdleCta *c = ws_idle_cta(ws_document_idle(d, ref.measured), ref.cta);
    const gint64 at = c ? long_gap(c, ref.unit, (gint64)ref.gap + by, by) : -1;
    if (at < 0)
        return;
    ref.gap = (guint)at;
    ws_document_look_at_gap(d, &ref, TRUE);
}
