/* Walking a program with concrete sizes: the common cursor of the play, the clock, and everything
 * else that follows an agent operation by operation. A launch fixes sizes, scalars and run names; a
 * walker runs one agent of one CTA through its tree. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* --- walker ----------------------------------------------------------------------------------- */
typedef struct WsWalker WsWalker;

/* Where the tiles of a CTA come from: position 0, 1, 2, … -> tile id, or -1 past the last one. */
typedef gint64 (*WsTileSource)(gpointer data, gint64 position);

typedef struct {
    const WsOp *op;
    /* The rounds of the enclosing loops, outermost first: value of each loop's total variable when
     * the operation was reached (the key of traces and diagnostics). */
    guint n_rounds;
    gint64 round[16];
    const WsTree *loop[16];
} WsStep;

/* Only the rounds that there are: most steps have two. */
void ws_step_copy(WsStep *to, const WsStep *from);

/* `tiles` gives the CTA's tiles; `cta` is its rank. The walker borrows everything. */
WsWalker *ws_walker_new(const WsProgram *p, const WsLaunchValues *v, guint agent, guint cta,
                        WsTileSource tiles, gpointer data);
/* A static persistent launch's source: ids cluster, cluster + clusters, … below the tile count. */
gint64 ws_tiles_strided(gpointer data, gint64 position); /* data: WsTilesStrided* */
typedef struct {
    gint64 first, stride, count;
} WsTilesStrided;

void ws_walker_free(WsWalker *w);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsWalker, ws_walker_free)
/* Moves to the next operation; FALSE at the end of the body, or on error (then *error is set: an
 * expression overflowed, a loop ran past WS_WALK_MAX_OPS operations). LET and ADVANCE operations
 * are executed by the walker itself and still returned. */
gboolean ws_walker_next(WsWalker *w, WsStep *step, GError **error);
#define WS_WALK_MAX_OPS 200000000
/* Operations and rounds walked so far; rounds count that do nothing. */
gint64 ws_walker_spent(const WsWalker *w);
/* Walks no more than that many. Before the first step. */
void ws_walker_limit(WsWalker *w, gint64 most);
/* Evaluates an expression of the current operation in the walker's present state (after its effect,
 * if it is a LET or an ADVANCE). */
gboolean ws_walker_eval(WsWalker *w, const WsExpr *e, gint64 *value, GError **error);
/* Elements of integer tensors, for a lens that knows or guesses them; without one (the default)
 * what asks for an element is an error. */
typedef gboolean (*WsWalkElement)(gpointer data, gint tensor, const gint64 *at, gint64 *value);
void ws_walker_set_element(WsWalker *w, WsWalkElement element, gpointer data);
/* The offset at a place where all distances are equal: n·i/(extent - 1), rounded down. */
gint64 ws_launch_offset(const WsLaunchValues *v, gint tensor, gint64 n, const gint64 *at);
/* Data are not known before the launch: an element of an integer tensor counts as the middle of the
 * range that its `data` gives, offsets as evenly spaced. One guess for clock and score, so that
 * their loops agree. */
gboolean ws_launch_guess_element(const WsLaunchValues *v, gint tensor, const gint64 *at,
                                 gint64 *value);
void ws_walker_guess_elements(WsWalker *w);
/* For one who is in a tile and asks what its names are worth in another: not for walking on. */
void ws_walker_set_tile(WsWalker *w, gint64 id);
/* Position of the current tile in the CTA's sequence, -1 outside loops over tiles. */
gint64 ws_walker_position(const WsWalker *w);
/* "tile 1, k 3" from a step's rounds. Caller frees. */
char *ws_step_rounds_text(const WsStep *step);

G_END_DECLS
