#include "runner/cuda_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ws_cuda_open(WsCudaDriver *cu, char *error, size_t size)
{
    const char *name = getenv("WARPSTAVE_LIBCUDA");
    if (!name || !*name)
        name = "libcuda.so.1";
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(error, size, "no CUDA driver here, install NVIDIA's or choose another host: %s",
                 dlerror());
        return false;
    }
    static const char *const symbol[] = {
#define WS_CUDA(member, text, parameters) text,
#include "runner/cuda.def"
#undef WS_CUDA
    };
    void *address[sizeof symbol / sizeof *symbol];
    for (size_t i = 0; i < sizeof symbol / sizeof *symbol; i++) {
        address[i] = dlsym(library, symbol[i]);
        if (!address[i]) {
            snprintf(error, size, "the CUDA driver %s has no %s: too old (needs CUDA 12)", name,
                     symbol[i]);
            return false;
        }
    }
    _Static_assert(sizeof *cu == sizeof address, "WsCudaDriver holds nothing but functions");
    memcpy(cu, address, sizeof address);
    return true;
}

void ws_nvml_open(WsNvml *nvml, const char *pci)
{
    memset(nvml, 0, sizeof *nvml);
    const char *name = getenv("WARPSTAVE_LIBNVML");
    void *library = dlopen(name && *name ? name : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    static const char *const symbol[] = {
#define WS_NVML(member, text, parameters) text,
#include "runner/nvml.def"
#undef WS_NVML
    };
    void *address[sizeof symbol / sizeof *symbol];
    for (size_t i = 0; i < sizeof symbol / sizeof *symbol; i++)
        if (!(address[i] = dlsym(library, symbol[i])))
            return;
    memcpy(nvml, address, sizeof address);
    if (nvml->init() != 0 || nvml->by_pci(pci, &nvml->device) != 0)
        nvml->device = NULL;
}
