/* Warps that store the same values to the same bytes: four warps hold a tile that two of them fill.
 * Whatever makes two warps' values differ is not proved. */
#include "../judged.h"

#include <string.h>

#define LOAD  "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r6];\n"
#define STORE "\tstmatrix.sync.aligned.m8n8.x4.shared.b16 [%r7], {%r10, %r11, %r12, %r13};\n"
#define WARPS "\tshr.u32 \t%r20, %r1, 6;\n"
#define HIGH  "\tsetp.gt.u32 \t%p2, %r1, 63;\n"

/* Threads above `last` go off; they branch by their own number, read from memory. */
#define OFF(last, branch) "\tsetp.gt.u32 \t%p3, %r1, " last ";\n\t@" branch ";\n\t// off\n"
#define ELSEWHERE                                                                                  \
    "$FIFTH:\n\tmul.wide.u32 \t%rd4, %r1, 4;\n\tadd.s64 \t%rd5, %rd3, %rd4;\n\tld.global.b32 "     \
    "\t%r51, [%rd5];\n"                                                                            \
    "\tsetp.gt.u32 \t%p4, %r51, 3;\n\t@%p4 bra \t$LAST;\n\tadd.s32 \t%r52, %r51, 1;\n$LAST:\n"     \
    "\tbar.sync \t0;\n\tbar.sync \t0;\n\tret;\n"

static const char kernel[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".extern .shared .align 1024 .b8 global_smem[];\n"
    ".visible .entry twins(.param .align 64 .b8 twins_param_0[128], .param .align 64 .b8 "
    "twins_param_1[128], .param .u64 .ptr .global .align 16 twins_param_2, .param .u32 "
    "twins_param_3)\n.reqntid 128\n{\n"
    "\t.reg .pred \t%p<9>;\n\t.reg .b32 \t%r<60>;\n\t.reg .b64 \t%rd<9>;\n"
    "\tmov.b64 \t%rd1, twins_param_0;\n\tmov.b64 \t%rd2, twins_param_1;\n"
    "\tld.param.b64 \t%rd3, [twins_param_2];\n\tld.param.b32 \t%r40, [twins_param_3];\n"
    "\tmov.u32 \t%r1, %tid.x;\n\tsetp.eq.s32 \t%p1, %r1, 0;\n\tmov.b32 \t%r2, global_smem;\n"
    "\tadd.s32 \t%r3, %r2, 16384;\n"
    "\t@%p1 mbarrier.init.shared::cta.b64 [%r3], 1;\n\tbar.sync \t0;\n"
    "\t@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 1024;\n"
    "\t@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], "
    "[%rd1, {0, 0}], [%r3];\n"
    "\tmov.b32 \t%r9, 0;\n"
    "{\n\t.reg .pred complete;\nwaitLoop:\n"
    "\tmbarrier.try_wait.parity.shared.b64 complete, [%r3], %r9;\n"
    "\t@!complete bra.uni waitLoop;\n}\n"
    "\tand.b32 \t%r4, %r1, 63;\n\tshl.b32 \t%r5, %r4, 4;\n\tadd.s32 \t%r6, %r2, %r5;\n"
    "\tadd.s32 \t%r7, %r6, 8192;\n\tadd.s32 \t%r8, %r2, 8192;\n" LOAD "\t// computed\n" STORE
    "\tfence.proxy.async.shared::cta;\n\tbar.sync \t0;\n"
    "\t@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {0, 0}], [%r8];\n"
    "\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read \t0;\n\tret;\n}\n";

static const struct {
    const char *title, *load, *computed, *store; /* NULL: as it is */
    gboolean proved;
    const char *apart; /* NULL: there is no fifth warp; else where it goes off, and what it does */
} rows[] = {
    { "same", NULL, "", NULL, TRUE },
    { "sums", NULL, "\tadd.f32 \t%r10, %r11, %r12;\n\tmul.f32 \t%r11, %r10, 0f40000000;\n", NULL,
      TRUE },
    { "by-lane", NULL, "\tand.b32 \t%r20, %r1, 63;\n\tadd.s32 \t%r10, %r10, %r20;\n", NULL, TRUE },
    { "by-the-number-in-its-warp", NULL, "\tmov.u32 \t%r20, %laneid;\n\tadd.s32 \t%r10, %r20, 1;\n",
      NULL, TRUE },
    { "by-a-size-and-a-cta", NULL,
      "\tmov.u32 \t%r20, %ctaid.x;\n\tmad.lo.s32 \t%r10, %r20, %r40, %r11;\n", NULL, TRUE },
    { "chosen-by-a-value", NULL,
      "\tsetp.lt.s32 \t%p2, %r10, %r11;\n\tselp.b32 \t%r10, %r12, %r13, %p2;\n"
      "\t@%p2 mov.b32 \t%r11, %r12;\n",
      NULL, TRUE },
    { "by-thread", NULL, "\txor.b32 \t%r10, %r10, %r1;\n", NULL, FALSE },
    { "by-half", NULL, WARPS "\tadd.s32 \t%r10, %r10, %r20;\n", NULL, FALSE },
    { "one-register-of-four", NULL, WARPS "\tadd.s32 \t%r13, %r13, %r20;\n", NULL, FALSE },
    { "by-half-far-away", NULL,
      WARPS "\tcvt.u64.u32 \t%rd4, %r20;\n\tshl.b64 \t%rd5, %rd4, 3;\n\tcvt.u32.u64 \t%r21, %rd5;\n"
            "\tfma.rn.f32 \t%r10, %r10, %r21, %r11;\n",
      NULL, FALSE },
    { "chosen-by-half", NULL, HIGH "\tselp.b32 \t%r10, %r11, %r12, %p2;\n", NULL, FALSE },
    { "guarded-by-half", NULL, HIGH "\t@%p2 add.s32 \t%r10, %r10, 1;\n", NULL, FALSE },
    { "guarded-by-not-half", NULL, HIGH "\t@!%p2 mov.b32 \t%r10, 1;\n", NULL, FALSE },
    { "branch-by-half", NULL, HIGH "\t@%p2 bra \t$OVER;\n\tadd.s32 \t%r10, %r10, 1;\n$OVER:\n",
      NULL, FALSE },
    { "rounds-by-half", NULL,
      WARPS "$AGAIN:\n\tadd.f32 \t%r10, %r10, %r11;\n\tadd.s32 \t%r20, %r20, -1;\n"
            "\tsetp.ge.s32 \t%p2, %r20, 0;\n\t@%p2 bra \t$AGAIN;\n",
      NULL, FALSE },
    { "handed-on-by-rounds", NULL,
      WARPS "\tmov.b32 \t%r21, 0;\n\tmov.b32 \t%r22, 0;\n\tmov.b32 \t%r23, 0;\n$AGAIN:\n"
            "\tadd.s32 \t%r10, %r10, %r22;\n\tmov.b32 \t%r22, %r23;\n\tmov.b32 \t%r23, %r20;\n"
            "\tadd.s32 \t%r21, %r21, 1;\n\tsetp.lt.s32 \t%p2, %r21, 9;\n\t@%p2 bra \t$AGAIN;\n",
      NULL, FALSE },
    { "time", NULL, "\tmov.u32 \t%r10, %clock;\n", NULL, FALSE },
    { "number-of-the-warp", NULL, "\tmov.u32 \t%r10, %warpid;\n", NULL, FALSE },
    { "never-written", NULL, "\tadd.s32 \t%r10, %r10, %r33;\n", NULL, FALSE },
    { "written-behind", NULL,
      "\tmov.b32 \t%r21, 0;\n$AGAIN:\n\tadd.s32 \t%r10, %r10, %r33;\n\tmov.b32 \t%r33, 1;\n"
      "\tadd.s32 \t%r21, %r21, 1;\n\tsetp.lt.s32 \t%p2, %r21, 9;\n\t@%p2 bra \t$AGAIN;\n",
      NULL, FALSE },
    { "global-memory", NULL, "\tld.global.b32 \t%r10, [%rd3];\n", NULL, FALSE },
    { "counted", NULL, "\tatom.global.add.u32 \t%r10, [%rd3], 1;\n", NULL, FALSE },
    { "exchanged", NULL, "\tshfl.sync.bfly.b32 \t%r10, %r10, 1, 31, -1;\n", NULL, FALSE },
    { "handed-from-its-first", NULL, WARPS "\tshfl.sync.idx.b32 \t%r10, %r20, 0, 31, -1;\n", NULL,
      FALSE },
    { "other-bytes",
      WARPS
      "\tshl.b32 \t%r21, %r20, 5;\n\tadd.s32 \t%r22, %r1, %r21;\n\tand.b32 \t%r22, %r22, 63;\n"
      "\tshl.b32 \t%r23, %r22, 4;\n\tadd.s32 \t%r6, %r2, %r23;\n" LOAD,
      "", NULL, FALSE },
    { "lanes-turned",
      WARPS "\txor.b32 \t%r21, %r4, %r20;\n\tshl.b32 \t%r22, %r21, 4;\n\tadd.s32 \t%r7, %r8, "
            "%r22;\n" LOAD,
      "", NULL, FALSE },
    { "lanes-turned-of-the-load",
      WARPS "\txor.b32 \t%r21, %r4, %r20;\n\tshl.b32 \t%r22, %r21, 4;\n\tadd.s32 \t%r6, %r2, "
            "%r22;\n" LOAD,
      "", NULL, FALSE },
    { "half-of-a-row", WARPS "\tshl.b32 \t%r21, %r20, 3;\n\tadd.s32 \t%r7, %r7, %r21;\n" LOAD, "",
      "\tst.shared.v4.b32 \t[%r7], {%r10, %r11, %r12, %r13};\n", FALSE },
    { "numbers", NULL, "", "\tst.shared.v4.b32 \t[%r7], {%r10, %r11, %r12, %r13};\n", TRUE },
    { "numbers-by-half", NULL, WARPS, "\tst.shared.v4.b32 \t[%r7], {%r10, %r11, %r12, %r20};\n",
      FALSE },
    { "in-place", NULL, "\tadd.f32 \t%r10, %r10, %r11;\n",
      "\tstmatrix.sync.aligned.m8n8.x4.shared.b16 [%r6], {%r10, %r11, %r12, %r13};\n", FALSE },
    { "two-instructions", NULL, HIGH,
      "\t@%p2 bra \t$OTHER;\n" STORE "\tbra.uni \t$BOTH;\n$OTHER:\n"
      "\tstmatrix.sync.aligned.m8n8.x4.shared.b16 [%r7], {%r11, %r11, %r12, %r13};\n$BOTH:\n",
      FALSE },
    { "some-warps", NULL, HIGH, "\t@%p2 bra \t$OTHER;\n" STORE "$OTHER:\n", FALSE },
    { "all-to-the-bytes-of-one-warp",
      "\tand.b32 \t%r21, %r1, 31;\n\tshl.b32 \t%r22, %r21, 4;\n\tadd.s32 \t%r7, %r8, %r22;\n" LOAD,
      "", NULL, FALSE },
    { "two-lanes-to-the-same-bytes",
      "\tand.b32 \t%r21, %r1, 62;\n\tshl.b32 \t%r22, %r21, 4;\n\tadd.s32 \t%r7, %r8, %r22;\n" LOAD,
      "", NULL, FALSE },
    { "a-warp-elsewhere", NULL, "", NULL, TRUE, OFF("127", "%p3 bra \t$FIFTH") ELSEWHERE },
    { "a-warp-elsewhere-by-not", NULL, "", NULL, TRUE,
      OFF("127", "!%p3 bra \t$ON;\n\tbra.uni \t$FIFTH;\n$ON:\n\tadd.s32 \t%r41, %r1, 0")
          ELSEWHERE },
    { "a-warp-elsewhere-by-half", NULL, WARPS "\tadd.s32 \t%r10, %r10, %r20;\n", NULL, FALSE,
      OFF("127", "%p3 bra \t$FIFTH") ELSEWHERE },
    { "a-branch-of-that-warp-by-half", NULL,
      HIGH "\t@%p2 bra \t$OVER;\n\tadd.s32 \t%r10, %r10, 1;\n$OVER:\n", NULL, FALSE,
      OFF("127", "%p3 bra \t$FIFTH") ELSEWHERE },
    { "two-warps-elsewhere", NULL, "", NULL, TRUE, OFF("95", "%p3 bra \t$FIFTH") ELSEWHERE },
    { "four-warps-elsewhere", NULL, "", NULL, FALSE, OFF("31", "%p3 bra \t$FIFTH") ELSEWHERE },
    { "nobody-elsewhere", NULL, "", NULL, FALSE, OFF("191", "%p3 bra \t$FIFTH") ELSEWHERE },
};

static void test_row(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    g_autoptr(GString) whole = g_string_new(kernel);
    if (rows[row].load)
        g_assert_cmpuint(g_string_replace(whole, LOAD, rows[row].load, 0), ==, 1);
    if (rows[row].store)
        g_assert_cmpuint(g_string_replace(whole, STORE, rows[row].store, 0), ==, 1);
    g_assert_cmpuint(g_string_replace(whole, "\t// computed\n", rows[row].computed, 0), ==, 1);
    if (rows[row].apart) {
        g_auto(GStrv) part = g_strsplit(rows[row].apart, "\t// off\n", 2);
        g_autofree char *off = g_strconcat("\tmov.b32 \t%r2, global_smem;\n", part[0], NULL);
        g_autofree char *end = g_strconcat("\tret;\n", part[1], "}\n", NULL);
        g_assert_cmpuint(g_string_replace(whole, "reqntid 128", "reqntid 160", 0), ==, 1);
        g_assert_cmpuint(g_string_replace(whole, "\tmov.b32 \t%r2, global_smem;\n", off, 0), ==, 1);
        g_assert_cmpuint(g_string_replace(whole, "\tret;\n}\n", end, 0), ==, 1);
    }
    const WsVerdictKind verdict = verdict_of(whole->str, WS_IMPORT_PTX);
    g_assert_cmpint(verdict == WS_VERDICT_PROVED, ==, rows[row].proved);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx-twins/%s", rows[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_row);
    }
    return g_test_run();
}
