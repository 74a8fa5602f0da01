#include "ui/document/document_runs.h"
#include "program/program.h"

#include "ui/document/document_private.h"

#define KEY "warpstave-pinned-run"

static void drop(gpointer trace)
{
    ws_trace_unref(trace);
}

static void pin(WsDocument *d, WsTrace *trace)
{
    g_object_set_data_full(G_OBJECT(d), KEY, trace ? ws_trace_ref(trace) : NULL, drop);
}

gboolean ws_document_pin_run(WsDocument *d)
{
    if (!d->measured)
        return FALSE;
    pin(d, d->measured);
    ws_document_emit(d, WS_SIGNAL_RANGE); /* what can be done is another thing now */
    return TRUE;
}

WsTrace *ws_document_pinned_run(WsDocument *d)
{
    WsTrace *pinned = g_object_get_data(G_OBJECT(d), KEY);
    const WsProgram *p = ws_document_program(d);
    return pinned && p && !g_strcmp0(pinned->design_hash, p->design_hash) ? pinned : NULL;
}

gboolean ws_document_flip_run(WsDocument *d)
{
    g_autoptr(WsTrace) shown = d->measured ? ws_trace_ref(d->measured) : NULL;
    WsTrace *pinned = ws_document_pinned_run(d);
    if (!pinned || !shown || pinned == shown)
        return FALSE;
    g_autoptr(WsTrace) next = ws_trace_ref(pinned);
    pin(d, shown);
    d->news_edited = TRUE; /* not opened: nobody goes back to the beginning */
    ws_document_take_measured(d, g_steal_pointer(&next));
    d->news_edited = FALSE;
    return TRUE;
}
