#include "ui/problems.h"

#include "ui/actions.h"
#include "ui/facts.h"
#include "ui/format.h"
#include "ui/table.h"

#include <glib/gi18n.h>
#include <string.h>

/* Parts of an explanation. */
enum { TITLE, MESSAGE_TEXT, REMEDY, BARRIER, ROUND, PLACES, ABOUT, N_PARTS };

struct _WsProblems {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *verdict, *skipped, *toggle[3], *entry, *table, *explain, *explain_scroll;
    GtkWidget *part[N_PARTS], *text[N_PARTS];
    guint count[3];
    char *needle; /* casefolded text of the filter */
};

enum { SEVERITY, RULE, MESSAGE, PLACE, LINE, N_COLUMNS };

G_DEFINE_FINAL_TYPE(WsProblems, ws_problems, GTK_TYPE_WIDGET)

/* A shape for each severity, so that colour is never the only sign. */
static const struct {
    const char *glyph, *word, *style;
} severities[] = {
    [WS_SEVERITY_HINT] = { "\xe2\x97\x8f", N_("hint"), "ws-hint" },
    [WS_SEVERITY_WARNING] = { "\xe2\x96\xb2", N_("warning"), "ws-warning" },
    [WS_SEVERITY_ERROR] = { "\xe2\x9c\x96", N_("error"), "ws-error-text" },
};

const char *ws_severity_glyph(WsSeverity severity)
{
    return severities[severity].glyph;
}

const char *ws_severity_word(WsSeverity severity)
{
    return _(severities[severity].word);
}

const char *ws_severity_class(WsSeverity severity)
{
    return severities[severity].style;
}

static void dispose(GObject *object)
{
    WsProblems *self = WS_PROBLEMS(object);
    GtkWidget *child;
    if (self->table)
        ws_table_set_filter(WS_TABLE(self->table), NULL, NULL);
    self->table = NULL;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    g_clear_pointer(&self->needle, g_free);
    G_OBJECT_CLASS(ws_problems_parent_class)->dispose(object);
}

/* --- explanation --------------------------------------------------------------------------------
 */

static const WsFinding *finding_of(WsProblems *self, WsRow *row)
{
    WsFindings *findings = ws_document_findings(self->document);
    guint i = row ? ws_row_get_index(row) : G_MAXUINT;
    return findings && i < findings->list->len ? g_ptr_array_index(findings->list, i) : NULL;
}

/* The texts of an explanation stay and change their words: labels made anew for every finding would
 * lose what the person just marked. */
static void make_texts(WsProblems *self)
{
    static const char *const heading[N_PARTS] = { [REMEDY] = N_("What to do"),
                                                  [BARRIER] = N_("Barrier"),
                                                  [ROUND] = N_("Round"),
                                                  [PLACES] = N_("Places"),
                                                  [ABOUT] = N_("About the rule") };
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
    GtkWidget *button = gtk_button_new_with_label(place);
    gtk_label_set_ellipsize(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(button))),
                            PANGO_ELLIPSIZE_MIDDLE);
    gtk_button_set_has_frame(GTK_BUTTON(button), FALSE);
    gtk_widget_add_css_class(button, "link");
    gtk_widget_add_css_class(button, "ws-link");
    gtk_widget_set_halign(button, GTK_ALIGN_START);
    gtk_widget_set_tooltip_text(button, _("Show this place in the score"));
    g_object_set_data_full(G_OBJECT(button), "place", g_strdup(place), g_free);
    g_signal_connect_swapped(button, "clicked", G_CALLBACK(on_place), self);
    gtk_box_append(GTK_BOX(self->text[PLACES]), button);
}

static void explain(WsProblems *self, WsRow *row)
{
    const WsFinding *f = finding_of(self, row);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->text[PLACES])))
        gtk_box_remove(GTK_BOX(self->text[PLACES]), child);
    for (guint i = 0; i < N_PARTS; i++)
        gtk_widget_set_visible(self->part[i], FALSE);
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
                        ws_severity_word(f->severity), rule->text, rule->title);
    g_autofree char *about =
        f->remedy ? g_strdup_printf("%s\n%s", rule->explain, rule->fix) : g_strdup(rule->explain);
    set_text(self, TITLE, title);
    set_text(self, MESSAGE_TEXT, f->message);
    set_text(self, REMEDY, f->remedy ? f->remedy : rule->fix);
    set_text(self, BARRIER, f->barrier);
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

static gboolean keep(WsRow *row, gpointer data)
{
    WsProblems *self = data;
    const WsFinding *f = finding_of(self, row);
    if (!f || !gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(self->toggle[f->severity])))
        return FALSE;
    if (!self->needle || !*self->needle)
        return TRUE;
    const char *part[] = { ws_rule(f->rule)->text, ws_rule(f->rule)->title, f->at, f->message,
                           f->remedy };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++) {
        g_autofree char *folded = part[i] ? g_utf8_casefold(part[i], -1) : NULL;
        if (folded && strstr(folded, self->needle))
            return TRUE;
    }
    return FALSE;
}

static void refilter(WsProblems *self)
{
    g_free(self->needle);
    self->needle = g_utf8_casefold(gtk_editable_get_text(GTK_EDITABLE(self->entry)), -1);
    ws_table_set_filter(WS_TABLE(self->table), keep, self);
}

static WsRow *make_row(const WsFinding *f, guint i)
{
    const WsRule *rule = ws_rule(f->rule);
    WsRow *row = ws_row_new(N_COLUMNS, f->at);
    ws_row_index(row, i);
    ws_row_style(row, ws_severity_class(f->severity));
    ws_row_number(
        row, SEVERITY, f->severity,
        g_strdup_printf("%s %s", ws_severity_glyph(f->severity), ws_severity_word(f->severity)));
    ws_row_text(row, RULE, g_strdup(rule->text));
    ws_row_text(row, MESSAGE, g_strdup(f->message));
    ws_row_text(row, PLACE, g_strdup(f->at));
    ws_row_number(row, LINE, f->line, f->line ? g_strdup_printf("%u", f->line) : g_strdup(""));
    ws_row_tip(row, f->message);
    return row;
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
        gtk_accessible_update_property(GTK_ACCESSIBLE(self->toggle[s]),
                                       GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
    }
}

/* What the check looked at, and what it left out: a clean list says nothing without it. */
static void show_verdict(WsProblems *self)
{
    WsVerdict *verdict = ws_document_verdict(self->document);
    g_autofree char *text = verdict ? ws_verdict_text(verdict) : NULL;
    const char *fallback = !ws_document_design(self->document) ? _("No design is open.")
                           : !ws_document_program(self->document)
                               ? _("not played: the design does not elaborate")
                               : _("not played: the findings below come first");
    g_autoptr(GString) left = g_string_new(NULL);
    for (guint i = 0; verdict && i < verdict->skipped->len; i++)
        g_string_append_printf(left, "%s%s", i ? "; " : "",
                               (char *)g_ptr_array_index(verdict->skipped, i));
    g_autofree char *skipped = left->len ? g_strdup_printf(_("Skipped: %s"), left->str) : NULL;
    gtk_label_set_text(GTK_LABEL(self->verdict), text ? text : fallback);
    gtk_label_set_text(GTK_LABEL(self->skipped), skipped ? skipped : "");
    gtk_widget_set_visible(self->skipped, skipped != NULL);
    gtk_widget_set_tooltip_text(self->skipped, skipped);
}

static void refresh(WsProblems *self)
{
    WsFindings *findings = ws_document_findings(self->document);
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_object_unref);
    memset(self->count, 0, sizeof self->count);
    for (guint i = 0; findings && i < findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        self->count[f->severity]++;
        g_ptr_array_add(rows, make_row(f, i));
    }
    show_counts(self);
    show_verdict(self);
    ws_table_set_rows(WS_TABLE(self->table), rows);
}

static void on_activated(WsProblems *self, WsRow *row)
{
    reveal(self, ws_row_place(row));
}

static void on_selected(WsProblems *self, WsRow *row)
{
    explain(self, row);
}

/* --- going through them -------------------------------------------------------------------------
 */

static void step_by(WsProblems *self, gint by)
{
    gint n = (gint)ws_table_n_shown(WS_TABLE(self->table));
    gint at = ws_table_selected(WS_TABLE(self->table));
    if (n == 0)
        return;
    gint next = at < 0 ? (by > 0 ? 0 : n - 1) : (at + by + n) % n;
    ws_table_select(WS_TABLE(self->table), (guint)next);
    reveal(self, ws_row_place(ws_table_shown(WS_TABLE(self->table), (guint)next)));
}

void ws_problems_next(WsProblems *self)
{
    step_by(self, 1);
}

void ws_problems_previous(WsProblems *self)
{
    step_by(self, -1);
}

guint ws_problems_count(WsProblems *self, WsSeverity severity)
{
    return self->count[severity];
}

guint ws_problems_n_shown(WsProblems *self)
{
    return ws_table_n_shown(WS_TABLE(self->table));
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
    g_autofree char *text = ws_table_copy(WS_TABLE(WS_PROBLEMS(widget)->table));
    gdk_clipboard_set_text(gtk_widget_get_clipboard(widget), text);
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void ws_problems_class_init(WsProblemsClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
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
        gtk_widget_add_css_class(self->toggle[s], ws_severity_class((WsSeverity)s));
        gtk_widget_set_tooltip_text(self->toggle[s], _("Show or hide findings of this severity"));
        g_signal_connect_swapped(self->toggle[s], "toggled", G_CALLBACK(refilter), self);
        gtk_box_append(GTK_BOX(bar), self->toggle[s]);
    }
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
    const WsColumn column[N_COLUMNS] = {
        [SEVERITY] = { _("Severity"), NULL, FALSE, FALSE, 110 },
        [RULE] = { _("Rule"), NULL, FALSE, FALSE, 130 },
        [MESSAGE] = { _("Message"), NULL, FALSE, TRUE, 0 },
        [PLACE] = { _("Place"), NULL, FALSE, FALSE, 250 },
        [LINE] = { _("Line"), NULL, TRUE, FALSE, 0 },
    };
    self->table = ws_table_new(_("Problems"), column, N_COLUMNS, _("Nothing to show."));
    g_signal_connect_swapped(self->table, "activated", G_CALLBACK(on_activated), self);
    g_signal_connect_swapped(self->table, "selected", G_CALLBACK(on_selected), self);
    return self->table;
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
    ws_table_sort_by(WS_TABLE(self->table), SEVERITY, TRUE);
    refilter(self);
    g_signal_connect_object(document, "changed", G_CALLBACK(refresh), self, G_CONNECT_SWAPPED);
    refresh(self);
    return GTK_WIDGET(self);
}
