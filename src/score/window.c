/* What part of the trace is shown, and where a time lies on the page.
 *
 * The opening window is the last two rounds of a tile, its epilogue and the first two rounds of the
 * next one: that is where pipelines are won and lost. The rounds between are alike and folded. */
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/program.h"
#include "score/build.h"
#include "trace/op_kind.h"

#include <string.h>

/* The agent and operation that set the pace: the mma with most rounds, else anything with most. */
static void find_lead(WsBuild *b)
{
    guint n_ops = b->t->op_id->len, best = 0;
    gboolean best_mma = FALSE;
    g_autofree guint *count = g_new(guint, MAX(n_ops, 1));
    for (guint a = 0; a < b->t->agent_name->len; a++) {
        const WsTraceLane *lane = ws_trace_lane(b->t, b->cta, a);
        if (!lane)
            continue;
        memset(count, 0, n_ops * sizeof *count);
        for (guint64 i = 0; i < lane->n; i++)
            count[g_array_index(b->t->record, WsTraceRecord, lane->first + i).op]++;
        for (guint op = 0; op < n_ops; op++) {
            gboolean mma = ws_op_is_product(ws_trace_op_kind(b->t, op));
            if (count[op] && (mma > best_mma || (mma == best_mma && count[op] > best))) {
                best = count[op];
                best_mma = mma;
                b->lead_agent = (gint)a;
                b->lead_op = (gint)op;
            }
        }
    }
}

void ws_window_lead(WsBuild *b)
{
    WsScoreCache *c = b->cache;
    if (!c->lead_known) {
        find_lead(b);
        c->lead_agent = b->lead_agent;
        c->lead_op = b->lead_op;
        c->lead_known = TRUE;
    }
    b->lead_agent = c->lead_agent;
    b->lead_op = c->lead_op;
}

/* Does this record count the rounds of its tile? The leading step, on any replica. */
static gboolean counts_rounds(const WsBuild *b, const WsTrace *t, const WsTraceRecord *r)
{
    return ws_trace_op_kind(t, r->op) == ws_trace_op_kind(b->t, (guint)b->lead_op) &&
           strcmp(t->op_id->pdata[r->op], b->t->op_id->pdata[b->lead_op]) == 0;
}

static gint by_from(gconstpointer pa, gconstpointer pb)
{
    const WsTileSpan *a = pa, *b = pb;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Tiles of the leading group in order of time. Replicas that share a tile count it once; replicas
 * that take turns (ping-pong) bring their own. */
static GArray *find_tiles(const WsBuild *b, const WsTrace *t)
{
    GArray *tiles = g_array_new(FALSE, TRUE, sizeof(WsTileSpan));
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL); /* tile + 2 -> agent + 1 */
    for (guint a = 0; a < b->p->n_agents; a++) {
        if (b->p->agent[a].group != b->p->agent[b->lead_agent].group)
            continue;
        const WsTraceLane *lane = ws_trace_lane(t, ws_build_cta(b, t), a);
        WsTileSpan *last = NULL;
        for (guint64 i = 0; lane && i < lane->n; i++) {
            const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first + i);
            if (!counts_rounds(b, t, r))
                continue;
            gpointer key = GINT_TO_POINTER(r->tile + 2);
            guint owner = GPOINTER_TO_UINT(g_hash_table_lookup(known, key));
            if (owner && owner != a + 1)
                continue;
            if (!owner) {
                g_hash_table_insert(known, key, GUINT_TO_POINTER(a + 1));
                WsTileSpan tile = { .tile = r->tile,
                                    .agent = a,
                                    .from = r->start,
                                    .round = { r->round, r->round, r->round, r->round } };
                g_array_append_val(tiles, tile);
                last = &g_array_index(tiles, WsTileSpan, tiles->len - 1);
            }
            if (!last || last->tile != r->tile)
                continue;
            if (last->n == 1)
                last->round[1] = r->round;
            last->round[2] = last->n ? last->round[3] : r->round;
            last->round[3] = r->round;
            last->to = r->start;
            last->n++;
        }
    }
    g_array_sort(tiles, by_from);
    return tiles;
}

const GArray *ws_window_tiles(const WsBuild *b, const WsTrace *t)
{
    GArray **tiles = &b->cache->tiles[t != b->t];
    if (!*tiles)
        *tiles = find_tiles(b, t);
    return *tiles;
}

guint64 ws_window_lower(const WsTrace *t, const WsTraceLane *lane, gint64 time)
{
    guint64 lo = lane->first, hi = lane->first + lane->n;
    while (lo < hi) {
        guint64 mid = lo + (hi - lo) / 2;
        if (g_array_index(t->record, WsTraceRecord, mid).start < time)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static gboolean has_tile(const GArray *tiles, gint32 tile, guint n)
{
    for (guint i = 0; i < tiles->len; i++) {
        const WsTileSpan *k = &g_array_index(tiles, WsTileSpan, i);
        if (k->tile == tile)
            return k->n == n;
    }
    return FALSE;
}

/* From the first start to the last issue of the leading group's records in rounds [r0, r1] of a
 * tile, all in the leading operation's loop. Replicas that take other tiles do not count. */
static gboolean span_of(const WsBuild *b, const WsTrace *t, gint32 tile, gint32 r0, gint32 r1,
                        gint64 *from, gint64 *to)
{
    const char *loop = t->op_loop->pdata[b->lead_op];
    *from = G_MAXINT64;
    *to = -1;
    for (guint a = 0; a < b->p->n_agents; a++) {
        if (b->p->agent[a].group != b->p->agent[b->lead_agent].group)
            continue;
        const WsTraceLane *lane = ws_trace_lane(t, ws_build_cta(b, t), a);
        for (guint64 i = 0; lane && i < lane->n; i++) {
            const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first + i);
            if (r->tile != tile || r->round < r0 || r->round > r1 ||
                strcmp(t->op_loop->pdata[r->op], loop) != 0)
                continue;
            *from = MIN(*from, r->start);
            *to = MAX(*to, MAX(r->issued, r->start));
        }
    }
    return *to >= 0;
}

static void add_segment(WsBuild *b, gint64 t0, gint64 t1)
{
    WsSceneSegment g = { .t0 = t0, .t1 = MAX(t1, t0 + 1) };
    g_array_append_val(b->s->segment, g);
}

/* Aligns the overlay with the main trace at a round of the leading operation. */
static void align(WsBuild *b, guint segment, gint32 tile, gint32 round)
{
    gint64 main_from, from, to;
    if (b->overlay && segment < G_N_ELEMENTS(b->shift) &&
        span_of(b, b->t, tile, round, round, &main_from, &to) &&
        span_of(b, b->overlay, tile, round, round, &from, &to))
        b->shift[segment] = main_from - from;
}

const char *ws_window_loop(const WsBuild *b)
{
    const char *loop = b->t->op_loop->pdata[b->lead_op], *slash = strrchr(loop, '/');
    return slash ? slash + 1 : *loop ? loop : ws_build_words(b, "round");
}

/* "k 2 - 125: 124 rounds of 1 024 cycles" */
static char *fold_text(const WsBuild *b, const WsTileSpan *tile)
{
    if (tile->n <= 4)
        return NULL;
    gint64 a, b0, c, to;
    g_autofree char *each = NULL;
    if (span_of(b, b->t, tile->tile, tile->round[1], tile->round[1], &a, &to) &&
        span_of(b, b->t, tile->tile, tile->round[3], tile->round[3], &b0, &to) && tile->n > 2) {
        c = (b0 - a) / (gint64)(tile->n - 2);
        each = ws_group_digits(c);
    }
    return g_strdup_printf(ws_build_words(b, "%s 2 \xe2\x80\x93 %u: %u rounds of %s cycles"),
                           ws_window_loop(b), tile->n - 3, tile->n - 4, each ? each : "?");
}

/* Last issue of the agent that had the tile: the end of its epilogue. */
static gint64 end_of_tile(const WsBuild *b, const WsTileSpan *tile)
{
    const WsTraceLane *lane = ws_trace_lane(b->t, b->cta, tile->agent);
    gint64 end = 0;
    for (guint64 i = 0; lane && i < lane->n; i++) {
        const WsTraceRecord *r = &g_array_index(b->t->record, WsTraceRecord, lane->first + i);
        if (r->tile == tile->tile)
            end = MAX(end, MAX(r->issued, r->start));
    }
    return end;
}

static void choose_opening(WsBuild *b)
{
    const GArray *tiles = ws_window_tiles(b, b->t);
    const GArray *other = b->overlay ? ws_window_tiles(b, b->overlay) : NULL;
    /* A tile in the middle, with a successor, and best one that the overlay has as well. */
    guint pick = tiles->len > 2 ? 1 : 0;
    for (guint i = pick; other && i + 1 < tiles->len; i++) {
        const WsTileSpan *k = &g_array_index(tiles, WsTileSpan, i), *n = k + 1;
        if (has_tile(other, k->tile, k->n) && has_tile(other, n->tile, n->n)) {
            pick = i;
            break;
        }
    }
    const WsTileSpan *tile = &g_array_index(tiles, WsTileSpan, pick);
    const WsTileSpan *next = pick + 1 < tiles->len ? tile + 1 : NULL;
    gint64 from, to, unused;
    gint64 end = g_array_index(b->t->cta, WsTraceCta, b->cta).cycles;
    b->tile0 = tile->tile;
    b->tile1 = next ? next->tile : tile->tile;
    if (next && tile->n > 2) {
        span_of(b, b->t, tile->tile, tile->round[2], tile->round[3], &from, &unused);
        span_of(b, b->t, next->tile, next->round[0], next->round[1], &unused, &to);
        add_segment(b, from, MAX(to, end_of_tile(b, tile)));
        align(b, 0, tile->tile, tile->round[2]);
        WsSceneSegment *g = &g_array_index(b->s->segment, WsSceneSegment, 0);
        /* The measured next tile as well, unless it is hopelessly late. */
        if (b->overlay &&
            span_of(b, b->overlay, next->tile, next->round[0], next->round[1], &unused, &to) &&
            to + b->shift[0] < g->t1 + (g->t1 - g->t0) / 2)
            g->t1 = MAX(g->t1, to + b->shift[0]);
        b->fold_note = fold_text(b, tile);
    } else if (tile->n > 8) { /* one tile: its beginning and its end */
        span_of(b, b->t, tile->tile, tile->round[0], tile->round[1], &from, &to);
        add_segment(b, 0, to);
        align(b, 0, tile->tile, tile->round[0]);
        span_of(b, b->t, tile->tile, tile->round[2], tile->round[3], &from, &unused);
        add_segment(b, from, end);
        align(b, 1, tile->tile, tile->round[2]);
        b->fold_note = fold_text(b, tile);
    } else { /* few rounds: two tiles, or all */
        to = end;
        if (next)
            span_of(b, b->t, next->tile, next->round[0], next->round[3], &unused, &to);
        from = 0;
        if (pick)
            span_of(b, b->t, tile->tile, tile->round[0], tile->round[0], &from, &unused);
        add_segment(b, from, to);
        align(b, 0, tile->tile, tile->round[0]);
    }
}

/* The tile that has the middle of a window, or the one before it. */
static const WsTileSpan *tile_at(const GArray *tiles, gint64 t)
{
    const WsTileSpan *found = NULL;
    for (guint i = 0; i < tiles->len; i++) {
        const WsTileSpan *k = &g_array_index(tiles, WsTileSpan, i);
        if (found && k->from > t)
            break;
        found = k;
    }
    return found;
}

/* Aligns the overlay as the opening window does: at the last round but one of the tile. */
static void align_tile(WsBuild *b, const WsTileSpan *tile)
{
    gpointer key = GINT_TO_POINTER(tile->tile + 2);
    gint64 *known = g_hash_table_lookup(b->cache->shift, key);
    if (!known) {
        align(b, 0, tile->tile, tile->round[2]);
        g_hash_table_insert(b->cache->shift, key, g_memdup2(&b->shift[0], sizeof(gint64)));
    } else {
        b->shift[0] = *known;
    }
}

static void choose_given(WsBuild *b, gint64 from, gint64 to)
{
    add_segment(b, from, to);
    b->tile0 = G_MAXINT32;
    b->tile1 = -1;
    for (guint i = 0; i < b->t->lane->len; i++) {
        const WsTraceLane *lane = &g_array_index(b->t->lane, WsTraceLane, i);
        if (lane->cta != b->cta || !lane->n)
            continue;
        /* Tiles ascend in a lane; the first and the last in the window will do. */
        guint64 lo = ws_window_lower(b->t, lane, from), hi = ws_window_lower(b->t, lane, to);
        guint64 end[2] = { lo > lane->first ? lo - 1 : lo, hi > lane->first ? hi - 1 : hi };
        for (guint k = 0; k < 2; k++) {
            const WsTraceRecord *r = &g_array_index(b->t->record, WsTraceRecord, end[k]);
            b->tile0 = MIN(b->tile0, r->tile);
            b->tile1 = MAX(b->tile1, r->tile);
        }
    }
    if (b->tile0 > b->tile1)
        b->tile0 = b->tile1 = 0;
    if (!b->overlay || b->lead_op < 0)
        return;
    const WsTileSpan *tile = tile_at(ws_window_tiles(b, b->t), from + (to - from) / 2);
    if (tile)
        align_tile(b, tile);
}

void ws_window_choose(WsBuild *b)
{
    ws_window_lead(b);
    if (b->o->to > b->o->from)
        choose_given(b, MAX(b->o->from, 0), MIN(b->o->to, WS_TRACE_MAX_TIME));
    else if (b->lead_op >= 0)
        choose_opening(b);
    else
        choose_given(b, 0, MAX(g_array_index(b->t->cta, WsTraceCta, b->cta).cycles, 1));
}

static void add_fold(WsBuild *b, double x0, double x1)
{
    WsSceneFold fold = { x0, x1, g_strdup(b->fold_note) };
    g_array_append_val(b->s->fold, fold);
}

/* On the axis Order: numbers of events. */
static void add_order_ticks(WsBuild *b, const WsSceneSegment *g)
{
    const WsScene *s = b->s;
    gint64 u0 = (gint64)ws_order_of(s->knot, s->n_knots, (double)g->t0);
    gint64 u1 = (gint64)ws_order_of(s->knot, s->n_knots, (double)g->t1);
    gint64 step = 1;
    while ((double)(u1 - u0) / (double)step * 60 > g->x1 - g->x0)
        step *= 10;
    for (gint64 u = (MAX(u0, 0) + step - 1) / step * step; u <= u1 && u < s->n_knots; u += step) {
        WsSceneTick tick = { ws_scene_x(s, s->knot[u]), ws_group_digits(u), s->knot[u] };
        g_array_append_val(b->s->tick, tick);
    }
}

/* Ticks 60 to 150 pixels apart at 1, 2 or 5 times a power of ten. */
static void add_ticks(WsBuild *b, const WsSceneSegment *g, gint64 later)
{
    if (b->s->knot) {
        add_order_ticks(b, g);
        return;
    }
    double per_pixel = (double)(g->t1 - g->t0) / MAX(g->x1 - g->x0, 1);
    gint64 step = 1;
    while ((double)step < 75 * per_pixel && step < G_MAXINT64 / 10) {
        gint64 m = step;
        while (m >= 10)
            m /= 10;
        step = m == 2 ? step / 2 * 5 : step * 2;
    }
    gint64 first = (g->t0 - later + step - 1) / step * step;
    for (gint64 t = first; t + later <= g->t1; t += step) {
        WsSceneTick tick = { ws_scene_x(b->s, t + later), ws_group_digits(t), t };
        g_array_append_val(b->s->tick, tick);
    }
}

static gint64 later(const WsBuild *b, guint segment)
{
    return b->o->later[MIN(segment, G_N_ELEMENTS(b->o->later) - 1)];
}

/* The segments of the score before the drag, each as much later as what is tried is there. */
static void hold(WsBuild *b)
{
    GArray *segments = b->s->segment;
    const guint n = segments->len;
    for (guint i = 0; i < n; i++) {
        WsSceneSegment *g = &g_array_index(segments, WsSceneSegment, i);
        *g = b->o->hold[i];
        g->t0 += later(b, i);
        g->t1 += later(b, i);
    }
    if (b->fold_note && n == 1) {
        const WsSceneSegment *g = &g_array_index(segments, WsSceneSegment, 0);
        add_fold(b, g->x0 - WS_FOLD_WIDTH, g->x0);
        add_fold(b, g->x1, g->x1 + WS_FOLD_WIDTH);
    }
    for (guint i = 0; i + 1 < n; i++)
        add_fold(b, g_array_index(segments, WsSceneSegment, i).x1,
                 g_array_index(segments, WsSceneSegment, i + 1).x0);
    for (guint i = 0; i < n; i++)
        add_ticks(b, &g_array_index(segments, WsSceneSegment, i), later(b, i));
}

void ws_window_map(WsBuild *b)
{
    GArray *segments = b->s->segment;
    gboolean folds_at_ends = b->fold_note && segments->len == 1;
    gint64 all = 0;
    if (b->o->to <= b->o->from && b->o->n_hold && b->o->n_hold == segments->len) {
        hold(b);
        return;
    }
    for (guint i = 0; i < segments->len; i++) {
        WsSceneSegment *g = &g_array_index(segments, WsSceneSegment, i);
        /* A little air on both sides. */
        gint64 air = b->o->bare && b->o->to > b->o->from ? 0 : (g->t1 - g->t0) / 100;
        g->t0 = MAX(g->t0 - air, 0);
        g->t1 += air;
        all += g->t1 - g->t0;
    }
    double folds = folds_at_ends ? 2 : segments->len - 1;
    double room = b->s->right - b->s->left - folds * WS_FOLD_WIDTH;
    double x = b->s->left;
    if (folds_at_ends) {
        add_fold(b, x, x + WS_FOLD_WIDTH);
        x += WS_FOLD_WIDTH;
    }
    for (guint i = 0; i < segments->len; i++) {
        WsSceneSegment *g = &g_array_index(segments, WsSceneSegment, i);
        g->x0 = x;
        x += room * (double)(g->t1 - g->t0) / (double)all;
        g->x1 = x;
        if (i + 1 < segments->len || folds_at_ends) {
            add_fold(b, x, x + WS_FOLD_WIDTH);
            x += WS_FOLD_WIDTH;
        }
    }
    for (guint i = 0; i < segments->len; i++)
        add_ticks(b, &g_array_index(segments, WsSceneSegment, i), later(b, i));
}

static void keep(const WsTraceRecord *r, gpointer data)
{
    g_array_append_val((GArray *)data, r);
}

static gint by_start(gconstpointer pa, gconstpointer pb)
{
    const WsTraceRecord *a = *(const WsTraceRecord *const *)pa;
    const WsTraceRecord *b = *(const WsTraceRecord *const *)pb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* More executions than this, and less than 1.5 pixels for each, are not worth telling apart. */
#define CROWD 700

static gboolean crowded(WsBuild *b, gboolean overlay, guint segment, guint agent,
                        const WsTraceLane *lane, gint64 from, gint64 to)
{
    if (!b->o->bare || !lane)
        return FALSE;
    const WsTrace *t = overlay ? b->overlay : b->t;
    const WsSceneSegment *g = &g_array_index(b->s->segment, WsSceneSegment, segment);
    WsDense d = { segment, agent, overlay, ws_window_lower(t, lane, from),
                  ws_window_lower(t, lane, to) };
    if (d.hi - d.lo <= CROWD || (double)(d.hi - d.lo) * 1.5 < g->x1 - g->x0)
        return FALSE;
    g_array_append_val(b->dense, d);
    return TRUE;
}

static void collect(WsBuild *b, gboolean overlay, GArray *seen)
{
    const WsTrace *t = overlay ? b->overlay : b->t;
    gint64 covered = G_MININT64;
    for (guint i = 0; i < b->s->segment->len; i++) {
        const WsSceneSegment *g = &g_array_index(b->s->segment, WsSceneSegment, i);
        gint64 shift = overlay && i < G_N_ELEMENTS(b->shift) ? b->shift[i] : 0;
        for (guint a = 0; a < t->agent_name->len; a++) {
            const WsTraceLane *lane = ws_trace_lane(t, ws_build_cta(b, t), a);
            if (crowded(b, overlay, i, a, lane, g->t0 - shift, g->t1 - shift))
                continue;
            guint before = seen->len;
            ws_trace_window(t, lane, g->t0 - shift, g->t1 - shift, keep, seen);
            /* Records that reach over a fold were seen in the segment before it. */
            guint kept = before;
            for (guint k = before; k < seen->len; k++)
                if (ws_seen(seen, k)->start > covered)
                    g_array_index(seen, const WsTraceRecord *, kept++) = ws_seen(seen, k);
            g_array_set_size(seen, kept);
        }
        covered = g->t1 - shift;
    }
    g_array_sort(seen, by_start);
}

void ws_window_collect(WsBuild *b)
{
    collect(b, FALSE, b->seen);
    if (b->overlay)
        collect(b, TRUE, b->seen_overlay);
}
