#include "model/findings.h"
#include "ui/window/window_private.h"

#include "ui/app/application.h"
#include "ui/app/command_palette.h"
#include "ui/app/help_window.h"
#include "ui/app/settings.h"
#include "ui/app/shortcuts.h"
#include "ui/app/theme.h"
#include "ui/compose/edit_commands.h"
#include "ui/compose/export_dialog.h"
#include "ui/document/document_compare.h"
#include "ui/document/document_machine.h"
#include "ui/document/document_next.h"
#include "ui/document/document_runs.h"
#include "ui/document/document_source.h"
#include "ui/document/jobs.h"
#include "ui/panels/code_panel.h"
#include "ui/panels/compare_panel.h"
#include "ui/panels/search_bar.h"
#include "ui/panels/sidebar.h"
#include "ui/runs/measurements.h"
#include "ui/timeline/legend.h"
#include "ui/timeline/timeline.h"
#include "ui/window/preferences.h"

#include <glib/gi18n.h>

/* --- what the window does itself -------------------------------------------------------------- */

static void do_legend(WsWindow *w)
{
    ws_legend_present(GTK_WINDOW(w));
}

static void do_pin_run(WsWindow *w)
{
    ws_document_pin_run(w->document);
}

static void do_flip_run(WsWindow *w)
{
    ws_document_flip_run(w->document);
}

static void show_panel(WsWindow *w, gint part)
{
    ws_window_show_panel(w, (WsPart)part);
}

static void do_compare_saved(WsWindow *w)
{
    if (ws_document_compare_saved(w->document))
        ws_window_show_panel(w, WS_PART_COMPARE);
    else
        ws_window_say(w, GTK_MESSAGE_INFO, _("This design was never saved"),
                      _("Save it, or choose a state of the undo history to compare with."));
}

static void do_compare_state(WsWindow *w)
{
    ws_window_show_panel(w, WS_PART_COMPARE);
    ws_compare_panel_choose(WS_COMPARE_PANEL(w->part[WS_PART_COMPARE]));
}

static void do_compare_flip(WsWindow *w)
{
    ws_document_flip_designs(w->document);
}

static void do_compare_stop(WsWindow *w)
{
    ws_document_compare_with(w->document, NULL, NULL);
}

static void do_remove_trace(WsWindow *w)
{
    ws_document_take_measured(w->document, NULL);
}

static void reload(WsWindow *w, gboolean safe, gpointer data)
{
    const WsSource *source = ws_document_source(w->document);
    GFile *file = ws_document_file(w->document);
    if (!file && source)
        file = source->file;
    g_autoptr(GFile) kept = file ? g_object_ref(file) : NULL;
    if (kept && safe)
        ws_window_open(w, kept);
}

static void do_reload(WsWindow *w)
{
    ws_window_when_safe(w, FALSE, reload, NULL);
}

static void do_new_window(WsWindow *w)
{
    gtk_window_present(GTK_WINDOW(ws_window_new(gtk_window_get_application(GTK_WINDOW(w)))));
}

static void do_same_window(WsWindow *w)
{
    GtkApplication *application = gtk_window_get_application(GTK_WINDOW(w));
    gtk_window_present(GTK_WINDOW(ws_window_new_on(application, w->document)));
}

static void do_swap_wheel(WsWindow *w)
{
    if (ws_settings())
        g_settings_set_boolean(ws_settings(), "swap-wheel",
                               !ws_settings_boolean("swap-wheel", FALSE));
}

static void do_close(WsWindow *w)
{
    gtk_window_close(GTK_WINDOW(w));
}

static void do_quit(WsWindow *w)
{
    GtkApplication *application = gtk_window_get_application(GTK_WINDOW(w));
    GList *all = g_list_copy_deep(gtk_application_get_windows(application),
                                  (GCopyFunc)(void (*)(void))g_object_ref, NULL);
    for (GList *l = all; l; l = l->next)
        gtk_window_close(l->data);
    g_list_free_full(all, g_object_unref);
}

static void do_fullscreen(WsWindow *w)
{
    if (gtk_window_is_fullscreen(GTK_WINDOW(w)))
        gtk_window_unfullscreen(GTK_WINDOW(w));
    else
        gtk_window_fullscreen(GTK_WINDOW(w));
}

static void do_search(WsWindow *w)
{
    ws_search_bar_open(WS_SEARCH_BAR(w->part[WS_PART_SEARCH]));
}

static void do_show_source(WsWindow *w)
{
    ws_code_panel_show(WS_CODE_PANEL(w->part[WS_PART_CODE]), WS_CODE_SOURCE);
    ws_window_show_panel(w, WS_PART_CODE);
}

static void do_show_next(WsWindow *w)
{
    ws_measurements_show(WS_MEASUREMENTS(w->part[WS_PART_MEASUREMENTS]), "next");
    ws_window_show_panel(w, WS_PART_MEASUREMENTS);
}

static void do_toggle_path(WsWindow *w)
{
    ws_document_show_path(w->document, !ws_document_path_shown(w->document));
}

static void toggle(WsWindow *w, gint pane)
{
    ws_window_want_pane(w, (WsPaneKind)pane, !ws_window_pane_shown(w, (WsPaneKind)pane));
}

static void do_focus_score(WsWindow *w)
{
    GtkWidget *score = w->part[WS_PART_TIMELINE];
    if (!gtk_widget_grab_focus(score))
        gtk_widget_child_focus(score, GTK_DIR_TAB_FORWARD);
}

static void do_focus_structure(WsWindow *w)
{
    ws_window_want_pane(w, WS_PANE_SIDEBAR, TRUE);
    gtk_widget_grab_focus(ws_sidebar_structure(w->sidebar));
}

static void do_focus_inspector(WsWindow *w)
{
    ws_window_want_pane(w, WS_PANE_INSPECTOR, TRUE);
    gtk_widget_child_focus(w->part[WS_PART_INSPECTOR], GTK_DIR_TAB_FORWARD);
}

static void do_palette(WsWindow *w)
{
    if (w->palette) {
        gtk_window_present(w->palette);
        return;
    }
    w->palette = GTK_WINDOW(ws_command_palette_new(w));
    g_object_add_weak_pointer(G_OBJECT(w->palette), (gpointer *)&w->palette);
    gtk_window_present(w->palette);
}

static void do_shortcuts(WsWindow *w)
{
    gtk_window_present(GTK_WINDOW(ws_shortcuts_new(GTK_WINDOW(w))));
}

static void do_help(WsWindow *w)
{
    ws_help_show(gtk_window_get_application(GTK_WINDOW(w)), NULL);
}

static void do_about(WsWindow *w)
{
    gtk_show_about_dialog(GTK_WINDOW(w), "program-name", _("Warpstave"), "version",
                          WARPSTAVE_VERSION, "logo-icon-name", WS_APPLICATION_ID, "comments",
                          _("See, check and measure software pipelines of GPU kernels"),
                          "license-type", GTK_LICENSE_MIT_X11, NULL);
}

static void choose_theme(WsWindow *w, gint choice)
{
    ws_theme_choose((WsThemeChoice)choice);
    ws_window_update_actions(w);
}

static const WsCommand handler[] = {
    { "new", ws_window_do_new },
    { "open", .with = ws_window_choose_file, .value = FALSE },
    { "save", ws_window_do_save },
    { "save-as", ws_window_save_as },
    { "toggle-sidebar", .with = toggle, .value = WS_PANE_SIDEBAR },
    { "focus-structure", do_focus_structure },
    { "focus-inspector", do_focus_inspector },
    { "open-trace", .with = ws_window_choose_file, .value = TRUE },
    { "machine", ws_window_choose_machine },
    { "machine-built-in", ws_window_machine_built_in },
    { "pin-run", do_pin_run },
    { "flip-run", do_flip_run },
    { "remove-trace", do_remove_trace },
    { "reload", do_reload },
    { "compare-saved", do_compare_saved },
    { "compare-file", ws_window_choose_other_design },
    { "compare-state", do_compare_state },
    { "compare-flip", do_compare_flip },
    { "compare-stop", do_compare_stop },
    { "show-differences", .with = show_panel, .value = WS_PART_COMPARE },
    { "export-picture", ws_window_choose_picture },
    { "export-trace", ws_window_choose_trace_export },
    { "export-code", ws_export_dialog_show },
    { "new-window", do_new_window },
    { "same-window", do_same_window },
    { "close", do_close },
    { "quit", do_quit },
    { "theme-system", .with = choose_theme, .value = WS_CHOICE_SYSTEM },
    { "theme-light", .with = choose_theme, .value = WS_CHOICE_LIGHT },
    { "theme-dark", .with = choose_theme, .value = WS_CHOICE_DARK },
    { "theme-contrast", .with = choose_theme, .value = WS_CHOICE_CONTRAST },
    { "swap-wheel", do_swap_wheel },
    { "fullscreen", do_fullscreen },
    { "search", do_search },
    { "show-problems", .with = show_panel, .value = WS_PART_PROBLEMS },
    { "show-code", .with = show_panel, .value = WS_PART_CODE },
    { "show-source", do_show_source },
    { "show-measurements", .with = show_panel, .value = WS_PART_MEASUREMENTS },
    { "show-idle", .with = show_panel, .value = WS_PART_IDLE },
    { "show-schedules", .with = show_panel, .value = WS_PART_SCHEDULES },
    { "show-stages", .with = show_panel, .value = WS_PART_STAGES },
    { "show-next", do_show_next },
    { "toggle-path", do_toggle_path },
    { "legend", do_legend },
    { "show-resources", .with = show_panel, .value = WS_PART_RESOURCES },
    { "show-witness", .with = show_panel, .value = WS_PART_WITNESS },
    { "toggle-inspector", .with = toggle, .value = WS_PANE_INSPECTOR },
    { "toggle-panels", .with = toggle, .value = WS_PANE_PANELS },
    { "detach-panel", ws_window_detach_panel },
    { "focus-score", do_focus_score },
    { "preferences", ws_preferences_show },
    { "palette", do_palette },
    { "shortcuts", do_shortcuts },
    { "help", do_help },
    { "about", do_about },
};

const WsCommand *ws_command_find(const WsCommand *all, guint n, const char *name)
{
    for (guint i = 0; i < n; i++)
        if (!strcmp(all[i].name, name))
            return &all[i];
    return NULL;
}

void ws_command_run(const WsCommand *command, WsWindow *w)
{
    if (command && command->with)
        command->with(w, command->value);
    else if (command)
        command->run(w);
}

/* --- from the table to GActions --------------------------------------------------------------- */

static void set_marks(WsWindow *w);

static void run_action(GSimpleAction *simple, GVariant *parameter, gpointer data)
{
    g_autoptr(WsWindow) w = g_object_ref(data); /* the command may close it */
    const WsAction *action = ws_action_find(g_action_get_name(G_ACTION(simple)));
    if (w->importing && !strcmp(action->name, "cancel")) {
        ws_window_stop_import(w);
        return;
    }
    if (action->part == WS_PART_EDIT) {
        ws_edit_command(w, action->name);
        ws_window_update_actions(w);
        return;
    }
    if (action->part != WS_PART_SELF) {
        g_autofree char *name = g_strdup_printf("%s.%s", ws_part_name(action->part), action->name);
        if (!gtk_widget_activate_action(w->part[action->part], name, NULL))
            g_debug("%s is off", name);
        ws_window_update_actions(w);
        return;
    }
    const WsCommand *command = ws_command_find(handler, G_N_ELEMENTS(handler), action->name);
    ws_command_run(command, w);
    set_marks(w);
}

static gboolean met(WsWindow *w, WsNeeds needs)
{
    WsDocument *d = w->document;
    gint64 from, to;
    gboolean busy = FALSE;
    if (needs == WS_NEEDS_IDLE || needs == WS_NEEDS_BUSY)
        g_object_get(w->part[WS_PART_JOBS], "busy", &busy, NULL);
    switch (needs) {
    case WS_NEEDS_DESIGN:
        return ws_document_design(d) != NULL;
    case WS_NEEDS_PROGRAM:
        return ws_document_program(d) != NULL;
    case WS_NEEDS_SELECTION:
        return ws_document_selection(d)->len > 0;
    case WS_NEEDS_RANGE:
        return ws_document_range(d, &from, &to);
    case WS_NEEDS_MEASURED:
        return ws_document_measured(d) != NULL;
    case WS_NEEDS_MACHINE:
        return ws_document_design(d) && ws_document_machine_chosen(d);
    case WS_NEEDS_PINNED:
        return ws_document_measured(d) && ws_document_pinned_run(d) &&
               ws_document_pinned_run(d) != ws_document_measured(d);
    case WS_NEEDS_COMPARED:
        return ws_document_comparing(d);
    case WS_NEEDS_IDLE:
        return ws_document_program(d) && !busy;
    case WS_NEEDS_BUSY:
        return busy || w->importing;
    case WS_NEEDS_SOURCE:
        return ws_document_source(d) != NULL;
    case WS_NEEDS_PROBLEM:
        return ws_document_findings(d) && ws_document_findings(d)->list->len > 0;
    case WS_NEEDS_UNDO:
        return ws_history_undo_name(ws_document_history(d)) != NULL;
    case WS_NEEDS_REDO:
        return ws_history_redo_name(ws_document_history(d)) != NULL;
    case WS_NEEDS_COUNT:
    case WS_NEEDS_NOTHING:
    default:
        return TRUE;
    }
}

static GSimpleAction *simple_action(WsWindow *w, const char *name)
{
    return G_SIMPLE_ACTION(g_action_map_lookup_action(G_ACTION_MAP(w), name));
}

/* Commands that are on or off: a mark in the menu says which. */
static gboolean is_theme(WsWindow *w, guint row)
{
    return ws_theme_choice() == (WsThemeChoice)row;
}

static gboolean shows_inspector(WsWindow *w, guint row)
{
    return ws_window_pane_shown(w, WS_PANE_INSPECTOR);
}

static gboolean shows_sidebar(WsWindow *w, guint row)
{
    return ws_window_pane_shown(w, WS_PANE_SIDEBAR);
}

static gboolean shows_panels(WsWindow *w, guint row)
{
    return ws_window_pane_shown(w, WS_PANE_PANELS);
}

static gboolean swaps_wheel(WsWindow *w, guint row)
{
    return ws_settings_boolean("swap-wheel", FALSE);
}

static gboolean is_linked(WsWindow *w, guint row)
{
    return ws_timeline_linked(WS_TIMELINE(w->part[WS_PART_TIMELINE]));
}

static gboolean shows_path(WsWindow *w, guint row)
{
    return ws_document_path_shown(w->document);
}

static const struct {
    const char *name;
    gboolean (*on)(WsWindow *, guint row);
} marked[] = {
    { "theme-system", is_theme },
    { "theme-light", is_theme },
    { "theme-dark", is_theme },
    { "theme-contrast", is_theme },
    { "toggle-inspector", shows_inspector },
    { "toggle-panels", shows_panels },
    { "toggle-sidebar", shows_sidebar },
    { "swap-wheel", swaps_wheel },
    { "link-views", is_linked },
    { "toggle-path", shows_path },
};

static gboolean has_mark(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(marked); i++)
        if (!strcmp(marked[i].name, name))
            return TRUE;
    return FALSE;
}

static void set_marks(WsWindow *w)
{
    for (guint i = 0; w->detached && i < G_N_ELEMENTS(marked); i++)
        g_simple_action_set_state(simple_action(w, marked[i].name),
                                  g_variant_new_boolean(marked[i].on(w, i)));
}

void ws_window_update_actions(WsWindow *w)
{
    guint n;
    const WsAction *action = ws_actions(&n);
    for (guint i = 0; i < n; i++)
        g_simple_action_set_enabled(simple_action(w, action[i].name), met(w, action[i].needs));
    set_marks(w);
}

static void open_file(GSimpleAction *simple, GVariant *parameter, gpointer data)
{
    g_autoptr(GFile) file = g_file_new_for_uri(g_variant_get_string(parameter, NULL));
    ws_window_open_safely(data, file);
}

static void compare_state_at(GSimpleAction *simple, GVariant *parameter, gpointer data)
{
    WsWindow *w = data;
    if (ws_document_compare_state(w->document, g_variant_get_uint32(parameter)))
        ws_window_show_panel(w, WS_PART_COMPARE);
}

static void theme_changed(GObject *watch, WsWindow *w)
{
    set_marks(w);
}

void ws_window_add_actions(WsWindow *w)
{
    guint n;
    const WsAction *action = ws_actions(&n);
    for (guint i = 0; i < n; i++) {
        gboolean stateful = has_mark(action[i].name);
        g_autoptr(GSimpleAction) simple =
            stateful
                ? g_simple_action_new_stateful(action[i].name, NULL, g_variant_new_boolean(FALSE))
                : g_simple_action_new(action[i].name, NULL);
        g_signal_connect_object(simple, "activate", G_CALLBACK(run_action), w, 0);
        g_action_map_add_action(G_ACTION_MAP(w), G_ACTION(simple));
    }
    g_autoptr(GSimpleAction) file = g_simple_action_new("open-file", G_VARIANT_TYPE_STRING);
    g_signal_connect_object(file, "activate", G_CALLBACK(open_file), w, 0);
    g_action_map_add_action(G_ACTION_MAP(w), G_ACTION(file));
    g_autoptr(GSimpleAction) state = g_simple_action_new("compare-state-at", G_VARIANT_TYPE_UINT32);
    g_signal_connect_object(state, "activate", G_CALLBACK(compare_state_at), w, 0);
    g_action_map_add_action(G_ACTION_MAP(w), G_ACTION(state));
    g_signal_connect_object(ws_theme_watch(), "changed", G_CALLBACK(theme_changed), w, 0);
}
