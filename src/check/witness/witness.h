/* The witness of a refuted program: the shortest run that shows what is wrong, one move after the
 * other, with the state of every barrier, stage and agent before and after each of them. It ends at
 * the hang, the collision or the wrong phase.
 *
 * Shortest: of all cases that go wrong the one with the fewest tiles and rounds together (then the
 * fewest tiles), and of its moves only those that the end needs. A witness is a value: the same
 * program and finding give the same one. It owns everything it points to except operations, which
 * belong to the program it keeps a reference of. */
#pragma once

#include "check/check.h"
#include "model/finding.h"

G_BEGIN_DECLS

typedef enum {
    WS_MOVE_STEP, /* an agent executes an operation; of a sync: joins the barrier */
    WS_MOVE_PASS, /* an agent that has joined a barrier goes on */
    WS_MOVE_LAND, /* bytes land, or gathered rows are all there */
} WsMoveKind;

typedef struct {
    WsMoveKind kind;
    guint agent; /* who moves; LAND: who issued it */
    const WsOp *op;
    guint n_rounds;
    gint64 round[12];
    gint barrier;     /* index of the mbarrier slot that it waits for or changes first; -1 none */
    gint named;       /* index of the named barrier; -1 none */
    guint rank;       /* CTA; LAND: where the bytes land */
    gboolean collide; /* one of the two that collide at the end */
    char *words;      /* phrase: "mma.0 arrives on empty slot 1: pending 1 → 0, phase 0 → 1" */
} WsMove;

/* One slot of an mbarrier. `phase` counts completions; hardware shows its lowest bit. */
typedef struct {
    gint64 phase, pending, count, tx;
} WsMbarrierState;

/* One named barrier, in threads; the cluster's barrier counts agents. */
typedef struct {
    gint64 generation, arrived, count;
} WsNamedState;

typedef enum {
    WS_STAGE_FREE,    /* nothing was written there yet */
    WS_STAGE_FILLING, /* bytes are on their way */
    WS_STAGE_FULL,    /* written, not read yet */
    WS_STAGE_READING, /* an mma or a store reads it */
    WS_STAGE_READ     /* has been read; may be filled again once it is released */
} WsStageUse;

typedef struct {
    WsStageUse use;
    gint writer;     /* agent that writes or wrote it, -1 none */
    guint64 readers; /* agents that read it now, one bit each */
    gint64 fill;     /* how many times it was begun to be written */
} WsStageState;

typedef enum { WS_AGENT_READY, WS_AGENT_WAITING, WS_AGENT_DONE } WsAgentMode;
typedef struct {
    WsAgentMode mode;
    const WsOp *op; /* next, or what it waits at; NULL: done */
    guint n_rounds;
    gint64 round[12];
    gint barrier, named;        /* it waits for; -1 none */
    guint mma, stores, gathers; /* operations in flight */
} WsAgentState;

typedef enum {
    WS_END_HANG,      /* nothing can move any more and somebody has not finished */
    WS_END_COLLISION, /* two accesses of the same bytes at once */
    WS_END_PHASE,     /* an operation meets another completion than it means */
    WS_END_COUNT,     /* more arrivals, threads or bytes than are expected */
    WS_END_LEFT,      /* all agents are done and something is left */
    WS_END_STEP,      /* the operation is wrong by itself: no fence, no value, … */
} WsWitnessEnd;

typedef struct {
    WsProgram *program;
    WsRuleId rule;
    char *at, *message; /* of the finding */
    gint64 rounds;      /* most rounds of a loop; -1: nothing to choose */
    guint tiles;
    char *sizes;     /* "N = 2" */
    gint64 *size;    /* [n_vars] of the program: values of its sizes */
    gboolean pinned; /* the CTA is not one that has all tiles, or single elements are chosen:
                        `sizes` says which */
    gboolean first_of_several; /* pinned by nothing but the number of CTAs, of which it is the
                                  first: other sizes may launch as many tiles on one CTA */
    gboolean data; /* elements of integer tensors are not 0 but `element`, within the range of
                      their `data` */
    gint64 element, element_step; /* elements of integer tensors: of even places, and how much more
                                     odd ones are */
    guint ranks;                  /* CTAs */
    guint n_agents;               /* of all CTAs: CTA r has agents r * n .. */
    char **agent;                 /* names: "mma.0", in clusters "mma.0@1" */
    guint n_barriers;             /* mbarrier slots of all CTAs */
    char **barrier;               /* names: "full slot 2" */
    guint n_named;                /* named barriers in use, cluster's last */
    char **named;
    gint *named_id; /* CTA * 16 + hardware id; -1: the cluster's, or one agent's own */
    guint n_stages; /* stages of buffers of all CTAs */
    char **stage;   /* "a stage 1" */
    guint n_moves;
    WsMove *move;
    /* State at position i: before move i; position n_moves is the end. [n_moves + 1][n_...] */
    WsMbarrierState *barrier_state;
    WsNamedState *named_state;
    WsStageState *stage_state;
    WsAgentState *agent_state;
    WsWitnessEnd end;
    gboolean confirmed; /* the end was met with the semantics of the hardware */
    char *why;          /* not confirmed: why not; else NULL */
    char *ending;       /* what one sees at the end: a phrase */
} WsWitness;

/* Finds the witness of `finding` (NULL: the first error of the smallest case of the protocol). NULL
 * and an error if there is nothing to show. For what is written to global memory (class G) the
 * moves are the two writes of the element, by whom, in which CTA and tile; none where nobody writes
 * it: the whole launch was counted at the sizes told. */
WsWitness *ws_witness_new(WsProgram *p, const WsFinding *finding, GError **error);
/* The witness of the first error whose end the semantics of the hardware confirm; if there is none,
 * that of the first error: the whole run. NULL and an error if nothing was refuted or nothing
 * shows. */
WsWitness *ws_witness_of(WsProgram *p, const WsFindings *findings, GError **error);
void ws_witness_free(WsWitness *w);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsWitness, ws_witness_free)

const WsMbarrierState *ws_witness_barrier(const WsWitness *w, guint position, guint barrier);
const WsNamedState *ws_witness_named(const WsWitness *w, guint position, guint named);
const WsStageState *ws_witness_stage(const WsWitness *w, guint position, guint stage);
const WsAgentState *ws_witness_agent(const WsWitness *w, guint position, guint agent);
/* "k 3", "tile 1, k 0"; "" without loops. Caller frees. */
char *ws_witness_rounds(const WsOp *op, guint n_rounds, const gint64 *round);
/* What an agent does or waits for at a position: a phrase. Caller frees. */
char *ws_witness_agent_words(const WsWitness *w, guint position, guint agent);
/* "filling (load)", "read by mma.0, mma.1". Caller frees. */
char *ws_witness_stage_words(const WsWitness *w, guint position, guint stage);
/* The whole as text: one line per move; with `states` what changed after each. Caller frees. */
char *ws_witness_text(const WsWitness *w, gboolean states);

#define WS_WITNESS_ERROR (ws_witness_error_quark())
GQuark ws_witness_error_quark(void);

G_END_DECLS
