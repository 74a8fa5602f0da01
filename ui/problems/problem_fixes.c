#include "ui/problems/problem_fixes.h"
#include "model/finding.h"
#include "ui/document/document_fixes.h"
#include "ui/parts/words.h"

#include "model/build.h"

#include <glib/gi18n.h>

typedef struct {
    WsProblems *problems; /* owns this */
    WsDocument *document;
} Fixes;

static void clear_fixes(gpointer data)
{
    Fixes *self = data;
    g_signal_handlers_disconnect_by_data(self->document, self);
    g_object_unref(self->document);
    g_free(self);
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

static void mend(Fixes *self, const WsFix *fix)
{
    g_autoptr(GError) error = NULL;
    if (ws_document_fix(self->document, fix, &error) || !error)
        return;
    empty(self);
    say(self, error->message);
}

static void on_clicked(Fixes *self, GtkButton *button)
{
    const GPtrArray *fixes =
        ws_document_fixes(self->document, ws_problems_selected(self->problems));
    const guint i = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(button), "fix"));
    if (fixes && i < fixes->len)
        mend(self, fixes->pdata[i]);
}

static void add_button(Fixes *self, const WsFix *fix, guint i)
{
    g_autofree char *title = ws_words(fix->said);
    GtkWidget *button = gtk_button_new(), *label = gtk_label_new(title);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_button_set_child(GTK_BUTTON(button), label);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                   -1);
    gtk_widget_set_tooltip_text(button, ws_document_fix_told(fix));
    if (i == 0 && fix->safe)
        gtk_widget_add_css_class(button, "suggested-action");
    g_object_set_data(G_OBJECT(button), "fix", GUINT_TO_POINTER(i));
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
    gtk_entry_set_placeholder_text(GTK_ENTRY(entry), _("Intended: give the reason"));
    gtk_widget_set_tooltip_text(entry, _("A reason and Return: the finding is silenced, and the "
                                         "design keeps the reason"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Reason to silence this finding"), -1);
    g_object_set_data(G_OBJECT(entry), "rule", (gpointer)ws_rule(finding->rule)->text);
    g_object_set_data_full(G_OBJECT(entry), "at", g_strdup(finding->at), g_free);
    g_signal_connect_swapped(entry, "activate", G_CALLBACK(on_reason), self);
    gtk_box_append(ws_problems_actions(self->problems), entry);
}

/* --- what is known, as it comes -----------------------------------------------------------------
 */

static void show_explained(Fixes *self)
{
    const WsFinding *finding = ws_problems_selected(self->problems);
    const GPtrArray *fixes = ws_document_fixes(self->document, finding);
    empty(self);
    if (!finding || finding->severity < WS_SEVERITY_WARNING || finding->silenced)
        return;
    if (!fixes) {
        say(self, _("Looking for quick-fixes…"));
        return;
    }
    for (guint i = 0; i < fixes->len; i++)
        add_button(self, fixes->pdata[i], i);
    if (fixes->len == 0)
        say(self, _("No quick-fix makes it right."));
    if (finding->severity == WS_SEVERITY_WARNING)
        add_silence(self, finding);
}

static void on_explained(Fixes *self)
{
    const WsFinding *finding = ws_problems_selected(self->problems);
    if (finding)
        ws_document_want_fixes(self->document, finding);
    show_explained(self);
}

/* The likeliest one stands in the row of its problem. */
static void show_in_rows(Fixes *self)
{
    const WsFindings *findings = ws_document_findings(self->document);
    WsProblemList *list = ws_problems_list(self->problems);
    for (guint i = 0; findings && i < findings->list->len; i++) {
        const GPtrArray *fixes = ws_document_fixes(self->document, findings->list->pdata[i]);
        const WsFix *fix = fixes && fixes->len ? fixes->pdata[0] : NULL;
        g_autofree char *title = fix ? ws_words(fix->said) : NULL;
        const char *tip = fix ? ws_document_fix_told(fix) : NULL;
        ws_problem_list_offer(list, i, title, tip);
    }
}

static void on_fixes(Fixes *self)
{
    const GtkWidget *first =
        gtk_widget_get_first_child(GTK_WIDGET(ws_problems_actions(self->problems)));
    if (!first || GTK_IS_LABEL(first)) /* buttons that stand there stay */
        show_explained(self);
    show_in_rows(self);
}

static void on_changed(Fixes *self)
{
    ws_document_want_fixes(self->document, ws_problems_selected(self->problems));
    show_in_rows(self);
}

static void on_mend(Fixes *self, gint i)
{
    const WsFindings *findings = ws_document_findings(self->document);
    const WsFinding *f =
        findings && i >= 0 && (guint)i < findings->list->len ? findings->list->pdata[i] : NULL;
    const GPtrArray *fixes = ws_document_fixes(self->document, f);
    if (fixes && fixes->len)
        mend(self, fixes->pdata[0]);
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
    g_signal_connect_swapped(ws_problems_list(problems), "mend", G_CALLBACK(on_mend), self);
    g_signal_connect_swapped(document, "fixes", G_CALLBACK(on_fixes), self);
    g_signal_connect_swapped(document, "changed", G_CALLBACK(on_changed), self);
    on_explained(self);
}
