#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <unistd.h>

static GMutex lock;
static GHashTable *listed; /* set of paths; NULL: no guard */
static int wake[2] = { -1, -1 };

/* Removing folders is no work for a handler: a thread does it. */
static void on_signal(int number)
{
    const int kept = errno;
    const char byte = (char)number;
    (void)!write(wake[1], &byte, 1);
    errno = kept;
}

/* Links are removed, not followed. */
static void remove_tree(const char *path)
{
    const gboolean folder =
        g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK);
    GDir *d = folder ? g_dir_open(path, 0, NULL) : NULL;
    const char *name;
    while (d && (name = g_dir_read_name(d))) {
        g_autofree char *inside = g_build_filename(path, name, NULL);
        remove_tree(inside);
    }
    if (d)
        g_dir_close(d);
    g_remove(path);
}

static gpointer remove_all(gpointer unused)
{
    char number;
    while (read(wake[0], &number, 1) != 1) {
    }
    g_mutex_lock(&lock); /* for good: nothing new is begun */
    GHashTableIter i;
    gpointer path;
    g_hash_table_iter_init(&i, listed);
    while (g_hash_table_iter_next(&i, &path, NULL))
        remove_tree(path);
    signal(number, SIG_DFL);
    kill(getpid(), number);
    return NULL;
}

void ws_temporary_guard(void)
{
    static const int signals[] = { SIGTERM, SIGHUP, SIGINT };
    signal(SIGXFSZ, SIG_IGN);
    if (pipe(wake) != 0)
        return;
    for (guint i = 0; i < G_N_ELEMENTS(wake); i++)
        fcntl(wake[i], F_SETFD, FD_CLOEXEC);
    listed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_thread_unref(g_thread_new("temporaries", remove_all, NULL));
    for (guint i = 0; i < G_N_ELEMENTS(signals); i++) {
        struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, was;
        if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
}

void ws_temporary_begin(const char *path)
{
    g_mutex_lock(&lock);
    if (listed)
        g_hash_table_add(listed, g_strdup(path));
    g_mutex_unlock(&lock);
}

char *ws_temporary_folder(GError **error)
{
    char *path = g_dir_make_tmp("warpstave-XXXXXX", error);
    if (path)
        ws_temporary_begin(path);
    return path;
}

void ws_temporary_end(const char *path)
{
    g_mutex_lock(&lock);
    if (listed)
        g_hash_table_remove(listed, path);
    g_mutex_unlock(&lock);
}
