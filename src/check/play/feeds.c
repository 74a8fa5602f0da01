/* Who contributed to the last two completions of an mbarrier, who joined the last generation of a
 * named barrier. Whoever knows all of them knows that it is over, even if no wait has told him (the
 * weak form of R1, W1 and N1): nothing can be early then. */
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

static gboolean knows_all(const GArray *list, const WsInst *inst, gboolean leader)
{
    for (guint i = 0; list && i < list->len; i++) {
        const Feed *f = &g_array_index(list, Feed, i);
        if (f->comp == G_MAXUINT || !ws_knows(inst, leader, f->comp, f->epoch))
            return FALSE;
    }
    return list && list->len > 0;
}

gboolean ws_surely_over(const WsSlot *slot, const WsInst *inst, gboolean leader, gint64 completion)
{
    gint64 back = slot->phase - completion; /* 1: the last one */
    return back >= 1 && back <= 2 && knows_all(slot->feeds[back], inst, leader);
}

/* --- named barriers --------------------------------------------------------------------------- */

void ws_joins(WsNamed *named, WsInst *inst)
{
    for (guint i = 0; i < G_N_ELEMENTS(named->joins) && !named->joins[i]; i++)
        named->joins[i] = g_array_new(FALSE, FALSE, sizeof(Feed));
    const Feed f = { inst->comp_o, ++inst->o }; /* a join is a deed one can know of */
    g_array_append_val(named->joins[0], f);
}

void ws_joins_over(WsNamed *named)
{
    GArray *before = named->joins[1];
    named->joins[1] = named->joins[0];
    named->joins[0] = before;
    g_array_set_size(before, 0);
}

void ws_joins_clear(WsNamed *named, gboolean free)
{
    for (guint i = 0; i < G_N_ELEMENTS(named->joins); i++)
        if (named->joins[i] && free)
            g_clear_pointer(&named->joins[i], g_array_unref);
        else if (named->joins[i])
            g_array_set_size(named->joins[i], 0);
}

gboolean ws_all_joined(const WsNamed *named, const WsInst *inst)
{
    return knows_all(named->joins[1], inst, FALSE);
}
