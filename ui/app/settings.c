#include "ui/app/settings.h"

#include "resources/ui/resource.h"
#include "ui/roots.h"

#include <glib/gi18n.h>
#include <locale.h>

gboolean ws_ui_uninstalled(void)
{
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    return program && g_str_has_prefix(program, WS_BUILD_ROOT "/");
}

static GSettingsSchema *find_schema(void)
{
    GSettingsSchemaSource *installed = g_settings_schema_source_get_default();
    g_autoptr(GSettingsSchemaSource) built = NULL;
    if (ws_ui_uninstalled())
        built = g_settings_schema_source_new_from_directory(WS_BUILD_ROOT "/resources/ui",
                                                            installed, TRUE, NULL);
    GSettingsSchemaSource *source = built ? built : installed;
    return source ? g_settings_schema_source_lookup(source, WS_APPLICATION_ID, TRUE) : NULL;
}

GSettings *ws_settings(void)
{
    static GSettings *settings;
    static gboolean tried;
    if (tried)
        return settings;
    tried = TRUE;
    g_autoptr(GSettingsSchema) schema = find_schema();
    if (schema)
        settings = g_settings_new_full(schema, NULL, NULL);
    return settings;
}

/* gettext asks LANGUAGE first: the choice is stronger than the system's, from the next start on. */
static void ws_settings_speak(void)
{
    g_autofree char *language =
        ws_settings() ? g_settings_get_string(ws_settings(), "language") : NULL;
    if (language && *language)
        g_setenv("LANGUAGE", language, TRUE);
}

void ws_ui_setup(void)
{
    static gboolean done;
    if (done)
        return;
    done = TRUE;
    ws_settings_speak();
    bindtextdomain(GETTEXT_PACKAGE, ws_ui_uninstalled() ? WS_BUILD_ROOT "/po" : WS_LOCALE_DIR);
    bind_textdomain_codeset(GETTEXT_PACKAGE, "UTF-8");
    textdomain(GETTEXT_PACKAGE);
    ws_ui_register_resource();
}

int ws_settings_int(const char *key, int fallback)
{
    return ws_settings() ? g_settings_get_int(ws_settings(), key) : fallback;
}

gboolean ws_settings_boolean(const char *key, gboolean fallback)
{
    return ws_settings() ? g_settings_get_boolean(ws_settings(), key) : fallback;
}

static char *folder_if_there(const char *place)
{
    return g_file_test(place, G_FILE_TEST_IS_DIR) ? g_strdup(place) : NULL;
}

char *ws_projects_folder(void)
{
    return folder_if_there(ws_ui_uninstalled() ? WS_SOURCE_ROOT "/projects"
                                               : WS_DATA_DIR "/warpstave/projects");
}

char *ws_machines_folder(void)
{
    return folder_if_there(ws_ui_uninstalled() ? WS_SOURCE_ROOT "/resources/machines"
                                               : WS_DATA_DIR "/warpstave/machines");
}
