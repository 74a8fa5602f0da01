/* The code panel in step with the selection, and the jobs, with stand-ins for the command line
 * tool. Skipped without a display. */
#include "ui/app/settings.h"
#include "ui/document/jobs.h"
#include "ui/document/process.h"
#include "ui/panels/code_panel.h"

#include <glib/gstdio.h>
#include <gtksourceview/gtksource.h>

static gboolean display;

#define STEP "groups/mma/body/0/do/0/do/1"

typedef struct {
    WsDocument *document;
    GtkWidget *window, *code, *jobs;
} Fixture;

static void set_up(Fixture *f)
{
    g_autofree char *path =
        g_build_filename(WS_SOURCE_ROOT, "projects/gemm-bf16/design.wstave", NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_autoptr(GError) error = NULL;
    f->document = ws_document_new();
    f->code = ws_code_panel_new(f->document);
    f->jobs = ws_jobs_new(f->document);
    f->window = gtk_window_new();
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(box), f->code);
    gtk_box_append(GTK_BOX(box), f->jobs);
    gtk_window_set_child(GTK_WINDOW(f->window), box);
    ws_document_open(f->document, file, &error);
    g_assert_no_error(error);
}

static void tear_down(Fixture *f)
{
    gtk_window_destroy(GTK_WINDOW(f->window));
    while (g_main_context_iteration(NULL, FALSE))
        ;
    g_object_unref(f->document);
}

static void run_until_idle(WsJobs *jobs)
{
    gint64 end = g_get_monotonic_time() + 180 * G_USEC_PER_SEC;
    while (ws_jobs_running(jobs) && g_get_monotonic_time() < end)
        g_main_context_iteration(NULL, TRUE);
    g_assert_false(ws_jobs_running(jobs));
}

/* A stand-in for `warpstave`: a shell script. */
static char *stand_in(const char *script)
{
    g_autoptr(GError) error = NULL;
    char *folder = g_dir_make_tmp("warpstave-test-XXXXXX", &error);
    g_assert_no_error(error);
    g_autofree char *path = g_build_filename(folder, "tool", NULL);
    g_autofree char *text = g_strconcat("#!/bin/sh\n", script, "\n", NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_assert_cmpint(g_chmod(path, 0700), ==, 0);
    g_setenv("WARPSTAVE", path, TRUE);
    return folder;
}

static void drop(char *folder)
{
    g_autofree char *path = g_build_filename(folder, "tool", NULL);
    g_unlink(path);
    g_rmdir(folder);
    g_free(folder);
    g_unsetenv("WARPSTAVE");
}

static void select_step(Fixture *f, const char *step)
{
    WsFocus focus = { .step = step, .agent = G_MAXUINT, .tile = -1, .round = -1 };
    ws_document_select(f->document, &focus, WS_SELECT_REPLACE, TRUE);
}

static GtkTextBuffer *shown(Fixture *f)
{
    g_autoptr(GPtrArray) todo = g_ptr_array_new();
    g_ptr_array_add(todo, f->code);
    for (guint i = 0; i < todo->len; i++) {
        GtkWidget *w = todo->pdata[i];
        if (GTK_IS_TEXT_VIEW(w))
            return gtk_text_view_get_buffer(GTK_TEXT_VIEW(w));
        for (GtkWidget *c = gtk_widget_get_first_child(w); c; c = gtk_widget_get_next_sibling(c))
            g_ptr_array_add(todo, c);
    }
    g_assert_not_reached();
}

static char *line_of(Fixture *f, guint line)
{
    GtkTextIter a, b;
    GtkTextBuffer *buffer = shown(f);
    gtk_text_buffer_get_iter_at_line(buffer, &a, (gint)line);
    b = a;
    gtk_text_iter_forward_to_line_end(&b);
    return gtk_text_buffer_get_text(buffer, &a, &b, FALSE);
}

static void need_display(Fixture *f, void (*test)(Fixture *f))
{
    if (!display) {
        g_test_skip("no display");
        return;
    }
    set_up(f);
    test(f);
    tear_down(f);
}

/* --- the panel
 * ------------------------------------------------------------------------------------ */

static void selection_marks(Fixture *f)
{
    guint first, last;
    g_assert_cmpint(ws_code_panel_kind(WS_CODE_PANEL(f->code)), ==, WS_CODE_PROGRAM);
    g_assert_false(ws_code_panel_marked(WS_CODE_PANEL(f->code), &first, &last));
    select_step(f, STEP);
    g_assert_true(ws_code_panel_marked(WS_CODE_PANEL(f->code), &first, &last));
    g_autofree char *program = line_of(f, first);
    g_assert_nonnull(strstr(program, "mma_fence"));
    g_assert_nonnull(strstr(program, "; " STEP "#fence"));
    /* a text that has not been made: nothing to mark; once it is made it is shown */
    ws_code_panel_show(WS_CODE_PANEL(f->code), WS_CODE_LLVM);
    g_assert_false(ws_code_panel_marked(WS_CODE_PANEL(f->code), &first, &last));
    ws_document_take_code(f->document, WS_CODE_PTX,
                          g_strdup("mov;\n// begin inline asm\n// " STEP "#fence\nwgmma.fence;\n"
                                   "// end inline asm\n// begin inline asm\n// groups/load/body/0\n"
                                   "x;\n// end inline asm\n"));
    g_assert_cmpint(ws_code_panel_kind(WS_CODE_PANEL(f->code)), ==, WS_CODE_PTX);
    g_assert_true(ws_code_panel_marked(WS_CODE_PANEL(f->code), &first, &last));
    g_assert_cmpuint(first, ==, 2);
    g_assert_cmpuint(last, ==, 4);
    ws_document_select(f->document, NULL, WS_SELECT_REPLACE, FALSE);
    g_assert_false(ws_code_panel_marked(WS_CODE_PANEL(f->code), &first, &last));
}

/* CUDA C++: the comment of a step, and the statements behind it. */
static void statements_of_a_step(Fixture *f)
{
    guint first, last;
    select_step(f, STEP);
    ws_code_panel_show(WS_CODE_PANEL(f->code), WS_CODE_CUDA);
    ws_document_take_code(f->document, WS_CODE_CUDA,
                          g_strdup("void mma_role()\n{\n    // wait full  [groups/load/body/0]\n"
                                   "    mbar_wait(0);\n    // mma acc first\n    // [" STEP
                                   "]\n    wgmma_fence();\n    {\n        wgmma();\n    }\n"
                                   "    // wait  [groups/load/body/0]\n}\n"));
    g_assert_true(ws_code_panel_marked(WS_CODE_PANEL(f->code), &first, &last));
    g_assert_cmpuint(first, ==, 5);
    g_assert_cmpuint(last, ==, 9);
}

static void lines_name_steps(Fixture *f)
{
    ws_document_take_code(f->document, WS_CODE_PTX, g_strdup("a\n// " STEP "#fence\nb\nc\n"));
    ws_document_take_code(f->document, WS_CODE_LLVM,
                          g_strdup("  call void asm sideeffect \"// " STEP
                                   "#commit\\0A\\09wgmma; \", \"~{memory}\"()\n"));
    g_autofree char *before = ws_document_code_step(f->document, WS_CODE_PTX, 0);
    g_autofree char *after = ws_document_code_step(f->document, WS_CODE_PTX, 3);
    g_autofree char *ir = ws_document_code_step(f->document, WS_CODE_LLVM, 0);
    g_assert_null(before);
    g_assert_cmpstr(after, ==, STEP);
    g_assert_cmpstr(ir, ==, STEP);
}

static void languages(Fixture *f)
{
    (void)f;
    GtkSourceLanguageManager *manager = gtk_source_language_manager_get_default();
    g_assert_nonnull(gtk_source_language_manager_get_language(manager, "ptx"));
    g_assert_nonnull(gtk_source_language_manager_get_language(manager, "warpstave-program"));
}

/* --- jobs
 * ------------------------------------------------------------------------------------------ */

static void generate_job(Fixture *f)
{
    char *folder =
        stand_in("test \"$1\" = generate || exit 2\n"
                 "while [ $# -gt 1 ]; do case $1 in --as) as=$2;; -o) out=$2;; esac; shift; done\n"
                 "echo \"$as text\" > \"$out\"");
    gboolean busy = FALSE;
    g_assert_true(ws_jobs_start(WS_JOBS(f->jobs), WS_JOB_GENERATE));
    g_object_get(f->jobs, "busy", &busy, NULL);
    g_assert_true(busy);
    g_assert_false(ws_jobs_start(WS_JOBS(f->jobs), WS_JOB_REHEARSE)); /* one at a time */
    run_until_idle(WS_JOBS(f->jobs));
    g_assert_cmpstr(ws_document_code(f->document, WS_CODE_PTX), ==, "ptx text\n");
    g_assert_cmpstr(ws_document_code(f->document, WS_CODE_LLVM), ==, "llvm text\n");
    drop(folder);
}

static void rehearse_job(Fixture *f)
{
    gboolean good = FALSE;
    char *folder = stand_in("echo 'matches the reference'");
    g_assert_true(ws_jobs_start(WS_JOBS(f->jobs), WS_JOB_REHEARSE));
    run_until_idle(WS_JOBS(f->jobs));
    g_assert_cmpstr(ws_document_result(f->document, WS_RESULT_REHEARSAL, &good), ==,
                    "matches the reference\n");
    g_assert_true(good);
    drop(folder);
    folder = stand_in("echo 'differs from the reference: 3 wrong'; exit 1");
    g_assert_true(ws_jobs_start(WS_JOBS(f->jobs), WS_JOB_REHEARSE));
    run_until_idle(WS_JOBS(f->jobs));
    g_assert_nonnull(ws_document_result(f->document, WS_RESULT_REHEARSAL, &good));
    g_assert_false(good);
    g_assert_cmpstr(ws_jobs_status(WS_JOBS(f->jobs)), ==, "differs from the reference: 3 wrong");
    drop(folder);
}

static void no_gpu(Fixture *f)
{
    char *folder = stand_in("echo 'warpstave: no GPU or driver here' >&2; exit 4");
    g_assert_true(ws_jobs_start(WS_JOBS(f->jobs), WS_JOB_RUN));
    run_until_idle(WS_JOBS(f->jobs));
    g_assert_nonnull(strstr(ws_jobs_status(WS_JOBS(f->jobs)), "No GPU"));
    g_assert_nonnull(strstr(ws_jobs_status(WS_JOBS(f->jobs)), "bundle"));
    g_assert_null(ws_document_result(f->document, WS_RESULT_RUN, NULL));
    drop(folder);
}

static void cancel_job(Fixture *f)
{
    char *folder = stand_in("exec sleep 300");
    gint64 began = g_get_monotonic_time();
    g_assert_true(ws_jobs_start(WS_JOBS(f->jobs), WS_JOB_REHEARSE));
    ws_jobs_cancel(WS_JOBS(f->jobs));
    run_until_idle(WS_JOBS(f->jobs));
    g_assert_cmpint(g_get_monotonic_time() - began, <, 180 * G_USEC_PER_SEC);
    g_assert_cmpstr(ws_jobs_status(WS_JOBS(f->jobs)), ==, "Cancelled.");
    drop(folder);
    /* one that does not listen */
    folder = stand_in("trap '' INT; while :; do sleep 0.1; done");
    g_assert_true(ws_jobs_start(WS_JOBS(f->jobs), WS_JOB_REHEARSE));
    g_usleep(100000);
    ws_jobs_cancel(WS_JOBS(f->jobs));
    run_until_idle(WS_JOBS(f->jobs));
    g_assert_cmpstr(ws_jobs_status(WS_JOBS(f->jobs)), ==, "Cancelled.");
    drop(folder);
}

/* The window is closed, or the design replaced, while a job runs. */
static void late_result(Fixture *f)
{
    char *folder = stand_in("sleep 0.3; echo late");
    g_autofree char *path =
        g_build_filename(WS_SOURCE_ROOT, "tests/designs/gemm-aliased.wstave", NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_assert_true(ws_jobs_start(WS_JOBS(f->jobs), WS_JOB_REHEARSE));
    g_assert_true(ws_document_open(f->document, file, NULL));
    run_until_idle(WS_JOBS(f->jobs));
    g_assert_null(ws_document_result(f->document, WS_RESULT_REHEARSAL, NULL));
    g_assert_true(ws_jobs_start(WS_JOBS(f->jobs), WS_JOB_REHEARSE));
    drop(folder); /* tear_down closes the window */
}

static void missing_tool(Fixture *f)
{
    g_setenv("WARPSTAVE", "/nonexistent/warpstave", TRUE);
    g_assert_true(ws_jobs_start(WS_JOBS(f->jobs), WS_JOB_REHEARSE));
    run_until_idle(WS_JOBS(f->jobs));
    g_assert_nonnull(strstr(ws_jobs_status(WS_JOBS(f->jobs)), "WARPSTAVE"));
    g_unsetenv("WARPSTAVE");
}

#define TEST(name)                                                                                 \
    static void test_##name(void)                                                                  \
    {                                                                                              \
        Fixture f = { 0 };                                                                         \
        need_display(&f, name);                                                                    \
    }
TEST(selection_marks)
TEST(statements_of_a_step)
TEST(lines_name_steps)
TEST(languages)
TEST(generate_job)
TEST(rehearse_job)
TEST(no_gpu)
TEST(cancel_job)
TEST(late_result)
TEST(missing_tool)

int main(int argc, char **argv)
{
    g_setenv("GSETTINGS_BACKEND", "memory", TRUE);
    display = gtk_init_check();
    g_test_init(&argc, &argv, NULL);
    ws_ui_setup();
    g_test_add_func("/ui/code/selection-marks", test_selection_marks);
    g_test_add_func("/ui/code/statements-of-a-step", test_statements_of_a_step);
    g_test_add_func("/ui/code/lines-name-steps", test_lines_name_steps);
    g_test_add_func("/ui/code/languages", test_languages);
    g_test_add_func("/ui/jobs/generate", test_generate_job);
    g_test_add_func("/ui/jobs/rehearse", test_rehearse_job);
    g_test_add_func("/ui/jobs/no-gpu", test_no_gpu);
    g_test_add_func("/ui/jobs/cancel", test_cancel_job);
    g_test_add_func("/ui/jobs/late-result", test_late_result);
    g_test_add_func("/ui/jobs/missing-tool", test_missing_tool);
    return g_test_run();
}
