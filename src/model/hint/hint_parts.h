/* Inside of the hint form (README.md): what one loop says, private to this folder. */
#pragma once

#include "model/hint.h"
#include "model/internal.h"

G_BEGIN_DECLS

#define WS_HINT_MOST 64 /* groups of a loop, stages */

typedef struct {
    const WsNode *node;
    const char *name;
    char *place;
    gint64 stage, order;
    guint executor;   /* group of the design */
    const char *pipe; /* what it fills, NULL: nothing */
    GPtrArray *fills; /* char*: buffers, borrowed */
    gint64 ahead;     /* rounds before the last stage of its executor */
} WsHintGroup;

typedef struct {
    const WsDesign *design;
    const WsNode *root, *loop;
    GArray *trail; /* WsTrail: from the root to the loop */
    guint home;    /* group of the design that holds the loop */
    gint64 stages;
    guint n;
    WsHintGroup *group; /* as they are drawn */
    WsHintGroup **in_order;
    GHashTable *ring; /* buffer -> WsHintGroup* that fills it */
    WsFindings *findings;
    gboolean refused;
} WsHint;

/* What a step does to a name. */
typedef struct {
    const char *name;
    gboolean reads, writes, value; /* value: a register tile of its executor, else a buffer */
} WsHintTouch;
typedef void (*WsHintSee)(const WsHintTouch *touch, gpointer data);

/* WsTrail from the root to the loop with `before` such loops before it in the text; NULL: none. */
GArray *ws_hint_trail(const WsDesign *design, guint before);
/* Adds L-HINT; always FALSE. */
gboolean ws_hint_refuse(WsHint *h, const char *place, const char *remedy, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
/* --- read.c */
gboolean ws_hint_read(WsHint *h); /* FALSE: refused */
void ws_hint_clear(WsHint *h);
gboolean ws_hint_has(const WsNode *owner, WsFieldId list, const char *name);
/* Every name that a step of the group touches. */
void ws_hint_touches(const WsHint *h, const WsHintGroup *g, const WsNode *step, WsHintSee see,
                     gpointer data);
/* --- judge.c */
gboolean ws_hint_judge(WsHint *h); /* what depends on what; sets rings and pipes */
/* --- write.c */
/* Steps of a round of one executor: WsNode*, whose `places` are ids. */
GPtrArray *ws_hint_round(WsHint *h, guint executor, gboolean places);
WsNode *ws_hint_made(WsHint *h, WsJson *json, const char *id);

G_END_DECLS
