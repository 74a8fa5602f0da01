#include "ui/document/answers.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include "edit/edit.h"
#include "import/import.h"

#include <string.h>

/* Steps that may be left out before a design counts as one that cannot be drawn. */
#define MAX_LEFT_OUT 64

WsAnswers *ws_answers_ref(WsAnswers *a)
{
    g_atomic_int_inc(&a->refs);
    return a;
}

void ws_answers_unref(WsAnswers *a)
{
    if (!a || !g_atomic_int_dec_and_test(&a->refs))
        return;
    g_clear_pointer(&a->predicted, ws_trace_unref);
    g_clear_pointer(&a->clock, ws_clock_result_free);
    g_clear_pointer(&a->launch, ws_launch_values_free);
    g_clear_pointer(&a->verdict, ws_verdict_free);
    g_clear_pointer(&a->findings, ws_findings_free);
    g_clear_pointer(&a->program, ws_program_unref);
    g_clear_pointer(&a->design, ws_design_unref);
    g_free(a->program_text);
    g_free(a);
}

void ws_answers_predict(WsAnswers *a, const GArray *sizes, const WsMachine *machine,
                        const WsTrace *measured)
{
    g_clear_pointer(&a->predicted, ws_trace_unref);
    g_clear_pointer(&a->clock, ws_clock_result_free);
    g_clear_pointer(&a->launch, ws_launch_values_free);
    a->launch = ws_launch_values(a->program, sizes ? (const WsSize *)(gpointer)sizes->data : NULL,
                                 sizes ? sizes->len : 0, FALSE, a->findings);
    if (!a->launch || !machine || ws_launch_tiles(a->launch) == 0)
        return;
    a->clock = ws_clock_run(a->program, a->launch, machine, NULL, a->findings);
    if (a->clock && measured)
        a->predicted = ws_clock_claimed(a->program, a->launch, machine, measured);
    if (a->clock && a->clock->trace && !a->predicted)
        a->predicted = ws_trace_ref(a->clock->trace);
}

/* --- designs that are not whole yet -------------------------------------------------------------
 * A step that names what is not there (yet) is left out of the drawing, as if it were muted; the
 * rest is drawn and timed. Nothing is said of the whole then. */

static gboolean is_there(const WsDesign *design, const char *place)
{
    const WsNode *node = ws_design_find(design, place);
    return node && ws_node_kind_is_step(node->kind) && !ws_node_bool(node, WS_F_muted, FALSE);
}

/* The step that a finding's place lies in: "groups/a/body/0/use" is in "groups/a/body/0". Caller
 * frees; NULL if it lies in none. */
static char *step_of(const WsDesign *design, const char *place)
{
    for (g_autofree char *at = g_strdup(place ? place : ""); *at;) {
        if (is_there(design, at))
            return g_steal_pointer(&at);
        char *slash = strrchr(at, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
    }
    return NULL;
}

/* One edit applied, which is taken; NULL if it does not fit. */
static WsDesign *edited(const WsDesign *design, WsEdit *edit)
{
    g_autoptr(WsFindings) ignored = ws_findings_new();
    g_autoptr(WsEdit) own = edit;
    return ws_design_apply(design, own, ignored);
}

static WsDesign *without(WsDesign *design, const char *step)
{
    g_autofree char *place = ws_design_place(design, ws_design_find(design, step));
    return edited(design, ws_edit_new_set(place, "muted", ws_json_bool(TRUE)));
}

/* For the drawing alone: a transfer that signals nothing yet signals a barrier of nobody, a step
 * without a use has that of its loop. NULL if there is nothing of the kind to mend. */
static WsDesign *mended(WsDesign *design, const char *step)
{
    const WsNode *node = ws_design_find(design, step);
    const gboolean transfer = node->kind == WS_STEP_LOAD || node->kind == WS_STEP_GATHER;
    g_autofree char *place = ws_design_place(design, node);
    if (transfer && !ws_node_has(node, WS_F_signal)) {
        g_autofree char *name = ws_edit_fresh(design, "unsignalled");
        g_autoptr(WsDesign) with =
            edited(design,
                   ws_edit_new_insert(".", "barriers", 0,
                                      WS_MAKE(WS_NODE_BARRIER, { WS_F_name, ws_json_text(name) })));
        return with ? edited(with, ws_edit_new_set(place, "signal", ws_json_text(name))) : NULL;
    }
    if (!ws_node_row(node->kind, WS_F_use) || ws_node_has(node, WS_F_use))
        return NULL;
    const WsNode *loop = ws_edit_loop(design, node);
    WsJson *use =
        loop ? ws_json_format("%s.total", ws_node_text(loop, WS_F_keyword)) : ws_json_int(0);
    return edited(design, ws_edit_new_set(place, "use", use));
}

/* Mends or mutes the steps in which errors lie; NULL if there is none such. Takes the design. */
static WsDesign *mute_wrong(WsDesign *design, const WsFindings *findings, GHashTable *touched)
{
    gboolean any = FALSE;
    for (guint i = 0; i < findings->list->len && g_hash_table_size(touched) < MAX_LEFT_OUT; i++) {
        const WsFinding *f = findings->list->pdata[i];
        g_autofree char *step = f->severity == WS_SEVERITY_ERROR ? step_of(design, f->at) : NULL;
        WsDesign *rest = step ? mended(design, step) : NULL;
        if (step && !rest)
            rest = without(design, step);
        if (!rest)
            continue;
        ws_design_unref(design);
        design = rest;
        any = TRUE;
        g_hash_table_add(touched, g_steal_pointer(&step));
    }
    if (any)
        return design;
    ws_design_unref(design);
    return NULL;
}

static void elaborate_rest(WsAnswers *a)
{
    WsDesign *rest = ws_design_ref(a->design);
    g_autoptr(GHashTable) touched = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(WsFindings) findings = NULL;
    for (guint round = 0; rest && round < 24; round++) {
        rest = mute_wrong(rest, findings ? findings : a->findings, touched);
        if (!rest)
            break;
        g_clear_pointer(&findings, ws_findings_free);
        findings = ws_findings_new();
        a->program = ws_elaborate(rest, NULL, 0, findings);
        if (a->program)
            break;
    }
    a->left_out = g_hash_table_size(touched);
    ws_design_unref(rest);
}

/* --- making -------------------------------------------------------------------------------------
 */

static WsAnswers *begin(const WsDesign *design, WsFindings *findings)
{
    WsAnswers *a = g_new0(WsAnswers, 1);
    a->refs = 1;
    a->design = ws_design_ref(design);
    a->findings = findings ? findings : ws_findings_new();
    return a;
}

static void locate(const WsDesign *design, WsFindings *findings, WsAnswerAsk what)
{
    ws_check_locate(design, findings);
    if (what & WS_ASK_SOURCE)
        ws_import_locate(design, findings);
}

static gboolean may_judge(const WsAnswers *a)
{
    return a->program && !a->left_out && ws_findings_exit_code(a->findings, FALSE) == 0;
}

static void elaborate(WsAnswers *a)
{
    a->program = ws_elaborate(a->design, NULL, 0, a->findings);
    if (!a->program)
        elaborate_rest(a);
}

static void finish(WsAnswers *a, const GArray *sizes, const WsMachine *machine, WsAnswerAsk what,
                   const WsTrace *measured)
{
    if (!a->program)
        return;
    g_autoptr(WsFindings) dropped = NULL;
    if (a->left_out) { /* findings of a part of the design mean nothing */
        dropped = a->findings;
        a->findings = ws_findings_new();
    }
    ws_answers_predict(a, sizes, machine, measured);
    if (dropped) {
        WsFindings *of_rest = a->findings;
        a->findings = g_steal_pointer(&dropped);
        dropped = of_rest;
    }
    if (what & WS_ASK_TEXTS)
        a->program_text = ws_program_print(a->program);
}

WsAnswers *ws_answers_make(const WsDesign *design, const GArray *sizes, const WsMachine *machine,
                           WsAnswerAsk what, WsFindings *findings)
{
    WsAnswers *a = begin(design, findings);
    elaborate(a);
    if (what & WS_ASK_CHECK && may_judge(a))
        a->verdict = ws_check(a->program, NULL, a->findings);
    a->judged = TRUE;
    finish(a, sizes, machine, what, NULL);
    locate(a->design, a->findings, what);
    return a;
}

WsAnswers *ws_answers_of_kernel(WsJudged *kernel, const WsMachine *machine, WsAnswerAsk what)
{
    WsAnswers *a = begin(kernel->design, g_steal_pointer(&kernel->findings));
    a->program = g_steal_pointer(&kernel->program);
    a->verdict = g_steal_pointer(&kernel->verdict);
    a->judged = TRUE;
    if (!a->program)
        elaborate_rest(a);
    finish(a, NULL, machine, what, NULL);
    locate(a->design, a->findings, what);
    return a;
}

/* --- the thread ---------------------------------------------------------------------------------
 */

typedef struct {
    WsDesign *design;
    GArray *sizes;
    const WsMachine *machine;
    WsTrace *measured; /* or NULL */
    WsImport *import;  /* or NULL */
    WsAnswerAsk what;
    guint64 number;
} Question;

struct WsWorker {
    gint refs;
    GThread *thread;
    GMutex mutex;
    GCond wake;
    Question *waiting; /* the newest, or NULL */
    gboolean quit;
    guint64 newest; /* atomic enough under the mutex */
    gint cancel;    /* of the check that runs: something newer was asked */
    WsAnswered answered;
    gpointer data;
};

static void free_question(Question *q)
{
    if (!q)
        return;
    ws_design_unref(q->design);
    if (q->sizes)
        g_array_unref(q->sizes);
    ws_trace_unref(q->measured);
    ws_import_free(q->import);
    g_free(q);
}

static void unref_worker(WsWorker *w)
{
    if (!g_atomic_int_dec_and_test(&w->refs))
        return;
    free_question(w->waiting);
    g_mutex_clear(&w->mutex);
    g_cond_clear(&w->wake);
    g_free(w);
}

static gboolean is_newest(WsWorker *w, guint64 number)
{
    g_mutex_lock(&w->mutex);
    const gboolean newest = !w->quit && w->newest == number;
    g_mutex_unlock(&w->mutex);
    return newest;
}

/* FALSE: nobody wants the check of this question any more. */
static gboolean may_check(WsWorker *w, guint64 number)
{
    g_mutex_lock(&w->mutex);
    const gboolean newest = !w->quit && w->newest == number;
    if (newest)
        g_atomic_int_set(&w->cancel, 0);
    g_mutex_unlock(&w->mutex);
    return newest;
}

typedef struct {
    WsWorker *worker;
    WsAnswers *answers;
    WsVerdict *verdict; /* of the check, which follows */
    WsFindings *findings;
    gboolean judged_only;
} Delivery;

static void free_delivery(gpointer data)
{
    Delivery *m = data;
    unref_worker(m->worker);
    ws_answers_unref(m->answers);
    g_clear_pointer(&m->verdict, ws_verdict_free);
    g_clear_pointer(&m->findings, ws_findings_free);
    g_free(m);
}

static gboolean deliver(gpointer data)
{
    Delivery *m = data;
    if (!is_newest(m->worker, m->answers->number))
        return G_SOURCE_REMOVE;
    if (m->judged_only) { /* answers belong to the main thread by now */
        m->answers->verdict = g_steal_pointer(&m->verdict);
        for (guint i = 0; m->findings && i < m->findings->list->len; i++)
            g_ptr_array_add(m->answers->findings->list, m->findings->list->pdata[i]);
        if (m->findings) {
            g_ptr_array_set_free_func(m->findings->list, NULL);
            g_ptr_array_set_size(m->findings->list, 0);
        }
        m->answers->judged = TRUE;
    }
    m->worker->answered(m->answers, m->judged_only, m->worker->data);
    return G_SOURCE_REMOVE;
}

static void send(WsWorker *w, WsAnswers *a, WsVerdict *verdict, WsFindings *findings,
                 gboolean judged_only)
{
    Delivery *m = g_new0(Delivery, 1);
    g_atomic_int_inc(&w->refs);
    *m = (Delivery){ w, ws_answers_ref(a), verdict, findings, judged_only };
    /* Not g_main_context_invoke(): between two turns of the main loop it would run here. */
    g_idle_add_full(G_PRIORITY_DEFAULT, deliver, m, free_delivery);
}

/* The check of a question, in a thread of its own beside the prediction: both read the same
 * program, which is immutable, and neither waits for the other. */
typedef struct {
    const Question *q;
    WsProgram *program;
    gint *cancel;
    WsFindings *findings;
    WsVerdict *verdict;
} Check;

static gpointer check(gpointer data)
{
    Check *c = data;
    const WsCheckOptions options = { .cancel = c->cancel };
    c->verdict = c->q->import ? ws_judge_program(c->q->import, c->program, &options, c->findings)
                              : ws_check(c->program, &options, c->findings);
    return NULL;
}

static void answer(WsWorker *w, const Question *q)
{
    g_autoptr(WsAnswers) a = begin(q->design, NULL);
    a->number = q->number;
    elaborate(a);
    if (q->import)
        ws_judge_soften(a->findings);
    if (!is_newest(w, q->number))
        return;
    const gboolean judge = q->what & WS_ASK_CHECK && may_judge(a) && may_check(w, q->number);
    /* The program is shared with the main thread later: it is immutable. */
    g_autoptr(WsProgram) program = a->program ? ws_program_ref(a->program) : NULL;
    Check c = { q, program, &w->cancel, judge ? ws_findings_new() : NULL, NULL };
    GThread *beside = judge ? g_thread_new("check", check, &c) : NULL;
    finish(a, q->sizes, q->machine, q->what, q->measured);
    locate(a->design, a->findings, q->what);
    a->judged = !judge;
    if (is_newest(w, q->number))
        send(w, a, NULL, NULL, FALSE);
    if (!judge)
        return;
    g_thread_join(beside);
    locate(q->design, c.findings, q->what);
    send(w, a, c.verdict, c.findings, TRUE); /* dropped if it is too late */
}

static gpointer run(gpointer data)
{
    WsWorker *w = data;
    for (;;) {
        g_mutex_lock(&w->mutex);
        while (!w->waiting && !w->quit)
            g_cond_wait(&w->wake, &w->mutex);
        Question *q = g_steal_pointer(&w->waiting);
        const gboolean quit = w->quit;
        g_mutex_unlock(&w->mutex);
        if (!quit)
            answer(w, q);
        free_question(q);
        if (quit)
            break;
    }
    unref_worker(w);
    return NULL;
}

WsWorker *ws_worker_new(WsAnswered answered, gpointer data)
{
    WsWorker *w = g_new0(WsWorker, 1);
    w->refs = 2; /* the owner and the thread */
    g_mutex_init(&w->mutex);
    g_cond_init(&w->wake);
    w->answered = answered;
    w->data = data;
    w->thread = g_thread_new("answers", run, w);
    return w;
}

void ws_worker_free(WsWorker *w)
{
    if (!w)
        return;
    g_mutex_lock(&w->mutex);
    w->quit = TRUE;
    g_atomic_int_set(&w->cancel, 1);
    g_cond_signal(&w->wake);
    g_mutex_unlock(&w->mutex);
    g_thread_unref(w->thread);
    unref_worker(w);
}

guint64 ws_worker_ask(WsWorker *w, const WsDesign *design, const GArray *sizes,
                      const WsMachine *machine, WsTrace *measured, WsImport *import,
                      WsAnswerAsk what)
{
    Question *q = g_new0(Question, 1);
    q->design = ws_design_ref(design);
    q->what = what;
    q->machine = machine;
    q->measured = measured ? ws_trace_ref(measured) : NULL;
    q->import = import ? ws_import_ref(import) : NULL;
    q->sizes = sizes ? g_array_copy((GArray *)sizes) : NULL;
    g_mutex_lock(&w->mutex);
    const guint64 number = q->number = ++w->newest;
    g_atomic_int_set(&w->cancel, 1);
    free_question(w->waiting);
    w->waiting = q;
    g_cond_signal(&w->wake);
    g_mutex_unlock(&w->mutex);
    return number; /* q is the thread's by now */
}

void ws_worker_forget(WsWorker *w)
{
    g_mutex_lock(&w->mutex);
    w->newest++;
    g_atomic_int_set(&w->cancel, 1);
    free_question(g_steal_pointer(&w->waiting));
    g_mutex_unlock(&w->mutex);
}
