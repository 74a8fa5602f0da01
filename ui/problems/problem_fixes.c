#include "ui/problems/problem_fixes.h"
#include "ui/parts/words.h"

#include "mend/fix.h"
#include "model/build.h"

#include <glib/gi18n.h>

enum { MOST = WS_FIX_SHOWN }; /* buttons */

typedef struct {
    WsProblems *problems; /* owns this */
    WsDocument *document;
    GCancellable *running;
} Fixes;

static void clear_fixes(gpointer data)
{
    Fixes *self = data;
    if (self->running)
        g_cancellable_cancel(self->running);
    g_clear_object(&self->running);
    g_object_unref(self->document);
    g_free(self);
}

/* --- in the thread: which proposals hold ------------------------------------------------------ */
typedef struct {
    WsDesign *design;
    WsRuleId rule;
    char *at;
} Question;

static void clear_question(gpointer data)
{
    Question *q = data;
    ws_design_unref(q->design);
    g_free(q->at);
    g_free(q);
}

static gint by_rest(gconstpointer a, gconstpointer b)
{
    const WsFix *x = *(WsFix *const *)a, *y = *(WsFix *const *)b;
    return (gint)y->safe - (gint)x->safe;
}

static void look(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    const Question *q = data;
    GPtrArray *whole = g_ptr_array_new_with_free_func((GDestroyNotify)ws_fix_free);
    g_autoptr(GPtrArray) part = g_ptr_array_new_with_free_func((GDestroyNotify)ws_fix_free);
    g_autoptr(WsFixState) now = ws_fix_state_new(q->design, NULL, 0, NULL);
    const WsFinding *finding = NULL;
    for (guint i = 0; i < now->findings->list->len && !finding; i++) {
        const WsFinding *f = now->findings->list->pdata[i];
        if (f->rule == q->rule && g_strcmp0(f->at, q->at) == 0)
            finding = f;
    }
    g_autoptr(GPtrArray) proposals = finding ? ws_fixes_of(q->design, finding) : NULL;
    for (guint i = 0; proposals && i < MIN(proposals->len, WS_FIX_TRIED) && whole->len < MOST;
         i++) {
        if (g_cancellable_is_cancelled(cancellable))
            break;
        g_autoptr(WsFixState) after = ws_fix_try(now, finding, proposals->pdata[i], NULL, 0, NULL);
        if (!after)
            continue;
        g_ptr_array_add(after->errors ? part : whole, proposals->pdata[i]);
        proposals->pdata[i] = NULL;
    }
    /* What mends only a part is offered when nothing mends the whole. */
    for (guint i = 0; whole->len == 0 && i < part->len && i < MOST; i++) {
        g_ptr_array_add(whole, part->pdata[i]);
        part->pdata[i] = NULL;
    }
    g_ptr_array_sort(whole, by_rest);
    g_task_return_pointer(task, whole, (GDestroyNotify)g_ptr_array_unref);
}

/* --- buttons ---------------------------------------------------------------------------------- */
static void empty(Fixes *self)
{
    GtkWidget *box = GTK_WIDGET(ws_problems_actions(self->problems)), *child;
    GtkRoot *root = gtk_widget_get_root(box);
    GtkWidget *has = root ? gtk_root_get_focus(root) : NULL;
    if (has && gtk_widget_is_ancestor(has, box)) /* an entry may not go with the keyboard */
        gtk_root_set_focus(root, NULL);
    while ((child = gtk_widget_get_first_child(box)) != NULL)
        gtk_box_remove(GTK_BOX(box), child);
}

static void say(Fixes *self, const char *text)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_widget_add_css_class(label, "dim");
    gtk_box_append(ws_problems_actions(self->problems), label);
}

static void on_clicked(Fixes *self, GtkButton *button)
{
    const WsFix *fix = g_object_get_data(G_OBJECT(button), "fix");
    g_autoptr(GError) error = NULL;
    g_autofree char *name = ws_words(fix->said); /* the button goes when the design changes */
    if (ws_document_commit_edits(self->document, name, fix->draft->edits, &error) || !error)
        return;
    empty(self);
    say(self, error->message);
}

static void add_button(Fixes *self, WsFix *fix, gboolean first)
{
    g_autofree char *title = ws_words(fix->said);
    GtkWidget *button = gtk_button_new(), *label = gtk_label_new(title);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_button_set_child(GTK_BUTTON(button), label);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                   -1);
    g_autoptr(GString) tip =
        g_string_new(fix->safe ? _("Changes synchronisation only")
                               : _("Changes what is loaded, kept or computed"));
    for (guint i = 0; i < fix->draft->edits->len; i++) {
        g_autofree char *edit = ws_edit_print(fix->draft->edits->pdata[i]);
        g_string_append_printf(tip, "\n%s", edit);
    }
    gtk_widget_set_tooltip_text(button, tip->str);
    if (first && fix->safe)
        gtk_widget_add_css_class(button, "suggested-action");
    g_object_set_data_full(G_OBJECT(button), "fix", fix, (GDestroyNotify)ws_fix_free);
    g_signal_connect_swapped(button, "clicked", G_CALLBACK(on_clicked), self);
    gtk_box_append(ws_problems_actions(self->problems), button);
}

/* --- what is not to be mended: silenced with a reason, which the design keeps ------------------
 */
typedef struct {
    WsDocument *document;
    WsJson *entry;
    const char *rule;
} Silence;

static gboolean silence(gpointer data)
{
    Silence *silence = data;
    WsDesign *latest = ws_document_latest(silence->document);
    g_autoptr(WsDraft) draft = latest ? ws_draft_new(latest) : NULL;
    if (draft) {
        ws_draft_append(draft, ws_design_root(latest)->identity, WS_F_suppress,
                        g_steal_pointer(&silence->entry));
        ws_draft_name(draft, N_("Silence %s"), silence->rule);
    }
    if (draft && !draft->why)
        ws_document_commit(silence->document, draft, NULL);
    g_object_unref(silence->document);
    ws_json_free(silence->entry);
    g_free(silence);
    return G_SOURCE_REMOVE;
}

/* The entry goes when the design changes, so that waits until it is through with the key. */
static void on_reason(Fixes *self, GtkEntry *entry)
{
    g_autofree char *reason = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry))));
    if (!*reason)
        return;
    const char *rule = g_object_get_data(G_OBJECT(entry), "rule");
    const char *at = g_object_get_data(G_OBJECT(entry), "at");
    Silence *data = g_new0(Silence, 1);
    *data =
        (Silence){ g_object_ref(self->document),
                   WS_MAKE(WS_NODE_SUPPRESS, { WS_F_rule, ws_json_text(rule) },
                           { WS_F_at, ws_json_text(at) }, { WS_F_reason, ws_json_text(reason) }),
                   rule };
    g_idle_add(silence, data);
}

static void add_silence(Fixes *self, const WsFinding *finding)
{
    GtkWidget *entry = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(entry), _("It is as meant: why?"));
    gtk_widget_set_tooltip_text(entry, _("A reason and Return: the finding is silenced, and the "
                                         "design keeps the reason"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Reason to silence this finding"), -1);
    g_object_set_data(G_OBJECT(entry), "rule", (gpointer)ws_rule(finding->rule)->text);
    g_object_set_data_full(G_OBJECT(entry), "at", g_strdup(finding->at), g_free);
    g_signal_connect_swapped(entry, "activate", G_CALLBACK(on_reason), self);
    gtk_box_append(ws_problems_actions(self->problems), entry);
}

/* A thread does not keep the panel. */
static GWeakRef *weak_new(gpointer object)
{
    GWeakRef *weak = g_new(GWeakRef, 1);
    g_weak_ref_init(weak, object);
    return weak;
}

static void on_looked(GObject *source, GAsyncResult *result, gpointer data)
{
    g_autoptr(GPtrArray) fixes = g_task_propagate_pointer(G_TASK(result), NULL);
    GWeakRef *weak = data;
    g_autoptr(GObject) problems = g_weak_ref_get(weak);
    g_weak_ref_clear(weak);
    g_free(weak);
    if (!fixes || !problems) /* another finding is explained by now, or the panel is gone */
        return;
    Fixes *self = g_object_get_data(problems, "fixes");
    empty(self);
    for (guint i = 0; i < fixes->len; i++) {
        add_button(self, fixes->pdata[i], i == 0);
        fixes->pdata[i] = NULL;
    }
    if (fixes->len == 0)
        say(self, _("No quick-fix makes it right."));
    const WsFinding *finding = ws_problems_selected(self->problems);
    if (finding && finding->severity == WS_SEVERITY_WARNING)
        add_silence(self, finding);
}

static void on_explained(Fixes *self)
{
    const WsFinding *finding = ws_problems_selected(self->problems);
    WsDesign *design = ws_document_design(self->document);
    if (self->running)
        g_cancellable_cancel(self->running);
    g_clear_object(&self->running);
    empty(self);
    if (!finding || !design || finding->severity < WS_SEVERITY_WARNING || finding->silenced)
        return;
    say(self, _("Looking for quick-fixes…"));
    Question *q = g_new0(Question, 1);
    q->design = ws_design_ref(design);
    q->rule = finding->rule;
    q->at = g_strdup(finding->at);
    self->running = g_cancellable_new();
    g_autoptr(GTask) task = g_task_new(NULL, self->running, on_looked, weak_new(self->problems));
    g_task_set_task_data(task, q, clear_question);
    g_task_run_in_thread(task, look);
}

void ws_problem_fixes_attach(WsProblems *problems, WsDocument *document)
{
    Fixes *self = g_new0(Fixes, 1);
    self->problems = problems;
    self->document = g_object_ref(document);
    g_object_set_data_full(G_OBJECT(problems), "fixes", self, clear_fixes);
    gtk_orientable_set_orientation(GTK_ORIENTABLE(ws_problems_actions(problems)),
                                   GTK_ORIENTATION_VERTICAL);
    g_signal_connect_swapped(problems, "explained", G_CALLBACK(on_explained), self);
    on_explained(self);
}
