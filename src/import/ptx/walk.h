/* One thread of a PTX kernel followed with symbolic integers: private to the PTX front end. The
 * thread's number is known, so predicates on it are too; loops go through pyread_loop.h. Addresses
 * in shared memory are expressions over PTX_SMEM, and become places of rings once all threads were
 * followed.
 *
 * A PtxWalk begins with a PyRead: the functions of the symbolic walk take it. It borrows the WsPtx.
 */
#pragma once

#include "import/ptx/ptx.h"
#include "import/python/pyread_loop.h"

G_BEGIN_DECLS

#define PTX_ONCE "once"          /* text of a FOR that nothing keeps from making its first round */
#define PTX_SMEM "shared_memory" /* where dynamic shared memory begins, aligned to 1024 */

/* What is known of a place in shared memory beside its address. */
typedef struct {
    gint64 from, to; /* bytes touched, counted from the address; 0, 0: not known */
    gint64 touched;  /* by all lanes together; less than the span of them: there are gaps */
    gint64 span;     /* of the swizzle, bytes */
    gint64 rows;     /* of `span` bytes (of the contraction if turned); 0: as many as fit */
    gint64 width;    /* bytes of each row (of the contraction if not turned) */
    gint64 pitch;    /* turned: bytes between columns of spans */
    gint64 expected; /* of a box that is loaded: its share of what the barrier expects, 0 unknown */
    const char *dtype;
    gboolean turned;
} PtxOperand;

typedef struct {
    const WsExpr *a, *b; /* addresses; a NULL: registers */
    PtxOperand at, bt;
    const char *list;   /* a: the registers */
    const WsExpr *keep; /* predicate: adds to the accumulator */
    const char *acc;    /* its name */
    gint64 n, k;
    const char *dtype;
    guint line;
    gboolean known;
} PtxMma;

typedef struct {
    PyRead p;
    const WsPtx *ptx;
    guint tid;
    gboolean first;        /* first lane of its warp: elect.sync picks it */
    GHashTable *memory;    /* offset -> byte: constants stored to shared memory, by all threads */
    GHashTable *inits;     /* offset -> count of mbarrier.init */
    GArray *mma;           /* PtxMma: of the open commit group */
    GHashTable *operands;  /* const WsPlace* -> PtxOperand*, owned by the WsRead */
    GHashTable *sums;      /* register that a product accumulates in first -> its columns */
    GHashTable *matrix;    /* all registers that hold sums of products */
    GHashTable *begun;     /* names of sums that begin with a product -> where: see ptx_matrix.c */
    GHashTable *sum_names; /* the same -> name of the value, in this role */
    GHashTable *seen;      /* names of accumulators that were read since the last product */
    GHashTable *heads;     /* loops being walked: head blocks */
    const WsExpr *again;   /* condition under which the round just walked is followed by another */
    gboolean tested_first; /* … tested at the head */
    gint64 registers;      /* of setmaxnreg before the first wait */
    gboolean lost;         /* something that synchronises was not read */
    gboolean waits, warp_synced;            /* since the last barrier of the group: bar.warp.sync */
    guint global_from, global_to, n_global; /* lines of plain global accesses */
    guint place_from, place_to;             /* of copies whose place in a tensor is not followed */
    gboolean ended;                         /* the thread returned */
    guint depth;                            /* branches inside each other */
    gboolean fresh;                         /* no step yet in this round */
    gpointer walked;                        /* the innermost loop being walked */
} PtxWalk;

#define PTX_MAX_DEPTH   12
#define PTX_READ_BUDGET 2500000 /* instructions followed, over all warps */

/* One instruction that is no branch. */
void ptx_instruction(PtxWalk *w, const WsPtxInst *i);
const Val *ptx_operand(PtxWalk *w, const char *text);
const WsExpr *ptx_int(PtxWalk *w, const char *text);
void ptx_set(PtxWalk *w, const char *reg, const Val *v);
const WsExpr *ptx_predicate(PtxWalk *w, const WsPtxInst *i); /* NULL: unknown; literal 1: none */
/* Integer instructions. FALSE: it is none of them. */
gboolean ptx_arithmetic(PtxWalk *w, const WsPtxInst *i);
/* Synchronisation, copies, products. FALSE: it is none of them. */
gboolean ptx_step(PtxWalk *w, const WsPtxInst *i);
/* Blocks from `block` up to `stop` (-1: the end of the thread). */
void ptx_run(PtxWalk *w, guint block, gint stop);
/* e with differences of multiples written as remainders: 8 x - 32 (x / 4) is 8 (x % 4). */
const WsExpr *ptx_ring_form(WsRead *r, const WsExpr *e);
WsReadStep *ptx_new_step(PtxWalk *w, WsReadKind kind, const WsPtxInst *i);
/* The value that products of n columns add to, which begins at register `reg`; its name. */
const char *ptx_accumulator(PtxWalk *w, const char *reg, gint64 n, gint *value);
void ptx_reads(PtxWalk *w, const WsPtxInst *i); /* notes accumulators that an instruction reads */
PtxOperand *ptx_operand_of(PtxWalk *w, const WsPlace *place); /* made when it is first asked for */
void ptx_opaque(PtxWalk *w, const WsPtxInst *i, const char *what);
/* The same for what may synchronise: then nothing of the kernel is judged. */
void ptx_lost(PtxWalk *w, const WsPtxInst *i, const char *what);
/* "[%r1+8]": the address without the beginning of shared memory; `cta` the CTA of mapa, NULL own.
 */
const WsExpr *ptx_address(PtxWalk *w, const char *text, const WsExpr **cta);
/* The families of instructions. */
void ptx_mbarrier(PtxWalk *w, const WsPtxInst *i);
void ptx_named(PtxWalk *w, const WsPtxInst *i);
void ptx_cluster(PtxWalk *w, const WsPtxInst *i);
void ptx_bulk(PtxWalk *w, const WsPtxInst *i);
void ptx_cp_async(PtxWalk *w, const WsPtxInst *i);
void ptx_matrix(PtxWalk *w, const WsPtxInst *i);
void ptx_shared(PtxWalk *w, const WsPtxInst *i);
void ptx_unread(PtxWalk *w, const WsPtxInst *i, const char *what);

/* Turns what the roles did into rings, buffers and barriers. */
void ptx_finish(PtxWalk *w);
WsDesign *ws_import_ptx(WsRead *r, const WsPtx *ptx, const char *file);

G_END_DECLS
