/* Designs on trial in a search. Private to src/search. */
#pragma once

#include "search/search.h"

G_BEGIN_DECLS

/* Played, not yet judged. */
typedef struct {
    WsFound *found;
    WsProgram *p; /* NULL: known from before, not elaborated yet */
    char *sum;    /* of the design's text; NULL: nothing is kept */
    WsKeptTrial known;
    gboolean moved;   /* by the last edit: something that computes */
    gboolean rough;   /* cycles are of the first tiles alone, or of one alike */
    gboolean hopeful; /* among the most promising by the first tiles */
    gint64 first;     /* cycles by the first tiles */
    guint32 order;    /* among equals */
} WsTried;

#define WS_ROUGH_TILES 3 /* of a CTA, by which edits are ranked before they are played whole */

void ws_tried_free(gpointer data);

/* Elaborates and plays a design by its first tiles, or knows what came of it; takes `sum`. NULL: it
 * is unfit, stuck, or ptxas serialises it; `s` counts what it is. Without decisions. */
WsTried *ws_tried_new(const WsTrialOf *of, WsKept *kept, WsDesign *design, char *sum, WsSearch *s);
/* Its program; NULL: it does not elaborate, though it did. Borrowed. */
const WsProgram *ws_tried_program(WsTried *one);
/* Gives it the cycles of the whole launch. */
void ws_tried_whole(const WsTrialOf *of, WsKept *kept, WsTried *one);
WsKeptVerdict ws_tried_judge(WsKept *kept, WsTried *one, const gint *cancel);

G_END_DECLS
