/* The clock: plays a program on a machine description and predicts when everything happens.
 *
 * Everything is SM cycles of the busiest CTA (or its cluster), from the start of that CTA. The play
 * is a discrete-event simulation of the agents against the tensor pipe, the TMA paths, the
 * shared-memory port, the ALU and MUFU pipes and the barriers; no duration is taken from anywhere
 * but the machine description. Time in seconds is cycles divided by a stated clock: power sets the
 * real one. */
#pragma once

#include "clock/events.h"
#include "program/forward.h"
#include "trace/trace.h"

G_BEGIN_DECLS

/* --- machine descriptions -----------------------------------------------------------------------
 */
typedef enum {
#define WS_MACHINE(id, of, key, unit, help) WS_MACHINE_##id,
#include "clock/machine.def"
#undef WS_MACHINE
    WS_MACHINE_VALUE_COUNT
} WsMachineValue;

typedef struct {
    char *name;   /* "NVIDIA H200" */
    char *target; /* "sm_90a" */
    char
        *note; /* what is to be known of its figures as a whole, NULL: nothing; said with results */
    double value[WS_MACHINE_VALUE_COUNT];
    char *source[WS_MACHINE_VALUE_COUNT]; /* where the figure is from */
} WsMachine;

typedef enum { WS_MACHINE_ERROR_READ, WS_MACHINE_ERROR_FORMAT } WsMachineErrorCode;
#define WS_MACHINE_ERROR ws_machine_error_quark()
GQuark ws_machine_error_quark(void);

/* The description in `file`, or the built-in one (H200) if file is NULL. Transfer full. */
WsMachine *ws_machine_load(const char *file, GError **error);
/* The same, but without a file the built-in one for `target` (NULL, or a target without one: the
 * H200). Transfer full. */
WsMachine *ws_machine_for(const char *file, const char *target, GError **error);
gboolean ws_machine_save(const WsMachine *m, const char *file, GError **error);
void ws_machine_free(WsMachine *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsMachine, ws_machine_free)
const char *ws_machine_key(WsMachineValue v);
const char *ws_machine_unit(WsMachineValue v);
gboolean ws_machine_has(const WsMachine *m, WsMachineValue v); /* machines of its target have it */
/* A copy for an SM clock of `ghz`, which power does not change: memory keeps its own clock, so a
 * cycle of the SM moves more bytes when it is longer. Transfer full. */
WsMachine *ws_machine_at(const WsMachine *m, double ghz);
/* Sets a value and where it is from (copied); used by calibration. */
void ws_machine_set(WsMachine *m, WsMachineValue v, double value, const char *source);

/* --- playing
 * -------------------------------------------------------------------------------------- */
#define WS_CLOCK_EVENTS 2000000 /* enough for most, about 200 MB */

typedef struct {
    guint tiles;   /* tiles of the CTA to play; 0: about 4, more where tiles differ in length */
    guint cluster; /* which cluster of the grid is played; 0 has the most tiles */
    const WsTraceClaims *claims; /* its tiles, in a launch that claims them; NULL: every n-th */
    gint64 max_steps;            /* operations to play before giving up; 0: 4 million */
    gboolean no_trace;           /* leave `trace` NULL */
    guint events;                /* fill `events`, with at most so many; 0: leave it NULL */
    gboolean gains; /* replay with each exposed wait made free: fills WsClockWait.gain */
} WsClockOptions;

/* One loop of one agent: distance of successive rounds. */
typedef struct {
    guint agent;
    const WsTree *loop; /* of the program */
    gint64 rounds;      /* distances measured */
    double period;      /* median distance in cycles, the mean if rounds come in bursts */
} WsClockLoop;

/* A waiting operation of the CTA of rank 0 and the cycles its agent stood there beyond its own
 * cost. */
typedef struct {
    guint op; /* WsOp.index */
    guint agent;
    gint64 count;   /* executions */
    gint64 exposed; /* cycles over all of them */
    double gain; /* cycles that the whole launch would save per CTA if this wait were free; NAN */
} WsClockWait;

typedef struct {
    WsTrace *trace;             /* of the tiles played; NULL if asked so */
    WsEvents *events;           /* of the tiles played, where asked for and the target is one with
                                   warp groups; else NULL */
    gint64 cycles;              /* busiest SM, whole launch */
    gint64 played;              /* cycles played, of `tiles_played` tiles of the first CTA */
    gint64 tiles_played, tiles; /* of this CTA */
    gboolean extrapolated;      /* cycles = played + (tiles left) * tile_period, times waves */
    double tile_period;         /* steady distance of tiles, cycles; NAN below two tiles */
    gint64 waves;               /* CTAs that one SM runs one after the other */
    gint64 grid;                /* CTAs of the launch */
    double seconds, ghz;        /* cycles / (ghz * 1e9), ghz from the machine description */
    double peak_ghz; /* that of the description, where power holds `ghz` below it; or 0 */
    gboolean stuck;  /* what follows of the whole is of no launch: shares are NAN */
    gboolean halves; /* the engines are those of a target whose groups are two halves */
    gboolean core;   /* … of a core by queues: M, MTE2 and MTE3, MTE1, V */
    double tensor_busy, tma_busy, smem_busy, alu_busy, mufu_busy; /* share of the steady tiles */
    double link_busy;  /* share of the launch in which a device's links are in use, the fuller way;
                          NAN without a mesh */
    double hbm_cycles; /* compulsory traffic of the launch / HBM rate: a floor of `cycles` */
    char *bound;       /* "tensor pipe", "TMA", "HBM", "wait full in mma": what limits it */
    GArray *loop;      /* WsClockLoop */
    GArray *wait;      /* WsClockWait, largest exposed first */
    char *note;        /* phrase: what was simplified, for people */
} WsClockResult;

/* Plays `p` for the sizes of `v`. NULL options: defaults. NULL with a finding if nothing can be
 * played (a step kind or target that the clock does not know, an expression that overflows). A play
 * that gets stuck is a P-DL finding; the result then holds what happened until then. */
WsClockResult *ws_clock_run(const WsProgram *p, const WsLaunchValues *v, const WsMachine *m,
                            const WsClockOptions *options, WsFindings *findings);
/* What the clock predicts for the CTAs of a measured trace that claimed their tiles, each with
 * those that it got, as one trace; at most WS_CLOCK_CLAIMED of them. NULL where none are known, or
 * the trace is of another design or launch. Transfer full. */
#define WS_CLOCK_CLAIMED 8
WsTrace *ws_clock_claimed(const WsProgram *p, const WsLaunchValues *v, const WsMachine *m,
                          const WsTrace *measured);
void ws_clock_result_free(WsClockResult *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsClockResult, ws_clock_result_free)
/* By operation: cycles that the special-function unit (MUFU) of an SM works for one execution of it
 * by its agent; 0 for all but compute steps. Caller frees. */
double *ws_clock_special_cycles(const WsProgram *p, const WsMachine *m);
/* By operation: cycles that the tensor pipe works for one execution of it, at its rate (or at that
 * of its operands); 0 for all but products. Caller frees. */
double *ws_clock_product_cycles(const WsProgram *p, const WsMachine *m);
/* A few lines for people. Caller frees. */
char *ws_clock_result_text(const WsClockResult *r, const WsProgram *p);

G_END_DECLS
