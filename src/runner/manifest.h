/* The manifest of a bundle, `bundle.txt`: everything a launcher must know, as plain lines, so that
 * the runner needs no JSON and a peer harness can read it in a few lines of any language. The form
 * is described in README.md beside this file. Plain C11: used by the runner, by src/launch and by
 * tests. */
#pragma once

#include "program/inputs.h"

#include <stdbool.h>
#include <stddef.h>

#define WS_MANIFEST_FILE    "bundle.txt"
#define WS_MANIFEST_VERSION 1
#define WS_MANIFEST_RANK    5

enum {
    WS_MANIFEST_TENSORS = 16,
    WS_MANIFEST_MAPS = 32,
    WS_MANIFEST_SIZES = 16,
    WS_MANIFEST_SCALARS = 16,
    WS_MANIFEST_CASES = 64,
    WS_MANIFEST_WAITS = 1024,
    WS_MANIFEST_CTAS = 4096,
    WS_MANIFEST_LAUNCHES = 64,
    WS_MANIFEST_AGENTS = 64,
    WS_MANIFEST_AWAITS = 64,
    WS_MANIFEST_FLAGS = 32,
    WS_MANIFEST_NAME = 64, /* bytes of a name with its terminator */
};

/* Fewer launches than this have no 10th and 90th percentile that would say something. */
enum { WS_TIMES_FOR_PERCENTILES = 10 };

/* EXCHANGE: of devices of a mesh, and of nobody else. */
typedef enum { WS_RUN_READ, WS_RUN_WRITE, WS_RUN_REDUCE, WS_RUN_EXCHANGE } WsRunAccess;
typedef enum { WS_MODULE_TIMED, WS_MODULE_TRACED, WS_MODULE_DEBUG, WS_MODULE_COUNT } WsModuleKind;

typedef struct {
    char name[WS_MANIFEST_NAME];
    int dtype; /* WsInputType */
    int rank;
    WsRunAccess access;
    double tolerance_abs, tolerance_rel;
    char reference[WS_MANIFEST_NAME]; /* file of the reference kernel of an output, or "" */
    bool any;                         /* which may say of elements that they hold anything */
} WsRunTensor;

typedef struct {
    int tensor, rank;
    uint32_t box[WS_MANIFEST_RANK]; /* elements, innermost first */
    int swizzle;                    /* bytes: 0, 32, 64, 128 */
} WsRunMap;

/* What an agent must wait for in the end, in a bundle that holds agents to a witness. */
typedef struct {
    uint32_t op, rank, slot;
    int parity; /* -1: a named or cluster barrier */
    int n_rounds;
    int64_t round[3];
} WsRunAwait;

/* Words for the wait with operation index `op`, for the report of a hang. */
typedef struct {
    uint32_t op;
    char agent[WS_MANIFEST_NAME], barrier[WS_MANIFEST_NAME];
    char step[2 * WS_MANIFEST_NAME];
} WsRunWait;

typedef struct {
    int64_t extent[WS_MANIFEST_RANK], stride[WS_MANIFEST_RANK]; /* elements, logical order */
    WsInputFill fill; /* kind, a, b, x, y, last; key and dtype are set by the runner */
} WsRunTensorCase;

typedef struct {
    char label[2 * WS_MANIFEST_NAME];
    int64_t size[WS_MANIFEST_SIZES];
    bool grid_sms; /* grid = min(SMs rounded down to the cluster, grid) */
    int64_t grid;  /* CTAs; 0 launches nothing */
    int64_t tiles;
    int64_t hilbert[2]; /* extents of the curve, 0: no such order */
    double flops;       /* of the whole problem, 0 unknown */
    int64_t devices;    /* of a mesh */
    /* of each flag: on each device, and what a launch of all devices adds to each of them */
    int64_t elements[WS_MANIFEST_FLAGS], adds[WS_MANIFEST_FLAGS];
    WsRunTensorCase tensor[WS_MANIFEST_TENSORS];
} WsRunCase;

typedef struct {
    char name[128], target[32], hash[80], entry[WS_MANIFEST_NAME], program[64];
    char module[WS_MODULE_COUNT][WS_MANIFEST_NAME]; /* files, "" if the build is not there */
    uint32_t threads, cluster, shared;
    uint64_t seed;
    uint32_t runs;    /* cold rounds */
    double sustained; /* seconds back to back, 0 none */
    double timeout;   /* seconds one launch may take */
    double rate;      /* flop per SM and cycle, 0 unknown */
    int n_sizes, n_scalars, n_tensors, n_maps, n_cases, n_waits;
    char size[WS_MANIFEST_SIZES][WS_MANIFEST_NAME];
    char scalar[WS_MANIFEST_SCALARS][WS_MANIFEST_NAME];
    float scalar_value[WS_MANIFEST_SCALARS];
    WsRunTensor tensor[WS_MANIFEST_TENSORS];
    bool counter; /* dynamic tiles: a hidden u32, 0 before a launch and after it */
    bool mesh;    /* several devices run a case together; each has its number in size `rank` */
    int rank, n_flags;
    char flag[WS_MANIFEST_FLAGS][WS_MANIFEST_NAME];
    WsRunMap map[WS_MANIFEST_MAPS];
    WsRunWait wait[WS_MANIFEST_WAITS];
    int n_agents; /* of a CTA, with a debug build */
    char agent[WS_MANIFEST_AGENTS][WS_MANIFEST_NAME];
    bool adversary, hangs; /* the debug build holds agents to a witness; its end is a hang */
    uint32_t moves;        /* of the witness */
    char told[200];        /* its end in words */
    int n_awaits;
    WsRunAwait await[WS_MANIFEST_AWAITS];
    uint64_t record_bytes;                                 /* of the record buffer, 0: not traced */
    int64_t first_round, rounds, first_tile, tiles, every; /* the recorder's choice */
    int64_t launches; /* that take turns with their rounds, `every` of them; 1: one */
    uint64_t plan;    /* key of the recorder's plan (launch/measure.h), 0 not stated */
    int n_ctas;
    uint32_t cta[WS_MANIFEST_CTAS];
    WsRunCase case_[WS_MANIFEST_CASES];
} WsManifest;

/* Parses `text` (modified while it is read). On failure returns false and writes one sentence with
 * the line and the remedy to `error`. */
bool ws_manifest_parse(char *text, WsManifest *m, char *error, size_t size);
/* Reads DIR/bundle.txt. */
bool ws_manifest_load(const char *dir, WsManifest *m, char *error, size_t size);
/* The kernel leaves it for its caller. */
bool ws_run_is_output(const WsRunTensor *t);
/* Elements a tensor of a case spans in memory: (extent-1)*stride summed, + 1; 0 if it is empty,
 * -1 on overflow. */
int64_t ws_run_span(const WsRunTensor *t, const WsRunTensorCase *c);
/* Product of the extents; -1 on overflow. */
int64_t ws_run_elements(const WsRunTensor *t, const WsRunTensorCase *c);
/* File name of the records of a case: "records.bin", "records-1.bin", … */
/* Inputs of a device of a mesh are others than those of the devices before it. */
uint64_t ws_run_device_key(const WsManifest *m, int device, int tensor);
void ws_run_records_name(int case_index, char *name, size_t size);
