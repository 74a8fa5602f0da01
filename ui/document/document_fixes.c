#include "ui/document/document_fixes.h"

#include "model/finding.h"
#include "model/findings.h"
#include "ui/document/document_private.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>

#define KEY "warpstave-fixes"

enum { MOST = 24 }; /* findings that are looked at without being asked for */

/* What the check says of a design, worked out by the first thread that needs it. Counted: a thread
 * may outlive the question. */
typedef struct {
    GMutex mutex;
    WsFixState *state; /* NULL: nobody needed it yet */
} Judged;

static void clear_judged(gpointer data)
{
    Judged *j = data;
    g_mutex_clear(&j->mutex);
    g_clear_pointer(&j->state, ws_fix_state_free);
}

/* Read by threads from here on. */
static const WsFixState *judged_state(Judged *j, const WsDesign *design)
{
    g_autoptr(GMutexLocker) one = g_mutex_locker_new(&j->mutex);
    if (!j->state)
        j->state = ws_fix_state_new(design, NULL, 0, NULL);
    return j->state;
}

static void judged_unref(Judged *j)
{
    g_atomic_rc_box_release_full(j, clear_judged);
}

/* Belongs to the document. */
typedef struct {
    WsDesign *design;      /* reference; NULL: nothing was asked for */
    Judged *judged;        /* of the design; NULL as well */
    GHashTable *known;     /* "RULE place" -> GPtrArray of WsFix */
    GCancellable *running; /* of the task that is on its way; NULL none */
} State;

static void forget(State *s)
{
    if (s->running)
        g_cancellable_cancel(s->running);
    g_clear_object(&s->running);
    g_clear_pointer(&s->design, ws_design_unref);
    g_clear_pointer(&s->judged, judged_unref);
    g_hash_table_remove_all(s->known);
}

static void state_free(gpointer data)
{
    State *s = data;
    forget(s);
    g_hash_table_unref(s->known);
    g_free(s);
}

static State *state(WsDocument *d)
{
    State *s = g_object_get_data(G_OBJECT(d), KEY);
    if (!s) {
        s = g_new0(State, 1);
        s->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                         (GDestroyNotify)g_ptr_array_unref);
        g_object_set_data_full(G_OBJECT(d), KEY, s, state_free);
    }
    return s;
}

static char *key_of(const WsFinding *f)
{
    return g_strdup_printf("%s %s", ws_rule(f->rule)->text, f->at ? f->at : "");
}

static gboolean to_mend(const WsFinding *f)
{
    return f->severity >= WS_SEVERITY_WARNING && !f->silenced;
}

/* --- in the thread: which proposals hold ------------------------------------------------------ */

typedef struct {
    GWeakRef document; /* the thread does not keep it */
    WsDesign *design;
    Judged *judged;
    WsRuleId rule;
    char *at, *key;
} Question;

static void clear_question(gpointer data)
{
    Question *q = data;
    g_weak_ref_clear(&q->document);
    ws_design_unref(q->design);
    judged_unref(q->judged);
    g_free(q->at);
    g_free(q->key);
    g_free(q);
}

static gint safe_first(gconstpointer a, gconstpointer b)
{
    const WsFix *x = *(WsFix *const *)a, *y = *(WsFix *const *)b;
    return (gint)y->safe - (gint)x->safe;
}

static const WsFinding *same_finding(const WsFixState *judged, const Question *q)
{
    for (guint i = 0; i < judged->findings->list->len; i++) {
        const WsFinding *f = judged->findings->list->pdata[i];
        if (f->rule == q->rule && g_strcmp0(f->at, q->at) == 0)
            return f;
    }
    return NULL;
}

static void look(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    const Question *q = data;
    GPtrArray *whole = g_ptr_array_new_with_free_func((GDestroyNotify)ws_fix_free);
    g_autoptr(GPtrArray) part = g_ptr_array_new_with_free_func((GDestroyNotify)ws_fix_free);
    const WsFixState *now = judged_state(q->judged, q->design);
    const WsFinding *finding = same_finding(now, q);
    g_autoptr(GPtrArray) proposals = finding ? ws_fixes_of(q->design, finding) : NULL;
    for (guint i = 0;
         proposals && i < MIN(proposals->len, WS_FIX_TRIED) && whole->len < WS_FIX_SHOWN; i++) {
        if (g_cancellable_is_cancelled(cancellable))
            break;
        g_autoptr(WsFixState) after = ws_fix_try(now, finding, proposals->pdata[i], NULL, 0, NULL);
        if (!after)
            continue;
        g_ptr_array_add(after->errors ? part : whole, proposals->pdata[i]);
        proposals->pdata[i] = NULL;
    }
    /* What mends only a part is offered when nothing mends the whole. */
    for (guint i = 0; whole->len == 0 && i < part->len && i < WS_FIX_SHOWN; i++) {
        g_ptr_array_add(whole, part->pdata[i]);
        part->pdata[i] = NULL;
    }
    g_ptr_array_sort(whole, safe_first);
    g_task_return_pointer(task, whole, (GDestroyNotify)g_ptr_array_unref);
}

/* --- one after the other ------------------------------------------------------------------------
 */

static void ask(WsDocument *d, const WsFinding *f);

/* Errors before warnings, and each in the order of the list. */
static const WsFinding *next_unknown(WsDocument *d)
{
    const WsFindings *all = ws_document_findings(d);
    State *s = state(d);
    guint looked = 0;
    for (gint severity = WS_SEVERITY_ERROR; severity >= WS_SEVERITY_WARNING; severity--)
        for (guint i = 0; all && i < all->list->len; i++) {
            const WsFinding *f = all->list->pdata[i];
            if ((gint)f->severity != severity || !to_mend(f))
                continue;
            g_autofree char *key = key_of(f);
            if (++looked > MOST)
                return NULL;
            if (!g_hash_table_contains(s->known, key))
                return f;
        }
    return NULL;
}

static void on_looked(GObject *source, GAsyncResult *result, gpointer data)
{
    g_autoptr(GPtrArray) fixes = g_task_propagate_pointer(G_TASK(result), NULL);
    Question *q = g_task_get_task_data(G_TASK(result));
    g_autoptr(WsDocument) d = g_weak_ref_get(&q->document);
    if (!fixes || !d) /* another design by now, or another finding is more urgent */
        return;
    State *s = state(d);
    g_clear_object(&s->running);
    g_hash_table_replace(s->known, g_strdup(q->key), g_steal_pointer(&fixes));
    ws_document_emit(d, WS_SIGNAL_FIXES);
    const WsFinding *next = s->running ? NULL : next_unknown(d);
    if (next)
        ask(d, next);
}

static void ask(WsDocument *d, const WsFinding *f)
{
    State *s = state(d);
    Question *q = g_new0(Question, 1);
    g_weak_ref_init(&q->document, d);
    q->design = ws_design_ref(s->design);
    q->judged = g_atomic_rc_box_acquire(s->judged);
    q->rule = f->rule;
    q->at = g_strdup(f->at);
    q->key = key_of(f);
    s->running = g_cancellable_new();
    g_autoptr(GTask) task = g_task_new(NULL, s->running, on_looked, NULL);
    g_task_set_task_data(task, q, clear_question);
    g_task_run_in_thread(task, look);
}

void ws_document_want_fixes(WsDocument *d, const WsFinding *first)
{
    State *s = state(d);
    WsDesign *design = ws_document_design(d);
    if (s->design != design) {
        forget(s);
        s->design = design ? ws_design_ref(design) : NULL;
        if (design) {
            s->judged = g_atomic_rc_box_new0(Judged);
            g_mutex_init(&s->judged->mutex);
        }
    }
    /* What is only tried, or not judged yet, has no findings that stay. */
    if (!design || ws_document_pending(d) || ws_document_trying(d))
        return;
    g_autofree char *key = first && to_mend(first) ? key_of(first) : NULL;
    const gboolean urgent = key && !g_hash_table_contains(s->known, key);
    if (s->running && !urgent)
        return;
    if (s->running)
        g_cancellable_cancel(s->running);
    g_clear_object(&s->running);
    const WsFinding *f = urgent ? first : next_unknown(d);
    if (f)
        ask(d, f);
}

/* --- what is known ------------------------------------------------------------------------------
 */

const GPtrArray *ws_document_fixes(WsDocument *d, const WsFinding *f)
{
    State *s = state(d);
    g_autofree char *key = f ? key_of(f) : NULL;
    return key && s->design == ws_document_design(d) ? g_hash_table_lookup(s->known, key) : NULL;
}

const WsFix *ws_document_proved_fix(WsDocument *d, const WsFinding *f)
{
    const GPtrArray *fixes = ws_document_fixes(d, f);
    for (guint i = 0; fixes && i < fixes->len; i++)
        if (((const WsFix *)fixes->pdata[i])->proves)
            return fixes->pdata[i];
    return NULL;
}

const WsFix *ws_document_first_fix(WsDocument *d, const WsFinding **finding)
{
    const WsFindings *all = ws_document_findings(d);
    for (gint severity = WS_SEVERITY_ERROR; severity >= WS_SEVERITY_WARNING; severity--)
        for (guint i = 0; all && i < all->list->len; i++) {
            const WsFinding *f = all->list->pdata[i];
            const GPtrArray *fixes = NULL;
            if ((gint)f->severity == severity && to_mend(f))
                fixes = ws_document_fixes(d, f);
            if (fixes && fixes->len) {
                *finding = f;
                return fixes->pdata[0];
            }
        }
    return NULL;
}

gboolean ws_document_fix(WsDocument *d, const WsFix *fix, GError **error)
{
    g_autofree char *name = ws_words(fix->said); /* it may go when the design changes */
    return ws_document_commit_edits(d, name, fix->draft->edits, error);
}

const char *ws_document_fix_told(const WsFix *fix)
{
    return fix->safe ? _("Changes synchronisation only")
                     : _("Changes what is loaded, kept or computed");
}
