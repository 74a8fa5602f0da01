
#include "program/op.h"
#include "program/parts/operation.h"

/* clang-format off */
#define WS_BREADTH_ANY WS_BREADTH_GROUP
#define WS_ANY_LEADER  FALSE
#define WS_ANY_WARP    FALSE
#define WS_ANY_GROUP   FALSE
#define WS_ANY_ANY     TRUE

const WsOpRow ws_op_table[WS_OP_KIND_COUNT + 1] = {
#define WS_OP(id, word, prox, width, eng, act, wait, give, order, source, target, rec, score, play, cost, line) \
    [WS_OP_##id] = { .text = word,                                                                 \
                     .help = line,                                                                 \
                     .proxy = WS_PROXY_##prox,                                                     \
                     .breadth = WS_BREADTH_##width,                                                \
                     .any = WS_ANY_##width,                                                        \
                     .engine = WS_ENGINE_##eng,                                                    \
                     .deed = WS_DEED_##act,                                                        \
                     .waits = WS_WAITS_##wait,                                                     \
                     .gives = WS_GIVES_##give,                                                     \
                     .orders = WS_ORDERS_##order,                                                  \
                     .from = WS_DATA_AT_##source,                                                  \
                     .to = WS_DATA_AT_##target,                                                    \
                     .record = WS_RECORD_##rec,                                                    \
                     .check = WS_CHECK_##play },
#include "program/op.def"
#undef WS_OP
    [WS_OP_KIND_COUNT] = { .text = "?", .help = "unknown" },
};
/* clang-format on */

/* Every id has a row: two rows of one id are an error of -Woverride-init. */
enum {
    ROWS = 0
#define WS_OP(id, ...) +1
#include "program/op.def"
#undef WS_OP
};
G_STATIC_ASSERT((int)ROWS == (int)WS_OP_KIND_COUNT);

gboolean ws_op_picks(const WsOp *op)
{
    return op->places != 0;
}

const char *ws_reduce_text(WsReduce reduce)
{
    static const char *const text[] = { NULL, "add", "min",      "max",     "and",
                                        "or", "xor", "exchange", "compare", "store" };
    G_STATIC_ASSERT(G_N_ELEMENTS(text) == WS_REDUCE_COUNT);
    return (guint)reduce < WS_REDUCE_COUNT ? text[reduce] : NULL;
}
