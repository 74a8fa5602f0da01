#include "ui/timeline/marks/hang_score.h"
#include "program/parts/agent.h"
#include "program/program.h"

#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/problems/witness.h"
#include "ui/timeline/marks/compare_score.h"
#include "ui/timeline/timeline_private.h"

#include <math.h>
#include <string.h>

/* The execution that an agent stood at; one that was never predicted: the last of this step before
 * it, or any step of the agent at all. */
static const WsSceneItem *item_of(WsTimeline *t, const WsProgram *p, const WsCollectedStuck *s)
{
    const WsSceneItem *before = NULL, *any = NULL;
    gint32 tile = -1, round = 0;
    if (s->op < p->n_ops)
        ws_witness_place(p->op[s->op], MIN(s->n_rounds, G_N_ELEMENTS(s->round)), s->round, &tile,
                         &round);
    for (guint i = 0; i < ws_timeline_n_items(t); i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (!item->step || item->measured || item->agent >= p->n_agents ||
            strcmp(p->agent[item->agent].name, s->agent) != 0)
            continue;
        any = !any || item->start >= any->start ? item : any;
        if (strcmp(item->step, s->step) != 0)
            continue;
        if (item->tile == tile && item->round == round)
            return item;
        if ((item->tile < tile || (item->tile == tile && item->round < round)) &&
            (!before || item->start > before->start))
            before = item;
    }
    return before ? before : any;
}

static void frame(GtkSnapshot *s, guint32 rgb, double x, double y, double w, double h)
{
    const GdkRGBA c = { (float)(rgb >> 16 & 255) / 255, (float)(rgb >> 8 & 255) / 255,
                        (float)(rgb & 255) / 255, 1 };
    const double side[4][4] = {
        { x, y, w, 3 }, { x, y + h - 3, w, 3 }, { x, y, 3, h }, { x + w - 3, y, 3, h }
    };
    for (guint i = 0; i < 4; i++)
        gtk_snapshot_append_color(s, &c,
                                  &GRAPHENE_RECT_INIT((float)side[i][0], (float)side[i][1],
                                                      (float)side[i][2], (float)side[i][3]));
}

/* On a plate below the step, in the time area. */
static void words(WsTimeline *t, GtkSnapshot *s, const char *text, double x, double y)
{
    const float k = (float)t->page_scale;
    const WsPalette *p = ws_palette(ws_theme_current());
    const guint32 rgb = ws_compare_colour('-');
    GdkRGBA plate = { (float)(rgb >> 16 & 255) / 255, (float)(rgb >> 8 & 255) / 255,
                      (float)(rgb & 255) / 255, 1 };
    GdkRGBA ink = { (float)(p->page >> 16 & 255) / 255, (float)(p->page >> 8 & 255) / 255,
                    (float)(p->page & 255) / 255, 1 };
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(t->canvas, text);
    g_autoptr(PangoAttrList) attrs = pango_attr_list_new();
    pango_attr_list_insert(attrs, pango_attr_scale_new(0.85));
    pango_layout_set_attributes(layout, attrs);
    int wide, high;
    pango_layout_get_pixel_size(layout, &wide, &high);
    const double w = wide / k + 8, h = high / k + 2, most = WS_TIMELINE_GUTTER + t->view.width;
    x = CLAMP(x, WS_TIMELINE_GUTTER, MAX(most - w, WS_TIMELINE_GUTTER));
    gtk_snapshot_append_color(s, &plate,
                              &GRAPHENE_RECT_INIT((float)x, (float)y, (float)w, (float)h));
    gtk_snapshot_save(s);
    gtk_snapshot_translate(s, &GRAPHENE_POINT_INIT((float)x + 4, (float)y + 1));
    gtk_snapshot_scale(s, 1 / k, 1 / k);
    gtk_snapshot_append_layout(s, layout, &ink);
    gtk_snapshot_restore(s);
}

static guint walk(WsTimeline *t, GtkSnapshot *s)
{
    const WsHang *hang = ws_document_hang(t->document);
    const WsProgram *p = ws_document_program(t->document);
    const double off = t->scene ? ws_timeline_offset(t) : 0, y = floor(t->view.at.y);
    const guint32 colour = ws_compare_colour('-');
    guint n = 0;
    for (guint i = 0; hang && p && t->scene && i < hang->stuck->len; i++) {
        const WsSceneItem *item = item_of(t, p, &g_array_index(hang->stuck, WsCollectedStuck, i));
        if (!item)
            continue;
        n++;
        if (!s)
            continue;
        g_autofree char *text = ws_hang_label(hang, i);
        const double x = WS_TIMELINE_GUTTER + item->x + off;
        frame(s, colour, x - 3, item->y - y - 3, MAX(item->w, 3) + 6, item->h + 6);
        words(t, s, text, x, item->y + item->h + 4 - y);
    }
    return n;
}

void ws_hang_snapshot(WsTimeline *t, GtkSnapshot *s)
{
    walk(t, s);
}

guint ws_hang_n_drawn(WsTimeline *t)
{
    return walk(t, NULL);
}

/* To the first agent's step, in the round in which it stood. */
static void hung(WsDocument *d, WsTimeline *t)
{
    const WsHang *hang = ws_document_hang(d);
    const WsProgram *p = ws_document_program(d);
    gtk_widget_queue_draw(t->canvas);
    if (!hang || !hang->stuck->len || !p)
        return;
    const WsCollectedStuck *s = &g_array_index(hang->stuck, WsCollectedStuck, 0);
    WsFocus focus = { s->step, G_MAXUINT, -1, -1 };
    for (guint i = 0; i < p->n_agents; i++)
        if (!strcmp(p->agent[i].name, s->agent))
            focus.agent = i;
    if (s->op < p->n_ops)
        ws_witness_place(p->op[s->op], MIN(s->n_rounds, G_N_ELEMENTS(s->round)), s->round,
                         &focus.tile, &focus.round);
    ws_document_select(d, &focus, WS_SELECT_REPLACE, TRUE);
}

void ws_hang_follow(WsTimeline *t)
{
    g_signal_connect(t->document, "hung", G_CALLBACK(hung), t);
}
