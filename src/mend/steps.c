/* Sorts of steps, as quick-fixes see them. */
#include "mend/fixer.h"

enum { ORDERS = 1, MOVES = 2, HANDS = 4, RETIRES = 8, DATA = 16 };

static const struct {
    WsNodeKind kind;
    guint is;
} sorts[] = {
    { WS_STEP_WAIT, ORDERS | MOVES | HANDS },
    { WS_STEP_ARRIVE, ORDERS | MOVES | HANDS },
    { WS_STEP_EXPECT, ORDERS | MOVES | HANDS },
    { WS_STEP_ACQUIRE, ORDERS | MOVES | HANDS },
    { WS_STEP_COMMIT, ORDERS | MOVES | HANDS },
    { WS_STEP_RELEASE, ORDERS | MOVES | HANDS },
    { WS_STEP_SYNC, ORDERS | MOVES },
    { WS_STEP_FENCE, ORDERS | MOVES },
    { WS_STEP_CLUSTER, ORDERS },
    { WS_STEP_MMA_WAIT, ORDERS | MOVES | RETIRES },
    { WS_STEP_STORE_WAIT, ORDERS | MOVES | RETIRES },
    { WS_STEP_LOAD_WAIT, ORDERS | MOVES | RETIRES },
    { WS_STEP_LOAD, DATA },
    { WS_STEP_GATHER, DATA },
    { WS_STEP_MMA, DATA },
    { WS_STEP_READ, DATA },
    { WS_STEP_WRITE, DATA },
    { WS_STEP_STORE, DATA },
    { WS_STEP_COPY, DATA },
    { WS_STEP_TRANSPOSE, DATA },
};

static gboolean is(WsNodeKind kind, guint what)
{
    for (guint i = 0; i < G_N_ELEMENTS(sorts); i++)
        if (sorts[i].kind == kind)
            return (sorts[i].is & what) != 0;
    return FALSE;
}

gboolean ws_step_orders(WsNodeKind kind)
{
    return is(kind, ORDERS);
}

gboolean ws_step_moves(WsNodeKind kind)
{
    return is(kind, MOVES);
}

gboolean ws_step_hands(WsNodeKind kind)
{
    return is(kind, HANDS);
}

gboolean ws_step_retires(WsNodeKind kind)
{
    return is(kind, RETIRES);
}

gboolean ws_step_is_data(WsNodeKind kind)
{
    return is(kind, DATA);
}
