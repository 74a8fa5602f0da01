/* The walker's state, shared by walk.c (control) and walk_values.c (what names are worth). */
#pragma once

#include "program/walk/walk.h"

#define WS_WALK_MAX_ROUNDS G_N_ELEMENTS(((WsStep *)NULL)->round)

typedef enum { WS_WALK_UNSET, WS_WALK_KNOWN, WS_WALK_BUSY } WsWalkState;

/* A node being walked. Loops keep their round here. */
typedef struct {
    const WsTree *tree;
    guint kid;       /* SEQ: next statement */
    gboolean inside; /* LOOP: a round is running; BRANCH: its side is running */
    gint64 round, count, from, by;
} WsWalkFrame;

struct WsWalker {
    const WsProgram *p;
    const WsLaunchValues *v;
    gint agent;
    guint cta;
    WsTileSource tiles;
    gpointer tiles_data;
    WsWalkElement element;
    gpointer element_data;

    gint64 *value; /* per variable */
    guint8 *state; /* WsWalkState per variable */
    guint n_tile_vars;
    gint *tile_var;  /* the TILE variables */
    gint64 position; /* current tile, -1 none */

    WsWalkFrame *frame;
    guint n_frames, max_frames;
    WsStep step;
    gint64 budget, most;
    const WsOp *op; /* current operation, for messages */
    GError *broken; /* found by ws_walker_new */
};

gboolean ws_walk_evaluate(WsWalker *w, const WsExpr *e, gint64 *value, GError **error);
/* An expression that may be absent: then `otherwise`. */
gboolean ws_walk_evaluate_or(WsWalker *w, const WsExpr *e, gint64 otherwise, gint64 *value,
                             GError **error);
void ws_walk_set(WsWalker *w, gint var, gint64 value);
void ws_walk_open_tile(WsWalker *w, gint64 position, gint64 id);
/* Names are no longer visible behind the loop; elaboration proved that nothing uses them. */
void ws_walk_close_tile(WsWalker *w);
