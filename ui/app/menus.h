/* Menus made from the table of commands. All transfer full. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

GMenuModel *ws_menu_primary(void);
GMenuModel *ws_menu_colours(void);

G_END_DECLS
