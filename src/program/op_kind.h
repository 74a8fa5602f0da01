/* Names of the kinds of primitive operations, without what is true of them (op.h). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
#define WS_OP_ID(id) WS_OP_##id,
#include "program/op_id.def"
#undef WS_OP_ID
    WS_OP_KIND_COUNT
} WsOpKind;

typedef enum { WS_BREADTH_LEADER, WS_BREADTH_WARP, WS_BREADTH_GROUP } WsBreadth;
typedef enum { WS_PROXY_NONE, WS_PROXY_GENERIC, WS_PROXY_ASYNC } WsProxy;
/* Which queue completes an asynchronous effect (LANGUAGE section 12). */
typedef enum {
    WS_ENGINE_NONE,
    WS_ENGINE_TMA_LOAD,  /* ends with its barrier's completion */
    WS_ENGINE_GATHER,    /* cp.async: ends with the arrival, or with load_wait */
    WS_ENGINE_TMA_STORE, /* bulk groups of the leader, FIFO */
    WS_ENGINE_MMA,       /* commit groups of the agent, FIFO */
} WsEngine;
typedef enum { WS_MODE_READ = 1, WS_MODE_WRITE = 2 } WsMode;
/* What becomes of what is there. */
typedef enum {
    WS_REDUCE_NONE,
    WS_REDUCE_ADD,
    WS_REDUCE_MIN,
    WS_REDUCE_MAX, /* up to here also of tensors */
    WS_REDUCE_AND,
    WS_REDUCE_OR,
    WS_REDUCE_XOR,
    WS_REDUCE_EXCHANGE, /* from here on the order in which they happen shows in what is left */
    WS_REDUCE_COMPARE,  /* replaced where it is what was expected */
    WS_REDUCE_STORE,    /* replaced, at elements that a value picks */
    WS_REDUCE_COUNT
} WsReduce;

G_END_DECLS
