#include "runner/hip_driver.h"
#include "runner/mesh.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern const char ws_kernels_ptx[]; /* kernels.ptx, embedded by the build */

double ws_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void ws_session_phase(WsSession *s, double seconds, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(s->results->phase, sizeof s->results->phase, format, list);
    va_end(list);
    s->results->deadline_ns = (uint64_t)((ws_seconds() + seconds) * 1e9);
}

bool ws_session_fail(WsSession *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(s->error, WS_TEXT, format, list);
    va_end(list);
    return false;
}

bool ws_cu(WsSession *s, int result, const char *call)
{
    if (result == WS_CU_SUCCESS)
        return true;
    const char *name = NULL, *text = NULL;
    s->cu.get_error_name(result, &name);
    s->cu.get_error_string(result, &text);
    s->last = result;
    return ws_session_fail(s, "%s: %s (%s), while: %s", s->hip ? ws_hip_call(call) : call,
                           name ? name : "unknown error", text ? text : "?", s->results->phase);
}

bool ws_session_synchronize(WsSession *s)
{
    if (s->mesh)
        return ws_mesh_synchronize(s);
    return ws_cu(s, s->cu.stream_synchronize(s->stream), "cuStreamSynchronize");
}

int ws_session_wait(WsSession *s, double seconds)
{
    double until = ws_seconds() + seconds;
    for (;;) {
        int code = s->cu.stream_query(s->stream);
        if (code != WS_CU_NOT_READY)
            return ws_cu(s, code, "cuStreamQuery") ? 1 : -1;
        if (ws_seconds() > until)
            return 0;
        usleep(1000);
    }
}

static bool absent(WsSession *s)
{
    s->results->status = WS_EXIT_ABSENT;
    return false;
}

bool ws_session_library(WsSession *s)
{
    s->hip = ws_hip_target(s->m);
    const char *lacks = s->hip ? ws_hip_lacks(s->m) : NULL;
    if (lacks) {
        s->results->status = WS_EXIT_INPUT;
        return ws_session_fail(s, "the bundle for %s has what the runner does not do on HIP: %s",
                               s->m->target, lacks);
    }
    return (s->hip ? ws_hip_open : ws_cuda_open)(&s->cu, s->error, WS_TEXT) || absent(s);
}

static bool count_devices(WsSession *s)
{
    WsResults *r = s->results;
    WsCudaDriver *cu = &s->cu;
    int n = 0, code = cu->init(0);
    const char *first = "cuInit";
    if (code == 0 && s->hip) { /* which of the two says that there is none */
        first = "cuDeviceGetCount";
        code = cu->device_count(&n);
    }
    if (code == WS_CU_NO_DEVICE) {
        ws_session_fail(s, "no GPU on this machine (%s: %s_ERROR_NO_DEVICE)",
                        s->hip ? ws_hip_call(first) : first, s->hip ? "HIP" : "CUDA");
        return absent(s);
    }
    if (!ws_cu(s, code, first) ||
        !ws_cu(s, cu->driver_version(&r->driver_version), "cuDriverGetVersion"))
        return absent(s);
    if (!s->hip && r->driver_version < WS_CU_DRIVER_LEAST) {
        ws_session_fail(s,
                        "the NVIDIA driver knows CUDA %d.%d; code for sm_90a needs CUDA 12 or "
                        "newer: update the driver",
                        r->driver_version / 1000, r->driver_version % 1000 / 10);
        return absent(s);
    }
    if (!ws_cu(s, cu->device_count(&n), "cuDeviceGetCount"))
        return absent(s);
    if (s->options->device >= n) {
        ws_session_fail(s, "there is no GPU number %d (%d found)", s->options->device, n);
        return absent(s);
    }
    return true;
}

bool ws_session_open(WsSession *s)
{
    WsResults *r = s->results;
    WsCudaDriver *cu = &s->cu;
    ws_session_phase(s, 60, "starting the driver");
    if (!ws_session_library(s) || !count_devices(s))
        return false;
    char pci[64] = "";
    if (!ws_cu(s, cu->device_get(&s->device, s->options->device), "cuDeviceGet") ||
        !ws_cu(s, cu->device_name(r->device, sizeof r->device, s->device), "cuDeviceGetName") ||
        !ws_cu(s, cu->device_attribute(&r->sms, WS_CU_ATTRIBUTE_SMS, s->device),
               "cuDeviceGetAttribute") ||
        !ws_cu(s, cu->device_attribute(&r->major, WS_CU_ATTRIBUTE_MAJOR, s->device),
               "cuDeviceGetAttribute") ||
        !ws_cu(s, cu->device_attribute(&r->minor, WS_CU_ATTRIBUTE_MINOR, s->device),
               "cuDeviceGetAttribute") ||
        !ws_cu(s, cu->device_attribute(&r->l2_bytes, WS_CU_ATTRIBUTE_L2, s->device),
               "cuDeviceGetAttribute"))
        return absent(s);
    if (!s->hip && r->major != 9) { /* HIP's loader says what it has no code for */
        ws_session_fail(s, "%s has compute capability %d.%d; code for sm_90a runs on 9.0 only",
                        r->device, r->major, r->minor);
        return absent(s);
    }
    if (!ws_cu(s, cu->context_retain(&s->context, s->device), "cuDevicePrimaryCtxRetain") ||
        !ws_cu(s, cu->context_set(s->context), "cuCtxSetCurrent") ||
        !ws_cu(s, cu->stream_create(&s->stream, 0), "cuStreamCreate"))
        return absent(s);
    for (int i = 0; i < 4; i++)
        if (!ws_cu(s, cu->event_create(&s->event[i], 0), "cuEventCreate"))
            return absent(s);
    if (cu->device_pci(pci, sizeof pci, s->device) == WS_CU_SUCCESS)
        ws_nvml_open(&s->nvml, pci);
    r->nvml = s->nvml.device != NULL;
    return true;
}

static char *ws_read_file(const char *dir, const char *name, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    size_t n = 0, room = 1 << 16;
    char *text = malloc(room + 1);
    while (text) {
        size_t got = fread(text + n, 1, room - n, f);
        n += got;
        if (n < room)
            break;
        char *more = room < ((size_t)1 << 28) ? realloc(text, 2 * room + 1) : NULL;
        if (!more) {
            free(text);
            text = NULL;
            break;
        }
        text = more;
        room *= 2;
    }
    fclose(f);
    if (text) {
        text[n] = 0;
        *size = n;
    }
    return text;
}

static int count_diagnostics(const char *log)
{
    int n = 0;
    for (const char *p = strstr(log, "C75"); p; p = strstr(p + 3, "C75"))
        n++;
    return n;
}

/* Loads an image and looks up its entry. The log goes to `result` if it is not NULL. */
static bool load(WsSession *s, const char *image, const char *what, const char *entry, WsKernel *k,
                 WsModuleResult *result)
{
    static char info[1 << 16], error[1 << 14];
    info[0] = error[0] = 0;
    int option[] = { WS_CU_JIT_INFO_LOG, WS_CU_JIT_INFO_SIZE, WS_CU_JIT_ERROR_LOG,
                     WS_CU_JIT_ERROR_SIZE, WS_CU_JIT_VERBOSE };
    void *value[] = { info, (void *)(uintptr_t)sizeof info, error, (void *)(uintptr_t)sizeof error,
                      (void *)1 };
    double start = ws_seconds();
    int code = s->cu.module_load(&k->module, image, 5, option, value);
    if (result) {
        result->load_ms = (ws_seconds() - start) * 1e3;
        if (snprintf(result->log, sizeof result->log, "%s%s", error, info) >=
            (int)sizeof result->log)
            memcpy(result->log + sizeof result->log - 4, "...", 4);
        result->diagnostics = count_diagnostics(info) + count_diagnostics(error);
    }
    if (code != WS_CU_SUCCESS) {
        ws_cu(s, code, "cuModuleLoadDataEx");
        size_t n = strlen(s->error);
        snprintf(s->error + n, WS_TEXT - n, "; %s: %s", what, error);
        s->results->status =
            code == WS_CU_UNSUPPORTED_PTX || code == WS_CU_NO_BINARY ? WS_EXIT_ABSENT : WS_EXIT_NO;
        return false;
    }
    return ws_cu(s, s->cu.module_function(&k->function, k->module, entry), "cuModuleGetFunction");
}

static bool load_file(WsSession *s, const char *file, const char *entry, WsKernel *k,
                      WsModuleResult *result)
{
    size_t size;
    ws_session_phase(s, 120, "loading %s", file);
    char *image = ws_read_file(s->options->dir, file, &size);
    if (!image) {
        s->results->status = WS_EXIT_INPUT;
        return ws_session_fail(s, "cannot read %s/%s: %s", s->options->dir, file, strerror(errno));
    }
    bool ok = load(s, image, file, entry, k, result);
    free(image);
    return ok;
}

static bool load_build(WsSession *s, WsModuleKind kind)
{
    const WsManifest *m = s->m;
    WsModuleResult *result = &s->results->module[kind];
    WsKernel *k = &s->build[kind];
    if (!load_file(s, m->module[kind], m->entry, k, result) ||
        !ws_cu(s, s->cu.function_get(&result->registers, WS_CU_FUNC_REGISTERS, k->function),
               "cuFuncGetAttribute") ||
        !ws_cu(s, s->cu.function_get(&result->local_bytes, WS_CU_FUNC_LOCAL, k->function),
               "cuFuncGetAttribute") ||
        !ws_cu(s, s->cu.function_set(k->function, WS_CU_FUNC_MAX_SHARED, (int)m->shared),
               "cuFuncSetAttribute"))
        return false;
    result->loaded = true;
    return true;
}

static bool load_small(WsSession *s)
{
    if (s->hip) {
        s->fill.host = ws_host_fill;
        s->scan.host = ws_host_scan;
        s->hash.host = ws_host_hash;
        s->gather.host = ws_host_gather;
        return true;
    }
    ws_session_phase(s, 120, "loading the runner's own kernels");
    if (!load(s, ws_kernels_ptx, "kernels.ptx", "ws_fill", &s->fill, NULL))
        return false;
    struct {
        const char *name;
        WsKernel *k;
    } more[] = { { "ws_scan", &s->scan },
                 { "ws_hash", &s->hash },
                 { "ws_gather", &s->gather },
                 { "ws_clock_probe", &s->probe },
                 { "ws_timers_meet", &s->meet } };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (!ws_cu(s, s->cu.module_function(&more[i].k->function, s->fill.module, more[i].name),
                   "cuModuleGetFunction"))
            return false;
    return true;
}

bool ws_session_load(WsSession *s, bool debug)
{
    const WsManifest *m = s->m;
    bool ok = load_small(s);
    if (debug)
        ok = ok && load_build(s, WS_MODULE_DEBUG);
    else
        ok = ok && load_build(s, WS_MODULE_TIMED) &&
             (!m->module[WS_MODULE_TRACED][0] || load_build(s, WS_MODULE_TRACED));
    for (int t = 0; ok && (!debug || m->adversary) && t < m->n_tensors; t++)
        if (m->tensor[t].reference[0])
            ok =
                load_file(s, m->tensor[t].reference, "warpstave_reference", &s->reference[t], NULL);
    ws_session_phase(s, 60, "taking memory");
    ok = ok && ws_cu(s, s->cu.mem_alloc(&s->scratch, 64), "cuMemAlloc") &&
         ws_cu(s, s->cu.mem_alloc(&s->flush, WS_FLUSH_BYTES), "cuMemAlloc");
    if (ok && m->counter)
        ok = ws_cu(s, s->cu.mem_alloc(&s->counter, 64), "cuMemAlloc");
    if (ok && m->record_bytes && m->module[WS_MODULE_TRACED][0])
        ok = ws_cu(s, s->cu.mem_alloc(&s->records, m->record_bytes), "cuMemAlloc") &&
             ws_cu(s, s->cu.memset8(s->records, 0xff, m->record_bytes, s->stream),
                   "cuMemsetD8Async");
    if (ok && debug) {
        /* Host memory: it can still be read after the trap has ended the context. */
        void *host = NULL;
        ok = ws_cu(s, s->cu.mem_host_alloc(&host, 4 * WS_DEBUG_WORDS, WS_CU_HOST_MAPPED),
                   "cuMemHostAlloc") &&
             ws_cu(s, s->cu.mem_host_device(&s->debug_address, host, 0),
                   "cuMemHostGetDevicePointer");
        s->debug = host;
        if (ok)
            memset(host, 0, 4 * WS_DEBUG_WORDS);
    }
    if (!ok && !s->results->status)
        s->results->status = s->last == WS_CU_OUT_OF_MEMORY ? WS_EXIT_ABSENT : WS_EXIT_NO;
    return ok;
}

bool ws_session_small(WsSession *s, const WsKernel *k, int64_t n, void **parameters)
{
    if (n <= 0)
        return true;
    if (k->host)
        return k->host(s, parameters);
    /* Few threads may have much to do each (float64 references): warps of their own spread them
     * over all SMs. */
    int64_t threads = n < 65536 ? 32 : 256, blocks = (n + threads - 1) / threads;
    WsCuLaunch config = { .grid = { (unsigned)(blocks < 4096 ? blocks : 4096), 1, 1 },
                          .block = { (unsigned)threads, 1, 1 },
                          .stream = s->stream };
    if (s->hip) { /* code objects are made for one size of a block: a wave */
        config.grid[0] = (unsigned)((n + 63) / 64);
        config.block[0] = 64;
    } else if (n == 1) {
        config.block[0] = 1;
    }
    return ws_cu(s, s->cu.launch(&config, k->function, parameters, NULL), "cuLaunchKernelEx");
}

bool ws_session_launch(WsSession *s, WsModuleKind kind)
{
    if (s->mesh)
        return ws_mesh_launch(s, kind);
    const WsManifest *m = s->m;
    void *parameter[WS_MANIFEST_MAPS + WS_MANIFEST_TENSORS + WS_MANIFEST_SIZES +
                    WS_MANIFEST_SCALARS + 8];
    int n = 0;
    for (int i = 0; i < m->n_maps; i++)
        parameter[n++] = &s->map[i];
    for (int i = 0; i < m->n_tensors; i++)
        parameter[n++] = &s->tensor[i];
    for (int i = 0; i < m->n_sizes; i++)
        parameter[n++] = (void *)&s->c->size[i];
    for (int i = 0; i < m->n_scalars; i++)
        parameter[n++] = (void *)&m->scalar_value[i];
    if (kind == WS_MODULE_TRACED)
        parameter[n++] = &s->records;
    if (kind == WS_MODULE_TRACED && m->launches > 1)
        parameter[n++] = &s->phase;
    if (kind == WS_MODULE_DEBUG)
        parameter[n++] = &s->debug_address;
    if (m->counter)
        parameter[n++] = &s->counter;
    if (s->c->hilbert[0])
        parameter[n++] = &s->hilbert;
    if (m->mesh) {
        parameter[n++] = &s->peer_maps;
        parameter[n++] = &s->flags;
        parameter[n++] = &s->launches;
    }
    WsCuAttribute attribute = { .id = WS_CU_LAUNCH_CLUSTER, .value.cluster = { m->cluster, 1, 1 } };
    if (s->cooperative) /* a mesh has no clusters */
        attribute = (WsCuAttribute){ .id = WS_CU_LAUNCH_COOPERATIVE, .value.cooperative = 1 };
    WsCuLaunch config = { .grid = { s->grid, 1, 1 },
                          .block = { m->threads, 1, 1 },
                          .shared = m->shared,
                          .stream = s->stream,
                          .attribute = &attribute,
                          .n_attributes = m->cluster > 1 || s->cooperative };
    return ws_cu(s, s->cu.launch(&config, s->build[kind].function, parameter, NULL),
                 "cuLaunchKernelEx");
}
