/* PTX whose control, lanes or launch the import does not follow: outside, whatever the truth is,
 * which stands at the top of each text. */
#include "../../whole.h"
#include "../judged.h"

#include <string.h>

static const char *const texts[] = {
    "block-of-two-dimensions-required",
    "block-of-two-dimensions",
    "cluster-in-y",
    "elect-in-a-branch",
    "shfl-in-a-data-branch",
    "vote-in-a-data-branch",
    "two-lanes-arrive",
    "two-lanes-initialise",
    "two-lanes-load",
    "init-of-zero",
    "init-of-zero-full",
    "loop-of-twos-until-equal",
    "loop-that-never-ends",
    "tile-loop-until-equal",
    "tile-loop-until-equal-of-both",
    "parity-reset-per-tile",
    "parity-reset-per-tile-of-both",
    "parity-reset-per-tile-of-the-producer",
    "register-of-an-inner-scope",
    "register-of-an-inner-scope-refuted",
    "remote-arrival-of-cta-scope",
};

static void test_outside(gconstpointer data)
{
    g_autofree char *file =
        g_strdup_printf("%s/tests/import/ptx/flow/%s.ptx", WS_SOURCE_ROOT, (const char *)data);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_assert_cmpint(verdict_of(text, WS_IMPORT_PTX), ==, WS_VERDICT_OUTSIDE);
}

/* One place of a kernel that is proved, changed: it races, hangs or faults, and the reason is the
 * one that is said; NULL: it is as right as before. */
#define ADDS      "{%r42,%r43,%r44,%r45}, %rd18, 1, 1, 1, 1;\n\twgmma.commit_group.sync.aligned;\n\t"
#define CP        "cp.async.cg.shared.global [ %r37 + 0 ], [ %rd38 + 0 ], 0x10, %r23;"
#define PLACE     "add.s32 \t%r37, %r113, 55296;"
#define SAME      "several threads write to the same bytes"
#define STORED    "st.shared.v4.b32 \t[%r341], {%r286"
#define READS(at) "ld.shared.v4.b32 \t{%zz1, %zz2, %zz3, %zz4}, [%r335" at "];\n\t"
#define MATRIX    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r108"

static const struct {
    const char *title, *file, *from, *to, *says;
} changed[] = {
    { "product-into-an-operand-in-flight", "attention", ADDS,
      ADDS "wgmma.fence.sync.aligned;\n\twgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 "
           "{%r42,%r43}, %rd7, %rd8, 0, 1, 1, 0, 0;\n\twgmma.commit_group.sync.aligned;\n\t",
      "in flight has otherwise" },
    { "fence-behind-a-product", "attention", ADDS, ADDS "wgmma.fence.sync.aligned;\n\t", NULL },
    { "copies-of-other-threads", "triton-cpasync", PLACE, "add.s32 \t%r37, %r22, 55296;", SAME },
    { "copies-of-its-own", "triton-cpasync", PLACE, "add.s32 \t%r37, %r113, 54272;", SAME },
    { "copies-at-eight-bytes", "triton-cpasync", PLACE, "add.s32 \t%r37, %r113, 54280;",
      "may not be aligned" },
    { "copies-by-half", "triton-cpasync", CP,
      CP "\n\tcp.async.ca.shared.global [ %r36 + 8 ], [ %rd38 + 0 ], 0x8;", SAME },
    { "copies-in-another-group", "triton-cpasync", PLACE, "add.s32 \t%r37, %r22, 2048;", SAME },
    { "copies-of-lanes-all-at-one", "triton-cpasync", PLACE, "add.s32 \t%r37, %r106, 55296;",
      SAME },
    { "copies-of-lanes-by-half", "triton-cpasync", CP,
      "shl.b32 \t%r37, %r4, 3;\n\tand.b32 \t%r37, %r37, 1008;\n\tadd.s32 \t%r37, %r106, %r37;\n"
      "\tadd.s32 \t%r37, %r37, 55296;\n\t" CP,
      SAME },
    { "copies-of-lanes-not-known", "triton-cpasync", PLACE,
      "min.u32 \t%r37, %r4, 127;\n\tshl.b32 \t%r37, %r37, 4;\n\tadd.s32 \t%r37, %r106, %r37;"
      "\n\tadd.s32 \t%r37, %r37, 55296;",
      "not known what bytes each thread writes" },
    { "copies-of-other-threads-in-a-round", "triton-cpasync", "add.s32 \t%r154, %r165, 55296;",
      "add.s32 \t%r154, %r139, 55296;", SAME },
    { "stores-of-other-threads", "triton-cpasync", "st.shared.v4.b32 \t[%r341], {%r286",
      "st.shared.v4.b32 \t[%r339+16], {%r286", "stores of several lanes to the same bytes" },
    { "copies-turned-and-back", "triton-cpasync", PLACE,
      "xor.b32 \t%r37, %r113, 64;\n\txor.b32 \t%r37, %r37, 64;\n\tadd.s32 \t%r37, %r37, 55296;",
      NULL },
    { "copies-turned", "triton-cpasync", PLACE,
      "xor.b32 \t%r37, %r113, 32;\n\tadd.s32 \t%r37, %r37, 54272;", SAME },
    { "copies-turned-beyond-what-is-known", "triton-cpasync", PLACE,
      "xor.b32 \t%r37, %r113, 32768;\n\tadd.s32 \t%r37, %r37, 22528;", "" },
    { "copies-not-aligned", "triton-cpasync", PLACE, "add.s32 \t%r37, %r113, 55304;",
      "may not be aligned" },
    { "copies-of-a-lane-not-aligned", "triton-cpasync", PLACE,
      "add.s32 \t%r37, %r4, 1;\n\tand.b32 \t%r37, %r37, 4;\n\tadd.s32 \t%r37, %r113, %r37;\n"
      "\tadd.s32 \t%r37, %r37, 55296;",
      "may not be aligned" },
    { "a-copy-and-a-store", "triton-cpasync", CP,
      "st.shared.v4.b32 \t[%r22+56320], {%r4, %r4, %r4, %r4};\n\t" CP, SAME },
    { "a-copy-and-its-own-store", "triton-cpasync", CP,
      CP "\n\tst.shared.v4.b32 \t[%r37], {%r4, %r4, %r4, %r4};", SAME },
    { "a-copy-and-a-store-by-half", "triton-cpasync", CP,
      "st.shared.v2.b32 \t[%r36+8], {%r4, %r4};\n\t" CP, SAME },
    { "wait-of-products-under-a-predicate", "triton-cpasync", "wgmma.wait_group.sync.aligned 0;",
      "@%p8 wgmma.wait_group.sync.aligned 0;", "under a predicate" },
    { "registers-under-a-predicate", "gemm", "setmaxnreg.dec", "@%p1 setmaxnreg.dec",
      "registers that are handed over under a predicate" },
    { "reads-its-own-bytes", "triton-cpasync", STORED, READS("") STORED, NULL },
    { "reads-bytes-of-another-lane", "triton-cpasync", STORED, READS("+16") STORED,
      "no barrier of both" },
    { "leaves-its-cluster", "gemm-cluster", "mov.u32 %r28, %cluster_ctarank;",
      "mov.u32 \t%r900, %ctaid.x;\n\tsetp.eq.s32 \t%p20, %r900, 5;\n\t@%p20 bra \t$OUT;\n"
      "\tbra.uni \t$IN;\n$OUT:\n\tret;\n$IN:\n\tmov.u32 %r28, %cluster_ctarank;",
      "leaves its cluster" },
    { "stride-of-another-layout", "gemm", "4611686293305360384", "4611686568183267328",
      "a descriptor with a stride or offset" },
    { "base-with-an-offset", "gemm", "4611686293305360384", "4612249243258781696",
      "a descriptor with a stride or offset" },
    { "registers-that-nobody-leaves", "gemm", "setmaxnreg.dec.sync.aligned.u32 40;", "",
      "more registers than" },
    { "registers-beyond-the-launch", "gemm", "setmaxnreg.dec.sync.aligned.u32 40;",
      "setmaxnreg.dec.sync.aligned.u32 152;", "more registers than" },
    { "matrices-not-aligned", "triton-tma", MATRIX "+16384]", MATRIX "+16388]",
      "may not be aligned" },
};

/* What asks for more registers waits for those who leave some. */
#define LEAVE "setmaxnreg.dec.sync.aligned.u32 40;\n"
#define ASK   "setmaxnreg.inc.sync.aligned.u32 232;\n"
/* Three rounds with a barrier of the CTA in each; labels get the name of the side. */
#define ROUNDS(before, behind)                                                                     \
    "mov.u32 %r900, 0;\n$ROUND:\n\t" before "\tbar.sync 0;\n\t" behind                             \
    "\tadd.s32 %r900, %r900, 1;\n\tsetp.lt.s32 %p31, %r900, 3;\n\t@%p31 bra $ROUND;\n\t"
static const struct {
    const char *title, *leave, *ask;
    gboolean proved;
} handed[] = {
    { "left-behind-a-named-barrier", "bar.sync 3, 384;\n\t" LEAVE, ASK "\tbar.arrive 3, 384;\n",
      FALSE },
    { "left-behind-a-barrier-of-all", "bar.sync 0;\n\t" LEAVE, ASK "\tbar.sync 0;\n", FALSE },
    { "left-behind-a-wait",
      "$AGAIN:\n\tmov.u32 %r900, smem;\n\tadd.s32 %r900, %r900, 131104;\n"
      "\tmbarrier.try_wait.parity.shared::cta.b64 %p30, [%r900], 1;\n"
      "\t@!%p30 bra $AGAIN;\n\t" LEAVE,
      ASK, FALSE },
    { "asked-for-in-rounds-before-a-barrier", ROUNDS("", "") LEAVE, ROUNDS(ASK, ""), FALSE },
    { "asked-for-in-rounds-behind-a-barrier", ROUNDS("", LEAVE), ROUNDS("", ASK), TRUE },
    { "left-in-rounds-behind-a-barrier", ROUNDS("", LEAVE), ROUNDS(ASK, ""), FALSE },
    { "left-in-rounds-before-a-barrier", ROUNDS(LEAVE, ""), ROUNDS("", ASK), TRUE },
    { "left-in-rounds-asked-for-behind", ROUNDS("", LEAVE), ROUNDS("", "") ASK, FALSE },
    { "left-in-rounds-that-others-do-not-make", ROUNDS("", LEAVE), "bar.sync 0;\n\t" ASK, FALSE },
    { "two-numbers-in-rounds", ROUNDS("", LEAVE),
      ROUNDS("setmaxnreg.inc.sync.aligned.u32 224;\n", ASK), FALSE },
    { "left-if", "setp.gt.s32 %p30, %r35, 3;\n\t@!%p30 bra $IF;\n\t" LEAVE "$IF:\n", ASK, FALSE },
    { "both-behind-a-barrier-of-all", "bar.sync 0;\n\t" LEAVE, "bar.sync 0;\n\t" ASK, TRUE },
    { "left-before-a-barrier-of-all", LEAVE "\tbar.sync 0;\n", "bar.sync 0;\n\t" ASK, TRUE },
    { "asked-for-before-a-barrier-of-all", LEAVE "\tbar.sync 0;\n", ASK "\tbar.sync 0;\n", TRUE },
};

static char *labelled(const char *text, const char *side)
{
    GString *own = g_string_new(text);
    g_autofree char *label = g_strconcat("$ROUND", side, NULL);
    g_string_replace(own, "$ROUND", label, 0);
    return g_string_free(own, FALSE);
}

static void test_handed(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, "tests/import/ptx/gemm.ptx", NULL);
    g_autofree char *right = NULL;
    g_assert_true(g_file_get_contents(file, &right, NULL, NULL));
    g_autoptr(GString) text = g_string_new(right);
    g_autofree char *leave = labelled(handed[i].leave, "L"), *ask = labelled(handed[i].ask, "A");
    g_assert_cmpuint(g_string_replace(text, LEAVE, leave, 0), ==, 1);
    g_assert_cmpuint(g_string_replace(text, ASK, ask, 0), ==, 1);
    g_assert_cmpint(verdict_of(text->str, WS_IMPORT_PTX) == WS_VERDICT_PROVED, ==,
                    handed[i].proved);
}

static void test_changed(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *file =
        g_strdup_printf("%s/tests/import/ptx/%s.ptx", WS_SOURCE_ROOT, changed[i].file);
    g_autofree char *right = NULL;
    g_assert_true(g_file_get_contents(file, &right, NULL, NULL));
    g_assert_cmpint(verdict_of(right, WS_IMPORT_PTX), ==, WS_VERDICT_PROVED);
    g_auto(GStrv) part = g_strsplit(right, changed[i].from, 2);
    g_assert_nonnull(part[1]);
    g_autofree char *text = g_strjoinv(changed[i].to, part);
    g_assert_cmpint(verdict_of(text, WS_IMPORT_PTX), ==,
                    changed[i].says ? WS_VERDICT_OUTSIDE : WS_VERDICT_PROVED);
    if (!changed[i].says)
        return;
    g_auto(Judged) j = judge_kernel(text, WS_IMPORT_PTX);
    gboolean said = FALSE;
    for (guint k = 0; k < j.import->unread->len; k++)
        said |= strstr(((const WsUnread *)g_ptr_array_index(j.import->unread, k))->what,
                       changed[i].says) != NULL;
    g_assert_true(said);
}

/* Where threads of gemm.ptx end, or end the launch. */
static const struct {
    const char *title;
    WsVerdictKind verdict;
    const char *head, *from, *to;
} controls[] = {
#define CONTROL(title, verdict, from, to)      { title, WS_VERDICT_##verdict, "", from, to },
#define HEADED(title, verdict, head, from, to) { title, WS_VERDICT_##verdict, head, from, to },
#include "attack/control.def"
#undef CONTROL
#undef HEADED
};

static void test_control(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, "tests/import/ptx/gemm.ptx", NULL);
    g_autofree char *right = NULL;
    g_assert_true(g_file_get_contents(file, &right, NULL, NULL));
    char *at = strstr(right, controls[i].from);
    g_assert_nonnull(at);
    g_autofree char *before = g_strndup(right, (gsize)(at - right));
    g_autofree char *text =
        g_strconcat(controls[i].head, before, controls[i].to, at + strlen(controls[i].from), NULL);
    g_assert_cmpint(verdict_of(text, WS_IMPORT_PTX), ==, controls[i].verdict);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/import/ptx-flow/%s", texts[i]);
        g_test_add_data_func(path, texts[i], test_outside);
    }
    for (guint i = 0; i < G_N_ELEMENTS(changed); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/import/ptx-flow/changed/%s", changed[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_changed);
    }
    for (guint i = 0; i < G_N_ELEMENTS(controls); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/import/ptx-flow/control/%s", controls[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_control);
    }
    for (guint i = 0; i < G_N_ELEMENTS(handed); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx-flow/registers/%s", handed[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_handed);
    }
    return g_test_run();
}
