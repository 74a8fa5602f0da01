#include "ui/app/menus.h"

#include "ui/app/actions.h"

static void append(GMenu *menu, const WsAction *action)
{
    g_autofree char *target = g_strdup_printf("win.%s", action->name);
    g_menu_append(menu, ws_action_label(action), target);
}

static gboolean is_colour(const WsAction *action)
{
    return g_str_has_prefix(action->name, "theme-");
}

static GMenu *section_menu(WsSection section)
{
    GMenu *menu = g_menu_new();
    guint n;
    const WsAction *action = ws_actions(&n);
    for (guint i = 0; i < n; i++)
        if (action[i].section == section && !is_colour(&action[i]))
            append(menu, &action[i]);
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
