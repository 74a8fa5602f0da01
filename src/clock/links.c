/* Devices of a mesh: what goes over the links between them, and what waits for it. A device has one
 * path to all others together, one from them, and one to each; every SM gets its share of each,
 * since all are taken to put at the same time. */
#include "clock/play.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/program.h"

#define ENDS (WS_CAUSE_COUNT + 32) /* events of a put: read, sent; beside those of loads */

static double later(double a, double b)
{
    return a > b ? a : b;
}

static double in_cycles(const WsClockPlay *play, WsMachineValue v)
{
    return play->m->value[v] * play->m->value[WS_MACHINE_GHZ];
}

/* The device that the operation names; FALSE: it has failed. */
static gboolean device_of(WsClockPlay *play, WsPlayer *a, gint64 *device)
{
    *device = a->device;
    if (!ws_clock_play_eval(play, a, a->step.op->peer->device, *device, device))
        return FALSE;
    if (*device >= 0 && *device < play->n_devices)
        return TRUE;
    g_set_error(&play->error, WS_EXPR_ERROR, WS_EXPR_ERROR_TYPE,
                "%s: there is no device %" G_GINT64_FORMAT, a->step.op->id, *device);
    return FALSE;
}

/* The bytes pass all three paths and the L2 of the device that gets them, whose loads then wait. */
WsClockMove ws_clock_move_put(WsClockPlay *play, WsPlayer *a)
{
    const double *m = play->m->value;
    const double bytes = (double)ws_clock_moved_bytes(play, a->step.op);
    gint64 device;
    if (!device_of(play, a, &device))
        return WS_MOVE_FAILED;
    if (device == a->device)
        return ws_clock_move_store(play, a);
    WsSm *own = &a->sms[a->rank], *there = &play->sm[device * play->n_sms + a->rank];
    WsUnit *const path[] = { &own->out, &own->to[device], &there->in };
    const double cycles[] = { bytes / play->link_rate, bytes / play->peer_rate,
                              bytes / play->link_rate };
    a->now += m[WS_MACHINE_TMA_ISSUE];
    ws_clock_note_bytes(play, a, (guint64)bytes);
    double end = ws_clock_serve_for(play, a, &own->store, WS_CAUSE_STORES, a->now,
                                    bytes / m[WS_MACHINE_STORE_BYTES]);
    for (guint i = 0; i < G_N_ELEMENTS(path); i++)
        end = later(end, ws_clock_serve_for(play, a, path[i], WS_CAUSE_LINK, a->now, cycles[i]));
    ws_clock_pass(play, a, &there->l2, WS_CAUSE_L2, bytes / play->write_rate);
    /* Its source is read at once, or when the links have taken what was read before. Whether it is
     * there, only a notify waits for: a wait for writing returns with that for reading. */
    const double ahead = play->m->value[WS_MACHINE_LINK_BUFFER] / bytes;
    const double read = m[WS_MACHINE_STORE_READ];
    a->done = own->store.free + read;
    ws_clock_because(play, WS_CAUSE_STORES, own->store.by, own->store.free + read);
    for (guint i = 0; i < G_N_ELEMENTS(path); i++) {
        const double after = read - ahead * cycles[i];
        a->done = later(a->done, path[i]->free + after);
        ws_clock_because(play, WS_CAUSE_LINK, path[i]->by, path[i]->free + after);
    }
    const guint by = ws_clock_ends(play, a, (WsCauseKind)ENDS, a->done);
    if (a->done >= a->bulk.open) {
        a->bulk.open = a->bulk.open_full = a->done;
        a->bulk.open_by = a->bulk.open_full_by = by;
    }
    for (guint i = 0; i < G_N_ELEMENTS(path); i++)
        ws_clock_because(play, WS_CAUSE_LINK, path[i]->by, path[i]->free);
    ws_clock_because(play, WS_CAUSE_STORES, own->store.by, own->store.free);
    const guint sent_by = ws_clock_ends(play, a, (WsCauseKind)(ENDS + 1), end);
    if (end >= a->sent) {
        a->sent = end;
        a->sent_by = sent_by;
    }
    play->end = MAX(play->end, end);
    return WS_MOVE_NEXT;
}

/* The bytes leave the L2 of the device that has them and pass the same paths, the other way; a box
 * is not shared, since no L2 keeps what another device has. The way there and back is taken to be
 * two of a signal, whatever that memory takes besides to be that of L2: neither has been measured.
 */
WsClockMove ws_clock_move_get(WsClockPlay *play, WsPlayer *a)
{
    const double *m = play->m->value;
    const WsOp *op = a->step.op;
    const guint64 bytes = ws_clock_moved_bytes(play, op);
    gint64 device;
    if (!device_of(play, a, &device))
        return WS_MOVE_FAILED;
    if (device == a->device)
        return ws_clock_move_load(play, a);
    WsSm *own = &a->sms[a->rank], *there = &play->sm[device * play->n_sms + a->rank];
    WsUnit *const path[] = { &there->out, &there->to[a->device], &own->in };
    const double rate[] = { play->link_rate, play->peer_rate, play->link_rate };
    a->now += m[WS_MACHINE_TMA_ISSUE];
    ws_clock_note_bytes(play, a, bytes);
    ws_clock_pass(play, a, &there->l2, WS_CAUSE_L2, (double)bytes / play->l2_rate);
    double end = ws_clock_serve_for(play, a, &own->load, WS_CAUSE_LOADS, a->now,
                                    ws_clock_box_cycles(play, op, bytes));
    for (guint i = 0; i < G_N_ELEMENTS(path); i++)
        end = later(end, ws_clock_serve_for(play, a, path[i], WS_CAUSE_LINK, a->now,
                                            (double)bytes / rate[i]));
    const double way = m[WS_MACHINE_TMA_LATENCY] + 2 * in_cycles(play, WS_MACHINE_LINK_SIGNAL);
    ws_clock_because(play, WS_CAUSE_LOADS, own->load.by, own->load.free + way);
    for (guint i = 0; i < G_N_ELEMENTS(path); i++)
        ws_clock_because(play, WS_CAUSE_LINK, path[i]->by, path[i]->free + way);
    end += way;
    const guint by = ws_clock_ends(play, a, (WsCauseKind)(WS_CLOCK_LANDED + a->rank), end);
    a->done = later(a->done, end);
    return ws_clock_play_credit(play, a, a->rank, (gint64)bytes, end, by);
}

/* A release of all devices: it ends when all that its thread sent before is there. */
WsClockMove ws_clock_move_notify(WsClockPlay *play, WsPlayer *a)
{
    const double own = in_cycles(play, WS_MACHINE_NOTIFY);
    ws_clock_because_order(play, a, a->now + own);
    ws_clock_because(play, WS_CAUSE_LINK, a->sent_by, a->sent + own);
    a->now = later(a->now, a->sent) + own;
    ws_clock_goes_on(play, a);
    a->done = a->now;
    if (a->cluster >= play->n_devices) /* those beside the first are counted with it */
        return WS_MOVE_NEXT;
    const WsNotified by = { a->event, ws_clock_spot(a) };
    ws_clock_flags_add(play->flags, a->device, a->agent, a->notified++,
                       a->now + in_cycles(play, WS_MACHINE_FLAG_LOCAL),
                       a->now + in_cycles(play, WS_MACHINE_LINK_SIGNAL), &by);
    ws_clock_play_wake(play);
    return WS_MOVE_NEXT;
}

WsClockMove ws_clock_move_await(WsClockPlay *play, WsPlayer *a)
{
    const WsPeer *peer = a->step.op->peer;
    gint64 element = 0, amount = 0;
    double when;
    WsNotified by;
    if (!ws_clock_play_eval(play, a, peer->element, 0, &element) ||
        !ws_clock_play_eval(play, a, peer->amount, 0, &amount))
        return WS_MOVE_FAILED;
    if (!ws_clock_flags_reach(play->flags, a->device, peer->flag, element, amount, &when, &by))
        return WS_MOVE_BLOCKED;
    a->base = play->m->value[WS_MACHINE_GLOBAL_LATENCY];
    ws_clock_because_order(play, a, a->start + a->base);
    ws_clock_because(play, WS_CAUSE_FLAG, by.event, when);
    a->now = MAX(a->start + a->base, when);
    a->done = a->now;
    ws_clock_goes_on(play, a);
    if (play->trace && a->cluster < play->n_devices && amount > 0) {
        const WsTraceSpot await = ws_clock_spot(a);
        ws_trace_add_let_go(play->trace, &await, &by.spot);
    }
    return WS_MOVE_NEXT;
}
