#include "ui/document/process.h"

#include "model/build.h"
#include "ui/roots.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <unistd.h>

struct WsProcess {
    GSubprocess *process;
    WsProcessDone done;
    gpointer data;
    gboolean cancelled;
    guint kill_timer;
    char *errors; /* file in which the tool says why it failed (--errors), NULL none */
};

static char *ws_process_tool(void)
{
    const char *given = g_getenv("WARPSTAVE");
    if (given && *given)
        return g_strdup(given);
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = self ? g_path_get_dirname(self) : NULL;
    /* studio tests stand beside the programs of the build; an installed studio asks nothing there
     */
    const gboolean built = self && g_str_has_prefix(self, WS_BUILD_ROOT "/");
    const char *folders[] = { folder, built ? WS_BUILD_ROOT "/bin" : NULL };
    for (guint i = 0; i < G_N_ELEMENTS(folders); i++) {
        if (!folders[i])
            continue;
        g_autofree char *path = g_build_filename(folders[i], "warpstave", NULL);
        if (g_file_test(path, G_FILE_TEST_IS_EXECUTABLE))
            return g_steal_pointer(&path);
    }
    return g_find_program_in_path("warpstave");
}

static void finish(WsProcess *p, int code, const char *output, const char *errors,
                   const char *message)
{
    g_autofree char *text = NULL;
    if (p->kill_timer)
        g_source_remove(p->kill_timer);
    if (p->errors)
        g_file_get_contents(p->errors, &text, NULL, NULL);
    g_autoptr(WsJson) said = text && *text ? ws_json_read(text, NULL) : NULL;
    const WsProcessResult result = {
        .code = p->cancelled ? 130 : code,
        .output = output ? output : "",
        .errors = errors ? errors : "",
        .message = message ? message
                   : said  ? ws_json_member_text(said, "message")
                           : NULL,
        .step = said ? ws_json_member_text(said, "step") : NULL,
        .why = said ? ws_json_member_text(said, "why_phrase") : NULL,
        .remedy = said ? ws_json_member_text(said, "remedy_phrase") : NULL,
    };
    if (p->done)
        p->done(&result, p->data);
    g_clear_object(&p->process);
    if (p->errors)
        g_unlink(p->errors);
    g_free(p->errors);
    g_free(p);
}

static void on_done(GObject *source, GAsyncResult *result, gpointer data)
{
    g_autofree char *output = NULL, *errors = NULL;
    g_autoptr(GError) error = NULL;
    GSubprocess *process = G_SUBPROCESS(source);
    if (!g_subprocess_communicate_utf8_finish(process, result, &output, &errors, &error)) {
        finish(data, 5, "", error->message, error->message);
        return;
    }
    int code = g_subprocess_get_if_exited(process) ? g_subprocess_get_exit_status(process) : 5;
    finish(data, code, output, errors, NULL);
}

static gboolean report_missing(gpointer data)
{
    const char *why = _("The command line tool `warpstave` is not here. Install it beside the "
                        "studio, or name it in the environment variable WARPSTAVE.");
    finish(data, 4, "", why, why);
    return G_SOURCE_REMOVE;
}

WsProcess *ws_process_start(const char *const *argv, WsProcessDone done, gpointer data)
{
    WsProcess *p = g_new0(WsProcess, 1);
    p->done = done;
    p->data = data;
    g_autofree char *tool = ws_process_tool();
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    g_ptr_array_add(words, tool);
    for (guint i = 1; argv[i]; i++)
        g_ptr_array_add(words, (gpointer)argv[i]);
    const int file = g_file_open_tmp("warpstave-XXXXXX.json", &p->errors, NULL);
    g_autofree char *option = p->errors ? g_strconcat("--errors=", p->errors, NULL) : NULL;
    if (file >= 0)
        close(file);
    g_ptr_array_add(words, option);
    g_ptr_array_add(words, NULL);
    if (tool)
        p->process = g_subprocess_newv(
            (const char *const *)words->pdata,
            G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, NULL);
    if (p->process)
        g_subprocess_communicate_utf8_async(p->process, NULL, NULL, on_done, p);
    else
        g_idle_add(report_missing, p);
    return p;
}

static gboolean force(gpointer data)
{
    WsProcess *p = data;
    p->kill_timer = 0;
    g_subprocess_force_exit(p->process);
    return G_SOURCE_REMOVE;
}

void ws_process_cancel(WsProcess *p)
{
    if (p->cancelled || !p->process)
        return;
    p->cancelled = TRUE;
    g_subprocess_send_signal(p->process, SIGINT);
    p->kill_timer = g_timeout_add_seconds(2, force, p);
}

void ws_process_abandon(WsProcess *p)
{
    p->done = NULL;
    if (p->process)
        g_subprocess_force_exit(p->process);
    if (p->errors) /* the studio may end before the process is seen to have ended */
        g_unlink(p->errors);
    g_clear_pointer(&p->errors, g_free);
}
