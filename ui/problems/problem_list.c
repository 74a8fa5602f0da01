#include "ui/problems/problem_list.h"
#include "ui/document/document_names.h"

#include "model/finding.h"
#include "ui/parts/format.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <string.h>

struct _WsProblemList {
    GtkWidget parent;
    GtkWidget *stack, *box, *empty;
    const WsFindings *findings;
    const WsProgram *program; /* of which they are */
    GPtrArray *row;           /* GtkListBoxRow, in order; the box owns them */
    WsProblemFilter filter;
    char *needle;
    gboolean quiet;
};

enum { SELECTED, ACTIVATED, MEND, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(WsProblemList, ws_problem_list, GTK_TYPE_WIDGET)

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

/* --- which are shown, and in which order --------------------------------------------------------
 */

static const WsFinding *finding(WsProblemList *self, guint i)
{
    return i < self->findings->list->len ? self->findings->list->pdata[i] : NULL;
}

static gint index_of(gpointer row)
{
    return row ? GPOINTER_TO_INT(g_object_get_data(row, "finding")) - 1 : -1;
}

static gboolean holds(const WsProgram *p, const WsFinding *f, const char *needle)
{
    g_autofree char *step = ws_name_of_step(p, f->at);
    g_autofree char *message = ws_words_message(f), *remedy = ws_words_remedy(f);
    const char *part[] = {
        ws_rule(f->rule)->text, ws_words_title(f), f->at, step, message, remedy
    };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++) {
        g_autofree char *folded = part[i] ? g_utf8_casefold(part[i], -1) : NULL;
        if (folded && strstr(folded, needle))
            return TRUE;
    }
    return FALSE;
}

static gboolean shown(WsProblemList *self, const WsFinding *f)
{
    return f && self->filter.severity[f->severity] && (self->filter.silenced || !f->silenced) &&
           (!self->needle || !*self->needle || holds(self->program, f, self->needle));
}

typedef struct {
    const WsFindings *findings;
    guint8 worst[WS_RULE_COUNT];
} Ranks;

static gint by_rank(gconstpointer pa, gconstpointer pb, gpointer data)
{
    const Ranks *r = data;
    guint i = *(const guint *)pa, k = *(const guint *)pb;
    const WsFinding *a = r->findings->list->pdata[i], *b = r->findings->list->pdata[k];
    if (a->rule != b->rule)
        return r->worst[a->rule] != r->worst[b->rule]
                   ? (gint)r->worst[b->rule] - (gint)r->worst[a->rule]
                   : strcmp(ws_rule(a->rule)->text, ws_rule(b->rule)->text);
    if (a->severity != b->severity)
        return (gint)b->severity - (gint)a->severity;
    return i < k ? -1 : i > k;
}

static GArray *in_order(const WsFindings *findings)
{
    GArray *order = g_array_new(FALSE, FALSE, sizeof(guint));
    Ranks ranks = { .findings = findings };
    for (guint i = 0; findings && i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        ranks.worst[f->rule] = (guint8)MAX(ranks.worst[f->rule], f->severity);
        g_array_append_val(order, i);
    }
    g_array_sort_with_data(order, by_rank, &ranks);
    return order;
}

/* --- rows ---------------------------------------------------------------------------------------
 */

static GtkWidget *text(const char *words, const char *style, PangoEllipsizeMode cut)
{
    GtkWidget *label = gtk_label_new(words);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_single_line_mode(GTK_LABEL(label), TRUE);
    gtk_label_set_ellipsize(GTK_LABEL(label), cut);
    if (style)
        gtk_widget_add_css_class(label, style);
    return label;
}

static void on_mend(GtkWidget *button);

static GtkWidget *make_row(const WsProgram *p, const WsFinding *f, guint i)
{
    g_autofree char *step = ws_name_of_step(p, f->at);
    GtkWidget *row = gtk_list_box_row_new(), *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    g_autofree char *sign =
        g_strdup_printf("%s %s", ws_severity_glyph(f->severity), ws_severity_word(f->severity));
    g_autofree char *line = f->line ? g_strdup_printf(_("line %u"), f->line) : g_strdup("");
    g_autofree char *said = ws_words_message(f);
    g_autofree char *spoken = g_strdup_printf("%s: %s", ws_severity_word(f->severity), said);
    GtkWidget *severity = text(sign, ws_severity_class(f->severity), PANGO_ELLIPSIZE_NONE);
    GtkWidget *message = text(said, NULL, PANGO_ELLIPSIZE_END);
    GtkWidget *place = text(step ? step : "", "dim", PANGO_ELLIPSIZE_MIDDLE);
    gtk_label_set_width_chars(GTK_LABEL(severity), 10);
    gtk_label_set_width_chars(GTK_LABEL(message), 20);
    gtk_label_set_max_width_chars(GTK_LABEL(place), 34);
    gtk_label_set_width_chars(GTK_LABEL(place), 14);
    gtk_widget_set_hexpand(message, TRUE);
    gtk_box_append(GTK_BOX(box), severity);
    gtk_box_append(GTK_BOX(box), message);
    if (f->silenced)
        gtk_box_append(GTK_BOX(box), text(_("suppressed"), "dim", PANGO_ELLIPSIZE_NONE));
    GtkWidget *fix = gtk_button_new(), *label = text("", NULL, PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 36);
    gtk_button_set_child(GTK_BUTTON(fix), label);
    gtk_widget_add_css_class(fix, "ws-fix");
    gtk_widget_set_visible(fix, FALSE);
    g_signal_connect(fix, "clicked", G_CALLBACK(on_mend), NULL);
    gtk_widget_set_valign(fix, GTK_ALIGN_CENTER);
    g_object_set_data(G_OBJECT(row), "fix", fix);
    gtk_box_append(GTK_BOX(box), fix);
    gtk_box_append(GTK_BOX(box), place);
    gtk_box_append(GTK_BOX(box), text(line, "dim", PANGO_ELLIPSIZE_NONE));
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    gtk_widget_set_tooltip_text(row, said);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, step ? step : "", -1);
    g_object_set_data(G_OBJECT(row), "finding", GINT_TO_POINTER((gint)i + 1));
    return row;
}

static gboolean keep_row(GtkListBoxRow *row, gpointer data)
{
    WsProblemList *self = data;
    return self->findings && shown(self, finding(self, (guint)index_of(row)));
}

static guint n_of_rule(WsProblemList *self, WsRuleId rule)
{
    guint n = 0;
    for (guint i = 0; i < self->findings->list->len; i++)
        n += finding(self, i)->rule == rule && shown(self, finding(self, i));
    return n;
}

/* The heading of a section: the rule, its title, how many. */
static void head_row(GtkListBoxRow *row, GtkListBoxRow *before, gpointer data)
{
    WsProblemList *self = data;
    const WsFinding *f = self->findings ? finding(self, (guint)index_of(row)) : NULL;
    const WsFinding *b = before && f ? finding(self, (guint)index_of(before)) : NULL;
    if (!f || (b && b->rule == f->rule)) {
        gtk_list_box_row_set_header(row, NULL);
        return;
    }
    const WsRule *rule = ws_rule(f->rule);
    guint n = n_of_rule(self, f->rule);
    g_autofree char *name = g_strdup_printf("%s  %s", rule->text, ws_words_title(f));
    g_autofree char *count = ws_format_count(n, ngettext("%s finding", "%s findings", n));
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    GtkWidget *title =
        g_object_new(GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_HEADING, "label", name,
                     "xalign", 0.0, "ellipsize", PANGO_ELLIPSIZE_END, "hexpand", TRUE, NULL);
    gtk_widget_add_css_class(title, "ws-rule");
    gtk_widget_add_css_class(box, "ws-section");
    gtk_widget_set_tooltip_text(title, ws_words_explain(f));
    gtk_box_append(GTK_BOX(box), title);
    gtk_box_append(GTK_BOX(box), text(count, "dim", PANGO_ELLIPSIZE_NONE));
    gtk_list_box_row_set_header(row, box);
}

static void show_any(WsProblemList *self)
{
    gtk_stack_set_visible_child_name(GTK_STACK(self->stack),
                                     ws_problem_list_n_shown(self) ? "rows" : "empty");
}

/* --- what the panel calls -----------------------------------------------------------------------
 */

guint ws_problem_list_n_shown(WsProblemList *self)
{
    guint n = 0;
    for (guint i = 0; self->findings && i < self->findings->list->len; i++)
        n += shown(self, finding(self, i));
    return n;
}

gint ws_problem_list_selected(WsProblemList *self)
{
    return index_of(gtk_list_box_get_selected_row(GTK_LIST_BOX(self->box)));
}

static void drop_rows(WsProblemList *self)
{
    self->findings = NULL;
    for (guint i = 0; i < self->row->len; i++)
        gtk_list_box_remove(GTK_LIST_BOX(self->box), self->row->pdata[i]);
    g_ptr_array_set_size(self->row, 0);
}

static void on_mend(GtkWidget *button)
{
    GtkWidget *row = gtk_widget_get_ancestor(button, GTK_TYPE_LIST_BOX_ROW);
    WsProblemList *self = WS_PROBLEM_LIST(gtk_widget_get_ancestor(row, WS_TYPE_PROBLEM_LIST));
    g_signal_emit(self, signals[MEND], 0, index_of(row));
}

void ws_problem_list_offer(WsProblemList *self, guint index, const char *title, const char *tip)
{
    GtkWidget *button = NULL;
    for (guint i = 0; i < self->row->len && !button; i++)
        if (index_of(self->row->pdata[i]) == (gint)index)
            button = g_object_get_data(self->row->pdata[i], "fix");
    if (!button)
        return;
    gtk_widget_set_visible(button, title != NULL);
    if (!title)
        return;
    gtk_label_set_text(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(button))), title);
    g_autofree char *all = g_strdup_printf("%s\n%s", title, tip);
    gtk_widget_set_tooltip_text(button, all);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                   -1);
}

void ws_problem_list_take(WsProblemList *self, const WsProgram *p, const WsFindings *findings)
{
    gint kept = ws_problem_list_selected(self);
    self->quiet = TRUE;
    drop_rows(self);
    self->findings = findings;
    self->program = p;
    g_autoptr(GArray) order = in_order(findings);
    for (guint i = 0; i < order->len; i++) {
        guint at = g_array_index(order, guint, i);
        GtkWidget *row = make_row(p, finding(self, at), at);
        g_ptr_array_add(self->row, row);
        gtk_list_box_append(GTK_LIST_BOX(self->box), row);
        if ((gint)at == kept)
            gtk_list_box_select_row(GTK_LIST_BOX(self->box), GTK_LIST_BOX_ROW(row));
    }
    gtk_list_box_invalidate_headers(GTK_LIST_BOX(self->box));
    self->quiet = FALSE;
    show_any(self);
    g_signal_emit(self, signals[SELECTED], 0, ws_problem_list_selected(self));
}

void ws_problem_list_filter(WsProblemList *self, const WsProblemFilter *filter)
{
    self->filter = *filter;
    g_free(self->needle);
    self->needle = g_strdup(filter->needle);
    self->filter.needle = self->needle;
    gtk_list_box_invalidate_filter(GTK_LIST_BOX(self->box));
    gtk_list_box_invalidate_headers(GTK_LIST_BOX(self->box));
    show_any(self);
}

gint ws_problem_list_step(WsProblemList *self, gint by)
{
    gint n = (gint)self->row->len, at = -1, selected = ws_problem_list_selected(self);
    for (gint i = 0; i < n; i++)
        if (selected >= 0 && index_of(self->row->pdata[i]) == selected)
            at = i;
    if (at < 0)
        at = by > 0 ? -1 : n;
    for (gint tries = 0; tries < n; tries++) {
        at = ((at + by) % n + n) % n;
        if (!keep_row(self->row->pdata[at], self))
            continue;
        GtkListBoxRow *row = self->row->pdata[at];
        gtk_list_box_select_row(GTK_LIST_BOX(self->box), row);
        return index_of(row);
    }
    return -1;
}

char *ws_problem_list_copy(WsProblemList *self)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "%s\t%s\t%s\t%s\t%s\n", _("Severity"), _("Rule"), _("Message"),
                           _("Place"), _("Line"));
    for (guint i = 0; i < self->row->len; i++) {
        const WsFinding *f = finding(self, (guint)index_of(self->row->pdata[i]));
        if (!shown(self, f))
            continue;
        g_autofree char *message = ws_words_message(f);
        g_string_append_printf(out, "%s\t%s\t%s\t%s\t", ws_severity_word(f->severity),
                               ws_rule(f->rule)->text, message, f->at ? f->at : "");
        if (f->line)
            g_string_append_printf(out, "%u", f->line);
        g_string_append_c(out, '\n');
    }
    return g_string_free(out, FALSE);
}

/* --- widget -------------------------------------------------------------------------------------
 */

/* The box scrolls to what has the focus, and only to that: a row stepped to from elsewhere is
 * brought into view by hand. */
static void bring_into_view(WsProblemList *self, GtkListBoxRow *row)
{
    GtkWidget *scroll = gtk_widget_get_ancestor(self->box, GTK_TYPE_SCROLLED_WINDOW);
    GtkAdjustment *v = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(scroll));
    graphene_rect_t area;
    if (gtk_widget_compute_bounds(GTK_WIDGET(row), self->box, &area) && area.size.height > 0)
        gtk_adjustment_clamp_page(v, area.origin.y, area.origin.y + area.size.height);
}

static void row_selected(WsProblemList *self, GtkListBoxRow *row)
{
    if (self->quiet)
        return;
    if (row)
        bring_into_view(self, row);
    g_signal_emit(self, signals[SELECTED], 0, index_of(row));
}

static void row_activated(WsProblemList *self, GtkListBoxRow *row)
{
    g_signal_emit(self, signals[ACTIVATED], 0, index_of(row));
}

static void dispose(GObject *object)
{
    WsProblemList *self = WS_PROBLEM_LIST(object);
    self->quiet = TRUE;
    self->findings = NULL;
    g_clear_pointer(&self->stack, gtk_widget_unparent);
    G_OBJECT_CLASS(ws_problem_list_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    WsProblemList *self = WS_PROBLEM_LIST(object);
    g_ptr_array_unref(self->row);
    g_free(self->needle);
    G_OBJECT_CLASS(ws_problem_list_parent_class)->finalize(object);
}

static void ws_problem_list_class_init(WsProblemListClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
    signals[SELECTED] = g_signal_new("selected", WS_TYPE_PROBLEM_LIST, G_SIGNAL_RUN_LAST, 0, NULL,
                                     NULL, NULL, G_TYPE_NONE, 1, G_TYPE_INT);
    signals[MEND] = g_signal_new("mend", WS_TYPE_PROBLEM_LIST, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 1, G_TYPE_INT);
    signals[ACTIVATED] = g_signal_new("activated", WS_TYPE_PROBLEM_LIST, G_SIGNAL_RUN_LAST, 0, NULL,
                                      NULL, NULL, G_TYPE_NONE, 1, G_TYPE_INT);
}

static void ws_problem_list_init(WsProblemList *self)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    self->row = g_ptr_array_new();
    self->filter = (WsProblemFilter){ { TRUE, TRUE, TRUE }, FALSE, NULL };
    self->box = gtk_list_box_new();
    gtk_list_box_set_activate_on_single_click(GTK_LIST_BOX(self->box), FALSE);
    gtk_list_box_set_filter_func(GTK_LIST_BOX(self->box), keep_row, self, NULL);
    gtk_list_box_set_header_func(GTK_LIST_BOX(self->box), head_row, self, NULL);
    gtk_widget_add_css_class(self->box, "ws-findings");
    g_signal_connect_swapped(self->box, "row-selected", G_CALLBACK(row_selected), self);
    g_signal_connect_swapped(self->box, "row-activated", G_CALLBACK(row_activated), self);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->box), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Problems"), -1);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), self->box);
    self->empty = gtk_label_new(_("Nothing to show."));
    gtk_widget_add_css_class(self->empty, "dim");
    gtk_widget_add_css_class(self->empty, "ws-empty");
    self->stack = gtk_stack_new();
    gtk_stack_add_named(GTK_STACK(self->stack), scroll, "rows");
    gtk_stack_add_named(GTK_STACK(self->stack), self->empty, "empty");
    gtk_stack_set_visible_child_name(GTK_STACK(self->stack), "empty");
    gtk_widget_set_hexpand(self->stack, TRUE);
    gtk_widget_set_vexpand(self->stack, TRUE);
    gtk_widget_set_parent(self->stack, GTK_WIDGET(self));
}

GtkWidget *ws_problem_list_new(void)
{
    return g_object_new(WS_TYPE_PROBLEM_LIST, NULL);
}
