/* Exports of what the shipped exports are not: other operand types, head dimension 256, other
 * values of constants. All come back proved. A design that a language cannot say is told which
 * constant would help, if that was shown, and nothing otherwise. */
#include "../import/judged.h"
#include "base/phrase.h"
#include "check/check.h"
#include "codegen/generate.h"
#include "codegen/python/python.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

typedef char *(*Export)(const WsProgram *p, gboolean remarks, const WsPyJudge *judge,
                        GError **error);

static const struct {
    const char *name;
    Export export;
    WsImportFrom from;
} language[] = {
    { "gluon", ws_generate_gluon, WS_IMPORT_GLUON },
    { "tle", ws_generate_tle, WS_IMPORT_TLE },
    { "tlx", ws_generate_tlx, WS_IMPORT_TLX },
};

/* A design after replacements in its text ("from", "to", …, NULL), with a constant of its own. */
typedef struct {
    const char *name, *design, *change[9], *constant;
    gint64 value;
    const char *mentions[3]; /* in the texts of the languages; NULL: refused there */
} Kind;

#define OPERANDS(type)                                                                             \
    {                                                                                              \
        "\"A\", \"dtype\": \"bf16\"", "\"A\", \"dtype\": \"" type "\"",                            \
            "\"B\", \"dtype\": \"bf16\"", "\"B\", \"dtype\": \"" type "\"",                        \
            "\"a\", \"dtype\": \"bf16\"", "\"a\", \"dtype\": \"" type "\"",                        \
            "\"b\", \"dtype\": \"bf16\"", "\"b\", \"dtype\": \"" type "\"", NULL                   \
    }

static const Kind kinds[] = {
    { "f16",
      "projects/gemm-bf16/design",
      OPERANDS("f16"),
      NULL,
      0,
      { "gl.float16", "tl.float16", "tl.float16" } },
    { "e4m3",
      "projects/gemm-bf16/design",
      OPERANDS("e4m3"),
      "BK",
      128,
      { "gl.float8e4nv", "tl.float8e4nv", "tl.float8e4nv" } },
    { "e5m2",
      "projects/gemm-bf16/design",
      OPERANDS("e5m2"),
      "BK",
      128,
      { "gl.float8e5", "tl.float8e5", "tl.float8e5" } },
    { "d256",
      "projects/attention-d256/design",
      { NULL },
      "BN",
      64,
      { "[STAGES, 64, 256]", NULL, "(64, 256)" } },
    { "d256-causal",
      "projects/attention-d256/design",
      { "\"CAUSAL\": 0", "\"CAUSAL\": 1", NULL },
      "BN",
      64,
      { "[STAGES, 64, 256]", NULL, "(64, 256)" } },
    { "fa3-full",
      "tests/designs/attention-fa3-full",
      { NULL },
      "BN",
      128,
      { "128", "128", "128" } },
    /* elements of a tile: one by one they come from no tile in any of them */
    { "fp8-block", "projects/gemm-fp8-block/design", { NULL }, "BN", 128, { NULL } },
};

static WsProgram *program_of(const Kind *k)
{
    g_autofree char *path = g_strdup_printf("%s/%s.wstave", WS_SOURCE_ROOT, k->design);
    g_autofree char *all = NULL;
    g_assert_true(g_file_get_contents(path, &all, NULL, NULL));
    g_autoptr(GString) text = g_string_new(all);
    for (guint i = 0; k->change[i]; i += 2)
        g_assert_cmpuint(g_string_replace(text, k->change[i], k->change[i + 1], 0), ==, 1);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text->str, text->len, path, findings);
    const WsSetting set = { k->constant, k->value };
    WsProgram *p = d ? ws_elaborate(d, &set, k->constant ? 1 : 0, findings) : NULL;
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    return p;
}

static void test_kind(gconstpointer data)
{
    const Kind *k = data;
    g_autoptr(WsProgram) p = program_of(k);
    for (guint i = 0; i < G_N_ELEMENTS(language); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = language[i].export(p, FALSE, NULL, &error);
        if (!k->mentions[i]) {
            g_assert_null(text);
            g_assert_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP);
            g_assert_nonnull(ws_generate_refusal(error)->remedy);
            continue;
        }
        g_assert_no_error(error);
        g_assert_nonnull(strstr(text, k->mentions[i]));
        g_assert_true(is_proved(text, language[i].from));
    }
}

/* --- advice ------------------------------------------------------------------------------------*/

static gboolean proved(const WsProgram *p, gpointer unused)
{
    (void)unused;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    return v->kind == WS_VERDICT_PROVED && !ws_findings_count(findings, WS_SEVERITY_ERROR);
}

static gboolean never(const WsProgram *p, gpointer unused)
{
    (void)p, (void)unused;
    return FALSE;
}

static const struct {
    const char *name, *design;
    guint language;
    gboolean (*shown)(const WsProgram *p, gpointer data);
    const char *advice;
} advised[] = {
    { "d256-tle", "projects/attention-d256/design", 1, proved, NULL }, /* it is not the shape */
    /* written with BS=256, but the design divides by BN - BS */
    { "fp16-tle", "projects/gemm-fp16/design", 1, proved, NULL },
    { "cluster", "projects/gemm-bf16-cluster2/design", 0, proved, NULL },
    { "not-shown", "projects/attention-d256/design", 0, never, NULL },
    { "pinned", "projects/attention-d256/design", 0, NULL, NULL },
};

static void test_advice(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    const Kind k = { .design = advised[i].design };
    g_autoptr(WsProgram) p = program_of(&k);
    const WsPyJudge judge = { advised[i].shown, NULL };
    g_autoptr(GError) error = NULL;
    g_autofree char *text =
        language[advised[i].language].export(p, FALSE, advised[i].shown ? &judge : NULL, &error);
    g_assert_null(text);
    g_test_message("%s", error->message);
    const WsRefusal *r = ws_generate_refusal(error);
    g_autofree char *remedy = ws_phrase_text(r->remedy, NULL, NULL);
    g_assert_cmpint(strstr(error->message, "--set ") != NULL, ==, advised[i].advice != NULL);
    g_assert_true(g_str_has_suffix(error->message, remedy));
    if (advised[i].advice)
        g_assert_nonnull(strstr(remedy, advised[i].advice));
}

/* What is only proposed is proved and not rehearsed, which takes longer, and says so. */
static void test_proposed(void)
{
    const Kind k = { .design = "projects/attention-d256/design" };
    const WsPyJudge judge = { never, NULL, proved }, none = { never, NULL, never };
    g_autoptr(WsProgram) p = program_of(&k);
    g_autoptr(GError) error = NULL, refused = NULL;
    g_assert_null(language[0].export(p, FALSE, &judge, &error));
    g_assert_true(g_str_has_suffix(
        error->message, "with --set BN=64 it can be written and is proved (not rehearsed)"));
    g_assert_null(language[0].export(p, FALSE, &none, &refused));
    g_assert_null(strstr(refused->message, "--set"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autofree char *path = g_strdup_printf("/kinds/%s", kinds[i].name);
        g_test_add_data_func(path, &kinds[i], test_kind);
    }
    for (guint i = 0; i < G_N_ELEMENTS(advised); i++) {
        g_autofree char *path = g_strdup_printf("/kinds/advice/%s", advised[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_advice);
    }
    g_test_add_func("/kinds/advice/proposed", test_proposed);
    return g_test_run();
}
