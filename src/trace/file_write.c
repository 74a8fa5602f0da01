/* Writes .wtrace files (layout: file.h). */
#include "model/file.h"
#include "trace/file.h"

#include <string.h>

const guint8 ws_file_entry_bytes[WS_FILE_SECTIONS] = {
    [WS_FILE_STRINGS] = 1, [WS_FILE_SIZES] = 16, [WS_FILE_OPS] = 16,   [WS_FILE_AGENTS] = 8,
    [WS_FILE_CTAS] = 24,   [WS_FILE_LANES] = 40, [WS_FILE_SPANS] = 16, [WS_FILE_RECORDS] = 40,
};

/* FNV-1a over 8-byte words (the last one zero-filled): finds damage, is no signature. */
guint64 ws_file_checksum(const guint8 *data, gsize length)
{
    guint64 h = G_GUINT64_CONSTANT(0xcbf29ce484222325);
    for (gsize i = 0; i < length; i += 8) {
        guint64 word = 0;
        memcpy(&word, data + i, MIN(8, length - i));
        h = (h ^ GUINT64_FROM_LE(word)) * G_GUINT64_CONSTANT(0x100000001b3);
        h ^= h >> 29;
    }
    return h;
}

typedef struct {
    GByteArray *bytes;
    GByteArray *strings;
    GHashTable *offset; /* char* -> offset in strings; texts repeat a lot */
    guint64 at[WS_FILE_SECTIONS], count[WS_FILE_SECTIONS];
} Writer;

static void put16(GByteArray *b, guint16 v)
{
    v = GUINT16_TO_LE(v);
    g_byte_array_append(b, (const guint8 *)&v, 2);
}

static void put32(GByteArray *b, guint32 v)
{
    v = GUINT32_TO_LE(v);
    g_byte_array_append(b, (const guint8 *)&v, 4);
}

static void put64(GByteArray *b, guint64 v)
{
    v = GUINT64_TO_LE(v);
    g_byte_array_append(b, (const guint8 *)&v, 8);
}

static void put_real(GByteArray *b, double v)
{
    guint64 bits;
    memcpy(&bits, &v, 8);
    put64(b, bits);
}

static guint32 text(Writer *w, const char *s)
{
    if (!s)
        return WS_FILE_NONE;
    gpointer found;
    if (g_hash_table_lookup_extended(w->offset, s, NULL, &found))
        return GPOINTER_TO_UINT(found);
    guint32 at = w->strings->len;
    g_byte_array_append(w->strings, (const guint8 *)s, (guint)strlen(s) + 1);
    g_hash_table_insert(w->offset, (gpointer)s, GUINT_TO_POINTER(at));
    return at;
}

static void begin(Writer *w, WsFileSection section, guint64 count)
{
    while (w->bytes->len % 8)
        g_byte_array_append(w->bytes, (const guint8 *)"", 1);
    w->at[section] = w->bytes->len;
    w->count[section] = count;
}

static void put_tables(Writer *w, const WsTrace *t)
{
    begin(w, WS_FILE_SIZES, t->size->len);
    for (guint i = 0; i < t->size->len; i++) {
        put32(w->bytes, text(w, g_array_index(t->size_name, char *, i)));
        put32(w->bytes, 0);
        put64(w->bytes, (guint64)g_array_index(t->size, gint64, i));
    }
    begin(w, WS_FILE_OPS, t->op_id->len);
    for (guint i = 0; i < t->op_id->len; i++) {
        put32(w->bytes, text(w, t->op_id->pdata[i]));
        put32(w->bytes, text(w, t->op_label->pdata[i]));
        put32(w->bytes, text(w, t->op_loop->pdata[i]));
        put32(w->bytes, text(w, ws_op_kind_text(ws_trace_op_kind(t, i))));
    }
    begin(w, WS_FILE_AGENTS, t->agent_name->len);
    for (guint i = 0; i < t->agent_name->len; i++) {
        put32(w->bytes, text(w, t->agent_name->pdata[i]));
        put32(w->bytes, 0);
    }
    begin(w, WS_FILE_CTAS, t->cta->len);
    for (guint i = 0; i < t->cta->len; i++) {
        const WsTraceCta *c = &g_array_index(t->cta, WsTraceCta, i);
        put32(w->bytes, c->id);
        put32(w->bytes, c->sm);
        put64(w->bytes, (guint64)c->cycles);
        put_real(w->bytes, c->ghz);
    }
}

static void put_records(Writer *w, const WsTrace *t)
{
    begin(w, WS_FILE_LANES, t->lane->len);
    for (guint i = 0; i < t->lane->len; i++) {
        const WsTraceLane *l = &g_array_index(t->lane, WsTraceLane, i);
        put32(w->bytes, l->cta);
        put32(w->bytes, l->agent);
        put64(w->bytes, l->first);
        put64(w->bytes, l->n);
        put64(w->bytes, l->first_span);
        put64(w->bytes, l->n_span);
    }
    begin(w, WS_FILE_SPANS, t->span->len);
    for (guint i = 0; i < t->span->len; i++) {
        const WsTraceSpan *s = &g_array_index(t->span, WsTraceSpan, i);
        put64(w->bytes, (guint64)s->start);
        put64(w->bytes, (guint64)s->end);
    }
    begin(w, WS_FILE_RECORDS, t->record->len);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        put32(w->bytes, r->op);
        put16(w->bytes, r->agent);
        put16(w->bytes, r->cta);
        put32(w->bytes, (guint32)r->tile);
        put32(w->bytes, (guint32)r->round);
        put64(w->bytes, (guint64)r->start);
        put64(w->bytes, (guint64)r->issued);
        put64(w->bytes, (guint64)r->done);
    }
}

static GByteArray *header(Writer *w, const WsTrace *t)
{
    GByteArray *h = g_byte_array_new();
    g_byte_array_append(h, (const guint8 *)WS_FILE_MAGIC, 8);
    put32(h, WS_FILE_VERSION);
    put32(h, WS_FILE_HEADER);
    put64(h, 0); /* file bytes and checksum: filled in at the end */
    put64(h, 0);
    put32(h, t->origin);
    put32(h, t->n_set);
    put_real(h, t->overhead);
    put_real(h, t->cycles_per_event);
    put_real(h, t->tensor_busy);
    put_real(h, t->tma_busy);
    put64(h, (guint64)t->cycles);
    put64(h, (guint64)t->grid);
    put32(h, text(w, t->design_text));
    put32(h, text(w, t->design_hash));
    put32(h, text(w, t->device));
    put32(h, text(w, t->note));
    put32(h, text(w, t->bound));
    put32(h, 0);
    return h;
}

static void patch64(GByteArray *b, gsize at, guint64 v)
{
    v = GUINT64_TO_LE(v);
    memcpy(b->data + at, &v, 8);
}

gboolean ws_trace_save(const WsTrace *t, const char *file, GError **error)
{
    Writer w = { .bytes = g_byte_array_new(),
                 .strings = g_byte_array_new(),
                 .offset = g_hash_table_new(g_str_hash, g_str_equal) };
    g_autoptr(GByteArray) head = header(&w, t);
    g_byte_array_set_size(w.bytes, WS_FILE_HEADER);
    put_tables(&w, t);
    put_records(&w, t);
    begin(&w, WS_FILE_STRINGS, w.strings->len);
    g_byte_array_append(w.bytes, w.strings->data, w.strings->len);
    for (guint i = 0; i < WS_FILE_SECTIONS; i++) {
        put64(head, w.at[i]);
        put64(head, w.count[i]);
    }
    g_assert(head->len == WS_FILE_HEADER);
    memcpy(w.bytes->data, head->data, WS_FILE_HEADER);
    patch64(w.bytes, 16, w.bytes->len);
    patch64(w.bytes, 24, ws_file_checksum(w.bytes->data + 32, w.bytes->len - 32));
    gboolean ok = ws_file_write(file, (const char *)w.bytes->data, w.bytes->len, error);
    if (!ok)
        g_prefix_error(error, "cannot write trace %s: ", file);
    g_hash_table_destroy(w.offset);
    g_byte_array_free(w.strings, TRUE);
    g_byte_array_free(w.bytes, TRUE);
    return ok;
}
