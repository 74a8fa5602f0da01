#include "ui/timeline/timeline_waves.h"
#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/parts/format.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>
#include <math.h>

#define PAD    3.0
#define ROWS   140.0 /* height that rows share */
#define LEAST  1.0   /* height of a row */
#define MOST   9.0
#define LEGEND 46.0 /* height of the words in the gutter */

static double row_height(const WsWaves *w)
{
    return CLAMP(ROWS / MAX(w->row->len, 1), LEAST, MOST);
}

double ws_timeline_waves_height(const WsWaves *w)
{
    return MAX(row_height(w) * w->row->len, LEGEND) + 2 * PAD;
}

double ws_timeline_waves_least(void)
{
    return LEGEND + 2 * PAD;
}

/* Where there is little room all of them share it, less than a unit for each. */
static double row_in(const WsWaves *w, double height)
{
    return MIN(row_height(w), MAX(height - 2 * PAD, 1) / MAX(w->row->len, 1));
}

static double x_of(const WsWaves *w, double width, gint64 ns)
{
    const double room = MAX(width - WS_TIMELINE_GUTTER - WS_TIMELINE_RIGHT, 1);
    return WS_TIMELINE_GUTTER + room * (double)ns / (double)MAX(w->end, 1);
}

static char *us(double ns)
{
    return g_strdup_printf(_("%.1f µs"), ns * 1e-3);
}

static void paint_words(const WsWaves *w, cairo_t *cr)
{
    g_autofree char *ran = ws_format_share(w->ran), *tail = us(w->tail), *all = us((double)w->end);
    g_autofree char *busy = g_strdup_printf(_("%s, ran %s"), all, ran);
    g_autofree char *late = g_strdup_printf(_("tail %s on average"), tail);
    ws_paint_colour(cr, ws_palette(ws_theme_current())->muted, 1);
    ws_timeline_words(cr, 22, PAD + 12, 10, _("tiles by SM"));
    ws_timeline_words(cr, 22, PAD + 26, 10, busy);
    ws_timeline_words(cr, 22, PAD + 40, 10, late);
}

/* Tiles of a sequence by turns lighter and darker, so that waves are seen as steps. */
static void paint_row(const WsWaves *w, const WsWaveRow *row, cairo_t *cr, double width, double y,
                      double h, guint cta)
{
    const WsTheme theme = ws_theme_current();
    gboolean chosen = FALSE;
    ws_paint_colour(cr, ws_palette(theme)->panel, 1);
    cairo_rectangle(cr, x_of(w, width, row->begin), y,
                    x_of(w, width, row->end) - x_of(w, width, row->begin), h);
    cairo_fill(cr);
    for (guint i = 0; i < row->n; i++) {
        const WsWaveSpan *s = &g_array_index(w->span, WsWaveSpan, row->first + i);
        const double from = x_of(w, width, s->from), to = x_of(w, width, s->to);
        chosen |= s->cta == cta;
        ws_paint_colour(cr, ws_palette_item(theme, WS_ITEM_MMA), (s->tile & 1) ? 0.85 : 0.5);
        cairo_rectangle(cr, from, y, MAX(to - from, 0.5), h);
        cairo_fill(cr);
    }
    if (!chosen)
        return;
    ws_paint_colour(cr, ws_palette(theme)->text, 1);
    cairo_rectangle(cr, WS_TIMELINE_GUTTER - 5, y, 3, MAX(h, 2));
    cairo_fill(cr);
}

void ws_timeline_waves_paint(const WsWaves *w, cairo_t *cr, double width, double height, guint cta)
{
    const double each = row_in(w, height), gap = each > 3 ? 1 : 0;
    paint_words(w, cr);
    for (guint i = 0; i < w->row->len; i++)
        paint_row(w, &g_array_index(w->row, WsWaveRow, i), cr, width, PAD + i * each, each - gap,
                  cta);
}

const WsWaveRow *ws_timeline_waves_at(const WsWaves *w, double width, double height, double x,
                                      double y, const WsWaveSpan **span)
{
    const double at = floor((y - PAD) / row_in(w, height));
    *span = NULL;
    if (x < WS_TIMELINE_GUTTER || at < 0 || at >= w->row->len)
        return NULL;
    const WsWaveRow *row = &g_array_index(w->row, WsWaveRow, (guint)at);
    for (guint i = 0; i < row->n; i++) {
        const WsWaveSpan *s = &g_array_index(w->span, WsWaveSpan, row->first + i);
        if (x >= x_of(w, width, s->from) && x < x_of(w, width, s->to))
            *span = s;
    }
    return row;
}

char *ws_timeline_waves_tip(const WsWaves *w, const WsWaveRow *row, const WsWaveSpan *span,
                            guint id)
{
    g_autofree char *from = us((double)(span ? span->from : row->begin)),
                    *to = us((double)(span ? span->to : row->end));
    g_autofree char *sm =
        row->sm == G_MAXUINT32 ? g_strdup(_("SM not known")) : g_strdup_printf(_("SM %u"), row->sm);
    g_autofree char *idle = us((double)(w->end - row->end));
    if (span && span->tile >= 0)
        return g_strdup_printf(_("%s, CTA %u, tile %d: from %s to %s"), sm, id, span->tile, from,
                               to);
    if (span)
        return g_strdup_printf(_("%s, CTA %u: from %s to %s"), sm, id, from, to);
    return g_strdup_printf(_("%s: from %s to %s, then nothing for %s"), sm, from, to, idle);
}
