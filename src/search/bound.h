/* A bound under all that the search can find: what no move changes, at the rate of the unit that
 * does it. */
#pragma once

#include "advise/candidate.h"
#include "base/json_out.h"

G_BEGIN_DECLS

/* Cycles of the whole launch, as the clock counts them. */
typedef struct {
    gint64 cycles;    /* 0: nothing is known */
    const char *unit; /* "tensor pipe", "MUFU", "HBM"; static */
} WsSearchLeast;

typedef struct {
    /* Schedules with the tiles of the design as it is: its products and functions in any order, on
     * any agents, with any rings and waits. */
    WsSearchLeast order;
    /* All that the moves lead to: tiles of other sizes, too. Products alone, at the best rate of
     * their type, less what may be saved on padding. */
    WsSearchLeast all;
    const char *why;    /* `all` is not known: static; else NULL */
    gint64 tiles, macs; /* of the launch; multiplications of its products, 0: not counted */
} WsSearchBound;

WsSearchBound ws_search_bound_of(const WsTrialOf *of);
void ws_search_bound_json(WsJsonOut *j, const WsSearchBound *c); /* as member "bound" */
/* Two lines for people. Caller frees. */
char *ws_search_bound_text(const WsSearchBound *c);

G_END_DECLS
