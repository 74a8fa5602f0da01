/* Who contributed to the last two completions of an mbarrier. Whoever knows all of them knows that
 * the completion has happened, even if no wait has told him (the weak form of R1 and W1): nothing
 * can be early then. */
#include "check/play/play.h"

typedef struct {
    guint comp; /* G_MAXUINT: bytes that landed, which nobody knows of but by a wait */
    WsEpoch epoch;
} Feed;

void ws_feed(WsSlot *slot, guint comp, WsEpoch epoch)
{
    for (guint i = 0; i < G_N_ELEMENTS(slot->feeds) && !slot->feeds[i]; i++)
        slot->feeds[i] = g_array_new(FALSE, FALSE, sizeof(Feed));
    const Feed f = { comp, epoch };
    g_array_append_val(slot->feeds[0], f);
}

void ws_feeds_over(WsSlot *slot)
{
    GArray *oldest = slot->feeds[2];
    if (!oldest)
        return;
    slot->feeds[2] = slot->feeds[1];
    slot->feeds[1] = slot->feeds[0];
    slot->feeds[0] = oldest;
    g_array_set_size(oldest, 0);
}

void ws_feeds_clear(WsSlot *slot, gboolean free)
{
    for (guint i = 0; i < G_N_ELEMENTS(slot->feeds); i++)
        if (slot->feeds[i] && free)
            g_clear_pointer(&slot->feeds[i], g_array_unref);
        else if (slot->feeds[i])
            g_array_set_size(slot->feeds[i], 0);
}

gboolean ws_surely_over(const WsSlot *slot, const WsInst *inst, gboolean leader, gint64 completion)
{
    gint64 back = slot->phase - completion; /* 1: the last one */
    const GArray *list = back >= 1 && back <= 2 ? slot->feeds[back] : NULL;
    for (guint i = 0; list && i < list->len; i++) {
        const Feed *f = &g_array_index(list, Feed, i);
        if (f->comp == G_MAXUINT || !ws_knows(inst, leader, f->comp, f->epoch))
            return FALSE;
    }
    return list && list->len > 0;
}
