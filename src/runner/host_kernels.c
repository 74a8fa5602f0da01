/* The runner's own small kernels where its code cannot run on the GPU (HIP: kernels.cu is CUDA):
 * the same, on the host, on copies of what they read and write. Parameters as in kernels.cu. */
#include "runner/session.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t rank, extent[5], stride[5];
} Layout; /* as in kernels.cu */

enum { CHUNK = 1 << 22 }; /* elements or words that are worked on at a time */
enum { SPAN = 1 << 26 };  /* bytes that are copied whole for a few elements */
#define ARG(type, i) (*(const type *)p[i])

static bool no_memory(WsSession *s)
{
    return ws_session_fail(s, "out of memory for a copy of a tensor, while: %s", s->results->phase);
}

static bool read_at(WsSession *s, void *to, uint64_t from, int64_t bytes)
{
    return ws_cu(s, s->cu.copy_to_host(to, from, (size_t)bytes), "cuMemcpyDtoH");
}

static bool write_at(WsSession *s, uint64_t to, const void *from, int64_t bytes)
{
    return ws_cu(s, s->cu.copy_to_device(to, from, (size_t)bytes), "cuMemcpyHtoD");
}

static int64_t offset_of(const Layout *l, int64_t flat)
{
    int64_t offset = 0;
    for (int64_t d = l->rank - 1; d >= 0; d--) {
        offset += flat % l->extent[d] * l->stride[d];
        flat /= l->extent[d];
    }
    return offset;
}

bool ws_host_fill(WsSession *s, void **p)
{
    const WsInputFill *f = p[2];
    const int64_t n = ARG(int64_t, 1), size = ws_input_bytes(f->dtype);
    void *part = malloc(CHUNK * (size_t)size);
    bool ok = part || no_memory(s);
    for (int64_t first = 0; ok && first < n; first += CHUNK) {
        const int64_t count = n - first < CHUNK ? n - first : CHUNK;
        for (int64_t i = 0; i < count; i++)
            ws_input_put(part, f->dtype, (uint64_t)i,
                         ws_input_encode(f->dtype, ws_input_value(f, (uint64_t)(first + i))));
        ok = write_at(s, ARG(uint64_t, 0) + (uint64_t)(first * size), part, count * size);
    }
    free(part);
    return ok;
}

/* Offsets of the n elements from flat index `first` on, or those listed: least and largest. */
static void reach(const Layout *l, const int64_t *at, int64_t n, int64_t *low, int64_t *high)
{
    *low = INT64_MAX;
    *high = -1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t o = offset_of(l, at ? at[i] : i);
        *low = o < *low ? o : *low;
        *high = o > *high ? o : *high;
    }
}

bool ws_host_scan(WsSession *s, void **p)
{
    const Layout *l = p[2];
    const int dtype = ARG(int, 1);
    const int64_t n = ARG(int64_t, 3), size = ws_input_bytes(dtype);
    uint64_t result[2];
    int64_t low, high;
    reach(l, NULL, n, &low, &high);
    void *copy = malloc((size_t)((high - low + 1) * size));
    bool ok =
        (copy || no_memory(s)) && ws_session_synchronize(s) &&
        read_at(s, copy, ARG(uint64_t, 0) + (uint64_t)(low * size), (high - low + 1) * size) &&
        read_at(s, result, ARG(uint64_t, 4), sizeof result);
    for (int64_t i = 0; ok && i < n; i++) {
        const double v =
            ws_input_decode(dtype, ws_input_get(copy, dtype, (uint64_t)(offset_of(l, i) - low)));
        if (!(v - v == 0)) {
            result[0]++;
            result[1] = (uint64_t)i < result[1] ? (uint64_t)i : result[1];
        }
    }
    free(copy);
    return ok && write_at(s, ARG(uint64_t, 4), result, sizeof result);
}

bool ws_host_hash(WsSession *s, void **p)
{
    const int64_t bytes = ARG(int64_t, 1);
    uint64_t sum;
    unsigned char *part = malloc(4 * CHUNK);
    bool ok = (part || no_memory(s)) && ws_session_synchronize(s) &&
              read_at(s, &sum, ARG(uint64_t, 2), sizeof sum);
    for (int64_t first = 0; ok && first < bytes; first += 4 * CHUNK) {
        const int64_t count = bytes - first < 4 * CHUNK ? bytes - first : 4 * CHUNK;
        memset(part + count / 4 * 4, 0, count % 4 ? 4 : 0);
        ok = read_at(s, part, ARG(uint64_t, 0) + (uint64_t)first, count);
        for (int64_t i = 0; ok && i < (count + 3) / 4; i++) {
            uint32_t w;
            memcpy(&w, part + 4 * i, 4);
            sum += ws_input_mix(w + WS_INPUT_GOLDEN * (uint64_t)(first / 4 + i + 1));
        }
    }
    free(part);
    return ok && write_at(s, ARG(uint64_t, 2), &sum, sizeof sum);
}

/* Values of the elements `at`, which lie within `low` and `high`: by one copy, or one by one where
 * they lie far apart. */
static bool take(WsSession *s, void **p, const int64_t *at, double *out, int64_t low, int64_t high)
{
    const Layout *l = p[2];
    const int dtype = ARG(int, 1);
    const int64_t n = ARG(int64_t, 5), size = ws_input_bytes(dtype);
    const bool whole = (high - low + 1) * size <= SPAN;
    void *copy = malloc(whole ? (size_t)((high - low + 1) * size) : 16);
    bool ok = copy || no_memory(s);
    if (ok && whole)
        ok = read_at(s, copy, ARG(uint64_t, 0) + (uint64_t)(low * size), (high - low + 1) * size);
    for (int64_t i = 0; ok && i < n; i++) {
        const int64_t o = offset_of(l, at[i]);
        if (!whole)
            ok = read_at(s, copy, ARG(uint64_t, 0) + (uint64_t)(o * size), size);
        out[i] = ws_input_decode(dtype, ws_input_get(copy, dtype, whole ? (uint64_t)(o - low) : 0));
    }
    free(copy);
    return ok;
}

bool ws_host_gather(WsSession *s, void **p)
{
    const int64_t n = ARG(int64_t, 5);
    int64_t *at = malloc((size_t)n * sizeof *at), low, high;
    double *out = malloc((size_t)n * sizeof *out);
    bool ok = ((at && out) || no_memory(s)) && ws_session_synchronize(s) &&
              read_at(s, at, ARG(uint64_t, 3), n * 8);
    if (ok) {
        reach(p[2], at, n, &low, &high);
        ok = take(s, p, at, out, low, high) && write_at(s, ARG(uint64_t, 4), out, n * 8);
    }
    free(at);
    free(out);
    return ok;
}
