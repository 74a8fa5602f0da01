/* Which item a pointer means. A narrow step (a wait, an arrival) is given room enough to be held
 * (zone.c). */
#include "score/build.h"
#include "score/zone.h"

#include <math.h>

#define NEAR   3.0 /* units beyond an item that still mean it */
#define ORIGIN 8.0 /* units about the dot at which an edge begins */

static const WsSceneItem *item_at(const WsScene *s, guint i)
{
    return &g_array_index(s->item, WsSceneItem, i);
}

const WsSceneZone *ws_scene_zone(WsScene *s, const WsSceneItem *item)
{
    if (!s->zone)
        s->zone = ws_zones_new(s);
    return &s->zone[item - item_at(s, 0)];
}

gboolean ws_scene_narrow(const WsSceneItem *item)
{
    return ws_item_is_narrow(item);
}

const WsSceneItem *ws_scene_hit(WsScene *s, double x, double y)
{
    const WsSceneItem *hit = NULL, *near = NULL;
    double nearest = NEAR;
    for (guint i = s->item->len; i-- > 0;) {
        const WsSceneItem *item = item_at(s, i);
        if (ws_item_is_narrow(item)) {
            const WsSceneZone *z = ws_scene_zone(s, item);
            if (x >= z->x0 && x < z->x1 && y >= z->y0 && y < z->y1)
                return item;
        }
        const double apart = x < item->x ? item->x - x : x - item->x - item->w;
        if (hit || y < item->y || y > item->y + item->h || apart > nearest)
            continue;
        near = item;
        nearest = apart;
        hit = apart <= 0 ? item : NULL;
    }
    return near;
}

const WsSceneEdge *ws_scene_hit_origin(const WsScene *s, double x, double y)
{
    const WsSceneEdge *found = NULL;
    double nearest = ORIGIN;
    for (guint i = 0; i < s->edge->len; i++) {
        const WsSceneEdge *e = &g_array_index(s->edge, WsSceneEdge, i);
        const double wide = e->label ? ws_text_width_estimate(e->label, WS_EDGE_LABEL_SIZE) : 0;
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
