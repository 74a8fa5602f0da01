/* Mistakes planted into the PTX of our own designs (ptx-planted.def): the text as it is, is proved,
 * and with one of them it is not. Every design gets every mistake that it has a place for. */
#include "../whole.h"
#include "check/check.h"
#include "codegen/generate.h"
#include "import/import.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

static const struct {
    const char *title, *pattern, *replacement;
    gboolean last;
} plants[] = {
#define PLANT(title, pattern, replacement, last) { title, pattern, replacement, last },
#include "ptx-planted.def"
#undef PLANT
};

/* No rings of 3 slots: LLVM divides by 3 with a product and a shift, which the import does
 * not take for a quotient; moves/gemm-back-matrix and moves/gemm-scales are undecided.
 *
 * A share of the designs gets a share of the mistakes; all of them all in the slow list. */
#define SHARE 5
static const char *const designs[] = {
    "projects/own-kernel/design",         "projects/gemm-bf16-cluster2/design",
    "tests/designs/attention-straight",   "projects/gemm-bf16/design",
    "projects/gemm-bf16-pingpong/design", "projects/gemm-bf16-deferred/design",
    "projects/gemm-fp8-block/design",     "projects/attention-d128-full/design",
    "tests/designs/gemm-aliased",         "tests/designs/gemm-one-consumer",
    "tests/designs/moves/gemm-tt",        "tests/designs/moves/gemm-nn-cluster",
};

static char *text_of(const char *design)
{
    g_autofree char *name = g_strdup_printf("%s.wstave", design);
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, name, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(file, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(p);
    char *ptx = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    return ptx;
}

/* What the program says of a kernel. */
static WsVerdictKind verdict_of(const char *text, char **reason)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import =
        ws_import_text(text, strlen(text), "kernel.ptx", WS_IMPORT_PTX, &error);
    g_assert_no_error(error);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(import->design, NULL, 0, findings);
    for (guint i = 0; i < findings->list->len; i++) { /* another compiler allocates */
        WsFinding *f = g_ptr_array_index(findings->list, i);
        if (ws_rule(f->rule)->klass == WS_CLASS_B)
            f->severity = MIN(f->severity, WS_SEVERITY_WARNING);
    }
    const gboolean sound = p && !ws_findings_count(findings, WS_SEVERITY_ERROR);
    g_autofree char *gap = ws_import_gap(import);
    WsVerdict *v = sound ? ws_check(p, NULL, findings) : ws_verdict_outside("it makes no program");
    ws_verdict_limit(v, findings, gap, ws_import_stands, import);
    const WsVerdictKind kind = v->kind;
    *reason = g_strdup(v->reason);
    ws_verdict_free(v);
    return kind;
}

static char *planted(const char *text, guint plant)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GRegex) pattern = g_regex_new(plants[plant].pattern, 0, 0, &error);
    g_assert_no_error(error);
    g_autoptr(GMatchInfo) found = NULL;
    gint from = -1, to = -1;
    g_regex_match(pattern, text, 0, &found);
    while (g_match_info_matches(found) && (from < 0 || plants[plant].last)) {
        g_match_info_fetch_pos(found, 0, &from, &to);
        g_match_info_next(found, NULL);
    }
    if (from < 0)
        return NULL;
    g_autofree char *place = g_strndup(text + from, to - from);
    g_autofree char *wrong =
        g_regex_replace(pattern, place, -1, 0, plants[plant].replacement, 0, &error);
    g_assert_no_error(error);
    return g_strdup_printf("%.*s%s%s", from, text, wrong, text + to);
}

static void test_design(gconstpointer data)
{
    const guint number = GPOINTER_TO_UINT(data);
    const char *design = designs[number];
    g_autofree char *text = text_of(design), *why = NULL;
    guint made = 0, refuted = 0;
    g_assert_cmpint(verdict_of(text, &why), ==, WS_VERDICT_PROVED);
    for (guint i = 0; i < G_N_ELEMENTS(plants); i++) {
        g_autofree char *wrong = planted(text, i), *reason = NULL;
        if (!wrong || !test_takes(i + SHARE - number % SHARE, SHARE, 4 * SHARE))
            continue;
        const WsVerdictKind kind = verdict_of(wrong, &reason);
        made++;
        refuted += kind == WS_VERDICT_REFUTED;
        if (kind == WS_VERDICT_PROVED || kind == WS_VERDICT_PLAYED) {
            g_test_message("%s is not found", plants[i].title);
            g_test_fail();
        }
    }
    g_test_message("%u planted, %u refuted, the others outside", made, refuted);
    g_assert_cmpuint(made, >=, test_least(40, SHARE, 4 * SHARE));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        if (!test_takes(i, 3, 6))
            continue;
        g_autofree char *path = g_strdup_printf("/codegen/ptx-planted/%s", designs[i]);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_design);
    }
    return g_test_run();
}
