/* What was not read of a kernel stays with its design: read alone it is proved of less, refuted of
 * nothing, and no code is made of it. */
#include "base/phrase.h"
#include "check/check.h"
#include "clock/clock.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/refusal.h"
#include "program/walk/launch_values.h"

#include "import/import.h"

#include <string.h>

/* The design of a kernel with `find` written as `by`, printed and read again. */
static WsProgram *again(const char *file, const char *find, const char *by)
{
    g_autofree char *path = g_strdup_printf("%s/tests/import/tle/names/%s", WS_SOURCE_ROOT, file);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    GString *s = g_string_new(text);
    g_assert_cmpuint(g_string_replace(s, find, by, 0), >, 0);
    g_autoptr(WsImport) import = ws_import_text(s->str, s->len, "kernel.py", WS_IMPORT_TLE, NULL);
    g_assert_nonnull(import);
    g_autofree char *kept = ws_design_print(import->design);
    g_string_free(s, TRUE);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(kept, strlen(kept), "kernel.wstave", findings);
    g_assert_nonnull(design);
    WsProgram *p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    return p;
}

static void values(void)
{
    g_autoptr(WsProgram) p = again("scale.py", "tile * 2.0", "tl.sort(tile)");
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *says = ws_verdict_text(v);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
    g_assert_nonnull(strstr(says, "line 18: what this computes was not read"));
    static const WsLens code[] = { WS_LENS_GENERATE, WS_LENS_CUDA, WS_LENS_GLUON,
                                   WS_LENS_TLE,      WS_LENS_TLX,  WS_LENS_BUNDLE };
    for (guint i = 0; i < G_N_ELEMENTS(code); i++) {
        g_autofree char *refusal = ws_program_refusal(p, code[i]);
        g_assert_nonnull(refusal);
        g_assert_nonnull(strstr(refusal, "line 18"));
    }
    g_autofree char *rehearse = ws_program_refusal(p, WS_LENS_REHEARSE);
    g_assert_null(rehearse);
    g_autoptr(WsMachine) machine = ws_machine_for(NULL, p->target, NULL);
    g_autoptr(WsLaunchValues) launch = ws_launch_values(p, NULL, 0, TRUE, findings);
    g_autoptr(WsClockResult) r = ws_clock_run(p, launch, machine, NULL, findings);
    g_assert_nonnull(r);
    g_autofree char *note = ws_phrase_text(r->note, NULL, NULL);
    g_assert_nonnull(strstr(note, "not read take no time here (line 18"));
}

static void read_whole(void)
{
    g_autoptr(WsProgram) p = again("scale.py", "tile * 2.0", "tile * 3.0");
    g_autofree char *refusal = ws_program_refusal(p, WS_LENS_GENERATE);
    g_assert_null(p->unread);
    g_assert_null(refusal);
}

/* Without the wait that was not read the design would be refuted. */
static void protocol(void)
{
    g_autoptr(WsProgram) p = again("ring.py", "tle.gpu.barrier_wait(", "foo(");
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *says = ws_verdict_text(v);
    g_test_message("%s", says);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_OUTSIDE);
    g_assert_nonnull(strstr(says, "were not read"));
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/kept/values", values);
    g_test_add_func("/import/kept/read-whole", read_whole);
    g_test_add_func("/import/kept/protocol", protocol);
    return g_test_run();
}
