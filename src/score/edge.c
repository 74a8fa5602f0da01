/* Barrier edges: from the contribution that completed a phase last to the wait that it let go. The
 * longer the wait stood still, the thicker the edge. */
#include "program/op.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "score/build.h"
#include "trace/op_kind.h"

#include <math.h>

#define MAX_EDGES  400
#define MAX_LABELS 80 /* edges that look for a place for one */

typedef struct {
    const WsTraceRecord *r;
    gint64 at; /* when it contributed */
} Source;

static void keep(const WsTraceRecord *r, gpointer data)
{
    WsTracePlace place = { r->agent, r->op, r->round };
    g_hash_table_replace(data, g_memdup2(&place, sizeof place), (gpointer)r);
}

/* Records of the main trace by place, from one window's length before the window on. */
static GHashTable *index_records(const WsBuild *b)
{
    GHashTable *index = g_hash_table_new_full(ws_place_hash, ws_place_equal, g_free, NULL);
    for (guint i = 0; i < b->s->segment->len; i++) {
        const WsSceneSegment *g = &g_array_index(b->s->segment, WsSceneSegment, i);
        for (guint a = 0; a < b->t->agent_name->len; a++)
            ws_trace_window(b->t, ws_trace_lane(b->t, b->cta, a), MAX(g->t0 - (g->t1 - g->t0), 0),
                            g->t1, keep, index);
    }
    return index;
}

/* The contribution that came last, among those that the trace knows. */
static Source find_source(const WsBuild *b, GHashTable *index, const WsTraceRecord *wait)
{
    Source best = { NULL, -1 };
    const WsOp *op = b->p->op[wait->op];
    const WsBound *v = ws_bind_get(b->bind, wait->op, wait->round);
    if (!v || op->barrier < 0 || v->turn < 0)
        return best;
    const GArray *list =
        ws_bind_contributors(b->bind, (guint)op->barrier, v->element, v->slot, v->turn);
    gint64 end = MAX(wait->issued, wait->start);
    for (guint i = 0; list && i < list->len; i++) {
        const WsTraceRecord *r = g_hash_table_lookup(index, &g_array_index(list, WsTracePlace, i));
        if (!r)
            continue;
        if (ws_trace_launch_of(b->t, r) != ws_trace_launch_of(b->t, wait))
            return (Source){ NULL, -1 }; /* of another launch: it did not let this wait go */
        gint64 at = ws_op_brings(b->p->op[r->op]->kind) ? MAX(r->done, r->issued)
                                                        : MAX(r->issued, r->start);
        /* What was observed later than the wait's end did not let it go (upper bounds do that). */
        at = MIN(at, end);
        if (at > best.at) {
            best.r = r;
            best.at = at;
        }
    }
    return best;
}

static double source_y(const WsBuild *b, const WsTraceRecord *r, guint *id, gboolean up)
{
    *id = ws_staff_item(b, r->agent, r->op, r->round);
    const WsSceneItem *item = *id ? &g_array_index(b->s->item, WsSceneItem, *id - 1) : NULL;
    /* The loads of one transaction have one bar, that of the first. */
    for (guint back = 1; !item && back <= 4 && r->op >= back; back++) {
        guint other = ws_staff_item(b, r->agent, r->op - back, r->round);
        if (other) {
            *id = other;
            item = &g_array_index(b->s->item, WsSceneItem, other - 1);
        }
    }
    if (item && item->shape == WS_SHAPE_FLIGHT && ws_op_brings(b->p->op[r->op]->kind))
        return item->y + item->h / 2;
    guint row = b->control_row[r->agent];
    if (row == G_MAXUINT)
        return -1;
    const WsSceneRow *control = &g_array_index(b->s->row, WsSceneRow, row);
    return up ? control->y : control->y + control->h;
}

static char *edge_label(const WsBuild *b, const WsTraceRecord *wait)
{
    const WsOp *op = b->p->op[wait->op];
    const WsBarrier *barrier = &b->p->barrier[op->barrier];
    const WsBound *v = ws_bind_get(b->bind, wait->op, wait->round);
    GString *s = g_string_new(barrier->name);
    if (barrier->is_array)
        g_string_append_printf(s, "[%" G_GINT64_FORMAT "]", v->element);
    if (barrier->slots > 1)
        g_string_append_printf(s, ws_build_words(b, " slot %d"), (int)v->slot);
    g_string_append_printf(s, " ph %d", (int)(v->turn & 1));
    return g_string_free(s, FALSE);
}

/* No other label, and no text of an item, stands there. */
static gboolean free_place(const WsBuild *b, const GArray *labels, double x, double y, double w)
{
    double top = y - 10, bottom = y + 4;
    if (x < b->s->left || x + w > b->s->right || top < b->s->top || bottom > b->s->bottom)
        return FALSE;
    for (guint i = 0; i + 2 < labels->len; i += 3) {
        double lx = g_array_index(labels, double, i), ly = g_array_index(labels, double, i + 1);
        double lw = g_array_index(labels, double, i + 2);
        if (x < lx + lw + 6 && lx < x + w + 6 && fabs(y - ly) < 14)
            return FALSE;
    }
    for (guint i = 0; i < b->s->item->len; i++) {
        const WsSceneItem *it = &g_array_index(b->s->item, WsSceneItem, i);
        if (it->y < bottom && it->y + it->h > top && it->x < x + w + 2 && it->x + it->w > x - 2)
            return FALSE;
    }
    return TRUE;
}

static gboolean put_label(const WsBuild *b, WsSceneEdge *e, const char *text, double x, double y,
                          double w, GArray *labels)
{
    if (!free_place(b, labels, x, y, w))
        return FALSE;
    e->label = g_strdup(text);
    e->label_x = x;
    e->label_y = y;
    g_array_append_val(labels, x);
    g_array_append_val(labels, y);
    g_array_append_val(labels, w);
    return TRUE;
}

/* Labels only edges that cost something, and only where there is room beside them. */
static void label_edge(const WsBuild *b, WsSceneEdge *e, const WsTraceRecord *wait, GArray *labels)
{
    static const double along[] = { 0.5, 0.35, 0.65, 0.2, 0.8, 0.1, 0.9 };
    g_autofree char *text = edge_label(b, wait);
    double w = ws_text_width_estimate(text, WS_EDGE_LABEL_SIZE);
    for (guint i = 0; i < 2 * G_N_ELEMENTS(along); i++) {
        double f = along[i / 2];
        double y = e->y0 + (e->y1 - e->y0) * f + 3;
        /* The curve's x: it eases in and out. */
        double x = e->x0 + (e->x1 - e->x0) * f * f * (3 - 2 * f);
        x = i % 2 ? x - 7 - w : x + 7;
        if (put_label(b, e, text, x, y, w, labels))
            return;
    }
}

/* Not in a fold, nor beyond the page. */
static gboolean shown(const WsBuild *b, gint64 t)
{
    for (guint i = 0; i < b->s->segment->len; i++) {
        const WsSceneSegment *g = &g_array_index(b->s->segment, WsSceneSegment, i);
        if (t >= g->t0 && t <= g->t1)
            return TRUE;
    }
    return FALSE;
}

static gint by_cost(gconstpointer pa, gconstpointer pb)
{
    const WsTraceRecord *a = *(const WsTraceRecord *const *)pa;
    const WsTraceRecord *b = *(const WsTraceRecord *const *)pb;
    gint64 x = a->issued - a->start, y = b->issued - b->start;
    if (x != y)
        return x > y ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* An edge from another score says beside its beginning where it comes from. */
static void label_origin(const WsBuild *b, WsSceneEdge *e, GArray *labels)
{
    const double w = ws_text_width_estimate(e->origin, WS_EDGE_LABEL_SIZE);
    for (guint i = 0; i < 10; i++) {
        const double down = i < 2 ? 3 : i % 4 < 2 ? 13.0 + 5 * (i / 4) : -7.0 - 5 * (i / 4);
        const double x = i % 2 ? e->x0 - 7 - w : e->x0 + 7, y = e->y0 + down;
        if (put_label(b, e, e->origin, x, y, w, labels))
            return;
    }
}

static void add_flags(WsBuild *b, const GArray *seen, gboolean overlay, GArray *labels)
{
    for (guint i = 0; b->p->mesh && seen && i < seen->len && b->s->edge->len < MAX_EDGES; i++) {
        const WsTraceRecord *r = ws_seen(seen, i);
        WsSceneEdge e;
        if (!ws_op_awaits(ws_trace_op_kind(overlay ? b->overlay : b->t, r->op)) ||
            b->drawn_as[r->agent] != r->agent || !ws_edge_of_flag(b, r, overlay, &e))
            continue;
        if (e.origin && e.binding)
            label_origin(b, &e, labels);
        g_array_append_val(b->s->edge, e);
    }
}

void ws_edge_build(WsBuild *b)
{
    if (!b->bind || ws_build_coarse(b))
        return;
    if (b->o->hasty) {
        b->s->partial = TRUE;
        return;
    }
    g_autoptr(GHashTable) index = index_records(b);
    g_autoptr(GArray) waits = g_array_new(FALSE, FALSE, sizeof(WsTraceRecord *));
    g_autoptr(GArray) labels = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < b->seen->len; i++) {
        const WsTraceRecord *r = ws_seen(b->seen, i);
        if (ws_op_waits_phase(ws_trace_op_kind(b->t, r->op)) && b->drawn_as[r->agent] == r->agent &&
            b->control_row[r->agent] != G_MAXUINT)
            g_array_append_val(waits, r);
    }
    add_flags(b, b->seen, FALSE, labels);
    if (b->overlay)
        add_flags(b, b->seen_overlay, TRUE, labels);
    g_array_sort(waits, by_cost);
    guint tries = 0;
    for (guint i = 0; i < waits->len && b->s->edge->len < MAX_EDGES; i++) {
        const WsTraceRecord *wait = ws_seen(waits, i);
        Source source = find_source(b, index, wait);
        gint64 end = MAX(wait->issued, wait->start);
        if (!source.r || !shown(b, source.at) || !shown(b, end))
            continue;
        const WsSceneRow *row = &g_array_index(b->s->row, WsSceneRow, b->control_row[wait->agent]);
        WsSceneEdge e = { .x0 = ws_scene_x(b->s, source.at),
                          .x1 = ws_scene_x(b->s, end),
                          .from_op = source.r->op,
                          .to_op = wait->op,
                          .from_agent = source.r->agent,
                          .to_agent = wait->agent,
                          .from_cta = G_MAXUINT,
                          .exposed = end - wait->start,
                          .release = !ws_op_brings(b->p->op[source.r->op]->kind) };
        gboolean up =
            b->control_row[source.r->agent] != G_MAXUINT &&
            g_array_index(b->s->row, WsSceneRow, b->control_row[source.r->agent]).y > row->y;
        e.y0 = source_y(b, source.r, &e.from, up);
        e.y1 = up ? row->y + row->h : row->y;
        e.to = ws_staff_item(b, wait->agent, wait->op, wait->round);
        if (e.y0 < 0)
            continue;
        /* A wait that found its phase complete waited for nothing: no arrow from far away. */
        double pixels = e.x1 - ws_scene_x(b->s, wait->start);
        e.binding = source.at > wait->start && e.exposed >= 24;
        if (!e.binding && e.x1 - e.x0 > 60)
            continue;
        if (e.binding && pixels >= 3 && tries++ < MAX_LABELS)
            label_edge(b, &e, wait, labels);
        g_array_append_val(b->s->edge, e);
    }
}
