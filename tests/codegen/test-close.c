/* Pipes that are closed, in every order of the text, ahead and under conditions: the rows of
 * tests/check/close.def that keep the meaning of their design end, and give what its reference
 * says, in two orders of the threads. */
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

enum { PAIRS = 6 };

static const struct {
    const char *name;
    const char *pair[2 * PAIRS];
} rows[] = {
#define RIGHT(name, ...)
#define VALUES(name, ...) { name, { __VA_ARGS__ } },
#define GIVEN(name, ...)
#define BROKEN(name, rule, at, ...)
#define REFUSED(name, rule, says, ...)
#include "../check/close.def"
};

static WsProgram *program_of(guint i)
{
    g_autofree char *text = NULL;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_assert_true(
        g_file_get_contents(WS_SOURCE_ROOT "/tests/designs/pipe-close.wstave", &text, NULL, NULL));
    g_autoptr(GString) s = g_string_new(text);
    for (guint k = 0; k < PAIRS && rows[i].pair[2 * k]; k++)
        g_assert_cmpuint(g_string_replace(s, rows[i].pair[2 * k], rows[i].pair[2 * k + 1], 1), ==,
                         1);
    g_autoptr(WsDesign) design = ws_design_parse(s->str, s->len, "close", findings);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_assert_nonnull(p);
    return p;
}

static void test_row(gconstpointer data)
{
    g_autoptr(WsProgram) p = program_of(GPOINTER_TO_UINT(data));
    for (guint64 seed = 0; seed < 2; seed++) {
        const WsRehearseOptions options = { .seed = seed, .sms = seed ? 2 : 5 };
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
        g_assert_no_error(error);
        g_assert_nonnull(r);
        g_assert_cmpstr(r->stuck, ==, NULL);
        g_assert_cmpstr(r->first_race, ==, NULL);
        g_assert_cmpstr(r->first_violation, ==, NULL);
        g_assert_cmpstr(r->first_wrong, ==, NULL);
        g_assert_true(r->ran && r->matches);
        g_assert_cmpuint(r->elements, ==, 5 * 256);
        ws_rehearse_result_free(r);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/codegen/close/%s", rows[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_row);
    }
    return g_test_run();
}
