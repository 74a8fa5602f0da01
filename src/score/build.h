/* What the parts of the scene builder share. Private to src/score. */
#pragma once

#include "program/walk.h"
#include "score/scene.h"

#define WS_GUTTER     158.0 /* left of the time area */
#define WS_MARGIN     18.0
#define WS_FOLD_WIDTH 26.0
#define WS_ROW_GAP    3.0
#define WS_STAFF_GAP  9.0

/* What an operation's expressions come to in one round (bind.c). */
typedef struct {
    guint op;
    gint32 round;
    gint64 element, use, slot, turn; /* of its barrier; -1 unknown */
    guint n_access;
    struct {
        gint64 element, stage, use;
    } access[4];
} WsBound;

typedef struct {
    guint agent, op;
    gint32 round;
} WsPlace; /* an execution */

typedef struct WsBind WsBind;

typedef struct {
    WsScene *s;
    const WsProgram *p;
    const WsTrace *t;       /* main trace */
    const WsTrace *overlay; /* drawn under it, or NULL */
    const WsSceneOptions *o;
    guint cta;
    gint lead_agent;      /* the agent that sets the pace, -1 none */
    gint lead_op;         /* its mma (or busiest) operation */
    gint32 tile0, tile1;  /* tiles shown: first, last */
    gint64 shift[2];      /* per segment: main time = overlay time + shift */
    GArray *seen;         /* WsTraceRecord*: records of the main trace in the window, by start */
    GArray *seen_overlay; /* same of the overlay */
    GHashTable *item_of;  /* WsPlace* -> id of the item that shows its effect (main trace) */
    guint *control_row;   /* by agent; G_MAXUINT: not drawn */
    guint *drawn_as;      /* by agent: the agent whose staff stands for it */
    guint *loop_id;       /* by operation: loops with equal paths share a number */
    GHashTable *base;     /* (agent, loop, tile) -> first total + 1: see ws_build_round_index() */
    WsBind *bind;
    double y;
    char *fold_note;
} WsBuild;

/* One tile of the leading operation, in order of time. */
typedef struct {
    gint32 tile;
    guint agent;
    gint64 from;
    guint n;         /* rounds */
    gint32 round[4]; /* totals of the rounds 0, 1, n-2, n-1 (clamped) */
} WsTileSpan;

/* window.c */
GArray *ws_window_tiles(const WsBuild *b, const WsTrace *t); /* WsTileSpan, by time */
const char *ws_window_loop(const WsBuild *b);                /* name of the leading loop: "k" */
void ws_window_choose(WsBuild *b);
void ws_window_map(WsBuild *b);     /* segments -> pixels, ticks */
void ws_window_collect(WsBuild *b); /* seen, seen_overlay */
/* band.c */
void ws_window_bands(WsBuild *b);

/* bind.c: values of the operations' expressions in the tiles shown; NULL if they cannot be told */
WsBind *ws_bind_new(const WsBuild *b);
void ws_bind_free(WsBind *bind);
const WsBound *ws_bind_get(const WsBind *bind, guint op, gint32 round);
/* Executions that contribute to completion `turn` of a barrier's slot; NULL if none. For arrivals,
 * which are not recorded, the place of the last recorded operation before them. */
const GArray *ws_bind_contributors(const WsBind *bind, guint barrier, gint64 element, gint64 slot,
                                   gint64 turn);

/* staff.c, ring.c, unit.c, edge.c, furniture.c */
void ws_staff_build(WsBuild *b);
void ws_ring_build(WsBuild *b);
void ws_unit_build(WsBuild *b);
void ws_edge_build(WsBuild *b);
void ws_furniture_head(WsBuild *b);
void ws_furniture_foot(WsBuild *b);

guint ws_staff_item(const WsBuild *b, guint agent, guint op, gint32 round); /* id, 0 none */

/* round.c: totals count on over the tiles; a picture wants "k 3" of this tile */
void ws_round_init(WsBuild *b);
void ws_round_free(WsBuild *b);
gint ws_round_index(const WsBuild *b, const WsTraceRecord *r); /* -1 outside inner loops */
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
WsItemKind ws_item_kind_of(WsOpKind kind);
const WsTrace *ws_build_trace(const WsBuild *b, gboolean overlay);
/* Main time of a record's time; -1 stays. */
gint64 ws_build_time(const WsBuild *b, gboolean overlay, gint64 t);
char *ws_group_digits(gint64 n); /* "136 500" with thin gaps */

static inline const WsTraceRecord *ws_seen(const GArray *list, guint i)
{
    return g_array_index(list, const WsTraceRecord *, i);
}
