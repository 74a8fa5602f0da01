/* .wtrace: what is written comes back, and nothing damaged is believed. */
#include "toy.h"
#include "trace/op_kind.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* The formats: 1; 2, which holds the tiles that CTAs claimed; 3, where only some rounds were
 * recorded; 4, which says when each CTA began. */
static guint format = 1;

static WsTrace *sample_trace(void)
{
    WsTrace *t = toy_trace(WS_TRACE_MEASURED, 2, 40, 300);
    static const WsTraceClaim claims[] = { { 0, 3 }, { 0, 0 }, { 1, 0x7fffffff } };
    g_autoptr(WsTrace) other = toy_trace(WS_TRACE_MEASURED, 1, 4, 0);
    if (format >= 2)
        ws_trace_append(t, other);
    ws_trace_finish(t);
    for (guint i = 0; format >= 2 && i < G_N_ELEMENTS(claims); i++)
        ws_trace_add_claim(t, claims[i].cta, claims[i].tile);
    t->every = format == 3 ? 64 : 1;
    for (gint64 i = 0; format == 4 && i < t->cta->len; i++) {
        const gint64 ns = 100 * i;
        g_array_append_val(t->begin, ns);
    }
    return t;
}

static GBytes *sample(void)
{
    g_autoptr(WsTrace) t = sample_trace();
    t->overhead = 0.012;
    t->note = g_strdup("caf\xc3\xa9");
    g_autofree char *dir = g_dir_make_tmp("ws-file-XXXXXX", NULL);
    g_autofree char *file = g_strconcat(dir, "/a.wtrace", NULL);
    g_assert_true(ws_trace_save(t, file, NULL));
    char *data;
    gsize length;
    g_assert_true(g_file_get_contents(file, &data, &length, NULL));
    g_autoptr(GError) error = NULL;
    g_autoptr(WsTrace) loaded = ws_trace_load(file, &error);
    g_assert_no_error(error);
    g_assert_nonnull(loaded);
    g_unlink(file);
    g_assert_cmpint(g_rmdir(dir), ==, 0);
    return g_bytes_new_take(data, length);
}

static void test_round_trip(void)
{
    g_autoptr(WsTrace) a = sample_trace();
    g_autoptr(GBytes) bytes = sample();
    g_autoptr(GError) error = NULL;
    gsize length;
    const guint8 *data = g_bytes_get_data(bytes, &length);
    g_autoptr(WsTrace) b = ws_trace_parse(data, length, TRUE, &error);
    g_assert_no_error(error);
    g_assert_cmpint(b->origin, ==, WS_TRACE_MEASURED);
    g_assert_cmpstr(b->design_text, ==, a->design_text);
    g_assert_cmpstr(b->design_hash, ==, a->design_hash);
    g_assert_cmpstr(b->device, ==, "NVIDIA H200");
    g_assert_cmpstr(b->note, ==, "caf\xc3\xa9");
    g_assert_cmpstr(b->bound, ==, "tensor pipe");
    g_assert_cmpfloat(b->overhead, ==, 0.012);
    g_assert_true(isnan(b->round_cost));
    g_assert_cmpint(b->grid, ==, 132);
    g_assert_cmpint(b->cycles, ==, a->cycles);
    g_assert_cmpuint(b->size->len, ==, 1);
    g_assert_cmpstr(g_array_index(b->size_name, char *, 0), ==, "rounds");
    g_assert_cmpint(g_array_index(b->size, gint64, 0), ==, 40);
    g_assert_cmpuint(b->record->len, ==, a->record->len);
    g_assert_cmpmem(b->record->data, b->record->len * sizeof(WsTraceRecord), a->record->data,
                    a->record->len * sizeof(WsTraceRecord));
    for (guint i = 0; i < a->op_id->len; i++) {
        g_assert_cmpstr(a->op_id->pdata[i], ==, b->op_id->pdata[i]);
        g_assert_cmpstr(a->op_loop->pdata[i], ==, b->op_loop->pdata[i]);
        g_assert_cmpint(ws_trace_op_kind(a, i), ==, ws_trace_op_kind(b, i));
    }
    g_assert_cmpint(data[8], ==, format);
    g_assert_cmpint(b->every, ==, format == 3 ? 64 : 1);
    g_assert_cmpuint(b->claimed->len, ==, format >= 2 ? 3 : 0);
    g_assert_true(ws_trace_same_claims(a, 0, b, 0) && ws_trace_same_claims(a, 1, b, 1));
    g_assert_cmpint(ws_trace_same_claims(a, 0, b, 1), ==, format == 1);
    guint n;
    const WsTraceClaim *first = ws_trace_claims(b, 0, &n);
    g_assert_cmpuint(n, ==, format >= 2 ? 2 : 0);
    g_assert_true(!n || (first[0].tile == 3 && first[1].tile == 0));
    g_assert_cmpuint(b->begin->len, ==, format == 4 ? b->cta->len : 0);
    g_assert_cmpint(ws_trace_begin(b, 1), ==, format == 4 ? 100 : -1);
    g_assert_cmpint(ws_trace_begin(b, b->cta->len), ==, -1);
    g_assert_cmpuint(a->lane->len, ==, b->lane->len);
    g_assert_cmpuint(a->span->len, ==, b->span->len);
}

static void expect_refused(const guint8 *data, gsize length, gboolean check_sum)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsTrace) t = ws_trace_parse(data, length, check_sum, &error);
    g_assert_null(t);
    g_assert_nonnull(error);
    g_assert_cmpuint(error->domain, ==, WS_TRACE_ERROR);
}

static void test_cut(void)
{
    g_autoptr(GBytes) bytes = sample();
    gsize length;
    const guint8 *data = g_bytes_get_data(bytes, &length);
    for (gsize n = 0; n < length; n += n < 300 ? 1 : 977) {
        g_autofree guint8 *copy = g_memdup2(data, n); /* exactly n bytes: reads past are seen */
        expect_refused(copy, n, FALSE);
    }
}

/* Every byte changed is noticed by the checksum; without it nothing may break. */
static void test_bits(void)
{
    g_autoptr(GBytes) bytes = sample();
    gsize length;
    const guint8 *data = g_bytes_get_data(bytes, &length);
    g_autofree guint8 *copy = g_memdup2(data, length);
    for (gsize at = 0; at < length; at += at < 400 ? 1 : 211) {
        guint8 old = copy[at];
        copy[at] ^= 0xff;
        if (at < 16 || at >= 24)
            expect_refused(copy, length, TRUE);
        g_autoptr(WsTrace) t = ws_trace_parse(copy, length, FALSE, NULL);
        copy[at] = old;
    }
}

static void patch64(guint8 *data, gsize at, guint64 value)
{
    value = GUINT64_TO_LE(value);
    memcpy(data + at, &value, 8);
}

/* Sections that point outside, wrap around, or claim too much. */
static void test_sections(void)
{
    static const guint64 evil[] = { 0,
                                    8,
                                    1 << 20,
                                    G_MAXUINT32,
                                    G_MAXINT64 & ~7,
                                    G_MAXUINT64,
                                    G_MAXUINT64 - 7,
                                    G_MAXUINT64 / 40,
                                    G_MAXUINT64 / 16 + 2 };
    g_autoptr(GBytes) bytes = sample();
    gsize length;
    const guint8 *data = g_bytes_get_data(bytes, &length);
    for (guint section = 0; section < 7 + MIN(format, 2); section++) {
        for (guint field = 0; field < 2; field++) {
            for (guint i = 0; i < G_N_ELEMENTS(evil); i++) {
                g_autofree guint8 *copy = g_memdup2(data, length);
                if (field == 1 && evil[i] < length / (section == 8 ? 8 : 40))
                    continue; /* a smaller count may be another valid file */
                patch64(copy, 112 + 16 * section + 8 * field, evil[i]);
                expect_refused(copy, length, FALSE);
            }
        }
    }
}

/* A trace whose design or its hash is not there belongs to nothing. */
static void test_designless(void)
{
    static const gsize at[] = { 88, 92 };
    g_autoptr(GBytes) bytes = sample();
    gsize length;
    const guint8 *data = g_bytes_get_data(bytes, &length);
    for (guint i = 0; i < G_N_ELEMENTS(at); i++) {
        g_autofree guint8 *copy = g_memdup2(data, length);
        memset(copy + at[i], 0xff, 4); /* WS_FILE_NONE */
        expect_refused(copy, length, FALSE);
    }
}

/* Claims of CTAs that do not exist, out of order, or of no tile. */
static void test_claims(void)
{
    static const struct {
        guint at;
        guint32 value;
        gboolean good;
    } cases[] = { { 0, 2, FALSE }, { 0, 1, FALSE },
                  { 16, 0, TRUE }, { 16, G_MAXUINT32, FALSE },
                  { 4, 7, TRUE },  { 4, 1u << 31, FALSE } };
    format = 2;
    g_autoptr(GBytes) bytes = sample();
    gsize length;
    const guint8 *data = g_bytes_get_data(bytes, &length);
    guint64 at;
    memcpy(&at, data + 112 + 16 * 8, 8);
    at = GUINT64_FROM_LE(at);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree guint8 *copy = g_memdup2(data, length);
        const guint32 value = GUINT32_TO_LE(cases[i].value);
        memcpy(copy + at + cases[i].at, &value, 4);
        g_autoptr(WsTrace) t = ws_trace_parse(copy, length, FALSE, NULL);
        g_assert_cmpint(t != NULL, ==, cases[i].good);
    }
    format = 1;
}

static void in_format_2(gconstpointer test)
{
    format = 2;
    ((void (*)(void))test)();
    format = 1;
}

static void in_format_3(gconstpointer test)
{
    format = 3;
    ((void (*)(void))test)();
    format = 1;
}

static void in_format_4(gconstpointer test)
{
    format = 4;
    ((void (*)(void))test)();
    format = 1;
}

/* Beginnings of some CTAs, before the first one, or later than any time. */
static void test_begins(void)
{
    static const gint64 bad[] = { -1, G_MININT64, WS_TRACE_MAX_TIME + 1 };
    g_autoptr(GBytes) bytes = sample();
    gsize length;
    const guint8 *data = g_bytes_get_data(bytes, &length);
    const gsize section = 112 + 16 * 9; /* the tenth */
    guint64 at, fewer = GUINT64_TO_LE(1);
    memcpy(&at, data + section, 8);
    g_autofree guint8 *copy = g_memdup2(data, length);
    memcpy(copy + section + 8, &fewer, 8);
    expect_refused(copy, length, FALSE);
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree guint8 *one = g_memdup2(data, length);
        const gint64 value = GINT64_TO_LE(bad[i]);
        memcpy(one + GUINT64_FROM_LE(at) + 8, &value, 8);
        expect_refused(one, length, FALSE);
    }
}

/* Clocks and launches that there are not: refused, the entry and its value named. */
static void test_absurd(void)
{
    static const double bad[] = { -1, 101, 1e300, INFINITY, -INFINITY, NAN }, good[] = { 0, 1.98 };
    static const gint64 grids[] = { -1, (gint64)G_MAXINT32 + 1, G_MAXINT64 };
    g_autoptr(GBytes) bytes = sample();
    gsize length;
    const guint8 *data = g_bytes_get_data(bytes, &length);
    guint64 at;
    memcpy(&at, data + 112 + 16 * 4, 8);               /* the fifth section: CTAs of 24 bytes */
    const gsize ghz = (gsize)GUINT64_FROM_LE(at) + 16; /* of the first CTA */
    for (guint i = 0; i < G_N_ELEMENTS(bad) + G_N_ELEMENTS(good); i++) {
        g_autofree guint8 *copy = g_memdup2(data, length);
        g_autoptr(GError) error = NULL;
        const gboolean right = i >= G_N_ELEMENTS(bad);
        const double value = right ? good[i - G_N_ELEMENTS(bad)] : bad[i];
        guint64 bits;
        memcpy(&bits, &value, 8);
        patch64(copy, ghz, bits);
        g_autoptr(WsTrace) t = ws_trace_parse(copy, length, FALSE, &error);
        g_assert_cmpint(t != NULL, ==, right);
        if (!right && !strstr(error->message, "as that of its entry 0 of CTAs"))
            g_error("%s", error->message);
    }
    for (guint i = 0; i < G_N_ELEMENTS(grids); i++) {
        g_autofree guint8 *copy = g_memdup2(data, length);
        patch64(copy, 80, (guint64)grids[i]);
        expect_refused(copy, length, FALSE);
    }
}

/* A trace of no round, or of more than a round has numbers, is none. */
static void test_every(void)
{
    static const guint32 bad[] = { 0, 1u << 31, G_MAXUINT32 };
    g_autoptr(GBytes) bytes = sample();
    gsize length;
    const guint8 *data = g_bytes_get_data(bytes, &length);
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree guint8 *copy = g_memdup2(data, length);
        const guint32 value = GUINT32_TO_LE(bad[i]);
        memcpy(copy + 108, &value, 4);
        g_autoptr(WsTrace) t = ws_trace_parse(copy, length, FALSE, NULL);
        g_assert_null(t);
    }
}

static void test_version(void)
{
    g_autoptr(GBytes) bytes = sample();
    gsize length;
    g_autofree guint8 *copy = g_memdup2(g_bytes_get_data(bytes, &length), g_bytes_get_size(bytes));
    g_bytes_get_data(bytes, &length);
    copy[8] = 7;
    g_autoptr(GError) error = NULL;
    g_assert_null(ws_trace_parse(copy, length, TRUE, &error));
    g_assert_error(error, WS_TRACE_ERROR, WS_TRACE_ERROR_VERSION);
}

static void test_missing(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(ws_trace_load("/nonexistent.wtrace", &error));
    g_assert_nonnull(error);
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_PREDICTED, 1, 2, 0);
    g_clear_error(&error);
    g_assert_false(ws_trace_save(t, "/nonexistent/x.wtrace", &error));
    g_assert_nonnull(error);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trace/file/round-trip", test_round_trip);
    g_test_add_func("/trace/file/cut", test_cut);
    g_test_add_func("/trace/file/bits", test_bits);
    g_test_add_func("/trace/file/sections", test_sections);
    g_test_add_func("/trace/file/designless", test_designless);
    g_test_add_data_func("/trace/file/2/round-trip", (gconstpointer)test_round_trip, in_format_2);
    g_test_add_data_func("/trace/file/2/cut", (gconstpointer)test_cut, in_format_2);
    g_test_add_data_func("/trace/file/2/bits", (gconstpointer)test_bits, in_format_2);
    g_test_add_data_func("/trace/file/2/sections", (gconstpointer)test_sections, in_format_2);
    g_test_add_data_func("/trace/file/3/round-trip", (gconstpointer)test_round_trip, in_format_3);
    g_test_add_data_func("/trace/file/3/bits", (gconstpointer)test_bits, in_format_3);
    g_test_add_data_func("/trace/file/3/every", (gconstpointer)test_every, in_format_3);
    g_test_add_data_func("/trace/file/4/round-trip", (gconstpointer)test_round_trip, in_format_4);
    g_test_add_data_func("/trace/file/4/cut", (gconstpointer)test_cut, in_format_4);
    g_test_add_data_func("/trace/file/4/bits", (gconstpointer)test_bits, in_format_4);
    g_test_add_data_func("/trace/file/4/begins", (gconstpointer)test_begins, in_format_4);
    g_test_add_func("/trace/file/absurd", test_absurd);
    g_test_add_func("/trace/file/claims", test_claims);
    g_test_add_func("/trace/file/version", test_version);
    g_test_add_func("/trace/file/missing", test_missing);
    int status = g_test_run();
    toy_program_free();
    return status;
}
