#include "runner/hip_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
#define WS_HIP_NUMBER(name, number, enumerator) name = number,
#include "runner/hip_number.def"
#undef WS_HIP_NUMBER
};

static struct {
#define WS_HIP(member, symbol, result, parameters, cuda) result(*member) parameters;
#include "runner/hip.def"
#undef WS_HIP
} hip;

static const struct {
    const char *symbol, *cuda;
} calls[] = {
#define WS_HIP(member, symbol, result, parameters, cuda) { symbol, cuda },
#include "runner/hip.def"
#undef WS_HIP
};
enum { CALLS = sizeof calls / sizeof *calls };

bool ws_hip_target(const WsManifest *m)
{
    return strncmp(m->target, "gfx", 3) == 0;
}

const char *ws_hip_lacks(const WsManifest *m)
{
    return m->module[WS_MODULE_TRACED][0] ? "a traced build: the recorder writes no code for it"
           : m->module[WS_MODULE_DEBUG][0]
               ? "a debug build: stuck waits are not told, and no witness held"
           : m->n_maps > 0  ? "tensor maps: its GPUs have none"
           : m->cluster > 1 ? "clusters: its GPUs have none"
           : m->counter     ? "tiles of a dynamic launch"
           : m->mesh        ? "several devices"
                            : NULL;
}

const char *ws_hip_call(const char *cuda)
{
    for (int i = 0; i < CALLS; i++)
        if (strcmp(calls[i].cuda, cuda) == 0)
            return calls[i].symbol;
    return cuda;
}

/* --- the table: what differs from CUDA's own functions
 * ------------------------------------------------------------------------------------------- */
static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static int get_error_name(int error, const char **text)
{
    *text = hip.get_error_name(error);
    return 0;
}
static int get_error_string(int error, const char **text)
{
    *text = hip.get_error_string(error);
    return 0;
}
/* HIP counts 70000000 for 7.0, CUDA 7000. */
static int driver_version(int *version)
{
    int v = 0, code = hip.driver_version(&v);
    *version = v / 10000000 * 1000 + v / 100000 % 100 * 10;
    return code;
}
static int device_attribute(int *value, int attribute, int device)
{
    const int of = attribute == WS_CU_ATTRIBUTE_SMS     ? HIP_CUS
                   : attribute == WS_CU_ATTRIBUTE_MAJOR ? HIP_MAJOR
                   : attribute == WS_CU_ATTRIBUTE_MINOR ? HIP_MINOR
                                                        : HIP_L2;
    return hip.device_attribute(value, of, device);
}
static int no_pci(char *text, int size, int device)
{
    (void)text, (void)size, (void)device;
    return HIP_INVALID_VALUE; /* clock and power are asked of NVML alone */
}
static int context_retain(void **context, int device)
{
    *context = &hip;
    return hip.set_device(device);
}
static int context_set(void *context)
{
    (void)context;
    return 0;
}
static int mem_alloc(uint64_t *address, size_t bytes)
{
    void *memory = NULL;
    const int code = hip.mem_alloc(&memory, bytes);
    *address = (uint64_t)(uintptr_t)memory;
    return code;
}
static int mem_free(uint64_t address)
{
    return hip.mem_free(at(address));
}
static int copy_to_device(uint64_t to, const void *from, size_t bytes)
{
    return hip.copy_to_device(at(to), from, bytes);
}
static int copy_to_host(void *to, uint64_t from, size_t bytes)
{
    return hip.copy_to_host(to, at(from), bytes);
}
static int memset8(uint64_t to, unsigned char value, size_t n, void *stream)
{
    return hip.memset8(at(to), value, n, stream);
}
static int memset32(uint64_t to, unsigned value, size_t n, void *stream)
{
    return hip.memset32(at(to), (int)value, n, stream);
}
/* Code objects are not compiled here: there is no log. */
static int module_load(void **module, const void *image, unsigned n, int *option, void **value)
{
    (void)n, (void)option, (void)value;
    return hip.module_load(module, image);
}
static int function_get(int *value, int attribute, void *function)
{
    return hip.function_get(
        value, attribute == WS_CU_FUNC_REGISTERS ? HIP_FUNC_REGISTERS : HIP_FUNC_LOCAL, function);
}
/* The LDS of a kernel stands in its descriptor: none is asked for at the launch. */
static int function_set(void *function, int attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return 0;
}
static int launch(const WsCuLaunch *c, void *function, void **parameters, void **extra)
{
    return hip.launch(function, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1],
                      c->block[2], 0, c->stream, parameters, extra);
}
/* ws_hip_lacks keeps bundles away that need these. */
static int no_host_memory(void **host, size_t bytes, unsigned flags)
{
    (void)host, (void)bytes, (void)flags;
    return HIP_INVALID_VALUE;
}
static int no_host_address(uint64_t *address, void *host, unsigned flags)
{
    (void)address, (void)host, (void)flags;
    return HIP_INVALID_VALUE;
}
static int no_map(WsCuTensorMap *map, int dtype, unsigned rank, void *address,
                  const uint64_t *extent, const uint64_t *stride, const uint32_t *box,
                  const uint32_t *step, int interleave, int swizzle, int promotion, int fill)
{
    (void)map, (void)dtype, (void)rank, (void)address, (void)extent, (void)stride, (void)box;
    (void)step, (void)interleave, (void)swizzle, (void)promotion, (void)fill;
    return HIP_INVALID_VALUE;
}

static void *find(void)
{
    static const char *const names[] = { "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so" };
    const char *given = getenv("WARPSTAVE_LIBHIP");
    void *library = NULL;
    if (given && *given)
        return dlopen(given, RTLD_NOW | RTLD_LOCAL);
    for (unsigned i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

bool ws_hip_open(WsCudaDriver *driver, char *error, size_t size)
{
    void *address[CALLS], *library = find();
    if (!library) {
        snprintf(error, size, "no HIP here, install ROCm or choose another host: %s", dlerror());
        return false;
    }
    for (int i = 0; i < CALLS; i++) {
        address[i] = dlsym(library, calls[i].symbol);
        if (!address[i]) {
            snprintf(error, size, "libamdhip64.so has no %s: too old (needs ROCm 6)",
                     calls[i].symbol);
            return false;
        }
    }
    _Static_assert(sizeof hip == sizeof address, "the table holds nothing but functions");
    memcpy(&hip, address, sizeof hip);
    *driver = (WsCudaDriver){
        .get_error_name = get_error_name,
        .get_error_string = get_error_string,
        .init = hip.init,
        .driver_version = driver_version,
        .device_count = hip.device_count,
        .device_get = hip.device_get,
        .device_name = hip.device_name,
        .device_attribute = device_attribute,
        .device_pci = no_pci,
        .context_retain = context_retain,
        .context_set = context_set,
        .stream_create = hip.stream_create,
        .stream_synchronize = hip.stream_synchronize,
        .stream_query = hip.stream_query,
        .event_create = hip.event_create,
        .event_record = hip.event_record,
        .event_synchronize = hip.event_synchronize,
        .event_elapsed = hip.event_elapsed,
        .mem_alloc = mem_alloc,
        .mem_free = mem_free,
        .mem_host_alloc = no_host_memory,
        .mem_host_device = no_host_address,
        .copy_to_device = copy_to_device,
        .copy_to_host = copy_to_host,
        .memset8 = memset8,
        .memset32 = memset32,
        .module_load = module_load,
        .module_function = hip.module_function,
        .function_get = function_get,
        .function_set = function_set,
        .launch = launch,
        .encode_tiled = no_map,
    };
    return true;
}
