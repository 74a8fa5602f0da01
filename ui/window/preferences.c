#include "ui/window/preferences.h"
#include "model/design.h"

#include "ui/app/actions.h"
#include "ui/app/settings.h"
#include "ui/app/theme.h"
#include "ui/document/document_machine.h"
#include "ui/document/jobs.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>
#include <string.h>

#define KEY "warpstave-preferences"

typedef struct {
    WsWindow *window; /* outlives it: transient for it, and destroyed with it */
    GtkWindow *dialog;
    GtkGrid *grid;
    int row;
    GtkWidget *clock, *error;
    GPtrArray *machine; /* char*: path of each row of the list; "" built-in, NULL: choose a file */
    GtkDropDown *machines;
} Preferences;

static const struct {
    const char *code, *name; /* as LANGUAGE has it; in the language itself */
} languages[] = {
    { "", N_("As the system") }, { "en", "English" }, { "de", "Deutsch" }, { "zh_CN", "简体中文" }
};

/* --- rows ---------------------------------------------------------------------------------------
 */

static GtkWidget *add_row(Preferences *p, const char *name, GtkWidget *widget)
{
    GtkWidget *label = gtk_label_new(name);
    gtk_label_set_xalign(GTK_LABEL(label), 1);
    gtk_widget_add_css_class(label, "ws-name");
    gtk_widget_set_hexpand(widget, TRUE);
    gtk_grid_attach(p->grid, label, 0, p->row, 1, 1);
    gtk_grid_attach(p->grid, widget, 1, p->row++, 1, 1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    return widget;
}

static void add_note(Preferences *p, const char *text)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 44);
    gtk_widget_add_css_class(label, "dim");
    gtk_grid_attach(p->grid, label, 1, p->row++, 1, 1);
}

/* --- colours, language, font --------------------------------------------------------------------
 */

static void theme_chosen(GtkDropDown *list, GParamSpec *spec, Preferences *p)
{
    ws_theme_choose((WsThemeChoice)gtk_drop_down_get_selected(list));
    ws_window_update_actions(p->window);
}

static void add_theme(Preferences *p)
{
    static const char *const action[] = { "theme-system", "theme-light", "theme-dark",
                                          "theme-contrast" }; /* WsThemeChoice */
    GtkStringList *names = gtk_string_list_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(action); i++)
        gtk_string_list_append(names, ws_action_label(ws_action_find(action[i])));
    GtkWidget *list = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(list), (guint)ws_theme_choice());
    g_signal_connect(list, "notify::selected", G_CALLBACK(theme_chosen), p);
    add_row(p, _("Colours"), list);
}

static void language_chosen(GtkDropDown *list, GParamSpec *spec, Preferences *p)
{
    const guint at = gtk_drop_down_get_selected(list);
    if (ws_settings() && at < G_N_ELEMENTS(languages))
        g_settings_set_string(ws_settings(), "language", languages[at].code);
}

static void add_language(Preferences *p)
{
    g_autofree char *now = ws_settings() ? g_settings_get_string(ws_settings(), "language") : NULL;
    GtkStringList *names = gtk_string_list_new(NULL);
    guint chosen = 0;
    for (guint i = 0; i < G_N_ELEMENTS(languages); i++) {
        gtk_string_list_append(names, i ? languages[i].name : _(languages[i].name));
        if (!g_strcmp0(now, languages[i].code))
            chosen = i;
    }
    GtkWidget *list = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(list), chosen);
    g_signal_connect(list, "notify::selected", G_CALLBACK(language_chosen), p);
    add_row(p, _("Language"), list);
    add_note(p, _("Holds when Warpstave is started again."));
}

static void set_code_font(const char *font)
{
    if (ws_settings())
        g_settings_set_string(ws_settings(), "code-font", font);
    ws_theme_restyle();
}

static void font_chosen(GtkFontChooser *button, GParamSpec *spec, gpointer unused)
{
    g_autofree char *font = gtk_font_chooser_get_font(button);
    set_code_font(font ? font : "");
}

static void font_reset(GtkButton *button, GtkFontChooser *chooser)
{
    g_signal_handlers_block_by_func(chooser, font_chosen, NULL);
    gtk_font_chooser_set_font(chooser, "Monospace 11");
    g_signal_handlers_unblock_by_func(chooser, font_chosen, NULL);
    set_code_font("");
}

static void add_font(Preferences *p)
{
    g_autofree char *now = ws_settings() ? g_settings_get_string(ws_settings(), "code-font") : NULL;
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *button = gtk_font_button_new_with_font(now && *now ? now : "Monospace 11");
    GtkWidget *reset = gtk_button_new_with_label(_("As the system"));
    gtk_widget_set_hexpand(button, TRUE);
    gtk_font_chooser_set_level(GTK_FONT_CHOOSER(button),
                               GTK_FONT_CHOOSER_LEVEL_FAMILY | GTK_FONT_CHOOSER_LEVEL_SIZE);
    g_signal_connect(button, "notify::font", G_CALLBACK(font_chosen), NULL);
    g_signal_connect(reset, "clicked", G_CALLBACK(font_reset), button);
    gtk_box_append(GTK_BOX(box), button);
    gtk_box_append(GTK_BOX(box), reset);
    add_row(p, _("Font of code"), box);
}

/* --- machine and clock --------------------------------------------------------------------------
 */

static WsDocument *document_of(Preferences *p)
{
    return ws_window_document(p->window);
}

static void show_clock(Preferences *p)
{
    const double own = ws_document_machine_clock(document_of(p));
    g_autofree char *text =
        g_strdup_printf(_("0: that of the machine, %.3f GHz. Times follow; cycles change "
                          "where memory is the limit."),
                        own);
    gtk_label_set_text(GTK_LABEL(p->error), text);
    gtk_widget_remove_css_class(p->error, "ws-error-text");
}

static void machine_chosen(GtkDropDown *list, GParamSpec *spec, Preferences *p)
{
    const guint at = gtk_drop_down_get_selected(list);
    g_autoptr(GError) error = NULL;
    if (at >= p->machine->len)
        return;
    const char *path = p->machine->pdata[at];
    if (!path) { /* another file: the window asks for it */
        ws_window_choose_machine(p->window);
        gtk_window_destroy(p->dialog);
        return;
    }
    g_autoptr(GFile) file = *path ? g_file_new_for_path(path) : NULL;
    if (ws_document_use_machine(document_of(p), file, &error)) {
        show_clock(p);
        return;
    }
    gtk_label_set_text(GTK_LABEL(p->error), error->message);
    gtk_widget_add_css_class(p->error, "ws-error-text");
}

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Machines of other targets are none for this design. */
static void list_machine(Preferences *p, GtkStringList *names, const char *path, const char *now)
{
    const WsDesign *design = ws_document_latest(document_of(p));
    const char *target = design ? ws_node_text(ws_design_root(design), WS_F_target) : NULL;
    for (guint i = 0; i < p->machine->len; i++)
        if (!g_strcmp0(p->machine->pdata[i], path))
            return;
    g_autoptr(WsMachine) m = ws_machine_load(path, NULL);
    if (!m || (target && g_strcmp0(m->target, target) != 0))
        return;
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *name = g_strdup_printf("%s (%s)", m->name, base);
    gtk_string_list_append(names, name);
    g_ptr_array_add(p->machine, g_strdup(path));
    if (!g_strcmp0(now, path))
        gtk_drop_down_set_selected(p->machines, p->machine->len - 1);
}

static void add_machine(Preferences *p)
{
    g_autofree char *now = ws_settings() ? g_settings_get_string(ws_settings(), "machine") : NULL;
    g_autofree char *folder = ws_machines_folder();
    g_autoptr(GDir) dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
    GtkStringList *names = gtk_string_list_new(NULL);
    GtkWidget *list = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
    p->machines = GTK_DROP_DOWN(list);
    gtk_string_list_append(names, _("Built-in (of the design's target)"));
    g_ptr_array_add(p->machine, g_strdup(""));
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    for (const char *entry; dir && (entry = g_dir_read_name(dir));)
        if (g_str_has_suffix(entry, ".json"))
            g_ptr_array_add(paths, g_build_filename(folder, entry, NULL));
    g_ptr_array_sort(paths, by_text); /* in the folder they stand in any order */
    for (guint i = 0; i < paths->len; i++)
        list_machine(p, names, paths->pdata[i], now);
    if (now && *now)
        list_machine(p, names, now, now);
    gtk_string_list_append(names, _("Another file…"));
    g_ptr_array_add(p->machine, NULL);
    g_signal_connect(list, "notify::selected", G_CALLBACK(machine_chosen), p);
    add_row(p, _("Machine of predictions"), list);
}

static void clock_chosen(GtkSpinButton *spin, Preferences *p)
{
    ws_document_use_clock(document_of(p), gtk_spin_button_get_value(spin));
    show_clock(p);
}

static void add_clock(Preferences *p)
{
    const double now = ws_settings() ? g_settings_get_double(ws_settings(), "clock-ghz") : 0;
    p->clock = gtk_spin_button_new_with_range(0, 10, 0.05);
    gtk_spin_button_set_digits(GTK_SPIN_BUTTON(p->clock), 3);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(p->clock), now);
    g_signal_connect(p->clock, "value-changed", G_CALLBACK(clock_chosen), p);
    add_row(p, _("Clock in GHz"), p->clock);
    add_note(p, "");
    p->error = gtk_grid_get_child_at(p->grid, 1, p->row - 1);
    show_clock(p);
}

/* --- where kernels run, the wheel ---------------------------------------------------------------
 */

static void host_chosen(GtkEditable *entry, Preferences *p)
{
    g_autofree char *host = g_strstrip(g_strdup(gtk_editable_get_text(entry)));
    ws_jobs_set_host(WS_JOBS(ws_window_part(p->window, WS_PART_JOBS)), *host ? host : NULL);
    if (ws_settings())
        g_settings_set_string(ws_settings(), "run-host", host);
}

static void add_host(Preferences *p)
{
    g_autofree char *now = ws_settings() ? g_settings_get_string(ws_settings(), "run-host") : NULL;
    GtkWidget *entry = gtk_entry_new();
    gtk_editable_set_text(GTK_EDITABLE(entry), now ? now : "");
    gtk_entry_set_placeholder_text(GTK_ENTRY(entry), _("this machine"));
    g_signal_connect(entry, "changed", G_CALLBACK(host_chosen), p);
    add_row(p, _("Machine with the GPU"), entry);
    add_note(p, _("A name for ssh; empty: this machine."));
}

static void add_wheel(Preferences *p)
{
    const WsAction *action = ws_action_find("swap-wheel");
    GtkWidget *check = gtk_check_button_new_with_label(ws_action_label(action));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(check), "win.swap-wheel");
    gtk_grid_attach(p->grid, check, 1, p->row++, 1, 1);
}

/* --- the window ---------------------------------------------------------------------------------
 */

static gboolean on_key(GtkEventControllerKey *c, guint key, guint code, GdkModifierType state,
                       GtkWindow *dialog)
{
    if (key != GDK_KEY_Escape)
        return FALSE;
    gtk_window_destroy(dialog);
    return TRUE;
}

static void forget(gpointer data)
{
    Preferences *p = data;
    g_object_set_data(G_OBJECT(p->window), KEY, NULL);
    g_ptr_array_unref(p->machine);
    g_free(p);
}

void ws_preferences_show(WsWindow *w)
{
    GtkWindow *open = g_object_get_data(G_OBJECT(w), KEY);
    if (open) {
        gtk_window_present(open);
        return;
    }
    Preferences *p = g_new0(Preferences, 1);
    GtkEventController *keys = gtk_event_controller_key_new();
    p->window = w;
    p->dialog = GTK_WINDOW(gtk_window_new());
    p->grid = GTK_GRID(gtk_grid_new());
    p->machine = g_ptr_array_new_with_free_func(g_free);
    gtk_grid_set_row_spacing(p->grid, 6);
    gtk_grid_set_column_spacing(p->grid, 12);
    gtk_window_set_title(p->dialog, _("Preferences"));
    gtk_window_set_transient_for(p->dialog, GTK_WINDOW(w));
    gtk_window_set_destroy_with_parent(p->dialog, TRUE);
    gtk_window_set_resizable(p->dialog, FALSE);
    gtk_widget_add_css_class(GTK_WIDGET(p->dialog), "ws-studio");
    gtk_widget_add_css_class(GTK_WIDGET(p->grid), "ws-dialog");
    /* its switches are actions of the window */
    gtk_widget_insert_action_group(GTK_WIDGET(p->dialog), "win", G_ACTION_GROUP(w));
    add_theme(p);
    add_language(p);
    add_font(p);
    add_machine(p);
    add_clock(p);
    add_host(p);
    add_wheel(p);
    gtk_window_set_child(p->dialog, GTK_WIDGET(p->grid));
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), p->dialog);
    gtk_widget_add_controller(GTK_WIDGET(p->dialog), keys);
    g_object_set_data(G_OBJECT(w), KEY, p->dialog);
    g_object_set_data_full(G_OBJECT(p->dialog), KEY, p, forget);
    gtk_window_present(p->dialog);
}
