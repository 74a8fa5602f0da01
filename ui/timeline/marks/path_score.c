#include "ui/timeline/marks/path_score.h"
#include "program/program.h"

#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/document/document_idle.h"
#include "ui/document/document_next.h"
#include "ui/timeline/timeline_gap.h"
#include "ui/timeline/timeline_private.h"

#include <math.h>

/* Where the pieces of the path lie in the scene that is drawn. */
typedef struct {
    WsTimeline *t;
    const WsScene *s;
    gboolean overlay;  /* the path is that of the measured run, drawn under the predicted one */
    GHashTable *drawn; /* (agent, op, round) -> item */
    guint *line;       /* by agent: row; G_MAXUINT none */
    guint n_agents;
    guint cta; /* that is shown, index into the CTAs of the trace of the path */
} Finder;

typedef struct {
    guint agent, op;
    gint32 tile, round;
    gboolean flight;
} Key;

static guint hash_key(gconstpointer p)
{
    const Key *k = p;
    return (k->op * 31u + k->agent) * 65599u ^ (guint)k->round * 2654435761u ^
           (guint)k->tile * 97u ^ (guint)k->flight;
}

static gboolean same_key(gconstpointer pa, gconstpointer pb)
{
    const Key *a = pa, *b = pb;
    return a->agent == b->agent && a->op == b->op && a->tile == b->tile && a->round == b->round &&
           a->flight == b->flight;
}

static void index_items(Finder *f)
{
    for (guint i = 0; i < f->s->item->len; i++) {
        const WsSceneItem *item = &g_array_index(f->s->item, WsSceneItem, i);
        if (item->measured != f->overlay || item->op == G_MAXUINT)
            continue;
        const Key key = { item->agent, item->op, item->tile, item->round,
                          item->shape == WS_SHAPE_FLIGHT };
        g_hash_table_insert(f->drawn, g_memdup2(&key, sizeof key), (gpointer)item);
    }
}

/* The agents' own lines: of the run that the path belongs to. */
static void index_lines(Finder *f)
{
    const WsRowKind wanted = f->overlay ? WS_ROW_MEASURED : WS_ROW_CONTROL;
    for (guint i = 0; i < f->n_agents; i++)
        f->line[i] = G_MAXUINT;
    for (guint i = 0; i < f->s->staff->len; i++) {
        const WsSceneStaff *staff = &g_array_index(f->s->staff, WsSceneStaff, i);
        guint row = G_MAXUINT;
        for (guint r = staff->first_row + staff->n_rows; r-- > staff->first_row;)
            if (g_array_index(f->s->row, WsSceneRow, r).kind == wanted)
                row = r;
        for (guint k = 0; k < staff->n_agents; k++)
            if (staff->agent[k] < f->n_agents)
                f->line[staff->agent[k]] = row;
    }
}

/* FALSE: not in the scene. */
static gboolean place(const Finder *f, const WsNextPiece *p, double *x0, double *x1, double *y)
{
    if (p->cta != f->cta)
        return FALSE;
    const Key key = { p->agent, p->op, p->tile, p->round, p->reason == WS_NEXT_FLIGHT };
    const WsSceneItem *item = g_hash_table_lookup(f->drawn, &key);
    gint64 shift = f->overlay ? f->s->shift : 0;
    if (item && f->overlay)
        shift = (gint64)ws_scene_time(f->s, item->x) - item->start;
    const gint64 from = p->from + shift, to = p->to + shift;
    if (!ws_scene_shows(f->s, from) && !ws_scene_shows(f->s, to))
        return FALSE;
    *x0 = ws_scene_x(f->s, from);
    *x1 = ws_scene_x(f->s, to);
    if (item) {
        *y = item->y + item->h - 1.5; /* under the words */
        return TRUE;
    }
    if (p->agent >= f->n_agents || f->line[p->agent] == G_MAXUINT)
        return FALSE;
    const WsSceneRow *row = &g_array_index(f->s->row, WsSceneRow, f->line[p->agent]);
    *y = row->y + row->h - 1.5;
    return TRUE;
}

static gboolean finder_init(Finder *f, WsTimeline *t, gboolean measured)
{
    WsProgram *program = ws_document_program(t->document);
    if (!program || !t->scene)
        return FALSE;
    *f = (Finder){ .t = t, .s = t->scene, .n_agents = program->n_agents };
    f->overlay = measured && t->scene->measured && t->scene->predicted;
    f->cta = ws_timeline_cta_of(t, measured ? ws_document_measured(t->document)
                                            : ws_document_predicted(t->document));
    f->drawn = g_hash_table_new_full(hash_key, same_key, g_free, NULL);
    f->line = g_new(guint, MAX(f->n_agents, 1));
    index_items(f);
    index_lines(f);
    return TRUE;
}

static void finder_clear(Finder *f)
{
    g_hash_table_destroy(f->drawn);
    g_free(f->line);
}

static void stroke(cairo_t *cr, guint32 colour, double alpha, double width)
{
    ws_paint_colour(cr, colour, alpha);
    cairo_set_line_width(cr, width);
    cairo_stroke_preserve(cr);
}

/* Waits are thin and broken: nothing runs there. */
static void paint_piece(cairo_t *cr, const WsNextPiece *p, double x0, double x1, double y)
{
    static const double dash[] = { 3, 2 };
    const WsPalette *palette = ws_palette(ws_theme_current());
    const guint32 ink = palette->path;
    const gboolean waits = p->reason == WS_NEXT_WAIT;
    cairo_move_to(cr, x0, y);
    cairo_line_to(cr, MAX(x1, x0 + 1), y);
    cairo_set_dash(cr, dash, 0, 0);
    stroke(cr, palette->page, 0.9, waits ? 4 : 6.5);
    cairo_set_dash(cr, dash, waits ? 2 : 0, 0);
    stroke(cr, ink, 1, waits ? 2 : 4);
    cairo_new_path(cr);
    cairo_set_dash(cr, dash, 0, 0);
}

static void paint_turn(cairo_t *cr, double x, double y0, double y1)
{
    const guint32 ink = ws_palette(ws_theme_current())->path;
    cairo_move_to(cr, x, y0);
    cairo_line_to(cr, x, y1);
    stroke(cr, ws_palette(ws_theme_current())->page, 0.8, 3.5);
    stroke(cr, ink, 1, 1.6);
    cairo_new_path(cr);
}

/* Pieces in order of time, of one of the two traces. */
typedef struct {
    const WsNextPiece *piece;
    guint n;
    gboolean measured;
} Chain;

/* Index of the first piece that ends at or after a time. */
static guint first_piece(const Chain *path, gint64 time)
{
    guint lo = 0, hi = path->n;
    while (lo < hi) {
        const guint mid = (lo + hi) / 2;
        if (path->piece[mid].to < time)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static guint walk(WsTimeline *t, cairo_t *cr, const Chain *path)
{
    Finder f;
    guint n = 0;
    if (!path->n || !finder_init(&f, t, path->measured))
        return 0;
    for (guint g = 0; g < t->scene->segment->len; g++) {
        const WsSceneSegment *s = &g_array_index(t->scene->segment, WsSceneSegment, g);
        const gint64 shift = f.overlay ? s->shift : 0;
        const gint64 air = (s->t1 - s->t0) / 4; /* segments have shifts of their own */
        double last_x = NAN, last_y = NAN;
        for (guint i = first_piece(path, s->t0 - shift - air); i < path->n; i++) {
            const WsNextPiece *p = &path->piece[i];
            double x0, x1, y;
            if (p->from > s->t1 - shift + air)
                break;
            if (!place(&f, p, &x0, &x1, &y) || x1 < s->x0 || x0 > s->x1) {
                last_x = NAN;
                continue;
            }
            n++;
            if (!cr)
                continue;
            if (!isnan(last_x) && fabs(last_y - y) > 1)
                paint_turn(cr, x0, last_y, y);
            paint_piece(cr, p, x0, x1, y);
            last_x = x1;
            last_y = y;
        }
    }
    finder_clear(&f);
    return n;
}

/* The critical path, if it is shown. */
static Chain path_of(WsTimeline *t)
{
    const WsNext *next = ws_document_path_shown(t->document) ? ws_document_next(t->document) : NULL;
    Chain c = { .measured = ws_document_measured(t->document) != NULL };
    if (next) {
        c.piece = (const WsNextPiece *)(gpointer)next->path->data;
        c.n = next->path->len;
    }
    return c;
}

/* The chain of the gap that is looked at. */
static Chain gap_of(WsTimeline *t)
{
    WsGapRef ref;
    const WsIdleCta *c = NULL;
    Chain chain = { 0 };
    const WsIdleGap *gap =
        ws_document_gap(t->document, &ref) ? ws_document_gap_of(t->document, &ref, &c) : NULL;
    const WsTrace *trace = gap && ref.measured ? ws_document_measured(t->document)
                                               : ws_document_predicted(t->document);
    if (!gap || ws_timeline_cta_of(t, trace) != ref.cta)
        return chain;
    chain.piece = &g_array_index(c->piece, WsNextPiece, gap->first_piece);
    chain.n = gap->pieces;
    chain.measured = ref.measured;
    return chain;
}

/* From top to bottom of the score: when the unit stood idle. */
static void paint_gap(WsTimeline *t, cairo_t *cr)
{
    WsGapRef ref;
    double from, to;
    if (!ws_document_gap(t->document, &ref) || !ws_gap_span(t, &ref, &from, &to))
        return;
    const WsPalette *p = ws_palette(ws_theme_current());
    const double off = ws_timeline_offset(t), top = t->scene->top, h = t->scene->bottom - top;
    ws_paint_colour(cr, p->text, 0.07);
    cairo_rectangle(cr, from - off, top, MAX(to - from, 1), h);
    cairo_fill(cr);
    ws_paint_colour(cr, p->text, 0.55);
    cairo_rectangle(cr, floor(from - off), top, 1, h);
    cairo_rectangle(cr, floor(to - off), top, 1, h);
    cairo_fill(cr);
}

void ws_path_paint(WsTimeline *t, cairo_t *cr)
{
    if (t->loose)
        return;
    const Chain path = path_of(t), gap = gap_of(t);
    cairo_save(cr);
    walk(t, cr, &path);
    paint_gap(t, cr);
    walk(t, cr, &gap);
    cairo_restore(cr);
}

guint ws_path_n_drawn(WsTimeline *t)
{
    const Chain path = path_of(t);
    return t->scene ? walk(t, NULL, &path) : 0;
}

static void advised(WsDocument *d, WsTimeline *t)
{
    g_clear_pointer(&t->node[WS_LAYER_ITEMS], gsk_render_node_unref);
    gtk_widget_queue_draw(t->canvas);
}

void ws_path_follow(WsTimeline *t)
{
    g_signal_connect(t->document, "advised", G_CALLBACK(advised), t);
    g_signal_connect(t->document, "idle", G_CALLBACK(advised), t);
}
