/* Small files that people write or that a crash leaves: a machine description (and a design played
 * on it), the rules of `pick`, a table of measured launches, a journal of the studio. The first
 * byte says which. Each is read or refused with a reason. */
#include "cli/cycles_table.h"
#include "cli/pick/pick.h"
#include "clock/clock.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#include "ui/document/journal.h"

#include <glib/gstdio.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *dir, *file;
static WsProgram *program;

static void need(gboolean holds)
{
    if (!holds)
        abort();
}

static void clean(void)
{
    g_autofree char *design = g_build_filename(dir, "x", "design.wstave", NULL);
    g_autofree char *folder = g_build_filename(dir, "x", NULL);
    g_unlink(design);
    g_rmdir(folder);
    g_unlink(file);
    g_rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    const char *fast = g_file_test("/dev/shm", G_FILE_TEST_IS_DIR) ? "/dev/shm" : g_get_tmp_dir();
    dir = g_build_filename(fast, "warpstave-fuzz-XXXXXX", NULL);
    g_assert_nonnull(g_mkdtemp(dir));
    file = g_build_filename(dir, "input", NULL);
    atexit(clean);
    g_autofree char *folder = g_build_filename(dir, "x", NULL);
    g_autofree char *path = g_build_filename(folder, "design.wstave", NULL);
    g_autofree char *text = NULL;
    gsize length;
    g_assert_true(g_mkdir(folder, 0700) == 0 &&
                  g_file_get_contents(WS_SOURCE_ROOT "/tests/designs/gemm-one-consumer.wstave",
                                      &text, &length, NULL) &&
                  g_file_set_contents(path, text, (gssize)length, NULL));
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(path, findings);
    program = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_assert_nonnull(program);
    return 0;
}

/* Whatever the machine: the play ends with a result or a finding. */
static void machine(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsMachine) m = ws_machine_load(file, &error);
    need(!m == !!error);
    if (!m)
        return;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsLaunchValues) v = ws_launch_values(program, NULL, 0, FALSE, findings);
    const WsClockOptions options = { .max_steps = 20000 };
    g_autoptr(WsClockResult) r = v ? ws_clock_run(program, v, m, &options, findings) : NULL;
    need(r ? r->cycles >= 0 : findings->list->len > 0);
    g_autofree char *text = r ? ws_clock_result_text(r, program) : NULL;
    need(!r || *text);
}

static void rules(const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GHashTable) sizes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    const gint64 value = 4096;
    g_hash_table_insert(sizes, g_strdup("M"), g_memdup2(&value, sizeof value));
    g_autoptr(GPtrArray) choices = ws_pick_judge(text, sizes, &error);
    need(!choices == !!error);
    const WsPickChoice *best = choices ? ws_pick_best(choices) : NULL;
    need(!best || (best->applies && best->design));
}

/* What is refused is said on the standard error; here it would drown the fuzzer's own words. */
static void table(void)
{
    static WsMachine *m;
    if (!m)
        m = ws_machine_load(NULL, NULL);
    const int error = dup(STDERR_FILENO);
    g_assert_nonnull(freopen("/dev/null", "w", stderr));
    const int code = ws_cli_cycles_table(file, m, 0.1, FALSE);
    fflush(stderr);
    dup2(error, STDERR_FILENO);
    close(error);
    need(code >= WS_EXIT_YES && code <= WS_EXIT_DEFECT);
}

static void journal(void)
{
    WsLost *lost = ws_lost_read(file);
    need(!lost || (lost->design && lost->path));
    g_autofree char *text = lost ? ws_design_print(lost->design) : NULL;
    need(!lost || *text);
    ws_lost_free(lost);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    const char *body = (const char *)data + 1;
    g_autofree char *text = g_strndup(body, size - 1);
    FILE *f = fopen(file, "wb");
    g_assert_true(f && fwrite(body, 1, size - 1, f) == size - 1 && fclose(f) == 0);
    switch (*data & 3) {
    case 0:
        machine();
        break;
    case 1:
        rules(text);
        break;
    case 2:
        table();
        break;
    default:
        journal();
    }
    return 0;
}
