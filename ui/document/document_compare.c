#include "ui/document/document_compare.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include "ui/document/document_machine.h"
#include "ui/document/document_private.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <string.h>

#define KEY "warpstave-comparison"

/* What a document compares with; lives as long as it is compared. */
typedef struct {
    WsDocument *document; /* not owned: it owns this */
    WsDesign *with;
    char *name;
    WsComparison *made; /* NULL: not yet */
    GCancellable *running;
    gulong changed;
    gint row;
} Beside;

static void comparison_free(WsComparison *c)
{
    if (!c)
        return;
    g_free(c->name);
    ws_compare_free(c->compare);
    if (c->program)
        ws_program_unref(c->program);
    if (c->predicted)
        ws_trace_unref(c->predicted);
    g_free(c);
}

static void stop_running(Beside *b)
{
    if (b->running)
        g_cancellable_cancel(b->running);
    g_clear_object(&b->running);
}

static void beside_free(gpointer data)
{
    Beside *b = data;
    stop_running(b);
    if (g_signal_handler_is_connected(b->document, b->changed))
        g_signal_handler_disconnect(b->document, b->changed);
    comparison_free(b->made);
    ws_design_unref(b->with);
    g_free(b->name);
    g_free(b);
}

static Beside *beside(WsDocument *d)
{
    return g_object_get_data(G_OBJECT(d), KEY);
}

/* --- in a thread --------------------------------------------------------------------------------
 */

typedef struct {
    WsDesign *a, *b;
    char *name;
    GArray *sizes;
    const WsMachine *machine;
    gint64 cycles_b;
    guint64 number;
} Question;

static void question_free(gpointer data)
{
    Question *q = data;
    ws_design_unref(q->a);
    ws_design_unref(q->b);
    g_free(q->name);
    g_clear_pointer(&q->sizes, g_array_unref);
    g_free(q);
}

static void work(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    const Question *q = data;
    WsComparison *c = g_new0(WsComparison, 1);
    WsAnswers *answers = ws_answers_make(q->a, q->sizes, q->machine, 0, NULL);
    c->name = g_strdup(q->name);
    c->number = q->number;
    c->machine = q->machine;
    c->compare = ws_compare_new(q->a, q->b);
    c->a = c->compare->a;
    c->b = c->compare->b;
    c->program = answers->program ? ws_program_ref(answers->program) : NULL;
    c->predicted = answers->predicted ? ws_trace_ref(answers->predicted) : NULL;
    c->cycles_a = answers->clock ? answers->clock->cycles : 0;
    c->cycles_b = q->cycles_b;
    ws_answers_unref(answers);
    g_task_return_pointer(task, c, (GDestroyNotify)comparison_free);
}

static void on_worked(GObject *source, GAsyncResult *result, gpointer data)
{
    WsDocument *d = WS_DOCUMENT(source);
    WsComparison *c = g_task_propagate_pointer(G_TASK(result), NULL);
    Beside *b = beside(d);
    if (!c || !b || b->with != c->a) {
        comparison_free(c);
        return;
    }
    g_clear_object(&b->running);
    comparison_free(b->made);
    b->made = c;
    b->row = -1;
    ws_document_emit(d, WS_SIGNAL_COMPARED);
}

static void ask(WsDocument *d, Beside *b)
{
    WsDesign *now = ws_document_design(d);
    stop_running(b);
    if (!now || ws_document_trying(d))
        return;
    Question *q = g_new0(Question, 1);
    q->a = ws_design_ref(b->with);
    q->b = ws_design_ref(now);
    q->name = g_strdup(b->name);
    q->sizes = ws_document_sizes(d);
    q->machine = ws_document_machine(d);
    q->cycles_b = ws_document_clock(d) ? ws_document_clock(d)->cycles : 0;
    static guint64 questions;
    q->number = ++questions;
    b->running = g_cancellable_new();
    g_autoptr(GTask) task = g_task_new(d, b->running, on_worked, NULL);
    g_task_set_task_data(task, q, question_free);
    g_task_run_in_thread(task, work);
}

static void on_changed(WsDocument *d, Beside *b)
{
    if (!ws_document_design(d))
        ws_document_compare_with(d, NULL, NULL);
    else if (!b->made || b->made->b != ws_document_design(d) ||
             b->made->machine != ws_document_machine(d))
        ask(d, b);
}

/* --- choosing -----------------------------------------------------------------------------------
 */

void ws_document_compare_with(WsDocument *d, const WsDesign *design, const char *name)
{
    if (ws_document_shows_a(d))
        ws_document_try(d, NULL);
    Beside *b = NULL;
    if (design && ws_document_design(d)) {
        b = g_new0(Beside, 1);
        b->document = d;
        b->with = ws_design_ref(design);
        b->name = g_strdup(name);
        b->row = -1;
        b->changed = g_signal_connect(d, "changed", G_CALLBACK(on_changed), b);
    }
    g_object_set_data_full(G_OBJECT(d), KEY, b, beside_free);
    if (b)
        ask(d, b);
    ws_document_emit(d, WS_SIGNAL_COMPARED);
}

gboolean ws_document_compare_saved(WsDocument *d)
{
    WsDesign *kept = ws_history_saved(d->history);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) saved =
        kept            ? ws_design_ref(kept)
        : d->saved_text ? ws_design_parse(d->saved_text, strlen(d->saved_text), NULL, findings)
                        : NULL;
    if (saved)
        ws_document_compare_with(d, saved, _("the saved design"));
    return saved != NULL;
}

gboolean ws_document_compare_state(WsDocument *d, guint state)
{
    if (state >= ws_history_n(d->history))
        return FALSE;
    const char *step = ws_history_name(d->history, state);
    /* Translators: %s is a step in the undo history, "Move load A". */
    g_autofree char *name =
        step ? g_strdup_printf(_("after “%s”"), step) : g_strdup(_("the design as it was opened"));
    ws_document_compare_with(d, ws_history_state(d->history, state), name);
    return TRUE;
}

gboolean ws_document_compare_file(WsDocument *d, GFile *file, GError **error)
{
    g_autofree char *path = g_file_get_path(file), *base = g_file_get_basename(file);
    g_autoptr(GFile) folder = g_file_get_parent(file);
    g_autofree char *place = folder ? g_file_get_basename(folder) : NULL;
    g_autofree char *name = place ? g_build_filename(place, base, NULL) : g_strdup(base);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = path ? ws_design_load(path, findings) : NULL;
    if (!design) {
        const WsFinding *first = findings->list->len ? findings->list->pdata[0] : NULL;
        g_autofree char *message = first ? ws_words_message(first) : NULL;
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s",
                    message ? message : _("It is not on this machine."));
        return FALSE;
    }
    ws_document_compare_with(d, design, name);
    return TRUE;
}

/* --- asking -------------------------------------------------------------------------------------
 */

gboolean ws_document_comparing(WsDocument *d)
{
    return beside(d) != NULL;
}

const WsComparison *ws_document_comparison(WsDocument *d)
{
    return beside(d) ? beside(d)->made : NULL;
}

const WsComparison *ws_document_comparison_shown(WsDocument *d)
{
    const WsComparison *c = ws_document_comparison(d);
    WsDesign *shown = ws_document_design(d);
    return c && (shown == c->b || shown == c->a) ? c : NULL;
}

gboolean ws_document_shows_a(WsDocument *d)
{
    return beside(d) && ws_document_trying(d) && d->tried == beside(d)->with;
}

gboolean ws_document_flip_designs(WsDocument *d)
{
    if (!beside(d))
        return FALSE;
    ws_document_try(d, ws_document_shows_a(d) ? NULL : beside(d)->with);
    ws_document_emit(d, WS_SIGNAL_COMPARED);
    return TRUE;
}

void ws_document_look_at_row(WsDocument *d, gint row)
{
    Beside *b = beside(d);
    if (!b || !b->made || row == b->row || row >= (gint)b->made->compare->row->len)
        return;
    b->row = row;
    ws_document_emit(d, WS_SIGNAL_COMPARED);
}

gint ws_document_row(WsDocument *d)
{
    return beside(d) ? beside(d)->row : -1;
}
