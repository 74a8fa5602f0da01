/* `one_code`: replicas that differ in many ways run one code, and compute what they computed with a
 * code each; what cannot be joined is refused by name. The reference of the rehearsal is written by
 * hand. */
#include "../whole.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/agent.h"
#include "program/program.h"

#include <string.h>

/* y starts at 0, x is a tile of X; replicas - 1 = 2, KT = 5. */
typedef struct {
    const char *name, *body, *y, *refused;
} Case;

static const Case cases[] = {
    { "same", "{ \"compute\": \"y = y + x\" }", "X[i,j]", NULL },
    { "constant", "{ \"compute\": \"y = x + f32(replica*2 - 3)\" }", "X[i,j] + (R*2 - 3)", NULL },
    { "zero-first", "{ \"compute\": \"y = x*f32(replica)\" }", "X[i,j]*R", NULL },
    { "no-line",
      "{ \"let\": \"q\", \"be\": \"select(replica == 1, 50 - m, replica*7)\" }, "
      "{ \"compute\": \"y = x + f32(q)\" }",
      "X[i,j] + select(R == 1, 50 - i/192, R*7)", NULL },
    { "rounds",
      "{ \"for\": \"k\", \"count\": \"KT + replica\", \"do\": [ { \"compute\": \"y = y + x\" } ] }",
      "X[i,j]*(5 + R)", NULL },
    { "rounds-fewer-than-none",
      "{ \"for\": \"k\", \"count\": \"KT - 3*replica\", \"do\": [ { \"compute\": \"y = y + x\" } ] "
      "}",
      "X[i,j]*max(5 - 3*R, 0)", "other steps" },
    { "rounds-from-step",
      "{ \"for\": \"k\", \"count\": \"KT\", \"from\": \"replica\", \"step\": \"replicas\", \"do\": "
      "[ "
      "{ \"compute\": \"y = y + x*f32(k)\" } ] }",
      "X[i,j]*(5*R + 30)", NULL },
    { "nested",
      "{ \"for\": \"k\", \"count\": \"replica + 1\", \"do\": [ { \"for\": \"l\", \"count\": \"k + "
      "replica\", "
      "\"do\": [ { \"compute\": \"y = y + x\" } ] } ] }",
      "X[i,j]*sum(k < 3, select(k <= R, k + R, 0))", "other steps" },
    { "wraps",
      "{ \"let\": \"q\", \"be\": \"replica*1500000000 % 1000\" }, { \"compute\": \"y = x + "
      "f32(q)\" }",
      "X[i,j]", NULL },
    { "counter",
      "{ \"compute\": \"y = x + f32(n)\" }, { \"advance\": \"n\", \"by\": \"replica + 1\" }",
      "X[i,j] + R*3", NULL },
    { "condition",
      "{ \"compute\": \"y = x\" }, { \"compute\": \"y = y + 1\", \"when\": \"m % 3 == replica\" }",
      "X[i,j] + select((i/192) % 3 == R, 1, 0)", NULL },
    { "one-has-a-step",
      "{ \"compute\": \"y = x\" }, { \"compute\": \"y = y + 1\", \"when\": \"replica == 1\" }",
      "X[i,j] + select(R == 1, 1, 0)", "other steps" },
    { "one-has-a-loop",
      "{ \"compute\": \"y = x\" }, { \"for\": \"k\", \"count\": \"KT\", \"when\": \"replica == "
      "2\", \"do\": [ "
      "{ \"compute\": \"y = y + x\" } ] }",
      "X[i,j]*select(R == 2, 6, 1)", "other steps" },
    { "either-or",
      "{ \"if\": \"replica > 0\", \"then\": [ { \"compute\": \"y = x\" } ], \"else\": [ "
      "{ \"compute\": \"y = x*3\" } ] }",
      "X[i,j]*select(R > 0, 1, 3)", NULL },
    { "barrier-of-two",
      "{ \"compute\": \"y = x\" }, { \"arrive\": \"pair[0]\", \"when\": \"replica == 2\" }, "
      "{ \"sync\": \"pair[0]\", \"when\": \"replica == 0\" }, "
      "{ \"arrive\": \"pair[1]\", \"when\": \"replica == 0\" }, "
      "{ \"sync\": \"pair[1]\", \"when\": \"replica == 2\" }",
      "X[i,j]", NULL },
    { "barrier-in-a-loop",
      "{ \"for\": \"k\", \"count\": \"KT\", \"do\": [ { \"sync\": \"turn[replica]\", \"when\": \"k "
      "> 0 || replica > 0\" }, "
      "{ \"compute\": \"y = y + x\" }, { \"arrive\": \"turn[(replica + 1) % 3]\", \"when\": \"k < "
      "KT - 1 || replica < 2\" } ] }",
      "X[i,j]*5", "other steps" },
};

static char *text_of(const Case *c, gboolean one)
{
    /* R in a reference: the replica that has row i */
    g_auto(GStrv) part = g_strsplit(c->y, "R", -1);
    g_autofree char *y = g_strjoinv("((i/64) % 3)", part);
    return g_strdup_printf(
        "{ \"warpstave\": 1, \"name\": \"replicas\", \"target\": \"sm_90a\",\n"
        "  \"sizes\": { \"M\": 600, \"KT\": 5 }, \"assume\": [\"KT == 5\"],\n"
        "  \"tensors\": [ { \"name\": \"X\", \"dtype\": \"f32\", \"shape\": [\"M\", 8] },\n"
        "    { \"name\": \"Y\", \"dtype\": \"f32\", \"shape\": [\"M\", 8], \"access\": \"write\" } "
        "],\n"
        "  \"reference\": [\"Y[i,j] = 0.0 + %s\"],\n"
        "  \"tiles\": { \"axes\": { \"m\": \"cdiv(M, 192)\" }, \"launch\": \"single\" },\n"
        "  \"barriers\": [ { \"name\": \"pair\", \"kind\": \"named\", \"array\": 2, \"threads\": "
        "256 },\n"
        "    { \"name\": \"turn\", \"kind\": \"named\", \"array\": 3, \"threads\": 256 } ],\n"
        "  \"groups\": [ { \"name\": \"w\", \"role\": \"worker\", \"warps\": 4, \"replicate\": 3, "
        "\"one_code\": %s,\n"
        "    \"values\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"tile\": [64, 8] },\n"
        "      { \"name\": \"y\", \"dtype\": \"f32\", \"tile\": [64, 8] } ],\n"
        "    \"counters\": [ { \"name\": \"n\", \"start\": \"replica*3\" } ],\n"
        "    \"body\": [\n"
        "      { \"read\": \"x\", \"from\": \"X\", \"at\": [\"m*192 + replica*64\", 0] },\n"
        "      { \"compute\": \"y = x*0\" },\n      %s,\n"
        "      { \"write\": \"y\", \"to\": \"Y\", \"at\": [\"m*192 + replica*64\", 0] } ] } ] }\n",
        y, one ? "true" : "false", c->body);
}

static WsProgram *program_of(WsDesign *d, WsFindings *findings)
{
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        g_autofree char *report = ws_findings_print(findings, "case");
        g_error("%s", report);
    }
    g_assert_nonnull(p);
    return p;
}

static WsProgram *case_of(const Case *c, gboolean one)
{
    g_autofree char *text = text_of(c, one);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), c->name, findings);
    return program_of(d, findings);
}

static guint count(const char *text, const char *what)
{
    guint n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

static void rehearse(const WsProgram *p)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    WsRehearseResult *r = ws_rehearse(p, &(WsRehearseOptions){ .seed = 5 }, findings, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(r->stuck, ==, NULL);
    g_assert_cmpstr(r->first_violation, ==, NULL);
    g_assert_cmpstr(r->first_race, ==, NULL);
    g_assert_cmpstr(r->first_wrong, ==, NULL);
    g_assert_true(r->matches);
    ws_rehearse_result_free(r);
}

static void test_case(gconstpointer data)
{
    const Case *c = data;
    g_autoptr(WsProgram) one = case_of(c, TRUE), each = case_of(c, FALSE);
    g_autoptr(GError) error = NULL;
    g_autofree char *separate = ws_generate_ptx(each, NULL, &error);
    g_assert_no_error(error);
    rehearse(each);
    g_autofree char *joined = ws_generate_ptx(one, NULL, &error);
    if (c->refused) {
        g_assert_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP);
        g_assert_nonnull(strstr(error->message, "groups/w"));
        g_assert_nonnull(strstr(error->message, c->refused));
        return;
    }
    g_assert_no_error(error);
    rehearse(one);
    const guint stores = count(separate, "st.global");
    g_assert_cmpuint(stores, >, 0);
    g_assert_cmpuint(3 * count(joined, "st.global"), ==, stores);
}

static WsDesign *edited(const WsDesign *d, const char *group, gboolean one, WsFindings *findings)
{
    g_autofree char *text =
        g_strdup_printf("set groups/%s one_code %s", group, one ? "true" : "false");
    g_autoptr(GError) error = NULL;
    g_autoptr(WsEdit) edit = ws_edit_parse(text, &error);
    g_assert_no_error(error);
    return ws_design_apply(d, edit, findings);
}

/* Computes what it should, and builds that name agents do not join them. */
static void seen(const WsProgram *one, const char *separate)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *watched =
        ws_generate_ptx(one, &(WsGenerateOptions){ .debug_waits = TRUE }, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(count(watched, "wgmma.mma_async"), ==, count(separate, "wgmma.mma_async"));
    const guint cta = 0;
    WsRecordChoice choice = { .rounds = 64, .tiles = 4, .n_ctas = 1, .cta = &cta };
    g_autoptr(WsRecorder) recorder = ws_recorder_new(one, &choice);
    g_autofree char *traced =
        ws_generate_ptx(one, &(WsGenerateOptions){ .recorder = recorder }, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(count(traced, "wgmma.mma_async"), ==, count(separate, "wgmma.mma_async"));
    rehearse(one);
}

/* Every build of a design with replicas holds each product once. */
static void test_shipped(gconstpointer file)
{
    static const char *const group[] = { "mma", "math" };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(file, findings);
    g_assert_nonnull(d);
    WsDesign *with = NULL, *without = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(group) && !with; i++) {
        g_autoptr(WsFindings) ignored = ws_findings_new();
        with = edited(d, group[i], TRUE, ignored);
        without = edited(d, group[i], FALSE, ignored);
    }
    g_assert_nonnull(with);
    g_autoptr(WsProgram) one = program_of(with, findings), each = program_of(without, findings);
    g_autoptr(GError) error = NULL;
    g_autofree char *separate = ws_generate_ptx(each, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *joined = ws_generate_ptx(one, NULL, &error);
    g_assert_no_error(error);
    guint replicas = 0;
    for (guint i = 0; i < one->n_agents; i++)
        replicas = MAX(replicas, one->agent[i].one_code ? one->agent[i].replicas : 0);
    g_assert_cmpuint(replicas, >, 1);
    g_assert_cmpuint(replicas * count(joined, "wgmma.mma_async"), ==,
                     count(separate, "wgmma.mma_async"));
    if (strstr(file, "pingpong"))
        seen(one, separate);
    ws_design_unref(with);
    ws_design_unref(without);
}

static const char *const shipped[] = {
    "gemm-bf16",      "gemm-bf16-pingpong",  "gemm-bf16-deferred", "gemm-fp8-block",
    "attention-d256", "attention-d128-full", "attention-d64",      "attention-window",
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strconcat("/replicas/", cases[i].name, NULL);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    for (guint i = 0; i < G_N_ELEMENTS(shipped); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strconcat("/replicas/", shipped[i], NULL);
        g_test_add_data_func_full(path, g_strdup_printf("projects/%s/design.wstave", shipped[i]),
                                  test_shipped, g_free);
    }
    return g_test_run();
}
