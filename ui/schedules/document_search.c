#include "ui/schedules/document_search.h"
#include "base/phrase.h"
#include "model/diff.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/pressure.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "search/search.h"

#include "ui/document/document_machine.h"
#include "ui/document/document_private.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <string.h>

#define KEY        "warpstave-search"
#define NAME_CHARS 60 /* of the edits in the name of the step that takes them */

/* Between the thread and the document; each has a reference. */
typedef struct {
    gint cancel;
    GMutex lock;     /* of what stands below it, up to `document` */
    GPtrArray *news; /* WsScheduleFound*, not handed over yet */
    guint tried;
    gboolean called, ended, stopped; /* the main loop will look; the thread is through */
    double seconds;
    char *why;
    WsDocument *document; /* of the main thread alone; not owned, NULL: nobody waits any more */
    /* What it works on; never changed. */
    WsDesign *design;
    WsProgram *program;
    GArray *sizes;
    const WsMachine *machine;
    double budget;
} Job;

/* Belongs to the document. */
typedef struct {
    Job *job; /* NULL: none is running */
    WsSearchState state;
    const WsMachine *machine;
    char *sizes;            /* of the launch that is timed */
    WsScheduleJudge *judge; /* NULL: nobody is asked about */
    guint judged;           /* which one is */
    GPtrArray *list;
} Search;

static void schedule_free(gpointer data)
{
    WsScheduleFound *s = data;
    ws_design_unref(s->design);
    g_ptr_array_unref(s->words);
    g_array_unref(s->after);
    g_free(s);
}

static void clear_job(gpointer data)
{
    Job *j = data;
    g_mutex_clear(&j->lock);
    g_ptr_array_unref(j->news);
    ws_design_unref(j->design);
    ws_program_unref(j->program);
    g_clear_pointer(&j->sizes, g_array_unref);
    g_free(j->why);
}

static void job_unref(gpointer data)
{
    g_atomic_rc_box_release_full(data, clear_job);
}

/* --- in the thread ------------------------------------------------------------------------------
 */

static gboolean deliver(gpointer data);

/* With the lock. */
static void call(Job *j)
{
    if (!j->called)
        g_idle_add_full(G_PRIORITY_DEFAULT, deliver, g_atomic_rc_box_acquire(j), job_unref);
    j->called = TRUE;
}

static void proved(const WsFound *f, gpointer data)
{
    Job *j = data;
    g_autoptr(WsFindings) ignored = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(f->design, NULL, 0, ignored);
    if (!p)
        return;
    WsScheduleFound *s = g_new0(WsScheduleFound, 1);
    *s = (WsScheduleFound){ .design = ws_design_ref(f->design),
                            .words = g_ptr_array_ref(f->words),
                            .after = g_array_ref(f->after),
                            .cycles = f->cycles,
                            .shared = (gint64)f->shared,
                            .registers = ws_program_planned_registers(p),
                            .reorders = f->reorders };
    g_strlcpy(s->hash, p->design_hash, sizeof s->hash);
    g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&j->lock);
    g_ptr_array_add(j->news, s);
    call(j);
}

static void progress(const WsFound *best, guint tried, gpointer data)
{
    Job *j = data;
    (void)best;
    g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&j->lock);
    j->tried = tried;
    call(j);
}

static gpointer work(gpointer data)
{
    Job *j = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsLaunchValues) launch =
        ws_launch_values(j->program, j->sizes ? (const WsSize *)(gpointer)j->sizes->data : NULL,
                         j->sizes ? j->sizes->len : 0, FALSE, findings);
    const WsTrialOf of = { j->program, launch, j->machine };
    const WsSearchOptions options = { .seconds = j->budget,
                                      .seed = 1,
                                      .cancel = &j->cancel,
                                      .proved = proved,
                                      .progress = progress,
                                      .data = j };
    g_autoptr(WsSearch) s = launch ? ws_search_new(&of, j->design, &options, findings) : NULL;
    g_mutex_lock(&j->lock);
    const WsFinding *first = findings->list->len ? findings->list->pdata[0] : NULL;
    j->ended = TRUE;
    j->tried = s ? s->tried : j->tried;
    j->stopped = s && s->stopped;
    j->seconds = s ? s->seconds : 0;
    j->why =
        s ? NULL : g_strdup(first ? first->message : WS_WORD("the design cannot be simulated"));
    call(j);
    g_mutex_unlock(&j->lock);
    job_unref(j);
    return NULL;
}

/* --- the document's -----------------------------------------------------------------------------
 */

static Search *search_of(WsDocument *d)
{
    return g_object_get_data(G_OBJECT(d), KEY);
}

static void let_go(Search *s)
{
    if (!s->job)
        return;
    g_atomic_int_set(&s->job->cancel, 1);
    s->job->document = NULL;
    g_clear_pointer(&s->job, job_unref);
}

static void forget(Search *s)
{
    let_go(s);
    g_clear_pointer(&s->judge, ws_schedule_judge_abandon);
    g_clear_pointer(&s->state.of, ws_design_unref);
    g_clear_pointer(&s->state.why, g_free);
    g_clear_pointer(&s->sizes, g_free);
    g_ptr_array_set_size(s->list, 0);
    s->state = (WsSearchState){ 0 };
}

static void search_free(gpointer data)
{
    Search *s = data;
    forget(s);
    g_ptr_array_unref(s->list);
    g_free(s);
}

/* --- what holds ---------------------------------------------------------------------------------
 */

static GArray *front_of(const GPtrArray *list, gboolean asked_alone);

static void on_judged(WsScheduleJudged judged, gpointer data);

/* Of those that would stand at the front the fastest that nobody was asked about. */
static void judge_next(WsDocument *d)
{
    Search *s = search_of(d);
    g_autoptr(GArray) front = front_of(s->list, FALSE);
    for (guint k = 0; k < front->len && !s->judge; k++) {
        const guint i = g_array_index(front, guint, k);
        const WsScheduleFound *f = s->list->pdata[i];
        if (f->judged != WS_JUDGED_NOT)
            continue;
        s->judged = i;
        s->judge = ws_schedule_judge_start(f->design, f->reorders, on_judged, d);
    }
}

static void on_judged(WsScheduleJudged judged, gpointer data)
{
    WsDocument *d = data;
    Search *s = search_of(d);
    s->judge = NULL;
    ((WsScheduleFound *)s->list->pdata[s->judged])->judged = judged;
    judge_next(d);
    ws_document_emit(d, WS_SIGNAL_SEARCHED);
}

guint ws_document_schedules_out(WsDocument *d)
{
    const GPtrArray *list = ws_document_schedules(d);
    guint out = 0;
    for (guint i = 0; list && i < list->len; i++)
        out += ((const WsScheduleFound *)list->pdata[i])->judged == WS_JUDGED_OUT;
    return out;
}

gboolean ws_document_schedules_judging(WsDocument *d)
{
    const Search *s = search_of(d);
    return s && s->judge;
}

static gboolean deliver(gpointer data)
{
    Job *j = data;
    WsDocument *d = j->document;
    Search *s = d ? search_of(d) : NULL;
    g_mutex_lock(&j->lock);
    j->called = FALSE;
    if (!s || s->job != j) {
        g_mutex_unlock(&j->lock);
        return G_SOURCE_REMOVE;
    }
    while (j->news->len)
        g_ptr_array_add(s->list, g_ptr_array_steal_index(j->news, 0));
    s->state.tried = j->tried;
    const gboolean ended = j->ended;
    if (ended) {
        s->state.running = FALSE;
        s->state.stopped = j->stopped;
        s->state.seconds = j->seconds;
        s->state.why = g_strdup(j->why);
    }
    g_mutex_unlock(&j->lock);
    if (ended) {
        j->document = NULL;
        g_clear_pointer(&s->job, job_unref);
    }
    judge_next(d);
    ws_document_emit(d, WS_SIGNAL_SEARCHED);
    return G_SOURCE_REMOVE;
}

static char *sizes_of(WsDocument *d)
{
    WsLaunchValues *v = ws_document_launch(d);
    return v ? ws_launch_sizes_text(v) : NULL;
}

/* Edits leave what was found as it is: it is of a design that undo leads back to. Another file, or
 * times of another launch or machine, do not. */
static void on_changed(WsDocument *d, gpointer data)
{
    Search *s = search_of(d);
    if (!s->state.of || ws_document_only_judged(d))
        return;
    WsDesign *now = ws_document_design(d);
    g_autofree char *sizes = sizes_of(d);
    const gboolean same = now == s->state.of;
    if ((same || ws_document_was_edited(d)) && ws_document_machine(d) == s->machine &&
        (!same || !g_strcmp0(sizes, s->sizes)))
        return;
    forget(s);
    ws_document_emit(d, WS_SIGNAL_SEARCHED);
}

static Search *have(WsDocument *d)
{
    Search *s = search_of(d);
    if (s)
        return s;
    s = g_new0(Search, 1);
    s->list = g_ptr_array_new_with_free_func(schedule_free);
    g_object_set_data_full(G_OBJECT(d), KEY, s, search_free);
    g_signal_connect(d, "changed", G_CALLBACK(on_changed), NULL);
    return s;
}

gboolean ws_document_search(WsDocument *d, double seconds)
{
    Search *s = have(d);
    WsProgram *program = ws_document_program(d);
    WsDesign *design = ws_document_design(d);
    const WsMachine *machine = ws_document_machine(d);
    if (!program || !machine || ws_document_trying(d) || ws_document_left_out(d) ||
        design != ws_document_latest(d))
        return FALSE;
    forget(s);
    s->machine = machine;
    s->sizes = sizes_of(d);
    s->state.of = ws_design_ref(design);
    s->state.running = TRUE;
    Job *j = s->job = g_atomic_rc_box_new0(Job);
    g_mutex_init(&j->lock);
    j->news = g_ptr_array_new_with_free_func(schedule_free);
    j->document = d;
    j->design = ws_design_ref(design);
    j->program = ws_program_ref(program);
    j->sizes = ws_document_sizes(d);
    j->machine = machine;
    j->budget = seconds;
    g_thread_unref(g_thread_new("search", work, g_atomic_rc_box_acquire(j)));
    ws_document_emit(d, WS_SIGNAL_SEARCHED);
    return TRUE;
}

void ws_document_search_stop(WsDocument *d)
{
    Search *s = search_of(d);
    if (s && s->job)
        g_atomic_int_set(&s->job->cancel, 1);
}

const WsSearchState *ws_document_search_state(WsDocument *d)
{
    return &have(d)->state;
}

const GPtrArray *ws_document_schedules(WsDocument *d)
{
    const Search *s = search_of(d);
    return s && s->list->len ? s->list : NULL;
}

gboolean ws_document_schedules_fit(WsDocument *d)
{
    const Search *s = search_of(d);
    return s && s->state.of && s->state.of == ws_document_latest(d);
}

/* --- the front ----------------------------------------------------------------------------------
 */

static gint faster(gconstpointer pa, gconstpointer pb, gpointer data)
{
    const GPtrArray *list = data;
    const WsScheduleFound *a = list->pdata[*(const guint *)pa],
                          *b = list->pdata[*(const guint *)pb];
    if (a->cycles != b->cycles)
        return a->cycles < b->cycles ? -1 : 1;
    if (a->shared != b->shared)
        return a->shared < b->shared ? -1 : 1;
    return (a->words->len > b->words->len) - (a->words->len < b->words->len);
}

static gboolean beats(const WsScheduleFound *a, const WsScheduleFound *b)
{
    return a->cycles <= b->cycles && a->shared <= b->shared && a->registers <= b->registers;
}

static gboolean holds(const WsScheduleFound *s, gboolean asked_alone)
{
    return !s->words->len || s->judged == WS_JUDGED_SAME || s->judged == WS_JUDGED_UNCOMPARED ||
           (!asked_alone && s->judged == WS_JUDGED_NOT);
}

GArray *ws_document_schedule_front(WsDocument *d)
{
    return front_of(ws_document_schedules(d), TRUE);
}

static GArray *front_of(const GPtrArray *list, gboolean asked_alone)
{
    GArray *front = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; list && i < list->len; i++)
        if (holds(list->pdata[i], asked_alone))
            g_array_append_val(order, i);
    g_array_sort_with_data(order, faster, (gpointer)list);
    guint fewest = G_MAXUINT / 4;
    for (guint k = 0; k < order->len; k++) {
        const guint i = g_array_index(order, guint, k);
        const WsScheduleFound *s = list->pdata[i],
                              *best = list->pdata[g_array_index(order, guint, 0)];
        gboolean beaten = FALSE;
        for (guint n = 0; n < k && !beaten; n++)
            beaten = beats(list->pdata[g_array_index(order, guint, n)], s);
        const gboolean as_fast = s->cycles - best->cycles <= best->cycles / 100;
        if (beaten && !(as_fast && 3 * s->words->len < 2 * fewest))
            continue;
        fewest = MIN(fewest, s->words->len);
        if (s->words->len)
            g_array_append_val(front, i);
    }
    return front;
}

/* --- taking -------------------------------------------------------------------------------------
 */

static char *name_of(const WsScheduleFound *s)
{
    g_autoptr(GString) all = g_string_new(NULL);
    for (guint i = 0; i < s->words->len; i++) {
        g_autofree char *words = ws_words(s->words->pdata[i]);
        g_string_append_printf(all, "%s%s", i ? "; " : "", words);
    }
    if (g_utf8_strlen(all->str, -1) <= NAME_CHARS)
        return g_strdup(all->str);
    g_autofree char *cut = g_utf8_substring(all->str, 0, NAME_CHARS);
    return g_strconcat(cut, "\xe2\x80\xa6", NULL);
}

/* What is taken prints as what was proved, or is not taken. */
static gboolean fill(WsDraft *draft, const WsScheduleFound *s)
{
    g_autoptr(GPtrArray) list = ws_design_diff(draft->design, s->design);
    for (guint i = 0; i < list->len && !draft->why; i++)
        ws_draft_apply(draft, ws_edit_copy_of(((const WsDifference *)list->pdata[i])->edit));
    g_autofree char *is = ws_design_print(draft->design), *should = ws_design_print(s->design);
    return !draft->why && !strcmp(is, should);
}

gboolean ws_document_take_schedule(WsDocument *d, guint i, GError **error)
{
    const GPtrArray *all = ws_document_schedules(d);
    if (!ws_document_schedules_fit(d) || !all || i >= all->len) {
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_FAILED,
                            _("The design was edited since the search began. Undo these edits, or "
                              "search again."));
        return FALSE;
    }
    const WsScheduleFound *s = all->pdata[i];
    if (!holds(s, TRUE)) {
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_FAILED,
                            _("This schedule was not found to be built and to compute as it is "
                              "meant: it is not taken."));
        return FALSE;
    }
    g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(d));
    if (!fill(draft, s)) {
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_FAILED,
                            _("These edits do not give the design that was proved: nothing is "
                              "taken."));
        return FALSE;
    }
    g_autofree char *name = name_of(s);
    ws_draft_name(draft, N_("Schedule: %s"), name);
    return ws_document_commit(d, draft, NULL);
}
