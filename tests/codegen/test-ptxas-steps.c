/* What ptxas complains of, laid at steps; registers as they are estimated before it. */
#include "codegen/nvptx/ptxas/ptxas_steps.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/value.h"
#include "program/pressure.h"
#include "program/program.h"

#include <string.h>

static WsProgram *load(const char *path)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_assert_nonnull(design);
    WsProgram *p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    return p;
}

/* A report that was never made by ptxas: one diagnostic and so many bytes of stack. */
static WsPtxasReport *pretend(const char *diagnostic, guint stack)
{
    WsPtxasReport *r = g_new0(WsPtxasReport, 1);
    r->diagnostics = g_ptr_array_new_with_free_func(g_free);
    r->log = g_strdup("");
    if (diagnostic)
        g_ptr_array_add(r->diagnostics, g_strdup(diagnostic));
    r->stack = stack;
    return r;
}

typedef struct {
    const char *name, *design, *diagnostic, *code, *step;
    guint steps;
} Case;
static const Case cases[] = {
    { "reads-accumulator", "tests/designs/catalogue/B41-accumulator-read-in-flight.wstave",
      "ptxas info : (C7514) Potential Performance Loss: reading accumulator registers", "C7514",
      "groups/math/body/1", 1 },
    { "products", "tests/designs/gemm-cooperative.wstave",
      "ptxas info : (C7511) Potential Performance Loss: insufficient register resources", "C7511",
      "groups/mma/body/0/do/0/do/1", 1 },
    { "budget", "tests/designs/gemm-cooperative.wstave",
      "ptxas warning : (C7508) setmaxnreg ignored", "C7508", "groups/load", 2 },
    { "operand", "tests/designs/attention-fa3-full.wstave",
      "ptxas info : (C7513) Potential Performance Loss: define input registers", "C7513",
      "groups/mma/body/1/do/3", 0 },
    { "unknown-code", "tests/designs/gemm-cooperative.wstave", "ptxas warning : something new",
      "warning", NULL, 0 },
};

static void test_code(gconstpointer data)
{
    const Case *c = data;
    g_autoptr(WsProgram) p = load(c->design);
    WsPtxasReport *r = pretend(c->diagnostic, 0);
    g_autoptr(GPtrArray) notes = ws_ptxas_notes(p, "", r);
    g_assert_cmpuint(notes->len, ==, 1);
    const WsPtxasNote *n = notes->pdata[0];
    g_assert_cmpstr(n->code, ==, c->code);
    if (c->steps) {
        g_assert_cmpuint(n->step->len, ==, c->steps);
        g_assert_cmpstr(n->step->pdata[0], ==, c->step);
    } else {
        g_assert_true((n->step->len > 0) == (c->step != NULL));
    }
    ws_ptxas_report_free(r);
}

/* "line N" is laid at the operation whose comment stands before it. */
static void test_line(void)
{
    g_autoptr(WsProgram) p = load("tests/designs/gemm-cooperative.wstave");
    g_autofree char *text = g_strdup_printf("head\n\t// %s\n\tmov;\n\tmov;\n\t// %s\n\tmov;\n",
                                            p->op[14]->id, p->op[21]->id);
    WsPtxasReport *r = pretend("ptxas info : (C7519) injected in around line 4 by compiler", 0);
    g_autoptr(GPtrArray) notes = ws_ptxas_notes(p, text, r);
    const WsPtxasNote *n = notes->pdata[0];
    g_assert_cmpuint(n->step->len, ==, 1);
    g_assert_cmpstr(n->step->pdata[0], ==, p->op[14]->step);
    ws_ptxas_report_free(r);
}

static void test_spill(void)
{
    g_autoptr(WsProgram) p = load("tests/designs/gemm-fp8-block.wstave");
    WsPtxasReport *r = pretend(NULL, 32);
    g_autoptr(GPtrArray) notes = ws_ptxas_notes(p, "", r);
    g_autofree char *text = ws_ptxas_notes_print(notes);
    g_assert_nonnull(strstr(text, "stack: 32 bytes of stack"));
    g_assert_nonnull(strstr(text, "at groups/math/body/0/do/4"));
    ws_ptxas_report_free(r);
}

/* ptxas itself: the message that it gives names the step that causes it. */
static void test_ptxas(void)
{
    if (!ws_ptxas_available()) {
        g_test_skip("ptxas is not installed");
        return;
    }
    static const char *const refuted[][2] = {
        { "tests/designs/catalogue/B41-accumulator-read-in-flight.wstave",
          "at groups/math/body/1\n" },
        { "tests/designs/catalogue/B43-missing-mma-fence.wstave", "at groups/math/body/0/do/1\n" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(refuted); i++) {
        g_autoptr(WsProgram) p = load(refuted[i][0]);
        g_autoptr(GError) error = NULL;
        g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
        g_assert_no_error(error);
        WsPtxasReport *r = ws_ptxas_run(ptx, NULL, &error);
        g_assert_no_error(error);
        g_autoptr(GPtrArray) notes = ws_ptxas_notes(p, ptx, r);
        g_autofree char *text = ws_ptxas_notes_print(notes);
        if (!strstr(text, refuted[i][1]))
            g_test_message("%s", text);
        g_assert_nonnull(strstr(text, refuted[i][1]));
        ws_ptxas_report_free(r);
    }
}

/* --- estimate ----------------------------------------------------------------------------------*/

typedef struct {
    const char *design;
    guint agent, values;
} Estimate;
static const Estimate estimates[] = {
    { "tests/designs/gemm-cooperative.wstave", 0, 0 },
    { "tests/designs/gemm-cooperative.wstave", 1, 128 },
    { "tests/designs/gemm-fp8-block.wstave", 0, 196 }, /* d, t, sa, sb0, sb1; sbrow is gone */
    { "tests/designs/attention-fa3-full.wstave", 1, 0 },
};

static void test_estimate(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(estimates); i++) {
        g_autoptr(WsProgram) p = load(estimates[i].design);
        const WsAgent *a = &p->agent[estimates[i].agent];
        WsPressure r = ws_program_pressure(p, estimates[i].agent);
        guint all = 0;
        for (guint v = 0; v < a->n_values; v++)
            all += a->value[v].registers;
        if (estimates[i].values)
            g_assert_cmpuint(r.values, ==, estimates[i].values);
        g_assert_cmpuint(r.values, <=, all);
        g_assert_cmpuint(ws_pressure_total(&r), <=, r.budget); /* what assembles cleanly */
        g_assert_true((r.peak != NULL) == (a->n_values > 0));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *name = g_strdup_printf("/ptxas-steps/code/%s", cases[i].name);
        g_test_add_data_func(name, &cases[i], test_code);
    }
    g_test_add_func("/ptxas-steps/line", test_line);
    g_test_add_func("/ptxas-steps/spill", test_spill);
    g_test_add_func("/ptxas-steps/ptxas", test_ptxas);
    g_test_add_func("/ptxas-steps/estimate", test_estimate);
    return g_test_run();
}
