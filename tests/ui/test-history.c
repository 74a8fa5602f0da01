/* Undo, the journal and the answers' thread, without a display. */
#include "../edit_line.h"
#include "../remove.h"
#include "model/findings.h"
#include "program/parts/buffer.h"
#include "program/program.h"
#include "scenario/seen.h"
#include "ui/document/document.h"
#include "ui/document/journal.h"

#include <glib/gstdio.h>
#include <string.h>

#define GEMM "projects/gemm-bf16/design.wstave"

static WsDocument *open_document(void)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, GEMM, NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_autoptr(GError) error = NULL;
    WsDocument *d = ws_document_new();
    g_assert_true(ws_document_open(d, file, &error));
    g_assert_no_error(error);
    return d;
}

static char *text_of(WsDocument *d)
{
    return ws_design_print(ws_document_latest(d));
}

static void commit_line(WsDocument *d, const char *line, const char *coalesce)
{
    g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(d));
    g_assert_true(draft_line(draft, line));
    ws_draft_name(draft, "Set %s", "a field");
    g_assert_true(ws_document_commit(d, draft, coalesce));
}

/* --- history -------------------------------------------------------------------------------------
 */

static void undo_and_redo(void)
{
    g_autoptr(WsDocument) d = open_document();
    g_autofree char *first = text_of(d);
    g_assert_false(ws_document_dirty(d));
    g_assert_false(ws_document_undo(d));
    for (guint i = 2; i < 12; i++) {
        g_autofree char *line = g_strdup_printf("set groups/mma note \"state %u\"", i);
        commit_line(d, line, NULL);
    }
    g_autofree char *last = text_of(d);
    g_assert_true(ws_document_dirty(d));
    g_assert_cmpstr(ws_history_undo_name(ws_document_history(d)), ==, "Set a field");
    guint n = 0;
    while (ws_document_undo(d))
        n++;
    g_assert_cmpuint(n, ==, 10);
    g_autofree char *back = text_of(d);
    g_assert_cmpstr(back, ==, first);
    g_assert_false(ws_document_dirty(d));
    while (ws_document_redo(d))
        n--;
    g_assert_cmpuint(n, ==, 0);
    g_autofree char *again = text_of(d);
    g_assert_cmpstr(again, ==, last);
    seen_document_settle(d);
    g_assert_true(ws_document_design(d) == ws_document_latest(d));
}

static void coalescing(void)
{
    g_autoptr(WsDocument) d = open_document();
    g_autofree char *first = text_of(d);
    for (guint i = 0; i < 5; i++) {
        g_autofree char *line = g_strdup_printf("set . note \"typed %u\"", i);
        commit_line(d, line, "note");
    }
    g_assert_cmpuint(ws_history_n(ws_document_history(d)), ==, 2);
    commit_line(d, "set . note \"another field\"", "other");
    g_assert_cmpuint(ws_history_n(ws_document_history(d)), ==, 3);
    g_assert_true(ws_document_undo(d));
    g_assert_true(ws_document_undo(d));
    g_autofree char *back = text_of(d);
    g_assert_cmpstr(back, ==, first);
    /* After undo nothing is joined to what was before. */
    commit_line(d, "set . note \"a\"", "note");
    g_assert_cmpuint(ws_history_n(ws_document_history(d)), ==, 2);
    commit_line(d, "set . note \"b\"", "note");
    g_assert_cmpuint(ws_history_n(ws_document_history(d)), ==, 2);
}

static void byte_limit(void)
{
    g_autoptr(WsDocument) d = open_document();
    g_autoptr(WsHistory) h = ws_history_new(20000);
    ws_history_reset(h, ws_document_latest(d), FALSE);
    for (guint i = 0; i < 100; i++)
        ws_history_push(h, ws_document_latest(d), "step", NULL, 0, 1000);
    g_assert_cmpuint(ws_history_n(h), <, 10);
    g_assert_cmpuint(ws_history_n(h), >, 3);
    g_assert_true(ws_history_dirty(h));
    while (ws_history_undo(h))
        ;
    g_assert_true(ws_history_dirty(h)); /* the saved state is no longer kept */
}

/* --- answers -------------------------------------------------------------------------------------
 */

static void count(WsDocument *d, guint *n)
{
    ++*n;
}

/* Many edits in a row: the answers shown in the end are those of the last, never of another one as
 * if it were the last. */
static void never_stale(void)
{
    g_autoptr(WsDocument) d = open_document();
    guint changed = 0;
    g_signal_connect(d, "changed", G_CALLBACK(count), &changed);
    for (guint i = 2; i < 8; i++) {
        g_autofree char *line = g_strdup_printf("set buffers/a note \"%u\"", i);
        commit_line(d, line, NULL);
        g_assert_true(ws_document_pending(d));
    }
    commit_line(
        d, "set . constants {\"BM\":128,\"BN\":256,\"BK\":64,\"WM\":64,\"STAGES\":3,\"SLAB\":64}",
        NULL);
    seen_document_settle(d);
    g_assert_true(ws_document_design(d) == ws_document_latest(d));
    g_assert_cmpuint(ws_document_program(d)->buffer[0].stages, ==, 3);
    g_assert_nonnull(ws_document_verdict(d));
    g_assert_cmpuint(changed, >=, 1);
    g_assert_cmpuint(changed, <=, 16);
}

static gboolean passed(gpointer done)
{
    *(gboolean *)done = TRUE;
    return G_SOURCE_REMOVE;
}

/* Taken back before its answers came: what is shown stays, and nothing is waited for. */
static void undone_at_once(void)
{
    g_autoptr(WsDocument) d = open_document();
    const WsProgram *was = ws_document_program(d);
    commit_line(d, "set . note \"a\"", NULL);
    g_assert_true(ws_document_undo(d));
    g_assert_false(ws_document_pending(d));
    gboolean done = FALSE;
    g_timeout_add(150, passed, &done);
    while (!done)
        g_main_context_iteration(NULL, TRUE);
    g_assert_true(ws_document_program(d) == was);
    g_assert_true(ws_document_redo(d));
    seen_document_settle(d);
    g_assert_true(ws_document_design(d) == ws_document_latest(d));
}

/* A step that cannot be elaborated leaves the rest to be drawn, and no verdict. */
static void draft(void)
{
    g_autoptr(WsDocument) d = open_document();
    commit_line(d, "insert groups/mma body 0 {\"wait\":\"nothing\"}", NULL);
    seen_document_settle(d);
    g_assert_nonnull(ws_document_program(d));
    g_assert_cmpuint(ws_document_left_out(d), ==, 1);
    g_assert_null(ws_document_verdict(d));
    g_assert_cmpuint(ws_findings_count(ws_document_findings(d), WS_SEVERITY_ERROR), >, 0);
    g_assert_nonnull(ws_document_predicted(d));
    ws_document_undo(d);
    seen_document_settle(d);
    g_assert_cmpuint(ws_document_left_out(d), ==, 0);
    g_assert_nonnull(ws_document_verdict(d));
}

/* Trying shows another design and leaves no trace of it. */
static void trying(void)
{
    g_autoptr(WsDocument) d = open_document();
    WsFocus focus = { "groups/load/body/0/do/0/do/2", G_MAXUINT, -1, -1 };
    ws_document_select(d, &focus, WS_SELECT_REPLACE, FALSE);
    g_autofree char *first = text_of(d);
    const WsProgram *was = ws_document_program(d);
    g_autoptr(GArray) nodes = ws_document_selected_nodes(d);
    g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(d));
    g_assert_true(ws_edit_nudge(draft, (const guint64 *)(gpointer)nodes->data, 1, -1));
    ws_document_try(d, draft->design);
    seen_document_settle(d);
    g_assert_true(ws_document_program(d) != was);
    g_assert_cmpstr(ws_document_focus(d)->step, ==, "groups/load/body/0/do/0/do/1");
    g_assert_nonnull(ws_document_former_clock(d));
    ws_document_try(d, NULL);
    g_assert_true(ws_document_program(d) == was);
    g_assert_cmpstr(ws_document_focus(d)->step, ==, "groups/load/body/0/do/0/do/2");
    g_autofree char *now = text_of(d);
    g_assert_cmpstr(now, ==, first);
    g_assert_false(ws_document_dirty(d));
    /* Committed, the tried design is simply kept. */
    ws_document_try(d, draft->design);
    seen_document_settle(d);
    g_assert_true(ws_document_commit(d, draft, NULL));
    seen_document_settle(d);
    g_assert_cmpstr(ws_document_focus(d)->step, ==, "groups/load/body/0/do/0/do/1");
    g_assert_true(ws_document_undo(d));
    seen_document_settle(d);
    g_assert_cmpstr(ws_document_focus(d)->step, ==, "groups/load/body/0/do/0/do/2");
}

/* --- journal -------------------------------------------------------------------------------------
 */

static char *journal_file(void)
{
    g_autofree char *folder = ws_journal_folder();
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name = dir ? g_dir_read_name(dir) : NULL;
    return name ? g_build_filename(folder, name, NULL) : NULL;
}

static void recover(void)
{
    WsDocument *d = open_document();
    g_assert_null(journal_file());
    for (guint i = 0; i < 3; i++)
        commit_line(d, i == 2 ? "set . note \"z\"" : "set . note \"y\"", "join");
    commit_line(d, "set groups/mma note \"kept\"", NULL);
    commit_line(d, "set groups/mma note \"undone\"", NULL);
    ws_document_undo(d);
    ws_document_undo(d);
    ws_document_redo(d);
    g_autofree char *wanted = text_of(d);
    g_autoptr(GPtrArray) none = ws_journal_lost(); /* this program holds it */
    g_assert_cmpuint(none->len, ==, 0);
    seen_document_crash(d);
    g_object_unref(d);
    g_autoptr(GPtrArray) lost = ws_journal_lost();
    g_assert_cmpuint(lost->len, ==, 1);
    const WsLost *found = lost->pdata[0];
    g_autofree char *text = ws_design_print(found->design);
    g_assert_cmpstr(text, ==, wanted);
    g_autofree char *name = g_file_get_basename(found->file);
    g_assert_cmpstr(name, ==, "design.wstave");
    ws_lost_remove(found);
    g_autoptr(GPtrArray) gone = ws_journal_lost();
    g_assert_cmpuint(gone->len, ==, 0);
}

/* Cut anywhere, the journal gives a state that was committed, and the last one that is whole. */
static void cut_journal(void)
{
    WsDocument *d = open_document();
    g_autoptr(GPtrArray) states = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(states, text_of(d));
    for (guint i = 0; i < 4; i++) {
        g_autofree char *line = g_strdup_printf("set . note \"state %u\"", i);
        commit_line(d, line, NULL);
        g_ptr_array_add(states, text_of(d));
    }
    g_autofree char *path = journal_file();
    g_autofree char *all = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(path, &all, &length, NULL));
    seen_document_crash(d);
    g_object_unref(d);
    guint last = 0;
    for (gsize cut = 0; cut <= length; cut += cut + 200 < length ? 37 : 1) {
        g_assert_true(g_file_set_contents(path, all, (gssize)cut, NULL));
        WsLost *lost = ws_lost_read(path);
        if (!lost)
            continue;
        g_autofree char *text = ws_design_print(lost->design);
        guint at = 0;
        g_assert_true(g_ptr_array_find_with_equal_func(states, text, g_str_equal, &at));
        g_assert_cmpuint(at, >=, last);
        last = at;
        ws_lost_free(lost);
    }
    g_assert_cmpuint(last, ==, 4);
    g_unlink(path);
}

/* Closed in peace or saved, nothing is left to recover. */
static void peaceful(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "history-test.wstave", NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    WsDocument *d = open_document();
    commit_line(d, "set . note \"a\"", NULL);
    g_autofree char *there = journal_file();
    g_assert_nonnull(there);
    g_assert_true(ws_document_save(d, file, &error));
    g_assert_no_error(error);
    g_assert_false(ws_document_dirty(d));
    g_assert_true(ws_document_file_is_ours(d));
    g_assert_null(journal_file());
    commit_line(d, "set . note \"b\"", NULL);
    g_assert_true(ws_document_dirty(d));
    g_object_unref(d);
    g_assert_null(journal_file());
    g_unlink(path);
}

int main(int argc, char **argv)
{
    g_autofree char *state = g_dir_make_tmp("warpstave-history-XXXXXX", NULL);
    g_setenv("XDG_STATE_HOME", state, TRUE);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/history/undo", undo_and_redo);
    g_test_add_func("/history/coalesce", coalescing);
    g_test_add_func("/history/limit", byte_limit);
    g_test_add_func("/answers/never-stale", never_stale);
    g_test_add_func("/answers/undone-at-once", undone_at_once);
    g_test_add_func("/answers/draft", draft);
    g_test_add_func("/answers/trying", trying);
    g_test_add_func("/journal/recover", recover);
    g_test_add_func("/journal/cut", cut_journal);
    g_test_add_func("/journal/peaceful", peaceful);
    const int failed = g_test_run();
    remove_tree(state);
    return failed;
}
