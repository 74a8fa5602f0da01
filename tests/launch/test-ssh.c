/* Remote runs against a real sshd on the loopback: a run, a lost connection, a killed runner, a
 * wrong host key, a full disk, an interruption. Skipped where there is no sshd. */
#include "launch/run.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define SSHD "/usr/sbin/sshd"

static char *top;
static guint port;
static GSubprocess *server;

static char *put(const char *name, int mode, const char *format, ...) G_GNUC_PRINTF(3, 4);
static char *put(const char *name, int mode, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *text = g_strdup_vprintf(format, list);
    va_end(list);
    char *path = g_build_filename(top, name, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_assert_cmpint(g_chmod(path, mode), ==, 0);
    return path;
}

static void shell(const char *format, ...) G_GNUC_PRINTF(1, 2);
static void shell(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *command = g_strdup_vprintf(format, list);
    va_end(list);
    const char *argv[] = { "sh", "-c", command, NULL };
    int status = 0;
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                               NULL, &status, NULL));
    if (status)
        g_test_message("status %d of: %s", status, command);
}

static guint free_port(void)
{
    g_autoptr(GSocketListener) listener = g_socket_listener_new();
    const guint16 found = g_socket_listener_add_any_inet_port(listener, NULL, NULL);
    g_socket_listener_close(listener);
    return found;
}

static gboolean answers(void)
{
    g_autoptr(GSocketClient) client = g_socket_client_new();
    for (guint i = 0; i < 100; i++) {
        g_autoptr(GSocketConnection) connection =
            g_socket_client_connect_to_host(client, "127.0.0.1", (guint16)port, NULL, NULL);
        if (connection)
            return TRUE;
        g_usleep(50000);
    }
    return FALSE;
}

/* A test that aborts leaves no server behind. */
static void die_with_parent(gpointer unused)
{
    (void)unused;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Keys, configuration, server; ssh and scp of the tests read `config` and nothing of the user's. */
static gboolean start_server(void)
{
    top = g_dir_make_tmp("warpstave-ssh-XXXXXX", NULL);
    port = free_port();
    shell("mkdir -p /run/sshd 2>/dev/null; cd %s && ssh-keygen -q -t ed25519 -N '' -f host && "
          "ssh-keygen -q -t ed25519 -N '' -f user && cp user.pub authorized && "
          "chmod 600 authorized && "
          "echo \"[127.0.0.1]:%u $(cut -d' ' -f1,2 host.pub)\" > known && "
          "echo \"[127.0.0.1]:%u $(cut -d' ' -f1,2 user.pub)\" > wrong",
          top, port, port);
    g_autofree char *server_config =
        put("sshd_config", 0600,
            "Port %u\nListenAddress 127.0.0.1\nHostKey %s/host\nAuthorizedKeysFile "
            "%s/authorized\nStrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\n"
            "Subsystem sftp internal-sftp\n"
            "KexAlgorithms curve25519-sha256\n", /* the usual one takes a quarter of a second */
            port, top, top);
    g_autofree char *config =
        put("config", 0600,
            "Host gpu\n  HostName 127.0.0.1\n  Port %u\n  IdentityFile %s/user\n  "
            "UserKnownHostsFile %s/known\n  StrictHostKeyChecking yes\n  IdentitiesOnly yes\n  "
            "IdentityAgent none\nHost impostor\n  HostName 127.0.0.1\n  Port %u\n  IdentityFile "
            "%s/user\n  UserKnownHostsFile %s/wrong\n  StrictHostKeyChecking yes\n",
            port, top, top, port, top, top);
    g_autofree char *ssh = put("ssh", 0755, "#!/bin/sh\nexec ssh -F %s/config \"$@\"\n", top);
    g_autofree char *scp = put("scp", 0755, "#!/bin/sh\nexec scp -F %s/config \"$@\"\n", top);
    g_setenv("WARPSTAVE_SSH", ssh, TRUE);
    g_setenv("WARPSTAVE_SCP", scp, TRUE);
    g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(
        G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
    g_subprocess_launcher_set_child_setup(launcher, die_with_parent, NULL, NULL);
    server = g_subprocess_launcher_spawn(launcher, NULL, SSHD, "-D", "-f", server_config, NULL);
    return server && answers();
}

static void stop_server(void)
{
    if (server) {
        g_subprocess_force_exit(server);
        g_subprocess_wait(server, NULL, NULL);
        g_clear_object(&server);
    }
    shell("rm -rf %s", top);
    g_clear_pointer(&top, g_free);
}

static char *bundle(void)
{
    g_autofree char *dir = g_build_filename(top, "my bundle", NULL);
    g_assert_cmpint(g_mkdir_with_parents(dir, 0755), ==, 0);
    g_free(put("my bundle/bundle.txt", 0644, "x"));
    return g_steal_pointer(&dir);
}

/* Folder over there, as the runner saw it; it must be gone. */
static void assert_clean(void)
{
    g_autofree char *path = g_build_filename(top, "where", NULL);
    g_autofree char *where = NULL;
    g_assert_true(g_file_get_contents(path, &where, NULL, NULL));
    g_assert_true(g_str_has_prefix(g_strstrip(where), "/tmp/warpstave."));
    g_assert_false(g_file_test(where, G_FILE_TEST_EXISTS));
}

static void test_run(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *dir = bundle();
    g_autofree char *runner =
        put("runner", 0755,
            "#!/bin/sh\npwd > %s/where\ntest -f bundle/bundle.txt || exit 2\n"
            "echo \"$2\" > bundle/results.json\necho r > bundle/records-0.bin\nexit 1\n",
            top);
    const char *arguments[] = { "a b;c", NULL };
    const WsRunSpec spec = { .runner = runner, .host = "gpu", .arguments = arguments };
    int status = -1;
    ws_run_bundle(dir, &spec, &status, &error);
    g_assert_no_error(error);
    g_assert_cmpint(status, ==, 1);
    g_autofree char *results = g_build_filename(dir, "results.json", NULL);
    g_autofree char *records = g_build_filename(dir, "records-0.bin", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(results, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "a b;c\n");
    g_assert_true(g_file_test(records, G_FILE_TEST_EXISTS));
    assert_clean();
}

/* The runner cuts every connection of the server but goes on itself. */
static void test_lost(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *dir = bundle();
    g_autofree char *runner = put("runner", 0755,
                                  "#!/bin/sh\npwd > %s/where\necho one\nsleep 0.7\n"
                                  "for p in $(pgrep -P %s); do kill -9 $p $(pgrep -P $p); done\n"
                                  "sleep 0.7\necho two\ntouch %s/went-on\n"
                                  "echo r > bundle/results.json\n",
                                  top, g_subprocess_get_identifier(server), top);
    const WsRunSpec spec = { .runner = runner, .host = "gpu", .quiet = TRUE, .retry_ms = 100 };
    int status = -1;
    ws_run_bundle(dir, &spec, &status, &error);
    g_assert_no_error(error);
    g_assert_cmpint(status, ==, 0);
    g_autofree char *went_on = g_build_filename(top, "went-on", NULL);
    g_assert_true(g_file_test(went_on, G_FILE_TEST_EXISTS));
    assert_clean();
}

static void test_killed(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *dir = bundle();
    g_autofree char *runner =
        put("runner", 0755, "#!/bin/sh\npwd > %s/where\nkill -9 $PPID $$\n", top);
    const WsRunSpec spec = { .runner = runner, .host = "gpu", .quiet = TRUE };
    int status = -1;
    g_assert_false(ws_run_bundle(dir, &spec, &status, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED);
    g_assert_nonnull(strstr(error->message, "without a result"));
    assert_clean();
}

static void test_wrong_key(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *dir = bundle();
    g_autofree char *runner = put("runner", 0755, "#!/bin/sh\n");
    const WsRunSpec spec = { .runner = runner, .host = "impostor", .quiet = TRUE };
    int status = -1;
    g_assert_false(ws_run_bundle(dir, &spec, &status, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT);
    g_assert_nonnull(strstr(error->message, "`ssh impostor true` says why"));
}

/* A bundle that cannot be copied whole: what was copied is taken away again. */
static void test_full(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *dir = bundle();
    g_autofree char *scp = put("scp-full", 0755,
                               "#!/bin/sh\nfor last; do :; done\ncase $last in *bundle) "
                               "echo \"${last#gpu:}\" | sed 's,/bundle,,' > %s/where; echo 'scp: "
                               "write: No space left on device' >&2; exit 1;; esac\n"
                               "exec %s/scp \"$@\"\n",
                               top, top);
    g_autofree char *whole = g_strdup(g_getenv("WARPSTAVE_SCP"));
    g_autofree char *runner = put("runner", 0755, "#!/bin/sh\n");
    const WsRunSpec spec = { .runner = runner, .host = "gpu", .quiet = TRUE };
    int status = -1;
    g_setenv("WARPSTAVE_SCP", scp, TRUE);
    g_assert_false(ws_run_bundle(dir, &spec, &status, &error));
    g_setenv("WARPSTAVE_SCP", whole, TRUE);
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED);
    g_assert_nonnull(strstr(error->message, "scp"));
    assert_clean();
}

/* Folders can be made over there no more. */
static void test_no_room(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *dir = bundle();
    g_autofree char *runner = put("runner", 0755, "#!/bin/sh\n");
    g_autofree char *ssh =
        put("ssh-full", 0755, "#!/bin/sh\necho 'mktemp: No space left on device' >&2\nexit 1\n");
    g_autofree char *whole = g_strdup(g_getenv("WARPSTAVE_SSH"));
    const WsRunSpec spec = { .runner = runner, .host = "gpu", .quiet = TRUE };
    int status = -1;
    g_setenv("WARPSTAVE_SSH", ssh, TRUE);
    g_assert_false(ws_run_bundle(dir, &spec, &status, &error));
    g_setenv("WARPSTAVE_SSH", whole, TRUE);
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED);
    g_assert_nonnull(strstr(error->message, "no folder can be made in /tmp of gpu"));
}

/* The real runner on a host without a driver, without a GPU, with an old driver: it says so there,
 * its status comes back, and nothing stays. */
static void test_no_gpu(void)
{
    static const struct {
        const char *driver, *wrong, *says;
    } cases[] = {
        { "/nonexistent/libcuda.so.1", "", "no CUDA driver here" },
        { WS_BUILD_ROOT "/tests/runner/libfakecuda.so", "no-device", "no GPU on this machine" },
        { WS_BUILD_ROOT "/tests/runner/libfakecuda.so", "old-driver",
          "the NVIDIA driver knows CUDA 11.8" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *dir = bundle();
        g_free(put("my bundle/bundle.txt", 0644,
                   "warpstave-bundle 1\nname copy\ntarget sm_90a\nentry warpstave\n"
                   "block 128 1 0\nmodule timed kernel.ptx\nseed 1\nruns 3\nsustained 0\n"
                   "timeout 5\nsizes M\ntensor Y f32 1 write 0 0\nreference 0 reference-0.ptx\n"
                   "case small ctas 1 1 0\nvalues 4\nextent 0 4 1\nfill 0 zeros 0 0 0 0\n"));
        g_free(put("my bundle/kernel.ptx", 0644, "build timed\n"));
        g_free(put("my bundle/reference-0.ptx", 0644, "build reference\n"));
        /* it runs in a folder of its own */
        g_autofree char *driver = g_canonicalize_filename(cases[i].driver, NULL);
        g_autofree char *real =
            g_canonicalize_filename(WS_BUILD_ROOT "/bin/warpstave-runner", NULL);
        g_autofree char *runner =
            put("runner", 0755,
                "#!/bin/sh\npwd > %s/where\nWARPSTAVE_LIBCUDA=%s FAKE_CUDA=%s exec %s \"$@\"\n",
                top, driver, cases[i].wrong, real);
        const WsRunSpec spec = { .runner = runner, .host = "gpu", .quiet = TRUE };
        int status = -1;
        ws_run_bundle(dir, &spec, &status, &error);
        g_assert_no_error(error);
        g_assert_cmpint(status, ==, 4);
        g_autofree char *results = g_build_filename(dir, "results.json", NULL);
        g_autofree char *text = NULL;
        g_assert_true(g_file_get_contents(results, &text, NULL, NULL));
        g_test_message("%s", text);
        g_assert_nonnull(strstr(text, cases[i].says));
        assert_clean();
    }
}

static gboolean soon(void)
{
    g_autofree char *path = g_build_filename(top, "where", NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* An interrupted run is ended over there, with its children. */
static void test_interrupted(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *dir = bundle();
    g_autofree char *where = g_build_filename(top, "where", NULL);
    g_unlink(where);
    g_autofree char *runner = put("runner", 0755,
                                  "#!/bin/sh\nsleep 600 &\necho $! > %s/child\npwd > %s/where.new\n"
                                  "mv %s/where.new %s/where\nwait\n",
                                  top, top, top, top);
    const WsRunSpec spec = { .runner = runner, .host = "gpu", .quiet = TRUE, .interrupted = soon };
    int status = -1;
    g_assert_false(ws_run_bundle(dir, &spec, &status, &error));
    g_assert_nonnull(strstr(error->message, "interrupted"));
    assert_clean();
    g_autofree char *child_file = g_build_filename(top, "child", NULL);
    g_autofree char *child = NULL;
    g_assert_true(g_file_get_contents(child_file, &child, NULL, NULL));
    const int pid = atoi(child);
    for (guint i = 0; i < 100 && kill(pid, 0) == 0; i++)
        g_usleep(50000);
    g_assert_cmpint(kill(pid, 0), ==, -1);
    g_assert_cmpint(errno, ==, ESRCH);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    static const struct {
        const char *path;
        void (*test)(void);
    } tests[] = {
        { "/launch/ssh/run", test_run },         { "/launch/ssh/lost-connection", test_lost },
        { "/launch/ssh/killed", test_killed },   { "/launch/ssh/wrong-host-key", test_wrong_key },
        { "/launch/ssh/disk-full", test_full },  { "/launch/ssh/interrupted", test_interrupted },
        { "/launch/ssh/no-room", test_no_room }, { "/launch/ssh/no-gpu", test_no_gpu },
    };
    g_autofree char *keygen = g_find_program_in_path("ssh-keygen");
    if (g_access(SSHD, X_OK) || !keygen || !start_server()) {
        printf("1..0 # SKIP no sshd that can be started here\n");
        return 0;
    }
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add_func(tests[i].path, tests[i].test);
    const int status = g_test_run();
    stop_server();
    return status;
}
