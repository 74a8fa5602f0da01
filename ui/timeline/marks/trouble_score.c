#include "ui/timeline/marks/trouble_score.h"

#include "model/finding.h"
#include "model/findings.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/problems/wrong_steps.h"
#include "ui/timeline/timeline_private.h"

#include <math.h>

#define BADGE 11.0    /* units of the page */
#define APART 4.0     /* the same: ticks nearer to each other are one */
#define MOST  2000000 /* records of a lane that are looked at one by one */

/* Red is the colour of errors: as `ws_bad` of the style sheets. */
static guint32 colour(void)
{
    return ws_palette(ws_theme_current())->error;
}

/* What is wrong, while marks are found. */
typedef struct {
    WsTimeline *t;
    GHashTable *step; /* ids */
    gboolean *op;     /* by operation of the main trace; NULL: there is none */
} Wrong;

static void wrong_clear(Wrong *w)
{
    g_clear_pointer(&w->step, g_hash_table_unref);
    g_clear_pointer(&w->op, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Wrong, wrong_clear)

/* FALSE: nothing is. */
static gboolean wrong_find(WsTimeline *t, Wrong *w)
{
    const WsTrace *trace = t->main_trace;
    *w = (Wrong){ t, t->scene ? ws_wrong_steps(t->document) : NULL, NULL };
    if (!w->step)
        return FALSE;
    if (trace)
        w->op = g_new0(gboolean, MAX(trace->op_id->len, 1));
    for (guint i = 0; trace && i < trace->op_id->len; i++)
        w->op[i] = trace->op_id->pdata[i] && g_hash_table_contains(w->step, trace->op_id->pdata[i]);
    return TRUE;
}

static gboolean is_wrong(const Wrong *w, const WsSceneItem *item)
{
    return item->step && item->shape != WS_SHAPE_SLOT && g_hash_table_contains(w->step, item->step);
}

/* --- agents and their executions ----------------------------------------------------------------
 */

static gboolean has_wrong_step(const Wrong *w, guint agent)
{
    const WsProgram *p = ws_document_program(w->t->document);
    for (guint i = 0; p && i < p->n_ops; i++)
        if (p->op[i]->agent == (gint)agent && p->op[i]->step &&
            g_hash_table_contains(w->step, p->op[i]->step))
            return TRUE;
    return FALSE;
}

/* First record of a lane that starts at a time or later. */
static guint64 first_at(const WsTrace *t, const WsTraceLane *lane, gint64 time)
{
    guint64 lo = lane->first, hi = lane->first + lane->n;
    while (lo < hi) {
        const guint64 mid = lo + (hi - lo) / 2;
        if (g_array_index(t->record, WsTraceRecord, mid).start < time)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Calls `found` for each execution of a wrong step that an agent begins in [from, to), until it
 * returns FALSE; of very many some are passed over, evenly. */
typedef gboolean (*Found)(const WsTraceRecord *r, gpointer data);
static void visit(const Wrong *w, guint agent, gint64 from, gint64 to, Found found, gpointer data)
{
    const WsTrace *trace = w->t->main_trace;
    const WsTraceLane *lane =
        trace ? ws_trace_lane(trace, ws_timeline_cta_of(w->t, trace), agent) : NULL;
    if (!lane || from >= to)
        return;
    const guint64 begin = first_at(trace, lane, from), end = first_at(trace, lane, to);
    const guint64 by = (end - begin) / MOST + 1;
    for (guint64 i = begin; i < end; i += by) {
        const WsTraceRecord *r = &g_array_index(trace->record, WsTraceRecord, i);
        if (r->op < trace->op_id->len && w->op[r->op] && !found(r, data))
            return;
    }
}

/* --- folds --------------------------------------------------------------------------------------
 */

static gboolean note(const WsTraceRecord *r, gpointer data)
{
    *(gboolean *)data = TRUE;
    return FALSE;
}

/* The rounds of the tile that is shown at a time, without the first and the last two, which a score
 * with folds shows: from `*from` to `*to`. */
static void inner_rounds(WsTimeline *t, gint64 time, gint64 *from, gint64 *to)
{
    const GArray *rounds = ws_timeline_rounds(t, NULL);
    guint at = 0, last;
    while (rounds && at + 1 < rounds->len &&
           g_array_index(rounds, WsScoreRound, at + 1).from <= time)
        at++;
    if (!rounds || !rounds->len)
        return;
    const gint32 tile = g_array_index(rounds, WsScoreRound, at).tile;
    for (last = at;
         last + 1 < rounds->len && g_array_index(rounds, WsScoreRound, last + 1).tile == tile;)
        last++;
    while (at > 0 && g_array_index(rounds, WsScoreRound, at - 1).tile == tile)
        at--;
    *from = g_array_index(rounds, WsScoreRound, MIN(at + 2, last)).from;
    *to = g_array_index(rounds, WsScoreRound, MAX(last, at + 1) - 1).from;
}

/* What lies between the segments beside it; at an end the rounds of that tile. */
static gboolean hides(const Wrong *w, const WsSceneFold *f)
{
    const GArray *segment = w->t->scene->segment;
    const WsTrace *trace = w->t->main_trace;
    const WsSceneSegment *before = NULL, *behind = NULL;
    gint64 from = 0, to = 0;
    gboolean any = FALSE;
    for (guint i = 0; i < segment->len; i++) {
        const WsSceneSegment *g = &g_array_index(segment, WsSceneSegment, i);
        if (g->x1 <= f->x0 + 0.5)
            before = g;
        else if (!behind && g->x0 >= f->x1 - 0.5)
            behind = g;
    }
    if (before && behind) {
        from = before->t1;
        to = behind->t0;
    } else if (behind) {
        inner_rounds(w->t, behind->t0, &from, &to);
        to = behind->t0;
    } else if (before) {
        inner_rounds(w->t, before->t1, &from, &to);
        from = before->t1;
    }
    for (guint a = 0; trace && a < trace->agent_name->len && !any; a++)
        visit(w, a, from, to, note, &any);
    return any;
}

gboolean ws_trouble_on_fold(WsTimeline *t, guint fold)
{
    g_auto(Wrong) w = { 0 };
    return wrong_find(t, &w) && fold < t->scene->fold->len &&
           hides(&w, &g_array_index(t->scene->fold, WsSceneFold, fold));
}

/* --- executions without a bar -------------------------------------------------------------------
 */

typedef struct {
    const WsScene *scene;
    GArray *at;  /* double: where ticks of this staff stand */
    double last; /* of them */
} Ticks;

static gboolean add_tick(const WsTraceRecord *r, gpointer data)
{
    Ticks *k = data;
    const double x = ws_scene_x(k->scene, r->start),
                 w = ws_scene_x(k->scene, MAX(r->issued, r->start)) - x; /* on the control row */
    if (w < 2 && x >= k->last + APART && ws_scene_shows(k->scene, r->start)) {
        k->last = x;
        g_array_append_val(k->at, x);
    }
    return TRUE;
}

/* Of a staff that has merged bars; free with g_array_unref(). */
static GArray *ticks_of(const Wrong *w, guint index)
{
    const WsScene *s = w->t->scene;
    const WsSceneStaff *staff = &g_array_index(s->staff, WsSceneStaff, index);
    Ticks k = { s, g_array_new(FALSE, FALSE, sizeof(double)), -G_MAXDOUBLE };
    gboolean merged = FALSE;
    for (guint i = 0; i < s->item->len && !merged; i++) {
        const WsSceneItem *item = ws_timeline_item(w->t, i);
        merged = item->shape == WS_SHAPE_DENSE && item->row >= staff->first_row &&
                 item->row < staff->first_row + staff->n_rows;
    }
    for (guint i = 0; merged && i < staff->n_agents && i < G_N_ELEMENTS(staff->agent); i++)
        for (guint g = 0; g < s->segment->len; g++) {
            const WsSceneSegment *segment = &g_array_index(s->segment, WsSceneSegment, g);
            visit(w, staff->agent[i], segment->t0, segment->t1, add_tick, &k);
        }
    return k.at;
}

guint ws_trouble_n_ticks(WsTimeline *t)
{
    g_auto(Wrong) w = { 0 };
    const gboolean any = wrong_find(t, &w);
    guint n = 0;
    for (guint i = 0; any && i < t->scene->staff->len; i++) {
        g_autoptr(GArray) at = ticks_of(&w, i);
        n += at->len;
    }
    return n;
}

/* --- drawing ------------------------------------------------------------------------------------
 */

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

static void frame(cairo_t *cr, double x, double y, double w, double h)
{
    ws_paint_colour(cr, colour(), 1);
    cairo_set_line_width(cr, 2);
    cairo_rectangle(cr, x + 1, y + 1, MAX(w - 2, 1), h - 2);
    cairo_stroke(cr);
}

void ws_trouble_paint_sign(cairo_t *cr, double x, double y, double w, double h)
{
    frame(cr, x, y, w, h);
    cross(cr, x, y, BADGE);
}

static void mark(cairo_t *cr, const WsSceneItem *item)
{
    frame(cr, item->x, item->y, item->w, item->h);
    if (!item->measured && item->shape != WS_SHAPE_FLIGHT)
        cross(cr, item->x - (item->w < BADGE ? BADGE / 2 : 0), item->y - 3, BADGE);
}

static void paint_ticks(const Wrong *w, guint index, cairo_t *cr)
{
    const WsSceneStaff *staff = &g_array_index(w->t->scene->staff, WsSceneStaff, index);
    g_autoptr(GArray) at = ticks_of(w, index);
    ws_paint_colour(cr, colour(), 1);
    for (guint i = 0; i < at->len; i++) {
        const double x = g_array_index(at, double, i);
        cairo_move_to(cr, x - 2, staff->y);
        cairo_line_to(cr, x + 2, staff->y);
        cairo_line_to(cr, x, staff->y + 6);
        cairo_close_path(cr);
    }
    cairo_fill(cr);
}

void ws_trouble_paint(WsTimeline *t, cairo_t *cr)
{
    g_auto(Wrong) w = { 0 };
    if (t->loose || !wrong_find(t, &w))
        return;
    cairo_save(cr);
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (is_wrong(&w, item))
            mark(cr, item);
    }
    for (guint i = 0; i < t->scene->staff->len; i++)
        paint_ticks(&w, i, cr);
    for (guint i = 0; i < t->scene->fold->len; i++) {
        const WsSceneFold *f = &g_array_index(t->scene->fold, WsSceneFold, i);
        if (hides(&w, f))
            cross(cr, (f->x0 + f->x1 - BADGE) / 2, t->scene->top + 2, BADGE);
    }
    cairo_restore(cr);
}

static gboolean on_staff(const Wrong *w, const WsSceneStaff *staff)
{
    for (guint i = 0; i < staff->n_agents && i < G_N_ELEMENTS(staff->agent); i++)
        if (has_wrong_step(w, staff->agent[i]))
            return TRUE;
    return FALSE;
}

gboolean ws_trouble_on_staff(WsTimeline *t, guint staff)
{
    g_auto(Wrong) w = { 0 };
    return wrong_find(t, &w) && staff < t->scene->staff->len &&
           on_staff(&w, &g_array_index(t->scene->staff, WsSceneStaff, staff));
}

void ws_trouble_paint_staffs(WsTimeline *t, cairo_t *cr)
{
    g_auto(Wrong) w = { 0 };
    if (!wrong_find(t, &w))
        return;
    cairo_save(cr);
    for (guint i = 0; i < t->scene->staff->len; i++) {
        const WsSceneStaff *staff = &g_array_index(t->scene->staff, WsSceneStaff, i);
        if (on_staff(&w, staff))
            cross(cr, 3, staff->y + 3, BADGE);
    }
    cairo_restore(cr);
}

guint ws_trouble_n_marked(WsTimeline *t)
{
    g_auto(Wrong) w = { 0 };
    const gboolean any = wrong_find(t, &w);
    guint n = 0;
    for (guint i = 0; any && i < t->scene->item->len; i++)
        n += is_wrong(&w, ws_timeline_item(t, i));
    return n;
}

static void judged(WsDocument *d, WsTimeline *t)
{
    g_clear_pointer(&t->node[WS_LAYER_ITEMS], gsk_render_node_unref);
    g_clear_pointer(&t->node[WS_LAYER_GUTTER], gsk_render_node_unref);
    gtk_widget_queue_draw(t->canvas);
}

/* What is tried was drawn before its verdict was there. */
static void tried(WsDocument *d, WsTimeline *t)
{
    const WsFindings *findings = ws_document_findings(d);
    if (ws_document_only_judged(d) && findings &&
        ws_findings_count(findings, WS_SEVERITY_ERROR) > 0)
        judged(d, t);
}

void ws_trouble_follow(WsTimeline *t)
{
    g_signal_connect(t->document, "previewed", G_CALLBACK(tried), t);
    g_signal_connect(t->document, "changed", G_CALLBACK(judged), t);
    g_signal_connect(t->document, "edited", G_CALLBACK(judged), t);
}
