/* Inside of the generator: the state of one lowering of one program and the functions its files
 * call from each other. Nothing outside codegen/ includes this. */
#pragma once

#include "codegen/account.h"
#include "codegen/cut.h"
#include "codegen/generate.h"
#include "codegen/interval.h"
#include "codegen/nvptx/leader.h"
#include "codegen/prim.h"
#include "program/hold.h"
#include "program/parts/operation.h"

G_BEGIN_DECLS

/* A uniform integer while code is built: an i32 value and the interval it is known to lie in. */
typedef struct {
    LLVMValueRef v;
    gint64 lo, hi;
} WsUniform;
#define WS_UNIFORM_MIN WS_INTERVAL_MIN
#define WS_UNIFORM_MAX WS_INTERVAL_MAX

/* What a program variable stands for at the place where code is being built. */
typedef enum { WS_BIND_NONE, WS_BIND_VALUE, WS_BIND_CELL } WsBindKind;
typedef struct {
    WsBindKind kind;
    LLVMValueRef v; /* VALUE: i32 (or f32 for real names); CELL: alloca of i32 */
    gint64 lo, hi;
    gboolean stale; /* CELL changed by leader-run code: the other threads hold an old value */
} WsBinding;

/* Registers of one value of the agent: cells in the entry block (device), or one array (host). */
typedef struct {
    guint n;
    LLVMTypeRef type; /* f32, or i32 (packed pairs, i32 accumulators) */
    LLVMValueRef *cell;
    gboolean apart; /* constants that become accumulators take registers of their own */
    gboolean quads; /* its columns are not those of the accumulator layout: quads.c */
} WsRegs;

typedef struct WsEmit WsEmit;

/* How a rolled loop goes on: the first of its next rounds, and whether there is one. */
typedef struct {
    const WsTree *loop;
    LLVMValueRef round, last; /* i32: first round of this turn, the one that is no more */
    guint by;
    LLVMValueRef next, more; /* i32, i1; NULL until made */
} WsLatch;

typedef void (*WsLower)(WsEmit *e, const WsOp *op);

/* What a target that is not NVIDIA's puts in the place of what this folder does: the emission of
 * loops, tiles, expressions and statements is the same. */
typedef struct {
    void (*begin)(WsEmit *e);  /* the module is there: state, triple and layout */
    void (*kernel)(WsEmit *e); /* the function is there, not for the host: attributes */
    void (*values)(WsEmit *e); /* shared, tid, lane, warp */
    void (*body)(WsEmit *e);   /* the bodies of all agents */
    void (*end)(WsEmit *e);
    void (*sequence)(WsEmit *e, const WsTree *t);
    LLVMValueRef (*prim)(WsEmit *e, WsPrim id, LLVMValueRef *arg); /* not for the host */
    const WsLower *lower;                                          /* [WS_OP_KIND_COUNT] */
    /* compute steps, by row slot and column slot of a thread */
    LLVMValueRef (*element)(WsEmit *e, guint value, guint r, guint c);
    void (*assign)(WsEmit *e, guint value, LLVMValueRef *made); /* [row slots * column slots] */
    LLVMValueRef (*column)(WsEmit *e, guint c);
    /* What the other lanes of a row hold: the first of `out` joined with the second is step `i` of
     * a reduction of `exchanges`. */
    void (*across)(WsEmit *e, LLVMValueRef bits, guint i, LLVMValueRef out[2]);
} WsEmitKind;

struct WsEmit {
    const WsProgram *p;
    const WsEmitKind *kind;      /* NULL: sm_90a */
    struct WsAmd *amd;           /* state of kind */
    const gint *twin;            /* variable that stands for another one; NULL: itself */
    guint row_lanes, quad_lanes; /* rows, and columns, of a tile that make a slot of a thread */
    guint exchanges;             /* of lanes, until a reduction of a row is complete */
    const WsRecorder *recorder;
    gboolean debug_waits, host;
    guint32 delays;         /* seed of the sleeps before what synchronises, 0 none */
    const WsHold *hold;     /* NULL: every agent is free */
    GHashTable *round_cell; /* WsTree of a loop without a total -> cell of its round */
    LLVMValueRef tile_id;   /* of the strided loop over tiles that is being emitted */
    GPtrArray *put_off;     /* WsOp: late operations not emitted yet */
    GArray *looked_up; /* gather.c: rows of gathers whose place was read before a wait, or NULL */

    LLVMContextRef ctx;
    LLVMModuleRef module;
    LLVMBuilderRef b, entry; /* entry: positioned before the entry block's branch, for cells */
    LLVMValueRef fn;
    LLVMTypeRef i1, i16, i32, i64, f32, ptr, none;

    /* kernel arguments and launch-wide values, all defined in the entry block */
    LLVMValueRef *map;                      /* i64 address of each tensor map */
    LLVMValueRef *tensor;                   /* i64 */
    LLVMValueRef record, debug;             /* i64 or NULL */
    guint debug_param;                      /* number of its parameter */
    LLVMValueRef counter, hilbert;          /* i64 or NULL: hidden parameters */
    LLVMValueRef peer_map, flags, launches; /* i64 or NULL: of a mesh */
    LLVMValueRef next_tile;                 /* dynamic: cell of the loop over tiles being emitted */
    LLVMValueRef shared;                    /* i32 base of dynamic shared memory */
    LLVMValueRef tid, lane, warp;           /* warp: uniform (shfl) */
    WsUniform cta_rank, cluster_id, n_clusters, n_tiles;
    WsUniform *extent; /* per axis */
    WsBinding *var;    /* [p->n_vars] */

    /* the agent being emitted */
    const WsAgent *agent;
    LLVMValueRef agent_tid, agent_warp, leader; /* i32, i32 uniform, i1 */
    gboolean whole_group; /* the agent has its warp groups for itself: its setmaxnreg counts */
    gboolean in_leader;   /* code is being built under `if (leader)` */
    WsRegs *regs;         /* [agent->n_values] */
    GArray *cuts;         /* WsCut: of the split loops that code is being built in */
    gboolean per_thread;  /* expressions differ from thread to thread: no shuffle */
    gboolean nonneg; /* uniform expressions of uses: negative ones are refuted by the checker */

    /* recorder */
    LLVMValueRef rec_phase;  /* i32: which rounds this launch records; of several that take turns */
    LLVMValueRef rec_on;     /* i1: this thread of this agent writes */
    LLVMValueRef rec_cta;    /* i64 address of this CTA's part; 0: not recorded */
    LLVMValueRef **rec_word; /* per strip: cells */
    gboolean **rec_taken;    /* per strip: its words that the round being emitted reads */
    WsLatch *rec_latch;      /* of the innermost rolled loop that is being emitted, or NULL */

    const WsOp *op; /* being emitted; names it in errors and comments */
    WsAccount account;
    GError *error;
};

/* --- errors: emission goes on to the next check of e->error -----------------------------------*/
void ws_emit_step_error(WsEmit *e, const WsOp *op, const char *what);
void ws_emit_internal_error(WsEmit *e, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* --- prim.c
 * -------------------------------------------------------------------------------------*/
LLVMValueRef ws_prim_call(WsEmit *e, WsPrim id, guint n, LLVMValueRef *arg, guint n_imm,
                          const guint32 *imm);
#define ws_prim(e, id, ...)                                                                        \
    ws_prim_call(e, id, G_N_ELEMENTS(((LLVMValueRef[]){ __VA_ARGS__ })),                           \
                 (LLVMValueRef[]){ __VA_ARGS__ }, 0, NULL)
#define ws_prim0(e, id) ws_prim_call(e, id, 0, NULL, 0, NULL)
/* Asm with effects from a text and constraints made by an emitter (wgmma, tied waits). */
LLVMValueRef ws_prim_asm(WsEmit *e, LLVMTypeRef type, const char *text, const char *constraints,
                         guint n, LLVMValueRef *arg);

/* --- llvm_version.c
 * -------------------------------------------------------------------------------*/
void ws_llvm_mark_kernel(WsEmit *e, guint threads, guint cluster, guint per_sm);
void ws_llvm_mark_map(WsEmit *e, guint param);
void ws_llvm_mark_asm(WsEmit *e, LLVMValueRef call, WsPrimFlags flags);
typedef struct LLVMOpaqueTargetMachine *WsLlvmMachine;
WsLlvmMachine ws_llvm_machine(GError **error); /* new; dispose with LLVMDisposeTargetMachine */

/* --- uniform.c --------------------------------------------------------------------------------*/
WsUniform ws_uniform_const(WsEmit *e, gint64 value);
WsUniform ws_uniform_value(LLVMValueRef v, gint64 lo, gint64 hi);
gboolean ws_uniform_known(const WsUniform *u, gint64 *value);
/* The value of `x` where the builder stands; with an error in e->error the value is 0. */
WsUniform ws_uniform(WsEmit *e, const WsExpr *x);
/* As ws_uniform, for slots, stages and parities: uses are taken as not negative. */
WsUniform ws_uniform_use(WsEmit *e, const WsExpr *x);
LLVMValueRef ws_uniform_i32(WsEmit *e, const WsExpr *x);
WsUniform ws_uniform_op(WsEmit *e, WsExprOp op, WsUniform a, WsUniform b);
WsUniform ws_uniform_truth(WsEmit *e, WsUniform u); /* u != 0 */
WsUniform ws_uniform_min(WsEmit *e, WsUniform a, WsUniform b);
/* Floor division or its rest modulo 2^32, and the quotient rounded up. What 0 divides stays,
 * without a rest, and the least integer divided by -1 is itself: no instruction sees such a
 * divisor, which `by` bounds. */
LLVMValueRef ws_emit_floor_div(WsEmit *e, LLVMValueRef a, LLVMValueRef b, WsInterval by,
                               gboolean mod);
LLVMValueRef ws_emit_cdiv(WsEmit *e, LLVMValueRef a, LLVMValueRef b, WsInterval by);
WsUniform ws_uniform_cdiv(WsEmit *e, WsUniform a, WsUniform b);
WsUniform ws_global_element(WsEmit *e, const WsExpr *x); /* T[i, …]; global.c */
void ws_uniform_ranges(WsEmit *e);                       /* intervals of sizes from `assume` */

/* --- control.c --------------------------------------------------------------------------------*/
void ws_control_tree(WsEmit *e, const WsTree *t);
void ws_control_latch(WsEmit *e, WsLatch *latch);  /* makes what is not made yet */
void ws_control_count(WsEmit *e, const WsTree *t); /* a round more in the total of loop t */
LLVMBasicBlockRef ws_block(WsEmit *e, const char *name);
/* `if (cond) {`: builder moves into the new block; returns the block after it. */
LLVMBasicBlockRef ws_if(WsEmit *e, LLVMValueRef cond, const char *name);
void ws_end_if(WsEmit *e, LLVMBasicBlockRef after);
LLVMValueRef ws_cell(WsEmit *e, LLVMTypeRef type, const char *name);
LLVMValueRef ws_load(WsEmit *e, LLVMTypeRef type, LLVMValueRef cell, const char *name);
LLVMValueRef ws_i32(WsEmit *e, gint64 value);
LLVMValueRef ws_add(WsEmit *e, LLVMValueRef a, gint64 b);

/* --- tiles.c ----------------------------------------------------------------------------------*/
void ws_tiles_entry(WsEmit *e); /* extents, number of tiles, cluster number: in the entry block */
void ws_tiles_loop(WsEmit *e, const WsTree *t);
void ws_tiles_bind(WsEmit *e, LLVMValueRef id); /* axes and tile names of tile `id` */
void ws_tiles_unbind(WsEmit *e);

/* --- dynamic.c --------------------------------------------------------------------------------*/
void ws_dynamic_claim(WsEmit *e, const WsOp *op);
void ws_dynamic_take(WsEmit *e, const WsOp *op);
LLVMValueRef ws_dynamic_next(WsEmit *e);
void ws_dynamic_tell(WsEmit *e, const WsOp *op); /* PIPE_TELL */
/* i1: the slot that `ask` reads says that it is a round of the loop over its pipe. */
LLVMValueRef ws_dynamic_goes_on(WsEmit *e, const WsOp *ask);
WsUniform ws_dynamic_hilbert(WsEmit *e, WsUniform cell, guint axis, gint64 high);

/* --- starts.c ---------------------------------------------------------------------------------*/
/* A copy for every count of a loop that begins with a value; after the last pass that makes counts.
 */
void ws_nvptx_separate_starts(LLVMModuleRef module);

/* --- emit.c -----------------------------------------------------------------------------------*/
LLVMModuleRef ws_emit_module(const WsProgram *p, const WsGenerateOptions *options, gboolean host,
                             const WsEmitKind *kind, LLVMContextRef ctx, GError **error);

/* --- agent.c ----------------------------------------------------------------------------------*/
void ws_agent_cells(WsEmit *e, guint number); /* of its totals, counters and lets */
void ws_agent_roles(WsEmit *e);               /* role switch and every agent's body */

/* --- queues.c: what lowers a step of a core's queues on the host; `otherwise` for all others */
WsLower ws_queue_lower(const WsEmit *e, WsOpKind kind, WsLower otherwise);

/* --- ops.c: one operation of the current agent (leader guard already in place)
 * -------------------*/
void ws_op_emit(WsEmit *e, const WsOp *op);
void ws_op_emit_now(WsEmit *e, const WsOp *op); /* also what is put off */

/* --- address.c
 * -----------------------------------------------------------------------------------*/
LLVMValueRef ws_barrier_address(WsEmit *e, const WsOp *op);
LLVMValueRef ws_stage_address(WsEmit *e, const WsAccess *a); /* start of the stage, i32 */
/* Byte offset of (row0 + row, col0 + col) of a view in its stage before the swizzle; chunk by
 * chunk. */
LLVMValueRef ws_view_offset(WsEmit *e, const WsAccess *a, guint row, guint col);

/* --- families
 * -----------------------------------------------------------------------------------*/
void ws_sync_wait(WsEmit *e, const WsOp *op);
void ws_sync_arrive(WsEmit *e, const WsOp *op);
void ws_sync_expect(WsEmit *e, const WsOp *op);
void ws_sync_mbar_init(WsEmit *e, const WsOp *op);
void ws_sync_bar(WsEmit *e, const WsOp *op);
void ws_sync_plain(WsEmit *e, const WsOp *op); /* one primitive (lower.def) */
void ws_sync_fence_async(WsEmit *e, const WsOp *op);
void ws_sync_registers(WsEmit *e, const WsOp *op);
void ws_bulk_load(WsEmit *e, const WsOp *op);
void ws_bulk_store(WsEmit *e, const WsOp *op);
void ws_bulk_wait(WsEmit *e, const WsOp *op);
/* The boxes of an operation: f(shared address, coordinates innermost first) for each; `bar` is
 * handed on. */
typedef void (*WsBoxFn)(WsEmit *e, const WsOp *op, LLVMValueRef at, LLVMValueRef *c, guint rank,
                        LLVMValueRef bar);
void ws_bulk_boxes(WsEmit *e, const WsOp *op, LLVMValueRef bar, WsBoxFn f);
WsPrim ws_bulk_store_prim(WsReduce reduce, guint rank);
void ws_bulk_prefetch(WsEmit *e, const WsOp *op);
LLVMValueRef ws_bulk_policy(WsEmit *e, WsHint hint); /* L2 cache policy, i64 */
void ws_bulk_prefetch_map(WsEmit *e, const WsOp *op);
void ws_peer_put(WsEmit *e, const WsOp *op);
void ws_peer_get(WsEmit *e, const WsOp *op);
void ws_peer_notify(WsEmit *e, const WsOp *op);
void ws_peer_await(WsEmit *e, const WsOp *op);
void ws_mma_step(WsEmit *e, const WsOp *op);
/* Registers that the next products read, or that a wait frees, pass through its asm. */
void ws_mma_fence(WsEmit *e, const WsOp *op);
void ws_mma_wait(WsEmit *e, const WsOp *op);
void ws_math_step(WsEmit *e, const WsOp *op);
void ws_raw_step(WsEmit *e, const WsOp *op);
LLVMValueRef ws_math_run_name(WsEmit *e, const WsArray *value); /* f32 run name */
void ws_shared_stmatrix(WsEmit *e, const WsOp *op);
void ws_shared_transpose(WsEmit *e, const WsOp *op); /* transpose.c */
void ws_shared_st(WsEmit *e, const WsOp *op);
void ws_shared_reduce(WsEmit *e, const WsOp *op);
LLVMValueRef ws_reg_get(WsEmit *e, guint value, guint i);
void ws_reg_set(WsEmit *e, guint value, guint i, LLVMValueRef v);
void ws_regs_new(WsEmit *e, const WsAgent *a);
void ws_regs_free(WsEmit *e, const WsAgent *a);

/* --- watch.c: no-ops in builds that neither report stuck waits nor hold agents -----------------*/
void ws_watch_round(WsEmit *e, const WsTree *loop, LLVMValueRef round); /* a round begins */
/* The same of a loop over tiles; `position` NULL: tiles of this CTA lie at equal steps. */
void ws_watch_tile(WsEmit *e, const WsTree *loop, LLVMValueRef id, LLVMValueRef position);
/* The wait of builds that report; FALSE: emit the plain one. */
gboolean ws_watch_wait(WsEmit *e, const WsOp *op, LLVMValueRef bar, LLVMValueRef parity);
void ws_watch_done(WsEmit *e); /* the agent has come to its end */
void ws_watch_op(WsEmit *e, const WsOp *op, void (*lower)(WsEmit *, const WsOp *));
gboolean ws_watch_put_off(WsEmit *e, const WsOp *op);
void ws_watch_before(WsEmit *e, const WsTree *t);
void ws_watch_flush(WsEmit *e);

/* --- record.c: no-ops without a recorder ------------------------------------------------------*/
void ws_record_entry(WsEmit *e);
void ws_record_roles(WsEmit *e); /* every agent's body: once for CTAs that are recorded, once not */
void ws_record_agent(WsEmit *e); /* head of an agent, its leader being known */
void ws_record_end(WsEmit *e);
void ws_record_begin_kid(WsEmit *e, const WsTree *seq, guint kid); /* a strip may begin here */
void ws_record_end_kid(WsEmit *e, const WsTree *seq, guint kid);   /* … or end behind it */
/* Head of a tile: which one it is, where CTAs claim them. */
const WsRecordStrip *ws_record_sampled(const WsEmit *e, const WsTree *loop); /* NULL: all rounds */
LLVMValueRef ws_record_phase_value(WsEmit *e, const WsRecordStrip *strip);   /* i32 */
void ws_record_tile(WsEmit *e, const WsTree *loop, LLVMValueRef id, LLVMValueRef position);
void ws_record_shadow(WsEmit *e, const WsOp *op); /* behind the first instruction of an mma */
void ws_record_before(WsEmit *e, const WsOp *op);
void ws_record_after(WsEmit *e, const WsOp *op);

G_END_DECLS
