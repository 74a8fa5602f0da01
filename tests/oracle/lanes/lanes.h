/* The lanes of a program: one run with given sizes, in which every lane, every queue and every slot
 * of an mbarrier has a clock of what it knows to have happened. Because contributions and waits are
 * also held against what they mean (checker's theorem: no contribution can hit another phase, no
 * wait can pass another completion), what is ordered in this run is ordered in every run, so two
 * accesses that it leaves unordered can meet. Judged besides: proxies, registers in flight,
 * undefined values, exit.
 *
 * Four clocks each: ORDER (has happened), DATA (what it stored can be seen), PROXY (and the async
 * proxy can see it), RETURNED (has gone on from its waits: at least ORDER). Transfers carry order;
 * mbarriers, named and cluster barriers all. A retired product has been issued by all lanes, so it
 * says that they went on from what they waited for before; it says nothing of their accesses and
 * arrivals, which may still be on their way.
 */
#pragma once

#include "../oracle.h"

G_BEGIN_DECLS

enum { ORDER, DATA, PROXY, RETURNED, N_CLOCKS };
typedef gint16 Clock;
#define CLOCK_ROW 8 /* clocks that are worked on at once */

typedef struct {
    Clock *of[N_CLOCKS]; /* [width] */
} Clocks;

/* What several lanes of an agent know. It is never changed: who learns more goes over to another.
 */
typedef struct Base Base;
struct Base {
    Clocks c;
    guint users;
    guint64 id; /* of what it says, > 0 */
    Base *next; /* in the pool */
};

/* What a lane knows: what its base says, and of its own clocks what is here, where that is later.
 * Most lanes of an agent know the same but for what they did last. */
typedef struct {
    Base *base;
    guint who[2]; /* its clock, that of its copies; NOBODY: none */
    Clock own[2][N_CLOCKS];
} Lane;
#define NOBODY G_MAXUINT

typedef struct {
    gint16 who, when; /* -1: nobody */
} Moment;

typedef struct {
    Moment write, read[4];
    Clock *many; /* readers, where there are more; NULL: none */
    Clock *atom; /* [width] atomics since the last write, all of one kind; NULL: none */
    guint8 atom_kind;
    gint16 tile; /* 2 + round of the claim that wrote it, -1, -2: a round or the end of a pipe, 0:
                    none */
    guint8 n_read;
    guint8 plain;  /* written by ordinary stores */
    guint8 gather; /* written by cp.async */
} Cell;

typedef struct {
    const WsOp *op;
    guint8 *acc, *a; /* elements of the accumulator, of operand a; NULL: not in registers */
    guint value_acc, value_a;
    gint16 when;
    guint group;
} Product;

typedef struct {
    guint8 *defined;  /* [rows * cols] */
    gboolean touched; /* by ordinary code since the last fence */
    const WsOp *last; /* product since the last fence */
} Register;

typedef struct {
    guint inst, agent, rank;
    WsWalker *walker;
    const WsOp *op; /* next; NULL: done */
    gboolean joined, done;
    gint64 position; /* of its tile, and the ids it has claimed or taken in it */
    guint taken;
    guint n_lanes, first; /* first clock */
    Lane *lane;
    gint16 *now;
    gint products, reads, writes, rows; /* clocks of the queues (rows: of lane 0), -1 none */
    gint16 product_now, read_now;
    gint16 *row_now; /* [n_lanes] */
    GArray *flight;  /* Product */
    guint product_group;
    GArray *store_group, *row_group; /* gint16: moment of each committed group */
    guint retired_stores, retired_rows;
    gint16 stores_open;
    GPtrArray *issue; /* Clock*: RETURNED of all lanes at each product */
    Register *value;
    gint64 cluster_generation;
    gboolean clustered; /* has arrived, and not waited since */
    gint64 named_generation;
} Lanes;

typedef struct {
    guint count;
    gint64 phase, pending, tx;
    Clocks now, before; /* of the running phase; of the last completed one */
    guint64 joined,
        knew_last; /* id of a base that `now` holds, that knows all of `last`; 0: none */
    /* Moment: contributions of the running phase and of the two before, bare expects of this one */
    GArray *part, *last, *older, *expects;
    GArray *waited; /* Moment: returns of waits for the last completion */
    gint clock;     /* of its transfers */
    gboolean waits; /* somebody waits for it, in this launch */
    /* The last completion that copies of rows arrived for by themselves, and who issued them; the
     * last that a wait returned on; -1: none. */
    gint64 rows_for, returned;
    const WsOp *rows_op;
    const Lanes *rows_by;
} Mbarrier;

typedef struct {
    gboolean met;   /* in this run: else only count and waits are there */
    guint count;    /* threads */
    gboolean waits; /* somebody waits for it, in this launch */
    gint64 generation, arrived;
    Clocks now, before;
    guint64 joined, knew_last; /* as of an mbarrier */
    GArray *part, *last;
} Named;

typedef struct {
    guint n;
    struct {
        guint row, col;
    } * at;
} Elements;

typedef struct {
    const WsProgram *p;
    const OracleOptions *options;
    OracleResult *result;
    OracleData data;
    guint width, n_insts, n_slots, slots_per_rank, n_named;
    guint *first_slot;
    Lanes *inst;
    Mbarrier *slot;
    Named *named; /* rank * 16 + hardware id; the cluster's last */
    Cell *cell;
    guint8 *fine;      /* [blocks of 16 bytes] */
    Elements **judged; /* [buffers] that stand for others; NULL: all, each for itself */
    guint unit;
    guint64 cells_per_rank;
    GArray *remote; /* Remote: what reaches a CTA from outside */
    GArray *in_flight;
    GPtrArray *memory; /* freed at the end */
    guint8 *block;     /* the last of it, of which small pieces are taken */
    gsize block_left;
    Base *pool;
    guint64 n_ids;
    gboolean ended;   /* all agents have */
    gboolean looked;  /* for waits */
    guint8 **written; /* [tensors] times that each element was written; NULL: not looked at */
} Lab;

typedef struct {
    guint rank;
    Moment what;
    const WsOp *op;
    guint inst;
} Remote;

/* --- clocks (clocks.c) */
/* Zeroed memory that lasts as long as the run. */
gpointer lanes_alloc(Lab *L, gsize bytes);
Clocks clocks_new(Lab *L);
void clock_join(const Lab *L, Clock *into, const Clock *from);
void clocks_join(const Lab *L, Clocks *into, const Clocks *from);
void clocks_copy(const Lab *L, Clocks *into, const Clocks *from);
void clocks_clear(const Lab *L, Clocks *c);

/* --- what lanes know (knows.c) */
void lanes_know_nothing(Lab *L, Lanes *a);
static inline gboolean lane_knows(const Lane *by, guint kind, gint16 who, gint16 when)
{
    return by->base->c.of[kind][who] >= when ||
           ((guint)who == by->who[0] && by->own[0][kind] >= when) ||
           ((guint)who == by->who[1] && by->own[1][kind] >= when);
}
/* … of all of them that they have happened. `memo`: id of a base that does, 0: none yet. */
gboolean lane_knows_all(const Lane *by, const GArray *moments, guint64 *memo);
/* What it knows is known to those who read `into`. `memo`: id of a base that is in it, 0: none. */
void lane_joins(const Lab *L, const Lane *lane, guint kind, Clock *into);
void lane_joins_all(const Lab *L, const Lane *lane, Clocks *into, guint64 *memo);
/* A change of what lanes 0, step, 2 step, … of those from `from` to `to` know. */
typedef void (*LaneChange)(const Lab *L, Clocks *c, gconstpointer data);
void lanes_change(Lab *L, Lanes *a, guint from, guint to, guint step, LaneChange change,
                  gconstpointer data);
/* … come to know all of it. */
void lanes_learn(Lab *L, Lanes *a, guint from, guint to, guint step, const Clocks *what);
/* What all lanes 0, step, 2 step, … know; to be given back. */
Lane lanes_common(Lab *L, const Lanes *a, guint step);
void lanes_common_free(Lab *L, Lane *common);
/* What any of them knows of a kind. */
void lanes_any(const Lab *L, const Lanes *a, guint step, guint kind, Clock *into);

/* --- common (clocks.c) */
void lanes_problem(Lab *L, guint flag, const Lanes *a, const WsOp *at, const WsOp *other);
void lanes_outside(Lab *L, const char *reason);
/* Who waits for what in this launch, each agent going through its work by itself. */
void lanes_look_for_waits(Lab *L);
gint64 lanes_value(Lab *L, const Lanes *a, const WsExpr *e);
/* Lane l does something that others may come to know. */
Moment lanes_tick(Lanes *a, guint l);
/* Lanes 0, step, 2 step, … execute the operation. */
guint lanes_step(const Lanes *a, const WsOp *op);
guint lanes_targets(Lab *L, const Lanes *a, const WsCtas *ctas, guint *rank);
Mbarrier *lanes_slot(Lab *L, const Lanes *a, const WsOp *op, guint rank);
/* CTA `rank` must not end before it; nothing where it is the agent's own. */
void lanes_reached(Lab *L, guint rank, const Lanes *a, Moment m, const WsOp *op);

/* --- barriers (sync.c); those that answer are FALSE where the agent must wait */
/* The phase that a contribution means; -1: whichever it meets. */
gint64 lanes_turn(Lab *L, const Lanes *a, const WsOp *op);
void lanes_contributes(Lab *L, const Lanes *a, const WsOp *op, gint64 turn, Mbarrier *b,
                       const Lane *by);
void lanes_complete(Lab *L, const Lanes *a, const WsOp *op, Mbarrier *b);
void lanes_arrivals(Lab *L, Lanes *a, const WsOp *op);
void lanes_expects(Lab *L, Lanes *a, const WsOp *op);
gboolean lanes_wait_passes(Lab *L, Lanes *a, const WsOp *op);
Named *lanes_named(Lab *L, const Lanes *a, const WsOp *op);
void lanes_join(Lab *L, Lanes *a, const WsOp *op, Named *b, guint threads);
gboolean lanes_sync_passes(Lab *L, Lanes *a, const WsOp *op);
void lanes_cluster_ended(Lab *L);
gboolean lanes_cluster_passes(Lab *L, Lanes *a, const WsOp *op);
void lanes_warp_sync(Lab *L, Lanes *a);
void lanes_fence_async(Lab *L, Lanes *a, const WsOp *op);

/* --- engines (async.c) */
void lanes_transfer(Lab *L, Lanes *a, const WsOp *op);
void lanes_product(Lab *L, Lanes *a, const WsOp *op);
void lanes_product_wait(Lab *L, Lanes *a, const WsOp *op);
void lanes_store(Lab *L, Lanes *a, const WsOp *op);
void lanes_store_wait(Lab *L, Lanes *a, const WsOp *op);
void lanes_rows(Lab *L, Lanes *a, const WsOp *op);
void lanes_rows_wait(Lanes *a, const WsOp *op);
void lanes_rows_arrive(Lab *L, Lanes *a, const WsOp *op);

/* --- memory (memory.c) */
gboolean lanes_memory_new(Lab *L);
/* Generic access of `op` by the lanes that the layout of its value says. */
void lanes_generic(Lab *L, Lanes *a, const WsOp *op);
/* Copies of a gather: each lane its own 16 bytes. */
void lanes_gather(Lab *L, Lanes *a, const WsOp *op);
/* The view in CTA `rank` is read or written by an engine, for one that knows `by`, at `when`. */
void lanes_engine(Lab *L, Lanes *a, const WsOp *op, const WsAccess *access, guint rank,
                  const Lane *by, Moment when);

/* --- layouts (owners.c) */
typedef enum { SCALAR, LINEAR, TILE, ROWS, QUADS, COLUMNS, MATRIX } Shape;
Shape lanes_shape(const WsOp *op, const WsRegValue *v);
/* The lanes that hold element (row, col) of a value, how many: a write is done by the first of
 * them, a read by all. */
guint lanes_owners(Shape shape, const WsRegValue *v, guint n_lanes, guint row, guint col,
                   guint *first, guint *step);
/* A tile of one dimension stands for rows or for columns. */
gboolean lanes_turned(const WsAccess *x, const WsValueUse *u);
/* The lane that copies element (row, col) of what is gathered. */
guint lanes_gathers(const WsAccess *x, guint bytes, guint n_lanes, guint row, guint col);

/* --- elements that fare alike (alike.c); NULL: not yet, or nobody asks */
Elements **lanes_alike(const Lab *L, LanesAlike *all);

/* --- outputs (outputs.c): elements of tensors of access `write`, where all tiles are run */
void lanes_outputs_new(Lab *L);
void lanes_outputs(Lab *L, Lanes *a, const WsOp *op);
void lanes_outputs_end(Lab *L, gboolean judged);

/* --- registers (values.c) */
void lanes_values_new(const WsProgram *p, Lanes *a);
void lanes_values_free(const WsProgram *p, Lanes *a);
void lanes_values(Lab *L, Lanes *a, const WsOp *op);
void lanes_retire(Lanes *a, gint64 newest);

/* Of many runs of one program: what can be told from it once. */
LanesAlike *lanes_alike_new(const WsProgram *p);
void lanes_alike_free(LanesAlike *all);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LanesAlike, lanes_alike_free)
OracleResult lanes_run(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options);

G_END_DECLS
