/* The CUDA driver by dlopen: own declarations of the few functions in use, so that neither CUDA
 * headers nor a driver are needed to build. Layouts and values are those of cuda.h (driver API 12;
 * checked against it by tests/runner/test-layout.c where the header is installed). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    _Alignas(128) uint64_t opaque[16]; /* 64 up to CUDA 12, 128 since */
    ;
} WsCuTensorMap;

typedef struct {
    int id;
    char pad[8 - sizeof(int)];
    union {
        char pad[64];
        struct {
            unsigned x, y, z;
        } cluster;
        int cooperative;
    } value;
} WsCuAttribute;

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    WsCuAttribute *attribute;
    unsigned n_attributes;
} WsCuLaunch;

/* Where memory is, and who reaches it (CUmemLocation, CUmemAllocationProp, CUmemAccessDesc). */
typedef struct {
    int type, id;
} WsCuLocation;
typedef struct {
    int type, handle_types;
    WsCuLocation location;
    void *win32;
    unsigned char flags[8];
} WsCuMemProp;
typedef struct {
    WsCuLocation location;
    int flags;
} WsCuMemAccess;

enum {
    WS_CU_SUCCESS = 0,
    WS_CU_DRIVER_LEAST = 12000, /* as cuDriverGetVersion counts */
    WS_CU_OUT_OF_MEMORY = 2,
    WS_CU_NO_DEVICE = 100,
    WS_CU_NOT_READY = 600,
    WS_CU_NO_BINARY = 209,
    WS_CU_UNSUPPORTED_PTX = 222,
    WS_CU_ATTRIBUTE_SMS = 16,
    WS_CU_ATTRIBUTE_MAJOR = 75,
    WS_CU_ATTRIBUTE_MINOR = 76,
    WS_CU_ATTRIBUTE_L2 = 38,
    WS_CU_FUNC_LOCAL = 3,
    WS_CU_FUNC_REGISTERS = 4,
    WS_CU_FUNC_MAX_SHARED = 8,
    WS_CU_LAUNCH_COOPERATIVE = 2,
    WS_CU_LAUNCH_CLUSTER = 4,
    WS_CU_MEM_PINNED = 1,
    WS_CU_LOCATION_DEVICE = 1,
    WS_CU_ACCESS_READ_WRITE = 3,
    WS_CU_HANDLE_FD = 1,
    WS_CU_JIT_INFO_LOG = 3,
    WS_CU_JIT_INFO_SIZE = 4,
    WS_CU_JIT_ERROR_LOG = 5,
    WS_CU_JIT_ERROR_SIZE = 6,
    WS_CU_JIT_VERBOSE = 12,
    WS_CU_HOST_MAPPED = 2,
};

typedef struct {
#define WS_CUDA(member, symbol, parameters) int(*member) parameters;
#include "runner/cuda.def"
#undef WS_CUDA
} WsCudaDriver;

typedef struct {
#define WS_NVML(member, symbol, parameters) int(*member) parameters;
#include "runner/nvml.def"
#undef WS_NVML
    void *device; /* NULL: not available */
} WsNvml;

/* Loads the driver library: $WARPSTAVE_LIBCUDA, else libcuda.so.1. On failure returns false with
 * the reason in `error`. */
bool ws_cuda_open(WsCudaDriver *cu, char *error, size_t size);
/* Loads NVML for the device at a PCI address; absent parts leave nvml->device NULL. */
void ws_nvml_open(WsNvml *nvml, const char *pci);
