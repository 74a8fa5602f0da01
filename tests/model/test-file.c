/* Writing files whole: what a device or a pipe, a link, permissions and a failure come to. */
#include "base/file.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder;

static char *at(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

static void assert_text(const char *file, const char *want)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, want);
}

static void test_plain(void)
{
    g_autofree char *file = at("plain"), *link = at("link");
    g_autoptr(GError) error = NULL;
    g_assert_true(ws_file_write(file, "one", 3, &error));
    g_assert_no_error(error);
    g_assert_cmpint(g_chmod(file, 0640), ==, 0);
    g_assert_cmpint(symlink("plain", link), ==, 0);
    g_assert_true(ws_file_write(link, "two", 3, &error));
    assert_text(file, "two");
    g_assert_true(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
    GStatBuf st;
    g_assert_cmpint(g_stat(file, &st), ==, 0);
    g_assert_cmpuint(st.st_mode & 07777, ==, 0640);
    g_assert_false(ws_file_is_special(file));
    g_assert_false(ws_file_is_special(folder));
    g_unlink(link);
    g_unlink(file);
}

/* A pipe stands for every device: it must be the same pipe afterwards. */
static void test_special(void)
{
    g_autofree char *file = at("pipe"), *link = at("to-pipe");
    g_autoptr(GError) error = NULL;
    char data[16] = "";
    g_assert_cmpint(mkfifo(file, 0600), ==, 0);
    g_assert_cmpint(symlink("pipe", link), ==, 0);
    const int reader = open(file, O_RDONLY | O_NONBLOCK);
    g_assert_true(ws_file_is_special(file));
    g_assert_true(ws_file_write(file, "one", 3, &error));
    g_assert_true(ws_file_write(link, "two", 3, &error));
    g_assert_no_error(error);
    g_assert_cmpint(read(reader, data, sizeof data - 1), ==, 6);
    g_assert_cmpstr(data, ==, "onetwo");
    close(reader);
    GStatBuf st;
    g_assert_cmpint(g_stat(file, &st), ==, 0);
    g_assert_true(S_ISFIFO(st.st_mode));
    g_unlink(link);
    g_unlink(file);
}

static void test_failure(void)
{
    g_autofree char *missing = at("none/file");
    g_autoptr(GError) error = NULL;
    g_assert_false(ws_file_write(missing, "x", 1, &error));
    g_assert_nonnull(strstr(error->message, "none/file"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/model/file/plain", test_plain);
    g_test_add_func("/model/file/special", test_special);
    g_test_add_func("/model/file/failure", test_failure);
    folder = g_dir_make_tmp("warpstave-file-XXXXXX", NULL);
    const int status = g_test_run();
    g_assert_cmpint(g_rmdir(folder), ==, 0); /* nothing is left */
    g_free(folder);
    return status;
}
