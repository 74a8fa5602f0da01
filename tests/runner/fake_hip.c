/* libamdhip64.so for tests of the runner: memory is malloc, nothing of a code object is executed.
 * The kernel and its reference are C[M,N] = A[M,K] B[K,N] on the host, in f16. $FAKE_HIP lists what
 * shall go wrong; calls worth looking at are written to $FAKE_HIP_LOG. */
#include "program/inputs.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_DEVICE = 100, NO_BINARY = 209, NOT_FOUND = 500, INVALID_VALUE = 1 };

static bool on; /* hipSetDevice was called */

static bool mode(const char *what)
{
    const char *all = getenv("FAKE_HIP");
    return all && strcmp(all, what) == 0;
}

static void note(const char *format, ...)
{
    const char *path = getenv("FAKE_HIP_LOG");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f)
        return;
    va_list list;
    va_start(list, format);
    vfprintf(f, format, list);
    va_end(list);
    fclose(f);
}

const char *hipGetErrorName(int error)
{
    return error == NO_BINARY ? "hipErrorNoBinaryForGpu" : "hipErrorInvalidValue";
}
const char *hipGetErrorString(int error)
{
    return error == NO_BINARY ? "no kernel image is available for execution on the device" : "fake";
}
int hipInit(unsigned flags)
{
    return flags;
}
int hipDriverGetVersion(int *version)
{
    *version = 70151803;
    return 0;
}
int hipGetDeviceCount(int *count)
{
    *count = mode("no-device") ? 0 : 1;
    return mode("no-device") ? NO_DEVICE : 0;
}
int hipDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}
int hipDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "Fake MI355X");
    return device;
}
int hipDeviceGetAttribute(int *value, int attribute, int device)
{
    /* hipDeviceAttribute_t: L2 cache, compute capability, number of processors */
    *value = attribute == 19 ? 4 << 20 : attribute == 23 ? 9 : attribute == 61 ? 5 : 0;
    if (attribute == 63)
        *value = 256;
    return *value ? device : INVALID_VALUE;
}
int hipSetDevice(int device)
{
    on = true;
    return device;
}
int hipStreamCreateWithFlags(void **stream, unsigned flags)
{
    *stream = &on;
    return on ? (int)flags : INVALID_VALUE;
}
int hipStreamSynchronize(void *stream)
{
    return stream == &on ? 0 : INVALID_VALUE;
}
int hipStreamQuery(void *stream)
{
    return stream == &on ? 0 : INVALID_VALUE;
}
int hipEventCreateWithFlags(void **event, unsigned flags)
{
    *event = &on;
    return (int)flags;
}
int hipEventRecord(void *event, void *stream)
{
    return event && stream ? 0 : INVALID_VALUE;
}
int hipEventSynchronize(void *event)
{
    return event ? 0 : INVALID_VALUE;
}
int hipEventElapsedTime(float *ms, void *from, void *to)
{
    *ms = 0.1f;
    return from && to ? 0 : INVALID_VALUE;
}
int hipMalloc(void **address, size_t bytes)
{
    *address = calloc(1, bytes);
    return *address ? 0 : 2;
}
int hipFree(void *address)
{
    free(address);
    return 0;
}
int hipMemcpyHtoD(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return 0;
}
int hipMemcpyDtoH(void *to, void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return 0;
}
int hipMemsetD8Async(void *to, unsigned char value, size_t n, void *stream)
{
    memset(to, value, n);
    return stream ? 0 : INVALID_VALUE;
}
int hipMemsetD32Async(void *to, int value, size_t n, void *stream)
{
    note("flush %zu of %d\n", 4 * n, value); /* not done: 256 MB a launch */
    return to && stream ? 0 : INVALID_VALUE;
}
int hipModuleLoadData(void **module, const void *image)
{
    const unsigned char *b = image;
    note("load %s for machine %d, flags 0x%x\n", memcmp(b, "\177ELF", 4) ? "?" : "ELF",
         b[18] | b[19] << 8, b[48] | b[49] << 8 | b[50] << 16);
    *module = &on;
    return mode("no-binary") ? NO_BINARY : 0;
}
int hipModuleGetFunction(void **function, void *module, const char *name)
{
    *function = strdup(name);
    return module == &on ? 0 : INVALID_VALUE;
}
int hipFuncGetAttribute(int *value, int attribute, void *function)
{
    *value = attribute == 4 ? 250 : attribute == 3 ? 0 : -1; /* registers, local bytes */
    return function ? 0 : INVALID_VALUE;
}

#define ARG(type, i) (*(type *)p[i])

/* Elements of A and B that the formula names for C[flat]. */
static double element(void **p, int64_t flat)
{
    const int64_t n = ARG(int64_t, 4), k = ARG(int64_t, 5), row = flat / n, col = flat % n;
    double sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum += ws_input_decode(WS_INPUT_F16, ARG(uint16_t *, 0)[row * k + i]) *
               ws_input_decode(WS_INPUT_F16, ARG(uint16_t *, 1)[i * n + col]);
    return sum;
}

static void multiply(void **p)
{
    static int launches;
    const int64_t all = ARG(int64_t, 3) * ARG(int64_t, 4);
    for (int64_t i = 0; i < all; i++)
        ARG(uint16_t *, 2)[i] = (uint16_t)ws_input_encode(WS_INPUT_F16, element(p, i));
    if (mode("wrong"))
        ARG(uint16_t *, 2)[all - 1] ^= 0x4000;
    if (mode("unwritten"))
        ARG(uint16_t *, 2)[3] = 0xffff;
    if (mode("unsteady"))
        ARG(uint16_t *, 2)[0] ^= launches++ & 1;
}

int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void *stream, void **p,
                          void **extra)
{
    note("launch %s %u %u %u of %u %u %u shared %u%s\n", (char *)function, gx, gy, gz, bx, by, bz,
         shared, extra ? " extra" : "");
    if (stream != &on || gx == 0)
        return INVALID_VALUE;
    if (strcmp(function, "warpstave") == 0) {
        multiply(p);
        return 0;
    }
    if (strcmp(function, "warpstave_reference") != 0)
        return NOT_FOUND;
    for (int64_t i = 0; i < ARG(int64_t, 8) && i < (int64_t)gx * bx; i++)
        ARG(double *, 7)[i] = element(p, ARG(int64_t *, 6)[i]);
    return 0;
}
