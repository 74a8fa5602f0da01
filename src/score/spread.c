/* How far the executions of one step lie apart: the whiskers of measured bars. */
#include "score/build.h"

#define FEW 5 /* fewer executions have no spread worth a whisker */
#define SAMPLE                                                                                     \
    512 /* of each step, taken evenly: sorting all of a million records takes too long             \
         */

static gint by_value(gconstpointer pa, gconstpointer pb)
{
    gint64 a = *(const gint64 *)pa, b = *(const gint64 *)pb;
    return a < b ? -1 : a > b;
}

static void fill(GArray *values, gint64 *p20, gint64 *p80)
{
    g_array_sort(values, by_value);
    *p20 = g_array_index(values, gint64, (guint)(0.2 * (values->len - 1) + 0.5));
    *p80 = g_array_index(values, gint64, (guint)(0.8 * (values->len - 1) + 0.5));
}

/* All steps of one lane in two passes. */
static WsSpread *of_lane(const WsTrace *t, const WsTraceLane *lane)
{
    guint n_ops = t->op_id->len;
    WsSpread *spread = g_new0(WsSpread, MAX(n_ops, 1));
    g_autofree guint *seen = g_new0(guint, MAX(n_ops, 1));
    g_autofree GArray **held = g_new0(GArray *, MAX(n_ops, 1));
    g_autofree GArray **flown = g_new0(GArray *, MAX(n_ops, 1));
    for (guint64 i = lane->first; i < lane->first + lane->n; i++)
        spread[g_array_index(t->record, WsTraceRecord, i).op].n++;
    for (guint64 i = lane->first; i < lane->first + lane->n; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        if (spread[r->op].n < FEW || seen[r->op]++ % (spread[r->op].n / SAMPLE + 1))
            continue;
        if (!held[r->op]) {
            held[r->op] = g_array_new(FALSE, FALSE, sizeof(gint64));
            flown[r->op] = g_array_new(FALSE, FALSE, sizeof(gint64));
        }
        gint64 issue = MAX(r->issued, r->start) - r->start;
        gint64 flight = ws_trace_record_end(r) - r->start;
        g_array_append_val(held[r->op], issue);
        g_array_append_val(flown[r->op], flight);
    }
    for (guint op = 0; op < n_ops; op++) {
        if (!held[op])
            continue;
        fill(held[op], &spread[op].held20, &spread[op].held80);
        fill(flown[op], &spread[op].flown20, &spread[op].flown80);
        g_array_free(held[op], TRUE);
        g_array_free(flown[op], TRUE);
    }
    return spread;
}

/* NULL: too few executions. */
static const WsSpread *spread_of(const WsBuild *b, const WsTrace *t, guint agent, guint op)
{
    GHashTable *table = b->cache->spread[t != b->t];
    gpointer key = GUINT_TO_POINTER(agent + 1);
    WsSpread *all = g_hash_table_lookup(table, key);
    const WsTraceLane *lane = ws_trace_lane(t, ws_build_cta(b, t), agent);
    if (!all && lane) {
        all = of_lane(t, lane);
        g_hash_table_insert(table, key, all);
    }
    return all && op < t->op_id->len && all[op].n >= FEW ? &all[op] : NULL;
}

void ws_spread_fill(const WsBuild *b, const WsTrace *t, const WsTraceRecord *r, WsSceneItem *item)
{
    const WsSpread *s = t->origin == WS_TRACE_MEASURED ? spread_of(b, t, r->agent, r->op) : NULL;
    if (!s)
        return;
    gboolean flight = item->shape == WS_SHAPE_FLIGHT;
    item->p20 = flight ? s->flown20 : s->held20;
    item->p80 = flight ? s->flown80 : s->held80;
    item->n_runs = s->n;
    /* In pixels from the bar's beginning; what a fold hides is not drawn. */
    gint64 start = ws_build_time(b, t == b->overlay, r->start);
    double x0 = ws_scene_x(b->s, start);
    item->low = ws_scene_x(b->s, start + item->p20) - x0;
    item->high = ws_scene_x(b->s, start + item->p80) - x0;
}
