/* Two states that a cover compares, and how far an expression differs between them
 * (docs/soundness.md sections 8.5 and 8.6). */
#pragma once

#include "verify/know.h"

G_BEGIN_DECLS

typedef struct {
    Plan *plan;
    const State *s, *by;
    gint64 passes; /* of `s` less those of `by` */
    gint64
        *may; /* of each variable: what it may come to be off by beside its d, a multiple of this */
    gboolean collects, more;
    guint64 fresh, open;     /* symbols: lemma FRESH; those that it might help with */
    gint64 fresh_by, wanted; /* what fresh names go on by; what a comparison would need */
    char *why;
} Cover;

/* Where an expression may be evaluated. */
typedef struct {
    Cover *c;
    guint inst, agent;
    const Instance *x, *y; /* of s, of by */
    const WsTree *at;
    const WsTree *same[32]; /* running loops around it that are still in the same turn */
    guint n_same;
    guint lets;        /* whose `set` is being looked at, and choices taken apart: how deep */
    gboolean any;      /* names stand for any of their instances */
    gboolean in_pass;  /* in a tile of the pass at hand */
    gboolean later;    /* a later one than that at hand */
    guint64 low;       /* fresh symbols that are at their least value in `by` */
    gint64 tile;       /* of `by`; UNLISTED: one that no state names */
    gint64 time;       /* PRESENT, UNLISTED, or listed */
    guint64 moved;     /* symbols that are asked anew before the node is come by: their bits */
    guint64 stays;     /* symbols that are not asked anew before: at their present time */
    gboolean mixed;    /* `time` is that of those, the others are at their present one */
    gboolean in_round; /* names of rounds are those of the present round all the same */
} Context;
enum { PRESENT = -10, UNLISTED = -11 };
enum { FRESH_TILES = 0, FRESH_AGAINST = -1 }; /* of fresh_by: as tiles do, against them */
#define FRESH_MOST ((gint64)1 << 40)          /* no fresh name goes on by more */

/* What an expression is off by: d and multiples of g. */
typedef struct {
    gint64 d, g;
} Shift;

/* Says why not, once; always FALSE. */
gboolean fail(Cover *c, const char *format, ...) G_GNUC_PRINTF(2, 3);
gboolean less(gint64 a, gint64 b, gint64 *out);
/* Positions of `s` less those of `by` in this pass of `by`. */
gint64 shift_of_pass(const Cover *c, gint64 pass);
gint64 counterpart_tile(const Cover *c, gint64 tile);
/* How many loops more a symbol is in that were entered in this tile of `by`. */
gint64 shift_of_time(const Cover *c, guint symbol, gint64 tile);
Fact counterpart(const Cover *c, const Fact *f);
gboolean shift_of_fact(Cover *c, const Fact *key, gint64 *d);
gboolean in_same(const Context *x, const WsTree *loop);
LoopState *loop_of(const Context *x, const Instance *of, const WsTree *t);
/* Symbols in `e` that may be shifted, or are (lemma FRESH), here. */
guint64 fresh_symbols(Context *x, const WsExpr *e);
/* Those that may stand at their least values, where that is no shift. */
guint64 fresh_lows(const Context *x, guint64 fresh);
Range difference(Context *x, const WsExpr *a, const WsExpr *b, gboolean in_s);
/* The comparison has one answer, `which`, in both states. */
gboolean settled(Context *x, WsExprOp op, const WsExpr *a, const WsExpr *b, int *which);
/* What a truth is in both states, whatever of it is not invariant: 0 or 1; -1: open. */
int settled_truth(Context *x, const WsExpr *e);
/* One side of && or || is all that it says, and is invariant. `fails`: bit i, side i has no shift;
 * `d`: of the others. */
gboolean one_side(Context *x, const WsExpr *e, guint fails, const Shift *d);
/* Notes what the fresh name of a comparison would have to go on by (lemma FRESH). */
void note_wanted(Context *x, const WsExpr *e);
/* Node n is entered (again) in the round at hand of the loop whose index its count follows. */
gboolean within_round(const Context *x, gint n);
/* `moved` and `stays` of the context, at tree node n. */
void anew_times(Context *x, gint n);
gboolean tree_is_below(const WsTree *t, const WsTree *up);
/* A turn that no symbol decides goes on as what it meets does. */
gboolean turn_holds(Context *x, const WsOp *op, const WsExpr *turn);
gboolean shift(Context *x, const WsExpr *e, gboolean truth, Shift *out);

G_END_DECLS
