#include "ui/timeline/marks/compare_marks.h"
#include "ui/timeline/marks/compare_score.h"

#include <math.h>

#define NARROW 12.0 /* pixels below which a step has no room for a glyph */

static void paint_badge(cairo_t *cr, const WsCompareMark *m, const WsPalette *p)
{
    static const struct {
        char sign;
        const char *glyph;
    } glyphs[] = { { '+', "+" }, { '-', "\xe2\x88\x92" }, { '~', "~" }, { '>', "\xe2\x86\x94" } };
    if (m->w < NARROW) { /* no room for a glyph: a pointer to it */
        const double x = m->x + m->w / 2;
        ws_paint_colour(cr, ws_compare_colour(m->sign), 1);
        cairo_move_to(cr, x, m->y + 1);
        cairo_line_to(cr, x - 4, m->y - 6);
        cairo_line_to(cr, x + 4, m->y - 6);
        cairo_fill(cr);
        return;
    }
    for (guint i = 0; i < G_N_ELEMENTS(glyphs); i++)
        if (glyphs[i].sign == m->sign) {
            ws_paint_colour(cr, ws_compare_colour(m->sign), 1);
            cairo_rectangle(cr, m->x, m->y - 3, 10, 10);
            cairo_fill(cr);
            ws_paint_colour(cr, p->page, 1);
            ws_paint_font(cr, 10, TRUE);
            ws_paint_text(cr, m->x + 1.8, m->y + 5.5, glyphs[i].glyph);
        }
}

static void paint_arrow(cairo_t *cr, const WsCompareMark *m)
{
    const double x0 = m->x + MIN(m->w / 2, 20), y0 = m->y + m->h / 2;
    const double way = hypot(m->to_x - x0, m->to_y - y0);
    if (isnan(m->to_x) || way < 12)
        return;
    const double ux = (m->to_x - x0) / way, uy = (m->to_y - y0) / way;
    ws_paint_colour(cr, ws_compare_colour('>'), 0.9);
    cairo_set_line_width(cr, 1.5);
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_move_to(cr, x0, y0);
    cairo_line_to(cr, m->to_x, m->to_y);
    cairo_stroke(cr);
    cairo_move_to(cr, m->to_x, m->to_y);
    cairo_line_to(cr, m->to_x - 7 * ux - 4 * uy, m->to_y - 7 * uy + 4 * ux);
    cairo_line_to(cr, m->to_x - 7 * ux + 4 * uy, m->to_y - 7 * uy - 4 * ux);
    cairo_close_path(cr);
    cairo_fill(cr);
}

void ws_compare_paint_mark(cairo_t *cr, const WsCompareMark *m, const WsPalette *p)
{
    static const double dash[] = { 4, 3 };
    const guint32 colour = ws_compare_colour(m->sign);
    const double thick = m->focused ? 3 : m->ghost ? 1.2 : 2;
    if (m->ghost && m->sign == '-') { /* what is gone has a body of its own */
        ws_paint_colour(cr, colour, 0.16);
        cairo_rectangle(cr, m->x, m->y, m->w, m->h);
        cairo_fill(cr);
    }
    ws_paint_colour(cr, colour, m->ghost && !m->sign ? 0.45 : 1);
    cairo_set_dash(cr, dash, m->ghost ? 2 : 0, 0);
    cairo_set_line_width(cr, m->sign ? thick : m->focused ? 2 : 1);
    cairo_rectangle(cr, m->x + 0.5, m->y + 0.5, MAX(m->w - 1, 0.5), m->h - 1);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
    if (m->ghost && m->sign == '>')
        paint_arrow(cr, m);
    if (m->sign && (!m->ghost || m->sign == '-'))
        paint_badge(cr, m, p);
}

void ws_compare_paint_edge(cairo_t *cr, const WsCompareEdge *e)
{
    static const double dash[] = { 5, 4 };
    const double bend = CLAMP(fabs(e->x1 - e->x0) / 2, 8, 60);
    ws_paint_colour(cr, ws_compare_colour(e->removed ? '-' : '+'), 0.9);
    cairo_set_dash(cr, dash, e->removed ? 2 : 0, 0);
    cairo_set_line_width(cr, 2);
    cairo_move_to(cr, e->x0, e->y0);
    cairo_curve_to(cr, e->x0 + bend, e->y0, e->x1 - bend, e->y1, e->x1, e->y1);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}
