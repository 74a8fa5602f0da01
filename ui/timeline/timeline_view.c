#include "ui/timeline/timeline_view.h"

#include <math.h>

#define MAX_HISTORY 200

void ws_pane_init(WsPane *v)
{
    *v = (WsPane){ .width = 1000, .height = 400, .length = 1 };
    v->at = v->own = v->fit = (WsPanePlace){ TRUE, 0, 1, 0 };
    v->history = g_array_new(FALSE, FALSE, sizeof(WsPanePlace));
}

void ws_pane_clear(WsPane *v)
{
    g_clear_pointer(&v->history, g_array_unref);
}

double ws_pane_x(const WsPane *v, double unit)
{
    return (unit - v->at.from) * v->at.scale;
}

double ws_pane_unit(const WsPane *v, double x)
{
    return v->at.from + x / v->at.scale;
}

void ws_pane_clamp(WsPane *v)
{
    WsPanePlace *at = &v->at;
    at->y = CLAMP(at->y, 0, MAX(v->content - v->height, 0));
    if (at->folded)
        return;
    double least = v->width * 0.8 / MAX(v->length, 1);
    at->scale = CLAMP(at->scale, MIN(least, WS_PANE_MAX_SCALE), WS_PANE_MAX_SCALE);
    double shown = v->width / at->scale, air = shown / 10;
    double low = -air, high = MAX(v->length + air - shown, low);
    if (shown > v->length + 2 * air)
        low = high = (v->length - shown) / 2;
    at->from = CLAMP(at->from, low, high);
}

static gboolean same_place(const WsPanePlace *a, const WsPanePlace *b)
{
    return a->folded == b->folded && a->y == b->y &&
           (a->folded || (fabs(a->from - b->from) < 1e-9 && a->scale == b->scale));
}

gboolean ws_pane_return(WsPane *v)
{
    if (!same_place(&v->at, &v->fit))
        return FALSE;
    v->at = v->own;
    return TRUE;
}

void ws_pane_settle(WsPane *v, gboolean returned)
{
    if (returned) /* how high the rows are may have been known only now */
        v->at.y = v->own.y;
    ws_pane_clamp(v);
    if (!returned)
        v->own = v->at;
    v->fit = v->at;
}

void ws_pane_zoom_at(WsPane *v, double x, double factor)
{
    double unit = ws_pane_unit(v, x);
    double least = v->width * 0.8 / MAX(v->length, 1);
    v->at.scale = CLAMP(v->at.scale * factor, MIN(least, WS_PANE_MAX_SCALE), WS_PANE_MAX_SCALE);
    v->at.from = unit - x / v->at.scale;
    ws_pane_clamp(v);
}

void ws_pane_pan(WsPane *v, double dx, double dy)
{
    if (!v->at.folded)
        v->at.from += dx / v->at.scale;
    v->at.y += dy;
    ws_pane_clamp(v);
}

void ws_pane_show(WsPane *v, double from, double to)
{
    v->at.folded = FALSE;
    v->at.scale = v->width / MAX(to - from, 1e-6);
    v->at.from = from;
    if (v->at.scale > WS_PANE_MAX_SCALE) { /* stay about the middle */
        v->at.scale = WS_PANE_MAX_SCALE;
        v->at.from = (from + to) / 2 - v->width / v->at.scale / 2;
    }
    ws_pane_clamp(v);
}

gboolean ws_pane_reveal(WsPane *v, double from, double to)
{
    double shown = v->width / v->at.scale, air = MIN(60 / v->at.scale, shown / 6);
    double old = v->at.from;
    if (to - from > shown - 2 * air)
        to = from + shown - 2 * air;
    if (from < v->at.from + air || to > v->at.from + shown - air) {
        /* Far away: into the middle; near: just into the window. */
        if (from > v->at.from + 1.5 * shown || to < v->at.from - shown / 2)
            v->at.from = (from + to) / 2 - shown / 2;
        else if (from < v->at.from + air)
            v->at.from = from - air;
        else
            v->at.from = to + air - shown;
    }
    ws_pane_clamp(v);
    return v->at.from != old;
}

gboolean ws_pane_reveal_y(WsPane *v, double y, double h)
{
    double old = v->at.y;
    if (y < v->at.y + 8)
        v->at.y = y - 8;
    else if (y + h > v->at.y + v->height - 8)
        v->at.y = y + h + 8 - v->height;
    ws_pane_clamp(v);
    return v->at.y != old;
}

void ws_pane_push(WsPane *v, gint64 now, gint64 apart)
{
    gboolean one = v->pushed && now - v->pushed < apart;
    v->pushed = now;
    g_array_set_size(v->history, v->now); /* a new way: what was ahead is gone */
    if (one)
        return;
    if (v->now && same_place(&g_array_index(v->history, WsPanePlace, v->now - 1), &v->at))
        return;
    if (v->now == MAX_HISTORY) {
        g_array_remove_index(v->history, 0);
        v->now--;
    }
    g_array_append_val(v->history, v->at);
    v->now++;
}

/* What is left behind takes the place of what is returned to. */
gboolean ws_pane_back(WsPane *v)
{
    if (!v->now)
        return FALSE;
    WsPanePlace *place = &g_array_index(v->history, WsPanePlace, --v->now), left = v->at;
    v->at = *place;
    *place = left;
    v->pushed = 0;
    ws_pane_clamp(v);
    return TRUE;
}

gboolean ws_pane_forward(WsPane *v)
{
    if (v->now >= v->history->len)
        return FALSE;
    WsPanePlace *place = &g_array_index(v->history, WsPanePlace, v->now++), left = v->at;
    v->at = *place;
    *place = left;
    v->pushed = 0;
    ws_pane_clamp(v);
    return TRUE;
}
