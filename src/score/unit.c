/* Unit lanes: how much of the TMA, of the tensor core and of the special-function unit (MUFU) is in
 * use at each moment, over all agents of the CTA. */
#include "program/op.h"
#include "score/build.h"
#include "trace/op_kind.h"

#include <math.h>

#define UNIT_HEIGHT 20.0

typedef enum { UNIT_TMA, UNIT_TENSOR, UNIT_MUFU, N_UNITS } Unit;

static const struct {
    const char *name, *what;
    WsItemKind kind;
} units[N_UNITS] = {
    [UNIT_TMA] = { "TMA", WS_MARK("TMA in use"), WS_ITEM_LOAD },
    [UNIT_TENSOR] = { WS_MARK("tensor core"), WS_MARK("tensor core in use"), WS_ITEM_MMA },
    [UNIT_MUFU] = { "MUFU", WS_MARK("MUFU (exp2, rcp, log2, \xe2\x80\xa6) in use"), WS_ITEM_MATH },
};

/* What a record takes of a unit until `end`: transfers are counted, one mma at a time has the
 * tensor core, and special functions take the share of their unit that they need of their time. */
static double weight_of(const WsBuild *b, Unit unit, const WsTraceRecord *r, gint64 *end)
{
    WsOpKind kind = ws_trace_op_kind(b->t, r->op);
    *end = r->done;
    switch (unit) {
    case UNIT_TMA:
        return ws_op_is_bulk(kind);
    case UNIT_TENSOR:
        return ws_op_is_product(kind) || ws_item_kind_of(kind) == WS_ITEM_MMA;
    case N_UNITS:
    case UNIT_MUFU:
    default:
        break;
    }
    *end = MAX(r->issued, r->start);
    if (kind != WS_OP_MATH || !b->o->special || *end <= r->start)
        return 0;
    return MIN(b->o->special[r->op] / (double)(*end - r->start), 1);
}

typedef struct {
    gint64 at;
    double step; /* > 0 begins, < 0 ends */
} Change;

static gint by_time(gconstpointer pa, gconstpointer pb)
{
    const Change *a = pa, *b = pb;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->step < b->step ? -1 : a->step > b->step; /* ends before begins */
}

static GArray *list_changes(const WsBuild *b, Unit unit)
{
    GArray *changes = g_array_new(FALSE, FALSE, sizeof(Change));
    for (guint i = 0; i < b->seen->len; i++) {
        const WsTraceRecord *r = ws_seen(b->seen, i);
        gint64 to;
        double weight = weight_of(b, unit, r, &to);
        if (weight <= 0 || to <= r->start)
            continue;
        Change begin = { r->start, weight }, end = { to, -weight };
        g_array_append_val(changes, begin);
        g_array_append_val(changes, end);
    }
    g_array_sort(changes, by_time);
    return changes;
}

static void add_level(WsBuild *b, guint row, Unit unit, gint64 from, gint64 to, double n,
                      double level)
{
    WsScene *s = b->s;
    double x0 = ws_scene_x(s, from), x1 = ws_scene_x(s, to);
    WsSceneItem *last =
        s->item->len ? &g_array_index(s->item, WsSceneItem, s->item->len - 1) : NULL;
    if (last && last->row == row) {
        x0 = MAX(x0, last->x + last->w);
        if (fabs(last->level - level) < 1e-6 && x0 - (last->x + last->w) < 0.5) {
            last->w = MAX(last->w, x1 - last->x);
            last->done = last->issued = to;
            return;
        }
    }
    if (x1 - x0 < 0.75)
        return;
    WsSceneItem *item = ws_build_item(b, units[unit].kind, WS_SHAPE_LEVEL, row);
    item->x = x0;
    item->w = x1 - x0;
    item->level = level;
    item->start = from;
    item->issued = item->done = to;
    item->measured = b->t->origin == WS_TRACE_MEASURED;
    item->tip = unit == UNIT_MUFU
                    ? g_strdup_printf(ws_build_words(b, "%s: %.0f %% of its rate"),
                                      ws_build_words(b, units[unit].name), 100 * level)
                    : g_strdup_printf(ws_build_words(b, "%.0f in flight"), n);
}

/* Share of the time shown in which it was in use. */
static double busy_share(const WsBuild *b, const GArray *changes)
{
    double busy = 0, all = 0;
    for (guint k = 0; k < b->s->segment->len; k++) {
        const WsSceneSegment *g = &g_array_index(b->s->segment, WsSceneSegment, k);
        double n = 0;
        all += (double)(g->t1 - g->t0);
        for (guint i = 0; i < changes->len; i++) {
            const Change *c = &g_array_index(changes, Change, i);
            n += c->step;
            if (n < 1e-9 || i + 1 == changes->len)
                continue;
            gint64 from = MAX(c->at, g->t0), to = MIN(c[1].at, g->t1);
            if (to > from)
                busy += MIN(n, 1) * (double)(to - from);
        }
    }
    return all > 0 ? busy / all : 0;
}

typedef struct {
    const WsBuild *b;
    Unit unit;
} Asked;

static double cover_weight(const WsTraceRecord *r, gint64 *end, gpointer data)
{
    const Asked *a = data;
    return weight_of(a->b, a->unit, r, end);
}

static const WsScoreCover *cover_of(WsBuild *b, Unit unit)
{
    WsScoreCover **cover = &b->cache->unit_cover[unit];
    Asked asked = { b, unit };
    if (!*cover) {
        *cover = ws_cover_new();
        ws_cover_build(*cover, b->t, b->cta, cover_weight, &asked, unit == UNIT_MUFU);
    }
    return *cover;
}

static double share_here(const WsBuild *b, const WsScoreCover *cover)
{
    double busy = 0, all = 0;
    for (guint k = 0; k < b->s->segment->len; k++) {
        const WsSceneSegment *g = &g_array_index(b->s->segment, WsSceneSegment, k);
        busy += ws_cover_share(cover, g->t0, g->t1) * (double)(g->t1 - g->t0);
        all += (double)(g->t1 - g->t0);
    }
    return all > 0 ? busy / all : 0;
}

static void draw_changes(WsBuild *b, guint row, Unit unit, const GArray *changes)
{
    double n = 0, most = 1;
    for (guint i = 0; i < changes->len; i++) {
        n += g_array_index(changes, Change, i).step;
        most = MAX(most, n);
    }
    n = 0;
    for (guint i = 0; i + 1 < changes->len; i++) {
        const Change *c = &g_array_index(changes, Change, i);
        n += c->step;
        if (n > 1e-9 && c[1].at > c->at)
            add_level(b, row, unit, c->at, c[1].at, n, unit == UNIT_TMA ? n / most : MIN(n, 1));
    }
}

static void add_unit(WsBuild *b, Unit unit)
{
    static const double unknown = NAN;
    const double run[N_UNITS] = {
        [UNIT_TMA] = b->t->tma_busy, [UNIT_TENSOR] = b->t->tensor_busy, [UNIT_MUFU] = unknown
    };
    gboolean coarse = ws_build_coarse(b);
    const WsScoreCover *cover = coarse ? cover_of(b, unit) : NULL;
    g_autoptr(GArray) changes = coarse ? NULL : list_changes(b, unit);
    if (!(cover ? ws_cover_any(cover) : changes->len > 0) && !b->cache->unit[unit])
        return;
    b->cache->unit[unit] = TRUE;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, ws_build_words(b, "%.0f %% here"),
                           100 * (cover ? share_here(b, cover) : busy_share(b, changes)));
    if (!isnan(run[unit])) {
        g_string_append(text, " \xc2\xb7 ");
        g_string_append_printf(text, ws_build_words(b, "%.0f %% run"), 100 * run[unit]);
    }
    g_autofree char *detail = g_string_free(text, FALSE);
    const gboolean matrix = b->s->halves && unit == UNIT_TENSOR;
    const char *name = matrix                              ? ws_item_kind_text_on(WS_ITEM_MMA, TRUE)
                       : b->s->halves && unit == UNIT_MUFU ? WS_MARK("transcendentals")
                                                           : units[unit].name;
    WsSceneStaff *staff = ws_build_staff(b, ws_build_words(b, name), detail);
    staff->kind = units[unit].kind;
    guint row = ws_build_row(b, WS_ROW_UNIT, UNIT_HEIGHT, NULL);
    if (cover)
        ws_cover_draw(
            b, cover,
            &(WsCoverRow){ row, units[unit].kind, 0, ws_build_words(b, units[unit].what) });
    else
        draw_changes(b, row, unit, changes);
    ws_build_staff_end(b);
}

void ws_unit_build(WsBuild *b)
{
    for (guint unit = 0; unit < N_UNITS; unit++)
        add_unit(b, (Unit)unit);
}
