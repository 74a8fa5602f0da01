/* Inside src/check/play: what of a program its sizes, tiles and elements decide. */
#pragma once

#include "check/play/case.h"

G_BEGIN_DECLS

typedef struct {
    const WsExpr *expr; /* ws_of_tile() */
    gboolean truth;     /* a whole condition: only whether it holds matters */
    gboolean count;     /* a whole number of rounds */
    gboolean tile;      /* it depends on the tile */
} WsQuestion;

/* The largest such parts of counts, conditions, uses, slots, and of what they take from lets and
 * counters. Caller frees. */
GArray *ws_questions(const WsProgram *p);
/* Two cases with one profile run alike: the answers at every tile. Caller frees. */
char *ws_profile(const WsProgram *p, const WsCase *c, const GArray *questions);
/* Rounds of the loops whose counts are among the questions: `rounds`, `mixed` and `weight`. FALSE:
 * they are more than anybody plays. */
gboolean ws_case_weigh(const WsProgram *p, WsCase *c, const GArray *questions);

G_END_DECLS
