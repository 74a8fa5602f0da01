/* The attention designs rehearsed at the sizes where masks, ragged tiles and peeled rounds go
 * wrong: one query, one more and one less than a block, more keys than queries, grouped queries.
 * And the lazy rescale, which puts a branch between products. */
#include "../whole.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

#define CAUSAL   "tests/designs/attention-fa3-causal.wstave"
#define DYNAMIC  "tests/designs/attention-fa3-dynamic.wstave"
#define FULL     "tests/designs/attention-fa3-full.wstave"
#define PINGPONG "tests/designs/attention-tle-pingpong.wstave"
#define D64      "projects/attention-d64/design.wstave"
#define D128     "projects/attention-d128/design.wstave"
#define D256     "projects/attention-d256/design.wstave"
#define FP8      "projects/attention-fp8/design.wstave"
#define WINDOW   "projects/attention-window/design.wstave"
#define SEEN                                                                                       \
    {                                                                                              \
        {                                                                                          \
            "CAUSAL", 1                                                                            \
        }                                                                                          \
    }

typedef struct {
    const char *name, *file;
    gint64 size[6]; /* B, HQ, HKV, SQ, SK, W; or Z, H, N_CTX */
    guint n_size;
    WsSetting set[3];
} Case;

static const Case cases[] = {
    { "causal/one-query", CAUSAL, { 1, 1, 1, 1, 1 }, 5 },
    { "causal/grouped-8", CAUSAL, { 1, 8, 1, 17, 17 }, 5 },
    { "causal/decode", CAUSAL, { 1, 2, 2, 1, 300 }, 5 },
    { "causal/block-and-one", CAUSAL, { 1, 1, 1, 129, 129 }, 5 },
    { "dynamic/one-query", DYNAMIC, { 1, 1, 1, 1, 1 }, 5 },
    { "causal/more-keys", CAUSAL, { 1, 2, 1, 200, 392 }, 5 },
    { "causal/one-key-more", CAUSAL, { 2, 1, 1, 127, 128 }, 5 },
    { "dynamic/block-and-one", DYNAMIC, { 1, 2, 1, 129, 130 }, 5 },
    { "full/one-key", FULL, { 1, 1, 1, 200, 1 }, 5 },
    { "full/grouped-8", FULL, { 1, 8, 1, 17, 17 }, 5 },
    { "full/block-and-one", FULL, { 1, 1, 1, 129, 177 }, 5 },
    { "pingpong/one-block", PINGPONG, { 1, 1, 128 }, 3 },
    { "pingpong/two-blocks", PINGPONG, { 1, 2, 256 }, 3 },
    { "d64/one-key", D64, { 1, 8, 1, 1, 1 }, 5 },
    { "d64/grouped-8", D64, { 1, 8, 1, 17, 17 }, 5 },
    { "d64/fewer-keys", D64, { 1, 2, 1, 200, 70 }, 5 },
    { "d64/causal/one-query", D64, { 1, 8, 1, 1, 1 }, 5, SEEN },
    { "d64/causal/block-and-one", D64, { 1, 2, 1, 193, 193 }, 5, SEEN },
    { "d64/causal/rows-without-keys", D64, { 1, 2, 1, 200, 70 }, 5, SEEN },
    { "d64/causal/decode", D64, { 1, 2, 2, 1, 300 }, 5, SEEN },
    { "d64/causal/ordered-softmax",
      D64,
      { 1, 2, 1, 130, 257 },
      5,
      { { "CAUSAL", 1 }, { "LOCK", 1 }, { "BM", 128 } } },
    { "d128/grouped-8", D128, { 1, 8, 1, 17, 17 }, 5 },
    { "d128/block-and-one", D128, { 1, 1, 1, 129, 129 }, 5 },
    { "d128/causal/one-key-more", D128, { 1, 2, 1, 127, 128 }, 5, SEEN },
    { "d128/causal/rows-without-keys", D128, { 1, 2, 1, 150, 70 }, 5, SEEN },
    { "d128/causal/more-keys", D128, { 1, 2, 1, 70, 400 }, 5, SEEN },
    { "d256/block-and-one", D256, { 1, 1, 1, 129, 81 }, 5 },
    { "d256/causal/block-and-one", D256, { 1, 2, 1, 81, 81 }, 5, SEEN },
    { "d256/causal/rows-without-keys", D256, { 1, 1, 1, 150, 70 }, 5, SEEN },
    { "fp8/one-key", FP8, { 1, 2, 1, 130, 1 }, 5 },
    { "fp8/block-and-one", FP8, { 1, 2, 1, 129, 193 }, 5 },
    { "fp8/wide", FP8, { 1, 1, 1, 70, 500 }, 5, { { "BN", 224 }, { "VSTAGES", 1 } } },
    { "fp8/causal/block-and-one", FP8, { 1, 2, 1, 193, 193 }, 5, SEEN },
    { "fp8/causal/rows-without-keys",
      FP8,
      { 1, 2, 1, 150, 70 },
      5,
      { { "CAUSAL", 1 }, { "BN", 128 }, { "LATE", 0 } } },
    { "fp8/causal/three-groups",
      FP8,
      { 1, 2, 1, 200, 290 },
      5,
      { { "CAUSAL", 1 }, { "BM", 192 }, { "BN", 96 } } },
    { "window/one-key", WINDOW, { 1, 2, 1, 130, 130, 1 }, 6 },
    { "window/one-query", WINDOW, { 1, 1, 1, 1, 1, 1 }, 6, { { "CAP", 1 } } },
    { "window/a-block", WINDOW, { 1, 1, 1, 150, 300, 128 }, 6 },
    { "window/a-block-and-one", WINDOW, { 1, 1, 1, 129, 385, 129 }, 6, { { "SINKS", 1 } } },
    { "window/unmasked-between", WINDOW, { 1, 1, 1, 128, 640, 400 }, 6, { { "TURN", 0 } } },
    { "window/of-no-bound", WINDOW, { 1, 2, 1, 140, 140, 2147400000 }, 6 },
    { "window/rows-without-keys", WINDOW, { 1, 1, 1, 150, 70, 33 }, 6 },
    { "window/sinks-alone", WINDOW, { 1, 2, 1, 150, 3, 2 }, 6, { { "SINKS", 1 }, { "CAP", 1 } } },
    { "window/decode", WINDOW, { 1, 8, 2, 1, 300, 130 }, 6, { { "SINKS", 1 } } },
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

static WsProgram *elaborate(const WsDesign *design, const WsSetting *set, guint n,
                            WsFindings *findings)
{
    WsProgram *p = design ? ws_elaborate(design, set, n, findings) : NULL;
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
    static const char *const fa3[] = { "B", "HQ", "HKV", "SQ", "SK", "W" };
    static const char *const tle[] = { "Z", "H", "N_CTX" };
    const Case *c = data;
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, c->file, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    guint n_set = 0;
    while (n_set < G_N_ELEMENTS(c->set) && c->set[n_set].name)
        n_set++;
    g_autoptr(WsProgram) p = elaborate(design, c->set, n_set, findings);
    WsRehearseOptions options = {
        .seed = 7, .size_name = c->n_size >= 5 ? fa3 : tle, .size = c->size, .n_size = c->n_size
    };
    check(p, &options);
}

static WsRehearseResult *changed(const char *const *from, const char *const *to,
                                 const WsSetting *set, guint n_set,
                                 const WsRehearseOptions *options)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, WINDOW, NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, &error));
    GString *other = g_string_new(text);
    for (guint i = 0; from[i]; i++)
        g_assert_cmpuint(g_string_replace(other, from[i], to[i], 0), >, 0);
    g_autofree char *now = g_string_free(other, FALSE);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(now, strlen(now), file, findings);
    g_autoptr(WsProgram) p = elaborate(design, set, n_set, findings);
    WsRehearseResult *r = ws_rehearse(p, options, findings, &error);
    g_assert_no_error(error);
    return r;
}

/* Scores of normal data stay far below a cap of 50, and a window that is off by one or a sink that
 * is left out moves few elements: each of these is seen, and the cap is right where it is felt. */
static void test_window_is_felt(void)
{
    static const char *const low[] = { "\"softcap\": 50", "\"softcap\": 1.25", NULL, NULL };
    static const struct {
        const char *from, *to;
        gint64 keys; /* of a window; a sink weighs as much as one key */
    } wrong[] = {
        { NULL, NULL, 300 },
        { "s = tanh(s*inner)", "s = s*inner", 300 },
        { "n >= 0 && n < w", "n >= 0 && n <= w", 300 },
        { "n >= 0 && n < w", "n >= 1 && n < w", 300 },
        { "j < open || j >= shut", "j < open", 300 },
        { "j < open || j >= shut", "j >= shut", 300 },
        { "cdiv(m*BM + BM + shift - w, BN)", "(m*BM + BM + shift - w)/BN", 300 },
        { "max(open, (m*BM + shift + 1)/BN)", "max(open, (m*BM + shift)/BN + 1)", 300 },
        { "rowsum(l)*f + select(t == -inf, 0, exp2(sink*log2e - t))", "rowsum(l)*f", 5 },
        { "\"at\": [\"h\"]", "\"at\": [0]", 5 },
    };
    static const char *const name[] = { "B", "HQ", "HKV", "SQ", "SK", "W" };
    const WsSetting set[] = { { "CAP", 1 }, { "SINKS", 1 } };
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        if (i && !test_takes(i, 4, 4))
            continue;
        const gint64 size[] = { 1, 2, 1, 128, 512, wrong[i].keys };
        WsRehearseOptions options = { .seed = 3, .size_name = name, .size = size, .n_size = 6 };
        const char *from[] = { low[0], wrong[i].from, NULL }, *to[] = { low[1], wrong[i].to };
        WsRehearseResult *r = changed(from, to, set, G_N_ELEMENTS(set), &options);
        g_test_message("%s: %s", wrong[i].to ? wrong[i].to : "right",
                       r->matches ? "right" : "wrong");
        g_assert_cmpint(r->matches, ==, i == 0);
        ws_rehearse_result_free(r);
    }
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
    g_autoptr(WsProgram) p = elaborate(design, NULL, 0, findings);
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

static guint occurrences(const char *text, const char *what)
{
    guint n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

/* Behind the cut of the loop the mask is gone: one for the first block and one for the masked loop,
 * 64 elements a thread, in each of two groups. */
static void test_mask_is_split_off(void)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, D128, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    const WsSetting seen[] = SEEN;
    for (guint causal = 0; causal < 2; causal++) {
        g_autoptr(WsProgram) p = elaborate(design, seen, causal, findings);
        g_autoptr(GError) error = NULL;
        g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
        g_assert_no_error(error);
        guint masks = occurrences(ptx, "0fFF800000"), least = causal ? 256 : 128;
        g_assert_cmpuint(masks, >=, least);
        g_assert_cmpuint(masks, <, least + 32);
    }
}

/* ptxas moves a wait for products above arithmetic that is drawn before it, unless something holds
 * that arithmetic; where it is drawn behind the wait nothing does. */
static void test_drawn_order(void)
{
    static const struct {
        const char *file;
        gboolean held;
    } design_of[] = { { FULL, TRUE }, { PINGPONG, TRUE }, { D128, FALSE } };
    for (guint i = 0; i < G_N_ELEMENTS(design_of); i++) {
        g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, design_of[i].file, NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_load(file, findings);
        g_autoptr(WsProgram) p = elaborate(design, NULL, 0, findings);
        g_autoptr(GError) error = NULL;
        g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpint(strstr(ptx, "pmevent") != NULL, ==, design_of[i].held);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strconcat("/attention/", cases[i].name, NULL);
        g_test_add_data_func(path, &cases[i], test_sizes);
    }
    g_test_add_func("/attention/window-is-felt", test_window_is_felt);
    g_test_add_func("/attention/lazy-rescale", test_lazy_rescale);
    g_test_add_func("/attention/mask-is-split-off", test_mask_is_split_off);
    g_test_add_func("/attention/drawn-order", test_drawn_order);
    return g_test_run();
}
