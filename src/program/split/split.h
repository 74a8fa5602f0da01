/* Inside of the split (README.md): state of one, private to this folder. */
#pragma once

#include "model/build.h"
#include "program/forward.h"

G_BEGIN_DECLS

#define WS_SPLIT_MOST   16 /* parts of one extent */
#define WS_SPLIT_FLYING 7  /* steps that a wait leaves in flight */

/* Part i of an extent is at[i] .. at[i + 1] - 1. */
typedef struct {
    guint n;
    guint at[WS_SPLIT_MOST + 1];
} WsCuts;

typedef struct {
    const WsProgram *p; /* of `design` */
    const WsDesign *design;
    WsCuts *rows, *cols;   /* of each buffer */
    gboolean *uncut;       /* of each buffer: its rows stay, as views of them are not constant */
    gboolean *lines;       /* of each buffer: its parts are lines (rank 1) */
    WsCuts **value;        /* per agent, of the columns of each value */
    guint agent;           /* first one of the group being rewritten */
    GHashTable *temporary; /* name -> WsCuts*, of the statements being rewritten */
    gboolean any;          /* something is in parts */
    char *why;             /* gave up; NULL as long as all is well */
} WsSplit;

/* Always FALSE; the first reason stays. */
gboolean ws_split_give_up(WsSplit *s, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* --- cuts.c ---*/
/* The marks between 0 and `extent` and what makes their distances powers of two at multiples of
 * themselves, counted from `origin`. FALSE: too many. */
gboolean ws_split_cuts(const gboolean *mark, guint extent, gint64 origin, WsCuts *out);
gboolean ws_split_find(WsSplit *s); /* rows, cols, value, any */
/* Cuts of a value of the group, or of a temporary of its statements; NULL: one part. */
const WsCuts *ws_split_of_name(const WsSplit *s, const char *name);

/* --- views.c ---*/
/* A reference taken apart; rows and columns of the storage. */
typedef struct {
    const WsRef *ref;
    char *row, *col;   /* where it begins, texts; NULL: 0 */
    gint64 row0, col0; /* the same, -1: not constant */
    guint rows, cols;
    gboolean turned;
    const WsCuts *row_cuts, *col_cuts; /* of the whole; NULL: one part */
    gint buffer;                       /* -1: a value */
    gboolean lines;                    /* the parts are lines: rank 1 */
    guint all_rows, all_cols;
} WsSplitView;
void ws_split_view_clear(WsSplitView *v);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsSplitView, ws_split_view_clear)
/* FALSE: s has the reason, or (without one) the name is no buffer of rank 2 and no value. */
gboolean ws_split_view(WsSplit *s, const WsRef *ref, WsSplitView *out);
/* Marks where the view crosses cuts; `mark` has its extent + 1 elements. */
void ws_split_marks(const WsCuts *cuts, gint64 from, guint extent, gboolean *mark);
/* `n` rows from `row` on and `m` columns from `col` on of a view, as text. Caller frees; NULL: s
 * has the reason. */
char *ws_split_sub(WsSplit *s, const WsSplitView *v, guint row, guint n, guint col, guint m);
/* Value of an expression over constants alone. */
gboolean ws_split_constant(const WsProgram *p, const WsExpr *e, gint64 *value);
/* "x + 64" */
char *ws_split_plus(const char *text, gint64 by);

/* --- statements.c ---*/
/* What stands for statements of values in parts. NULL: s has the reason. */
WsJson *ws_split_statements(WsSplit *s, const WsValue *list);

/* --- steps.c ---*/
WsJson *ws_split_steps(WsSplit *s, const WsNode *owner, WsFieldId list);

/* --- unroll.c ---*/
/* The design with loops laid out whose index picks columns of a value (*any: there was one), and
 * with the place of every step as its id. NULL: a loop cannot be laid out. */
WsDesign *ws_split_unrolled(const WsDesign *design, const WsProgram *p, gboolean *any);

G_END_DECLS
