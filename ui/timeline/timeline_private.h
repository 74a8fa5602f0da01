/* What the files of the score widget share. */
#pragma once

#include "score/scene.h"
#include "ui/timeline/timeline.h"
#include "ui/timeline/timeline_view.h"

G_BEGIN_DECLS

#define WS_TIMELINE_GUTTER 184.0 /* pixels left of the time area */
#define WS_TIMELINE_RIGHT  10.0  /* and right of it */
#define WS_MAX_BLOCKS      700   /* widgets at most */

#define WS_TYPE_CANVAS ws_canvas_get_type()
G_DECLARE_FINAL_TYPE(WsCanvas, ws_canvas, WS, CANVAS, GtkWidget)
#define WS_TYPE_BLOCK ws_block_get_type()
G_DECLARE_FINAL_TYPE(WsBlock, ws_block, WS, BLOCK, GtkWidget)
#define WS_TYPE_MINIMAP ws_minimap_get_type()
G_DECLARE_FINAL_TYPE(WsMinimap, ws_minimap, WS, MINIMAP, GtkWidget)

/* One execution, or one state of a stage, that has a widget. Owns its strings. */
struct _WsBlock {
    GtkWidget parent;
    WsTimeline *timeline; /* borrowed: its ancestor */
    WsSceneItem item;     /* x: the fraction of a pixel; y: 0 */
    double at_x, at_y;    /* in the scene */
    gboolean used, selected;
};

typedef enum {
    WS_DRAG_NONE,
    WS_DRAG_CLICK,
    WS_DRAG_MARQUEE,
    WS_DRAG_RANGE,
    WS_DRAG_PAN,
    WS_DRAG_GESTURE /* gesture.h */
} WsDragKind;

/* A drag that was let go: the view went so many cycles along the axis with what is shown. */
typedef struct {
    WsDesign *before, *after; /* references */
    gint64 later;
} WsGone;

struct _WsTimeline {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *stack, *canvas, *hbar, *vbar, *minimap, *table, *message, *outline;
    GtkAdjustment *h, *v;
    gboolean adjusting;

    WsPane view;
    WsScoreCache *cache;
    gboolean rows_held;  /* as they were when something began to be dragged */
    WsTrace *main_trace; /* reference: what the cache is for */
    GArray *knots;       /* gint64, of the axis Order; NULL until asked for */
    GtkWidget *heat;     /* strip of the SMs */
    GtkWidget *units;    /* rows of the units, at the foot */
    guint cta;           /* index into the CTAs of the measured trace, else of the predicted one */
    double *special;     /* by operation: cycles of the MUFU; NULL unknown */
    GArray *rounds;      /* WsScoreRound of the main trace; NULL until asked for */
    char *loop;          /* name of their loop */
    gboolean linked, following; /* moves with other views; is being moved by one */
    gboolean order, no_edges;
    double page_scale; /* pixels of one unit of the page: the text scale */

    WsScene *scene;
    double scene_unit;        /* unit at the scene's x = 0 (plain) */
    double scene_scale;       /* pixels per unit it was made for; 0: folded */
    guint8 *how;              /* by item: WS_PAINT_… */
    GArray *candidate;        /* guint: items that are blocks when in view */
    GPtrArray *block;         /* WsBlock, all there are */
    WsBlock **block_of;       /* by item */
    guint settle, tick;       /* sources */
    gboolean loose;           /* zooming: everything is painted, the blocks wait */
    gint64 build_cost;        /* microseconds of the last scene */
    gint64 full_cost, zoomed; /* cost of the last complete scene; time of the last zoom */
    const WsTrace *hurried;   /* whose first scene was made; only compared, never read */
    double unit_of_zoom;      /* pixels per cycle at the opening zoom … */
    double length_of_zoom;    /* … of a score of this length */

    GskRenderNode *node[8];              /* by layer; NULL: to be made */
    double node_width, node_y0, node_y1; /* rows that the nodes hold: scene's y */

    /* pointer */
    double pointer_x, pointer_y; /* < 0: outside */
    gboolean space;
    WsDragKind drag;
    double drag_x, drag_y, drag_dx, drag_dy;
    double drift_x, drift_y; /* pixels that the score has moved under the drag */
    gint64 drift_time;       /* frame time of the last move, 0 none yet */
    guint drift;             /* tick callback, 0 none */
    double pan_x, pan_y, pinch;
    GtkWidget *menu;
    GtkWidget *crowd; /* what lies too close to be pointed at, to choose from; or NULL */
    WsFocus anchor;   /* of Shift+click; step owned */
    char *anchor_step;
    gboolean fitted;                /* F again */
    guint drop_item;                /* id of the item beside which a drop would go, 0 none */
    gboolean drop_behind;           /* behind it */
    struct WsCompareScore *compare; /* marks of what differs from another design */
    struct WsGesture *gesture;      /* while something is edited by hand, else NULL */
    GArray *gone;                   /* WsGone: drags after which the view went along; NULL: none */
    WsDesign *of_scene;             /* the design that was shown last; reference */
    gint64 later[2]; /* by segment: what is tried is so much later than the score before; else 0 */
};

/* timeline_page.c: the page grows with the text. What a scene, a view and the fields of the pointer
 * count are units of the page; events and allocations are pixels. */
void ws_timeline_page_follow(WsTimeline *t); /* the text scale, now and when it changes */
void ws_timeline_page(WsTimeline *t, double *x,
                      double *y); /* pixels -> units; NULL: not that one */
void ws_timeline_page_area(WsTimeline *t, GdkRectangle *area, double x, double y, double w,
                           double h); /* units -> pixels */

/* timeline_cta.c: which CTA is shown, and its rounds */
guint ws_timeline_cta_of(WsTimeline *t, const WsTrace *trace); /* index into that trace's CTAs */
void ws_timeline_cta_reset(WsTimeline *t);                     /* the traces are new */
void ws_timeline_cta_changed(WsTimeline *t);
void ws_timeline_step_cta(WsTimeline *t, gint by);
void ws_timeline_step_round(WsTimeline *t, gint by, gboolean tile);

/* timeline_tip.c: what is under the pointer; caller frees */
char *ws_timeline_tip(WsTimeline *t, const WsSceneItem *item);

/* timeline_origin.c: edges that begin on the score of another CTA. The edge whose beginning is at a
 * place of the canvas, or NULL; what it is, in words (caller frees); shows that CTA, with the step
 * selected: FALSE if it is none of those that can be shown. */
const WsSceneEdge *ws_timeline_origin(WsTimeline *t, double x, double y);
char *ws_timeline_origin_tip(WsTimeline *t, const WsSceneEdge *e);
gboolean ws_timeline_go_to_origin(WsTimeline *t, const WsSceneEdge *e);

/* timeline_link.c: views that show the same time */
void ws_timeline_link_moved(WsTimeline *t); /* after every move of a view */
void ws_timeline_unlink(WsTimeline *t);

/* timeline_scene.c */
void ws_timeline_reset(WsTimeline *t);          /* the document is new */
void ws_timeline_retake(WsTimeline *t);         /* it was edited: the view stays where it is */
void ws_timeline_refresh(WsTimeline *t);        /* the view moved: before the next frame */
void ws_timeline_sync(WsTimeline *t);           /* now: scene and blocks follow the view */
WsScene *ws_timeline_take_scene(WsTimeline *t); /* the caller's now; a new one will be made */
void ws_timeline_drop_nodes(WsTimeline *t);
double ws_timeline_offset(WsTimeline *t); /* scene x + offset = x in the time area */
double ws_timeline_unit_of(WsTimeline *t, double cycle);
double ws_timeline_cycle_of(WsTimeline *t, double unit);
double ws_timeline_cycle_of_ruler(WsTimeline *t, double x); /* what the ruler says there */
gboolean ws_timeline_mark(WsTimeline *t); /* selection into `how` and the blocks */
const WsSceneItem *ws_timeline_item(WsTimeline *t, guint i);
/* Item at a place of the canvas; NULL if none, or not in the time area. */
const WsSceneItem *ws_timeline_hit(WsTimeline *t, double x, double y);
double ws_timeline_ghz(WsTimeline *t);            /* 0 unknown */
void ws_timeline_unfold(WsTimeline *t, double x); /* plain, with the same scale about x */

/* timeline_block.c */
GtkWidget *ws_block_new(WsTimeline *t);
void ws_block_take(WsBlock *b, const WsSceneItem *item);
void ws_block_mark(WsBlock *b, gboolean selected);
char *ws_item_name(const WsSceneItem *item); /* accessible name; caller frees */

/* timeline_canvas.c */
GtkWidget *ws_canvas_new(WsTimeline *t);

/* timeline_words.c: in the gutter, in the current colour */
void ws_timeline_words(cairo_t *cr, double x, double baseline, double size, const char *text);
/* The same with its end at x. */
void ws_timeline_words_end(cairo_t *cr, double x, double baseline, double size, const char *text);

/* timeline_units.c */
GtkWidget *ws_timeline_units_new(WsTimeline *t);
void ws_timeline_units_changed(WsTimeline *t); /* what is known of them is new */

/* timeline_input.c */
void ws_timeline_input_attach(WsTimeline *t);
void ws_timeline_popup(WsTimeline *t, double x, double y);
void ws_timeline_drag_moved(WsTimeline *t); /* range and rubber band follow the drag */
void ws_timeline_focus_of(const WsSceneItem *item, WsFocus *focus);

/* timeline_crowd.c: steps too close to be pointed at one by one. A list of those at a place of the
 * canvas; FALSE: that item can be pointed at. */
gboolean ws_timeline_crowd(WsTimeline *t, const WsSceneItem *item, double x, double y);
/* The execution that is selected, where it is crowded; at a place of the scene. */
const WsSceneItem *ws_timeline_chosen_at(WsTimeline *t, double x, double y);

/* timeline_drop.c */
void ws_timeline_drop_attach(WsTimeline *t);
void ws_timeline_drop_snapshot(WsTimeline *t, GtkSnapshot *s);

/* timeline_drift.c */
void ws_timeline_drift(WsTimeline *t); /* begins if the drag is near an edge; ends by itself */

/* timeline_keys.c */
void ws_timeline_install_actions(GtkWidgetClass *class);
void ws_timeline_reveal(WsTimeline *t);
void ws_timeline_step_along(WsTimeline *t, gint by);
void ws_timeline_follow(WsTimeline *t, gboolean forward);
void ws_timeline_select_range(WsTimeline *t, const WsFocus *to); /* from the anchor, in a lane */

/* timeline_minimap.c, timeline_table.c, timeline_outline.c */
GtkWidget *ws_minimap_new(WsTimeline *t);
void ws_minimap_reset(WsMinimap *m);
GtkWidget *ws_timeline_heat_new(WsTimeline *t);
void ws_timeline_heat_reset(WsTimeline *t);
GtkWidget *ws_timeline_table_new(WsTimeline *t);
void ws_timeline_table_reset(WsTimeline *t);
GtkWidget *ws_timeline_outline_new(WsTimeline *t);
void ws_timeline_outline_reset(WsTimeline *t);

G_END_DECLS
