/* The Perfetto export, read back by a decoder that knows nothing of the writer: every slice begins
 * and ends, slices of a track do not overlap, and the agents' tracks hold exactly the records. */
#include "toy.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct {
    const guint8 *at, *end;
} Message;

static guint64 varint(Message *m)
{
    guint64 v = 0;
    for (guint shift = 0;; shift += 7) {
        g_assert_true(m->at < m->end && shift < 70);
        const guint8 byte = *m->at++;
        v |= (guint64)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
}

/* The next field: its number, and its value or its bytes. */
static gboolean field(Message *m, guint *number, guint64 *value, Message *inner)
{
    if (m->at == m->end)
        return FALSE;
    const guint64 tag = varint(m);
    *number = (guint)(tag >> 3);
    *value = varint(m);
    if ((tag & 7) == 0)
        return TRUE;
    g_assert_cmpuint(tag & 7, ==, 2);
    g_assert_cmpuint(*value, <=, m->end - m->at);
    *inner = (Message){ m->at, m->at + *value };
    m->at = inner->end;
    return TRUE;
}

typedef struct {
    guint64 track, name;
    gint64 begin, end;
} Slice;

typedef struct {
    GHashTable *open;   /* track -> index of its open slice + 1 */
    GHashTable *tracks; /* uuid, described before its first event */
    GArray *slices;
    guint names;
} Decoded;

static void decode_event(Decoded *d, Message m, gint64 time)
{
    guint number;
    guint64 value, type = 0, track = 0, name = 0;
    Message inner;
    while (field(&m, &number, &value, &inner)) {
        type = number == 9 ? value : type;
        track = number == 11 ? value : track;
        name = number == 10 ? value : name;
    }
    gpointer key = GSIZE_TO_POINTER(track);
    g_assert_true(g_hash_table_contains(d->tracks, key));
    const guint open = GPOINTER_TO_UINT(g_hash_table_lookup(d->open, key));
    if (type == 1) {
        g_assert_cmpuint(open, ==, 0);
        const Slice s = { track, name, time, -1 };
        g_array_append_val(d->slices, s);
        g_hash_table_insert(d->open, key, GUINT_TO_POINTER(d->slices->len));
        return;
    }
    g_assert_cmpuint(type, ==, 2);
    g_assert_cmpuint(open, >, 0);
    g_array_index(d->slices, Slice, open - 1).end = time;
    g_hash_table_remove(d->open, key);
}

static void decode_packet(Decoded *d, Message m)
{
    guint number, inner_number;
    guint64 value, inner_value;
    gint64 time = -1;
    Message inner, deeper, event = { NULL, NULL };
    while (field(&m, &number, &value, &inner)) {
        if (number == 8)
            time = (gint64)value;
        if (number == 11)
            event = inner;
        if (number == 60)
            while (field(&inner, &inner_number, &inner_value, &deeper))
                if (inner_number == 1)
                    g_hash_table_add(d->tracks, GSIZE_TO_POINTER(inner_value));
        if (number == 12)
            while (field(&inner, &inner_number, &inner_value, &deeper))
                d->names += inner_number == 2;
    }
    if (event.at)
        decode_event(d, event, time);
}

static void check(const WsTrace *t, const guint8 *data, gsize size)
{
    Decoded d = { g_hash_table_new(NULL, NULL), g_hash_table_new(NULL, NULL),
                  g_array_new(FALSE, FALSE, sizeof(Slice)), 0 };
    Message m = { data, data + size }, packet;
    guint number;
    guint64 value;
    while (field(&m, &number, &value, &packet)) {
        g_assert_cmpuint(number, ==, 1);
        decode_packet(&d, packet);
    }
    g_assert_cmpuint(g_hash_table_size(d.open), ==, 0);
    g_assert_cmpuint(d.names, ==, t->op_id->len);
    guint on_agents = 0, in_flight = 0;
    for (guint i = 0; i < d.slices->len; i++) {
        const Slice *s = &g_array_index(d.slices, Slice, i);
        g_assert_cmpint(s->end, >=, s->begin);
        if (s->track & 0xff) {
            in_flight++;
            continue;
        }
        on_agents++;
        gboolean found = FALSE;
        for (guint k = 0; !found && k < t->record->len; k++) {
            const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, k);
            found = r->cta + 1u == s->track >> 32 && r->agent + 1u == (s->track >> 8 & 0xffffff) &&
                    r->op + 1 == s->name && r->start == s->begin && r->issued == s->end;
        }
        g_assert_true(found);
    }
    g_assert_cmpuint(on_agents, ==, t->record->len);
    g_assert_cmpuint(in_flight, >, 0);
    g_array_unref(d.slices);
    g_hash_table_unref(d.open);
    g_hash_table_unref(d.tracks);
}

static void test_decoded(void)
{
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_MEASURED, 2, 8, 40);
    g_autofree char *dir = g_dir_make_tmp("ws-trace-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(dir, "trace.pftrace", NULL);
    g_assert_true(ws_trace_export_perfetto(t, file, NULL));
    g_autofree char *data = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(file, &data, &size, NULL));
    check(t, (const guint8 *)data, size);
    g_unlink(file);
    g_assert_cmpint(g_rmdir(dir), ==, 0);
    g_autoptr(GError) error = NULL;
    g_assert_false(ws_trace_export_perfetto(t, "/nonexistent/x.pftrace", &error));
    g_assert_nonnull(error);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trace/perfetto", test_decoded);
    const int status = g_test_run();
    toy_program_free();
    return status;
}
