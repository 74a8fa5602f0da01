/* What the files of the idle units share. Private to this folder. */
#pragma once

#include "advise/advise.h"
#include "advise/idle.h"

/* By operation: cycles of one execution at the unit's rate; NULL unknown. Borrowed. */
typedef struct {
    const double *product, *special;
} WsIdleRates;

/* Steps and waits cover all of an agent's time: where nothing is for so many cycles, nothing was
 * recorded. */
#define WS_IDLE_HOLE 5000

/* The unit that a record takes until `end`; WS_UNITS: none. */
WsUnit ws_idle_unit_of(const WsIdleRates *rates, const WsTrace *t, const WsTraceRecord *r,
                       gint64 *end);

/* idle_cause.c: chains and causes of the gaps of `c`, the last one of idle->cta; then shares and
 * order of all causes. */
void ws_idle_causes(WsIdle *idle, const WsRun *run, WsIdleCta *c);
void ws_idle_causes_end(WsIdle *idle);
