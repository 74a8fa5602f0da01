/* Runs on other hosts, reached by the user's own ssh and scp ($WARPSTAVE_SSH and $WARPSTAVE_SCP
 * name others), so that keys, agents and proxies just work. The runner is started in a session of
 * its own over there and followed by its log: a lost connection is taken up again where it broke
 * off. */
#include "launch/process.h"

#include <stdio.h>
#include <string.h>

static gboolean absent(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gboolean absent(GError **error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *text = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error_literal(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT, text);
    return FALSE;
}

static const char *tool(const char *variable, const char *otherwise)
{
    const char *named = g_getenv(variable);
    return named && *named ? named : otherwise;
}

static gboolean ssh(const char *host, const char *command, gboolean quiet, char **output,
                    int *status, GError **error)
{
    /* A login may greet whoever comes: what the command says begins behind a line of our own. */
    static const char mark[] = "warpstave-answers:\n";
    g_autofree char *marked = g_strdup_printf("echo warpstave-answers:; %s", command);
    const char *argv[] = { tool("WARPSTAVE_SSH", "ssh"), "-o", "BatchMode=yes", host,
                           output ? marked : command,    NULL };
    if (!ws_process_run(argv, quiet, output, status, error))
        return FALSE;
    const char *at = output && *output ? strstr(*output, mark) : NULL;
    if (at)
        memmove(*output, at + strlen(mark), strlen(at + strlen(mark)) + 1);
    return TRUE;
}

static gboolean copy(GPtrArray *argv, GError **error)
{
    int status = 0;
    g_ptr_array_add(argv, NULL);
    if (!ws_process_run((const char *const *)argv->pdata, FALSE, NULL, &status, error))
        return FALSE;
    if (status == 0)
        return TRUE;
    g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED, "%s ended with status %d",
                (char *)argv->pdata[0], status);
    return FALSE;
}

static GPtrArray *scp_command(void)
{
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(argv, g_strdup(tool("WARPSTAVE_SCP", "scp")));
    g_ptr_array_add(argv, g_strdup("-q"));
    g_ptr_array_add(argv, g_strdup("-o"));
    g_ptr_array_add(argv, g_strdup("BatchMode=yes"));
    return argv;
}

/* Copies one file or folder to HOST:THERE/NAME. */
static gboolean send(const char *what, const char *host, const char *there, const char *name,
                     GError **error)
{
    g_autoptr(GPtrArray) argv = scp_command();
    g_ptr_array_add(argv, g_strdup("-r"));
    g_ptr_array_add(argv, g_strdup(what));
    g_ptr_array_add(argv, g_strdup_printf("%s:%s/%s", host, there, name));
    return copy(argv, error);
}

/* Results, and the records that the manifest and the number of cases make possible. */
static gboolean fetch(const char *dir, const char *host, const char *there, GError **error)
{
    g_autoptr(GPtrArray) argv = scp_command();
    g_autofree char *list = NULL;
    g_autofree char *command = g_strdup_printf("cd %s/bundle && ls", there);
    int status = 0;
    if (!ssh(host, command, FALSE, &list, &status, error))
        return FALSE;
    g_auto(GStrv) names = g_strsplit(list ? list : "", "\n", -1);
    guint found = 0;
    for (guint i = 0; names[i]; i++) {
        gboolean wanted = strcmp(names[i], "results.json") == 0 ||
                          (g_str_has_prefix(names[i], "records") &&
                           g_str_has_suffix(names[i], ".bin") && !strchr(names[i], '/'));
        if (!wanted)
            continue;
        g_ptr_array_add(argv, g_strdup_printf("%s:%s/bundle/%s", host, there, names[i]));
        found++;
    }
    if (!found)
        return TRUE; /* the runner's own status says why there are none */
    g_ptr_array_add(argv, g_strdup(dir));
    return copy(argv, error);
}

static gboolean safe_host(const char *host)
{
    return host[0] != '-' && host[0] != 0 && !strpbrk(host, " \t\n'\"\\$`;&|<>(){}*?");
}

/* A folder name the remote shell may see unquoted; made by mktemp, but a host can say anything. */
static gboolean safe_path(const char *path)
{
    return path[0] == '/' && path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                                               "YZ0123456789/._-")] == 0;
}

/* --- the run over there ----------------------------------------------------------------------- */

/* Attempts to take up a lost connection, and the longest pause between two, in ms. */
enum { MAX_LOST = 8, MAX_PAUSE = 16000 };
enum { SSH_LOST = 255 }; /* ssh's own exit status when there is no connection */

/* Starts the runner so that it outlives the connection: `log`, `pid` (of its session), and at the
 * end `status` lie in the folder. */
static gboolean start(const WsRunSpec *spec, const char *there, GError **error)
{
    g_autoptr(GString) script = g_string_new("echo $$ > pid; ./warpstave-runner bundle");
    for (guint i = 0; spec->arguments && spec->arguments[i]; i++) {
        g_autofree char *argument = g_shell_quote(spec->arguments[i]);
        g_string_append_printf(script, " %s", argument);
    }
    g_string_append(script, " > log 2>&1; echo $? > status.new; mv status.new status");
    g_autofree char *quoted = g_shell_quote(script->str);
    g_autofree char *command = g_strdup_printf(
        "cd %s && : > log && { setsid sh -c %s < /dev/null > /dev/null 2>&1 & }", there, quoted);
    int status = 0;
    if (!ssh(spec->host, command, TRUE, NULL, &status, error))
        return FALSE;
    if (status == 0)
        return TRUE;
    g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED,
                "the runner could not be started on %s (status %d)", spec->host, status);
    return FALSE;
}

typedef struct {
    gsize seen; /* bytes of the log that arrived */
    gboolean quiet;
} Log;

static void take_output(const char *data, gsize n, gpointer user)
{
    Log *log = user;
    log->seen += n;
    if (!log->quiet) {
        fwrite(data, 1, n, stdout);
        fflush(stdout);
    }
}

static gboolean interrupted(const WsRunSpec *spec)
{
    return spec->interrupted && spec->interrupted();
}

/* FALSE once the user has had enough. */
static gboolean pause_for(const WsRunSpec *spec, guint ms)
{
    for (guint i = 0; i < ms && !interrupted(spec); i += 50)
        g_usleep(50000);
    return !interrupted(spec);
}

/* Shows the log until the runner has ended or is gone, or its folder is; reconnects. */
static gboolean follow(const WsRunSpec *spec, const char *there, GError **error)
{
    Log log = { 0, spec->quiet };
    const guint first_pause = spec->retry_ms ? spec->retry_ms : 1000;
    for (guint lost = 0; lost < MAX_LOST;) {
        g_autofree char *command = g_strdup_printf(
            "cd %s && { tail -c +%" G_GSIZE_FORMAT " -f log & t=$!; while [ -e log ] && "
            "[ ! -e status ] && { [ ! -s pid ] || kill -0 $(cat pid) 2> /dev/null; }; do sleep "
            "0.2; done; "
            "sleep 0.3; kill $t; }",
            there, log.seen + 1);
        const char *argv[] = {
            tool("WARPSTAVE_SSH", "ssh"), "-o", "BatchMode=yes", spec->host, command, NULL
        };
        const gsize before = log.seen;
        int status = 0;
        if (!ws_process_follow(argv, take_output, &log, spec->interrupted, &status, error))
            return FALSE;
        if (status != SSH_LOST || interrupted(spec))
            return TRUE;
        lost = log.seen > before ? 1 : lost + 1;
        const guint pause = MIN(first_pause << (lost - 1), (guint)MAX_PAUSE);
        g_printerr("warpstave: the connection to %s is lost; the run continues there, trying again "
                   "in %.1f s\n",
                   spec->host, pause / 1000.0);
        if (!pause_for(spec, pause))
            return TRUE;
    }
    g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED,
                "the connection to %s was lost and could not be resumed; the run continues there: "
                "fetch %s:%s/bundle/results.json later and use `warpstave collect`",
                spec->host, spec->host, there);
    return FALSE;
}

/* The runner's exit status; -1 if it ended without leaving one. */
static gboolean read_status(const WsRunSpec *spec, const char *there, int *status, GError **error)
{
    g_autofree char *command = g_strdup_printf("cat %s/status", there);
    g_autofree char *text = NULL;
    gint64 value;
    int ended = 0;
    if (!ssh(spec->host, command, FALSE, &text, &ended, error))
        return FALSE;
    if (ended == 0 && text &&
        g_ascii_string_to_signed(g_strstrip(text), 10, 0, 255, &value, NULL)) {
        *status = (int)value;
        return TRUE;
    }
    g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED,
                "the runner on %s ended without a result (was it killed?)", spec->host);
    return FALSE;
}

static void end_it(const WsRunSpec *spec, const char *there)
{
    g_autofree char *command = g_strdup_printf("cd %s && kill -TERM -- -$(cat pid)", there);
    int ignored;
    ssh(spec->host, command, TRUE, NULL, &ignored, NULL);
}

/* *keep: leave the folder over there, since the run goes on in it. */
static gboolean run_there(const char *dir, const char *runner, const WsRunSpec *spec,
                          const char *there, int *status, gboolean *keep, GError **error)
{
    if (!send(runner, spec->host, there, "warpstave-runner", error) ||
        !send(dir, spec->host, there, "bundle", error) || !start(spec, there, error))
        return FALSE;
    if (!follow(spec, there, error)) {
        *keep = TRUE;
        return FALSE;
    }
    if (interrupted(spec)) {
        end_it(spec, there);
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED,
                    "interrupted; the run on %s was ended", spec->host);
        return FALSE;
    }
    return read_status(spec, there, status, error) && fetch(dir, spec->host, there, error);
}

gboolean ws_run_remote(const char *dir, const char *runner, const WsRunSpec *spec, int *status,
                       GError **error)
{
    if (!safe_host(spec->host))
        return absent(error, "'%s' is not a host name", spec->host);
    g_autofree char *there = NULL;
    int made = 0;
    if (!ssh(spec->host, "mktemp -d /tmp/warpstave.XXXXXX", FALSE, &there, &made, error))
        return FALSE;
    if (there)
        g_strstrip(there);
    if (made != 0 && made != SSH_LOST) {
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED,
                    "no folder can be made in /tmp of %s (status %d): is its disk full?",
                    spec->host, made);
        return FALSE;
    }
    if (made != 0 || !there || !safe_path(there))
        return absent(error, "host %s cannot be reached by ssh (status %d); `ssh %s true` says why",
                      spec->host, made, spec->host);
    gboolean keep = FALSE;
    const gboolean ok = run_there(dir, runner, spec, there, status, &keep, error);
    g_autofree char *clean = g_strdup_printf("rm -rf %s", there);
    int ignored;
    if (!keep)
        ssh(spec->host, clean, TRUE, NULL, &ignored, NULL);
    return ok;
}
