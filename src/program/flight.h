/* Inside of flight*.c: what one queue of groups may hold at one place of an agent's body.
 *
 * A queue (engine TMA_STORE, GATHER or MMA) is the group that is being filled, and the groups
 * committed, newest first. Waits name the newest n groups, so groups beyond the largest n of the
 * agent's waits need no order: they are one set, the rest. Over branches and loops a place has a
 * set of queues, one for each history that differs in this. */
#pragma once

#include "program/elaborate/elab.h"

G_BEGIN_DECLS

#define WS_FLIGHT_GROUPS 15 /* groups kept apart; waits for more than that are told by path */
#define WS_FLIGHT_STATES                                                                           \
    128 /* queues at one place; beyond it they are one, whose order is lost                        \
         */

#define WS_FLIGHT_UNTOLD G_MAXUINT16 /* steps of a group: so many, or not the same on all paths */

typedef struct {
    gint queue;    /* WsQueue */
    GPtrArray *op; /* const WsOp *: what may be in flight; bit i of a set is op i */
    guint words;   /* of such a set */
    guint groups;  /* kept apart */
    gsize size;    /* of a queue, in words */
} WsFlightShape;

/* A queue as words, so that two of them compare by memcmp: a head, the open set, the rest, then
 * `groups` times the number of steps of a group and its set, newest first, unused ones 0. */
typedef struct {
    guint64 n_groups, open_steps;
    guint64 rest; /* there are groups beyond those kept apart */
    guint64 lost; /* too many queues: the rest holds all that may be committed, in any group */
} WsFlightHead;

/* Owns its words. */
typedef struct {
    const WsFlightShape *shape;
    GArray *word;                      /* guint64 */
    guint n;                           /* queues */
    guint8 slot[4 * WS_FLIGHT_STATES]; /* hash of a queue -> its number + 1; 0 none */
} WsFlightSet;

WsFlightHead *ws_flight_head(guint64 *queue);
guint64 *ws_flight_open(const WsFlightShape *shape, guint64 *queue);
guint64 *ws_flight_rest(const WsFlightShape *shape, guint64 *queue);
guint64 *ws_flight_group(const WsFlightShape *shape, guint64 *queue, guint i); /* [0]: steps */
gsize ws_flight_words(const WsFlightShape *shape);                             /* of a queue */

void ws_flight_set_init(WsFlightSet *s, const WsFlightShape *shape); /* holds the empty queue */
void ws_flight_set_clear(WsFlightSet *s);
WsFlightSet ws_flight_set_copy(const WsFlightSet *s);
guint64 *ws_flight_at(const WsFlightSet *s, guint i);
/* TRUE if `s` holds more than before. */
gboolean ws_flight_join(WsFlightSet *s, const WsFlightSet *other);

/* What one operation of the queue does to one of them. */
void ws_flight_issue(const WsFlightShape *shape, guint64 *queue, guint op, gboolean step);
void ws_flight_commit(const WsFlightShape *shape, guint64 *queue);
/* Retires all but the newest n groups; returns their steps, -1 if that cannot be told. `retired`
 * is the set that goes, `stays` what is in flight behind it. */
gint64 ws_flight_wait(const WsFlightShape *shape, guint64 *queue, gint64 n, guint64 *retired,
                      guint64 *stays, gboolean *reached);
/* The same queues, each once: for sets whose queues were changed in place. */
void ws_flight_tidy(WsFlightSet *s);

G_END_DECLS
