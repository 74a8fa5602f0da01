/* The oracle: explicit exploration of every interleaving of a small program with given sizes, with
 * hardware semantics (parities, counts, bytes), independent of the play of src/check. It judges the
 * check; nothing of it is shipped.
 *
 * An agent is one thread of control here (leader and lanes together); registers, proxies and named
 * values are not looked at. */
#pragma once

#include "program/walk/walk.h"

G_BEGIN_DECLS

enum {
    ORACLE_HANG = 1,        /* nothing can move and somebody has not finished */
    ORACLE_RACE = 2,        /* two conflicting accesses can happen at once */
    ORACLE_PHASE = 4,       /* a contribution or wait meets another completion than it means */
    ORACLE_COUNT = 8,       /* more arrivals than a phase takes, or than a generation takes */
    ORACLE_BYTES = 16,      /* bytes left over, or beyond the range of the counter */
    ORACLE_EXIT = 32,       /* a transfer still in flight at the end */
    ORACLE_OUTSIDE = 64,    /* something the oracle does not model: `reason` */
    ORACLE_EXHAUSTED = 128, /* the cap was met: what is said holds for what was seen */
    ORACLE_PROXY = 256, /* the async proxy may not see it, or a product starts without its fence */
    ORACLE_REGISTER = 512,   /* registers that a product in flight uses */
    ORACLE_UNDEFINED = 1024, /* a value that nobody assigned */
    ORACLE_ACCESS = 2048,    /* a tensor reached in another way than it is declared */
    ORACLE_LAPPED = 4096,    /* lanes still wait for a completion while the next one may come */
    ORACLE_OUTPUT = 16384,   /* an element of an output written twice, or never */
    ORACLE_UNSEEN = 8192     /* as PHASE, on an mbarrier or a named barrier that nobody waits for:
                                without a consequence (of mbarriers undefined by the text of PTX) */
};
#define ORACLE_BAD (~(guint)(ORACLE_OUTSIDE | ORACLE_EXHAUSTED | ORACLE_UNSEEN))

typedef struct {
    guint verdict; /* 0: right in every interleaving */
    guint states;
    const char *reason;     /* OUTSIDE */
    const WsOp *at, *other; /* of the first problem */
    guint inst;             /* agent (times CTA) of `at` */
} OracleResult;

typedef struct LanesAlike LanesAlike;
typedef struct {
    guint tiles;   /* positions of the one CTA (cluster); ignored where the launch is single: 1 */
    guint cap;     /* states */
    gboolean stop; /* at the first problem */
    gint64 element, element_step; /* elements of integer tensors: of even places, and how much more
                                     odd ones are */
    gboolean ranged;              /* … brought into the range of the tensor's `data` */
    const GArray *chosen;         /* OracleElement: elements of their own; NULL none */
    gint64 first, stride; /* ids of its tiles: first + position * stride; stride 0: 0, 1, 2, … */
    gboolean full;        /* every order of every move, without reduction */
    LanesAlike *alike;    /* of the program, for its lanes; NULL: one run alone */
    gboolean sync;        /* barriers and transfers alone: accesses are not looked at */
} OracleOptions;

typedef struct {
    gint tensor;
    gint64 at[WS_MAX_RANK], value;
} OracleElement;

OracleResult oracle_run(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options);
/* The tiles of the options, for ws_tiles_strided(). */
WsTilesStrided oracle_tiles(const OracleOptions *options);
typedef struct {
    const WsProgram *p;
    const WsLaunchValues *v;
    const OracleOptions *options;
} OracleData;
/* An element of an integer tensor as the options say; data: OracleData. For ws_walker_set_element.
 */
gboolean oracle_element(gpointer data, gint tensor, const gint64 *at, gint64 *v);

/* --- following one run, move by move --- */
typedef struct OracleRun OracleRun;
/* NULL if the program is outside of what the oracle models. */
OracleRun *oracle_follow(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options);
/* Agent `inst` executes `op`, its next event; FALSE if it is not next or must wait. */
gboolean oracle_follow_step(OracleRun *run, guint inst, const WsOp *op);
/* The transfer of the nth execution of `op` into CTA `rank` lands; FALSE if it is not in flight. */
gboolean oracle_follow_land(OracleRun *run, guint inst, const WsOp *op, guint nth, guint rank);
gboolean oracle_follow_knows(const OracleRun *run, guint inst, const WsOp *op); /* has events */
void oracle_follow_slot(const OracleRun *run, guint slot, gint64 *phase, gint64 *pending,
                        gint64 *tx);
gboolean oracle_follow_waits(const OracleRun *run, guint slot); /* somebody does, in this launch */
void oracle_follow_named(const OracleRun *run, guint number, gint64 *generation, gint64 *arrived);
/* Everything that has gone wrong on the way, and what is wrong in this state. */
guint oracle_follow_verdict(OracleRun *run);
void oracle_follow_free(OracleRun *run);

/* "hang race" … Caller frees. */
char *oracle_text(const OracleResult *r);

/* --- events (events.c): what one agent of one CTA does, in order --- */
typedef enum {
    EVENT_WAIT,   /* slot[0], parity */
    EVENT_ARRIVE, /* slots, count, bytes expected */
    EVENT_LOAD,   /* transfers first_transfer .. + n_slots */
    EVENT_ACCESS, /* plain accesses */
    EVENT_ISSUE,  /* mma or store: accesses that last until retired */
    EVENT_RETIRE, /* group wait */
    EVENT_JOIN,   /* named or cluster barrier: arrive */
    EVENT_SYNC,   /* named barrier: arrive and wait (cluster wait: wait only, count 0) */
} EventKind;

typedef struct {
    guint rank;
    guint64 from, to;
    gboolean write;
} Bytes;

typedef struct {
    EventKind kind;
    const WsOp *op;
    guint n_slots, slot[8]; /* JOIN, SYNC: slot[0] is the barrier's number */
    gint64 parity, turn, count, bytes;
    guint parts; /* ARRIVE: lanes that arrive, one after the other, `count` each; 0: one */
    gboolean has_turn;
    gint met; /* 1 + phase or generation it met, in whichever interleaving came first */
    guint n_bytes;
    Bytes *range;
    guint first_transfer;
    /* asynchronous work that can be running before this event: windows of `issues` */
    guint mma_lo, mma_hi, store_lo, store_hi, rows_lo, rows_hi;
} Event;

typedef struct {
    guint agent, rank;
    GArray *events;             /* Event; one more at the end, without effect */
    GArray *mma, *store, *rows; /* guint: indices of ISSUE events */
} Thread;

typedef struct {
    guint inst, event; /* that issues it */
    guint slot;
    gint64 bytes, arrivals; /* made when it lands */
    guint n_bytes;
    const Bytes *range;
} Transfer;

typedef struct {
    guint barrier, element, slot, rank;
    guint count;
} Slot;

typedef struct {
    const WsProgram *p;
    guint n_threads;
    Thread *thread;
    GArray *transfers; /* Transfer */
    guint n_slots, slots_per_rank;
    guint *first_slot;
    gboolean *waits, *named_waits; /* [slots], [named] somebody waits for it in this launch */
    guint n_named;                 /* (rank, hardware id), and one for the cluster */
    guint *named_count;
    const char *outside;
    GPtrArray *memory;
} Events;

Events *events_new(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options);
void events_free(Events *E);

G_END_DECLS
