/* A primitive operation. What only some kinds have hangs on it by pointer, in headers of their own.
 */
#pragma once

#include "expr/expr.h"
#include "model/kind.h"
#include "program/forward.h"
#include "program/op_kind.h"
#include "program/parts/raw.h"

G_BEGIN_DECLS

typedef enum { WS_SCOPE_CTA, WS_SCOPE_CLUSTER, WS_SCOPE_GPU } WsScope;
typedef enum { WS_CTAS_OWN, WS_CTAS_ALL, WS_CTAS_MASK, WS_CTAS_EXPR } WsCtasKind;
struct WsCtas {
    WsCtasKind kind;
    guint16 mask;
    WsExpr *expr; /* EXPR: rank */
};

/* A view of a register value. */
struct WsValueUse {
    guint value;         /* index in the agent's values */
    WsExpr *row0, *col0; /* constants once loops with unroll full are unrolled */
    guint rows, cols;
    WsMode mode;
};

/* What a barrier waits for before it joins: PLAIN nothing, LOCAL its own LDS operations. */
typedef enum { WS_BORDER_NONE, WS_BORDER_PLAIN, WS_BORDER_LOCAL } WsBorder;
typedef enum { WS_HINT_NONE, WS_HINT_EVICT_FIRST, WS_HINT_EVICT_NORMAL, WS_HINT_EVICT_LAST } WsHint;

struct WsOp {
    WsOpKind kind;
    guint index; /* dense number over the whole program: key for side tables and traces */
    char *id;    /* "groups/mma/body/0/do/3#fence" */
    char *step;  /* id of the step it comes from: "groups/mma/body/0/do/3" */
    WsNodeKind step_kind;
    char *label; /* short text for people: "load A -> a", "wait full" */
    char *words; /* the step in its author's words: "load A at [tm*BM, k*BK] into a"; or NULL */
    char *note;  /* what the author says of the step, or NULL */
    gboolean derived; /* not written by the author */
    gint agent;       /* -1: prologue */
    WsBreadth breadth;
    WsTree *tree; /* the leaf that holds it; walk `parent` for the loop path */
    WsProxy proxy;
    WsEngine engine;
    WsScope scope;

    /* barrier, if any (barrier < 0: none) */
    gint barrier;
    WsExpr *element; /* array element, integer literal 0 if not an array */
    WsExpr *use;     /* normalised use (mbarrier) */
    WsExpr *slot;    /* use mod slots, or the override */
    WsExpr *parity;  /* WAIT: tested parity, `ready` already applied */
    WsExpr *turn;    /* WAIT: number of the completion it stands for (use div slots, minus 1 if
                        ready; -1 passes at once); ARRIVE, EXPECT, LOAD: completion it feeds;
                        use and turn are NULL where `slot`/`phase` override the use */
    gint64 count;    /* ARRIVE: arrivals of one execution by the whole agent, per target CTA;
                        EXPECT: arrivals (0 or 1); BAR_*: threads; CP_ARRIVE: threads */
    gint64 per;      /* ARRIVE: lanes per arrival: 0 leader only, else one arrival per `per`
                        consecutive lanes (32 = one per warp, 1 = all) */
    gint64 bytes;    /* EXPECT: bytes expected; TMA_LOAD, COPY: bytes credited per target CTA */
    WsCtas ctas;     /* targets of ARRIVE, TMA_LOAD (multicast), COPY */

    /* shared memory */
    guint n_access;
    WsAccess *access;

    /* global memory */
    gint tensor, map;                 /* -1 none */
    const WsTensorTransfer *transfer; /* TMA_LOAD, TMA_GET, TMA_STORE: the whole of it */
    guint n_coord;                    /* logical order (tensor dimension 0 first) */
    WsExpr *coord[WS_MAX_RANK];
    WsExpr *limit; /* ST_GLOBAL, RED_GLOBAL: rows of the tile from this one on are not written;
                      NULL: all are */
    WsReduce reduce;
    WsHint hint;

    const WsPeer *peer; /* TMA_PUT, TMA_GET, NOTIFY, AWAIT: the device and the flag; NULL for all
                           others */

    /* register values */
    guint n_value;
    WsValueUse value[4]; /* MMA: [0] accumulator, [1] operand a if in registers */
    /* RED_SHARED, LD_SHARED: which of `value`, 0 none, says what element of the view each of [0]
     * goes to, or comes from; what is expected there (COMPARE); gets what was there before */
    guint8 places, expected, old;
    guint8 mask; /* ST_GLOBAL, RED_GLOBAL: which of `value` says, by not being 0, that an element is
                    written; 0 none */
    WsMma *mma;  /* MMA, MFMA */
    const char *math_name; /* VECTOR: "add" */
    gboolean restart;      /* CUBE: the accumulator is written, not added to */
    gint64 n;              /* MMA_WAIT, BULK_WAIT, CP_WAIT: newest groups that may stay; SETMAXNREG:
                              registers; MBAR_INIT: count; PIPE_TELL: 1 is the end; PIPE_ASK: 1 finds it */
    gboolean increase;     /* SETMAXNREG: .inc */
    WsBorder border;       /* BAR_SYNC, where groups have halves */
    WsBorder lowered; /* what Triton's lowering would make of that border; NONE: as it is drawn */
    gboolean full;    /* BULK_WAIT: wait for the writes too (no .read) */
    guint n_math;
    WsStatement **math; /* MATH: uniform names are bound (VAR, literals; row and col are VAR of kind
                           ROW, COL); NAME leaves and left-hand names are values of the agent, or
                           temporaries of the step. Nothing in it is folded: it is f32 arithmetic */
    WsExpr *skip;       /* MATH: `unless`, bound in the same way */
    WsAssign *assign;   /* MATH: [n_math], what each statement does */
    const WsArray *unless; /* MATH: `skip` as nodes, NULL without */
    guint64 line_at;       /* MATH: where the warps hand each other sums of linear values */
    gint line_barrier; /* MATH: the agent's own, at which they meet for that; -1: they need not */
    gint var;          /* LET, ADVANCE, CLAIM, TAKE: variable set; -1 none */
    WsExpr *set;       /* LET: value; ADVANCE: increment */
    char *text;        /* MARK name, RAW text */
    guint n_raw;
    WsRawOperand *raw; /* RAW: operands of the text, `in` first */
    WsRawText dialect; /* RAW: language of `text` */
    gboolean unread;   /* RAW: lines of a kernel that an import did not understand, as `text`; a
                          kernel without them would be another one */
    gboolean declared; /* made by the text of a raw step: counted and judged, emitted by nobody */
    guint n_flying;
    const WsOp **flying; /* MMA of this agent that some path leaves in flight before this operation,
                            oldest first */
    WsWait *wait;        /* of a wait for groups, NULL otherwise */
};

G_END_DECLS
