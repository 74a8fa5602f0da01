#include "ui/shortcuts.h"

#include "ui/actions.h"

#include <glib/gi18n.h>

/* GtkShortcutsWindow of GTK 4.8 is filled by GtkBuilder only, so the table becomes XML first. */
static void add_shortcut(GString *ui, const WsAction *action)
{
    g_autofree char *keys = g_strstrip(g_strdup_printf("%s %s", action->accels, action->keys));
    if (!*keys)
        return;
    g_autofree char *item = g_markup_printf_escaped(
        "<child><object class='GtkShortcutsShortcut'><property name='accelerator'>%s</property>"
        "<property name='title'>%s</property></object></child>",
        keys, ws_action_label(action));
    g_string_append(ui, item);
}

static void add_group(GString *ui, WsSection section)
{
    guint n;
    const WsAction *action = ws_actions(&n);
    g_autofree char *head = g_markup_printf_escaped(
        "<child><object class='GtkShortcutsGroup'><property name='title'>%s</property>",
        ws_section_label(section));
    g_string_append(ui, head);
    for (guint i = 0; i < n; i++)
        if (action[i].section == section)
            add_shortcut(ui, &action[i]);
    g_string_append(ui, "</object></child>");
}

GtkWidget *ws_shortcuts_new(GtkWindow *parent)
{
    g_autoptr(GString) ui = g_string_new(
        "<interface><object class='GtkShortcutsWindow' id='window'><property name='modal'>1"
        "</property><child><object class='GtkShortcutsSection'><property name='section-name'>all"
        "</property><property name='max-height'>14</property>");
    for (guint s = 0; s < WS_SECTION_COUNT; s++)
        add_group(ui, s);
    g_string_append(ui, "</object></child></object></interface>");
    g_autoptr(GtkBuilder) builder = gtk_builder_new_from_string(ui->str, (gssize)ui->len);
    GtkWidget *window = GTK_WIDGET(gtk_builder_get_object(builder, "window"));
    gtk_window_set_transient_for(GTK_WINDOW(window), parent);
    return window;
}
