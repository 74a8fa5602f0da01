/* The table of commands against what the window, its parts, the shortcuts window and the palette
 * make of it. Needs a display (Xvfb). */
#include "ui/app/actions.h"
#include "ui/app/application.h"
#include "ui/app/command_palette.h"
#include "ui/app/menus.h"
#include "ui/app/settings.h"
#include "ui/app/shortcuts.h"
#include "ui/app/theme.h"
#include "ui/compose/edit_commands.h"
#include "ui/window/window_private.h"

#include "scenario/scenario.h"

#include <glib/gstdio.h>
#include <string.h>

static WsApplication *application;
static WsWindow *window;

/* What was changed is on screen; what comes later still is waited for by name. */
static void settle(void)
{
    scenario_settle(GTK_WIDGET(window));
}

static void open_shipped(void)
{
    g_autoptr(GFile) file = g_file_new_for_path(WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave");
    g_assert_true(ws_window_open(window, file));
    settle();
}

/* --- the table alone -------------------------------------------------------------------------- */

static void names_and_texts(void)
{
    guint n;
    const WsAction *action = ws_actions(&n);
    g_assert_cmpuint(n, >, 40);
    for (guint i = 0; i < n; i++) {
        g_assert_true(g_action_name_is_valid(action[i].name));
        g_assert_true(ws_action_find(action[i].name) == &action[i]);
        g_assert_cmpstr(ws_action_label(&action[i]), !=, "");
        g_assert_cmpstr(ws_action_help(&action[i]), !=, "");
        g_assert_cmpuint(action[i].part, <, WS_PART_COUNT);
    }
    g_assert_null(ws_action_find("no-such-command"));
}

static void note_keys(GHashTable *seen, const char *keys, const char *scope, const char *name)
{
    g_auto(GStrv) part = g_strsplit(keys, " ", -1);
    for (guint i = 0; part[i]; i++) {
        guint key;
        GdkModifierType modifiers;
        if (!*part[i])
            continue;
        if (!gtk_accelerator_parse(part[i], &key, &modifiers) || !key)
            g_error("%s: '%s' is no key", name, part[i]);
        char *id = g_strdup_printf("%s %u %u", scope, key, (guint)modifiers);
        if (g_hash_table_contains(seen, id))
            g_error("%s: %s is taken by %s", name, part[i],
                    (const char *)g_hash_table_lookup(seen, id));
        g_hash_table_insert(seen, id, (gpointer)name);
    }
}

static void keys_are_unique(void)
{
    guint n;
    const WsAction *action = ws_actions(&n);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < n; i++) {
        note_keys(seen, action[i].accels, "window", action[i].name);
        note_keys(seen, action[i].keys, ws_part_name(action[i].part), action[i].name);
        if (action[i].part == WS_PART_SELF)
            g_assert_cmpstr(action[i].keys, ==, ""); /* the window binds accels only */
    }
}

/* --- the window ------------------------------------------------------------------------------- */

static gboolean part_does(const WsAction *action)
{
    if (action->part == WS_PART_EDIT) /* no widget of its own */
        return ws_edit_has_command(action->name);
    GtkWidgetClass *class = GTK_WIDGET_GET_CLASS(ws_window_part(window, action->part));
    g_autofree char *wanted = g_strdup_printf("%s.%s", ws_part_name(action->part), action->name);
    GType owner;
    const char *name, *property;
    const GVariantType *type;
    for (guint i = 0; gtk_widget_class_query_action(class, i, &owner, &name, &type, &property); i++)
        if (!strcmp(name, wanted))
            return TRUE;
    return FALSE;
}

static void every_command_is_done_by_somebody(void)
{
    guint n;
    const WsAction *action = ws_actions(&n);
    for (guint i = 0; i < n; i++) {
        if (!g_action_group_has_action(G_ACTION_GROUP(window), action[i].name))
            g_error("win.%s is missing", action[i].name);
        if (action[i].part != WS_PART_SELF && !part_does(&action[i]))
            g_error("%s has no action %s", ws_part_name(action[i].part), action[i].name);
    }
}

static void accels_are_set(void)
{
    guint n;
    const WsAction *action = ws_actions(&n);
    for (guint i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("win.%s", action[i].name);
        g_auto(GStrv) set =
            gtk_application_get_accels_for_action(GTK_APPLICATION(application), name);
        g_auto(GStrv) wanted = g_strsplit(action[i].accels, " ", -1);
        g_assert_cmpuint(g_strv_length(set), ==, *action[i].accels ? g_strv_length(wanted) : 0);
    }
}

static void enabled_follows_the_document(void)
{
    GActionGroup *group = G_ACTION_GROUP(window);
    g_assert_null(ws_document_design(ws_window_document(window)));
    g_assert_false(g_action_group_get_action_enabled(group, "generate"));
    g_assert_false(g_action_group_get_action_enabled(group, "zoom-in"));
    g_assert_true(g_action_group_get_action_enabled(group, "open"));
    open_shipped();
    g_assert_true(g_action_group_get_action_enabled(group, "generate"));
    g_assert_true(g_action_group_get_action_enabled(group, "zoom-in"));
    g_assert_false(g_action_group_get_action_enabled(group, "remove-trace"));
    g_assert_false(g_action_group_get_action_enabled(group, "select-upstream"));
    g_assert_false(g_action_group_get_action_enabled(group, "cancel"));
    ws_document_select_all(ws_window_document(window));
    g_assert_true(g_action_group_get_action_enabled(group, "select-upstream"));
}

/* --- menus, shortcuts, palette ---------------------------------------------------------------- */

static void collect_menu(GMenuModel *model, GHashTable *names)
{
    for (int i = 0; i < g_menu_model_get_n_items(model); i++) {
        g_autofree char *target = NULL;
        if (g_menu_model_get_item_attribute(model, i, "action", "s", &target))
            g_hash_table_add(names, g_strdup(target));
        g_autoptr(GMenuLinkIter) links = g_menu_model_iterate_item_links(model, i);
        while (g_menu_link_iter_next(links)) {
            g_autoptr(GMenuModel) next = g_menu_link_iter_get_value(links);
            collect_menu(next, names);
        }
    }
}

static void menus_hold_every_command(void)
{
    guint n;
    const WsAction *action = ws_actions(&n);
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GMenuModel) primary = ws_menu_primary();
    g_autoptr(GMenuModel) colours = ws_menu_colours();
    collect_menu(primary, names);
    collect_menu(colours, names);
    for (guint i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("win.%s", action[i].name);
        if (!g_hash_table_contains(names, name))
            g_error("%s is in no menu", name);
    }
    g_assert_cmpuint(g_hash_table_size(names), ==, n);
}

/* Entries that one sees at once: its own and those of its groups; submenus count as one. */
static guint menu_length(GMenuModel *model)
{
    guint n = 0;
    for (int i = 0; i < g_menu_model_get_n_items(model); i++) {
        g_autoptr(GMenuModel) section = g_menu_model_get_item_link(model, i, G_MENU_LINK_SECTION);
        g_autoptr(GMenuModel) below = g_menu_model_get_item_link(model, i, G_MENU_LINK_SUBMENU);
        n += section ? menu_length(section) : 1;
        if (below)
            g_assert_cmpuint(menu_length(below), <=, 14);
    }
    return n;
}

static void menus_are_short(void)
{
    g_autoptr(GMenuModel) primary = ws_menu_primary();
    g_assert_cmpuint(menu_length(primary), <=, 21);
}

static void collect(GtkWidget *widget, GType type, GPtrArray *found)
{
    if (g_type_is_a(G_OBJECT_TYPE(widget), type))
        g_ptr_array_add(found, widget);
    for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
         child = gtk_widget_get_next_sibling(child))
        collect(child, type, found);
}

/* I57: the shortcuts window lists every key. */
static void i57_shortcuts_are_complete(void)
{
    guint n, keyed = 0;
    const WsAction *action = ws_actions(&n);
    GtkWidget *shortcuts = ws_shortcuts_new(GTK_WINDOW(window));
    g_autoptr(GPtrArray) rows = g_ptr_array_new();
    g_autoptr(GHashTable) shown = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    gtk_window_present(GTK_WINDOW(shortcuts));
    settle();
    collect(shortcuts, GTK_TYPE_SHORTCUTS_SHORTCUT, rows);
    for (guint i = 0; i < rows->len; i++) {
        char *title, *accelerator;
        g_object_get(g_ptr_array_index(rows, i), "title", &title, "accelerator", &accelerator,
                     NULL);
        g_hash_table_insert(shown, title, accelerator);
    }
    for (guint i = 0; i < n; i++) {
        g_autofree char *keys =
            g_strstrip(g_strdup_printf("%s %s", action[i].accels, action[i].keys));
        keyed += *keys != '\0';
        if (*keys)
            g_assert_cmpstr(g_hash_table_lookup(shown, ws_action_label(&action[i])), ==, keys);
    }
    g_assert_cmpuint(g_hash_table_size(shown), ==, keyed); /* the search page has each again */
    gtk_window_destroy(GTK_WINDOW(shortcuts));
    settle();
}

static guint visible_rows(GtkWidget *palette, GtkListBoxRow **selected)
{
    g_autoptr(GPtrArray) lists = g_ptr_array_new();
    guint count = 0;
    GtkListBoxRow *row;
    collect(palette, GTK_TYPE_LIST_BOX, lists);
    g_assert_cmpuint(lists->len, ==, 1);
    GtkListBox *list = g_ptr_array_index(lists, 0);
    for (int i = 0; (row = gtk_list_box_get_row_at_index(list, i)); i++)
        count += gtk_widget_get_child_visible(GTK_WIDGET(row));
    *selected = gtk_list_box_get_selected_row(list);
    return count;
}

/* I58: the palette finds commands by name and runs one. */
static void i58_palette_finds_and_runs(void)
{
    guint n;
    GtkListBoxRow *selected;
    g_autoptr(GPtrArray) entries = g_ptr_array_new();
    ws_actions(&n);
    open_shipped();
    g_action_group_activate_action(G_ACTION_GROUP(window), "palette", NULL);
    settle();
    GListModel *all = gtk_window_get_toplevels();
    GtkWidget *palette = NULL;
    for (guint i = 0; i < g_list_model_get_n_items(all); i++) {
        g_autoptr(GtkWidget) top = g_list_model_get_item(all, i);
        if (gtk_widget_has_css_class(top, "ws-palette"))
            palette = top;
    }
    g_assert_nonnull(palette);
    g_assert_cmpuint(visible_rows(palette, &selected), ==, n - 1);
    collect(palette, GTK_TYPE_SEARCH_ENTRY, entries);
    gtk_editable_set_text(g_ptr_array_index(entries, 0), "zzz no such");
    WAIT_FOR(visible_rows(palette, &selected) == 0);
    gtk_editable_set_text(g_ptr_array_index(entries, 0), "select ALL");
    WAIT_FOR(visible_rows(palette, &selected) >= 1 && selected);
    ws_document_select(ws_window_document(window), NULL, WS_SELECT_REPLACE, FALSE);
    g_signal_emit_by_name(g_ptr_array_index(entries, 0), "activate");
    WAIT_FOR(ws_document_selection(ws_window_document(window))->len > 3);
}

/* --- running them ----------------------------------------------------------------------------- */

/* Those that open a dialogue, start work, or end the window. */
static gboolean harmless(const char *name)
{
    static const char *const others[] = { "open",         "open-trace",   "export-picture",
                                          "export-trace", "new-window",   "close",
                                          "quit",         "generate",     "rehearse",
                                          "run",          "run-on",       "bundle",
                                          "cancel",       "palette",      "shortcuts",
                                          "same-window",  "detach-panel", "about",
                                          "fullscreen",   "machine",      NULL };
    return !g_strv_contains(others, name);
}

static void every_harmless_command_runs(void)
{
    guint n, run = 0;
    const WsAction *action = ws_actions(&n);
    open_shipped();
    for (guint i = 0; i < n; i++) {
        if (!harmless(action[i].name))
            continue;
        g_action_group_activate_action(G_ACTION_GROUP(window), action[i].name, NULL);
        settle();
        g_assert_true(gtk_widget_get_mapped(GTK_WIDGET(window)));
        run++;
    }
    g_assert_cmpuint(run, >, 25);
    g_assert_nonnull(ws_document_design(ws_window_document(window)));
}

/* I51: a panel in a window of its own, and back; one more window on the same document. */
static void i51_detached_panel(void)
{
    GtkWidget *panel = ws_window_part(window, WS_PART_RESOURCES);
    open_shipped();
    g_action_group_activate_action(G_ACTION_GROUP(window), "show-resources", NULL);
    g_assert_true(gtk_widget_get_root(panel) == GTK_ROOT(window));
    g_action_group_activate_action(G_ACTION_GROUP(window), "detach-panel", NULL);
    WAIT_FOR(gtk_widget_get_root(panel) != GTK_ROOT(window) && gtk_widget_get_mapped(panel));
    gtk_window_close(GTK_WINDOW(gtk_widget_get_root(panel)));
    WAIT_FOR(gtk_widget_get_root(panel) == GTK_ROOT(window));
}

static void i51_two_windows_on_one_design(void)
{
    open_shipped();
    guint before = g_list_length(gtk_application_get_windows(GTK_APPLICATION(application)));
    g_action_group_activate_action(G_ACTION_GROUP(window), "same-window", NULL);
    settle();
    GList *all = gtk_application_get_windows(GTK_APPLICATION(application));
    WsWindow *second = all->data;
    g_assert_cmpuint(g_list_length(all), ==, before + 1);
    g_assert_true(WS_IS_WINDOW(second) && second != window);
    g_assert_true(ws_window_document(second) == ws_window_document(window));
    ws_document_select_all(ws_window_document(second));
    g_assert_true(g_action_group_get_action_enabled(G_ACTION_GROUP(window), "select-none"));
    gtk_window_close(GTK_WINDOW(second));
    settle();
    g_assert_nonnull(ws_document_design(ws_window_document(window)));
}

/* I47, I49: what is saved has the form that its ending says; another ending is refused. */
static void i47_i49_exports(void)
{
    static const struct {
        const char *ending, *begins;
        gboolean picture;
    } row[] = { { "svg", "<?xml", TRUE }, { "pdf", "%PDF", TRUE }, { "png", "\211PNG", TRUE },
                { "json", "{", FALSE },   { "csv", "", FALSE },    { "wtrace", "", FALSE },
                { "doc", NULL, TRUE },    { "doc", NULL, FALSE } };
    g_autofree char *folder = g_dir_make_tmp("warpstave-export-XXXXXX", NULL);
    open_shipped();
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autofree char *name = g_strdup_printf("out.%s", row[i].ending);
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autoptr(GFile) file = g_file_new_for_path(path);
        g_autofree char *text = NULL;
        gsize length = 0;
        gboolean ok = row[i].picture ? ws_window_export_picture(window, file)
                                     : ws_window_export_trace(window, file);
        g_assert_cmpint(ok, ==, row[i].begins != NULL);
        g_assert_cmpint(g_file_get_contents(path, &text, &length, NULL), ==, ok);
        if (ok)
            g_assert_cmpuint(length, >, 200);
        if (ok)
            g_assert_true(g_str_has_prefix(text, row[i].begins));
        if (ok && !strcmp(row[i].ending, "wtrace"))
            g_assert_true(ws_window_open_trace(window, file));
        g_remove(path);
    }
    g_rmdir(folder);
}

/* I43: a change by another program is offered for reading again, and read on request. */
static void i43_changed_file(void)
{
    g_autofree char *folder = g_dir_make_tmp("warpstave-watch-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "design.wstave", NULL);
    g_autofree char *text = NULL;
    g_assert_true(
        g_file_get_contents(WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave", &text, NULL, NULL));
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_assert_true(ws_window_open(window, file));
    settle();
    g_assert_false(gtk_info_bar_get_revealed(window->error_bar));
    g_autoptr(GString) changed = g_string_new(text);
    g_assert_cmpuint(g_string_replace(changed, "cooperative", "changed meanwhile", 0), >, 0);
    g_assert_true(g_file_set_contents(path, changed->str, -1, NULL));
    WAIT_FOR(gtk_info_bar_get_revealed(window->error_bar));
    g_assert_true(gtk_widget_get_visible(window->reload_button));
    g_autofree char *before = ws_document_title(ws_window_document(window));
    g_assert_null(strstr(before, "meanwhile"));
    g_signal_emit_by_name(window->reload_button, "clicked");
    WAIT_FOR(!gtk_info_bar_get_revealed(window->error_bar));
    g_autofree char *after = ws_document_title(ws_window_document(window));
    g_assert_nonnull(strstr(after, "meanwhile"));
    g_remove(path);
    g_rmdir(folder);
    open_shipped();
}

/* What a job has made comes to the front. */
static void results_come_to_the_front(void)
{
    WsDocument *document = ws_window_document(window);
    open_shipped();
    g_assert_true(gtk_widget_get_mapped(ws_window_part(window, WS_PART_MEASUREMENTS)));
    ws_document_take_code(document, WS_CODE_PTX, g_strdup("// ptx\n"));
    WAIT_FOR(gtk_widget_get_mapped(ws_window_part(window, WS_PART_CODE)));
    ws_document_take_result(document, WS_RESULT_REHEARSAL, TRUE, g_strdup("every value right"));
    WAIT_FOR(gtk_widget_get_mapped(ws_window_part(window, WS_PART_MEASUREMENTS)));
}

/* A closed window takes its document, design and traces along. */
static void closed_windows_are_freed(void)
{
    g_autoptr(GFile) file = g_file_new_for_path(WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave");
    WsWindow *other = ws_window_new(GTK_APPLICATION(application));
    gpointer watched[] = { other, ws_window_document(other) };
    for (guint i = 0; i < G_N_ELEMENTS(watched); i++)
        g_object_add_weak_pointer(watched[i], &watched[i]);
    gtk_window_present(GTK_WINDOW(other));
    g_assert_true(ws_window_open(other, file));
    settle();
    ws_document_select_all(ws_window_document(other));
    g_action_group_activate_action(G_ACTION_GROUP(other), "detach-panel", NULL);
    settle();
    gtk_window_close(GTK_WINDOW(other));
    WAIT_FOR(!watched[0] && !watched[1]);
}

/* I52: light, dark, high contrast; the choice is kept. GTK_THEME (main) is what the system says, no
 * more: GTK's own widgets follow the choice, too. */
static void i52_themes(void)
{
    static const struct {
        const char *action;
        WsThemeChoice choice;
        WsTheme theme;
        gboolean contrast;
    } row[] = { { "theme-dark", WS_CHOICE_DARK, WS_THEME_DARK, FALSE },
                { "theme-light", WS_CHOICE_LIGHT, WS_THEME_LIGHT, FALSE },
                { "theme-contrast", WS_CHOICE_CONTRAST, WS_THEME_DARK_CONTRAST, TRUE },
                { "theme-system", WS_CHOICE_SYSTEM, WS_THEME_DARK, FALSE } };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_action_group_activate_action(G_ACTION_GROUP(window), row[i].action, NULL);
        settle();
        g_assert_cmpint(ws_theme_choice(), ==, row[i].choice);
        g_assert_cmpint(ws_theme_current(), ==, row[i].theme);
        g_assert_cmpint(ws_theme_high_contrast(), ==, row[i].contrast);
        GdkRGBA ink;
        gtk_style_context_get_color(gtk_widget_get_style_context(GTK_WIDGET(window)), &ink);
        if (row[i].theme == WS_THEME_DARK || row[i].contrast)
            g_assert_cmpfloat(ink.red, >, 0.6);
        else
            g_assert_cmpfloat(ink.red, <, 0.4);
        g_autoptr(GVariant) state =
            g_action_group_get_action_state(G_ACTION_GROUP(window), row[i].action);
        g_assert_true(g_variant_get_boolean(state));
        g_assert_nonnull(ws_settings());
        g_assert_cmpint(g_settings_get_enum(ws_settings(), "theme"), ==, (int)row[i].choice);
    }
}

static GtkLabel *cut_label(const GPtrArray *labels)
{
    for (guint i = 0; i < labels->len; i++) {
        GtkWidget *label = g_ptr_array_index(labels, i);
        int lines;
        if (!gtk_widget_get_mapped(label) || gtk_widget_get_height(label) == 0)
            continue;
        pango_layout_get_pixel_size(gtk_label_get_layout(GTK_LABEL(label)), NULL, &lines);
        if (gtk_widget_get_height(label) < lines)
            return GTK_LABEL(label);
    }
    return NULL;
}

/* I54: at twice the text size the window still fits its screen, and every label its place. */
static void i54_text_at_200_percent(void)
{
    int width, height, before;
    GtkSettings *settings = gtk_settings_get_default();
    open_shipped();
    g_object_get(settings, "gtk-xft-dpi", &before, NULL);
    g_object_set(settings, "gtk-xft-dpi", 2 * 96 * 1024, NULL);
    settle();
    gtk_widget_measure(GTK_WIDGET(window), GTK_ORIENTATION_HORIZONTAL, -1, &width, NULL, NULL,
                       NULL);
    gtk_widget_measure(GTK_WIDGET(window), GTK_ORIENTATION_VERTICAL, -1, &height, NULL, NULL, NULL);
    for (WsPart part = WS_PART_SELF + 1; part < WS_PART_COUNT; part++) {
        int needed;
        if (!ws_window_part(window, part))
            continue;
        gtk_widget_measure(ws_window_part(window, part), GTK_ORIENTATION_HORIZONTAL, -1, &needed,
                           NULL, NULL, NULL);
        g_test_message("%s needs %d pixels in width", ws_part_name(part), needed);
    }
    g_assert_cmpint(width, <=, 1600);
    g_assert_cmpint(height, <=, 900);
    g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func(g_object_unref);
    collect(GTK_WIDGET(window), GTK_TYPE_LABEL, labels);
    for (guint i = 0; i < labels->len; i++)
        g_object_ref(labels->pdata[i]); /* a row may be taken away meanwhile */
    g_assert_cmpuint(labels->len, >, 20);
    for (guint i = 0; i < 50 && cut_label(labels); i++)
        settle(); /* a busy machine has not laid it out yet */
    GtkLabel *cut = cut_label(labels);
    if (cut)
        g_error("'%s' is cut: %d pixels", gtk_label_get_text(cut),
                gtk_widget_get_height(GTK_WIDGET(cut)));
    g_object_set(settings, "gtk-xft-dpi", before, NULL);
    settle();
}

static void run_tests(GtkApplication *app, gpointer data)
{
    window = ws_window_new(app);
    gtk_window_present(GTK_WINDOW(window));
    settle();
    *(int *)data = g_test_run();
    /* some commands open windows of their own (help): each would keep the application running */
    for (GList *all; (all = gtk_application_get_windows(app)) != NULL;)
        gtk_window_destroy(all->data);
}

static int command_line(GApplication *app, GApplicationCommandLine *line, gpointer data)
{
    run_tests(GTK_APPLICATION(app), data);
    return 0;
}

int main(int argc, char **argv)
{
    g_setenv("GSETTINGS_BACKEND", "memory", TRUE);
    g_setenv("GTK_THEME", "Adwaita:dark", TRUE);
    ws_theme_take_environment();
    g_test_init(&argc, &argv, NULL);
    scenario_log();
    if (!gtk_init_check()) {
        g_print("1..0 # SKIP no display\n");
        return 0;
    }
    ws_ui_setup();
    g_test_add_func("/actions/names-and-texts", names_and_texts);
    g_test_add_func("/actions/keys-are-unique", keys_are_unique);
    g_test_add_func("/actions/done-by-somebody", every_command_is_done_by_somebody);
    g_test_add_func("/actions/accels", accels_are_set);
    g_test_add_func("/actions/enabled", enabled_follows_the_document);
    g_test_add_func("/actions/menus", menus_hold_every_command);
    g_test_add_func("/actions/menus-are-short", menus_are_short);
    g_test_add_func("/actions/I57-shortcuts", i57_shortcuts_are_complete);
    g_test_add_func("/actions/I58-palette", i58_palette_finds_and_runs);
    g_test_add_func("/actions/run", every_harmless_command_runs);
    g_test_add_func("/actions/I52-themes", i52_themes);
    g_test_add_func("/actions/I51-detached-panel", i51_detached_panel);
    g_test_add_func("/actions/results-come-to-the-front", results_come_to_the_front);
    g_test_add_func("/actions/I43-changed-file", i43_changed_file);
    g_test_add_func("/actions/I47-I49-exports", i47_i49_exports);
    g_test_add_func("/actions/closed-windows-are-freed", closed_windows_are_freed);
    g_test_add_func("/actions/I51-two-windows", i51_two_windows_on_one_design);
    g_test_add_func("/actions/I54-text-200", i54_text_at_200_percent);
    int result = 1;
    char *alone[] = { argv[0], NULL };
    application = ws_application_new(FALSE);
    g_signal_connect(application, "command-line", G_CALLBACK(command_line), &result);
    g_application_run(G_APPLICATION(application), 1, alone);
    g_object_unref(application);
    return result;
}
