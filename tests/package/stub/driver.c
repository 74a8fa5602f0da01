/* libcuda.so.1 of two devices with 132 SMs, whose driver prints what it is asked. STUB_QUIET: it
 * counts alone. The context of device n is (void *)(n + 1); a stream's number is its id, and
 * STUB_CAPTURE that of the capture it is in. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int id, pad;
    unsigned value[16];
} Attribute;

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    Attribute *attribute;
    unsigned attributes;
} Config;

static _Thread_local void *stack[8] = { (void *)1 };
static _Thread_local int depth;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* For tests that count; read when no other thread calls. */
long stub_maps, stub_launches, stub_pushes, stub_last_device;
unsigned long long stub_capture, stub_last_counter;

static int quiet(void)
{
    return getenv("STUB_QUIET") != NULL;
}

void stub_set_context(void *context)
{
    stack[depth] = context;
}

int cuGetErrorString(int error, const char **text)
{
    *text = error ? "refused" : "no error";
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    *context = stack[depth];
    return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
    stack[++depth] = context;
    pthread_mutex_lock(&lock);
    stub_pushes++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
    *context = stack[depth--];
    return 0;
}

int cuCtxGetDevice(int *device)
{
    *device = (int)(intptr_t)stack[depth] - 1;
    return 0;
}

int cuCtxSynchronize(void)
{
    if (!quiet())
        printf("synchronize\n");
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 16   ? 132
             : attribute == 75 ? atoi(getenv("STUB_MAJOR") ? getenv("STUB_MAJOR") : "9")
                               : 0;
    return 0;
}

int cuModuleLoadData(void **module, const void *image)
{
    (void)image;
    *module = malloc(1);
    return 0;
}

int cuModuleUnload(void *module)
{
    free(module);
    return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    (void)name;
    *function = module;
    return 0;
}

int cuFuncSetAttribute(void *function, int attribute, int value)
{
    (void)function;
    if (!quiet())
        printf("attribute %d %d\n", attribute, value);
    return 0;
}

int cuMemAlloc_v2(unsigned long long *address, size_t bytes)
{
    *address = (unsigned long long)malloc(bytes);
    return 0;
}

int cuMemFree_v2(unsigned long long address)
{
    free((void *)address);
    return 0;
}

int cuMemsetD32_v2(unsigned long long address, unsigned value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned *)address)[i] = value;
    return 0;
}

int cuStreamGetId(void *stream, unsigned long long *id)
{
    *id = (unsigned long long)stream;
    return stub_capture ? 900 : 0; /* as the driver: a capture is broken by asking */
}

int cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *id, void *graph, void *of,
                              void *n)
{
    (void)stream, (void)graph, (void)of, (void)n;
    *status = stub_capture != 0;
    *id = stub_capture;
    return 0;
}

int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address,
                           const uint64_t *extent, const uint64_t *stride, const uint32_t *box,
                           const uint32_t *step, int interleave, int swizzle, int promotion,
                           int fill)
{
    (void)step, (void)interleave, (void)promotion, (void)fill;
    memset(map, 0, 128);
    memcpy(map, &address, sizeof address);
    memcpy((char *)map + 8, extent, 8);
    pthread_mutex_lock(&lock);
    stub_maps++;
    pthread_mutex_unlock(&lock);
    if (quiet())
        return 0;
    printf("map %d %u %lu %d :", type, rank, (unsigned long)address, swizzle);
    for (unsigned d = 0; d < rank; d++)
        printf(" %lu", (unsigned long)extent[d]);
    printf(" :");
    for (unsigned d = 0; d + 1 < rank; d++)
        printf(" %lu", (unsigned long)stride[d]);
    printf(" :");
    for (unsigned d = 0; d < rank; d++)
        printf(" %u", box[d]);
    printf("\n");
    return 0;
}

int cuLaunchKernelEx(const Config *c, void *function, void **parameter, void **extra)
{
    (void)function, (void)extra;
    const char *skip = getenv("STUB_MAPS"), *n = getenv("STUB_VALUES");
    /* the first map must be of the first address: threads must not mix them */
    if (skip && atoi(skip) && getenv("STUB_FIRST") &&
        memcmp(parameter[0], parameter[atoi(skip)], 8) != 0)
        printf("MIXED\n");
    pthread_mutex_lock(&lock);
    stub_launches++;
    stub_last_device = (long)(intptr_t)stack[depth] - 1;
    if (getenv("STUB_COUNTER"))
        stub_last_counter = *(unsigned long long *)parameter[atoi(getenv("STUB_COUNTER"))];
    pthread_mutex_unlock(&lock);
    if (quiet())
        return 0;
    printf("launch %u %u %u %u :", c->grid[0], c->block[0], c->shared,
           c->attributes ? c->attribute[0].value[0] : 1);
    for (int i = 0; n && i < atoi(n); i++) /* addresses, then sizes */
        printf(" %lld", *(long long *)parameter[atoi(skip ? skip : "0") + i]);
    printf("\n");
    return 0;
}
