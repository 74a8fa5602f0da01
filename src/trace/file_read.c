/* Reads .wtrace files (layout: file.h). A file is input from outside: every offset, count, index
 * and text is checked before it is used, and the index is compared with the records. */
#include "base/file.h"
#include "program/op.h"
#include "trace/file.h"
#include "trace/op_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    const guint8 *data;
    gsize length;
    guint64 at[WS_FILE_SECTIONS], count[WS_FILE_SECTIONS];
    GError **error;
} Reader;

static guint32 get32(const guint8 *p)
{
    guint32 v;
    memcpy(&v, p, 4);
    return GUINT32_FROM_LE(v);
}

static guint64 get64(const guint8 *p)
{
    guint64 v;
    memcpy(&v, p, 8);
    return GUINT64_FROM_LE(v);
}

static double get_real(const guint8 *p)
{
    guint64 bits = get64(p);
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

static gboolean damaged(Reader *r, const char *what)
{
    g_set_error(r->error, WS_TRACE_ERROR, WS_TRACE_ERROR_FORMAT,
                "damaged trace: %s; record it again", what);
    return FALSE;
}

static const guint8 *entry(const Reader *r, WsFileSection section, guint64 i)
{
    return r->data + r->at[section] + i * ws_file_entry_bytes[section];
}

static gboolean read_frame(Reader *r, gboolean check_sum)
{
    if (r->length < WS_FILE_HEADER_OF(1) || memcmp(r->data, WS_FILE_MAGIC, 8) != 0) {
        g_set_error(r->error, WS_TRACE_ERROR, WS_TRACE_ERROR_FORMAT, "not a Warpstave trace");
        return FALSE;
    }
    guint32 version = get32(r->data + 8);
    if (version < 1 || version > WS_FILE_VERSION) {
        g_set_error(r->error, WS_TRACE_ERROR, WS_TRACE_ERROR_VERSION,
                    "trace format %u; this Warpstave reads formats 1 to %u", version,
                    WS_FILE_VERSION);
        return FALSE;
    }
    const guint32 header = WS_FILE_HEADER_OF(version);
    if (r->length < header || get32(r->data + 12) != header || get64(r->data + 16) != r->length)
        return damaged(r, "its length is not the one it was written with");
    if (check_sum && get64(r->data + 24) != ws_file_checksum(r->data + 32, r->length - 32))
        return damaged(r, "its checksum does not match");
    for (guint i = 0; i < (guint)WS_FILE_SECTIONS_OF(version); i++) {
        r->at[i] = get64(r->data + 112 + 16 * i);
        r->count[i] = get64(r->data + 120 + 16 * i);
        if (r->at[i] < header || r->at[i] > r->length || r->at[i] % 8 ||
            r->count[i] > (r->length - r->at[i]) / ws_file_entry_bytes[i] ||
            r->count[i] > G_MAXINT32)
            return damaged(r, "a section lies outside the file");
    }
    guint64 n = r->count[WS_FILE_STRINGS];
    if (n == 0 || r->data[r->at[WS_FILE_STRINGS] + n - 1] != 0)
        return damaged(r, "the last text does not end");
    return TRUE;
}

/* Copies the text at an offset; *text is NULL for "none". */
static gboolean read_text(Reader *r, guint32 offset, gboolean need, char **text)
{
    *text = NULL;
    if (offset == WS_FILE_NONE && !need)
        return TRUE;
    if (offset >= r->count[WS_FILE_STRINGS])
        return damaged(r, "a text lies outside the text section");
    const char *s = (const char *)entry(r, WS_FILE_STRINGS, offset);
    if (!g_utf8_validate(s, -1, NULL))
        return damaged(r, "a text is not UTF-8");
    *text = g_strdup(s);
    return TRUE;
}

static gboolean add_text(Reader *r, guint32 offset, GPtrArray *list)
{
    char *text;
    if (!read_text(r, offset, TRUE, &text))
        return FALSE;
    g_ptr_array_add(list, text);
    return TRUE;
}

#define MOST_GHZ 100 /* 0: not known */

static gboolean read_head(Reader *r, WsTrace *t)
{
    const guint8 *h = r->data;
    if (get32(h + 32) > WS_TRACE_MEASURED)
        return damaged(r, "unknown origin");
    t->origin = (WsTraceOrigin)get32(h + 32);
    t->n_set = get32(h + 36);
    t->overhead = get_real(h + 40);
    t->round_cost = get_real(h + 48);
    t->tensor_busy = get_real(h + 56);
    t->tma_busy = get_real(h + 64);
    t->cycles = (gint64)get64(h + 72);
    t->grid = (gint64)get64(h + 80);
    const guint32 every = get32(h + 8) > 2 ? get32(h + 108) : 1;
    if (every < 1 || every > G_MAXINT32)
        return damaged(r, "it says that no round was recorded");
    t->every = (gint32)every;
    if (t->cycles < 0 || t->cycles > WS_TRACE_MAX_TIME)
        return damaged(r, "its length in cycles is impossible");
    if (t->grid < 0 || t->grid > G_MAXINT32)
        return damaged(r, "no launch has so many CTAs");
    return read_text(r, get32(h + 88), TRUE, &t->design_text) &&
           read_text(r, get32(h + 92), TRUE, &t->design_hash) &&
           read_text(r, get32(h + 96), FALSE, &t->device) &&
           read_text(r, get32(h + 100), FALSE, &t->note) &&
           read_text(r, get32(h + 104), FALSE, &t->bound);
}

static gboolean read_kind(Reader *r, guint32 offset, guint8 *kind)
{
    g_autofree char *text = NULL;
    if (!read_text(r, offset, TRUE, &text))
        return FALSE;
    for (guint k = 0; k < WS_OP_KIND_COUNT; k++) {
        if (strcmp(text, ws_op_kind_text((WsOpKind)k)) == 0) {
            *kind = (guint8)k;
            return TRUE;
        }
    }
    return damaged(r, "unknown kind of operation");
}

static gboolean read_tables(Reader *r, WsTrace *t)
{
    for (guint64 i = 0; i < r->count[WS_FILE_SIZES]; i++) {
        const guint8 *e = entry(r, WS_FILE_SIZES, i);
        g_autofree char *name = NULL;
        if (!read_text(r, get32(e), TRUE, &name))
            return FALSE;
        ws_trace_add_size(t, name, (gint64)get64(e + 8));
    }
    for (guint64 i = 0; i < r->count[WS_FILE_OPS]; i++) {
        const guint8 *e = entry(r, WS_FILE_OPS, i);
        guint8 kind;
        if (!add_text(r, get32(e), t->op_id) || !add_text(r, get32(e + 4), t->op_label) ||
            !add_text(r, get32(e + 8), t->op_loop) || !read_kind(r, get32(e + 12), &kind))
            return FALSE;
        g_array_append_val(t->op_kind, kind);
    }
    for (guint64 i = 0; i < r->count[WS_FILE_AGENTS]; i++)
        if (!add_text(r, get32(entry(r, WS_FILE_AGENTS, i)), t->agent_name))
            return FALSE;
    for (guint64 i = 0; i < r->count[WS_FILE_CTAS]; i++) {
        const guint8 *e = entry(r, WS_FILE_CTAS, i);
        WsTraceCta c = { get32(e), get32(e + 4), (gint64)get64(e + 8), get_real(e + 16) };
        if (c.cycles < 0 || c.cycles > WS_TRACE_MAX_TIME)
            return damaged(r, "the length of a CTA is impossible");
        if (!(c.ghz >= 0 && c.ghz <= MOST_GHZ)) {
            g_autofree char *what =
                g_strdup_printf("no clock runs at %g GHz, as that of its entry %" G_GUINT64_FORMAT
                                " of CTAs (CTA %u)",
                                c.ghz, i, c.id);
            return damaged(r, what);
        }
        g_array_append_val(t->cta, c);
    }
    return TRUE;
}

static gboolean read_claims(Reader *r, WsTrace *t)
{
    for (guint64 i = 0; i < r->count[WS_FILE_CLAIMS]; i++) {
        const guint8 *e = entry(r, WS_FILE_CLAIMS, i);
        const guint32 cta = get32(e), tile = get32(e + 4);
        if (cta >= t->cta->len || tile > G_MAXINT32 ||
            (i > 0 && cta < get32(entry(r, WS_FILE_CLAIMS, i - 1))))
            return damaged(r, "a claim names a CTA or a tile that does not exist");
        ws_trace_add_claim(t, cta, (gint32)tile);
    }
    return TRUE;
}

static gboolean read_begins(Reader *r, WsTrace *t)
{
    const guint64 n = r->count[WS_FILE_BEGINS];
    if (n != 0 && n != t->cta->len)
        return damaged(r, "not every CTA has a beginning");
    for (guint64 i = 0; i < n; i++) {
        const gint64 ns = (gint64)get64(entry(r, WS_FILE_BEGINS, i));
        if (ns < 0 || ns > WS_TRACE_MAX_TIME)
            return damaged(r, "a CTA began at an impossible time");
        g_array_append_val(t->begin, ns);
    }
    return TRUE;
}

static gboolean read_spot(const WsTrace *t, const guint8 *e, WsTraceSpot *s)
{
    *s = (WsTraceSpot){ get32(e), get32(e + 4), get32(e + 8), (gint32)get32(e + 12) };
    return s->cta < t->cta->len && s->agent < t->agent_name->len && s->op < t->op_id->len;
}

static gboolean read_let_go(Reader *r, WsTrace *t)
{
    for (guint64 i = 0; i < r->count[WS_FILE_LET_GO]; i++) {
        const guint8 *e = entry(r, WS_FILE_LET_GO, i);
        WsTraceSpot await, notify;
        if (!read_spot(t, e, &await) || !read_spot(t, e + 16, &notify) ||
            !ws_op_awaits(ws_trace_op_kind(t, await.op)) ||
            !ws_op_notifies(ws_trace_op_kind(t, notify.op)))
            return damaged(r, "what let an await go names none, or no notify");
        ws_trace_add_let_go(t, &await, &notify);
    }
    return TRUE;
}

/* Each takes rounds of its own, and one round in as many as there are. */
static gboolean read_launches(Reader *r, WsTrace *t)
{
    const guint64 n = r->count[WS_FILE_LAUNCHES];
    guint64 taken = 0;
    if (n && (n < 2 || n > WS_TRACE_MAX_LAUNCHES || n != (guint64)t->every))
        return damaged(r, "it is merged from another number of launches than it says");
    for (guint64 i = 0; i < n; i++) {
        const guint8 *e = entry(r, WS_FILE_LAUNCHES, i);
        const WsTraceLaunch x = { get32(e), (gint32)get32(e + 4) };
        if (x.phase >= n || x.tiles < 0 || (taken >> x.phase & 1))
            return damaged(r, "two launches recorded the same rounds");
        taken |= (guint64)1 << x.phase;
        g_array_append_val(t->launch, x);
    }
    return TRUE;
}

static gboolean time_possible(gint64 v)
{
    return v >= -1 && v <= WS_TRACE_MAX_TIME;
}

#if G_BYTE_ORDER == G_BIG_ENDIAN
static void to_host(WsTraceRecord *r)
{
    r->op = GUINT32_FROM_LE(r->op);
    r->agent = GUINT16_FROM_LE(r->agent);
    r->cta = GUINT16_FROM_LE(r->cta);
    r->tile = GINT32_FROM_LE(r->tile);
    r->round = GINT32_FROM_LE(r->round);
    r->start = GINT64_FROM_LE(r->start);
    r->issued = GINT64_FROM_LE(r->issued);
    r->done = GINT64_FROM_LE(r->done);
}
#else
static void to_host(WsTraceRecord *r)
{
    (void)r; /* the file's layout is the host's (asserted in file.h) */
}
#endif

/* The records stay where they are in `bytes`, which becomes the trace's. */
static gboolean read_records(Reader *r, WsTrace *t, guint8 *bytes)
{
    WsTraceRecords *list = t->record;
    list->bytes = bytes;
    list->data = (WsTraceRecord *)(gpointer)(bytes + r->at[WS_FILE_RECORDS]);
    list->len = list->room = (guint)r->count[WS_FILE_RECORDS];
    for (guint i = 0; i < list->len; i++) {
        WsTraceRecord *rec = &list->data[i];
        to_host(rec);
        if (rec->op >= t->op_id->len || rec->agent >= t->agent_name->len || rec->cta >= t->cta->len)
            return damaged(r, "a record names an operation, agent or CTA that does not exist");
        if (rec->start < 0 || !time_possible(rec->start) || !time_possible(rec->issued) ||
            !time_possible(rec->done))
            return damaged(r, "a record has an impossible time");
    }
    return TRUE;
}

/* The index must be exactly the one that the records give; else somebody changed one of them. */
static gboolean check_index(Reader *r, WsTrace *t)
{
    ws_trace_finish(t);
    if (r->count[WS_FILE_LANES] != t->lane->len || r->count[WS_FILE_SPANS] != t->span->len)
        return damaged(r, "its index does not fit its records");
    for (guint i = 0; i < t->lane->len; i++) {
        const guint8 *e = entry(r, WS_FILE_LANES, i);
        const WsTraceLane *l = &g_array_index(t->lane, WsTraceLane, i);
        if (get32(e) != l->cta || get32(e + 4) != l->agent || get64(e + 8) != l->first ||
            get64(e + 16) != l->n || get64(e + 24) != l->first_span || get64(e + 32) != l->n_span)
            return damaged(r, "its index does not fit its records");
    }
    for (guint i = 0; i < t->span->len; i++) {
        const guint8 *e = entry(r, WS_FILE_SPANS, i);
        const WsTraceSpan *s = &g_array_index(t->span, WsTraceSpan, i);
        if ((gint64)get64(e) != s->start || (gint64)get64(e + 8) != s->end)
            return damaged(r, "its index does not fit its records");
    }
    return TRUE;
}

/* `bytes` are the trace's from here on, and freed where there is none. */
static WsTrace *parse(guint8 *bytes, gsize length, gboolean check_sum, GError **error)
{
    Reader r = { .data = bytes, .length = length, .error = error };
    if (!read_frame(&r, check_sum)) {
        g_free(bytes);
        return NULL;
    }
    g_autoptr(WsTrace) t = ws_trace_new(NULL, WS_TRACE_PREDICTED);
    t->record->bytes = bytes;
    if (!read_head(&r, t) || !read_tables(&r, t) || !read_claims(&r, t) || !read_begins(&r, t) ||
        !read_let_go(&r, t) || !read_launches(&r, t) || !read_records(&r, t, bytes) ||
        !check_index(&r, t))
        return NULL;
    return g_steal_pointer(&t);
}

WsTrace *ws_trace_parse(const guint8 *data, gsize length, gboolean check_sum, GError **error)
{
    return parse(g_memdup2(data, length), length, check_sum, error);
}

static gboolean fail(GError **error, const char *file, const char *why)
{
    g_set_error(error, WS_TRACE_ERROR, WS_TRACE_ERROR_FORMAT, "cannot read trace %s: %s", file,
                why);
    return FALSE;
}

/* Read and not mapped: a file that somebody cuts short meanwhile would end a reader of its map. */
static gboolean read_whole(const char *file, guint8 **bytes, gsize *length, GError **error)
{
    struct stat about;
    const int fd = g_open(file, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fail(error, file, g_strerror(errno));
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(fd);
        return fail(error, file, "it is not a file");
    }
    ws_file_was_read(fd);
    const gsize size = (gsize)about.st_size;
    gsize have = 0;
    gssize n = 0;
    *bytes = g_try_malloc(MAX(size, 1));
    while (*bytes && have < size && (n = read(fd, *bytes + have, size - have)) != 0) {
        if (n < 0 && errno != EINTR)
            break;
        have += n > 0 ? (gsize)n : 0;
    }
    const int code = errno;
    close(fd);
    *length = have;
    if (*bytes && n >= 0)
        return TRUE;
    g_clear_pointer(bytes, g_free);
    return fail(error, file, n < 0 ? g_strerror(code) : "it is larger than the memory");
}

WsTrace *ws_trace_load(const char *file, GError **error)
{
    guint8 *bytes;
    gsize length;
    if (!read_whole(file, &bytes, &length, error))
        return NULL;
    WsTrace *t = parse(bytes, length, TRUE, error);
    if (!t)
        g_prefix_error(error, "%s: ", file);
    return t;
}
