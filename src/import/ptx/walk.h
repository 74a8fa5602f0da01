/* One thread of a PTX kernel followed with symbolic integers: private to the PTX front end. The
 * thread's number is known, so predicates on it are too; loops go through pyread_loop.h. Addresses
 * in shared memory are expressions over PTX_SMEM, and become places of rings once all threads were
 * followed.
 *
 * A PtxWalk begins with a PyRead: the functions of the symbolic walk take it. It borrows the WsPtx.
 */
#pragma once

#include "import/ptx/text/ptx.h"
#include "import/python/loops/pyread_loop.h"

G_BEGIN_DECLS

#define PTX_ONCE     "once"    /* text of a FOR that nothing keeps from making its first round */
#define PTX_SPREAD   "spread"  /* text of an ARRIVE that lanes make, each in another CTA */
#define PTX_OTHERS   "others"  /* text of an ARRIVE of all threads but the one that expects there */
#define PTX_TOKEN    "__token" /* stands in the value of a test of an mbarrier */
#define PTX_WARP_MET "warp"    /* name of a step that is off: a barrier of the warp */
#define PTX_SMEM     "shared_memory" /* where dynamic shared memory begins, aligned to 1024 */

#define PTX_POINTERS  "no pointer that comes out of memory leads into shared memory where it is read"
#define PTX_UNALIGNED "an access to shared memory at an address that may not be aligned"
#define PTX_BELOW     "its rounds and slots stay below 2^28"
#define PTX_ALIGNED   "shared memory begins at a multiple of 1024 bytes"

/* What one thread touches. */
typedef struct {
    gint64 at; /* counted from the address of the thread that is followed */
    guint tid;
    guint value; /* the thread whose value it stores: itself, or its twin (lanes_twin.c) */
} PtxPiece;

/* What is known of a place in shared memory beside its address. */
typedef struct {
    gint64 from, to; /* bytes touched, counted from the address; 0, 0: not known */
    gint64 touched;  /* by all lanes together; less than the span of them: there are gaps */
    gint64 span;     /* of the swizzle, bytes */
    gint64 rows;     /* of `span` bytes (of the contraction if turned); 0: as many as fit */
    gint64 width;    /* bytes of each row (of the contraction if not turned) */
    gint64 pitch;    /* turned: bytes between columns of spans */
    gint64 expected; /* of a box that is loaded: its share of what the barrier expects, 0 unknown */
    gint64 times;    /* … how many CTAs load one like it to the same place here */
    gint tensor;
    gboolean unknown; /* … nothing says how large it is */
    gint64 guess;     /* … bytes that are tried */
    const char *dtype;
    gboolean turned;
    gboolean matrix;      /* … of whose bytes each lane has a part */
    gboolean idle;        /* the address of a lane that touches nothing */
    const GArray *pieces; /* PtxPiece, by place: of all threads; NULL: they are not known */
    gint64 piece;         /* … bytes of each */
    guint last; /* the last lane of a warp that touches it, where that is not the last one; 0 */
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
    guint held; /* value of its registers, which are in flight already; 0 */
} PtxMma;

/* A warp asks for more registers, or leaves some. */
typedef struct {
    guint warp, at; /* behind so many barriers of the CTA */
    gint64 n;
    gboolean held; /* behind a wait for others since the last one of these */
    guint under;   /* the side of a branch by the launch that it stands in; 0 none */
} PtxHanded;

typedef struct {
    PyRead p;
    const WsPtx *ptx;
    guint tid;
    gboolean first;       /* first lane of its warp: elect.sync picks it */
    GHashTable *memory;   /* offset -> GArray of numbers stored there, by all threads */
    GHashTable *table;    /* offsets of bytes that say what a warp is to do */
    GHashTable *inits;    /* offset -> PtxInit* */
    GHashTable *met;      /* numbers of the instructions that some thread made */
    GHashTable *shuffles; /* WsPtxInst* -> const Val*: what the first lane of the warp handed on */
    GArray *stores;       /* WsReadStep*: bulk stores that no commit closed */
    gboolean compares;    /* rounds: what only a check sees, or a count, is a step there */
    GPtrArray *least;     /* const WsExpr*: not below 0: rounds (see assume_rounds()), … */
    GPtrArray *skips;     /* const WsExpr*: conditions of the CTA under which this thread ends */
    GPtrArray *all_skips; /* those of the first thread; NULL: it is that */
    GArray *all_ids;      /* sync_ids of the first thread */
    gboolean uneven; /* an idle warp arrives at the barrier of the cluster, and does not wait */
    gboolean idle, all_inner; /* some warp does nothing; some group has an inner_sync */
    GHashTable *told;         /* registers that say what a warp is to do */
    GHashTable *aborts;       /* WsPtxInst* that end the launch: what the verdict says of them */
    GHashTable *nobody;       /* blocks for which no warp is told to do them */
    GHashTable *alone;        /* WsReadStep*: arrivals behind such accesses */
    GHashTable *numbers;      /* WsReadStep*: stores of numbers that are remembered */
    GHashTable *far_of; /* numbers of accesses -> guint32: where each thread's lies (lanes_far.c) */
    GHashTable *far_if; /* … of stores that only some lanes come to, if all make them (alike.c) */
    GHashTable *twins;  /* numbers of stores -> guint8: of each warp the one it repeats there */
    GHashTable *counts; /* numbers of instructions: they count tiles for a loop (claim.c) */
    GArray *sync_ids;   /* gint64: of those, in order; -1: of the cluster */
    gboolean inner_sync; /* … and one in a loop or a branch */
    GHashTable *partly;  /* number of a store that some lanes make -> PTX_PARTLY() */
    GHashTable *mixed;   /* numbers of branches by what may differ between lanes */
    GHashTable *spread;  /* numbers of instructions: lane n arrives in CTA n (lanes_judge.c) */
    guint arrivals;      /* at the barrier of the cluster, outside of loops and branches */
    guint syncs;         /* barriers of the whole CTA outside of loops, so far */
    guint
        passed; /* … and those in the open rounds and branches: at least so many it came through */
    GHashTable *made_by;  /* WsReadStep* -> ptx_made() */
    guint always;         /* … so many of `least` hold everywhere; the others where the walk is */
    guint by_path;        /* how often one of the others was needed */
    gint storing;         /* warp of which several lanes store tiles, -1 none: all are followed */
    guint tokens;         /* tests of mbarriers whose result may be known */
    gboolean init_fenced; /* fence.mbarrier_init */
    gboolean empty_commit;    /* of bulk stores: a group of them may be empty */
    gboolean stored;          /* this thread makes bulk stores */
    const WsPtxInst *counted; /* a wait that counts groups behind an empty one, NULL none */
    GArray *mma;              /* PtxMma: of the open commit group */
    GHashTable *operands;     /* const WsPlace* -> PtxOperand*, owned by the WsRead */
    GHashTable *sums;         /* register that a product accumulates in first -> its columns */
    GHashTable *matrix;       /* all registers that hold sums of products */
    GHashTable *turned;       /* those that a loop writes which this thread came to */
    GHashTable *begun;     /* names of sums that begin with a product -> where: see ptx_matrix.c */
    GHashTable *sum_names; /* the same -> name of the value, in this role */
    GHashTable *seen;      /* names of accumulators that were read since the last product */
    GHashTable *flying;    /* registers of products that no wait retired -> groups since, + 1 */
    GHashTable *unfenced;  /* registers used since the last wgmma.fence -> how: flying.c */
    GHashTable *had;       /* registers of products in flight -> how; "": in several ways */
    GHashTable *value_of;  /* registers of A -> number of the value that stands for them */
    GHashTable *parts;     /* all registers of left operands */
    GHashTable *heads;     /* loops being walked: head blocks */
    GHashTable *lazy;      /* registers that wrap where they are read -> 1 + modulus (lazy.c) */
    GHashTable *flips;     /* such a register -> GPtrArray: parities that flip with it (flip.c) */
    GHashTable *flip_at;   /* WsPtxInst* of such a flip -> the parity, or the index */
    GHashTable *beside;    /* expects -> how many threads arrive there instead (agree.c) */
    guint compared;        /* threads that were compared with the leader of the group */
    GPtrArray *phases;     /* WsReadStep*: arrivals whose phase is waited for */
    const WsExpr *again;   /* condition under which the round just walked is followed by another */
    gboolean tested_first; /* … tested at the head */
    gint64 registers;      /* of setmaxnreg before the first wait */
    gint64 registers_last; /* … and where the thread ends */
    gint64 taken;          /* … by one thread of each warp together */
    guint registers_at;    /* … behind how many barriers of the CTA */
    gint64 most_left, most_raised; /* … of all `dec`, of all `inc` */
    guint inner_syncs;             /* barriers of the CTA in loops and branches, so far */
    guint branched; /* … of the branch that is followed, G_MAXUINT inside of another one */
    gboolean held;  /* this thread waited for others, at what not all threads come to at once */
    GArray *handed; /* PtxHanded: of the first lane of each warp, in its order */
    gboolean raises, unset;      /* some warp asks for more registers; some warp sets none */
    gboolean repeated;           /* lanes of a warp make the same bulk stores */
    gboolean lost;               /* something that synchronises was not read */
    gboolean waits, warp_synced; /* since the last barrier of the group: bar.warp.sync */
    gboolean apart; /* accesses of lanes that no barrier of the warp or the group lies behind */
    guint global_from, global_to, n_global; /* lines of plain global accesses */
    gboolean global_written;                /* one of them is no load */
    guint place_from, place_to;             /* of copies whose place in a tensor is not followed */
    gboolean ended;                         /* the thread returned */
    guint dispatched;                       /* how often it came back for work */
    guint depth;                            /* branches inside each other */
    gboolean fresh;                         /* no step yet in this round */
    guint cut;                              /* 1 + the block behind which it stops; 0 none */
    gpointer walked;                        /* the innermost loop being walked */
} PtxWalk;

/* The last of the lanes of a warp that make a store, and how many do. */
#define PTX_PARTLY(last, many) GUINT_TO_POINTER((last) << 8 | (many))

#define PTX_MAX_DEPTH 12
#define PTX_MAX_NODES 1500 /* of the expression of a value */

/* Who made a step, behind how many barriers of the CTA: outside of loops, and at least in all. */
static inline gpointer ptx_made(guint syncs, guint passed, guint tid)
{
    return GSIZE_TO_POINTER((gsize)syncs << 38 | (gsize)MIN(passed, 0x3ffffffu) << 11 | tid);
}
#define PTX_READ_BUDGET 6000000 /* instructions followed, over all warps */
#define PTX_MOST_STEPS  4000    /* of one list */
#define PTX_MOST_EXPRS  2000000 /* expressions made of them, of some 100 bytes */

/* mbarrier.init at one place. */
typedef struct {
    gint64 count;
    guint tid, syncs, line; /* who, after how many barriers of the CTA */
    gboolean late;          /* it came to barriers of the CTA in loops or branches before */
    guint ended;            /* 1 + barriers of the CTA before it is invalidated; 0: it is not */
} PtxInit;

void ptx_law_covered(PtxWalk *w);
/* The threads of a group make the same steps; what differs and is not united loses the kernel. */
typedef enum {
    PTX_NEXT_LANE,
    PTX_LAST_LANE,
    PTX_OTHER_WARP,
    PTX_TWO_LANES,
    PTX_SOME_LANE, /* of a warp of which several lanes copy */
} PtxWho;
void ptx_agree(PtxWalk *w, const GPtrArray *leader, const GPtrArray *other, PtxWho who);
/* All other ones of `threads` arrive where the leader expects: a step behind it. */
void ptx_agree_others(PtxWalk *w, GPtrArray *leader, gint64 threads);
/* Does the loop make no round where `skip` holds, and only there? */
gboolean ptx_guards(const PyRead *p, const WsExpr *skip, const WsReadStep *loop);
/* x where `e` is x / n + c, n above 0, rounded up or down; NULL: it is no such sum. */
const WsExpr *ptx_steps_over(WsRead *r, const WsExpr *e, gboolean up, gint64 *n, gint64 *c);
const WsExpr *ptx_rounds_of(WsRead *r, const WsExpr *e, gint64 g); /* cdiv(e, g) */
const WsExpr *ptx_clusters(WsRead *r, const WsExpr *e);            /* cluster.c */
const WsExpr *ptx_cluster_compare(WsRead *r, WsExprOp op, const WsExpr *a, const WsExpr *b);
const WsExpr *ptx_positive(WsRead *r, const WsExpr *e); /* not (a < b): a >= b */
/* What is left behind a loop that is skipped exactly where it makes no round, and c holds: into
 * `looped`, from what is left where it is skipped. */
void ptx_merge_rounds(PtxWalk *w, GHashTable *skipped, GHashTable *looped, const WsReadStep *loop,
                      const WsExpr *c);
void ptx_written_by_both(GHashTable *vars, GHashTable *other);
/* Is it made of sizes, and of what numbers a tile? */
gboolean ptx_of_launch(const WsRead *r, const WsExpr *e);
gboolean ptx_works(const GPtrArray *list); /* waits, signals, copies, multiplies, accesses */
/* Registers of a list "{a, b}" or "a|b", or one, hold what is not known. */
void ptx_forget(PtxWalk *w, const char *list);

/* "NTID=256", "cluster=2": what the text leaves open of its launch. FALSE with WS_IMPORT_ERROR. */
gboolean ws_ptx_define(WsPtx *p, char **define, const char *file, GError **error);

/* The branch at the end of `block` decides nothing that a verdict is about up to `join`: TRUE, and
 * what is computed there is forgotten. if_stores: only where it stores to global memory. */
gboolean ptx_quiet(PtxWalk *w, guint block, guint join, gboolean if_stores);
/* It computes, or reads or writes elsewhere than in shared memory; it neither ends nor waits.
 * *stores is set where it writes. */
gboolean ptx_is_quiet(const PtxWalk *w, const WsPtxInst *i, gboolean *stores);
/* A thread may have made it: what it writes is forgotten. */
void ptx_quiet_passed(PtxWalk *w, const WsPtxInst *i);
/* Do lanes go either way at a branch, and store to the same bytes on both? Then that store is made,
 * and the walk goes on at the join. */
gboolean ptx_alike(PtxWalk *w, const WsPtxInst *branch, guint taken, guint fall, gint join);
gint64 ptx_entry_registers(const WsPtx *ptx);
/* Does whoever asks for more registers get them? (handed.c) */
void ptx_handed(PtxWalk *w, guint warps);
gboolean ptx_ends_at_once(const PtxWalk *w, guint block); /* … before it does anything */
/* The launch does not end at `end`, or in `block`, which is come to where c holds (NULL: not
 * followed): a verdict is of launches that come to their end. */
void ptx_no_abort_at(PtxWalk *w, const WsPtxInst *end, const WsExpr *c);
void ptx_no_abort(PtxWalk *w, guint block, const WsExpr *c);
/* One instruction that is no branch. */
const Val *ptx_operand(PtxWalk *w, const char *text);
const WsExpr *ptx_int(PtxWalk *w, const char *text);
void ptx_set(PtxWalk *w, const char *reg, const Val *v);
/* The predicate of an instruction; NULL: unknown; literal 1: none. A test of a barrier's phase is
 * unknown, but for ptx_condition(). */
const WsExpr *ptx_predicate(PtxWalk *w, const WsPtxInst *i);
const WsExpr *ptx_condition(PtxWalk *w, const WsPtxInst *i);
/* --- exact.c: where integers are what registers hold
 * -----------------------------------------------------------------------------------------*/
gboolean ptx_not_negative(PtxWalk *w, const WsExpr *e);
/* What is not below 0 where c holds, or does not: into `least`. */
void ptx_path(PtxWalk *w, const WsExpr *c, gboolean holds);
/* --- sign.c: signs that are shifted out
 * -----------------------------------------------------------------------------------------*/
/* What shr gives that leaves the sign of an x that is at least -1, alone or as the lowest bits.
 * NULL: it is no such shift. */
const WsExpr *ptx_sign(PtxWalk *w, const WsPtxInst *i);
/* Is e, a sum with such a sign, not below 0 for it? */
gboolean ptx_with_sign(PtxWalk *w, const WsExpr *e);
/* e where `guard` holds: signs that are 0 then are left out. */
const WsExpr *ptx_under(PtxWalk *w, const WsExpr *e, const WsExpr *guard);
/* --- chosen.c: values that one of two ways gave
 * -----------------------------------------------------------------------------------------*/
/* a op b, where one of them is such a value and the ways say different things; NULL: it is not. */
const WsExpr *ptx_chosen(PtxWalk *w, WsExprOp op, const WsExpr *a, const WsExpr *b);
/* e where c holds, or does not; and all registers. */
const WsExpr *ptx_settled(PtxWalk *w, const WsExpr *e, const WsExpr *c, gboolean holds);
void ptx_settle(PtxWalk *w, const WsExpr *c, gboolean holds);
/* A number as an instruction of `type` (".u32") takes it; anything else is as it is. */
const WsExpr *ptx_typed(PtxWalk *w, const char *type, const WsExpr *e);
/* The same as a register of that width holds it: with a sign. */
const WsExpr *ptx_held(PtxWalk *w, const char *type, const WsExpr *e);
/* How far it may be from 0 where all names are below 2^28; G_MAXINT64: that is not known. */
gint64 ptx_bound(const WsAffine *f);
/* Then it is in 64 bits with a sign. */
gboolean ptx_fits_64(const WsAffine *f);
/* Whether its result follows from the exact integers that it takes. */
gboolean ptx_exact_sources(PtxWalk *w, const WsPtxInst *i);
/* The result in its register; NULL: it may not fit. */
const WsExpr *ptx_exact_result(PtxWalk *w, const WsPtxInst *i, const WsExpr *e);
const Val *ptx_converted(PtxWalk *w, const WsPtxInst *i, const Val *v);
/* Decimal, octal or hexadecimal, whole. FALSE: it is none. */
gboolean ptx_number(const char *text, gint64 *n);
/* Is e a multiple of n? Shared memory begins at a multiple of 1024. */
gboolean ptx_divides(const WsExpr *e, gint64 n);
/* Integer instructions. FALSE: it is none of them. */
gboolean ptx_arithmetic(PtxWalk *w, const WsPtxInst *i);
/* ws_fit(), as part of the work that is followed. */
const WsExpr *ptx_fit(PtxWalk *w, const WsExpr *e);
/* An integer; one whose expression has more than PTX_MAX_NODES is not followed any more. */
const Val *ptx_value(PtxWalk *w, const WsExpr *e);
const WsExpr *ptx_packed(PtxWalk *w, const WsPtxInst *i); /* mov to, {low, high}; NULL: not that */
gboolean ptx_unpacked(PtxWalk *w, const WsPtxInst *i); /* mov {low, high}, from. FALSE: not that */
/* select(c, a, b) where c is that x % n wraps: (x + 1) % n, or its parity; NULL: it is none. */
const WsExpr *ptx_next_turn(WsRead *r, const WsExpr *c, const WsExpr *a, const WsExpr *b);
/* The parity, flipped where c says that x % n wraps. */
const WsExpr *ptx_next_parity(WsRead *r, const WsExpr *c, const WsExpr *parity);
/* The parity, flipped where x % n of `index` wraps when it is counted on. */
const WsExpr *ptx_flipped(WsRead *r, const WsExpr *parity, const WsExpr *index, gint64 n);
/* Loses the kernel where a guard of what matters holds for several lanes of a warp and not for all,
 * or a warp exchanges registers where not all of its lanes come. */
void ptx_lanes_alike(PtxWalk *w);
/* The bytes that all lanes of the warp touch, where that is known: `lanes` of them, `bytes` each.
 */
void ptx_lanes_bytes(PtxWalk *w, const WsPtxInst *i, guint lanes, gint64 bytes, PtxOperand *o);
gint ptx_by_place(gconstpointer a, gconstpointer b); /* PtxPiece */
gboolean ptx_warp_wide(const WsPtxInst *i);          /* all lanes of a warp make it together */
/* Synchronisation, copies, products. FALSE: it is none of them. */
gboolean ptx_step(PtxWalk *w, const WsPtxInst *i);
/* Blocks from `block` up to `stop` (-1: the end of the thread). */
void ptx_run(PtxWalk *w, guint block, gint stop);
guint ptx_forward(const PtxWalk *w, guint b); /* behind blocks that only branch on */
/* branch.c: if (c) then `taken` else `fall`, up to the join (-1: the end of the thread). */
void ptx_choice(PtxWalk *w, const WsPtxInst *at, const WsExpr *c, guint taken, guint fall,
                gint join);
/* A round that is not a loop of the text. */
typedef struct {
    guint head; /* from there … */
    gint stop;  /* … up to there, or to the end of the block before `cut` */
    guint cut;
    const WsPtxLoop *blocks;
    GHashTable *add;     /* register -> what it is more behind the round; NULL none */
    const WsExpr *count; /* of them */
} PtxRound;
/* One, into the steps that are open; a loop of all of them, which change `names`. */
void ptx_round(PtxWalk *w, const PtxRound *round);
void ptx_rounds(PtxWalk *w, const PtxRound *round, GPtrArray *names);
/* e with differences of multiples written as remainders: 8 x - 32 (x / 4) is 8 (x % 4). */
const WsExpr *ptx_ring_form(WsRead *r, const WsExpr *e);
WsReadStep *ptx_new_step(PtxWalk *w, WsReadKind kind, const WsPtxInst *i);
WsReadStep *ptx_before_fence(PtxWalk *w, guint line, guint end_line); /* a computation */
/* The value that products of n columns add to, which begins at register `reg`; its name. */
const char *ptx_accumulator(PtxWalk *w, const char *reg, gint64 n, gint *value);
/* --- flying.c: registers of products that no wait retired */
void ptx_flying_product(PtxWalk *w, const WsPtxInst *i);
void ptx_flying_closed(PtxWalk *w);
guint ptx_flying_held(PtxWalk *w, const char *list);
guint64 ptx_flying_values(PtxWalk *w);
void ptx_flying_value(PtxWalk *w, const char *list, guint n);
void ptx_flying_waited(PtxWalk *w, gint64 n);
void ptx_flying_touched(PtxWalk *w, const WsPtxInst *i); /* by what it writes or copies */
/* What is known of registers on one of several ways. */
typedef struct {
    GHashTable *flying, *unfenced, *had;
} PtxFlying;
PtxFlying ptx_flying_copy(PtxWalk *w);                  /* as it is; the walk goes on with a copy */
PtxFlying ptx_flying_swap(PtxWalk *w, PtxFlying other); /* goes on with the other one */
void ptx_flying_join(PtxWalk *w, PtxFlying other);      /* what holds of the other way, too */
void ptx_reads(PtxWalk *w, const WsPtxInst *i); /* notes accumulators that an instruction reads */
PtxOperand *ptx_operand_of(PtxWalk *w, const WsPlace *place); /* made when it is first asked for */
void ptx_opaque(PtxWalk *w, const WsPtxInst *i, const char *what);
/* The same for what may synchronise: then nothing of the kernel is judged. */
void ptx_lost(PtxWalk *w, const WsPtxInst *i, const char *what);
/* The same of a step that was made before. */
void ptx_lose_line(PtxWalk *w, guint line, const char *what);
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
/* The name of a parameter where it counts as a number; NULL: it did nowhere yet. */
const char *ptx_parameter_size(PtxWalk *w, const char *param);
/* The parameter that e begins at, and how far behind it; NULL: none. */
const char *ptx_parameter(PtxWalk *w, const WsExpr *e, gint64 *offset);
const Val *ptx_field_at(PtxWalk *w, const char *name, gint64 offset); /* what lies there */
void ptx_warp(PtxWalk *w, const WsPtxInst *i);                        /* bar.warp.sync */
/* An access through a generic address. FALSE: it was one of shared memory, or may be. */
gboolean ptx_generic(PtxWalk *w, const WsPtxInst *i);
/* Products have to be committed before anything else is done. */
void ptx_products_closed(PtxWalk *w, const WsPtxInst *i);
/* Bulk stores in flight have to be in a group. */
void ptx_stores_closed(PtxWalk *w, const WsPtxInst *i);
void ptx_stores_counted(PtxWalk *w); /* at the end of a thread: no wait counts an empty group */
/* What a try_wait said counts only until the thread learns something else. */
void ptx_tokens_end(PtxWalk *w);
/* Waits for the phase of an arrival: each thread has no other arrivals there. */
void ptx_phases_checked(PtxWalk *w);
/* The value of a test of a barrier's phase; of a condition: NULL if it is none, `done` whether it
 * holds when the phase is complete. */
const WsExpr *ptx_token(PtxWalk *w, const WsExpr *barrier, const WsExpr *parity);
const WsExpr *ptx_token_of(PtxWalk *w, const WsExpr *condition, gboolean *done);
void ptx_unread(PtxWalk *w, const WsPtxInst *i, const char *what);

/* Turns what the roles did into rings, buffers and barriers. */
void ptx_finish(PtxWalk *w);
/* counters: rounds of inner loops are counted, not asked for (`k.total` stands behind loop k). */
WsDesign *ws_import_ptx(WsRead *r, const WsPtx *ptx, const char *file, gboolean counters);

/* --- lazy.c: indices that wrap where they are read */
void ptx_lazy_find(PtxWalk *w);
gboolean ptx_lazy(PtxWalk *w, const WsPtxInst *i); /* FALSE: it has nothing to do with one */
/* A number that `text` holds in front of instruction `at`. number: what registers always hold, + 1.
 */
gboolean ptx_number_at(const PtxWalk *w, GHashTable *number, guint at, const char *text, gint64 *c);

/* --- flip.c: parities that flip where such an index wraps
 * -----------------------------------------------------------------------------------------*/
/* Indices of which something is used otherwise: into `refused`. */
void ptx_flips_find(PtxWalk *w, GHashTable *lazy, GHashTable *number, GHashTable *refused);
void ptx_flips_drop(PtxWalk *w);                          /* of indices that are refused */
gboolean ptx_flips(const PtxWalk *w, const WsPtxInst *i); /* it is part of a flip */
gboolean ptx_flip(PtxWalk *w, const WsPtxInst *i);        /* FALSE: it is none */
/* The index in `q` becomes the one behind `index`. */
void ptx_flip_next(PtxWalk *w, const char *q, const WsExpr *index, gint64 n);
/* No branch is open in the innermost round, or in the thread. */
gboolean ptx_in_round(const PtxWalk *w);

/* --- divide.c --------------------------------------------------------------------------------- */

/* floor(a / n); of a size rounded up before: cdiv, as designs say it. */
const WsExpr *ptx_quotient(WsRead *r, const WsExpr *a, gint64 n);
/* floor(e / 2^s) where that is x / d, as compilers divide by multiplying; NULL: it is not that. */
const WsExpr *ptx_by_product(PtxWalk *w, const WsExpr *e, gint64 s);
/* … of -1 - e: all bits of e turned. */
const WsExpr *ptx_by_product_turned(PtxWalk *w, const WsExpr *e, gint64 s);

/* --- claim.c: tiles that a counter hands out -------------------------------------------------- */

gboolean ptx_of_claim(const WsExpr *e); /* it compares one, which is no integer anywhere else */
const Val *ptx_counted(PtxWalk *w, const WsPtxInst *i);    /* of an atom; NULL: it counts none */
gboolean ptx_claim_number(PtxWalk *w, const WsPtxInst *i); /* computes one, or compares it */
void ptx_claim_stored(PtxWalk *w, const char *text, WsReadStep *s);
void ptx_claim_loaded(PtxWalk *w, const WsPtxInst *i, WsReadStep *s);
gboolean ptx_same_claim(const Val *a, const Val *b); /* … that two lanes loaded */
/* `left` > 0 is "the next tile is below how many there are": makes it a loop over tiles. The
 * register that holds the tile; NULL: it is no such loop. */
const char *ptx_claims_tiles(PtxWalk *w, PyLoop *l, const GArray *carries, const WsExpr *left);
void ptx_claim_taken(PtxWalk *w, const char *reg, const WsPtxInst *at); /* at the end of a round */

/* --- turning.c -------------------------------------------------------------------------------- */

/* `again` is "it goes on while the result > 0"; NULL where it cannot be said so. */
const WsExpr *ptx_left_over(WsRead *r, const WsExpr *again);
/* An index that wraps begins below its modulus, a parity as 0 or 1. */
gboolean ptx_begin_below(PyRead *p, GArray *carries);
/* Counting by g comes to exactly 0 from e. */
gboolean ptx_comes_to_zero(const WsExpr *e, gint64 g);
void ptx_forget_rounds(PtxWalk *w, const PyLoop *l); /* registers that are of a round of it */
/* No parity begins anew where the slot that it is of goes on. */
gboolean ptx_turn_together(PyRead *p, const GArray *carries);

G_END_DECLS
