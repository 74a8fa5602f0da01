/* Certificates of right designs with one thing said otherwise, by hand: rejected, each for its own
 * reason. */
#include "check/check.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "verify/verify.h"

#include <string.h>

typedef struct {
    const char *from, *to;
} Change;

#define NONE                                                                                       \
    {                                                                                              \
        {                                                                                          \
            NULL, NULL                                                                             \
        }                                                                                          \
    }
/* clang-format off */
static const struct {
    const char *title, *design;
    Change said[3], made[2];
    const char *why;
} restated[] = {
#include "restated.def"
};
/* clang-format on */

/* At the first place; "..." stands for the rest of its line. */
static char *changed(const char *text, const Change *c, const char *title)
{
    const gboolean rest = g_str_has_suffix(c->from, "...");
    g_autofree char *from = g_strndup(c->from, strlen(c->from) - (rest ? 3 : 0));
    const char *at = strstr(text, from);
    if (!at)
        g_error("%s: there is no \"%s\" to change", title, from);
    const char *behind = rest ? strchr(at + 1, '\n') : at + strlen(from);
    g_autofree char *before = g_strndup(text, (gsize)(at - text));
    return g_strconcat(before, c->to, behind, NULL);
}

static char *all_changed(const char *text, const Change *c, guint n, const char *title)
{
    char *now = g_strdup(text);
    for (guint i = 0; i < n && c[i].from; i++) {
        char *next = changed(now, &c[i], title);
        g_free(now);
        now = next;
    }
    return now;
}

static WsProgram *program_of(const char *text, const char *title)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), title, findings);
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p)
        g_error("%s: %s", title, text);
    return p;
}

static char *certificate_of(const WsProgram *p, WsVerdictKind *kind)
{
    const WsCheckOptions o = { .certificate = TRUE, .protocol_only = TRUE };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = ws_check(p, &o, findings);
    *kind = v->kind;
    return g_strdup(v->certificate);
}

static void is_rejected(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    const char *title = restated[i].title;
    g_autofree char *name = g_strconcat(restated[i].design, ".wstave", NULL), *design = NULL;
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, "tests/designs", name, NULL);
    g_assert_true(g_file_get_contents(file, &design, NULL, NULL));
    WsVerdictKind kind;
    g_autoptr(WsProgram) right = program_of(design, title);
    g_autofree char *text = certificate_of(right, &kind);
    g_assert_nonnull(text);
    g_autoptr(WsVerification) fair = ws_verify(right, text);
    g_assert_cmpint(fair->answer, ==, WS_VERIFIED);

    g_autofree char *wrong = all_changed(design, restated[i].made, 2, title);
    g_autoptr(WsProgram) judged = program_of(wrong, title);
    if (restated[i].made[0].from) {
        g_free(certificate_of(judged, &kind));
        if (kind != WS_VERDICT_REFUTED)
            g_error("%s: the design is not wrong", title);
    }
    g_auto(GStrv) part = g_strsplit(text, right->design_hash, 2);
    g_autofree char *own = g_strjoinv(judged->design_hash, part);
    g_autofree char *said = all_changed(own, restated[i].said, 3, title);
    g_autoptr(WsVerification) v = ws_verify(judged, said);
    if (v->answer == WS_VERIFIED)
        g_test_fail_printf("%s: verified", title);
    else if (!strstr(v->reason, restated[i].why))
        g_test_fail_printf("%s: for another reason: %s", title, v->reason);
}

static void nothing(void)
{
    static const char *const empty[] = { "", "\n", "end\n", "warpstave-certificate 3\n",
                                         "warpstave-certificate 3\nend\n" };
    g_autofree char *file =
        g_build_filename(WS_SOURCE_ROOT, "tests/designs/gemm-one-consumer.wstave", NULL);
    g_autofree char *design = NULL;
    g_assert_true(g_file_get_contents(file, &design, NULL, NULL));
    g_autoptr(WsProgram) p = program_of(design, "nothing");
    for (guint i = 0; i < G_N_ELEMENTS(empty); i++) {
        g_autoptr(WsVerification) v = ws_verify(p, empty[i]);
        g_assert_cmpint(v->answer, ==, WS_VERIFY_UNREADABLE);
    }
}

/* The one thing that is verified though the check refutes it: uses that names decide, off by whole
 * pairs of laps, which no barrier can tell apart. It says so. */
static void pairs_of_laps(void)
{
    static const Change off = { "\"use\": \"ring + k\" },\n", "\"use\": \"ring + k + 4\" },\n" };
    g_autofree char *file = g_build_filename(
        WS_SOURCE_ROOT, "tests/designs/catalogue/C05-ring-shared-by-turns.wstave", NULL);
    g_autofree char *design = NULL;
    g_assert_true(g_file_get_contents(file, &design, NULL, NULL));
    WsVerdictKind kind;
    g_autoptr(WsProgram) right = program_of(design, "right");
    g_autofree char *text = certificate_of(right, &kind);
    g_autofree char *later = changed(design, &off, "off");
    g_autoptr(WsProgram) judged = program_of(later, "off");
    g_free(certificate_of(judged, &kind));
    g_assert_cmpint(kind, ==, WS_VERDICT_REFUTED);
    g_auto(GStrv) part = g_strsplit(text, right->design_hash, 2);
    g_autofree char *own = g_strjoinv(judged->design_hash, part);
    g_autoptr(WsVerification) v = ws_verify(judged, own);
    g_autofree char *said = ws_verification_text(v);
    g_assert_cmpint(v->answer, ==, WS_VERIFIED);
    g_assert_nonnull(strstr(said, "up to whole pairs of laps"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/verify/restated/nothing", nothing);
    g_test_add_func("/verify/restated/pairs of laps", pairs_of_laps);
    for (guint i = 0; i < G_N_ELEMENTS(restated); i++) {
        g_autofree char *path = g_strdup_printf("/verify/restated/%s", restated[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), is_rejected);
    }
    return g_test_run();
}
