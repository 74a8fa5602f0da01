#include "ui/compose/export_dialog.h"

#include "ui/compose/exports.h"
#include "ui/document/document_source.h"
#include "ui/inspector/facts.h"
#include "ui/parts/labels.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>
#include <string.h>

#define KEY "warpstave-export"

typedef struct {
    WsWindow *window; /* outlives the dialogue, which is its transient */
    WsDocument *document;
    GtkWindow *dialog;
    WsExports *exports;
    WsDesign *design; /* that they are made of */
    GtkFileChooserNative *chooser;
    GtkWidget *list, *state[WS_EXPORT_COUNT];
    GtkWidget *title, *help, *step, *why_head, *why, *remedy_head, *remedy, *notes, *lacking,
        *problems, *save, *said;
} Dialog;

/* --- what is known of each -----------------------------------------------------------------------
 */

static const struct {
    const char *glyph, *word, *style;
} states[] = {
    [WS_EXPORT_WAITING] = { "…", N_("asking"), "dim" },
    [WS_EXPORT_MADE] = { "✓", N_("can be saved"), "ws-good" },
    [WS_EXPORT_REFUTED] = { "✖", N_("refuted by the check"), "ws-error-text" },
    [WS_EXPORT_REFUSED] = { "✖", N_("cannot represent this design"), "ws-error-text" },
    [WS_EXPORT_ABSENT] = { "–", N_("something is missing here"), "dim" },
    [WS_EXPORT_FAILED] = { "✖", N_("failed"), "ws-error-text" },
};

static void show_state(Dialog *d, WsExport what)
{
    const WsExportState state = ws_exports_result(d->exports, what)->state;
    g_autofree char *text = g_strdup_printf("%s %s", states[state].glyph, _(states[state].word));
    for (guint i = 0; i < G_N_ELEMENTS(states); i++)
        gtk_widget_remove_css_class(d->state[what], states[i].style);
    gtk_label_set_text(GTK_LABEL(d->state[what]), text);
    gtk_widget_add_css_class(d->state[what], states[state].style);
    GtkListBoxRow *row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(d->list), (gint)what);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   ws_export_title(what), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   _(states[state].word), -1);
}

static void put(GtkWidget *label, const char *text)
{
    gtk_label_set_text(GTK_LABEL(label), text ? text : "");
    gtk_widget_set_visible(label, text && *text);
}

static WsExport chosen(Dialog *d)
{
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(d->list));
    return row ? (WsExport)gtk_list_box_row_get_index(row) : WS_EXPORT_GLUON;
}

/* Places of the kernel that the design was read from which no step stands for: NULL if there are
 * none. */
static char *left_behind(Dialog *d)
{
    g_autoptr(GPtrArray) opaque = ws_document_opaque(d->document);
    g_autoptr(GString) lines = g_string_new(NULL);
    for (guint i = 0; i < opaque->len; i++) {
        const WsOpaque *o = opaque->pdata[i];
        if (!o->steps->len)
            g_string_append_printf(lines, "%s%u", lines->len ? ", " : "", o->first + 1);
    }
    /* Translators: a file, then numbers of lines. */
    return lines->len ? g_strdup_printf(_("Not in the design, and so not in what is exported: %s, "
                                          "lines %s and what follows them."),
                                        ws_document_source(d->document)->name, lines->str)
                      : NULL;
}

static void show_details(Dialog *d)
{
    const WsExport what = chosen(d);
    const WsExportResult *r = ws_exports_result(d->exports, what);
    const gboolean refused = r->state == WS_EXPORT_REFUSED;
    put(d->title, ws_export_title(what));
    put(d->help, ws_export_help(what));
    gtk_widget_set_visible(d->step, r->step != NULL);
    if (r->step) {
        g_autofree char *label = g_strdup_printf(_("Step %s"), r->step);
        ws_link_button_set(d->step, label);
    }
    gtk_widget_set_visible(d->why_head, r->why != NULL);
    put(d->why, r->why);
    gtk_widget_set_visible(d->remedy_head, refused && r->remedy);
    put(d->remedy, refused ? r->remedy : NULL);
    put(d->notes, r->notes);
    g_autofree char *lacking = r->state == WS_EXPORT_MADE ? left_behind(d) : NULL;
    put(d->lacking, lacking);
    gtk_widget_set_visible(d->problems, r->state == WS_EXPORT_REFUTED);
    gtk_widget_set_sensitive(d->save, r->state == WS_EXPORT_MADE);
    gtk_button_set_label(GTK_BUTTON(d->save),
                         what == WS_EXPORT_PACKAGE ? _("_Save the Folder…") : _("_Save…"));
}

static void news(WsExports *exports, WsExport what, gpointer data)
{
    Dialog *d = data;
    show_state(d, what);
    if (chosen(d) == what)
        show_details(d);
}

static void ask(Dialog *d)
{
    const WsSource *source = ws_document_source(d->document);
    WsDesign *design = ws_document_latest(d->document);
    GFile *file = ws_document_file(d->document);
    if (!design || design == d->design)
        return;
    g_clear_pointer(&d->exports, ws_exports_free);
    g_clear_pointer(&d->design, ws_design_unref);
    d->design = ws_design_ref(design);
    d->exports = ws_exports_new(design, file ? file : source ? source->file : NULL, news, d);
    gtk_label_set_text(GTK_LABEL(d->said), "");
    for (guint i = 0; i < WS_EXPORT_COUNT; i++)
        show_state(d, (WsExport)i);
    show_details(d);
}

/* --- what can be done ----------------------------------------------------------------------------
 */

static void go_to_step(GtkButton *button, Dialog *d)
{
    const WsExportResult *r = ws_exports_result(d->exports, chosen(d));
    g_autofree char *path = ws_place_resolve(ws_document_design(d->document), r->step);
    const WsFocus focus = { path, G_MAXUINT, -1, -1 };
    if (path)
        ws_document_select(d->document, &focus, WS_SELECT_REPLACE, TRUE);
}

static void go_to_problems(GtkButton *button, Dialog *d)
{
    ws_window_show_panel(d->window, WS_PART_PROBLEMS);
    gtk_window_present(GTK_WINDOW(d->window));
}

static void saved(GFile *file, const char *why, gpointer data)
{
    g_autoptr(WsWindow) w = data;
    Dialog *d = g_object_get_data(G_OBJECT(w), KEY);
    g_autofree char *name = g_file_get_parse_name(file);
    g_autofree char *said = why ? g_strdup_printf(_("Cannot save %s: %s"), name, why)
                                : g_strdup_printf(_("Saved %s"), name);
    if (d)
        gtk_label_set_text(GTK_LABEL(d->said), said);
    if (w->document)
        ws_window_say_saved(w, file, !why, why);
}

static void answered(GtkNativeDialog *chooser, int response, Dialog *d)
{
    g_autoptr(GFile) file = response == GTK_RESPONSE_ACCEPT
                                ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(chooser))
                                : NULL;
    const WsExport what = (WsExport)GPOINTER_TO_INT(g_object_get_data(G_OBJECT(chooser), "what"));
    g_clear_object(&d->chooser);
    if (file && ws_exports_result(d->exports, what)->state == WS_EXPORT_MADE)
        ws_exports_save(d->exports, what, file, saved, g_object_ref(d->window));
}

static void save(Dialog *d)
{
    const WsExport what = chosen(d);
    const WsSource *source = ws_document_source(d->document);
    GFile *file = ws_document_file(d->document);
    if (!d->exports || ws_exports_result(d->exports, what)->state != WS_EXPORT_MADE)
        return;
    file = file ? file : source ? source->file : NULL;
    g_autoptr(GFile) folder = file ? g_file_get_parent(file) : NULL;
    g_autofree char *name =
        g_strconcat(ws_exports_name(d->exports),
                    what == WS_EXPORT_PACKAGE ? "_package" : ws_export_ending(what), NULL);
    g_clear_object(&d->chooser);
    d->chooser = gtk_file_chooser_native_new(
        _("Export the Kernel"), d->dialog, GTK_FILE_CHOOSER_ACTION_SAVE, _("_Save"), _("_Cancel"));
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(d->chooser), TRUE);
    gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(d->chooser), name);
    if (folder)
        gtk_file_chooser_set_current_folder(GTK_FILE_CHOOSER(d->chooser), folder, NULL);
    g_object_set_data(G_OBJECT(d->chooser), "what", GINT_TO_POINTER((gint)what));
    g_signal_connect(d->chooser, "response", G_CALLBACK(answered), d);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(d->chooser));
}

static void save_clicked(GtkButton *button, Dialog *d)
{
    save(d);
}

static void row_selected(GtkListBox *list, GtkListBoxRow *row, Dialog *d)
{
    if (d->exports && row)
        show_details(d);
}

static void row_activated(GtkListBox *list, GtkListBoxRow *row, Dialog *d)
{
    save(d);
}

static gboolean key(GtkEventControllerKey *c, guint value, guint code, GdkModifierType state,
                    Dialog *d)
{
    if (value != GDK_KEY_Escape)
        return FALSE;
    gtk_window_destroy(d->dialog);
    return TRUE;
}

/* --- making it -----------------------------------------------------------------------------------
 */

static GtkWidget *make_list(Dialog *d)
{
    d->list = gtk_list_box_new();
    gtk_widget_add_css_class(d->list, "ws-starting");
    for (guint i = 0; i < WS_EXPORT_COUNT; i++) {
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *row = gtk_list_box_row_new();
        d->state[i] = ws_label_wrapped("", NULL);
        gtk_label_set_wrap(GTK_LABEL(d->state[i]), FALSE);
        gtk_box_append(GTK_BOX(box), ws_label_wrapped(ws_export_title((WsExport)i), "ws-title"));
        gtk_box_append(GTK_BOX(box), d->state[i]);
        gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
        gtk_list_box_append(GTK_LIST_BOX(d->list), row);
    }
    gtk_list_box_set_activate_on_single_click(GTK_LIST_BOX(d->list), FALSE);
    g_signal_connect(d->list, "row-selected", G_CALLBACK(row_selected), d);
    g_signal_connect(d->list, "row-activated", G_CALLBACK(row_activated), d);
    gtk_accessible_update_property(GTK_ACCESSIBLE(d->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Forms of the kernel"), -1);
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(scroll), TRUE);
    gtk_widget_set_size_request(scroll, 220, -1);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), d->list);
    return scroll;
}

static GtkWidget *make_details(Dialog *d)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6), *scroll = gtk_scrolled_window_new();
    d->title = ws_label_wrapped("", "ws-export-title");
    d->help = ws_label_wrapped("", "dim");
    d->step = ws_link_button("", _("Show this step in the score"));
    d->why_head = ws_label_wrapped(_("Why not"), "ws-heading");
    d->why = ws_label_wrapped("", NULL);
    d->remedy_head = ws_label_wrapped(_("What to change"), "ws-heading");
    d->remedy = ws_label_wrapped("", NULL);
    d->problems = ws_link_button(_("Show the problems"), _("Go to the problems panel"));
    g_signal_connect(d->step, "clicked", G_CALLBACK(go_to_step), d);
    g_signal_connect(d->problems, "clicked", G_CALLBACK(go_to_problems), d);
    d->notes = ws_label_wrapped("", NULL);
    d->lacking = ws_label_wrapped("", "ws-error-text");
    gtk_label_set_selectable(GTK_LABEL(d->notes), TRUE);
    gtk_label_set_selectable(GTK_LABEL(d->why), TRUE);
    GtkWidget *all[] = { d->title,       d->help,   d->why_head, d->step,    d->why,
                         d->remedy_head, d->remedy, d->problems, d->lacking, d->notes };
    for (guint i = 0; i < G_N_ELEMENTS(all); i++)
        gtk_box_append(GTK_BOX(box), all[i]);
    gtk_widget_add_css_class(box, "ws-dialog");
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), box);
    gtk_widget_set_vexpand(scroll, TRUE);
    return scroll;
}

static GtkWidget *make_foot(Dialog *d)
{
    GtkWidget *foot = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    d->said = ws_label_wrapped("", "dim");
    d->save = gtk_button_new_with_mnemonic(_("_Save…"));
    gtk_button_set_use_underline(GTK_BUTTON(d->save), TRUE);
    gtk_widget_add_css_class(d->save, "suggested-action");
    gtk_widget_set_hexpand(d->said, TRUE);
    gtk_widget_set_halign(d->save, GTK_ALIGN_END);
    gtk_widget_set_valign(d->save, GTK_ALIGN_CENTER);
    g_signal_connect(d->save, "clicked", G_CALLBACK(save_clicked), d);
    gtk_box_append(GTK_BOX(foot), d->said);
    gtk_box_append(GTK_BOX(foot), d->save);
    gtk_widget_add_css_class(foot, "ws-dialog");
    return foot;
}

static void design_changed(WsDocument *document, Dialog *d)
{
    ask(d);
}

static void destroyed(GtkWidget *dialog, Dialog *d)
{
    g_object_set_data(G_OBJECT(d->window), KEY, NULL);
    g_signal_handlers_disconnect_by_data(d->document, d);
    g_clear_object(&d->chooser);
    ws_exports_free(d->exports);
    g_clear_pointer(&d->design, ws_design_unref);
    g_object_unref(d->document);
    g_free(d);
}

static void fill(Dialog *d)
{
    GtkWidget *columns = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    GtkWidget *right = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(columns), make_list(d));
    gtk_box_append(GTK_BOX(columns), gtk_separator_new(GTK_ORIENTATION_VERTICAL));
    gtk_box_append(GTK_BOX(right), make_details(d));
    gtk_box_append(GTK_BOX(right), make_foot(d));
    gtk_widget_set_hexpand(right, TRUE);
    gtk_box_append(GTK_BOX(columns), right);
    gtk_window_set_child(d->dialog, columns);
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(key), d);
    gtk_widget_add_controller(GTK_WIDGET(d->dialog), keys);
}

void ws_export_dialog_show(WsWindow *w)
{
    Dialog *d = g_object_get_data(G_OBJECT(w), KEY);
    if (d) {
        gtk_window_present(d->dialog);
        return;
    }
    d = g_new0(Dialog, 1);
    *d = (Dialog){ w, g_object_ref(w->document), GTK_WINDOW(gtk_window_new()) };
    gtk_window_set_title(d->dialog, _("Export the Kernel"));
    gtk_window_set_transient_for(d->dialog, GTK_WINDOW(w));
    gtk_window_set_destroy_with_parent(d->dialog, TRUE);
    gtk_window_set_default_size(d->dialog, 760, 520);
    gtk_widget_add_css_class(GTK_WIDGET(d->dialog), "ws-studio");
    fill(d);
    g_object_set_data(G_OBJECT(w), KEY, d);
    g_signal_connect(d->dialog, "destroy", G_CALLBACK(destroyed), d);
    g_signal_connect(d->document, "changed", G_CALLBACK(design_changed), d);
    ask(d);
    GtkListBoxRow *first = gtk_list_box_get_row_at_index(GTK_LIST_BOX(d->list), 0);
    gtk_list_box_select_row(GTK_LIST_BOX(d->list), first);
    gtk_window_present(d->dialog);
    gtk_widget_grab_focus(GTK_WIDGET(first));
}
