#include "ui/app/actions.h"

#include <glib/gi18n.h>

static const WsAction action[] = {
#define WS_ACTION(name, part, section, label, accels, keys, needs, help)                           \
    { name, WS_PART_##part, WS_SECTION_##section, label, help, accels, keys, WS_NEEDS_##needs },
#include "ui/app/actions.def"
};

const char *ws_part_name(WsPart part)
{
    static const char *const name[WS_PART_COUNT] = {
        [WS_PART_SELF] = "window",         [WS_PART_TIMELINE] = "timeline",
        [WS_PART_INSPECTOR] = "inspector", [WS_PART_PROBLEMS] = "problems",
        [WS_PART_CODE] = "code",           [WS_PART_MEASUREMENTS] = "measurements",
        [WS_PART_RESOURCES] = "resources", [WS_PART_SEARCH] = "search",
        [WS_PART_JOBS] = "jobs",           [WS_PART_EDIT] = "win",
        [WS_PART_WITNESS] = "witness",     [WS_PART_COMPARE] = "compare",
        [WS_PART_IDLE] = "idle",           [WS_PART_SCHEDULES] = "schedules",
        [WS_PART_STAGES] = "stages",
    };
    return name[part];
}

const char *ws_section_label(WsSection section)
{
    static const char *const label[] = {
#define WS_SECTION(id, label) label,
#include "ui/app/actions.def"
    };
    return _(label[section]);
}

const WsAction *ws_actions(guint *n)
{
    *n = G_N_ELEMENTS(action);
    return action;
}

const WsAction *ws_action_find(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(action); i++)
        if (!g_strcmp0(action[i].name, name))
            return &action[i];
    return NULL;
}

const char *ws_action_label(const WsAction *a)
{
    return _(a->label);
}

const char *ws_action_help(const WsAction *a)
{
    return _(a->help);
}

static void add_keys(GString *text, const char *keys)
{
    g_auto(GStrv) part = g_strsplit(keys, " ", -1);
    for (guint i = 0; part[i]; i++) {
        guint key;
        GdkModifierType modifiers;
        if (!*part[i] || !gtk_accelerator_parse(part[i], &key, &modifiers))
            continue;
        g_autofree char *label = gtk_accelerator_get_label(key, modifiers);
        g_string_append_printf(text, "%s%s", text->len ? ", " : "", label);
    }
}

char *ws_action_keys_text(const WsAction *a)
{
    GString *text = g_string_new(NULL);
    add_keys(text, a->accels);
    add_keys(text, a->keys);
    return g_string_free(text, FALSE);
}

char *ws_action_tooltip(const WsAction *a)
{
    g_autofree char *keys = ws_action_keys_text(a);
    return *keys ? g_strdup_printf("%s (%s)", ws_action_help(a), keys)
                 : g_strdup(ws_action_help(a));
}

void ws_actions_bind_keys(GtkWidgetClass *class, WsPart part)
{
    for (guint i = 0; i < G_N_ELEMENTS(action); i++) {
        if (action[i].part != part)
            continue;
        g_autofree char *name = g_strdup_printf("%s.%s", ws_part_name(part), action[i].name);
        g_auto(GStrv) keys = g_strsplit(action[i].keys, " ", -1);
        for (guint k = 0; keys[k]; k++) {
            guint key;
            GdkModifierType modifiers;
            if (*keys[k] && gtk_accelerator_parse(keys[k], &key, &modifiers))
                gtk_widget_class_add_binding_action(class, key, modifiers, name, NULL);
        }
    }
}

void ws_actions_set_accels(GtkApplication *application)
{
    for (guint i = 0; i < G_N_ELEMENTS(action); i++) {
        g_autofree char *name = g_strdup_printf("win.%s", action[i].name);
        g_auto(GStrv) accels = g_strsplit(action[i].accels, " ", -1);
        if (*action[i].accels)
            gtk_application_set_accels_for_action(application, name, (const char *const *)accels);
    }
}
