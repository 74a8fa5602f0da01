#include "ui/app/menus.h"

#include "ui/app/actions.h"

#include <glib/gi18n.h>
#include <string.h>

static void append(GMenu *menu, const WsAction *action)
{
    g_autofree char *target = g_strdup_printf("win.%s", action->name);
    g_menu_append(menu, ws_action_label(action), target);
}

static gboolean is_colour(const WsAction *action)
{
    return g_str_has_prefix(action->name, "theme-");
}

static const struct {
    WsSection section;
    const char *submenu; /* NULL: a group of its own */
    const char *names;
} group[] = {
#define WS_MENU(section, submenu, names) { WS_SECTION_##section, submenu, names },
#include "ui/app/menus.def"
};

static void append_names(GMenu *menu, const char *names)
{
    g_auto(GStrv) name = g_strsplit(names, " ", -1);
    for (guint i = 0; name[i]; i++)
        append(menu, ws_action_find(name[i]));
}

/* What no group names: a new command is in the menu before anybody has thought of its place. */
static void append_rest(GMenu *menu, WsSection section)
{
    g_autoptr(GString) named = g_string_new(" ");
    g_autoptr(GMenu) rest = g_menu_new();
    guint n;
    const WsAction *action = ws_actions(&n);
    for (guint i = 0; i < G_N_ELEMENTS(group); i++)
        g_string_append_printf(named, "%s ", group[i].names);
    for (guint i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf(" %s ", action[i].name);
        if (action[i].section == section && !is_colour(&action[i]) && !strstr(named->str, name))
            append(rest, &action[i]);
    }
    if (g_menu_model_get_n_items(G_MENU_MODEL(rest)))
        g_menu_append_section(menu, NULL, G_MENU_MODEL(rest));
}

static GMenu *section_menu(WsSection section)
{
    GMenu *menu = g_menu_new();
    g_autoptr(GMenu) below = g_menu_new();
    for (guint i = 0; i < G_N_ELEMENTS(group); i++) {
        g_autoptr(GMenu) list = g_menu_new();
        if (group[i].section != section)
            continue;
        append_names(list, group[i].names);
        if (group[i].submenu)
            g_menu_append_submenu(below, _(group[i].submenu), G_MENU_MODEL(list));
        else
            g_menu_append_section(menu, NULL, G_MENU_MODEL(list));
    }
    if (g_menu_model_get_n_items(G_MENU_MODEL(below)))
        g_menu_append_section(menu, NULL, G_MENU_MODEL(below));
    append_rest(menu, section);
    return menu;
}

/* Files and help at hand, the rest one level down: every command is reachable by the menu. */
GMenuModel *ws_menu_primary(void)
{
    GMenu *menu = g_menu_new();
    g_autoptr(GMenu) middle = g_menu_new();
    g_autoptr(GMenu) file = section_menu(WS_SECTION_FILE);
    g_autoptr(GMenu) help = section_menu(WS_SECTION_HELP);
    for (guint s = 0; s < WS_SECTION_COUNT; s++) {
        if (s == WS_SECTION_FILE || s == WS_SECTION_HELP)
            continue;
        g_autoptr(GMenu) sub = section_menu(s);
        g_menu_append_submenu(middle, ws_section_label(s), G_MENU_MODEL(sub));
    }
    g_menu_append_section(menu, NULL, G_MENU_MODEL(file));
    g_menu_append_section(menu, NULL, G_MENU_MODEL(middle));
    g_menu_append_section(menu, NULL, G_MENU_MODEL(help));
    return G_MENU_MODEL(menu);
}

GMenuModel *ws_menu_colours(void)
{
    GMenu *menu = g_menu_new();
    guint n;
    const WsAction *action = ws_actions(&n);
    for (guint i = 0; i < n; i++)
        if (is_colour(&action[i]))
            append(menu, &action[i]);
    return G_MENU_MODEL(menu);
}
