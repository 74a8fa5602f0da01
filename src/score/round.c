/* Rounds as people count them: from the start of the tile. Records hold totals over all tiles. */
#include "score/build.h"

#include <string.h>

typedef struct {
    guint agent, loop;
    gint32 tile;
} Base;

static guint hash_base(gconstpointer p)
{
    const Base *k = p;
    return (k->agent * 31u + k->loop) * 1000003u ^ (guint)k->tile;
}

static gboolean same_base(gconstpointer pa, gconstpointer pb)
{
    const Base *a = pa, *b = pb;
    return a->agent == b->agent && a->loop == b->loop && a->tile == b->tile;
}

static void learn(WsBuild *b, const WsTraceRecord *r)
{
    Base key = { r->agent, b->loop_id[r->op], r->tile };
    gpointer found;
    if (g_hash_table_lookup_extended(b->base, &key, NULL, &found) &&
        GPOINTER_TO_INT(found) <= r->round)
        return;
    g_hash_table_replace(b->base, g_memdup2(&key, sizeof key), GINT_TO_POINTER(r->round));
}

static void learn_lane(WsBuild *b, const WsTraceLane *lane, gint32 *last)
{
    const WsTrace *t = b->t;
    for (guint i = 0; i < t->op_loop->len + 1; i++)
        last[i] = G_MININT32;
    for (guint64 k = 0; k < lane->n; k++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first + k);
        /* Rounds ascend with time: the first of a tile is its base. */
        if (last[b->loop_id[r->op]] == r->tile)
            continue;
        last[b->loop_id[r->op]] = r->tile;
        learn(b, r);
    }
}

void ws_round_init(WsBuild *b)
{
    const WsTrace *t = b->t;
    WsScoreCache *c = b->cache;
    b->loop_id = c->loop_id;
    b->base = c->base;
    if (c->base)
        return;
    g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
    b->loop_id = c->loop_id = g_new(guint, MAX(t->op_loop->len, 1));
    for (guint i = 0; i < t->op_loop->len; i++) {
        guint id = GPOINTER_TO_UINT(g_hash_table_lookup(ids, t->op_loop->pdata[i]));
        if (!id) {
            id = g_hash_table_size(ids) + 1;
            g_hash_table_insert(ids, t->op_loop->pdata[i], GUINT_TO_POINTER(id));
        }
        b->loop_id[i] = id;
    }
    b->base = c->base = g_hash_table_new_full(hash_base, same_base, g_free, NULL);
    g_autofree gint32 *last = g_new(gint32, t->op_loop->len + 1);
    for (guint i = 0; i < t->lane->len; i++) {
        const WsTraceLane *lane = &g_array_index(t->lane, WsTraceLane, i);
        if (lane->cta == b->cta)
            learn_lane(b, lane, last);
    }
}

static gint ws_round_index(const WsBuild *b, const WsTraceRecord *r)
{
    const char *path = b->t->op_loop->pdata[r->op];
    if (!*path || (r->tile >= 0 && !strchr(path, '/')))
        return -1;
    Base key = { r->agent, b->loop_id[r->op], r->tile };
    gpointer base;
    return g_hash_table_lookup_extended(b->base, &key, NULL, &base)
               ? r->round - GPOINTER_TO_INT(base)
               : r->round;
}

char *ws_round_text(const WsBuild *b, const WsTraceRecord *r)
{
    gint index = ws_round_index(b, r);
    if (index < 0)
        return g_strdup("");
    const char *path = b->t->op_loop->pdata[r->op], *slash = strrchr(path, '/');
    return g_strdup_printf("%s %d", slash ? slash + 1 : path, index);
}
