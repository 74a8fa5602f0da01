/* The attention designs rehearsed at the sizes where masks, ragged tiles and peeled rounds go
 * wrong: one query, one more and one less than a block, more keys than queries, grouped queries.
 * And the lazy rescale, which puts a branch between products. */
#include "codegen/generate.h"

#include <string.h>

#define CAUSAL   "tests/designs/attention-fa3-causal.wstave"
#define DYNAMIC  "tests/designs/attention-fa3-dynamic.wstave"
#define FULL     "tests/designs/attention-fa3-full.wstave"
#define PINGPONG "tests/designs/attention-tle-pingpong.wstave"

typedef struct {
    const char *name, *file;
    gint64 size[5]; /* B, HQ, HKV, SQ, SK; or Z, H, N_CTX */
    guint n_size;
} Case;

static const Case cases[] = {
    { "causal/one-query", CAUSAL, { 1, 1, 1, 1, 1 }, 5 },
    { "causal/grouped-8", CAUSAL, { 1, 8, 1, 17, 17 }, 5 },
    { "causal/decode", CAUSAL, { 1, 2, 2, 1, 300 }, 5 },
    { "causal/block-and-one", CAUSAL, { 1, 1, 1, 129, 129 }, 5 },
    { "causal/one-key-more", CAUSAL, { 2, 1, 1, 127, 128 }, 5 },
    { "causal/more-keys", CAUSAL, { 1, 2, 1, 200, 392 }, 5 },
    { "dynamic/one-query", DYNAMIC, { 1, 1, 1, 1, 1 }, 5 },
    { "dynamic/block-and-one", DYNAMIC, { 1, 2, 1, 129, 130 }, 5 },
    { "full/one-key", FULL, { 1, 1, 1, 200, 1 }, 5 },
    { "full/grouped-8", FULL, { 1, 8, 1, 17, 17 }, 5 },
    { "full/block-and-one", FULL, { 1, 1, 1, 129, 177 }, 5 },
    { "pingpong/one-block", PINGPONG, { 1, 1, 128 }, 3 },
    { "pingpong/two-blocks", PINGPONG, { 1, 2, 256 }, 3 },
};

static void check(const WsProgram *p, const WsRehearseOptions *options)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    WsRehearseResult *r = ws_rehearse(p, options, findings, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(r->stuck, ==, NULL);
    g_assert_cmpstr(r->first_violation, ==, NULL);
    g_assert_cmpstr(r->first_race, ==, NULL);
    g_assert_cmpstr(r->first_wrong, ==, NULL);
    g_assert_cmpuint(r->elements, >, 0);
    g_assert_true(r->matches);
    ws_rehearse_result_free(r);
}

static WsProgram *elaborate(const WsDesign *design, WsFindings *findings)
{
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        g_autofree char *text = ws_findings_print(findings, "attention");
        g_test_message("%s", text);
    }
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    return p;
}

static void test_sizes(gconstpointer data)
{
    static const char *const fa3[] = { "B", "HQ", "HKV", "SQ", "SK" };
    static const char *const tle[] = { "Z", "H", "N_CTX" };
    const Case *c = data;
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, c->file, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_autoptr(WsProgram) p = elaborate(design, findings);
    WsRehearseOptions options = {
        .seed = 7, .size_name = c->n_size == 5 ? fa3 : tle, .size = c->size, .n_size = c->n_size
    };
    check(p, &options);
}

/* `o = o*alpha` is skipped by a warp whose maxima all stayed: right, and the products stay
 * asynchronous around the branch. */
static void test_lazy_rescale(void)
{
    static const char *const from = "            { \"compute\": [\n              \"p = "
                                    "bf16(s)\",\n              \"o = o*alpha\"\n"
                                    "            ], \"note\": \"p is defined only after the wait "
                                    "that retires the PV that reads "
                                    "it\" }\n";
    static const char *const to = "{ \"compute\": \"p = bf16(s)\" },\n"
                                  "{ \"compute\": \"o = o*alpha\", \"unless\": \"alpha == 1\" }\n";
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, CAUSAL, NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, &error));
    char *at = strstr(text, from);
    g_assert_nonnull(at);
    g_autofree char *lazy =
        g_strdup_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(lazy, strlen(lazy), file, findings);
    g_autoptr(WsProgram) p = elaborate(design, findings);
    WsRehearseOptions options = { .seed = 2 };
    check(p, &options);
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(ptx, "vote.sync.all.pred"));
    if (!ws_ptxas_available())
        return;
    WsPtxasReport *r = ws_ptxas_run(ptx, NULL, &error);
    g_assert_no_error(error);
    if (!ws_ptxas_report_clean(r))
        g_test_message("%s", r->log);
    g_assert_true(ws_ptxas_report_clean(r));
    ws_ptxas_report_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strconcat("/attention/", cases[i].name, NULL);
        g_test_add_data_func(path, &cases[i], test_sizes);
    }
    g_test_add_func("/attention/lazy-rescale", test_lazy_rescale);
    return g_test_run();
}
