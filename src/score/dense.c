/* Executions too narrow to be drawn one by one: neighbours are merged into bars that say only that
 * something went on. */
#include "program/op.h"
#include "score/build.h"
#include "trace/op_kind.h"

/* More records than this are not looked at one by one: their spans in the trace's index are. */
#define MANY_RECORDS 20000

void ws_dense_merge(WsBuild *b, guint row, WsItemKind kind, double x, double w, gint64 from,
                    gint64 to, gboolean measured)
{
    WsScene *s = b->s;
    WsSceneItem *last =
        s->item->len ? &g_array_index(s->item, WsSceneItem, s->item->len - 1) : NULL;
    if (last && last->row == row && last->shape == WS_SHAPE_DENSE && x - last->x - last->w < 2) {
        last->w = MAX(last->w, x + w - last->x);
        last->done = last->issued = MAX(last->done, to);
        last->n++;
        /* The kind that has most of the time, by a vote that needs no counts. */
        last->level += last->kind == kind ? w : -w;
        if (last->level < 0) {
            last->kind = kind;
            last->level = -last->level;
            b->s->used[kind] = TRUE;
        }
        return;
    }
    WsSceneItem *item = ws_build_item(b, kind, WS_SHAPE_DENSE, row);
    item->x = x;
    item->w = MAX(w, 1);
    item->start = from;
    item->issued = item->done = to;
    item->measured = measured;
    item->n = 1;
    item->level = w;
}

gboolean ws_dense_lane(const WsBuild *b, guint agent, gboolean overlay)
{
    for (guint i = 0; i < b->dense->len; i++) {
        const WsDense *d = &g_array_index(b->dense, WsDense, i);
        if (d->agent == agent && d->overlay == overlay)
            return TRUE;
    }
    return FALSE;
}

static void add_span(WsBuild *b, const WsDense *d, guint row, WsItemKind kind, gint64 from,
                     gint64 to)
{
    gboolean measured = d->overlay || b->t->origin == WS_TRACE_MEASURED;
    gint64 t0 = ws_build_time(b, d->overlay, from), t1 = ws_build_time(b, d->overlay, to);
    double x0 = ws_scene_x(b->s, t0), x1 = ws_scene_x(b->s, t1);
    ws_dense_merge(b, row, kind, x0, x1 - x0, t0, t1, measured);
}

static void add_records(WsBuild *b, const WsDense *d, guint row, WsItemKind kind, gboolean flights)
{
    const WsTrace *t = d->overlay ? b->overlay : b->t;
    for (guint64 i = d->lo; i < d->hi; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        WsOpKind op = ws_trace_op_kind(t, r->op);
        WsItemKind here = ws_item_kind_of(op);
        if (flights ? here != kind || !ws_op_flies(op) : here == WS_ITEM_OTHER || ws_op_waits(op))
            continue;
        add_span(b, d, row, flights ? kind : here, r->start,
                 flights ? ws_trace_record_end(r) : MAX(r->issued, r->start));
    }
}

/* Level 0 of the index: one span per WS_TRACE_FAN records. */
static void add_spans(WsBuild *b, const WsDense *d, guint row, WsItemKind kind)
{
    const WsTrace *t = d->overlay ? b->overlay : b->t;
    const WsTraceLane *lane = ws_trace_lane(t, ws_build_cta(b, t), d->agent);
    guint64 first = (d->lo - lane->first) / WS_TRACE_FAN;
    guint64 last = (d->hi - lane->first + WS_TRACE_FAN - 1) / WS_TRACE_FAN;
    for (guint64 i = first; i < last; i++) {
        const WsTraceSpan *s = &g_array_index(t->span, WsTraceSpan, lane->first_span + i);
        add_span(b, d, row, kind, s->start, s->end);
    }
}

void ws_dense_add(WsBuild *b, const WsDense *d, guint row, WsItemKind kind, gboolean flights)
{
    if (d->hi <= d->lo)
        return;
    if (d->hi - d->lo <= MANY_RECORDS)
        add_records(b, d, row, kind, flights);
    else if (!flights)
        add_spans(b, d, row, kind);
}
