/* Where the agents of a witness are, on the score: a frame round the execution that each of them
 * comes to next, or waits at. */
#include "score/palette.h"
#include "ui/theme.h"
#include "ui/timeline_private.h"
#include "ui/witness.h"

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

/* How far an item is from being the execution of an agent: 0 it is, G_MAXINT another step. */
static gint distance(const WsSceneItem *item, guint agent, const WsAgentState *a)
{
    const char *step = a->op->step ? a->op->step : a->op->id;
    if (!item->step || item->agent != agent || item->measured || strcmp(item->step, step) != 0)
        return G_MAXINT;
    gint64 round = a->n_rounds ? a->round[a->n_rounds - 1] : 0;
    gint64 far = ABS(round - MAX(item->round, 0));
    if (a->n_rounds > 1 && item->tile != a->round[0])
        far += 1000;
    return (gint)MIN(far, G_MAXINT - 1);
}

static const WsSceneItem *item_of(WsTimeline *t, guint agent, const WsAgentState *a)
{
    const WsSceneItem *best = NULL;
    gint least = G_MAXINT;
    for (guint i = 0; i < ws_timeline_n_items(t); i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        gint far = distance(item, agent, a);
        if (far < least)
            least = far, best = item;
    }
    return best;
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
