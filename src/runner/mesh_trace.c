/* Traces of several devices: their records, and how far their timers are apart. */
#include "runner/mesh.h"

#include <string.h>

enum { ROUNDS = 64 };

static bool use(WsSession *judge, const WsSession *part)
{
    return ws_cu(judge, judge->cu.context_set(part->context), "cuCtxSetCurrent");
}

/* --- records ----------------------------------------------------------------------------------*/
bool ws_mesh_clear_records(WsSession *judge)
{
    for (int d = 0; d < judge->mesh->n; d++) {
        WsSession *part = &judge->mesh->part[d];
        if (!use(judge, part) ||
            !ws_cu(judge,
                   judge->cu.memset8(part->records, 0xff, part->m->record_bytes, part->stream),
                   "cuMemsetD8Async"))
            return false;
    }
    return ws_mesh_synchronize(judge);
}

bool ws_mesh_copy_records(WsSession *judge, unsigned char *to)
{
    for (int d = 0; d < judge->mesh->n; d++) {
        const WsSession *part = &judge->mesh->part[d];
        const size_t bytes = part->m->record_bytes;
        if (!use(judge, part) ||
            !ws_cu(judge, judge->cu.copy_to_host(to + (size_t)d * bytes, part->records, bytes),
                   "cuMemcpyDtoH"))
            return false;
    }
    return use(judge, judge);
}

/* --- timers -----------------------------------------------------------------------------------*/
typedef struct {
    uint64_t out[2]; /* memory of the first device, of the other one */
    uint64_t sent[2 * ROUNDS], seen[ROUNDS];
} Meeting;

static bool launch(WsSession *judge, WsSession *part, uint64_t mine, uint64_t theirs, int first,
                   uint64_t out)
{
    int n = ROUNDS;
    void *parameter[] = { &mine, &theirs, &first, &n, &out };
    return use(judge, part) && ws_session_small(part, &part->meet, 1, parameter);
}

/* What device d's timer shows when that of the first one shows 0 lies between `low` and `high`:
 * each number was there after it was sent, and before its answer was. */
static bool bounds(const Meeting *x, int64_t *low, int64_t *high)
{
    *low = INT64_MIN;
    *high = INT64_MAX;
    for (int i = 0; i < ROUNDS; i++) {
        if (x->sent[2 * i] == UINT64_MAX || x->sent[2 * i + 1] == UINT64_MAX ||
            x->seen[i] == UINT64_MAX)
            return false;
        const int64_t after = (int64_t)(x->seen[i] - x->sent[2 * i]),
                      before = (int64_t)(x->seen[i] - x->sent[2 * i + 1]);
        *high = after < *high ? after : *high;
        *low = before > *low ? before : *low;
    }
    return *low <= *high; /* timers that run apart meet in no such interval */
}

static bool exchange(WsSession *judge, const WsMeshBlock *flag, int d, Meeting *x)
{
    WsSession *part[2] = { &judge->mesh->part[0], &judge->mesh->part[d] };
    const uint64_t at[2] = { flag->base, flag->base + (uint64_t)d * flag->pitch };
    for (int i = 0; i < 2; i++)
        if (!use(judge, part[i]) ||
            !ws_cu(judge, judge->cu.memset8(at[i], 0, 8, part[i]->stream), "cuMemsetD8Async") ||
            !ws_cu(judge, judge->cu.memset8(x->out[i], 0xff, sizeof x->sent, part[i]->stream),
                   "cuMemsetD8Async") ||
            !ws_session_synchronize(part[i]))
            return false;
    return launch(judge, part[1], at[1], at[0], 0, x->out[1]) &&
           launch(judge, part[0], at[0], at[1], 1, x->out[0]) && ws_mesh_synchronize(judge) &&
           use(judge, part[0]) &&
           ws_cu(judge, judge->cu.copy_to_host(x->sent, x->out[0], sizeof x->sent),
                 "cuMemcpyDtoH") &&
           use(judge, part[1]) &&
           ws_cu(judge, judge->cu.copy_to_host(x->seen, x->out[1], sizeof x->seen), "cuMemcpyDtoH");
}

/* The flag of a part and, behind it in the same block, what it writes. */
static bool meet(WsSession *judge, const WsMeshBlock *flag, int d)
{
    static Meeting x;
    int64_t low, high;
    WsTimerResult *t = &judge->r->timer[d];
    t->known = judge->mesh->part[d].device == judge->mesh->part[0].device;
    if (t->known)
        return true; /* one GPU has one timer */
    x.out[0] = flag->base + 64;
    x.out[1] = flag->base + (uint64_t)d * flag->pitch + 64;
    if (!exchange(judge, flag, d, &x))
        return false;
    t->known = bounds(&x, &low, &high);
    if (t->known) {
        t->ahead_ns = (double)low + (double)(high - low) / 2;
        t->error_ns = (double)(high - low) / 2;
    }
    return true;
}

bool ws_mesh_meet_timers(WsSession *judge)
{
    WsMeshBlock flag;
    bool ok = ws_mesh_block_open(judge->mesh, &flag, 64 + sizeof((Meeting *)NULL)->sent, "timers");
    ws_session_phase(judge, 30, "comparing the timers of the devices");
    for (int d = 0; ok && d < judge->mesh->n; d++)
        ok = meet(judge, &flag, d);
    ws_mesh_block_close(judge->mesh, &flag);
    return ok && use(judge, judge);
}
