/* Which item a pointer means. A narrow step (a wait, an arrival) is given room enough to be held.
 */
#include "score/build.h"

#include <math.h>

#define TARGET 12.0         /* units that a pointer is given for a narrow step */
#define WIDE   (3 * TARGET) /* what gives the rest of it before the step … */
#define KEEPS  15.0         /* … and what is narrower, behind it, keeps so much */
#define ORIGIN 8.0          /* units about the dot at which an edge begins */
#define APART  1.5          /* units between two steps that follow each other */

static gboolean is_narrow(const WsSceneItem *item)
{
    return item->step && item->w < TARGET;
}

static const WsSceneItem *item_at(const WsScene *s, guint i)
{
    return &g_array_index(s->item, WsSceneItem, i);
}

/* The nearest item of its row behind an item, or before it. */
static const WsSceneItem *beside(const WsScene *s, const WsSceneItem *item, gboolean behind)
{
    const WsSceneItem *found = NULL;
    double nearest = TARGET;
    for (guint i = 0; i < s->item->len; i++) {
        const WsSceneItem *each = item_at(s, i);
        const double apart = behind ? each->x - item->x - item->w : item->x - each->x - each->w;
        if (each == item || each->row != item->row || apart < -APART || apart >= nearest ||
            (behind ? each->x <= item->x : each->x >= item->x))
            continue;
        nearest = apart;
        found = each;
    }
    return found;
}

/* Where a narrow step is hit: from its begin on, at the cost of what is wide behind it; what it
 * lacks then it gets of what is wide before it, at whose end it stands. */
static void zone_of(const WsScene *s, const WsSceneItem *item, double *from, double *to)
{
    const WsSceneItem *next = beside(s, item, TRUE), *former = beside(s, item, FALSE);
    *from = item->x;
    *to = item->x + TARGET;
    if (next) {
        const double given = next->w >= 2 * TARGET ? TARGET : MAX(next->w - KEEPS, 0);
        *to = CLAMP(next->x + given, item->x + item->w, *to);
    }
    const double lack = TARGET - (*to - *from);
    const double gap = former ? MAX(item->x - former->x - former->w, 0) : TARGET;
    if (lack > 0)
        *from -= former && former->w >= WIDE && gap < APART ? lack : MIN(lack, gap);
}

double ws_scene_given(const WsScene *s, const WsSceneItem *item)
{
    double from, to;
    const WsSceneItem *next = item->w >= WIDE ? beside(s, item, TRUE) : NULL;
    if (!next || !is_narrow(next))
        return 0;
    zone_of(s, next, &from, &to);
    return CLAMP(item->x + item->w - from, 0, TARGET);
}

/* The narrow step in whose zone a place is; of several the nearest one. */
static const WsSceneItem *narrow_at(const WsScene *s, double x, double y, const WsSceneItem *hit)
{
    const WsSceneItem *found = NULL;
    double nearest = G_MAXDOUBLE;
    for (guint i = s->item->len; i-- > 0;) {
        const WsSceneItem *item = item_at(s, i);
        const double apart = x < item->x ? item->x - x : MAX(x - item->x - item->w, 0);
        double from, to;
        if (!is_narrow(item) || y < item->y || y > item->y + item->h || apart > TARGET ||
            apart >= nearest || (hit && item->row != hit->row))
            continue;
        zone_of(s, item, &from, &to);
        if (x < from || x >= to)
            continue;
        nearest = apart;
        found = item;
    }
    return found;
}

const WsSceneItem *ws_scene_hit(const WsScene *s, double x, double y)
{
    const WsSceneItem *hit = NULL, *near = NULL;
    double nearest = 3.0;
    for (guint i = s->item->len; i-- > 0 && !hit;) {
        const WsSceneItem *item = item_at(s, i);
        const double apart = x < item->x ? item->x - x : x - item->x - item->w;
        if (y < item->y || y > item->y + item->h || apart > nearest)
            continue;
        near = item;
        nearest = apart;
        hit = apart <= 0 ? item : NULL;
    }
    const WsSceneItem *narrow = narrow_at(s, x, y, hit);
    return narrow ? narrow : near;
}

const WsSceneEdge *ws_scene_hit_origin(const WsScene *s, double x, double y)
{
    const WsSceneEdge *found = NULL;
    double nearest = ORIGIN;
    for (guint i = 0; i < s->edge->len; i++) {
        const WsSceneEdge *e = &g_array_index(s->edge, WsSceneEdge, i);
        const double wide = e->label ? ws_text_width_estimate(e->label, 9.5) : 0;
        if (!e->origin)
            continue;
        if (e->label && x >= e->label_x - 3 && x < e->label_x + wide + 3 && y >= e->label_y - 10 &&
            y < e->label_y + 4)
            return e;
        const double apart = hypot(x - e->x0, y - e->y0);
        if (apart < nearest) {
            nearest = apart;
            found = e;
        }
    }
    return found;
}
