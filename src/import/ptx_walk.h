/* One thread of a PTX kernel followed with symbolic integers: private to the PTX front end. The
 * thread's number is known, so predicates on it are too; loops go through pyread_loop.h. Addresses
 * in shared memory are expressions over PTX_SMEM, and become places of rings once all threads were
 * followed.
 *
 * A PtxWalk begins with a PyRead: the functions of the symbolic walk take it. It borrows the WsPtx.
 */
#pragma once

#include "import/ptx.h"
#include "import/pyread_loop.h"

G_BEGIN_DECLS

#define PTX_SMEM "shared_memory" /* where dynamic shared memory begins, aligned to 1024 */

typedef struct {
    const WsExpr *a, *b; /* descriptors; a NULL: registers */
    const WsExpr *keep;  /* predicate: adds to the accumulator */
    const char *acc;
    gint64 n, k;
    const char *dtype;
    gboolean a_turned, b_turned;
    guint line;
} PtxMma;

typedef struct {
    PyRead p;
    const WsPtx *ptx;
    guint tid;
    gboolean first;        /* first lane of its warp: elect.sync picks it */
    GHashTable *memory;    /* offset -> byte: constants stored to shared memory, by all threads */
    GHashTable *inits;     /* offset -> count of mbarrier.init */
    GArray *mma;           /* PtxMma: of the open commit group */
    GHashTable *sums;      /* register that a product accumulates in first -> its columns */
    GHashTable *heads;     /* loops being walked: head blocks */
    const WsExpr *again;   /* condition under which the round just walked is followed by another */
    gboolean tested_first; /* … tested at the head */
    gint64 registers;      /* of setmaxnreg before the first wait */
    gboolean waits;
    guint global_from, global_to, n_global; /* lines of plain global accesses */
    gboolean ended;                         /* the thread returned */
    guint depth;         /* branches inside each other */
    gboolean fresh;                         /* no step yet in this round */
    gpointer walked;                        /* the innermost loop being walked */
} PtxWalk;

#define PTX_MAX_DEPTH   12
#define PTX_READ_BUDGET 1000000 /* instructions followed, over all warps */

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
gint ptx_accumulator(PtxWalk *w, gint64 n); /* the value that products of n columns add to */
void ptx_unread(PtxWalk *w, const WsPtxInst *i, const char *what);

/* Turns what the roles did into rings, buffers and barriers. */
void ptx_finish(WsRead *r, GHashTable *inits);
WsDesign *ws_import_ptx(WsRead *r, const WsPtx *ptx, const char *file);

G_END_DECLS
