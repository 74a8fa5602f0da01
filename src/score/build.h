/* What the parts of the scene builder share. Private to src/score. */
#pragma once

#include "program/walk/walk.h"
#include "score/scene.h"
#include "trace/bind.h"
#include "trace/let_go.h"

#define WS_GUTTER          158.0 /* left of the time area */
#define WS_MARGIN          18.0
#define WS_FOLD_WIDTH      26.0
#define WS_ROW_GAP         3.0
#define WS_STAFF_GAP       9.0
#define WS_EDGE_LABEL_SIZE 9.5 /* of the text beside an edge */

guint ws_place_hash(gconstpointer place);
gboolean ws_place_equal(gconstpointer a, gconstpointer b);

/* A lane with too many records in the window: they are merged, not drawn one by one. */
typedef struct {
    guint segment, agent;
    gboolean overlay;
    guint64 lo, hi; /* records of the trace */
} WsDense;

/* cover.c: use of something over time */
typedef struct WsScoreCover WsScoreCover;

/* spread.c: cycles of the executions of a step of an agent */
typedef struct {
    guint n; /* executions */
    gint64 held20, held80, flown20, flown80;
} WsSpread;

/* Rows that the scenes of another program had. */
typedef struct {
    guint n_agents, n_buffers;
    guint8 (*tracks)[2][WS_ITEM_KIND_COUNT];
    guint8 *staff;
    GArray *stage;
    gboolean unit[3], measured_row;
} WsScoreRows;
struct WsScoreCache {
    const WsProgram *p; /* what it is for; compared, not used */
    const WsTrace *t, *overlay;
    guint cta, overlay_cta;
    guint n_agents, n_buffers; /* of the program */
    gboolean lead_known;
    gint lead_agent, lead_op;
    GArray *tiles[2];  /* WsTileSpan of the main trace and of the overlay */
    GHashTable *shift; /* tile + 2 -> gint64* */
    guint *loop_id;
    GHashTable *base;
    WsBind *bind;
    gint32 bind0, bind1;       /* tiles that `bind` covers */
    gint32 *bind_lo, *bind_hi; /* rounds that it covers, by operation; NULL: all */
    GArray *rounds;            /* of the strip: band.c, of the tiles [rounds0, rounds1]; or NULL */
    gint32 rounds0, rounds1;
    gboolean bind_tried, bind_all;           /* looked for; covers the whole CTA */
    guint8 (*tracks)[2][WS_ITEM_KIND_COUNT]; /* by agent: rows, of the main trace and the overlay */
    double *height;                          /* by agent: of its staff, in the last scene */
    guint8 *staff;                           /* by agent: 1 had a staff of its own, 2 folded */
    gboolean measured_row;
    WsLetGo *let_go[2]; /* of the main trace and the overlay */
    gboolean let_go_tried[2];
    guint claims;  /* claims.c: what was found of launches that claim tiles, 0: not asked yet */
    GArray *stage; /* WsStageKey, in order of appearance */
    GHashTable *ring_same; /* name pair -> 1 same, 2 not */
    gboolean unit[3];
    WsScoreRows *rows_of;        /* ws_score_cache_keep_rows(): to begin with; or NULL */
    gboolean held, fits;         /* no row comes to those; they are this program's rows, too */
    WsScoreCover *unit_cover[3]; /* NULL: not asked for yet */
    GPtrArray *stage_cover;      /* WsScoreCover, as `stage`; only where every use is known */
    GHashTable *buffer_cover;    /* buffer + 1 -> WsScoreCover */
    GHashTable *spread[2];       /* of the main trace and the overlay: agent + 1 -> WsSpread[op] */
};
typedef struct {
    guint buffer;
    gint64 element, stage;
} WsStageKey;
void ws_score_cache_for(WsScoreCache *c, const WsProgram *p, const WsTrace *t,
                        const WsTrace *overlay, guint cta, guint overlay_cta);

typedef struct {
    WsScene *s;
    const WsProgram *p;
    const WsTrace *t;       /* main trace */
    const WsTrace *overlay; /* drawn under it, or NULL */
    const WsSceneOptions *o;
    guint cta, overlay_cta;
    gint lead_agent;      /* the agent that sets the pace, -1 none */
    gint lead_op;         /* its mma (or busiest) operation */
    gint32 tile0, tile1;  /* tiles shown: first, last */
    gint64 shift[2];      /* per segment: main time = overlay time + shift */
    GArray *seen;         /* WsTraceRecord*: records of the main trace in the window, by start */
    GArray *seen_overlay; /* same of the overlay */
    GHashTable *item_of;  /* WsTracePlace* -> id of the item that shows its effect (main trace) */
    guint *control_row;   /* by agent; G_MAXUINT: not drawn */
    GArray **of_agent[2]; /* by agent: its records in sight, of the main trace and the overlay */
    gboolean unseen;      /* the staff that is being built is out of sight */
    guint *drawn_as;      /* by agent: the agent whose staff stands for it */
    guint *loop_id;       /* by operation: loops with equal paths share a number */
    GHashTable *base;     /* (agent, loop, tile) -> first total + 1: see ws_build_round_index() */
    WsScoreCache *cache;
    GArray *dense; /* WsDense */
    WsBind *bind;  /* of the cache; NULL: not now, or cannot be told */
    double y;
    char *fold_note;
} WsBuild;

/* One tile of the leading operation, in order of time. */
typedef struct {
    gint32 tile;
    guint agent;
    gint64 from;
    gint64 to;       /* last start of the leading operation in it */
    guint n;         /* rounds */
    gint32 round[4]; /* totals of the rounds 0, 1, n-2, n-1 (clamped) */
} WsTileSpan;

/* The CTA of a trace that is shown. */
static inline guint ws_build_cta(const WsBuild *b, const WsTrace *t)
{
    return t == b->t ? b->cta : b->overlay_cta;
}

/* window.c */
void ws_window_lead(WsBuild *b); /* lead_agent, lead_op */
/* WsTileSpan, by time; owned by the cache */
const GArray *ws_window_tiles(const WsBuild *b, const WsTrace *t);
const char *ws_window_loop(const WsBuild *b); /* name of the leading loop: "k" */
void ws_window_choose(WsBuild *b);
void ws_window_map(WsBuild *b);     /* segments -> pixels, ticks */
void ws_window_collect(WsBuild *b); /* seen, seen_overlay */
/* First record of a lane that starts at or after `time`, as a position in the trace. */
guint64 ws_window_lower(const WsTrace *t, const WsTraceLane *lane, gint64 time);
/* band.c */
void ws_window_bands(WsBuild *b);

/* dense.c: one row of merged executions of a lane */
void ws_dense_add(WsBuild *b, const WsDense *d, guint row, WsItemKind kind, gboolean flights);
/* An execution of less than 2 pixels: lengthens the row's last merged item or begins one. */
void ws_dense_merge(WsBuild *b, guint row, WsItemKind kind, double x, double w, gint64 from,
                    gint64 to, gboolean measured);
gboolean ws_dense_lane(const WsBuild *b, guint agent, gboolean overlay);

/* cover.c. Weight of a record (0: none) and when its use ends. */
typedef double (*WsCoverWeight)(const WsTraceRecord *r, gint64 *end, gpointer data);
WsScoreCover *ws_cover_new(void);
void ws_cover_free(gpointer cover);
/* Of all records of a CTA. `apart`: agents add up; else one is as good as several. */
void ws_cover_build(WsScoreCover *c, const WsTrace *t, guint cta, WsCoverWeight weight,
                    gpointer data, gboolean apart);
void ws_cover_add(WsScoreCover *c, gint64 from, gint64 to); /* by hand: ascending, then the end */
void ws_cover_end(WsScoreCover *c);
gboolean ws_cover_any(const WsScoreCover *c);
double ws_cover_share(const WsScoreCover *c, gint64 from, gint64 to); /* 0..1 of that time */
typedef struct {
    guint row;
    WsItemKind kind;
    double h;         /* 0: as high as the row */
    const char *what; /* "TMA in use": before "83 % of these 1 200 cycles" */
} WsCoverRow;
void ws_cover_draw(WsBuild *b, const WsScoreCover *c, const WsCoverRow *row);
/* More goes on here than pixels can show: levels instead of executions. */
gboolean ws_build_coarse(const WsBuild *b);

/* spread.c; NULL: too few executions */
void ws_spread_fill(const WsBuild *b, const WsTrace *t, const WsTraceRecord *r, WsSceneItem *item);

/* staff.c, ring.c, unit.c, edge.c, furniture.c */
void ws_staff_build(WsBuild *b);
void ws_ring_build(WsBuild *b);
void ws_unit_build(WsBuild *b);
void ws_edge_build(WsBuild *b);
/* edge_device.c: the edge to an await, of the main trace or of the overlay; FALSE: none is drawn */
gboolean ws_edge_of_flag(const WsBuild *b, const WsTraceRecord *wait, gboolean overlay,
                         WsSceneEdge *e);
void ws_meet_build(WsBuild *b);
void ws_furniture_head(WsBuild *b);
void ws_furniture_foot(WsBuild *b);

guint ws_staff_item(const WsBuild *b, guint agent, guint op, gint32 round); /* id, 0 none */

/* claims.c. TRUE where rounds depend on the tile and measured ones cannot be told apart, since
 * which tiles the CTA claimed is not known, or they do not lie under the predicted ones, since
 * these are of other tiles. */
gboolean ws_claims_rounds(const WsBuild *b);
/* The words for that, in a row of its own. */
void ws_claims_note(WsBuild *b);

/* round.c: totals count on over the tiles; a picture wants "k 3" of this tile */
void ws_round_init(WsBuild *b);
char *ws_round_text(const WsBuild *b, const WsTraceRecord *r); /* "k 3", or "" */

/* scene.c */
WsSceneItem *ws_build_item(WsBuild *b, WsItemKind kind, WsItemShape shape, guint row);
guint ws_build_row(WsBuild *b, WsRowKind kind, double h, const char *label);
WsSceneStaff *ws_build_staff(WsBuild *b, const char *name, const char *detail);
void ws_build_staff_end(WsBuild *b);
void ws_build_text(WsBuild *b, WsTextRole role, double x, double y, char *text); /* takes text */
/* The longest of the candidates (NULL-terminated list) that fits `width`; NULL if none. */
char *ws_build_fit(double width, double size, const char *const *candidate);
double ws_text_width_estimate(const char *text, double size);

/* Main time of a record's time; -1 stays. */
gint64 ws_build_time(const WsBuild *b, gboolean overlay, gint64 t);
/* Marks a constant text that ws_build_words() is given elsewhere. */
#define WS_MARK(text) text
/* A constant text or template in the language of the page. */
const char *ws_build_words(const WsBuild *b, const char *text) G_GNUC_FORMAT(2);
char *ws_group_digits(gint64 n); /* "136 500" with thin gaps */

static inline const WsTraceRecord *ws_seen(const GArray *list, guint i)
{
    return g_array_index(list, const WsTraceRecord *, i);
}
