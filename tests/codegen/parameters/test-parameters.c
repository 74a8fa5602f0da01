/* Constants of exports, as a reader edits them (edited.py tries values that the writer need not
 * have thought of): either the kernel refuses the value, or the edited text is the one that is
 * generated from the changed design, and comes back proved. */
#include "../../remove.h"
#include "../../whole.h"
#include "check/check.h"
#include "cli/shown.h"
#include "codegen/python/python.h"
#include "import/import.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <glib/gstdio.h>
#include <string.h>

typedef char *(*Export)(const WsProgram *p, gboolean remarks, const WsPyJudge *judge,
                        GError **error);

static WsProgram *program_of(const char *path, const WsSetting *set, guint n)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(path, findings);
    WsProgram *p = d ? ws_elaborate(d, set, n, findings) : NULL;
    if (p && ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        ws_program_unref(p);
        p = NULL;
    }
    return p;
}

static gboolean proved(const WsProgram *p, gpointer unused)
{
    (void)unused;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    return v->kind == WS_VERDICT_PROVED && !ws_findings_count(findings, WS_SEVERITY_ERROR);
}

/* What a script of this folder prints; NULL: there is no Python. Caller frees. */
static char *script(const char *name, const char *what, const char *a, const char *b)
{
    g_autofree char *python = g_find_program_in_path("python3");
    g_autofree char *path = g_strconcat(WS_SOURCE_ROOT "/tests/codegen/parameters/", name, NULL);
    if (!python)
        return NULL;
    const char *const argv[] = { python, "-B", path, what, a, b, NULL };
    g_autoptr(GError) error = NULL;
    g_autofree char *errors = NULL;
    char *out = NULL;
    g_spawn_sync(NULL, (char **)argv, NULL, 0, NULL, NULL, &out, &errors, NULL, &error);
    g_assert_no_error(error);
    if (*errors)
        g_error("%s %s: %s", name, what, errors);
    return out;
}

/* "BN=128 BK=32" -> settings, whose names lie in `text`, which is cut. */
static guint settings_of(char *text, WsSetting *set)
{
    guint n = 0;
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value = '\0';
        g_assert_cmpuint(n, <, 4);
        set[n++] = (WsSetting){ word, g_ascii_strtoll(value + 1, NULL, 10) };
    }
    return n;
}

typedef struct {
    const char *design, *as;
    gboolean rehearsed; /* by the judge of the command line; else the check alone */
    const char *takes;  /* values that must be taken, that a kernel may not refuse all */
    const char *refuses, *refuses_too;
} Case;

static const Case cases[] = {
    { "projects/gemm-bf16/design", "gluon", FALSE, "BN=128 STAGES=3", "STAGES=5" },
    { "projects/gemm-bf16/design", "tle", FALSE, "BN=128 SLAB=32", "BN=512" },
    { "projects/gemm-bf16-pingpong/design", "gluon", FALSE, "BM=64 BN=64", "BM=64 BN=64 BK=32" },
    { "projects/gemm-bf16-deferred/design", "gluon", FALSE, "BK=32", "BK=128" },
    { "projects/attention-d64/design", "gluon", FALSE, "STAGES=4 QBUF=3", "STAGES=4 QBUF=4" },
    { "projects/attention-d128/design", "gluon", FALSE, NULL, "STAGES=3" },
    { "tests/designs/gemm-aliased", "gluon", TRUE, "BN=64", "BN=32" },
    { "tests/designs/gemm-aliased", "tle", TRUE, "BN=128", "BN=32" },
    { "tests/designs/gemm-tle", "tle", FALSE, "BK=128", "BM=64" },
    { "tests/designs/gemm-one-consumer", "tle", FALSE, "BM=64 BK=16", "BN=384" },
    { "tests/designs/attention-fa3-causal", "tle", FALSE, "BN=64", "BM=64" },
    { "tests/designs/attention-straight", "tle", FALSE, "BN=64", "BN=0" },
    { "tests/designs/sparse-mla-pipes", "tle", TRUE, "BK=32", "DV=256 DQK=288", "TAIL=16" },
    { "tests/designs/moves/gemm-scales", "gluon", FALSE, NULL, "BK=-1" },
};

static void try_one(const Case *c, const char *path, Export export, const char *folder,
                    const char *title)
{
    g_autofree char *words = g_strdup(title), *base = g_strdelimit(g_strdup(title), " ", '_');
    g_autofree char *name = g_strconcat(folder, "/", base, ".py", NULL);
    g_autofree char *text = NULL, *other = g_strconcat(folder, "/generated.py", NULL);
    WsSetting set[4];
    const guint n = settings_of(words, set);
    g_autoptr(WsProgram) p = program_of(path, set, n);
    if (!p)
        g_error("%s --as %s takes %s, where it is no design", c->design, c->as, title);
    g_autoptr(GError) error = NULL;
    g_autofree char *generated = export(p, FALSE, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(g_file_set_contents(other, generated, -1, NULL));
    g_autofree char *said = script("edited.py", "same", name, other);
    if (strcmp(said, "same\n") != 0)
        g_error("%s --as %s at %s: %s", c->design, c->as, title, said);
    g_assert_true(g_file_get_contents(name, &text, NULL, NULL));
    g_autoptr(WsImport) back =
        ws_import_text(text, strlen(text), name, ws_import_from(c->as), &error);
    g_assert_no_error(error);
    g_autofree char *gap = ws_import_gap(back);
    g_assert_cmpstr(gap, ==, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) again = ws_elaborate(back->design, NULL, 0, findings);
    if (!again || !proved(again, NULL))
        g_error("%s --as %s at %s does not come back proved", c->design, c->as, title);
    g_unlink(name);
    g_unlink(other);
}

static gboolean among(const char *said, const char *word, const char *title)
{
    g_autofree char *line = g_strdup_printf("%s %s\n", word, title);
    return strstr(said, line) != NULL;
}

static void test_case(gconstpointer data)
{
    const Case *c = data;
    g_autofree char *path = g_strdup_printf("%s/%s.wstave", WS_SOURCE_ROOT, c->design);
    g_autofree char *folder = g_dir_make_tmp("warpstave-parameters-XXXXXX", NULL);
    g_autofree char *file = g_strconcat(folder, "/export.py", NULL);
    const Export export = !strcmp(c->as, "gluon") ? ws_generate_gluon : ws_generate_tle;
    g_autoptr(WsCliShown) shown = ws_cli_shown_new();
    const WsPyJudge judge = { c->rehearsed ? ws_cli_shown : proved, shown };
    g_autoptr(WsProgram) p = program_of(path, NULL, 0);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = export(p, FALSE, &judge, &error);
    g_assert_no_error(error);
    g_assert_true(g_file_set_contents(file, text, -1, NULL));
    g_autofree char *said = script("edited.py", "try", file, folder);
    g_unlink(file);
    if (!said) {
        g_test_skip("no python3");
    } else {
        g_auto(GStrv) line = g_strsplit(said, "\n", -1);
        for (guint i = 0, accepted = 0; line[i]; i++) {
            if (g_str_has_prefix(line[i], "accepted ") && test_takes(accepted++, 8, 12))
                try_one(c, path, export, folder, line[i] + strlen("accepted "));
        }
        if (c->takes)
            g_assert_true(among(said, "accepted", c->takes));
        g_assert_true(among(said, "refused", c->refuses));
        if (c->refuses_too)
            g_assert_false(among(said, "accepted", c->refuses_too)); /* may be no name at all */
    }
    remove_tree(folder);
}

/* Tensors that lie otherwise: descriptors follow their strides, whatever else is refused. */
static void test_tensors(gconstpointer data)
{
    const gboolean gluon = GPOINTER_TO_INT(data);
    g_autoptr(WsProgram) p =
        program_of(WS_SOURCE_ROOT "/tests/designs/moves/gemm-scales.wstave", NULL, 0);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = (gluon ? ws_generate_gluon : ws_generate_tle)(p, FALSE, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(text, "A_strides = spaced(\"A\", A, (M, K), (K, 1), "));
    g_assert_nonnull(strstr(text, "A, [M, K], A_strides, ["));
    g_autofree char *folder = g_dir_make_tmp("warpstave-parameters-XXXXXX", NULL);
    g_autofree char *file = g_strconcat(folder, "/export.py", NULL);
    g_assert_true(g_file_set_contents(file, text, -1, NULL));
    g_autofree char *said = script("tensors.py", file, NULL, NULL);
    remove_tree(folder);
    if (!said) {
        g_test_skip("no python3");
        return;
    }
    g_test_message("%s", said);
    g_assert_nonnull(strstr(said, "1.."));
    g_assert_null(strstr(said, "not ok"));
}

/* Nobody shows anything: no constant is a parameter. */
static void test_no_judge(void)
{
    g_autoptr(WsProgram) p =
        program_of(WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave", NULL, 0);
    g_autofree char *text = ws_generate_gluon(p, FALSE, NULL, NULL);
    g_assert_nonnull(strstr(text, "gl.static_assert(STAGES == 4, "));
    g_assert_nonnull(strstr(text, "def launch(A, B, C):"));
    g_assert_null(strstr(text, " or BN == "));
}

/* What stands for numbers. */
static void test_says(void)
{
    static const char *const line[] = {
        "def launch(A, B, C, BN=256, BK=64, STAGES=4, SLAB=64):",
        "gl.static_assert(BM == 128, \"BM: nothing else goes with the rest\")",
        "gl.static_assert(BN == 128 or BN == 256, \"BN: not tried at this value\")",
        "gl.static_assert((BN != 256) + (BK != 64) + (STAGES != 4) + (SLAB != 64) <= 2,",
        "for s in gl.static_range(BN // SLAB):",
        "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])",
        "A, [M, K], A_strides, [128, BK],",
    };
    const WsPyJudge judge = { proved, NULL };
    g_autoptr(WsProgram) p =
        program_of(WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave", NULL, 0);
    g_autofree char *text = ws_generate_gluon(p, FALSE, &judge, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(line); i++) {
        if (!strstr(text, line[i]))
            g_error("no '%s'", line[i]);
    }
    g_autofree char *remarks = ws_generate_gluon(p, TRUE, &judge, NULL);
    g_assert_nonnull(strstr(remarks, "for s in gl.static_range(BN // SLAB):"));
    g_assert_nonnull(strstr(remarks, "# [groups/load/"));
}

/* --set of the command line stays when another constant is tried. */
static void test_set(void)
{
    const WsSetting set = { "BN", 128 };
    const WsPyJudge judge = { proved, NULL };
    g_autoptr(WsProgram) p =
        program_of(WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave", &set, 1);
    g_autofree char *text = ws_generate_gluon(p, FALSE, &judge, NULL);
    g_assert_nonnull(strstr(text, "gl.static_assert(BN == 128 or BN == 256, "));
    g_assert_nonnull(strstr(text, "STAGES == 5 or STAGES == 6,\n"));
    g_assert_nonnull(strstr(text, "gl.static_assert(BN != 256 or STAGES != 6,"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        /* the larger ones take 10 s and more each: ./dev soak */
        if (!g_test_slow() &&
            (strstr(cases[i].design, "attention") || strstr(cases[i].design, "deferred") ||
             strstr(cases[i].design, "pingpong") || strstr(cases[i].design, "mla")))
            continue;
        if (!test_sanitized() && !g_test_slow() && strstr(cases[i].design, "scales"))
            continue;
        g_autofree char *path =
            g_strdup_printf("/parameters/%s/%s/%s", cases[i].as, cases[i].design, cases[i].refuses);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    g_test_add_data_func("/parameters/tensors/gluon", GINT_TO_POINTER(1), test_tensors);
    g_test_add_data_func("/parameters/tensors/tle", GINT_TO_POINTER(0), test_tensors);
    g_test_add_func("/parameters/no-judge", test_no_judge);
    g_test_add_func("/parameters/says", test_says);
    g_test_add_func("/parameters/set", test_set);
    return g_test_run();
}
