#include "ui/schedules/schedule_judge.h"
#include "ui/document/process.h"

#include <glib/gstdio.h>
#include <unistd.h>

/* Exit codes of the tool: it is as it is meant; it is not. */
enum { YES = 0, NO = 1 };

struct WsScheduleJudge {
    WsProcess *process;
    char *file;
    gboolean reorders;
    WsScheduleDone done;
    gpointer data;
};

static void judge_free(WsScheduleJudge *j)
{
    if (j->file)
        g_unlink(j->file);
    g_free(j->file);
    g_free(j);
}

static void tell(WsScheduleJudge *j, WsScheduleJudged judged)
{
    const WsScheduleDone done = j->done;
    const gpointer data = j->data;
    judge_free(j);
    done(judged, data);
}

static void on_rehearsed(const WsProcessResult *result, gpointer data)
{
    WsScheduleJudge *j = data;
    tell(j, result->code == YES                 ? WS_JUDGED_SAME
            : result->code == NO || j->reorders ? WS_JUDGED_OUT
                                                : WS_JUDGED_UNCOMPARED);
}

/* Where there is no ptxas, or no code of this target, the report says nothing against it. */
static void on_reported(const WsProcessResult *result, gpointer data)
{
    WsScheduleJudge *j = data;
    if (result->code == NO) {
        tell(j, WS_JUDGED_OUT);
        return;
    }
    const char *const argv[] = { "warpstave", "rehearse", j->file, NULL };
    j->process = ws_process_start(argv, on_rehearsed, j);
}

static gboolean cannot_write(gpointer data)
{
    WsScheduleJudge *j = data;
    tell(j, j->reorders ? WS_JUDGED_OUT : WS_JUDGED_UNCOMPARED);
    return G_SOURCE_REMOVE;
}

WsScheduleJudge *ws_schedule_judge_start(const WsDesign *design, gboolean reorders,
                                         WsScheduleDone done, gpointer data)
{
    WsScheduleJudge *j = g_new0(WsScheduleJudge, 1);
    g_autofree char *text = ws_design_print(design);
    *j = (WsScheduleJudge){ .reorders = reorders, .done = done, .data = data };
    const int file = g_file_open_tmp("warpstave-XXXXXX.wstave", &j->file, NULL);
    if (file >= 0)
        close(file);
    if (file < 0 || !g_file_set_contents(j->file, text, -1, NULL)) {
        g_idle_add(cannot_write, j);
        return j;
    }
    const char *const argv[] = { "warpstave", "generate", j->file, "--as=report", NULL };
    j->process = ws_process_start(argv, on_reported, j);
    return j;
}

void ws_schedule_judge_abandon(WsScheduleJudge *j)
{
    if (!j)
        return;
    if (j->process)
        ws_process_abandon(j->process);
    else
        g_idle_remove_by_data(j);
    judge_free(j);
}
