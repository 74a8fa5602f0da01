/* Inside of `generate --as tle`: what is worked out from the program before a line is written (the
 * plan, which the rules of tle_rule.def judge), and what the tle files call from each other.
 * Barrier form: buffers, arrays of barriers, copies. Designs made of pipes are written as pipes. */
#pragma once

#include "codegen/python/py.h"
#include "program/partition_registers.h"
#include "program/parts/staged.h"

G_BEGIN_DECLS

/* The loads of a transaction of a barrier that is no pipe's. */
typedef struct {
    gint barrier;
    GArray *load; /* const WsOp *: the first one of each step */
} WsTleTransaction;

/* A copy expects its own bytes, so a barrier has one part per load of its transactions; each part
 * is an array of barriers. `expect` 0: completed by arrivals. */
typedef struct {
    const char *name;
    gint64 expect;
} WsTlePart;

typedef struct {
    gint pipe;        /* -1: a barrier of its own */
    gboolean skipped; /* made by the compiler: sync group */
    guint n_parts;
    WsTlePart *part;
    gboolean per_element; /* elements differ in init or count: an array each */
} WsTleBarrier;

typedef struct {
    const char *name;
    const WsPipe *is;
} WsTlePipe;

typedef struct {
    WsPy *y;
    GArray *transaction;   /* WsTleTransaction */
    WsTleBarrier *barrier; /* [p->n_barriers] */
    GArray *pipe;          /* WsTlePipe */
    gint *pipe_of;         /* [p->n_buffers]: -1 none */
    gint *told_of;         /* [p->n_buffers]: pipe whose slots say there what they are; -1 none */
    guint *order;          /* agents as they are handed to warp_specialize: the default first */
    gboolean no_default;   /* no agent may be the default partition */
    WsPartitionRegisters registers;
    /* the role being written */
    const WsExpr **window;   /* [pipes]: use of the slot held, NULL none */
    const GPtrArray *hinted; /* WsStagedLoop*: loops written with their stages; NULL: as steps */
    gboolean *staged;        /* [pipes] a group of such a loop fills it */
    const char *no_stages;   /* the design has the hint form, the text has not: why */
    GPtrArray *raw;          /* char*: functions of the author's text, without their names */
    guint dropped;           /* set of WS_TLE_DROPPED_* met */
} WsTle;
enum { WS_TLE_DROPPED_HINT = 1, WS_TLE_DROPPED_PREFETCH = 2 };

/* --- tle_plan.c ------------------------------------------------------------------------------ */
void ws_tle_plan(WsTle *t, WsPy *y);
void ws_tle_clear(WsTle *t);
WsTlePipe *ws_tle_pipe(const WsTle *t, gint pipe);
/* Index of the part of its barrier that this load signals. */
guint ws_tle_part(const WsTle *t, const WsOp *load);

/* --- tle_rules.c: tle_rule.def -----------------------------------------------------------------
 */
typedef enum {
#define WS_TLE_RULE(id, what, judge, remedy) WS_TLE_RULE_##id,
#include "codegen/python/tle/tle_rule.def"
#undef WS_TLE_RULE
    WS_TLE_RULE_COUNT
} WsTleRule;
/* Refuses at the first offence, naming rule and step. */
void ws_tle_judge(WsTle *t);

/* --- tle_objects.c: allocations ----------------------------------------------------------------
 */
/* Lines that allocate all buffers, barriers and pipes of the kernel. */
void ws_tle_objects(WsTle *t);
gboolean ws_tle_is_ring(const WsTle *t, gint pipe); /* of a loop with stages: the compiler's */
/* The end of a pipe that an agent reads from: readers have names if there are several. */
const char *ws_tle_reader(WsTle *t, const WsTlePipe *pipe, guint agent);

/* --- tle_ops.c, tle_memory.c: operations -------------------------------------------------------
 */
void ws_tle_op(WsPy *y, const WsOp *op);
void ws_tle_load(WsTle *t, const WsOp *op);
void ws_tle_store(WsTle *t, const WsOp *op);
void ws_tle_gather(WsTle *t, const WsOp *op);
/* Some copies of rows of the agent run beside other steps, so that all are in groups there. */
gboolean ws_tle_in_groups(const WsPy *y, gint agent);
void ws_tle_gather_commit(WsTle *t, const WsOp *op);
void ws_tle_gather_wait(WsTle *t, const WsOp *op);
void ws_tle_write(WsTle *t, const WsOp *op);
void ws_tle_combine(WsTle *t, const WsOp *op);
void ws_tle_read(WsTle *t, const WsOp *op);
void ws_tle_global(WsTle *t, const WsOp *op);
void ws_tle_next_tile(WsTle *t, const WsOp *op); /* CLAIM, TAKE */
/* Condition of a loop over a pipe. */
const char *ws_tle_goes_on(WsPy *y, const WsTree *loop);
void ws_tle_role_begin(WsPy *y); /* no slot of a pipe is held */
void ws_tle_mma(WsTle *t, const WsOp *op);
void ws_tle_mma_wait(WsTle *t, const WsOp *op);
/* What the kernel takes beside what the launcher works out. */
GArray *ws_tle_parameters(WsTle *t);
/* --- tle_staged.c: the text in the hint form. NULL and error: it cannot be said so. Caller frees.
 */
char *ws_tle_staged(const WsProgram *p, const GPtrArray *loops, gboolean remarks,
                    WsPyPieces *pieces, const WsPyNumbers *numbers, GError **error);
/* --- tle_raw.c: text of the author */
void ws_tle_raw(WsTle *t, const WsOp *op);
void ws_tle_raw_functions(WsPy *y); /* lines of the file */
/* Puts the functions of `raw` where they stand in the finished text, which it takes. */
char *ws_tle_put_raw(const GPtrArray *raw, char *text);
/* A stage of a buffer, or a view of it: "a.slot(k_total % 4).subslice(0, 64, 0)". */
const char *ws_tle_view(WsTle *t, const WsOp *op, const WsAccess *a, guint rows, guint cols);
const char *ws_tle_barrier_at(WsTle *t, const WsOp *op, guint part);

G_END_DECLS
