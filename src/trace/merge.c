/* One measured trace from launches that take turns with the rounds of inner loops: each pays for
 * few clocks, and all together have every round. Times of one launch stay together: its rounds of a
 * tile are moved as one, by how much later the first launch came to that tile. So what lies
 * between records of two launches is where it was drawn and not measured, which readers ask
 * ws_trace_launch_of() for. */
#include "trace/trace.h"

#include <string.h>

guint ws_trace_launches(const WsTrace *t)
{
    return MAX(t->launch->len, 1);
}

/* Of an inner loop: of those alone some rounds are recorded. */
static gboolean is_inner(const WsTrace *t, guint op)
{
    return strchr(t->op_loop->pdata[op], '/') != NULL;
}

guint ws_trace_launch_of(const WsTrace *t, const WsTraceRecord *r)
{
    if (!t->launch->len || !is_inner(t, r->op) || r->round < 0)
        return 0;
    const guint phase = (guint)r->round % t->launch->len;
    for (guint i = 0; i < t->launch->len; i++)
        if (g_array_index(t->launch, WsTraceLaunch, i).phase == phase)
            return i;
    return 0;
}

/* A record that every launch has. */
typedef struct {
    guint32 op, agent, cta;
    gint32 tile, round;
} Spot;

static guint spot_hash(gconstpointer p)
{
    const Spot *s = p;
    guint h = s->op * 31u + s->agent;
    h = h * 1000003u ^ s->cta;
    h = h * 1000003u ^ (guint)s->tile;
    return h * 1000003u ^ (guint)s->round;
}

static gboolean spot_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(Spot)) == 0;
}

/* When its agent went on. */
static gint64 went_on(const WsTraceRecord *r)
{
    return MAX(r->issued, r->start);
}

static GHashTable *common_records(const WsTrace *t)
{
    GHashTable *ends = g_hash_table_new_full(spot_hash, spot_equal, g_free, g_free);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &t->record->data[i];
        const Spot spot = { r->op, r->agent, r->cta, r->tile, r->round };
        const gint64 end = went_on(r);
        if (!is_inner(t, r->op) && !g_hash_table_contains(ends, &spot))
            g_hash_table_insert(ends, g_memdup2(&spot, sizeof spot), g_memdup2(&end, sizeof end));
    }
    return ends;
}

/* A common record of a launch, and how much later it was in the first one. */
typedef struct {
    gint64 end, later;
} Anchor;

static gint compare_anchors(gconstpointer a, gconstpointer b)
{
    const gint64 x = ((const Anchor *)a)->end, y = ((const Anchor *)b)->end;
    return x < y ? -1 : x > y;
}

static GArray *anchors_of(const WsTrace *t, guint cta, GHashTable *first)
{
    GArray *anchors = g_array_new(FALSE, FALSE, sizeof(Anchor));
    const Anchor begin = { 0, 0 };
    g_array_append_val(anchors, begin);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &t->record->data[i];
        const Spot spot = { r->op, r->agent, r->cta, r->tile, r->round };
        const gint64 *end =
            r->cta == cta && !is_inner(t, r->op) ? g_hash_table_lookup(first, &spot) : NULL;
        if (end) {
            const Anchor a = { went_on(r), *end - went_on(r) };
            g_array_append_val(anchors, a);
        }
    }
    g_array_sort(anchors, compare_anchors);
    return anchors;
}

/* Where the tile's rounds begin in this launch: of the latest agent, since others run ahead of it
 * into the next tile. */
static gint64 tile_begin(const WsTrace *t, guint cta, gint32 tile)
{
    g_autofree gint64 *first = g_new(gint64, MAX(t->agent_name->len, 1));
    gint64 latest = -1;
    for (guint a = 0; a < t->agent_name->len; a++)
        first[a] = G_MAXINT64;
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &t->record->data[i];
        if (r->cta == cta && r->tile == tile && is_inner(t, r->op))
            first[r->agent] = MIN(first[r->agent], r->start);
    }
    for (guint a = 0; a < t->agent_name->len; a++)
        latest = first[a] < G_MAXINT64 ? MAX(latest, first[a]) : latest;
    return latest;
}

static gint64 later_at(const GArray *anchors, gint64 when)
{
    gint64 later = 0;
    for (guint i = 0; i < anchors->len && g_array_index(anchors, Anchor, i).end <= when; i++)
        later = g_array_index(anchors, Anchor, i).later;
    return later;
}

/* First tiles of a CTA that both launches had, G_MAXINT32: all. */
static gint32 same_tiles(const WsTrace *a, const WsTrace *b, guint cta)
{
    guint n, m;
    const WsTraceClaim *x = ws_trace_claims(a, cta, &n), *y = ws_trace_claims(b, cta, &m);
    guint same = 0;
    while (same < MIN(n, m) && x[same].tile == y[same].tile)
        same++;
    return same == n && same == m ? G_MAXINT32 : (gint32)same;
}

static gint64 moved(gint64 time, gint64 by)
{
    return time < 0 ? time : CLAMP(time + by, 0, WS_TRACE_MAX_TIME);
}

static void add_rounds(WsTrace *out, const WsTrace *part, guint cta, guint phase, gint32 tiles,
                       GHashTable *first)
{
    g_autoptr(GArray) anchors = anchors_of(part, cta, first);
    g_autoptr(GHashTable) later_of = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    for (guint i = 0; i < part->record->len; i++) {
        WsTraceRecord r = part->record->data[i];
        if (r.cta != cta || !is_inner(part, r.op) || r.round < 0 || r.tile >= tiles ||
            (guint)r.round % (guint)out->every != phase)
            continue;
        gint64 *later = g_hash_table_lookup(later_of, GINT_TO_POINTER(r.tile));
        if (!later) {
            const gint64 by = later_at(anchors, tile_begin(part, cta, r.tile));
            later = g_memdup2(&by, sizeof by);
            g_hash_table_insert(later_of, GINT_TO_POINTER(r.tile), later);
        }
        r.start = moved(r.start, *later);
        r.issued = moved(r.issued, *later);
        r.done = moved(r.done, *later);
        ws_trace_add(out, &r);
    }
}

static gboolean go_together(const GPtrArray *part, GError **error)
{
    const WsTrace *a = part->pdata[0];
    for (guint i = 1; i < part->len; i++) {
        const WsTrace *b = part->pdata[i];
        gboolean same = a->cta->len == b->cta->len && a->op_id->len == b->op_id->len &&
                        a->agent_name->len == b->agent_name->len;
        for (guint c = 0; same && c < a->cta->len; c++)
            same =
                g_array_index(a->cta, WsTraceCta, c).id == g_array_index(b->cta, WsTraceCta, c).id;
        if (same)
            continue;
        g_set_error(error, WS_TRACE_ERROR, WS_TRACE_ERROR_LAUNCHES,
                    "launch %u of %u recorded other CTAs than the first: they make no one trace",
                    i + 1, part->len);
        return FALSE;
    }
    return TRUE;
}

WsTrace *ws_trace_merge(const GPtrArray *part, const guint *phase, GError **error)
{
    if (!go_together(part, error))
        return NULL;
    WsTrace *t = part->pdata[0];
    g_autoptr(GHashTable) first = common_records(t);
    g_autofree gint32 *tiles = g_new(gint32, part->len);
    t->every = (gint32)part->len;
    for (guint i = 0; i < part->len; i++) {
        const WsTrace *one = part->pdata[i];
        tiles[i] = G_MAXINT32;
        for (guint c = 0; c < one->cta->len; c++)
            tiles[i] = MIN(tiles[i], same_tiles(t, one, c));
        const WsTraceLaunch launch = { phase[i], tiles[i] };
        g_array_append_val(t->launch, launch);
        for (guint c = 0; i > 0 && c < one->cta->len; c++)
            add_rounds(t, one, c, phase[i], tiles[i], first);
    }
    ws_trace_finish(t);
    return ws_trace_ref(t);
}
