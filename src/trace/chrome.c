/* Trace -> Chrome trace events (chrome://tracing, ui.perfetto.dev), written as it goes. Work that
 * blocks its agent is complete events ("X") on the agent's thread; work in flight overlaps and
 * becomes asynchronous events ("b", "e") of the agent's engine. Cycles are written as
 * microseconds, or as real microseconds where the CTA's clock is known. */
#include "program/op.h"
#include "trace/stream.h"

#include <math.h>

static void put_text(FILE *f, const char *s)
{
    /* in place: a text of its own for each of millions of records costs more than the writing */
    fputc('"', f);
    for (; *s; s++) {
        guchar c = (guchar)*s;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20)
            fprintf(f, "\\u%04x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

/* One decimal point whatever the locale. */
static void put_time(FILE *f, const WsTrace *t, const WsTraceRecord *r, gint64 cycles)
{
    double ghz = g_array_index(t->cta, WsTraceCta, r->cta).ghz;
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    /* a trace may state any rate: JSON has no infinity */
    const double time = (double)cycles / (1000 * ghz);
    fputs(g_ascii_formatd(text, sizeof text, "%.4f",
                          ghz > 0 && isfinite(time) ? time : (double)cycles),
          f);
}

static const char *category(WsOpKind kind)
{
    if (ws_op_waits(kind))
        return "wait";
    if (ws_op_is_product(kind))
        return "tensor";
    return ws_op_flies(kind) ? "transfer" : "work";
}

static void put_names(FILE *f, const WsTrace *t)
{
    for (guint i = 0; i < t->lane->len; i++) {
        const WsTraceLane *l = &g_array_index(t->lane, WsTraceLane, i);
        const WsTraceCta *c = &g_array_index(t->cta, WsTraceCta, l->cta);
        fprintf(f,
                "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"tid\":0,"
                "\"args\":{\"name\":\"CTA %u\"}},\n",
                l->cta, c->id);
        fprintf(f,
                "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,"
                "\"args\":{\"name\":",
                l->cta, l->agent);
        put_text(f, t->agent_name->pdata[l->agent]);
        fputs("}},\n", f);
    }
}

static void put_head(FILE *f, const WsTrace *t, const WsTraceRecord *r, const char *phase)
{
    WsOpKind kind = ws_trace_op_kind(t, r->op);
    fprintf(f, "{\"ph\":\"%s\",\"name\":", phase);
    put_text(f, ws_trace_op_label(t, r->op));
    fprintf(f, ",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u", category(kind), r->cta, r->agent);
}

static void put_record(FILE *f, const WsTrace *t, const WsTraceRecord *r, guint id)
{
    gint64 issued = MAX(r->issued, r->start);
    put_head(f, t, r, "X");
    fputs(",\"ts\":", f);
    put_time(f, t, r, r->start);
    fputs(",\"dur\":", f);
    put_time(f, t, r, issued - r->start);
    fputs(",\"args\":{\"step\":", f);
    put_text(f, t->op_id->pdata[r->op]);
    fprintf(f, ",\"tile\":%d,\"round\":%d,\"cycles\":%" G_GINT64_FORMAT "}}", r->tile, r->round,
            issued - r->start);
    if (!ws_op_flies(ws_trace_op_kind(t, r->op)) || r->done < issued)
        return;
    for (guint end = 0; end < 2; end++) {
        fputs(",\n", f);
        put_head(f, t, r, end ? "e" : "b");
        fprintf(f, ",\"id\":%u,\"ts\":", id);
        put_time(f, t, r, end ? r->done : r->start);
        fprintf(f, ",\"args\":{\"tile\":%d,\"round\":%d}}", r->tile, r->round);
    }
}

static void put_trace(FILE *f, const WsTrace *t)
{
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"origin\":", f);
    put_text(f, t->origin == WS_TRACE_MEASURED ? "measured" : "predicted");
    fputs(",\"device\":", f);
    put_text(f, t->device ? t->device : "");
    fputs(",\"design\":", f);
    put_text(f, t->design_hash ? t->design_hash : "");
    fputs("},\"traceEvents\":[\n", f);
    put_names(f, t);
    for (guint i = 0; i < t->record->len; i++) {
        put_record(f, t, &g_array_index(t->record, WsTraceRecord, i), i);
        fputs(",\n", f);
    }
    /* The list may not end in a comma. */
    fputs("{\"ph\":\"M\",\"name\":\"trace_end\",\"pid\":0,\"tid\":0,\"args\":{}}\n]}\n", f);
}

gboolean ws_trace_export_chrome(const WsTrace *t, const char *file, GError **error)
{
    return ws_stream_write(file, t, put_trace, error);
}
