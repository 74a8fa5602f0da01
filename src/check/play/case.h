/* Inside src/check: a case, which is one launch and the tiles of one of its CTAs (or clusters).
 *
 * Everything of it is concrete: sizes that the assumptions allow, the number of CTAs, which CTA is
 * looked at, and elements of integer tensors within what their `data` declares. Names are what
 * their texts give there, so that what is refuted by a case happens in that launch. */
#pragma once

#include "model/finding.h"
#include "program/walk/walk.h"

G_BEGIN_DECLS

/* One element of an integer tensor that is chosen. */
typedef struct {
    gint tensor;
    gint64 at[WS_MAX_RANK], value;
} WsCaseElement;

/* What elements of an integer tensor can be. */
typedef struct {
    gboolean known;
    gint64 low, high;
} WsCaseRange;

typedef struct WsCase {
    WsLaunchValues *values;       /* owned */
    gint64 grid, cta;             /* CTAs of the launch; the (first) one that is played */
    guint tiles;                  /* that it has */
    gint64 rounds;                /* most rounds of a loop that was chosen; -1: none was */
    gboolean mixed;               /* tiles have different rounds */
    guint weight;                 /* rounds of all tiles together */
    gint64 element, element_step; /* elements: this, + step where the first index is odd, */
    GArray *chosen;               /* WsCaseElement: but for these; NULL none */
    WsCaseRange *range;           /* [tensors] once they are asked for */
    gboolean data;                /* elements are told in words */
    char *said;                   /* phrase: the same as `sizes` */
    char *sizes;                  /* "K = 257, L[1] = 3, CTA 1 of 2 (tile 1)": ws_case_tell() */
    WsMet *met;                   /* the same as data */
} WsCase;

/* A case of CTA `cta` in a grid of `grid`, with as many tiles as it has there. `values` is taken.
 * NULL: more than `most` tiles. */
WsCase *ws_case_new(const WsProgram *p, WsLaunchValues *values, gint64 grid, gint64 cta,
                    guint most);
void ws_case_free(WsCase *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsCase, ws_case_free)
/* The tile at a position of its sequence; -1 past the last. */
gint64 ws_case_tile(const WsProgram *p, const WsCase *c, gint64 position);
/* What an element of an integer tensor is worth. For walkers, within the tensor's shape. */
gint64 ws_case_element(const WsProgram *p, const WsCase *c, gint tensor, const gint64 *at);
/* Chooses an element; it is brought within its range. */
void ws_case_choose(const WsProgram *p, WsCase *c, gint tensor, const gint64 *at, gint64 value);
/* The first assumption about tiles that some tile of the launch breaks, or that cannot be told of
 * all of them; NULL: none. Borrowed. */
const char *ws_case_broken(const WsProgram *p, const WsCase *c);
/* Says what the case is: `met`, and in words `sizes`. */
void ws_case_tell(const WsProgram *p, WsCase *c);
/* Gives a walker its tiles and elements; `source` must outlive it. */
typedef struct {
    const WsProgram *p;
    const WsCase *c;
} WsCaseSource;
gint64 ws_case_source_tile(gpointer source, gint64 position);
gboolean ws_case_source_element(gpointer source, gint tensor, const gint64 *at, gint64 *value);

/* --- at_tile.c: what is asked of a tile --- */
/* Expressions of sizes, run names, axes, tile names and elements at a tile of a case, for the CTA
 * of rank 0. */
typedef struct WsAtTile WsAtTile;
WsAtTile *ws_at_tile_new(const WsProgram *p, const WsCase *c);
void ws_at_tile_free(WsAtTile *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsAtTile, ws_at_tile_free)
void ws_at_tile_move(WsAtTile *a, gint64 tile);
gboolean ws_at_tile_eval(WsAtTile *a, const WsExpr *e, gint64 *value);
/* Chooses elements that are not chosen yet so that `e` has that value at the present tile; FALSE:
 * it has another one, and nothing was chosen. */
gboolean ws_at_tile_reach(WsAtTile *a, WsCase *c, const WsExpr *e, gint64 value);
/* Elements that were looked at stay as they are: further choices leave them. */
void ws_at_tile_keep(const WsAtTile *a, WsCase *c);
/* e depends on nothing but sizes, run names, axes, tile names and elements. `tile`: on more than
 * sizes and run names. */
gboolean ws_of_tile(const WsProgram *p, const WsExpr *e, gboolean *tile);
/* Integer literals of an expression and of the names in it, each once, at most `most`. */
void ws_literals(const WsProgram *p, const WsExpr *e, GArray *list, guint most);

G_END_DECLS
