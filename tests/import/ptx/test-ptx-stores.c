/* One thread fences and stores what all wrote, while the others write on; and a row that only some
 * lanes of each warp write. Whatever leaves bytes unfenced, unwritten or under way is not proved.
 */
#include "../judged.h"

#include <string.h>

#define TILE     "\tst.shared.v4.b32 \t[%r7], {%r10, %r11, %r12, %r13};\n"
#define FENCE(n) "\tfence.proxy.async.shared::cta; // " n "\n"
#define MET(n)   "\tbar.sync \t1, 128; // " n "\n"
#define PART     "\tsetp.gt.u32 \t%p3, %r16, 15;\n"
#define ROW      "\tst.shared.b32 \t[%r19], %r10;\n"

#define WARP  "and.b32 \t%r30, %r1, 96;\n\tsetp.ne.s32 \t%p1, %r30, 0;"
#define LEADS "setp.ne.s32 \t%p1, %r1, 0;"

static const char kernel[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".extern .shared .align 1024 .b8 smem[];\n"
    ".visible .entry stores(.param .align 64 .b8 stores_param_0[128], .param .align 64 .b8 "
    "stores_param_1[128], .param .u64 .ptr .global .align 16 stores_param_2)\n.reqntid 128\n{\n"
    "\t.reg .pred \t%p<9>;\n\t.reg .b32 \t%r<60>;\n\t.reg .b64 \t%rd<9>;\n"
    "\tmov.b64 \t%rd1, stores_param_0;\n\tmov.b64 \t%rd2, stores_param_1;\n"
    "\tld.param.b64 \t%rd3, [stores_param_2];\n"
    "\tmov.u32 \t%r1, %tid.x;\n\tsetp.ne.s32 \t%p1, %r1, 0;\n\tmov.b32 \t%r2, smem;\n"
    "\tmov.u32 \t%r3, %ctaid.x;\n\tmov.b32 \t%r4, 0;\n"
    "\tmul.wide.s32 \t%rd4, %r1, 16;\n\tadd.s64 \t%rd5, %rd3, %rd4;\n"
    "\tld.global.v4.b32 \t{%r10, %r11, %r12, %r13}, [%rd5];\n"
    "\tshl.b32 \t%r5, %r1, 4;\n\tadd.s32 \t%r7, %r2, %r5;\n\tadd.s32 \t%r8, %r2, 4096;\n"
    /* 16 lanes of a warp, by pairs: 8 (lane & 3) + lane / 4 below 16 */
    "\tshl.b32 \t%r14, %r1, 3;\n\tand.b32 \t%r14, %r14, 24;\n\tand.b32 \t%r15, %r1, 31;\n"
    "\tshr.u32 \t%r15, %r15, 2;\n\tor.b32 \t%r16, %r14, %r15;\n"
    "\tshl.b32 \t%r17, %r16, 2;\n\tand.b32 \t%r18, %r1, 96;\n\tshl.b32 \t%r18, %r18, 1;\n"
    "\tadd.s32 \t%r19, %r17, %r8;\n\tadd.s32 \t%r19, %r19, %r18;\n" TILE
        MET("1") "\t@%p1 bra \t$STORED;\n" FENCE(
            "1") "\tcp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r4, %r3}], "
                 "[%r2];\n"
                 "\tcp.async.bulk.commit_group;\n$STORED:\n" PART "\t@%p3 bra \t$WRITTEN;\n" ROW
                 "$WRITTEN:\n" MET("2") "\t@%p1 bra \t$END;\n" FENCE(
                     "2") "\tcp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {%r4, "
                          "%r3}], [%r8];\n"
                          "\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read "
                          "\t0;\n$END:\n\tret;\n}\n";

static const struct {
    const char *title, *from, *to; /* NULL: as it is */
    gboolean proved;
    const char *also, *by; /* changed, too; NULL none */
} rows[] = {
    { "as-it-is", NULL, NULL, TRUE },
    { "one-more-thread-fences", MET("2"), FENCE("3") MET("2"), TRUE },
    { "no-first-fence", FENCE("1"), "", FALSE },
    { "no-second-fence", FENCE("2"), "", FALSE },
    { "no-first-barrier", MET("1"), "", FALSE },
    { "no-second-barrier", MET("2"), "", FALSE },
    { "a-barrier-of-64-threads", "bar.sync \t1, 128; // 2", "bar.sync \t1, 64; // 2", FALSE },
    { "a-second-fence-too-early", PART, FENCE("2") PART, TRUE },
    { "the-second-fence-before-the-barrier", MET("2") "\t@%p1 bra \t$END;\n" FENCE("2"),
      "\t@%p1 bra \t$ON;\n" FENCE("2") "$ON:\n" MET("2") "\t@%p1 bra \t$END;\n", FALSE },
    { "the-first-fence-before-the-barrier", MET("1") "\t@%p1 bra \t$STORED;\n" FENCE("1"),
      "\t@%p1 bra \t$ON;\n" FENCE("1") "$ON:\n" MET("1") "\t@%p1 bra \t$STORED;\n", FALSE },
    { "the-row-into-the-tile-under-way", ROW, ROW "\tst.shared.b32 \t[%r19+-4096], %r10;\n",
      FALSE },
    { "the-row-into-the-tile-alone", "add.s32 \t%r19, %r17, %r8;", "add.s32 \t%r19, %r17, %r2;",
      FALSE },
    { "the-tile-again", ROW, ROW "$WRITTEN2:\n\tst.shared.b32 \t[%r7], %r10;\n", FALSE },
    { "a-fence-of-another-thread", "setp.ne.s32 \t%p1, %r1, 0;", "setp.ne.s32 \t%p1, %r1, 7;",
      FALSE },
    { "all-lanes-of-a-warp", LEADS, WARP, TRUE },
    { "all-lanes-of-another-warp", LEADS,
      "and.b32 \t%r30, %r1, 96;\n\tsetp.ne.s32 \t%p1, %r30, 32;", TRUE },
    { "all-lanes-of-two-warps", LEADS, "and.b32 \t%r30, %r1, 64;\n\tsetp.ne.s32 \t%p1, %r30, 0;",
      FALSE },
    { "all-threads", LEADS, "setp.ne.s32 \t%p1, %r1, %r1;", FALSE },
    { "half-of-the-lanes", LEADS, "setp.gt.u32 \t%p1, %r1, 15;", FALSE },
    { "all-lanes-elsewhere", LEADS, WARP, FALSE, "[%rd1, {%r4, %r3}]", "[%rd1, {%r4, %r1}]" },
    { "all-lanes-of-other-bytes", LEADS, WARP, FALSE, "{%r4, %r3}], [%r2]", "{%r4, %r3}], [%r7]" },
    { "all-lanes-and-then-write", LEADS, WARP, FALSE, "wait_group.read \t0;\n",
      "wait_group.read \t0;\n\tst.shared.b32 \t[%r7], %r10;\n" },
    { "all-lanes-and-then-write-met", LEADS, WARP, TRUE, "wait_group.read \t0;\n$END:\n",
      "wait_group.read \t0;\n$END:\n" MET("9") TILE },
    { "all-lanes-with-no-wait", LEADS, WARP, FALSE, "\tcp.async.bulk.wait_group.read \t0;\n", "" },
    { "fewer-lanes", PART, "\tsetp.gt.u32 \t%p3, %r16, 7;\n", FALSE },
    { "the-other-lanes", PART, "\tsetp.lt.u32 \t%p3, %r16, 16;\n", FALSE },
    { "lanes-of-one-warp", PART, "\tor.b32 \t%r20, %r16, %r18;\n\tsetp.gt.u32 \t%p3, %r20, 15;\n",
      FALSE },
    { "other-lanes-in-each-warp", PART,
      "\tshr.u32 \t%r20, %r18, 6;\n\tadd.s32 \t%r20, %r20, %r16;\n\tsetp.gt.u32 \t%p3, %r20, 15;\n",
      FALSE },
    { "by-data", PART, "\tsetp.gt.s32 \t%p3, %r10, 15;\n", FALSE },
    { "all-to-one-place", "add.s32 \t%r19, %r17, %r8;", "add.s32 \t%r19, %r4, %r8;", FALSE },
    { "warps-to-one-place", "add.s32 \t%r19, %r19, %r18;", "add.s32 \t%r19, %r19, %r4;", FALSE },
    { "met-by-some-lanes", ROW, ROW "\tbar.sync \t2, 64;\n", FALSE },
    { "fenced-by-some-lanes", ROW, ROW FENCE("3"), FALSE },
    { "some-lanes-store-in-bulk", ROW,
      ROW "\tcp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {%r4, %r3}], [%r8];\n",
      FALSE },
};

static void test_row(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    g_autoptr(GString) whole = g_string_new(kernel);
    if (rows[row].from)
        g_assert_cmpuint(g_string_replace(whole, rows[row].from, rows[row].to, 0), ==, 1);
    if (rows[row].also)
        g_assert_cmpuint(g_string_replace(whole, rows[row].also, rows[row].by, 0), ==, 1);
    const WsVerdictKind verdict = verdict_of(whole->str, WS_IMPORT_PTX);
    g_assert_cmpint(verdict == WS_VERDICT_PROVED, ==, rows[row].proved);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx-stores/%s", rows[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_row);
    }
    return g_test_run();
}
