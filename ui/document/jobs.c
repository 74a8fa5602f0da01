#include "ui/document/jobs.h"
#include "ui/parts/words.h"

#include "base/folder.h"
#include "ui/app/settings.h"
#include "ui/document/process.h"

#include <glib/gi18n.h>
#include <string.h>

#define WS_JOB_STEPS 3 /* of Generate */

struct _WsJobs {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *row, *spinner, *progress, *label, *details, *text, *offers, *cancel, *close;
    char *host, *status;
    /* the running job */
    WsProcess *process;
    WsJobKind kind;
    WsDesign *design; /* of the text the job works on */
    char *folder;     /* temporary */
    GFile *bundle;
    guint step;
    gint64 began;
    guint pulse, hide;
};

G_DEFINE_FINAL_TYPE(WsJobs, ws_jobs, GTK_TYPE_WIDGET)

enum { STATE_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];
enum { PROP_BUSY = 1, N_PROPS };
static GParamSpec *properties[N_PROPS];

/* --- what is shown ---------------------------------------------------------------------------- */

static const char *doing(WsJobKind kind, guint step)
{
    switch (kind) {
    case WS_JOB_GENERATE:
        return step == 0   ? _("Generating PTX")
               : step == 1 ? _("Generating LLVM IR")
                           : _("Generating CUDA C++");
    case WS_JOB_REHEARSE:
        return _("Rehearsing on the CPU");
    case WS_JOB_RUN:
        return _("Running on the GPU");
    case WS_JOB_BUNDLE:
    case WS_JOB_COUNT:
    default:
        return _("Making a bundle");
    }
}

static gboolean hide_later(gpointer data)
{
    WsJobs *self = data;
    self->hide = 0;
    gtk_widget_set_visible(self->row, FALSE);
    return G_SOURCE_REMOVE;
}

/* One line for the person; `details` is the whole text behind it, NULL if there is no more. */
static void say(WsJobs *self, const char *line, const char *details, gboolean offers)
{
    g_free(self->status);
    self->status = g_strdup(line);
    if (self->hide)
        g_source_remove(self->hide);
    self->hide = 0;
    gtk_label_set_text(GTK_LABEL(self->label), line);
    gtk_widget_set_tooltip_text(self->label, line);
    gtk_label_set_text(GTK_LABEL(self->text), details ? details : "");
    gtk_widget_set_visible(self->details, details && *details);
    gtk_widget_set_visible(self->offers, offers);
    gtk_widget_set_visible(self->cancel, self->process != NULL);
    gtk_widget_set_visible(self->progress, self->process != NULL);
    gtk_widget_set_visible(self->spinner, self->process != NULL);
    gtk_widget_set_visible(self->close, self->process == NULL);
    gtk_spinner_set_spinning(GTK_SPINNER(self->spinner), self->process != NULL);
    gtk_widget_set_visible(self->row, TRUE);
    g_signal_emit(self, signals[STATE_CHANGED], 0);
}

static void say_and_hide(WsJobs *self, const char *line)
{
    say(self, line, NULL, FALSE);
    self->hide = g_timeout_add_seconds(6, hide_later, self);
}

static gboolean pulse(gpointer data)
{
    WsJobs *self = data;
    double seconds = (double)(g_get_monotonic_time() - self->began) / G_USEC_PER_SEC;
    /* translators: what is being done, and for how long */
    g_autofree char *line =
        g_strdup_printf(_("%s… %.1f s"), doing(self->kind, self->step), seconds);
    gtk_label_set_text(GTK_LABEL(self->label), line);
    gtk_progress_bar_pulse(GTK_PROGRESS_BAR(self->progress));
    return G_SOURCE_CONTINUE;
}

/* --- outcome ---------------------------------------------------------------------------------- */

static char *in_folder(WsJobs *self, const char *name)
{
    return g_build_filename(self->folder, name, NULL);
}

/* Frees what the job held; its result has been taken. */
static void end(WsJobs *self)
{
    if (self->pulse)
        g_source_remove(self->pulse);
    self->pulse = 0;
    self->process = NULL;
    if (self->folder)
        ws_folder_remove(self->folder);
    g_clear_pointer(&self->folder, g_free);
    g_clear_pointer(&self->design, ws_design_unref);
    g_clear_object(&self->bundle);
    g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_BUSY]);
}

static void take_text(WsJobs *self, WsCodeKind kind, const char *name)
{
    g_autofree char *path = in_folder(self, name);
    char *text = NULL;
    if (g_file_get_contents(path, &text, NULL, NULL))
        ws_document_take_code(self->document, kind, text);
}

static void take_run(WsJobs *self, const char *output)
{
    /* Idle units and causes need all rounds of one launch. */
    g_autofree char *merged = in_folder(self, "measured.wtrace");
    g_autofree char *one = in_folder(self, "measured" WS_ONE_LAUNCH);
    g_autoptr(GFile) file =
        g_file_new_for_path(g_file_test(one, G_FILE_TEST_EXISTS) ? one : merged);
    g_autoptr(GError) error = NULL;
    gboolean traced = ws_document_open_trace(self->document, file, &error);
    ws_document_take_result(self->document, WS_RESULT_RUN, TRUE, g_strdup(output));
    if (!traced && error)
        say(self, error->message, output, FALSE);
}

static void succeed(WsJobs *self, const char *output)
{
    g_autofree char *line = NULL;
    double seconds = (double)(g_get_monotonic_time() - self->began) / G_USEC_PER_SEC;
    switch (self->kind) {
    case WS_JOB_GENERATE:
        take_text(self, WS_CODE_PTX, "kernel.ptx");
        take_text(self, WS_CODE_LLVM, "kernel.ll");
        take_text(self, WS_CODE_CUDA, "kernel.cu");
        line = g_strdup_printf(_("Generated in %.1f s."), seconds);
        break;
    case WS_JOB_REHEARSE:
        ws_document_take_result(self->document, WS_RESULT_REHEARSAL, TRUE, g_strdup(output));
        line =
            g_strdup_printf(_("Rehearsed in %.1f s: every value matches the reference."), seconds);
        break;
    case WS_JOB_RUN:
        line = g_strdup_printf(_("Ran in %.1f s."), seconds);
        break;
    case WS_JOB_BUNDLE:
    case WS_JOB_COUNT:
    default:
        line = g_strdup_printf(_("The bundle is in %s. On a machine with a GPU: warpstave-runner "
                                 "and that folder."),
                               g_file_peek_path(self->bundle));
        break;
    }
    self->process = NULL;
    if (self->kind == WS_JOB_BUNDLE)
        say(self, line, NULL, FALSE);
    else
        say_and_hide(self, line);
    if (self->kind == WS_JOB_RUN)
        take_run(self, output);
}

/* Why it failed; what it said first where it did not say why. */
static char *first_line(const WsProcessResult *r)
{
    if (r->why)
        return ws_words(r->why);
    const char *text = r->message ? r->message : *r->errors ? r->errors : r->output;
    return g_strndup(text, strcspn(text, "\n"));
}

static void fail(WsJobs *self, const WsProcessResult *r)
{
    g_autofree char *all = g_strconcat(r->output, r->errors, NULL), *first = first_line(r);
    const gboolean judged = self->kind == WS_JOB_REHEARSE || self->kind == WS_JOB_RUN;
    self->process = NULL;
    if (r->code == 130) {
        say_and_hide(self, _("Cancelled."));
    } else if (r->code == 4 && self->kind == WS_JOB_RUN) {
        say(self,
            self->host ? _("No GPU or driver on that machine. Rehearse it on the CPU, or make a "
                           "bundle to run elsewhere.")
                       : _("No GPU or driver here. Rehearse it on the CPU, or make a bundle to run "
                           "elsewhere."),
            all, TRUE);
    } else if (r->code == 3 && judged &&
               !ws_node_has(ws_design_root(self->design), WS_F_reference)) {
        /* as of a kernel that was read from another language */
        say(self,
            _("There is nothing to compare with: write what the kernel computes in the field "
              "“reference” of the design."),
            all, FALSE);
    } else if (r->code == 1 && judged) {
        ws_document_take_result(self->document,
                                self->kind == WS_JOB_RUN ? WS_RESULT_RUN : WS_RESULT_REHEARSAL,
                                FALSE, g_strdup(all));
        say(self, first, all, FALSE);
    } else {
        say(self, *first ? first : _("The command line tool failed."), all, FALSE);
    }
}

static void next_step(WsJobs *self);

static void on_done(const WsProcessResult *r, gpointer data)
{
    WsJobs *self = data;
    int code = r->code;
    if (code == 0 && self->kind == WS_JOB_GENERATE && ++self->step < WS_JOB_STEPS) {
        next_step(self);
        return;
    }
    if (code == 3 && self->kind == WS_JOB_GENERATE && self->step == WS_JOB_STEPS - 1)
        code = 0; /* the others are there */
    self->process = NULL;
    if (ws_document_design(self->document) != self->design)
        say_and_hide(self, _("The design has changed meanwhile; the result is not shown."));
    else if (code == 0)
        succeed(self, r->output);
    else
        fail(self, r);
    end(self);
    g_signal_emit(self, signals[STATE_CHANGED], 0);
    g_object_unref(self);
}

/* --- beginning -------------------------------------------------------------------------------- */

/* What Generate makes, in order. The last may be missing: not everything can be said in CUDA C++.
 */
static const struct {
    const char *as, *file;
} generated[WS_JOB_STEPS] = {
    { "ptx", "kernel.ptx" },
    { "llvm", "kernel.ll" },
    { "cuda", "kernel.cu" },
};

static void next_step(WsJobs *self)
{
    g_autofree char *design = in_folder(self, "design.wstave");
    g_autofree char *out = NULL;
    const char *argv[16] = { "warpstave" };
    guint n = 1;
    switch (self->kind) {
    case WS_JOB_GENERATE:
        out = in_folder(self, generated[self->step].file);
        argv[n++] = "generate";
        argv[n++] = design;
        argv[n++] = "--as";
        argv[n++] = generated[self->step].as;
        argv[n++] = "--remarks";
        argv[n++] = "-o";
        argv[n++] = out;
        break;
    case WS_JOB_REHEARSE:
        argv[n++] = "rehearse";
        argv[n++] = design;
        break;
    case WS_JOB_RUN:
        out = in_folder(self, "measured.wtrace");
        argv[n++] = "profile";
        argv[n++] = design;
        argv[n++] = "--trace";
        argv[n++] = out;
        if (self->host) {
            argv[n++] = "--host";
            argv[n++] = self->host;
        }
        break;
    case WS_JOB_BUNDLE:
    case WS_JOB_COUNT:
    default:
        argv[n++] = "bundle";
        argv[n++] = design;
        argv[n++] = "--traced";
        argv[n++] = "-o";
        argv[n++] = g_file_peek_path(self->bundle);
        break;
    }
    self->process = ws_process_start(argv, on_done, self);
}

static gboolean begin(WsJobs *self, WsJobKind kind, GFile *bundle)
{
    const char *text = ws_document_code(self->document, WS_CODE_DESIGN);
    g_autoptr(GError) error = NULL;
    if (self->process || !text || !ws_document_program(self->document))
        return FALSE;
    self->folder = g_dir_make_tmp("warpstave-studio-XXXXXX", &error);
    g_autofree char *design = self->folder ? in_folder(self, "design.wstave") : NULL;
    if (!design || !g_file_set_contents(design, text, -1, &error)) {
        say(self, error->message, NULL, FALSE);
        end(self);
        return FALSE;
    }
    self->kind = kind;
    self->step = 0;
    self->design = ws_design_ref(ws_document_design(self->document));
    self->began = g_get_monotonic_time();
    g_set_object(&self->bundle, bundle);
    g_object_ref(self); /* until on_done */
    next_step(self);
    say(self, doing(kind, 0), NULL, FALSE);
    self->pulse = g_timeout_add(100, pulse, self);
    g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_BUSY]);
    return TRUE;
}

static gboolean ws_jobs_start_bundle(WsJobs *self, GFile *folder)
{
    return g_file_peek_path(folder) && begin(self, WS_JOB_BUNDLE, folder);
}

static void on_folder(GtkNativeDialog *chooser, int response, WsJobs *self)
{
    if (response == GTK_RESPONSE_ACCEPT) {
        g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(chooser));
        if (file)
            ws_jobs_start_bundle(self, file);
    }
    g_object_unref(chooser);
}

static void ask_folder(WsJobs *self)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(self));
    GtkFileChooserNative *chooser = gtk_file_chooser_native_new(
        _("Folder of the bundle"), GTK_IS_WINDOW(root) ? GTK_WINDOW(root) : NULL,
        GTK_FILE_CHOOSER_ACTION_SAVE, _("_Make"), NULL);
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(chooser), TRUE);
    gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(chooser), "bundle");
    g_signal_connect_object(chooser, "response", G_CALLBACK(on_folder), self, 0);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(chooser));
}

gboolean ws_jobs_start(WsJobs *self, WsJobKind kind)
{
    if (kind != WS_JOB_BUNDLE)
        return begin(self, kind, NULL);
    if (self->process || !ws_document_program(self->document))
        return FALSE;
    ask_folder(self);
    return TRUE;
}

void ws_jobs_cancel(WsJobs *self)
{
    if (!self->process)
        return;
    ws_process_cancel(self->process);
    gtk_label_set_text(GTK_LABEL(self->label), _("Cancelling…"));
}

gboolean ws_jobs_running(WsJobs *self)
{
    return self->process != NULL;
}

const char *ws_jobs_status(WsJobs *self)
{
    return self->status ? self->status : "";
}

/* ssh host for Run; NULL or "": this machine. */
void ws_jobs_set_host(WsJobs *self, const char *host)
{
    g_free(self->host);
    self->host = host && *host ? g_strdup(host) : NULL;
}

/* --- "Run on…" -------------------------------------------------------------------------------- */

static void on_host(GtkDialog *dialog, int response, WsJobs *self)
{
    GtkEntry *entry = g_object_get_data(G_OBJECT(dialog), "host");
    if (response == GTK_RESPONSE_OK) {
        ws_jobs_set_host(self, gtk_editable_get_text(GTK_EDITABLE(entry)));
        if (ws_settings())
            g_settings_set_string(ws_settings(), "run-host", self->host ? self->host : "");
        begin(self, WS_JOB_RUN, NULL);
    }
    gtk_window_destroy(GTK_WINDOW(dialog));
}

static void ask_host(WsJobs *self)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(self));
    GtkWidget *dialog = gtk_dialog_new_with_buttons(
        _("Run on another machine"), GTK_IS_WINDOW(root) ? GTK_WINDOW(root) : NULL,
        GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT | GTK_DIALOG_USE_HEADER_BAR, _("_Cancel"),
        GTK_RESPONSE_CANCEL, _("_Run"), GTK_RESPONSE_OK, NULL);
    GtkWidget *area = gtk_dialog_get_content_area(GTK_DIALOG(dialog));
    GtkWidget *label = gtk_label_new_with_mnemonic(
        _("_Host for ssh (empty: this machine). Runner and bundle are copied there."));
    GtkWidget *entry = gtk_entry_new();
    gtk_editable_set_text(GTK_EDITABLE(entry), self->host ? self->host : "");
    gtk_entry_set_activates_default(GTK_ENTRY(entry), TRUE);
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), entry);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_box_set_spacing(GTK_BOX(area), 6);
    gtk_box_append(GTK_BOX(area), label);
    gtk_box_append(GTK_BOX(area), entry);
    g_object_set_data(G_OBJECT(dialog), "host", entry);
    gtk_dialog_set_default_response(GTK_DIALOG(dialog), GTK_RESPONSE_OK);
    g_signal_connect_object(dialog, "response", G_CALLBACK(on_host), self, 0);
    gtk_window_present(GTK_WINDOW(dialog));
}

/* --- class ------------------------------------------------------------------------------------ */

static void act(GtkWidget *widget, const char *name, GVariant *parameter)
{
    WsJobs *self = WS_JOBS(widget);
    static const char *const names[] = { "jobs.generate", "jobs.rehearse", "jobs.run",
                                         "jobs.bundle" };
    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        if (!strcmp(name, names[i]))
            ws_jobs_start(self, i);
    if (!strcmp(name, "jobs.cancel"))
        ws_jobs_cancel(self);
    else if (!strcmp(name, "jobs.run-on"))
        ask_host(self);
    else if (!strcmp(name, "jobs.close") && !self->process)
        gtk_widget_set_visible(self->row, FALSE);
}

static GtkWidget *button(const char *label, const char *action)
{
    GtkWidget *b = gtk_button_new_with_mnemonic(label);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(b), action);
    return b;
}

static GtkWidget *make_details(WsJobs *self)
{
    GtkWidget *menu = gtk_menu_button_new(), *popover = gtk_popover_new();
    GtkWidget *scroller = gtk_scrolled_window_new();
    self->text = gtk_label_new(NULL);
    gtk_label_set_selectable(GTK_LABEL(self->text), TRUE);
    gtk_label_set_xalign(GTK_LABEL(self->text), 0);
    gtk_widget_add_css_class(self->text, "monospace");
    gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(scroller), TRUE);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroller), TRUE);
    gtk_scrolled_window_set_max_content_width(GTK_SCROLLED_WINDOW(scroller), 900);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroller), 400);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), self->text);
    gtk_popover_set_child(GTK_POPOVER(popover), scroller);
    gtk_menu_button_set_label(GTK_MENU_BUTTON(menu), _("Details"));
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(menu), popover);
    return menu;
}

static void ws_jobs_init(WsJobs *self)
{
    self->row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    self->spinner = gtk_spinner_new();
    self->label =
        g_object_new(GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS, "xalign", 0.0,
                     "ellipsize", PANGO_ELLIPSIZE_END, "hexpand", TRUE, NULL);
    self->progress = gtk_progress_bar_new();
    gtk_widget_set_valign(self->progress, GTK_ALIGN_CENTER);
    self->details = make_details(self);
    self->offers = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_box_append(GTK_BOX(self->offers), button(_("_Rehearse"), "jobs.rehearse"));
    gtk_box_append(GTK_BOX(self->offers), button(_("Make a _Bundle…"), "jobs.bundle"));
    gtk_box_append(GTK_BOX(self->offers), button(_("Run _on…"), "jobs.run-on"));
    self->cancel = button(_("_Cancel"), "jobs.cancel");
    self->close = button(_("C_lose"), "jobs.close");
    GtkWidget *all[] = { self->spinner, self->label,  self->progress, self->details,
                         self->offers,  self->cancel, self->close };
    for (guint i = 0; i < G_N_ELEMENTS(all); i++)
        gtk_box_append(GTK_BOX(self->row), all[i]);
    gtk_widget_set_margin_start(self->row, 8);
    gtk_widget_set_margin_end(self->row, 8);
    gtk_widget_set_margin_top(self->row, 3);
    gtk_widget_set_margin_bottom(self->row, 3);
    gtk_widget_set_visible(self->row, FALSE);
    gtk_widget_set_parent(self->row, GTK_WIDGET(self));
}

static void dispose(GObject *object)
{
    WsJobs *self = WS_JOBS(object);
    if (self->hide)
        g_source_remove(self->hide);
    self->hide = 0;
    g_clear_pointer(&self->row, gtk_widget_unparent);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_jobs_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    WsJobs *self = WS_JOBS(object);
    g_free(self->host);
    g_free(self->status);
    G_OBJECT_CLASS(ws_jobs_parent_class)->finalize(object);
}

/* The window goes: a running job is stopped and forgotten. */
static void unroot(GtkWidget *widget)
{
    WsJobs *self = WS_JOBS(widget);
    if (self->process) {
        ws_process_abandon(self->process);
        end(self);
        g_object_unref(self); /* the reference of begin() */
    }
    GTK_WIDGET_CLASS(ws_jobs_parent_class)->unroot(widget);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    if (id == PROP_BUSY)
        g_value_set_boolean(value, WS_JOBS(object)->process != NULL);
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void ws_jobs_class_init(WsJobsClass *class)
{
    static const char *const actions[] = { "jobs.generate", "jobs.rehearse", "jobs.run",
                                           "jobs.bundle",   "jobs.run-on",   "jobs.cancel",
                                           "jobs.close" };
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    G_OBJECT_CLASS(class)->get_property = get_property;
    widget->unroot = unroot;
    gtk_widget_class_set_layout_manager_type(widget, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_css_name(widget, "jobs");
    for (guint i = 0; i < G_N_ELEMENTS(actions); i++)
        gtk_widget_class_install_action(widget, actions[i], NULL, act);
    properties[PROP_BUSY] =
        g_param_spec_boolean("busy", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
    g_object_class_install_properties(G_OBJECT_CLASS(class), N_PROPS, properties);
    signals[STATE_CHANGED] = g_signal_new("state-changed", WS_TYPE_JOBS, G_SIGNAL_RUN_LAST, 0, NULL,
                                          NULL, NULL, G_TYPE_NONE, 0);
}

GtkWidget *ws_jobs_new(WsDocument *document)
{
    WsJobs *self = g_object_new(WS_TYPE_JOBS, NULL);
    self->document = g_object_ref(document);
    g_autofree char *host = ws_settings() ? g_settings_get_string(ws_settings(), "run-host") : NULL;
    ws_jobs_set_host(self, host);
    return GTK_WIDGET(self);
}
