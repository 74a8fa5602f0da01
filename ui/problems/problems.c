#include "ui/problems/problems.h"
#include "check/verdict.h"
#include "model/finding.h"

#include "ui/app/actions.h"
#include "ui/document/document_fixes.h"
#include "ui/document/document_names.h"
#include "ui/document/document_source.h"
#include "ui/inspector/facts.h"
#include "ui/parts/format.h"
#include "ui/parts/labels.h"
#include "ui/parts/words.h"
#include "ui/problems/problem_fixes.h"
#include "ui/problems/problem_source.h"
#include "ui/problems/witness.h"

#include <glib/gi18n.h>
#include <string.h>

/* Parts of an explanation. */
enum { TITLE, MESSAGE_TEXT, STORY, REASON, REMEDY, BARRIER, ROUND, PLACES, ABOUT, N_PARTS };

struct _WsProblems {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *verdict, *skipped, *toggle[3], *silenced, *entry, *list, *explain, *explain_scroll;
    GtkWidget *actions;
    GtkWidget *part[N_PARTS], *text[N_PARTS];
    guint count[3], n_silenced;
};

static guint explained_signal;

G_DEFINE_FINAL_TYPE(WsProblems, ws_problems, GTK_TYPE_WIDGET)

static void dispose(GObject *object)
{
    WsProblems *self = WS_PROBLEMS(object);
    GtkWidget *child;
    if (self->list)
        g_signal_handlers_disconnect_by_data(self->list, self);
    self->list = NULL;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_problems_parent_class)->dispose(object);
}

/* --- explanation --------------------------------------------------------------------------------
 */

const WsFinding *ws_problems_selected(WsProblems *self)
{
    WsFindings *findings = ws_document_findings(self->document);
    gint i = self->list ? ws_problem_list_selected(WS_PROBLEM_LIST(self->list)) : -1;
    return findings && i >= 0 && (guint)i < findings->list->len
               ? g_ptr_array_index(findings->list, (guint)i)
               : NULL;
}

GtkBox *ws_problems_actions(WsProblems *self)
{
    return GTK_BOX(self->actions);
}

WsProblemList *ws_problems_list(WsProblems *self)
{
    return WS_PROBLEM_LIST(self->list);
}

/* The texts of an explanation stay and change their words: labels made anew for every finding would
 * lose what the person just marked. */
static void make_texts(WsProblems *self)
{
    static const char *const heading[N_PARTS] = {
        [STORY] = N_("What happens"),  [REASON] = N_("Suppressed, since"),
        [REMEDY] = N_("What to do"),   [BARRIER] = N_("Barrier"),
        [ROUND] = N_("Round"),         [PLACES] = N_("Places"),
        [ABOUT] = N_("About the rule")
    };
    for (guint i = 0; i < N_PARTS; i++) {
        GtkWidget *part = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
        GtkWidget *label =
            i == PLACES ? gtk_box_new(GTK_ORIENTATION_VERTICAL, 0) : gtk_label_new("");
        if (heading[i]) {
            GtkWidget *head = gtk_label_new(_(heading[i]));
            gtk_label_set_xalign(GTK_LABEL(head), 0);
            gtk_widget_add_css_class(head, "ws-heading");
            gtk_box_append(GTK_BOX(part), head);
        }
        if (i != PLACES) {
            gtk_label_set_xalign(GTK_LABEL(label), 0);
            gtk_label_set_wrap(GTK_LABEL(label), TRUE);
            gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
            gtk_label_set_selectable(GTK_LABEL(label), TRUE);
        }
        if (i == TITLE)
            gtk_widget_add_css_class(label, "ws-heading");
        if (i == BARRIER) /* what can be done about it stands before what is known of it */
            gtk_box_append(GTK_BOX(self->explain), self->actions);
        gtk_box_append(GTK_BOX(part), label);
        gtk_box_append(GTK_BOX(self->explain), part);
        self->part[i] = part;
        self->text[i] = label;
    }
}

static void set_text(WsProblems *self, guint part, const char *text)
{
    gtk_label_set_text(GTK_LABEL(self->text[part]), text ? text : "");
    gtk_widget_set_visible(self->part[part], text && *text);
}

static void reveal(WsProblems *self, const char *place)
{
    g_autofree char *path = ws_place_resolve(ws_document_design(self->document), place);
    WsFocus focus = { .step = path, .agent = G_MAXUINT, .tile = -1, .round = -1 };
    if (path)
        ws_document_select(self->document, &focus, WS_SELECT_REPLACE, TRUE);
}

static void on_place(WsProblems *self, GtkButton *button)
{
    reveal(self, g_object_get_data(G_OBJECT(button), "place"));
}

static void add_place(WsProblems *self, const char *place)
{
    g_autofree char *name = ws_name_of_step(ws_document_program(self->document), place);
    GtkWidget *button = ws_link_button(name, _("Show this place in the score"));
    g_object_set_data_full(G_OBJECT(button), "place", g_strdup(place), g_free);
    g_signal_connect_swapped(button, "clicked", G_CALLBACK(on_place), self);
    gtk_box_append(GTK_BOX(self->text[PLACES]), button);
}

/* What to do: what the check has proved, as soon as it is known; till then what the finding says.
 */
static void tell_remedy(WsProblems *self)
{
    const WsFinding *f = ws_problems_selected(self);
    const WsFix *fix = f ? ws_document_proved_fix(self->document, f) : NULL;
    g_autofree char *remedy = fix ? ws_words(fix->said) : f ? ws_words_remedy(f) : NULL;
    set_text(self, REMEDY, remedy);
}

static void explain(WsProblems *self)
{
    const WsFinding *f = ws_problems_selected(self);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->text[PLACES])))
        gtk_box_remove(GTK_BOX(self->text[PLACES]), child);
    for (guint i = 0; i < N_PARTS; i++)
        gtk_widget_set_visible(self->part[i], FALSE);
    g_signal_emit(self, explained_signal, 0);
    if (!f) {
        set_text(self, MESSAGE_TEXT,
                 self->count[0] + self->count[1] + self->count[2]
                     ? _("Select a problem to have it explained.")
                     : NULL);
        return;
    }
    const WsRule *rule = ws_rule(f->rule);
    g_autofree char *title =
        g_strdup_printf("%s %s %s: %s", ws_severity_glyph(f->severity),
                        ws_severity_word(f->severity), rule->text, ws_words_title(f));
    g_autofree char *about =
        f->remedy ? g_strdup_printf("%s\n%s", ws_words_explain(f), ws_words_of_text(rule->fix))
                  : g_strdup(ws_words_explain(f));
    set_text(self, TITLE, title);
    g_autofree char *story = ws_words_story(f), *message = ws_words_message(f),
                    *barrier = ws_words_barrier(f);
    set_text(self, MESSAGE_TEXT, message);
    set_text(self, STORY, story);
    set_text(self, REASON, f->silenced);
    tell_remedy(self);
    set_text(self, BARRIER, barrier);
    set_text(self, ROUND, f->round);
    set_text(self, ABOUT, about);
    if (f->at && *f->at)
        add_place(self, f->at);
    for (guint i = 0; f->steps && i < f->steps->len; i++)
        if (g_strcmp0(g_ptr_array_index(f->steps, i), f->at))
            add_place(self, g_ptr_array_index(f->steps, i));
    gtk_widget_set_visible(self->part[PLACES],
                           gtk_widget_get_first_child(self->text[PLACES]) != NULL);
    gtk_adjustment_set_value(
        gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(self->explain_scroll)), 0);
}

/* --- list ---------------------------------------------------------------------------------------
 */

static void refilter(WsProblems *self)
{
    WsProblemFilter filter = { .needle = NULL };
    g_autofree char *needle = g_utf8_casefold(gtk_editable_get_text(GTK_EDITABLE(self->entry)), -1);
    for (guint i = 0; i < 3; i++)
        filter.severity[i] = gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(self->toggle[i]));
    filter.silenced = gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(self->silenced));
    filter.needle = needle;
    ws_problem_list_filter(WS_PROBLEM_LIST(self->list), &filter);
}

static void show_counts(WsProblems *self)
{
    for (guint s = 0; s < 3; s++) {
        guint n = self->count[s];
        const char *form = s == WS_SEVERITY_ERROR     ? ngettext("%s error", "%s errors", n)
                           : s == WS_SEVERITY_WARNING ? ngettext("%s warning", "%s warnings", n)
                                                      : ngettext("%s hint", "%s hints", n);
        g_autofree char *text = ws_format_count(n, form);
        g_autofree char *label = g_strdup_printf("%s %s", ws_severity_glyph(s), text);
        gtk_button_set_label(GTK_BUTTON(self->toggle[s]), label);
        if (n) /* red is for what is wrong: none is not */
            gtk_widget_add_css_class(self->toggle[s], ws_severity_class(s));
        else
            gtk_widget_remove_css_class(self->toggle[s], ws_severity_class(s));
        gtk_accessible_update_property(GTK_ACCESSIBLE(self->toggle[s]),
                                       GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
    }
    g_autofree char *silenced = ws_format_count(
        self->n_silenced, ngettext("%s suppressed", "%s suppressed", self->n_silenced));
    gtk_button_set_label(GTK_BUTTON(self->silenced), silenced);
    gtk_widget_set_visible(self->silenced, self->n_silenced > 0);
}

/* What the check looked at, and what it left out: a clean list says nothing without it. */
static void show_verdict(WsProblems *self)
{
    WsVerdict *verdict = ws_document_verdict(self->document);
    g_autofree char *text = ws_document_verdict_said(self->document);
    const char *fallback =
        !ws_document_design(self->document) ? _("No design is open.")
        : !ws_document_program(self->document) || ws_document_left_out(self->document)
            ? _("not simulated: the design does not elaborate")
            : _("not simulated: the findings below come first");
    g_autoptr(GString) left = g_string_new(NULL);
    for (guint i = 0; verdict && i < verdict->skipped->len; i++) {
        g_autofree char *words = ws_words(verdict->skipped->pdata[i]);
        g_string_append_printf(left, "%s%s", i ? "; " : "", words);
    }
    g_autofree char *skipped = left->len ? g_strdup_printf(_("Skipped: %s"), left->str) : NULL;
    const gboolean empty = text && verdict->kind == WS_VERDICT_PROVED &&
                           ws_nothing_happens(ws_document_program(self->document));
    gtk_label_set_text(GTK_LABEL(self->verdict), empty  ? _("empty: there is no step to be judged")
                                                 : text ? text
                                                        : fallback);
    gtk_label_set_text(GTK_LABEL(self->skipped), skipped ? skipped : "");
    gtk_widget_set_visible(self->skipped, skipped != NULL);
    gtk_widget_set_tooltip_text(self->skipped, skipped);
}

static void refresh(WsProblems *self)
{
    WsFindings *findings = ws_document_findings(self->document);
    memset(self->count, 0, sizeof self->count);
    self->n_silenced = 0;
    for (guint i = 0; findings && i < findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        if (f->silenced)
            self->n_silenced++;
        else
            self->count[f->severity]++;
    }
    show_counts(self);
    show_verdict(self);
    ws_problem_list_take(WS_PROBLEM_LIST(self->list), ws_document_program(self->document),
                         findings);
}

void ws_problems_insert(WsProblems *self, GtkWidget *widget)
{
    gtk_box_insert_child_after(GTK_BOX(self->explain), widget, self->part[MESSAGE_TEXT]);
}

void ws_problems_reveal(WsProblems *self)
{
    const WsFinding *f = ws_problems_selected(self);
    if (f)
        reveal(self, f->at);
}

static void on_activated(WsProblems *self, gint i)
{
    ws_problems_reveal(self);
}

static void on_selected(WsProblems *self, gint i)
{
    explain(self);
}

/* --- going through them -------------------------------------------------------------------------
 */

static void step_by(WsProblems *self, gint by)
{
    if (ws_problem_list_step(WS_PROBLEM_LIST(self->list), by) >= 0)
        reveal(self, ws_problems_selected(self)->at);
}

guint ws_problems_count(WsProblems *self, WsSeverity severity)
{
    return self->count[severity];
}

guint ws_problems_n_shown(WsProblems *self)
{
    return ws_problem_list_n_shown(WS_PROBLEM_LIST(self->list));
}

static void next_action(GtkWidget *widget, const char *name, GVariant *parameter)
{
    step_by(WS_PROBLEMS(widget), 1);
}

static void previous_action(GtkWidget *widget, const char *name, GVariant *parameter)
{
    step_by(WS_PROBLEMS(widget), -1);
}

static void copy_action(GtkWidget *widget, const char *name, GVariant *parameter)
{
    g_autofree char *text = ws_problem_list_copy(WS_PROBLEM_LIST(WS_PROBLEMS(widget)->list));
    gdk_clipboard_set_text(gtk_widget_get_clipboard(widget), text);
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void ws_problems_class_init(WsProblemsClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    explained_signal = g_signal_new("explained", WS_TYPE_PROBLEMS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                    NULL, G_TYPE_NONE, 0);
    gtk_widget_class_set_layout_manager_type(widget, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_GROUP);
    gtk_widget_class_install_action(widget, "problems.next-problem", NULL, next_action);
    gtk_widget_class_install_action(widget, "problems.previous-problem", NULL, previous_action);
    gtk_widget_class_install_action(widget, "problems.copy", NULL, copy_action);
}

static GtkWidget *line(const char *css_class)
{
    GtkWidget *label = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(label, css_class);
    return label;
}

static GtkWidget *make_bar(WsProblems *self)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    for (gint s = WS_SEVERITY_ERROR; s >= WS_SEVERITY_HINT; s--) {
        self->toggle[s] = gtk_toggle_button_new();
        gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(self->toggle[s]), TRUE);
        gtk_widget_set_tooltip_text(self->toggle[s], _("Show or hide findings of this severity"));
        g_signal_connect_swapped(self->toggle[s], "toggled", G_CALLBACK(refilter), self);
        gtk_box_append(GTK_BOX(bar), self->toggle[s]);
    }
    self->silenced = gtk_toggle_button_new();
    gtk_widget_set_tooltip_text(self->silenced,
                                _("Show or hide findings that the design suppresses"));
    gtk_widget_set_visible(self->silenced, FALSE);
    g_signal_connect_swapped(self->silenced, "toggled", G_CALLBACK(refilter), self);
    gtk_box_append(GTK_BOX(bar), self->silenced);
    self->entry = gtk_search_entry_new();
    gtk_widget_set_hexpand(self->entry, TRUE);
    g_object_set(self->entry, "placeholder-text", _("Filter by rule, place or text"), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Filter the problems"), -1);
    g_signal_connect_swapped(self->entry, "search-changed", G_CALLBACK(refilter), self);
    gtk_box_append(GTK_BOX(bar), self->entry);
    GtkWidget *copy = gtk_button_new_with_label(_("Copy"));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(copy), "problems.copy");
    gtk_widget_set_tooltip_text(copy, _("Copy the list as text"));
    gtk_box_append(GTK_BOX(bar), copy);
    gtk_widget_add_css_class(bar, "ws-bar");
    return bar;
}

static GtkWidget *make_list(WsProblems *self)
{
    self->list = ws_problem_list_new();
    g_signal_connect_swapped(self->list, "activated", G_CALLBACK(on_activated), self);
    g_signal_connect_swapped(self->list, "selected", G_CALLBACK(on_selected), self);
    return self->list;
}

static void ws_problems_init(WsProblems *self)
{
    GtkWidget *outer = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *bar = make_bar(self);
    GtkWidget *paned = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL);
    self->verdict = line("ws-verdict");
    self->skipped = line("dim");
    gtk_box_append(GTK_BOX(head), self->verdict);
    gtk_box_append(GTK_BOX(head), self->skipped);
    gtk_widget_add_css_class(head, "ws-head");
    self->explain = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
    gtk_widget_add_css_class(self->explain, "ws-explain");
    self->actions = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_widget_add_css_class(self->actions, "ws-fixes");
    make_texts(self);
    self->explain_scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(self->explain_scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->explain_scroll), self->explain);
    gtk_widget_set_size_request(self->explain_scroll, 320, -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->explain_scroll),
                                   GTK_ACCESSIBLE_PROPERTY_LABEL, _("Explanation"), -1);
    gtk_paned_set_start_child(GTK_PANED(paned), make_list(self));
    gtk_paned_set_end_child(GTK_PANED(paned), self->explain_scroll);
    gtk_paned_set_resize_end_child(GTK_PANED(paned), FALSE);
    gtk_paned_set_shrink_end_child(GTK_PANED(paned), FALSE);
    gtk_widget_set_vexpand(paned, TRUE);
    gtk_box_append(GTK_BOX(outer), head);
    gtk_box_append(GTK_BOX(outer), bar);
    gtk_box_append(GTK_BOX(outer), paned);
    gtk_widget_set_parent(outer, GTK_WIDGET(self));
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Problems"), -1);
}

GtkWidget *ws_problems_new(WsDocument *document)
{
    WsProblems *self = g_object_new(WS_TYPE_PROBLEMS, NULL);
    self->document = g_object_ref(document);
    refilter(self);
    g_signal_connect_object(document, "changed", G_CALLBACK(refresh), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "fixes", G_CALLBACK(tell_remedy), self, G_CONNECT_SWAPPED);
    ws_problem_fixes_attach(self, document);
    ws_problem_source_attach(self, document);
    ws_witness_offer(self, document);
    refresh(self);
    return GTK_WIDGET(self);
}
