/* What the steps of a rotated loop touch, and which of two may not change places. Private to
 * src/edit. */
#pragma once

#include "edit/rotate.h"

G_BEGIN_DECLS

typedef struct {
    const WsDesign *design;
    const WsNode *loop, *group;
    guint cut; /* steps from here on are of the second part */
} WsTurnTouch;

/* What a step reads and writes: values of its group by name, buffers by that of the one at the end
 * of their chain of `over`, since they share its bytes. */
typedef struct {
    const WsNode *step;
    guint index;                /* in the body */
    GHashTable *reads, *writes; /* char*, borrowed of the design */
    GHashTable *lands;          /* what its loads write, some time later */
    GHashTable *barriers;
    gboolean
        ordered; /* keeps its place among all that is so: staging, joins, bodies of their own */
    gboolean tells, hears; /* another agent may go on because of it; it may wait for another one */
} WsTurnStep;

void ws_turn_step_init(const WsTurnTouch *t, const WsNode *step, guint index, WsTurnStep *s);
void ws_turn_step_clear(WsTurnStep *s);
/* Whether a step of the first part, of the next round, has to stay behind `b` of the second part:
 * one of them touches what the other writes (of loads: in the same stage of the ring), or both may
 * not leave their order. */
gboolean ws_turn_conflicts(const WsTurnTouch *t, const WsTurnStep *a, const WsTurnStep *b);
/* Whether a step of the first part may not run while that product of the second part is in flight:
 * LANGUAGE section 12. */
gboolean ws_turn_disturbs(const WsTurnTouch *t, const WsTurnStep *a, const WsTurnStep *product);
/* Whether `b` touches bytes that another agent may write. */
gboolean ws_turn_shares(const WsTurnTouch *t, const WsTurnStep *b);

G_END_DECLS
