/* The hint form of a loop: `num_stages` and straight-line groups with a stage, an order and an
 * executor each. What follows from it (pipes, waits, releases, rounds ahead, bodies of executors)
 * is made here as ordinary steps, once: elaboration takes those, and "make explicit" writes them.
 */
#pragma once

#include "model/design.h"

G_BEGIN_DECLS

gboolean ws_hint_in(const WsDesign *design); /* some loop has `num_stages` */
/* The same kernel without hints. With `places` each step's id is the place that it has in `design`
 * (what is made: the place of its group, # and a word), so that findings lead there; such a design
 * is for elaboration alone. NULL: a hint is not possible, and `findings` says why. Transfer full.
 */
WsDesign *ws_hint_explicit(const WsDesign *design, gboolean places, WsFindings *findings);

/* What a group of a loop says, and what follows for it. All borrowed of the design. */
typedef struct {
    const WsNode *node, *executor; /* executor: group of the design that runs it */
    gint64 stage, order;
    gint64 ahead; /* rounds that it runs before the last stage of its executor */
    char *fills;  /* buffers, "a, b", each a ring of `stages` slots; NULL: none */
} WsHintCell;

typedef struct {
    const WsNode *loop, *home; /* home: group of the design that holds it */
    gint64 stages;
    guint n;
    WsHintCell *cell; /* as they are drawn */
    char *why;        /* its form cannot be: all that stands here is `n` 0; NULL: it can */
} WsHintLoop;

/* The loops with `num_stages` of a design, WsHintLoop*. Caller unrefs; it holds no reference. */
GPtrArray *ws_hint_loops(const WsDesign *design);
/* The same kernel with groups one after the other as they are drawn, in one stage and one executor:
 * what a hint means. Transfer full. */
WsDesign *ws_hint_in_order(const WsDesign *design);

G_END_DECLS
