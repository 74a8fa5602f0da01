/* Where narrow steps are hit. One is given TARGET units beside it: of what is free there, else of
 * what is wide. Two side by side share the line between them; of more, every other one has the
 * upper half of the row and the rest the lower one, and if that is too little those above reach
 * over what is wide beside them, which keeps its lower half. Where that is too little as well, or
 * would be far from the step, they share what there is, and the zone says how many do. */
#include "score/zone.h"

#include <math.h>
#include <string.h>

#define TARGET WS_SCENE_TARGET
#define KEEPS  14.0 /* what is wide keeps so much in all, and room for its port, … */
#define GIVES  24.0 /* … and gives no more at an end, where that is enough */
#define BEYOND 1.5  /* above and below the row: half of the gap between two */
#define PORT   6.0  /* behind a zone, where an edge begins */
#define HALVED 22.0 /* height of a row that has two zones, one above the other */
#define FAR    24.0 /* from the middle of a step to that of its zone, at most */
#define LEAST  1.0  /* width of a zone, at least */

typedef struct {
    WsScene *s;
    GArray *line; /* guint: the items of a row, in order */
    /* By item, of what is wide: how much of its begin has been given away, of the whole height (or
     * the lower half) and of the upper half. */
    double *given, *given_above;
    WsSceneZone *zone;
} Rows;

static guint index_at(const Rows *r, guint i)
{
    return g_array_index(r->line, guint, i);
}

static WsSceneItem *item_at(const Rows *r, guint i)
{
    return &g_array_index(r->s->item, WsSceneItem, index_at(r, i));
}

static WsSceneZone *zone_at(const Rows *r, guint i)
{
    return &r->zone[index_at(r, i)];
}

gboolean ws_item_is_narrow(const WsSceneItem *item)
{
    return item->step && item->w < TARGET;
}

/* What a wide item can give: nobody grabs what is merged. */
static double room_of(const WsSceneItem *item)
{
    if (!item->step)
        return item->w - 2;
    return MAX(item->w - KEEPS - (item->w >= 3 * PORT ? PORT : 0), 0);
}

/* Narrow items of a row that follow each other: [from, to) of the line. */
typedef struct {
    guint from, to;
    double free0, free1;    /* the ends of what nothing else covers */
    double low[2], high[2]; /* and of what is theirs, by lane */
} Run;

typedef enum { GIVES_SOME, GIVES_ALL, GIVES_UPPER_HALF } Giving;

static void bound(const Rows *r, Run *run, Giving giving)
{
    const WsSceneItem *first = item_at(r, run->from), *last = item_at(r, run->to - 1);
    const double all = TARGET * (run->to - run->from), most = giving ? G_MAXDOUBLE : GIVES;
    const WsScene *s = r->s;
    run->free0 = MIN(MAX(first->x - all, s->left), first->x);
    run->free1 = last->x + last->w + all;
    if (s->right > s->left)
        run->free1 = MAX(MIN(run->free1, s->right), last->x + last->w);
    const double low = run->free0, high = run->free1;
    run->low[0] = run->low[1] = low;
    run->high[0] = run->high[1] = high;
    if (run->from) {
        const WsSceneItem *former = item_at(r, run->from - 1);
        const double given = r->given[index_at(r, run->from - 1)];
        const double above = MAX(given, r->given_above[index_at(r, run->from - 1)]);
        run->free0 = MIN(MAX(former->x + former->w, low), first->x);
        run->low[1] = MAX(low, run->free0 - CLAMP(room_of(former) - given, 0, most));
        run->low[0] = giving == GIVES_UPPER_HALF
                          ? MIN(MAX(low, former->x + above), run->free0)
                          : MAX(run->low[1], MIN(former->x + above, run->free0));
    }
    if (run->to < r->line->len) {
        const WsSceneItem *next = item_at(r, run->to);
        run->free1 = MAX(MIN(next->x, high), last->x + last->w);
        run->high[1] = MIN(high, run->free1 + MIN(room_of(next), most));
        run->high[0] = giving == GIVES_UPPER_HALF ? MIN(high, MAX(next->x + next->w, run->free1))
                                                  : run->high[1];
    }
}

/* The items run->from, + lanes, + 2 lanes, … of a lane, each `w` wide, in order and as near to
 * where they stand as can be (least squares: neighbours that touch lie about their middle). FALSE:
 * there is no room, or one is far from its step. */
static gboolean place(const Rows *r, const Run *run, guint lane, guint lanes, double w)
{
    const guint first = run->from + lane,
                n = first < run->to ? (run->to - first + lanes - 1) / lanes : 0;
    const double low = lanes == 1 ? MAX(run->low[0], run->low[1]) : run->low[lane];
    const double last = (lanes == 1 ? MIN(run->high[0], run->high[1]) : run->high[lane]) - w * n;
    g_autofree double *sum = g_new(double, n + 1);
    g_autofree guint *count = g_new(guint, n + 1);
    guint blocks = 0;
    for (guint i = 0; i < n; i++) {
        const WsSceneItem *item = item_at(r, first + i * lanes);
        const double at = run->to - run->from == 1 ? item->x : item->x + (item->w - w) / 2;
        sum[blocks] = at - w * i;
        count[blocks++] = 1;
        while (blocks > 1 &&
               sum[blocks - 2] / count[blocks - 2] >= sum[blocks - 1] / count[blocks - 1]) {
            sum[blocks - 2] += sum[blocks - 1];
            count[blocks - 2] += count[blocks - 1];
            blocks--;
        }
    }
    gboolean fits = last >= low - 1e-6;
    for (guint b = 0, i = 0; b < blocks; b++)
        for (guint k = 0; k < count[b]; k++, i++) {
            const WsSceneItem *item = item_at(r, first + i * lanes);
            WsSceneZone *z = zone_at(r, first + i * lanes);
            z->x0 = CLAMP(sum[b] / count[b], low, MAX(last, low)) + w * i;
            z->x1 = z->x0 + w;
            fits &= fabs(z->x0 + w / 2 - item->x - item->w / 2) <= FAR;
        }
    return fits;
}

static gboolean place_all(const Rows *r, Run *run, Giving giving, guint lanes, double w)
{
    bound(r, run, giving);
    gboolean fits = TRUE;
    for (guint k = 0; k < lanes; k++)
        fits &= place(r, run, k, lanes, w);
    return fits;
}

/* The first way that gives each enough. */
static guint lay(const Rows *r, Run *run)
{
    static const struct {
        guint lanes, least; /* for so many items and more */
        guint most;         /* and no more than these */
        Giving giving;
    } way[] = {
        { 1, 1, 2, GIVES_SOME },
        { 2, 2, G_MAXUINT, GIVES_SOME },
        { 1, 1, 2, GIVES_ALL },
        { 2, 2, G_MAXUINT, GIVES_ALL },
        { 2, 1, G_MAXUINT, GIVES_UPPER_HALF },
    };
    const guint n = run->to - run->from, most = item_at(r, run->from)->h >= HALVED ? 2 : 1;
    guint lanes = 1;
    double w = TARGET;
    gboolean fits = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(way) && !fits; i++) {
        lanes = MIN(way[i].lanes, most);
        fits = n >= way[i].least && (n <= way[i].most || most == 1) &&
               place_all(r, run, way[i].giving, lanes, w);
    }
    if (!fits)
        lanes = most;
    while (!fits && w > LEAST) {
        w = MAX(w * 0.9, LEAST);
        fits = place_all(r, run, lanes > 1 ? GIVES_UPPER_HALF : GIVES_ALL, lanes, w);
    }
    for (guint i = run->from; i < run->to; i++) {
        WsSceneZone *z = zone_at(r, i);
        const WsSceneItem *item = item_at(r, i);
        const guint lane = (i - run->from) % lanes;
        z->y0 = item->y - BEYOND + lane * (item->h / 2 + BEYOND);
        z->y1 = lanes > 1 ? z->y0 + item->h / 2 + BEYOND : item->y + item->h + BEYOND;
        z->port = z->x1;
        z->shared = w < TARGET - 0.01 ? n : 0;
    }
    return lanes;
}

/* Behind a zone of the whole height and before what is free, an edge begins. */
static void add_ports(const Rows *r, const Run *run, guint lanes)
{
    for (guint i = run->from; i < run->to; i++) {
        WsSceneZone *z = zone_at(r, i);
        const WsSceneItem *item = item_at(r, i);
        const guint lane = (i - run->from) % lanes;
        double to = run->high[lane];
        if (item->kind == WS_ITEM_WAIT || item->kind == WS_ITEM_IDLE || item->kind == WS_ITEM_SYNC)
            continue;
        for (guint k = i + 1; k < MIN(i + 3, run->to); k++)
            to = MIN(to, zone_at(r, k)->x0);
        z->port = MAX(z->x1, item->x + item->w);
        z->x1 = MAX(MIN(z->port + PORT, to), z->x1);
        z->port = MIN(z->port, z->x1);
    }
}

/* What the run took of what is wide beside it. */
static void give(const Rows *r, const Run *run, guint lanes)
{
    for (guint i = run->from; i < run->to; i++) {
        const WsSceneZone *z = zone_at(r, i);
        const gboolean above = lanes > 1 && (i - run->from) % lanes == 0;
        if (run->to < r->line->len) {
            double *given = (above ? r->given_above : r->given) + index_at(r, run->to);
            *given = MAX(*given, z->x1 - item_at(r, run->to)->x);
        }
        if (run->from) {
            const WsSceneItem *former = item_at(r, run->from - 1);
            WsSceneZone *of = zone_at(r, run->from - 1);
            const double by = MAX(former->x + former->w - z->x0, 0);
            of->given = above ? of->given : MAX(of->given, by);
            of->above = MAX(of->above, by);
        }
    }
}

static void lay_row(Rows *r)
{
    for (guint i = 0; i < r->line->len; i++) {
        Run run = { .from = i };
        while (i < r->line->len && ws_item_is_narrow(item_at(r, i)))
            i++;
        if (i == run.from)
            continue;
        run.to = i;
        const guint lanes = lay(r, &run);
        add_ports(r, &run, lanes);
        give(r, &run, lanes);
    }
}

static gint by_place(gconstpointer pa, gconstpointer pb, gpointer scene)
{
    const WsScene *s = scene;
    const WsSceneItem *a = &g_array_index(s->item, WsSceneItem, *(const guint *)pa);
    const WsSceneItem *b = &g_array_index(s->item, WsSceneItem, *(const guint *)pb);
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->x < b->x ? -1 : a->x > b->x ? 1 : a->id < b->id ? -1 : a->id > b->id;
}

WsSceneZone *ws_zones_new(WsScene *s)
{
    const guint n = s->item->len;
    g_autofree double *given = g_new0(double, n + 1), *above = g_new0(double, n + 1);
    g_autoptr(GArray) order = g_array_sized_new(FALSE, FALSE, sizeof(guint), n);
    Rows r = { s, g_array_new(FALSE, FALSE, sizeof(guint)), given, above,
               g_new0(WsSceneZone, n + 1) };
    for (guint i = 0; i < n; i++) {
        const WsSceneItem *item = &g_array_index(s->item, WsSceneItem, i);
        if (item->step || item->w >= TARGET) /* little that is merged is in nobody's way */
            g_array_append_val(order, i);
    }
    g_array_sort_with_data(order, by_place, s);
    for (guint i = 0; i < order->len;) {
        const guint row = g_array_index(s->item, WsSceneItem, g_array_index(order, guint, i)).row;
        g_array_set_size(r.line, 0);
        for (; i < order->len; i++) {
            const guint at = g_array_index(order, guint, i);
            if (g_array_index(s->item, WsSceneItem, at).row != row)
                break;
            g_array_append_val(r.line, at);
        }
        lay_row(&r);
    }
    g_array_unref(r.line);
    return r.zone;
}
