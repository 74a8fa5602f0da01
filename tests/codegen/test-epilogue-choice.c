/* gemm-bf16-epilogue: each choice of its constants rehearsed at ragged sizes, and each part of the
 * epilogue missed where it is left out. */
#include "../whole.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

#define FILE_NAME WS_SOURCE_ROOT "/projects/gemm-bf16-epilogue/design.wstave"

static gboolean right(const char *without, const WsSetting *set, guint n_set)
{
    static const char *const name[] = { "M", "N", "K" };
    static const gint64 size[] = { 129, 264, 72 };
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_get_contents(FILE_NAME, &text, NULL, &error));
    GString *other = g_string_new(text);
    if (without)
        g_assert_cmpuint(g_string_replace(other, without, "acc = acc", 0), ==, 1);
    g_autofree char *now = g_string_free(other, FALSE);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(now, strlen(now), FILE_NAME, findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, set, n_set, findings) : NULL;
    g_assert_nonnull(p);
    WsRehearseOptions options = { .seed = 6, .size_name = name, .size = size, .n_size = 3 };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    g_assert_no_error(error);
    g_assert_null(r->first_race);
    g_assert_null(r->stuck);
    gboolean ok = r->matches;
    ws_rehearse_result_free(r);
    return ok;
}

static void test_choices(void)
{
    static const struct {
        gint64 rows, bias, act;
        const char *part;
    } rows[] = {
        { 0, 0, 0, NULL },
        { 1, 0, 0, "acc = acc*sv" },
        { 0, 1, 0, "acc = acc + bv" },
        { 1, 1, 1, "acc = 0.5*acc*(1.0 + tanh(0.7978845608*(acc + 0.044715*acc*acc*acc)))" },
        { 1, 1, 2, "acc = acc*rcp(1.0 + exp(0.0 - acc))" },
        { 0, 1, 3, "acc = 0.5*acc*(1.0 + erf(acc*0.7071067811865476))" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const WsSetting set[] = { { "ROWS", rows[i].rows },
                                  { "BIAS", rows[i].bias },
                                  { "ACT", rows[i].act } };
        if (!test_either(i))
            continue;
        g_assert_true(right(NULL, set, G_N_ELEMENTS(set)));
        if (rows[i].part)
            g_assert_false(right(rows[i].part, set, G_N_ELEMENTS(set)));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/epilogue-choice/choices", test_choices);
    return g_test_run();
}
