/* Calibration: each value of a machine description that a small design isolates is adjusted until
 * the clock predicts the period that was measured for that design. */
#pragma once

#include "clock/clock.h"

G_BEGIN_DECLS

typedef struct {
    WsMachineValue value;
    const char *design;     /* "mma-bf16": name for ws_calibrate_design() */
    const char *set, *size; /* "GROUPS=2 N=16", "T=132" */
    guint devices;          /* that run it */
    gint64 n0, n1;          /* ROUNDS of the two launches */
    double least, most;     /* where the value is looked for */
} WsCalibrateRow;
const WsCalibrateRow *ws_calibrate_rows(guint *n);
/* Text of a built-in design (resources/calibrate); NULL if there is none of that name. */
const char *ws_calibrate_design(const char *name);

/* Cycles per round of the row's design on `m`; `p` is that design with the row's settings. NAN with
 * a finding if it cannot be played. */
double ws_calibrate_period(const WsCalibrateRow *row, const WsProgram *p, const WsMachine *m,
                           WsFindings *findings);
/* Sets the row's value in `m` to that for which the period is `measured`, in cycles at `ghz`. FALSE
 * if no value between least and most does: the description stays as it was. */
gboolean ws_calibrate_fit(const WsCalibrateRow *row, const WsProgram *p, double measured,
                          double ghz, WsMachine *m, const char *source, WsFindings *findings);

G_END_DECLS
