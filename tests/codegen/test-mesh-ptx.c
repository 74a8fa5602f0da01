/* PTX of devices of a mesh: each step becomes the instructions that the order of memory asks for,
 * in that order, ptxas takes them, and the reader of PTX lists what devices do to each other by
 * name: no verdict on one CTA is one on them. */
#include "../check/design.h"
#include "../whole.h"
#include "codegen/generate.h"
#include "import/import.h"
#include "program/program.h"

static char *ptx_of(const char *file, const Edit *edit)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsProgram) p = edited_program(file, edit, NULL, 0, findings);
    g_assert_nonnull(p);
    char *text = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    return text;
}

/* Each stands in the text behind the one before it. */
static void in_order(const char *text, const char *const *what)
{
    for (const char *at = text; *what; what++) {
        at = strstr(at, *what);
        if (!at)
            g_error("'%s' does not stand where it should", *what);
        at += strlen(*what);
    }
}

static void test_order(void)
{
    static const char *const rs[] = { "groups/store/body/0\n",
                                      "red.release.sys.global.add.u64",
                                      "ld.acquire.sys.global.u64",
                                      "fence.proxy.async.global;",
                                      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add",
                                      "cp.async.bulk.wait_group.read 0;",
                                      "cp.async.bulk.wait_group 0;",
                                      "red.release.sys.global.add.u64",
                                      "ld.acquire.sys.global.u64",
                                      NULL };
    static const char *const ag[] = { "red.release.sys.global.add.u64",
                                      "ld.acquire.sys.global.u64",
                                      "fence.proxy.async.global;",
                                      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group",
                                      "cp.async.bulk.wait_group 0;",
                                      "red.release.sys.global.add.u64",
                                      "groups/load/",
                                      "ld.acquire.sys.global.u64",
                                      "fence.proxy.async.global;",
                                      "cp.async.bulk.tensor.2d.shared::cluster.global",
                                      NULL };
    g_autofree char *one = ptx_of("mesh/gemm-rs.wstave", NULL);
    g_autofree char *two = ptx_of("mesh/ag-gemm.wstave", NULL);
    in_order(one, rs);
    in_order(two, ag);
}

static void test_kinds(void)
{
    static const struct {
        Edit edit[MAX_EDITS];
        const char *text;
    } of[] = {
        { { { "\"device\": \"all\" }", "\"device\": \"all\", \"order\": \"relaxed\" }" } },
          "red.relaxed.sys.global.add.u64" },
        { { { "\"device\": \"all\" }", "\"device\": \"all\", \"scope\": \"gpu\" }" } },
          "red.release.gpu.global.add.u64" },
        { { { "\"device\": \"all\" }",
              "\"device\": \"all\", \"order\": \"relaxed\", \"scope\": \"gpu\" }" } },
          "red.relaxed.gpu.global.add.u64" },
        { { { "\"at_least\": 1 }", "\"at_least\": 1, \"order\": \"relaxed\" }" } },
          "ld.relaxed.sys.global.u64" },
        { { { "\"at_least\": 1 }", "\"at_least\": 1, \"scope\": \"gpu\" }" } },
          "ld.acquire.gpu.global.u64" },
        { { { "\"at_least\": 1 }", "\"equals\": 1 }" } }, "setp.ne.s64 p, v," },
    };
    for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
        g_autofree char *text = ptx_of("mesh/gemm-rs.wstave", of[i].edit);
        g_test_message("%s", of[i].text);
        g_assert_nonnull(strstr(text, of[i].text));
    }
    g_autofree char *text = ptx_of("mesh/gemm-rs.wstave", NULL);
    g_assert_null(strstr(text, "relaxed.sys"));
    g_assert_null(strstr(text, "setp.ne.s64 p, v,"));
}

static void test_assembles(void)
{
    static const char *const files[] = { "mesh/gemm-rs.wstave", "mesh/ag-gemm.wstave" };
    if (!ws_ptxas_available()) {
        g_test_skip("no ptxas here");
        return;
    }
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = ptx_of(files[i], NULL);
        WsPtxasReport *report = ws_ptxas_run(text, NULL, &error);
        g_assert_no_error(error);
        g_assert_true(ws_ptxas_report_clean(report));
        ws_ptxas_report_free(report);
    }
}

/* What is listed names the instruction; none of it counts as harmless. */
static void listed(const WsImport *import, const char *what, const char *source)
{
    for (guint i = 0; i < import->unread->len; i++) {
        const WsUnread *u = import->unread->pdata[i];
        if (!u->harmless && strstr(u->what, what) && strstr(u->source, source))
            return;
    }
    g_error("'%s' (%s) is not listed", what, source);
}

static void test_read_back(void)
{
    static const char *const files[] = { "mesh/gemm-rs.wstave", "mesh/ag-gemm.wstave" };
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = ptx_of(files[i], NULL);
        g_autoptr(WsImport) import =
            ws_import_text(text, strlen(text), "mesh.ptx", ws_import_from("ptx"), &error);
        g_assert_no_error(error);
        g_autofree char *gap = ws_import_gap(import);
        g_test_message("%s", gap);
        g_assert_nonnull(gap);
        listed(import, "red.release.sys.global.add.u64", "red.release.sys");
        listed(import, i ? "a copy" : "cp.reduce", i ? "cp.async.bulk.tensor" : "cp.reduce.async");
        listed(import, "", "ld.acquire.sys.global.u64");
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/codegen/mesh-ptx/order", test_order);
    g_test_add_func("/codegen/mesh-ptx/kinds", test_kinds);
    g_test_add_func("/codegen/mesh-ptx/assembles", test_assembles);
    g_test_add_func("/codegen/mesh-ptx/read back", test_read_back);
    return g_test_run();
}
