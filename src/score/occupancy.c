/* Rings from afar: for what share of the time each stage was held, from its first write to the end
 * of its last read. Where the uses of a long run cannot all be told, how long the buffer was being
 * written or read by anybody. */
#include "program/parts/access.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "score/ring.h"

/* All uses of a CTA's stages, from every record of it; in order, since a stage is used again only
 * when it is free. */
static void cover_stages(WsBuild *b)
{
    WsScoreCache *c = b->cache;
    g_autoptr(GPtrArray) stages = g_ptr_array_new_with_free_func(ws_stage_free);
    ws_ring_gather_all(b, stages);
    g_ptr_array_sort(stages, ws_stage_compare);
    ws_ring_remember(b, stages);
    c->stage_cover = g_ptr_array_new_with_free_func(ws_cover_free);
    for (guint i = 0; i < c->stage->len; i++) {
        const WsStageKey *key = &g_array_index(c->stage, WsStageKey, i);
        WsScoreCover *cover = ws_cover_new();
        for (guint k = 0; k < stages->len; k++) {
            WsStage *s = stages->pdata[k];
            if (s->buffer == key->buffer && s->element == key->element && s->stage == key->stage)
                ws_ring_held(s, cover);
        }
        ws_cover_end(cover);
        g_ptr_array_add(c->stage_cover, cover);
    }
}

const WsScoreCover *ws_occupancy_of_stage(WsBuild *b, guint buffer, gint64 element, gint64 stage)
{
    WsScoreCache *c = b->cache;
    for (guint i = 0; c->stage_cover && i < c->stage->len && i < c->stage_cover->len; i++) {
        const WsStageKey *k = &g_array_index(c->stage, WsStageKey, i);
        if (k->buffer == buffer && k->element == element && k->stage == stage)
            return c->stage_cover->pdata[i];
    }
    return NULL;
}

typedef struct {
    const WsProgram *p;
    guint buffer;
} Asked;

static double touches(const WsTraceRecord *r, gint64 *end, gpointer data)
{
    const Asked *a = data;
    const WsOp *op = a->p->op[r->op];
    *end = ws_trace_record_end(r);
    for (guint i = 0; i < op->n_access; i++)
        if (op->access[i].buffer == a->buffer)
            return 1;
    return 0;
}

const WsScoreCover *ws_occupancy_of_buffer(WsBuild *b, guint buffer)
{
    gpointer key = GUINT_TO_POINTER(buffer + 1);
    WsScoreCover *cover = g_hash_table_lookup(b->cache->buffer_cover, key);
    Asked asked = { b->p, buffer };
    if (!cover) {
        cover = ws_cover_new();
        ws_cover_build(cover, b->t, b->cta, touches, &asked, FALSE);
        g_hash_table_insert(b->cache->buffer_cover, key, cover);
    }
    return cover;
}

void ws_occupancy_prepare(WsBuild *b)
{
    if (b->cache->stage_cover || !b->bind || !b->cache->bind_all)
        return;
    if (b->o->hasty)
        b->s->partial = TRUE;
    else
        cover_stages(b);
}
