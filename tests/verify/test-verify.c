/* The verifier of certificates: every design of verified.def is verified; the certificate of a
 * right design does not pass for a broken one. */
#include "check/check.h"
#include "model/design.h"
#include "program/program.h"
#include "verify/verify.h"

#include <string.h>

static WsProgram *load(const char *file)
{
    g_autofree char *text = NULL;
    gsize length;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_assert_true(g_file_get_contents(file, &text, &length, NULL));
    g_autoptr(WsDesign) design = ws_design_parse(text, length, file, findings);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (p && ws_findings_exit_code(findings, FALSE) != 0)
        g_clear_pointer(&p, ws_program_unref);
    return p;
}

/* NULL if it is not proved. */
static char *certificate_of(const WsProgram *p, double *ms)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsCheckOptions o = { .certificate = TRUE };
    const gint64 begun = g_get_monotonic_time();
    g_autoptr(WsVerdict) v = ws_check(p, &o, findings);
    *ms = (double)(g_get_monotonic_time() - begun) / 1000;
    /* errors of legality leave a verdict about the protocol */
    return v->kind == WS_VERDICT_PROVED && ws_findings_exit_code(findings, FALSE) == 0
               ? g_strdup(v->certificate)
               : NULL;
}

static const char *const must[] = {
#define VERIFIED(file) file,
#include "verified.def"
#undef VERIFIED
};

static gboolean must_be(const char *file)
{
    for (guint i = 0; i < G_N_ELEMENTS(must); i++)
        if (!strcmp(must[i], file))
            return TRUE;
    return FALSE;
}

static guint judge(const char *name)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, name, NULL);
    g_autoptr(WsProgram) p = load(file);
    double ms = 0;
    g_autofree char *text = p ? certificate_of(p, &ms) : NULL;
    if (!text) {
        if (must_be(name))
            g_error("%s: not proved, or without a certificate", name);
        return 0;
    }
    g_autoptr(WsVerification) v = ws_verify(p, text);
    g_autofree char *line = ws_verification_text(v);
    g_test_message("%s: proof %.1f ms; %s", name, ms, line);
    if (must_be(name) != (v->answer == WS_VERIFIED))
        g_test_fail_printf("%s: %s, but verified.def says otherwise", name, line);
    return 1;
}

static guint judge_folder(const char *folder, gboolean below)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    guint n = 0;
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *file = below ? g_build_filename(folder, name, "design.wstave", NULL)
                                      : g_build_filename(folder, name, NULL);
        g_autofree char *full = g_build_filename(WS_SOURCE_ROOT, file, NULL);
        if (g_str_has_suffix(file, ".wstave") && g_file_test(full, G_FILE_TEST_IS_REGULAR))
            n += judge(file);
    }
    return n;
}

static void proved(void)
{
    guint n = judge_folder("tests/designs", FALSE) + judge_folder("projects", TRUE) +
              judge_folder("tests/designs/catalogue", FALSE) +
              judge_folder("tests/designs/moves", FALSE) +
              judge_folder("tests/designs/memory", FALSE);
    g_test_message("%u certificates, %u verified", n, (guint)G_N_ELEMENTS(must));
}

/* The certificate of a right design, with the hash of a broken one in it. */
static void pass_off(const char *right, const char *folder, guint *tried)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, right, NULL);
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    g_autoptr(WsProgram) p = load(file);
    double ms;
    g_autofree char *text = certificate_of(p, &ms);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *other = g_build_filename(path, name, NULL);
        /* of the catalogue, those of class B are broken */
        if (!g_str_has_suffix(name, ".wstave") || name[0] == 'C')
            continue;
        g_autoptr(WsProgram) q = load(other);
        if (!q)
            continue;
        g_auto(GStrv) part = g_strsplit(text, p->design_hash, 2);
        g_autofree char *forged = g_strjoinv(q->design_hash, part);
        g_autoptr(WsVerification) v = ws_verify(q, forged);
        g_test_message("%s with the certificate of %s: %s", name, right, v->reason);
        if (v->answer == WS_VERIFIED)
            g_error("%s: verified with the certificate of %s", name, right);
        ++*tried;
    }
}

static void forged(void)
{
    guint tried = 0;
    pass_off("tests/designs/catalogue/C01-plain-ring.wstave", "tests/designs/catalogue", &tried);
    pass_off("tests/designs/catalogue/C04-one-arrival-per-warp.wstave", "tests/designs/catalogue",
             &tried);
    pass_off("tests/designs/gemm-cooperative.wstave", "tests/designs/broken", &tried);
    pass_off("tests/designs/gemm-one-consumer.wstave", "tests/designs/broken", &tried);
    g_test_message("%u forged certificates, none verified", tried);
    g_assert_cmpuint(tried, >, 80);
}

/* A program that asks nothing runs to its end in the verifier alone: what breaks a rule on the way
 * is rejected for that rule. Designs that the check does not prove. */
static guint run_alone(const char *folder)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    guint n = 0;
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        double ms;
        g_autoptr(WsProgram) p = g_str_has_suffix(name, ".wstave") ? load(file) : NULL;
        g_autofree char *proved_text = p ? certificate_of(p, &ms) : NULL;
        if (!p || proved_text)
            continue;
        g_autofree char *text = g_strdup_printf(
            "warpstave-certificate 1\ndesign %s\npolicy 0\nsymbols 1\nsymbol 0 tiles launch - "
            "least %d "
            "most - modulus 1 every 1 left 0 text \nrelations 0\nbegin end\nnodes 0\nend\n",
            p->design_hash, p->tiles.launch == WS_LAUNCH_SINGLE);
        g_autoptr(WsVerification) v = ws_verify(p, text);
        g_test_message("%s alone: %s", name, v->reason);
        if (v->answer == WS_VERIFIED)
            g_test_fail_printf("%s: not proved, but verified", name);
        n++;
    }
    return n;
}

static void alone(void)
{
    g_assert_cmpuint(run_alone("tests/designs/memory") + run_alone("tests/designs/once-proved") +
                         run_alone("tests/designs/broken") + run_alone("tests/designs/catalogue"),
                     >, 80);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/verify/proved", proved);
    g_test_add_func("/verify/forged", forged);
    g_test_add_func("/verify/alone", alone);
    return g_test_run();
}
