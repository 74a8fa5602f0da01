/* Branches by a bound or by data of which both ways store to the same bytes: one store. Whatever
 * one way does otherwise is not proved. */
#include "../judged.h"

#include <string.h>

#define BRANCH                                                                                     \
    "\tsetp.lt.s32 \t%p2, %r9, %r40;\n\t@%p2 bra \t$ROW;\n\tbra.uni \t$NONE;\n"                    \
    "$ROW:\n\tld.global.v4.b32 \t{%r10, %r11, %r12, %r13}, [%rd5];\n"                              \
    "\tst.shared.v4.b32 \t[%r7], {%r10, %r11, %r12, %r13};\n\tbra.uni \t$STORED;\n"                \
    "$NONE:\n\tmov.b32 \t%r14, 0;\n"                                                               \
    "\tst.shared.v4.b32 \t[%r7], {%r14, %r14, %r14, %r14};\n$STORED:\n"

static const char kernel[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".extern .shared .align 1024 .b8 global_smem[];\n"
    ".visible .entry alike(.param .align 64 .b8 alike_param_0[128], .param .u64 .ptr .global "
    ".align "
    "16 alike_param_1, .param .u32 alike_param_2)\n.reqntid 128\n{\n"
    "\t.reg .pred \t%p<9>;\n\t.reg .b32 \t%r<60>;\n\t.reg .b64 \t%rd<9>;\n"
    "\tmov.b64 \t%rd2, alike_param_0;\n\tld.param.b64 \t%rd3, [alike_param_1];\n"
    "\tld.param.b32 \t%r40, [alike_param_2];\n"
    "\tmov.u32 \t%r1, %tid.x;\n\tsetp.eq.s32 \t%p1, %r1, 0;\n\tmov.b32 \t%r2, global_smem;\n"
    "\tmov.u32 \t%r3, %ctaid.x;\n\tshl.b32 \t%r4, %r3, 7;\n\tor.b32 \t%r9, %r4, %r1;\n"
    "\tmul.wide.s32 \t%rd4, %r9, 16;\n\tadd.s64 \t%rd5, %rd3, %rd4;\n"
    "\tshl.b32 \t%r5, %r1, 4;\n\tadd.s32 \t%r6, %r2, %r5;\n\tadd.s32 \t%r7, %r6, 8192;\n"
    "\tadd.s32 \t%r8, %r2, 8192;\n" BRANCH "\tfence.proxy.async.shared::cta;\n\tbar.sync \t0;\n"
    "\t@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {0, %r4}], [%r8];\n"
    "\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read \t0;\n\tret;\n}\n";

/* The place of a thread's bytes turned by its row, in memory that the kernel aligns itself. */
#define PLACE "\tadd.s32 \t%r6, %r2, %r5;\n\tadd.s32 \t%r7, %r6, 8192;\n"
#define TURNED(mask, off)                                                                          \
    "\tcvt.u64.u32 \t%rd6, %r2;\n\tand.b64 \t%rd7, %rd6, 1023;\n\tmov.u64 \t%rd8, 1024;\n"         \
    "\tsub.s64 \t%rd7, %rd8, %rd7;\n\tadd.s64 \t%rd7, %rd6, %rd7;\n"                               \
    "\tand.b64 \t%rd8, %rd6, 1023;\n\tsetp.eq.s64 \t%p3, %rd8, 0;\n"                               \
    "\tselp.b64 \t%rd6, %rd6, %rd7, %p3;\n\tcvt.u32.u64 \t%r30, %rd6;\n"                           \
    "\tadd.s32 \t%r31, %r5, %r30;\n\tadd.s32 \t%r6, %r31, " off ";\n"                              \
    "\tand.b32 \t%r32, %r6, " mask ";\n\tshr.u32 \t%r33, %r32, 3;\n\txor.b32 \t%r7, %r33, %r6;\n"

static const struct {
    const char *title, *from, *to; /* NULL: as it is */
    gboolean proved;
} rows[] = {
    { "rows-or-zeros", NULL, NULL, TRUE },
    { "by-data", "setp.lt.s32 \t%p2, %r9, %r40;",
      "ld.global.b32 \t%r20, [%rd5];\n\tsetp.lt.s32 \t%p2, %r20, %r40;", TRUE },
    { "turned-round", "@%p2 bra \t$ROW;\n\tbra.uni \t$NONE;\n", "@!%p2 bra \t$NONE;\n", TRUE },
    { "turned-by-row", PLACE, TURNED("896", "8192"), TRUE },
    { "turned-by-half-a-row", PLACE, TURNED("384", "8192"), TRUE },
    { "turned-and-beside", PLACE, TURNED("896", "8208"), FALSE },
    { "turned-by-bits-above", PLACE, TURNED("1920", "8192"), FALSE },
    { "turned-in-itself", PLACE, TURNED("112", "8192"), FALSE },
    { "registers-in-one-way", "mov.b32 \t%r14, 0;",
      "mov.b32 \t%r14, 0;\n\tsetmaxnreg.dec.sync.aligned.u32 40;", FALSE },
    { "no-zeros", "\tst.shared.v4.b32 \t[%r7], {%r14, %r14, %r14, %r14};\n", "", FALSE },
    { "no-row", "\tst.shared.v4.b32 \t[%r7], {%r10, %r11, %r12, %r13};\n", "", FALSE },
    { "zeros-elsewhere", "[%r7], {%r14", "[%r6], {%r14", FALSE },
    { "zeros-further-on", "[%r7], {%r14", "[%r7+16], {%r14", FALSE },
    { "fewer-zeros", "st.shared.v4.b32 \t[%r7], {%r14, %r14, %r14, %r14};",
      "st.shared.v2.b32 \t[%r7], {%r14, %r14};", FALSE },
    { "zeros-at-a-moved-address", "mov.b32 \t%r14, 0;",
      "mov.b32 \t%r14, 0;\n\tadd.s32 \t%r7, %r7, 16;", FALSE },
    { "row-at-a-moved-address", "$ROW:\n", "$ROW:\n\tadd.s32 \t%r7, %r7, 2048;\n", FALSE },
    { "address-of-a-pair", "$ROW:\n\tld.global.v4.b32 \t{%r10, %r11, %r12, %r13}, [%rd5];\n",
      "$ROW:\n\tld.global.v4.b32 \t{%r10, %r11, %r12, %r7}, [%rd5];\n", FALSE },
    { "zeros-twice", "{%r14, %r14, %r14, %r14};\n",
      "{%r14, %r14, %r14, %r14};\n\tst.shared.b32 \t[%r7+2048], %r14;\n", FALSE },
    { "zeros-if", "st.shared.v4.b32 \t[%r7], {%r14", "@%p1 st.shared.v4.b32 \t[%r7], {%r14",
      FALSE },
    { "row-if", "st.shared.v4.b32 \t[%r7], {%r10", "@!%p1 st.shared.v4.b32 \t[%r7], {%r10", FALSE },
    { "fence-of-one-way", "\tfence.proxy.async.shared::cta;\n", "", FALSE },
    { "fenced-in-one-way",
      "{%r14, %r14, %r14, %r14};\n$STORED:\n\tfence.proxy.async.shared::cta;\n",
      "{%r14, %r14, %r14, %r14};\n\tfence.proxy.async.shared::cta;\n$STORED:\n", FALSE },
    { "met-in-one-way",
      "{%r14, %r14, %r14, %r14};\n$STORED:\n\tfence.proxy.async.shared::cta;\n\tbar.sync \t0;\n",
      "{%r14, %r14, %r14, %r14};\n\tbar.sync \t0;\n$STORED:\n\tfence.proxy.async.shared::cta;\n",
      FALSE },
    { "ends-in-one-way", "mov.b32 \t%r14, 0;", "ret;", FALSE },
    { "exchange-in-one-way", "mov.b32 \t%r14, 0;", "shfl.sync.idx.b32 \t%r14, %r1, 0, 31, -1;",
      FALSE },
    { "both-to-the-bytes-of-one-thread", "shl.b32 \t%r5, %r1, 4;", "and.b32 \t%r5, %r1, 0;",
      FALSE },
    { "two-threads-to-the-same-bytes", "shl.b32 \t%r5, %r1, 4;",
      "and.b32 \t%r5, %r1, 126;\n\tshl.b32 \t%r5, %r5, 4;", FALSE },
    { "overlapping-threads", "shl.b32 \t%r5, %r1, 4;", "shl.b32 \t%r5, %r1, 3;", FALSE },
    { "another-way-in", "\tsetp.lt.s32 \t%p2, %r9, %r40;\n",
      "\tsetp.lt.s32 \t%p2, %r9, %r40;\n\tsetp.gt.s32 \t%p4, %r40, 4;\n\t@%p4 bra \t$NONE;\n",
      FALSE },
    { "again-in-one-way", "mov.b32 \t%r14, 0;\n",
      "mov.b32 \t%r14, 0;\n$AGAIN:\n\tadd.s32 \t%r14, %r14, 1;\n\tsetp.lt.s32 \t%p5, %r14, %r40;\n"
      "\t@%p5 bra \t$AGAIN;\n",
      FALSE },
};

static void test_row(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    g_autoptr(GString) whole = g_string_new(kernel);
    if (rows[row].from)
        g_assert_cmpuint(g_string_replace(whole, rows[row].from, rows[row].to, 0), ==, 1);
    const WsVerdictKind verdict = verdict_of(whole->str, WS_IMPORT_PTX);
    g_assert_cmpint(verdict == WS_VERDICT_PROVED, ==, rows[row].proved);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx-alike/%s", rows[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_row);
    }
    return g_test_run();
}
