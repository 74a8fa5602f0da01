/* Inside src/check: the proof for all trip counts. The operations of the play are run under a
 * walker that decides instead of computing: a loop count, a tile that exists, a letter is a
 * question whose answers are all explored. Questions are asked only when nothing else can move; so
 * one state belongs to one sequence of answers. What clocks know is ranked against the events that
 * can still matter, which makes states finite. */
#pragma once

#include "check/play.h"

G_BEGIN_DECLS

/* --- symbols.c: what control depends on ------------------------------------------------------- */
typedef enum { WS_RELATION_DIV, WS_RELATION_MAX, WS_RELATION_MIN } WsRelation;
typedef struct {
    char *text;
    gboolean run;    /* one value per launch; its remainder is one, its rounds are asked per tile */
    gboolean letter; /* 0 or 1 */
    gboolean per_cta; /* depends on the rank */
    gboolean ring;    /* used in a use, a counter: its remainder is asked */
    gboolean split;   /* its loop can come several times in a tile: each time it is asked anew */
    gint64 least;
    gint64 modulus; /* of the remainder */
    WsExpr *expr;   /* that it stands for; NULL: the tiles */
    gint base;      /* symbol that it is an expression of, -1 none */
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
    gboolean count, relative;
} WsSite;

enum { WS_LAPS = 2 };         /* turns are told apart modulo this */
enum { WS_SYMBOL_TILES = 0 }; /* the number of tiles of the cluster */

typedef struct WsControlInst WsControlInst;
typedef struct WsControl {
    const WsProgram *p;
    GPtrArray *symbols;     /* WsSymbol* */
    GHashTable *rewritten;  /* WsExpr* of the program -> WsExpr* with symbols as variables */
    GHashTable *forms;      /* rewritten comparison or count -> WsForm* */
    GHashTable *number;     /* WsTree* -> preorder number */
    GHashTable *private_if; /* branches that guard private computation only */
    GArray **site;          /* [agents] WsSite */
    GArray **need;          /* [ops] gint: symbols whose remainder an operation needs */
    GHashTable *rows;   /* WsAccess*: reads of a column chosen by an index, taken as whole rows */
    gboolean *relevant; /* [vars] LET and counters that control depends on */
    gboolean *tainted;  /* [vars] known only up to the modulus */
    gint64 *modulus;    /* [vars] beyond its bound a variable counts modulo this */
    gint64 *bound;      /* [vars] up to here it counts exactly; -1 nowhere */
    char *outside;      /* why the program is outside the fragment */

    WsControlInst *inst; /* [instances of agents] */
    GArray *instance;    /* WsInstance */
    guint n_vars;
} WsControl;

WsControl *ws_control_new(const WsProgram *p, guint n_inst);
void ws_control_free(WsControl *c);

/* --- control.c: the walker -------------------------------------------------------------------- */
#define WS_FAR ((gint64)1 << 40) /* position of an agent behind its tile loop */
typedef struct {
    gint symbol;
    gint64 position;
    gint rank;
    gint64 time; /* split: how many of its loops have begun in this tile */
    gint64 lo;   /* least value left; the value itself if exact */
    gboolean exact;
    gint64 remainder; /* modulo the modulus, -1 unknown */
} WsInstance;

typedef enum { WS_ASK_NONE, WS_ASK_MORE, WS_ASK_REMAINDER } WsAsk;

typedef struct {
    const WsTree *tree;
    guint kid;
    gboolean inside;
    gint64 round, from, by;
} WsControlFrame;

#define WS_MAX_FRAMES 32
#define WS_MAX_SPLIT  16
struct WsControlInst {
    gint64 *value; /* [vars] */
    WsControlFrame frame[WS_MAX_FRAMES];
    guint n_frames, n_rounds;
    gint64 position;
    guint entered; /* preorder number of the node entered last */
    WsAsk ask;
    guint ask_instance;
    gint64 begun[WS_MAX_SPLIT]; /* per symbol: its loops begun in this tile */
    gint64 first;               /* value of the `first` of the current mma */
    guint private_frame;
    guint64 saved[64]; /* blocks defined before a private branch */
};

typedef enum { WS_NEXT_END, WS_NEXT_STEP, WS_NEXT_ASK } WsNext;
void ws_control_reset(WsPlay *play);
WsNext ws_control_next(WsPlay *play, WsInst *inst);
gboolean ws_control_eval(WsPlay *play, WsInst *inst, const WsExpr *e, gint64 *value);
/* Value of an already rewritten expression. */
gboolean ws_control_value(WsPlay *play, const WsInst *inst, const WsExpr *e, gint64 *value);
/* Completion number `turn`, known modulo the laps of the modulus, next to the phase of the slot. */
gint64 ws_control_turn(const WsPlay *play, const WsSlot *slot, gint64 turn, gboolean wait);
gint64 ws_control_mod(gint64 x, gint64 m); /* 0 .. m - 1 */
WsInstance *ws_control_find(const WsControl *c, gint symbol, gint64 position, gint rank,
                            gint64 time);
/* Least time at which somebody can still ask about a symbol in a tile. */
gint64 ws_control_time(const WsPlay *play, gint symbol, gint64 position);
/* The answers to a question; for MORE 0 no, 1 yes. */
guint ws_control_options(const WsControl *c, const WsControlInst *ci, gint64 *option, guint max);
void ws_control_answer(WsControl *c, WsAsk ask, guint instance, gint64 option);
char *ws_control_question(const WsControl *c, WsAsk ask, const WsInstance *x, gint64 option);
/* Forgets symbols of tiles that everybody has left. */
void ws_control_forget(WsPlay *play);

/* --- state.c: keeping and restoring a play ---------------------------------------------------- */
/* Only where nothing is in flight. */
void ws_state_compact(WsPlay *play);
void ws_state_save(WsPlay *play, GByteArray *bytes);
void ws_state_restore(WsPlay *play, const GByteArray *bytes);

/* --- key.c ------------------------------------------------------------------------------------ */
typedef struct {
    guint comp;
    WsEpoch epoch;
} WsItem;
typedef struct {
    guint32 *control; /* words */
    guint n_control, cap_control;
    guint8 *known;
    guint n_known, cap_known;
    GArray *item;  /* WsItem, in order of the control part */
    guint *first;  /* [comps + 1] into epoch */
    GArray *epoch; /* WsEpoch: live ones per component, ascending */
} WsKey;
WsKey *ws_key_new(const WsPlay *play);
void ws_key_free(WsKey *key);
void ws_key_make(WsPlay *play, WsKey *key);
/* Lowers what is known to `known` (ranks as in key->known). */
void ws_key_lower(WsPlay *play, const WsKey *key, const guint8 *known);

/* --- prove.c ---------------------------------------------------------------------------------- */
typedef enum { WS_PROOF_CLOSED, WS_PROOF_ALARM, WS_PROOF_CAP, WS_PROOF_OUTSIDE } WsProofKind;
typedef struct {
    WsProofKind kind;
    char *why;        /* ALARM: finding; CAP, OUTSIDE: the reason */
    char *path;       /* ALARM: answers that lead there */
    GArray *rounds;   /* ALARM: gint64, numbers of rounds on that path */
    guint tiles;      /* ALARM: tiles on that path */
    GPtrArray *names; /* WsProvedName*: what it is about; NULL: outside */
    guint states, merges;
    WsRuleId rule; /* ALARM: what can go wrong, and where (NULL: at the end) */
    const WsOp *op;
    guint64 ops;
    gsize bytes; /* taken by it at the end, when it is largest */
    double seconds;
} WsProof;
/* `merge`: depth first, states of equal control merged. Otherwise breadth first and exact: slower,
 * but an alarm has the fewest rounds and tiles. */
WsProof *ws_prove(const WsProgram *p, guint max_states, gboolean merge);
void ws_proof_free(WsProof *proof);
/* What a proof about this program quantifies over; number 0 is the tiles, the others are the
 * symbols of the control. */
GPtrArray *ws_proof_names(const WsControl *c);
char *ws_proof_text(const GPtrArray *names); /* "every number of tiles, every nb of each tile" */

G_END_DECLS
