/* I56-I62: what is offered can be found, is described, and works by keyboard alone. */
#include "program/op_kind.h"
#include "scenario/scenario.h"
#include "scenario/seen.h"

#include "ui/app/actions.h"

#include <string.h>

static gboolean unnamed_button(GtkWidget *w, gconstpointer data)
{
    if (!gtk_widget_get_mapped(w) || !GTK_IS_BUTTON(w) || gtk_widget_get_tooltip_text(w))
        return FALSE;
    const char *label = gtk_button_get_label(GTK_BUTTON(w));
    if (label && *label)
        return FALSE;
    GtkWidget *part = gtk_widget_get_parent(w); /* arrows inside GTK's own widgets have none */
    return strcmp(G_OBJECT_TYPE_NAME(w), "GtkToggleButton") &&
           strcmp(G_OBJECT_TYPE_NAME(part), "GtkGizmo") &&
           !g_str_has_prefix(gtk_widget_get_css_name(part), "window") && !scenario_find_text(w, "");
}

/* I56: every command says what it does and by which keys; buttons without text have a tooltip. */
static void tooltips(Scenario *s)
{
    guint n;
    const WsAction *action = ws_actions(&n);
    for (guint i = 0; i < n; i++) {
        g_autofree char *tip = ws_action_tooltip(&action[i]),
                        *keys = ws_action_keys_text(&action[i]);
        g_assert_true(g_str_has_prefix(tip, ws_action_help(&action[i])));
        g_assert_true(*ws_action_help(&action[i]));
        g_assert_true(!*keys || strstr(tip, keys));
    }
    GtkWidget *bare = scenario_find(GTK_WIDGET(s->window), unnamed_button, NULL);
    if (bare)
        g_test_message("no tooltip, no text: %s in %s", G_OBJECT_TYPE_NAME(bare),
                       G_OBJECT_TYPE_NAME(gtk_widget_get_parent(bare)));
    g_assert_null(bare);
}

/* I56: what hovers over an execution says its cycles and the id that the generated code uses. */
static void block_tooltip(Scenario *s)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    double ox, oy, x, y, w, h;
    seen_timeline_origin(t, &ox, &oy);
    for (guint i = 0; i < ws_timeline_n_items(t); i++) {
        if (!seen_timeline_item_place(t, i, &x, &y, &w, &h) || w < 20 || x < 0)
            continue;
        scenario_point(s->timeline, ox + x + w / 2, oy + y + h / 2);
        scenario_settle(s->timeline);
        seen_timeline_select_item(t, i);
        break;
    }
    const char *step = ws_document_focus(s->document)->step;
    g_assert_nonnull(step);
    GtkWidget *tip = NULL;
    scenario_xdo("mousemove_relative 1 0");
    WAIT_FOR((tip = scenario_find_text(GTK_WIDGET(s->window), "cycles")));
    /* The tooltip of the place, asked for as GTK does. */
    g_assert_nonnull(tip);
}

static gboolean is_shortcut(GtkWidget *w, gconstpointer data)
{
    return GTK_IS_SHORTCUTS_SHORTCUT(w);
}

/* I57: every key of the table stands in the shortcuts window. */
static void shortcuts(Scenario *s)
{
    scenario_act(s, "shortcuts");
    GtkWindow *window = NULL;
    WAIT_FOR((window = scenario_toplevel("GtkShortcutsWindow")));
    g_autoptr(GPtrArray) row = scenario_find_all(GTK_WIDGET(window), is_shortcut, NULL);
    guint n;
    const WsAction *action = ws_actions(&n);
    for (guint i = 0; i < n; i++) {
        g_autofree char *both =
            g_strstrip(g_strdup_printf("%s %s", action[i].accels, action[i].keys));
        g_auto(GStrv) keys = g_strsplit(both, " ", -1);
        for (guint k = 0; keys[k]; k++) {
            gboolean found = !*keys[k];
            for (guint r = 0; r < row->len && !found; r++) {
                g_autofree char *accelerator = NULL, *title = NULL;
                g_object_get(row->pdata[r], "accelerator", &accelerator, "title", &title, NULL);
                found = accelerator && strstr(accelerator, keys[k]) &&
                        !g_strcmp0(title, ws_action_label(&action[i]));
            }
            if (!found)
                g_test_message("not listed: %s of %s", keys[k], action[i].name);
            g_assert_true(found);
        }
    }
    gtk_window_close(window);
}

/* I58: Ctrl+Shift+P, some letters, Return. */
static void palette(Scenario *s)
{
    GtkWindow *window = NULL;
    scenario_key("ctrl+shift+p");
    GtkWidget *list = NULL;
    GListModel *all = gtk_window_get_toplevels();
    WAIT_FOR(g_list_model_get_n_items(all) == 2);
    for (guint i = 0; i < 2; i++) {
        g_autoptr(GtkWindow) w = g_list_model_get_item(all, i);
        if (GTK_WIDGET(w) != GTK_WIDGET(s->window))
            window = w;
    }
    scenario_settle(GTK_WIDGET(window));
    WAIT_FOR((list = scenario_find_type(GTK_WIDGET(window), "GtkListBox")));
    guint n;
    const WsAction *action = ws_actions(&n);
    for (guint i = 0; i < n; i++)
        if (strcmp(action[i].name, "palette") &&
            !scenario_find_text(list, ws_action_label(&action[i])))
            g_error("the palette does not list %s", action[i].name);
    scenario_focus(GTK_WIDGET(window));
    scenario_type("inspector");
    WAIT_FOR(scenario_find_text(GTK_WIDGET(window), "inspector"));
    GtkWidget *inspector = ws_window_part(s->window, WS_PART_INSPECTOR);
    g_assert_true(gtk_widget_get_mapped(inspector));
    scenario_settle(GTK_WIDGET(window));
    scenario_key("Return");
    WAIT_FOR(!gtk_widget_get_mapped(inspector));
    WAIT_FOR(g_list_model_get_n_items(all) == 1);
}

static void palette_escape(Scenario *s)
{
    GListModel *all = gtk_window_get_toplevels();
    scenario_key("ctrl+shift+p");
    WAIT_FOR(g_list_model_get_n_items(all) == 2);
    for (guint i = 0; i < 2; i++) {
        g_autoptr(GtkWidget) w = g_list_model_get_item(all, i);
        if (w != GTK_WIDGET(s->window))
            scenario_focus(w);
    }
    scenario_key("Escape");
    WAIT_FOR(g_list_model_get_n_items(all) == 1);
}

/* I59: Ctrl+F, a name, Return: the thing is selected. */
static void search(Scenario *s)
{
    GtkWidget *bar = ws_window_part(s->window, WS_PART_SEARCH);
    scenario_key("ctrl+f");
    WAIT_FOR(gtk_widget_get_mapped(bar) && scenario_find_type(bar, "GtkText"));
    WAIT_FOR(gtk_widget_has_focus(scenario_find_type(bar, "GtkText")));
    const char *wanted = NULL;
    WsProgram *p = ws_document_program(s->document);
    WsTrace *t = ws_document_predicted(s->document);
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_document_selection(s->document)->len, ==, 0);
    for (guint i = 0; i < t->op_label->len && !wanted; i++)
        if (((WsOpKind)g_array_index(t->op_kind, guint8, i)) == WS_OP_MMA)
            wanted = "mma";
    g_assert_nonnull(wanted);
    scenario_type(wanted);
    WAIT_FOR(scenario_find_text(bar, wanted));
    scenario_settle(GTK_WIDGET(s->window));
    scenario_key("Return");
    WAIT_FOR(ws_document_selection(s->document)->len > 0);
    scenario_key("Escape");
    WAIT_FOR(!scenario_find_type(bar, "GtkText"));
}

static void search_nothing(Scenario *s)
{
    GtkWidget *bar = ws_window_part(s->window, WS_PART_SEARCH);
    scenario_key("ctrl+f");
    WAIT_FOR(gtk_widget_get_mapped(bar) && scenario_find_type(bar, "GtkText"));
    WAIT_FOR(gtk_widget_has_focus(scenario_find_type(bar, "GtkText")));
    scenario_type("zzzzqq");
    WAIT_FOR(scenario_find_text(bar, "zzzzqq"));
    scenario_key("Return");
    scenario_settle(GTK_WIDGET(s->window));
    g_assert_cmpuint(ws_document_selection(s->document)->len, ==, 0);
    scenario_key("Escape");
}

static void check_menu(Scenario *s, GMenuModel *menu, guint *n)
{
    for (int i = 0; i < g_menu_model_get_n_items(menu); i++) {
        static const char *const links[] = { G_MENU_LINK_SECTION, G_MENU_LINK_SUBMENU };
        for (guint l = 0; l < G_N_ELEMENTS(links); l++) {
            g_autoptr(GMenuModel) sub = g_menu_model_get_item_link(menu, i, links[l]);
            if (sub)
                check_menu(s, sub, n);
        }
        g_autofree char *action = NULL;
        if (!g_menu_model_get_item_attribute(menu, i, G_MENU_ATTRIBUTE_ACTION, "s", &action))
            continue;
        const char *name = strchr(action, '.');
        g_assert_nonnull(name);
        if (!ws_action_find(name + 1))
            g_error("the context menu has %s, which is no command", action);
        (*n)++;
    }
}

static gboolean is_menu(GtkWidget *w, gconstpointer data)
{
    return GTK_IS_POPOVER_MENU(w) && gtk_widget_get_mapped(w);
}

static void context_menu_by(Scenario *s, const char *keys)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    double ox, oy;
    seen_timeline_origin(t, &ox, &oy);
    gtk_widget_grab_focus(s->timeline);
    if (keys)
        scenario_key(keys);
    else
        scenario_click(s->timeline, ox + 200, oy + 60, 3, NULL);
    GtkWidget *menu = NULL;
    WAIT_FOR((menu = scenario_find(s->timeline, is_menu, NULL)));
    guint n = 0;
    check_menu(s, gtk_popover_menu_get_menu_model(GTK_POPOVER_MENU(menu)), &n);
    g_assert_cmpuint(n, >=, 3);
    gtk_popover_popdown(GTK_POPOVER(menu));
    WAIT_FOR(!gtk_widget_get_mapped(menu));
}

/* I60 */
static void context_menu(Scenario *s)
{
    context_menu_by(s, NULL);
}

static void context_menu_keys(Scenario *s)
{
    context_menu_by(s, "Menu");
    context_menu_by(s, "shift+F10");
}

/* I61: what the command line does, the studio does; without a display it says so. */
static void parity(Scenario *s)
{
    static const char *const command[] = { "generate",       "rehearse", "run",       "bundle",
                                           "export-picture", "open",     "open-trace" };
    for (guint i = 0; i < G_N_ELEMENTS(command); i++)
        g_assert_nonnull(g_action_map_lookup_action(G_ACTION_MAP(s->window), command[i]));
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocessLauncher) launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDERR_PIPE);
    g_subprocess_launcher_unsetenv(launcher, "DISPLAY");
    g_subprocess_launcher_unsetenv(launcher, "WAYLAND_DISPLAY");
    g_autoptr(GSubprocess) process =
        g_subprocess_launcher_spawn(launcher, &error, WS_BUILD_ROOT "/bin/warpstave-studio", NULL);
    if (!process) { /* not built */
        g_test_skip(error->message);
        return;
    }
    g_autofree char *said = NULL;
    g_assert_true(g_subprocess_communicate_utf8(process, NULL, NULL, NULL, &said, &error));
    g_assert_cmpint(g_subprocess_get_exit_status(process), ==, 4);
    g_assert_nonnull(strstr(said, "display"));
}

/* I62: the status bar speaks of zoom, selection, device and problems. */
static void status(Scenario *s)
{
    scenario_measure(s);
    WsTrace *t = ws_document_predicted(s->document);
    WsFocus focus = { .step = g_ptr_array_index(t->op_id,
                                                g_array_index(t->record, WsTraceRecord, 0).op),
                      .agent = G_MAXUINT,
                      .tile = -1,
                      .round = -1 };
    ws_document_select(s->document, &focus, WS_SELECT_REPLACE, FALSE);
    scenario_settle(GTK_WIDGET(s->window));
    g_autofree char *text = scenario_text(GTK_WIDGET(s->window));
    g_assert_nonnull(strstr(text, "100"));
    g_assert_nonnull(strstr(text, "%"));
    g_assert_nonnull(strstr(text, "GHz"));
    g_assert_nonnull(strstr(text, "cycles"));
    scenario_act(s, "zoom-in");
    g_autofree char *after = scenario_text(GTK_WIDGET(s->window));
    g_assert_cmpstr(text, !=, after);
}

static void add(void)
{
    scenario_add("I56/tooltips", tooltips);
    scenario_add("I56/facts-of-a-block", block_tooltip);
    scenario_add("I57/shortcuts-complete", shortcuts);
    scenario_add("I58/palette", palette);
    scenario_add("I58/palette-escape", palette_escape);
    scenario_add("I59/search", search);
    scenario_add("I59/search-nothing", search_nothing);
    scenario_add("I60/context-menu-pointer", context_menu);
    scenario_add("I60/context-menu-keys", context_menu_keys);
    scenario_add("I61/parity", parity);
    scenario_add("I62/status-bar", status);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
