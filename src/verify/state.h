/* What a run of a program is: places, slots, and what is known (docs/soundness.md sections 2, 4).
 */
#pragma once

#include "program/lanes.h"
#include "program/op.h"
#include "program/op_kind.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "verify/range.h"
#include "verify/verify.h"

G_BEGIN_DECLS

/* Holders of an instance come first, five each; two of each slot and named barrier follow. */
enum { LEAD, LANES, DID, BACK, WARP, HOLDERS };
enum { ACC, DONE };
enum { RUN, WAIT, ENDED };
#define MAX_WORDS 8 /* of a set of holders */

typedef struct {
    const WsTree *tree;
    gint loop;          /* number of a loop in its agent, -1 */
    guint64 of_rounds;  /* symbols of counts within it that follow its index: their bits */
    gboolean asks_anew; /* what loops behind it count to is asked anew */
    gint begun;         /* of a loop: the place in front of it where that is so; 0 none */
} Place;

typedef struct {
    Place *place; /* 1 .. n_places, in preorder */
    gint n_places, n_loops;
    GHashTable *number;          /* WsTree* -> place */
    guint32 *first_cell;         /* of each value */
    GArray **row_cut, **col_cut; /* of each value: where its cells begin, and its end */
    gint64 longest[WS_QUEUES];   /* greatest n of its waits */
    gint64 *asks;                /* of each symbol: in how many places it is named */
} AgentPlan;

/* Who reads: readers of one class end in order, but for copies: each copy to each CTA is a class.
 * Lanes that read other CTAs are one in each CTA where they run. */
typedef struct {
    guint agent;
    WsEngine engine;
    gboolean leader;
    const WsOp *copy;  /* NULL: no copy */
    gboolean remote;   /* reads another CTA */
    guint to;          /* CTA that a copy goes to, or where the reader runs */
    WsReduce combines; /* an atomic, which stands among the reads; NONE: a read */
    gint elements;     /* of an atomic: WsDtype */
} Reader;

typedef struct {
    guint buffer, rows, cols;
    gint64 row0, col0;
} View; /* of any element and stage */

/* A total as a sum, within the loop that has the index. */
typedef struct {
    WsExpr *sum;
    gint index;
} Flat;

typedef struct {
    const WsProgram *p;
    Certificate *c;
    AgentPlan *agent;
    guint n_inst;                           /* instance = cta * n_agents + agent */
    guint8 *relevant, *of_symbol, *of_name; /* of each variable */
    /* of form.c: what lets stand for, totals as sums; text -> what the certificate takes it for,
     * WsExpr*
     * -> what it is taken for */
    WsExpr **let;
    Flat *flat;
    GHashTable *stated;
    GHashTable *start;   /* WsTree* of loops -> START_ bits */
    GHashTable *form[2]; /* as a number, as a truth: both may be of one expression */
    GHashTable *made;    /* expressions that are made on the way */
    gboolean formed;
    GArray *view; /* View; grows while the program runs */
    gboolean view_added;
    GHashTable *lanes;               /* what was asked of program/lanes.h */
    GHashTable *cells;               /* key of a view, element, stage -> GArray of cells */
    GArray *reader;                  /* Reader */
    guint n_cells, n_slots, n_names; /* of a CTA; names: without the cluster barrier */
    guint *slot0, *arrivals;         /* first slot of a barrier; of each slot */
    guint8 *unseen;                  /* barriers on which there is nothing but arrivals */
    gint *name_id;                   /* hardware ids in use, ascending */
    guint n_items, per_cta, words;   /* words of a set of holders */
    gboolean laps;                   /* a turn was met that names decide: it is meant modulo 2 */
    WsVerifyAnswer answer;
    char *reason; /* first thing wrong */
} Plan;

typedef struct {
    guint8 entered, running;
    gint64 rounds, from, step, index, count; /* count: a number worked out on entry, or NO_LOW */
} LoopState;

/* Groups of one queue, oldest first; the newest may be open. */
#define MAX_GROUPS 16
typedef struct {
    guint64 acc, operand; /* cells of values */
    const WsOp *shape;    /* of its products */
} Group;
typedef struct {
    guint n;
    gboolean open;
    Group group[MAX_GROUPS];
} Queue;

typedef struct {
    gint place, status;
    gint64 tile;
    LoopState *loop;
    gint64 *var, *loose;       /* value, and what it may be off by multiples of */
    gint64 *times;             /* of each symbol: loops entered in this tile */
    guint64 assigned, touched; /* cells of values */
    Queue queue[WS_QUEUES];
    gint64 joined;         /* generation that it waits for */
    gint64 cluster_joined; /* that of the cluster barrier */
    gint64 at, parity;     /* while it waits: the slot or named barrier, and the parity */
    gboolean cluster_arrived;
} Instance;

typedef struct {
    gint64 phase, pending, tx;
    /* agents that returned since the last completion; those among them by lanes; that expect bytes
     * without an arrival */
    guint64 owed, by_lanes, expects;
    /* who contributes to this phase, did to the last one, and to the one before: bit 2 * agent +
     * leader of this CTA, OTHERS */
    guint64 gives, gave, gave_before;
} SlotState;
#define OTHERS ((guint64)1 << 63) /* another CTA, or a transfer */

typedef struct {
    gint64 generation, joined, count;
} NameState;

/* Who made the last event of an item; op: its index + 1, 0: several, or nobody knows. */
typedef struct {
    guint op;
    gint64 row0, col0;
    gint64 tile; /* of a claim: its position */
} Author;

/* One block of memory: carve in state.c says how it is cut. */
typedef struct {
    Instance *inst;
    SlotState *slot; /* cta * n_slots + s */
    NameState *name; /* cta * n_names + n; the cluster barrier last */
    guint64 *k, *q;  /* [item][words] */
    guint8 *written; /* cta * n_cells + c */
    guint16 *flight; /* [item]: it is over with a group: 1 + age + MAX_GROUPS * (queue + WS_QUEUES *
                        instance); 0: with none */
    Author *author;  /* [item], of writes and reads */
    GArray *fact;    /* Fact */
} State;

Plan *plan_new(const WsProgram *p, Certificate *c);
void plan_free(Plan *plan);
/* Parts of it: cells of the values of an agent, classes of readers. */
void plan_values(Plan *plan, guint a);
void plan_readers(Plan *plan);
/* Works out cells and items; again after views were added. */
void plan_items(Plan *plan);
static inline gboolean plan_is_var(const Plan *plan, const WsExpr *e)
{
    return e->op == WS_EXPR_VAR && e->var >= 0 && e->var < (gint)plan->p->n_vars;
}
/* It starts from a number and steps by one, as the text says or the lemma FROM. */
gboolean plan_fixed(const Plan *plan, const WsTree *loop, gint64 *from, gint64 *step);
/* A loop that is taken to start from 0, to step by 1: lemma FROM. */
enum { START_0 = 1, STEP_1 = 2 };
guint plan_start(const Plan *plan, const WsTree *loop);
void plan_forms(Plan *plan);
void plan_forms_free(Plan *plan);
/* What `e` is taken for wherever it is evaluated; lives as long as the plan. */
const WsExpr *plan_form(const Plan *plan, const WsExpr *e, gboolean truth);
/* What a comparison without such a division says in other words, by lemmas TRUTH and EXTREME; NULL:
 * it stays as it is. */
WsExpr *form_compared(const Plan *plan, const WsExpr *e);
/* The expression made for this; takes `e`, NULL: if there is one already. */
WsExpr *plan_made(Plan *plan, const char *key, WsExpr *e);
/* Refuses counters that may not fit in 64 bits. */
void plan_growth(Plan *plan);
/* The first thing that is wrong stays. */
void plan_fail(Plan *plan, WsVerifyAnswer answer, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* 0: it is none */
static inline guint plan_symbol(const Plan *plan, const WsExpr *e)
{
    const gint n = e->op == WS_EXPR_VAR ? e->var - (gint)plan->p->n_vars : 0;
    return n > 0 && n < (gint)plan->c->symbol->len ? (guint)n : 0;
}
/* Cells of a view; NULL (and it is noted) if it was not known before. */
const GArray *plan_cells(Plan *plan, const View *v, gint64 element, gint64 stage);
/* A read of a column chosen by the index of a loop counts as one of the rows (section 8.4). */
gboolean plan_names_symbol(Plan *plan, const WsExpr *e); /* or a variable made of one */
/* Names decide which turn it is: by what it is taken for, and by what the program says. */
gboolean plan_turn_by_names(Plan *plan, const WsOp *op);
WsExpr *plan_whole(const Plan *plan, const WsExpr *e); /* with definitions, lets; NULL: too large */
/* Adds 1 for every symbol in `e`; for names of rounds only if `asks`. */
void plan_count_symbols(Plan *plan, const WsExpr *e, gboolean asks, gint64 *times);
gboolean plan_whole_rows(const Plan *plan, const WsOp *op, guint access);
/* `to`: the CTA of a copy */
gint plan_reader(const Plan *plan, const WsOp *op, guint to);
gint plan_name(const Plan *plan, const WsOp *op, gint64 *count); /* -1: of the agent alone */

/* What an operation or a tree node evaluates. */
typedef enum { ASK_NUMBER, ASK_USE, ASK_TURN, ASK_TRUTH, ASK_COUNT, ASK_LET, ASK_ADVANCE } Ask;
typedef void (*PlanVisit)(gpointer data, const WsTree *at, const WsExpr *e, Ask ask);
void plan_visit(const Plan *plan, const WsTree *t, PlanVisit visit, gpointer data);
gboolean plan_private(const Plan *plan, const WsTree *t); /* a branch, or what is below one */
static inline gboolean op_by_leader(const WsOp *op)
{
    return op->breadth == WS_BREADTH_LEADER || op->tree->leader;
}

/* Products that one accumulator may be in; NULL: none. */
gboolean same_product(const WsOp *a, const WsOp *b);

/* --- items of a CTA --------------------------------------------------------------------------- */
typedef enum {
    ITEM_WRITE,
    ITEM_READ,
    ITEM_LAST,
    ITEM_BEFORE,
    ITEM_TRANSFER,
    ITEM_GIVE,
    ITEM_RETURN,
    ITEM_NAME,
    ITEM_REMOTE
} ItemKind;
/* x: reader of READ; agent of RETURN; agent * 2 + leader of GIVE, the last contribution; of
 * REMOTE: i = instance * 2 + leader */
guint plan_item(const Plan *plan, ItemKind kind, guint cta, guint i, guint x);
static inline guint holder_slot(const Plan *plan, guint slot, guint which)
{
    return HOLDERS * plan->n_inst + 2 * slot + which;
}
static inline guint holder_name(const Plan *plan, guint name, guint which)
{
    return HOLDERS * plan->n_inst + 2 * plan->p->cluster * plan->n_slots + 2 * name + which;
}

/* --- states ----------------------------------------------------------------------------------- */
WsLanesMeet plan_lanes(Plan *plan, const Author *first, const Author *second);
State *state_new(const Plan *plan); /* section 2.4 */
State *state_copy(const Plan *plan, const State *s);
void state_free(State *s);
Fact *state_fact(const State *s, const Fact *key); /* NULL: never asked about */
/* The same with what is assumed of the symbol where nobody asked; made if it is to be changed. */
Fact state_know(const Plan *plan, const State *s, const Fact *key);
Fact *state_learn(const Plan *plan, State *s, const Fact *key);
/* `ask` has the value of an option; FALSE: that contradicts what is known. */
gboolean state_refine(const Plan *plan, State *s, const Fact *ask, const Option *o);
Fact fact_default(const Certificate *c, const Fact *key);
/* TIME of a symbol that is asked about now. */
gint64 instance_time(const Plan *plan, guint agent, const Instance *x, guint symbol);
gboolean fact_is_past(const Plan *plan, const State *s, const Fact *f);
/* The loop whose index a name of rounds follows, if it is entered; NULL. */
const LoopState *instance_rounds(const Plan *plan, guint agent, const Instance *x, guint symbol);
Fact instance_fact(const Plan *plan, const State *s, guint inst, guint symbol);
gint64 fact_residue(const Plan *plan, const State *s, const Fact *f); /* -1: not known */
guint64 value_cells(Plan *plan, guint agent, guint value, gint64 row0, gint64 col0, guint rows,
                    guint cols);

/* Runs all instances until none moves (section 8.4); plan->reason says what broke. FALSE: none
 * moved at all. */
gboolean state_run(Plan *plan, State *s);
gboolean state_ended(const Plan *plan, const State *s);
void state_exit(Plan *plan, const State *s); /* judges section 3 "exit" */

/* TRUE if `s` is covered by `by` (section 8.5) up to what is known, `why` says what is not; `tiles`
 * positions later. */
gboolean state_covered(Plan *plan, const State *s, const State *by, gint64 *tiles, char **why);
/* Before that: what is known modulo in one of them. */
gboolean state_loosen(const Plan *plan, State *node, State *s);
/* `node` keeps what both know; TRUE if that is less than before. */
gboolean state_meet(const Plan *plan, State *node, const State *s, gint64 tiles);

G_END_DECLS
