#include "trace/spread.h"

static gint compare_times(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

WsTraceSpread ws_spread(GArray *list)
{
    WsTraceSpread s = { 0 };
    guint64 n = list->len;
    if (!n)
        return s;
    g_array_sort(list, compare_times);
    s.p50 = g_array_index(list, gint64, (n * 50 + 99) / 100 - 1);
    s.p95 = g_array_index(list, gint64, (n * 95 + 99) / 100 - 1);
    s.max = g_array_index(list, gint64, n - 1);
    return s;
}
