#include "ui/timeline/marks/trouble_score.h"

#include "model/finding.h"
#include "model/findings.h"
#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/parts/words.h"
#include "ui/timeline/timeline_private.h"

#include <math.h>

#define BADGE 11.0 /* units of the page */

/* Red is the colour of errors: as `ws_bad` of the style sheets. */
static guint32 colour(void)
{
    return ws_palette(ws_theme_current())->error;
}

static gboolean counts(const WsFinding *f)
{
    return f->severity == WS_SEVERITY_ERROR && !f->silenced;
}

static gboolean names(const WsFinding *f, const char *step)
{
    if (!g_strcmp0(f->at, step))
        return TRUE;
    for (guint i = 0; f->steps && i < f->steps->len; i++)
        if (!g_strcmp0(f->steps->pdata[i], step))
            return TRUE;
    return FALSE;
}

/* Steps that errors name; NULL: none. While a newer design is judged, those of the old verdict
 * would be lies. */
static GHashTable *wrong_steps(WsTimeline *t)
{
    WsFindings *findings = ws_document_findings(t->document);
    GHashTable *steps = NULL;
    for (guint i = 0; findings && !ws_document_pending(t->document) && i < findings->list->len;
         i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (!counts(f))
            continue;
        if (!steps)
            steps = g_hash_table_new(g_str_hash, g_str_equal);
        if (f->at)
            g_hash_table_add(steps, f->at);
        for (guint k = 0; f->steps && k < f->steps->len; k++)
            g_hash_table_add(steps, f->steps->pdata[k]);
    }
    return steps;
}

static gboolean is_wrong(GHashTable *steps, const WsSceneItem *item)
{
    return item->step && item->shape != WS_SHAPE_SLOT && g_hash_table_contains(steps, item->step);
}

static void cross(cairo_t *cr, double x, double y, double size)
{
    ws_paint_colour(cr, colour(), 1);
    cairo_rectangle(cr, x, y, size, size);
    cairo_fill(cr);
    ws_paint_colour(cr, ws_palette(ws_theme_current())->page, 1);
    cairo_set_line_width(cr, 1.6);
    cairo_move_to(cr, x + 3, y + 3);
    cairo_line_to(cr, x + size - 3, y + size - 3);
    cairo_move_to(cr, x + size - 3, y + 3);
    cairo_line_to(cr, x + 3, y + size - 3);
    cairo_stroke(cr);
}

static void mark(cairo_t *cr, const WsSceneItem *item)
{
    ws_paint_colour(cr, colour(), 1);
    cairo_set_line_width(cr, 2);
    cairo_rectangle(cr, item->x + 1, item->y + 1, MAX(item->w - 2, 1), item->h - 2);
    cairo_stroke(cr);
    if (!item->measured && item->shape != WS_SHAPE_FLIGHT)
        cross(cr, item->x - (item->w < BADGE ? BADGE / 2 : 0), item->y - 3, BADGE);
}

void ws_trouble_paint(WsTimeline *t, cairo_t *cr)
{
    g_autoptr(GHashTable) steps = t->loose ? NULL : wrong_steps(t);
    if (!steps)
        return;
    cairo_save(cr);
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (is_wrong(steps, item))
            mark(cr, item);
    }
    for (guint i = 0; i < t->scene->fold->len; i++) {
        const WsSceneFold *f = &g_array_index(t->scene->fold, WsSceneFold, i);
        cross(cr, (f->x0 + f->x1 - BADGE) / 2, t->scene->top + 2, BADGE);
    }
    cairo_restore(cr);
}

void ws_trouble_paint_staffs(WsTimeline *t, cairo_t *cr)
{
    g_autoptr(GHashTable) steps = wrong_steps(t);
    if (!steps)
        return;
    cairo_save(cr);
    for (guint i = 0; i < t->scene->staff->len; i++) {
        const WsSceneStaff *staff = &g_array_index(t->scene->staff, WsSceneStaff, i);
        gboolean wrong = FALSE;
        for (guint k = 0; k < t->scene->item->len && !wrong; k++) {
            const WsSceneItem *item = ws_timeline_item(t, k);
            wrong = is_wrong(steps, item) && item->row >= staff->first_row &&
                    item->row < staff->first_row + staff->n_rows;
        }
        if (wrong)
            cross(cr, 3, staff->y + 3, BADGE);
    }
    cairo_restore(cr);
}

guint ws_trouble_n_marked(WsTimeline *t)
{
    g_autoptr(GHashTable) steps = t->scene ? wrong_steps(t) : NULL;
    guint n = 0;
    for (guint i = 0; steps && i < t->scene->item->len; i++)
        n += is_wrong(steps, ws_timeline_item(t, i));
    return n;
}

char *ws_trouble_text(WsTimeline *t, const char *step)
{
    WsFindings *findings = ws_document_findings(t->document);
    for (guint i = 0;
         step && findings && !ws_document_pending(t->document) && i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (counts(f) && names(f, step))
            return ws_words_message(f);
    }
    return NULL;
}

static void judged(WsDocument *d, WsTimeline *t)
{
    g_clear_pointer(&t->node[WS_LAYER_ITEMS], gsk_render_node_unref);
    g_clear_pointer(&t->node[WS_LAYER_GUTTER], gsk_render_node_unref);
    gtk_widget_queue_draw(t->canvas);
}

void ws_trouble_follow(WsTimeline *t)
{
    g_signal_connect(t->document, "changed", G_CALLBACK(judged), t);
    g_signal_connect(t->document, "edited", G_CALLBACK(judged), t);
}
