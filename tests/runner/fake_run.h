/* The runner as a process, on a driver that runs on the CPU (fake_cuda.c). */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

#define RUNNER WS_BUILD_ROOT "/bin/warpstave-runner"
#define FAKE   WS_BUILD_ROOT "/tests/runner/libfakecuda.so"

typedef struct {
    char *dir, *out, *err, *json, *log;
    int status;
} Run;

static inline void put(const char *dir, const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static inline char *get(const char *dir, const char *name)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    char *text = NULL;
    g_file_get_contents(path, &text, NULL, NULL);
    return text;
}

static inline Run run(char *dir, const char *mode, const char *extra)
{
    Run r = { .dir = dir };
    g_auto(GStrv) env = g_get_environ();
    g_autofree char *log = g_build_filename(dir, "calls.log", NULL);
    env = g_environ_setenv(env, "WARPSTAVE_LIBCUDA", FAKE, TRUE);
    env = g_environ_setenv(env, "WARPSTAVE_LIBNVML", "/nonexistent", TRUE);
    env = g_environ_setenv(env, "FAKE_CUDA", mode, TRUE);
    env = g_environ_setenv(env, "FAKE_CUDA_LOG", log, TRUE);
    g_autofree char *words = g_strjoin(" ", RUNNER, dir, extra, NULL);
    g_auto(GStrv) argv = g_strsplit(words, " ", -1);
    g_autoptr(GError) error = NULL;
    int status;
    g_assert_true(g_spawn_sync(NULL, argv, env, G_SPAWN_DEFAULT, NULL, NULL, &r.out, &r.err,
                               &status, &error));
    g_assert_true(WIFEXITED(status));
    r.status = WEXITSTATUS(status);
    r.json = get(dir, "results.json");
    r.log = get(dir, "calls.log");
    return r;
}

static inline void holds(const char *text, const char *what)
{
    if (!text || !strstr(text, what))
        g_test_message("no '%s' in: %s", what, text ? text : "(nothing)");
    g_assert_true(text && strstr(text, what));
}

static inline guint count(const char *text, const char *what)
{
    guint n = 0;
    for (const char *p = text; p && (p = strstr(p, what)); p++)
        n++;
    return n;
}
