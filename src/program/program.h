/* The program: the elaborated design and the only meaning of it. Per agent a tree of sequences,
 * loops, branches and primitive operations; every operation carries slots, phases, counts, bytes
 * and byte ranges, so that no lens (check, clock, codegen, rehearse, exporters) derives them again.
 *
 * A WsProgram is immutable after ws_elaborate() and reference-counted. All strings, expressions and
 * operations belong to it; a lens borrows them. Units: sizes in elements, "bytes" in bytes. */
#pragma once

#include "expr/expr.h"
#include "model/design.h"
#include "model/finding.h"
#include "program/array.h"
#include "program/forward.h"
#include "program/op.h"
#include "target/target.h"

#include <glib.h>

G_BEGIN_DECLS

/* --- element types -------------------------------------------------------------------------- */
typedef enum {
#define WS_DTYPE(id, text, bytes, real) WS_DTYPE_##id,
#include "program/dtype.def"
#undef WS_DTYPE
    WS_DTYPE_COUNT
} WsDtype;
const char *ws_dtype_text(WsDtype t);
guint ws_dtype_bytes(WsDtype t);
gboolean ws_dtype_real(WsDtype t); /* a float */

/* --- variables of program expressions: WS_EXPR_VAR leaves index WsProgram.var ---------------- */
typedef enum {
    WS_VAR_SIZE,    /* run-time integer, kernel argument */
    WS_VAR_SCALAR,  /* run-time f32, kernel argument */
    WS_VAR_RUN,     /* one value per launch: `value` */
    WS_VAR_AXIS,    /* coordinate of the current tile along axis `axis` */
    WS_VAR_TILE,    /* one value per tile: `value` */
    WS_VAR_INDEX,   /* index of loop `loop` of agent `agent` */
    WS_VAR_TOTAL,   /* rounds completed over all loops of that name of the agent */
    WS_VAR_COUNTER, /* counter of an agent */
    WS_VAR_LET,     /* `let` step of an agent: set by a WS_OP_LET */
    WS_VAR_CTA,     /* rank of this CTA in its cluster */
    WS_VAR_ROW,     /* `row` in gather coordinates and statements */
    WS_VAR_COL,
} WsVarKind;

typedef struct {
    WsVarKind kind;
    char *name;           /* "K", "tm", "k", "k.total", "ring" */
    gint agent;           /* INDEX, TOTAL, COUNTER, LET: owner; -1 otherwise */
    gint axis;            /* AXIS */
    gboolean real;        /* SCALAR, RUN of kind f32 */
    WsExpr *value;        /* RUN, TILE: definition over other variables; COUNTER: start */
    const WsArray *array; /* RUN, real: `value` as nodes; NULL: no code can be made of it */
    gint64 preset;        /* SIZE: default size */
    gint64 rehearse;      /* SIZE: size used by rehearsal and tests */
    double preset_real;   /* SCALAR */
} WsVar;

/* --- global memory -------------------------------------------------------------------------- */
#define WS_MAX_RANK 5
typedef enum { WS_ACCESS_READ, WS_ACCESS_WRITE, WS_ACCESS_REDUCE } WsTensorAccess;
typedef enum {
    WS_DATA_NORMAL,
    WS_DATA_UNIFORM,
    WS_DATA_INTEGERS,
    WS_DATA_ZEROS,
    WS_DATA_INDICES
} WsDataKind;
typedef struct {
    char *name;
    WsDtype dtype;
    guint rank;
    WsExpr *shape[WS_MAX_RANK]; /* over SIZE and RUN variables */
    WsExpr
        *stride[WS_MAX_RANK]; /* elements; derived (contiguous, last fastest) unless overridden */
    gboolean strides_given;
    WsTensorAccess access;
    WsDataKind data;
    WsExpr *data_a, *data_b; /* integer parameters of `data`, or NULL */
    double data_x, data_y;   /* real parameters: uniform(x, y), indices(.., y) */
    double tolerance_abs, tolerance_rel;
    char *covers; /* why every element is written once, where the design states it; or NULL */
} WsTensor;

/* One tensor map (TMA descriptor) in use: a tensor, a box and a swizzle. Box and dims are listed
 * innermost first, as cuTensorMapEncodeTiled wants them: dim i is tensor dimension rank-1-i. */
typedef struct {
    guint tensor;
    guint rank;
    guint box[WS_MAX_RANK]; /* elements, each 1..256 */
    guint swizzle;          /* bytes: 128, 64, 32, 0 */
} WsTensorMap;

/* --- tiles and launch ------------------------------------------------------------------------ */
typedef enum { WS_LAUNCH_SINGLE, WS_LAUNCH_PERSISTENT, WS_LAUNCH_DYNAMIC } WsLaunch;
typedef enum { WS_ORDER_LINEAR, WS_ORDER_GROUPED, WS_ORDER_HILBERT } WsOrder;
typedef struct {
    guint n_axes;
    struct {
        char *name;
        gint var;       /* WS_VAR_AXIS */
        WsExpr *extent; /* over SIZE, RUN */
        gboolean reverse;
    } axis[8];
    WsLaunch launch;
    WsOrder order;
    guint order_axis, order_axis2; /* GROUPED: axis; HILBERT: both */
    gint64 order_group;            /* GROUPED: n if constant, else 0 */
    WsExpr *order_n;               /* GROUPED: n, over SIZE, RUN (attention computes it from SK) */
    WsExpr *grid;                  /* NULL: SMs of the device */
    gint64 xcd[2];                 /* gfx950; 0 = none */
} WsTiles;

/* --- shared memory ---------------------------------------------------------------------------- */
typedef struct {
    char *name;
    WsDtype dtype;
    guint rank;       /* 1 or 2 */
    guint rows, cols; /* of one stage; rank 1 [n]: rows = 1, cols = n */
    guint array;      /* copies; 1 if not an array */
    gboolean is_array;
    guint stages;
    char *stages_name; /* of the constant that says how many, NULL without; for people */
    guint swizzle;     /* bytes of the span: 128, 64, 32, 0 */
    guint pad;         /* bytes added to each row */
    guint chunk_cols;  /* columns of one chunk: span / bytes(dtype); = cols without swizzle */
    guint row_bytes;   /* bytes between rows inside a chunk (span, or row length + pad) */
    guint chunk_bytes; /* bytes between chunks: rows * row_bytes */
    guint64 stage_bytes, stage_pitch, array_pitch;
    guint64 offset; /* of element 0, stage 0 in dynamic shared memory */
    guint64 bytes;  /* whole buffer */
    guint align;
    gint over; /* buffer it lies over, -1 none */
    gboolean k_permuted;
} WsBuffer;

typedef struct {
    guint64 offset, bytes;
} WsRange;
/* Byte ranges of rows [row0, row0+rows) x columns [col0, col0+cols) of one stage, relative to the
 * start of that stage, ascending, merged. Returns their number; fills at most `max`. */
guint ws_buffer_ranges(const WsBuffer *b, guint row0, guint rows, guint col0, guint cols,
                       WsRange *out, guint max);
/* Byte offset of element (row, col) within a stage before the swizzle XOR is applied. */
guint64 ws_buffer_offset(const WsBuffer *b, guint row, guint col);

/* --- barriers ----------------------------------------------------------------------------------*/
typedef enum { WS_BARRIER_MBARRIER, WS_BARRIER_NAMED } WsBarrierKind;
typedef struct {
    char *name;
    char *path;
    WsBarrierKind kind;
    gboolean is_array, derived; /* derived: pipe barriers, sync group / cta ids */
    guint array, slots;
    char *slots_name; /* as stages_name */
    gboolean *ready;  /* [array]: init ready */
    guint *arrivals;  /* [array]: count in force (mbarrier) */
    guint *arrivals_derived;
    guint *threads; /* [array]: threads in force (named) */
    guint *threads_derived;
    gint *hw_id;    /* [array]: named: hardware id; -1 for mbarriers */
    guint64 offset; /* mbarrier: byte offset of element 0 slot 0; slot s of element e lies at
                       offset + 8 * (e * slots + s) */
    guint64 expected_bytes; /* tx bytes of one completion, 0 if none (for display and budgets) */
} WsBarrier;

/* --- pipes: buffers that are filled and freed together ------------------------------------------
 */
typedef struct {
    char *group;
    guint n_fields, *field; /* buffers */
} WsPipeReads;
typedef struct {
    char *name;
    char *path; /* "pipes/p" */
    guint capacity;
    gboolean one_shot;
    gint full, empty;         /* its barriers; empty -1 if one_shot */
    guint n_fields, *field;   /* buffers */
    gint writer;              /* agent that fills it, the last one if there are several; -1 none */
    guint n_readers, *reader; /* agents that wait for it, in the order of their operations */
    guint n_reads;
    WsPipeReads *reads; /* groups that touch some of the fields alone, where the design says so */
} WsPipe;

/* --- groups, agents, values --------------------------------------------------------------------
 */
typedef enum { WS_ROLE_PRODUCER, WS_ROLE_CONSUMER, WS_ROLE_WORKER } WsRole;
typedef enum { WS_LAYOUT_LINEAR, WS_LAYOUT_ACCUMULATOR } WsLayout;
typedef struct {
    char *name;
    WsDtype dtype;
    guint rows, cols;
    WsLayout layout;
    guint registers; /* 32-bit registers per thread */
} WsRegValue;

typedef struct {
    char *name; /* "mma.1"; "load" if the group has one replica */
    char *path; /* "groups/mma" */
    guint group, replica, replicas;
    gint half; /* where groups have halves: 0 lo, 1 hi; -1 otherwise */
    WsRole role;
    guint warp0, warps, threads;
    guint registers; /* setmaxnreg target; 0: no plan */
    guint n_values;
    WsRegValue *value;
    WsTree *body;
    gboolean has_leader_ops;
} WsAgent;

/* --- operations --------------------------------------------------------------------------------
 */
typedef enum { WS_SCOPE_CTA, WS_SCOPE_CLUSTER, WS_SCOPE_GPU } WsScope;
typedef enum { WS_MODE_READ = 1, WS_MODE_WRITE = 2 } WsMode;
typedef enum { WS_CTAS_OWN, WS_CTAS_ALL, WS_CTAS_MASK, WS_CTAS_EXPR } WsCtasKind;
typedef struct {
    WsCtasKind kind;
    guint16 mask;
    WsExpr *expr; /* EXPR: rank */
} WsCtas;

/* A view of one stage of one buffer, as an operation touches it. */
typedef struct {
    guint buffer;
    WsExpr *element; /* array element; integer literal 0 if not an array */
    WsExpr *use;     /* normalised use, NULL if the buffer has one stage and no use was given */
    WsExpr *stage;   /* use mod stages; literal 0 for one stage */
    WsExpr *row0,
        *col0;        /* first row and column; integer literals unless they depend on cta/loops */
    guint rows, cols; /* of the storage (before .t) */
    gboolean transposed;
    WsMode mode;
    WsProxy proxy;
    gint64 stage_offset; /* byte offset of (row0, col0) in the stage, -1 if not constant */
} WsAccess;

/* A view of a register value. */
typedef struct {
    guint value;         /* index in the agent's values */
    WsExpr *row0, *col0; /* constants once loops with unroll full are unrolled */
    guint rows, cols;
    WsMode mode;
} WsValueUse;

typedef enum { WS_REDUCE_NONE, WS_REDUCE_ADD, WS_REDUCE_MIN, WS_REDUCE_MAX } WsReduce;
typedef enum { WS_HINT_NONE, WS_HINT_EVICT_FIRST, WS_HINT_EVICT_NORMAL, WS_HINT_EVICT_LAST } WsHint;

/* Shared-memory operand of a wgmma (kernels: descriptor fields; all in bytes). The start address of
 * m-atom i (64 rows; only operand a), k-step j is: stage base + start + i*atom_step + k_offset[j].
 */
typedef struct {
    gboolean in_registers; /* operand a from a value: value[1] of the operation */
    gint64 start; /* byte offset of the view in the stage, -1: see the access's row0/col0 */
    guint leading, stride; /* LBO, SBO */
    guint swizzle;         /* 128, 64, 32, 0 */
    guint atom_step;
    gboolean transposed; /* MN-major */
    guint n_k;
    guint *k_offset; /* [n_k] */
} WsMmaOperand;

typedef struct {
    WsDtype a_type, b_type, acc_type;
    guint m, n, k; /* of the whole step, elements */
    guint inst_k;  /* 16 (16 bit), 32 (8 bit), 8 (tf32): instruction m64 n inst_k */
    guint atoms;   /* m / 64 */
    WsMmaOperand a, b;
    WsExpr *first; /* nonzero: accumulator starts at 0 with this step */
} WsMma;

/* A view that one step moves between a tensor and shared memory: the hardware moves it in boxes, an
 * operation each, which cover it. */
typedef struct {
    guint tensor, swizzle;
    guint rows, cols;          /* of the view, in shared memory */
    guint rank;                /* of the tensor */
    guint extent[WS_MAX_RANK]; /* of the view along its dimensions, dimension 0 first */
    gboolean constant;         /* it lies at a place of the stage that never varies */
    gint64 bytes;
    guint n;
    const WsOp **box; /* TMA_LOAD or TMA_STORE, in order */
} WsTensorTransfer;

/* What one step list credits to one completion of an mbarrier: loads, copies, remote writes. */
typedef struct {
    gint barrier;
    WsExpr *element, *use; /* of the barrier; use NULL where slot and phase are given */
    const WsOp *expect;    /* derived; NULL where the author expects by steps of their own */
    guint n;
    const WsOp **op; /* in order, every box of a load */
} WsTransaction;

/* What a name in the text of a raw step stands for. */
typedef enum {
    WS_RAW_VALUE,   /* value[index] of the operation: its registers */
    WS_RAW_BUFFER,  /* access[index]: shared address */
    WS_RAW_BARRIER, /* `barrier`: shared address of the slot */
    WS_RAW_TENSOR,  /* tensor `index`: global address */
    WS_RAW_EXPR,    /* `expr` in a register */
} WsRawKind;
typedef struct {
    char *name;
    WsRawKind kind;
    gboolean out;
    guint index;
    const WsOp *barrier; /* only barrier, element and slot of it are meant */
    WsExpr *expr;
} WsRawOperand;

/* What a wait for groups (MMA_WAIT, BULK_WAIT, CP_WAIT) finds, over all paths that lead to it
 * (flight.c). A branch whose condition is no constant goes both ways; a loop whose count is no
 * positive constant may make no round. */
typedef struct {
    const WsOp *op;   /* MMA, TMA_STORE, CP_ROWS */
    gboolean by_path; /* not there on every path, or a later one of its kind stays in flight */
} WsRetired;
typedef struct {
    guint n_retired;
    WsRetired *retired; /* oldest first */
    /* Steps in the newest n groups, which stay in flight: at most; -1: paths that leave something
     * behind the newest n differ in it. */
    gint64 stay;
    /* MMA_WAIT: registers of no product any more, on some path; whole values where no part of them
     * stays in use. mode READ | WRITE: an accumulator, READ: an operand. row0, col0 are literals.
     */
    guint n_freed;
    WsValueUse *freed;
} WsWait;

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
    const WsTensorTransfer *transfer; /* TMA_LOAD, TMA_STORE: the whole of it */
    guint n_coord;                    /* logical order (tensor dimension 0 first) */
    WsExpr *coord[WS_MAX_RANK];
    WsReduce reduce;
    WsHint hint;

    /* register values */
    guint n_value;
    WsValueUse value[4]; /* MMA: [0] accumulator, [1] operand a if in registers */
    WsMma *mma;
    gint64 n;          /* MMA_WAIT, BULK_WAIT, CP_WAIT: newest groups that may stay; SETMAXNREG:
                          registers; MBAR_INIT: count */
    gboolean increase; /* SETMAXNREG: .inc */
    gboolean full;     /* BULK_WAIT: wait for the writes too (no .read) */
    guint n_math;
    WsStatement **math; /* MATH: uniform names are bound (VAR, literals; row and col are VAR of kind
                           ROW, COL); NAME leaves and left-hand names are values of the agent, or
                           temporaries of the step. Nothing in it is folded: it is f32 arithmetic */
    WsExpr *skip;       /* MATH: `unless`, bound in the same way */
    WsAssign *assign;   /* MATH: [n_math], what each statement does */
    const WsArray *unless; /* MATH: `skip` as nodes, NULL without */
    gint var;              /* LET, ADVANCE, CLAIM, TAKE: variable set; -1 none */
    WsExpr *set;           /* LET: value; ADVANCE: increment */
    char *text;            /* MARK name, RAW text */
    guint n_raw;
    WsRawOperand *raw; /* RAW: operands of the text, `in` first */
    gboolean unread;   /* RAW: lines of a kernel that an import did not understand, as `text`; a
                          kernel without them would be another one */
    gboolean declared; /* made by the text of a raw step: counted and judged, emitted by nobody */
    guint n_flying;
    const WsOp **flying; /* MMA of this agent that some path leaves in flight before this operation,
                            oldest first */
    WsWait *wait;        /* of a wait for groups, NULL otherwise */
};

/* --- control -----------------------------------------------------------------------------------
 */
typedef enum { WS_TREE_SEQ, WS_TREE_LOOP, WS_TREE_BRANCH, WS_TREE_OP } WsTreeKind;
typedef enum { WS_OVER_COUNT, WS_OVER_TILES, WS_OVER_PIPE } WsLoopOver;

struct WsTree {
    WsTreeKind kind;
    WsTree *parent;
    guint n_kids;
    WsTree **kid; /* SEQ: statements; LOOP: one SEQ; BRANCH: then SEQ, else SEQ or NULL */
    char *step;   /* id of the step it comes from, or NULL */
    /* The subtree is run by the agent's leader alone (LANGUAGE section 9). Set on the outermost
     * such subtree and on everything below it. */
    gboolean leader;
    /* LOOP */
    char *name;
    WsLoopOver over;
    gint index_var, total_var;
    WsExpr *count;          /* COUNT: rounds, none if <= 0 */
    WsExpr *from, *step_by; /* round i has index from + step_by*i; over tiles: positions */
    guint n_cuts;
    WsExpr **cut; /* index values at which a generator splits the loop; never changes meaning */
    gint unroll;  /* 0 not asked, n copies, -1 full */
    /* BRANCH */
    WsExpr *cond;
    /* OP */
    WsOp *op;
};

/* --- the whole ---------------------------------------------------------------------------------
 */
struct WsProgram {
    gint refs;
    char *name, *target, *file;
    char *note;               /* what the author says of the design, or NULL */
    const WsTarget *hardware; /* row of `target` */
    char *design_text;        /* canonical text it was elaborated from (with --set applied) */
    char *design_hash;        /* sha-256 of that text without `covers`, hex */
    guint n_constants;
    char **constant_name;
    gint64 *constant;
    guint n_vars;
    WsVar *var;
    guint n_assume;
    WsExpr **assume;
    char **assume_text;
    guint n_tensors;
    WsTensor *tensor;
    guint n_maps;
    WsTensorMap *map;
    guint n_reference;
    WsStatement **reference; /* constants folded, names left as names */
    guint cluster;
    WsTiles tiles;
    guint n_buffers;
    WsBuffer *buffer;
    guint n_barriers;
    WsBarrier *barrier;
    guint n_pipes;
    WsPipe *pipe;
    guint n_agents;
    WsAgent *agent;
    guint n_groups;
    char **group_name;
    guint n_transactions;
    WsTransaction **transaction; /* in the order of their first operation */
    /* Barrier initialisation, fences, first CTA or cluster barrier, tensor-map prefetch: run once,
     * in order, by the whole CTA (leader ops by thread 0). setmaxnreg opens each agent's body. */
    guint n_prologue;
    WsOp **prologue;
    guint n_ops;
    WsOp **op; /* all operations by index, prologue included */
    guint threads, idle_warps;
    guint entry_registers; /* R0 */
    guint64 shared_bytes;
    gboolean fences_derived, has_raw;
    gpointer arena; /* owns everything above; private to src/program */
};

/* Elaborates a design. `set` overrides constants (--set). Returns NULL with errors of class N, T or
 * S in `findings`; L and B errors leave a program (so that the rest can still be shown) unless the
 * shape of it cannot be told. */
WsProgram *ws_elaborate(const WsDesign *design, const WsSetting *set, guint n_set,
                        WsFindings *findings);
WsProgram *ws_program_ref(const WsProgram *p);
void ws_program_unref(WsProgram *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsProgram, ws_program_unref)
/* `generate --as program`: the whole program as text, stable for golden tests. Caller frees. */
char *ws_program_print(const WsProgram *p);
gint ws_program_find_var(const WsProgram *p, const char *name); /* document and tile scope; -1 */

G_END_DECLS
