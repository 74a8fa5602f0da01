/* One operation in Gluon: lower.def says how. */
#include "base/phrase.h"
#include "codegen/python/gluon/gluon.h"
#include "program/op.h"
#include "program/parts/operation.h"

/* Each call there is a group, whatever the design commits together. */
static void store_wait(WsPy *y, const WsOp *op)
{
    if (op->full) {
        ws_py_refuse(y, op, "a wait for the writes of stores (3.6 waits for their reads)",
                     "wait for reads, or end the kernel there");
        return;
    }
    ws_py_line(y, "tma.store_wait(%" G_GINT64_FORMAT ")", ws_py_stores_stay(y, op));
}

#define UNKNOWN                                    NULL
#define CONTROL                                    NULL
#define IMPLIED(how)                               NULL, how
#define FIXED(text)                                NULL, NULL, text
#define CLOSED_PIPE                                WS_WORD("a loop that ends when the writer closes a pipe")
#define COUNTED                                    WS_WORD("give the loop a count, and drop `close`")
#define NOT(why, change)                           NULL, NULL, NULL, why, change
#define WS_LOWER(id, prim, llvm, cuda, gluon, ...) [WS_OP_##id] = { gluon },
static const WsPyRow table[WS_OP_KIND_COUNT] = {
#include "codegen/lower.def"
};

void ws_gluon_op(WsPy *y, const WsOp *op)
{
    if (ws_py_beyond(op)) {
        ws_py_refuse(y, op,
                     op->transfer ? "a multicast copy (3.6 has none)"
                                  : "an arrival in another CTA (3.6 has none)",
                     "a design of cluster 1");
        return;
    }
    ws_py_row(y, op, &table[op->kind]);
}
