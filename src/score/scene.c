/* The scene as a value: making it from its parts, asking it, freeing it. */
#include "program/program.h"
#include "score/build.h"
#include "target/target.h"

#include <math.h>
#include <string.h>

static const char *const kind_text[] = {
#define WS_ITEM(id, text, letter, hatch, ...) text,
#include "score/kind.def"
#undef WS_ITEM
};

const char *ws_item_kind_text(WsItemKind kind)
{
    return kind < WS_ITEM_KIND_COUNT ? kind_text[kind] : "?";
}

const char *ws_item_kind_text_on(WsItemKind kind, gboolean halves)
{
    return kind == WS_ITEM_MMA && halves    ? WS_MARK("matrix units")
           : kind == WS_ITEM_COPY && halves ? WS_MARK("loads")
                                            : ws_item_kind_text(kind);
}

WsItemKind ws_item_kind_of(WsOpKind kind)
{
    /* clang-format off */
    static const WsItemKind item[] = {
#define WS_OP(id, text, proxy, breadth, engine, deed, waits, gives, orders, from, to, record, score, ...) \
        [WS_OP_##id] = WS_ITEM_##score,
#include "program/op.def"
#undef WS_OP
    };
    /* clang-format on */
    return kind < WS_OP_KIND_COUNT ? item[kind] : WS_ITEM_OTHER;
}

const char *ws_build_words(const WsBuild *b, const char *text)
{
    const char *own = ws_target_own_word(b->p->hardware, text);
    return b->o->translate ? b->o->translate(own, NULL) : own;
}

char *ws_group_digits(gint64 n)
{
    g_autofree char *plain = g_strdup_printf("%" G_GINT64_FORMAT, n);
    GString *s = g_string_new(NULL);
    gsize length = strlen(plain);
    for (gsize i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0 && plain[i - 1] != '-')
            g_string_append(s, "\xe2\x80\x89");
        g_string_append_c(s, plain[i]);
    }
    return g_string_free(s, FALSE);
}

/* Mean advance of a condensed sans-serif face; the painter cuts what is still too long. */
double ws_text_width_estimate(const char *text, double size)
{
    glong wide = 0, n = 0;
    for (const char *at = text; *at; at = g_utf8_next_char(at), n++)
        wide += g_unichar_iswide(g_utf8_get_char(at));
    return size * (0.53 * (double)(n - wide) + (double)wide);
}

char *ws_build_fit(double width, double size, const char *const *candidate)
{
    for (; *candidate; candidate++)
        if (**candidate && ws_text_width_estimate(*candidate, size) <= width)
            return g_strdup(*candidate);
    return NULL;
}

WsSceneItem *ws_build_item(WsBuild *b, WsItemKind kind, WsItemShape shape, guint row)
{
    WsScene *s = b->s;
    g_array_set_size(s->item, s->item->len + 1);
    WsSceneItem *item = &g_array_index(s->item, WsSceneItem, s->item->len - 1);
    const WsSceneRow *r = &g_array_index(s->row, WsSceneRow, row);
    *item = (WsSceneItem){ .id = s->item->len,
                           .kind = kind,
                           .shape = shape,
                           .op = G_MAXUINT,
                           .tile = -1,
                           .round = -1,
                           .turn = -1,
                           .row = row,
                           .y = r->y,
                           .h = r->h };
    s->used[kind] = TRUE;
    return item;
}

guint ws_build_row(WsBuild *b, WsRowKind kind, double h, const char *label)
{
    WsSceneRow row = {
        .kind = kind, .staff = b->s->staff->len - 1, .y = b->y, .h = h, .label = g_strdup(label)
    };
    g_array_append_val(b->s->row, row);
    b->y += h + WS_ROW_GAP;
    return b->s->row->len - 1;
}

WsSceneStaff *ws_build_staff(WsBuild *b, const char *name, const char *detail)
{
    WsSceneStaff staff = { .name = g_strdup(name),
                           .detail = g_strdup(detail),
                           .y = b->y,
                           .first_row = b->s->row->len,
                           .kind = WS_ITEM_OTHER };
    g_array_append_val(b->s->staff, staff);
    b->y += 5;
    return &g_array_index(b->s->staff, WsSceneStaff, b->s->staff->len - 1);
}

void ws_build_staff_end(WsBuild *b)
{
    WsSceneStaff *staff = &g_array_index(b->s->staff, WsSceneStaff, b->s->staff->len - 1);
    staff->n_rows = b->s->row->len - staff->first_row;
    b->y += 5 - WS_ROW_GAP;
    /* Name and detail need their two lines, unless there is but one row. */
    staff->flat =
        staff->n_rows == 1 && !staff->n_agents && strlen(staff->name) + strlen(staff->detail) < 24;
    double least = staff->detail && *staff->detail && !staff->flat ? 38 : 24;
    if (b->y - staff->y < least)
        b->y = staff->y + least;
    staff->h = b->y - staff->y;
    b->y += WS_STAFF_GAP;
}

void ws_build_text(WsBuild *b, WsTextRole role, double x, double y, char *text)
{
    WsSceneText t = { role, x, y, text };
    g_array_append_val(b->s->text, t);
}

gint64 ws_build_time(const WsBuild *b, gboolean overlay, gint64 t)
{
    if (!overlay || t < 0)
        return t;
    /* The segment in which it lands under that segment's own alignment. */
    const GArray *segments = b->s->segment;
    for (guint i = 0; i < segments->len && i < G_N_ELEMENTS(b->shift); i++) {
        const WsSceneSegment *g = &g_array_index(segments, WsSceneSegment, i);
        if (t + b->shift[i] < g->t1 || i + 1 == segments->len)
            return MAX(t + b->shift[i], 0);
    }
    return MAX(t + b->shift[0], 0);
}

static void clear_item(gpointer p)
{
    WsSceneItem *i = p;
    g_free(i->label);
    g_free(i->tip);
}

static void clear_row(gpointer p)
{
    g_free(((WsSceneRow *)p)->label);
}

static void clear_staff(gpointer p)
{
    g_free(((WsSceneStaff *)p)->name);
    g_free(((WsSceneStaff *)p)->detail);
    g_free(((WsSceneStaff *)p)->object);
}

static void clear_edge(gpointer p)
{
    g_free(((WsSceneEdge *)p)->label);
    g_free(((WsSceneEdge *)p)->origin);
}

static void clear_fold(gpointer p)
{
    g_free(((WsSceneFold *)p)->label);
}

static void clear_tick(gpointer p)
{
    g_free(((WsSceneTick *)p)->label);
}

static void clear_band(gpointer p)
{
    g_free(((WsSceneBand *)p)->label);
}

static void clear_text(gpointer p)
{
    g_free(((WsSceneText *)p)->text);
}

static GArray *list(gsize size, GDestroyNotify clear)
{
    GArray *a = g_array_new(FALSE, TRUE, (guint)size);
    if (clear)
        g_array_set_clear_func(a, clear);
    return a;
}

/* A trace belongs to the program if its operations are the program's. */
static gboolean fits(const WsProgram *p, const WsTrace *t)
{
    return t && t->op_id->len == p->n_ops && t->agent_name->len == p->n_agents &&
           (!t->design_hash || !p->design_hash || strcmp(t->design_hash, p->design_hash) == 0);
}

/* Labels step over folds that lie across their item, or go. */
static void clear_folds(WsScene *s)
{
    for (guint i = 0; i < s->item->len; i++) {
        WsSceneItem *item = &g_array_index(s->item, WsSceneItem, i);
        for (guint k = 0; item->label && k < s->fold->len; k++) {
            const WsSceneFold *f = &g_array_index(s->fold, WsSceneFold, k);
            double w = ws_text_width_estimate(item->label, 10) + 10;
            double at = item->x;
            if (item->shape == WS_SHAPE_FLIGHT && item->head < item->w / 2)
                at += item->head; /* the label follows a short head */
            if (at + w < f->x0 || item->x > f->x1)
                continue;
            if (item->x + item->w > f->x1 + w)
                item->label_x = f->x1 + 5 - item->x;
            else
                g_clear_pointer(&item->label, g_free);
        }
    }
}

/* Traces of different sizes have nothing to lay over each other. */
static gboolean same_sizes(const WsTrace *a, const WsTrace *b)
{
    for (guint i = 0; i < a->size->len; i++) {
        gboolean same = FALSE;
        for (guint k = 0; k < b->size->len; k++)
            same |= strcmp(g_array_index(a->size_name, char *, i),
                           g_array_index(b->size_name, char *, k)) == 0 &&
                    g_array_index(a->size, gint64, i) == g_array_index(b->size, gint64, k);
        if (!same)
            return FALSE;
    }
    return a->size->len == b->size->len;
}

#define MANY_RECORDS 60000
#define MANY_ROUNDS  4096 /* around what is in sight */

#define BESIDE 256 /* records of a lane before and behind what is in sight */

/* Rounds in sight, in the window before it (whence stages are followed) and a little beside, by the
 * paths of their loops: what an operation in such a loop may be asked about. */
static void rounds_in_sight(const WsBuild *b, gint32 *lo, gint32 *hi)
{
    const guint n = b->t->op_id->len;
    g_autofree gint32 *from = g_new(gint32, n + 2), *to = g_new(gint32, n + 2);
    for (guint i = 0; i < n + 2; i++) {
        from[i] = G_MAXINT32;
        to[i] = G_MININT32;
    }
    const WsSceneSegment *first = &g_array_index(b->s->segment, WsSceneSegment, 0);
    for (guint i = 0; i < b->t->lane->len; i++) {
        const WsTraceLane *lane = &g_array_index(b->t->lane, WsTraceLane, i);
        if (lane->cta != b->cta)
            continue;
        for (guint s = 0; s < b->s->segment->len; s++) {
            const WsSceneSegment *g = first + s;
            const guint64 begin = ws_window_lower(b->t, lane, g->t0 - (g->t1 - g->t0));
            const guint64 end = ws_window_lower(b->t, lane, g->t1) + BESIDE;
            for (guint64 k = MAX(begin, lane->first + BESIDE) - BESIDE;
                 k < MIN(end, lane->first + lane->n); k++) {
                const WsTraceRecord *r = &g_array_index(b->t->record, WsTraceRecord, k);
                const guint loop = b->loop_id[r->op];
                from[loop] = MIN(from[loop], r->round);
                to[loop] = MAX(to[loop], r->round);
            }
        }
    }
    for (guint op = 0; op < n; op++) {
        lo[op] = from[b->loop_id[op]];
        hi[op] = to[b->loop_id[op]];
    }
}

/* Loops of few rounds are bound whole, whether they are in sight or not. */
static void add_short_loops(const WsBuild *b, gint32 *lo, gint32 *hi)
{
    const guint n = b->t->op_id->len;
    g_autofree guint *count = g_new0(guint, n + 2);
    for (guint i = 0; i < b->t->lane->len; i++) {
        const WsTraceLane *lane = &g_array_index(b->t->lane, WsTraceLane, i);
        for (guint64 k = 0; lane->cta == b->cta && k < lane->n; k++)
            count[b->loop_id[g_array_index(b->t->record, WsTraceRecord, lane->first + k).op]]++;
    }
    for (guint op = 0; op < n; op++)
        if (count[b->loop_id[op]] <= MANY_RECORDS) {
            lo[op] = G_MININT32;
            hi[op] = G_MAXINT32;
        }
}

/* Does what is bound hold all rounds of [lo, hi]? */
static gboolean bind_covers(const WsScoreCache *c, const gint32 *lo, const gint32 *hi, guint n)
{
    for (guint op = 0; c->bind_lo && op < n; op++)
        if (lo[op] <= hi[op] && (lo[op] < c->bind_lo[op] || hi[op] > c->bind_hi[op]))
            return FALSE;
    return TRUE;
}

/* With as many rounds again on both sides, and those before the first waits. */
static void widen(gint32 *lo, gint32 *hi, guint n)
{
    for (guint op = 0; op < n; op++) {
        if (lo[op] > hi[op])
            continue;
        const gint32 more = MAX(MANY_ROUNDS, hi[op] - lo[op]);
        lo[op] = lo[op] > G_MININT32 + more ? lo[op] - more : G_MININT32;
        hi[op] = hi[op] < G_MAXINT32 - more ? hi[op] + more : G_MAXINT32;
    }
}

/* Small traces are walked once and for all; of large ones the rounds around the window, and only
 * when there is time. */
static void choose_bind(WsBuild *b)
{
    WsScoreCache *c = b->cache;
    const guint n = b->t->op_id->len;
    g_autofree gint32 *lo = g_new(gint32, n + 1), *hi = g_new(gint32, n + 1);
    rounds_in_sight(b, lo, hi);
    if (c->bind_tried && b->tile0 >= c->bind0 && b->tile1 <= c->bind1 &&
        bind_covers(c, lo, hi, n)) {
        b->bind = c->bind;
        return;
    }
    guint64 records = 0;
    for (guint i = 0; i < b->t->lane->len; i++) {
        const WsTraceLane *lane = &g_array_index(b->t->lane, WsTraceLane, i);
        records += lane->cta == b->cta ? lane->n : 0;
    }
    gboolean all = b->o->cache && records <= MANY_RECORDS;
    if (b->o->cache && !all && (b->o->hasty || b->dense->len)) {
        b->s->partial = b->o->hasty && !b->dense->len;
        return;
    }
    gint32 around = !b->o->cache ? 0 : records > 16 * MANY_RECORDS ? 1 : 8; /* tiles are long */
    c->bind0 = all ? G_MININT32 + 8 : MAX(b->tile0, 0) - around;
    c->bind1 = all ? G_MAXINT32 - 8 : MIN(b->tile1, G_MAXINT32 - 16) + around;
    g_clear_pointer(&c->bind, ws_bind_free);
    g_clear_pointer(&c->bind_lo, g_free);
    g_clear_pointer(&c->bind_hi, g_free);
    if (!all) {
        widen(lo, hi, n);
        add_short_loops(b, lo, hi);
        c->bind_lo = g_steal_pointer(&lo);
        c->bind_hi = g_steal_pointer(&hi);
    }
    b->bind = c->bind =
        ws_bind_new_within(b->p, b->t, b->cta, c->bind0, c->bind1, c->bind_lo, c->bind_hi);
    c->bind_tried = TRUE;
    c->bind_all = all && c->bind;
}

gboolean ws_build_coarse(const WsBuild *b)
{
    return b->o->bare && (b->dense->len || (double)b->seen->len > b->s->right - b->s->left);
}

static void build(WsBuild *b)
{
    ws_furniture_head(b);
    if (b->t && b->t->record->len) {
        ws_window_choose(b);
        ws_window_map(b);
        ws_window_collect(b);
        ws_round_init(b);
        choose_bind(b);
        ws_window_bands(b);
        b->s->top = b->y;
        ws_staff_build(b);
        ws_ring_build(b);
        if (!b->o->no_units)
            ws_unit_build(b);
        b->s->bottom = b->y - WS_STAFF_GAP;
        clear_folds(b->s);
        ws_meet_build(b);
        if (!b->o->no_edges)
            ws_edge_build(b);
    } else {
        b->s->top = b->y;
        ws_build_text(b, WS_TEXT_SUB, WS_MARGIN, b->y + 30,
                      g_strdup("no records to draw: simulate the design, or profile it"));
        b->y += 60;
        b->s->bottom = b->y;
    }
    ws_furniture_foot(b);
}

WsScene *ws_scene_new(const WsProgram *p, WsTrace *predicted, WsTrace *measured,
                      const WsSceneOptions *options)
{
    static const WsSceneOptions none;
    WsScene *s = g_new0(WsScene, 1);
    s->item = list(sizeof(WsSceneItem), clear_item);
    s->row = list(sizeof(WsSceneRow), clear_row);
    s->staff = list(sizeof(WsSceneStaff), clear_staff);
    s->edge = list(sizeof(WsSceneEdge), clear_edge);
    s->meet = list(sizeof(WsSceneMeet), NULL);
    s->halves = p->hardware && p->hardware->halves;
    s->segment = list(sizeof(WsSceneSegment), NULL);
    s->fold = list(sizeof(WsSceneFold), clear_fold);
    s->tick = list(sizeof(WsSceneTick), clear_tick);
    s->band = list(sizeof(WsSceneBand), clear_band);
    s->text = list(sizeof(WsSceneText), clear_text);
    WsBuild b = { .s = s, .p = p, .o = options ? options : &none, .lead_agent = -1, .lead_op = -1 };
    if (fits(p, predicted))
        s->predicted = ws_trace_ref(predicted);
    if (fits(p, measured) && (!s->predicted || same_sizes(s->predicted, measured)))
        s->measured = ws_trace_ref(measured);
    b.t = s->predicted ? s->predicted : s->measured;
    b.overlay = s->predicted ? s->measured : NULL;
    s->cta = b.cta = b.t && b.o->cta < b.t->cta->len ? b.o->cta : 0;
    b.overlay_cta = b.overlay && b.o->overlay_cta < b.overlay->cta->len ? b.o->overlay_cta : 0;
    s->bare = b.o->bare;
    s->translate = b.o->translate;
    s->hardware = p->hardware;
    s->knot = b.o->n_knots > 1 ? b.o->knot : NULL;
    s->n_knots = s->knot ? b.o->n_knots : 0;
    s->width = b.o->width > 0 ? MAX(b.o->width, b.o->bare ? 16 : 480) : 1600;
    s->left = s->bare ? 0 : WS_MARGIN + WS_GUTTER;
    s->right = s->bare ? s->width : s->width - WS_MARGIN;
    g_autoptr(WsScoreCache) own = b.o->cache ? NULL : ws_score_cache_new();
    b.cache = own ? own : b.o->cache;
    if (b.t)
        ws_score_cache_for(b.cache, p, b.t, b.overlay, b.cta, b.overlay_cta);
    b.dense = g_array_new(FALSE, FALSE, sizeof(WsDense));
    b.seen = g_array_new(FALSE, FALSE, sizeof(WsTraceRecord *));
    b.seen_overlay = g_array_new(FALSE, FALSE, sizeof(WsTraceRecord *));
    build(&b);
    if ((predicted && !s->predicted) || (measured && !s->measured)) {
        ws_build_text(
            &b, WS_TEXT_NOTE, WS_MARGIN, b.y + 12,
            g_strdup(ws_build_words(&b, "A trace of another version of this design, or of other "
                                        "sizes, was left out: record it again.")));
        b.y += 18;
    }
    s->height = MAX(b.y + WS_MARGIN / 2, b.o->height);
    g_array_free(b.seen, TRUE);
    g_array_free(b.seen_overlay, TRUE);
    if (b.item_of)
        g_hash_table_destroy(b.item_of);
    s->crowded = b.dense->len > 0;
    s->shift = b.shift[0];
    for (guint i = 0; i < s->segment->len; i++)
        g_array_index(s->segment, WsSceneSegment, i).shift =
            b.shift[i < G_N_ELEMENTS(b.shift) ? i : 0];
    g_array_free(b.dense, TRUE);
    g_free(b.control_row);
    g_free(b.drawn_as);
    g_free(b.fold_note);
    return s;
}

void ws_scene_free(WsScene *s)
{
    if (!s)
        return;
    g_array_free(s->item, TRUE);
    g_array_free(s->row, TRUE);
    g_array_free(s->staff, TRUE);
    g_array_free(s->edge, TRUE);
    g_array_free(s->meet, TRUE);
    g_array_free(s->segment, TRUE);
    g_array_free(s->fold, TRUE);
    g_array_free(s->tick, TRUE);
    g_array_free(s->band, TRUE);
    g_array_free(s->text, TRUE);
    if (s->predicted)
        ws_trace_unref(s->predicted);
    if (s->measured)
        ws_trace_unref(s->measured);
    g_free(s->zone);
    g_free(s);
}

/* Segment that holds t or begins after it; len if t lies behind all. */
static guint segment_at(const WsScene *s, gint64 t)
{
    guint i = 0;
    while (i < s->segment->len && t > g_array_index(s->segment, WsSceneSegment, i).t1)
        i++;
    return i;
}

double ws_scene_x(const WsScene *s, gint64 t)
{
    guint i = segment_at(s, t);
    if (i == s->segment->len)
        return i ? g_array_index(s->segment, WsSceneSegment, i - 1).x1 : s->left;
    const WsSceneSegment *g = &g_array_index(s->segment, WsSceneSegment, i);
    if (t < g->t0) /* in the fold before it, or before everything */
        return i ? (g[-1].x1 + g->x0) / 2 : g->x0;
    double at = (double)(t - g->t0), all = (double)MAX(g->t1 - g->t0, 1);
    if (s->knot) {
        double u0 = ws_order_of(s->knot, s->n_knots, (double)g->t0);
        at = ws_order_of(s->knot, s->n_knots, (double)t) - u0;
        all = ws_order_of(s->knot, s->n_knots, (double)g->t1) - u0;
    }
    return g->x0 + (g->x1 - g->x0) * at / MAX(all, 1e-9);
}

double ws_scene_time(const WsScene *s, double x)
{
    double t = 0;
    for (guint i = 0; i < s->segment->len; i++) {
        const WsSceneSegment *g = &g_array_index(s->segment, WsSceneSegment, i);
        if (x < g->x0 && i)
            return t;
        t = (double)g->t1;
        if (x > g->x1 && i + 1 < s->segment->len)
            continue;
        double f = (x - g->x0) / MAX(g->x1 - g->x0, 1e-9);
        if (!s->knot)
            return (double)g->t0 + f * (double)(g->t1 - g->t0);
        double u0 = ws_order_of(s->knot, s->n_knots, (double)g->t0);
        double u1 = ws_order_of(s->knot, s->n_knots, (double)g->t1);
        return ws_order_time(s->knot, s->n_knots, u0 + f * (u1 - u0));
    }
    return t;
}

gboolean ws_scene_shows(const WsScene *s, gint64 t)
{
    for (guint i = 0; i < s->segment->len; i++) {
        const WsSceneSegment *g = &g_array_index(s->segment, WsSceneSegment, i);
        if (t >= g->t0 && t <= g->t1)
            return TRUE;
    }
    return FALSE;
}
