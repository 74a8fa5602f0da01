/* Inside of elaboration: the state its files share. Nothing outside src/program includes this. */
#pragma once

#include "expr/expr.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/kind.h"
#include "program/arena.h"
#include "program/forward.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/barrier.h"
#include "program/parts/dtype.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"

G_BEGIN_DECLS

#define WS_ELAB_MAX_ERRORS 10 /* V, S, N, T stop at the first ten */
#define WS_MAX_CLUSTER     8

typedef enum {
    WS_SYMBOL_CONSTANT,
    WS_SYMBOL_SIZE,
    WS_SYMBOL_SCALAR,
    WS_SYMBOL_RUN,
    WS_SYMBOL_TENSOR,
    WS_SYMBOL_BUFFER,
    WS_SYMBOL_BARRIER,
    WS_SYMBOL_PIPE,
    WS_SYMBOL_FLAG,
    WS_SYMBOL_AXIS,
    WS_SYMBOL_TILE_NAME,
    WS_SYMBOL_VALUE,
    WS_SYMBOL_COUNTER,
    WS_SYMBOL_LOOP,
    WS_SYMBOL_LET,
} WsSymbolKind;

typedef struct {
    WsSymbolKind kind;
    const char *name;
    const char *at;      /* path of the declaration */
    guint index;         /* in the program's (agent's) table of that kind */
    gint var;            /* variable, -1 */
    gint64 value;        /* CONSTANT */
    const WsValue *text; /* definition not yet resolved: CONSTANT, RUN, TILE_NAME */
    int state;           /* 0 not resolved, 1 being resolved, 2 resolved */
    gboolean real;       /* RUN of kind f32 */
    /* LOOP: what the name and name.total stand for where we are; index NULL outside the loop */
    WsExpr *loop_index, *loop_total;
    gint total_var;
    gboolean fixed, full; /* LOOP: from, step and count are constants; unrolled fully */
    gint64 from, step, count;
    /* LET: rounds it runs ahead of the loop around it, and its value for other rounds */
    gint64 shift;
    const WsExpr *raw, *be; /* be: compute it in place (raw), the variable is of another round */
} WsElabSymbol;

/* A primitive with what only elaboration needs to know about it. */
typedef struct {
    WsOp op;          /* first: a WsOp of this file's making can be cast back */
    guint list;       /* number of the step list it stands in */
    guint made;       /* operations made before it */
    gboolean strided; /* inside a tile loop with step > 1 */
    guint16 ranks;    /* CTAs of the cluster that execute it (others excluded by `when`) */
    gint64 rank_bytes[WS_MAX_CLUSTER]; /* EXPECT: bytes landing in each rank */
} WsOpBuild;
#define WS_BUILD(o) ((WsOpBuild *)(o))

/* Behind a loop its total is another number than before it. */
typedef struct {
    gint var;
    guint made; /* operations made before the end of the loop */
} WsRoundEnd;

/* Steps of one list that feed one completion of one barrier. */
typedef struct {
    gint barrier;
    const WsOp *first; /* of them */
    const char *element, *use, *slot, *when;
    WsOp *expect;        /* loads: the derived expect */
    WsTransaction *kept; /* the program's, NULL without loads */
    GPtrArray *op;       /* its operations */
    WsOp *last;          /* gathers: the last of them */
} WsTransactionBuild;

typedef struct {
    guint number;
    GArray *transactions; /* WsTransactionBuild */
    const WsOp *open_mma, *open_store;
    gint64 mma_shift, store_shift; /* rounds that the last of them runs ahead */
    guint first_let;
    gint window; /* pipe whose acquire stands open in this list, -1 */
} WsList;

typedef struct {
    const WsNode *node;
    gint full, empty; /* barriers; empty -1 if one_shot */
    gint64 capacity;
    gboolean one_shot, generic_readers;
    guint n_fields;
    guint *field;           /* buffers */
    gboolean window_writes; /* the window that is open has writes */
    guint window_first;     /* transactions of its list before it */
    gint64 window_shift;    /* rounds that its acquire runs ahead */
    guint writer;           /* group + 1; 0 not known */
    /* what fills it, anywhere in the design: so each window and each close of a closed pipe arrives
     * in the same way, whichever stands first in the text */
    gboolean loaded, written, gathered;
    gint told; /* buffer that says what is the end, -1: nobody closes it */
} WsPipeBuild;

typedef struct {
    guint group;
    const WsNode *node;
    WsAgent *out;
    guint index;       /* agent */
    GHashTable *names; /* values, counters, loops: WsElabSymbol */
    GPtrArray *lets;   /* WsElabSymbol, innermost last */
    guint tile_depth, strided_depth, nesting;
    guint16 ranks;
    WsExpr **pipe_use; /* per pipe: use of the window that is open, or NULL */
    guint n_lists;
} WsElabAgent;

typedef struct {
    const WsDesign *origin; /* as it is written: places of findings, text, hash */
    const WsDesign *design; /* without hints */
    const WsNode *root;
    const WsSetting *set;
    guint n_set;
    WsFindings *findings;
    guint errors; /* N, T, S: no program then */
    WsProgram *p;
    WsArena *arena;
    GHashTable *names;       /* document and tile scope */
    GHashTable *group_names; /* set of group names */
    WsStatement **reference; /* constants folded; bound at the end */
    guint n_reference;
    GArray *vars;           /* WsVar */
    GArray *maps;           /* WsTensorMap */
    GArray *barriers;       /* WsBarrier */
    GArray *buffers;        /* WsBuffer */
    GPtrArray *buffer_node; /* WsNode*, NULL for hidden buffers */
    GPtrArray *barrier_node;
    GArray *pipes;                            /* WsPipeBuild */
    gboolean *drawn_expect;                   /* per declared barrier: an `expect` step feeds it */
    GPtrArray *ops;                           /* WsOp*, in order of making */
    GArray *round_ends;                       /* WsRoundEnd, in order of making */
    GPtrArray *transactions;                  /* WsTransaction* */
    gint row_var, col_var, cta_var, rank_var; /* -1 none */
    gint cta_barrier;                         /* hardware barrier 0: all threads of the CTA */
    const WsTarget *hw;                       /* row of the target */
    gboolean fences, war;
    gboolean probe;     /* a trial elaboration: no text, no sentences, no further trials */
    WsElabAgent *agent; /* while a body is elaborated */
    guint group;        /* while a group's fields are elaborated */
    gint64 replica, replicas;
    gboolean in_tile; /* tile names are visible (tiles.let) */
} WsElab;

/* --- findings (scope.c) */
/* An error of class V, S, N, T: no program comes of it. */
void ws_elab_error(WsElab *E, WsRuleId rule, const char *at, const char *remedy, const char *format,
                   ...) G_GNUC_PRINTF(5, 6);
/* A finding that leaves a program (L, B, hints). */
WsFinding *ws_elab_note(WsElab *E, WsRuleId rule, const char *at, const char *remedy,
                        const char *format, ...) G_GNUC_PRINTF(5, 6);
gboolean ws_elab_stop(const WsElab *E);

/* --- names (scope.c) */
void ws_elab_scope(WsElab *E);      /* constants, sizes, scalars, run names, object names */
void ws_elab_tile_scope(WsElab *E); /* axes, tile names */
void ws_elab_run_values(WsElab *E); /* values of run names, assume */
WsElabSymbol *ws_elab_lookup(WsElab *E, const char *name);
WsElabSymbol *ws_elab_declare(WsElab *E, GHashTable *scope, WsSymbolKind kind, const char *name,
                              const char *at);
gint ws_elab_var(WsElab *E, WsVarKind kind, const char *name, gint agent);
WsExpr *ws_elab_var_expr(WsElab *E, gint var);
/* Looks up an object by name and kind; reports N-UNKNOWN (with the nearest name) and returns NULL.
 */
WsElabSymbol *ws_elab_find(WsElab *E, const char *name, WsSymbolKind kind, const char *at);
void ws_elab_unknown(WsElab *E, const char *name, const char *what, const char *at);

/* --- expressions (resolve.c). Results belong to the arena and are never NULL: after an error they
 * are the literal 0 (or 1 for constants), so that elaboration can go on to the next error. */
typedef enum {
    WS_RESOLVE_TENSOR = 1,   /* elements of integer tensors allowed */
    WS_RESOLVE_ROW = 2,      /* row, col allowed */
    WS_RESOLVE_REAL = 4,     /* real literals and scalars allowed */
    WS_RESOLVE_NO_CTA = 8,   /* `cta` not allowed */
    WS_RESOLVE_NO_TILE = 16, /* axes and tile names not allowed */
} WsResolve;
WsExpr *ws_elab_resolve(WsElab *E, const WsExpr *e, guint flags, const char *at);
gint64 ws_elab_constant(WsElab *E, const WsExpr *e, const char *at);
/* A constant that must lie in lo..hi. */
gint64 ws_elab_constant_in(WsElab *E, const WsExpr *e, gint64 lo, gint64 hi, const char *what,
                           const char *at);
WsExpr *ws_elab_int(WsElab *E, gint64 value);
WsExpr *ws_elab_op(WsElab *E, WsExprOp op, const WsExpr *a, const WsExpr *b, const char *at);
WsExpr *ws_elab_op_int(WsElab *E, WsExprOp op, const WsExpr *a, gint64 b, const char *at);
gboolean ws_elab_is_int(const WsExpr *e, gint64 *value);
/* Whether a counter or total that `e` (NULL: none) mentions changes between two operations: the
 * same text means another value then. */
gboolean ws_elab_changes(WsElab *E, const WsExpr *e, const WsOp *from, const WsOp *to);
/* The same between two numbers of operations made. */
gboolean ws_elab_changes_within(WsElab *E, const WsExpr *e, guint from, guint to);
const char *ws_elab_text(WsElab *E, const WsExpr *e); /* canonical text, arena; "" for NULL */
/* Value of an expression whose only variable is `cta`, at rank c. */
gboolean ws_elab_at_rank(WsElab *E, const WsExpr *e, guint c, gint64 *value);
/* Statements: uniform names bound, values and temporaries left as names. */
WsStatement *ws_elab_statement(WsElab *E, const WsStatement *s, GHashTable *temporaries,
                               const char *at);
WsExpr *ws_elab_array_expr(WsElab *E, const WsExpr *e, const char *at);

/* --- fields (fields.c): one way to read a field whatever form it was written in */
const WsExpr *ws_elab_field_expr(WsElab *E, const WsNode *n, WsFieldId f); /* NULL if absent */
const WsExpr *ws_elab_value_expr(WsElab *E, const WsValue *v);
const char *ws_elab_field_name(WsElab *E, const WsNode *n,
                               WsFieldId f); /* "" never; NULL if absent */
const WsRef *ws_elab_field_ref(WsElab *E, const WsNode *n, WsFieldId f);
guint ws_elab_field_count(const WsNode *n, WsFieldId f); /* items of a list; 1 for a single value */
const WsValue *ws_elab_field_item(const WsNode *n, WsFieldId f, guint i);
gboolean ws_elab_field_is(WsElab *E, const WsNode *n, WsFieldId f, const char *word);

/* --- devices (mesh/) */
void ws_elab_devices(WsElab *E); /* the number of this device, with the sizes */
void ws_elab_mesh(WsElab *E);    /* how many there are, flags; after run names */

/* --- declarations */
void ws_elab_tensors(WsElab *E);
void ws_elab_reference(WsElab *E);
void ws_elab_tiles(WsElab *E);
void ws_elab_buffers(WsElab *E); /* layout.c: forms, swizzle, pitch */
void ws_buffer_set_stages(WsBuffer *b, guint stages);
void ws_buffer_hidden(WsElab *E, WsBuffer *b); /* layout of one that no design declares */
void ws_elab_place(WsElab *E);                 /* layout.c: offsets; after barriers and pipes */
void ws_elab_barriers(WsElab *E);              /* barriers.c: declared */
void ws_elab_pipes(WsElab *E);
void ws_elab_groups(WsElab *E); /* agents, warps, values */
gboolean ws_elab_dtype(const char *text, WsDtype *out);
gint ws_barrier_derived(WsElab *E, const char *name, const char *path, WsBarrierKind kind,
                        guint slots, gboolean ready);
gint ws_barrier_group(WsElab *E); /* of this agent's `sync` group */

/* --- references to objects (access.c) */
typedef struct {
    WsAccess access;
    guint rows, cols; /* logical extents, .t applied; a rank-1 tile [n] is n x 1 */
    gboolean rank1;
} WsBufferView;
typedef struct WsStepState WsStepState;
/* A view of a buffer as a step touches it. FALSE after an error (a harmless view is returned). */
gboolean ws_view_buffer(WsStepState *S, const WsRef *ref, WsMode mode, WsProxy proxy,
                        WsBufferView *out);
gboolean ws_view_value(WsStepState *S, const WsRef *ref, WsMode mode, WsValueUse *out);
/* Fills barrier, element, use, slot, turn and parity (WAIT) of an operation. */
gboolean ws_op_barrier(WsStepState *S, WsOp *op, const WsRef *ref, WsBarrierKind kind);
void ws_op_barrier_at(WsStepState *S, WsOp *op, gint barrier, WsExpr *element, WsExpr *use);
gint ws_pipe_of(WsElab *E, guint buffer); /* pipe whose field it is, -1 */
/* A start (element) that depends on the rank or on loops of constant length: FALSE after an error
 * if some value of it lies outside of 0..extent - count. `value`: only fully unrolled loops may. */
gboolean ws_bounds_check(WsStepState *S, const char *name, const WsExpr *start, gint64 count,
                         gint64 extent, gboolean value);        /* bounds.c */
WsElabSymbol *ws_step_symbol(WsStepState *S, const char *name); /* any object or value, or NULL */

/* --- steps */
struct WsStepState {
    WsElab *E;
    WsList *list;
    const WsNode *node;
    const char *id;   /* identity */
    const char *path; /* path, for children */
    WsTree *seq;      /* where operations go: the list, or the branch of a run-time `when` */
    WsExpr *when;     /* run-time condition or NULL */
    WsExpr *use;      /* resolved `use` or NULL */
    gint64 shift;     /* rounds this execution runs ahead of its loop */
};
typedef void (*WsStepElaborate)(WsStepState *S);
extern const WsStepElaborate ws_step_elaborate[WS_NODE_KIND_COUNT];
void ws_elab_list(WsElab *E, const WsNode *owner, WsFieldId field, const char *path, WsTree *seq);
/* Steps of a list that run at least `round` + 1 rounds early (peel.c); round -1: the loop itself.
 */
typedef struct WsPeel WsPeel;
void ws_elab_list_round(WsElab *E, const WsNode *owner, WsFieldId field, const char *path,
                        WsTree *seq, const WsPeel *peel);
struct WsPeel {
    WsElabSymbol *loop;
    gint64 round;                    /* >= 0: prologue round; -1: in the loop */
    WsExpr *base_index, *base_total; /* of the loop's own round (or of round 0) */
    WsExpr *from, *step, *count;
};
/* Ranks of the cluster at which a condition may hold (`negate`: may fail). */
guint16 ws_rank_mask(WsElab *E, const WsExpr *cond, gboolean negate);
gint64 ws_elab_ahead(WsElab *E, const WsNode *step, const char *at);

/* TRUE, with an error: the step has one of these keys, which mean nothing where its other side is
 * `where` ("tensor", "pipe"). */
gboolean ws_step_strays(WsStepState *S, const char *where, const WsFieldId *field, guint n);
WsOp *ws_step_op(WsStepState *S, WsOpKind kind, const char *suffix);
WsOp *ws_op_new(WsElab *E, WsOpKind kind, const char *id, const char *step, WsNodeKind step_kind);
void ws_op_label(WsElab *E, WsOp *op, const char *format, ...) G_GNUC_PRINTF(3, 4);
void ws_op_access(WsElab *E, WsOp *op, const WsAccess *access);
WsTree *ws_tree_new(WsElab *E, WsTreeKind kind, const char *step);
void ws_tree_add(WsElab *E, WsTree *parent, WsTree *kid);
void ws_tree_insert(WsElab *E, WsTree *parent, guint at, WsTree *kid);
guint ws_tree_position(const WsTree *kid); /* in its parent */
WsTree *ws_tree_op(WsElab *E, WsOp *op);

/* Coordinates and tensor maps of a transfer between a tensor and a view (maps.c): one operation per
 * box. `make` is called for each box, in order. */
typedef WsOp *(*WsBoxMake)(WsStepState *S, guint box, const WsAccess *part, gint map,
                           WsExpr **coord, guint n_coord, gint64 bytes, gpointer data);
void ws_boxes(WsStepState *S, guint tensor, const WsBufferView *view, WsExpr **at, guint n_at,
              WsBoxMake make, gpointer data);
guint ws_step_coordinates(WsStepState *S, const WsTensor *t, guint flags, WsExpr **at);

/* Kinds of steps (steps_*.c) */
#define WS_STEP_ID(id) void ws_step_##id(WsStepState *S);
#include "model/step_id.def"
#undef WS_STEP_ID
/* Refuses a step of another round than the group of `open` (NULL: none stands open), whose `ahead`
 * is in `shift`; the step's is kept there. */
void ws_step_joins(WsStepState *S, const WsOp *open, gint64 *shift);
/* The same, and refuses to close the group by a step that `when` guards. */
void ws_step_closes(WsStepState *S, const WsOp *open, gint64 *shift);
gboolean ws_step_has_mesh(WsStepState *S); /* FALSE, with an error: the design has one device */
/* Barrier that a transfer credits: its `signal`, or that of the pipe window. */
gboolean ws_step_credit(WsStepState *S, WsOp *op, guint buffer, gboolean required);
WsElabSymbol *ws_step_tensor(WsStepState *S); /* that its keyword names, or NULL */
WsReduce ws_step_reduce(WsStepState *S);
WsCtas ws_step_ctas(WsStepState *S, WsFieldId field);
gint ws_map_of(WsElab *E, guint tensor, const guint *box, guint swizzle); /* box innermost first */
void ws_arrive_breadth(WsStepState *S, WsOp *op, const char *by, gint64 n, gint64 count);
void ws_arrive_warp_sync(WsStepState *S, const WsOp *arrive);

/* types.c: a compute step as typed nodes; the value of a real run name. */
void ws_types_bind(WsStepState *S, WsOp *math);
const WsArray *ws_types_run_name(WsElab *E, const WsExpr *value);

/* --- pipes (pipes.c) */
/* `for` over a pipe: its number, -1 after an error. */
gint ws_pipe_loop(WsStepState *S, const WsElabSymbol *symbol, WsTree *loop);
void ws_pipe_loop_body(WsStepState *S, WsTree *loop, WsTree *body, gint pipe, const char *path);
void ws_pipe_loop_end(WsStepState *S, gint pipe); /* behind it */
gint ws_pipe_named(WsElab *E, const char *name);  /* -1 if no pipe has that name */
void ws_pipe_wait(WsStepState *S, gint pipe);
/* Barrier that a load or gather without `signal` credits: p.full of the open window, -1. */
gint ws_pipe_signal(WsStepState *S, guint buffer, WsExpr **use);

/* --- windows (windows.c): what fills a pipe, and how that arrives */
gboolean ws_pipe_has_field(const WsPipeBuild *p, WsElab *E, const WsRef *ref);
void ws_window_fills(WsElab *E, WsPipeBuild *p, const WsNode *step); /* notes how, if it does */
void ws_window_in_step(WsStepState *S, gint pipe);
/* Whether the open window arrives by the leader's expect, by all threads with its gathers. */
gboolean ws_window_by_expect(WsStepState *S, const WsPipeBuild *p);
gboolean ws_window_by_gathers(WsStepState *S, const WsPipeBuild *p);

/* --- streams (stream.c): what the writer of a pipe commits before each of its closes */
gboolean ws_stream_closes(WsElab *E, const char *pipe); /* a `close` names the pipe */
/* Hidden buffer, one i32 in each of `stages`: what a slot of the pipe is. */
guint ws_stream_buffer(WsElab *E, const char *pipe, guint stages);
/* Rounds of a `for` over the pipe: those of the close that stands as far down in its writer's body
 * as the loop in its own. 0, with a finding, where that is not to be told. */
WsExpr *ws_stream_rounds(WsStepState *S, const WsPipeBuild *pipe);
void ws_stream_judge(WsElab *E, const WsPipeBuild *pipe); /* what no close ends */

/* --- transactions (transactions.c) */
/* Credits `bytes` of a load, copy or remote write landing in `ctas` to its barrier and makes the
 * derived expect before the first member. */
void ws_transaction_credit(WsStepState *S, const WsOp *op, gint64 bytes, const WsCtas *ctas);
void ws_transaction_gather(WsStepState *S, WsOp *op);
void ws_list_begin(WsElab *E, WsList *list);
void ws_list_end(WsElab *E, WsList *list);
guint16 ws_ctas_mask(WsElab *E, const WsCtas *ctas, guint sender);

/* --- after the bodies */
void ws_elab_counts(WsElab *E);               /* counts.c: arrivals, threads, bytes */
void ws_elab_leaders(WsElab *E);              /* breadth.c */
void ws_elab_lines(WsStepState *S, WsOp *op); /* exchange.c; once its nodes are made */
void ws_elab_exchanges(WsElab *E);            /* exchange.c */
/* Whether two views may touch the same bytes in any stage. */
gboolean ws_accesses_overlap(WsElab *E, const WsAccess *a, const WsAccess *b); /* fences.c */
void ws_elab_fences(WsElab *E);                                                /* fences.c */
void ws_elab_registers(WsElab *E);                                             /* registers.c */
void ws_elab_k_orders(WsElab *E);                                              /* steps_mma.c */
void ws_elab_prologue(WsElab *E);                                              /* prologue.c */
void ws_elab_budgets(WsElab *E);                                               /* budgets.c */
void ws_elab_flights(WsElab *E);                                               /* flight.c */
void ws_elab_words(WsElab *E);                                                 /* words.c */
void ws_elab_keep_pipes(WsElab *E);                                            /* pipes.c */
/* Bytes of shared memory under other settings, 0 if the design does not elaborate then. */
guint64 ws_elab_shared_bytes(const WsDesign *design, const WsSetting *set, guint n_set);

/* Steps and targets without an answer here: "step stage at X: not in lens elaborate". */
void ws_step_unsupported(WsStepState *S);
void ws_step_illegal(WsStepState *S); /* a step that the target has not */

G_END_DECLS
