#include "ui/compose/edit_menu.h"

#include "ui/app/actions.h"

#include <glib/gi18n.h>

static const struct {
    const char *label; /* submenu, or NULL: a section of its own */
    const char *names;
} part[] = {
    { NULL, "add template" },
    { NULL, "cut copy paste duplicate delete" },
    { NULL, "rename mute connect" },
    { N_("Order"), "earlier later ahead-more ahead-less group-before group-behind" },
    { N_("Loops"), "wrap unwrap indent outdent peel rotate roll" },
    { N_("Rings and Replicas"), "deeper shallower part replicate-more replicate-less" },
};

GMenuModel *ws_edit_menu(void)
{
    GMenu *menu = g_menu_new();
    for (guint i = 0; i < G_N_ELEMENTS(part); i++) {
        g_auto(GStrv) name = g_strsplit(part[i].names, " ", -1);
        g_autoptr(GMenu) list = g_menu_new();
        for (guint k = 0; name[k]; k++) {
            g_autofree char *target = g_strconcat("win.", name[k], NULL);
            g_menu_append(list, ws_action_label(ws_action_find(name[k])), target);
        }
        if (part[i].label)
            g_menu_append_submenu(menu, _(part[i].label), G_MENU_MODEL(list));
        else
            g_menu_append_section(menu, NULL, G_MENU_MODEL(list));
    }
    return G_MENU_MODEL(menu);
}
