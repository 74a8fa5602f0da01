/* The machine that predictions are played on: chosen from a file, kept for the next document,
 * refused when it is no machine or one of another target. */
#include "ui/app/settings.h"
#include "ui/document/document_machine.h"

#include <glib/gstdio.h>

static char *folder;

static WsDocument *open_gemm(void)
{
    g_autofree char *path =
        g_build_filename(WS_SOURCE_ROOT, "projects/gemm-bf16/design.wstave", NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_autoptr(GError) error = NULL;
    WsDocument *d = ws_document_new();
    ws_document_open(d, file, &error);
    g_assert_no_error(error);
    return d;
}

/* A copy of the built-in machine, for a target, of a name and, where it has one, another rate of
 * the tensor pipe. */
static GFile *machine_file(const char *name, const char *target, double columns)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsMachine) m = ws_machine_for(NULL, target, &error);
    g_autofree char *base = g_strdup_printf("%s.json", name);
    g_autofree char *path = g_build_filename(folder, base, NULL);
    g_assert_no_error(error);
    g_free(m->name);
    g_free(m->target);
    m->name = g_strdup(name);
    m->target = g_strdup(target);
    if (ws_machine_has(m, WS_MACHINE_MMA_COLUMNS))
        ws_machine_set(m, WS_MACHINE_MMA_COLUMNS, columns, "a test");
    ws_machine_save(m, path, &error);
    g_assert_no_error(error);
    return g_file_new_for_path(path);
}

static void choosing(void)
{
    g_autoptr(WsDocument) d = open_gemm();
    g_autoptr(GFile) slow = machine_file("slow", "sm_90a", 1);
    g_autoptr(GError) error = NULL;
    const gint64 cycles = ws_document_clock(d)->cycles;
    g_assert_false(ws_document_machine_chosen(d));
    g_assert_true(ws_document_use_machine(d, slow, &error));
    g_assert_no_error(error);
    g_assert_true(ws_document_machine_chosen(d));
    g_assert_cmpstr(ws_document_machine(d)->name, ==, "slow");
    g_assert_cmpint(ws_document_clock(d)->cycles, >, cycles * 3 / 2);
    g_assert_cmpstr(ws_document_predicted(d)->device, ==, "slow");

    g_autoptr(WsDocument) next = open_gemm(); /* of the same person */
    g_assert_cmpstr(ws_document_machine(next)->name, ==, "slow");
    g_assert_cmpint(ws_document_clock(next)->cycles, ==, ws_document_clock(d)->cycles);

    g_assert_true(ws_document_use_machine(d, NULL, &error));
    g_assert_false(ws_document_machine_chosen(d));
    g_assert_cmpint(ws_document_clock(d)->cycles, ==, cycles);
    g_assert_cmpstr(ws_document_machine(next)->name, ==, "slow"); /* it keeps its own */
    g_autoptr(WsDocument) last = open_gemm();
    g_assert_false(ws_document_machine_chosen(last));
}

static void refused(WsDocument *d, GFile *file, const char *why)
{
    g_autoptr(GError) error = NULL;
    const WsMachine *before = ws_document_machine(d);
    const gint64 cycles = ws_document_clock(d)->cycles;
    g_assert_false(ws_document_use_machine(d, file, &error));
    g_assert_nonnull(error);
    g_assert_nonnull(g_strstr_len(error->message, -1, why));
    g_assert_true(ws_document_machine(d) == before);
    g_assert_cmpint(ws_document_clock(d)->cycles, ==, cycles);
}

static void refusing(void)
{
    g_autoptr(WsDocument) d = open_gemm();
    g_autoptr(GFile) other = machine_file("other", "gfx950", 2);
    g_autofree char *design =
        g_build_filename(WS_SOURCE_ROOT, "projects/gemm-bf16/design.wstave", NULL);
    g_autofree char *nothing = g_build_filename(folder, "nothing.json", NULL);
    g_autoptr(GFile) not_there = g_file_new_for_path(nothing);
    g_autoptr(GFile) no_machine = g_file_new_for_path(design);
    refused(d, other, "gfx950");
    refused(d, not_there, "nothing.json");
    refused(d, no_machine, "warpstave_machine");
}

/* What was chosen and is gone when the studio starts: the built-in one, without a word. */
static void gone(void)
{
    g_autoptr(GFile) slow = machine_file("gone", "sm_90a", 1);
    g_autoptr(GError) error = NULL;
    {
        g_autoptr(WsDocument) d = open_gemm();
        g_assert_true(ws_document_use_machine(d, slow, &error));
    }
    g_assert_true(g_file_delete(slow, NULL, &error));
    g_autoptr(WsDocument) d = open_gemm();
    g_assert_false(ws_document_machine_chosen(d));
    g_assert_nonnull(ws_document_clock(d));
    g_assert_true(ws_document_use_machine(d, NULL, &error));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ws_ui_setup();
    folder = g_dir_make_tmp("warpstave-machine-XXXXXX", NULL);
    g_test_add_func("/machine/choosing", choosing);
    g_test_add_func("/machine/refusing", refusing);
    g_test_add_func("/machine/gone", gone);
    const int failed = g_test_run();
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
    g_rmdir(folder);
    g_free(folder);
    return failed;
}
