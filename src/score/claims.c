/* Launches whose CTAs claim their tiles. Where the number of rounds depends on the tile, records
 * can be counted to their rounds only if the trace holds which tiles a CTA got, and rounds of two
 * traces lie under each other only if both have the same: else that is said on the row instead of
 * drawn. */
#include "program/parts/agent.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "score/build.h"

typedef struct {
    const WsProgram *p;
    gboolean tile; /* the expression may depend on the tile */
} Look;

static void look_at(const WsExpr *e, gpointer data)
{
    Look *look = data;
    if (e->op != WS_EXPR_VAR || e->var < 0 || (guint)e->var >= look->p->n_vars)
        return;
    const WsVar *v = &look->p->var[e->var];
    static const gboolean same_for_all[] = {
        [WS_VAR_SIZE] = TRUE, [WS_VAR_SCALAR] = TRUE, [WS_VAR_RUN] = TRUE,
        [WS_VAR_CTA] = TRUE,  [WS_VAR_COL] = FALSE, /* the last one */
    };
    if (v->kind == WS_VAR_TILE && v->value) /* of what it is made of */
        ws_expr_visit(v->value, look_at, look);
    else
        look->tile |= !same_for_all[v->kind];
}

static gboolean of_tile(const WsProgram *p, const WsExpr *e)
{
    Look look = { p, FALSE };
    if (e)
        ws_expr_visit(e, look_at, &look);
    return look.tile;
}

static gboolean differs(const WsProgram *p, const WsTree *t)
{
    gboolean any = FALSE;
    if (t->kind == WS_TREE_LOOP && t->over != WS_OVER_TILES)
        any = of_tile(p, t->count);
    for (guint i = 0; i < t->n_kids && !any; i++)
        any = t->kid[i] && differs(p, t->kid[i]);
    return any;
}

static gboolean uneven(const WsProgram *p)
{
    if (p->tiles->launch != WS_LAUNCH_DYNAMIC)
        return FALSE;
    for (guint i = 0; i < p->n_agents; i++)
        if (p->agent[i].body && differs(p, p->agent[i].body))
            return TRUE;
    return FALSE;
}

gboolean ws_score_claims(const WsProgram *p, const WsTrace *t)
{
    return t->origin == WS_TRACE_MEASURED && !ws_trace_knows_claims(t) && uneven(p);
}

gboolean ws_score_claims_apart(const WsProgram *p, const WsTrace *a, guint cta_a, const WsTrace *b,
                               guint cta_b)
{
    return !ws_trace_same_claims(a, cta_a, b, cta_b) && uneven(p);
}

static const char unknown[] =
    WS_MARK("The CTAs of this launch claim their tiles, and the trace does not "
            "hold which ones a CTA got. Tiles have different numbers of rounds "
            "here, so measured rounds cannot be counted to them.");
static const char others[] =
    WS_MARK("This CTA claimed other tiles than were played. Tiles have different numbers "
            "of rounds here, so its rounds do not lie under the predicted ones.");

const char *ws_score_claims_text(void)
{
    return unknown;
}

enum { NOT_ASKED, TOLD_APART, UNKNOWN_TILES, OTHER_TILES };

static guint ask(const WsBuild *b)
{
    if (ws_score_claims(b->p, b->t) || (b->overlay && ws_score_claims(b->p, b->overlay)))
        return UNKNOWN_TILES;
    return b->overlay && ws_score_claims_apart(b->p, b->t, b->cta, b->overlay, b->overlay_cta)
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
        other ? ws_build_words(b, "other tiles than were played")
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
