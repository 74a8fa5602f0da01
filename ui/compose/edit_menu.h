/* The context menu of what can be edited: the commands of the section Edit, in groups. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

GMenuModel *ws_edit_menu(void); /* transfer full */

G_END_DECLS
