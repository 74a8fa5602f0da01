/* Mutants of the designs' texts (a flag or barrier left out, doubled or moved, a use one off): what
 * goes wrong in some order of the queues at few rounds (stream.c) is not proved; what goes right in
 * all is not refuted at those rounds. */
#include "ascend/designs.h"
#include "ascend/mutants.h"
#include "ascend/stream.h"
#include "check/check.h"

enum { MOST = 4 };

typedef struct {
    guint least; /* rounds from which the design is meant */
    guint mutants, unread, wrong, proved, refuted, other;
} Count;

static void judge(const char *text, const char *how, gpointer data)
{
    Count *n = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), NULL, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    n->mutants++;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        n->unread++;
        return;
    }
    g_autofree char *wrong = NULL;
    for (guint r = n->least; r <= MOST && !wrong; r++) {
        wrong = stream_wrong(d, r);
        if (wrong && *wrong == '?')
            g_error("%s: %s", how, wrong);
    }
    g_autoptr(WsVerdict) v =
        ws_check(p, &(WsCheckOptions){ .verdict_only = TRUE, .max_findings = 1 }, findings);
    n->wrong += wrong != NULL;
    n->proved += v->kind == WS_VERDICT_PROVED;
    n->refuted += v->kind == WS_VERDICT_REFUTED;
    if (wrong && v->kind == WS_VERDICT_PROVED)
        g_error("%s: proved, but %s", how, wrong);
    if (!wrong && v->kind == WS_VERDICT_REFUTED) { /* hardware counts no uses, the language does */
        if (!strstr(how, " for "))
            g_error("%s: refuted, and right in all orders", how);
        n->other++;
        g_test_message("%s: refuted, and no order of %d rounds shows it", how, MOST);
    }
}

static void mutate(const char *design, guint least)
{
    Count n = { .least = least };
    g_autofree char *text = ascend_text(design, NULL, 0);
    judge(text, "as it is", &n);
    g_assert_cmpuint(n.proved, ==, 1);
    g_assert_cmpuint(n.wrong, ==, 0);
    ascend_mutants(design, judge, &n);
    g_test_message(
        "%s: %u mutants, %u not read, %u wrong in some order, %u proved, %u refuted, %u of "
        "them without an order that shows it",
        design, n.mutants, n.unread, n.wrong, n.proved, n.refuted, n.other);
    g_assert_cmpuint(n.wrong, >=, 60);
    g_assert_cmpuint(n.refuted, >=, 60);
}

static void test_vector_add(void)
{
    mutate("vector-add", 0);
}

static void test_gemm(void)
{
    mutate("cube-gemm", 1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ascend/mutants/vector-add", test_vector_add);
    g_test_add_func("/ascend/mutants/gemm", test_gemm);
    return g_test_run();
}
