/* A CUDA driver that runs on the CPU, for tests of the runner: memory is malloc, the runner's small
 * kernels are evaluated from the same header the real ones are made of, and the "generated" kernel
 * of the test bundle copies tensor 0 to tensor 1. $FAKE_CUDA lists what shall go wrong; calls worth
 * looking at are written to $FAKE_CUDA_LOG. */
#include "program/agree.h"
#include "program/debug_words.h"
#include "program/inputs.h"
#include "runner/cuda_driver.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INVALID_VALUE = 1, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700, INVALID_PTX = 218 };

typedef struct {
    char name[64], build[16]; /* entry; first word of the module's second line */
} Function;

static int pending; /* error of the next synchronisation */
static bool hanging, last_traced;
static int timed_launches;

static bool mode(const char *what)
{
    const char *all = getenv("FAKE_CUDA");
    const char *found = all ? strstr(all, what) : NULL;
    return found && (found == all || found[-1] == ',') &&
           (found[strlen(what)] == 0 || found[strlen(what)] == ',');
}

static void note(const char *format, ...)
{
    const char *path = getenv("FAKE_CUDA_LOG");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f)
        return;
    va_list list;
    va_start(list, format);
    vfprintf(f, format, list);
    va_end(list);
    fclose(f);
}

#define API __attribute__((visibility("default"))) int

API cuGetErrorName(int error, const char **text)
{
    *text = error == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == INVALID_PTX   ? "CUDA_ERROR_INVALID_PTX"
            : error == 100           ? "CUDA_ERROR_NO_DEVICE"
                                     : "CUDA_ERROR_INVALID_VALUE";
    return 0;
}
API cuGetErrorString(int error, const char **text)
{
    *text = error == ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "fake";
    return 0;
}
API cuInit(unsigned flags)
{
    return mode("no-device") ? 100 : 0;
}
API cuDriverGetVersion(int *version)
{
    *version = mode("old-driver") ? 11080 : 13000;
    return 0;
}
API cuDeviceGetCount(int *count)
{
    *count = mode("four-devices") ? 4 : mode("two-devices") ? 2 : 1;
    return 0;
}
API cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}
API cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "Fake \"H200\"");
    return 0;
}
API cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == WS_CU_ATTRIBUTE_SMS     ? 7
             : attribute == WS_CU_ATTRIBUTE_MAJOR ? (mode("old-gpu") ? 8 : 9)
             : attribute == WS_CU_ATTRIBUTE_L2    ? 1 << 20
                                                  : 0;
    return 0;
}
API cuDeviceGetPCIBusId(char *text, int size, int device)
{
    snprintf(text, (size_t)size, "0000:%02x:00.0",
             mode("one-gpu")     ? 0
             : mode("one-shown") ? atoi(getenv("LOCAL_RANK"))
                                 : device);
    return 0;
}
API cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &pending;
    return 0;
}
API cuCtxSetCurrent(void *context)
{
    return 0;
}
API cuStreamCreate(void **stream, unsigned flags)
{
    *stream = &pending;
    return 0;
}
API cuStreamSynchronize(void *stream)
{
    while (hanging)
        usleep(10000);
    return pending;
}
API cuStreamQuery(void *stream)
{
    (void)stream;
    int code = hanging ? 600 : pending;
    pending = 0;
    return code;
}
API cuEventCreate(void **event, unsigned flags)
{
    *event = &hanging;
    return 0;
}
API cuEventRecord(void *event, void *stream)
{
    return 0;
}
API cuEventSynchronize(void *event)
{
    while (hanging)
        usleep(10000);
    return pending;
}
API cuEventElapsedTime(float *ms, void *from, void *to)
{
    *ms = mode("no-time") ? 0 : last_traced ? 0.101f : 0.1f;
    return 0;
}
API cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    if (mode("no-memory") && bytes == 256u << 20)
        return WS_CU_OUT_OF_MEMORY;
    *address = (uint64_t)(uintptr_t)calloc(1, bytes);
    return *address ? 0 : WS_CU_OUT_OF_MEMORY;
}
API cuMemFree_v2(uint64_t address)
{
    free((void *)(uintptr_t)address);
    return 0;
}
/* --- virtual memory: what is created is a file in memory, its handle the descriptor + 1, so that
 * processes share it */
enum { GRAIN = 4096 };
API cuMemGetAllocationGranularity(size_t *bytes, const WsCuMemProp *prop, int option)
{
    *bytes = GRAIN;
    return prop->type == 1 && prop->location.type == 1 && prop->handle_types <= 1 && !option
               ? 0
               : INVALID_VALUE;
}
API cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t at,
                        unsigned long long flags)
{
    void *range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (range == MAP_FAILED || bytes % GRAIN || alignment != GRAIN || at || flags)
        return INVALID_VALUE;
    *address = (uint64_t)(uintptr_t)range;
    note("reserve %zu\n", bytes);
    return 0;
}
API cuMemAddressFree(uint64_t address, size_t bytes)
{
    munmap((void *)(uintptr_t)address, bytes);
    note("free %zu\n", bytes);
    return 0;
}
API cuMemCreate(uint64_t *handle, size_t bytes, const WsCuMemProp *prop, unsigned long long flags)
{
    if (mode("no-peer-memory"))
        return WS_CU_OUT_OF_MEMORY;
    const int fd = memfd_create("fake", 0);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        return WS_CU_OUT_OF_MEMORY;
    void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fresh == MAP_FAILED)
        return WS_CU_OUT_OF_MEMORY;
    memset(fresh, 0xa5, bytes);
    munmap(fresh, bytes);
    *handle = (uint64_t)fd + 1;
    note("create %zu on %d\n", bytes, prop->location.id);
    return flags ? INVALID_VALUE : 0;
}
API cuMemRelease(uint64_t handle)
{
    note("release\n");
    return handle && close((int)handle - 1) == 0 ? 0 : INVALID_VALUE;
}
API cuMemExportToShareableHandle(void *to, uint64_t handle, int type, unsigned long long flags)
{
    *(int *)to = mode("no-export") ? -1 : dup((int)handle - 1);
    note("export\n");
    return *(int *)to < 0 || type != 1 || flags ? INVALID_VALUE : 0;
}
API cuMemImportFromShareableHandle(uint64_t *handle, void *from, int type)
{
    const int fd = dup((int)(intptr_t)from);
    *handle = (uint64_t)fd + 1;
    note("import\n");
    return fd < 0 || type != 1 ? INVALID_VALUE : 0;
}
API cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
             unsigned long long flags)
{
    if (address % GRAIN || bytes % GRAIN || offset || !handle || flags)
        return INVALID_VALUE;
    return mmap((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                (int)handle - 1, 0) == MAP_FAILED
               ? INVALID_VALUE
               : 0;
}
API cuMemUnmap(uint64_t address, size_t bytes)
{
    return address % GRAIN || bytes % GRAIN ||
                   mmap((void *)(uintptr_t)address, bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED
               ? INVALID_VALUE
               : 0;
}
API cuMemSetAccess(uint64_t address, size_t bytes, const WsCuMemAccess *access, size_t n)
{
    note("access");
    for (size_t i = 0; i < n; i++)
        note(" %d:%d", access[i].location.id, access[i].flags);
    note("\n");
    return address % GRAIN || bytes % GRAIN ? INVALID_VALUE : 0;
}
API cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = !mode("no-peer");
    return device == peer ? INVALID_VALUE : 0;
}
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, void *function, int threads,
                                                size_t shared)
{
    *ctas = 1;
    return function && threads == 128 && shared == 1024 ? 0 : INVALID_VALUE;
}
API cuMemHostAlloc(void **host, size_t bytes, unsigned flags)
{
    *host = calloc(1, bytes);
    return 0;
}
API cuMemHostGetDevicePointer_v2(uint64_t *address, void *host, unsigned flags)
{
    *address = (uint64_t)(uintptr_t)host;
    return 0;
}
API cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
API cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
API cuMemsetD8Async(uint64_t to, unsigned char value, size_t n, void *stream)
{
    memset((void *)(uintptr_t)to, value, n);
    return 0;
}
API cuMemsetD32Async(uint64_t to, unsigned value, size_t n, void *stream)
{
    note("flush %zu\n", 4 * n); /* not done: 256 MB a launch would make the tests slow */
    return 0;
}
API cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *option, void **value)
{
    const char *text = image;
    bool generated = strncmp(text, "build ", 6) == 0;
    if (n != 5 || option[0] != WS_CU_JIT_INFO_LOG || option[3] != WS_CU_JIT_ERROR_SIZE)
        return INVALID_VALUE;
    if (generated && mode("bad-ptx")) {
        snprintf(value[2], (size_t)value[3],
                 "ptxas application ptx input, line 9; fatal : Parsing error");
        return INVALID_PTX;
    }
    if (generated && mode("diagnostic"))
        snprintf(value[0], (size_t)value[1], "info : (C7510) Potential Performance Loss: wgmma");
    char *build = calloc(1, 16);
    if (generated)
        sscanf(text, "build %15s", build);
    *module = build;
    return 0;
}
API cuModuleGetFunction(void **function, void *module, const char *name)
{
    Function *f = calloc(1, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(f->build, sizeof f->build, "%s", (const char *)module);
    *function = f;
    return 0;
}
API cuFuncGetAttribute(int *value, int attribute, void *function)
{
    *value = attribute == WS_CU_FUNC_REGISTERS ? 168 : 0;
    return 0;
}
API cuFuncSetAttribute(void *function, int attribute, int value)
{
    note("shared %d\n", value);
    return attribute == WS_CU_FUNC_MAX_SHARED ? 0 : INVALID_VALUE;
}
API cuTensorMapEncodeTiled(WsCuTensorMap *map, int dtype, unsigned rank, void *address,
                           const uint64_t *extent, const uint64_t *stride, const uint32_t *box,
                           const uint32_t *step, int interleave, int swizzle, int promotion,
                           int fill)
{
    if ((uintptr_t)map % 64)
        return INVALID_VALUE;
    map->opaque[0] = 0xfeed;
    map->opaque[1] = (uint64_t)(uintptr_t)address;
    note("map dtype %d rank %u extent", dtype, rank);
    for (unsigned d = 0; d < rank; d++)
        note(" %llu", (unsigned long long)extent[d]);
    note(" stride");
    for (unsigned d = 0; d + 1 < rank; d++)
        note(" %llu", (unsigned long long)stride[d]);
    note(" box");
    for (unsigned d = 0; d < rank; d++)
        note(" %u", box[d]);
    note(" swizzle %d\n", swizzle);
    return 0;
}

/* --- kernels
 * ------------------------------------------------------------------------------------*/

typedef struct {
    int64_t rank, extent[5], stride[5];
} Layout;

static int64_t offset_of(const Layout *l, int64_t flat)
{
    int64_t offset = 0;
    for (int64_t d = l->rank - 1; d >= 0; d--) {
        offset += flat % l->extent[d] * l->stride[d];
        flat /= l->extent[d];
    }
    return offset;
}

#define ARG(type, i) (*(type *)p[i])
#define AT(type, i)  ((type *)(uintptr_t)ARG(uint64_t, i))

static void run_scan(void **p)
{
    const Layout *l = p[2];
    uint64_t *result = AT(uint64_t, 4);
    for (int64_t i = 0; i < ARG(int64_t, 3); i++) {
        double v = ws_input_decode(
            ARG(int, 1), ws_input_get(AT(void, 0), ARG(int, 1), (uint64_t)offset_of(l, i)));
        if (v - v != 0) {
            result[0]++;
            result[1] = (uint64_t)i < result[1] ? (uint64_t)i : result[1];
        }
    }
}

static void run_hash(void **p)
{
    const unsigned char *b = AT(unsigned char, 0);
    for (int64_t i = 0; i < ARG(int64_t, 1); i++)
        *AT(uint64_t, 2) += ws_input_mix(b[i] + WS_INPUT_GOLDEN * (uint64_t)(i + 1));
}

static void run_gather(void **p)
{
    const Layout *l = p[2];
    for (int64_t i = 0; i < ARG(int64_t, 5); i++)
        AT(double, 4)
    [i] = ws_input_decode(ARG(int, 1), ws_input_get(AT(void, 0), ARG(int, 1),
                                                    (uint64_t)offset_of(l, AT(int64_t, 3)[i])));
}

/* A device of a mesh. Parameters: map X, map Y, X, Y, M, N, rank, scalar, records (traced), maps of
 * all, flags, launches. It puts its X into the Y of the next device, and adds 1 to flag `come`
 * there and 2 to both elements of flag `all` of every device. */
static int run_device(const Function *f, void **p, int devices)
{
    const int64_t rank = ARG(int64_t, 6), n = ARG(int64_t, 4) * ARG(int64_t, 5);
    const int64_t next = mode("own") ? rank : (rank + 1) % devices;
    const int traced = strcmp(f->build, "traced") == 0; /* its records stand before these */
    const WsCuTensorMap *maps = AT(WsCuTensorMap, 8 + traced);
    const uint64_t *flags = AT(uint64_t, 9 + traced);
    const int64_t launches = ARG(int64_t, 10 + traced);
    const uint64_t head[8] = { 0x11, 1000, 101000, 5, 160005 }; /* 0.1 ms at 1600 MHz */
    if (traced)
        memcpy(AT(void, 8), head, sizeof head);
    if (ARG(float, 7) != 0.5f || rank < 0 || rank >= devices)
        return INVALID_VALUE;
    for (int i = 0; i < 2; i++) /* its own maps stand where it looks for them */
        if (maps[i * devices + rank].opaque[1] != ((const WsCuTensorMap *)p[i])->opaque[1] ||
            ((const WsCuTensorMap *)p[i])->opaque[1] != ARG(uint64_t, 2 + i))
            return INVALID_VALUE;
    note("rank %d after %d launches\n", (int)rank, (int)launches);
    memcpy((void *)(uintptr_t)maps[devices + next].opaque[1], AT(void, 2), (size_t)n * 2);
    if (mode("hang") || (mode("killed") && rank == 0)) /* it waits for one that never comes */
        hanging = true;
    if (mode("killed") && rank == 1)
        kill(getppid(), SIGKILL); /* its supervisor, and with that itself */
    if (mode("dies") && rank == 1)
        abort();
    __atomic_fetch_add((uint64_t *)(uintptr_t)flags[next], mode("lost") && launches == 1 ? 0 : 1,
                       __ATOMIC_RELAXED);
    for (int d = 0; d < devices; d++)
        for (int e = 1; e < 3; e++)
            __atomic_fetch_add((uint64_t *)(uintptr_t)flags[d] + e, 2, __ATOMIC_RELAXED);
    return 0;
}

/* Y of a device is X of the one before. Parameters: X, Y, M, N, rank, scalar, pitch of X, of Y,
 * devices, then indices, values, n. */
static void run_mesh_reference(void **p)
{
    const int64_t n = ARG(int64_t, 2) * ARG(int64_t, 3), devices = ARG(int64_t, 8);
    for (int64_t i = 0; i < ARG(int64_t, 11); i++) {
        const int64_t flat = AT(int64_t, 9)[i], from = (flat / n + devices - 1) % devices;
        const char *x = (const char *)AT(void, 0) + from * ARG(int64_t, 6);
        AT(double, 10)
        [i] = ws_input_decode(WS_INPUT_BF16, ws_input_get(x, WS_INPUT_BF16, (uint64_t)(flat % n)));
    }
}

/* Parameters: flag, flag of the other, first, n, out. The timer of the second GPU is 50 us ahead;
 * a number takes 400 ns there and as long back. */
static void run_meeting(void **p)
{
    const int n = ARG(int, 3), first = ARG(int, 2);
    uint64_t *out = AT(uint64_t, 4);
    if (mode("no-meeting"))
        return;
    for (int i = 0; i < n; i++) {
        const uint64_t sent = 1000000 + 1000 * (uint64_t)i, way = 400;
        if (first) {
            out[2 * i] = sent;
            out[2 * i + 1] = sent + 2 * way;
        } else {
            out[i] = sent + way + 50000 + (mode("timers-jump") && i == n / 2 ? 10000 : 0);
        }
    }
}

/* Parameters: map X, map Y, X, Y, M, N, scalar, then the build's own. */
static int run_generated(const Function *f, void **p)
{
    for (int i = 0; i < 2; i++) {
        const WsCuTensorMap *map = p[i];
        if ((uintptr_t)map % 64 || map->opaque[0] != 0xfeed ||
            map->opaque[1] != ARG(uint64_t, 2 + i))
            return INVALID_VALUE;
    }
    int64_t n = ARG(int64_t, 4) * ARG(int64_t, 5);
    last_traced = strcmp(f->build, "traced") == 0;
    if (ARG(float, 6) != 0.5f)
        return INVALID_VALUE;
    if (strcmp(f->build, "debug") == 0) {
        uint32_t *w = AT(uint32_t, 7);
        uint32_t words[] = { WS_DEBUG_MBARRIER, 17 | 2u << 24, 3, 1, 1, 0, 0xaaaa, 0xbbbb, 5, 7,
                             UINT32_MAX };
        w[WS_DEBUG_CLOCK] = 3;
        if (mode("ends")) { /* the held build comes to its end, with right values */
            memcpy(AT(void, 3), AT(void, 2), (size_t)n * 2);
            return 0;
        }
        memcpy(w + WS_DEBUG_HEADER + 4 * WS_DEBUG_RECORD, words, sizeof words); /* CTA 2, agent 0 */
        pending = 719; /* what a trap gives */
        return 0;
    }
    if (mode("hang") && !last_traced)
        hanging = true;
    if (mode("fault") && n > 100)
        pending = ILLEGAL_ADDRESS;
    if (mode("crash"))
        abort();
    if (mode("hidden")) { /* counter, curve: behind the build's own */
        uint32_t *counter = AT(uint32_t, last_traced ? 8 : 7);
        const int32_t *curve = AT(int32_t, last_traced ? 9 : 8);
        note("counter %u curve %d,%d %d,%d %d,%d\n", *counter, curve[0], curve[1], curve[2],
             curve[3], curve[4], curve[5]);
    }
    memcpy(AT(void, 3), AT(void, 2), (size_t)n * 2);
    if (mode("wrong"))
        AT(uint16_t, 3)[n - 1] ^= 0x80; /* exponent: far off */
    if (mode("infinite") || mode("infinite-here"))
        AT(uint16_t, 3)[1] = AT(uint16_t, 3)[n - 2] = 0xff80;
    if (mode("infinite-sign"))
        AT(uint16_t, 3)[1] = 0x7f80, AT(uint16_t, 3)[n - 2] = 0xff80;
    if (mode("infinite-nan"))
        AT(uint16_t, 3)[1] = 0xff80, AT(uint16_t, 3)[n - 2] = 0xffff;
    if (mode("any") || mode("any-beside"))
        AT(uint16_t, 3)[1] = AT(uint16_t, 3)[n - 2] = 0xffff;
    if (mode("any-infinite"))
        AT(uint16_t, 3)[1] = 0xffff, AT(uint16_t, 3)[n - 2] = 0x7f80;
    if (mode("unwritten"))
        AT(uint16_t, 3)[1] = 0xffff;
    if (mode("unsteady"))
        AT(uint16_t, 3)[0] ^= timed_launches++ & 1;
    if (mode("traced-differs") && last_traced)
        AT(uint16_t, 3)[0] ^= 1;
    if (last_traced) { /* 0.1 ms at 1600 MHz */
        uint64_t head[8] = { 0x11, 1000, 101000, 5, 160005 };
        memcpy(AT(void, 7), head, sizeof head);
    }
    return 0;
}

/* Where the reference is infinite. */
static bool infinite_at(int64_t i, int64_t n)
{
    return (mode("infinite") || mode("infinite-sign") || mode("infinite-nan")) &&
           (i == 1 || i == n - 2);
}

/* Where the reference says `any`. */
static bool any_at(int64_t i, int64_t n)
{
    return (i == 1 && (mode("any") || mode("any-beside") || mode("any-infinite"))) ||
           (i == n - 2 && mode("any"));
}

API cuLaunchKernelEx(const WsCuLaunch *c, void *function, void **p, void **extra)
{
    const Function *f = function;
    if (strncmp(f->name, "ws_", 3) != 0 && c->n_attributes && c->attribute[0].id == 2)
        note("cooperative %d\n", c->attribute[0].value.cooperative);
    if (strncmp(f->name, "ws_", 3) != 0)
        note("launch %s %s grid %u block %u shared %u cluster %u\n", f->name, f->build, c->grid[0],
             c->block[0], c->shared,
             c->n_attributes ? c->attribute[0].value.cluster.x * (c->attribute[0].id == 4) : 1);
    if (c->grid[0] == 0)
        return INVALID_VALUE;
    if (strcmp(f->name, "ws_fill") == 0)
        ws_input_fill(AT(void, 0), p[2], (uint64_t)ARG(int64_t, 1));
    else if (strcmp(f->name, "ws_scan") == 0)
        run_scan(p);
    else if (strcmp(f->name, "ws_hash") == 0)
        run_hash(p);
    else if (strcmp(f->name, "ws_gather") == 0)
        run_gather(p);
    else if (strcmp(f->name, "ws_clock_probe") == 0)
        AT(uint64_t, 1)[0] = 300000, AT(uint64_t, 1)[1] = 200000;
    else if (strcmp(f->name, "ws_timers_meet") == 0)
        run_meeting(p);
    else if (strcmp(f->name, "warpstave") == 0 && mode("mesh"))
        return run_device(f, p, mode("three") ? 3 : mode("quad") ? 4 : 2);
    else if (strcmp(f->name, "warpstave_reference") == 0 && mode("mesh"))
        run_mesh_reference(p);
    else if (strcmp(f->name, "warpstave") == 0)
        return run_generated(f, p);
    else if (strcmp(f->name, "warpstave_reference") == 0 &&
             (mode("late-reference") || (mode("late-rest") && ARG(int64_t, 7) > 64)))
        hanging = true;
    else if (strcmp(f->name, "warpstave_reference") == 0) /* X, Y, M, N, scalar, at, out, n */
        /* one sample a thread, as the generated kernel */
        for (int64_t i = 0; i < ARG(int64_t, 7) && i < (int64_t)c->grid[0] * c->block[0]; i++)
            AT(double, 6)
    [i] = any_at(AT(int64_t, 5)[i], ARG(int64_t, 2) * ARG(int64_t, 3)) ? ws_any()
          : infinite_at(AT(int64_t, 5)[i], ARG(int64_t, 2) * ARG(int64_t, 3))
              ? -INFINITY
              : ws_input_decode(WS_INPUT_BF16, ws_input_get(AT(void, 0), WS_INPUT_BF16,
                                                            (uint64_t)AT(int64_t, 5)[i]));
    else return NOT_FOUND;
    return 0;
}
