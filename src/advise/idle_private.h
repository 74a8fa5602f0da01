/* What the files of the idle units share. Private to this folder. */
#pragma once

#include "advise/advise.h"
#include "advise/idle.h"

/* By operation: cycles of one execution at the unit's rate; NULL unknown. Borrowed. */
typedef struct {
    const double *product, *special;
} WsIdleRates;

/* idle_cause.c: chains and causes of the gaps of `c`, the last one of idle->cta; then shares and
 * order of all causes. */
void ws_idle_causes(WsIdle *idle, const WsRun *run, WsIdleCta *c);
void ws_idle_causes_end(WsIdle *idle);
