/* Editing: committed steps, undo, designs that are only tried, saving. The answers shown follow the
 * newest design as soon as the worker has them. */
#include "model/findings.h"
#include "ui/document/document_private.h"

#include "ui/document/document_machine.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <string.h>

WsDesign *ws_document_latest(WsDocument *d)
{
    return ws_history_design(d->history);
}

gboolean ws_document_pending(WsDocument *d)
{
    const WsDesign *wanted = d->tried ? d->tried : ws_document_latest(d);
    return d->answers && wanted && (d->answers->design != wanted || !d->answers->judged);
}

gboolean ws_document_only_judged(WsDocument *d)
{
    return d->news_judged;
}

gboolean ws_document_was_edited(WsDocument *d)
{
    return d->news_edited;
}

/* --- answers ------------------------------------------------------------------------------------
 */

static void ask(WsDocument *d, const WsDesign *design, WsAnswerAsk what)
{
    g_autoptr(GArray) sizes = ws_document_sizes(d);
    if (d->source)
        what |= WS_ASK_SOURCE;
    if (!d->worker)
        d->worker = ws_worker_new(ws_document_answered, d);
    ws_worker_ask(d->worker, design, sizes, ws_document_machine_for(d, design),
                  ws_document_measured(d), d->source ? d->source->import : NULL, what);
}

/* What is shown becomes `answers` (taken). */
static void show(WsDocument *d, WsAnswers *answers)
{
    WsAnswers *old = g_steal_pointer(&d->answers);
    d->answers = answers;
    ws_document_clear_stats(d);
    ws_document_carry_selection(d, old ? old->design : NULL, answers->design, d->touched);
    ws_answers_unref(old);
}

static void show_committed(WsDocument *d)
{
    g_array_set_size(d->touched, 0);
    ws_document_clear_code(d);
    d->code[WS_CODE_PROGRAM] = g_strdup(d->answers->program_text);
    d->code[WS_CODE_DESIGN] = ws_design_print(d->answers->design);
    d->news_edited = TRUE;
    ws_document_emit(d, WS_SIGNAL_CHANGED);
    ws_document_emit(d, WS_SIGNAL_SELECTION);
    d->news_edited = FALSE;
    ws_document_emit(d, WS_SIGNAL_EDITED);
}

void ws_document_answered(WsAnswers *answers, gboolean judged_only, gpointer document)
{
    WsDocument *d = document;
    g_object_ref(d);
    if (d->tried) {
        if (!judged_only) {
            if (!d->before)
                d->before = ws_answers_ref(d->answers);
            show(d, ws_answers_ref(answers));
        }
        d->news_judged = judged_only;
        ws_document_emit(d, WS_SIGNAL_PREVIEWED);
        d->news_judged = FALSE;
    } else if (judged_only) {
        d->news_judged = TRUE;
        ws_document_emit(d, WS_SIGNAL_CHANGED);
        d->news_judged = FALSE;
        ws_document_emit(d, WS_SIGNAL_EDITED);
    } else {
        show(d, ws_answers_ref(answers));
        show_committed(d);
    }
    g_object_unref(d);
}

/* --- trying -------------------------------------------------------------------------------------
 */

gboolean ws_document_trying(WsDocument *d)
{
    return d->tried != NULL;
}

WsClockResult *ws_document_former_clock(WsDocument *d)
{
    return d->before && !ws_findings_count(d->before->findings, WS_SEVERITY_ERROR)
               ? d->before->clock
               : NULL;
}

void ws_document_try(WsDocument *d, const WsDesign *design)
{
    if (!d->answers || design == d->tried)
        return;
    g_clear_pointer(&d->tried, ws_design_unref);
    if (design) {
        d->tried = ws_design_ref(design);
        ask(d, design, WS_ASK_CHECK);
        return;
    }
    if (d->worker)
        ws_worker_forget(d->worker);
    if (d->before) {
        WsAnswers *before = g_steal_pointer(&d->before);
        show(d, before);
    }
    if (ws_document_pending(d)) /* what was asked before the trial was dropped with it */
        ask(d, ws_document_latest(d), WS_ASK_TEXTS | WS_ASK_CHECK);
    ws_document_emit(d, WS_SIGNAL_PREVIEWED);
}

/* --- committing ---------------------------------------------------------------------------------
 */

static void trouble(WsDocument *d, const GError *error)
{
    g_autofree char *text =
        g_strdup_printf(_("Edits cannot be kept for recovery (%s). Save often."), error->message);
    ws_document_emit_trouble(d, text);
}

/* The newest design is another one: the worker is asked, and who shows undo and titles is told. */
static void moved_on(WsDocument *d)
{
    g_clear_pointer(&d->tried, ws_design_unref);
    g_clear_pointer(&d->before, ws_answers_unref);
    const gboolean whole = d->answers->design == ws_document_latest(d) && d->answers->judged &&
                           (d->answers->program_text || !d->answers->program);
    if (!whole)
        ask(d, ws_document_latest(d), WS_ASK_TEXTS | WS_ASK_CHECK);
    else if (d->worker) /* back where what is shown belongs: what was asked meanwhile is stale */
        ws_worker_forget(d->worker);
    ws_document_emit(d, WS_SIGNAL_EDITED);
}

gboolean ws_document_commit(WsDocument *d, WsDraft *draft, const char *coalesce)
{
    g_autoptr(GError) error = NULL;
    if (!draft || draft->why || !d->answers || draft->edits->len == 0 || !ws_edit_settle(draft)) {
        ws_document_try(d, NULL);
        return FALSE;
    }
    g_autofree char *name =
        g_strdelimit(ws_edit_name_text(draft->verb, draft->what ? draft->what : ""), "\n", ' ');
    g_autofree char *script = ws_draft_script(draft);
    const gboolean joined = ws_history_push(d->history, draft->design, name, coalesce,
                                            g_get_monotonic_time(), strlen(script));
    if (!ws_journal_edit(d->journal, name, script, joined, &error))
        trouble(d, error);
    g_array_set_size(d->touched, 0);
    g_array_append_vals(d->touched, draft->touched->data, draft->touched->len);
    moved_on(d);
    return TRUE;
}

char *ws_edit_name_text(const char *verb, const char *what)
{
    g_auto(GStrv) part = g_strsplit(_(verb), "%s", 2);
    return g_strconcat(part[0] ? part[0] : "", part[0] && part[1] ? what : "",
                       part[0] && part[1] ? part[1] : "", NULL);
}

gboolean ws_document_commit_edits(WsDocument *d, const char *name, const GPtrArray *edits,
                                  GError **error)
{
    WsDesign *latest = ws_document_latest(d);
    if (!latest)
        return FALSE;
    g_autoptr(WsDraft) draft = ws_draft_new(latest);
    for (guint i = 0; i < edits->len && !draft->why; i++)
        ws_draft_apply(draft, ws_edit_copy_of(edits->pdata[i]));
    if (draft->why) {
        g_autofree char *why = ws_words(draft->why);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", why);
        return FALSE;
    }
    ws_draft_name(draft, "%s", name);
    return ws_document_commit(d, draft, NULL);
}

/* --- undo ---------------------------------------------------------------------------------------
 */

static gboolean step_back(WsDocument *d, gboolean redo)
{
    g_autoptr(GError) error = NULL;
    if (!(redo ? ws_history_redo(d->history) : ws_history_undo(d->history)))
        return FALSE;
    if (!ws_journal_move(d->journal, redo, &error))
        trouble(d, error);
    g_array_set_size(d->touched, 0);
    moved_on(d);
    return TRUE;
}

gboolean ws_document_undo(WsDocument *d)
{
    ws_document_try(d, NULL);
    return step_back(d, FALSE);
}

gboolean ws_document_redo(WsDocument *d)
{
    ws_document_try(d, NULL);
    return step_back(d, TRUE);
}

void ws_document_go_to(WsDocument *d, guint state)
{
    ws_document_try(d, NULL);
    while (ws_history_now(d->history) > state && step_back(d, FALSE))
        ;
    while (ws_history_now(d->history) < state && step_back(d, TRUE))
        ;
}

WsHistory *ws_document_history(WsDocument *d)
{
    return d->history;
}

gboolean ws_document_dirty(WsDocument *d)
{
    return ws_history_dirty(d->history);
}

/* --- files --------------------------------------------------------------------------------------
 */

gboolean ws_document_save(WsDocument *d, GFile *file, GError **error)
{
    WsDesign *latest = ws_document_latest(d);
    g_autofree char *path = g_file_get_path(file);
    if (!latest || !path) {
        g_autofree char *uri = g_file_get_uri(file);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                    _("%s is not on this machine. Save to a folder of this machine and copy it."),
                    uri);
        return FALSE;
    }
    g_autofree char *text = ws_design_print(latest), *former = g_steal_pointer(&d->saved_text);
    d->saved_text = g_strdup(text); /* the watcher may see the file before this returns */
    if (!ws_design_save(latest, path, error)) {
        g_free(d->saved_text);
        d->saved_text = g_steal_pointer(&former);
        return FALSE;
    }
    g_set_object(&d->file, file);
    ws_history_mark_saved(d->history);
    ws_journal_saved(d->journal, latest, file);
    ws_document_emit(d, WS_SIGNAL_EDITED);
    return TRUE;
}

gboolean ws_document_file_is_ours(WsDocument *d)
{
    g_autofree char *text = NULL;
    return d->file && d->saved_text &&
           g_file_load_contents(d->file, NULL, &text, NULL, NULL, NULL) &&
           !strcmp(text, d->saved_text);
}

void ws_document_keep(WsDocument *d)
{
    g_autoptr(GError) error = NULL;
    if (d->journal && !ws_journal_edit(d->journal, "", "", FALSE, &error))
        trouble(d, error);
}

/* --- what the selection stands for --------------------------------------------------------------
 */

GArray *ws_document_selected_nodes(WsDocument *d)
{
    GArray *nodes = g_array_new(FALSE, FALSE, sizeof(guint64));
    WsDesign *shown = ws_document_design(d), *latest = ws_document_latest(d);
    for (guint i = 0; shown && latest && i < d->selection->len; i++) {
        const WsNode *node = ws_design_find(shown, d->selection->pdata[i]);
        if (node && ws_design_by_identity(latest, node->identity))
            g_array_append_val(nodes, node->identity);
    }
    return nodes;
}

guint64 ws_document_node(WsDocument *d, const char *id)
{
    WsDesign *shown = ws_document_design(d);
    const WsNode *node = shown && id ? ws_design_find(shown, id) : NULL;
    return node ? node->identity : 0;
}
