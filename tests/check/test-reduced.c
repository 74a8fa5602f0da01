/* Tensors that are reduced: how often each element is, where that is shown; else that it is not. */
#include "design.h"

#define NOT_COUNTED "is reduced where, and as often as, it should be"

static const struct {
    const char *name, *file;
    Edit edit[MAX_EDITS];
    const char *says; /* NULL: each element once, which needs no word */
} rows[] = {
    { "once-a-part",
      "global/right-add.wstave",
      { { NULL, NULL } },
      "every element of C is to be reduced once for each ts" },
    { "once", "global/right-add.wstave", { { ", \"ts\": 4 }", " }" } }, NULL },
    { "half-of-it", "global/right-add.wstave", { { "tm*BM + replica*WM", "tm*BM" } }, NOT_COUNTED },
    { "another-step",
      "global/right-add.wstave",
      { { "\"tm*BM + replica*WM\"", "\"2*tm*BM + replica*WM\"" } },
      NOT_COUNTED },
    { "not-all-columns",
      "global/right-add.wstave",
      { { "\"tn*BN\"]", "\"tn*(BN - 8)\"]" } },
      NOT_COUNTED },
    { "one-part-alone",
      "global/right-add.wstave",
      { { "\"reduce\": \"add\" }", "\"reduce\": \"add\", \"when\": \"ts == 1\" }" } },
      NULL },
    { "some-parts",
      "global/right-add.wstave",
      { { "\"reduce\": \"add\" }", "\"reduce\": \"add\", \"when\": \"ts >= 1\" }" } },
      NOT_COUNTED },
    { "twice",
      "global/right-add.wstave",
      { { "\"reduce\": \"add\" }",
          "\"reduce\": \"add\" }, { \"write\": \"x\", \"to\": \"C\", \"at\": [\"tm*BM + "
          "replica*WM\", \"tn*BN\"], \"reduce\": \"add\" }" } },
      NOT_COUNTED },
    { "in-a-loop",
      "global/right-add.wstave",
      { { "{ \"write\": \"x\", \"to\"",
          "{ \"for\": \"i\", \"count\": \"M\", \"do\": [ { \"write\": \"x\", \"to\"" },
        { "\"reduce\": \"add\" }", "\"reduce\": \"add\" } ] }" } },
      "once for each ts, i" },
    { "a-histogram",
      "moves/histogram.wstave",
      { { NULL, NULL } },
      "every element of Y is to be reduced once for each n" },
    { "of-a-sum",
      "moves/gemm-reduce.wstave",
      { { NULL, NULL } },
      "every element of C is to be reduced once for each ts" },
};

static void judged(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = edited_text(rows[i].file, rows[i].edit);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), rows[i].file, findings);
    g_assert_nonnull(design);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
    g_autofree char *says = ws_verdict_text(v);
    g_test_message("%s", says);
    if (rows[i].says)
        g_assert_nonnull(strstr(says, rows[i].says));
    else
        g_assert_null(strstr(says, "reduced"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/reduced/%s", rows[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), judged);
    }
    return g_test_run();
}
