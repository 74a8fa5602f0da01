/* Right designs that the check once refuted, each by a case that no launch has or by a mistake that
 * has no consequence: none is refuted. Their twins, one edit away, go wrong in a launch that there
 * is. */
#include "design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

static const struct {
    const char *file;
    Edit edit[MAX_EDITS];     /* that makes it wrong; none: only the right design is asked */
    const char *rule, *sizes; /* of the twin: sizes say (part of) the launch */
} rows[] = {
    { "once-refuted/pinned-beyond-its-text.wstave", { { NULL, NULL } }, NULL, NULL },
    { "once-refuted/pinned-for-every-tile.wstave",
      { { "{\"nb\": \"t\"}", "{\"nb\": \"t/3\"}" } },
      "P-TX",
      "T = 2" },
    { "once-refuted/tile-and-axis.wstave",
      { { "(t + t) == 4", "(t + t) == 14" } },
      "P-DL",
      "T = 8" },
    { "once-refuted/tile-name-and-its-text.wstave",
      { { "{\"nb\": \"N - t\"}", "{\"nb\": \"N - t - (t == 2)\"}" } },
      "P-EXIT",
      NULL },
    { "once-refuted/max-swapped-in-a-tile-name.wstave",
      { { "max(t - 2, 0)", "max(t - 3, 0)" } },
      "P-EXIT",
      NULL },
    { "once-refuted/arrivals-known-are-the-end.wstave", { { NULL, NULL } }, NULL, NULL },
    { "once-refuted/uses-around-advance.wstave", { { NULL, NULL } }, NULL, NULL },
    { "once-refuted/retired-product-orders-arrivals.wstave", { { NULL, NULL } }, NULL, NULL },
    { "once-refuted/nobody-waits-in-that-cta.wstave",
      { { "\"if\": \"1 - cta\", \"then\": [\n        {\"compute\"",
          "\"if\": \"1 - cta\", \"else\": [{\"wait\": \"ar2\", \"use\": \"N\"}], \"then\": [\n"
          "        {\"compute\"" } },
      "P-EARLY",
      "N = 2" },
    { "once-refuted/nobody-waits.wstave",
      { { "{\"compute\": \"acc = 0\"}",
          "{\"compute\": \"acc = 0\"}, {\"wait\": \"done\", \"use\": 0}" } },
      "P-DL",
      NULL },
    { "once-refuted/nobody-waits-at-a-named-barrier.wstave",
      { { "\"arrive\": \"y\"\n    }\n   ]\n  }\n ]", "\"sync\": \"y\"\n    }\n   ]\n  }\n ]" } },
      "P-NB",
      NULL },
    { "once-refuted/far-numbers-in-two-loops.wstave", { { NULL, NULL } }, NULL, NULL },
    { "once-refuted/transfer-tells-of-transfers.wstave", { { NULL, NULL } }, NULL, NULL },
    { "once-refuted/unless-of-an-unread-value.wstave", { { NULL, NULL } }, NULL, NULL },
    /* three wide tiles of one of 132 CTAs: sizes that give each so many */
    { "../../projects/gemm-fp8/design.wstave",
      { { "\"b\": \"b.cols(BK/2, BK/2)\", \"use\": \"u\" },\n"
          "              { \"if\": \"tile > 0\", \"then\": [\n"
          "                { \"store_wait\": 1 },\n"
          "                { \"sync\": \"group\" },\n"
          "                { \"write\": \"h.cols(p*SLAB, SLAB)\", \"to\": \"c[2*replica + p % 2]\" "
          "},\n"
          "                { \"sync\": \"group\" },\n"
          "                { \"store\": \"C\", \"at\": [\"row0\", \"col0 + p*SLAB\"], \"from\": "
          "\"c[2*replica + p % 2]\", \"hint\": \"evict_first\" }",
          "\"b\": \"b.cols(BK/2, BK/2)\", \"use\": \"u\" },\n"
          "              { \"if\": \"tile > 0\", \"then\": [\n"
          "                { \"sync\": \"group\" },\n"
          "                { \"write\": \"h.cols(p*SLAB, SLAB)\", \"to\": \"c[2*replica + p % 2]\" "
          "},\n"
          "                { \"sync\": \"group\" },\n"
          "                { \"store\": \"C\", \"at\": [\"row0\", \"col0 + p*SLAB\"], \"from\": "
          "\"c[2*replica + p % 2]\", \"hint\": \"evict_first\" },\n"
          "                { \"store_wait\": 1 }" } },
      "P-ASYNC",
      "CTA 0 of 132" },
    /* the loader ends early: who has ended is not waited for, and the consumers meet */
    { "gemm-cluster.wstave",
      { { "          ] }\n        ] },\n        { \"cluster\": \"sync\" }\n      ] },",
          "          ] }\n        ] }\n      ] }," } },
      NULL,
      NULL },
};

static WsVerdict *verdict(const char *file, const Edit *edit, WsFindings *findings)
{
    g_autoptr(WsProgram) p = edited_program(file, edit, NULL, 0, findings);
    g_assert_nonnull(p);
    WsVerdict *v = ws_check(p, NULL, findings);
    g_autofree char *said = ws_findings_print(findings, file), *words = ws_verdict_text(v);
    g_test_message("%s\n%s", words, said);
    return v;
}

static void row(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    const gboolean twin = rows[i].rule != NULL;
    g_autoptr(WsFindings) findings = ws_findings_new(), wrong = ws_findings_new();
    g_autoptr(WsVerdict) v = verdict(rows[i].file, twin ? NULL : rows[i].edit, findings);
    g_assert_cmpint(v->kind, !=, WS_VERDICT_REFUTED);
    if (v->kind == WS_VERDICT_OUTSIDE)
        g_assert_nonnull(v->reason);
    if (!twin)
        return;
    g_autoptr(WsVerdict) w = verdict(rows[i].file, rows[i].edit, wrong);
    g_assert_cmpint(w->kind, ==, WS_VERDICT_REFUTED);
    const WsFinding *f = find_finding(wrong, rows[i].rule, NULL, NULL, NULL);
    g_assert_nonnull(f);
    g_assert_nonnull(f->sizes);
    if (rows[i].sizes)
        g_assert_nonnull(strstr(f->sizes, rows[i].sizes));
    g_assert_nonnull(strstr(f->message, f->sizes));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *name = g_path_get_basename(rows[i].file);
        g_autofree char *path = g_strdup_printf("/check/once-refuted/%s", name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), row);
    }
    return g_test_run();
}
