#include "launch/devices.h"
#include "launch/collect.h"
#include "program/program.h"
#include "trace/let_go.h"

#include <math.h>
#include <string.h>

static gboolean all_known(const GArray *timers, guint n)
{
    for (guint d = 0; d < n; d++)
        if (d >= timers->len || !g_array_index(timers, WsCollectedTimer, d).known)
            return FALSE;
    return n > 0;
}

typedef struct {
    WsTrace *out;
    const WsRecorder *plan;
    const GArray *timers;
    const guint8 *data;
    gsize each;
    guint64 zero; /* by the timer of the first device, ns; numbers of a file: they may wrap */
    gboolean aligned;
    guint cluster;
} Join;

/* When the CTA that was recorded as number `slot` of a device began, by the timer of the first
 * device. */
static guint64 begins(const Join *j, guint device, guint slot)
{
    const double ahead = g_array_index(j->timers, WsCollectedTimer, device).ahead_ns;
    guint64 w;
    memcpy(&w, j->data + device * j->each + slot * j->plan->cta_bytes + 8, 8);
    return GUINT64_FROM_LE(w) - (guint64)llrint(ahead);
}

static guint slot_of(const Join *j, guint id)
{
    for (guint i = 0; i < j->plan->n_ctas; i++)
        if (ws_recorder_cta(j->plan, i, j->out->grid, j->cluster) == id)
            return i;
    return 0;
}

/* Cycles from the first CTA of all to this one; negative, or more than a trace holds: no shift. */
static double cycles_to(const Join *j, guint device, const WsTraceCta *cta)
{
    return (double)(gint64)(begins(j, device, slot_of(j, cta->id)) - j->zero) * cta->ghz;
}

static gint64 shift_of(const Join *j, guint device, const WsTraceCta *cta)
{
    return j->aligned ? (gint64)llrint(cycles_to(j, device, cta)) : 0;
}

static void find_zero(Join *j, GPtrArray *part)
{
    gboolean any = FALSE;
    for (guint d = 0; d < part->len && j->aligned; d++) {
        const WsTrace *t = part->pdata[d];
        for (guint i = 0; i < t->cta->len; i++) {
            const WsTraceCta *cta = &g_array_index(t->cta, WsTraceCta, i);
            const guint64 at = begins(j, d, slot_of(j, cta->id));
            j->aligned &= cta->ghz > 0; /* else its cycles are of no known length */
            j->zero = !any || (gint64)(at - j->zero) < 0 ? at : j->zero;
            any = TRUE;
        }
    }
}

/* A time that no trace holds, of one CTA, means that none is to be trusted. */
static void find_reach(Join *j, GPtrArray *part)
{
    for (guint d = 0; d < part->len; d++) {
        const WsTrace *t = part->pdata[d];
        for (guint i = 0; i < t->cta->len && j->aligned; i++) {
            const double cycles = cycles_to(j, d, &g_array_index(t->cta, WsTraceCta, i));
            j->aligned = cycles >= 0 && cycles < (double)WS_TRACE_MAX_TIME / 4;
        }
    }
}

static void put_note(GString *note, const Join *j, GPtrArray *part, gboolean known)
{
    double most = 0;
    for (guint d = 0; d < j->timers->len; d++)
        most = MAX(most, g_array_index(j->timers, WsCollectedTimer, d).error_ns);
    if (part->len < 2)
        return;
    if (j->aligned)
        g_string_append_printf(note, WS_CLOCKS_COMPARED, part->len, most / 1e3);
    else
        g_string_append_printf(note,
                               "%u devices whose clocks %s: times of each begin with its own "
                               "CTAs",
                               part->len,
                               known ? "were compared, but the rate of one is not known or a CTA "
                                       "began at no time that a trace holds"
                                     : "could not be compared");
    for (guint d = 0; d < part->len; d++)
        if (!((const WsTrace *)part->pdata[d])->cta->len)
            g_string_append_printf(note, ", device %u recorded nothing and is not in it", d);
}

static void take(Join *j, guint device, const WsTrace *t)
{
    const guint first = j->out->cta->len;
    g_autofree gint64 *shift = g_new0(gint64, t->cta->len + 1);
    for (guint i = 0; i < t->cta->len; i++) {
        WsTraceCta cta = g_array_index(t->cta, WsTraceCta, i);
        shift[i] = shift_of(j, device, &cta);
        cta.id += device * (guint32)t->grid;
        cta.cycles += shift[i];
        g_array_append_val(j->out->cta, cta);
    }
    for (guint i = 0; i < t->record->len; i++) {
        WsTraceRecord r = t->record->data[i];
        gint64 *const at[] = { &r.start, &r.issued, &r.done };
        for (guint k = 0; k < G_N_ELEMENTS(at); k++)
            if (*at[k] >= 0)
                *at[k] += shift[r.cta];
        r.cta = (guint16)(r.cta + first);
        ws_trace_add(j->out, &r);
    }
}

WsTrace *ws_join_devices(const WsProgram *p, GPtrArray *part, const WsRecorder *plan,
                         const GArray *timers, const guint8 *data, gsize each, GString *note)
{
    const WsTrace *first = part->pdata[0];
    const gboolean known = all_known(timers, part->len);
    Join j = { ws_trace_new(p, WS_TRACE_MEASURED), plan, timers, data, each, 0, known, p->cluster };
    j.out->grid = first->grid;
    find_zero(&j, part);
    find_reach(&j, part);
    put_note(note, &j, part, known);
    for (guint d = 0; d < part->len; d++)
        take(&j, d, part->pdata[d]);
    for (guint i = 0; i < first->size->len; i++)
        ws_trace_add_size(j.out, g_array_index(first->size_name, char *, i),
                          g_array_index(first->size, gint64, i));
    ws_trace_finish(j.out);
    return j.out;
}
