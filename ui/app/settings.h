/* What the studio needs before its first widget, and its stored settings. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define WS_APPLICATION_ID "org.warpstave.Studio"
#define WS_RESOURCE_PATH  "/org/warpstave/Studio"

/* Translations and resources. Twice does no harm. */
void ws_ui_setup(void);
/* TRUE when the program runs from its build folder. */
gboolean ws_ui_uninstalled(void);
/* The settings, or NULL when no schema is found (everything has a default then). Borrowed. */
GSettings *ws_settings(void);
int ws_settings_int(const char *key, int fallback);
gboolean ws_settings_boolean(const char *key, gboolean fallback);
/* Folder of the shipped designs, or NULL if they are not here. Caller frees. */
char *ws_projects_folder(void);
/* Folder of the shipped machine descriptions, in the same way. */
char *ws_machines_folder(void);

G_END_DECLS
