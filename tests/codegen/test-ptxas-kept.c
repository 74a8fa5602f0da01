/* Answers of an assembler that counts how often it is asked: the same text once, other texts and
 * other assemblers again, failures always. */
#include "../remove.h"
#include "codegen/nvptx/ptxas/ptxas_kept.h"

#include <string.h>

typedef struct {
    char *folder, *tool, *asked, *answers;
} Fixture;

/* Says `says`, and leaves a mark of each time. */
static void install(const Fixture *f, const char *says, int code)
{
    g_autofree char *script =
        g_strdup_printf("#!/bin/sh\nprintf x >>'%s'\n%s\nexit %d\n", f->asked, says, code);
    g_assert_true(g_file_set_contents(f->tool, script, -1, NULL));
    g_assert_cmpint(g_chmod(f->tool, 0700), ==, 0);
}

static gsize times(const Fixture *f)
{
    g_autofree char *text = NULL;
    gsize n = 0;
    return g_file_get_contents(f->asked, &text, &n, NULL) ? n : 0;
}

static void is_said(const char *ptx, gboolean clean)
{
    g_autoptr(GError) error = NULL;
    gboolean said = !clean;
    g_assert_true(ws_ptxas_ask(ptx, &said, &error));
    g_assert_no_error(error);
    g_assert_cmpint(said, ==, clean);
}

#define CLEAN "echo 'ptxas info    : Used 168 registers, used 1 barriers'"
#define SPILLS                                                                                     \
    "echo '    0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads'; echo other-size"

static void kept(void)
{
    Fixture f;
    g_autoptr(GError) error = NULL;
    f.folder = g_dir_make_tmp("warpstave-XXXXXX", &error);
    g_assert_no_error(error);
    f.tool = g_build_filename(f.folder, "ptxas", NULL);
    f.asked = g_build_filename(f.folder, "asked", NULL);
    f.answers = g_build_filename(f.folder, "warpstave", "ptxas-answers", NULL);
    g_setenv("XDG_CACHE_HOME", f.folder, TRUE);
    g_autofree char *path = g_strconcat(f.folder, ":", g_getenv("PATH"), NULL);
    g_setenv("PATH", path, TRUE);
    install(&f, CLEAN, 0);
    is_said("a", TRUE);
    is_said("a", TRUE);
    g_assert_cmpuint(times(&f), ==, 1);
    is_said("b", TRUE);
    g_assert_cmpuint(times(&f), ==, 2);
    /* Another assembler has answers of its own. */
    install(&f, SPILLS, 0);
    is_said("a", FALSE);
    is_said("a", FALSE);
    g_assert_cmpuint(times(&f), ==, 3);
    /* What is no answer is none. */
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(f.answers, &text, NULL, NULL));
    g_assert_true(g_file_set_contents(f.answers, "\377 no answer 1\n 1\n", -1, NULL));
    is_said("a", FALSE);
    g_assert_cmpuint(times(&f), ==, 4);
    g_autofree char *cut = g_strndup(text, strlen(text) - 2);
    g_assert_true(g_file_set_contents(f.answers, cut, -1, NULL));
    is_said("a", FALSE);
    g_assert_cmpuint(times(&f), ==, 5);
    /* A failure is not kept. */
    install(&f, "", 3);
    gboolean clean;
    g_assert_false(ws_ptxas_ask("c", &clean, NULL));
    g_assert_false(ws_ptxas_ask("c", &clean, NULL));
    g_assert_cmpuint(times(&f), ==, 7);
    remove_tree(f.folder);
    g_free(f.folder);
    g_free(f.tool);
    g_free(f.asked);
    g_free(f.answers);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/codegen/ptxas-kept", kept);
    return g_test_run();
}
