/* Unit lanes: how much of the TMA and of the tensor core is in use at each moment, over all agents
 * of the CTA. */
#include "score/build.h"

#include <math.h>

#define UNIT_HEIGHT 20.0

typedef struct {
    gint64 at;
    gint step; /* +1 begins, -1 ends */
} Change;

static gint by_time(gconstpointer pa, gconstpointer pb)
{
    const Change *a = pa, *b = pb;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->step - b->step; /* ends before begins */
}

static GArray *list_changes(const WsBuild *b, gboolean tensor)
{
    GArray *changes = g_array_new(FALSE, FALSE, sizeof(Change));
    for (guint i = 0; i < b->seen->len; i++) {
        const WsTraceRecord *r = ws_seen(b->seen, i);
        WsOpKind kind = ws_trace_op_kind(b->t, r->op);
        gboolean mine =
            tensor ? kind == WS_OP_MMA
                   : kind == WS_OP_TMA_LOAD || kind == WS_OP_TMA_STORE || kind == WS_OP_BULK_COPY;
        if (!mine || r->done <= r->start)
            continue;
        Change begin = { r->start, 1 }, end = { r->done, -1 };
        g_array_append_val(changes, begin);
        g_array_append_val(changes, end);
    }
    g_array_sort(changes, by_time);
    return changes;
}

static void add_level(WsBuild *b, guint row, WsItemKind kind, gint64 from, gint64 to, gint n,
                      gint most)
{
    WsScene *s = b->s;
    double x0 = ws_scene_x(s, from), x1 = ws_scene_x(s, to);
    WsSceneItem *last =
        s->item->len ? &g_array_index(s->item, WsSceneItem, s->item->len - 1) : NULL;
    if (last && last->row == row) {
        x0 = MAX(x0, last->x + last->w);
        if (last->level * most == n && x0 - (last->x + last->w) < 0.5) {
            last->w = MAX(last->w, x1 - last->x);
            last->done = last->issued = to;
            return;
        }
    }
    if (x1 - x0 < 0.75)
        return;
    WsSceneItem *item = ws_build_item(b, kind, WS_SHAPE_LEVEL, row);
    item->x = x0;
    item->w = x1 - x0;
    item->level = (double)n / most;
    item->start = from;
    item->issued = item->done = to;
    item->measured = b->t->origin == WS_TRACE_MEASURED;
    item->tip = g_strdup_printf("%d in flight", n);
}

/* Share of the time shown in which at least one was in flight. */
static double busy_share(const WsBuild *b, const GArray *changes)
{
    double busy = 0, all = 0;
    for (guint k = 0; k < b->s->segment->len; k++) {
        const WsSceneSegment *g = &g_array_index(b->s->segment, WsSceneSegment, k);
        gint n = 0;
        all += (double)(g->t1 - g->t0);
        for (guint i = 0; i < changes->len; i++) {
            const Change *c = &g_array_index(changes, Change, i);
            n += c->step;
            if (!n || i + 1 == changes->len)
                continue;
            gint64 from = MAX(c->at, g->t0), to = MIN(c[1].at, g->t1);
            if (to > from)
                busy += (double)(to - from);
        }
    }
    return all > 0 ? busy / all : 0;
}

static void add_unit(WsBuild *b, gboolean tensor)
{
    g_autoptr(GArray) changes = list_changes(b, tensor);
    if (!changes->len && !b->cache->unit[tensor])
        return;
    b->cache->unit[tensor] = TRUE;
    double run = tensor ? b->t->tensor_busy : b->t->tma_busy;
    double here = busy_share(b, changes);
    GString *text = g_string_new(NULL);
    if (!b->dense->len) /* of merged executions nothing was added up */
        g_string_append_printf(text, "%.0f %% here", 100 * here);
    if (!isnan(run))
        g_string_append_printf(text, "%s%.0f %% run", text->len ? " \xc2\xb7 " : "", 100 * run);
    g_autofree char *detail = g_string_free(text, FALSE);
    WsItemKind kind = tensor ? WS_ITEM_MMA : WS_ITEM_LOAD;
    WsSceneStaff *staff = ws_build_staff(b, tensor ? "tensor core" : "TMA", detail);
    staff->kind = kind;
    guint row = ws_build_row(b, WS_ROW_UNIT, UNIT_HEIGHT, NULL);
    gint n = 0, most = 1;
    for (guint i = 0; i < changes->len; i++) {
        n += g_array_index(changes, Change, i).step;
        most = MAX(most, n);
    }
    n = 0;
    for (guint i = 0; i + 1 < changes->len; i++) {
        const Change *c = &g_array_index(changes, Change, i);
        n += c->step;
        /* One mma at a time has the tensor core; the others queue. */
        if (n > 0 && c[1].at > c->at)
            add_level(b, row, kind, c->at, c[1].at, tensor ? 1 : n, tensor ? 1 : most);
    }
    ws_build_staff_end(b);
}

void ws_unit_build(WsBuild *b)
{
    add_unit(b, FALSE);
    add_unit(b, TRUE);
}
