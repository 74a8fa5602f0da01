/* The strips under the axis: tiles, and the rounds of the leading group with what follows them. */
#include "program/program.h"
#include "score/build.h"

#include <string.h>

typedef struct {
    gint32 tile, round;
    guint index; /* of the round in its tile */
    gint64 from;
} Round;

static gint by_round_start(gconstpointer pa, gconstpointer pb)
{
    const Round *a = pa, *b = pb;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* `begin`: a time before the tile's first record of this agent. */
static void list_rounds_of(const WsBuild *b, const WsTileSpan *tile, gint64 begin, GArray *rounds)
{
    const WsTraceLane *lane = ws_trace_lane(b->t, b->cta, tile->agent);
    const char *loop = b->t->op_loop->pdata[b->lead_op];
    Round now = { .tile = tile->tile, .round = G_MININT32 };
    gboolean any = FALSE, after = FALSE;
    guint64 i = lane ? ws_window_lower(b->t, lane, begin) : 0;
    guint64 end = lane ? lane->first + lane->n : 0;
    for (; i < end; i++) {
        const WsTraceRecord *r = &g_array_index(b->t->record, WsTraceRecord, i);
        if (r->tile > tile->tile && r->start > tile->to && any)
            break; /* tiles ascend in a lane */
        if (r->tile != tile->tile)
            continue;
        if (strcmp(b->t->op_loop->pdata[r->op], loop) != 0) {
            if (any && !after) { /* after the loop: the rest of the tile */
                Round rest = { tile->tile, G_MININT32, 0, r->start };
                g_array_append_val(rounds, rest);
                after = TRUE;
            }
            continue;
        }
        if (any && r->round == now.round)
            continue;
        now.index = any ? now.index + 1 : 0;
        now.round = r->round;
        now.from = r->start;
        any = TRUE;
        g_array_append_val(rounds, now);
    }
}

/* The leading group's rounds, numbered within their tiles, in order of time. Where replicas take
 * turns, the epilogue of one gives way to the rounds of the other. Kept for the next scene: a tile
 * may have many. */
static const GArray *list_rounds(const WsBuild *b)
{
    WsScoreCache *c = b->cache;
    if (c->rounds && c->rounds0 == b->tile0 && c->rounds1 == b->tile1)
        return c->rounds;
    GArray *rounds = g_array_new(FALSE, FALSE, sizeof(Round));
    const GArray *tiles = ws_window_tiles(b, b->t);
    for (guint i = 0; i < tiles->len; i++) {
        const WsTileSpan *tile = &g_array_index(tiles, WsTileSpan, i);
        gint64 begin = 0;
        for (guint k = i; k-- > 0 && !begin;)
            if (g_array_index(tiles, WsTileSpan, k).agent == tile->agent)
                begin = g_array_index(tiles, WsTileSpan, k).to;
        if (tile->tile < b->tile0 - 1 || tile->tile > b->tile1 + 1)
            continue;
        if (b->tile1 - b->tile0 > 100) { /* no room for rounds */
            Round whole = { tile->tile, 0, 0, tile->from };
            g_array_append_val(rounds, whole);
        } else {
            list_rounds_of(b, tile, begin, rounds);
        }
    }
    g_array_sort(rounds, by_round_start);
    g_clear_pointer(&c->rounds, g_array_unref);
    c->rounds = rounds;
    c->rounds0 = b->tile0;
    c->rounds1 = b->tile1;
    return rounds;
}

static void add_band(WsBuild *b, gint64 from, gint64 to, double y, gboolean odd, char *label)
{
    WsSceneBand band = { ws_scene_x(b->s, from), ws_scene_x(b->s, to), y, 15, odd, label };
    if (band.x1 - band.x0 < 3 || ws_text_width_estimate(label, 10) > band.x1 - band.x0 - 4) {
        g_free(band.label);
        band.label = NULL;
    }
    if (band.x1 > band.x0)
        g_array_append_val(b->s->band, band);
    else
        g_free(band.label);
}

/* Two strips under the axis: tiles, and rounds with what follows the loop. */
void ws_window_bands(WsBuild *b)
{
    if (b->lead_op < 0)
        return;
    const WsSceneSegment *first = &g_array_index(b->s->segment, WsSceneSegment, 0);
    const WsSceneSegment *last =
        &g_array_index(b->s->segment, WsSceneSegment, b->s->segment->len - 1);
    const GArray *rounds = list_rounds(b);
    gboolean tiled = strchr(b->t->op_loop->pdata[b->lead_op], '/') != NULL;
    double y_tile = b->y, y_round = b->y + (tiled ? 17 : 0);
    gint64 tile_from = first->t0;
    for (guint i = 0; i < rounds->len; i++) {
        const Round *r = &g_array_index(rounds, Round, i);
        const Round *n = i + 1 < rounds->len ? r + 1 : NULL;
        gint64 to = n ? n->from : last->t1;
        gboolean tile_ends = !n || n->tile != r->tile;
        if (i == 0 || r[-1].tile != r->tile)
            tile_from = r->from;
        if (tiled && tile_ends && to > first->t0 && tile_from < last->t1)
            add_band(b, MAX(tile_from, first->t0), MIN(to, last->t1), y_tile, r->tile & 1,
                     g_strdup_printf(ws_build_words(b, "tile %d"), r->tile));
        if (to <= first->t0 || r->from >= last->t1)
            continue;
        add_band(b, MAX(r->from, first->t0), MIN(to, last->t1), y_round,
                 r->round == G_MININT32 || (r->index & 1),
                 r->round == G_MININT32 ? g_strdup(ws_build_words(b, "epilogue"))
                                        : g_strdup_printf("%s %u", ws_window_loop(b), r->index));
    }
    b->y = y_round + 15 + WS_STAFF_GAP;
}

GArray *ws_score_rounds(const WsProgram *p, WsTrace *t, guint cta, char **loop)
{
    static const WsSceneOptions none;
    GArray *list = g_array_new(FALSE, FALSE, sizeof(WsScoreRound));
    g_autoptr(WsScoreCache) cache = ws_score_cache_new();
    WsBuild b = { .p = p, .t = t, .cta = cta, .o = &none, .cache = cache };
    b.lead_agent = b.lead_op = -1;
    b.tile1 = G_MININT32;
    if (loop)
        *loop = NULL;
    if (cta >= t->cta->len || t->op_id->len != p->n_ops || t->agent_name->len != p->n_agents ||
        ws_trace_rounds_unknown(p, t))
        return list;
    ws_score_cache_for(cache, p, t, NULL, cta, 0);
    ws_window_lead(&b);
    if (b.lead_op < 0)
        return list;
    const GArray *tiles = ws_window_tiles(&b, t);
    for (guint i = 0; i < tiles->len; i++) {
        const WsTileSpan *tile = &g_array_index(tiles, WsTileSpan, i);
        b.tile0 = i ? MIN(b.tile0, tile->tile) : tile->tile;
        b.tile1 = MAX(b.tile1, tile->tile);
    }
    const GArray *rounds = list_rounds(&b);
    gboolean whole = b.tile1 - b.tile0 > 100;
    for (guint i = 0; i < rounds->len; i++) {
        const Round *r = &g_array_index(rounds, Round, i);
        WsScoreRound round = { r->tile, whole ? -1 : (gint32)r->index, r->from };
        if (r->round != G_MININT32)
            g_array_append_val(list, round);
    }
    if (loop)
        *loop = g_strdup(ws_window_loop(&b));
    return list;
}
