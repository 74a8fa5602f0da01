/* Where the agents of a witness are, on the score: a frame round the execution that each of them
 * comes to next, or waits at. */
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/problems/witness.h"
#include "ui/timeline/timeline_private.h"

#include <math.h>
#include <string.h>

static void redraw(WsPlayer *player, WsTimeline *t)
{
    gtk_widget_queue_draw(t->canvas);
}

void ws_witness_follow(WsTimeline *t)
{
    WsPlayer *p = ws_player_of(t->document);
    g_signal_connect_object(p, "loaded", G_CALLBACK(redraw), t, 0);
    g_signal_connect_object(p, "moved", G_CALLBACK(redraw), t, 0);
}

/* Rounds of an operation as traces count them: the tile, and the innermost loop's round. */
void ws_witness_place(const WsOp *op, guint n_rounds, const gint64 *round, gint32 *tile,
                      gint32 *inner)
{
    guint depth = 0, at;
    *tile = -1;
    *inner = n_rounds ? (gint32)round[n_rounds - 1] : 0;
    for (const WsTree *t = op->tree; t; t = t->parent)
        depth += t->kind == WS_TREE_LOOP;
    at = depth;
    for (const WsTree *t = op->tree; t; t = t->parent) {
        if (t->kind != WS_TREE_LOOP)
            continue;
        at--;
        if (t->over == WS_OVER_TILES && at < n_rounds)
            *tile = (gint32)round[at];
    }
}

/* The execution of an agent that the score shows; what an agent waits at for ever was never
 * executed: then the last one of this step before it. */
static const WsSceneItem *item_of(WsTimeline *t, guint agent, const WsAgentState *a)
{
    const char *step = a->op->step ? a->op->step : a->op->id;
    const WsSceneItem *before = NULL;
    gint32 tile, round;
    ws_witness_place(a->op, a->n_rounds, a->round, &tile, &round);
    for (guint i = 0; i < ws_timeline_n_items(t); i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (!item->step || item->agent != agent || item->measured || item->tile != tile ||
            strcmp(item->step, step) != 0)
            continue;
        if (item->round == round)
            return item;
        if (item->round < round && (!before || item->round > before->round))
            before = item;
    }
    return a->mode == WS_AGENT_WAITING ? before : NULL;
}

static void rgba(guint32 c, GdkRGBA *out)
{
    *out = (GdkRGBA){ (float)(c >> 16 & 255) / 255, (float)(c >> 8 & 255) / 255,
                      (float)(c & 255) / 255, 1 };
}

static void fill(GtkSnapshot *s, const GdkRGBA *c, double x, double y, double w, double h)
{
    gtk_snapshot_append_color(s, c, &GRAPHENE_RECT_INIT((float)x, (float)y, (float)w, (float)h));
}

static void frame(GtkSnapshot *s, const GdkRGBA *c, double x, double y, double w, double h,
                  double thick)
{
    fill(s, c, x, y, w, thick);
    fill(s, c, x, y + h - thick, w, thick);
    fill(s, c, x, y, thick, h);
    fill(s, c, x + w - thick, y, thick, h);
}

void ws_witness_snapshot(WsTimeline *t, GtkSnapshot *s)
{
    WsPlayer *p = ws_player_of(t->document);
    const WsWitness *w = ws_player_witness(p);
    WsProgram *program = ws_document_program(t->document);
    guint at = ws_player_position(p);
    if (!w || !t->scene || w->program != program || at == 0)
        return;
    const WsPalette *palette = ws_palette(ws_theme_current());
    double off = ws_timeline_offset(t), y = floor(t->view.at.y);
    for (guint i = 0; i < MIN(w->n_agents, program->n_agents); i++) {
        const WsAgentState *a = ws_witness_agent(w, at, i);
        const WsSceneItem *item = a->op ? item_of(t, i, a) : NULL;
        GdkRGBA colour;
        if (!item)
            continue;
        gboolean last = w->move[at - 1].kind != WS_MOVE_LAND && w->move[at - 1].agent == i;
        rgba(a->mode == WS_AGENT_WAITING ? ws_palette_item(ws_theme_current(), WS_ITEM_WAIT)
                                         : palette->text,
             &colour);
        frame(s, &colour, WS_TIMELINE_GUTTER + item->x + off - 3, item->y - y - 3,
              MAX(item->w, 3) + 6, item->h + 6, last ? 3 : 2);
    }
}
