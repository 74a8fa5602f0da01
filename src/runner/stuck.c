/* Who waits for what: the records that a debug build left, as results and as one sentence. */
#include "runner/session.h"

#include <string.h>

static const WsRunWait *find_wait(const WsManifest *m, uint32_t op)
{
    for (int i = 0; i < m->n_waits; i++)
        if (m->wait[i].op == op)
            return &m->wait[i];
    return NULL;
}

const char *ws_stuck_agent(const WsManifest *m, const WsStuckAgent *a)
{
    const WsRunWait *w = find_wait(m, a->op);
    return (int)a->agent < m->n_agents ? m->agent[a->agent] : w ? w->agent : "?";
}

const char *ws_stuck_barrier(const WsManifest *m, const WsStuckAgent *a)
{
    const WsRunWait *w = find_wait(m, a->op);
    return w ? w->barrier : "?";
}

const char *ws_stuck_step(const WsManifest *m, const WsStuckAgent *a)
{
    const WsRunWait *w = find_wait(m, a->op);
    return w ? w->step : "?";
}

void ws_stuck_text(const WsManifest *m, const WsStuckAgent *a, char *text, size_t size)
{
    int n = snprintf(text, size, "agent %s waits at %s on %s %s", ws_stuck_agent(m, a),
                     ws_stuck_step(m, a), a->state == WS_DEBUG_MBARRIER ? "barrier" : "sync",
                     ws_stuck_barrier(m, a));
    if (a->state == WS_DEBUG_MBARRIER && n > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n,
                      " slot %u for parity %u (seen %u, %u arrivals missing)", a->slot, a->parity,
                      a->parity, a->pending);
    if (n > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, ", CTA %u, round", a->cta);
    for (int i = 0; i < 3 && a->round[i] >= 0 && n > 0 && (size_t)n < size; i++)
        n += snprintf(text + n, size - (size_t)n, "%s%d", i ? "." : " ", a->round[i]);
}

void ws_stuck_read(WsSession *s)
{
    const uint32_t *w = s->debug;
    uint32_t per = s->m->n_agents > 0 ? (uint32_t)s->m->n_agents : 1;
    WsCaseResult *r = s->r;
    r->n_stuck = 0;
    for (uint32_t i = 0; i < WS_DEBUG_AGENTS && r->n_stuck < WS_STUCK_AGENTS; i++) {
        const uint32_t *x = w + WS_DEBUG_HEADER + i * WS_DEBUG_RECORD;
        if (x[WS_DEBUG_STATE] != WS_DEBUG_MBARRIER && x[WS_DEBUG_STATE] != WS_DEBUG_NAMED)
            continue;
        WsStuckAgent *a = &r->stuck_agent[r->n_stuck++];
        *a = (WsStuckAgent){ .cta = i / per,
                             .agent = i % per,
                             .state = x[WS_DEBUG_STATE],
                             .op = x[WS_DEBUG_OP] & ((1u << WS_DEBUG_ROUNDS_SHIFT) - 1),
                             .slot = x[WS_DEBUG_SLOT],
                             .parity = x[WS_DEBUG_PARITY],
                             .pending = x[WS_DEBUG_PENDING] & WS_DEBUG_PENDING_MASK };
        for (int k = 0; k < 3; k++)
            a->round[k] = (uint32_t)k < (x[WS_DEBUG_OP] >> WS_DEBUG_ROUNDS_SHIFT & 3)
                              ? (int32_t)x[WS_DEBUG_ROUND + k]
                              : -1;
        uint32_t cluster = s->m->cluster, first = a->cta / cluster, step = r->grid / cluster;
        if (x[WS_DEBUG_OP] & WS_DEBUG_TILE_ID && step)
            a->round[0] = (int32_t)(((uint32_t)a->round[0] - first) / step);
    }
    r->moves = w[WS_DEBUG_CLOCK];
    r->gave_up = w[WS_DEBUG_GAVE_UP] != 0;
    if (r->n_stuck)
        ws_stuck_text(s->m, &r->stuck_agent[0], r->stuck, sizeof r->stuck);
    else
        snprintf(r->stuck, sizeof r->stuck, "the debug build found no stuck wait");
}
