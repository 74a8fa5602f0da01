/* Inside src/check/global: what the files share. The judgement itself is ws_check_global() of
 * judge.h. */
#pragma once

#include "check/global/poly.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* --- terms.c: expressions of the program as polynomials ----------------------------------------
 */
typedef struct {
    const WsProgram *p;
    WsPolys *ps;
    WsPoly *value;   /* [vars] */
    gboolean *known; /* [vars] value says what the variable is worth here */
    gint next;       /* id of the next unknown */
    gint64 rank;     /* of the CTA that is looked at */
} WsTerms;
WsPoly ws_terms_of(WsTerms *t, const WsExpr *e);
/* 0 or 1. */
WsPoly ws_terms_truth(WsTerms *t, const WsExpr *e);
/* Something of which nothing is known, equal to nothing else. */
WsPoly ws_terms_unknown(WsTerms *t, const char *name);
void ws_terms_set(WsTerms *t, gint var, WsPoly value);
/* Forgets what hangs on the rank of the CTA. */
void ws_terms_rank(WsTerms *t, gint64 rank);

/* --- facts.c: what is known of sizes and names -------------------------------------------------
 */
typedef struct {
    WsPolys *ps;
    GArray *least;  /* WsPoly: >= 0, in every launch */
    GArray *tile;   /* WsPoly: >= 0 in every tile that there is */
    GArray *divide; /* WsPoly pairs: the second divides the first */
    gboolean in_tile;
    guint work; /* left for this question */
} WsFacts;
void ws_facts_assume(WsFacts *f, WsTerms *t, const WsExpr *e);
/* TRUE only if a >= 0 for all sizes that the facts allow; `in_tile`: for every tile. */
gboolean ws_facts_least(WsFacts *f, WsPoly a, gboolean in_tile);
/* TRUE only if b, above 0, divides a. */
gboolean ws_facts_divides(WsFacts *f, WsPoly a, WsPoly b);

/* --- pieces.c: what the steps write ------------------------------------------------------------
 */
typedef enum {
    WS_LATE_NO,
    WS_LATE_NEXT, /* in the round of the next tile */
    WS_LATE_END,  /* the last tile of a CTA, behind the loop */
} WsLate;

/* A box of `size` elements at `at`, written once for every tile at the positions from, from + by, …
 * and every value of the rounds, where all conditions are 1. */
typedef struct {
    const WsOp *op;
    guint n_dims;
    WsPoly at[WS_MAX_RANK];
    gint64 size[WS_MAX_RANK];
    guint n_conds;
    WsPoly *cond;
    gint64 from, by;
    WsLate late;
    guint n_rounds;
    guint16 round[16]; /* atoms of loops around it */
} WsPiece;

typedef struct {
    const WsProgram *p;
    WsTerms terms;
    WsFacts facts;
    WsPolys *ps;
    gint tensor;      /* that is looked at */
    GPtrArray *piece; /* WsPiece*, in the arena of ps */
    char *problem;    /* the first thing that is not understood; owned */
    /* What mends it where an element is written `cure_times` times: 0, 2; -1: either. NULL: nothing
     * special. Owned. */
    char *cure;
    int cure_times;
    /* Shown but for this: dimensions without an axis are written up to `window` (0: to their end),
     * and some launch may ask for more. Owned. */
    char *bounded;
    gint64 window[WS_MAX_RANK];
    gboolean counters; /* places of stores hang on counters */
    gboolean reduces;  /* what is looked at is how often elements are reduced */
    GPtrArray *free;   /* const char*: axes of which each value reduces every element once */
    GArray *axes;      /* guint: atoms of the axes of tiles; those of extent 1 are left out */
    GArray *extents;   /* WsPoly: rounds of loops that are axes */
} WsGlobal;
/* What is known of the program's sizes, from `assume`. */
void ws_global_begin(WsGlobal *g, const WsProgram *p);
void ws_global_end(WsGlobal *g);
void ws_global_problem(WsGlobal *g, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The same for what mends the problem that is told next. */
void ws_global_cure(WsGlobal *g, int times, const char *format, ...) G_GNUC_PRINTF(3, 4);
void ws_global_pieces(WsGlobal *g);
/* The box that an operation moves, tensor dimension 0 first; FALSE if it is none. */
gboolean ws_global_box(const WsProgram *p, const WsOp *op, gint64 *size);

/* --- axes.c, cover.c ---------------------------------------------------------------------------
 */
/* Tiles that stand for several coordinates (bh / H and bh % H) as several axes. */
void ws_global_split_axes(WsGlobal *g);
/* Where r is the same for all tiles, (x + r) % E is an axis of extent E as x is, the same numbers
 * in another order. TRUE if *a has it: *a names it by the new atom *y then, and x, if at all,
 * inside of other atoms alone. */
gboolean ws_global_turn(WsGlobal *g, guint x, WsPoly *a, guint *y);
/* Every element is written once; else g->problem says what could not be shown. */
gboolean ws_global_covered(WsGlobal *g);
/* Different elements lie at different places, where `strides` are given. */
gboolean ws_global_injective(WsGlobal *g);

/* --- count.c: the same with numbers ------------------------------------------------------------
 */
/* Elements of integer tensors: this, + step where the first index is odd, within the range of their
 * `data`. Indices run backwards or not. */
typedef struct {
    gint64 element, step;
    gboolean backwards;
} WsGlobalData;

typedef struct {
    gint tensor;
    guint times;         /* 0: never written; 2: twice; of several, the first element */
    gboolean same_place; /* twice because its strides let two elements meet */
    gint64 element[WS_MAX_RANK], other[WS_MAX_RANK];
    const WsOp *op[2]; /* of the writes */
    char *who[2];      /* "mma.0", "load@1" */
    gint64 tile[2];    /* -1: outside of the loop over tiles */
    char *coords[2];   /* "tm 1, tn 0", or NULL */
    char *round[2];    /* "tile 3, s 1" */
    char *sizes;       /* "M = 129, N = 256, elements -1 and 1 by turns, 2 CTAs" */
    /* The launch: its sizes (WsSize), CTAs and tiles. Of the writes: agent, CTA, rounds. */
    GArray *size;
    const WsGlobalData *data; /* NULL: none is read */
    gint64 ctas, tiles;
    guint agent[2], n_rounds[2];
    gint64 cta[2], at[2][6];
} WsMiscount;
/* The kernel may read integers from a tensor. */
gboolean ws_global_reads_data(const WsProgram *p);
void ws_miscount_free(WsMiscount *m);
/* "WHO in tile 3 (tm 1, tn 0)" of one of the two: a phrase; caller frees. */
char *ws_miscount_where(const WsMiscount *m, guint which, const char *who);
typedef enum {
    WS_COUNT_ALL,   /* at many sizes */
    WS_COUNT_OWN,   /* at the design's own alone */
    WS_COUNT_TWICE, /* at many, and elements that are written twice alone */
} WsCounting;
/* Looks for sizes at which an element of `tensor` is written twice or never; NULL: none was found
 * among those tried. */
WsMiscount *ws_global_count(const WsProgram *p, gint tensor, WsCounting what, guint *tried);

G_END_DECLS
