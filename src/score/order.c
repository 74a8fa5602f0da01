/* The axis Order: events side by side, however long they take. */
#include "score/build.h"

double ws_order_of(const gint64 *knot, guint n, double t)
{
    if (t <= (double)knot[0])
        return t - (double)knot[0];
    guint lo = 0, hi = n - 1; /* knot[lo] <= t */
    while (lo < hi) {
        guint mid = lo + (hi - lo + 1) / 2;
        if ((double)knot[mid] <= t)
            lo = mid;
        else
            hi = mid - 1;
    }
    if (lo + 1 >= n)
        return lo + (t - (double)knot[lo]);
    return lo + (t - (double)knot[lo]) / (double)(knot[lo + 1] - knot[lo]);
}

double ws_order_time(const gint64 *knot, guint n, double at)
{
    if (at <= 0)
        return (double)knot[0] + at;
    if (at >= n - 1)
        return (double)knot[n - 1] + (at - (n - 1));
    guint i = (guint)at;
    return (double)knot[i] + (at - i) * (double)(knot[i + 1] - knot[i]);
}

static gint by_value(gconstpointer pa, gconstpointer pb)
{
    gint64 a = *(const gint64 *)pa, b = *(const gint64 *)pb;
    return a < b ? -1 : a > b;
}

GArray *ws_order_knots(const WsTrace *t, guint cta)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < t->lane->len; i++) {
        const WsTraceLane *lane = &g_array_index(t->lane, WsTraceLane, i);
        for (guint64 k = 0; lane->cta == cta && k < lane->n; k++) {
            const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first + k);
            gint64 end = MAX(r->issued, r->start);
            g_array_append_val(all, r->start);
            g_array_append_val(all, end);
            if (r->done > end)
                g_array_append_val(all, r->done);
        }
    }
    g_array_sort(all, by_value);
    GArray *knots = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < all->len; i++)
        if (!i || g_array_index(all, gint64, i) != g_array_index(all, gint64, i - 1))
            g_array_append_vals(knots, &g_array_index(all, gint64, i), 1);
    return knots;
}
