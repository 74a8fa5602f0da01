/* Designs -> Gluon and TLE -> designs: the same program up to names, and the same verdict. Every
 * shipped design is listed; what a language cannot say is refused by the export (a step not in the
 * lens, with its reason), and that is listed too. */
#include "check/check.h"
#include "codegen/python/python.h"
#include "import/import.h"
#include "judge.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/walk/launch_values.h"
#include "same.h"

#include <string.h>

#define UNREAD 2 /* it is written there, and some of the text is not read: undecided, then */

typedef struct {
    const char *design;
    gint gluon, tle; /* expressible there */
} Trip;

#define PROJECT(name) "projects/" name "/design.wstave"
#define DESIGN(name)  "tests/designs/" name ".wstave"
static const Trip trips[] = {
#include "trips.def"
};

typedef struct {
    const Trip *trip;
    WsImportFrom to;
} Case;

static WsProgram *program_of(const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *p = ws_elaborate(design, NULL, 0, findings);
    g_autofree char *says = ws_findings_print(findings, "design");
    if (!p)
        g_test_message("%s", says);
    g_assert_nonnull(p);
    return p;
}

static WsDesign *load(const char *path)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_load(file, findings);
    g_assert_nonnull(design);
    return design;
}

static WsDesign *read_back(const char *text, WsImportFrom from)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import = ws_import_text(text, strlen(text), "kernel.py", from, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < import->unread->len; i++) {
        const WsUnread *u = g_ptr_array_index(import->unread, i);
        g_test_message("%u: not read: %s\n%s", u->line, u->what, u->source);
    }
    g_assert_cmpuint(import->unread->len, ==, 0);
    return ws_design_ref(import->design);
}

static WsVerdictKind verdict_of(const WsProgram *p, gboolean was_read)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsCheckOptions options = { .foreign = was_read };
    g_autoptr(WsVerdict) v = ws_check(p, &options, findings);
    g_autofree char *says = ws_findings_print(findings, "kernel.py");
    if (v->kind != WS_VERDICT_PROVED)
        g_test_message("%s", says);
    return v->kind;
}

static void test_trip(gconstpointer data)
{
    const Case *c = data;
    const gint sayable = c->to == WS_IMPORT_GLUON ? c->trip->gluon : c->trip->tle;
    g_autoptr(GError) error = NULL;
    g_autoptr(WsDesign) design = load(c->trip->design);
    g_autoptr(WsProgram) a = program_of(design);
    g_autofree char *why = NULL, *text = c->to == WS_IMPORT_GLUON
                                             ? ws_generate_gluon(a, FALSE, NULL, &error)
                                             : ws_generate_tle(a, FALSE, NULL, &error);
    if (!sayable && !text) { /* who makes it sayable lists it, too */
        g_assert_nonnull(strstr(error->message, "not supported"));
        return;
    }
    g_assert_no_error(error);
    if (sayable == UNREAD) { /* who makes it readable lists it so */
        g_autoptr(WsImport) import = ws_import_text(text, strlen(text), "kernel.py", c->to, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(import->unread->len, >, 0);
        return;
    }
    g_autoptr(WsDesign) back = read_back(text, c->to);
    g_autoptr(WsProgram) b = program_of(back);
    g_autoptr(WsFindings) none = ws_findings_new();
    g_autoptr(WsLaunchValues) va = ws_launch_values(a, NULL, 0, TRUE, none);
    g_autoptr(WsLaunchValues) vb = same_launch(b, va, a);
    const gboolean same = ws_program_same(a, b, va, vb, ws_launch_tiles(va), &why);
    if (!same)
        g_test_message("%s: %s", c->trip->design, why);
    g_assert_true(same);
    g_assert_cmpint(verdict_of(b, TRUE), ==, verdict_of(a, FALSE));
}

/* No shipped design is forgotten. */
static void test_complete(void)
{
    g_autofree char *projects = g_build_filename(WS_SOURCE_ROOT, "projects", NULL);
    g_autoptr(GDir) dir = g_dir_open(projects, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_strdup_printf("projects/%s/design.wstave", name);
        g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL);
        gboolean listed = !g_file_test(file, G_FILE_TEST_EXISTS);
        for (guint i = 0; i < G_N_ELEMENTS(trips); i++)
            listed |= !strcmp(trips[i].design, path);
        if (!listed)
            g_test_message("%s is not in trips.def", path);
        g_assert_true(listed);
    }
}

int main(int argc, char **argv)
{
    static Case cases[G_N_ELEMENTS(trips)][2];
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(trips); i++)
        for (guint k = 0; k < 2; k++) {
            cases[i][k] = (Case){ &trips[i], k ? WS_IMPORT_TLE : WS_IMPORT_GLUON };
            g_autofree char *path =
                g_strdup_printf("/import/trips/%s/%s", k ? "tle" : "gluon", trips[i].design);
            g_test_add_data_func(path, &cases[i][k], test_trip);
        }
    g_test_add_func("/import/trips/complete", test_complete);
    return g_test_run();
}
