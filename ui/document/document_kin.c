#include "ui/document/document_kin.h"

#include "model/findings.h"
#include "score/scene.h"
#include "trace/kin.h"
#include "ui/document/document_machine.h"
#include "ui/document/document_private.h"

#include <string.h>

#define KEY "warpstave-kin"

static void kin_free(gpointer data)
{
    WsKin *k = data;
    g_free(k->name);
    ws_trace_unref(k->trace);
    g_clear_pointer(&k->answers, ws_answers_unref);
    g_clear_pointer(&k->idle, ws_idle_free);
    g_clear_pointer(&k->stats, ws_trace_stats_free);
    g_free(k);
}

static guint64 next_number(void)
{
    static guint64 numbers;
    return ++numbers;
}

/* --- in a thread --------------------------------------------------------------------------------
 */

typedef struct {
    WsTrace *trace;
    const WsMachine *machine;
    WsKin *answer; /* trace and name belong to the document's own */
} Job;

static void job_free(gpointer data)
{
    Job *job = data;
    ws_trace_unref(job->trace);
    if (job->answer)
        kin_free(job->answer);
    g_free(job);
}

static WsAnswers *answers_of(const WsTrace *t, const WsMachine *machine)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_parse(t->design_text, strlen(t->design_text), NULL, findings);
    g_autoptr(GArray) sizes = g_array_new(FALSE, FALSE, sizeof(WsSize));
    for (guint i = 0; i < t->size->len; i++) {
        const WsSize size = { .name = g_intern_string(g_array_index(t->size_name, char *, i)),
                              .value = g_array_index(t->size, gint64, i) };
        g_array_append_val(sizes, size);
    }
    return design
               ? ws_answers_make(design, sizes, machine, WS_ASK_CHECK, g_steal_pointer(&findings))
               : NULL;
}

static void work(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    Job *job = data;
    WsKin *k = job->answer = g_new0(WsKin, 1);
    k->trace = ws_trace_ref(job->trace);
    k->answers = answers_of(job->trace, job->machine);
    k->stats = ws_trace_stats_new(job->trace);
    const WsProgram *p = k->answers ? k->answers->program : NULL;
    if (p)
        k->idle = ws_idle_new(k->answers->program, job->trace, job->machine);
    g_task_return_boolean(task, TRUE);
}

static void on_worked(GObject *source, GAsyncResult *result, gpointer data)
{
    WsDocument *d = WS_DOCUMENT(source);
    Job *job = g_task_get_task_data(G_TASK(result));
    WsKin *k = g_object_get_data(G_OBJECT(d), KEY);
    if (!k || k->trace != job->trace || k->stats)
        return; /* another one by now */
    k->answers = g_steal_pointer(&job->answer->answers);
    k->idle = g_steal_pointer(&job->answer->idle);
    k->stats = g_steal_pointer(&job->answer->stats);
    k->number = next_number();
    ws_document_emit(d, WS_SIGNAL_RANGE);
}

/* --- choosing and asking -----------------------------------------------------------------------
 */

gboolean ws_document_is_kin(WsDocument *d, const WsTrace *t)
{
    const WsTrace *shown =
        ws_document_predicted(d) ? ws_document_predicted(d) : ws_document_measured(d);
    return shown && ws_trace_kinship(shown, t) >= WS_TRACE_KIN;
}

void ws_document_compare_kin(WsDocument *d, WsTrace *t, const char *name)
{
    WsKin *k = t ? g_new0(WsKin, 1) : NULL;
    if (k) {
        k->name = g_strdup(name);
        k->trace = ws_trace_ref(t);
        k->number = next_number();
    }
    g_object_set_data_full(G_OBJECT(d), KEY, k, kin_free);
    if (t) {
        Job *job = g_new0(Job, 1);
        job->trace = ws_trace_ref(t);
        job->machine = ws_document_machine(d);
        g_autoptr(GTask) task = g_task_new(d, NULL, on_worked, NULL);
        g_task_set_task_data(task, job, job_free);
        g_task_run_in_thread(task, work);
    }
    ws_document_emit(d, WS_SIGNAL_RANGE);
}

void ws_document_forget_kin(WsDocument *d)
{
    g_object_set_data(G_OBJECT(d), KEY, NULL);
}

const WsKin *ws_document_kin(WsDocument *d)
{
    return g_object_get_data(G_OBJECT(d), KEY);
}
