/* Trace -> Chrome trace events (chrome://tracing, ui.perfetto.dev), written as it goes. Work that
 * blocks its agent is complete events ("X") on the agent's thread; work in flight overlaps and
 * becomes asynchronous events ("b", "e") of the agent's engine. Times are microseconds where the
 * clock of every CTA is known, else cycles in their place: one unit for the whole file, which says
 * which. */
#include "program/op.h"
#include "trace/op_kind.h"
#include "trace/stream.h"

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

/* A trace may state any rate: rates that no GPU has are none. */
static gboolean clocks_known(const WsTrace *t)
{
    gboolean known = t->cta->len > 0;
    for (guint i = 0; i < t->cta->len; i++) {
        const double ghz = g_array_index(t->cta, WsTraceCta, i).ghz;
        known = known && ghz > 0.01 && ghz < 100;
    }
    return known;
}

typedef struct {
    FILE *f;
    const WsTrace *t;
    gboolean clocks; /* times are microseconds, not cycles */
} Out;

/* One decimal point whatever the locale. */
static void put_time(const Out *o, const WsTraceRecord *r, gint64 cycles)
{
    const double ghz = g_array_index(o->t->cta, WsTraceCta, r->cta).ghz;
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    fputs(g_ascii_formatd(text, sizeof text, "%.4f",
                          o->clocks ? (double)cycles / (1000 * ghz) : (double)cycles),
          o->f);
}

static const char *category(WsOpKind kind)
{
    if (ws_op_waits(kind))
        return "wait";
    if (ws_op_is_product(kind))
        return "tensor";
    return ws_op_flies(kind) ? "transfer" : "work";
}

static void put_names(const Out *o)
{
    FILE *f = o->f;
    const WsTrace *t = o->t;
    for (guint i = 0; i < t->lane->len; i++) {
        const WsTraceLane *l = &g_array_index(t->lane, WsTraceLane, i);
        g_autofree char *cta = ws_trace_cta_text(t, l->cta);
        fprintf(f,
                "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"tid\":0,"
                "\"args\":{\"name\":\"%s%s\"}},\n",
                l->cta, cta, o->clocks ? "" : " (1 us = 1 SM cycle)");
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

static void put_record(const Out *o, const WsTraceRecord *r, guint id)
{
    FILE *f = o->f;
    const WsTrace *t = o->t;
    gint64 issued = MAX(r->issued, r->start);
    put_head(f, t, r, "X");
    fputs(",\"ts\":", f);
    put_time(o, r, r->start);
    fputs(",\"dur\":", f);
    put_time(o, r, issued - r->start);
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
        put_time(o, r, end ? r->done : r->start);
        fprintf(f, ",\"args\":{\"tile\":%d,\"round\":%d}}", r->tile, r->round);
    }
}

static void put_trace(FILE *f, const WsTrace *t)
{
    const Out out = { f, t, clocks_known(t) }, *o = &out;
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"origin\":", f);
    put_text(f, t->origin == WS_TRACE_MEASURED ? "measured" : "predicted");
    fputs(",\"device\":", f);
    put_text(f, t->device ? t->device : "");
    fputs(",\"design\":", f);
    put_text(f, t->design_hash ? t->design_hash : "");
    fprintf(f, ",\"unit\":\"%s\"",
            o->clocks ? "us" : "SM cycles as us: the clock of some CTA is not known");
    fputs("},\"traceEvents\":[\n", f);
    put_names(o);
    for (guint i = 0; i < t->record->len; i++) {
        put_record(o, &g_array_index(t->record, WsTraceRecord, i), i);
        fputs(",\n", f);
    }
    /* The list may not end in a comma. */
    fputs("{\"ph\":\"M\",\"name\":\"trace_end\",\"pid\":0,\"tid\":0,\"args\":{}}\n]}\n", f);
}

gboolean ws_trace_export_chrome(const WsTrace *t, const char *file, GError **error)
{
    return ws_stream_write(file, t, put_trace, error);
}
