/* Launches whose CTAs claim their tiles. Where the number of rounds depends on the tile, records
 * can be counted to their rounds only if the trace holds which tiles a CTA got, and rounds of two
 * traces lie under each other only if both have the same: else that is said on the row instead of
 * drawn. */
#include "score/build.h"

static const char unknown[] =
    WS_MARK("The CTAs of this launch claim their tiles, and the trace does not "
            "hold which ones a CTA got. Tiles have different numbers of rounds "
            "here, so measured rounds cannot be counted to them.");
static const char others[] =
    WS_MARK("This CTA claimed other tiles than were simulated. Tiles have different numbers "
            "of rounds here, so its rounds do not lie under the predicted ones.");

static const char sampled[] =
    WS_MARK("Of the rounds of inner loops only some or none were recorded (--every, --rounds 0). "
            "What their agents did "
            "in between is not known: no use or gap of a unit, no overlap and no cause is shown.");

static const char merged[] =
    WS_MARK("This trace is merged from several launches, which took turns with the rounds of inner "
            "loops. What lies between two rounds was not measured: no use or gap of a unit, no "
            "overlap and no cause is shown.");

const char *ws_score_claims_text(void)
{
    return unknown;
}

const char *ws_score_between_text(const WsProgram *p, const WsTrace *t)
{
    return t->launch->len                   ? merged
           : t->every > 1                   ? sampled
           : ws_trace_between_unknown(p, t) ? unknown
                                            : NULL;
}

enum { NOT_ASKED, TOLD_APART, UNKNOWN_TILES, OTHER_TILES };

static guint ask(const WsBuild *b)
{
    if (ws_trace_rounds_unknown(b->p, b->t) ||
        (b->overlay && ws_trace_rounds_unknown(b->p, b->overlay)))
        return UNKNOWN_TILES;
    return b->overlay && ws_trace_rounds_apart(b->p, b->t, b->cta, b->overlay, b->overlay_cta)
               ? OTHER_TILES
               : TOLD_APART;
}

gboolean ws_claims_rounds(const WsBuild *b)
{
    if (b->cache->claims == NOT_ASKED)
        b->cache->claims = ask(b);
    return b->cache->claims != TOLD_APART;
}

static const char *reason(const WsBuild *b)
{
    return ws_build_words(b, b->cache->claims == OTHER_TILES ? others : unknown);
}

#define NOTE_HEIGHT 14.0
#define NOTE_WIDTH  560.0 /* repeated: a scene reaches beyond the window on either side */

static void add_note(WsBuild *b, guint row, double x, double w)
{
    const gboolean other = b->cache->claims == OTHER_TILES;
    const char *candidate[] = {
        other ? ws_build_words(b, "other tiles than were simulated")
              : ws_build_words(b, "not separable: this launch claims tiles"),
        other ? ws_build_words(b, "other tiles") : ws_build_words(b, "not separable"), NULL
    };
    WsSceneItem *item = ws_build_item(b, WS_ITEM_OTHER, WS_SHAPE_NOTE, row);
    item->x = x;
    item->w = w;
    item->op = G_MAXUINT;
    item->start = (gint64)ws_scene_time(b->s, x);
    item->issued = item->done = (gint64)ws_scene_time(b->s, x + w);
    item->measured = TRUE;
    item->label = ws_build_fit(w - 8, 9.5, candidate);
    item->tip = g_strdup(reason(b));
}

void ws_claims_note(WsBuild *b)
{
    const guint row = ws_build_row(b, WS_ROW_MEASURED, NOTE_HEIGHT, ws_build_words(b, "measured"));
    for (guint i = 0; i < b->s->segment->len; i++) {
        const WsSceneSegment *g = &g_array_index(b->s->segment, WsSceneSegment, i);
        const guint n = MAX((guint)((g->x1 - g->x0) / NOTE_WIDTH), 1);
        const double wide = (g->x1 - g->x0) / n;
        for (guint k = 0; k < n; k++)
            add_note(b, row, g->x0 + k * wide, wide);
    }
}
