/* What a proof lists as not determined, since nothing orders atomics: the buffers that exchanges
 * and picked stores leave, what was there before, and all that is computed of it; nothing else. */
#include "design.h"

typedef struct {
    const char *name, *file, *names; /* in order, "hist Y" */
    Edit edit[MAX_EDITS];
} Row;

#define COUNT "{ \"write\": \"one\", \"to\": \"hist\", \"reduce\": \"add\", \"places\": \"bin\" }"

static const Row rows[] = {
    { "sums", "moves/histogram", "", { { NULL, NULL } } },
    { "rows", "moves/atomic-rows", "", { { NULL, NULL } } },
    { "compact", "moves/atomic-compact", "next found hist x at before got Y", { { NULL, NULL } } },
    { "compare", "moves/atomic-compare", "mark total x was more held count Y", { { NULL, NULL } } },
    { "stored",
      "moves/histogram",
      "hist total Y",
      { { COUNT, "{ \"write\": \"one\", \"to\": \"hist\", \"places\": \"bin\" }" } } },
    { "exchanged",
      "moves/histogram",
      "hist total Y",
      { { "\"add\", \"places\"", "\"exchange\", \"places\"" } } },
    { "given-back",
      "moves/histogram",
      "spare",
      { { "\"values\": [",
          "\"values\": [ { \"name\": \"spare\", \"dtype\": \"i32\", \"tile\": [1, 512] }," },
        { "\"places\": \"bin\"", "\"places\": \"bin\", \"old\": \"spare\"" } } },
    { "computed",
      "moves/histogram",
      "hist spare total Y",
      { { "\"values\": [",
          "\"values\": [ { \"name\": \"spare\", \"dtype\": \"i32\", \"tile\": [1, 256] }," },
        { "{ \"read\": \"total\", \"from\": \"hist\" }",
          "{ \"compute\": \"total = 0\" }, { \"write\": \"total\", \"to\": \"hist\", \"reduce\": "
          "\"add\", \"old\": \"spare\" }, { \"compute\": \"total = spare*0 + 3\" }" } } },
    { "over",
      "moves/histogram",
      "hist other total Y",
      { { "{ \"name\": \"hist\", \"dtype\": \"i32\", \"tile\": [256] }",
          "{ \"name\": \"hist\", \"dtype\": \"i32\", \"tile\": [256] }, { \"name\": \"other\", "
          "\"dtype\": \"i32\", \"tile\": [64], \"over\": \"hist\", \"offset\": 256 }" },
        { "\"add\", \"places\"", "\"exchange\", \"places\"" } } },
};

static void test(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *file = g_strdup_printf("%s.wstave", row->file);
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "tests/designs", file, NULL);
    char *own = NULL;
    g_assert_true(g_file_get_contents(path, &own, NULL, NULL));
    g_autofree char *text = edited(own, row->name, row->edit, MAX_EDITS);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), file, findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_autofree char *said = ws_findings_print(findings, file);
    g_test_message("%s", said);
    g_assert_nonnull(p);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < v->undetermined->len; i++)
        g_string_append_printf(names, "%s%s", i ? " " : "", (char *)v->undetermined->pdata[i]);
    g_assert_cmpstr(names->str, ==, row->names);
    g_autofree char *words = ws_verdict_text(v);
    g_assert_true(!*row->names == !strstr(words, "not determined"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/order/%s", rows[i].name);
        g_test_add_data_func(path, &rows[i], test);
    }
    return g_test_run();
}
