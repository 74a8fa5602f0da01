#include "ui/document/document_idle.h"
#include "program/elaborate.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include "score/scene.h"
#include "ui/document/document_machine.h"
#include "ui/document/document_private.h"

#define KEY "warpstave-idle"

/* What an answer is of, and the answer. References. */
typedef struct {
    WsProgram *program;
    WsTrace *trace[2]; /* predicted, measured; or NULL */
    const WsMachine *machine;
    WsIdle *idle[2];
    WsOverlap *overlap[2];
    gboolean bound; /* what the measured run is bound by is known: */
    WsBoundBy by;
} Answer;

/* Belongs to the document. */
typedef struct {
    Answer *answer; /* NULL: none */
    GTask *task;    /* holds the document */
    guint later;    /* source that begins it */
    guint64 number;
    gboolean looks, reveal;
    WsGapRef gap;
} State;

static void answer_free(gpointer data)
{
    Answer *a = data;
    if (!a)
        return;
    ws_program_unref(a->program);
    for (guint i = 0; i < 2; i++) {
        g_clear_pointer(&a->trace[i], ws_trace_unref);
        g_clear_pointer(&a->idle[i], ws_idle_free);
        g_clear_pointer(&a->overlap[i], ws_overlap_free);
    }
    g_free(a);
}

static void state_free(gpointer data)
{
    State *s = data;
    g_clear_handle_id(&s->later, g_source_remove);
    g_clear_object(&s->task);
    answer_free(s->answer);
    g_free(s);
}

static State *state(WsDocument *d)
{
    State *s = g_object_get_data(G_OBJECT(d), KEY);
    if (!s) {
        s = g_new0(State, 1);
        g_object_set_data_full(G_OBJECT(d), KEY, s, state_free);
    }
    return s;
}

static gboolean is_of(const Answer *a, WsDocument *d)
{
    return a && a->program == ws_document_program(d) && a->trace[0] == ws_document_predicted(d) &&
           a->trace[1] == ws_document_measured(d) && a->machine == ws_document_machine(d);
}

/* In a thread: what it reads is immutable. */
static void work(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    Answer *a = data;
    for (guint i = 0; i < 2; i++) {
        if (!a->trace[i] || ws_trace_between_unknown(a->program, a->trace[i]))
            continue;
        a->idle[i] = ws_idle_new(a->program, a->trace[i], a->machine);
        a->overlap[i] = ws_overlap_new(a->program, a->trace[i], a->machine, a->idle[i]);
    }
    if (a->idle[1])
        a->bound = ws_bound_by(a->idle[1], &a->by);
    g_task_return_boolean(task, TRUE);
}

static void on_worked(GObject *source, GAsyncResult *result, gpointer data)
{
    WsDocument *d = WS_DOCUMENT(source);
    State *s = state(d);
    Answer *a = g_task_get_task_data(G_TASK(result));
    static guint64 answers;
    if (s->task != G_TASK(result))
        return;
    g_clear_object(&s->task);
    if (!is_of(a, d)) {
        ws_document_want_idle(d);
        return;
    }
    answer_free(s->answer);
    s->answer = g_memdup2(a, sizeof *a);
    ws_program_ref(a->program);
    for (guint i = 0; i < 2; i++) {
        if (a->trace[i])
            ws_trace_ref(a->trace[i]);
        a->idle[i] = NULL; /* taken */
        a->overlap[i] = NULL;
    }
    s->number = ++answers;
    s->looks = FALSE;
    ws_document_emit(d, WS_SIGNAL_IDLE);
}

/* Long traces are looked through after their first picture, not beside it: both wait for memory. */
#define LONG_TRACE 50000 /* records: about 50 ms of walking */
#define AFTER      300   /* milliseconds */

gboolean ws_document_is_long(const WsTrace *t)
{
    return t && t->record->len > LONG_TRACE;
}

static gboolean begin(gpointer document)
{
    State *s = state(document);
    s->later = 0;
    if (s->task)
        g_task_run_in_thread(s->task, work);
    return G_SOURCE_REMOVE;
}

void ws_document_want_idle(WsDocument *d)
{
    State *s = state(d);
    WsProgram *program = ws_document_program(d);
    WsTrace *trace[2] = { ws_document_predicted(d), ws_document_measured(d) };
    if (!program || (!trace[0] && !trace[1]) || is_of(s->answer, d) || s->task)
        return; /* a task that is too late asks again when it is through */
    Answer *a = g_new0(Answer, 1);
    a->program = ws_program_ref(program);
    a->machine = ws_document_machine(d);
    for (guint i = 0; i < 2; i++)
        a->trace[i] = trace[i] ? ws_trace_ref(trace[i]) : NULL;
    s->task = g_task_new(d, NULL, on_worked, NULL);
    g_task_set_task_data(s->task, a, answer_free);
    if (ws_document_is_long(trace[0]) || ws_document_is_long(trace[1]))
        s->later = g_timeout_add(AFTER, begin, d);
    else
        g_task_run_in_thread(s->task, work);
}

const WsIdle *ws_document_idle(WsDocument *d, gboolean measured)
{
    State *s = state(d);
    return is_of(s->answer, d) ? s->answer->idle[measured] : NULL;
}

const WsOverlap *ws_document_overlap(WsDocument *d, gboolean measured)
{
    State *s = state(d);
    return is_of(s->answer, d) ? s->answer->overlap[measured] : NULL;
}

gboolean ws_document_bound(WsDocument *d, WsBoundBy *by)
{
    State *s = state(d);
    if (!is_of(s->answer, d) || !s->answer->bound)
        return FALSE;
    *by = s->answer->by;
    return TRUE;
}

gboolean ws_document_claims(WsDocument *d)
{
    const WsProgram *p = ws_document_program(d);
    const WsTrace *t = ws_document_measured(d);
    return p && t && ws_trace_rounds_unknown(p, t);
}

const char *ws_document_between(WsDocument *d)
{
    const WsProgram *p = ws_document_program(d);
    const WsTrace *t = ws_document_measured(d);
    return p && t ? ws_score_between_text(p, t) : NULL;
}

guint64 ws_document_idle_number(WsDocument *d)
{
    State *s = state(d);
    return is_of(s->answer, d) ? s->number : 0;
}

/* --- the gap that is looked at ---------------------------------------------------------------- */

const WsIdleGap *ws_document_gap_of(WsDocument *d, const WsGapRef *gap, const WsIdleCta **cta)
{
    const WsIdleCta *c = ws_idle_cta(ws_document_idle(d, gap->measured), gap->cta);
    if (cta)
        *cta = c;
    return c && gap->gap < c->gap[gap->unit]->len
               ? &g_array_index(c->gap[gap->unit], WsIdleGap, gap->gap)
               : NULL;
}

gboolean ws_document_gap(WsDocument *d, WsGapRef *gap)
{
    State *s = state(d);
    if (!s->looks || !ws_document_gap_of(d, &s->gap, NULL))
        return FALSE;
    *gap = s->gap;
    return TRUE;
}

gboolean ws_document_gap_to_reveal(WsDocument *d)
{
    State *s = state(d);
    const gboolean reveal = s->reveal;
    s->reveal = FALSE;
    return reveal;
}

static void select_place(WsDocument *d, const WsIdlePlace *x, WsSelectMode mode)
{
    const WsProgram *p = ws_document_program(d);
    if (x->op >= p->n_ops || !p->op[x->op]->step)
        return;
    const WsFocus focus = { p->op[x->op]->step, x->agent, x->tile, x->round };
    ws_document_select(d, &focus, mode, FALSE);
}

/* The release first, so that the waiter has the focus. */
static void select_gap(WsDocument *d, const WsIdleCta *c, const WsIdleGap *gap)
{
    WsIdlePlace first = gap->release, second = gap->waiter;
    if (second.op == G_MAXUINT) {
        gint64 most = 0;
        first = gap->next;
        second = first;
        for (guint i = 0; i < gap->pieces; i++) {
            const WsNextPiece *x = &g_array_index(c->piece, WsNextPiece, gap->first_piece + i);
            if (x->to - x->from <= most)
                continue;
            most = x->to - x->from;
            second = (WsIdlePlace){ x->agent, x->op, x->tile, x->round, x->cta };
        }
    }
    ws_document_select(d, NULL, WS_SELECT_REPLACE, FALSE);
    if (first.cta == second.cta) /* else it stands on another score */
        select_place(d, &first, WS_SELECT_ADD);
    select_place(d, &second, WS_SELECT_ADD);
}

void ws_document_look_at_gap(WsDocument *d, const WsGapRef *ref, gboolean reveal)
{
    State *s = state(d);
    const WsIdleCta *c = NULL;
    const WsIdleGap *gap = ref ? ws_document_gap_of(d, ref, &c) : NULL;
    s->looks = gap != NULL;
    s->reveal = gap && reveal;
    if (gap) {
        s->gap = *ref;
        select_gap(d, c, gap);
    }
    ws_document_emit(d, WS_SIGNAL_IDLE);
}
