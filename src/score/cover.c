/* How much of a stretch of time something was in use, for stretches that hold too many executions
 * to draw them. Found once for a CTA of a trace and kept in the cache; asked by binary search. */
#include "program/op.h"
#include "score/build.h"
#include "trace/op_kind.h"

#include <math.h>

#define BIN   4.0 /* pixels */
#define HASTE 4.0 /* times that in a frame that the next one replaces */

/* Ascending and apart from each other. */
typedef struct {
    gint64 from, to;
    double weight; /* 0..1 of the unit between them */
    double before; /* weighted time in all spans before this one */
} Span;

struct WsScoreCover {
    GPtrArray *part; /* GArray of Span: parts add up, and are all of it at most */
};

static void free_part(gpointer p)
{
    g_array_free(p, TRUE);
}

static GArray *new_part(void)
{
    return g_array_new(FALSE, FALSE, sizeof(Span));
}

WsScoreCover *ws_cover_new(void)
{
    WsScoreCover *c = g_new0(WsScoreCover, 1);
    c->part = g_ptr_array_new_with_free_func(free_part);
    return c;
}

void ws_cover_free(gpointer cover)
{
    WsScoreCover *c = cover;
    if (!c)
        return;
    g_ptr_array_unref(c->part);
    g_free(c);
}

/* Spans come by their start; what overlaps becomes one. */
static void append(GArray *part, gint64 from, gint64 to, double weight)
{
    Span *last = part->len ? &g_array_index(part, Span, part->len - 1) : NULL;
    if (to <= from)
        return;
    if (last && from <= last->to && weight == last->weight) {
        last->to = MAX(last->to, to);
        return;
    }
    if (last && from < last->to)
        from = last->to;
    Span s = { from, to, weight, 0 };
    if (to > from)
        g_array_append_val(part, s);
}

/* Two lists into one, in time that grows with their lengths. */
static GArray *merge(const GArray *a, const GArray *b)
{
    GArray *out = new_part();
    guint i = 0, k = 0;
    while (i < a->len || k < b->len) {
        const Span *x = i < a->len ? &g_array_index(a, Span, i) : NULL;
        const Span *y = k < b->len ? &g_array_index(b, Span, k) : NULL;
        const Span *next = !y || (x && x->from <= y->from) ? x : y;
        append(out, next->from, next->to, next->weight);
        if (next == x)
            i++;
        else
            k++;
    }
    return out;
}

static void finish(WsScoreCover *c)
{
    for (guint i = 0; i < c->part->len; i++) {
        GArray *part = c->part->pdata[i];
        double sum = 0;
        for (guint k = 0; k < part->len; k++) {
            Span *s = &g_array_index(part, Span, k);
            s->before = sum;
            sum += s->weight * (double)(s->to - s->from);
        }
    }
}

void ws_cover_build(WsScoreCover *c, const WsTrace *t, guint cta, WsCoverWeight weight,
                    gpointer data, gboolean apart)
{
    for (guint a = 0; a < t->agent_name->len; a++) {
        const WsTraceLane *lane = ws_trace_lane(t, cta, a);
        GArray *part = new_part();
        for (guint64 i = lane ? lane->first : 0; lane && i < lane->first + lane->n; i++) {
            const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
            gint64 end = 0;
            double w = weight(r, &end, data);
            if (w > 0)
                append(part, r->start, end, w);
        }
        if (!apart && c->part->len) {
            GArray *all = merge(c->part->pdata[0], part);
            g_array_free(part, TRUE);
            g_ptr_array_set_size(c->part, 0);
            part = all;
        }
        g_ptr_array_add(c->part, part);
    }
    finish(c);
}

void ws_cover_add(WsScoreCover *c, gint64 from, gint64 to)
{
    if (!c->part->len)
        g_ptr_array_add(c->part, new_part());
    append(c->part->pdata[0], from, to, 1);
}

void ws_cover_end(WsScoreCover *c)
{
    finish(c);
}

gboolean ws_cover_any(const WsScoreCover *c)
{
    for (guint i = 0; i < c->part->len; i++)
        if (((GArray *)c->part->pdata[i])->len)
            return TRUE;
    return FALSE;
}

/* First span that begins at t or later, looked for from `hint` on: bins ask in order. */
static guint first_after(const GArray *part, gint64 t, guint hint)
{
    guint step = 1, lo = hint, hi = hint;
    while (hi < part->len && g_array_index(part, Span, hi).from < t) {
        lo = hi + 1;
        hi = MIN(hi + step, part->len);
        step *= 2;
    }
    while (lo < hi) {
        guint mid = lo + (hi - lo) / 2;
        if (g_array_index(part, Span, mid).from < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Weighted time before t; `hint` is a place at or before it, and moves on. */
static double until(const GArray *part, gint64 t, guint *hint)
{
    *hint = first_after(part, t, *hint);
    if (!*hint)
        return 0;
    const Span *s = &g_array_index(part, Span, *hint - 1);
    double sum = s->before + s->weight * (double)(MIN(t, s->to) - s->from);
    --*hint; /* the next time may lie in the same span */
    return sum;
}

double ws_cover_share(const WsScoreCover *c, gint64 from, gint64 to)
{
    double sum = 0;
    for (guint i = 0; i < c->part->len; i++) {
        guint hint = 0;
        double before = until(c->part->pdata[i], from, &hint);
        sum += until(c->part->pdata[i], to, &hint) - before;
    }
    return to > from ? CLAMP(sum / (double)(to - from), 0, 1) : 0;
}

static void add_level(WsBuild *b, const WsCoverRow *row, gint64 from, gint64 to, double x0,
                      double x1, double share)
{
    WsSceneItem *item = ws_build_item(b, row->kind, WS_SHAPE_LEVEL, row->row);
    item->x = x0;
    item->w = x1 - x0;
    item->h = row->h > 0 ? row->h : item->h;
    item->level = share;
    item->start = from;
    item->issued = item->done = to;
    item->measured = b->t->origin == WS_TRACE_MEASURED;
    if (b->o->hasty)
        return;
    g_autofree char *cycles = ws_group_digits(to - from);
    item->tip = g_strdup_printf(ws_build_words(b, "%s %.0f %% of these %s cycles"), row->what,
                                100 * share, cycles);
}

/* Weighted time before each edge of the bins, of all parts. */
static double *sums_at(const WsScoreCover *c, const gint64 *edge, guint n)
{
    double *sum = g_new0(double, n);
    for (guint i = 0; i < c->part->len; i++) {
        guint hint = 0;
        for (guint k = 0; k < n; k++)
            sum[k] += until(c->part->pdata[i], edge[k], &hint);
    }
    return sum;
}

static void draw_segment(WsBuild *b, const WsScoreCover *c, const WsCoverRow *row,
                         const WsSceneSegment *g)
{
    double bin = b->o->hasty ? BIN * HASTE : BIN;
    guint bins = MAX((guint)((g->x1 - g->x0) / bin), 1), begun = 0;
    double wide = (g->x1 - g->x0) / bins, level = -1;
    g_autofree gint64 *edge = g_new(gint64, bins + 1);
    for (guint k = 0; k <= bins; k++)
        edge[k] = k == bins ? g->t1 : (gint64)ws_scene_time(b->s, g->x0 + wide * k);
    g_autofree double *sum = sums_at(c, edge, bins + 1);
    for (guint k = 0; k <= bins; k++) {
        double share = -2; /* behind the last one */
        if (k < bins)
            share = CLAMP((sum[k + 1] - sum[k]) / (double)MAX(edge[k + 1] - edge[k], 1), 0, 1);
        if (share > 0 && share < 1) /* neighbours that look alike are one */
            share = MAX((double)(gint)(share * 20 + 0.5) / 20, 0.02);
        if (share == level)
            continue;
        if (level > 0)
            add_level(b, row, edge[begun], edge[k], floor(g->x0 + wide * begun),
                      floor(g->x0 + wide * k), level);
        begun = k;
        level = share;
    }
}

void ws_cover_draw(WsBuild *b, const WsScoreCover *c, const WsCoverRow *row)
{
    for (guint i = 0; i < b->s->segment->len; i++)
        draw_segment(b, c, row, &g_array_index(b->s->segment, WsSceneSegment, i));
}

static double of_tensor(const WsTraceRecord *r, gint64 *end, gpointer data)
{
    *end = r->done;
    return ws_op_is_product(ws_trace_op_kind(data, r->op));
}

double ws_score_tensor_share(const WsTrace *t, guint cta)
{
    if (cta >= t->cta->len)
        return 0;
    if (t->every > 1)
        return NAN;
    WsScoreCover *c = ws_cover_new();
    ws_cover_build(c, t, cta, of_tensor, (gpointer)t, FALSE);
    double share = ws_cover_share(c, 0, MAX(g_array_index(t->cta, WsTraceCta, cta).cycles, 1));
    ws_cover_free(c);
    return share;
}
