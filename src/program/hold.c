#include "program/hold.h"
#include "program/walk/walk.h"

WsHold *ws_hold_new(void)
{
    WsHold *h = g_new0(WsHold, 1);
    h->gate = g_array_new(FALSE, TRUE, sizeof(WsHoldGate));
    h->late = g_array_new(FALSE, FALSE, sizeof(guint));
    h->size = g_array_new(FALSE, TRUE, sizeof(WsSize));
    h->await = g_array_new(FALSE, TRUE, sizeof(WsHoldAwait));
    return h;
}

void ws_hold_free(WsHold *h)
{
    if (!h)
        return;
    g_array_unref(h->gate);
    g_array_unref(h->late);
    g_array_unref(h->size);
    g_array_unref(h->await);
    g_free(h->told);
    g_free(h);
}

gboolean ws_hold_is_late(const WsHold *h, guint op)
{
    for (guint i = 0; h && i < h->late->len; i++)
        if (g_array_index(h->late, guint, i) == op)
            return TRUE;
    return FALSE;
}
