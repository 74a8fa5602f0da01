#include "ui/document/document_next.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include "ui/document/document_machine.h"
#include "ui/document/document_private.h"
#include "ui/parts/words.h"

#define KEY "warpstave-next"

/* Belongs to the document. */
typedef struct {
    WsNext *next;     /* NULL: none */
    WsDesign *design; /* what it is of */
    WsTrace *measured;
    const WsMachine *machine;
    gboolean has_edits;
    GArray *idle_edits; /* WsIdleEdit; NULL: not known */
    GTask *running;
    gboolean wants_edits, path;
    guint64 number;
} Advice;

/* --- in a thread --------------------------------------------------------------------------------
 */

typedef struct {
    WsDesign *design;
    WsProgram *program;
    WsTrace *measured;
    GArray *sizes;
    const WsMachine *machine;
    gboolean edits;
    gint cancel;
    GArray *idle_edits; /* the second answer */
} Question;

static void question_free(gpointer data)
{
    Question *q = data;
    ws_design_unref(q->design);
    ws_program_unref(q->program);
    g_clear_pointer(&q->measured, ws_trace_unref);
    g_clear_pointer(&q->sizes, g_array_unref);
    g_clear_pointer(&q->idle_edits, g_array_unref);
    g_free(q);
}

static void work(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    Question *q = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsLaunchValues) launch =
        ws_launch_values(q->program, q->sizes ? (const WsSize *)(gpointer)q->sizes->data : NULL,
                         q->sizes ? q->sizes->len : 0, FALSE, findings);
    const WsNextOptions options = { .no_edits = !q->edits, .cancel = &q->cancel };
    WsNext *next = launch && q->machine ? ws_next_new(q->design, NULL, 0, q->program, launch,
                                                      q->machine, q->measured, &options, findings)
                                        : NULL;
    if (next && q->edits && next->predicted->trace) {
        g_autoptr(WsIdle) idle = ws_idle_new(q->program, next->predicted->trace, q->machine);
        q->idle_edits =
            ws_idle_edits(idle, next, q->design, q->program, q->sizes, q->machine, &q->cancel);
    }
    g_task_return_pointer(task, next, (GDestroyNotify)ws_next_free);
}

/* --- the document's ----------------------------------------------------------------------------
 */

static void stop(Advice *a)
{
    if (a->running)
        g_atomic_int_set(&((Question *)g_task_get_task_data(a->running))->cancel, 1);
    g_clear_object(&a->running);
}

static void forget(Advice *a)
{
    stop(a);
    g_clear_pointer(&a->next, ws_next_free);
    g_clear_pointer(&a->idle_edits, g_array_unref);
    g_clear_pointer(&a->design, ws_design_unref);
    g_clear_pointer(&a->measured, ws_trace_unref);
    a->has_edits = FALSE;
}

static void advice_free(gpointer data)
{
    Advice *a = data;
    forget(a);
    g_free(a);
}

static Advice *advice(WsDocument *d)
{
    return g_object_get_data(G_OBJECT(d), KEY);
}

static gboolean is_of(const Advice *a, WsDocument *d)
{
    return a->design && a->design == ws_document_design(d) &&
           a->measured == ws_document_measured(d) && a->machine == ws_document_machine(d);
}

static void on_changed(WsDocument *d, gpointer data)
{
    Advice *a = advice(d);
    if (ws_document_only_judged(d) || is_of(a, d))
        return;
    const gboolean shown = a->path;
    forget(a);
    ws_document_emit(d, WS_SIGNAL_ADVISED);
    if (shown)
        ws_document_want_next(d, FALSE);
}

static Advice *have(WsDocument *d)
{
    Advice *a = advice(d);
    if (a)
        return a;
    a = g_new0(Advice, 1);
    g_object_set_data_full(G_OBJECT(d), KEY, a, advice_free);
    g_signal_connect(d, "changed", G_CALLBACK(on_changed), NULL);
    return a;
}

static void on_worked(GObject *source, GAsyncResult *result, gpointer data)
{
    WsDocument *d = WS_DOCUMENT(source);
    Question *q = g_task_get_task_data(G_TASK(result));
    WsNext *next = g_task_propagate_pointer(G_TASK(result), NULL);
    Advice *a = advice(d);
    if (!a || a->running != G_TASK(result)) {
        ws_next_free(next);
        return;
    }
    g_clear_object(&a->running);
    g_clear_pointer(&a->next, ws_next_free);
    a->next = next;
    a->has_edits = q->edits;
    g_clear_pointer(&a->idle_edits, g_array_unref);
    a->idle_edits = g_steal_pointer(&q->idle_edits);
    static guint64 answers;
    a->number = next ? ++answers : 0;
    ws_document_emit(d, WS_SIGNAL_ADVISED);
}

void ws_document_want_next(WsDocument *d, gboolean edits)
{
    Advice *a = have(d);
    WsProgram *program = ws_document_program(d);
    if (!program || ws_document_trying(d) || ws_document_left_out(d))
        return;
    if (is_of(a, d) && (a->running ? a->wants_edits >= edits : a->next && a->has_edits >= edits))
        return;
    const gboolean both = edits || (is_of(a, d) && a->running && a->wants_edits);
    WsNext *kept = is_of(a, d) ? g_steal_pointer(&a->next) : NULL; /* edges are there meanwhile */
    forget(a);
    a->next = kept;
    a->design = ws_design_ref(ws_document_design(d));
    a->measured = ws_document_measured(d) ? ws_trace_ref(ws_document_measured(d)) : NULL;
    a->machine = ws_document_machine(d);
    a->wants_edits = both;
    Question *q = g_new0(Question, 1);
    q->design = ws_design_ref(a->design);
    q->program = ws_program_ref(program);
    q->measured = a->measured ? ws_trace_ref(a->measured) : NULL;
    q->sizes = ws_document_sizes(d);
    q->machine = a->machine;
    q->edits = both;
    a->running = g_task_new(d, NULL, on_worked, NULL);
    g_task_set_task_data(a->running, q, question_free);
    g_task_run_in_thread(a->running, work);
}

const WsNext *ws_document_next(WsDocument *d)
{
    Advice *a = advice(d);
    return a && is_of(a, d) ? a->next : NULL;
}

guint64 ws_document_next_number(WsDocument *d)
{
    return ws_document_next(d) ? advice(d)->number : 0;
}

gboolean ws_document_next_running(WsDocument *d)
{
    return advice(d) && advice(d)->running;
}

gboolean ws_document_next_has_edits(WsDocument *d)
{
    return ws_document_next(d) && advice(d)->has_edits;
}

const WsNextEdit *ws_document_idle_edit(WsDocument *d, const WsIdleCause *cause)
{
    const WsNext *next = ws_document_next(d);
    const GArray *list = next ? advice(d)->idle_edits : NULL;
    const WsProgram *p = ws_document_program(d);
    for (guint i = 0; list && i < list->len; i++) {
        const WsIdleEdit *e = &g_array_index(list, WsIdleEdit, i);
        if (e->edit < next->edit->len && e->unit == cause->unit && e->reason == cause->reason &&
            !g_strcmp0(p->op[e->op]->step, p->op[cause->op]->step))
            return next->edit->pdata[e->edit];
    }
    return NULL;
}

/* --- acting -------------------------------------------------------------------------------------
 */

gboolean ws_document_try_next(WsDocument *d, const WsNextEdit *edit)
{
    WsDesign *latest = ws_document_latest(d);
    if (!edit || !latest) {
        ws_document_try(d, NULL);
        return FALSE;
    }
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) now = ws_design_ref(latest);
    for (guint i = 0; i < edit->edits->len; i++) {
        WsDesign *after = ws_design_apply(now, edit->edits->pdata[i], findings);
        if (!after)
            return FALSE;
        ws_design_unref(now);
        now = after;
    }
    ws_document_try(d, now);
    return TRUE;
}

gboolean ws_document_take_next(WsDocument *d, const WsNextEdit *edit, GError **error)
{
    g_autofree char *words = ws_words(edit->words);
    return ws_document_commit_edits(d, words, edit->edits, error);
}

void ws_document_show_path(WsDocument *d, gboolean shown)
{
    Advice *a = have(d);
    a->path = shown;
    if (shown)
        ws_document_want_next(d, FALSE);
    ws_document_emit(d, WS_SIGNAL_ADVISED);
}

gboolean ws_document_path_shown(WsDocument *d)
{
    return advice(d) && advice(d)->path;
}
