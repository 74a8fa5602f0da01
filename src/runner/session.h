/* A worker's connection to the GPU: driver, device, modules, and one case's memory. Functions
 * return false after writing the failing call and its error to the session's error text. */
#pragma once

#include "program/debug_words.h"
#include "runner/cuda_driver.h"
#include "runner/results.h"

#include <stdio.h>

typedef struct WsSession WsSession;
typedef struct WsRunMesh WsRunMesh;
typedef struct {
    void *module, *function;
    bool (*host)(WsSession *s, void **parameters); /* not NULL: it runs here, not on the GPU */
} WsKernel;

enum { WS_FLUSH_BYTES = 256 << 20 };

struct WsSession {
    const WsManifest *m;
    const WsRunOptions *options;
    WsResults *results;
    char *error; /* WS_TEXT bytes: the run's, then the case's */
    int last;    /* last CUresult that failed */
    WsCudaDriver cu;
    bool hip; /* `cu` is HIP's (hip_driver.h) */
    WsNvml nvml;
    int device;
    void *context;
    void *stream, *event[4];
    WsKernel build[WS_MODULE_COUNT];
    WsKernel reference[WS_MANIFEST_TENSORS];
    WsKernel fill, scan, hash, gather, probe, meet;
    uint64_t flush;   /* buffer larger than any L2 */
    uint64_t scratch; /* 64 bytes for results of the small kernels */
    uint64_t records;
    uint32_t phase;   /* which rounds the traced build records, where launches take turns */
    uint64_t counter; /* dynamic tiles */
    uint32_t *debug;  /* host memory mapped into the device */
    uint64_t debug_address;
    /* the case */
    const WsRunCase *c;
    WsCaseResult *r;
    uint32_t grid;
    uint64_t tensor[WS_MANIFEST_TENSORS];
    uint64_t bytes[WS_MANIFEST_TENSORS];
    WsCuTensorMap map[WS_MANIFEST_MAPS];
    uint64_t hilbert; /* table of the tile order, 0 none */
    WsRunMesh
        *mesh; /* not NULL: it stands for all devices of a mesh (mesh.h), and has none itself */
    const int64_t *pitch; /* with it: what references take of it (codegen/generate.h) */
    /* a device of a mesh */
    uint64_t peer_maps, flags;
    int64_t launches;
    bool cooperative;
};

/* Names the current work and says how long it may take before it counts as hung. */
void ws_session_phase(WsSession *s, double seconds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* result == 0, or false with "cuX: CUDA_ERROR_Y (text)" as the error. */
bool ws_cu(WsSession *s, int result, const char *call);
bool ws_session_fail(WsSession *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
double ws_seconds(void);

bool ws_session_library(WsSession *s); /* the driver's, or HIP's */
bool ws_session_open(WsSession *s);
/* The builds that are run and judged; or the debug build, with the references if it is judged. */
bool ws_session_load(WsSession *s, bool debug);
bool ws_session_synchronize(WsSession *s);
/* 1 done, 0 not within `seconds`, -1 an error (a trap is one). */
int ws_session_wait(WsSession *s, double seconds);
/* A small kernel: n items, 256 threads a block, at most 4096 blocks. */
bool ws_session_small(WsSession *s, const WsKernel *k, int64_t n, void **parameters);
/* The generated kernel; parameters in the order of codegen/generate.h. Asynchronous. */
bool ws_session_launch(WsSession *s, WsModuleKind kind);

/* host_kernels.c: the small kernels on the host. */
bool ws_host_fill(WsSession *s, void **parameters);
bool ws_host_scan(WsSession *s, void **parameters);
bool ws_host_hash(WsSession *s, void **parameters);
bool ws_host_gather(WsSession *s, void **parameters);
/* inputs.c: memory of the case. */
bool ws_case_open(WsSession *s);
void ws_case_close(WsSession *s);
bool ws_case_fill(WsSession *s);   /* the inputs */
bool ws_case_poison(WsSession *s); /* outputs to 0xff, reductions to zero */
bool ws_case_zero_reductions(WsSession *s);
/* maps.c */
bool ws_maps_encode(WsSession *s);
/* check.c */
bool ws_check_case(WsSession *s, bool *right);
bool ws_hash_output(WsSession *s, int tensor, uint64_t *hash);
/* `options->again` launches more; *right FALSE if one gave other values. */
bool ws_check_again(WsSession *s, bool *right);
bool ws_judge_outputs(WsSession *s, bool *right); /* what the last launch has written, once */
/* stuck.c: reads the words of a debug build into the results. */
void ws_stuck_read(WsSession *s);
const char *ws_stuck_agent(const WsManifest *m, const WsStuckAgent *a);
const char *ws_stuck_barrier(const WsManifest *m, const WsStuckAgent *a);
const char *ws_stuck_step(const WsManifest *m, const WsStuckAgent *a);
void ws_stuck_text(const WsManifest *m, const WsStuckAgent *a, char *text, size_t size);
/* adversary.c: runs the held build of a case and compares what is seen with the witness. */
void ws_adversary_case(WsSession *s);
/* timing.c */
bool ws_time_case(WsSession *s);
/* trace_run.c */
bool ws_trace_clear(WsSession *s); /* poisons the records */
bool ws_trace_same(WsSession *s, bool *right);
bool ws_trace_case(WsSession *s);
/* watchdog.c: runs everything in worker processes and watches them. */
int ws_watch(const WsManifest *m, const WsRunOptions *options, WsResults *results);
/* worker.c: the body of a worker; never returns an error, all is in the results. */
uint32_t ws_case_grid(const WsSession *s, const WsRunCase *c);
void ws_work(const WsManifest *m, const WsRunOptions *options, WsResults *results, int first);
void ws_work_debug(const WsManifest *m, const WsRunOptions *options, WsResults *results, int which);
/* report.c */
void ws_report_text(FILE *out, const WsManifest *m, const WsResults *r);
void ws_report_case(FILE *out, const WsManifest *m, const WsResults *r, int which);
void ws_report_json(FILE *out, const WsManifest *m, const WsRunOptions *o, const WsResults *r,
                    int status);
bool ws_report_save(const char *dir, const WsManifest *m, const WsRunOptions *o, const WsResults *r,
                    int status, char *error, size_t size);
int ws_exit_status(const WsResults *r);
