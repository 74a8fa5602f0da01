/* Trace -> Perfetto's protobuf (ui.perfetto.dev), written as it goes: one process per CTA, one
 * track per agent for what holds it, and as many tracks below it as it has effects in flight at
 * once, so that asynchronous work overlaps as it did. One nanosecond of the file is one SM cycle:
 * cycles are exact, nanoseconds would be rounded.
 *
 * Field numbers: google/perfetto, protos/perfetto/trace/trace_packet.proto and track_event/. */
#include "program/op.h"
#include "trace/op_kind.h"
#include "trace/stream.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };
enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
};
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { EVENT_CATEGORY_IID = 3, EVENT_NOTE = 4, EVENT_TYPE = 9, EVENT_NAME_IID = 10 };
enum { EVENT_TRACK = 11 };
enum { EVENT_BEGIN = 1, EVENT_END = 2 };
enum { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2, INTERNED_IID = 1, INTERNED_TEXT = 2 };
enum { NOTE_NAME = 10, NOTE_INT = 4, NOTE_TEXT = 6 };

/* Effects of one agent that may be drawn side by side; more share the last track. */
#define MAX_FLIGHTS 16

/* --- messages --------------------------------------------------------------------------------- */

static void put_varint(GByteArray *m, guint64 v)
{
    do {
        const guint8 byte = (guint8)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        g_byte_array_append(m, &byte, 1);
        v >>= 7;
    } while (v);
}

static void put_number(GByteArray *m, guint field, guint64 v)
{
    put_varint(m, (guint64)field << 3 | WIRE_VARINT);
    put_varint(m, v);
}

static void put_bytes(GByteArray *m, guint field, const void *data, gsize n)
{
    put_varint(m, (guint64)field << 3 | WIRE_BYTES);
    put_varint(m, n);
    g_byte_array_append(m, data, (guint)n);
}

static void put_string(GByteArray *m, guint field, const char *text)
{
    put_bytes(m, field, text, strlen(text));
}

static void put_message(GByteArray *m, guint field, GByteArray *inner)
{
    put_bytes(m, field, inner->data, inner->len);
    g_byte_array_set_size(inner, 0);
}

typedef struct {
    FILE *f;
    const WsTrace *t;
    GByteArray *packet, *part, *small, *frame; /* reused for every packet */
} Out;

static void write_packet(Out *o)
{
    put_number(o->packet, PACKET_SEQUENCE, 1);
    put_message(o->frame, TRACE_PACKET, o->packet);
    fwrite(o->frame->data, 1, o->frame->len, o->f);
    g_byte_array_set_size(o->frame, 0);
}

/* --- names and tracks ------------------------------------------------------------------------- */

typedef enum { CATEGORY_WORK = 1, CATEGORY_WAIT, CATEGORY_TENSOR, CATEGORY_TRANSFER } Category;
static const char *const category_names[] = { NULL, "work", "wait", "tensor", "transfer" };

static Category category_of(WsOpKind kind)
{
    if (ws_op_waits(kind))
        return CATEGORY_WAIT;
    if (ws_op_is_product(kind))
        return CATEGORY_TENSOR;
    return ws_op_flies(kind) ? CATEGORY_TRANSFER : CATEGORY_WORK;
}

static void intern(Out *o, guint field, guint64 iid, const char *text)
{
    put_number(o->small, INTERNED_IID, iid);
    put_string(o->small, INTERNED_TEXT, text);
    put_message(o->part, field, o->small);
}

static void write_names(Out *o)
{
    for (guint i = 1; i < G_N_ELEMENTS(category_names); i++)
        intern(o, INTERNED_CATEGORIES, i, category_names[i]);
    for (guint i = 0; i < o->t->op_id->len; i++)
        intern(o, INTERNED_NAMES, i + 1, ws_trace_op_label(o->t, i));
    put_message(o->packet, PACKET_INTERNED, o->part);
    put_number(o->packet, PACKET_FLAGS, FLAG_STATE_CLEARED);
    write_packet(o);
}

static guint64 process_uuid(guint cta)
{
    return (guint64)cta + 1;
}

/* Track 0 of an agent is the agent itself, the others its effects in flight. */
static guint64 track_uuid(const WsTraceLane *l, guint track)
{
    return ((guint64)l->cta + 1) << 32 | ((guint64)l->agent + 1) << 8 | track;
}

static void write_process(Out *o, guint cta)
{
    const WsTraceCta *c = &g_array_index(o->t->cta, WsTraceCta, cta);
    g_autofree char *sm = c->sm == G_MAXUINT32 ? g_strdup("") : g_strdup_printf(", SM %u", c->sm);
    g_autofree char *cta_text = ws_trace_cta_text(o->t, cta);
    g_autofree char *name = g_strdup_printf("%s%s (1 ns = 1 SM cycle)", cta_text, sm);
    put_number(o->small, PROCESS_PID, (guint64)cta + 1);
    put_string(o->small, PROCESS_NAME, name);
    put_number(o->part, TRACK_UUID, process_uuid(cta));
    put_message(o->part, TRACK_PROCESS, o->small);
    put_message(o->packet, PACKET_TRACK, o->part);
    write_packet(o);
}

static void write_agent(Out *o, const WsTraceLane *l)
{
    put_number(o->small, THREAD_PID, (guint64)l->cta + 1);
    put_number(o->small, THREAD_TID, (guint64)l->agent + 1);
    put_string(o->small, THREAD_NAME, g_ptr_array_index(o->t->agent_name, l->agent));
    put_number(o->part, TRACK_UUID, track_uuid(l, 0));
    put_number(o->part, TRACK_PARENT, process_uuid(l->cta));
    put_message(o->part, TRACK_THREAD, o->small);
    put_message(o->packet, PACKET_TRACK, o->part);
    write_packet(o);
}

static void write_flight_track(Out *o, const WsTraceLane *l, guint track)
{
    g_autofree char *name =
        g_strdup_printf("%s in flight", (char *)g_ptr_array_index(o->t->agent_name, l->agent));
    put_number(o->part, TRACK_UUID, track_uuid(l, track));
    put_number(o->part, TRACK_PARENT, process_uuid(l->cta));
    put_string(o->part, TRACK_NAME, name);
    put_message(o->packet, PACKET_TRACK, o->part);
    write_packet(o);
}

/* --- events ----------------------------------------------------------------------------------- */

static void put_note(Out *o, const char *name, const char *text, gint64 number)
{
    put_string(o->small, NOTE_NAME, name);
    if (text)
        put_string(o->small, NOTE_TEXT, text);
    else
        put_number(o->small, NOTE_INT, (guint64)number);
    put_message(o->part, EVENT_NOTE, o->small);
}

static void write_event(Out *o, guint64 track, const WsTraceRecord *r, gboolean end, gint64 time)
{
    put_number(o->part, EVENT_TYPE, end ? EVENT_END : EVENT_BEGIN);
    put_number(o->part, EVENT_TRACK, track);
    if (!end) {
        put_number(o->part, EVENT_NAME_IID, (guint64)r->op + 1);
        put_number(o->part, EVENT_CATEGORY_IID, category_of(ws_trace_op_kind(o->t, r->op)));
        put_note(o, "step", g_ptr_array_index(o->t->op_id, r->op), 0);
        put_note(o, "tile", NULL, r->tile);
        put_note(o, "round", NULL, r->round);
    }
    put_number(o->packet, PACKET_TIMESTAMP, (guint64)MAX(time, 0));
    put_message(o->packet, PACKET_EVENT, o->part);
    put_number(o->packet, PACKET_FLAGS, FLAG_NEEDS_STATE);
    write_packet(o);
}

static void write_slice(Out *o, guint64 track, const WsTraceRecord *r, gint64 from, gint64 to)
{
    write_event(o, track, r, FALSE, from);
    write_event(o, track, r, TRUE, to);
}

static void write_lane(Out *o, const WsTraceLane *l)
{
    gint64 busy_until[MAX_FLIGHTS + 1];
    guint n_tracks = 0;
    write_agent(o, l);
    for (guint64 i = l->first; i < l->first + l->n; i++) {
        const WsTraceRecord *r = &g_array_index(o->t->record, WsTraceRecord, i);
        const gint64 issued = MAX(r->issued, r->start);
        write_slice(o, track_uuid(l, 0), r, r->start, issued);
        if (!ws_op_flies(ws_trace_op_kind(o->t, r->op)) || r->done < issued)
            continue;
        guint track = 1;
        while (track <= n_tracks && busy_until[track] > r->start)
            track++;
        if (track > MAX_FLIGHTS)
            track = MAX_FLIGHTS;
        if (track > n_tracks)
            write_flight_track(o, l, n_tracks = track);
        busy_until[track] = r->done;
        write_slice(o, track_uuid(l, track), r, r->start, r->done);
    }
}

static void put_trace(FILE *f, const WsTrace *t)
{
    Out o = {
        f, t, g_byte_array_new(), g_byte_array_new(), g_byte_array_new(), g_byte_array_new()
    };
    write_names(&o);
    for (guint i = 0; i < t->cta->len; i++)
        write_process(&o, i);
    for (guint i = 0; i < t->lane->len; i++)
        write_lane(&o, &g_array_index(t->lane, WsTraceLane, i));
    g_byte_array_unref(o.packet);
    g_byte_array_unref(o.part);
    g_byte_array_unref(o.small);
    g_byte_array_unref(o.frame);
}

gboolean ws_trace_export_perfetto(const WsTrace *t, const char *file, GError **error)
{
    return ws_stream_write(file, t, put_trace, error);
}
