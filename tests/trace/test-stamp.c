/* What `trace --header` writes: the host part of the header, given the bytes that a stamped kernel
 * leaves, writes traces that the reader takes, under the design's names. */
#include "own-kernel-stamps.h"
#include "program/op_kind.h"
#include "trace/op_kind.h"

#include "trace/trace.h"

#include <glib.h>
#include <glib/gstdio.h>

enum { CTAS = 2, ROOM = 6 };

typedef struct {
    WsRecord record;
    char *dir, *file;
} Fixture;

static unsigned char *cta_at(Fixture *f, guint cta)
{
    return f->record.bytes + cta * WS_RECORD_CTA_BYTES(&f->record);
}

static void begin(Fixture *f, gconstpointer unused)
{
    (void)unused;
    f->record.ctas = CTAS;
    f->record.capacity = ROOM;
    f->record.bytes = g_malloc(CTAS * WS_RECORD_CTA_BYTES(&f->record));
    memset(f->record.bytes, 0xff, CTAS * WS_RECORD_CTA_BYTES(&f->record));
    f->dir = g_dir_make_tmp("warpstave-stamp-XXXXXX", NULL);
    f->file = g_build_filename(f->dir, "own.wtrace", NULL);
}

static void end(Fixture *f, gconstpointer unused)
{
    (void)unused;
    g_unlink(f->file);
    g_rmdir(f->dir);
    g_free(f->file);
    g_free(f->dir);
    g_free(f->record.bytes);
}

/* As the device does it: the head of a CTA whose clock began at `zero`, … */
static void put_head(Fixture *f, guint cta, guint64 zero)
{
    const guint32 who[] = { 7 + cta, cta };
    const guint64 times[] = { 1000, 2000, zero, zero + 1700 };
    memcpy(cta_at(f, cta), who, sizeof who);
    memcpy(cta_at(f, cta) + 8, times, sizeof times);
    memset(cta_at(f, cta) + 64, 0, 4 * WS_N_AGENTS);
}

/* … and one stamp of an agent. */
static void put_stamp(Fixture *f, guint cta, guint agent, guint32 what, guint32 tile, guint32 round,
                      guint32 from, guint32 to)
{
    guint32 n;
    memcpy(&n, cta_at(f, cta) + 64 + 4 * agent, 4);
    const guint32 stamp[] = { what | tile << 16, round, from, to };
    if (n < ROOM)
        memcpy(cta_at(f, cta) + WS_RECORD_HEAD + 16 * ((gsize)agent * ROOM + n), stamp, 16);
    n++;
    memcpy(cta_at(f, cta) + 64 + 4 * agent, &n, 4);
}

static WsTrace *write_and_load(Fixture *f, int status)
{
    static const char *const names[] = { "M", "N", "K" };
    const int64_t sizes[] = { 256, 256, 128 };
    g_assert_cmpint(
        ws_record_write(&f->record, f->record.bytes, f->file, "NVIDIA H200", 132, 3, names, sizes),
        ==, status);
    g_autoptr(GError) error = NULL;
    WsTrace *t = ws_trace_load(f->file, &error);
    g_assert_no_error(error);
    return t;
}

static const WsTraceRecord *find(const WsTrace *t, guint cta, guint agent, const char *label,
                                 gint round)
{
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        if (r->cta == cta && r->agent == agent && r->round == round &&
            !strcmp(ws_trace_op_label(t, r->op), label))
            return r;
    }
    g_assert_not_reached();
}

static void test_records(Fixture *f, gconstpointer unused)
{
    (void)unused;
    const guint64 zero = G_GUINT64_CONSTANT(0x5fffffff0); /* the low half wraps at once */
    const guint32 z = (guint32)zero;
    put_head(f, 1, zero); /* CTA 0 never ran */
    for (guint k = 0; k < 2; k++) {
        put_stamp(f, 1, WS_AGENT_load, WS_STEP_load_wait_empty, 0, k, z + 100 * k + 10,
                  z + 100 * k + 30);
        put_stamp(f, 1, WS_AGENT_load, WS_STEP_load_load_A_a, 0, k, z + 100 * k + 30,
                  z + 100 * k + 50);
    }
    put_stamp(f, 1, WS_AGENT_mma + 1, WS_STEP_mma_wait_full, 0, 0, z - 20,
              z + 600); /* began before zero */
    put_stamp(f, 1, WS_AGENT_mma + 1, WS_STEP_load_load_A_a | WS_RECORD_SEEN, 0, 0, 0, z + 600);
    put_stamp(f, 1, WS_AGENT_mma, WS_STEP_load_load_A_a | WS_RECORD_SEEN, 0, 0, 0, z + 590);
    put_stamp(f, 1, WS_AGENT_mma, WS_STEP_load_load_A_a | WS_RECORD_SEEN, 0, 1, 0, z + 700);
    put_stamp(f, 1, WS_AGENT_mma, WS_STEP_mma_mma_acc, 3, 9, z + 710, z + 720);
    g_autoptr(WsTrace) t = write_and_load(f, 0);
    g_assert_cmpint(t->origin, ==, WS_TRACE_MEASURED);
    g_assert_cmpstr(t->design_hash, ==, WS_DESIGN_HASH);
    g_assert_cmpstr(t->design_text, ==, ws_design);
    g_assert_cmpstr(t->device, ==, "NVIDIA H200");
    g_assert_cmpuint(t->size->len, ==, 3);
    g_assert_cmpint(t->grid, ==, 132);
    g_assert_cmpuint(t->cta->len, ==, 1);
    const WsTraceCta *cta = &g_array_index(t->cta, WsTraceCta, 0);
    g_assert_cmpuint(cta->id, ==, 1);
    g_assert_cmpuint(cta->sm, ==, 8);
    g_assert_cmpfloat_with_epsilon(cta->ghz, 1.7, 1e-9);
    g_assert_cmpuint(t->record->len, ==, 6);
    const WsTraceRecord *first = find(t, 0, 0, "load A -> a", 0),
                        *second = find(t, 0, 0, "load A -> a", 1);
    g_assert_cmpint(first->start, ==, 30);
    g_assert_cmpint(first->issued, ==, 50);
    g_assert_cmpint(first->done, ==, 590); /* the earlier of both sights */
    g_assert_cmpint(second->done, ==, 700);
    g_assert_cmpint(find(t, 0, 2, "wait full", 0)->start, ==, 0);
    const WsTraceRecord *mma = find(t, 0, 1, "mma acc", 9);
    g_assert_cmpint(mma->tile, ==, 3);
    g_assert_cmpint(mma->done, ==, -1); /* nobody saw it end */
    g_assert_cmpint(ws_trace_op_kind(t, mma->op), ==, WS_OP_MMA);
}

/* What does not fit is counted and said. */
static void test_lost(Fixture *f, gconstpointer unused)
{
    (void)unused;
    put_head(f, 0, 1 << 20);
    for (guint k = 0; k < ROOM + 5; k++)
        put_stamp(f, 0, WS_AGENT_load, WS_STEP_load_wait_empty, 0, k, (1 << 20) + 10 * k,
                  (1 << 20) + 10 * k + 5);
    g_autoptr(WsTrace) t = write_and_load(f, 2);
    g_assert_cmpuint(t->record->len, ==, ROOM);
    g_assert_nonnull(strstr(t->note, "5 stamps did not fit"));
}

/* Enough records of one lane for three levels of its index: what the reader works out itself. */
static void test_index(Fixture *f, gconstpointer unused)
{
    (void)unused;
    g_free(f->record.bytes);
    f->record.ctas = 1;
    f->record.capacity = 5000;
    f->record.bytes = g_malloc(WS_RECORD_CTA_BYTES(&f->record));
    put_head(f, 0, 0);
    guint32 *stamp = (guint32 *)(gpointer)(f->record.bytes + WS_RECORD_HEAD);
    for (guint k = 0; k < 5000; k++, stamp += 4)
        memcpy(stamp, (guint32[]){ WS_STEP_load_load_A_a, k, 10 * k, 10 * k + k % 9 }, 16);
    memcpy(f->record.bytes + 64, &f->record.capacity, 4);
    g_autoptr(WsTrace) t = write_and_load(f, 0);
    g_assert_cmpuint(t->record->len, ==, 5000);
    g_assert_cmpuint(t->span->len, ==, 79 + 2 + 1);
}

static void test_cannot_write(Fixture *f, gconstpointer unused)
{
    (void)unused;
    put_head(f, 0, 0);
    g_assert_cmpint(
        ws_record_write(&f->record, f->record.bytes, "/nonexistent/x.wtrace", "", 1, 0, NULL, NULL),
        ==, 1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/stamp/records", Fixture, NULL, begin, test_records, end);
    g_test_add("/stamp/lost", Fixture, NULL, begin, test_lost, end);
    g_test_add("/stamp/index", Fixture, NULL, begin, test_index, end);
    g_test_add("/stamp/cannot-write", Fixture, NULL, begin, test_cannot_write, end);
    return g_test_run();
}
