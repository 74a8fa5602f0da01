/* Inside src/check: what the proof knows of a program and says in the end. A loop count, a tile
 * that exists, a condition is a question about a symbol; all answers are explored (bits.h), and
 * everybody who asks the same question hears the same answer. */
#pragma once

#include "check/play/play.h"

G_BEGIN_DECLS

/* --- symbols.c: what control depends on ------------------------------------------------------- */
typedef enum {
    WS_RELATION_DIV,
    WS_RELATION_MAX,
    WS_RELATION_MIN,
    WS_RELATION_MUL /* number * base + offset */
} WsRelation;
typedef struct {
    char *text;
    char *normal;    /* by which it is known: the same of equal expressions */
    WsExpr *form;    /* the normal form of what it stands for */
    gboolean run;    /* one value per launch; its remainder is one, its rounds are asked per tile */
    gboolean owed;   /* its remainder is asked per tile, too (L-OWED) */
    gboolean letter; /* 0 or 1 */
    gboolean per_cta; /* depends on the rank */
    gboolean ring;    /* used in a use, a counter: its remainder is asked */
    guint split; /* not 0: its loop can come several times in a tile, each time it is asked anew */
    gboolean whole;     /* it is not to be split */
    gboolean by_round;  /* split: its time is 1 + the index of the loop around (rounds.c) */
    gboolean by_index;  /* the count of a loop that follows an index (rounds.c) */
    gboolean bounded;   /* `least` is known to be its least value */
    gint64 least, most; /* most: G_MAXINT64 if it is not known */
    gint64 floor;       /* where questions begin: its least value, or what all below it are like */
    gint64 window;      /* up to here a use must know it exactly; -1 nowhere */
    gint64 modulus;     /* of the remainder */
    WsExpr *expr;       /* that it stands for; NULL: the tiles */
    gint base;          /* symbol that it is an expression of, -1 none */
    WsRelation relation;
    gint64 offset, number; /* of base + offset and number */
    gint64 every, left;    /* assumed: it leaves `left` modulo `every` */
} WsSymbol;

/* factor * symbol + rest (op) 0, or symbol + rest as a count; symbol < 0: rest alone. */
typedef struct {
    gint symbol, factor;
    WsExpr *rest;
} WsForm;

typedef struct {
    const WsTree *node; /* loop or branch */
    const WsForm *form;
    gboolean count;
    const WsTree
        *moving;      /* a condition: rest moves with the index of this loop, `by` a round each */
    gint64 by;        /* factor of that index in rest */
    gboolean again;   /* that loop can come again in a tile */
    gboolean renewed; /* but the symbol is asked anew before (begins.c) */
    gint number;      /* the variable that moves: that index, or a total; -1 none */
} WsSite;

/* Integers lo .. hi; none if lo > hi. */
typedef struct {
    gint64 lo, hi;
} WsSpan;
#define WS_ENDLESS ((gint64)1 << 60)
static const WsSpan ws_nowhere = { 1, 0 };

#define WS_MAX_SPLIT 16
#define WS_FEW       16       /* a greatest value up to this is made use of */
enum { WS_LAPS = 2 };         /* turns are told apart modulo this */
enum { WS_SYMBOL_TILES = 0 }; /* the number of tiles of the cluster */

typedef struct WsControl {
    const WsProgram *p;
    GPtrArray *symbols;     /* WsSymbol* */
    GHashTable *rewritten;  /* WsExpr* of the program -> WsExpr* with symbols as variables */
    GHashTable *forms;      /* rewritten comparison or count -> WsForm* */
    GHashTable *number;     /* WsTree* -> preorder number */
    GHashTable *private_if; /* branches that guard private computation only */
    GArray **site;          /* [agents] WsSite */
    GArray **need;          /* [ops] gint: symbols whose remainder an operation needs */
    GHashTable *rows;     /* WsAccess*: reads of a column chosen by an index, taken as whole rows */
    gint *name_of;        /* [vars] symbol of a name that stands alone, 0 if it has none yet */
    WsExpr **let;         /* [vars] what a let stands for (lets.c), NULL: it is a variable */
    WsExpr **start;       /* [vars] what an index starts from, which then counts from 0; NULL */
    gboolean *relevant;   /* [vars] LET and counters that control depends on */
    gboolean *tainted;    /* [vars] known only up to the modulus */
    WsSpan *range;        /* [vars] values a variable can have */
    gboolean *up, *down;  /* [vars] it can grow, fall while it lives */
    gint64 *modulus;      /* [vars] beyond its window a variable counts modulo this */
    WsSpan *window;       /* [vars] where it counts exactly */
    char *outside;        /* why the program is outside the fragment */
    char *endless;        /* what takes endlessly many values that all matter; NULL: nothing */
    GArray *wish;         /* what demands.c was asked for */
    GArray *flat;         /* loops whose rounds may be counted by hand (flat.c) */
    GArray *assumed;      /* what `assume` says of sums (assumed.c) */
    GArray *residues;     /* and of their remainders (same.c) */
    GHashTable *same;     /* WsExpr, a normal form -> WsExpr: what ws_same() made of it */
    GHashTable *counted;  /* sums of names that are counts, or compared with what grows */
    GHashTable *compared; /* sums of names that are compared -> the comparison, or "" if several */

    GHashTable *begins; /* WsTree*, in front of which names are asked anew -> guint64*, splits */
    GHashTable
        *begun; /* loops whose names are asked anew there, not when they are entered -> that */

    GArray *instance; /* WsInstance */
    guint n_vars, n_split;
    gboolean plain, page, far, written;
    gboolean leads;   /* it is another proof if names are asked anew in front of their loops */
    gboolean letters; /* comparisons with far numbers are letters */
} WsControl;

/* How a program is looked at; none is right for all. */
typedef enum {
    WS_HOW_PLAIN = 1,  /* no names for the counts of rounds (rounds.c) */
    WS_HOW_PAGE = 2,   /* as it stands: no rules that put other expressions in its place */
    WS_HOW_OWE = 4,    /* counters may owe rounds of tiles to come (bits_owed.c) */
    WS_HOW_FAR = 8,    /* comparisons with far numbers are letters (learn.c) */
    WS_HOW_OWN = 32,   /* they owe those of their own tile as well */
    WS_HOW_LAPS = 64,  /* what names decide is told apart modulo laps (bits_amounts.c) */
    WS_HOW_LEAD = 128, /* names are asked anew in front of what leads to their loops (begins.c) */
    WS_HOW_WRITE = 16  /* for a certificate: only rules that section 8 of docs/soundness.md has */
} WsHow;
WsControl *ws_control_new(const WsProgram *p, WsHow how);
void ws_control_free(WsControl *c);

/* --- answers.c: questions about symbols and their answers --------------------------------------
 */
/* A position is that of a tile in a loop over tiles: number of the loop * WS_PASS + tile, so what
 * comes later is greater; WS_PASS - 1 stands for behind the loop, -1 for before the first one. */
#define WS_PASS ((gint64)1 << 32)
static inline gint64 ws_pass_of(gint64 position)
{
    return position < 0 ? -1 : position / WS_PASS;
}
static inline gint64 ws_behind(gint64 pass)
{
    return pass * WS_PASS + WS_PASS - 1;
}
/* The time of a split name: how many of its loops have begun in this tile. Of one that follows the
 * rounds of a loop: how often that loop has begun * WS_ENTRY, and 1 + its index. */
#define WS_ENTRY ((gint64)1 << 32)
typedef struct {
    gint symbol;
    gint64 position;
    gint rank;
    gint64 time; /* of a split name, else 0 */
    gint64 lo;   /* least value left; the value itself if exact */
    gboolean exact;
    gint64 remainder; /* modulo the modulus, -1 unknown */
} WsInstance;

typedef enum { WS_ASK_NONE, WS_ASK_MORE, WS_ASK_REMAINDER } WsAsk;
/* Position of the instance that holds the remainder of a symbol; -2: one for the launch. */
static inline gint64 ws_remainder_at(const WsSymbol *s, gint64 position)
{
    return s->run && !s->owed ? -2 : position;
}
gint64 ws_control_mod(gint64 x, gint64 m); /* 0 .. m - 1 */
gint64 ws_floor_div(gint64 x, gint64 d);
/* What is known of a symbol in a tile of a CTA; made if nobody has asked yet. */
WsInstance *ws_control_find(const WsControl *c, gint symbol, gint64 position, gint rank,
                            gint64 time);
void ws_control_answer(WsControl *c, WsAsk ask, guint instance, gint64 option);
char *ws_control_question(const WsControl *c, WsAsk ask, const WsInstance *x, gint64 option);

/* --- proof.c ---------------------------------------------------------------------------------- */
typedef enum { WS_PROOF_CLOSED, WS_PROOF_ALARM, WS_PROOF_CAP, WS_PROOF_OUTSIDE } WsProofKind;
/* What the answers on the way to an alarm say of a name. */
typedef struct {
    WsExpr *expr;
    WsExprOp op; /* EQ, LE, GT the value; NE: the truth of `expr` is that of value != 0 */
    gint64 value;
    gboolean launch; /* one value per launch */
    gint64 position; /* else: of the tile in the CTA's sequence; -1: of none */
} WsTold;
typedef struct {
    WsProofKind kind;
    char *why;        /* ALARM: finding; CAP, OUTSIDE: the reason */
    char *path;       /* ALARM: answers that lead there */
    char *again;      /* ALARM: a loop that counts itself, and starts again; NULL: none does */
    GArray *rounds;   /* ALARM: gint64, numbers of rounds on that path */
    GArray *told;     /* ALARM: WsTold, one for every name and tile */
    guint tiles;      /* ALARM: tiles on that path */
    GPtrArray *names; /* WsProvedName*: what it is about; NULL: outside */
    guint states, merges;
    gboolean by_index; /* counts that follow an index have names of their own */
    gboolean owed;     /* counters owe rounds of tiles to come */
    gboolean drifts;   /* OUTSIDE: turns that names decide may be whole laps off */
    gboolean letters;  /* comparisons with far numbers were letters */
    gboolean leads;    /* not CLOSED: WS_HOW_LEAD is another proof */
    WsRuleId rule;     /* ALARM: what can go wrong, and where (NULL: at the end) */
    const WsOp *op;
    guint64 ops, work; /* work: words of states looked at, about */
    char *certificate; /* CLOSED, if one was asked for (docs/soundness.md section 8); else NULL */
    gsize bytes;       /* taken by it at the end, when it is largest */
    double seconds;
} WsProof;
void ws_proof_free(WsProof *proof);
/* What a proof about this program quantifies over; number 0 is the tiles, the others are the
 * symbols of the control. */
GPtrArray *ws_proof_names(const WsControl *c);
char *ws_proof_text(const GPtrArray *names); /* "every number of tiles, every nb of each tile" */

G_END_DECLS
