/* Device memory of one case: made from the seed on the GPU, poisoned where the kernel must write.
 */
#include "runner/mesh.h"

#include "program/hilbert.h"

#include <stdlib.h>
#include <string.h>

static bool fill(WsSession *s, int t)
{
    WsInputFill f = s->c->tensor[t].fill;
    int64_t n = ws_run_span(&s->m->tensor[t], &s->c->tensor[t]);
    void *parameter[] = { &s->tensor[t], &n, &f };
    return ws_session_small(s, &s->fill, n, parameter);
}

/* The counter is 0 before the first launch and every launch leaves it at 0; the table of the order
 * is that of the case's extents. */
static bool hidden(WsSession *s)
{
    int64_t cells = s->c->hilbert[0] * s->c->hilbert[1];
    s->hilbert = 0;
    if (s->m->counter && !ws_cu(s, s->cu.memset8(s->counter, 0, 64, s->stream), "cuMemsetD8Async"))
        return false;
    if (!cells)
        return true;
    int32_t *table = malloc((size_t)cells * 8);
    if (!table)
        return ws_session_fail(s, "no memory for the table of the tile order");
    ws_hilbert(table, s->c->hilbert[0], s->c->hilbert[1]);
    bool ok = ws_cu(s, s->cu.mem_alloc(&s->hilbert, (uint64_t)cells * 8), "cuMemAlloc") &&
              ws_cu(s, s->cu.copy_to_device(s->hilbert, table, (size_t)cells * 8), "cuMemcpyHtoD");
    free(table);
    return ok;
}

bool ws_case_fill(WsSession *s)
{
    for (int t = 0; t < s->m->n_tensors; t++)
        if (s->m->tensor[t].access == WS_RUN_READ && !fill(s, t))
            return false;
    return hidden(s);
}

bool ws_case_open(WsSession *s)
{
    if (s->mesh)
        return ws_mesh_case_open(s, s->c);
    const WsManifest *m = s->m;
    memset(s->tensor, 0, sizeof s->tensor);
    for (int t = 0; t < m->n_tensors; t++) {
        int64_t n = ws_run_span(&m->tensor[t], &s->c->tensor[t]);
        s->bytes[t] = (uint64_t)n * ws_input_bytes(m->tensor[t].dtype);
        ws_session_phase(s, 60, "taking %llu bytes for %s", (unsigned long long)s->bytes[t],
                         m->tensor[t].name);
        if (!ws_cu(s, s->cu.mem_alloc(&s->tensor[t], s->bytes[t] ? s->bytes[t] : 16), "cuMemAlloc"))
            return false;
    }
    ws_session_phase(s, 120, "making the inputs");
    return ws_case_fill(s) && ws_maps_encode(s) && ws_session_synchronize(s);
}

void ws_case_close(WsSession *s)
{
    if (s->mesh) {
        ws_mesh_case_close(s);
        return;
    }
    for (int t = 0; t < s->m->n_tensors; t++)
        if (s->tensor[t])
            s->cu.mem_free(s->tensor[t]);
    memset(s->tensor, 0, sizeof s->tensor);
    if (s->hilbert)
        s->cu.mem_free(s->hilbert);
    s->hilbert = 0;
}

static bool set_outputs(WsSession *s, WsRunAccess access, unsigned char value)
{
    for (int t = 0; t < s->m->n_tensors; t++)
        if (s->m->tensor[t].access == access && s->bytes[t] &&
            !ws_cu(s, s->cu.memset8(s->tensor[t], value, s->bytes[t], s->stream),
                   "cuMemsetD8Async"))
            return false;
    return true;
}

bool ws_case_zero_reductions(WsSession *s)
{
    return set_outputs(s, WS_RUN_REDUCE, 0);
}

bool ws_case_poison(WsSession *s)
{
    if (s->mesh)
        return ws_mesh_poison(s);
    return set_outputs(s, WS_RUN_WRITE, 0xff) && set_outputs(s, WS_RUN_EXCHANGE, 0xff) &&
           ws_case_zero_reductions(s);
}
