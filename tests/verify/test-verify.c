/* The verifier of certificates: every proved design there is has a certificate that is verified,
 * but for those that unverified.def names; the certificate of a right design does not pass for a
 * broken one. */
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
    if (v->kind != WS_VERDICT_PROVED || ws_findings_exit_code(findings, FALSE) != 0)
        return NULL;
    return g_strdup(v->certificate ? v->certificate : "");
}

static const struct {
    const char *file, *reason;
} unverified[] = {
#define UNVERIFIED(file, reason) { file, reason },
#include "unverified.def"
#undef UNVERIFIED
    { NULL, NULL },
};

typedef struct {
    GString *table;
    guint verified, others;
    double proof, verification;
} Tally;

static void judge(Tally *t, const char *name)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, name, NULL);
    g_autoptr(WsProgram) p = load(file);
    double ms = 0;
    g_autofree char *text = p ? certificate_of(p, &ms) : NULL;
    const char *reason = NULL;
    for (guint i = 0; unverified[i].file; i++)
        if (!strcmp(unverified[i].file, name))
            reason = unverified[i].reason;
    if (!text) {
        if (reason)
            g_test_fail_printf("%s stands in unverified.def, but is not proved", name);
        return;
    }
    g_autoptr(WsVerification) v = ws_verify(p, text);
    g_autofree char *line = ws_verification_text(v);
    const double took = (double)v->micros / 1000;
    g_string_append_printf(t->table, "%6u %9.1f %9.1f  %s%s%s\n", v->nodes, ms, took, name,
                           v->answer == WS_VERIFIED ? "" : ": ",
                           v->answer == WS_VERIFIED ? "" : line);
    t->proof += ms;
    t->verification += took;
    t->verified += v->answer == WS_VERIFIED;
    t->others += v->answer != WS_VERIFIED;
    /* not handled, for the reason that is given there */
    if (reason ? v->answer != WS_VERIFY_REFUSED || !strstr(v->reason, reason)
               : v->answer != WS_VERIFIED)
        g_test_fail_printf("%s: %s", name, line);
}

static int by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void judge_below(Tally *t, const char *folder)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        g_ptr_array_add(names, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(names, by_text);
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        g_autofree char *full = g_build_filename(WS_SOURCE_ROOT, name, NULL);
        if (g_file_test(full, G_FILE_TEST_IS_DIR))
            judge_below(t, name);
        else if (g_str_has_suffix(name, ".wstave"))
            judge(t, name);
    }
}

static void proved(void)
{
    Tally t = { .table = g_string_new(NULL) };
    judge_below(&t, "projects");
    judge_below(&t, "tests/designs");
    g_test_message(
        "nodes, ms of the proof, ms of the verification\n%s%u certificates, %u verified; "
        "proofs %.0f ms, verifications %.0f ms",
        t.table->str, t.verified + t.others, t.verified, t.proof, t.verification);
    g_assert_cmpuint(t.verified, >=, 150);
    g_string_free(t.table, TRUE);
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
