/* Designs in the hint form as TLE and back: the text has the stages, orders and executors of the
 * design, what is read of it has them again and is the same program. A stage that is wrong is
 * refuted in the text's line; what the form cannot say is written as the steps that it means. */
#include "check/check.h"
#include "codegen/python/python.h"
#include "judge.h"
#include "judged.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "model/hint.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "same.h"

#include <string.h>

#define DESIGN   WS_SOURCE_ROOT "/tests/import/tle/staged.wstave"
#define REPLICAS WS_SOURCE_ROOT "/tests/designs/hint-gemm.wstave"
#define NEITHER  WS_SOURCE_ROOT "/tests/designs/hint-attention.wstave"

/* The design with pieces of its text replaced: "find", "replacement", … NULL. */
typedef struct {
    const char *name, *edit[7];
    const char *says; /* in the text */
} Form;

#define EXECUTOR "\"pipeline_group\": \"load\", \"pipe_order\": 1, "
#define LOADER                                                                                     \
    "\"groups\": [{ \"name\": \"loader\", \"role\": \"producer\", \"warps\": 4, \"body\": [] },"

static const Form forms[] = {
    { "ahead", { NULL }, "num_stages=3, pipe_stages=[0, 1], pipe_orders=[1, 0], executors=[0, 0]" },
    { "one-stage",
      { "\"pipe_order\": 1, ", "", "\"pipe_stage\": 1, \"pipe_order\": 0, ", "" },
      "num_stages=3, pipe_stages=[0, 0], pipe_orders=[0, 1], executors=[0, 0]" },
    { "two-stages-apart",
      { "\"pipe_stage\": 1, ", "\"pipe_stage\": 2, " },
      "num_stages=3, pipe_stages=[0, 2], pipe_orders=[1, 0], executors=[0, 0]" },
    { "two-slots",
      { "\"STAGES\": 3", "\"STAGES\": 2" },
      "num_stages=2, pipe_stages=[0, 1], pipe_orders=[1, 0], executors=[0, 0]" },
    { "executor",
      { EXECUTOR, EXECUTOR "\"executor\": \"loader\", ", "\"groups\": [", LOADER },
      "num_stages=3, pipe_stages=[0, 1], pipe_orders=[1, 0], executors=[1, 0]" },
};

static char *replaced(const char *path, const char *const *edit)
{
    char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    for (; *edit; edit += 2) {
        g_auto(GStrv) part = g_strsplit(text, edit[0], -1);
        g_assert_cmpuint(g_strv_length(part), ==, 2);
        g_free(text);
        text = g_strjoinv(edit[1], part);
    }
    return text;
}

static WsProgram *program_of(const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *p = ws_elaborate(design, NULL, 0, findings);
    g_autofree char *says = ws_findings_print(findings, NULL);
    if (!p)
        g_test_message("%s", says);
    g_assert_nonnull(p);
    return p;
}

static WsDesign *design_of(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_parse(text, strlen(text), NULL, findings);
    g_assert_nonnull(design);
    return design;
}

/* "for 3: 0 1 kernel, …", executors by the order in which they come. */
static char *said(const WsDesign *design)
{
    g_autoptr(GPtrArray) loops = ws_hint_loops(design);
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < loops->len; i++) {
        const WsHintLoop *l = loops->pdata[i];
        g_assert_cmpstr(l->why, ==, NULL);
        g_string_append_printf(s, "for %d:", (int)l->stages);
        for (guint k = 0; k < l->n; k++) {
            const WsHintCell *c = &l->cell[k];
            g_string_append_printf(s, " %d %d %d%s,", (int)c->stage, (int)c->order,
                                   c->executor != l->home, c->fills ? " fills" : "");
        }
    }
    return g_string_free(s, FALSE);
}

static void test_again(gconstpointer data)
{
    const Form *f = data;
    g_autoptr(GError) error = NULL;
    g_autofree char *design_text = replaced(DESIGN, f->edit), *why = NULL;
    g_autoptr(WsDesign) design = design_of(design_text);
    g_autoptr(WsProgram) a = program_of(design);
    g_autofree char *text = ws_generate_tle(a, FALSE, NULL, &error);
    g_assert_no_error(error);
    g_auto(GStrv) words = g_regex_split_simple("\\s+", text, 0, 0);
    g_autofree char *flat = g_strjoinv(" ", words);
    g_test_message("%s", text);
    g_assert_nonnull(strstr(flat, f->says));
    g_assert_nonnull(strstr(flat, "with tle.pipeline_group(1):"));
    g_assert_null(strstr(flat, "tle.pipe("));
    g_auto(Judged) j = judge_kernel(text, WS_IMPORT_TLE);
    g_assert_cmpuint(j.import->unread->len, ==, 0);
    g_assert_cmpint(j.verdict->kind, ==, WS_VERDICT_PROVED);
    g_autofree char *there = said(design), *back = said(j.import->design);
    g_assert_cmpstr(there, ==, back);
    g_autoptr(WsFindings) none = ws_findings_new();
    g_autoptr(WsLaunchValues) va = ws_launch_values(a, NULL, 0, TRUE, none);
    g_autoptr(WsLaunchValues) vb = same_launch(j.program, va, a);
    const gboolean same = ws_program_same(a, j.program, va, vb, ws_launch_tiles(va), &why);
    g_test_message("%s", why ? why : "the same");
    g_assert_true(same);
}

/* A stage that is changed in the text is another program, or none, in the line of the group. */
static void test_broken(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *design_text = replaced(DESIGN, forms[0].edit);
    g_autoptr(WsDesign) design = design_of(design_text);
    g_autoptr(WsProgram) a = program_of(design);
    g_autofree char *text = ws_generate_tle(a, FALSE, NULL, &error);
    g_autoptr(GString) wrong = g_string_new(text);
    g_assert_cmpuint(g_string_replace(wrong, "pipe_stages=[0, 1]", "pipe_stages=[1, 0]", 0), ==, 1);
    g_autoptr(WsImport) import =
        ws_import_text(wrong->str, wrong->len, "kernel.py", WS_IMPORT_TLE, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(import->unread->len, ==, 0);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_assert_null(ws_elaborate(import->design, NULL, 0, findings));
    ws_import_locate(import->design, findings);
    g_assert_cmpuint(findings->list->len, ==, 1);
    const WsFinding *f = findings->list->pdata[0];
    g_assert_cmpint(f->rule, ==, WS_RULE_L_HINT);
    g_auto(GStrv) line = g_strsplit(wrong->str, "\n", -1);
    g_assert_nonnull(strstr(line[f->line - 1], "with tle.pipeline_group(1)"));
}

#define A_LOADED "        a = a_desc.load([row, k * 64])\n"
#define B_LOADED "        b = b_desc.load([k * 64, col])\n"
#define ADDED    "        acc = tl.dot(a, b, acc)\n"
#define LOOP     "    for k in tl.range(steps, num_stages=3):\n"

/* Loops one after the other that call their tiles the same: each has stages of its own where it
 * sets them before it takes them. */
static void test_names(void)
{
    static const struct {
        const char *second;
        gboolean read;
    } rows[] = {
        { LOOP A_LOADED B_LOADED ADDED, TRUE },
        { LOOP B_LOADED A_LOADED ADDED ADDED, TRUE },
        { LOOP ADDED A_LOADED B_LOADED, FALSE }, /* begins with the last tile of the first loop */
        { LOOP A_LOADED B_LOADED ADDED "    acc = tl.dot(a, b, acc)\n", FALSE },
        { LOOP A_LOADED A_LOADED B_LOADED ADDED, TRUE }, /* `b` alone has stages */
        { LOOP A_LOADED B_LOADED ADDED "        acc = acc + tl.max(a, 1)[:, None]\n", TRUE },
    };
    g_autofree char *text = NULL;
    g_assert_true(
        g_file_get_contents(WS_SOURCE_ROOT "/tests/import/tle/names/dot.py", &text, NULL, NULL));
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GString) two = g_string_new(text);
        g_autofree char *both = g_strconcat(LOOP A_LOADED B_LOADED ADDED, rows[i].second, NULL);
        g_assert_cmpuint(g_string_replace(two, LOOP A_LOADED B_LOADED ADDED, both, 0), ==, 1);
        g_auto(Judged) j = judge_kernel(two->str, WS_IMPORT_TLE);
        g_test_message("%u", i);
        g_assert_cmpint(j.import->unread->len == 0, ==, rows[i].read);
        g_assert_cmpint(j.verdict->kind == WS_VERDICT_PROVED, ==, rows[i].read);
    }
}

/* TLE's blocks have no replicas: the steps, and why. */
static void test_steps(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *design_text = replaced(REPLICAS, forms[0].edit);
    g_autoptr(WsDesign) design = design_of(design_text);
    g_autoptr(WsProgram) p = program_of(design);
    g_autofree char *text = ws_generate_tle(p, FALSE, NULL, &error);
    g_assert_no_error(error);
    g_assert_null(strstr(text, "pipe_stages"));
    g_assert_nonnull(strstr(text, "replicas, each with"));
    g_assert_nonnull(strstr(text, "tle.pipe("));
}

/* Where the steps have no form either both reasons are told. */
static void test_neither(void)
{
    static const char *const says[] = { "replicas, each with",
                                        "its loops with stages mean: step mma",
                                        "it leaves its branch in flight" };
    g_autoptr(GError) error = NULL;
    g_autofree char *design_text = replaced(NEITHER, forms[0].edit);
    g_autoptr(WsDesign) design = design_of(design_text);
    g_autoptr(WsProgram) p = program_of(design);
    g_autofree char *text = ws_generate_tle(p, FALSE, NULL, &error);
    g_assert_null(text);
    for (guint i = 0; i < G_N_ELEMENTS(says); i++)
        g_assert_nonnull(strstr(error->message, says[i]));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/staged/names", test_names);
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        g_autofree char *path = g_strdup_printf("/import/staged/again/%s", forms[i].name);
        g_test_add_data_func(path, &forms[i], test_again);
    }
    g_test_add_func("/import/staged/broken", test_broken);
    g_test_add_func("/import/staged/steps", test_steps);
    g_test_add_func("/import/staged/neither", test_neither);
    return g_test_run();
}
