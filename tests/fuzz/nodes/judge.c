/* Runs one command in a child under limits, and says what is wrong with how it ended. */
#include "nodes.h"

#include "cli/exit.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SANITIZER_EXIT = 99, /* fuzz-nodes.c says so to the sanitizers */
    KEPT = 4000,         /* bytes of what was said */
};

void fuzz_outcome_clear(FuzzOutcome *o)
{
    g_clear_pointer(&o->kind, g_free);
    g_clear_pointer(&o->said, g_free);
}

static void remove_at(const char *path)
{
    if (g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK)) {
        fuzz_empty(path);
        g_rmdir(path);
    } else {
        g_unlink(path);
    }
}

void fuzz_empty(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        remove_at(path);
    }
}

/* --- what lies in the folder ------------------------------------------------------------------ */

/* Path within the folder -> hash of what stands there. */
static void survey(const char *folder, const char *prefix, GHashTable *files)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL), *data = NULL;
        g_autofree char *inner = g_strconcat(prefix, name, NULL);
        gsize n = 0;
        if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
            g_autofree char *deeper = g_strconcat(inner, "/", NULL);
            survey(path, deeper, files);
            continue;
        }
        g_file_get_contents(path, &data, &n, NULL);
        g_hash_table_insert(
            files, g_steal_pointer(&inner),
            g_compute_checksum_for_data(G_CHECKSUM_MD5, (const guchar *)(data ? data : ""), n));
    }
}

static GHashTable *files_of(const char *folder)
{
    GHashTable *files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    survey(folder, "", files);
    return files;
}

static gboolean may_be_new(const char *name, const FuzzLimits *limits)
{
    static const char *const names[] = { "stdout",  "stderr",  "history.db", "out",     "out.svg",
                                         "out.png", "out.pdf", "out.sarif",  "out.json" };
    return g_strv_contains(names, name) || (limits->folder && g_str_has_prefix(name, "out/"));
}

static gboolean is_json(const char *text, gsize n)
{
    json_tokener *t = json_tokener_new_ex(200);
    json_object *o = json_tokener_parse_ex(t, text, (int)n);
    const gboolean right =
        json_tokener_get_error(t) == json_tokener_success && g_utf8_validate(text, (gssize)n, NULL);
    gsize end = json_tokener_get_parse_end(t);
    while (end < n && g_ascii_isspace(text[end]))
        end++;
    json_object_put(o);
    json_tokener_free(t);
    return right && end == n;
}

static gboolean lines_are_json(const char *text)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i]; i++)
        if (*line[i] && !is_json(line[i], strlen(line[i])))
            return FALSE;
    return TRUE;
}

/* Finds what a command did to the files that it should not have done; then all is as before. */
static char *look_at_files(const char *folder, GHashTable *before, const FuzzLimits *limits)
{
    g_autoptr(GHashTable) after = files_of(folder);
    GHashTableIter iter;
    gpointer name, hash;
    char *kind = NULL;
    g_hash_table_iter_init(&iter, before);
    while (g_hash_table_iter_next(&iter, &name, &hash)) {
        const char *now = g_hash_table_lookup(after, name);
        if (!limits->in_place && g_strcmp0(now, hash) != 0 && !kind)
            kind = g_strdup_printf("input %s %s", (char *)name, now ? "changed" : "removed");
    }
    g_hash_table_iter_init(&iter, after);
    while (g_hash_table_iter_next(&iter, &name, &hash)) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_hash_table_contains(before, name))
            continue;
        if (!may_be_new(name, limits) && !kind)
            kind = g_strdup_printf("left behind: %s", (char *)name);
        if ((g_str_has_suffix(name, ".sarif") || !strcmp(name, "out.json")) && !kind) {
            g_autofree char *data = NULL;
            gsize n = 0;
            if (!g_file_get_contents(path, &data, &n, NULL) || !is_json(data, n))
                kind = g_strdup_printf("no JSON: %s", (char *)name);
        }
    }
    g_autofree char *out = g_build_filename(folder, "out", NULL);
    remove_at(out);
    g_hash_table_iter_init(&iter, after);
    while (g_hash_table_iter_next(&iter, &name, &hash)) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (!g_hash_table_contains(before, name))
            g_unlink(path);
    }
    return kind;
}

/* --- the child -------------------------------------------------------------------------------- */

static void limit(int resource, rlim_t soft, rlim_t hard)
{
    const struct rlimit l = { soft, hard };
    setrlimit((__rlimit_resource_t)resource, &l);
}

static void to_file(const char *name, int as)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    dup2(fd, as);
    close(fd);
}

static void begin_child(const char *folder, FuzzRun run, char **argv, const FuzzLimits *limits)
{
    const rlim_t seconds = (rlim_t)(limits->seconds * FUZZ_SLOWER * 2 + 1);
    int argc = 0;
    setpgid(0, 0);
    if (chdir(folder) != 0)
        _exit(98);
    to_file("stdout", 1);
    to_file("stderr", 2);
    for (; argv[argc]; argc++)
        if (argv[argc][0] == '<') { /* the standard input */
            const int fd = open(argv[argc] + 1, O_RDONLY);
            dup2(fd, 0);
            argv[argc] = NULL;
            break;
        }
    limit(RLIMIT_CPU, seconds, seconds + 2);
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_FSIZE, 1 << 28, 1 << 28);
    if (!FUZZ_SANITIZED)
        limit(RLIMIT_AS, (rlim_t)4 << 30, (rlim_t)4 << 30);
    g_log_set_always_fatal(G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
    exit(run(argc, argv));
}

/* Waits for the child; one that sleeps for longer than it may work is killed. */
static int wait_for(pid_t child, const FuzzLimits *limits, struct rusage *used, gboolean *late)
{
    const gint64 end =
        g_get_monotonic_time() + (gint64)(limits->seconds * FUZZ_SLOWER * 20 + 20) * G_USEC_PER_SEC;
    int status = 0;
    *late = FALSE;
    for (guint pause = 200;; pause = MIN(pause * 2, 5000)) {
        const pid_t ended = wait4(child, &status, WNOHANG, used);
        if (ended == child)
            break;
        if (g_get_monotonic_time() > end && !*late) {
            *late = TRUE;
            kill(-child, SIGKILL);
        }
        g_usleep(pause);
    }
    kill(-child, SIGKILL); /* what it started */
    return status;
}

/* A line that tells one cause from another. */
static char *cause(const char *said)
{
    static const char *const marks[] = { "SUMMARY: ", "runtime error: ", "ERROR:",    "CRITICAL",
                                         "WARNING",   "LLVM ERROR",      "Assertion", "assertion" };
    for (guint i = 0; i < G_N_ELEMENTS(marks); i++) {
        const char *at = strstr(said, marks[i]);
        if (at)
            return g_strndup(at, MIN(strcspn(at, "\n"), 160));
    }
    return g_strdup("");
}

/* One that ends at a bound of its own says so by its code, or by the rule of documents that are too
 * large; what it says beside that is no excuse. */
static gboolean tells_bound(const FuzzOutcome *o)
{
    return o->code == WS_EXIT_OUTSIDE || (o->code == WS_EXIT_NO && strstr(o->said, "S-LIMIT"));
}

static char *read_some(const char *folder, const char *name, gsize *n)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    char *data = NULL;
    *n = 0;
    return g_file_get_contents(path, &data, n, NULL) ? data : g_strdup("");
}

static char *wrong(const FuzzOutcome *o, int status, gboolean late, const FuzzLimits *limits,
                   const char *out, gsize out_n)
{
    g_autofree char *why = cause(o->said);
    if (late)
        return g_strdup("time (asleep)");
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        if (number == SIGXCPU || number == SIGKILL)
            return g_strdup("time");
        return g_strdup_printf("signal %d %s", number, why);
    }
    if (o->code == SANITIZER_EXIT)
        return g_strdup_printf("sanitizer %s", why);
    if (o->code < 0 || o->code >= WS_EXIT_DEFECT)
        return g_strdup_printf("exit %d", o->code);
    if (o->bytes > limits->bytes * (FUZZ_SANITIZED ? 3 : 1))
        return g_strdup("memory");
    if (o->seconds > limits->seconds * FUZZ_SLOWER && !tells_bound(o))
        return g_strdup("time");
    if (limits->json && (out_n > 0 || o->code == 0) && !is_json(out, out_n))
        return g_strdup("no JSON on the standard output");
    if (limits->lines && !lines_are_json(out))
        return g_strdup("an answer that is no JSON");
    if (o->code != 0 && o->code != WS_EXIT_NO && o->code != WS_EXIT_OUTSIDE && !*o->said &&
        out_n == 0)
        return g_strdup_printf("exit %d without a word", o->code);
    return NULL;
}

FuzzOutcome fuzz_judge(const char *folder, FuzzRun run, char **argv, const FuzzLimits *limits)
{
    FuzzOutcome o = { 0 };
    struct rusage used = { 0 };
    gboolean late;
    g_autoptr(GHashTable) before = files_of(folder);
    fflush(NULL);
    const pid_t child = fork();
    g_assert_cmpint(child, >=, 0);
    if (child == 0)
        begin_child(folder, run, argv, limits);
    const int status = wait_for(child, limits, &used, &late);
    gsize out_n, err_n;
    g_autofree char *out = read_some(folder, "stdout", &out_n),
                    *err = read_some(folder, "stderr", &err_n);
    o.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    o.seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    o.bytes = (gsize)used.ru_maxrss * 1024;
    o.said =
        limits->json ? g_strndup(err, KEPT) : g_strdup_printf("%.*s%.*s", KEPT, err, KEPT, out);
    o.kind = wrong(&o, status, late, limits, out, out_n);
    char *files = look_at_files(folder, before, limits);
    if (!o.kind)
        o.kind = files;
    else
        g_free(files);
    return o;
}
