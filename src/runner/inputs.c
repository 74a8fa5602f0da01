/* Device memory of one case: made from the seed on the GPU, poisoned where the kernel must write.
 */
#include "runner/session.h"

#include <string.h>

static bool fill(WsSession *s, int t)
{
    WsInputFill f = s->c->tensor[t].fill;
    int64_t n = ws_run_span(&s->m->tensor[t], &s->c->tensor[t]);
    void *parameter[] = { &s->tensor[t], &n, &f };
    return ws_session_small(s, &s->fill, n, parameter);
}

bool ws_case_open(WsSession *s)
{
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
    for (int t = 0; t < m->n_tensors; t++)
        if (m->tensor[t].access == WS_RUN_READ && !fill(s, t))
            return false;
    return ws_maps_encode(s) && ws_session_synchronize(s);
}

void ws_case_close(WsSession *s)
{
    for (int t = 0; t < s->m->n_tensors; t++)
        if (s->tensor[t])
            s->cu.mem_free(s->tensor[t]);
    memset(s->tensor, 0, sizeof s->tensor);
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
    return set_outputs(s, WS_RUN_WRITE, 0xff) && ws_case_zero_reductions(s);
}
