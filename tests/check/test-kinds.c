/* An operation that the check does not know makes its answer "outside", by name: never "proved",
 * and never something that does nothing. Shipped designs are proved; each of their operations in
 * turn becomes one that the check knows nothing of. */
#include "check/check.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/op_kind.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

static WsProgram *program_of(const char *name)
{
    g_autofree char *path = g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, name);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(path, findings);
    g_assert_nonnull(design);
    WsProgram *p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    return p;
}

static void is_outside(const WsProgram *p, const char *name)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_OUTSIDE);
    if (!strstr(v->reason, name))
        g_error("\"%s\" does not name %s", v->reason, name);
}

static void unknown_kinds(gconstpointer name)
{
    static const WsOpKind unknown[] = { WS_OP_FENCE_INIT, WS_OP_MBAR_INIT, WS_OP_KIND_COUNT };
    g_autoptr(WsProgram) p = program_of(name);
    guint tried = 0;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOpKind was = p->op[i]->kind;
        if (p->op[i]->agent < 0)
            continue;
        p->op[i]->kind = unknown[tried++ % G_N_ELEMENTS(unknown)];
        is_outside(p, ws_op_kind_text(p->op[i]->kind));
        p->op[i]->kind = was;
    }
    g_assert_cmpuint(tried, >, 20);
}

/* A target that the play does not know: outside, with what is missing. */
static void unknown_target(void)
{
    g_autoptr(WsProgram) p = program_of("gemm-pingpong");
    char *was = p->target;
    for (guint i = 1; ws_target_at(i); i++) {
        p->target = (char *)ws_target_at(i)->name;
        if (!ws_target_at(i)->lacks[WS_LENS_CHECK])
            continue;
        is_outside(p, ws_target_at(i)->lacks[WS_LENS_CHECK]);
    }
    p->target = (char *)"sm_80";
    is_outside(p, "no such target");
    p->target = was;
}

/* A design of control alone is elaborated for every target: with the lanes and ids of its own. */
static void control_alone(void)
{
    for (guint i = 0; ws_target_at(i); i++) {
        const WsTarget *t = ws_target_at(i);
        const guint warps = t->halves ? t->halves * t->half_warps : t->core ? 1 : 4;
        g_autofree char *text = g_strdup_printf(
            "{\"warpstave\":1,\"name\":\"control\",\"target\":\"%s\",\"sizes\":{\"M\":128},"
            "\"tiles\":{\"axes\":{\"m\":\"M\"},\"launch\":\"single\"},\"tensors\":[],"
            "\"groups\":[{\"name\":\"all\",\"role\":\"worker\",\"warps\":%u,"
            "\"body\":[{\"let\":\"x\",\"be\":1}]}]}",
            t->name, warps);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), NULL, findings);
        g_assert_nonnull(design);
        g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
        g_assert_nonnull(p);
        g_assert_true(p->hardware == t);
        g_assert_cmpuint(p->threads, ==, (t->core ? t->group_warps : warps) * t->lanes);
        if (t->lacks[WS_LENS_CHECK])
            is_outside(p, t->lacks[WS_LENS_CHECK]);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/kinds/gemm-pingpong", "gemm-pingpong", unknown_kinds);
    g_test_add_data_func("/kinds/sparse-mla-seesaw", "sparse-mla-seesaw", unknown_kinds);
    g_test_add_data_func("/kinds/attention-fa3-causal", "attention-fa3-causal", unknown_kinds);
    g_test_add_func("/kinds/target", unknown_target);
    g_test_add_func("/kinds/control-alone", control_alone);
    return g_test_run();
}
