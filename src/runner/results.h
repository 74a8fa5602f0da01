/* What a run found. One flat block without pointers: the worker process, which alone touches the
 * GPU, fills it in shared memory; its supervisor reads it even when the worker hangs or dies. */
#pragma once

#include "runner/manifest.h"

/* Exit codes of every Warpstave command (README of the project). */
enum {
    WS_EXIT_YES = 0,
    WS_EXIT_NO = 1,     /* wrong values, hang, fault */
    WS_EXIT_INPUT = 2,  /* unreadable bundle, usage */
    WS_EXIT_ABSENT = 4, /* no driver, no GPU, no memory */
    WS_EXIT_DEFECT = 5,
    WS_EXIT_INTERRUPTED = 130,
};

enum { WS_STUCK_AGENTS = 64, WS_TEXT = 512, WS_LOG = 4096 };

typedef struct {
    bool loaded;
    int registers, local_bytes;
    double load_ms;
    int diagnostics; /* lines that carry a C75xx code */
    char log[WS_LOG];
} WsModuleResult;

typedef struct {
    bool checked, judged; /* judged: there is a reference */
    int64_t elements, nonfinite, first_nonfinite;
    int64_t infinite, infinite_samples; /* as in the reference, none of them in `nonfinite`; how
                                           many of them were compared with it */
    int64_t anything; /* hold no number where the reference says `any`; none in `nonfinite` */
    int64_t open; /* in `nonfinite`, and right or wrong by a reference that did not end in time */
    int64_t samples, wrong;
    int64_t wanted; /* samples asked for; fewer are judged where the bound of time came first */
    bool late;      /* the reference did not end within the bound: `most` samples of it did, and a
                       fresh worker, whose GPU is free again, computes no more than these */
    int64_t most;
    bool zeros_agree; /* every sample is so near to 0 that zeros would agree with it too */
    double worst_error, worst_allowed; /* of the sample nearest to or farthest over its limit */
    char first_wrong[WS_TEXT];
    uint64_t hash, repeat_hash, traced_hash;
    bool repeats, traced_same;
} WsOutputResult;

typedef struct {
    int n;                             /* launches behind the figures, 0: not measured */
    double median, min, max, p10, p90; /* microseconds */
    double kernel_mhz; /* SM clock by the traced kernel itself (%clock64 over %globaltimer of one
                          CTA), median of the same rounds; 0 unknown */
    double mhz, mhz_min, mhz_max; /* by NVML, which averages over longer than a cold launch: true of
                                     sustained figures, of cold ones only between launches */
    double watt;                  /* by NVML, likewise */
    double seconds;               /* sustained: measured stretch */
} WsTimeResult;

typedef enum {
    WS_CASE_WAITING,
    WS_CASE_NOTHING, /* no tile: nothing was launched */
    WS_CASE_RIGHT,
    WS_CASE_UNJUDGED, /* ran, but there is no reference */
    WS_CASE_WRONG,
    WS_CASE_FAILED, /* driver error */
    WS_CASE_HUNG,
    WS_CASE_DIED, /* the worker died */
} WsCaseState;

/* Where an agent stands that has not come to its end (program/debug_words.h). */
typedef struct {
    uint32_t cta, agent, state, op, slot, parity, pending;
    int32_t round[3]; /* of the enclosing loops, outermost first; -1 none */
} WsStuckAgent;

/* The timer of a device of a mesh beside that of the first one. */
typedef struct {
    bool known;
    double ahead_ns, error_ns; /* what it shows more, give or take so much */
} WsTimerResult;

typedef enum { WS_TOLD_NOTHING, WS_TOLD_SEEN, WS_TOLD_OTHER } WsTold;

typedef struct {
    WsCaseState state;
    uint32_t grid;
    char error[WS_TEXT], stuck[WS_TEXT];
    int n_stuck;
    WsStuckAgent stuck_agent[WS_STUCK_AGENTS];
    WsTold told; /* held builds: is what was seen what the witness tells? */
    uint32_t moves;
    bool gave_up;
    char seen[WS_TEXT];
    int64_t again, differ; /* launches after the first two; of these with other values */
    WsOutputResult output[WS_MANIFEST_TENSORS];
    WsTimeResult cold, cold_traced, sustained;
    double overhead; /* median of traced/timed - 1, per round; NAN not measured */
    double overhead_low, overhead_high; /* 10th and 90th percentile */
    double probe_mhz; /* SM clock by the clock probe right after the cold rounds, 0 unknown */
    char records[WS_MANIFEST_NAME]; /* file, "" none */
    WsTimerResult timer[16];        /* of a mesh, with records: of each device */
    double seconds;
    bool restart; /* the worker gave up a float64 reference: a fresh one takes the case again */
} WsCaseResult;

typedef struct {
    volatile uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0 none */
    volatile int current;          /* case in work, -1 before the first */
    char phase[WS_TEXT];
    int status; /* exit code if the run as a whole failed */
    char error[WS_TEXT];
    int n_devices, ordinal[16]; /* GPUs of a mesh; the figures below are of the first */
    int driver_version, sms, major, minor, l2_bytes;
    char device[128];
    bool nvml;
    WsModuleResult module[WS_MODULE_COUNT];
    double judge; /* seconds the float64 reference of one output may take */
    int n_cases;
    WsCaseResult case_[WS_MANIFEST_CASES];
} WsResults;

typedef struct {
    const char *dir;
    bool json, check, quiet;
    int device, only_case;       /* -1 all */
    int n_devices, devices[16];  /* of a mesh; none: the first ones */
    int rank, ranks, local_rank; /* of the processes that run a mesh together; ranks 0: one alone */
    char launcher[16], meet[104]; /* who started them; the socket at which they meet */
    int listen;                   /* of process 0: that socket, open */
    double meet_seconds;
    int64_t again; /* launches more whose values must not differ */
    uint32_t runs;
    double sustained, timeout;
    double judge; /* seconds that the float64 reference of one output may take */
    int64_t samples;
} WsRunOptions;
