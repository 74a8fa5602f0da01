/* The prediction beside a measured trace of a launch whose CTAs claim their tiles. */
#include "clock/clock.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

static WsTrace *play_cta(const WsProgram *p, const WsLaunchValues *v, const WsMachine *m,
                         const WsTrace *measured, guint cta)
{
    WsTraceClaims claims;
    claims.claim = ws_trace_claims(measured, cta, &claims.n);
    if (!claims.n)
        return NULL;
    const WsClockOptions options = { .cluster = g_array_index(measured->cta, WsTraceCta, cta).id,
                                     .claims = &claims };
    g_autoptr(WsClockResult) r = ws_clock_run(p, v, m, &options, NULL);
    return r && r->trace && r->trace->record->len ? ws_trace_ref(r->trace) : NULL;
}

WsTrace *ws_clock_claimed(const WsProgram *p, const WsLaunchValues *v, const WsMachine *m,
                          const WsTrace *measured)
{
    WsTrace *all = NULL;
    if (p->tiles->launch != WS_LAUNCH_DYNAMIC || !ws_trace_knows_claims(measured) ||
        g_strcmp0(p->design_hash, measured->design_hash) != 0)
        return NULL;
    for (guint i = 0; i < measured->claimed->len; i++) /* a file may say anything */
        if (g_array_index(measured->claimed, WsTraceClaim, i).tile >= ws_launch_tiles(v))
            return NULL;
    for (guint i = 0; i < measured->cta->len && (!all || all->cta->len < WS_CLOCK_CLAIMED); i++) {
        g_autoptr(WsTrace) one = play_cta(p, v, m, measured, i);
        if (one && all)
            ws_trace_append(all, one);
        else if (one)
            all = ws_trace_ref(one);
    }
    if (all)
        ws_trace_finish(all);
    return all;
}
