/* A driver of a device with 132 SMs that prints what it is asked. */
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>

CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = error ? "refused" : "no error";
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? 132
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
                 ? atoi(getenv("STUB_MAJOR") ? getenv("STUB_MAJOR") : "9")
                 : 0;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    (void)image;
    *module = (CUmodule)malloc(1);
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    free(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    (void)name;
    *function = (CUfunction)module;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value)
{
    (void)function;
    printf("attribute %d %d\n", attribute, value);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, unsigned long bytes)
{
    *address = (CUdeviceptr)malloc(bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address)
{
    free((void *)address);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD32(CUdeviceptr address, unsigned value, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        ((unsigned *)address)[i] = value;
    return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *extent, const cuuint64_t *stride,
                                const cuuint32_t *box, const cuuint32_t *step, int interleave,
                                CUtensorMapSwizzle swizzle, int promotion, int fill)
{
    (void)map, (void)step, (void)interleave, (void)promotion, (void)fill;
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
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **parameter,
                          void **extra)
{
    (void)function, (void)extra;
    const char *skip = getenv("STUB_MAPS"), *n = getenv("STUB_VALUES");
    printf("launch %u %u %u %u :", c->gridDimX, c->blockDimX, c->sharedMemBytes,
           c->numAttrs ? c->attrs[0].value.clusterDim.x : 1);
    for (int i = 0; n && i < atoi(n); i++) /* addresses, then sizes */
        printf(" %lld", *(long long *)parameter[atoi(skip ? skip : "0") + i]);
    printf("\n");
    return CUDA_SUCCESS;
}
