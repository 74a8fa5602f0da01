/* Bundles: what is written is what the runner reads; sizes that cannot run are refused by name. */
#include "base/folder.h"
#include "launch/bundle.h"
#include "model/edit.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#include "runner/manifest.h"

#include <glib/gstdio.h>
#include <string.h>

#define GEMM WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave"

static WsProgram *program_of(const char *file)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (!p) {
        g_autofree char *why = ws_findings_print(findings, file);
        g_test_message("%s", why);
    }
    g_assert_nonnull(p);
    return p;
}

/* Arithmetic by convention: 2MNK, block scales and an overall factor not counted per term. */
static void test_flops(void)
{
    static const char *const designs[] = { "projects/gemm-bf16/design.wstave",
                                           "projects/gemm-fp8-block/design.wstave" };
    const WsSize size[] = { { "M", 256 }, { "N", 512 }, { "K", 1024 } };
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, designs[i], NULL);
        g_autoptr(WsProgram) p = program_of(path);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsLaunchValues) v =
            ws_launch_values(p, size, G_N_ELEMENTS(size), FALSE, findings);
        g_assert_nonnull(v);
        g_assert_cmpfloat(ws_launch_flops(p, v), ==, 2.0 * 256 * 512 * 1024);
    }
}

/* GEMM with another reference: flops of 2*M*N*K for each time that a kernel must do the sum; none
 * where what it must do is not known. */
static void test_flops_of(void)
{
#define SUM "sum(k < K, A[m,k]*B[n,k])"
    static const struct {
        const char *reference;
        gboolean known;
        double more; /* flops for each element of C beside the sum's */
    } row[] = {
        { SUM, TRUE, 0 },
        { "max(" SUM ", 0.0)", TRUE, 1 },
        { SUM "/(1 + exp(-" SUM "))", TRUE, 4 },
        { "select(" SUM " > 0, " SUM ", 0.0)", TRUE, 2 },
        { "select(n <= m, " SUM ", 0.0)", FALSE, 0 },
        { "sum(k < K, select(k <= m, A[m,k]*B[n,k], 0.0))", FALSE, 0 },
        { "sum(k < K, A[m,k]*B[n,k]*sum(i < K, A[m,i]))", FALSE, 0 },
        { "sum(k < m, A[m,k]*B[n,k])", FALSE, 0 },
    };
    const WsSize size[] = { { "M", 256 }, { "N", 512 }, { "K", 1024 } };
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(GEMM, &text, NULL, NULL));
    const char *was = "\"C[m,n] = " SUM "\"";
    const char *at = strstr(text, was);
    g_assert_nonnull(at);
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autofree char *dir = g_dir_make_tmp("warpstave-bundle-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(dir, "d.wstave", NULL);
        g_autofree char *other = g_strdup_printf("%.*s\"C[m,n] = %s\"%s", (int)(at - text), text,
                                                 row[i].reference, at + strlen(was));
        g_assert_true(g_file_set_contents(path, other, -1, NULL));
        g_autoptr(WsProgram) p = program_of(path);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsLaunchValues) v =
            ws_launch_values(p, size, G_N_ELEMENTS(size), FALSE, findings);
        g_test_message("%s: %g", row[i].reference, ws_launch_flops(p, v));
        g_assert_cmpfloat(ws_launch_flops(p, v), ==,
                          row[i].known ? 256.0 * 512 * (2 * 1024 + row[i].more) : 0);
        ws_folder_remove(dir);
    }
#undef SUM
}

/* Products of different rates have no common one: no floor is made of the first. */
static void test_rate(void)
{
    g_autoptr(WsProgram) p = program_of(WS_SOURCE_ROOT "/projects/attention-d128/design.wstave");
    for (guint mixed = 0; mixed < 2; mixed++) {
        WsBundleSpec spec = { .program = p, .timed_ptx = "" };
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        WsMma *last = NULL;
        for (guint i = 0; i < p->n_ops; i++)
            last = p->op[i]->mma ? p->op[i]->mma : last;
        const WsDtype was = last->a_type;
        last->a_type = mixed ? WS_DTYPE_E4M3 : was;
        g_autofree char *text = ws_bundle_manifest(&spec, findings, &error);
        g_assert_no_error(error);
        g_assert_nonnull(strstr(text, mixed ? "\nrate 0\n" : "\nrate 4096\n"));
        last->a_type = was;
    }
}

static guint64 folder_bytes(const char *dir, guint *files)
{
    guint64 bytes = 0;
    GDir *d = g_dir_open(dir, 0, NULL);
    const char *name;
    *files = 0;
    while ((name = g_dir_read_name(d))) {
        g_autofree char *path = g_build_filename(dir, name, NULL);
        GStatBuf st;
        g_assert_cmpint(g_stat(path, &st), ==, 0);
        bytes += (guint64)st.st_size;
        ++*files;
    }
    g_dir_close(d);
    return bytes;
}

static void test_round_trip(void)
{
    g_autoptr(WsProgram) p = program_of(GEMM);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *top = g_dir_make_tmp("warpstave-bundle-XXXXXX", NULL);
    g_autofree char *dir = g_build_filename(top, "b", NULL);
    g_autofree char *slash = g_strconcat(dir, "/", NULL);
    const WsSize ragged[] = { { "M", 1000 }, { "N", 1016 }, { "K", 520 } };
    const WsSize none[] = { { "M", 0 } };
    const WsSize tiny[] = { { "M", 1 }, { "N", 8 }, { "K", 8 } };
    const WsBundleCase cases[] = { { NULL, 0 }, { ragged, 3 }, { none, 1 }, { tiny, 3 } };
    const char *reference[] = { NULL, NULL, "// reference" };
    const guint cta[] = { 0, 7 };
    WsRecordChoice choice = { 0, 32, 0, 4, 2, cta };
    WsBundleSpec spec = { .program = p,
                          .timed_ptx = "// timed",
                          .traced_ptx = "// traced",
                          .debug_ptx = "// debug",
                          .reference_ptx = reference,
                          .choice = &choice,
                          .cases = cases,
                          .n_cases = 4,
                          .seed = 11,
                          .sustained = -1 };
    for (guint twice = 0; twice < 2; twice++) { /* an existing bundle is replaced */
        ws_bundle_write(&spec, slash, findings, &error);
        g_assert_no_error(error);
    }
    guint files;
    g_assert_cmpuint(folder_bytes(dir, &files), <, 1 << 20);
    g_assert_cmpuint(files, ==, 6);
    g_assert_cmpuint(folder_bytes(top, &files), <, G_MAXUINT64);
    g_assert_cmpuint(files, ==, 1); /* nothing temporary stays beside it */

    g_autofree WsManifest *m = g_new0(WsManifest, 1);
    char why[512] = "";
    ws_manifest_load(dir, m, why, sizeof why);
    g_assert_cmpstr(why, ==, "");
    g_assert_cmpuint(m->threads, ==, 384);
    g_assert_cmpuint(m->shared, ==, 229440);
    g_assert_cmpstr(m->hash, ==, p->design_hash);
    g_assert_cmpint(m->n_tensors, ==, 3);
    g_assert_cmpint(m->tensor[2].access, ==, WS_RUN_WRITE);
    g_assert_cmpfloat(m->tensor[2].tolerance_abs, ==, 2e-2);
    g_assert_cmpstr(m->tensor[2].reference, ==, "reference-2.ptx");
    g_assert_cmpint(m->n_maps, ==, (int)p->n_maps);
    g_assert_cmpfloat(m->rate, ==, 4096);
    g_assert_cmpint(m->n_cases, ==, 4);
    g_assert_cmpfloat(m->case_[0].flops, ==, 2.0 * 8192 * 8192 * 8192);
    g_assert_true(m->case_[0].grid_sms);
    g_assert_cmpint(m->case_[0].tiles, ==, 64 * 32);
    g_assert_cmpint(m->case_[1].tiles, ==, 8 * 4);
    g_assert_cmpint(m->case_[1].tensor[1].extent[0], ==, 1016);
    g_assert_cmpint(m->case_[1].tensor[1].stride[0], ==, 520);
    g_assert_cmpint(m->case_[2].grid, ==, 0); /* M = 0 launches nothing */
    g_assert_cmpint(m->case_[3].tiles, ==, 1);
    g_assert_cmpint(m->n_waits, >=, 3);
    g_autoptr(WsRecorder) plan = ws_recorder_new(p, &choice);
    g_assert_cmpuint(m->record_bytes, ==, plan->cta_bytes * 2);
    g_assert_cmpuint(m->cta[1], ==, 7);

    /* The design inside is the design. */
    g_autofree char *path = g_build_filename(dir, "design.wstave", NULL);
    g_autoptr(WsProgram) again = program_of(path);
    g_assert_cmpstr(again->design_hash, ==, p->design_hash);
    ws_folder_remove(dir);
    g_rmdir(top);
}

/* Devices of a mesh: what each of them is, their flags, and what devices exchange; a build that the
 * runner cannot read there is refused. */
static void test_devices(void)
{
    g_autoptr(WsProgram) p = program_of(WS_SOURCE_ROOT "/tests/designs/mesh/ag-gemm.wstave");
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    const WsSize size[] = { { "W", 3 }, { "TM", 5 }, { "TN", 2 }, { "SMS", 44 } };
    const WsBundleCase cases[] = { { NULL, 0 }, { size, 4 } };
    WsBundleSpec spec = { .program = p, .timed_ptx = "// timed", .cases = cases, .n_cases = 2 };
    g_autofree char *text = ws_bundle_manifest(&spec, findings, &error);
    g_assert_no_error(error);
    g_autofree WsManifest *m = g_new0(WsManifest, 1);
    char why[512] = "";
    ws_manifest_parse(text, m, why, sizeof why);
    g_assert_cmpstr(why, ==, "");
    g_assert_true(m->mesh);
    g_assert_cmpstr(m->size[m->rank], ==, "rank");
    g_assert_cmpint(m->n_flags, ==, 2);
    g_assert_cmpstr(m->flag[1], ==, "rows");
    g_assert_cmpint(m->tensor[1].access, ==, WS_RUN_EXCHANGE);
    const WsRunCase *c = &m->case_[1];
    g_assert_cmpint(c->devices, ==, 3);
    g_assert_cmpint(c->grid, ==, 44);
    g_assert_false(c->grid_sms);
    g_assert_cmpint(c->elements[0], ==, 3); /* ready: an element for each device */
    g_assert_cmpint(c->adds[0], ==, 44);
    g_assert_cmpint(c->elements[1], ==, 15); /* rows: of all devices */
    g_assert_cmpint(c->adds[1], ==, 2);
    g_assert_cmpfloat(c->flops, ==, 0); /* not known which device does what */
    spec.debug_ptx = "// debug";
    g_assert_null(ws_bundle_manifest(&spec, findings, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_LENS);
}

static const struct {
    WsSize size[3];
    guint n;
    const char *message;
} refused[] = {
    { { { "K", 0 } }, 1, "K >= 1 does not hold for K = 0" },
    { { { "K", 1001 } },
      1,
      "dimension 0 of tensor A has a stride of 1001 elements (2002 bytes) for "
      "M=8192 N=8192 K=1001; TMA needs a multiple of 16 bytes" },
    { { { "N", 1001 } }, 1, "dimension 0 of tensor C has a stride of 1001" },
    { { { "M", -1 } }, 1, "size M is -1" },
    { { { "Q", 1 } }, 1, "no size 'Q'" },
    { { { "M", G_MAXINT64 }, { "N", G_MAXINT64 } }, 2, "" },
    { { { "M", G_GINT64_CONSTANT(1) << 40 } }, 1, "extent 1099511627776" },
};

static void test_refused(void)
{
    g_autoptr(WsProgram) p = program_of(GEMM);
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        WsBundleCase one = { refused[i].size, refused[i].n };
        WsBundleSpec spec = { .program = p, .timed_ptx = "", .cases = &one, .n_cases = 1 };
        g_assert_false(ws_bundle_write(&spec, "/nonexistent/b", findings, &error));
        g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_SIZES);
        g_autofree char *text = ws_findings_print(findings, NULL);
        if (!strstr(text, refused[i].message))
            g_test_message("no '%s' in: %s", refused[i].message, text);
        g_assert_nonnull(strstr(text, refused[i].message));
        g_assert_cmpint(ws_findings_exit_code(findings, FALSE), ==, 1);
    }
}

static void test_lens(void)
{
    g_autoptr(WsProgram) p = program_of(GEMM);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    static const WsBundleCase many[WS_MANIFEST_CASES + 1];
    WsBundleSpec spec = {
        .program = p, .timed_ptx = "", .cases = many, .n_cases = WS_MANIFEST_CASES + 1
    };
    g_assert_false(ws_bundle_write(&spec, "/nonexistent/b", findings, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_LENS);
    g_assert_cmpstr(error->message, ==, "a bundle holds at most 64 cases");
}

/* A kernel that writes nothing shows nothing when it runs. */
static void test_none(void)
{
    static const char text[] = "{ \"warpstave\": 1, \"name\": \"none\", \"target\": \"sm_90a\", "
                               "\"tensors\": [], \"tiles\": { "
                               "\"axes\": { \"t\": 1 }, \"launch\": \"single\" }, \"groups\": [{ "
                               "\"name\": \"math\", \"role\": "
                               "\"worker\", \"warps\": 4, \"values\": [{ \"name\": \"y\", "
                               "\"dtype\": \"i32\", \"tile\": [64, "
                               "64] }], \"body\": [{ \"compute\": \"y = row*100 + col\" }] }] }";
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "none", findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_assert_nonnull(p);
    const WsBundleCase one = { 0 };
    WsBundleSpec spec = { .program = p, .timed_ptx = "", .cases = &one, .n_cases = 1 };
    g_assert_false(ws_bundle_write(&spec, "/nonexistent/b", findings, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_LENS);
    g_assert_nonnull(strstr(error->message, "tensors: the design has none"));
}

static char *manifest_of(const char *file, const char *edit_text)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, file, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsDesign) design = ws_design_load(path, findings);
    if (edit_text) {
        g_autoptr(WsEdit) edit = ws_edit_parse(edit_text, &error);
        g_assert_no_error(error);
        WsDesign *next = ws_design_apply(design, edit, findings);
        ws_design_unref(design);
        design = next;
    }
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    WsBundleSpec spec = { .program = p, .timed_ptx = "" };
    char *text = ws_bundle_manifest(&spec, findings, &error);
    g_assert_no_error(error);
    return text;
}

/* Hidden parameters: the counter of a dynamic launch, the curve of a tile order. */
static void test_hidden(void)
{
    char why[256];
    g_autofree WsManifest *m = g_new(WsManifest, 1);
    g_autofree char *plain = manifest_of("tests/designs/gemm-cooperative.wstave", NULL);
    g_assert_true(ws_manifest_parse(plain, m, why, sizeof why));
    g_assert_false(m->counter);
    g_assert_cmpint(m->case_[0].hilbert[0], ==, 0);
    g_autofree char *dynamic = manifest_of("tests/designs/attention-fa3-dynamic.wstave", NULL);
    g_assert_true(ws_manifest_parse(dynamic, m, why, sizeof why));
    g_assert_true(m->counter);
    g_autofree char *curve =
        manifest_of("tests/designs/gemm-cooperative.wstave", "set tiles order \"hilbert(tm, tn)\"");
    g_assert_true(ws_manifest_parse(curve, m, why, sizeof why));
    g_assert_cmpint(m->case_[0].hilbert[0] * m->case_[0].hilbert[1], ==, m->case_[0].tiles);
}

/* A folder that is no bundle is never replaced. */
static void test_foreign_folder(void)
{
    g_autoptr(WsProgram) p = program_of(GEMM);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *dir = g_dir_make_tmp("warpstave-bundle-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "thesis.txt", NULL);
    g_assert_true(g_file_set_contents(path, "x", -1, NULL));
    WsBundleSpec spec = { .program = p, .timed_ptx = "" };
    g_assert_false(ws_bundle_write(&spec, dir, findings, &error));
    g_assert_nonnull(strstr(error->message, "exists and is not a bundle"));
    g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
    ws_folder_remove(dir);
    g_clear_error(&error);
    g_assert_false(ws_bundle_write(&spec, "/nonexistent/b", findings, &error));
    g_assert_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/launch/bundle/round-trip", test_round_trip);
    g_test_add_func("/launch/bundle/flops", test_flops);
    g_test_add_func("/launch/bundle/devices", test_devices);
    g_test_add_func("/launch/bundle/flops-of", test_flops_of);
    g_test_add_func("/launch/bundle/rate", test_rate);
    g_test_add_func("/launch/bundle/refused", test_refused);
    g_test_add_func("/launch/bundle/lens", test_lens);
    g_test_add_func("/launch/bundle/none", test_none);
    g_test_add_func("/launch/bundle/hidden", test_hidden);
    g_test_add_func("/launch/bundle/foreign-folder", test_foreign_folder);
    return g_test_run();
}
