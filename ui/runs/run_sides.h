/* Two runs side by side, perhaps of two designs: their figures, and their steps by name and role;
 * no widgets but the rows of tables. */
#pragma once

#include "advise/idle.h"
#include "check/check.h"
#include "trace/stats.h"
#include "ui/parts/table.h"

G_BEGIN_DECLS

/* All borrowed; NULL: not known. */
typedef struct {
    const WsTrace *t;
    const WsTraceStats *stats;
    const WsIdle *idle;
    const WsFindings *findings;
    const WsVerdict *verdict;
} WsRunSide;

enum { WS_SIDES_FIGURE, WS_SIDES_A, WS_SIDES_B, WS_SIDES_MORE, WS_SIDES_COLUMNS };
/* Check, length, rounds of the loops and idle units: rows of WS_SIDES_COLUMNS. */
GPtrArray *ws_run_figures(const WsRunSide *a, const WsRunSide *b);

enum {
    WS_STEPS_STEP,
    WS_STEPS_AGENT,
    WS_STEPS_TIMES,
    WS_STEPS_A,
    WS_STEPS_B,
    WS_STEPS_MORE,
    WS_STEPS_LATER,
    WS_STEPS_COLUMNS
};
/* Rows of WS_STEPS_COLUMNS. Steps without a partner say so; `both`, `only` (of a, of b) take how
 * many there are. The place of a row is the step in `a`, if it is there. */
GPtrArray *ws_run_kin_steps(const WsRunSide *a, const WsRunSide *b, guint *both, guint only[2]);

/* "−1 024", "+17"; caller frees. */
char *ws_run_signed(gint64 value);

G_END_DECLS
