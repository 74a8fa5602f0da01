/* What the scenarios of composing do with their hands: rows of the structure, fields of the
 * inspector, adding by name, steps and edges on the score; and what comes out as PTX. Every call
 * returns when the answer of the document is there. */
#pragma once

#include "scenario.h"
#include "ui/panels/structure.h"

G_BEGIN_DECLS

void hands_settle(Scenario *s); /* the answer is that of the newest design, and on screen */
char *hands_text(Scenario *s);  /* the newest design as it would be saved; caller frees */
/* Begins with a copy of a design of the source tree, which has no file yet. */
void hands_begin(Scenario *s, const char *path);
void hands_begin_empty(Scenario *s); /* New, by keyboard: a design without objects */
/* Pictures of the window, NAME.png and NAME-dark.png, into the folder $WARPSTAVE_SHOTS if that is
 * set: those of the manual (./dev pictures). */
void hands_shot(Scenario *s, const char *name);
void hands_shot_as_is(Scenario *s, const char *name);    /* in the colours that are chosen */
void hands_shot_of(GtkWidget *window, const char *name); /* of another window */
WsTimeline *hands_timeline(Scenario *s);

/* --- inspector, structure, dialogues -------------------------------------------------------------
 */
void hands_scroll_to(Scenario *s, GtkWidget *widget); /* the wheel, until it is in sight */
void hands_type_field(Scenario *s, const char *key, const char *text);
void hands_choose_field(Scenario *s, const char *key, const char *word);
WsStructure *hands_structure(Scenario *s); /* brought into view if it is not */
void hands_select_row(Scenario *s, const char *label, guint nth); /* of the structure */
void hands_add_row(Scenario *s, const char *label, guint nth);    /* to the selection */
void hands_select(Scenario *s, const char *step, gboolean add);   /* by its id */
GtkWindow *
hands_dialogue(Scenario *s); /* waits for the one that opens, and gives it the keyboard */
/* A double click on its row of the palette: the same. */
void hands_pick(Scenario *s, const char *what);
/* Insert, the name, Return: it stands behind the selection and is selected. */
void hands_add(Scenario *s, const char *what);

/* --- the score -----------------------------------------------------------------------------------
 */
/* An execution in view on its agent's own line whose left edge is beyond `from`; round and agent
 * -1: any. The first one, or the widest one if `widest`. */
typedef struct {
    const char *step;
    gint32 tile, round, agent;
    double from;
    gboolean widest;
} HandsItem;
const WsSceneItem *hands_find(Scenario *s, HandsItem what);
/* Where it is on the canvas: `at` of its width. */
void hands_place(Scenario *s, const WsSceneItem *item, double at, double *x, double *y);
/* Shows so many cycles around an execution of a step; round and agent -1: any. */
void hands_zoom_to(Scenario *s, const char *step, gint32 tile, gint32 round, double cycles);
/* The same around the first execution of `first` with which one of `second` is in view. */
gboolean hands_find_pair(Scenario *s, const char *first, const char *second, double cycles,
                         const WsSceneItem **from, const WsSceneItem **to);
void hands_press(Scenario *s, double x, double y);
void hands_glide(Scenario *s, double x0, double y0, double x1, double y1);
void hands_let_go(Scenario *s);
/* From the port of one execution to the middle of another, held there. */
void hands_draw_edge(Scenario *s, const WsSceneItem *from, const WsSceneItem *to);
guint hands_states(Scenario *s); /* states of the history up to this one */

/* --- code ----------------------------------------------------------------------------------------
 */
/* PTX of a design's file without comments (they hold ids and names); NULL: this build has no code
 * generation. Caller frees. */
char *hands_ptx_of(const char *path);
/* The newest design gives the PTX of that design of the source tree; skipped without code
 * generation. */
void hands_assert_same_ptx(Scenario *s, const char *reference);
void hands_assert_same_amdgpu(Scenario *s, const char *reference); /* likewise the assembly */

G_END_DECLS
