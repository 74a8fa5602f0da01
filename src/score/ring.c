/* Rings: one row per stage of each multi-stage buffer (and per single-stage one that is handed
 * over), showing who holds it: being filled, full, being read, free. Taken from the trace: writes
 * and reads of the stage in order of time; a write after a read begins the next use. */
#include "score/ring.h"
#include "program/parts/access.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <string.h>

#define SLOT_HEIGHT 11.0
#define MAX_LANES   64

gint ws_stage_compare(gconstpointer pa, gconstpointer pb)
{
    const WsStage *a = *(WsStage *const *)pa, *b = *(WsStage *const *)pb;
    if (a->buffer != b->buffer)
        return a->buffer < b->buffer ? -1 : 1;
    if (a->element != b->element)
        return a->element < b->element ? -1 : 1;
    return a->stage < b->stage ? -1 : a->stage > b->stage;
}

void ws_stage_free(gpointer p)
{
    g_array_free(((WsStage *)p)->touch, TRUE);
    g_free(p);
}

static WsStage *stage_of(GPtrArray *stages, guint buffer, gint64 element, gint64 stage);

/* Stages that other windows showed keep their rows. */
static void recall_stages(const WsBuild *b, GPtrArray *stages)
{
    for (guint i = 0; i < b->cache->stage->len; i++) {
        const WsStageKey *k = &g_array_index(b->cache->stage, WsStageKey, i);
        stage_of(stages, k->buffer, k->element, k->stage);
    }
}

void ws_ring_remember(const WsBuild *b, const GPtrArray *stages)
{
    for (guint i = 0; i < stages->len; i++) {
        const WsStage *s = stages->pdata[i];
        gboolean known = FALSE;
        for (guint k = 0; k < b->cache->stage->len && !known; k++) {
            const WsStageKey *key = &g_array_index(b->cache->stage, WsStageKey, k);
            known =
                key->buffer == s->buffer && key->element == s->element && key->stage == s->stage;
        }
        WsStageKey key = { s->buffer, s->element, s->stage };
        if (!known)
            g_array_append_val(b->cache->stage, key);
    }
}

static WsStage *stage_of(GPtrArray *stages, guint buffer, gint64 element, gint64 stage)
{
    for (guint i = 0; i < stages->len; i++) {
        WsStage *s = stages->pdata[i];
        if (s->buffer == buffer && s->element == element && s->stage == stage)
            return s;
    }
    WsStage *s = g_new0(WsStage, 1);
    s->buffer = buffer;
    s->element = element;
    s->stage = stage;
    s->touch = g_array_new(FALSE, FALSE, sizeof(WsRingTouch));
    g_ptr_array_add(stages, s);
    return s;
}

/* Touches of the records shown, and of the rounds just before the window (they hold stages still).
 */
static void gather(const WsTraceRecord *r, gpointer data)
{
    gpointer *args = data;
    const WsBuild *b = args[0];
    GPtrArray *stages = args[1];
    const WsOp *op = b->p->op[r->op];
    const WsBound *v = op->n_access ? ws_bind_get(b->bind, r->op, r->round) : NULL;
    if (!v)
        return;
    for (guint i = 0; i < v->n_access; i++) {
        const WsAccess *a = &op->access[i];
        if (v->access[i].stage < 0 || v->access[i].element < 0 || a->buffer >= b->p->n_buffers)
            continue;
        guint depth = MAX(b->p->buffer[a->buffer].stages, 1);
        WsRingTouch t = { .start = r->start,
                          .end = ws_trace_record_end(r),
                          .use = v->access[i].use,
                          .turn = v->access[i].use >= 0 ? v->access[i].use / depth : -1,
                          .r = r,
                          .write = (a->mode & WS_MODE_WRITE) != 0 };
        WsStage *s = stage_of(stages, a->buffer, v->access[i].element, v->access[i].stage);
        g_array_append_val(s->touch, t);
    }
}

static gint by_time(gconstpointer pa, gconstpointer pb)
{
    const WsRingTouch *a = pa, *b = pb;
    return a->start < b->start ? -1 : a->start > b->start;
}

static const char *state_text(const WsBuild *b, WsItemKind kind)
{
    if (kind == WS_ITEM_FILLING)
        return ws_build_words(b, "filling");
    if (kind == WS_ITEM_FULL)
        return ws_build_words(b, "full");
    return ws_build_words(b, "being read");
}

static void add_state(WsBuild *b, guint row, WsItemKind kind, gint64 from, gint64 to,
                      const WsRingTouch *touch, const char *name, gboolean label)
{
    WsScene *s = b->s;
    double x0 = ws_scene_x(s, from), x1 = ws_scene_x(s, to);
    if (s->item->len) { /* rounding may not make neighbours overlap */
        const WsSceneItem *last = &g_array_index(s->item, WsSceneItem, s->item->len - 1);
        if (last->row == row)
            x0 = MAX(x0, last->x + last->w);
    }
    if (x1 - x0 < 0.5 || to <= from)
        return;
    WsSceneItem *item = ws_build_item(b, kind, WS_SHAPE_SLOT, row);
    item->x = x0;
    item->w = x1 - x0;
    item->step = b->t->op_id->pdata[touch->r->op];
    item->agent = touch->r->agent;
    item->tile = touch->r->tile;
    item->round = touch->r->round;
    item->start = from;
    item->issued = item->done = to;
    item->turn = touch->turn >= 0 ? (gint)(touch->turn & 1) : -1;
    item->measured = b->t->origin == WS_TRACE_MEASURED;
    g_autofree char *round = ws_round_text(b, touch->r);
    const char *candidate[] = { round, NULL };
    item->label = label ? ws_build_fit(item->w - 4, 9, candidate) : NULL;
    if (b->o->hasty)
        return;
    g_autofree char *cycles = ws_group_digits(to - from);
    g_autofree char *held =
        g_strdup_printf("%s%s%s", state_text(b, kind), *round ? ", " : "", round);
    /* Translators: a stage of a ring, what becomes of it, for how long. */
    item->tip = g_strdup_printf(ws_build_words(b, "%s, %s: %s cycles"), name, held, cycles);
}

/* One use: writes from..to, then reads. */
static void add_use(WsBuild *b, guint row, const WsStage *s, guint i, guint end, const char *name)
{
    const WsRingTouch *first = &g_array_index(s->touch, WsRingTouch, i);
    gint64 fill_end = -1, read_start = G_MAXINT64, read_end = -1;
    const WsRingTouch *reader = NULL, *last_reader = NULL;
    for (guint k = i; k < end; k++) {
        const WsRingTouch *t = &g_array_index(s->touch, WsRingTouch, k);
        if (t->write) {
            fill_end = MAX(fill_end, t->end);
        } else {
            if (!reader)
                reader = t;
            last_reader = t;
            read_start = MIN(read_start, t->start);
            read_end = MAX(read_end, t->end);
        }
    }
    if (fill_end >= 0)
        add_state(b, row, WS_ITEM_FILLING, first->start, MIN(fill_end, read_start), first, name,
                  FALSE);
    if (!reader) {
        /* Filled and not yet read inside the records seen: full to the edge of the window. */
        const WsSceneSegment *last =
            &g_array_index(b->s->segment, WsSceneSegment, b->s->segment->len - 1);
        if (end == s->touch->len && s->touch->len)
            add_state(b, row, WS_ITEM_FULL, fill_end, last->t1, first, name, TRUE);
        return;
    }
    if (fill_end >= 0)
        add_state(b, row, WS_ITEM_FULL, fill_end, read_start, first, name, TRUE);
    /* What stays for many rounds belongs to none of them. */
    add_state(b, row, WS_ITEM_READING, read_start, read_end, reader, name,
              reader->r->round == last_reader->r->round);
}

/* Where the use that begins at touch `begin` ends: a write after a read, or of another use. */
static guint end_of_use(const WsStage *s, guint begin)
{
    const WsRingTouch *f = &g_array_index(s->touch, WsRingTouch, begin);
    gboolean read = FALSE;
    guint i = begin;
    for (; i < s->touch->len; i++) {
        const WsRingTouch *t = &g_array_index(s->touch, WsRingTouch, i);
        if (t->write && (read || (t->use >= 0 && f->use >= 0 && t->use != f->use)))
            break;
        read |= !t->write;
    }
    return MAX(i, begin + 1);
}

static void add_stage(WsBuild *b, guint row, WsStage *s, const char *name)
{
    g_array_sort(s->touch, by_time);
    for (guint begin = 0; begin < s->touch->len;) {
        guint end = end_of_use(s, begin);
        add_use(b, row, s, begin, end, name);
        begin = end;
    }
}

void ws_ring_held(WsStage *s, WsScoreCover *cover)
{
    g_array_sort(s->touch, by_time);
    for (guint begin = 0; begin < s->touch->len;) {
        guint end = end_of_use(s, begin);
        gint64 last = 0;
        for (guint i = begin; i < end; i++)
            last = MAX(last, g_array_index(s->touch, WsRingTouch, i).end);
        ws_cover_add(cover, g_array_index(s->touch, WsRingTouch, begin).start, last);
        begin = end;
    }
}

/* The same event in another buffer's history: same round, same agent or one that stands for it. */
static const WsRingTouch *same_event(const WsBuild *b, const WsStage *s, const WsRingTouch *t)
{
    for (guint i = 0; i < s->touch->len; i++) {
        const WsRingTouch *o = &g_array_index(s->touch, WsRingTouch, i);
        if (o->write == t->write && o->r->round == t->r->round && o->r->tile == t->r->tile &&
            b->drawn_as[o->r->agent] == b->drawn_as[t->r->agent])
            return o;
    }
    return NULL;
}

/* Do both stages live through the same uses at the same times? Fills may end at different times;
 * at the ends of the window one may have an event more than the other. */
static gboolean same_history(const WsBuild *b, const WsStage *x, const WsStage *y, gint64 apart)
{
    guint alone = 0;
    for (guint i = 0; i < x->touch->len; i++) {
        const WsRingTouch *t = &g_array_index(x->touch, WsRingTouch, i), *o = same_event(b, y, t);
        if (!o)
            alone++;
        else if (ABS(t->start - o->start) > apart || (!t->write && ABS(t->end - o->end) > apart))
            return FALSE;
    }
    return alone <= 2 && alone < x->touch->len;
}

/* What is read together is full when the last of it has landed. */
static void take_later_fills(const WsBuild *b, WsStage *into, const WsStage *from)
{
    for (guint i = 0; i < into->touch->len; i++) {
        WsRingTouch *t = &g_array_index(into->touch, WsRingTouch, i);
        const WsRingTouch *o = same_event(b, from, t);
        if (o && t->write)
            t->end = MAX(t->end, o->end);
    }
}

/* Stages of one buffer element: [first, first + n) of the sorted list. */
typedef struct {
    guint first, n;
    gboolean hidden;
    GString *name;
} Ring;

static gboolean same_ring(const WsBuild *b, const GPtrArray *stages, const Ring *x, const Ring *y,
                          gint64 apart)
{
    if (x->n != y->n)
        return FALSE;
    for (guint i = 0; i < x->n; i++) {
        const WsStage *p = stages->pdata[x->first + i], *q = stages->pdata[y->first + i];
        if (!same_history(b, p, q, apart) || !same_history(b, q, p, apart))
            return FALSE;
    }
    return TRUE;
}

/* What the first window that showed both says, holds: rows do not come and go. */
static gboolean same_ring_cached(const WsBuild *b, const GPtrArray *stages, const Ring *x,
                                 const Ring *y, gint64 apart)
{
    if (!b->o->cache || x->n != y->n) /* a later window may show one more stage of one of them */
        return same_ring(b, stages, x, y, apart);
    const WsStage *p = stages->pdata[x->first], *q = stages->pdata[y->first];
    g_autofree char *key = g_strdup_printf("%u/%" G_GINT64_FORMAT " %u/%" G_GINT64_FORMAT,
                                           p->buffer, p->element, q->buffer, q->element);
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(b->cache->ring_same, key));
    if (!known) {
        if (!p->touch->len || !q->touch->len)
            return FALSE;
        known = same_ring(b, stages, x, y, apart) ? 1 : 2;
        g_hash_table_insert(b->cache->ring_same, g_steal_pointer(&key), GUINT_TO_POINTER(known));
    }
    return known == 1;
}

static void clear_ring(gpointer ring)
{
    g_string_free(((Ring *)ring)->name, TRUE);
}

static GArray *list_rings(const WsBuild *b, const GPtrArray *stages)
{
    GArray *rings = g_array_new(FALSE, FALSE, sizeof(Ring));
    g_array_set_clear_func(rings, clear_ring);
    for (guint i = 0; i < stages->len; i++) {
        const WsStage *s = stages->pdata[i], *p = i ? stages->pdata[i - 1] : NULL;
        if (p && p->buffer == s->buffer && p->element == s->element) {
            g_array_index(rings, Ring, rings->len - 1).n++;
            continue;
        }
        Ring ring = { i, 1, FALSE, g_string_new(b->p->buffer[s->buffer].name) };
        if (b->p->buffer[s->buffer].is_array)
            g_string_append_printf(ring.name, "[%" G_GINT64_FORMAT "]", s->element);
        g_array_append_val(rings, ring);
    }
    /* Rings filled and freed together (A and B of a GEMM) are shown once. */
    const WsSceneSegment *g = &g_array_index(b->s->segment, WsSceneSegment, 0);
    gint64 apart = MAX((gint64)(12.0 * (double)(g->t1 - g->t0) / MAX(g->x1 - g->x0, 1)), 8);
    for (guint i = 0; i < rings->len; i++) {
        Ring *x = &g_array_index(rings, Ring, i);
        for (guint k = i + 1; k < rings->len && !x->hidden; k++) {
            Ring *y = &g_array_index(rings, Ring, k);
            if (!y->hidden && same_ring_cached(b, stages, x, y, apart)) {
                y->hidden = TRUE;
                for (guint n = 0; n < x->n; n++)
                    take_later_fills(b, stages->pdata[x->first + n], stages->pdata[y->first + n]);
                g_string_append_printf(x->name, ", %s", y->name->str);
            }
        }
    }
    return rings;
}

static char *row_label(const WsBuffer *buffer, const WsStage *stage, const Ring *ring,
                       gboolean many)
{
    GString *s = g_string_new(NULL);
    if (many && buffer->is_array)
        g_string_append(s, strchr(ring->name->str, '['));
    if (buffer->stages > 1)
        g_string_append_printf(s, "%s%" G_GINT64_FORMAT, s->len ? " " : "", stage->stage);
    return g_string_free(s, FALSE);
}

static void add_rows(WsBuild *b, const GPtrArray *stages, const Ring *ring, gboolean many)
{
    gboolean coarse = ws_build_coarse(b), covered = TRUE;
    guint first = b->s->row->len;
    double top = b->y;
    for (guint i = 0; i < ring->n; i++) {
        WsStage *stage = stages->pdata[ring->first + i];
        const WsBuffer *buffer = &b->p->buffer[stage->buffer];
        g_autofree char *label = row_label(buffer, stage, ring, many);
        g_autofree char *name =
            g_strdup_printf(ws_build_words(b, "%s stage %d"), ring->name->str, (int)stage->stage);
        guint row = ws_build_row(b, WS_ROW_RING, SLOT_HEIGHT, *label ? label : NULL);
        b->y -= WS_ROW_GAP - 1.5;
        const WsScoreCover *cover =
            coarse ? ws_occupancy_of_stage(b, stage->buffer, stage->element, stage->stage) : NULL;
        g_autofree char *what = g_strdup_printf(ws_build_words(b, "%s: held"), name);
        if (cover)
            ws_cover_draw(b, cover, &(WsCoverRow){ row, WS_ITEM_FULL, 0, what });
        else if (!coarse)
            add_stage(b, row, stage, name);
        covered &= cover != NULL;
    }
    if (!coarse || covered || b->s->partial)
        return;
    /* The stages of a very long run are not told apart. */
    guint buffer = ((WsStage *)stages->pdata[ring->first])->buffer;
    g_autofree char *what =
        g_strdup_printf(ws_build_words(b, "%s: written or read"), b->p->buffer[buffer].name);
    ws_cover_draw(b, ws_occupancy_of_buffer(b, buffer),
                  &(WsCoverRow){ first, WS_ITEM_FULL, b->y - top, what });
}

/* One staff for rings[i], and for further elements of the same array. */
static void add_ring(WsBuild *b, const GPtrArray *stages, GArray *rings, guint i)
{
    const Ring *ring = &g_array_index(rings, Ring, i);
    const WsStage *s = stages->pdata[ring->first];
    const WsBuffer *buffer = &b->p->buffer[s->buffer];
    gboolean many = FALSE;
    for (guint k = i + 1; k < rings->len; k++) {
        const Ring *o = &g_array_index(rings, Ring, k);
        many |= !o->hidden && ((WsStage *)stages->pdata[o->first])->buffer == s->buffer;
    }
    g_autofree char *size = buffer->stage_bytes >= 1024
                                ? ws_group_digits((gint64)(buffer->stage_bytes / 1024))
                                : ws_group_digits((gint64)buffer->stage_bytes);
    const gboolean large = buffer->stage_bytes >= 1024;
    g_autofree char *bytes =
        g_strdup_printf(ws_build_words(b, large ? "%s KiB" : "%s bytes"), size);
    g_autofree char *detail = g_strdup_printf(ws_build_words(b, buffer->stages > 1 ? "%s a stage"
                                                                : many             ? "%s each"
                                                                                   : "%s"),
                                              bytes);
    WsSceneStaff *staff = ws_build_staff(b, many ? buffer->name : ring->name->str, detail);
    staff->kind = WS_ITEM_FULL;
    staff->object = g_strdup(buffer->name);
    add_rows(b, stages, ring, many);
    for (guint k = i + 1; k < rings->len; k++) {
        Ring *o = &g_array_index(rings, Ring, k);
        if (o->hidden || ((WsStage *)stages->pdata[o->first])->buffer != s->buffer)
            continue;
        b->y += 2;
        add_rows(b, stages, o, TRUE);
        o->hidden = TRUE;
    }
    b->y += WS_ROW_GAP - 1.5;
    ws_build_staff_end(b);
}

void ws_ring_gather_all(const WsBuild *b, GPtrArray *stages)
{
    gpointer args[] = { (gpointer)b, stages };
    for (guint a = 0; a < b->t->agent_name->len; a++) {
        const WsTraceLane *lane = ws_trace_lane(b->t, b->cta, a);
        for (guint64 i = lane ? lane->first : 0; lane && i < lane->first + lane->n; i++)
            gather(&g_array_index(b->t->record, WsTraceRecord, i), args);
    }
}

void ws_ring_build(WsBuild *b)
{
    if (b->t->origin == WS_TRACE_MEASURED && ws_claims_rounds(b))
        return; /* which use a record belongs to depends on the tile */
    gboolean coarse = ws_build_coarse(b);
    gboolean blank = !b->bind || coarse; /* no single uses */
    if (coarse)
        ws_occupancy_prepare(b);
    if (blank && !b->cache->stage->len)
        return;
    g_autoptr(GPtrArray) stages = g_ptr_array_new_with_free_func(ws_stage_free);
    gpointer args[] = { b, stages };
    gint64 covered = G_MININT64;
    recall_stages(b, stages);
    for (guint i = 0; i < b->s->segment->len && !blank; i++) {
        const WsSceneSegment *g = &g_array_index(b->s->segment, WsSceneSegment, i);
        /* Look back by the window's length, or to the segment before. */
        gint64 from = MAX(MAX(g->t0 - (g->t1 - g->t0), covered), 0);
        for (guint a = 0; a < b->t->agent_name->len; a++)
            ws_trace_window(b->t, ws_trace_lane(b->t, b->cta, a), from, g->t1, gather, args);
        covered = g->t1;
    }
    ws_ring_remember(b, stages);
    g_ptr_array_sort(stages, ws_stage_compare);
    for (guint i = 0; i < stages->len; i++)
        g_array_sort(((WsStage *)stages->pdata[i])->touch, by_time);
    g_autoptr(GArray) rings = list_rings(b, stages);
    guint lanes = 0;
    for (guint i = 0; i < rings->len; i++) {
        Ring *ring = &g_array_index(rings, Ring, i);
        lanes += ring->hidden ? 0 : ring->n;
        if (!ring->hidden && lanes <= MAX_LANES)
            add_ring(b, stages, rings, i);
    }
}
