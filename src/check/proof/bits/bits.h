/* Inside src/check: the proof for all trip counts in a finite domain. A state says where every
 * agent is and, of each event that can still matter (an item), who knows that it has ended (a bit
 * per holder): lanes and leader of each agent, what each barrier collects and has handed out. An
 * event is one row of bits, so a new one forgets the old in one store, and taking over knowledge is
 * one pass over all rows. The rules are those of the play (play.h); transfers land at once, which
 * is one schedule, and one is enough. */
#pragma once

#include "check/named.h"
#include "check/proof/bits/sums.h"
#include "check/proof/symbols.h"
#include "check/touch.h"
#include "program/lanes.h"

G_BEGIN_DECLS

enum { WS_BIT_WORDS = 8, WS_BIT_AGES = 8 };

typedef struct {
    guint64 w[WS_BIT_WORDS];
} WsMask;

/* --- expressions: postfix code ---------------------------------------------------------------- */
typedef struct {
    guint8 op;
    gint32 var;
    gint64 i;
} WsBitCode;
typedef struct {
    gboolean given, constant;
    gint64 value;
    guint n;
    WsBitCode *code;
} WsBitExpr;

typedef struct WsBitCond WsBitCond;
struct WsBitCond {
    enum {
        WS_COND_VALUE,
        WS_COND_LETTER,
        WS_COND_COMPARE,
        WS_COND_AND,
        WS_COND_OR,
        WS_COND_NOT
    } kind;
    WsExprOp op;
    gint symbol, factor;
    WsBitExpr rest;
    guint n_need; /* VALUE: symbols whose remainder it needs */
    gint *need;
    WsBitCond *arg[2];
};

/* --- cells ------------------------------------------------------------------------------------ */
/* What an access touches at one place: cells of its CTA and, if it reads, items of its reads. */
typedef struct {
    guint n;
    guint16 *cell, *read;
} WsBitPlace;

typedef struct WsBitOp WsBitOp;
typedef struct {
    const WsAccess *a;
    WsBitOp *op;
    guint n_cut; /* corners that cells know */
    WsBitExpr element, use, stage, row0, col0;
    guint n_elements, n_stages;
    guint cols;
    gboolean more; /* its place is more than it touches */
    guint8 reader; /* class of its reads; of a copy: of those to CTA 0, the others follow */
    guint8 n_readers;
    GArray *corner;    /* gint64 pairs: row0, col0 */
    WsBitPlace *place; /* [corners][elements * stages] */
} WsBitAccess;

typedef struct {
    guint16 first, n; /* items of its reads */
    guint64 readers;  /* their classes */
} WsBitCell;

/* --- program ---------------------------------------------------------------------------------- */
typedef struct {
    guint value;
    gboolean constant;
    guint64 mask;
    WsBitExpr row0, col0;
    const WsValueUse *use;
    guint8 busy; /* its number among the mma operands of the agent, if constant */
} WsBitValue;

/* What a counter goes on by: rounds of so many tiles to come, and a number. 0 tiles: it owes
 * nothing.
 */
typedef struct {
    guint factor;
    gint64 plain;
} WsBitDebt;

struct WsBitOp {
    const WsOp *op;
    guint8 kind;
    gboolean leader, exact; /* exact: its turn is a number, not one up to laps */
    gboolean summed;        /* L-DRIFT: a key holds the sum that its turn is */
    gboolean by_slot;       /* L-LAPS: each of its turns goes with one slot */
    gint barrier, named;    /* named: number among those of a CTA in use; < 0 by element */
    WsBitExpr element, use, slot, parity, turn, cta, set;
    gint local; /* variable set, as number of the agent's */
    guint n_need;
    gint *need;
    WsBitCond *first;
    guint n_access, n_value;
    WsBitAccess *access;
    WsBitValue value[4];
    guint n_reads, n_writes; /* values of a compute step */
    WsBitValue *reads, *writes;
    WsBitDebt debt;   /* ADVANCE: L-OWED */
    guint64 counters; /* counters that may owe something, of those it has numbers from */
};

typedef struct {
    const WsTree *tree;
    guint16 enter, head, begin; /* places in the code; begin: L-BEGIN, else `enter` */
    gint index, total;          /* variables of the agent, -1 none */
    gboolean by_index;          /* its index matters beyond its rounds */
    gboolean passes;            /* a loop over tiles stands in it */
    gint symbol;
    guint split;
    guint64 rounds; /* splits whose time is that of its round */
    guint n_need;   /* symbols whose remainder its count needs */
    gint *need;
    WsBitExpr rest, from, by;
} WsBitLoop;

/* A loop is ENTER, its body, BACK, HEAD: HEAD asks for another round. */
typedef enum {
    WS_BIT_OP,
    WS_BIT_BEGIN,
    WS_BIT_ENTER,
    WS_BIT_BACK,
    WS_BIT_HEAD,
    WS_BIT_IF,
    WS_BIT_JUMP,
    WS_BIT_HIDE,
    WS_BIT_OTHER,
    WS_BIT_SHOW,
    WS_BIT_END
} WsBitKind;
typedef struct {
    WsBitKind kind;
    guint16 to; /* IF: when false; JUMP; HIDE, OTHER, SHOW: how deep; BEGIN: split */
    guint16 loop;
    WsBitOp *op;
    WsBitCond *cond;
    const WsTree *branch; /* IF: where it stands */
} WsBitInstr;

/* A counter that does not start at 0. */
typedef struct {
    gint local;
    WsBitExpr value;
    guint n_need;
    gint *need;
    WsBitDebt debt;
} WsBitStart;

typedef struct {
    const WsSite *site;
    gint symbol;   /* that is asked about: the base of the site's own */
    guint16 at;    /* place of its node */
    gint loop;     /* its own loop, -1: a branch */
    gint64 beyond; /* no number that it asks about is greater; G_MAXINT64: not known */
    gint moving;   /* the loop whose index it compares, -1: none */
    gint number;   /* local that it compares: that index, or a total; -1: none */
    gint64 by;     /* what the number it asks about grows by with that index */
    gint way;      /* 1: that number only grows, -1: it only falls; 0: not known */
    gint64 slack;  /* how far what it asks about can lie from that number */
    guint n_around;
    guint16 *around; /* loops around it */
} WsBitSite;

typedef struct {
    const WsAgent *a;
    guint n_code, n_loops, n_locals, n_sites, n_sums;
    WsBitSum *sum;
    WsBitInstr *code;
    WsBitLoop *loop;
    WsBitSite *site;
    guint n_starts;
    WsBitStart *start;
    guint n_amounts;
    gint64 stride; /* from one tile to the next, at least */
    WsBitAmount *amount;
    WsBitStride *strides; /* [locals] */
    gint *var;            /* [locals] */
    gboolean *counts;     /* [locals] the key holds it */
    guint private_depth;  /* of branches that guard private computation */
    gboolean lanes;       /* it does more than its leader does */
    guint64 owing;        /* locals that may owe something */
    gboolean issues[3];
    guint ages[3]; /* of its commit, bulk and load groups: open, newest, ..., all older ones */
    guint n_returns;
    guint *returns;      /* items of its returns from waits, within its CTA */
    gint16 *feed;        /* [barriers] item of its last arrival there, within a slot; -1 */
    gint16 *ret;         /* [barriers] number among those who wait there, -1 */
    GArray *busy;        /* WsBusyKey: mma operands met */
    struct WsGrid *grid; /* [values] */
} WsBitAgent;

typedef struct {
    guint value, n;
    guint64 mask;
    gboolean accumulator;
} WsBusyKey;

/* --- state ------------------------------------------------------------------------------------ */
enum { WS_OPEN_MMA = 1, WS_OPEN_BULK = 2, WS_OPEN_CP = 4, WS_SEEN_FENCE = 8 };
typedef struct {
    gint64 position, turn, joined, cluster_joined;
    guint64 vague; /* locals whose value is one up to multiples */
    guint16 at;    /* next instruction */
    guint16 ask_instance;
    gint16 slot, named; /* what the current operation concerns */
    guint8 state;       /* WsInstState */
    guint8 have, ask, parity, open;
} WsBitInst;

/* Tiles whose rounds have yet to be added to a counter: first, first + 1, ... by bits. */
typedef struct {
    gint64 first;
    guint64 tiles;
} WsBitOwed;

typedef struct {
    gint64 phase;
    gint64 tx;
    guint64 now, before; /* who contributed to the running completion and to the one before */
    guint32 earlier;     /* and to the one before that */
    gint32 pend;
    guint32 waited; /* agents whose last wait stood for the completion before */
    guint8 moved, bytes_before, loose, signalled, lanes_now, lanes_before, up; /* up: of flags */
} WsBitSlot;

typedef struct {
    gint64 generation;
    guint64 now, before; /* who joined */
    gint32 arrived, count;
} WsBitNamed;

/* Which counts are looked at: least .. most (-1: no bound) that leave `remainder`. */
typedef struct {
    gint64 least, most, modulus, remainder;
} WsBitRange;

/* Rings that turn together (bits_turn.c). */
enum { WS_BIT_GROUPS = 6 };
typedef struct {
    guint inst, local;
    gint64 exact; /* up to here it is known exactly */
} WsBitVar;
typedef struct {
    guint word, shift, width; /* bits of holders: two for every slot */
} WsBitField;
typedef struct {
    gint64 modulus;
    guint n_vars, n_fields, turns;
    WsBitVar *var;
    WsBitField *field;
    guint8 *barrier, *buffer; /* TRUE: it turns */
    guint16 *next;            /* [turns][items of a CTA] where an item goes */
} WsBitGroup;

typedef struct WsBits {
    const WsProgram *p;
    WsControl *c;
    guint policy;
    gboolean *unwatched; /* [barriers]: nobody waits there */
    gboolean wide;       /* the machine has wide registers */
    GPtrArray *memory;   /* everything compiled */
    gsize used, room;

    guint ranks, n_agents, n_inst, n_slots, n_named, nw;
    WsBitAgent *agent;
    guint *first_slot;
    gint *named_of; /* [16 + agents] number among those in use, -1 */
    /* cells */
    guint n_cells, n_items, n_q, items_of_rank;
    GPtrArray *accesses; /* WsBitAccess* */
    guint n_classes;     /* of readers */
    guint64 reader[64];
    guint64 copies, atomics[WS_COMBINATIONS]; /* classes; of atomics by what they do, [0]: all */
    guint target;                             /* of a copy: where it goes; of a peek: who reads */
    WsBitCell *cell;
    guint n_touched; /* items of cells: last writes, then last reads */
    guint8 *fenced;  /* [touched] it needs a proxy fence before an engine may follow */
    gint64 last[2];  /* row and column of the last access */
    guint item_named, item_remote; /* first of these of a CTA */
    gint *ring;       /* [slots] of its element, whose phase its own is put relative to */
    guint *slot_item; /* [slots] WS_ITEM_..., then returns of those who wait there */
    gint16 *q_row;    /* [items] row of the proxy fences, -1 */
    guint *q_item;    /* [rows] */
    gboolean recut;
    GArray *author;    /* WsLanesAt: what lanes did */
    GHashTable *meets; /* pairs of them -> 1 + WsLanesMeet */
    /* holders */
    WsMask *lead, *lanes, *know, *own_o, *own_w, *all; /* [instances] */
    WsMask *acc, *done;                                /* [slots, then named, then the cluster] */
    /* the state: one block */
    gsize bytes; /* of it */
    gsize o_inst, o_begun, o_owed, o_value, o_loop, o_slot, o_named, o_raw, o_k, o_q, o_claim,
        n_raw;
    guint8 *now;
    guint n_locals, n_loops;
    guint *v0, *l0;                   /* [instances] first local, first loop */
    guint *defined0;                  /* [instances] first word of defined, touched, saved... */
    guint *set0[3];                   /* [instances] first word of the age sets of its queues */
    guint *busy0;                     /* [instances] first word of its busy sets */
    guint *barrier_of;                /* [slots] */
    guint o_written, o_author, n_set; /* words of raw; words of a set of items of a CTA */
    gboolean split;
    gboolean claims; /* tiles are claimed, or slots of pipes say what they are */
    gboolean may_owe;
    gboolean in_step;
    gint owed;      /* symbol that counters owe, -1 none (L-OWED) */
    gboolean feeds; /* arrivals are remembered one by one: L-KNOWN */
    guint n_groups;
    WsBitGroup group[WS_BIT_GROUPS];
    guint8 *scratch; /* a state while it is turned */
    guint64 handed;  /* 1 + instance << 32 | slot that holds all its leader knows; 0 none */
    guint32 *kept;   /* [items] room for a transfer */
    guint32 *touch;  /* [items] operation that touched it last */
    guint32 serial;
    gboolean alarm;
    gboolean vague;  /* what was evaluated last stands for several values */
    gboolean drifts; /* a turn that a name decides may be whole laps from what it meets */
    gboolean firm;   /* L-DRIFT: that matters */
    guint owe_from;  /* from the own tile on, or from the next one */
    const WsBitRange *rounds, *tiles; /* NULL: all */
    gint symbol;                      /* that `rounds` is about; 0: every one */
    WsRuleId rule;                    /* of the alarm */
    const WsOp *op;                   /* that runs, or ran when the alarm came; NULL: at the end */
    guint runs;                       /* its instance */
    guint64 ops, steps; /* since the last answer: operations, and places gone through */
} WsBits;

/* Last completion, the one before, the last transfer, returns. */
enum { WS_ITEM_LAST, WS_ITEM_BEFORE, WS_ITEM_TRANSFER, WS_ITEM_RETURN };

typedef enum { WS_TRUTH_NO, WS_TRUTH_YES, WS_TRUTH_ASKS } WsTruth;

/* --- access to the state ---------------------------------------------------------------------- */
static inline WsBitInst *ws_bit_inst(const WsBits *b, guint i)
{
    return (WsBitInst *)(gpointer)(b->now + b->o_inst) + i;
}
static inline gint64 *ws_bit_local(const WsBits *b, guint i)
{
    return (gint64 *)(gpointer)(b->now + b->o_value) + b->v0[i];
}
/* round, from, by and what stands beside the symbol in the count of a loop */
static inline gint64 *ws_bit_loop(const WsBits *b, guint i, guint loop)
{
    return (gint64 *)(gpointer)(b->now + b->o_loop) + 4 * (b->l0[i] + loop);
}
static inline gint64 *ws_bit_begun(const WsBits *b, guint i)
{
    return (gint64 *)(gpointer)(b->now + b->o_begun) + (gsize)i * WS_MAX_SPLIT;
}
static inline WsBitOwed *ws_bit_owed(const WsBits *b, guint i)
{
    return (WsBitOwed *)(gpointer)(b->now + b->o_owed) + b->v0[i];
}
static inline WsBitSlot *ws_bit_slot(const WsBits *b, guint s)
{
    return (WsBitSlot *)(gpointer)(b->now + b->o_slot) + s;
}
static inline WsBitNamed *ws_bit_named(const WsBits *b, guint n)
{
    return (WsBitNamed *)(gpointer)(b->now + b->o_named) + n;
}
static inline guint64 *ws_bit_raw(const WsBits *b)
{
    return (guint64 *)(gpointer)(b->now + b->o_raw);
}
/* Round in which the tile of a cell was claimed, or WS_NO_TILE; WS_TOLD - n of PIPE_TELL. */
enum { WS_NO_TILE = -1, WS_TOLD = -2 };
static inline gint64 *ws_bit_claimed(const WsBits *b, guint rank, guint cell)
{
    return (gint64 *)(gpointer)(b->now + b->o_claim) + rank * b->n_cells + cell;
}
/* 1 + number in `author`: what lanes did without anything that orders them; 0 otherwise. MIXED:
 * several of them. MET: the warps have met since. FLIES: its copies are on their way. */
enum {
    WS_AUTHOR_NUMBER = 0x3fff,
    WS_AUTHOR_MIXED = 0x3fff,
    WS_AUTHOR_MET = 0x4000,
    WS_AUTHOR_FLIES = 0x8000
};
static inline guint16 *ws_bit_author(const WsBits *b, guint rank, guint item)
{
    return (guint16 *)(gpointer)(ws_bit_raw(b) + b->o_author) + rank * b->n_touched + item;
}
static inline guint64 *ws_bit_k(const WsBits *b, guint item)
{
    return (guint64 *)(gpointer)(b->now + b->o_k) + (gsize)item * b->nw;
}
static inline guint64 *ws_bit_q(const WsBits *b, guint row)
{
    return (guint64 *)(gpointer)(b->now + b->o_q) + (gsize)row * b->nw;
}
static inline guint ws_bit_agent(const WsBits *b, guint i)
{
    return i % b->n_agents;
}
static inline guint ws_bit_rank(const WsBits *b, guint i)
{
    return i / b->n_agents;
}

/* --- bits_expr.c ------------------------------------------------------------------------------ */
gpointer ws_bit_alloc(WsBits *b, gsize bytes); /* zeroed, freed with the engine */
void ws_bit_outside(WsBits *b, const char *why);
const WsExpr *ws_bit_rewritten(const WsBits *b, const WsExpr *e);
WsBitExpr ws_bit_expr(WsBits *b, guint agent, const WsExpr *e);       /* of the program */
WsBitExpr ws_bit_expr_plain(WsBits *b, guint agent, const WsExpr *e); /* already rewritten */
gboolean ws_bit_tainted(const WsBits *b, guint agent, const WsBitExpr *e);
gboolean ws_bit_uses(const WsBitExpr *e, guint local);
/* It has a number of the symbol, or of one that stands for it. */
gboolean ws_bit_uses_symbol(const WsBits *b, const WsBitExpr *e, gint symbol);
gboolean ws_bit_run(WsBits *b, guint i, const WsBitExpr *e, gint64 *value);
static inline gboolean ws_bit_eval(WsBits *b, guint i, const WsBitExpr *e, gint64 *value)
{
    if (e->constant) {
        *value = e->value;
        return TRUE;
    }
    return ws_bit_run(b, i, e, value);
}
WsBitCond *ws_bit_cond(WsBits *b, guint agent, const WsExpr *e); /* rewritten */
gint ws_bit_local_of(WsBits *b, guint agent, gint var);

/* --- bits_compile.c --------------------------------------------------------------------------- */
WsBits *ws_bits_new(const WsProgram *p, guint policy, WsHow how);
void ws_bits_free(WsBits *b);
gsize ws_bits_size(const WsBits *b);                            /* bytes that it takes, about */
guint64 ws_bit_blocks(WsBits *b, guint i, const WsBitValue *v); /* what a view of a value covers */

/* --- bits_form.c ------------------------------------------------------------------------------ */
void ws_bit_check_form(WsBits *b, const WsBitOp *o);
void ws_bit_check_prologue(WsBits *b);
void ws_bit_find_reach(const WsControl *c, WsBitSite *s);
guint ws_bit_number_feeds(WsBits *b, guint barrier, guint first);

/* --- bits_cells.c ----------------------------------------------------------------------------- */
void ws_bit_access(WsBits *b, guint agent, WsBitOp *o, guint n);
void ws_bit_claim(WsBits *b, guint i, const WsBitOp *o);
guint16 ws_bit_author_of(WsBits *b, const WsOp *op, const gint64 corner[2]);
/* Cuts shared memory into cells and numbers the items of reads. */
void ws_bit_cells(WsBits *b);
void ws_bit_touch(WsBits *b, guint i, const WsBitOp *o, guint rank, guint modes, guint16 *touched,
                  guint *n, guint max);

/* --- bits_layout.c ---------------------------------------------------------------------------- */
void ws_bit_layout(WsBits *b);
void ws_bit_reset(WsBits *b);

/* --- bits_turn.c ------------------------------------------------------------------------------ */
void ws_bit_find_groups(WsBits *b);
/* Turns all rings to where the first counter stands at 0. */
void ws_bit_turn(WsBits *b);

/* --- bits_owed.c ------------------------------------------------------------------------------ */
/* Finds a symbol that counters may owe: `owed`, `owing`, `debt`, `reads`. */
void ws_bit_find_owed(WsBits *b);
void ws_bit_owe(WsBits *b, guint i, gint local, const WsBitDebt *debt);
/* The operation is about to have numbers from its counters; FALSE: a question is open. */
gboolean ws_bit_pay(WsBits *b, guint i, const WsBitOp *o);
void ws_bit_pay_all(WsBits *b); /* what is known by now */
/* What a counter is at least, if it owes something; else what it is. */
gint64 ws_bit_at_least(const WsBits *b, guint i, guint local);
gboolean ws_bit_is_owed(const WsBits *b, gint64 position);  /* a counter owes this tile's rounds */
gboolean ws_bit_will_owe(const WsBits *b, gint64 position); /* or may come to do so */

/* --- bits_walk.c ------------------------------------------------------------------------------ */
gboolean ws_bit_value_of(WsBits *b, guint i, gint symbol, gint64 *value);
WsTruth ws_bit_greater(WsBits *b, guint i, gint symbol, gint64 n);
WsTruth ws_bit_truth(WsBits *b, guint i, const WsBitCond *c);
/* The operation an instance comes to, NULL with `ask` set, NULL at its end (state DONE). */
WsBitOp *ws_bit_next(WsBits *b, guint i);
/* An agent has a place that asks about a symbol. */
gboolean ws_bit_asks(const WsBitAgent *a, gint symbol);
gint64 ws_bit_time(const WsBits *b, gint symbol, gint64 position);
void ws_bit_forget(WsBits *b);
guint16 ws_bit_place(const WsBits *b, guint i);
gboolean ws_bit_entered(const WsBits *b, guint i, guint loop);
gboolean ws_bit_active(const WsBits *b, guint i, guint loop);

/* --- bits_sums.c, bits_laps.c ----------------------------------------------------------------- */
void ws_bit_find_sums(WsBits *b);
void ws_bit_find_rings(WsBits *b);
gint64 ws_bit_slots_of(const WsExpr *slot, gint64 slots, gint64 *first);
typedef void (*WsBitPut)(gpointer key, gint64 x);
void ws_bit_find_amounts(WsBits *b);
guint16 ws_bit_side_of(const WsBitAgent *a, const WsTree *branch, const WsTree *kid);
/* The value of an instance can still go into a sum of a turn. */
gboolean ws_bit_is_amount(const WsBits *b, guint i, const WsInstance *x);
void ws_bit_put_sums(WsBits *b, guint i, WsBitPut put, gpointer key);

/* --- bits_know.c ------------------------------------------------------------------------------ */
void ws_bit_join(WsBits *b, const WsMask *from, const WsMask *to); /* K and Q */
gboolean ws_bit_has_wide(void);
void ws_bit_join_k(WsBits *b, const WsMask *from, const WsMask *to);
void ws_bit_join_q(WsBits *b, const WsMask *from, const WsMask *to);
/* `from` hands all to `to` and forgets it. */
void ws_bit_hand_out(WsBits *b, const WsMask *from, const WsMask *to);
void ws_bit_fence(WsBits *b, guint i, gboolean leader);
static inline gboolean ws_bit_knows(const WsBits *b, const guint64 *row, const WsMask *m)
{
    for (guint w = 0; w < b->nw; w++)
        if ((row[w] & m->w[w]) != m->w[w])
            return FALSE;
    return TRUE;
}
static inline void ws_bit_set(const WsBits *b, guint64 *row, const WsMask *m)
{
    for (guint w = 0; w < b->nw; w++)
        row[w] = m ? m->w[w] : 0;
}
static inline void ws_bit_add(const WsBits *b, guint64 *row, const WsMask *m)
{
    for (guint w = 0; w < b->nw; w++)
        row[w] |= m->w[w];
}
static inline void ws_bit_fill(const WsBits *b, guint64 *row, guint64 x)
{
    for (guint w = 0; w < b->nw; w++)
        row[w] = x;
}

/* --- bits_sync.c, bits_async.c ---------------------------------------------------------------- */
/* Something can go wrong; the first thing counts. */
void ws_bit_alarm(WsBits *b, WsRuleId rule);
gboolean ws_bit_wait(WsBits *b, guint i, const WsBitOp *o);
void ws_bit_arrive(WsBits *b, guint i, const WsBitOp *o);
void ws_bit_expect(WsBits *b, guint i, const WsBitOp *o);
void ws_bit_reach(WsBits *b, guint i, gboolean lanes, guint rank);
gboolean ws_bit_sync(WsBits *b, guint i, const WsBitOp *o);
gboolean ws_bit_cluster(WsBits *b, guint i, const WsBitOp *o);
guint ws_bit_targets(WsBits *b, guint i, const WsBitOp *o, guint *rank);
gint ws_bit_resolve(WsBits *b, guint i, const WsBitOp *o, guint rank, gint64 *turn);
void ws_bit_contribute(WsBits *b, guint i, const WsBitOp *o, guint s, gint64 turn);
void ws_bit_complete(WsBits *b, guint s);
void ws_bit_release(WsBits *b, guint i, guint s); /* the leader, to a slot */
void ws_bit_release_all(WsBits *b, guint i, const WsMask *to);
void ws_bit_collective(WsBits *b, guint i);
void ws_bit_returned(WsBits *b, guint i, guint item);
void ws_bit_load(WsBits *b, guint i, const WsBitOp *o);
void ws_bit_rows(WsBits *b, guint i, const WsBitOp *o);
void ws_bit_cp_arrive(WsBits *b, guint i, const WsBitOp *o);
void ws_bit_retire(WsBits *b, guint i, guint queue, gint64 n);
void ws_bit_commit(WsBits *b, guint i, guint queue);
void ws_bit_store(WsBits *b, guint i, const WsBitOp *o);
void ws_bit_mma(WsBits *b, guint i, const WsBitOp *o);
void ws_bit_generic(WsBits *b, guint i, const WsBitOp *o);
void ws_bit_peek(WsBits *b, guint i, const WsBitOp *o);
void ws_bit_values(WsBits *b, guint i, const WsBitOp *o);
gboolean ws_bit_execute(WsBits *b, guint i, const WsBitOp *o);
/* Runs until nobody can move without an answer. */
void ws_bit_settle(WsBits *b);
void ws_bit_conclude(WsBits *b);

/* --- bits_key.c ------------------------------------------------------------------------------- */
typedef struct {
    gint32 *word; /* an even number of them */
    guint n, cap;
} WsBitKey;
void ws_bit_key(WsBits *b, WsBitKey *k);
/* What is not known of the past beside the rows: fewer bits are less knowledge. */
guint ws_bit_n_past(const WsBits *b);
void ws_bit_past(const WsBits *b, guint64 *word);
void ws_bit_set_past(WsBits *b, const guint64 *word);

/* --- bits_prove.c ----------------------------------------------------------------------------- */
typedef struct WsCertificate WsCertificate;
typedef struct {
    guint max_states;
    guint64 max_work;   /* words of states looked at, about; 0: no bound */
    const gint *cancel; /* another thread sets it; NULL none */
    gint *states;       /* met so far: another thread looks at it; NULL none */
    guint policy;
    gboolean exact;   /* breadth first, nothing merged: an alarm has the fewest rounds */
    gboolean laps;    /* what names decide is told apart modulo laps: for a kernel that was read */
    gboolean in_step; /* lanes of a warp meet behind every operation: proves nothing (L-IN-STEP) */
    const WsBitRange *rounds, *tiles; /* NULL: all */
    gint symbol;                      /* that `rounds` is about; 0: every one */
    WsCertificate *certificate;       /* told what is met (certificate.h), rings not turned; NULL */
} WsBitOptions;
WsProof *ws_bits_prove(const WsProgram *p, const WsBitOptions *options);
WsProof *ws_bits_prove_as(const WsProgram *p, const WsBitOptions *options, WsHow how);

G_END_DECLS
