/* Tiles that a function hands out, which says -1 where there is none: compilers make a choice of
 * two values of it, and compare that. A producer and four warps that consume, each with such a
 * loop. */
#include "../judged.h"

#include <string.h>

/* NEXT(number): the tile of that number in a register, or -1; it counts on where there is one. */
#define BEGIN(role)                                                                                \
    "\tsetp.ge.s32 \t%p3, %r4, %r5;\n\tmov.u32 \t%r10, -1;\n\tmov.u32 \t%r11, 0;\n\t@%p3 bra "     \
    "\t$" role "_first;\n\tdiv.s32 \t%r12, %r4, %r6;\n\tmul.lo.s32 \t%r13, %r12, %r6;\n"           \
    "\tsub.s32 \t%r14, %r4, %r13;\n\tmad.lo.s32 \t%r10, %r12, %r6, %r14;\n\tmov.u32 \t%r11, 1;\n"  \
    "$" role                                                                                       \
    "_first:\n\tsetp.lt.s32 \t%p4, %r10, 0;\n\t@%p4 bra \t$end;\n\tmov.u32 \t%r20, 0;\n$" role     \
    "_tile:\n"
#define NEXT(role)                                                                                 \
    "\txor.b32 \t%r20, %r20, 1;\n\tshl.b32 \t%r15, %r11, 7;\n\tadd.s32 \t%r15, %r15, %r4;\n"       \
    "\tsetp.ge.s32 \t%p5, %r15, %r5;\n\tmov.u32 \t%r10, -1;\n\t@%p5 bra \t$" role "_none;\n"       \
    "\tdiv.s32 \t%r12, %r15, %r6;\n\tmul.lo.s32 \t%r13, %r12, %r6;\n\tsub.s32 \t%r14, %r15, "      \
    "%r13;\n"                                                                                      \
    "\tmad.lo.s32 \t%r10, %r12, %r6, %r14;\n\tadd.s32 \t%r11, %r11, 1;\n$" role "_none:\n"         \
    "\tsetp.gt.s32 \t%p6, %r10, -1;\n\t@%p6 bra \t$" role "_tile;\n"
#define WAIT(barrier, parity)                                                                      \
    "{\n\t.reg .pred complete;\nwaitLoop:\n\tmbarrier.try_wait.parity.shared.b64 complete, "       \
    "[" barrier "], " parity ";\n\t@!complete bra.uni waitLoop;\n}\n"
#define ARRIVE "\tmbarrier.arrive.shared::cta.b64 _, [%r8];\n"

static const char kernel[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".extern .shared .align 1024 .b8 global_smem[];\n"
    ".visible .entry chosen(.param .align 64 .b8 chosen_param_0[128], .param .u32 chosen_param_1, "
    ".param .u32 chosen_param_2)\n.maxntid 256, 1, 1\n{\n"
    "\t.reg .pred \t%p<9>;\n\t.reg .b32 \t%r<60>;\n\t.reg .b64 \t%rd<9>;\n"
    "\tmov.b64 \t%rd1, chosen_param_0;\n"
    "\tld.param.u32 \t%r5, [chosen_param_1];\n\tld.param.u32 \t%r6, [chosen_param_2];\n"
    "\tmov.u32 \t%r1, %tid.x;\n\tsetp.ne.s32 \t%p1, %r1, 0;\n\tmov.b32 \t%r2, global_smem;\n"
    "\tadd.s32 \t%r7, %r2, 16384;\n\tadd.s32 \t%r8, %r2, 16392;\n\t@%p1 bra \t$ready;\n"
    "\tmbarrier.init.shared::cta.b64 [%r7], 1;\n\tmbarrier.init.shared::cta.b64 [%r8], 128;\n"
    "$ready:\n\tbar.sync \t0;\n\tmov.u32 \t%r4, %ctaid.x;\n\tshr.u32 \t%r3, %r1, 7;\n"
    "\tsetp.eq.s32 \t%p2, %r3, 0;\n\t@%p2 bra \t$load;\n"
    /* consumers */
    BEGIN("use") WAIT(
        "%r7",
        "%r20") "\tand.b32 \t%r21, %r1, 127;\n\tshl.b32 \t%r21, %r21, 4;\n\tadd.s32 \t%r21, %r2, "
                "%r21;\n"
                "\tld.shared.v4.b32 \t{%r30, %r31, %r32, %r33}, [%r21];\n" ARRIVE NEXT(
                    "use") "\tbra.uni \t$end;\n"
                           /* producer */
                           "$load:\n\tand.b32 \t%r22, %r1, 127;\n\tsetp.ne.s32 \t%p7, %r22, "
                           "0;\n\t@%p7 bra \t$end;\n" BEGIN(
                               "load") "\txor.b32 \t%r23, %r20, "
                                       "1;\n" WAIT("%r8", "%r23") "\tmbarrier.arrive."
                                                                  "expect_tx.shared."
                                                                  "b64 _, [%r7], "
                                                                  "2048;\n"
                                                                  "\tcp.async.bulk."
                                                                  "tensor.2d.shared::"
                                                                  "cluster.global."
                                                                  "mbarrier::"
                                                                  "complete_tx::"
                                                                  "bytes [%r2], "
                                                                  "[%rd1, "
                                                                  "{0, %r10}], "
                                                                  "[%r7];\n" NEXT("load") "$end:"
                                                                                          "\n\tre"
                                                                                          "t;\n}"
                                                                                          "\n";

/* One place of one role is changed. */
static const struct {
    const char *title;
    gboolean consumer;
    const char *from, *to;
    gboolean proved;
} rows[] = {
    { "as-it-is", TRUE, "", "", TRUE },
    { "of-two-sums", TRUE, "mad.lo.s32 \t%r10, %r12, %r6, %r14;\n\tadd",
      "add.s32 \t%r10, %r13, %r14;\n\tadd", TRUE },
    { "none-is-less", TRUE, "mov.u32 \t%r10, -1;\n\t@%p5", "mov.u32 \t%r10, -7;\n\t@%p5", TRUE },
    { "one-tile-less", TRUE, "setp.ge.s32 \t%p5, %r15, %r5", "setp.gt.s32 \t%p5, %r15, %r5",
      FALSE },
    { "of-another-number", TRUE, "setp.ge.s32 \t%p5, %r15, %r5", "setp.ge.s32 \t%p5, %r15, %r6",
      FALSE },
    { "the-producer-one-tile-less", FALSE, "setp.ge.s32 \t%p5, %r15, %r5",
      "setp.gt.s32 \t%p5, %r15, %r5", FALSE },
    { "none-is-a-tile", TRUE, "mov.u32 \t%r10, -1;\n\t@%p5", "mov.u32 \t%r10, 0;\n\t@%p5", FALSE },
    { "the-first-is-a-tile", TRUE, "mov.u32 \t%r10, -1;\n\tmov", "mov.u32 \t%r10, 1;\n\tmov",
      FALSE },
    { "tile-0-is-none", TRUE, "setp.gt.s32 \t%p6, %r10, -1", "setp.gt.s32 \t%p6, %r10, 0", FALSE },
    { "goes-on-where-none-is", TRUE, "setp.gt.s32 \t%p6, %r10, -1", "setp.gt.s32 \t%p6, %r10, -2",
      FALSE },
    { "ends-where-one-is", TRUE, "setp.gt.s32 \t%p6, %r10, -1", "setp.lt.s32 \t%p6, %r10, 0",
      FALSE },
    { "begins-where-none-is", TRUE, "setp.lt.s32 \t%p4, %r10, 0", "setp.ge.s32 \t%p4, %r10, 0",
      FALSE },
    { "does-not-count", TRUE, "add.s32 \t%r11, %r11, 1;", "add.s32 \t%r11, %r11, 0;", FALSE },
    { "counts-by-two", TRUE, "add.s32 \t%r11, %r11, 1;", "add.s32 \t%r11, %r11, 2;", FALSE },
    { "counts-from-two", TRUE, "mov.u32 \t%r11, 1;", "mov.u32 \t%r11, 2;", FALSE },
    { "counts-from-none", TRUE, "mov.u32 \t%r11, 1;", "mov.u32 \t%r11, 0;", FALSE },
    { "other-strides", TRUE, "shl.b32 \t%r15, %r11, 7;", "shl.b32 \t%r15, %r11, 6;", FALSE },
    { "both-ways-count-differently", TRUE, "mov.u32 \t%r10, -1;\n\t@%p5",
      "mov.u32 \t%r10, -1;\n\tadd.s32 \t%r11, %r11, 1;\n\t@%p5", FALSE },
    { "a-tile-may-be-below-0", TRUE, "sub.s32 \t%r14, %r15, %r13;", "sub.s32 \t%r14, %r13, %r15;",
      FALSE },
    { "a-tile-less-many", TRUE, "mad.lo.s32 \t%r10, %r12, %r6, %r14;\n\tadd",
      "sub.s32 \t%r10, %r15, 129;\n\tadd", FALSE },
    { "no-arrival-in-the-last", TRUE, ARRIVE,
      "\tsetp.lt.s32 \t%p8, %r11, 2;\n\t@%p8 mbarrier.arrive.shared::cta.b64 _, [%r8];\n", FALSE },
    { "parity-of-the-number", TRUE, "xor.b32 \t%r20, %r20, 1;", "and.b32 \t%r20, %r11, 1;", TRUE },
    { "parity-of-the-number-behind", TRUE, "setp.gt.s32 \t%p6, %r10, -1",
      "and.b32 \t%r20, %r11, 1;\n\tsetp.gt.s32 \t%p6, %r10, -1", FALSE },
    { "arrives-by-the-number-behind", TRUE, "\tbra.uni \t$end;\n",
      "\tsetp.gt.s32 \t%p8, %r11, 3;\n\t@%p8 mbarrier.arrive.shared::cta.b64 _, [%r8];\n\tbra.uni "
      "\t$end;\n",
      FALSE },
};

static void test_row(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    const char *load = strstr(kernel, "$load:\n");
    g_autoptr(GString) use = g_string_new_len(kernel, load - kernel);
    g_autoptr(GString) other = g_string_new(load);
    if (*rows[row].from)
        g_assert_cmpuint(
            g_string_replace(rows[row].consumer ? use : other, rows[row].from, rows[row].to, 0), ==,
            1);
    g_string_append(use, other->str);
    const WsVerdictKind verdict = verdict_of(use->str, WS_IMPORT_PTX);
    g_assert_cmpint(verdict == WS_VERDICT_PROVED, ==, rows[row].proved);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx-chosen/%s", rows[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_row);
    }
    return g_test_run();
}
