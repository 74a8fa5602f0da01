/* Paints a scene with Cairo: page, staffs, time, items, edges, legend, text. */
#include "score/palette.h"

#include <math.h>

#define MANY_EDGES 400

/* Is it worth drawing? */
static gboolean seen(cairo_t *cr, double x, double y, double w, double h)
{
    double x0, y0, x1, y1;
    cairo_clip_extents(cr, &x0, &y0, &x1, &y1);
    return x <= x1 && x + w >= x0 && y <= y1 && y + h >= y0;
}

static void paint_panels(cairo_t *cr, const WsScene *s, const WsPalette *p, double x, double w)
{
    ws_paint_colour(cr, p->panel, 1);
    for (guint i = 0; i < s->staff->len; i++) {
        const WsSceneStaff *staff = &g_array_index(s->staff, WsSceneStaff, i);
        if (!seen(cr, x, staff->y, w, staff->h))
            continue;
        ws_paint_rect(cr, x, staff->y, w, staff->h, 5);
        cairo_fill(cr);
    }
}

/* `right`: where the time area begins. */
static void paint_names(cairo_t *cr, const WsScene *s, WsTheme theme, double right)
{
    const WsPalette *p = ws_palette(theme);
    for (guint i = 0; i < s->staff->len; i++) {
        const WsSceneStaff *staff = &g_array_index(s->staff, WsSceneStaff, i);
        if (!seen(cr, 0, staff->y, right, staff->h))
            continue;
        ws_paint_colour(cr, ws_palette_item(theme, staff->kind), 1);
        ws_paint_rect(cr, 10, staff->y, 4, staff->h, 2);
        cairo_fill(cr);
        ws_paint_colour(cr, p->text, 1);
        ws_paint_font(cr, 12.5, TRUE);
        double end = ws_paint_text_cut(cr, 22, staff->y + 17, right - 84, staff->name);
        ws_paint_colour(cr, p->muted, 1);
        ws_paint_font(cr, 10, FALSE);
        if (staff->detail && staff->flat)
            ws_paint_text_cut(cr, 22 + end + 8, staff->y + 17, right - 38 - end, staff->detail);
        else if (staff->detail)
            ws_paint_text_cut(cr, 22, staff->y + 31, right - (staff->n_agents ? 78 : 44),
                              staff->detail);
    }
}

static void paint_row_labels(cairo_t *cr, const WsScene *s, const WsPalette *p, double right)
{
    ws_paint_font(cr, 9, FALSE);
    ws_paint_colour(cr, p->muted, 1);
    for (guint i = 0; i < s->row->len; i++) {
        const WsSceneRow *row = &g_array_index(s->row, WsSceneRow, i);
        if (!row->label || !seen(cr, 0, row->y, right, row->h))
            continue;
        ws_paint_text(cr, right - 8 - ws_paint_width(cr, row->label), row->y + row->h / 2 + 3.2,
                      row->label);
    }
}

static void paint_grid(cairo_t *cr, const WsScene *s, const WsPalette *p, double y)
{
    cairo_set_line_width(cr, 1);
    ws_paint_colour(cr, p->grid, 1);
    for (guint i = 0; i < s->tick->len; i++) {
        double x = floor(g_array_index(s->tick, WsSceneTick, i).x) + 0.5;
        cairo_move_to(cr, x, y);
        cairo_line_to(cr, x, s->bottom);
    }
    cairo_stroke(cr);
}

static void paint_ticks(cairo_t *cr, const WsScene *s, const WsPalette *p)
{
    ws_paint_font(cr, 10, FALSE);
    ws_paint_colour(cr, p->muted, 1);
    double free_from = -G_MAXDOUBLE;
    for (guint i = 0; i < s->tick->len; i++) {
        const WsSceneTick *t = &g_array_index(s->tick, WsSceneTick, i);
        cairo_text_extents_t e;
        cairo_text_extents(cr, t->label, &e);
        double at = floor(t->x) + 0.5 - e.x_advance / 2;
        if (!s->bare)
            at = CLAMP(at, s->left, s->right - e.x_advance);
        if (at < free_from)
            continue;
        ws_paint_text(cr, at, s->axis_y - 3, t->label);
        free_from = at + e.x_advance + 8;
    }
}

static void paint_axis(cairo_t *cr, const WsScene *s, const WsPalette *p)
{
    paint_grid(cr, s, p, s->axis_y + 2);
    paint_ticks(cr, s, p);
    ws_paint_text(cr, 22, s->axis_y - 3, ws_scene_words(s, "SM cycles"));
}

static void paint_bands(cairo_t *cr, const WsScene *s, const WsPalette *p)
{
    ws_paint_font(cr, 10, FALSE);
    for (guint i = 0; i < s->band->len; i++) {
        const WsSceneBand *b = &g_array_index(s->band, WsSceneBand, i);
        ws_paint_colour(cr, b->odd ? p->band_b : p->band_a, 1);
        ws_paint_rect(cr, b->x0 + 0.75, b->y, MAX(b->x1 - b->x0 - 1.5, 0.5), b->h, 3);
        cairo_fill(cr);
        if (!b->label)
            continue;
        const double wide = ws_paint_width(cr, b->label);
        ws_paint_colour(cr, p->text, 0.9);
        if (wide < b->x1 - b->x0 - 4)
            ws_paint_text(cr, (b->x0 + b->x1 - wide) / 2, b->y + b->h / 2 + 3.6, b->label);
    }
}

/* A torn strip from top to bottom: time left out. */
static void paint_folds(cairo_t *cr, const WsScene *s, const WsPalette *p)
{
    for (guint i = 0; i < s->fold->len; i++) {
        const WsSceneFold *f = &g_array_index(s->fold, WsSceneFold, i);
        double y0 = s->axis_y + 6, y1 = s->bottom;
        double x0 = f->x0 + 3, x1 = f->x1 - 3;
        cairo_new_path(cr);
        cairo_move_to(cr, x0, y0);
        gboolean out = FALSE;
        for (double y = y0; y < y1; y += 7, out = !out)
            cairo_line_to(cr, x0 + (out ? 3 : 0), MIN(y, y1));
        cairo_line_to(cr, x0, y1);
        cairo_line_to(cr, x1, y1);
        for (double y = y1; y > y0; y -= 7, out = !out)
            cairo_line_to(cr, x1 + (out ? 3 : 0), MAX(y, y0));
        cairo_line_to(cr, x1, y0);
        cairo_close_path(cr);
        ws_paint_colour(cr, p->fold, 1);
        cairo_fill_preserve(cr);
        ws_paint_colour(cr, p->frame, 1);
        cairo_set_line_width(cr, 1);
        cairo_stroke(cr);
        if (!f->label)
            continue;
        ws_paint_font(cr, 10, FALSE);
        const double wide = ws_paint_width(cr, f->label);
        if (wide > y1 - y0 - 10)
            continue;
        /* In a window the middle of the page may be below its foot. */
        const double foot = s->bare ? s->top + 6 + wide : (y0 + y1 + wide) / 2;
        cairo_save(cr);
        cairo_translate(cr, (f->x0 + f->x1) / 2 + 4, foot);
        cairo_rotate(cr, -G_PI_2);
        ws_paint_colour(cr, p->muted, 1);
        ws_paint_text(cr, 0, 0, f->label);
        cairo_restore(cr);
    }
}

#define DOT 3.2

void ws_paint_edge(cairo_t *cr, const WsSceneEdge *e, const WsPalette *p)
{
    static const double dash[] = { 4, 3 };
    gboolean costs = e->binding;
    double width = costs ? CLAMP(0.9 + log2((double)e->exposed / 24) * 0.35, 0.9, 3.2) : 0.8;
    double alpha = costs ? 0.85 : 0.28;
    double down = e->y1 > e->y0 ? 1 : -1;
    double bend = CLAMP(fabs(e->y1 - e->y0) * 0.4, 4, 40) * down;
    if (e->origin && !e->joined) { /* it begins on another score */
        ws_paint_colour(cr, p->edge, 1);
        cairo_arc(cr, e->x0, e->y0, DOT, 0, 2 * G_PI);
        cairo_fill(cr);
    }
    ws_paint_colour(cr, e->release ? p->release : p->edge, alpha);
    cairo_set_line_width(cr, width);
    if (e->release)
        cairo_set_dash(cr, dash, 2, 0);
    double head = 3.2 + width;
    cairo_move_to(cr, e->x0, e->y0);
    cairo_curve_to(cr, e->x0, e->y0 + bend, e->x1, e->y1 - bend, e->x1, e->y1 - head * down);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_move_to(cr, e->x1, e->y1);
    cairo_line_to(cr, e->x1 - head * 0.55, e->y1 - head * 1.3 * down);
    cairo_line_to(cr, e->x1 + head * 0.55, e->y1 - head * 1.3 * down);
    cairo_close_path(cr);
    cairo_fill(cr);
}

static void paint_edges(cairo_t *cr, const WsScene *s, const WsPalette *p)
{
    /* On screen a thicket of edges that cost nothing hides those that do. */
    gboolean all = !s->bare || s->edge->len <= MANY_EDGES;
    for (guint i = s->edge->len; i-- > 0;) {
        const WsSceneEdge *e = &g_array_index(s->edge, WsSceneEdge, i);
        if (e->joined || (!all && !e->binding))
            continue;
        double x = MIN(e->x0, e->x1), y = MIN(e->y0, e->y1);
        if (seen(cr, x - 6, y - 6, fabs(e->x1 - e->x0) + 12, fabs(e->y1 - e->y0) + 12))
            ws_paint_edge(cr, e, p);
    }
}

void ws_scene_paint_joined(const WsScene *s, cairo_t *cr, WsTheme theme)
{
    for (guint i = 0; i < s->edge->len; i++) {
        const WsSceneEdge *e = &g_array_index(s->edge, WsSceneEdge, i);
        if (e->joined)
            ws_paint_edge(cr, e, ws_palette(theme));
    }
}

/* Lines where both halves go on; their numbers stand between the staffs. */
static void paint_meets(cairo_t *cr, const WsScene *s, const WsPalette *p)
{
    ws_paint_font(cr, 8, FALSE);
    for (guint i = 0; i < s->meet->len; i++) {
        const WsSceneMeet *m = &g_array_index(s->meet, WsSceneMeet, i);
        const double x = floor(m->x) + 0.5;
        if (!seen(cr, x - 12, m->y0, 24, m->y1 - m->y0))
            continue;
        ws_paint_colour(cr, p->text, 0.75);
        cairo_set_line_width(cr, 1.4);
        cairo_move_to(cr, x, m->y0);
        cairo_line_to(cr, x, m->y1);
        cairo_stroke(cr);
        if (!m->labelled)
            continue;
        g_autofree char *number = g_strdup_printf("%u", m->number);
        ws_paint_text(cr, x + 2.5, m->label_y, number);
    }
}

static void paint_edge_labels(cairo_t *cr, const WsScene *s, const WsPalette *p)
{
    ws_paint_font(cr, 9.5, FALSE);
    for (guint i = 0; i < s->edge->len; i++) {
        const WsSceneEdge *e = &g_array_index(s->edge, WsSceneEdge, i);
        if (!e->label || !seen(cr, e->label_x - 10, e->label_y - 12, 200, 20))
            continue;
        const double wide = ws_paint_width(cr, e->label);
        ws_paint_colour(cr, p->halo, 0.88);
        ws_paint_rect(cr, e->label_x - 3, e->label_y - 9.5, wide + 6, 13, 3);
        cairo_fill(cr);
        ws_paint_colour(cr, p->text, 1);
        ws_paint_text(cr, e->label_x, e->label_y, e->label);
    }
}

static WsItemShape legend_shape(WsItemKind kind)
{
    switch (kind) {
    case WS_ITEM_FILLING:
    case WS_ITEM_FULL:
    case WS_ITEM_READING:
        return WS_SHAPE_SLOT;
    case WS_ITEM_WAIT:
    case WS_ITEM_IDLE:
    case WS_ITEM_SYNC:
        return WS_SHAPE_WAIT;
    case WS_ITEM_MATH:
    case WS_ITEM_SHARED:
        return WS_SHAPE_HEAD;
    case WS_ITEM_COPY:
    case WS_ITEM_KIND_COUNT:
    case WS_ITEM_LOAD:
    case WS_ITEM_MMA:
    case WS_ITEM_OPAQUE:
    case WS_ITEM_OTHER:
    case WS_ITEM_STORE:
    default:
        return WS_SHAPE_FLIGHT;
    }
}

static void sample(cairo_t *cr, const WsPaint *paint, WsTheme theme, WsItemKind kind, double x,
                   double y, double w, double h)
{
    WsSceneItem item = { .kind = kind, .x = x, .y = y, .w = w, .h = h, .turn = -1 };
    item.shape = legend_shape(kind);
    item.head = w / 3;
    if (item.shape == WS_SHAPE_WAIT)
        item.y -= 2, item.h += 4;
    ws_paint_item(paint, &item);
    ws_paint_item_label(cr, &item, theme);
}

void ws_scene_paint_sample(cairo_t *cr, WsTheme theme, WsItemKind kind, double x, double y,
                           double w, double h)
{
    WsPaint *paint = ws_paint_begin(cr, theme, FALSE, FALSE);
    sample(cr, paint, theme, kind, x, y, w, h);
    ws_paint_end(paint);
}

void ws_scene_paint_edge_sample(cairo_t *cr, WsTheme theme, gboolean release, double x, double y,
                                double h)
{
    const WsSceneEdge edge = { .x0 = x,
                               .x1 = x,
                               .y0 = release ? y + h : y,
                               .y1 = release ? y : y + h,
                               .exposed = 200,
                               .binding = TRUE,
                               .release = release };
    ws_paint_edge(cr, &edge, ws_palette(theme));
}

void ws_scene_paint_flag_sample(cairo_t *cr, WsTheme theme, double x, double y, double h)
{
    char here[] = "";
    const WsSceneEdge edge = {
        .x0 = x, .x1 = x, .y0 = y, .y1 = y + h, .exposed = 200, .binding = TRUE, .origin = here
    };
    ws_paint_edge(cr, &edge, ws_palette(theme));
}

static gboolean has_origin(const WsScene *s)
{
    for (guint i = 0; i < s->edge->len; i++)
        if (g_array_index(s->edge, WsSceneEdge, i).origin &&
            !g_array_index(s->edge, WsSceneEdge, i).joined)
            return TRUE;
    return FALSE;
}

/* One sample of each kind that the page shows. */
static void paint_legend(cairo_t *cr, const WsScene *s, WsTheme theme)
{
    const WsPalette *p = ws_palette(theme);
    WsPaint *paint = ws_paint_begin(cr, theme, FALSE, FALSE);
    double x = 22, y = s->legend_y;
    for (guint k = 0; k < WS_ITEM_KIND_COUNT; k++) {
        if (!s->used[k] || k == WS_ITEM_OTHER)
            continue;
        sample(cr, paint, theme, (WsItemKind)k, x, y, 27, 13);
        ws_paint_font(cr, 10, FALSE);
        ws_paint_colour(cr, p->muted, 1);
        const char *text = ws_scene_words(s, ws_item_kind_text_on((WsItemKind)k, s->halves));
        ws_paint_text(cr, x + 33, y + 10, text);
        x += 33 + ws_paint_width(cr, text) + 18;
    }
    ws_paint_end(paint);
    if (s->meet->len) {
        ws_paint_colour(cr, p->text, 0.75);
        cairo_set_line_width(cr, 1.4);
        cairo_move_to(cr, floor(x) + 4.5, y - 2);
        cairo_line_to(cr, floor(x) + 4.5, y + 15);
        cairo_stroke(cr);
        ws_paint_font(cr, 10, FALSE);
        ws_paint_colour(cr, p->muted, 1);
        const char *text = ws_scene_words(s, "barrier round: both halves continue");
        ws_paint_text(cr, x + 12, y + 10, text);
        x += 30 + ws_paint_width(cr, text);
    }
    if (!s->edge->len)
        return;
    ws_scene_paint_edge_sample(cr, theme, FALSE, x + 8, y - 2, 16);
    ws_paint_font(cr, 10, FALSE);
    ws_paint_colour(cr, p->muted, 1);
    const char *ready = ws_scene_words(s, "data ready");
    ws_paint_text(cr, x + 18, y + 10, ready);
    x += 30 + ws_paint_width(cr, ready);
    ws_scene_paint_edge_sample(cr, theme, TRUE, x + 8, y - 2, 16);
    ws_paint_colour(cr, p->muted, 1);
    const char *release = ws_scene_words(s, "release, turn (thicker: longer exposed)");
    x += 18 + ws_paint_text_cut(cr, x + 18, y + 10, s->width - x - 30, release) + 18;
    if (!has_origin(s) || x > s->width - 60)
        return;
    ws_scene_paint_flag_sample(cr, theme, x + 4, y, 14);
    ws_paint_colour(cr, p->muted, 1);
    ws_paint_text_cut(cr, x + 12, y + 10, s->width - x - 24,
                      ws_scene_words(s, "flag of another device or CTA"));
}

static void paint_texts(cairo_t *cr, const WsScene *s, const WsPalette *p)
{
    static const struct {
        double size;
        gboolean bold;
    } look[] = { [WS_TEXT_TITLE] = { 18, TRUE },
                 [WS_TEXT_SUB] = { 11.5, FALSE },
                 [WS_TEXT_NOTE] = { 10.5, FALSE } };
    for (guint i = 0; i < s->text->len; i++) {
        const WsSceneText *t = &g_array_index(s->text, WsSceneText, i);
        ws_paint_font(cr, look[t->role].size, look[t->role].bold);
        ws_paint_colour(cr, t->role == WS_TEXT_TITLE ? p->text : p->muted, 1);
        ws_paint_text_cut(cr, t->x, t->y, s->width - t->x - 14, t->text);
    }
}

void ws_scene_paint(const WsScene *s, cairo_t *cr, WsTheme theme)
{
    const WsPalette *p = ws_palette(theme);
    cairo_save(cr);
    ws_paint_colour(cr, p->page, 1);
    cairo_paint(cr);
    paint_panels(cr, s, p, 10, s->width - 20);
    paint_names(cr, s, theme, s->left);
    if (s->item->len) {
        paint_axis(cr, s, p);
        paint_bands(cr, s, p);
    }
    paint_row_labels(cr, s, p, s->left);
    WsPaint *paint = ws_paint_begin(cr, theme, FALSE, FALSE);
    for (guint i = 0; i < s->item->len; i++)
        ws_paint_item(paint, &g_array_index(s->item, WsSceneItem, i));
    ws_paint_end(paint);
    paint_meets(cr, s, p);
    paint_folds(cr, s, p);
    paint_edges(cr, s, p);
    for (guint i = 0; i < s->item->len; i++)
        ws_paint_item_label(cr, &g_array_index(s->item, WsSceneItem, i), theme);
    paint_edge_labels(cr, s, p);
    if (s->item->len)
        paint_legend(cr, s, theme);
    paint_texts(cr, s, p);
    cairo_restore(cr);
}

static void paint_rest(cairo_t *cr, const WsScene *s, WsTheme theme, const guint8 *how)
{
    const WsPalette *p = ws_palette(theme);
    WsPaint *paint = ws_paint_begin(cr, theme, s->bare, s->bare && s->partial);
    for (guint i = 0; i < s->item->len; i++) {
        const WsSceneItem *item = &g_array_index(s->item, WsSceneItem, i);
        guint8 act = how ? how[i] : WS_PAINT;
        if (act == WS_PAINT_SKIP || !seen(cr, item->x, item->y, item->w, item->h))
            continue;
        ws_paint_item(paint, item);
        if (act == WS_PAINT_DIM) { /* its label as well, or its plate would shine */
            ws_paint_item_label(cr, item, theme);
            ws_paint_colour(cr, p->panel, 0.45);
            cairo_rectangle(cr, item->x, item->y, item->w, item->h);
            cairo_fill(cr);
        } else if (act == WS_PAINT_STRONG) {
            ws_paint_colour(cr, p->text, 0.9);
            cairo_set_line_width(cr, 1);
            cairo_rectangle(cr, item->x + 0.5, item->y + 0.5, MAX(item->w - 1, 0.5), item->h - 1);
            cairo_stroke(cr);
        }
    }
    ws_paint_end(paint);
    paint_meets(cr, s, p);
    paint_folds(cr, s, p);
    for (guint i = 0; i < s->item->len; i++) {
        const WsSceneItem *item = &g_array_index(s->item, WsSceneItem, i);
        if ((!how || (how[i] != WS_PAINT_SKIP && how[i] != WS_PAINT_DIM)) &&
            seen(cr, item->x, item->y, item->w, item->h))
            ws_paint_item_label(cr, item, theme);
    }
}

void ws_scene_paint_layer(const WsScene *s, cairo_t *cr, WsTheme theme, WsSceneLayer layer,
                          double width, const guint8 *how)
{
    const WsPalette *p = ws_palette(theme);
    cairo_save(cr);
    switch (layer) {
    case WS_LAYER_STAFFS:
        paint_panels(cr, s, p, 10, width - 20);
        break;
    case WS_LAYER_GRID:
        paint_grid(cr, s, p, s->top);
        break;
    case WS_LAYER_ITEMS:
        paint_rest(cr, s, theme, how);
        break;
    case WS_LAYER_EDGES:
        paint_edges(cr, s, p);
        paint_edge_labels(cr, s, p);
        break;
    case WS_LAYER_RULER:
        paint_ticks(cr, s, p);
        paint_bands(cr, s, p);
        break;
    case WS_LAYER_GUTTER:
        paint_names(cr, s, theme, width);
        paint_row_labels(cr, s, p, width);
        break;
    }
    cairo_restore(cr);
}
