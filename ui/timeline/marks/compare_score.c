#include "ui/timeline/marks/compare_score.h"

#include "edit/compare.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "ui/timeline/marks/compare_marks.h"

#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/parts/words.h"
#include "ui/timeline/timeline_private.h"

#include <math.h>
#include <string.h>

#define APART 3.0 /* pixels from which on a step is seen to have moved in time */

struct WsCompareScore {
    guint64 of;           /* number of the comparison; 0 none */
    const WsScene *scene; /* what the marks belong to */
    gint row;
    WsScoreCache *cache; /* of A's scenes */
    GArray *round[2];    /* WsScoreRound of A and of B */
    GArray *mark;        /* WsCompareMark */
    GArray *edge;        /* WsCompareEdge */
};

/* While marks are being found. */
typedef struct {
    WsTimeline *t;
    WsCompareScore *s;
    const WsComparison *c;
    const WsProgram *b;
    WsScene *a;        /* scene of A */
    guint *agent_b;    /* of A's agents; G_MAXUINT none */
    guint *row_b;      /* of A's rows; G_MAXUINT none */
    GHashTable *drawn; /* key of an execution -> item of B */
    const char *focus_a, *focus_b;
} Find;

void ws_compare_score_free(WsCompareScore *s)
{
    if (!s)
        return;
    g_clear_pointer(&s->cache, ws_score_cache_free);
    g_clear_pointer(&s->round[0], g_array_unref);
    g_clear_pointer(&s->round[1], g_array_unref);
    g_array_free(s->mark, TRUE);
    g_array_free(s->edge, TRUE);
    g_free(s);
}

guint32 ws_compare_colour(char sign)
{
    static const struct {
        char sign;
        guint32 light, dark;
    } colour[] = { { '+', 0x0a7d33, 0x4cd07d },
                   { '-', 0xa3128f, 0xff7af0 },
                   { '~', 0xa25a00, 0xf0b429 },
                   { '>', 0x1f5fd6, 0x7ab4ff } };
    const gboolean dark = ws_theme_dark(ws_theme_current());
    for (guint i = 0; i < G_N_ELEMENTS(colour); i++)
        if (colour[i].sign == sign)
            return dark ? colour[i].dark : colour[i].light;
    return ws_palette(ws_theme_current())->text;
}

/* --- time: each round of A begins where that round of B does -------------------------------------
 */

static void forget_rounds(WsCompareScore *s)
{
    g_clear_pointer(&s->round[0], g_array_unref);
    g_clear_pointer(&s->round[1], g_array_unref);
}

static void find_rounds(Find *f)
{
    const guint cta = ws_timeline_cta_of(f->t, f->t->main_trace);
    const gboolean apart = ws_trace_rounds_apart(f->b, f->c->predicted, 0, f->t->main_trace, cta);
    f->s->round[0] = ws_score_rounds(f->c->program, f->c->predicted, apart ? G_MAXUINT : 0, NULL);
    f->s->round[1] = ws_score_rounds(f->b, f->t->main_trace, cta, NULL);
}

static gint by_name(gconstpointer pa, gconstpointer pb)
{
    const WsScoreRound *a = pa, *b = pb;
    if (a->tile != b->tile)
        return a->tile < b->tile ? -1 : 1;
    return a->round < b->round ? -1 : a->round > b->round;
}

/* The round that a design is in at a time; NULL before the first. */
static const WsScoreRound *round_at(const GArray *rounds, gint64 time)
{
    guint lo = 0, hi = rounds->len;
    while (lo < hi) {
        const guint mid = (lo + hi) / 2;
        if (g_array_index(rounds, WsScoreRound, mid).from <= time)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? &g_array_index(rounds, WsScoreRound, lo - 1) : NULL;
}

/* What has to be added to a time of one design to get that of the other (`to_b`: from A to B). */
static gint64 shift_at(const WsCompareScore *s, gint64 time, gboolean to_b)
{
    const WsScoreRound *here = round_at(s->round[to_b ? 0 : 1], time);
    const GArray *there = s->round[to_b ? 1 : 0];
    guint lo = 0, hi = there->len;
    if (!here || !there->len)
        return 0;
    while (lo < hi) { /* rounds are in the order of tile and round, too */
        const guint mid = (lo + hi) / 2;
        if (by_name(&g_array_index(there, WsScoreRound, mid), here) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return g_array_index(there, WsScoreRound, MIN(lo, there->len - 1)).from - here->from;
}

/* --- A's scene of the same stretch ---------------------------------------------------------------
 */

static WsScene *scene_of_a(const Find *f, const WsSceneSegment *g)
{
    WsSceneOptions o = { .bare = TRUE,
                         .cache = f->s->cache,
                         .translate = ws_words_translate,
                         .no_edges = f->t->no_edges };
    o.from = MAX(g->t0 + shift_at(f->s, g->t0, FALSE), 0);
    o.to = MAX(g->t1 + shift_at(f->s, g->t1, FALSE), o.from + 1);
    o.width = MAX(g->x1 - g->x0, 16);
    return ws_scene_new(f->c->program, f->c->predicted, NULL, &o);
}

static guint *match_agents(const WsProgram *a, const WsProgram *b)
{
    guint *to = g_new(guint, MAX(a->n_agents, 1));
    for (guint i = 0; i < a->n_agents; i++) {
        to[i] = G_MAXUINT;
        for (guint k = 0; k < b->n_agents && to[i] == G_MAXUINT; k++)
            if (!strcmp(a->agent[i].name, b->agent[k].name))
                to[i] = k;
    }
    return to;
}

static const WsSceneStaff *staff_of_agent(const WsScene *s, guint agent)
{
    for (guint i = 0; i < s->staff->len; i++) {
        const WsSceneStaff *staff = &g_array_index(s->staff, WsSceneStaff, i);
        for (guint k = 0; k < staff->n_agents; k++)
            if (staff->agent[k] == agent)
                return staff;
    }
    return NULL;
}

/* The row of a staff with this kind and engine, the nth; the last there is if there are fewer. */
static guint find_row(const WsScene *s, const WsSceneStaff *staff, WsRowKind kind,
                      const char *engine, guint nth)
{
    const char *label = NULL;
    guint found = G_MAXUINT;
    for (guint i = staff->first_row; i < staff->first_row + staff->n_rows; i++) {
        const WsSceneRow *row = &g_array_index(s->row, WsSceneRow, i);
        label = row->label ? row->label : label;
        if (row->kind != kind || (kind == WS_ROW_ASYNC && g_strcmp0(label, engine)))
            continue;
        found = i;
        if (nth-- == 0)
            break;
    }
    return found;
}

static guint *match_rows(const Find *f)
{
    const WsScene *a = f->a, *b = f->t->scene;
    guint *to = g_new(guint, MAX(a->row->len, 1));
    const char *engine = NULL;
    guint nth = 0;
    for (guint i = 0; i < a->row->len; i++) {
        const WsSceneRow *row = &g_array_index(a->row, WsSceneRow, i);
        const WsSceneStaff *staff = &g_array_index(a->staff, WsSceneStaff, row->staff);
        to[i] = G_MAXUINT;
        nth = row->label ? 0 : nth + 1;
        engine = row->label ? row->label : engine;
        if (!staff->n_agents || (row->kind != WS_ROW_CONTROL && row->kind != WS_ROW_ASYNC) ||
            f->agent_b[staff->agent[0]] == G_MAXUINT)
            continue;
        const WsSceneStaff *in_b = staff_of_agent(b, f->agent_b[staff->agent[0]]);
        if (in_b)
            to[i] = find_row(b, in_b, row->kind, engine, nth);
    }
    return to;
}

/* --- marks --------------------------------------------------------------------------------------
 */

static char *key_of(const char *step, guint agent, const WsSceneItem *item, WsRowKind kind)
{
    return g_strdup_printf("%u %d %d %d %s", agent, item->tile, item->round, kind, step);
}

static gboolean is_step(const WsScene *s, const WsSceneItem *item)
{
    WsRowKind kind = g_array_index(s->row, WsSceneRow, item->row).kind;
    return item->step && !item->measured && item->shape != WS_SHAPE_DENSE &&
           (kind == WS_ROW_CONTROL || kind == WS_ROW_ASYNC);
}

/* Steps of the scene that is shown. */
static void mark_shown(Find *f, gboolean in_b)
{
    const WsScene *s = f->t->scene;
    const char *focus = in_b ? f->focus_b : f->focus_a;
    for (guint i = 0; i < s->item->len; i++) {
        const WsSceneItem *item = &g_array_index(s->item, WsSceneItem, i);
        if (!is_step(s, item))
            continue;
        const char sign = ws_compare_sign(f->c->compare, item->step, in_b);
        if (!sign)
            continue;
        const WsCompareMark m = { sign,    FALSE,   focus && !strcmp(focus, item->step),
                                  item->x, item->y, item->w,
                                  item->h, NAN,     NAN };
        g_array_append_val(f->s->mark, m);
    }
}

static void index_shown(Find *f)
{
    const WsScene *s = f->t->scene;
    for (guint i = 0; i < s->item->len; i++) {
        const WsSceneItem *item = &g_array_index(s->item, WsSceneItem, i);
        if (is_step(s, item))
            g_hash_table_insert(f->drawn,
                                key_of(item->step, item->agent, item,
                                       g_array_index(s->row, WsSceneRow, item->row).kind),
                                (gpointer)item);
    }
}

static const WsSceneItem *shown_as(const Find *f, const WsSceneItem *item, WsRowKind kind)
{
    const char *partner = ws_compare_partner(f->c->compare, item->step, FALSE);
    const guint agent = f->agent_b[item->agent];
    if (!partner || agent == G_MAXUINT)
        return NULL;
    g_autofree char *key = key_of(partner, agent, item, kind);
    return g_hash_table_lookup(f->drawn, key);
}

static void mark_ghost(Find *f, const WsSceneItem *item)
{
    const WsScene *b = f->t->scene;
    const WsSceneRow *row_a = &g_array_index(f->a->row, WsSceneRow, item->row);
    const guint row = f->row_b[item->row];
    const char sign = ws_compare_sign(f->c->compare, item->step, FALSE);
    const gint64 shift = shift_at(f->s, item->start, TRUE), from = item->start + shift;
    const gint64 till =
        (row_a->kind == WS_ROW_CONTROL ? item->issued : MAX(item->done, item->issued)) + shift;
    if (row == G_MAXUINT || !ws_scene_shows(b, from) || !ws_scene_shows(b, till))
        return;
    const WsSceneItem *now = shown_as(f, item, row_a->kind);
    const WsSceneRow *place = &g_array_index(b->row, WsSceneRow, row);
    WsCompareMark m = { .sign = sign, .ghost = TRUE, .y = place->y, .h = place->h, .to_x = NAN };
    m.x = ws_scene_x(b, from);
    m.w = MAX(ws_scene_x(b, till) - m.x, 1);
    m.focused = f->focus_a && !strcmp(f->focus_a, item->step);
    if (sign != '-' && now && fabs(now->x - m.x) < APART && fabs(now->w - m.w) < APART &&
        fabs(now->y - m.y) < 1)
        return; /* it is where it was */
    if (sign == '>' && now) {
        m.to_x = now->x + MIN(now->w / 2, 20);
        m.to_y = now->y + now->h / 2;
    }
    g_array_append_val(f->s->mark, m);
}

/* --- edges --------------------------------------------------------------------------------------
 */

/* "contributor\nwait" of every pair of steps that a barrier joins. */
static GHashTable *edges_of(const WsProgram *p)
{
    GHashTable *edges = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree GPtrArray **wait = g_new0(GPtrArray *, p->n_barriers + 1);
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->barrier < 0 || !op->step || !ws_op_waits_phase(op->kind))
            continue;
        if (!wait[op->barrier])
            wait[op->barrier] = g_ptr_array_new();
        g_ptr_array_add(wait[op->barrier], op->step);
    }
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        const GPtrArray *waits = op->barrier >= 0 ? wait[op->barrier] : NULL;
        if (!waits || !op->step || ws_op_row(op->kind)->gives == WS_GIVES_NONE)
            continue;
        for (guint k = 0; k < waits->len; k++)
            g_hash_table_add(edges, g_strconcat(op->step, "\n", waits->pdata[k], NULL));
    }
    for (guint i = 0; i < p->n_barriers; i++)
        g_clear_pointer(&wait[i], g_ptr_array_unref);
    return edges;
}

/* Whether the edge between two steps of one design is there in the other one. */
static gboolean has_edge(const Find *f, GHashTable *other, const char *from, const char *to,
                         gboolean in_b)
{
    const char *a = ws_compare_partner(f->c->compare, from, in_b);
    const char *b = ws_compare_partner(f->c->compare, to, in_b);
    if (!a || !b)
        return FALSE;
    g_autofree char *key = g_strconcat(a, "\n", b, NULL);
    return g_hash_table_contains(other, key);
}

/* Line of an agent of A in the scene of B; NULL if it has none. */
static const WsSceneRow *line_of(const Find *f, guint agent)
{
    const WsScene *b = f->t->scene;
    const guint in_b = f->agent_b[agent];
    const WsSceneStaff *staff = in_b != G_MAXUINT ? staff_of_agent(b, in_b) : NULL;
    const guint row = staff ? find_row(b, staff, WS_ROW_CONTROL, NULL, 0) : G_MAXUINT;
    return row != G_MAXUINT ? &g_array_index(b->row, WsSceneRow, row) : NULL;
}

static void mark_removed_edge(Find *f, const WsSceneEdge *e)
{
    const WsScene *b = f->t->scene;
    const WsSceneRow *r0 = line_of(f, e->from_agent), *r1 = line_of(f, e->to_agent);
    const gint64 a0 = (gint64)ws_scene_time(f->a, e->x0), a1 = (gint64)ws_scene_time(f->a, e->x1);
    const gint64 shift = shift_at(f->s, a1, TRUE), t0 = a0 + shift, t1 = a1 + shift;
    if (!r0 || !r1 || !ws_scene_shows(b, t0) || !ws_scene_shows(b, t1))
        return;
    const WsCompareEdge m = { TRUE, ws_scene_x(b, t0), r0->y + r0->h / 2, ws_scene_x(b, t1),
                              r0->y < r1->y ? r1->y : r1->y + r1->h };
    g_array_append_val(f->s->edge, m);
}

static void mark_edges(Find *f, gboolean removed)
{
    const WsScene *s = removed ? f->a : f->t->scene;
    const WsProgram *p = removed ? f->c->program : f->b;
    if (!s->edge->len)
        return;
    g_autoptr(GHashTable) other = edges_of(removed ? f->b : f->c->program);
    for (guint i = 0; i < s->edge->len; i++) {
        const WsSceneEdge *e = &g_array_index(s->edge, WsSceneEdge, i);
        const char *from = p->op[e->from_op]->step, *to = p->op[e->to_op]->step;
        if (!from || !to || has_edge(f, other, from, to, !removed))
            continue;
        if (removed) {
            mark_removed_edge(f, e);
            continue;
        }
        const WsCompareEdge m = { FALSE, e->x0, e->y0, e->x1, e->y1 };
        g_array_append_val(f->s->edge, m);
    }
}

/* --- finding them -------------------------------------------------------------------------------
 */

/* Those of one stretch without folds. */
static void find_ghosts(Find *f, const WsSceneSegment *g)
{
    f->a = scene_of_a(f, g);
    f->row_b = match_rows(f);
    for (guint i = 0; !f->a->crowded && i < f->a->item->len; i++) {
        const WsSceneItem *item = &g_array_index(f->a->item, WsSceneItem, i);
        if (is_step(f->a, item))
            mark_ghost(f, item);
    }
    mark_edges(f, TRUE);
    g_free(f->row_b);
    ws_scene_free(f->a);
}

static void find_all_ghosts(Find *f)
{
    const WsScene *b = f->t->scene;
    if (!f->s->cache)
        f->s->cache = ws_score_cache_new();
    if (!f->s->round[0])
        find_rounds(f);
    f->agent_b = match_agents(f->c->program, f->b);
    f->drawn = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    index_shown(f);
    for (guint i = 0; i < b->segment->len; i++)
        find_ghosts(f, &g_array_index(b->segment, WsSceneSegment, i));
    mark_edges(f, FALSE);
    g_hash_table_destroy(f->drawn);
    g_free(f->agent_b);
}

static void find_marks(WsTimeline *t, const WsComparison *c)
{
    WsCompareScore *s = t->compare;
    const gboolean in_b = !ws_document_shows_a(t->document);
    const gint row = ws_document_row(t->document);
    const WsCompareRow *focus = row >= 0 ? c->compare->row->pdata[row] : NULL;
    Find f = { .t = t, .s = s, .c = c, .b = ws_document_program(t->document) };
    if (s->of != c->number) { /* nothing of the former one holds */
        g_clear_pointer(&s->cache, ws_score_cache_free);
        forget_rounds(s);
    }
    f.focus_a = focus ? focus->path_a : NULL;
    f.focus_b = focus ? focus->path_b : NULL;
    g_array_set_size(s->mark, 0);
    g_array_set_size(s->edge, 0);
    s->of = c->number;
    s->scene = t->scene;
    s->row = row;
    if (in_b && c->program && c->predicted && f.b && t->main_trace &&
        t->main_trace->origin == WS_TRACE_PREDICTED && !t->scene->crowded)
        find_all_ghosts(&f);
    mark_shown(&f, in_b);
}

void ws_compare_paint(WsTimeline *t, cairo_t *cr)
{
    const WsComparison *c = ws_document_comparison_shown(t->document);
    WsCompareScore *s = t->compare;
    if (!c || !t->scene || t->loose || t->scene->partial) {
        if (s)
            s->scene = NULL;
        return;
    }
    if (s->of != c->number || s->scene != t->scene || s->row != ws_document_row(t->document))
        find_marks(t, c);
    const WsPalette *p = ws_palette(ws_theme_current());
    cairo_save(cr);
    for (guint pass = 0; pass < 2; pass++) /* ghosts below */
        for (guint i = 0; i < s->mark->len; i++)
            if (g_array_index(s->mark, WsCompareMark, i).ghost == (pass == 0))
                ws_compare_paint_mark(cr, &g_array_index(s->mark, WsCompareMark, i), p);
    for (guint i = 0; i < s->edge->len; i++)
        ws_compare_paint_edge(cr, &g_array_index(s->edge, WsCompareEdge, i));
    cairo_restore(cr);
}

guint ws_compare_n_marks(WsTimeline *t, char sign, gboolean edges)
{
    guint n = 0;
    if (!t->compare->scene)
        return 0;
    for (guint i = 0; edges && i < t->compare->edge->len; i++)
        n += g_array_index(t->compare->edge, WsCompareEdge, i).removed == (sign == '-');
    for (guint i = 0; !edges && i < t->compare->mark->len; i++)
        n += g_array_index(t->compare->mark, WsCompareMark, i).sign == sign;
    return n;
}

/* --- following the document ---------------------------------------------------------------------
 */

/* A step that is no longer there: where A has it. */
static void show_removed(WsTimeline *t, const WsComparison *c, const char *path)
{
    double from, to, best = NAN;
    WsCompareScore *s = t->compare;
    if (!c->predicted || !c->program || !t->scene || !ws_document_program(t->document))
        return;
    Find f = { .t = t, .s = s, .c = c, .b = ws_document_program(t->document) };
    if (s->of != c->number)
        forget_rounds(s);
    if (!s->round[0])
        find_rounds(&f);
    ws_timeline_get_view(t, &from, &to);
    for (guint i = 0; i < c->predicted->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(c->predicted->record, WsTraceRecord, i);
        if (g_strcmp0(c->predicted->op_id->pdata[r->op], path))
            continue;
        const double at = (double)(r->start + shift_at(s, r->start, TRUE)),
                     middle = (from + to) / 2;
        if (isnan(best) || fabs(at - middle) < fabs(best - middle))
            best = at;
    }
    if (!isnan(best) && (best < from || best > to))
        ws_timeline_set_view(t, best - (to - from) / 2, best + (to - from) / 2);
}

static void compared(WsDocument *d, WsTimeline *t)
{
    const WsComparison *c = ws_document_comparison_shown(d);
    const gint row = ws_document_row(d);
    const WsCompareRow *r = c && row >= 0 ? c->compare->row->pdata[row] : NULL;
    if (r && !r->path_b && r->step && t->compare->row != row)
        show_removed(t, c, r->path_a);
    t->compare->scene = NULL;
    g_clear_pointer(&t->node[WS_LAYER_ITEMS], gsk_render_node_unref);
    gtk_widget_queue_draw(t->canvas);
}

void ws_compare_follow(WsTimeline *t)
{
    t->compare = g_new0(WsCompareScore, 1);
    t->compare->row = -1;
    t->compare->mark = g_array_new(FALSE, FALSE, sizeof(WsCompareMark));
    t->compare->edge = g_array_new(FALSE, FALSE, sizeof(WsCompareEdge));
    g_signal_connect(t->document, "compared", G_CALLBACK(compared), t);
}
