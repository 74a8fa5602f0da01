/* An order forced upon a kernel: the moves of a witness, so that what is refuted shows what it
 * does. A clock counts the moves that are done. A gate stands before one execution of one
 * operation: who comes to it waits until the clock has reached `need`, then `settle` nanoseconds
 * more (for bytes that land by themselves), executes, and sets the clock to `then`. Executions
 * without a gate are free. Late operations (asynchronous ones, which hardware may carry out at any
 * time before the wait that retires them) are issued right before that wait. A value; it owns its
 * arrays. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

#define WS_HOLD_FREE G_MAXUINT32 /* `need`: goes on at once; `then`: leaves the clock as it is */
enum { WS_HOLD_ROUNDS = 12 };

typedef struct {
    guint op, rank; /* operation index; CTA of the cluster */
    guint n_rounds; /* of the enclosing loops, outermost first, as the walker counts them */
    gint64 round[WS_HOLD_ROUNDS];
    guint32 need, settle, then;
    guint32 need_after, then_after; /* of a sync: to go on once all have come */
    gboolean first;                 /* the first warp of the agent alone is meant: */
    guint32 need_others;            /* the others wait for this */
} WsHoldGate;

/* What an agent waits for when nothing moves any more. */
typedef struct {
    guint op, rank, slot;
    gint parity; /* -1: a named or cluster barrier */
    guint n_rounds;
    gint64 round[WS_HOLD_ROUNDS];
} WsHoldAwait;

typedef struct {
    GArray *gate;   /* WsHoldGate */
    GArray *late;   /* guint: operation indices */
    guint32 end;    /* the clock when all moves are done */
    GArray *size;   /* WsSize: the sizes to run; names belong to the program */
    gint64 grid;    /* CTAs to launch */
    gboolean hangs; /* the end is that nothing moves, else that values are wrong, or both */
    GArray *await;  /* WsHoldAwait, of a hang */
    char *told;     /* what the witness says happens at the end */
} WsHold;

WsHold *ws_hold_new(void);
void ws_hold_free(WsHold *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsHold, ws_hold_free)
gboolean ws_hold_is_late(const WsHold *h, guint op);

G_END_DECLS
