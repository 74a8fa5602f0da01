/* Reading back a bundle that was run, here or elsewhere. */
#pragma once

#include "launch/bundle.h"
#include "trace/trace.h"

G_BEGIN_DECLS

typedef struct {
    guint n; /* launches, 0: not measured */
    double median_us, min_us, max_us, p10_us, p90_us;
    double tflops, cycles, floor_cycles, sm_mhz; /* NAN unknown */
    double nvml_mhz, watt; /* by NVML, while it ran; cold: an average over more than the launches */
    gboolean kernel_clock; /* sm_mhz is the traced kernel's own, else NVML's */
} WsCollectedTime;

/* An agent that had not come to its end when the kernel was ended. */
typedef struct {
    char *agent, *step,
        *barrier;  /* "mma.0"; id of the step; "full", "empty[1]", "group", "cluster" */
    guint cta, op; /* operation: index in the program of the bundle */
    gboolean sync; /* a named or cluster barrier: no slot and no parity */
    guint slot, parity, pending; /* parity awaited, and seen; arrivals that were missing */
    guint n_rounds;
    gint64 round[3]; /* of the enclosing loops, outermost first */
} WsCollectedStuck;

/* The timer of a device beside that of the first one. */
typedef struct {
    gboolean known;
    double ahead_ns, error_ns; /* what it shows more, give or take so much */
} WsCollectedTimer;

typedef struct {
    char *label, *state;    /* state: "right", "wrong", "hung", "nothing to launch", … */
    char *error, *stuck;    /* or NULL */
    GArray *stuck_agents;   /* WsCollectedStuck, of debug builds; never NULL */
    gboolean held, as_told; /* held to a witness; what was seen is what it tells */
    char *seen;             /* in words, or NULL */
    char *wrong;            /* first wrong element of any output, or NULL */
    gboolean right;         /* judged and right, or nothing to launch */
    gboolean zeros_agree;   /* samples of some output are so near to 0 that zeros agree too */
    gint64 grid, samples, n_wrong;
    double worst_error, worst_allowed;
    WsCollectedTime cold, cold_traced, sustained;
    double overhead; /* traced / timed - 1; NAN */
    char *records;   /* file name, or NULL */
    GArray *timers;  /* WsCollectedTimer, of devices of a mesh that were recorded; never NULL */
} WsCollectedCase;

/* The worst answer of the cases; UNKNOWN is never one of a folder that was read. */
typedef enum {
    WS_COLLECTED_NOT_RUN,
    WS_COLLECTED_RIGHT, /* or not judged, which the case says: nothing is wrong */
    WS_COLLECTED_WRONG,
    WS_COLLECTED_UNKNOWN
} WsCollectedAnswer;

typedef struct {
    WsCollectedAnswer answer;
    int claimed; /* exit status as results.json has it: of use where nothing was run */
    char *dir, *name, *device, *error;
    guint sms, driver;
    guint registers, local_bytes, diagnostics; /* of the timed build */
    GPtrArray *cases;                          /* WsCollectedCase* */
    WsProgram *program;                        /* from the design in the bundle */
} WsCollected;

/* Reads bundle and results.json. Findings receive what elaboration says about the embedded design.
 * NULL with WS_BUNDLE_ERROR_ABSENT ("… was not run yet") if there are no results. */
WsCollected *ws_collect(const char *dir, WsFindings *findings, GError **error);
void ws_collected_free(WsCollected *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsCollected, ws_collected_free)

/* The measured trace of a case; NULL with WS_BUNDLE_ERROR_ABSENT if it was not recorded. */
WsTrace *ws_collected_trace(const WsCollected *c, guint which, GError **error);

/* Text for people, as the runner prints it. Caller frees. */
char *ws_collected_print(const WsCollected *c);

G_END_DECLS
