/* Trace -> CSV, one line per record, written as it goes. */
#include "program/op.h"
#include "trace/op_kind.h"

#include "trace/stream.h"

/* Quotes a field where it needs it (RFC 4180). A name that a spreadsheet would take for a formula
 * gets an apostrophe, by which it is a text. */
static void put_field(FILE *f, const char *text)
{
    const gboolean formula = *text && strchr("=+-@\t\r", *text);
    if (!formula && !strpbrk(text, ",\"\r\n")) {
        fputs(text, f);
        return;
    }
    fputs(formula ? "\"'" : "\"", f);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static void put_records(FILE *f, const WsTrace *t)
{
    fputs("cta,sm,agent,step,label,kind,loop,tile,round,start,issued,done", f);
    fputs(t->launch->len ? ",launch\n" : "\n", f);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        const WsTraceCta *c = &g_array_index(t->cta, WsTraceCta, r->cta);
        fprintf(f, "%u,", c->id);
        if (c->sm != G_MAXUINT32)
            fprintf(f, "%u", c->sm);
        fputc(',', f);
        put_field(f, t->agent_name->pdata[r->agent]);
        fputc(',', f);
        put_field(f, t->op_id->pdata[r->op]);
        fputc(',', f);
        put_field(f, ws_trace_op_label(t, r->op));
        fprintf(f, ",%s,", ws_op_kind_text(ws_trace_op_kind(t, r->op)));
        put_field(f, t->op_loop->pdata[r->op]);
        fprintf(f, ",%d,%d,%" G_GINT64_FORMAT ",", r->tile, r->round, r->start);
        if (r->issued >= 0)
            fprintf(f, "%" G_GINT64_FORMAT, r->issued);
        fputc(',', f);
        if (r->done >= 0)
            fprintf(f, "%" G_GINT64_FORMAT, r->done);
        if (t->launch->len) /* of those that the trace is merged from, from 1 */
            fprintf(f, ",%u", ws_trace_launch_of(t, r) + 1);
        fputc('\n', f);
    }
}

gboolean ws_trace_export_csv(const WsTrace *t, const char *file, GError **error)
{
    return ws_stream_write(file, t, put_records, error);
}
