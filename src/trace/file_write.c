/* Writes .wtrace files (layout: file.h). */
#include "program/op.h"
#include "trace/file.h"
#include "trace/op_kind.h"
#include "trace/stream.h"

#include <string.h>

const guint8 ws_file_entry_bytes[WS_FILE_SECTIONS] = {
    [WS_FILE_STRINGS] = 1, [WS_FILE_SIZES] = 16, [WS_FILE_OPS] = 16,    [WS_FILE_AGENTS] = 8,
    [WS_FILE_CTAS] = 24,   [WS_FILE_LANES] = 40, [WS_FILE_SPANS] = 16,  [WS_FILE_RECORDS] = 40,
    [WS_FILE_CLAIMS] = 8,  [WS_FILE_BEGINS] = 8, [WS_FILE_LET_GO] = 32, [WS_FILE_LAUNCHES] = 8,
};

/* The file is emitted twice: once to learn its checksum, once to be written. So a save costs the
 * memory of its texts and no more, however long the trace is. */
typedef struct {
    const WsTrace *t;
    FILE *f;       /* NULL: only the checksum */
    guint version; /* of the file */
    guint64 bytes; /* emitted so far */
    guint64 hash, word;
    GByteArray *strings;
    GHashTable *offset; /* char* -> offset in strings; texts repeat a lot */
    guint64 at[WS_FILE_SECTIONS], count[WS_FILE_SECTIONS];
    guint64 length, checksum; /* of the file, once known */
} Writer;

guint64 ws_file_checksum(const guint8 *data, gsize length)
{
    guint64 h = WS_FILE_HASH_START;
    for (gsize i = 0; i < length; i += 8) {
        guint64 word = 0;
        memcpy(&word, data + i, MIN(8, length - i));
        h = ws_file_hash(h, GUINT64_FROM_LE(word));
    }
    return h;
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

/* Every number of the file lies at a multiple of its size, so none straddles a word. */
static void put(Writer *w, guint64 v, guint size)
{
    const guint shift = 8 * (guint)(w->bytes % 8);
    w->word |= (size == 8 ? v : v & ((G_GUINT64_CONSTANT(1) << 8 * size) - 1)) << shift;
    w->bytes += size;
    if (w->bytes % 8)
        return;
    if (w->bytes > 32)
        w->hash = ws_file_hash(w->hash, w->word);
    const guint64 word = GUINT64_TO_LE(w->word);
    if (w->f)
        fwrite(&word, 8, 1, w->f);
    w->word = 0;
}

static void put_real(Writer *w, double v)
{
    guint64 bits;
    memcpy(&bits, &v, 8);
    put(w, bits, 8);
}

static void put_tables(Writer *w)
{
    const WsTrace *t = w->t;
    for (guint i = 0; i < t->size->len; i++) {
        put(w, text(w, g_array_index(t->size_name, char *, i)), 4);
        put(w, 0, 4);
        put(w, (guint64)g_array_index(t->size, gint64, i), 8);
    }
    for (guint i = 0; i < t->op_id->len; i++) {
        put(w, text(w, t->op_id->pdata[i]), 4);
        put(w, text(w, t->op_label->pdata[i]), 4);
        put(w, text(w, t->op_loop->pdata[i]), 4);
        put(w, text(w, ws_op_kind_text(ws_trace_op_kind(t, i))), 4);
    }
    for (guint i = 0; i < t->agent_name->len; i++) {
        put(w, text(w, t->agent_name->pdata[i]), 4);
        put(w, 0, 4);
    }
    for (guint i = 0; i < t->cta->len; i++) {
        const WsTraceCta *c = &g_array_index(t->cta, WsTraceCta, i);
        put(w, c->id, 4);
        put(w, c->sm, 4);
        put(w, (guint64)c->cycles, 8);
        put_real(w, c->ghz);
    }
}

static void put_index(Writer *w)
{
    const WsTrace *t = w->t;
    for (guint i = 0; i < t->lane->len; i++) {
        const WsTraceLane *l = &g_array_index(t->lane, WsTraceLane, i);
        put(w, l->cta, 4);
        put(w, l->agent, 4);
        put(w, l->first, 8);
        put(w, l->n, 8);
        put(w, l->first_span, 8);
        put(w, l->n_span, 8);
    }
    for (guint i = 0; i < t->span->len; i++) {
        const WsTraceSpan *s = &g_array_index(t->span, WsTraceSpan, i);
        put(w, (guint64)s->start, 8);
        put(w, (guint64)s->end, 8);
    }
}

static void put_records(Writer *w)
{
    for (guint i = 0; i < w->t->record->len; i++) {
        const WsTraceRecord *r = &w->t->record->data[i];
        put(w, r->op | (guint64)r->agent << 32 | (guint64)r->cta << 48, 8);
        put(w, (guint32)r->tile | (guint64)(guint32)r->round << 32, 8);
        put(w, (guint64)r->start, 8);
        put(w, (guint64)r->issued, 8);
        put(w, (guint64)r->done, 8);
    }
}

static void put_claims(Writer *w)
{
    for (guint i = 0; i < w->t->claimed->len; i++) {
        const WsTraceClaim *c = &g_array_index(w->t->claimed, WsTraceClaim, i);
        put(w, c->cta, 4);
        put(w, (guint32)c->tile, 4);
    }
}

static void put_begins(Writer *w)
{
    for (guint i = 0; i < w->t->begin->len; i++)
        put(w, (guint64)g_array_index(w->t->begin, gint64, i), 8);
}

static void put_spot(Writer *w, const WsTraceSpot *s)
{
    put(w, s->cta, 4);
    put(w, s->agent, 4);
    put(w, s->op, 4);
    put(w, (guint32)s->round, 4);
}

static void put_let_go(Writer *w)
{
    for (guint i = 0; i < w->t->let_go->len; i++) {
        const WsTraceLetGo *x = &g_array_index(w->t->let_go, WsTraceLetGo, i);
        put_spot(w, &x->await);
        put_spot(w, &x->notify);
    }
}

static void put_launches(Writer *w)
{
    for (guint i = 0; i < w->t->launch->len; i++) {
        const WsTraceLaunch *x = &g_array_index(w->t->launch, WsTraceLaunch, i);
        put(w, x->phase, 4);
        put(w, (guint32)x->tiles, 4);
    }
}

static void put_header(Writer *w)
{
    const WsTrace *t = w->t;
    guint64 magic;
    memcpy(&magic, WS_FILE_MAGIC, 8);
    put(w, GUINT64_FROM_LE(magic), 8);
    put(w, w->version, 4);
    put(w, WS_FILE_HEADER_OF(w->version), 4);
    put(w, w->length, 8);
    put(w, w->checksum, 8);
    put(w, t->origin, 4);
    put(w, t->n_set, 4);
    put_real(w, t->overhead);
    put_real(w, t->round_cost);
    put_real(w, t->tensor_busy);
    put_real(w, t->tma_busy);
    put(w, (guint64)t->cycles, 8);
    put(w, (guint64)t->grid, 8);
    put(w, text(w, t->design_text), 4);
    put(w, text(w, t->design_hash), 4);
    put(w, text(w, t->device), 4);
    put(w, text(w, t->note), 4);
    put(w, text(w, t->bound), 4);
    put(w, w->version > 2 ? (guint32)t->every : 0, 4);
    for (guint i = 0; i < WS_FILE_SECTIONS_OF(w->version); i++) {
        put(w, w->at[i], 8);
        put(w, w->count[i], 8);
    }
    g_assert(w->bytes == WS_FILE_HEADER_OF(w->version));
}

static void emit(Writer *w)
{
    w->bytes = w->word = 0;
    w->hash = WS_FILE_HASH_START;
    put_header(w);
    put_tables(w);
    put_index(w);
    put_records(w);
    put_claims(w);
    put_begins(w);
    put_let_go(w);
    put_launches(w);
    for (guint i = 0; i < w->strings->len; i++)
        put(w, w->strings->data[i], 1);
    while (w->bytes % 8)
        put(w, 0, 1);
}

/* Where each section lies: the texts come last, since the tables make them. */
static void place(Writer *w)
{
    const WsTrace *t = w->t;
    const guint64 count[WS_FILE_SECTIONS] = {
        [WS_FILE_SIZES] = t->size->len,        [WS_FILE_OPS] = t->op_id->len,
        [WS_FILE_AGENTS] = t->agent_name->len, [WS_FILE_CTAS] = t->cta->len,
        [WS_FILE_LANES] = t->lane->len,        [WS_FILE_SPANS] = t->span->len,
        [WS_FILE_RECORDS] = t->record->len,    [WS_FILE_CLAIMS] = t->claimed->len,
        [WS_FILE_BEGINS] = t->begin->len,      [WS_FILE_LET_GO] = t->let_go->len,
        [WS_FILE_LAUNCHES] = t->launch->len,
    };
    guint64 at = WS_FILE_HEADER_OF(w->version);
    for (guint i = WS_FILE_SIZES; i < WS_FILE_SECTIONS; i++) {
        w->at[i] = at;
        w->count[i] = count[i];
        at += count[i] * ws_file_entry_bytes[i];
    }
    w->at[WS_FILE_STRINGS] = at;
}

static void write_file(FILE *f, const WsTrace *t)
{
    Writer w = { .t = t,
                 .version = t->launch->len             ? WS_FILE_VERSION
                            : t->let_go->len           ? 5
                            : t->begin->len            ? 4
                            : t->every > 1             ? 3
                            : ws_trace_knows_claims(t) ? 2
                                                       : 1,
                 .strings = g_byte_array_new(),
                 .offset = g_hash_table_new(g_str_hash, g_str_equal) };
    place(&w);
    emit(&w); /* collects the texts */
    w.count[WS_FILE_STRINGS] = w.strings->len;
    w.length = w.bytes;
    emit(&w);
    w.checksum = w.hash;
    w.f = f;
    emit(&w);
    g_hash_table_destroy(w.offset);
    g_byte_array_free(w.strings, TRUE);
}

gboolean ws_trace_save(const WsTrace *t, const char *file, GError **error)
{
    gboolean ok = ws_stream_write(file, t, write_file, error);
    if (!ok)
        g_prefix_error(error, "cannot write trace: ");
    return ok;
}
