/* Where what is tried is shown while something is dragged. Every round of it may be shorter or
 * longer than before, so that its hundredth lies in another place of the axis, perhaps in another
 * tile: it is moved along the axis until the step beside which something is let go begins where it
 * began. */
#include "model/design.h"
#include "ui/gesture/gesture_private.h"

#include <math.h>
#include <string.h>

#define TRIES     12 /* steps that are looked for, the nearest first */
#define MOST_GONE 64 /* drags whose way along the axis is remembered */

typedef struct {
    const WsSceneItem *item;
    double far; /* how much one would rather have another one */
} Anchor;

static gint by_far(gconstpointer pa, gconstpointer pb)
{
    const Anchor *a = pa, *b = pb;
    return a->far < b->far ? -1 : a->far > b->far;
}

/* The first start of a step in a round of an agent; FALSE: it has none. */
static gboolean starts(const WsTrace *trace, guint cta, const WsSceneItem *item, const char *step,
                       gint64 *start)
{
    const WsTraceLane *lane = ws_trace_lane(trace, cta, item->agent);
    for (guint64 i = 0; lane && i < lane->n; i++) {
        const WsTraceRecord *r = &g_array_index(trace->record, WsTraceRecord, lane->first + i);
        if (r->round != item->round || r->tile != item->tile ||
            g_strcmp0(trace->op_id->pdata[r->op], step))
            continue;
        *start = r->start;
        return TRUE;
    }
    return FALSE;
}

/* The step of what is tried that this one is: in the same list, as many rounds ahead. NULL: it is
 * gone, or moves along. */
static const WsNode *stays(const WsGesture *g, const WsDesign *tried, const WsNode *node)
{
    const WsNode *same = ws_design_by_identity(tried, node->identity);
    const WsNode *owner = ws_design_owner(g->latest, node, NULL, NULL);
    const WsNode *now = same ? ws_design_owner(tried, same, NULL, NULL) : NULL;
    for (guint i = 0; g->kind == WS_GESTURE_MOVE && i < g->nodes->len; i++)
        if (g_array_index(g->nodes, guint64, i) == node->identity)
            return NULL;
    return owner && now && owner->identity == now->identity &&
                   ws_node_int(node, WS_F_ahead, 0) == ws_node_int(same, WS_F_ahead, 0)
               ? same
               : NULL;
}

static gboolean waits(const WsNode *node)
{
    return node->kind == WS_STEP_WAIT || node->kind == WS_STEP_MMA_WAIT ||
           node->kind == WS_STEP_ACQUIRE;
}

/* How much later the tried score is than the one before, in a segment of that one. */
static gint64 later_in(WsTimeline *t, const WsSceneSegment *segment)
{
    const WsGesture *g = t->gesture;
    const WsDesign *tried = ws_document_design(t->document);
    const WsTrace *before = g->ghost->predicted, *now = t->main_trace;
    const double x0 =
        g->ghost_folded ? segment->x0 : -ws_gesture_ghost_x(t, 0) + WS_TIMELINE_GUTTER;
    const double x1 = g->ghost_folded ? segment->x1 : x0 + t->view.width;
    const WsSceneItem *beside = g->beside ? g->beside : g->item; /* NULL: a ring */
    const double at = CLAMP(beside ? beside->x : g->x0 - ws_gesture_ghost_x(t, 0), x0, x1);
    g_autoptr(GArray) anchors = g_array_new(FALSE, FALSE, sizeof(Anchor));
    if (!before || !now || before == now)
        return 0;
    for (guint i = 0; i < g->ghost->item->len; i++) {
        const WsSceneItem *item = &g_array_index(g->ghost->item, WsSceneItem, i);
        const WsNode *node = item->x >= x0 && item->x <= x1 && ws_gesture_is_step(g->ghost, item)
                                 ? ws_gesture_node(g, item)
                                 : NULL;
        if (!node || !stays(g, tried, node))
            continue;
        const Anchor a = { item, fabs(at - item->x) + (item->x > at ? 1e5 : 0) +
                                     (waits(node) && item != beside ? 1e6 : 0) +
                                     (beside && beside->agent != item->agent ? 1e7 : 0) };
        g_array_append_val(anchors, a);
    }
    g_array_sort(anchors, by_far);
    const guint cta = ws_timeline_cta_of(t, now);
    for (guint i = 0; i < MIN(anchors->len, TRIES); i++) {
        const WsSceneItem *item = g_array_index(anchors, Anchor, i).item;
        const WsNode *node = stays(g, tried, ws_gesture_node(g, item));
        g_autofree char *step = ws_design_path(tried, node);
        gint64 was, is;
        if (starts(before, ws_timeline_cta_of(t, before), item, item->step, &was) &&
            starts(now, cta, item, step, &is))
            return is - was;
    }
    return 0;
}

void ws_gesture_follow(WsTimeline *t)
{
    const WsGesture *g = t->gesture;
    const gint64 was = t->later[0];
    for (guint i = 0; i < G_N_ELEMENTS(t->later) && i < g->ghost->segment->len; i++)
        t->later[i] = later_in(t, &g_array_index(g->ghost->segment, WsSceneSegment, i));
    if (!t->view.at.folded)
        t->view.at.from += (double)(t->later[0] - was);
}

void ws_gesture_hold(WsTimeline *t, WsSceneOptions *o)
{
    const WsGesture *g = t->gesture;
    if (!g->ghost || !g->ghost_folded || o->width != g->ghost->width)
        return;
    o->hold = (const WsSceneSegment *)(gpointer)g->ghost->segment->data;
    o->n_hold = g->ghost->segment->len;
    memcpy(o->later, t->later, sizeof o->later);
}

/* --- once it is let go ---------------------------------------------------------------------------
 */

static void clear_gone(gpointer p)
{
    WsGone *gone = p;
    ws_design_unref(gone->before);
    ws_design_unref(gone->after);
}

static void set_of_scene(WsTimeline *t, WsDesign *design)
{
    if (design)
        ws_design_ref(design);
    g_clear_pointer(&t->of_scene, ws_design_unref);
    t->of_scene = design;
}

void ws_gesture_keep(WsTimeline *t, WsDesign *before, WsDesign *after)
{
    set_of_scene(t, after); /* the view is there already */
    if (t->view.at.folded || t->later[0] == 0)
        return;
    if (!t->gone) {
        t->gone = g_array_new(FALSE, FALSE, sizeof(WsGone));
        g_array_set_clear_func(t->gone, clear_gone);
    }
    const WsGone gone = { ws_design_ref(before), ws_design_ref(after), t->later[0] };
    g_array_append_val(t->gone, gone);
    if (t->gone->len > MOST_GONE)
        g_array_remove_index(t->gone, 0);
}

void ws_gesture_return(WsTimeline *t)
{
    WsDesign *now = ws_document_design(t->document);
    for (guint i = 0; t->gone && !t->view.at.folded && i < t->gone->len; i++) {
        const WsGone *gone = &g_array_index(t->gone, WsGone, i);
        const gboolean undone = t->of_scene == gone->after && now == gone->before;
        if (undone || (t->of_scene == gone->before && now == gone->after)) {
            t->view.at.from += (double)(undone ? -gone->later : gone->later);
            break;
        }
    }
    set_of_scene(t, now);
}
