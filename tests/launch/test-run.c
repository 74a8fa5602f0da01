/* Running bundles: the local runner, and a host behind fake ssh and scp. */
#include "launch/run.h"

#include <glib/gstdio.h>
#include <string.h>

static char *top;

static char *script(const char *name, const char *text)
{
    char *path = g_build_filename(top, name, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_assert_cmpint(g_chmod(path, 0755), ==, 0);
    return path;
}

static char *bundle(void)
{
    char *dir = g_build_filename(top, "my bundle", NULL);
    g_autofree char *path = g_build_filename(dir, "bundle.txt", NULL);
    g_assert_cmpint(g_mkdir_with_parents(dir, 0755), ==, 0);
    g_assert_true(g_file_set_contents(path, "x", -1, NULL));
    return dir;
}

static void set_up(void)
{
    g_autoptr(GError) error = NULL;
    top = g_dir_make_tmp("warpstave-run-XXXXXX", &error);
    g_assert_no_error(error);
}

static void tear_down(void)
{
    const char *argv[] = { "rm", "-rf", top, NULL };
    g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                 NULL);
    g_clear_pointer(&top, g_free);
}

static void test_local(void)
{
    set_up();
    g_autoptr(GError) error = NULL;
    g_autofree char *runner =
        script("runner", "#!/bin/sh\necho \"$2\" > \"$1/results.json\"\nexit 1\n");
    g_autofree char *dir = bundle();
    g_autofree char *path = g_build_filename(dir, "results.json", NULL);
    const char *arguments[] = { "--runs 5;x", NULL };
    WsRunSpec spec = { .runner = runner, .arguments = arguments };
    int status;
    g_assert_true(ws_run_bundle(dir, &spec, &status, &error));
    g_assert_cmpint(status, ==, 1);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "--runs 5;x\n");
    g_assert_false(ws_run_bundle(top, &spec, &status, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT);
    tear_down();
}

/* ssh greets and runs the command here; scp copies to the path behind the colon. */
static const char fake_ssh[] = "#!/bin/sh\nshift 2\necho \"$1\" >> \"$FAKE_HOSTS\"\n"
                               "[ \"$1\" = dark ] && exit 255\nshift\n"
                               "echo 'Welcome to /this host'; echo\nexec sh -c \"$*\"\n";
static const char fake_scp[] = "#!/bin/bash\nargs=()\nshift 3\nfor a in \"$@\"; do "
                               "args+=(\"${a#gpu1:}\"); done\nexec cp \"${args[@]}\"\n";

static void test_remote(void)
{
    set_up();
    g_autoptr(GError) error = NULL;
    g_autofree char *ssh = script("ssh", fake_ssh), *scp = script("scp", fake_scp);
    g_autofree char *runner = script("runner", "#!/bin/sh\ntest -f $1/bundle.txt || exit 2\n"
                                               "pwd > $1/results.json\necho r > $1/records-1.bin\n"
                                               "test \"$2\" = \"a b\"\n");
    g_autofree char *dir = bundle();
    g_autofree char *hosts = g_build_filename(top, "hosts", NULL);
    g_autofree char *path = g_build_filename(dir, "results.json", NULL);
    g_autofree char *records = g_build_filename(dir, "records-1.bin", NULL);
    g_setenv("WARPSTAVE_SSH", ssh, TRUE);
    g_setenv("WARPSTAVE_SCP", scp, TRUE);
    g_setenv("FAKE_HOSTS", hosts, TRUE);
    const char *arguments[] = { "a b", NULL };
    WsRunSpec spec = { .runner = runner, .host = "gpu1", .arguments = arguments };
    int status;
    ws_run_bundle(dir, &spec, &status, &error);
    g_assert_no_error(error);
    g_assert_cmpint(status, ==, 0);
    g_autofree char *where = NULL;
    g_assert_true(g_file_get_contents(path, &where, NULL, NULL));
    g_assert_true(g_str_has_prefix(where, "/tmp/warpstave."));
    g_assert_true(g_file_test(records, G_FILE_TEST_EXISTS));
    g_strstrip(where);
    g_assert_false(g_file_test(where, G_FILE_TEST_EXISTS)); /* cleaned up over there */

    spec.host = "dark";
    g_assert_false(ws_run_bundle(dir, &spec, &status, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT);
    g_clear_error(&error);
    static const char *const evil[] = { "-oProxyCommand=x", "a b", "a;b", "" };
    for (guint i = 0; i < G_N_ELEMENTS(evil); i++) {
        spec.host = evil[i];
        g_assert_false(ws_run_bundle(dir, &spec, &status, &error));
        g_assert_nonnull(strstr(error->message, "is not a host name"));
        g_clear_error(&error);
    }
    g_unsetenv("WARPSTAVE_SSH");
    g_unsetenv("WARPSTAVE_SCP");
    tear_down();
}

static void test_find(void)
{
    g_setenv("WARPSTAVE_RUNNER", "/nonexistent", TRUE);
    g_assert_null(ws_run_find_runner());
    g_setenv("WARPSTAVE_RUNNER", "/bin/sh", TRUE);
    g_autofree char *found = ws_run_find_runner();
    g_assert_cmpstr(found, ==, "/bin/sh");
    g_unsetenv("WARPSTAVE_RUNNER");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/launch/run/local", test_local);
    g_test_add_func("/launch/run/remote", test_remote);
    g_test_add_func("/launch/run/find", test_find);
    return g_test_run();
}
