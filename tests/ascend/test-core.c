/* A core by queues: the designs are proved, and what is wrong with each of their kin is said of the
 * right step. */
#include "ascend/designs.h"
#include "check/check.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"

#define IN "          { \"arrive\": \"filled\", \"use\": \"k\" },\n"
#define SUM                                                                                        \
    "          { \"vector\": \"add\", \"a\": \"x\", \"b\": \"y\", \"into\": \"z\", \"use\": "      \
    "\"k\" },\n"

static const struct {
    const char *what, *design;
    AscendChange change[4];
    const char *rule, *at; /* of the first error; rule NULL: proved */
} kin[] = {
    { "vector add", "vector-add", { { 0 } }, NULL, NULL },
    { "GEMM", "cube-gemm", { { 0 } }, NULL, NULL },
    { "UB is written again before its copy out",
      "vector-add",
      { { "          { \"arrive\": \"stored\", \"use\": \"s\" }\n", "" },
        { "\"use\": \"s\" },\n", "\"use\": \"s\" }\n" },
        { "          { \"wait\": \"stored\", \"use\": \"k\" },\n", "" },
        { ",\n          { \"arrive\": \"stored\", \"use\": \"k + S\" }", "" } },
      "P-DL",
      "groups/core/body/2/do/1" },
    { "no wait before the copy out's slot is written",
      "vector-add",
      { { "          { \"wait\": \"stored\", \"use\": \"k\" },\n" SUM,
          SUM "          { \"wait\": \"stored\", \"use\": \"k\" },\n" } },
      "P-RACE",
      "groups/core/body/1/do/5" },
    { "no wait for the copy in",
      "vector-add",
      { { "          { \"wait\": \"filled\", \"use\": \"k\" },\n", "" } },
      "P-RACE",
      "groups/core/body/1/do/5" },
    { "a wait of the queue that needs none",
      "vector-add",
      { { "          { \"wait\": \"summed\", \"use\": \"k\" },\n", "" } },
      "P-UNDEF",
      "groups/core/body/1/do/9" },
    { "a flag set twice", "vector-add", { { IN, IN IN } }, "P-FLAG", "groups/core/body/1/do/4" },
    { "a flag set again before its wait",
      "vector-add",
      { { "          { \"wait\": \"free\", \"use\": \"k\" },\n", "" } },
      "P-FLAG",
      "groups/core/body/1/do/6" },
    { "one set, waited for twice",
      "vector-add",
      { { "          { \"wait\": \"filled\", \"use\": \"k\" },\n",
          "          { \"wait\": \"filled\", \"use\": \"k\" },\n"
          "          { \"wait\": \"filled\", \"use\": \"k\" },\n" } },
      "P-DL",
      NULL },
    { "a wait in one branch only",
      "vector-add",
      { { "{ \"wait\": \"stored\", \"use\": \"k\" }",
          "{ \"if\": \"k % 2 == 0\", \"then\": [ { \"wait\": \"stored\", \"use\": \"k\" } ] }" } },
      "P-FLAG",
      "groups/core/body/1/do/11" },
    { "a flag never set",
      "vector-add",
      { { "          { \"arrive\": \"free\", \"use\": \"s\" },\n", "" } },
      "P-DL",
      "groups/core/body/2/do/0" },
    { "a flag left up",
      "vector-add",
      { { "          { \"wait\": \"free\", \"use\": \"k.total + r\" },\n", "" } },
      "P-FLAG",
      NULL },
    { "L0C is read before the product is over",
      "cube-gemm",
      { { "        { \"arrive\": \"done\", \"use\": 0 },\n        { \"wait\": \"done\", \"use\": 0 "
          "},\n",
          "" } },
      "P-UNDEF",
      "groups/core/body/2" },
    { "L0C is read while the last product runs",
      "cube-gemm",
      { { "          { \"arrive\": \"moved\", \"use\": \"k\" },\n",
          "          { \"arrive\": \"moved\", \"use\": \"k\" },\n"
          "          { \"if\": \"k == kt - 1\", \"then\": [ { \"arrive\": \"done\", \"use\": 0 } ] "
          "},\n" },
        { "        { \"arrive\": \"done\", \"use\": 0 },\n", "" } },
      "P-UNDEF",
      NULL },
    { "no barrier between products of the same sums",
      "cube-gemm",
      { { "          { \"sync\": \"M\" },\n", "" } },
      "P-RACE",
      "groups/core/body/1/do/11" },
    { "a barrier of another queue",
      "cube-gemm",
      { { "\"sync\": \"M\"", "\"sync\": \"MTE1\"" } },
      "P-RACE",
      "groups/core/body/1/do/11" },
    { "a barrier of all queues will do",
      "cube-gemm",
      { { "\"sync\": \"M\"", "\"sync\": \"group\"" } },
      NULL,
      NULL },
    { "a product adds to what nobody wrote",
      "cube-gemm",
      { { ", \"first\": \"k == 0\"", "" } },
      "P-UNDEF",
      "groups/core/body/1/do/11" },
    { "UB is full", "vector-add", { { "\"BN\": 8192", "\"BN\": 8200" } }, "B-SHARED", "buffers/x" },
    { "L0C is full",
      "cube-gemm",
      { { "\"BM\": 128, \"BN\": 128", "\"BM\": 256, \"BN\": 160" } },
      "B-SHARED",
      "buffers/c0" },
    { "more flags than ids",
      "vector-add",
      { { "\"BN\": 8192, \"S\": 2", "\"BN\": 512, \"S\": 9" } },
      "B-BARRIERS",
      "barriers/filled" },
    { "a move that the core has not",
      "cube-gemm",
      { { "{ \"move\": \"a1\", \"into\": \"a0\"", "{ \"move\": \"a0\", \"into\": \"a1\"" } },
      "L-QUEUE",
      "groups/core/body/1/do/6" },
    { "flags that the core has not",
      "cube-gemm",
      { { "\"from\": \"M\", \"to\": \"FIX\"", "\"from\": \"MTE1\", \"to\": \"FIX\"" } },
      "L-QUEUE",
      "barriers/done" },
    { "a step of the vector core among those of the cube core",
      "cube-gemm",
      { { "{ \"sync\": \"M\" },", "{ \"sync\": \"M\" }, { \"sync\": \"V\" }," } },
      "L-QUEUE",
      "groups/core" },
    { "an operand in the wrong space",
      "cube-gemm",
      { { "\"a\": \"a0\"", "\"a\": \"a1\"" } },
      "L-QUEUE",
      "groups/core/body/1/do/11" },
    { "a buffer without a space",
      "cube-gemm",
      { { "\"tile\": [\"BM\", \"BN\"], \"space\": \"L0C\"", "\"tile\": [\"BM\", \"BN\"]" } },
      "L-QUEUE",
      "buffers/c0" },
    { "a flag that starts up",
      "cube-gemm",
      { { "\"kind\": \"flag\", \"slots\": \"S\", \"from\": \"MTE2\"",
          "\"kind\": \"flag\", \"init\": \"ready\", \"slots\": \"S\", \"from\": \"MTE2\"" } },
      "L-QUEUE",
      "barriers/filled" },
    { "an mbarrier",
      "cube-gemm",
      { { "\"kind\": \"flag\", \"from\": \"M\", \"to\": \"FIX\"", "\"slots\": 1" } },
      "L-QUEUE",
      "barriers/done" },
    { "four warps", "cube-gemm", { { "\"warps\": 1", "\"warps\": 4" } }, "L-QUEUE", "groups/core" },
    { "rows that are no multiple of 32 bytes",
      "cube-gemm",
      { { "\"BK\": 64", "\"BK\": 40" } },
      "L-QUEUE",
      "buffers/a1" },
    { "a step of GPUs",
      "vector-add",
      { { SUM, "          { \"fence\": \"async\" },\n" SUM } },
      "L-LENS",
      "groups/core/body/1/do/6" },
    { "a flag on a GPU",
      "vector-add",
      { { "\"target\": \"ascend\"", "\"target\": \"sm_90a\"" } },
      "L-QUEUE",
      NULL },
};

static void test_kin(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(kin); i++) {
        g_autofree char *text = ascend_text(kin[i].design, kin[i].change, 4);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), NULL, findings);
        g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
        g_autoptr(WsVerdict) v = p ? ws_check(p, NULL, findings) : NULL;
        const WsFinding *first = NULL;
        for (guint k = 0; k < findings->list->len && !first; k++) {
            const WsFinding *f = findings->list->pdata[k];
            first = f->severity == WS_SEVERITY_ERROR ? f : NULL;
        }
        if (!kin[i].rule) {
            if (!v || v->kind != WS_VERDICT_PROVED || first)
                g_error("%s: %s", kin[i].what, first ? first->message : "not proved");
            continue;
        }
        if (!first) /* what elaboration refuses is no matter of the verdict */
            g_error("%s: proved", kin[i].what);
        if (!first || strcmp(ws_rule(first->rule)->text, kin[i].rule) != 0 ||
            (kin[i].at && g_strcmp0(first->at, kin[i].at) != 0))
            g_error("%s: %s at %s: %s", kin[i].what, first ? ws_rule(first->rule)->text : "-",
                    first ? first->at : "-", first ? first->message : "-");
    }
}

/* Who does what: one agent for each queue, the steps in the order of the stream. */
static void test_queues(void)
{
    static const char *const want[] = { "core.MTE2", "core.MTE1", "core.M", "core.FIX" };
    g_autofree char *text = ascend_text("cube-gemm", NULL, 0);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ascend_program(text, findings);
    g_assert_nonnull(p);
    g_assert_cmpuint(p->n_agents, ==, G_N_ELEMENTS(want));
    for (guint i = 0; i < p->n_agents; i++)
        g_assert_cmpstr(p->agent[i].name, ==, want[i]);
    guint cubes = 0, flags = 0;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->kind != WS_OP_CUBE)
            continue;
        cubes++; /* with sums to begin, and with sums to add to */
        g_assert_cmpstr(p->agent[op->agent].name, ==, "core.M");
    }
    for (guint i = 0; i < p->n_barriers; i++)
        flags += p->barrier[i].flag;
    g_assert_cmpuint(cubes, ==, 2);
    g_assert_cmpuint(flags, ==, 5);
}

/* No certificate speaks of flags. */
static void test_certificate(void)
{
    g_autofree char *text = ascend_text("cube-gemm", NULL, 0);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ascend_program(text, findings);
    g_autoptr(WsVerdict) v = ws_check(p, &(WsCheckOptions){ .certificate = TRUE }, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
    g_assert_null(v->certificate);
    g_assert_nonnull(strstr(v->uncertified, "ascend"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ascend/kin", test_kin);
    g_test_add_func("/ascend/queues", test_queues);
    g_test_add_func("/ascend/certificate", test_certificate);
    return g_test_run();
}
