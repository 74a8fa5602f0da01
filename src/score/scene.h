/* The scene: the score of a program as items with ids and geometry, without any drawing. The same
 * scene is painted to a file (ws_scene_save) and turned into widgets by the studio.
 *
 * x is time in cycles of the main trace (the predicted one if there is one), mapped to pixels by
 * segments with folds between; y is rows. Lengths are pixels (points in PDF). The scene owns
 * everything it holds and keeps references to the traces. */
#pragma once

#include "base/phrase.h"
#include "program/forward.h"
#include "program/op_kind.h"
#include "trace/stats.h"
#include "trace/trace.h"

#include <cairo.h>

G_BEGIN_DECLS

/* The second bit: high contrast. */
typedef enum {
    WS_THEME_LIGHT,
    WS_THEME_DARK,
    WS_THEME_LIGHT_CONTRAST,
    WS_THEME_DARK_CONTRAST
} WsTheme;
static inline gboolean ws_theme_dark(WsTheme theme)
{
    return theme & 1;
}
static inline gboolean ws_theme_contrast(WsTheme theme)
{
    return theme & 2;
}

/* What an item shows; colour, letter and hatch of each lie in kind.def. */
typedef enum {
#define WS_ITEM(id, text, letter, hatch, ...) WS_ITEM_##id,
#include "score/kind.def"
#undef WS_ITEM
    WS_ITEM_KIND_COUNT
} WsItemKind;
const char *ws_item_kind_text(WsItemKind kind); /* English */
const char *ws_item_kind_text_on(WsItemKind kind,
                                 gboolean halves); /* as a scene's units are named */
WsItemKind ws_item_kind_of(WsOpKind kind); /* OTHER: bookkeeping that takes no time of its own */

typedef enum {
    WS_SHAPE_HEAD,   /* solid: the agent does it, or issues it */
    WS_SHAPE_FLIGHT, /* solid to `head`, hatched after it: in flight */
    WS_SHAPE_WAIT,   /* hollow: the agent stands still */
    WS_SHAPE_SLOT,   /* state of one stage of a ring */
    WS_SHAPE_LEVEL,  /* load of a unit: filled to `level` of its height */
    WS_SHAPE_DENSE,  /* many executions, each less than 2 pixels: no step of its own */
    WS_SHAPE_NOTE,   /* no execution: why nothing is drawn here, in words */
} WsItemShape;

typedef struct {
    guint id; /* position in the scene's items + 1 */
    WsItemKind kind;
    WsItemShape shape;
    gboolean measured;
    guint op;         /* WsOp.index; G_MAXUINT for ring states and unit levels */
    const char *step; /* step id, or NULL; owned by the scene's trace */
    guint agent;
    gint32 tile, round;
    gint64 start, issued, done; /* cycles, in the time of its own trace; -1 unknown */
    guint row;
    double x, y, w, h;
    double head;  /* FLIGHT: pixels from x that are solid */
    double level; /* LEVEL: 0..1; DENSE: weight of its kind */
    guint n;      /* DENSE: executions merged */
    /* Measured: 60 % of the executions of this step took p20 to p80 cycles (its bar's cycles); low
     * and high are where that lies, in pixels from x. n_runs 0: too few to say. */
    gint64 p20, p80;
    guint n_runs;
    double low, high;
    gint turn;      /* SLOT: turn of the use that holds the stage, -1 unknown: its parity tints */
    char *label;    /* text for inside the item, short enough for it; or NULL */
    double label_x; /* where it begins, from x; 0: the painter's margin */
    char *tip;      /* all of it in words */
} WsSceneItem;

typedef enum { WS_ROW_CONTROL, WS_ROW_ASYNC, WS_ROW_MEASURED, WS_ROW_RING, WS_ROW_UNIT } WsRowKind;
typedef struct {
    WsRowKind kind;
    guint staff;
    double y, h;
    char *label; /* in the gutter; may be NULL */
} WsSceneRow;

/* A group of rows with a name: agents (replicas that coincide share one), rings, units. */
typedef struct {
    char *name, *detail;
    char *object; /* of a ring: its first buffer in the design; else NULL */
    double y, h;
    guint first_row, n_rows;
    guint n_agents; /* 0 for rings and units */
    guint agent[16];
    WsItemKind kind; /* accent colour */
    gboolean flat;   /* one row: the detail stands beside the name */
} WsSceneStaff;

typedef struct {
    guint from, to;       /* item ids; 0 none */
    guint from_op, to_op; /* WsOp.index: what contributed last, and the wait */
    guint from_agent, to_agent;
    guint from_cta; /* index into the main trace's CTAs: another one than is shown, on whose score
                       it begins; G_MAXUINT: this one */
    gint32 from_tile, from_round; /* of what contributed; -1 outside of loops */
    double x0, y0, x1, y1;
    gint64 exposed;   /* cycles the wait stood still */
    gboolean binding; /* the wait was there first: it stood still for this */
    gboolean release, measured;
    gboolean joined; /* it begins on a scene that is drawn with this one: y0 is there */
    char *origin;    /* "device 1, CTA 0: notify done", where it begins on another score; or NULL */
    char *label;     /* "full[2] ph 1", or NULL where there is no room */
    double label_x, label_y;
} WsSceneEdge;

/* A round of the barrier that both halves of a group join: a line across their staffs where both go
 * on. */
typedef struct {
    double x, y0, y1;
    double label_y; /* foot of its number, between the staffs */
    gboolean labelled;
    gint64 at;
    guint number;    /* of the round, from 1 */
    guint op[2];     /* WsOp.index: where the lower and the upper half joined, */
    gint32 round[2]; /* and in which round of their loops */
} WsSceneMeet;

typedef struct WsSceneSegment {
    gint64 t0, t1;
    double x0, x1;
    gint64 shift; /* main time = measured time + shift in here, where both are drawn */
} WsSceneSegment;
typedef struct {
    double x0, x1;
    char *label;
} WsSceneFold;
typedef struct {
    double x;
    char *label; /* NULL: minor */
    gint64 t;
} WsSceneTick;
typedef struct {
    double x0, x1, y, h;
    gboolean odd;
    char *label;
} WsSceneBand; /* rounds and tiles of the leading agent */

/* Where a pointer means an item: a narrow step more than it covers, if need be above or below its
 * neighbour. */
#define WS_SCENE_TARGET 12.0 /* units that a narrow step is given, both ways */
typedef struct {
    double x0, y0, x1, y1; /* of a narrow step */
    double port;           /* from there on an edge begins; x1: none does */
    guint shared;          /* so many have less than WS_SCENE_TARGET there; 0: it is enough */
    double given, above;   /* of a wide one: how much of its end, and of the upper half of it, is of
                            * narrow ones */
} WsSceneZone;

typedef enum { WS_TEXT_TITLE, WS_TEXT_SUB, WS_TEXT_NOTE } WsTextRole;
typedef struct {
    WsTextRole role;
    double x, y; /* baseline, left */
    char *text;
} WsSceneText;

/* What scenes of the same traces share (found once, used by each): where tiles and rounds begin,
 * what the operations' expressions come to, and how many rows each staff has had so far, so that
 * rows stay where they are while the window moves. Private to src/score. */
typedef struct WsScoreCache WsScoreCache;
WsScoreCache *ws_score_cache_new(void);
void ws_score_cache_free(WsScoreCache *cache);
/* A new cache begins with the rows that the scenes of another one had, where its program has as
 * many agents and buffers. `held`: and none is added to them, what needs more shares the last. */
void ws_score_cache_keep_rows(WsScoreCache *cache, const WsScoreCache *from, gboolean held);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsScoreCache, ws_score_cache_free)

typedef struct {
    double width, height; /* page; 0: 1600 wide, as high as it needs */
    guint cta;            /* index into the main trace's CTAs */
    guint overlay_cta;    /* and into those of the trace under it */
    gint64 from, to;      /* cycles to show; both 0: the opening window */
    gboolean no_edges;
    /* By operation: cycles of the special-function unit (MUFU) that one execution takes, as the
     * clock counts them; borrowed for the call. NULL: no lane of that unit. */
    const double *special;
    const char *bound;         /* overrides the trace's */
    WsTranslate translate;     /* of the words on the page; NULL: English */
    const WsTraceStats *stats; /* of the main trace, if the caller has them already; borrowed for
                                  the call */
    /* For a window on screen: the time area alone fills `width` (from x = 0, no margins, title,
     * legend or notes), times are shown exactly as asked for, executions narrower than 2 pixels are
     * merged. */
    gboolean bare;
    WsScoreCache *cache; /* or NULL; borrowed, for one program and pair of traces at a time */
    gboolean hasty;      /* leave out what must be worked out first (edges, stages) */
    gboolean no_tips;    /* items without words: nobody can point at them */
    gboolean no_units;   /* without the rows of units: they are shown elsewhere */
    /* Heights of the page that are in sight (both 0: all): staffs elsewhere keep the rows that they
     * had in the cache and have no items. */
    double sight0, sight1;
    /* While something is dragged: the opening window has the segments of the score before the drag
     * (borrowed for the call), if it has as many, each `later` cycles later; and the ruler is that
     * of the score before, in a window that is given as well. */
    const struct WsSceneSegment *hold;
    guint n_hold;
    gint64 later[2]; /* by segment */
    /* Axis Order: distinct times, ascending; each takes the same width. Kept by the caller as
     * long as the scene lives. Both 0: time is linear. */
    const gint64 *knot;
    guint n_knots;
} WsSceneOptions;

typedef struct {
    double width, height;
    double left, right;            /* of the time area */
    double top, bottom;            /* of the rows */
    WsTrace *predicted, *measured; /* references, may be NULL */
    guint cta;                     /* index into the main trace's CTAs */
    GArray *item;                  /* WsSceneItem */
    GArray *row;                   /* WsSceneRow */
    GArray *staff;                 /* WsSceneStaff */
    GArray *edge;                  /* WsSceneEdge */
    GArray *meet;                  /* WsSceneMeet, in order */
    GArray *segment;               /* WsSceneSegment */
    GArray *fold;                  /* WsSceneFold */
    GArray *tick;                  /* WsSceneTick */
    GArray *band;                  /* WsSceneBand */
    GArray *text;                  /* WsSceneText */
    gboolean used[WS_ITEM_KIND_COUNT];
    double axis_y, legend_y;
    const gint64 *knot; /* as in the options */
    guint n_knots;
    WsTranslate translate;    /* as in the options */
    const WsTarget *hardware; /* whose words the page has; NULL: those of a GPU */
    gboolean bare;
    gboolean halves;   /* of a target whose groups are two halves: its units have other names */
    gboolean crowded;  /* some lanes have too many records for single executions */
    gboolean partial;  /* hasty, and something was left out */
    gint64 shift;      /* main time = measured time + shift, where both are drawn */
    WsSceneZone *zone; /* by item; NULL: not asked for yet */
} WsScene;

/* At least one trace; with both, `measured` is drawn under `predicted`. Traces of another design
 * than `p` are left out and the footnote says so. Never NULL. */
WsScene *ws_scene_new(const WsProgram *p, WsTrace *predicted, WsTrace *measured,
                      const WsSceneOptions *options);
void ws_scene_free(WsScene *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsScene, ws_scene_free)
/* Pixel of a time of the main trace; times inside a fold map into the fold. */
double ws_scene_x(const WsScene *s, gint64 t);
/* The time at a pixel; in a fold, the end of the segment before it. */
double ws_scene_time(const WsScene *s, double x);
/* Position of a time on the axis Order (and back): index of the knot before it and how far it is
 * to the next one. */
double ws_order_of(const gint64 *knot, guint n, double t);
double ws_order_time(const gint64 *knot, guint n, double at);
/* The rounds of the group that sets the pace, in order of time; of very many tiles the tiles alone
 * (round -1). `loop` (or NULL) takes the name of the loop. Free with g_array_unref(). */
typedef struct {
    gint32 tile, round; /* round: as people count them, from 0 in each tile */
    gint64 from;
} WsScoreRound;
/* Of a measured trace whose rounds cannot be told apart there are none. */
GArray *ws_score_rounds(const WsProgram *p, WsTrace *t, guint cta, char **loop);
/* The sentence that says why rounds cannot be counted (ws_trace_rounds_unknown), to be translated.
 */
const char *ws_score_claims_text(void);
/* The sentence that says why it is not known what stands between two records of an agent
 * (ws_trace_between_unknown), to be translated; NULL: it is known. */
const char *ws_score_between_text(const WsProgram *p, const WsTrace *t);
/* Share of a CTA's cycles in which the tensor core had work in flight; NAN: it is not known. */
double ws_score_tensor_share(const WsTrace *t, guint cta);
/* Distinct times at which something begins or ends on a CTA of a trace; free with g_array_unref. */
GArray *ws_order_knots(const WsTrace *t, guint cta); /* gint64 */
/* Does time t lie in a segment, not in a fold? */
gboolean ws_scene_shows(const WsScene *s, gint64 t);
/* The item at a place, the topmost if several; NULL if none. Items have a margin of 3, narrow steps
 * their zones. */
const WsSceneItem *ws_scene_hit(WsScene *s, double x, double y);
/* The edge from another CTA at whose beginning a place is; NULL none. */
const WsSceneEdge *ws_scene_hit_origin(const WsScene *s, double x, double y);
const WsSceneZone *ws_scene_zone(WsScene *s, const WsSceneItem *item); /* of this scene */
gboolean ws_scene_narrow(const WsSceneItem *item);
gboolean ws_scene_draws(const WsTrace *t, const WsTraceRecord *r); /* an execution has a bar */

/* Painting. The painter draws the whole page, background included. */
void ws_scene_paint(const WsScene *s, cairo_t *cr, WsTheme theme);
/* The same in parts, for widgets that keep them apart. `how` (or NULL) has
 * one byte per item. */
enum { WS_PAINT, WS_PAINT_SKIP, WS_PAINT_DIM, WS_PAINT_STRONG };
typedef enum {
    WS_LAYER_STAFFS, /* panels; from x = 0 to `width` */
    WS_LAYER_GRID,   /* ticks' lines */
    WS_LAYER_ITEMS,  /* items that `how` does not skip, and folds */
    WS_LAYER_EDGES,  /* edges and their labels */
    WS_LAYER_RULER,  /* ticks' labels, tiles, rounds */
    WS_LAYER_GUTTER, /* names of staffs and rows, in `width` */
} WsSceneLayer;
void ws_scene_paint_layer(const WsScene *s, cairo_t *cr, WsTheme theme, WsSceneLayer layer,
                          double width, const guint8 *how);
/* The edges that begin on another scene, which are no part of the page of either. */
void ws_scene_paint_joined(const WsScene *s, cairo_t *cr, WsTheme theme);
/* What items of a kind look like, in a rectangle; and an edge from its top to its foot. */
void ws_scene_paint_sample(cairo_t *cr, WsTheme theme, WsItemKind kind, double x, double y,
                           double w, double h);
void ws_scene_paint_edge_sample(cairo_t *cr, WsTheme theme, gboolean release, double x, double y,
                                double h);
void ws_scene_paint_flag_sample(cairo_t *cr, WsTheme theme, double x, double y, double h);
/* By the file's ending: .svg, .pdf, .png (twice the pixels). Temporary file and rename. */
gboolean ws_scene_save(const WsScene *s, const char *file, WsTheme theme, GError **error);
/* The same of `n` scenes, one below the other; edges that begin on one of them are joined first. */
gboolean ws_scene_save_below(WsScene *const *scene, guint n, const char *file, WsTheme theme,
                             GError **error);

G_END_DECLS
