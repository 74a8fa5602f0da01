/* Inside src/check: the state of a play. Nothing outside this folder includes it.
 *
 * What is known. Each agent of each CTA has four clock components: L counts what its leader did,
 * O what its lanes did generically, W its commit groups, B the waits from which its lanes came
 * back. Each mbarrier slot and each named barrier has one that counts its completions. A clock says
 * of every component how much has surely happened, how much of that is also covered by a proxy
 * fence, and whose plain stores are seen. Arrivals release clocks, completions join them, waits
 * acquire them. An access conflicts with an earlier one whose end its threads do not know. (Source
 * of the rules: PTX ISA memory consistency model, vector clocks as in FastTrack; obligations R1,
 * R2, W1, W2, N1: contributions and waits meet the completion they mean in every schedule.) */
#pragma once

#include "check/check.h"
#include "check/named.h"
#include "check/play/case.h"
#include "program/op_kind.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/walk/walk.h"

G_BEGIN_DECLS

typedef guint32 WsEpoch;

/* Parts of a clock, one after the other: what has happened, what of it a proxy fence covers, whose
 * plain stores are seen. */
enum { WS_CLOCK_ORDER, WS_CLOCK_FENCED, WS_CLOCK_STORES, WS_CLOCK_PARTS };

/* Something an operation did or is doing. */
typedef struct WsEvent WsEvent;
struct WsEvent {
    const WsOp *op;
    guint inst;
    guint8 n_rounds;
    gboolean pending; /* asynchronous and not ended yet */
    gint64 round[12];
    guint comp; /* it has ended for whoever knows (comp, epoch) */
    WsEpoch epoch;
    WsEpoch back;  /* mma: waits from which all lanes had come back when it was issued */
    WsEpoch made;  /* mma: what the lanes had done by then */
    WsEpoch issue; /* commit and bulk groups: same component, when it was issued; else 0 */
    WsEvent *next; /* copies that end together */
    gint64 group;  /* commit, bulk or load group it belongs to */
    /* Gathers that signal: a proxy fence covers them for whoever has this one covered; the barrier
     * that tells of their end covers nothing. cover 0: as (comp, epoch). */
    guint cover_comp;
    WsEpoch cover;
    gint64 stage, element, row0, col0; /* of its last access: for messages and private rows */
    gint64 use;                        /* under which it wrote; G_MININT64: none said */
    guint buffer;                      /* it wrote */
    const struct WsSlot *slot;         /* loads: the slot they signal */
    /* Gathers that signal: the arrival that tells of their end. Arrivals: the next one of the same
     * threads, which tells of all copies before it as well (PTX ISA, cp.async.mbarrier.arrive). */
    const WsEvent *arrival, *later;
};

/* Bytes of shared memory of which all hold the same: shadow.c. */
typedef struct {
    WsEvent *write;
    guint n_reads, cap_reads;
    WsEvent **read;
    guint cells; /* that are of this class */
    /* while a view is looked for: met at, cells of it inside, when and into what it was parted */
    guint64 stamp, parted_at;
    guint inside, twin;
} WsBytes;

typedef struct {
    guint64 from; /* bytes from here to the next cell */
    guint class;
} WsCell;

/* What an access touches: classes, as long as none of them was parted after that version. */
typedef struct {
    const WsAccess *access;
    guint64 base; /* of its element and stage */
    gint64 row0, col0;
    guint64 version;
    guint n, cap, *class;
} WsTouched;

/* Where a view lies: ranges over `base`; `tangled`: every 16 bytes where the swizzle puts them. */
typedef struct {
    const WsBuffer *buffer;
    guint64 base;
    const WsRange *range;
    guint n;
    gboolean tangled;
} WsShadowPlace;

typedef struct {
    guint64 from, to;
} WsByteSpan;

typedef struct {
    guint n, cap;
    WsCell *cell;     /* ascending, without gaps */
    WsByteSpan *span; /* of the view that is looked for, ascending */
    guint n_spans, cap_spans;
    WsBytes *class;
    guint n_classes, cap_classes;
    guint64 version, stamp;
    GArray *met;       /* guint: classes of the view that is looked for */
    GHashTable *views; /* of WsTouched */
} WsShadow;

/* One slot of one element of one mbarrier of one CTA. */
typedef struct {
    gint64 phase; /* completion this agent's last wait stood for; -2: none */
    guint comp;
    WsEpoch epoch;
    WsEvent event;
} WsWaited;

/* What a phase got: an arrival, an expect, bytes that landed. */
typedef struct {
    WsEvent by; /* a copy: events come and go */
    gint64 arrivals, expected, landed;
} WsCame;

typedef struct WsSlot {
    guint barrier, element, slot, rank, comp;
    gint64 phase; /* completions so far */
    gint64 count, pend, tx;
    gint64 expected, credited; /* bytes of the running phase */
    WsEpoch *acc, *done;
    WsWaited *waited;    /* [agents of the CTA] */
    WsWaited *by_lanes;  /* [agents of the CTA]: last wait of all lanes */
    guint8 *contributed; /* [instances]: 1 in this phase, 2 in the one before */
    guint8 lanes_came;   /* lanes did: 1 in this phase, 2 in the one before */
    GArray *came,
        *came_before; /* WsCame of the running phase and of the last one; not in a proof */
    GArray *feeds[3]; /* feeds.c: of the running phase, the last, the one before */
    gint64 taken;     /* flags: sets that a wait took away; `take` is the last such wait, `set` the
                         last set */
    WsEvent take, set;
    gboolean broken; /* reported already: say no more about it */
    enum { WS_WATCHED_UNKNOWN, WS_WATCHED, WS_WATCHED_BY_NOBODY } watched; /* in this case */
} WsSlot;

#define WS_JOINED_BY_NOBODY (G_MAXUINT - 1)
#define WS_JOINED_BY_MANY   G_MAXUINT
typedef struct {
    gint64 generation;
    guint joined, joined_before; /* the instance that made all joins of this generation, and of the
                                    one before; or WS_JOINED_BY_... */
    gint64 arrived, count;
    gboolean skewed; /* warps of one agent may be in different generations */
    guint comp;
    WsEpoch *acc, *done;
    GArray *joins[2];      /* feeds.c: of the running generation, of the one before */
    gint barrier, element; /* of the last participant, for messages */
} WsNamed;

/* Bytes on their way into one CTA. */
typedef struct {
    WsEvent *event;
    WsSlot *slot;
    gint64 bytes;    /* credited on landing */
    gint64 arrivals; /* cp.async: arrivals made on landing */
    gint64 turn;     /* completion it means; G_MININT64: not said */
    WsEpoch *clock;  /* what its issuer knew */
} WsTransfer;

typedef struct {
    guint value;
    guint64 mask;
    gboolean accumulator;
    gint64 group;
    guint n; /* shape of the product: ws_mma_shape() */
    WsEvent *event;
} WsBusy;

/* What was reported, for the witness: who did what in which rounds, and whom it meets. */
typedef struct {
    WsRuleId rule;
    guint inst, other_inst;
    const WsOp *op, *other; /* other NULL: nobody */
    guint n_rounds, n_other;
    gint64 round[12], other_round[12];
} WsReported;

typedef enum { WS_INST_RUN, WS_INST_STUCK, WS_INST_DONE } WsInstState;

typedef struct {
    guint agent, rank, index;
    const WsAgent *a;
    WsWalker *walker;
    WsInstState state;
    gboolean have; /* `step` waits to be executed */
    WsStep step;
    guint comp_l, comp_o, comp_w, comp_b;
    WsEpoch l, o, w, b;
    WsEpoch met;             /* o when the lanes of each warp met last */
    WsEpoch fenced;          /* o when they made a proxy fence last */
    WsEpoch *lead, *lanes;   /* clocks of the leader and of every other lane */
    const WsSlot *last_wait; /* the mbarrier wait that returned last */
    /* barrier the current step concerns, resolved once */
    WsSlot *slot;
    gint64 parity, turn;
    WsNamed *named;
    gint64 joined; /* generation joined, -1 none */
    gint64 cluster_joined;
    /* queues */
    gint64 mma_committed;
    gint64 bulk_committed;
    gint64 cp_committed;
    gboolean mma_open, bulk_open;
    WsEvent *cp_arrival;        /* the last one; NULL: none yet */
    GPtrArray *mma, *bulk, *cp; /* WsEvent*, pending, oldest first */
    GArray *busy;               /* WsBusy */
    guint64 *defined, *touched; /* [values]: blocks defined; touched since the last mma fence */
    gboolean fence_seen;
} WsInst;

typedef struct WsPlay WsPlay;
struct WsPlay {
    const WsProgram *p;
    WsFindings *findings;
    guint max_findings, errors, said_errors, said_others;
    GHashTable *said;    /* "rule op op": reported once */
    GHashTable *causes;  /* char* -> WsFinding* of the list: one finding per cause */
    GHashTable *settled; /* ws_report_again(): of these nothing is left to say */
    GArray *reported;    /* WsReported: all errors, also those that were not said; NULL: not kept */
    const WsCase *c;     /* that is played */
    struct WsPlayMeeting *meeting; /* memory.c; NULL: none was asked for */

    guint ranks, n_inst, n_comps;
    WsInst *inst;
    guint n_slots;     /* per rank */
    guint *first_slot; /* [barriers] */
    WsSlot *slot;      /* [ranks][n_slots] */
    guint n_named;     /* per rank: hardware ids, then one private per agent */
    WsNamed *named;
    WsNamed cluster;
    WsShadow *shadow;  /* [ranks] */
    GPtrArray *flight; /* WsTransfer*, oldest first */
    GPtrArray *remote; /* WsEvent*: what was done to another CTA, `stage` is its rank */
    WsEpoch *clocks;   /* storage of all clocks */
    GPtrArray *arena;  /* blocks of WsEvent */
    guint arena_used;
    GPtrArray *transfers; /* pool */
    guint transfers_used;
    struct WsOpInfo *info; /* [ops] */
    gboolean *unheard;     /* [ids]: ws_unheard() */
    gboolean *tangled;     /* [buffers]: ws_tangled() */
    gboolean *fed_singly;  /* [barriers]: ws_fed_singly() */
    struct WsGrid **grid;  /* [agents][values] */

    WsSchedule schedule;
    guint64 ops, max_ops, walked; /* walked: rounds without an operation count */
    const gint *cancel;           /* another thread sets it; NULL none */
    gboolean in_step;             /* lanes of a warp meet behind every operation (L-IN-STEP) */
    gboolean outside;             /* an expression failed or a limit was met: said in findings */
};

/* What can be told of an operation once: its ranges while rows and columns stay the same, and the
 * register values it reads and defines. */
typedef struct {
    gint64 row0, col0;
    gboolean valid;
    guint n;
    WsRange *range;
} WsRangeCache;

typedef struct WsOpInfo {
    WsRangeCache *cache; /* [n_access] */
    guint n_reads, n_writes;
    guint *read, *write; /* values of the agent */
    gboolean known;
} WsOpInfo;

/* --- clocks.c, play.c --- */
WsPlay *ws_play_new(const WsProgram *p, WsFindings *findings, guint max_findings);
void ws_play_free(WsPlay *play);
/* Operations and rounds of one agent. */
static inline gint64 ws_play_limit(const WsPlay *play)
{
    return (gint64)MIN(16 * play->max_ops, G_MAXINT32);
}
/* One play of a case. */
void ws_play_run(WsPlay *play, const WsCase *c, WsSchedule schedule);
WsEvent *ws_play_event(WsPlay *play, WsInst *inst);
gboolean ws_play_eval(WsPlay *play, WsInst *inst, const WsExpr *e, gint64 *value);
void ws_clock_join(WsPlay *play, WsEpoch *into, const WsEpoch *from);
/* … but for the stores: L-TX-DATA, bytes that land tell the order of what came before their issue,
 * and not what threads had stored. */
void ws_clock_join_order(WsPlay *play, WsEpoch *into, const WsEpoch *from);

/* Whose deed: the leader's alone or all lanes'. */
static inline gboolean ws_by_leader(const WsInst *inst)
{
    return inst->step.op->breadth == WS_BREADTH_LEADER || inst->step.op->tree->leader;
}
/* Does the acting set of threads know the end of an event? */
gboolean ws_knows(const WsInst *inst, gboolean leader, guint comp, WsEpoch epoch);
gboolean ws_fenced(const WsPlay *play, const WsInst *inst, gboolean leader, guint comp,
                   WsEpoch epoch);
/* Does it see what threads stored themselves until then? It knows the event already. */
gboolean ws_published(const WsPlay *play, const WsInst *inst, gboolean leader, guint comp,
                      WsEpoch epoch);
/* What all lanes of an agent release together, joined into `into`. */
void ws_release_all(WsPlay *play, WsInst *inst, WsEpoch *into);
void ws_release_leader(WsPlay *play, WsInst *inst, WsEpoch *into);
void ws_acquire(WsPlay *play, WsInst *inst, gboolean leader, const WsEpoch *from);
/* The lanes meet: each learns what all came back from. */
void ws_collective(WsPlay *play, WsInst *inst);
/* Commit groups are every lane's own knowledge. */
void ws_groups_known(WsPlay *play, WsInst *inst);
/* L-MMA-MEETING: a retired product says that all warps have issued it, each behind the waits from
 * which it had come back and what it had done (reads, arrivals) until then. What they stored is not
 * seen by that. */
void ws_came_by(WsPlay *play, WsInst *inst, WsEpoch back, WsEpoch made);

/* --- mbarriers.c, named.c: the gboolean ones return FALSE while the instance must wait --- */
WsSlot *ws_slot_of(WsPlay *play, guint rank, guint barrier, gint64 element, gint64 slot);
gboolean ws_do_wait(WsPlay *play, WsInst *inst);
void ws_do_arrive(WsPlay *play, WsInst *inst);
void ws_do_expect(WsPlay *play, WsInst *inst);
gboolean ws_do_named(WsPlay *play, WsInst *inst);
gboolean ws_do_cluster(WsPlay *play, WsInst *inst);
/* An instance has arrived, or ended. */
void ws_cluster_complete(WsPlay *play);
/* Checks that a contribution may not hit an older phase (R1), and whom it means. */
void ws_contribution(WsPlay *play, WsInst *inst, WsSlot *slot, gint64 turn);
void ws_land(WsPlay *play, WsTransfer *t);
guint ws_targets(WsPlay *play, WsInst *inst, const WsCtas *ctas, guint *rank);
void ws_note_reach(WsPlay *play, WsInst *inst, gboolean lanes, guint rank);

/* --- flags.c: an mbarrier that stands for a flag of a core is one bit --- */
gboolean ws_is_flag(const WsPlay *play, const WsSlot *slot);
void ws_flag_set(WsPlay *play, WsInst *inst, WsSlot *slot); /* before the set */
gboolean ws_flag_is_up(const WsPlay *play, const WsSlot *slot);
void ws_flag_taken(WsPlay *play, WsSlot *slot, const WsWaited *by);
void ws_flags_end(WsPlay *play);

/* --- watched.c: whether somebody waits for the slot, or more than single arrivals feed it --- */
gboolean ws_is_watched(WsPlay *play, WsSlot *slot);

/* --- feeds.c: completions that one knows of without having waited --- */
void ws_feed(WsSlot *slot, guint comp, WsEpoch epoch); /* G_MAXUINT: bytes */
void ws_feeds_over(WsSlot *slot);
void ws_feeds_clear(WsSlot *slot, gboolean free);
gboolean ws_surely_over(const WsSlot *slot, const WsInst *inst, gboolean leader, gint64 completion);
/* The same of named barriers: all lanes of the agent join. */
void ws_joins(WsNamed *named, WsInst *inst);
void ws_joins_over(WsNamed *named);
void ws_joins_clear(WsNamed *named, gboolean free);
gboolean ws_all_joined(const WsNamed *named, const WsInst *inst); /* the generation before */

/* --- memory.c --- */
/* [buffers]: another one that is swizzled in another way lies over it. Caller frees. */
gboolean *ws_tangled(const WsProgram *p);
/* shadow.c: all bytes as nobody has touched them; what was cut stays cut */
void ws_shadow_clear(WsShadow *shadow);
void ws_shadow_free(WsShadow *shadow);
/* The classes of a view if they are known, NULL if they must be looked for; borrowed until the next
 * view is looked for. Of `key` access, base, row0, col0 count. */
const WsTouched *ws_shadow_known(WsShadow *shadow, const WsTouched *key);
const WsTouched *ws_shadow_view(WsShadow *shadow, const WsTouched *key, const WsShadowPlace *at);
/* Checks and records all accesses of the current operation that have `mode`, as event `e`. */
void ws_do_access(WsPlay *play, WsInst *inst, guint rank, WsEvent *e, guint modes);

/* --- queues.c --- */
void ws_do_mma(WsPlay *play, WsInst *inst);
void ws_do_mma_wait(WsPlay *play, WsInst *inst, gint64 n);
void ws_do_load(WsPlay *play, WsInst *inst);
void ws_do_rows(WsPlay *play, WsInst *inst);
void ws_do_cp_arrive(WsPlay *play, WsInst *inst);
void ws_do_cp_wait(WsPlay *play, WsInst *inst, gint64 n);
void ws_do_store(WsPlay *play, WsInst *inst);
void ws_do_bulk_wait(WsPlay *play, WsInst *inst, gint64 n);
void ws_do_generic(WsPlay *play, WsInst *inst);
void ws_do_peek(WsPlay *play, WsInst *inst);

/* --- ends.c: what is wrong when nothing moves or everything is over --- */
void ws_report_stuck(WsPlay *play);
void ws_report_ends(WsPlay *play);

/* --- story.c, conflict.c: what a person needs to follow a finding (`f` may be NULL) --- */
void ws_came(WsPlay *play, WsSlot *slot, const WsEvent *by, gint64 arrivals, gint64 expected,
             gint64 landed);
/* The phase is over: what came belongs to the one before. */
void ws_came_over(WsSlot *slot);
/* Numbers of a slot, and the barrier it belongs to. */
void ws_facts_slot(WsPlay *play, WsFinding *f, const WsSlot *slot);
/* "2 of 3 arrivals have come: ..." */
void ws_tell_came(WsPlay *play, WsFinding *f, const WsSlot *slot);
/* "mma.0 (arrive empty; tile 0, k 1), mma.1 (...)"; NULL if nothing came. Caller frees. */
char *ws_came_text(const WsPlay *play, const GArray *came, gboolean bytes);
/* "never completed", "completed twice". Caller frees. */
char *ws_completed_text(gint64 n);
/* "completion 3 of full slot 0"; "full slot 0 before its first completion". Caller frees. */
char *ws_completion_text(const WsPlay *play, const WsSlot *slot, gint64 completion);
/* What the agent waited for last, as "its last wait was for ...". Caller frees. */
char *ws_last_wait_text(const WsPlay *play, const WsInst *inst);
void ws_tell_stuck(WsPlay *play, WsFinding *f, const WsInst *inst);
/* Does a stuck instance wait, through others, for itself? Those who only wait for such a one are
 * not where the trouble is. */
gboolean ws_in_circle(const WsPlay *play, const WsInst *inst);
void ws_tell_contribution(WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *slot,
                          gint64 phase);
void ws_tell_wait(WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *slot, gint64 k);
/* Two accesses: `p` came first, `inst` makes the later one now. */
/* `lies`: "c, which lies over a stage 0" if `p` knows the bytes by another name; else NULL. */
void ws_tell_conflict(WsPlay *play, WsFinding *f, const WsInst *inst, gboolean writes,
                      const WsEvent *p, gboolean p_writes, const char *bytes, const char *lies);
void ws_remedy_conflict(WsPlay *play, WsFinding *f, const WsInst *inst, gboolean writes,
                        const WsEvent *p, gboolean p_writes);
/* A register value in use by the mma `p`: "accumulates into acc", "reads". */
void ws_tell_value(WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p,
                   const char *value, const char *p_does, const char *does, gboolean both_read);
void ws_tell_proxy(WsPlay *play, WsFinding *f, const WsInst *inst, gboolean writes,
                   const WsEvent *p, gboolean p_writes, const char *bytes);

/* --- remedy.c, remedy_stuck.c, remedy_bytes.c: what mends it, by its cause (`f` is there) --- */
/* A contribution to completion `phase` that can come while an older one is running. */
void ws_remedy_early(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *slot,
                     gint64 phase);
/* One arrival more than the running phase counts. */
void ws_remedy_too_many(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *slot);
/* A contribution that means completion `turn` and meets another one. */
void ws_remedy_turn(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *slot,
                    gint64 turn);
/* A wait whose slot can complete twice before it has looked. */
void ws_remedy_lapped(const WsPlay *play, WsFinding *f, const WsSlot *slot, const WsOp *wait);
/* A wait for ever; `over`: whoever could arrive has ended. */
void ws_remedy_stuck(const WsPlay *play, WsFinding *f, const WsInst *inst, gboolean over);
/* Two accesses: `p` came first, `inst` makes the later one now. */
void ws_remedy_order(const WsPlay *play, WsFinding *f, const WsInst *inst, gboolean writes,
                     const WsEvent *p);
void ws_remedy_named(const WsPlay *play, WsFinding *f, const WsInst *inst);
/* A join that can meet the generation before. */
void ws_remedy_generation(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsNamed *n);
void ws_remedy_cluster(const WsPlay *play, WsFinding *f, const WsInst *inst);
/* A load `p` that nobody has used when the next one comes. */
void ws_remedy_refilled(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p);
/* A load `p` that is not awaited: the agent has seen completion `seen` of its slot, and its bytes
 * come with `due`. */
void ws_remedy_loaded(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p,
                      gint64 seen, gint64 due);
/* A read of a stage, or of a register value, that holds nothing yet; a use below zero. */
void ws_remedy_unwritten(const WsPlay *play, WsFinding *f, const WsInst *inst, guint buffer);
void ws_remedy_undefined(const WsPlay *play, WsFinding *f, const WsInst *inst, guint value);
void ws_remedy_below_zero(const WsPlay *play, WsFinding *f, const WsOp *op);
/* A tile is taken where `w` (NULL: nobody) has written last. */
void ws_remedy_tile(const WsPlay *play, WsFinding *f, const WsEvent *w);
/* One step brings more arrivals at once than a completion takes. */
void ws_remedy_brought(const WsPlay *play, WsFinding *f, const WsSlot *slot, gint64 arrivals);
gboolean ws_is_whole_cta(const WsBarrier *b); /* all threads of the CTA meet there */
/* What a gather may still write is used, or written again. */
void ws_remedy_gathered(const WsPlay *play, WsFinding *f, const WsInst *inst, gboolean writes,
                        const WsEvent *gather);
/* What is in flight at the end was issued behind the wait that retires its groups: TRUE, that is
 * the remedy. */
gboolean ws_remedy_retired_before(const WsPlay *play, WsFinding *f, const WsEvent *issued);
/* Bytes that are on their way at the end. */
void ws_remedy_unawaited(const WsPlay *play, WsFinding *f, const WsEvent *load, const WsSlot *s);
/* What a copy to another CTA may still read is overwritten. */
void ws_remedy_copied(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *copy);

/* --- report.c --- */
/* Reports once per (rule, operation, other operation); NULL if said before or too much was said. */
WsFinding *ws_report(WsPlay *play, WsRuleId rule, const WsInst *inst, const WsEvent *other,
                     const char *format, ...) G_GNUC_PRINTF(5, 6);
WsFinding *ws_report_event(WsPlay *play, WsRuleId rule, const WsEvent *at, const WsEvent *other,
                           const char *format, ...) G_GNUC_PRINTF(5, 6);
/* TRUE: ws_report() would say nothing, whatever the text, and has counted it. For who would make
 * parts of a text before. */
gboolean ws_report_again(WsPlay *play, WsRuleId rule, const WsInst *inst, const WsEvent *other);
GHashTable *ws_report_settled(void);
void ws_report_slot(WsPlay *play, WsFinding *f, const WsSlot *slot);
/* What hands over where no barrier does: "commit groups of mma.0", "group sync of mma.0". */
void ws_report_queue(WsPlay *play, WsFinding *f, const char *queue, guint inst);
/* "mma.0" or "mma.0@1"; "mma.0, tile 0, k 3". Callers free. */
char *ws_inst_name(const WsPlay *play, guint inst);
char *ws_where_event(const WsPlay *play, const WsEvent *e);
/* "mma.0 (wait full; tile 0, k 0)" */
/* Loop rounds of an operation (NULL: none), outermost first, as a person counts them: "tile 1, k
 * 3"; "k.total 11" where that is not known. Caller frees. */
char *ws_rounds_text(const WsOp *op, guint n, const gint64 *round);
char *ws_deed(const WsPlay *play, const WsInst *inst);
char *ws_deed_event(const WsPlay *play, const WsEvent *e);
char *ws_slot_name(const WsPlay *play, const WsSlot *slot); /* "full slot 2", "turn[1]" */
void ws_outside(WsPlay *play, const WsInst *inst, const char *why);

/* --- witness.c: keeps what was reported --- */
void ws_witness_note(WsPlay *play, WsRuleId rule, guint inst, const WsOp *op, guint n_rounds,
                     const gint64 *round, const WsEvent *other);

/* --- drivers.c --- */
/* A quantity that decides loop counts: a tile name, or a size through run names. */
typedef struct {
    const WsExpr *count; /* of one loop it decides */
    const char *loop;
    gint tile_var; /* >= 0: wanted of each tile, count = factor * var + constant */
    gint64 factor, constant, least;
    gint size;     /* else: the size chosen to drive it, -1 none found */
    GArray *value; /* gint64: for each wanted number of rounds the value, parallel to `rounds` */
    GArray *rounds;
} WsDriver;
/* The drivers of a program with their values; `more` (gint64 or NULL): further rounds; `base` are
 * the sizes of the other variables. */
GPtrArray *ws_drivers(const WsProgram *p, const gint64 *base, const GArray *more,
                      GPtrArray *skipped);

/* --- cases.c --- */
/* Data worth choosing for the cases of an alarm: small numbers, and what conditions compare with.
 * Index 0 chooses nothing. Caller frees. */
typedef struct {
    gint64 element, step;
} WsCaseData;
GArray *ws_case_data(const WsProgram *p);
/* The case with these data (NULL: elements are 0); FALSE: assumptions do not allow them. */
gboolean ws_case_with_data(const WsProgram *p, WsCase *c, const WsCaseData *data);
/* All cases of a program, small ones first; what cannot be played is said in `skipped`. Owns them.
 */
GPtrArray *ws_cases(const WsProgram *p, guint max_tiles, const GArray *more, GPtrArray *skipped);
/* Cases of further sizes, grids and CTAs in which what depends on them differs, up to that many
 * tiles of a CTA; small ones first. Owns them. */
GPtrArray *ws_cases_beyond(const WsProgram *p, guint max_tiles);

/* --- budget.c --- */
void ws_check_budgets(const WsProgram *p, WsFindings *findings);

G_END_DECLS
