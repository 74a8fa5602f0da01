/* A state of the search through all interleavings, and the moves that lead from one to the next. */
#pragma once

#include "oracle.h"

G_BEGIN_DECLS

#define MAX_THREADS 16
#define MAX_WORDS   8 /* transfers: 512 */
#define MAX_SLOTS   96
#define MAX_NAMED   33

/* Program counters, joined generations, landed transfers, named barriers, slots: slots stand last,
 * so that those in use end the part that matters. */
typedef struct {
    guint16 pc[MAX_THREADS];
    guint8 joined[MAX_THREADS];    /* 1 + generation it waits for, 0 none */
    guint8 clustered[MAX_THREADS]; /* the same, of the cluster barrier */
    guint64 landed[MAX_WORDS];
    struct {
        guint8 arrived; /* warps (cluster: agents) */
        guint8 generation;
    } named[MAX_NAMED];
    struct {
        gint32 tx;
        gint16 pend;
        guint8 phase;
        guint8 unused;
    } slot[MAX_SLOTS];
} State;

typedef struct {
    Events *E;
    const OracleOptions *options;
    OracleResult *result;
    guint16 *count;         /* [slots] arrivals of a phase */
    guint named[MAX_NAMED]; /* named barriers in use */
    guint n_named, n_words, key_size;
    gsize state_size; /* bytes of a State that are in use */
} Search;

/* NULL-free: `outside` of the events says what does not fit. Caller frees with events_free. */
Events *state_events(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options);
/* Fills `count` as well. */
State state_start(const WsProgram *p, const Events *E, guint16 *count);
const Event *state_next(const Search *S, const State *s, guint inst);
gboolean state_finished(const Search *S, const State *s, guint inst);
/* One agent moves; FALSE if it cannot. */
gboolean state_move(Search *S, State *s, guint inst);
gboolean state_in_flight(const Search *S, const State *s, guint transfer);
void state_land(Search *S, State *s, guint transfer);
/* What is wrong in this state: accesses that can be at once; what the end leaves. */
void state_races(Search *S, const State *s);
void state_end(Search *S, const State *s);
void state_problem(Search *S, guint flag, guint inst, const WsOp *at, const WsOp *other);

G_END_DECLS
