/* What stands around the score: title, sizes, bound, axis, legend, footnote. */
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/mesh.h"
#include "program/program.h"
#include "score/build.h"
#include "trace/op_kind.h"

#include <math.h>
#include <string.h>

static const char *origin_text(const WsBuild *b)
{
    const WsScene *s = b->s;
    if (s->predicted && s->measured)
        return ws_build_words(b, "predicted, measured below");
    return ws_build_words(b, s->measured ? "measured" : "predicted");
}

/* The number of a device is none of the launch: the CTA says it. */
static char *sizes_text(const WsProgram *p, const WsTrace *t)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < t->size->len; i++) {
        const char *name = g_array_index(t->size_name, char *, i);
        if (p->mesh && strcmp(name, p->mesh->name) == 0)
            continue;
        g_autofree char *value = ws_group_digits(g_array_index(t->size, gint64, i));
        g_string_append_printf(s, "%s%s %s", s->len ? "  " : "", name, value);
    }
    return g_string_free(s, FALSE);
}

static void add_part(GString *s, const char *text)
{
    if (!text || !*text)
        return;
    if (s->len)
        g_string_append(s, "   \xc2\xb7   ");
    g_string_append(s, text);
}

static char *bound_text(const WsBuild *b)
{
    const char *bound = b->o->bound ? b->o->bound : b->t->bound;
    gboolean known = !isnan(b->t->tensor_busy);
    if (!bound && !known)
        return NULL;
    GString *s = g_string_new(NULL);
    if (bound)
        g_string_append_printf(s, ws_build_words(b, "bound by %s"), bound);
    if (bound && known)
        g_string_append(s, ", ");
    if (known)
        g_string_append_printf(s, ws_build_words(b, "tensor core busy %.1f %%"),
                               100 * b->t->tensor_busy);
    return g_string_free(s, FALSE);
}

void ws_furniture_head(WsBuild *b)
{
    if (b->o->bare) {
        b->s->axis_y = 26; /* two lines of ticks' labels: cycles and nanoseconds */
        b->y = 32;
        return;
    }
    ws_build_text(b, WS_TEXT_TITLE, WS_MARGIN, 30,
                  g_strdup(b->p->name ? b->p->name : ws_build_words(b, "design")));
    b->y = 44;
    b->s->axis_y = b->y;
    if (!b->t)
        return;
    GString *s = g_string_new(NULL);
    add_part(s, origin_text(b));
    g_autofree char *sizes = sizes_text(b->p, b->t);
    add_part(s, sizes);
    add_part(s, b->t->device);
    if (b->cta < b->t->cta->len) {
        const WsTraceCta *cta = &g_array_index(b->t->cta, WsTraceCta, b->cta);
        g_autofree char *cycles = ws_group_digits(cta->cycles);
        g_autofree char *where =
            ws_trace_has_devices(b->t)
                ? g_strdup_printf(ws_build_words(b, "device %u, CTA %u, %s cycles"),
                                  ws_trace_device(b->t, b->cta), ws_trace_cta_id(b->t, b->cta),
                                  cycles)
                : g_strdup_printf(ws_build_words(b, "CTA %u, %s cycles"), cta->id, cycles);
        add_part(s, where);
    }
    g_autofree char *bound = bound_text(b);
    add_part(s, bound);
    ws_build_text(b, WS_TEXT_SUB, WS_MARGIN, 50, g_string_free(s, FALSE));
    b->y = 62;
    b->s->axis_y = b->y + 18; /* ticks hang from here */
    b->y += 26;
}

typedef struct {
    gint64 from, to;
} Interval;

static gint by_from(gconstpointer pa, gconstpointer pb)
{
    const Interval *a = pa, *b = pb;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Union of the times in which something of a kind was in flight or being done on the CTA shown. */
static GArray *times_of(const WsBuild *b, WsItemKind kind)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Interval));
    for (guint i = 0; i < b->t->lane->len; i++) {
        const WsTraceLane *lane = &g_array_index(b->t->lane, WsTraceLane, i);
        for (guint64 k = 0; lane->cta == b->cta && k < lane->n; k++) {
            const WsTraceRecord *r = &g_array_index(b->t->record, WsTraceRecord, lane->first + k);
            if (ws_item_kind_of(ws_trace_op_kind(b->t, r->op)) != kind)
                continue;
            Interval iv = { r->start, ws_trace_record_end(r) };
            g_array_append_val(all, iv);
        }
    }
    g_array_sort(all, by_from);
    GArray *merged = g_array_new(FALSE, FALSE, sizeof(Interval));
    for (guint i = 0; i < all->len; i++) {
        const Interval *iv = &g_array_index(all, Interval, i);
        Interval *last = merged->len ? &g_array_index(merged, Interval, merged->len - 1) : NULL;
        if (last && iv->from <= last->to)
            last->to = MAX(last->to, iv->to);
        else
            g_array_append_val(merged, *iv);
    }
    return merged;
}

static double share_under(const GArray *a, const GArray *b)
{
    double both = 0, all = 0;
    for (guint i = 0; i < a->len; i++) {
        const Interval *x = &g_array_index(a, Interval, i);
        all += (double)(x->to - x->from);
    }
    for (guint i = 0, j = 0; i < a->len && j < b->len;) {
        const Interval *x = &g_array_index(a, Interval, i), *y = &g_array_index(b, Interval, j);
        gint64 from = MAX(x->from, y->from), to = MIN(x->to, y->to);
        if (to > from)
            both += (double)(to - from);
        if (x->to < y->to)
            i++;
        else
            j++;
    }
    return all > 0 ? both / all : 0;
}

/* What a warp-specialised kernel is for: how much of everything else the tensor core hides. */
static void add_hidden(GString *s, const WsBuild *b)
{
    static const struct {
        WsItemKind kind;
        const char *text;
    } rows[] = { { WS_ITEM_LOAD, WS_MARK("TMA loads") },
                 { WS_ITEM_COPY, WS_MARK("gathers and copies") },
                 { WS_ITEM_MATH, WS_MARK("compute") },
                 { WS_ITEM_SHARED, WS_MARK("memory moves") },
                 { WS_ITEM_STORE, WS_MARK("TMA stores") } };
    g_autoptr(GArray) tensor = times_of(b, WS_ITEM_MMA);
    if (!tensor->len)
        return;
    guint shown = 0;
    const char *under = ws_build_words(b, "Hidden under the tensor core: ");
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const gboolean loads = b->s->halves && rows[i].kind == WS_ITEM_COPY;
        const char *text = loads ? ws_item_kind_text_on(WS_ITEM_COPY, TRUE) : rows[i].text;
        g_autoptr(GArray) times = times_of(b, rows[i].kind);
        if (times->len)
            g_string_append_printf(s, "%s%s %.0f %%", shown++ ? "  \xc2\xb7  " : under,
                                   ws_build_words(b, text), 100 * share_under(times, tensor));
    }
}

static void add_loops(GString *s, const WsBuild *b, const WsTraceStats *stats)
{
    const WsTrace *t = b->t;
    guint shown = 0;
    for (guint i = 0; i < stats->loop->len && shown < 4; i++) {
        const WsTraceLoopStat *l = &g_array_index(stats->loop, WsTraceLoopStat, i);
        const char *name = strrchr(l->loop, '/');
        if (!name || ws_item_kind_of(ws_trace_op_kind(t, l->op)) != WS_ITEM_MMA)
            continue;
        g_autofree char *period = ws_group_digits(l->period.p50);
        g_string_append(s, shown++ ? "  \xc2\xb7  " : ws_build_words(b, "Period: "));
        g_string_append_printf(s, ws_build_words(b, "%s loop of %s %s cycles"), name + 1,
                               (char *)t->agent_name->pdata[l->agent], period);
    }
}

/* The waits that cost most, over the whole run. */
static void add_waits(GString *s, const WsBuild *b, const WsTraceStats *stats)
{
    const WsTrace *t = b->t;
    gboolean taken[3] = { FALSE };
    guint best[3];
    for (guint n = 0; n < 3; n++) {
        for (guint i = 0; i < stats->step->len; i++) {
            const WsTraceStepStat *p = &g_array_index(stats->step, WsTraceStepStat, i);
            gboolean used = FALSE;
            for (guint k = 0; k < n; k++)
                used |= taken[k] && best[k] == i;
            /* A producer that waits is ahead: that costs nothing. */
            if (used || b->p->agent[p->agent].role == WS_ROLE_PRODUCER ||
                !ws_op_waits_at_barrier(ws_trace_op_kind(t, p->op)) || p->share < 0.001)
                continue;
            if (!taken[n] ||
                p->share > g_array_index(stats->step, WsTraceStepStat, best[n]).share) {
                taken[n] = TRUE;
                best[n] = i;
            }
        }
        if (!taken[n])
            break;
        const WsTraceStepStat *p = &g_array_index(stats->step, WsTraceStepStat, best[n]);
        g_string_append_printf(s, "%s%s %s %.1f %%",
                               n ? "  \xc2\xb7  " : ws_build_words(b, "Exposed waits of the run: "),
                               (char *)t->agent_name->pdata[p->agent], ws_trace_op_label(t, p->op),
                               100 * p->share);
    }
}

/* "Measured against predicted: k of mma.0 1 024 / 1 024 (+0.0 %)" */
static void add_against(GString *s, const WsBuild *b, const WsTraceStats *predicted)
{
    g_autoptr(WsTraceStats) measured = ws_trace_stats_new(b->overlay);
    guint shown = 0;
    for (guint i = 0; i < predicted->loop->len && shown < 4; i++) {
        const WsTraceLoopStat *x = &g_array_index(predicted->loop, WsTraceLoopStat, i);
        if (x->agent != (guint)b->lead_agent || x->period.p50 <= 0)
            continue;
        for (guint k = 0; k < measured->loop->len; k++) {
            const WsTraceLoopStat *y = &g_array_index(measured->loop, WsTraceLoopStat, k);
            if (y->agent != x->agent || strcmp(x->loop, y->loop) != 0)
                continue;
            const char *name = strrchr(x->loop, '/');
            g_autofree char *is = ws_group_digits(y->period.p50);
            g_autofree char *was = ws_group_digits(x->period.p50);
            g_string_append(
                s, shown++ ? "  \xc2\xb7  "
                           : ws_build_words(b, "Measured against predicted period, cycles: "));
            g_string_append_printf(
                s, ws_build_words(b, "%s %s against %s (%+.1f %%)"), name ? name + 1 : x->loop, is,
                was, 100.0 * (double)(y->period.p50 - x->period.p50) / (double)x->period.p50);
        }
    }
    if (shown)
        g_string_append(s, ".   ");
}

static void put_note(WsBuild *b, GString *s)
{
    if (!s->len) {
        g_string_free(s, TRUE);
        return;
    }
    ws_build_text(b, WS_TEXT_NOTE, WS_MARGIN, b->y + 12, g_string_free(s, FALSE));
    b->y += 17;
}

void ws_furniture_foot(WsBuild *b)
{
    if (b->o->bare) {
        b->y = b->s->bottom;
        return;
    }
    b->y = b->s->bottom + 12;
    b->s->legend_y = b->y;
    if (!b->t || !b->s->item->len)
        return;
    b->y += 24;
    WsTraceStats *own = b->o->stats ? NULL : ws_trace_stats_new(b->t);
    const WsTraceStats *stats = own ? own : b->o->stats;
    GString *first = g_string_new(NULL), *second = g_string_new(NULL);
    add_loops(first, b, stats);
    if (first->len)
        g_string_append(first, "        ");
    add_waits(first, b, stats);
    add_hidden(second, b);
    put_note(b, first);
    put_note(b, second);
    if (b->t->origin == WS_TRACE_MEASURED || b->overlay) {
        const WsTrace *m = b->overlay ? b->overlay : b->t;
        GString *third = g_string_new(NULL);
        if (b->overlay && b->lead_agent >= 0 && !ws_claims_rounds(b))
            add_against(third, b, stats);
        g_string_append(third, ws_build_words(b, "Measured ends are when completion was observed: "
                                                 "upper bounds."));
        if (!isnan(m->overhead))
            g_string_append_printf(third,
                                   ws_build_words(b, "  Recording cost %.1f %% of the time."),
                                   100 * m->overhead);
        if (!isnan(m->round_cost) && !m->launch->len)
            g_string_append_printf(third,
                                   ws_build_words(b, "  Its rounds are %.1f %% longer for it."),
                                   100 * m->round_cost);
        if (m->launch->len)
            g_string_append_printf(third,
                                   ws_build_words(b, "  Merged from %u launches: what lies between "
                                                     "two rounds was not measured."),
                                   m->launch->len);
        if (b->overlay && !b->seen_overlay->len)
            g_string_append(
                third, ws_build_words(b, "  The measured trace has no records in this window."));
        put_note(b, third);
    }
    ws_trace_stats_free(own);
}
