/* Arrivals that the first lanes of a warp make, each in another CTA of the cluster, and waits whose
 * labels are called alike: tests/import/ptx/gemm-cluster.ptx with other text at one place. What is
 * broken is not proved. */
#include "../judged.h"
#include "model/design.h"
#include "model/findings.h"

#include "program/elaborate.h"

#include <string.h>

#define GUARD "\t@%p5 bra \t$L__BB0_7;\n\tadd.s32 \t%r66, %r50, 32;\n"
#define TO(of, cta)                                                                                \
    "\t{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, " of ", " cta ";\n"                \
    "\tmbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n\t}\n"
#define TWO   "\tsetp.gt.u32 \t%p5, %r3, 1;\n" GUARD
#define LANES "\tmov.u32 \t%r67, %laneid;\n\tsetp.gt.u32 \t%p5, %r67, 1;\n" GUARD
#define LEADERS(mask)                                                                              \
    "\tand.b32 \t%r67, %r3, " mask ";\n\tsetp.ne.s32 \t%p5, %r67, 0;\n" GUARD                      \
    "\tmov.u32 \t%r67, 0;\n"

static const struct {
    const char *title, *text, *count; /* count: of the barriers that are freed */
    gboolean proved;
} rows[] = {
    { "each-in-its-own", TWO TO("%r66", "%r3"), "4", TRUE },
    { "each-of-every-warp", LANES TO("%r66", "%r67"), "16", TRUE },
    { "leaders-of-all-warps", LEADERS("31") TO("%r66", "%r67") TO("%r66", "%r55"), "16", TRUE },
    { "leaders-of-two-warps", LEADERS("95") TO("%r66", "%r67") TO("%r66", "%r55"), "16", FALSE },
    { "every-warp-counts-as-one", LANES TO("%r66", "%r67"), "4", FALSE },
    { "one-counts-as-every-warp", TWO TO("%r66", "%r3"), "16", FALSE },
    { "all-of-one-warp",
      "\tsetp.gt.u32 \t%p5, %r3, 31;\n" GUARD "\tmov.u32 \t%r67, 0;\n" TO("%r66", "%r67")
          TO("%r66", "%r55"),
      "512", FALSE },
    { "all-of-all-warps",
      "\tsetp.gt.u32 \t%p5, %r3, 127;\n" GUARD "\tmov.u32 \t%r67, 0;\n" TO("%r66", "%r67")
          TO("%r66", "%r55"),
      "512", TRUE },
    { "all-of-one-warp-and-leaders",
      "\tand.b32 \t%r67, %r3, 31;\n\tsetp.ne.s32 \t%p5, %r67, 0;\n"
      "\tsetp.gt.u32 \t%p4, %r3, 31;\n\tand.pred \t%p5, %p5, %p4;\n" GUARD
      "\tmov.u32 \t%r67, 0;\n" TO("%r66", "%r67") TO("%r66", "%r55"),
      "512", FALSE },
    { "three-lanes", "\tsetp.gt.u32 \t%p5, %r3, 2;\n" GUARD TO("%r66", "%r3"), "4", FALSE },
    { "first-lane", "\tsetp.gt.u32 \t%p5, %r3, 0;\n" GUARD TO("%r66", "%r3"), "4", FALSE },
    { "second-lane", "\tsetp.ne.s32 \t%p5, %r3, 1;\n" GUARD TO("%r66", "%r3"), "4", FALSE },
    { "both-in-one", TWO TO("%r66", "%r55"), "4", FALSE },
    { "twice", TWO TO("%r66", "%r3") TO("%r66", "%r3"), "4", FALSE },
    { "at-barriers-of-lanes",
      TWO "\tshl.b32 \t%r67, %r3, 3;\n\tadd.s32 \t%r66, %r66, %r67;\n" TO("%r66", "%r3"), "4",
      FALSE },
    { "in-a-number-of-its-own", TWO "\tadd.s32 \t%r67, %r3, 1;\n" TO("%r66", "%r67"), "4", FALSE },
    { "address-of-its-own-cta",
      TWO "\t{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, %r66, %r3;\n\tmov.u32 there, "
          "%r66;\n"
          "\tmbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n\t}\n",
      "4", FALSE },
    { "in-the-window-of-its-own",
      TWO "\t{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, %r66, %r3;\n"
          "\tmbarrier.arrive.shared::cta.b64 _, [there];\n\t}\n",
      "4", FALSE },
    { "where-it-is-not-passed", "\tsetp.le.u32 \t%p5, %r3, 1;\n" GUARD TO("%r66", "%r3"), "4",
      FALSE },
};

static char *cluster_text(void)
{
    char *text = NULL;
    g_assert_true(g_file_get_contents(WS_SOURCE_ROOT "/tests/import/ptx/gemm-cluster.ptx", &text,
                                      NULL, NULL));
    return text;
}

static void test_arrivals(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    g_autofree char *text = cluster_text();
    char *from = strstr(text, "\tsetp.ne.s32 \t%p5, %r3, 0;"), *to = strstr(text, "$L__BB0_7:\n");
    g_assert_true(from && to && from < to);
    *from = '\0';
    g_autoptr(GString) whole = g_string_new(text);
    g_string_append_printf(whole, "%s%s", rows[row].text, to);
    g_autofree char *init = g_strdup_printf("], %s;", rows[row].count);
    g_string_replace(whole, "], 4;", init, 0);
    const WsVerdictKind verdict = verdict_of(whole->str, WS_IMPORT_PTX);
    g_assert_cmpint(verdict == WS_VERDICT_PROVED, ==, rows[row].proved);
}

/* A label is one of its own scope, whichever is nearer. */
static void test_labels(void)
{
    g_autofree char *text = cluster_text();
    g_autoptr(GString) whole = g_string_new(text);
    const char *const wait = "again:\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                             "done, [%r94], %r122;\n\t@!done bra again;\n\t}\n";
    const char *const two = "again:\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                            "done, [%r94], %r122;\n\t@done bra end;\n\tbra again;\nend:\n\t}\n"
                            "\t{\n\t.reg .pred done;\n"
                            "again:\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                            "done, [%r94], %r122;\n\t@done bra end;\n\tbra again;\nend:\n\t}\n";
    g_assert_cmpuint(g_string_replace(whole, wait, two, 0), ==, 1);
    g_assert_cmpint(verdict_of(whole->str, WS_IMPORT_PTX), ==, WS_VERDICT_PROVED);
}

/* Every fourth lane leaves a number of its row, which all of the group read. */
#define LEAVE(of, store, meet)                                                                     \
    "$L__BB0_8:\n\tmov.u32 \t%r200, %tid.x;\n\tand.b32 \t%r201, %r200, 3;\n"                       \
    "\tsetp.ne.s32 \t%p20, %r201, " of ";\n\tshr.u32 \t%r202, %r200, 7;\n"                         \
    "\tshl.b32 \t%r203, %r202, 7;\n\tshr.u32 \t%r204, %r200, 2;\n\tand.b32 \t%r204, %r204, 31;\n"  \
    "\tshl.b32 \t%r205, %r204, 2;\n\tadd.s32 \t%r206, %r203, %r205;\n\tmov.u32 \t%r207, smem;\n"   \
    "\tadd.s32 \t%r208, %r207, %r206;\n" store "$LEFT:\n" meet                                     \
    "\tld.shared.u32 \t%r210, [%r208+147456];\n"
#define JUMP "\t@%p20 bra \t$LEFT;\n"
#define KEEP "\tst.shared.u32 \t[%r208+147456], %r204;\n"
#define MEET "\tbar.sync \t%r202, 128;\n"

static const struct {
    const char *title, *text;
    gboolean proved;
} stores[] = {
    { "behind-a-branch", LEAVE("0", JUMP KEEP, MEET), TRUE },
    { "under-a-predicate", LEAVE("0", "\t@!%p20 st.shared.u32 \t[%r208+147456], %r204;\n", MEET),
      TRUE },
    { "nobody-meets", LEAVE("0", JUMP KEEP, ""), FALSE },
    { "by-other-lanes", LEAVE("1", JUMP KEEP, MEET), FALSE },
    { "into-the-ring", LEAVE("0", JUMP "\tst.shared.u32 \t[%r208+65536], %r204;\n", MEET), FALSE },
    { "half-over-the-next-lane's",
      LEAVE("0",
            JUMP "\tshr.u32 \t%r211, %r205, 1;\n\tadd.s32 \t%r211, %r211, %r203;\n"
                 "\tadd.s32 \t%r211, %r211, %r207;\n\tst.shared.u32 \t[%r211+147456], %r204;\n",
            MEET),
      FALSE },
    { "all-over-one-another",
      LEAVE("0",
            JUMP "\tadd.s32 \t%r211, %r203, %r207;\n\tst.shared.u32 \t[%r211+147456], %r204;\n",
            MEET),
      FALSE },
    { "meets-in-the-branch", LEAVE("0", JUMP KEEP MEET, ""), FALSE },
};

static void test_stores(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    g_autofree char *text = cluster_text();
    g_autoptr(GString) whole = g_string_new(text);
    g_assert_cmpuint(g_string_replace(whole, ".reg .b32 \t%r<124>;", ".reg .b32 \t%r<300>;", 0), ==,
                     1);
    g_string_replace(whole, ".reg .pred \t%p<13>;", ".reg .pred \t%p<40>;", 0);
    g_assert_cmpuint(g_string_replace(whole, "$L__BB0_8:\n", stores[row].text, 0), ==, 1);
    const WsVerdictKind verdict = verdict_of(whole->str, WS_IMPORT_PTX);
    g_assert_cmpint(verdict == WS_VERDICT_PROVED, ==, stores[row].proved);
}

/* What is asked of a tile at two places is a number where it is not named, and a name where it is;
 * of what no launch has, the design says nothing else. */
static void test_named(gconstpointer data)
{
    const WsImportOptions how = { .named = GPOINTER_TO_INT(data) };
    g_autofree char *text = NULL;
    g_assert_true(
        g_file_get_contents(WS_SOURCE_ROOT "/tests/import/ptx/gemm.ptx", &text, NULL, NULL));
    g_autoptr(GString) whole = g_string_new(text);
    g_assert_cmpuint(g_string_replace(whole, "$L__BB0_10:\n",
                                      "$L__BB0_10:\n\t.reg .pred %few, %more;\n"
                                      "\tsetp.lt.s32 \t%few, %r125, 7;\n\t@%few bra \t$SKIP;\n"
                                      "\tfence.proxy.async.shared::cta;\n$SKIP:\n"
                                      "\tsetp.lt.s32 \t%more, %r125, 9;\n\t@%more bra \t$OVER;\n"
                                      "\tfence.proxy.async.shared::cta;\n$OVER:\n",
                                      0),
                     ==, 1);
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import =
        ws_import_text_as(whole->str, whole->len, "gemm.ptx", WS_IMPORT_PTX, &how, &error);
    g_assert_no_error(error);
    g_autofree char *design = ws_design_print(import->design);
    g_assert_true(strstr(design, "\"which\"") != NULL || !how.named);
    g_assert_true(strstr(design, "\"which_2\"") != NULL || !how.named);
    g_assert_true(strstr(design, "which") == NULL || how.named);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(import->design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx-lanes/%s", rows[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_arrivals);
    }
    for (guint i = 0; i < G_N_ELEMENTS(stores); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx-lanes/stores/%s", stores[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_stores);
    }
    g_test_add_data_func("/import/ptx-lanes/named", GINT_TO_POINTER(TRUE), test_named);
    g_test_add_data_func("/import/ptx-lanes/not-named", GINT_TO_POINTER(FALSE), test_named);
    g_test_add_func("/import/ptx-lanes/labels", test_labels);
    return g_test_run();
}
