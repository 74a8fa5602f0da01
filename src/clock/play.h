/* The play behind clock.h: agents, units and barriers of one cluster of CTAs. Private to this
 * folder.
 *
 * Agents advance one operation (or one slice of one) at a time, always the one that is furthest
 * behind. Units serve requests in that order, so the end of every asynchronous effect is known when
 * it is issued; a barrier's phase ends at the latest of its contributions, and is known to when the
 * last of them was issued. All times are cycles in double. */
#pragma once

#include "clock/clock.h"
#include "clock/events.h"
#include "clock/mesh.h"
#include "clock/share.h"
#include "program/walk/walk.h"

/* A unit that serves one request after the other. */
typedef struct {
    double free; /* earliest start of the next request */
    double busy; /* cycles served so far */
    guint by;    /* the event at `free`, of WsEvents; 0: none is written down */
} WsUnit;

#define WS_WORK_PHASES 8 /* what is more is counted with the last one */

/* Work on the pipes of an SM, in cycles at full rate: its pipes at the same time. */
typedef struct {
    double alu, mufu;
    double half;    /* of alu */
    double latency; /* after the throughput part */
} WsWorkPhase;

/* Work of a generic operation: one phase after the other, or a move of bytes. */
typedef struct {
    double alu, mufu, smem; /* in all */
    double latency;         /* of a move */
    double instructions;    /* of statements, for one warp */
    guint n_phases;
    WsWorkPhase phase[WS_WORK_PHASES];
} WsWork;

/* Groups of one queue of an agent (mma, bulk, cp.async): when each ended. */
typedef struct {
    GArray *done; /* double: end of each closed group, never decreasing */
    GArray *full; /* double: bulk groups: also written */
    double open, open_full;
    GArray *done_by, *full_by; /* guint: events; NULL where none are written down */
    guint open_by, open_full_by;
} WsGroups;

typedef enum { WS_MOVE_NEXT, WS_MOVE_AGAIN, WS_MOVE_BLOCKED, WS_MOVE_FAILED } WsClockMove;
typedef enum { WS_AGENT_RUNS, WS_AGENT_BLOCKED, WS_AGENT_DONE } WsPlayerState;

#define WS_PORT_SPANS 64 /* more than the products that are under way */

/* A product at the port of shared memory, and the share of it that its operands take. */
typedef struct {
    double begin, end, use;
    guint by; /* the event of its end */
} WsPortSpan;

typedef struct {
    WsPortSpan span[WS_PORT_SPANS]; /* the last ones, a ring */
    guint n;                        /* so far */
} WsPort;

typedef struct WsCode WsCode;

/* One SM of the cluster, whose units all of its CTAs share. */
typedef struct {
    WsUnit tensor, load, l2, hbm, store, smem, alu, mufu, lsu;
    WsUnit out, in; /* links: to all other devices, from them */
    WsUnit *to;     /* to each of them; NULL without a mesh */
    WsUnit code;    /* fetch of instructions */
    WsCode *held;   /* those that are there; NULL: none yet */
    WsPort port;
    double first_load; /* landing of the first bulk load; before it memory is cold */
} WsSm;

typedef struct {
    guint agent;
    guint rank;    /* of its CTA in the cluster: whose SM it is */
    guint cluster; /* of those that stand on the same SMs */
    guint device;  /* of a mesh; 0 */
    guint cta;     /* index of its barriers */
    WsSm *sms;     /* of its cluster, by rank */
    WsWalker *walker;
    WsPlayerState state;
    double now;
    gboolean has_op;
    WsStep step, last; /* current operation; the one before it, for the rounds */
    guint part;        /* slices of the current operation, or of its phase, that are over */
    guint phase;       /* of its work */
    double start;      /* of the current operation */
    double done;       /* end of its effect */
    double left;       /* of its cycles at the port of shared memory */
    double base;       /* its own cost: what a wait takes that has nothing to wait for */
    WsGroups mma, bulk, copies;
    double *mma_end; /* ring over its last `queue` mma instructions */
    guint *mma_by;   /* events of them */
    guint64 mma_issued;
    double copied;    /* end of this agent's gathers so far */
    double rows_from; /* since then it could read which rows a gather takes: the wait is behind */
    double stored; /* end of its shared-memory stores so far: fences and barriers wait for them */
    guint event;   /* its last event; its own costs since then are no events */
    guint copied_by, stored_by;
    double code; /* when the current operation's instructions are there */
    guint code_by;
    gint64 priority; /* of its waves, where groups are halves */
    double *ready;   /* by value, of halves: when reads and products have made it */
    double reads;    /* end of its reads of shared memory so far, of halves */
    gint64 joined;   /* generation of the named or cluster barrier it waits for */
    gint64 cluster_generation;
    guint notified; /* flags of devices so far */
    double sent;    /* end of its puts on the links so far */
    guint sent_by;
    WsTraceRecord record; /* open record; not open if record_step is NULL */
    const char *record_step;
    guint record_last; /* index of the last operation that went into it */
    guint record_rounds;
    gint64 record_round;
    double stood; /* blocked at the current operation since, for messages */
} WsPlayer;

typedef struct {
    gint64 completed;
    gint64 arrived, count;
    gint64 expected, landed; /* bytes of the current phase */
    double latest;
    double time[8]; /* of the last completions, by number mod 8 */
    guint by[8];    /* events of them */
    GArray *from;   /* WsContribution, of the current phase; NULL: not written down */
    WsEventOf of;
} WsMbar;

typedef struct {
    WsCauseKind kind;
    guint by;
    double at;
} WsContribution;

typedef struct {
    gint64 generation, joined;
    double latest, time[4];
    guint by[4];
    GArray *from; /* as of WsMbar */
    WsEventOf of;
} WsClockNamed;

typedef struct {
    guint op;
    gint64 count;
    double exposed;
} WsWaitSum;

typedef struct {
    guint agent;
    const WsTree *loop;
    double start;
    GArray *distance; /* double */
} WsLoopTrack;

/* Barriers of one CTA. */
typedef struct {
    WsMbar *mbar; /* by ws_play offsets */
    WsClockNamed *named;
} WsClockCta;

/* What memory gave more than a load took: when another load of it, but for its latency, has it. */
typedef struct {
    double at;
    guint by; /* event */
} WsAhead;

typedef struct WsClockPlay WsClockPlay;
typedef struct WsClockFlags WsClockFlags;

/* One cluster of those that stand on the same SMs. */
typedef struct {
    WsClockPlay *play;
    WsTilesStrided stride; /* ids of its tiles */
    WsClockNamed bar;
} WsClockCluster;

typedef struct {
    double at, tensor, load, store, smem, alu, mufu;
} WsSnapshot;

struct WsClockPlay {
    const WsProgram *p;
    const WsLaunchValues *v;
    const WsMachine *m;
    WsFindings *findings;
    WsTrace *trace;   /* or NULL */
    WsEvents *events; /* or NULL */
    gint free_op;     /* this wait costs nothing; -1 none */
    guint cluster;
    WsTilesStrided stride;
    const WsTraceClaims *claims; /* or NULL: then by stride */
    gint64 tile_limit;           /* positions that are played */
    gint64 tiles_granted;        /* positions that some agent has begun */
    gint64 soft_steps;           /* no new tile after this many */
    gint64 max_steps, steps;

    guint n_players;
    WsPlayer *player;
    guint n_sms; /* CTAs of a cluster, each on an SM of its own */
    WsSm *sm;
    guint n_devices;                        /* of a mesh, each with the same CTAs played; 1 */
    const WsLaunchValues *const *of_device; /* by device, of a mesh: another rank in each */
    WsClockFlags *flags;                    /* of a mesh; or NULL */
    guint n_clusters;   /* that stand on these SMs; the first one is the one that is reported */
    gint64 apart;       /* between their numbers */
    WsClockCluster *at; /* the first of each device, the second of each, … */
    WsClockCta *cta;    /* n_sms of each cluster, one cluster after the other */
    guint *mbar_offset, n_mbars; /* per barrier: index of element 0 slot 0 */
    guint *named_offset, n_named;
    WsWork *work; /* per operation, once asked */
    guint8 *work_known;
    WsAhead *ahead;                                   /* [cta * n_ops + op] */
    gboolean reads_for_tiles;                         /* a tile name reads a tensor */
    const WsShares *shares;                           /* of its loads */
    double l2_rate, fetch_rate, write_rate, hbm_rate; /* bytes/clk that fall to one SM */
    double far_rate;                                  /* likewise from beyond its die */
    double link_rate, peer_rate; /* to all other devices, to one of them; each way */
    guint waves_m, waves_n;      /* waves of a half over its accumulators */
    gboolean tiles_differ;       /* loop counts depend on the tile */

    WsWaitSum *wait;      /* per operation */
    GArray *loops;        /* WsLoopTrack, CTA 0 only */
    GArray *tile_start;   /* WsSnapshot by tile position: latest start over the agents of CTA 0 */
    gint64 *tensor_bytes; /* per tensor, moved by CTA 0 */
    double end;           /* of everything so far */
    gboolean stuck, has_raw, has_unless;
    GError *error;
};

/* --- play.c --- */
void ws_clock_play_init(WsClockPlay *play);
void ws_clock_play_clear(WsClockPlay *play);
gboolean ws_clock_play_run(WsClockPlay *play); /* FALSE: error set or stuck */
/* Id of the tile at a position of the CTA's sequence, -1 past the last one. */
gint64 ws_clock_play_tile(const WsClockPlay *play, gint64 position);
gboolean ws_clock_play_eval(WsClockPlay *play, WsPlayer *a, const WsExpr *e, gint64 otherwise,
                            gint64 *value);
/* Lets everybody who is blocked look again. */
void ws_clock_play_wake(WsClockPlay *play);

/* --- cause.c: why, where play->events is not NULL --- */
/* The agent's time is not before `candidate`, because of an event. */
void ws_clock_because(WsClockPlay *play, WsCauseKind kind, guint from, double candidate);
/* … because of what it did before, in its own time. */
void ws_clock_because_order(WsClockPlay *play, const WsPlayer *a, double candidate);
/* Ends the causes: the agent goes on at a->now. */
void ws_clock_goes_on(WsClockPlay *play, WsPlayer *a);
/* Ends the causes: a unit is done with the agent's operation. */
guint ws_clock_ends(WsClockPlay *play, const WsPlayer *a, WsCauseKind unit, double at);
/* ws_clock_serve() for an agent, written down. */
double ws_clock_serve_for(WsClockPlay *play, const WsPlayer *a, WsUnit *u, WsCauseKind unit,
                          double at, double cycles);
void ws_clock_contribute(WsClockPlay *play, GArray *from, WsCauseKind kind, guint by, double at);
/* The phase that was contributed to ends. */
guint ws_clock_phase(WsClockPlay *play, GArray *from, WsEventOf of, double at);

/* --- operation.c: one move of the current operation --- */
typedef WsClockMove (*WsClockMoves)(WsClockPlay *play, WsPlayer *a); /* a row of a table by kind */
/* By its row of `moves`, [WS_OP_KIND_COUNT]; FAILED, with play->error, for what has none. */
WsClockMove ws_clock_move_by(WsClockPlay *play, WsPlayer *a, const WsClockMoves *moves);
WsClockMove ws_clock_play_move(WsClockPlay *play, WsPlayer *a);

/* Time of an agent's own instructions: they take longer while the tensor pipe works. */
double ws_clock_own(const WsClockPlay *play, const WsPlayer *a, double cycles);

/* --- barrier.c --- */
WsClockMove ws_clock_play_mbar(WsClockPlay *play,
                               WsPlayer *a); /* wait, arrive, expect, cp arrive */
WsClockMove ws_clock_play_named(WsClockPlay *play, WsPlayer *a); /* bar_sync, bar_arrive */
WsClockMove ws_clock_play_cluster(WsClockPlay *play,
                                  WsPlayer *a); /* cluster_arrive, cluster_wait */
/* Credits bytes that land at `at` to the barrier of the current operation in CTA `cta`. */
WsClockMove ws_clock_play_credit(WsClockPlay *play, WsPlayer *a, guint cta, gint64 bytes, double at,
                                 guint by);
/* CTAs named by the current operation, as a mask. */
gboolean ws_clock_play_targets(WsClockPlay *play, WsPlayer *a, guint *mask);
/* "full[0] slot 2" of the current operation. Caller frees. */
char *ws_clock_play_barrier_text(WsClockPlay *play, WsPlayer *a);

/* --- halves.c: the same where groups are halves; FAILED for what they do not have --- */
WsClockMove ws_clock_half_move(WsClockPlay *play, WsPlayer *a);
/* Cycles of the matrix units for a product of one half. */
double ws_clock_half_product(const WsClockPlay *play, const WsMma *mma);

/* --- links.c: puts, gets and flags of devices --- */
WsClockMove ws_clock_move_put(WsClockPlay *play, WsPlayer *a);
WsClockMove ws_clock_move_get(WsClockPlay *play, WsPlayer *a);
WsClockMove ws_clock_move_notify(WsClockPlay *play, WsPlayer *a);
WsClockMove ws_clock_move_await(WsClockPlay *play, WsPlayer *a);

/* A notify that was played: its event, and its record. */
typedef struct {
    guint event;
    WsTraceSpot spot;
} WsNotified;

/* --- flags.c: what CTAs of all devices add to flags, and when --- */
WsClockFlags *ws_clock_flags_new(const WsFlagPlan *plan); /* which is borrowed */
void ws_clock_flags_free(WsClockFlags *f);
/* All CTAs of the device notify for the time number `n` of their agent, as the played one does;
 * `here` and `there`: when it is seen on its own device and on others. FALSE: none does. */
void ws_clock_flags_add(WsClockFlags *f, guint device, guint agent, guint n, double here,
                        double there, const WsNotified *by);
/* When `amount` has been added to the element of a flag of a device, and what the last of it was;
 * FALSE: it has not been yet. */
gboolean ws_clock_flags_reach(const WsClockFlags *f, guint device, gint flag, gint64 element,
                              gint64 amount, double *when, WsNotified *by);

/* --- port.c --- */
void ws_port_product(WsPort *port, double begin, double end, double use, guint by);
/* Moves of reads and of writes of registers, beside products. */
WsClockMove ws_port_load(WsClockPlay *play, WsPlayer *a, const WsWork *w);
WsClockMove ws_port_store(WsClockPlay *play, WsPlayer *a, const WsWork *w);

/* --- banks.c --- */
/* How many times the cycles of its bytes a read of the LDS takes, 1 or more, since lanes that are
 * served together need different words of a bank. */
double ws_clock_bank_turns(const WsProgram *p, const WsMachine *m, const WsOp *op);

/* --- queues.c: the same where a core works by queues --- */
WsClockMove ws_clock_queue_move(WsClockPlay *play, WsPlayer *a);

/* --- code.c --- */
WsCode *ws_code_new(guint n_ops);
void ws_code_free(WsCode *c);
/* The agent begins its operation: it waits for its instructions, those of statements under them. */
void ws_clock_fetch_code(WsClockPlay *play, WsPlayer *a);
/* … or until the last of them is there. */
void ws_clock_await_code(WsClockPlay *play, WsPlayer *a);

/* --- arithmetic.c --- */
const WsWork *ws_clock_work(WsClockPlay *play, const WsOp *op); /* what it takes, worked out once */
WsClockMove ws_clock_move_work(WsClockPlay *play, WsPlayer *a); /* pipes of the SM */

/* --- fetch.c --- */
/* A path that all SMs share: the end of `cycles` on it at this one's share. */
double ws_clock_serve_shared(WsUnit *u, double at, double cycles);
/* What went through a shared path for an agent: its end, and how much of it was the queue. */
typedef struct {
    double end, queue;
    guint by;
    WsCauseKind path;
} WsPassed;
WsPassed ws_clock_pass(WsClockPlay *play, const WsPlayer *a, WsUnit *u, WsCauseKind path,
                       double cycles);
/* Bytes of a load on their way from L2, or from memory and L2. */
typedef struct {
    double end; /* besides the latency */
    WsPassed l2, hbm;
    gboolean passes, far; /* through memory's path; and as late as what comes from there */
    WsAhead before;       /* not before that; 0: nothing came along */
} WsFetch;
/* FALSE: play->error is set. */
gboolean ws_clock_fetch(WsClockPlay *play, WsPlayer *a, guint64 bytes, WsShare share,
                        WsFetch *fetch);
void ws_clock_because_fetched(WsClockPlay *play, const WsPlayer *a, const WsFetch *f, double after);

/* --- operation.c, for links.c --- */
#define WS_CLOCK_LANDED WS_CAUSE_COUNT /* events of bytes that are there; of each CTA its own */
WsClockMove ws_clock_move_load(WsClockPlay *play, WsPlayer *a);
WsClockMove ws_clock_move_store(WsClockPlay *play, WsPlayer *a);
/* Time of the TMA unit: a row of a box, or its bytes. */
double ws_clock_box_cycles(const WsClockPlay *play, const WsOp *op, guint64 bytes);
guint64 ws_clock_moved_bytes(const WsClockPlay *play, const WsOp *op);

/* --- operation.c, for halves.c --- */
WsClockMove ws_clock_move_global(WsClockPlay *play, WsPlayer *a); /* registers and tensors */
WsClockMove ws_clock_move_let(WsClockPlay *play, WsPlayer *a);
WsClockMove ws_clock_move_commit(WsClockPlay *play, WsPlayer *a);
WsClockMove ws_clock_wait_groups(WsClockPlay *play, WsPlayer *a, const WsGroups *g,
                                 WsMachineValue own);
double ws_clock_serve(WsUnit *u, double at, double cycles); /* end; keeps it busy until then */
void ws_clock_note_bytes(WsClockPlay *play, const WsPlayer *a, guint64 bytes);

/* --- work.c: costs of generic operations --- */
WsWork ws_work_of(const WsClockPlay *play, const WsOp *op);
/* Cycles of the tensor pipe for one instruction of a product; `smem`: of the port for its operands.
 */
double ws_work_product(const WsClockPlay *play, const WsMma *mma, double *smem);
guint64 ws_access_bytes(const WsProgram *p, const WsAccess *a);

/* --- record.c: what the play writes down --- */
void ws_clock_play_note_rounds(WsClockPlay *play, WsPlayer *a);
WsTraceSpot ws_clock_spot(const WsPlayer *a); /* the record of its current operation */
void ws_clock_play_note_op(WsClockPlay *play, WsPlayer *a);
void ws_clock_play_close_record(WsClockPlay *play, WsPlayer *a);
