/* The verifier of certificates: every proved design there is has a certificate that is verified,
 * but for those that unverified.def names; the certificate of a right design does not pass for a
 * broken one. */
#include "../whole.h"
#include "check/check.h"
#include "forge.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/barrier.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "verify/verify.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

static WsProgram *load_set(const char *file, const WsSetting *set)
{
    g_autofree char *text = NULL;
    gsize length;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_assert_true(g_file_get_contents(file, &text, &length, NULL));
    g_autoptr(WsDesign) design = ws_design_parse(text, length, file, findings);
    WsProgram *p = design ? ws_elaborate(design, set, set != NULL, findings) : NULL;
    if (p && ws_findings_exit_code(findings, FALSE) != 0)
        g_clear_pointer(&p, ws_program_unref);
    return p;
}

static WsProgram *load(const char *file)
{
    return load_set(file, NULL);
}

/* NULL if it is not proved. A proof without a certificate: the reason. */
static char *certificate_of(const WsProgram *p, double *ms)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsCheckOptions o = { .certificate = TRUE, .protocol_only = TRUE };
    const gint64 begun = g_get_monotonic_time();
    g_autoptr(WsVerdict) v = ws_check(p, &o, findings);
    *ms = (double)(g_get_monotonic_time() - begun) / 1000;
    /* errors of legality leave a verdict about the protocol */
    if (v->kind != WS_VERDICT_PROVED || ws_findings_exit_code(findings, FALSE) != 0)
        return NULL;
    return g_strdup(v->certificate ? v->certificate : v->uncertified);
}

/* A design of the source tree, checked once for all cases: they read it. */
typedef struct {
    WsProgram *program; /* NULL if it is refused */
    char *certificate;  /* as of certificate_of */
    double ms;          /* which that took */
} Design;

static void design_free(gpointer data)
{
    Design *d = data;
    g_clear_pointer(&d->program, ws_program_unref);
    g_free(d->certificate);
    g_free(d);
}

static GHashTable *designs;

static const Design *design(const char *name)
{
    Design *d = g_hash_table_lookup(designs, name);
    if (d)
        return d;
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, name, NULL);
    d = g_new0(Design, 1);
    d->program = load(file);
    d->certificate = d->program ? certificate_of(d->program, &d->ms) : NULL;
    g_hash_table_insert(designs, g_strdup(name), d);
    return d;
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
    const Design *d = design(name);
    const WsProgram *p = d->program;
    const char *text = d->certificate, *reason = NULL;
    for (guint i = 0; unverified[i].file; i++)
        if (!strcmp(unverified[i].file, name))
            reason = unverified[i].reason;
    if (!text) {
        if (reason)
            g_test_fail_printf("%s is in unverified.def, but is not proved", name);
        return;
    }
    g_autoptr(WsVerification) v = ws_verify(p, text);
    g_autofree char *line = ws_verification_text(v);
    const double took = (double)v->micros / 1000;
    g_string_append_printf(t->table, "%6u %9.1f %9.1f  %s%s%s\n", v->nodes, d->ms, took, name,
                           v->answer == WS_VERIFIED ? "" : ": ",
                           v->answer == WS_VERIFIED ? "" : line);
    t->proof += d->ms;
    t->verification += took;
    t->verified += v->answer == WS_VERIFIED;
    t->others += v->answer != WS_VERIFIED;
    /* not handled, or without a certificate, for the reason that is given there */
    if (reason ? v->answer == WS_VERIFIED || v->answer == WS_VERIFY_REJECTED ||
                     !(strstr(v->reason, reason) || strstr(text, reason))
               : v->answer != WS_VERIFIED)
        g_test_fail_printf("%s: %s (%.60s)", name, line, text);
}

static int by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef void (*Visit)(gpointer data, const char *name);

/* Every design below a folder, by name. Their certificates are verified in either of CI's runs;
 * what forges some takes all, since it compares designs, and a third of each folder with the
 * sanitizers. */
static void for_designs(const char *folder, Visit visit, gpointer data)
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
            for_designs(name, visit, data);
        else if (g_str_has_suffix(name, ".wstave") &&
                 (visit == (Visit)judge ? test_either(i) : test_takes(i, 1, 3)))
            visit(data, name);
    }
}

static void proved(void)
{
    Tally t = { .table = g_string_new(NULL) };
    for_designs("projects", (Visit)judge, &t);
    for_designs("tests/designs", (Visit)judge, &t);
    g_test_message(
        "nodes, ms of the proof, ms of the verification\n%s%u certificates, %u verified; "
        "proofs %.0f ms, verifications %.0f ms",
        t.table->str, t.verified + t.others, t.verified, t.proof, t.verification);
    g_assert_cmpuint(t.verified, >=, test_least(150, test_quick() ? 2 : 1, 2));
    g_string_free(t.table, TRUE);
}

/* Constants that make another design of it: counters owe there, and a certificate, which has no
 * form for that, has fifteen times as many nodes as the proof. */
static void owing(void)
{
    if (!g_test_slow()) {
        g_test_skip("half a minute");
        return;
    }
    g_autofree char *file =
        g_build_filename(WS_SOURCE_ROOT, "projects/attention-d64/design.wstave", NULL);
    double ms;
    g_autoptr(WsProgram) p = load_set(file, &(WsSetting){ "CAUSAL", 1 });
    g_assert_nonnull(p);
    g_autofree char *text = certificate_of(p, &ms);
    g_assert_nonnull(text);
    g_autoptr(WsVerification) v = ws_verify(p, text);
    g_autofree char *line = ws_verification_text(v);
    g_test_message("%s", line);
    g_assert_cmpint(v->answer, ==, WS_VERIFIED);
}

/* Certificates of right designs with the hash of a broken one in them: its mended sibling's among
 * them, if there is one of the same agents, barriers and launch. */
typedef struct {
    GPtrArray *program,
        *text; /* WsProgram*, char*: its certificate, NULL if it is not proved; of `designs` */
} Known;

static void collect(Known *k, const char *name)
{
    const Design *d = design(name);
    if (!d->program)
        return;
    g_ptr_array_add(k->program, d->program);
    g_ptr_array_add(k->text, d->certificate);
}

static gboolean alike(const WsProgram *p, const WsProgram *q)
{
    gboolean same = p->n_agents == q->n_agents && p->n_barriers == q->n_barriers &&
                    p->cluster == q->cluster && p->tiles->launch == q->tiles->launch;
    for (guint b = 0; same && b < p->n_barriers; b++)
        same = p->barrier[b].kind == q->barrier[b].kind &&
               p->barrier[b].slots == q->barrier[b].slots &&
               p->barrier[b].array == q->barrier[b].array;
    return same;
}

static void forged(void)
{
    Known k = { g_ptr_array_new(), g_ptr_array_new() };
    guint tried = 0, broken = 0;
    for_designs("tests/designs", (Visit)collect, &k);
    for (guint i = 0; i < k.program->len; i++) {
        const WsProgram *q = k.program->pdata[i];
        const guint before = tried;
        /* whole pairs of laps are no matter of certificates: M in section 3 of docs/soundness.md */
        if (strstr(q->file, "/two-laps-too-far-"))
            continue;
        for (guint j = 0; j < k.program->len && !k.text->pdata[i]; j++) {
            const WsProgram *p = k.program->pdata[j];
            if (!k.text->pdata[j] || !alike(p, q))
                continue;
            g_auto(GStrv) part = g_strsplit(k.text->pdata[j], p->design_hash, 2);
            g_autofree char *text = g_strjoinv(q->design_hash, part);
            g_autoptr(WsVerification) v = ws_verify(q, text);
            if (v->answer == WS_VERIFIED)
                g_test_fail_printf("%s: verified with the certificate of %s", q->file, p->file);
            tried++;
        }
        broken += tried > before;
    }
    g_test_message("%u forged certificates of %u broken designs, none verified", tried, broken);
    g_assert_cmpuint(broken, >, test_least(80, 1, 4));
    g_assert_cmpuint(tried, >, test_least(500, 1, 12));
    g_ptr_array_unref(k.program);
    g_ptr_array_unref(k.text);
}

/* Certificates made by the verifier's own parts (forge.c): of a design that the check does not
 * prove none may be verified. That those of many right ones are shows that the maker is a fair
 * judge. */
typedef struct {
    guint seen, right, proved, wrong;
} Forged;

static void forge_one(Forged *n, const char *name)
{
    const Design *d = design(name);
    const WsProgram *p = d->program;
    const char *proof = d->certificate;
    g_autofree char *reason = NULL;
    gboolean verified = FALSE;
    if (proof && !test_takes(n->seen++, 3, 3))
        return;
    for (guint way = 0; p && way < 6 && !verified; way++) {
        g_autofree char *why = NULL;
        g_autofree char *text = ws_forge(p, way % 2, FALSE, (gint64)1 << way / 2, 300, &why);
        g_autoptr(WsVerification) v = text ? ws_verify(p, text) : NULL;
        verified = v && v->answer == WS_VERIFIED;
        g_free(reason);
        reason = g_strdup(v ? v->reason : why);
        if (v && v->answer == WS_VERIFY_UNREADABLE)
            g_test_fail_printf("%s: forge.c makes a bad certificate: %s", name, v->reason);
    }
    if (p && !proof) {
        g_test_message("%s: %s", name, verified ? "verified" : reason);
        if (verified)
            g_test_fail_printf("%s: not proved, but verified", name);
    }
    n->proved += proof != NULL;
    n->right += proof && verified;
    n->wrong += p && !proof;
}

static void forge(void)
{
    Forged n = { 0 };
    for_designs("tests/designs", (Visit)forge_one, &n);
    g_test_message(
        "%u not proved, none of them verified; of %u proved %u verified without the engine",
        n.wrong, n.proved, n.right);
    g_assert_cmpuint(n.wrong, >, test_least(150, 1, 4));
    g_assert_cmpuint(n.right, >, n.proved * 2 / 3);
}

/* The verifier shares with the engine the reader of designs and the elaboration: nothing else may
 * be included. */
static void independent(void)
{
    static const char *const may[] = {
        "verify/",           "expr/expr.h",     "model/design.h",      "model/finding.h",
        "program/program.h", "program/parts/",  "program/forward.h",   "program/op_kind.h",
        "program/op.h",      "program/lanes.h", "program/elaborate.h",
    };
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "src/verify", NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *file = g_build_filename(path, name, NULL), *text = NULL;
        if (!g_str_has_suffix(name, ".c") && !g_str_has_suffix(name, ".h"))
            continue;
        g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
        for (const char *at = text; (at = strstr(at, "#include \"")); at++) {
            const char *what = at + strlen("#include \"");
            gboolean fine = FALSE;
            for (guint i = 0; i < G_N_ELEMENTS(may); i++)
                fine |= g_str_has_prefix(what, may[i]);
            if (!fine)
                g_test_fail_printf("%s includes %.40s", name, what);
        }
    }
}

/* What nobody received is no success; an answer that is none anyway stays. */
static void lost(void)
{
    static const struct {
        const char *design, *to;
        int code;
        gboolean told;
    } runs[] = {
        { "projects/gemm-bf16/design.wstave", "/dev/null", 0, FALSE },
        { "projects/gemm-bf16/design.wstave", "/dev/full", 2, TRUE },
        { "projects/gemm-fp16/design.wstave", "/dev/null", 1, FALSE },
        { "projects/gemm-fp16/design.wstave", "/dev/full", 1, TRUE },
    };
    double ms;
    g_autoptr(WsProgram) p = load(WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave");
    g_autofree char *text = certificate_of(p, &ms), *file = NULL;
    g_autoptr(GError) error = NULL;
    const int fd = g_file_open_tmp("warpstave-certificate-XXXXXX", &file, &error);
    g_assert_no_error(error);
    g_assert_true(g_close(fd, NULL) && g_file_set_contents(file, text, -1, NULL));
    for (guint i = 0; i < G_N_ELEMENTS(runs); i++) {
        g_autofree char *line =
            g_strdup_printf(WS_BUILD_ROOT "/bin/warpstave-verify " WS_SOURCE_ROOT "/%s %s > %s",
                            runs[i].design, file, runs[i].to);
        const char *const argv[] = { "sh", "-c", line, NULL };
        g_autofree char *said = NULL;
        int status;
        g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                                   &said, &status, &error));
        g_assert_true(WIFEXITED(status));
        g_assert_cmpint(WEXITSTATUS(status), ==, runs[i].code);
        g_assert_true(runs[i].told == (strstr(said, "cannot write to standard output") != NULL));
    }
    g_assert_cmpint(g_unlink(file), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    designs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, design_free);
    g_test_add_func("/verify/proved", proved);
    g_test_add_func("/verify/owing", owing);
    g_test_add_func("/verify/forged", forged);
    g_test_add_func("/verify/forge", forge);
    g_test_add_func("/verify/independent", independent);
    g_test_add_func("/verify/lost", lost);
    const int status = g_test_run();
    g_hash_table_unref(designs);
    return status;
}
